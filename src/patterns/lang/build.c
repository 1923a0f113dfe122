/* Expressions to the nodes of a formula: idioms are expanded, names resolved, arithmetic on numbers alone becomes a
 * number. The first error is a diagnostic; after it the nodes are of no use (builder.failed). */
#include "patterns/lang/build.h"

#include <math.h>
#include <string.h>

#include "ir/ops/scalar.h"
#include "patterns/lang/function.h"
#include "patterns/lang/infix.h"
#include "patterns/lang/rearrange.h"

enum { MAX_IDIOM_DEPTH = 24, MAX_UNFOLDED = 1 << 17 };

static const char *const too_large = "alternatives inside each other multiply: give parts of them lines of their own";
static const double FUNCTION_WITHIN = 1e-6; /* rounded constants; the proof says whether they are meant */

void build_fail(struct builder *b, struct formula_scope *s, struct str at, const char *hint, const char *what) {
    if (!b->failed)
        formula_fail(s->parser, at, hint, what);
    b->failed = true;
}

static struct node *new_node(struct builder *b, enum node_kind kind, struct str text) {
    struct node *n = arena_alloc(b->arena, sizeof *n);
    n->kind = kind;
    n->text = text;
    n->slot = NONE;
    n->bare = kind == N_VARIABLE || kind == N_NUMBER;
    n->unfolded = 1;
    b->nnodes++;
    return n;
}

static void set_args(struct builder *b, struct formula_scope *s, struct node *n, struct node **args, uint32_t nargs) {
    n->nargs = (uint16_t)nargs;
    n->args = arena_alloc(b->arena, (nargs ? nargs : 1) * sizeof *args);
    bool op = n->kind == N_OP || n->kind == N_OUTER || n->kind == N_FUNCTION || n->kind == N_REARRANGED;
    for (uint32_t i = 0; i < nargs; i++) {
        n->args[i] = args[i];
        n->bare |= !op && args[i]->bare;
        n->unfolded += args[i]->kind == N_NAMED ? 1 : args[i]->unfolded;
        n->deep = args[i]->deep > n->deep ? args[i]->deep : n->deep;
    }
    n->deep += op;
    if (n->unfolded > MAX_UNFOLDED)
        build_fail(b, s, n->text, too_large, "the formula is too large");
}

static uint32_t new_slot(struct builder *b, struct formula_scope *s, struct str name, struct str at, bool variable) {
    if (b->f->nslots == MAX_SLOTS) {
        build_fail(b, s, at, NULL, "too many names in one formula");
        return 0;
    }
    return formula_add_slot(b->f, b->arena, (struct slot){.name = name, .is_variable = variable});
}

static struct node *build(struct builder *b, struct formula_scope *s, const struct expr *e);

static struct node *number_node(struct builder *b, struct number n, struct str text) {
    struct number *copy = arena_alloc(b->arena, sizeof *copy);
    *copy = n;
    copy->text = text;
    struct node *node = new_node(b, N_NUMBER, text);
    node->number = copy;
    return node;
}

static struct node *literal(struct builder *b, double value, struct str text) {
    struct number n = {.op = NUM_VALUE, .value = value, .slot = NONE};
    return number_node(b, n, text);
}

/* An argument of an idiom may be used several times, and is the same value each time: it gets a nameless slot. */
static struct node *shared(struct builder *b, struct formula_scope *s, struct node *n) {
    if (n->kind == N_VARIABLE || n->kind == N_NAMED || n->kind == N_NUMBER)
        return n;
    struct node *named = new_node(b, N_NAMED, n->text);
    named->slot = new_slot(b, s, (struct str){NULL, 0}, n->text, false);
    b->f->slots[named->slot].named = named;
    set_args(b, s, named, &n, 1);
    return named;
}

