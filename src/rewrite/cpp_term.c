/* A formula as members of type Term. */
#include "rewrite/cpp.h"

#include <math.h>
#include <string.h>

#include "lang/printer.h"

static struct str term(struct cpp *c, const struct node *n);

/* ---- how often names are used ---- */

static void count_number(struct cpp *c, const struct number *n) {
    if (!n)
        return;
    if (n->slot != NONE && n->op != NUM_VALUE)
        c->uses[n->slot] += 2; /* it needs a name */
    count_number(c, n->a);
    count_number(c, n->b);
}

static void count_uses(struct cpp *c, const struct node *n) {
    if (n->kind == N_NAMED && c->uses[n->slot]++)
        return;
    count_number(c, n->number);
    for (uint32_t i = 0; i < n->nargs; i++)
        count_uses(c, n->args[i]);
}

/* ---- nodes ---- */

/* A number that is known without a match. */
static double no_leaf(void *self, const struct number *n) {
    (void)self;
    (void)n;
    return NAN;
}

static struct str number_term(struct cpp *c, const struct node *n) {
    struct buf text = {0};
    double value = number_evaluate(n->number, no_leaf, NULL);
    if (!isnan(value))
        return cpp_double(c->arena, value);
    struct str x = cpp_number(c, n->number);
    formula_print_part(c->formula, n, 100, &text);
    struct str said = cpp_quoted(c, buf_str(&text));
    buf_free(&text);
    return x.n ? arena_printf(c->arena, "m_Number([](const Match &match, const Axes &axes) { return %s; }, %s)", x.p,
                              said.p)
               : x;
}

/* The arguments, with a comma between. */
static struct str terms(struct cpp *c, const struct node *n, const char *number_type) {
    struct str text = STR("");
    for (uint32_t i = 0; i < n->nargs; i++) {
        struct str one = term(c, n->args[i]);
        if (!one.n)
            return one;
        (void)number_type;
        text = arena_printf(c->arena, "%s%s%s", text.p, i ? ", " : "", one.p);
    }
    return text;
}

static struct str dim_text(struct cpp *c, const struct node *n) {
    return n->dim.given ? arena_printf(c->arena, ", %d", n->dim.axis) : STR("");
}

static bool part_value(const struct node *n, const char *key, int64_t *out) {
    for (uint32_t i = 0; i < n->nattrs; i++)
        if (strcmp(n->attrs[i].key, key) == 0)
            return mlir_int(n->attrs[i].value, out);
    return false;
}

static struct str slice_term(struct cpp *c, const struct node *n, struct str x) {
    int64_t part = 0, of = 0, end = 0;
    struct str dim = n->dim.given ? arena_printf(c->arena, "%d", n->dim.axis) : STR("std::nullopt");
    struct str which = STR("");
    if (n->nattrs && part_value(n, "part", &part) && part_value(n, "of", &of))
        which = arena_printf(c->arena, "partOf(%d, %d)", (int)part, (int)of);
    else if (n->nattrs && part_value(n, "part", &part) && part_value(n, "every", &of))
        which = arena_printf(c->arena, "partEvery(%d, %d)", (int)part, (int)of);
    else if (n->nattrs && part_value(n, "begin", &part) && part_value(n, "end", &end))
        which = arena_printf(c->arena, "partFrom(%d, %d)", (int)part, (int)end);
    else if (n->nattrs)
        return cpp_cannot(c, "a slice of this part");
    if (!which.n)
        return arena_printf(c->arena, "m_Slice(%s%s)", x.p, dim_text(c, n).p);
    return arena_printf(c->arena, "m_Slice(%s, %s, %s, true)", x.p, dim.p, which.p);
}

/* Attributes that stand for operands: ", {nullptr, \"min\", \"max\"}". */
static struct str settings(struct cpp *c, const struct node *n) {
    struct str text = STR(""), roles = str_of(op_table[n->op].roles);
    bool any = false;
    for (uint32_t i = 0; i < n->nargs; i++) {
        struct str role = str_item(&roles), key = role;
        str_part(&key, '=');
        text = arena_printf(c->arena, "%s%s", text.p, i ? ", " : "");
        text = key.n ? arena_printf(c->arena, "%s\"%.*s\"", text.p, (int)key.n, key.p)
                     : arena_printf(c->arena, "%snullptr", text.p);
        any |= key.n > 0;
    }
    return any ? arena_printf(c->arena, ", {%s}", text.p) : STR("");
}

