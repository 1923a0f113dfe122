/* A walk over the tree of a formula. Named values are evaluated once. */
#include "numeric/formula_value.h"

#include <math.h>

#include "lang/condition.h"
#include "numeric/formula_run.h"

static const struct tensor *value(struct formula_run *r, const struct node *n);

/* ---- what is there ---- */

static bool present(struct formula_run *r, const struct node *n);

static bool slot_present(struct formula_run *r, uint32_t slot) {
    if (r->values[slot][0] || !r->named[slot] || r->busy[slot])
        return r->values[slot][0] != NULL;
    r->busy[slot] = true; /* an attribute may ask for the line that it is part of */
    bool is = present(r, r->named[slot]->args[0]);
    r->busy[slot] = false;
    return is;
}

static bool number_present(struct formula_run *r, const struct number *n) {
    return !n || ((n->slot == NONE || n->op == NUM_VALUE || slot_present(r, n->slot)) && number_present(r, n->a) &&
                  number_present(r, n->b));
}

/* Operands that the op cannot do without; of `concat` one. */
static uint32_t operands_required(enum op_kind k, uint32_t given) {
    const char *roles = op_table[k].roles;
    uint32_t n = *roles != '\0';
    if (*roles == '*')
        return k == K_CONCAT ? 0 : given;
    for (; *roles && *roles != '?'; roles++)
        n += *roles == ',';
    return *roles == '?' ? n - 1 : n;
}

/* ---- numbers in attributes ---- */

static const struct number *read_number(const struct formula *f, struct str text, struct arena *a) {
    struct diags quiet = {.arena = a};
    const struct number *n = NULL;
    bool good = number_parse(&n, f, a, text, (struct text_origin){"", 1, 1}, NULL, &quiet);
    diags_free(&quiet);
    return good ? n : NULL;
}

const struct number *number_of_text(struct number_memo *m, const struct formula *f, struct str text, struct arena *a) {
    if (!m || m->n > MAX_MEMO / 2)
        return read_number(f, text, a);
    uint64_t at = (str_hash(text) + (uintptr_t)f / sizeof *f) % MAX_MEMO;
    for (; m->at[at].formula; at = (at + 1) % MAX_MEMO)
        if (m->at[at].formula == f && str_eq(m->at[at].text, text))
            return m->at[at].number;
    struct str kept = arena_str(m->arena, text);
    m->n++;
    m->at[at] = (struct number_read){f, kept, read_number(f, kept, m->arena)};
    return m->at[at].number;
}

/* An expression over the names, "k" or "extent(x, -1) / 2"; NULL where the text is none. */
static const struct number *attribute_number(struct formula_run *r, struct str text) {
    uint32_t slot = formula_slot(r->formula, text);
    if (slot != NONE) {
        struct number *of = arena_alloc(r->bench->arena, sizeof *of);
        *of = (struct number){.op = NUM_VALUE_OF, .slot = slot};
        return of;
    }
    return number_of_text(r->numbers, r->formula, text, r->bench->arena);
}

/* The next of a list of expressions; commas in parentheses belong to one. */
static bool next_piece(struct str *rest, struct str *piece) {
    size_t i = 0;
    int open = 0;
    for (; i < rest->n && (open > 0 || rest->p[i] != ','); i++)
        open += (rest->p[i] == '(') - (rest->p[i] == ')');
    *piece = str_trim((struct str){rest->p, i});
    rest->p += i + (i < rest->n);
    rest->n -= i + (i < rest->n);
    return piece->n > 0;
}

/* Asks for more than a tensor has, or for a line without a value, which may be the one that is being evaluated. */
static bool asks_match(const struct formula_run *r, const struct number *n) {
    static const char *const of_tensors[] = {"rank", "size", "numel"};
    bool about = n->slot != NONE && (n->op == NUM_EXTENT || n->op == NUM_VALUE_OF || n->op == NUM_MEASURE);
    bool known = n->op != NUM_MEASURE;
    for (size_t i = 0; i < 3 && !known; i++)
        known = strcmp(measure_table[n->call].name, of_tensors[i]) == 0;
    bool line = about && !r->formula->slot_is_variable[n->slot] && !r->values[n->slot][0];
    return (about && !known) || line || (n->a && asks_match(r, n->a)) || (n->b && asks_match(r, n->b));
}