struct node *build_line(struct builder *b, struct formula_scope *s, uint32_t i, struct str at) {
    if (s->building[i]) {
        build_fail(b, s, at, NULL, "a value is defined by itself");
        return new_node(b, N_VARIABLE, at);
    }
    if (!s->built[i]) {
        s->building[i] = true;
        struct node *value = build(b, s, s->lines[i].expr);
        struct node *named = new_node(b, N_NAMED, s->lines[i].name);
        struct str name = s->idiom ? (struct str){NULL, 0} : s->lines[i].name;
        named->slot = new_slot(b, s, name, at, false);
        b->f->slots[named->slot].named = named;
        set_args(b, s, named, &value, 1);
        s->built[i] = named;
        s->building[i] = false;
    }
    return s->built[i];
}

static struct node *build_variable(struct builder *b, struct formula_scope *s, struct str name) {
    struct node *n = new_node(b, N_VARIABLE, name);
    n->slot = formula_slot(b->f, name);
    if (n->slot == NONE)
        n->slot = new_slot(b, s, name, name, true);
    return n;
}

/* What the idiom's parameter of this name stands for; or NULL. */
static struct node *param_of(const struct formula_scope *s, struct str name) {
    for (uint32_t i = 0; i < s->idiom->nparams; i++)
        if (str_eq(s->idiom->params[i], name))
            return s->params[i];
    return NULL;
}

static struct node *build_name(struct builder *b, struct formula_scope *s, struct str name) {
    if (str_is(name, "inf"))
        return literal(b, INFINITY, name);
    for (uint32_t i = 0; i < s->nlines; i++)
        if (s->lines[i].name.n && str_eq(s->lines[i].name, name))
            return build_line(b, s, i, name);
    if (!s->idiom)
        return build_variable(b, s, name);
    struct node *given = param_of(s, name);
    if (given)
        return given;
    build_fail(b, s, name, "an idiom knows its parameters and its own lines", "unknown name");
    return literal(b, 0, name);
}

static bool axis_of(struct builder *b, struct formula_scope *s, const struct expr *e, struct axis_spec *out) {
    const struct expr *v = e->kind == E_NEG ? e->args[0] : e;
    bool good = true;
    if (v->kind == E_NUMBER && v->value == floor(v->value) && v->value < 16 && out->n < MOST_NAMED_AXES) {
        out->axes[out->n++] = (int8_t)(e->kind == E_NEG ? -v->value : v->value);
        out->of_idiom = s->idiom != NULL;
        return true;
    }
    if (e->kind == E_LIST) {
        for (uint32_t i = 0; i < e->nargs && good; i++)
            good = axis_of(b, s, e->args[i], out);
        return good;
    }
    if (e->kind == E_NAME && s->idiom && str_is(e->text, "dim")) {
        *out = s->dim;
        return true;
    }
    build_fail(b, s, e->text, NULL, "an axis is a whole number, for example -1; several are [-2, -1]");
    return false;
}

/* `function`: of NUM_FUNCTION. */
static struct node *arithmetic(struct builder *b, enum number_op op, enum op_kind function, struct node *x,
                               struct node *y, struct str text) {
    struct number n = {.op = op, .slot = NONE, .a = x->number, .b = y ? y->number : NULL, .call = function};
    struct node *node = number_node(b, n, text);
    node->counts = x->counts || (y && y->counts);
    return node;
}

/* What a name of a line stands for where that is a number; else the node. */
static struct node *counted(struct node *n) {
    struct node *of = n;
    while (of->kind == N_NAMED)
        of = of->args[0];
    return of->kind == N_NUMBER ? of : n;
}

static struct node *build_extent(struct builder *b, struct formula_scope *s, const struct expr *e) {
    struct number n = {.op = NUM_EXTENT, .slot = NONE};
    struct axis_spec axis = {.n = 0};
    if (e->nargs < 1 || e->nargs > 2) {
        build_fail(b, s, e->text, "extent(-1), extent(x, -1)", "extent takes an axis, or a name and an axis");
        return literal(b, 1, e->text);
    }
    if (e->nargs == 2) {
        struct node *of = build(b, s, e->args[0]);
        n.slot = of->slot;
        if (n.slot == NONE)
            build_fail(b, s, e->args[0]->text, NULL, "extent of a name is meant");
    }
    (void)axis_of(b, s, e->args[e->nargs - 1], &axis);
    n.axis = axis.n ? axis.axes[0] : -1;
    struct node *all = number_node(b, n, e->text);
    all->counts = true;
    for (uint32_t i = 1; i < axis.n; i++) {
        n.axis = axis.axes[i];
        all = arithmetic(b, NUM_MUL, NO_OPERATOR, all, number_node(b, n, e->text), e->text);
    }
    return all;
}

