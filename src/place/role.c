/* Words for the role of a match. The ops of the match decide which role is looked for: that of an attention, of
 * linears, of a norm; a match without any of these is described by what its result is used for. */
#include "place/role.h"

enum { MAX_LINEARS = 8, MAX_ORIGINS = 12, MAX_OPERANDS = 16 };

struct wording {
    unsigned linears;
    const char *one, *several; /* for one linear, which may be fused, and for several; NULL: no such case */
};

static const struct wording wordings[] = {
    {ROLE_QUERY, "query projection", "query projections"},
    {ROLE_KEY, "key projection", "key projections"},
    {ROLE_VALUE, "value projection", "value projections"},
    {ROLE_QUERY | ROLE_KEY, "query and key projection", "query and key projections"},
    {ROLE_QUERY | ROLE_VALUE, "query and value projection", "query and value projections"},
    {ROLE_KEY | ROLE_VALUE, "key and value projection", "key and value projections"},
    {ROLE_QUERY | ROLE_KEY | ROLE_VALUE, "query, key and value projection", "query, key and value projections"},
    {ROLE_OUT, "output projection", NULL},
    {ROLE_GATE, "gate projection", NULL},
    {ROLE_UP, "up projection", NULL},
    {ROLE_DOWN, "down projection", NULL},
    {ROLE_GATE | ROLE_UP, "gate and up projection", "gate and up projections"},
    {ROLE_GATE | ROLE_UP | ROLE_DOWN, NULL, "gated MLP"},
    {ROLE_FIRST, "first linear of the MLP", NULL},
    {ROLE_SECOND, "second linear of the MLP", NULL},
    {ROLE_FIRST | ROLE_SECOND, NULL, "MLP"},
};

static const char *words_for(unsigned linears, uint32_t n) {
    for (size_t i = 0; i < sizeof wordings / sizeof *wordings; i++)
        if (wordings[i].linears == linears)
            return n == 1 ? wordings[i].one : wordings[i].several;
    return NULL;
}

static uint32_t def_of(const struct flow *f, uint32_t v) {
    return v == NONE ? NONE : f->g->m->values[v].def;
}

static uint32_t result_of(const struct flow *f, uint32_t op) {
    return f->g->m->ops[op].first_result;
}

static unsigned role_of_source(const struct flow *f, uint32_t v) {
    uint32_t op = def_of(f, v);
    return op == NONE ? 0 : flow_linear_role(f, op);
}

/* ---- attention: self or cross ---- */

/* The only linear of a role among the sources of an operand of an attention, or NONE. */
static uint32_t projection(const struct flow *f, uint32_t v, unsigned role) {
    const struct source_set *s = flow_sources(f, v);
    uint32_t found = NONE, n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (role_of_source(f, s->v[i]) & role) {
            found = def_of(f, s->v[i]);
            n++;
        }
    return n == 1 && !s->truncated ? found : NONE;
}

static uint32_t behind_movement(const struct graph *g, uint32_t v) {
    for (int step = 0; step < 16 && g->m->values[v].def != NONE; step++) {
        if (!class_moves(graph_class(g, g->m->values[v].def)))
            break;
        v = graph_operands(g, g->m->values[v].def)[0];
    }
    return v;
}

static bool add_all(struct source_set *to, const struct source_set *s) {
    if (s->truncated)
        return false;
    for (uint32_t i = 0; i < s->n; i++) {
        if (flow_has_source(to, s->v[i]))
            continue;
        if (to->n == MAX_SOURCES)
            return false;
        to->v[to->n++] = s->v[i];
    }
    return true;
}

/* Inputs, residual adds and results of attentions: what they are computed from is not looked at. */
static bool is_origin(const struct flow *f, uint32_t v) {
    uint32_t op = def_of(f, v);
    return op == NONE || flow_of(f, v)->flags & IS_RESIDUAL || flow_attention(f, op);
}

/* The origins that a value is computed from, through all other ops. False: too many. */
static bool origins(const struct flow *f, uint32_t v, struct source_set *out) {
    struct source_set rest = {.n = 0};
    *out = rest;
    if (!add_all(&rest, flow_sources(f, v)))
        return false;
    for (uint32_t step = 0; rest.n > 0 && step < MAX_ORIGINS; step++) {
        uint32_t one = rest.v[--rest.n], op = def_of(f, one);
        struct source_set own = {.v = {one}, .n = 1};
        bool origin = is_origin(f, one);
        if (origin ? !add_all(out, &own) : graph_noperands(f->g, op) > MAX_OPERANDS)
            return false;
        for (uint32_t k = 0; !origin && k < graph_noperands(f->g, op); k++) {
            uint32_t o = graph_operands(f->g, op)[k];
            if (o != NONE && !graph_is_parameter(f->g, o) && !add_all(&rest, flow_sources(f, o)))
                return false;
        }
    }
    return rest.n == 0 && out->n > 0;
}

