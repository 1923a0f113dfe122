/* Words for the role of a match. The ops of the match decide which role is looked for: that of an attention, of
 * linears, of a norm; a match without any of these is described by what its result is used for. */
#include "report/place/role.h"
#include "ir/graph/movement.h"
#include "report/place/segment.h"

enum { MAX_LINEARS = 8 };

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

static uint32_t result_of(const struct flow *f, uint32_t op) {
    return f->g->m->ops[op].first_result;
}

static unsigned role_of_source(const struct flow *f, uint32_t v) {
    uint32_t op = flow_def(f, v);
    return op == NONE ? 0 : flow_linear_role(f, op);
}

/* ---- attention: self or cross ---- */

/* The only linear of a role that an operand of an attention comes from, or NONE. */
static uint32_t projection(const struct flow *f, uint32_t v, unsigned role) {
    const struct flow_links *from = flow_from(f, v);
    uint32_t found = NONE, n = 0;
    for (uint32_t i = 0; i < from->n; i++)
        if (role_of_source(f, from->items[i].at) & role) {
            found = flow_def(f, from->items[i].at);
            n++;
        }
    return n == 1 && !from->truncated ? found : NONE;
}

static bool add_sources(const struct flow *f, uint32_t v, struct value_list *to) {
    const struct flow_links *from = flow_from(f, v);
    for (uint32_t i = 0; i < from->n; i++)
        value_list_add(to, from->items[i].at);
    return !from->truncated;
}

/* Inputs, residual adds and results of attentions that a value is computed from, through all other landmarks. False:
 * too many. */
static bool origins(const struct flow *f, uint32_t v, struct value_list *out) {
    struct value_list seen = {.n = 0};
    bool all = add_sources(f, v, &seen);
    for (uint32_t i = 0; all && i < seen.n; i++) {
        uint32_t one = seen.items[i], op = flow_def(f, one);
        if (op == NONE || flow_is_residual(f, one) || flow_attention(f, op))
            value_list_add(out, one);
        else
            for (uint32_t k = 0; all && k < graph_noperands(f->g, op); k++) {
                uint32_t o = graph_operands(f->g, op)[k];
                all = o == NONE || graph_is_parameter(f->g, o) || add_sources(f, o, &seen);
            }
    }
    return all && !value_list_is_full(&seen) && out->n > 0;
}

static bool disjoint(const struct value_list *a, const struct value_list *b) {
    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t k = 0; k < b->n; k++)
            if (a->items[i] == b->items[k])
                return false;
    return true;
}

/* Self-attention: one value is projected to queries, keys and values. Cross-attention: keys and values share no origin
 * with the queries. */
static const char *attention_words(const struct flow *f, const struct attention_site *a) {
    const struct graph *g = f->g;
    uint32_t q = projection(f, a->q, ROLE_QUERY), k = projection(f, a->k, ROLE_KEY);
    uint32_t v = projection(f, a->v, ROLE_VALUE);
    struct value_list x = {.n = 0}, y = {.n = 0}, z = {.n = 0};
    if (!a->ordered || q == NONE || k == NONE || v == NONE)
        return "attention";
    uint32_t in_q = movement_source(g, flow_linear_input(g, q)), in_k = movement_source(g, flow_linear_input(g, k));
    uint32_t in_v = movement_source(g, flow_linear_input(g, v));
    if (in_q == in_k && in_k == in_v)
        return "self-attention";
    if (origins(f, in_q, &x) && origins(f, in_k, &y) && origins(f, in_v, &z) && disjoint(&x, &y) && disjoint(&x, &z))
        return "cross-attention";
    return "attention";
}

/* ---- norms, residual adds and other values ---- */

/* What a value comes from: enum linear_role of linears of which it comes from one, and these. */
enum from {
    FROM_ATTENTION = 1 << 9,   /* one attention, and nothing else */
    FROM_HIDDEN = 1 << 10,     /* linears that an MLP begins with, and nothing else */
    FROM_STREAM = 1 << 11,     /* something that is no linear */
    AFTER_ATTENTION = 1 << 12, /* the sum of the result of an attention and a stream */
    AFTER_MLP = 1 << 13,
    AFTER_NORM = 1 << 14, /* ... and that stream comes out of a norm */
    ACTIVATED = 1 << 15,
    EXPONENTIAL = 1 << 16
};
/* What takes it: enum link_kind, of an attention that owns its scores, and in place of LINK_LINEAR these. */
enum to {
    TO_QUERY = 1 << 11, /* a query projection, perhaps fused with keys and values */
    TO_KEY_VALUE = 1 << 12,
    TO_MLP = 1 << 13,  /* a linear that an MLP begins with */
    TO_HEAD = 1 << 14, /* a linear of no known role whose result is only returned: the model's head */
    ANYWHERE = (1 << 15) - 1
};