static bool is_part_key(struct str key) {
    static const char *const keys[] = {"part", "of", "every"};
    bool found = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !found; i++)
        found = str_is(key, keys[i]);
    return found;
}

static void add_attributed(struct builder *b, struct node *n) {
    struct attributed *link = arena_alloc(b->scratch, sizeof *link);
    *link = (struct attributed){n, b->attributed};
    b->attributed = link;
}

static void set_attr(struct builder *b, struct formula_scope *s, struct node *n, struct str key,
                     const struct expr *value) {
    if (value->kind != E_NAME && value->kind != E_NUMBER && value->kind != E_STRING) {
        build_fail(b, s, value->text, "activation=absent, largest=true, k=2",
                   "an attribute's value is a word, a number or a string");
        return;
    }
    struct attr_spec *attrs = arena_alloc(b->arena, (n->nattrs + 1) * sizeof *attrs);
    if (n->nattrs)
        memcpy(attrs, n->attrs, n->nattrs * sizeof *attrs);
    else
        add_attributed(b, n);
    enum attr_test test = str_is(value->text, "absent") ? ATTR_ABSENT : ATTR_IS;
    bool word = value->kind == E_NAME;
    const struct node *given = word && s->idiom ? param_of(s, value->text) : NULL;
    attrs[n->nattrs++] = (struct attr_spec){
        .key = arena_strdup(b->arena, key), .test = test, .value = given ? given->text : value->text, .word = word};
    n->attrs = attrs;
    if (word && op_table[n->op].class == OP_SLICE && !given) /* a name for the number */
        (void)build_variable(b, s, value->text);
}

/* part=2, of=2: the halves are 0 and 1. */
static void check_part(struct builder *b, struct formula_scope *s, const struct expr *e) {
    const struct expr *part = NULL, *of = NULL;
    for (uint32_t i = 0; i < e->nargs; i++)
        if (str_is(e->keys[i], "part"))
            part = e->args[i];
        else if (str_is(e->keys[i], "of") || str_is(e->keys[i], "every"))
            of = e->args[i];
    if (part && of && part->kind == E_NUMBER && of->kind == E_NUMBER && part->value >= of->value)
        build_fail(b, s, part->text, "the first part is 0", "there is no such part");
}

static uint32_t role_count(enum op_kind op, uint32_t *least) {
    const char *r = op_table[op].roles;
    if (*r == '*') {
        *least = 0;
        return MAX_ARGS;
    }
    uint32_t n = *r != '\0';
    *least = n;
    for (; *r; r++) {
        n += *r == ',';
        *least += *r == ',';
        *least -= *r == '?' || *r == '='; /* an operand that may be an attribute */
    }
    return n;
}

/* sum(x, dim=-1, keepdim), keepdim=true */
static bool says_keepdim(const struct expr *e, uint32_t i) {
    struct str word = e->keys[i].n ? e->keys[i] : e->args[i]->kind == E_NAME ? e->args[i]->text : STR("");
    return str_is(word, "keepdim");
}