/* Self-attention: one value is projected to queries, keys and values. Cross-attention: keys and values share no origin
 * with the queries. */
static const char *attention_words(const struct flow *f, const struct attention_site *a) {
    const struct graph *g = f->g;
    uint32_t q = projection(f, a->q, ROLE_QUERY), k = projection(f, a->k, ROLE_KEY);
    uint32_t v = projection(f, a->v, ROLE_VALUE);
    struct source_set x, y, z;
    if (!a->ordered || q == NONE || k == NONE || v == NONE)
        return "attention";
    uint32_t in_q = behind_movement(g, flow_linear_input(g, q)), in_k = behind_movement(g, flow_linear_input(g, k));
    uint32_t in_v = behind_movement(g, flow_linear_input(g, v));
    if (in_q == in_k && in_k == in_v)
        return "self-attention";
    if (origins(f, in_q, &x) && origins(f, in_k, &y) && origins(f, in_v, &z) && flow_disjoint(&x, &y) &&
        flow_disjoint(&x, &z))
        return "cross-attention";
    return "attention";
}

/* ---- norms ---- */

enum { AFTER_ATTENTION = ROLE_OUT, AFTER_MLP = ROLE_DOWN | ROLE_SECOND };

/* Whether a value is the result of an attention, of an MLP, or of both. */
static unsigned block_roles(const struct flow *f, uint32_t v) {
    const struct source_set *s = flow_sources(f, v);
    unsigned role = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        role |= role_of_source(f, s->v[i]) & (AFTER_ATTENTION | AFTER_MLP);
        role |= flow_attention(f, def_of(f, s->v[i])) ? AFTER_ATTENTION : 0;
    }
    return role;
}

/* The same for an operand of a residual add, which may be the sum of an attention and an MLP that run in parallel. */
static unsigned added_roles(const struct flow *f, uint32_t v) {
    uint32_t source = flow_only_source(f, v);
    unsigned role = block_roles(f, v);
    if (role || source == NONE || !(flow_of(f, source)->flags & IS_RESIDUAL))
        return role;
    const uint32_t *o = graph_operands(f->g, def_of(f, source));
    unsigned a = block_roles(f, o[0]), b = block_roles(f, o[1]);
    return a && b ? a | b : 0;
}

struct residual {
    unsigned role;      /* of what is added: AFTER_ATTENTION, AFTER_MLP or both; 0: not known */
    bool normed_stream; /* the stream that it is added to comes out of a norm */
};

static struct residual residual_of(const struct flow *f, uint32_t v) {
    struct residual none = {0, false};
    if (v == NONE || !(flow_of(f, v)->flags & IS_RESIDUAL))
        return none;
    const uint32_t *o = graph_operands(f->g, def_of(f, v));
    unsigned a = added_roles(f, o[0]), b = added_roles(f, o[1]);
    if ((a != 0) == (b != 0))
        return none;
    return (struct residual){a | b, (flow_of(f, a ? o[1] : o[0])->flags & WAS_NORMED) != 0};
}

/* Whether some source is not a linear: then it can be a stream. */
static bool of_stream(const struct flow *f, const struct source_set *s) {
    for (uint32_t i = 0; i < s->n; i++)
        if (def_of(f, s->v[i]) == NONE || flow_linear_input(f->g, def_of(f, s->v[i])) == NONE)
            return true;
    return false;
}

static const char *norm_after(unsigned role) {
    return role == AFTER_ATTENTION ? "post-attention norm" : role & AFTER_ATTENTION ? "" : "post-MLP norm";
}

/* The role of a norm with result v. */
static struct role norm_role(const struct flow *f, uint32_t v) {
    const struct value_facts *r = flow_of(f, v);
    unsigned sinks = r->sinks & (unsigned)~SINK_RETURN;
    uint32_t source = flow_only_source(f, v);
    unsigned of = source == NONE ? 0 : role_of_source(f, source);
    struct residual before = residual_of(f, source);
    struct role role = {STR(""), 0, LOOK_AHEAD};
    if ((sinks == SINK_QUERY && of & ROLE_QUERY) || (sinks == SINK_KEY && of & ROLE_KEY))
        role.text = sinks == SINK_QUERY ? STR("query norm") : STR("key norm");
    else if (before.role && (sinks & SINK_RESIDUAL || (before.role & AFTER_MLP && before.normed_stream)))
        role.text = str_of(norm_after(before.role));
    else if (sinks == SINK_RESIDUAL && of & (AFTER_ATTENTION | AFTER_MLP))
        role.text = str_of(norm_after(of));
    else if (sinks & FEEDS_QUERY && !(sinks & (unsigned)~(SINK_LINEAR | FEEDS_QUERY | FEEDS_KEY_VALUE)) &&
             of_stream(f, flow_sources(f, v)))
        role.text = STR("pre-attention norm");
    else if (sinks == (SINK_LINEAR | FEEDS_MLP) && of_stream(f, flow_sources(f, v)))
        role.text = STR("pre-MLP norm");
    else if (before.role & AFTER_MLP && (sinks == 0 || sinks == (SINK_LINEAR | FEEDS_RETURN)) && r->sinks)
        role.text = STR("final norm");
    return role;
}