/* A number that is told of the match that the formula speaks of, and not of the formula's own tensors. */
static bool told_of_match(const struct formula_run *r, const struct number *n, struct str text, double *out) {
    return r->like && r->like->number && (!n || asks_match(r, n)) && r->like->number(r->like->self, text, out);
}

/* Every name in an attribute's numbers is bound; words are no names. */
static bool attribute_present(struct formula_run *r, struct str text) {
    for (struct str piece; next_piece(&text, &piece);) {
        const struct number *n = attribute_number(r, piece);
        double x;
        if (n && !told_of_match(r, n, piece, &x) && !number_present(r, n))
            return false;
    }
    return true;
}

/* An attribute whose whole text is the name of something absent is absent; one that computes with it makes the op
 * absent. */
static bool attributes_present(struct formula_run *r, const struct node *n) {
    for (uint32_t i = 0; i < n->nattrs; i++) {
        bool cut = n->op == K_SLICE; /* which part it is cannot be left out */
        bool name = formula_slot(r->formula, n->attrs[i].value) != NONE;
        if ((cut || !name) && n->attrs[i].test == ATTR_IS && !attribute_present(r, n->attrs[i].value))
            return false;
    }
    return true;
}

static const struct attr_spec *find_attribute(const struct node *n, const char *key) {
    for (uint32_t i = 0; i < n->nattrs; i++)
        if (n->attrs[i].test == ATTR_IS && strcmp(n->attrs[i].key, key) == 0)
            return &n->attrs[i];
    return NULL;
}

/* What an op has to say, in one of these attributes, before it can be evaluated. */
static const struct {
    enum op_kind kind;
    const char *keys[3];
} must_say[] = {{K_SLICE, {"part", "begin", "end"}},
                {K_PERMUTE, {"permutation", NULL, NULL}},
                {K_RESHAPE, {"shape", "like", NULL}},
                {K_PAD, {"padding", NULL, NULL}},
                {K_REPEAT, {"repeat_dimensions", "repeat_dims", NULL}},
                {K_REPEAT_INTERLEAVE, {"repeats", NULL, NULL}}};

static bool is_said(const struct formula_run *r, const struct node *n) {
    if (r->inside && r->inside->kind == n->op)
        return true;
    for (size_t i = 0; i < sizeof must_say / sizeof *must_say; i++) {
        bool found = false;
        for (int k = 0; must_say[i].kind == n->op && k < 3 && must_say[i].keys[k]; k++)
            found |= find_attribute(n, must_say[i].keys[k]) != NULL;
        if (must_say[i].kind == n->op && !found)
            return false;
    }
    return true;
}

static bool op_present(struct formula_run *r, const struct node *n) {
    if (!is_said(r, n))
        return false;
    uint32_t required = operands_required(n->op, n->nargs), there = 0;
    for (uint32_t i = 0; i < n->nargs; i++) {
        bool is = present(r, n->args[i]);
        if (!is && i < required)
            return false;
        there += is;
    }
    return (n->nargs == 0 || there > 0) && attributes_present(r, n);
}

static bool present(struct formula_run *r, const struct node *n) {
    switch (n->kind) {
    case N_VARIABLE:
        return r->values[n->slot][0] != NULL;
    case N_NAMED:
        return r->values[n->slot][0] || present(r, n->args[0]);
    case N_NUMBER:
        return number_present(r, n->number);
    case N_OP:
        return op_present(r, n);
    case N_EITHER:
        for (uint32_t i = 0; i < n->nargs; i++)
            if (present(r, n->args[i]))
                return true;
        return false;
    default:
        for (uint32_t i = 0; i < n->nargs; i++)
            if (!present(r, n->args[i]))
                return false;
        return true;
    }
}