static const struct rule {
    const char *text;
    enum { NORM, SUM, INNER, AROUND } of; /* AROUND: the attention that takes the value, else the one that makes it */
    unsigned from, from_not, to, to_only;
    unsigned linears; /* of the projection that the text names */
} rules[] = {
    {"query norm", NORM, ROLE_QUERY, 0, LINK_QUERY, LINK_QUERY, 0},
    {"key norm", NORM, ROLE_KEY, 0, LINK_KEY, LINK_KEY, 0},
    {"", NORM, AFTER_ATTENTION | AFTER_MLP, 0, LINK_RESIDUAL, ANYWHERE, 0},
    {"", NORM, AFTER_ATTENTION | AFTER_MLP | AFTER_NORM, 0, 0, ANYWHERE, 0},
    {"post-attention norm", NORM, AFTER_ATTENTION, 0, LINK_RESIDUAL, ANYWHERE, 0},
    {"post-MLP norm", NORM, AFTER_MLP, 0, LINK_RESIDUAL, ANYWHERE, 0},
    {"post-MLP norm", NORM, AFTER_MLP | AFTER_NORM, 0, 0, ANYWHERE, 0},
    {"post-attention norm", NORM, ROLE_OUT, ROLE_DOWN | ROLE_SECOND, LINK_RESIDUAL, LINK_RESIDUAL, 0},
    {"post-attention norm", NORM, FROM_ATTENTION, 0, LINK_RESIDUAL, LINK_RESIDUAL, 0},
    {"post-MLP norm", NORM, ROLE_DOWN, ROLE_OUT, LINK_RESIDUAL, LINK_RESIDUAL, 0},
    {"post-MLP norm", NORM, ROLE_SECOND, ROLE_OUT, LINK_RESIDUAL, LINK_RESIDUAL, 0},
    {"pre-attention norm", NORM, FROM_STREAM, 0, TO_QUERY, TO_QUERY | TO_KEY_VALUE, 0},
    {"pre-MLP norm", NORM, FROM_STREAM, 0, TO_MLP, TO_MLP, 0},
    {"final norm", NORM, AFTER_MLP, 0, 0, TO_HEAD, 0},
    {"residual add after attention and MLP", SUM, AFTER_ATTENTION | AFTER_MLP, 0, 0, ANYWHERE, 0},
    {"residual add after attention", SUM, AFTER_ATTENTION, 0, 0, ANYWHERE, 0},
    {"residual add after the MLP", SUM, AFTER_MLP, 0, 0, ANYWHERE, 0},
    {"activation of the MLP", INNER, FROM_HIDDEN | ACTIVATED, 0, 0, ANYWHERE, 0},
    {"query of", AROUND, ROLE_QUERY, 0, LINK_QUERY, LINK_QUERY, ROLE_QUERY},
    {"key of", AROUND, ROLE_KEY, 0, LINK_KEY, LINK_KEY, ROLE_KEY},
    {"value of", AROUND, ROLE_VALUE, 0, LINK_VALUE, LINK_VALUE, ROLE_VALUE},
    {"softmax of", AROUND, EXPONENTIAL, 0, LINK_WEIGHTS, LINK_WEIGHTS, 0},
    {"output of", AROUND, FROM_ATTENTION, ACTIVATED, 0, ANYWHERE, 0},
};

/* Whether a value is the result of an attention, of an MLP, or of both. */
static unsigned block_of(const struct flow *f, uint32_t v) {
    const struct flow_links *from = flow_from(f, v);
    unsigned after = 0;
    for (uint32_t i = 0; i < from->n; i++) {
        unsigned role = role_of_source(f, from->items[i].at);
        after |= role & ROLE_OUT || from->items[i].kind == LINK_ATTENTION ? AFTER_ATTENTION : 0;
        after |= role & (ROLE_DOWN | ROLE_SECOND) ? AFTER_MLP : 0;
    }
    return after;
}

/* The same for an operand of a residual add, which may be the sum of an attention and an MLP that run in parallel. */
static unsigned added_block(const struct flow *f, uint32_t v) {
    uint32_t source = flow_source(f, v);
    unsigned after = block_of(f, v);
    if (after || source == NONE || !flow_is_residual(f, source))
        return after;
    const uint32_t *o = graph_operands(f->g, flow_def(f, source));
    unsigned a = block_of(f, o[0]), b = block_of(f, o[1]);
    return a && b ? a | b : 0;
}

/* What a residual add that made `v` adds to which stream; 0 where that is not known, or for another value. */
static unsigned from_sum(const struct flow *f, uint32_t v) {
    if (v == NONE || !flow_is_residual(f, v))
        return 0;
    const uint32_t *o = graph_operands(f->g, flow_def(f, v));
    unsigned a = added_block(f, o[0]), b = added_block(f, o[1]);
    if ((a != 0) == (b != 0))
        return 0;
    return a | b | (flow_flags(f, a ? o[1] : o[0]) & WAS_NORMED ? AFTER_NORM : 0);
}