static struct node *build_op(struct builder *b, struct formula_scope *s, const struct expr *e, enum op_kind op) {
    struct node *n = new_node(b, N_OP, e->text), *args[MAX_ARGS];
    uint32_t nargs = 0, least, most = role_count(op, &least);
    n->op = op;
    for (uint32_t i = 0; i < e->nargs && !b->failed; i++) {
        if (says_keepdim(e, i) && op_table[op].class == OP_REDUCE)
            continue; /* axes stay anyway */
        if (!e->keys[i].n)
            args[nargs++] = build(b, s, e->args[i]);
        else if (str_is(e->keys[i], "dim") && e->args[i]->kind != E_STRING)
            axis_of(b, s, e->args[i], &n->dim);
        else if (op_table[op].class == OP_SLICE && !e->index && !is_part_key(e->keys[i]))
            build_fail(b, s, e->keys[i], "dim, part, and of or every; bounds are x[..., 2:32]",
                       "a slice has no such key");
        else
            set_attr(b, s, n, e->keys[i], e->args[i]);
    }
    if (op_table[op].class == OP_SLICE)
        check_part(b, s, e);
    if (nargs < least || nargs > most) {
        const char *name = op_table[op].name, *two = op == K_MAX || op == K_MIN ? name : NULL;
        struct str what = arena_printf(b->arena, "%s takes %s: %u given", name, op_table[op].roles, nargs);
        const char *hint = two ? arena_printf(b->arena, "of two values it is %simum(x, y), an axis is dim=-1", two).p
                           : op_table[op].class == OP_REDUCE ? "an axis is dim=-1"
                                                             : NULL;
        build_fail(b, s, e->text, hint, what.p);
    }
    if (!b->failed && nargs == 1 && unary_of(op) && !e->forced_op && counted(args[0])->kind == N_NUMBER)
        return arithmetic(b, NUM_FUNCTION, op, counted(args[0]), NULL, e->text);
    set_args(b, s, n, args, nargs);
    return n;
}

/* "over_root(x, v, weight)", "mean(x, dim=-1)" */
static const char *idiom_head(struct builder *b, const struct idiom *idiom) {
    struct str head = arena_printf(b->arena, "%.*s(", (int)idiom->name.n, idiom->name.p);
    for (uint32_t i = 0; i < idiom->nparams; i++)
        head = arena_printf(b->arena, "%s%.*s%s%s", head.p, (int)idiom->params[i].n, idiom->params[i].p,
                            str_is(idiom->params[i], "dim") ? "=-1" : "", i + 1 < idiom->nparams ? ", " : ")");
    return head.p;
}

/* The parameter of argument i: that of its key, or the next one. */
static uint32_t param_at(const struct idiom *idiom, struct str key, uint32_t next) {
    uint32_t at = key.n ? 0 : next;
    while (at < idiom->nparams && (key.n ? !str_eq(idiom->params[at], key) : str_is(idiom->params[at], "dim")))
        at++;
    return at;
}

static bool bind_params(struct builder *b, struct formula_scope *s, const struct expr *e, const struct idiom *idiom,
                        struct formula_scope *inner) {
    uint32_t next = 0, missing = 0;
    for (uint32_t i = 0; i < e->nargs && !b->failed; i++) {
        if (says_keepdim(e, i))
            continue;
        if (str_is(e->keys[i], "dim")) {
            axis_of(b, s, e->args[i], &inner->dim);
            continue;
        }
        uint32_t at = param_at(idiom, e->keys[i], next);
        next = e->keys[i].n ? next : at + 1;
        if (at == idiom->nparams || inner->params[at]) {
            build_fail(b, s, e->args[i]->text, idiom_head(b, idiom), "the idiom has no such parameter");
            return false;
        }
        inner->params[at] = shared(b, s, build(b, s, e->args[i]));
    }
    while (missing < idiom->nparams && (inner->params[missing] || str_is(idiom->params[missing], "dim")))
        missing++;
    if (missing < idiom->nparams && !b->failed)
        build_fail(b, s, e->text, idiom_head(b, idiom), "an argument is missing");
    return !b->failed;
}

/* The last line of the scope's idiom. */
static struct node *build_value(struct builder *b, struct formula_scope *s) {
    s->lines = s->idiom->lines;
    s->nlines = s->idiom->nlines;
    if (s->nlines && !s->lines[s->nlines - 1].name.n)
        return build(b, s, s->lines[s->nlines - 1].expr);
    build_fail(b, s, s->idiom->body, "the last line is the value of the idiom, without a name",
               "the idiom has no value");
    return new_node(b, N_VARIABLE, s->idiom->name);
}