/* ---- numbers ---- */

static bool number_value(struct formula_run *r, const struct number *n, const struct shape *here, double *out);

static const struct tensor *slot_value(struct formula_run *r, uint32_t slot) {
    if (!r->values[slot][0] && r->named[slot])
        return value(r, r->named[slot]);
    if (!r->values[slot][0])
        bench_fail(r->bench, "%.*s is absent", (int)r->formula->slot_name[slot].n, r->formula->slot_name[slot].p);
    return r->values[slot][0];
}

static bool extent_of(struct formula_run *r, const struct shape *s, int axis, double *out) {
    int64_t at = axis < 0 ? axis + (int64_t)s->rank : axis;
    if (at < 0 || at >= s->rank)
        return bench_fail(r->bench, "no axis %d in %s", axis, shape_text(r->bench->arena, s).p);
    *out = (double)s->dim[at];
    return true;
}

/* numel(x), rank(x), size(x, -1); other measures are of ops in a graph. */
static bool measured(struct formula_run *r, const struct number *n, double *out) {
    struct str name = str_of(measure_table[n->call].name);
    const struct tensor *t = slot_value(r, n->slot);
    if (!t)
        return false;
    if (str_is(name, "size"))
        return extent_of(r, &t->shape, n->given[0], out);
    if (!str_is(name, "numel") && !str_is(name, "rank"))
        return bench_fail(r->bench, "%s is not known of a tensor", name.p);
    *out = str_is(name, "numel") ? (double)t->n : (double)t->shape.rank;
    return true;
}

static bool value_of_slot(struct formula_run *r, uint32_t slot, double *out) {
    const struct tensor *t = slot_value(r, slot);
    if (!t)
        return false;
    for (int64_t i = 0; i < t->n; i++)
        if (t->x[i] != t->x[0])
            return bench_fail(r->bench, "%.*s is more than one number", (int)r->formula->slot_name[slot].n,
                              r->formula->slot_name[slot].p);
    *out = t->n ? t->x[0] : NAN;
    return true;
}

static bool arithmetic(struct formula_run *r, const struct number *n, const struct shape *here, double *out) {
    double a = 0, b = 0;
    if (!number_value(r, n->a, here, &a) || (n->b && !number_value(r, n->b, here, &b)))
        return false;
    if ((n->op == NUM_DIV || n->op == NUM_MOD) && b == 0)
        return bench_fail(r->bench, "a formula divides by 0");
    const double results[] = {[NUM_NEG] = -a,
                              [NUM_ADD] = a + b,
                              [NUM_SUB] = a - b,
                              [NUM_MUL] = a * b,
                              [NUM_DIV] = a / b,
                              [NUM_SQRT] = sqrt(a),
                              [NUM_EQ] = a == b,
                              [NUM_NE] = a != b,
                              [NUM_LT] = a<b, [NUM_LE] = a <= b, [NUM_GT] = a> b,
                              [NUM_GE] = a >= b,
                              [NUM_AND] = a != 0 && b != 0,
                              [NUM_OR] = a != 0 || b != 0,
                              [NUM_NOT] = a == 0,
                              [NUM_MOD] = b != 0 ? fmod(a, b) : 0};
    *out = results[n->op];
    return true;
}

static bool number_value(struct formula_run *r, const struct number *n, const struct shape *here, double *out) {
    switch (n->op) {
    case NUM_VALUE:
        *out = n->value;
        return true;
    case NUM_EXTENT:
        if (n->slot == NONE)
            return here ? extent_of(r, here, n->axis, out)
                        : bench_fail(r->bench, "the extent of an axis is asked for where nothing has axes");
        return slot_value(r, n->slot) && extent_of(r, &slot_value(r, n->slot)->shape, n->axis, out);
    case NUM_VALUE_OF:
        return value_of_slot(r, n->slot, out);
    case NUM_MEASURE:
        return measured(r, n, out);
    case NUM_CALL:
        return bench_fail(r->bench, "a condition stands where a number is computed");
    default:
        return arithmetic(r, n, here, out);
    }
}