static unsigned from_of(const struct flow *f, uint32_t v) {
    const struct flow_links *links = flow_from(f, v);
    unsigned from = from_sum(f, flow_source(f, v)), passed = flow_flags(f, v);
    bool hidden = links->n > 0 && !links->truncated;
    for (unsigned role = ROLE_QUERY; role <= ROLE_SECOND; role <<= 1)
        from |= projection(f, v, role) != NONE ? role : 0;
    for (uint32_t i = 0; i < links->n; i++)
        hidden &= (role_of_source(f, links->items[i].at) & (ROLE_FIRST | ROLE_GATE | ROLE_UP)) != 0;
    from |= hidden ? FROM_HIDDEN : 0;
    from |= links->kinds & (unsigned)~LINK_LINEAR ? FROM_STREAM : 0;
    from |= links->kinds == LINK_ATTENTION && flow_source(f, v) != NONE ? FROM_ATTENTION : 0;
    return from | (passed & WAS_ACTIVATED ? ACTIVATED : 0) | (passed & WAS_EXP ? EXPONENTIAL : 0);
}

static unsigned to_linear(const struct flow *f, uint32_t op) {
    unsigned role = flow_linear_role(f, op);
    if (role & ROLE_QUERY)
        return TO_QUERY;
    if (role & (ROLE_KEY | ROLE_VALUE))
        return TO_KEY_VALUE;
    if (role & (ROLE_GATE | ROLE_UP | ROLE_FIRST))
        return TO_MLP;
    return role == 0 && flow_to(f, result_of(f, op))->kinds == LINK_RETURN ? TO_HEAD : LINK_OTHER;
}

static unsigned to_of(const struct flow *f, uint32_t v) {
    const struct flow_links *links = flow_to(f, v);
    uint32_t taker = flow_taker(f, v);
    const struct attention_site *a = taker == NONE ? NULL : flow_attention(f, taker);
    unsigned to = (links->kinds & (unsigned)~LINK_LINEAR) | (links->truncated ? LINK_OTHER : 0);
    if (to & (LINK_QUERY | LINK_KEY | LINK_VALUE | LINK_WEIGHTS) && !(a && flow_owns_scores(f, a)))
        to |= LINK_OTHER;
    for (uint32_t i = 0; i < links->n; i++)
        to |= links->items[i].kind == LINK_LINEAR ? to_linear(f, links->items[i].at) : 0;
    return to;
}

/* The first rule that holds of a value. */
static struct role role_of_value(const struct flow *f, uint32_t v, bool norm, struct arena *a) {
    struct role role = {STR(""), 0, norm ? LOOK_AHEAD : LOOK_BOTH};
    bool sum = flow_is_residual(f, v);
    unsigned from = from_of(f, v), to = to_of(f, v);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *r = &rules[i];
        if ((norm  ? r->of != NORM
             : sum ? r->of != SUM
                   : r->of < INNER) ||
            (from & r->from) != r->from || from & r->from_not || (to & r->to) != r->to ||
            to & ~(r->to_only | LINK_RETURN) || to == 0)
            continue;
        uint32_t at = r->to ? flow_taker(f, v) : flow_def(f, flow_source(f, v));
        role.text = r->of == AROUND ? arena_printf(a, "%s %s", r->text, attention_words(f, flow_attention(f, at)))
                                    : str_of(r->text);
        role.linears = r->linears;
        break;
    }
    return role;
}

/* Whether only the last result is used outside of the match. */
static bool has_one_result(const struct flow *f, const struct match *m) {
    const struct graph *g = f->g;
    for (uint32_t i = 0; i + 1 < m->nops; i++)
        for (uint32_t r = 0; r < g->m->ops[m->ops[i]].nresults; r++) {
            uint32_t v = result_of(f, m->ops[i]) + r;
            for (uint32_t k = g->first_use[v]; k < g->first_use[v + 1]; k++)
                if (!in_match(m, g->uses[k]))
                    return false;
        }
    return true;
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
    if (f->g->m->ops[op].nresults == 0 || !(flow_flags(f, result_of(f, op)) & WAS_NORMED))
        return false;
    bool deviation = false;
    for (uint32_t k = 0; k < graph_noperands(f->g, op); k++) {
        uint32_t v = graph_operands(f->g, op)[k];
        deviation |= v != NONE && flow_flags(f, v) & IS_DEVIATION;
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
        uint32_t taker = flow_taker(f, result_of(f, c->linears[i]));
        uint32_t here = one & (ROLE_DOWN | ROLE_SECOND) ? c->linears[i] : taker;
        if (one == 0 || all & one || (i > 0 && here != at))
            return none; /* not of one attention or MLP */
        all |= one;
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
    if (c.nnorms > 1 || (c.nnorms == 0 && !has_one_result(f, m)))
        return none;
    return role_of_value(f, result_of(f, root), c.nnorms == 1, a);
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