/* ---- other results ---- */

/* Ops around an attention: on its operands, on its weights or on its result. */
static struct role near_attention(const struct flow *f, uint32_t v, struct arena *a) {
    static const struct {
        unsigned sink, linear;
        const char *words;
    } operands[] = {{SINK_QUERY, ROLE_QUERY, "query"}, {SINK_KEY, ROLE_KEY, "key"}, {SINK_VALUE, ROLE_VALUE, "value"}};
    const struct value_facts *r = flow_of(f, v);
    unsigned sinks = r->sinks & (unsigned)~SINK_RETURN;
    const struct attention_site *at = r->sink_op < MANY_SINKS ? flow_attention(f, r->sink_op) : NULL;
    const struct attention_site *from = flow_attention(f, def_of(f, flow_only_source(f, v)));
    struct role role = {STR(""), 0, LOOK_BOTH};
    if (at && flow_owns_scores(f, at) && sinks == SINK_WEIGHTS && r->flags & WAS_EXP)
        role.text = arena_printf(a, "softmax of %s", attention_words(f, at));
    else if (from && !(r->flags & WAS_ACTIVATED))
        role.text = arena_printf(a, "output of %s", attention_words(f, from));
    for (size_t i = 0; at && flow_owns_scores(f, at) && i < sizeof operands / sizeof *operands; i++)
        if (sinks == operands[i].sink && projection(f, v, operands[i].linear) != NONE) {
            role.text = arena_printf(a, "%s of %s", operands[i].words, attention_words(f, at));
            role.linears = operands[i].linear;
        }
    return role;
}

/* Whether a value is an activation inside of an MLP, gated or not: all its sources are first linears of an MLP. */
static bool in_mlp(const struct flow *f, uint32_t v) {
    const struct source_set *s = flow_sources(f, v);
    if (s->n == 0 || s->truncated || !(flow_of(f, v)->flags & WAS_ACTIVATED))
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (!(role_of_source(f, s->v[i]) & (ROLE_FIRST | ROLE_GATE | ROLE_UP)))
            return false;
    return true;
}

static bool among(const uint32_t *ops, uint32_t n, uint32_t op) {
    for (uint32_t i = 0; i < n; i++)
        if (ops[i] == op)
            return true;
    return false;
}

/* Whether only the last result is used outside of the match. */
static bool has_one_result(const struct flow *f, const struct match *m) {
    const struct graph *g = f->g;
    for (uint32_t i = 0; i + 1 < m->nops; i++)
        for (uint32_t r = 0; r < g->m->ops[m->ops[i]].nresults; r++) {
            uint32_t v = result_of(f, m->ops[i]) + r;
            for (uint32_t k = g->first_use[v]; k < g->first_use[v + 1]; k++)
                if (!among(m->ops, m->nops, g->uses[k]) && !among(m->through, m->nthrough, g->uses[k]))
                    return false;
        }
    return true;
}

static const char *residual_words(unsigned role) {
    return role == AFTER_ATTENTION  ? "residual add after attention"
           : role & AFTER_ATTENTION ? "residual add after attention and MLP"
                                    : "residual add after the MLP";
}

static struct role other_role(const struct flow *f, uint32_t v, struct arena *a) {
    struct role none = {STR(""), 0, LOOK_BOTH};
    struct residual added = residual_of(f, v);
    if (added.role)
        return (struct role){str_of(residual_words(added.role)), 0, LOOK_BOTH};
    if (flow_of(f, v)->flags & IS_RESIDUAL)
        return none;
    return in_mlp(f, v) ? (struct role){STR("activation of the MLP"), 0, LOOK_BOTH} : near_attention(f, v, a);
}

/* ---- the ops of a match ---- */

struct contents {
    uint32_t linears[MAX_LINEARS], nlinears;
    uint32_t nnorms;
    const struct attention_site *attention;
    uint32_t nattentions;
    bool too_many;
};