/* ---- attributes ---- */

static struct str number_text(struct arena *a, double x) {
    uint64_t bits;
    if (x == floor(x) && fabs(x) < 0x1p62)
        return arena_printf(a, "%lld", (long long)x);
    memcpy(&bits, &x, sizeof bits);
    return isfinite(x) ? arena_printf(a, "%.17g", x) : arena_printf(a, "0x%016llX : f64", (unsigned long long)bits);
}

/* Numbers computed, words left as they are. False where a name is absent or a number fails. */
static bool written_out(struct formula_run *r, struct str text, struct str *out) {
    struct str list = STR(""), rest = text, piece;
    uint32_t count = 0;
    for (; next_piece(&rest, &piece); count++) {
        const struct number *n = attribute_number(r, piece);
        double x = NAN;
        bool elsewhere = told_of_match(r, n, piece, &x);
        if (!n && !elsewhere) {
            *out = text;
            return true;
        }
        if (!elsewhere && (!number_present(r, n) || !number_value(r, n, NULL, &x)))
            return false;
        struct str number = number_text(r->bench->arena, x);
        list = arena_printf(r->bench->arena, "%.*s%s%.*s", (int)list.n, list.p, count ? ", " : "", (int)number.n,
                            number.p);
    }
    *out = count == 1 ? list : arena_printf(r->bench->arena, "[%.*s]", (int)list.n, list.p);
    return true;
}

/* Named so in one op or another: the axis along which an op works. */
static bool is_axis_key(const struct node *n, const char *key) {
    return strcmp(key, "dim") == 0 || strcmp(key, "dim_arg") == 0 ||
           (strcmp(key, "dimension") == 0 && (n->dim.given || n->op == K_SOFTMAX));
}

/* What an op of a formula means where it says nothing. */
static const struct {
    enum op_kind kind;
    const char *key, *text;
} formula_defaults[] = {{K_SOFTMAX, "numericStable", "true"},
                        {K_SDPA, "is_causal", "false"},
                        {K_SDPA_DECODE, "is_causal", "false"},
                        {K_ARGMAX, "keep_dim", "true"}};

static bool default_of_formula(enum op_kind k, const char *key, struct str *text) {
    for (size_t i = 0; i < sizeof formula_defaults / sizeof *formula_defaults; i++)
        if (formula_defaults[i].kind == k && strcmp(formula_defaults[i].key, key) == 0) {
            *text = str_of(formula_defaults[i].text);
            return true;
        }
    return false;
}

bool is_activation_key(const char *key) {
    return strcmp(key, "activation") == 0 || strcmp(key, "matmul_program_config") == 0 ||
           strcmp(key, "conv2d_config") == 0;
}

/* The op of the graph that a formula's op stands for: of several, the first; they have to say the same. */
static uint32_t op_alike(const struct formula_run *r, enum op_kind k) {
    enum op_class class = op_table[k].class;
    if (!r->like || (class == OP_ELTWISE && k != K_LEAKY_RELU) || class == OP_CONTRACT || class == OP_REDUCE ||
        class == OP_MOVE || class == OP_SLICE || class == OP_JOIN || k == K_SOFTMAX)
        return NONE;
    for (uint32_t i = 0; i < r->like->nops; i++)
        if (r->like->graph->kind[r->like->ops[i]] == k)
            return r->like->ops[i];
    return NONE;
}