static struct node *build_idiom(struct builder *b, struct formula_scope *s, const struct expr *e,
                                const struct idiom *idiom) {
    struct formula_scope *inner = arena_alloc(b->scratch, sizeof *inner);
    struct formula_parser *p = arena_alloc(b->scratch, sizeof *p);
    struct node *value = new_node(b, N_VARIABLE, e->text);
    inner->idiom = idiom;
    inner->parser = p;
    *p = (struct formula_parser){.diags = b->diags, .text = idiom->text, .origin = idiom->origin}; /* for diagnostics */
    if (++b->depth > MAX_IDIOM_DEPTH) {
        build_fail(b, s, e->text, "inside its own definition write `op name(...)` for the operator",
                   "an idiom is defined by itself");
    } else if (bind_params(b, s, e, idiom, inner)) {
        value = build_value(b, inner);
    }
    b->depth--;
    return value;
}

bool idiom_check(const struct idioms *all, const struct idiom *idiom, struct diags *d) {
    struct arena scratch = {0};
    struct formula *f = arena_alloc(&scratch, sizeof *f);
    struct builder b = {.f = f, .arena = &scratch, .scratch = &scratch, .idioms = all, .diags = d};
    struct formula_parser p = {.diags = d, .text = idiom->text, .origin = idiom->origin}; /* for diagnostics */
    struct formula_scope s = {.idiom = idiom, .parser = &p};
    for (uint32_t i = 0; i < idiom->nparams; i++)
        if (!str_is(idiom->params[i], "dim"))
            s.params[i] = build_variable(&b, &s, idiom->params[i]);
    build_value(&b, &s);
    for (uint32_t i = 0; i + 1 < idiom->nlines && !b.failed; i++)
        if (!s.built[i])
            build_fail(&b, &s, idiom->lines[i].name.n ? idiom->lines[i].name : idiom->lines[i].expr->text, NULL,
                       "the line is not used");
    arena_free(&scratch);
    return !b.failed;
}

static const char *nearest(const struct builder *b, struct str name) {
    const char *op = op_nearest_name(name);
    enum op_kind printed = op_kind_of_spelling(arena_printf(b->arena, "ttnn.%.*s", (int)name.n, name.p));
    if (printed == NO_OPERATOR)
        printed = op_kind_of_spelling(arena_printf(b->arena, "ttir.%.*s", (int)name.n, name.p));
    if (printed != NO_OPERATOR)
        return arena_printf(b->arena, "write %s", op_table[printed].name).p;
    for (const struct idioms *all = b->idioms; all; all = all->others)
        for (uint32_t i = 0; i < all->n; i++) {
            struct str n = all->items[i].name;
            if (n.n > 3 && name.n > 3 && (str_starts(n, (struct str){name.p, 4}) && !op))
                return arena_printf(b->arena, "did you mean %.*s?", (int)n.n, n.p).p;
        }
    const char *else_write =
        b->form ? arena_printf(b->arena, "an op of one's own is defined before, define: [\"op %.*s(x): ...\"]",
                               (int)name.n, name.p)
                      .p
                : "what is no operator is written as what it computes: function(x * sigmoid(x))";
    return op ? arena_printf(b->arena, "did you mean %s? %s", op, else_write).p : else_write;
}

const struct number *build_extent_number(struct builder *b, struct formula_scope *s, const struct expr *e) {
    return build_extent(b, s, e)->number;
}

/* result(s, 1): the second result of the op that s is. */
static struct node *build_result(struct builder *b, struct formula_scope *s, const struct expr *e) {
    struct node *n = new_node(b, N_RESULT, e->text), *of = build(b, s, e->args[0]);
    const struct expr *number = e->args[1];
    if (number->kind != E_NUMBER || number->value < 0 || number->value > 15 || number->value != floor(number->value))
        build_fail(b, s, number->text, "result(s, 1) is the second", "the number of a result is meant");
    else
        n->result = (uint8_t)number->value;
    set_args(b, s, n, &of, 1);
    return n;
}

/* The first name in an expression; NULL: there is none. */
static const struct expr *first_name(const struct expr *e) {
    const struct expr *found = e->kind == E_NAME ? e : NULL;
    for (uint32_t i = 0; i < e->nargs && !found; i++)
        found = first_name(e->args[i]);
    return found;
}