/* Whether an op makes a normed value: a norm op, or the division by the deviation. */
static bool begins_norm(const struct flow *f, uint32_t op) {
    if (f->g->m->ops[op].nresults == 0 || !(flow_of(f, result_of(f, op))->flags & WAS_NORMED))
        return false;
    bool deviation = false;
    for (uint32_t k = 0; k < graph_noperands(f->g, op); k++) {
        uint32_t v = graph_operands(f->g, op)[k];
        deviation |= v != NONE && flow_of(f, v)->flags & IS_DEVIATION;
    }
    return deviation || graph_class(f->g, op) == OP_AXISWISE || graph_class(f->g, op) == OP_ALIKE;
}

static struct contents contents_of(const struct flow *f, const struct match *m) {
    struct contents c = {.nlinears = 0};
    for (uint32_t i = 0; i < m->nops; i++) {
        uint32_t op = m->ops[i];
        const struct attention_site *a = flow_attention(f, op);
        if (flow_linear_input(f->g, op) != NONE) {
            c.too_many |= c.nlinears == MAX_LINEARS;
            if (!c.too_many)
                c.linears[c.nlinears++] = op;
        }
        c.nnorms += begins_norm(f, op);
        c.nattentions += a != NULL;
        c.attention = a ? a : c.attention;
    }
    return c;
}

/* Linears: the roles of all must be known, different, and of one attention or MLP. */
static struct role linears_role(const struct flow *f, const struct contents *c) {
    struct role none = {STR(""), 0, LOOK_BOTH};
    unsigned all = 0;
    uint32_t at = NONE;
    for (uint32_t i = 0; i < c->nlinears; i++) {
        unsigned one = flow_linear_role(f, c->linears[i]);
        const struct value_facts *r = flow_of(f, result_of(f, c->linears[i]));
        if (one == 0 || all & one)
            return none;
        all |= one;
        uint32_t here = one & (ROLE_DOWN | ROLE_SECOND) ? c->linears[i] : r->sink_op;
        if (at != NONE && here != at)
            return none; /* not of one attention or MLP */
        at = here;
    }
    const char *words = words_for(all, c->nlinears);
    return words ? (struct role){str_of(words), all, LOOK_BOTH} : none;
}

struct role role_of(const struct flow *f, const struct match *m, struct arena *a) {
    struct role none = {STR(""), 0, LOOK_BOTH};
    struct contents c = contents_of(f, m);
    uint32_t root = m->root;
    if (c.too_many || c.nattentions > 1 || f->g->m->ops[root].nresults == 0)
        return none;
    if (c.attention)
        return (struct role){str_of(attention_words(f, c.attention)), 0, LOOK_BOTH};
    if (c.nlinears)
        return linears_role(f, &c);
    if (c.nnorms)
        return c.nnorms == 1 ? norm_role(f, result_of(f, root)) : none;
    return has_one_result(f, m) ? other_role(f, result_of(f, root), a) : none;
}

/* ---- names of parameters ---- */

static const struct {
    const char *word;
    unsigned linears;
} name_words[] = {
    {"q", ROLE_QUERY},
    {"query", ROLE_QUERY},
    {"wq", ROLE_QUERY},
    {"k", ROLE_KEY},
    {"key", ROLE_KEY},
    {"wk", ROLE_KEY},
    {"v", ROLE_VALUE},
    {"value", ROLE_VALUE},
    {"wv", ROLE_VALUE},
    {"kv", ROLE_KEY | ROLE_VALUE},
    {"qk", ROLE_QUERY | ROLE_KEY},
    {"qkv", ROLE_QUERY | ROLE_KEY | ROLE_VALUE},
    {"o", ROLE_OUT},
    {"wo", ROLE_OUT},
    {"gate", ROLE_GATE},
    {"up", ROLE_UP | ROLE_FIRST},
    {"down", ROLE_DOWN | ROLE_SECOND},
    {"fc1", ROLE_FIRST | ROLE_GATE | ROLE_UP},
    {"fc2", ROLE_SECOND | ROLE_DOWN},
};

/* The last of the last three words of the name that the table knows decides. */
bool role_contradicts(const struct role *r, struct str name) {
    const char *end = name.p + name.n;
    for (int word = 0; r->linears && word < 3 && end > name.p; word++) {
        const char *p = end;
        while (p > name.p && !strchr("._/", p[-1]))
            p--;
        struct str one = {p, (size_t)(end - p)};
        for (size_t i = 0; i < sizeof name_words / sizeof *name_words; i++)
            if (str_is(one, name_words[i].word))
                return !(r->linears & name_words[i].linears);
        end = p > name.p ? p - 1 : p;
    }
    return false;
}