bool formula_attribute(const void *self, const char *key, struct str *text) {
    const struct formula_op *o = self;
    const struct node *n = o->node;
    const struct attr_spec *a = find_attribute(n, key);
    const struct formula_like *like = o->run->like;
    if (like && like->attribute && like->attribute(like->self, n, key, text))
        return text->n > 0;
    if (a && written_out(o->run, a->value, text))
        return true;
    if (a && (!o->run->like || attribute_present(o->run, a->value)))
        return false;
    if (o->run->inside && o->run->inside->kind == n->op && !is_activation_key(key))
        return o->run->outer->attribute && o->run->outer->attribute(o->run->outer->self, key, text);
    if (is_axis_key(n, key)) {
        *text = arena_printf(o->run->bench->arena, "%d", n->dim.given ? n->dim.axis : -1);
        return true;
    }
    if (strcmp(key, "keep_dim") == 0 && op_table[n->op].class == OP_REDUCE) {
        *text = STR("true");
        return true;
    }
    uint32_t alike = op_alike(o->run, n->op);
    if (alike == NONE && o->run->like && n->op == K_LAYER_NORM && strcmp(key, "epsilon") == 0)
        alike = op_alike(o->run, K_RMS_NORM); /* of the centred value */
    if (alike != NONE && !is_activation_key(key))
        return mlir_attr(o->run->like->graph->m, alike, key, text);
    return default_of_formula(n->op, key, text);
}

/* ---- nodes ---- */

/* slice(x, dim=-1, part=1, of=2), part=1, every=2, or begin= and end=. */
static bool slice_bounds(struct formula_run *r, const struct call *c, int64_t size, int64_t *begin, int64_t *step,
                         int64_t *count) {
    int64_t part = -1, of = 0, every = 0, end = size;
    *begin = 0;
    *step = 1;
    if (!attr_int(r->bench, c, "step", step))
        return false;
    if (!attr_int(r->bench, c, "part", &part) || !attr_int(r->bench, c, "of", &of) ||
        !attr_int(r->bench, c, "every", &every) || !attr_int(r->bench, c, "begin", begin) ||
        !attr_int(r->bench, c, "end", &end))
        return false;
    if (part >= 0 && of > part && size % of == 0) {
        *begin = part * (size / of);
        *count = size / of;
    } else if (part >= 0 && every > part) {
        *begin = part;
        *step = every;
        *count = size > part ? (size - part + every - 1) / every : 0;
    } else if (part < 0 && *begin >= 0) {
        end = end > size ? size : end;
        *count = end > *begin && *step > 0 ? (end - *begin + *step - 1) / *step : 0;
    } else {
        return bench_fail(r->bench, "which part of %lld elements a slice takes is not said", (long long)size);
    }
    return true;
}

static bool evaluate_part(struct formula_run *r, const struct call *c, const struct tensor **out) {
    uint32_t axis;
    int64_t begin, step, count = 0;
    if (!axis_attr(r->bench, c, "dim", -1, operand(c, 0)->shape.rank, &axis) ||
        !slice_bounds(r, c, operand(c, 0)->shape.dim[axis], &begin, &step, &count))
        return false;
    struct view v = view_cut(view_of(operand(c, 0)), axis, begin, step, count);
    *out = view_copy(r->bench, &v);
    return *out != NULL;
}

/* reshape(y, like=x) */
static bool told_shape(struct formula_run *r, const struct node *n, struct shape *s) {
    const struct attr_spec *like = find_attribute(n, "like");
    uint32_t slot = like ? formula_slot(r->formula, like->value) : NONE;
    const struct tensor *t = slot == NONE ? NULL : slot_value(r, slot);
    if (t)
        *s = t->shape;
    return t != NULL;
}

struct name_set {
    bool has[MAX_SLOTS], seen[MAX_SLOTS];
};

/* The names that are bound and that a node depends on. Named values are shared: each is looked into once. */
static void add_names(const struct formula_run *r, const struct node *n, struct name_set *names) {
    if ((n->kind == N_VARIABLE || n->kind == N_NAMED) && r->bound[n->slot])
        names->has[n->slot] = true;
    if (n->kind == N_NAMED && names->seen[n->slot])
        return;
    if (n->kind == N_NAMED)
        names->seen[n->slot] = true;
    for (uint32_t i = 0; i < n->nattrs; i++) {
        uint32_t slot = n->attrs[i].word ? formula_slot(r->formula, n->attrs[i].value) : NONE;
        if (slot != NONE && r->bound[slot])
            names->has[slot] = true;
    }
    for (uint32_t i = 0; i < n->nargs; i++)
        add_names(r, n->args[i], names);
}