/* function(where(x > 0, x, alpha * (exp(x) - 1))): what computes this of x, alpha being some number of its ops. */
static struct node *build_function(struct builder *b, struct formula_scope *s, const struct expr *e) {
    struct node *n = new_node(b, N_FUNCTION, e->text), *operands[1 + MOST_CAPTURED];
    bool called = e->nargs == 1 || (e->nargs == 2 && str_is(e->keys[1], "within"));
    const struct expr *x = called ? first_name(e->args[0]) : NULL;
    uint32_t nargs = 1;
    if (!x) {
        build_fail(b, s, e->text, "function(x * sigmoid(x))", "a formula of the first name in it is meant");
        return n;
    }
    operands[0] = build(b, s, x);
    n->form = build(b, s, e->args[0]);
    n->within = e->nargs == 2 ? e->args[1]->value : FUNCTION_WITHIN;
    b->f->within = fmax(b->f->within, n->within);
    if (!b->failed && !function_operands(n->form, operands, &nargs))
        build_fail(b, s, e->text, "function(x * sigmoid(x))",
                   "a function of one value, and of two other names at most, by elementwise operators is meant");
    set_args(b, s, n, operands, b->failed ? 1 : nargs);
    return n;
}

/* rearrange(x, "b s (h d) -> b h s d") */
static struct node *build_rearranged(struct builder *b, struct formula_scope *s, const struct expr *e) {
    struct node *n = new_node(b, N_REARRANGED, e->text), *of = build(b, s, e->args[0]);
    struct rearrangement *order = arena_alloc(b->arena, sizeof *order);
    bool text = e->args[1]->kind == E_STRING;
    const char *wrong = text ? rearrangement_read(e->args[1]->text, order) : "an order of axes is a string";
    if (wrong)
        build_fail(b, s, e->args[1]->text, "rearrange(x, \"b s (h d) -> b h s d\")", wrong);
    n->order = order;
    set_args(b, s, n, &of, 1);
    return n;
}

/* Words of the language that look like calls; NULL for other names. */
static struct node *build_word(struct builder *b, struct formula_scope *s, const struct expr *e) {
    static const struct {
        const char *name;
        enum node_kind kind;
        uint32_t nargs;
        enum op_kind op;
    } words[] = {{"transposed", N_TRANSPOSED, 1, NO_OPERATOR}, {"outer", N_OUTER, 2, K_MULTIPLY}};
    if (str_is(e->text, "extent"))
        return build_extent(b, s, e);
    if (str_is(e->text, "result") && e->nargs == 2)
        return build_result(b, s, e);
    if (str_is(e->text, "function"))
        return build_function(b, s, e);
    if (str_is(e->text, "rearrange") && e->nargs == 2)
        return build_rearranged(b, s, e);
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        if (!str_is(e->text, words[w].name))
            continue;
        struct node *n = new_node(b, words[w].kind, e->text), *args[MAX_ARGS];
        if (e->nargs != words[w].nargs)
            build_fail(b, s, e->text, NULL, "wrong number of arguments");
        for (uint32_t i = 0; i < e->nargs && !b->failed; i++)
            args[i] = build(b, s, e->args[i]);
        n->op = words[w].op;
        set_args(b, s, n, args, b->failed ? 0 : e->nargs);
        return n;
    }
    return NULL;
}

static struct node *build_call(struct builder *b, struct formula_scope *s, const struct expr *e) {
    struct node *word = e->forced_op ? NULL : build_word(b, s, e);
    if (word || b->failed)
        return word ? word : new_node(b, N_VARIABLE, e->text);
    const struct idiom *idiom = e->forced_op ? NULL : idiom_find(b->idioms, e->text);
    if (idiom)
        return build_idiom(b, s, e, idiom);
    enum op_kind op = op_kind_of_name(e->text);
    if (op != NO_OPERATOR)
        return build_op(b, s, e, op);
    struct str what = arena_printf(b->arena, "no operator or idiom is called %.*s", (int)e->text.n, e->text.p);
    build_fail(b, s, e->text, nearest(b, e->text), what.p);
    return new_node(b, N_VARIABLE, e->text);
}