static struct str op_term(struct cpp *c, const struct node *n) {
    enum op_class class = op_table[n->op].class;
    struct str args = terms(c, n, NULL);
    struct str name = class == OP_CONTRACT ? STR("") : cpp_class(c, n->op);
    const char *op = name.p, *x = args.p;
    if (!args.n || (!name.n && class != OP_CONTRACT))
        return STR("");
    if (n->nattrs && class != OP_SLICE)
        return cpp_cannot(c, "attributes of %s", op_table[n->op].name);
    switch (class) {
    case OP_ELTWISE:
        if (op_is(n->op, COMMUTES) && n->nargs == 2)
            return arena_printf(c->arena, "m_Commutative<%s>(%s)", op, x);
        if (n->op == K_CLAMP)
            return arena_printf(c->arena, "m_Elementwise<ClampScalarOp, ClampTensorOp>({%s}%s)", x, settings(c, n).p);
        return arena_printf(c->arena, "m_Elementwise<%s>({%s})", op, x);
    case OP_REDUCE:
        return arena_printf(c->arena, "m_Reduction<%s>(%s%s)", op, x, dim_text(c, n).p);
    case OP_AXISWISE:
        return arena_printf(c->arena, "m_Along<%s>({%s}%s)", op, x, dim_text(c, n).p);
    case OP_CONTRACT:
        return arena_printf(c->arena, "m_Product(%s)", x);
    case OP_SLICE:
        return slice_term(c, n, args);
    case OP_JOIN:
        return arena_printf(c->arena, "m_Concat({%s}%s)", x, dim_text(c, n).p);
    case OP_MOVE:
    case OP_CAST:
        return arena_printf(c->arena, "m_View<%s>(%s)", op, x);
    case OP_OPAQUE:
        return arena_printf(c->arena, "m_Opaque<%s>({%s})", op, x);
    default:
        return cpp_cannot(c, "how the operands of %s are indexed", op_table[n->op].name);
    }
}

/* The line of the formula, as it is written. */
static struct str line_text(const struct formula *f, struct str name) {
    struct str rest = f->text;
    while (rest.n) {
        struct str from = rest, one = str_line(&rest), words = one, first = str_trim(str_part(&words, '='));
        while (rest.n && str_blank(rest.p[0]))
            str_line(&rest);
        if (str_eq(first, name))
            return str_trim((struct str){from.p, from.n - rest.n});
    }
    return STR("");
}

static void put_comment(struct cpp *c, const struct node *n, struct str name) {
    enum { MOST = 110 };
    struct str text = name.n ? line_text(c->formula, name) : STR("");
    struct buf part = {0};
    if (!text.n) {
        formula_print_part(c->formula, n->args[0], MOST, &part);
        text = part.n < MOST ? buf_str(&part) : STR("a part of the following");
    }
    buf_addc(c->out, '\n');
    while (text.n)
        for (struct str one = str_line(&text); one.n; one.n = 0)
            buf_printf(c->out, "  // %.*s\n", (int)one.n, one.p);
    buf_free(&part);
}

/* A line, or what an idiom names and more than one place uses. */
static struct str named_term(struct cpp *c, const struct node *n) {
    struct str name = c->formula->slot_name[n->slot];
    if (!name.n && c->uses[n->slot] < 2)
        return term(c, n->args[0]);
    struct str id = name.n ? cpp_name(c, name) : arena_printf(c->arena, "part%u", n->slot);
    struct str member = arena_printf(c->arena, "%.*sTerm", (int)id.n, id.p);
    if (c->written[n->slot])
        return member;
    c->written[n->slot] = true;
    struct str value = term(c, n->args[0]);
    if (!value.n)
        return value;
    put_comment(c, n, name);
    cpp_put(c->out, 2, arena_printf(c->arena, "const Term %s = ", member.p),
            arena_printf(c->arena, "m_Line(%.*s, %s);", (int)id.n, id.p, value.p));
    buf_addc(c->out, '\n');
    return member;
}

static struct str either_term(struct cpp *c, const struct node *n) {
    struct str text = STR(""), last = STR("");
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->nargs; i++) {
        struct str one = term(c, n->args[i]);
        if (!one.n)
            return one;
        /* alternatives of numbers and names alone would not be of type Term */
        text = arena_printf(c->arena, "%s%s%s", text.p, count++ ? ", " : "", one.p);
        last = one;
    }
    return count == 1 ? last : arena_printf(c->arena, "m_Either({%s})", text.p);
}

static struct str term(struct cpp *c, const struct node *n) {
    struct str x;
    switch (n->kind) {
    case N_VARIABLE:
        return cpp_name(c, c->formula->slot_name[n->slot]);
    case N_NAMED:
        return named_term(c, n);
    case N_NUMBER:
        return number_term(c, n);
    case N_EITHER:
        return either_term(c, n);
    case N_OP:
        return op_term(c, n);
    case N_TRANSPOSED:
        x = term(c, n->args[0]);
        return x.n ? arena_printf(c->arena, "m_Transposed(%s)", x.p) : x;
    case N_OUTER:
        x = terms(c, n, NULL);
        return x.n ? arena_printf(c->arena, "m_Outer(%s)", x.p) : x;
    case N_RESULT:
        return cpp_cannot(c, "a further result of an op");
    }
    return STR("");
}

void cpp_names(struct cpp *c) {
    bool first = true;
    for (uint32_t i = 0; i < c->formula->nslots; i++) {
        struct str name = c->formula->slot_name[i];
        struct str id = name.n ? cpp_name(c, name) : arena_printf(c->arena, "part%u", i);
        if (!name.n && c->uses[i] < 2)
            continue;
        buf_printf(c->out, "%s%.*s{%u, %s}", first ? "  static constexpr Name " : ",\n                        ",
                   (int)id.n, id.p, i, cpp_quoted(c, name.n ? name : STR("a part")).p);
        first = false;
    }
    buf_add(c->out, STR(";\n"));
}

struct str cpp_terms(struct cpp *c) {
    count_uses(c, c->formula->root);
    if (c->formula->nsecondary)
        return cpp_cannot(c, "the fused op has several results, or the formula several roots");
    cpp_names(c);
    return term(c, c->formula->root);
}