/* Says less than another alternative that is there: `x` beside `x + bias`. */
static bool leaves_out(const struct formula_run *r, const struct node *n, const struct node *other) {
    struct name_set mine = {0}, its = {0};
    bool less = false;
    add_names(r, n, &mine);
    add_names(r, other, &its);
    for (uint32_t i = 0; i < MAX_SLOTS; i++) {
        if (mine.has[i] && !its.has[i])
            return false;
        less |= its.has[i] && !mine.has[i];
    }
    return less;
}

static bool is_within(struct str text, const char *p) {
    return p >= text.p && p < text.p + text.n;
}

/* Which of `count` alternatives a node takes: the same one each time that it is asked for. */
static uint32_t decision(struct formula_run *r, const struct node *n, uint32_t count) {
    struct formula_choice *c = r->choice;
    for (uint32_t i = 0; i < r->ndecided; i++)
        if (r->decided[i] == n)
            return c->taken[i];
    uint32_t at = r->ndecided;
    if (at == MAX_CHOICES || count < 2 || !is_within(r->formula->text, n->text.p))
        return 0;
    r->decided[r->ndecided++] = n;
    if (at == c->n) {
        c->taken[at] = 0;
        c->n++;
    }
    c->of[at] = (uint8_t)count;
    return c->taken[at] < count ? c->taken[at] : 0;
}

bool formula_choice_next(struct formula_choice *c) {
    while (c->n && c->taken[c->n - 1] + 1 >= c->of[c->n - 1])
        c->n--;
    if (c->n)
        c->taken[c->n - 1]++;
    return c->n > 0;
}

/* The alternative that counts; NULL when none is there. */
static const struct node *chosen(struct formula_run *r, const struct node *n) {
    const struct node *there[16], *left[16] = {NULL};
    uint32_t count = 0, nleft = 0;
    for (uint32_t i = 0; i < n->nargs && count < (r->choice ? 16 : 1); i++)
        if (present(r, n->args[i]))
            there[count++] = n->args[i];
    for (uint32_t i = 0; i < count; i++) {
        bool less = false;
        for (uint32_t k = 0; k < count && !less; k++)
            less = leaves_out(r, there[i], there[k]);
        if (!less)
            left[nleft++] = there[i];
    }
    uint32_t which = nleft && r->choice ? decision(r, n, nleft) : 0;
    return which < nleft ? left[which] : NULL;
}

/* The axes that a node has, without evaluating what only makes it smaller. */
static bool widest(struct formula_run *r, const struct node *n, struct shape *s) {
    enum op_class class = n->kind == N_OP ? op_table[n->op].class : OP_OPAQUE;
    const struct tensor *t;
    if (n->kind == N_NUMBER || !present(r, n)) {
        *s = (struct shape){0};
        return true;
    }
    if (n->kind == N_NAMED && !r->values[n->slot][0])
        return widest(r, n->args[0], s);
    if (n->kind == N_EITHER)
        return widest(r, chosen(r, n), s);
    if (class != OP_ELTWISE && class != OP_REDUCE && class != OP_AXISWISE) {
        if (!(t = value(r, n)))
            return false;
        *s = t->shape;
        return true;
    }
    *s = (struct shape){0};
    for (uint32_t i = 0; i < n->nargs; i++) {
        struct shape other;
        if (!widest(r, n->args[i], &other) || !shape_broadcast(r->bench, s, &other, s))
            return false;
    }
    return true;
}

static bool asks_here(const struct number *n) {
    return n && ((n->op == NUM_EXTENT && n->slot == NONE) || asks_here(n->a) || asks_here(n->b));
}

/* A number as an operand: extents are those of what it is combined with. */
static const struct tensor *number_operand(struct formula_run *r, const struct node *n, const struct node *among) {
    struct shape here = {0};
    double x = NAN;
    if (among && asks_here(n->number) && !widest(r, among, &here))
        return NULL;
    return number_value(r, n->number, here.rank ? &here : NULL, &x) ? tensor_scalar(r->bench, x) : NULL;
}

