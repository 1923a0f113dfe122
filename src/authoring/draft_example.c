/* Ops to the lines of an example in short (patterns/library/shorthand.h). What the notation leaves out is found by
 * expanding it: a name, an attribute or its value is left out or shortened where the expansion prints what the file
 * has. */
#include "authoring/draft.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "patterns/library/shorthand.h"

enum { MAX_SHOWN_ATTRS = 48, WIDTH = 110 };

struct drafted_op {
    struct draft *draft;
    uint32_t op;
    const char *dialect;
    struct str word, typed_operands; /* each operand with its type */
    struct str attrs[MAX_SHOWN_ATTRS];
    int nattrs;
    struct str type;
};

/* "32x64" of tensor<32x64xbf16>; a type that is no plain tensor is written out. */
static struct str short_type(const struct draft *s, uint32_t value) {
    const struct mlir *m = s->graph->m;
    struct str t = m->types[m->values[value].type].text, of_alias;
    if (str_starts(t, STR("!")) && mlir_alias(m, t, &of_alias))
        t = of_alias;
    if (!str_starts(t, STR("tensor<")))
        return t;
    struct str body = {t.p + 7, t.n - 8};
    const char *comma = memchr(body.p, ',', body.n);
    body.n = comma ? (size_t)(comma - body.p) : body.n;
    if (memchr(body.p, '!', body.n))
        return t;
    body = str_trim(body);
    bool plain = body.n > 5 && memcmp(body.p + body.n - 5, "xbf16", 5) == 0;
    return (struct str){body.p, body.n - (plain ? 5 : 0)};
}

/* Its name in the formula, else that of the file: %5 is v5. */
static struct str name_of(struct draft *s, uint32_t value) {
    const struct mlir_value *v = &s->graph->m->values[value];
    struct str own = mlir_span(s->graph->m, v->name), name = s->names[value];
    if (name.n)
        return name;
    name = arena_printf(s->arena, "%s%.*s", own.n > 1 && isdigit((unsigned char)own.p[1]) ? "v" : "", (int)own.n - 1,
                        own.p + 1);
    while (draft_has_name(s, name))
        name = arena_printf(s->arena, "%s_", name.p);
    return s->names[value] = name;
}

static void add_operand(struct draft *s, uint32_t value, bool typed, struct buf *out) {
    double number;
    uint32_t def = s->graph->m->values[value].def;
    struct str type = short_type(s, value);
    bool is_number = draft_is_number(s, value, &number), known = s->typed[value] || (def != NONE && s->shown[def]);
    if (!is_number)
        buf_add(out, name_of(s, value));
    else if (isfinite(number))
        buf_number(out, number);
    else
        buf_add(out, number > 0 ? STR("inf") : STR("-inf"));
    if (is_number || typed || !known)
        buf_printf(out, ":%.*s", (int)type.n, type.p);
}

static struct str operands_of(struct draft *s, uint32_t op, bool typed) {
    struct buf b = {0};
    for (uint32_t i = 0; i < graph_noperands(s->graph, op); i++) {
        uint32_t v = graph_operands(s->graph, op)[i];
        if (v == NONE)
            continue;
        buf_addc(&b, ' ');
        add_operand(s, v, typed, &b);
        s->typed[v] |= !typed;
    }
    return buf_take(&b, s->arena);
}

static void add_attributes(const struct drafted_op *l, struct buf *out) {
    const char *line = memrchr(out->p, '\n', out->n);
    size_t begin = line ? (size_t)(line - out->p) : 0;
    bool first = true;
    for (int i = 0; i < l->nattrs; i++) {
        if (!l->attrs[i].n)
            continue;
        buf_add(out, first ? STR(" {") : STR(","));
        if (out->n - begin + l->attrs[i].n > WIDTH) {
            begin = out->n;
            buf_add(out, STR("\n       "));
        }
        buf_add(out, first ? STR("") : STR(" "));
        buf_add(out, l->attrs[i]);
        first = false;
    }
    buf_add(out, first ? STR("") : STR("}"));
}

/* What the op as it is now expands to by itself; empty where it cannot be. */
static struct str expansion(const struct drafted_op *l) {
    struct arena *a = l->draft->arena;
    struct shorthand_error error;
    struct buf b = {0};
    struct str out;
    buf_printf(&b, "r = %.*s%.*s", (int)l->word.n, l->word.p, (int)l->typed_operands.n, l->typed_operands.p);
    add_attributes(l, &b);
    buf_printf(&b, "%s%.*s", l->type.n ? " -> " : "", (int)l->type.n, l->type.p);
    struct str text = buf_take(&b, a);
    return shorthand_expand(text, l->dialect, "bf16", a, &out, &error) ? out : STR("");
}

/* Sets a part of the op to a text that has to mean the same, else leaves it. */
static bool shorten(const struct drafted_op *l, struct str *part, struct str text) {
    struct str before = *part, meant = expansion(l);
    *part = text;
    if (meant.n && str_eq(expansion(l), meant))
        return true;
    *part = before;
    return false;
}