static struct node *infix_node(struct builder *b, struct formula_scope *s, const struct expr *e, struct node *left,
                               struct node *right) {
    struct node *args[2] = {left, right};
    const struct infix *sign = infix_of_sign(e->text);
    if (!sign || sign->op == NO_OPERATOR) {
        build_fail(b, s, e->text, NULL, "unknown operator");
        return new_node(b, N_VARIABLE, e->text);
    }
    if (counted(left)->kind == N_NUMBER && counted(right)->kind == N_NUMBER && sign->number != NUM_NONE)
        return arithmetic(b, sign->number, NO_OPERATOR, counted(left), counted(right), e->text);
    struct node *n = new_node(b, N_OP, e->text);
    n->op = sign->op;
    set_args(b, s, n, args, 2);
    return n;
}

/* x ** 2 is the idiom square(x), where there is one. */
static struct node *build_power(struct builder *b, struct formula_scope *s, const struct expr *e) {
    static const struct {
        double power;
        const char *idiom;
    } powers[] = {{2, "square"}, {0.5, "root"}, {-0.5, "rsqrt"}};
    const struct expr *power = e->args[1]->kind == E_NEG ? e->args[1]->args[0] : e->args[1];
    double number = e->args[1]->kind == E_NEG ? -power->value : power->value;
    for (size_t i = 0; i < sizeof powers / sizeof *powers && power->kind == E_NUMBER && e->args[0]->kind != E_NUMBER;
         i++) {
        const struct idiom *idiom = powers[i].power == number ? idiom_find(b->idioms, str_of(powers[i].idiom)) : NULL;
        struct expr call = {E_CALL, .text = e->text, .nargs = 1, .args = e->args, .keys = &(struct str){0}};
        if (idiom)
            return build_idiom(b, s, &call, idiom);
    }
    return NULL;
}

static struct node *build_infix(struct builder *b, struct formula_scope *s, const struct expr *e) {
    struct node *power = str_is(e->text, "**") ? build_power(b, s, e) : NULL;
    if (power)
        return power;
    struct node *left = build(b, s, e->args[0]);
    return infix_node(b, s, e, left, build(b, s, e->args[1]));
}

static struct node *build_neg(struct builder *b, struct formula_scope *s, const struct expr *e) {
    struct node *x = build(b, s, e->args[0]);
    if (counted(x)->kind == N_NUMBER)
        return arithmetic(b, NUM_NEG, NO_OPERATOR, counted(x), NULL, e->text);
    struct node *n = new_node(b, N_OP, e->text);
    n->op = K_NEG;
    set_args(b, s, n, &x, 1);
    return n;
}

static struct node *build_either(struct builder *b, struct formula_scope *s, const struct expr *e) {
    struct node *n = new_node(b, N_EITHER, e->text), *args[MAX_ARGS];
    struct node *left = e->optional ? build(b, s, e->args[e->nargs - 1]) : NULL;
    struct node *right = left ? build(b, s, e->args[0]->args[1]) : NULL;
    for (uint32_t i = 0; i < e->nargs && !b->failed; i++)
        args[i] = !right              ? build(b, s, e->args[i])
                  : i + 1 == e->nargs ? left
                                      : infix_node(b, s, e->args[i], left, right);
    set_args(b, s, n, args, b->failed ? 0 : e->nargs);
    return n;
}

static struct node *build(struct builder *b, struct formula_scope *s, const struct expr *e) {
    if (b->nnodes > MAX_NODES)
        build_fail(b, s, e->text, too_large, "the formula is too large");
    if (b->failed)
        return new_node(b, N_VARIABLE, e->text);
    switch (e->kind) {
    case E_NUMBER:
        return literal(b, e->value, e->text);
    case E_NAME:
        return build_name(b, s, e->text);
    case E_CALL:
        return build_call(b, s, e);
    case E_INFIX:
        return build_infix(b, s, e);
    case E_NEG:
        return build_neg(b, s, e);
    case E_EITHER:
        return build_either(b, s, e);
    case E_STRING:
    case E_LIST:
        break;
    }
    build_fail(b, s, e->text, b->form ? "a name is its value, or the number that it holds: celu(x, alpha)" : NULL,
               "a string or a list stands where a value is expected");
    return new_node(b, N_VARIABLE, e->text);
}