static bool op_operands(struct formula_run *r, const struct node *n, const struct tensor **operands, uint32_t *count) {
    bool close_up = n->op == K_CONCAT; /* absent parts leave no gap */
    *count = 0;
    for (uint32_t i = 0; i < n->nargs; i++) {
        const struct node *a = n->args[i];
        const struct tensor *t = NULL;
        bool is = present(r, a);
        if (is && !(t = a->kind == N_NUMBER ? number_operand(r, a, n) : value(r, a)))
            return false;
        if (is || !close_up)
            operands[(*count)++] = t;
    }
    return true;
}

static const struct lowering *lowering_for(const struct formula_run *r, enum op_kind k) {
    return r->set && !(r->inside && r->inside->kind == k) ? lowering_of_kind(r->set, k) : NULL;
}

static bool op_value(struct formula_run *r, const struct node *n, const struct tensor *results[MAX_RESULTS]) {
    const struct tensor *operands[16];
    struct formula_op self = {r, n};
    struct shape shape;
    struct call c = {.kind = n->op, .operands = operands, .attribute = formula_attribute, .self = &self};
    uint32_t alike = op_alike(r, n->op);
    c.ttnn = (r->inside && r->inside->kind == n->op && r->outer->ttnn) ||
             (alike != NONE && str_starts(mlir_op_name(r->like->graph->m, alike), STR("ttnn.")));
    if (!is_said(r, n))
        return bench_fail(r->bench,
                          n->op == K_SLICE ? "which part a %s takes is not said" : "what a %s does is not said",
                          op_table[n->op].name);
    if (n->nargs > 16 || !op_present(r, n))
        return bench_fail(r->bench, "%s: an operand is absent", op_table[n->op].name);
    if (!op_operands(r, n, operands, &c.noperands))
        return false;
    const struct lowering *w = lowering_for(r, n->op);
    if (w && !(w->primitive && alike != NONE)) /* which may say how its dimensions lie */
        return lower(r, w, &c, results);
    if (n->op == K_SLICE)
        return evaluate_part(r, &c, results);
    if (n->op == K_BROADCAST && !find_attribute(n, "broadcast_dimensions"))
        return evaluate_same(r->bench, &c, results); /* operands broadcast in any case */
    if (told_shape(r, n, &shape)) {
        c.shapes = &shape;
        c.nresults = 1;
    }
    return interpret(r->bench, &c, results);
}

static bool results_of(struct formula_run *r, const struct node *n, const struct tensor *results[MAX_RESULTS]);

static bool transposed_value(struct formula_run *r, const struct node *n, const struct tensor **out) {
    const struct tensor *t = value(r, n->args[0]);
    if (!t)
        return false;
    if (t->shape.rank < 2)
        return bench_fail(r->bench, "transposed(...) of %s", shape_text(r->bench->arena, &t->shape).p);
    struct view v = view_swapped(view_of(t), t->shape.rank - 1, t->shape.rank - 2);
    *out = view_copy(r->bench, &v);
    return *out != NULL;
}

static bool named_value(struct formula_run *r, const struct node *n, const struct tensor *results[MAX_RESULTS]) {
    if (r->busy[n->slot])
        return bench_fail(r->bench, "%.*s is made of itself", (int)r->formula->slot_name[n->slot].n,
                          r->formula->slot_name[n->slot].p);
    r->busy[n->slot] = true;
    bool good = r->values[n->slot][0] || results_of(r, n->args[0], r->values[n->slot]);
    r->busy[n->slot] = false;
    if (!good)
        return false;
    memcpy(results, r->values[n->slot], sizeof r->values[n->slot]);
    return true;
}

static bool either_value(struct formula_run *r, const struct node *n, const struct tensor *results[MAX_RESULTS]) {
    const struct node *one = chosen(r, n);
    return one ? results_of(r, one, results) : bench_fail(r->bench, "no alternative of a formula has all it needs");
}