static struct str key_and_value(struct arena *a, struct str key, struct str value) {
    return arena_printf(a, value.n ? "%.*s = %.*s" : "%.*s", (int)key.n, key.p, (int)value.n, value.p);
}

/* "[1, 2]" of a list of whole numbers, "0.5" of "0.5 : f32". */
static struct str short_value(struct arena *a, struct str value) {
    int64_t ints[64];
    const char *colon = value.n ? memchr(value.p, ':', value.n) : NULL;
    bool list =
        str_starts(value, STR("[")) || str_starts(value, STR("array<")) || str_starts(value, STR("#ttnn.shape"));
    int n = list ? mlir_ints(value, ints, 64) : -1;
    struct buf b = {0};
    if (n < 0 || n > 64)
        return colon ? str_trim((struct str){value.p, (size_t)(colon - value.p)}) : value;
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%s%lld", i ? ", " : "[", (long long)ints[i]);
    buf_add(&b, n ? STR("]") : STR("[]"));
    return buf_take(&b, a);
}

/* Says nothing of what the op computes: what its row in ops.def does not have, formats and configurations, and operand
 * segments that count destinations, which a line in short does not have. */
static bool is_left_out(const struct drafted_op *l, struct str key, struct str value) {
    const struct graph *g = l->draft->graph;
    bool destinations = graph_noperands(g, l->op) != g->m->ops[l->op].noperands;
    bool listed = str_find(str_of(op_table[g->kind[l->op]].attributes), key);
    return memchr(key.p, '.', key.n) || !op_may_have((enum op_kind)g->kind[l->op], key) ||
           (str_starts(value, STR("#")) && !listed) || (destinations && str_is(key, "operandSegmentSizes"));
}

static void read_attributes(struct drafted_op *l) {
    struct str keys[MAX_SHOWN_ATTRS], values[MAX_SHOWN_ATTRS];
    struct arena *a = l->draft->arena;
    int n = mlir_attrs(l->draft->graph->m, l->op, keys, values, MAX_SHOWN_ATTRS);
    for (int i = 0; i < n && i < MAX_SHOWN_ATTRS; i++)
        if (!is_left_out(l, keys[i], values[i]))
            l->attrs[l->nattrs++] = key_and_value(a, keys[i], values[i]);
    for (int i = 0, k = 0; i < n && i < MAX_SHOWN_ATTRS; i++)
        if (!is_left_out(l, keys[i], values[i]) && !shorten(l, &l->attrs[k++], STR("")))
            (void)shorten(l, &l->attrs[k - 1], key_and_value(a, keys[i], short_value(a, values[i])));
}

static void add_op(struct draft *s, uint32_t op, const char *dialect, struct buf *out) {
    const struct mlir *m = s->graph->m;
    uint32_t result = m->ops[op].first_result;
    struct drafted_op l = {
        .draft = s, .op = op, .dialect = dialect, .word = mlir_op_name(m, op), .type = short_type(s, result)};
    struct str operands = operands_of(s, op, false), name;
    l.typed_operands = operands_of(s, op, true);
    read_attributes(&l);
    (void)shorten(&l, &l.word, str_of(op_table[s->graph->kind[op]].name));
    (void)shorten(&l, &l.type, STR(""));
    name = name_of(s, result);
    buf_printf(out, "      %.*s = %.*s%.*s", (int)name.n, name.p, (int)l.word.n, l.word.p, (int)operands.n, operands.p);
    add_attributes(&l, out);
    buf_printf(out, "%s%.*s\n", l.type.n ? " -> " : "", (int)l.type.n, l.type.p);
}

/* The key `args`: which values that the example does not define are parameters. */
static void add_arguments(const struct draft *s, struct buf *out) {
    const struct mlir *m = s->graph->m;
    uint32_t n = 0;
    for (uint32_t v = 0; v < m->nvalues; v++) {
        bool defined = m->values[v].def != NONE && s->shown[m->values[v].def];
        if (s->typed[v] && !defined && s->names[v].n && graph_is_parameter(s->graph, v))
            buf_printf(out, "%s%.*s: parameter", n++ ? ", " : "    args: {", (int)s->names[v].n, s->names[v].p);
    }
    buf_add(out, n ? STR("}\n") : STR(""));
}

void draft_example(struct draft *s, struct buf *out) {
    const struct mlir *m = s->graph->m;
    const char *dialect = "ttir";
    s->typed = arena_alloc(s->arena, m->nvalues + 1);
    buf_add(out, STR("tests:\n  - hit: |\n"));
    for (uint32_t op = 0; op < m->nops; op++)
        if (s->shown[op] && str_starts(mlir_op_name(m, op), STR("ttnn.")))
            dialect = "ttnn";
    for (uint32_t op = 0; op < m->nops; op++)
        if (s->shown[op])
            add_op(s, op, dialect, out);
    buf_add(out, strcmp(dialect, "ttnn") == 0 ? STR("    level: ttnn\n") : STR(""));
    add_arguments(s, out);
}