static bool result_value(struct formula_run *r, const struct node *n, const struct tensor **out) {
    const struct tensor *all[MAX_RESULTS];
    if (!results_of(r, n->args[0], all))
        return false;
    *out = n->result < MAX_RESULTS ? all[n->result] : NULL;
    return *out ? true : bench_fail(r->bench, "an op has no result %u", n->result);
}

/* matmul over one element. */
static bool outer_value(struct formula_run *r, const struct node *n, const struct tensor **out) {
    const struct tensor *x = value(r, n->args[0]), *y = x ? value(r, n->args[1]) : NULL;
    *out = y ? multiply_matrices(r->bench, x, false, y, false) : NULL;
    return *out != NULL;
}

static bool results_of(struct formula_run *r, const struct node *n, const struct tensor *results[MAX_RESULTS]) {
    for (uint32_t i = 0; i < MAX_RESULTS; i++)
        results[i] = NULL;
    switch (n->kind) {
    case N_VARIABLE:
        results[0] = slot_value(r, n->slot);
        return results[0] != NULL;
    case N_NAMED:
        return named_value(r, n, results);
    case N_NUMBER:
        results[0] = number_operand(r, n, NULL);
        return results[0] != NULL;
    case N_EITHER:
        return either_value(r, n, results);
    case N_RESULT:
        return result_value(r, n, results);
    case N_TRANSPOSED:
        return transposed_value(r, n, results);
    case N_OUTER:
        return outer_value(r, n, results);
    case N_OP:
        return op_value(r, n, results);
    }
    return false;
}

static const struct tensor *value(struct formula_run *r, const struct node *n) {
    const struct tensor *results[MAX_RESULTS];
    return results_of(r, n, results) ? results[0] : NULL;
}

/* ---- formulas ---- */

static void find_names(struct formula_run *r, const struct node *n) {
    if (n->kind == N_NAMED && r->named[n->slot])
        return;
    if (n->kind == N_NAMED)
        r->named[n->slot] = n;
    for (uint32_t i = 0; i < n->nargs; i++)
        find_names(r, n->args[i]);
}

bool run_formula(struct formula_run *r, const struct tensor *results[MAX_RESULTS]) {
    const struct formula *f = r->formula;
    find_names(r, f->root);
    for (uint32_t i = 0; i < f->nsecondary; i++)
        find_names(r, f->also[i].node);
    if (!results_of(r, f->root, results))
        return false;
    for (uint32_t i = 0; i < f->nsecondary; i++) {
        bool there = !f->also[i].optional || present(r, f->also[i].node);
        const struct tensor *t = there ? value(r, f->also[i].node) : NULL;
        if (there && !t)
            return false;
        if (i + 1 < MAX_RESULTS)
            results[i + 1] = t;
    }
    return true;
}

bool formula_value(struct bench *b, const struct pattern_set *set, const struct formula *f,
                   const struct tensor *const *slots, const struct tensor *results[MAX_RESULTS]) {
    return formula_value_of(b, set, f, slots, &(struct formula_how){0}, results);
}

bool formula_value_of(struct bench *b, const struct pattern_set *set, const struct formula *f,
                      const struct tensor *const *slots, const struct formula_how *how,
                      const struct tensor *results[MAX_RESULTS]) {
    struct formula_run r = {.bench = b, .set = set, .formula = f, .choice = how->choice, .like = how->like};
    r.numbers = how->like ? how->like->numbers : NULL;
    if (r.choice)
        r.decided = arena_alloc(b->arena, MAX_CHOICES * sizeof(const struct node *));
    for (uint32_t i = 0; i < f->nslots; i++) {
        r.values[i][0] = slots[i];
        r.bound[i] = slots[i] != NULL;
    }
    enum arithmetic kept = b->arithmetic;
    b->arithmetic = kept == INSIDE ? INSIDE : EXACT;
    bool good = run_formula(&r, results);
    b->arithmetic = kept;
    for (uint32_t i = 0; how->named && i < f->nslots; i++)
        how->named[i] = r.values[i][0];
    return good;
}
