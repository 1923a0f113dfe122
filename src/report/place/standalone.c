#include "report/place/standalone.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "ir/mlir/print.h"

/* ---- aliases ---- */

struct used_alias {
    struct str name, value;
};

struct used_aliases {
    struct used_alias *items;
    uint32_t n, cap;
};

/* The aliases of `m` that a text mentions. */
static void find_aliases(const struct mlir *m, struct str text, struct used_aliases *to) {
    struct used_alias x;
    while (mlir_next_alias(&text, true, &x.name)) {
        bool known = !mlir_alias(m, x.name, &x.value);
        for (uint32_t k = 0; k < to->n && !known; k++)
            known = to->items[k].value.p == x.value.p;
        if (known)
            continue;
        to->items = grow(to->items, &to->cap, to->n + 1, sizeof *to->items);
        to->items[to->n++] = x;
    }
}

static int by_definition(const void *a, const void *b) {
    const struct used_alias *x = a, *y = b;
    return x->value.p < y->value.p ? -1 : x->value.p > y->value.p;
}

/* A module around functions made of ops of `m`, with the aliases that they mention. */
static struct str module_around(const struct mlir *m, struct str attributes, struct str body, struct arena *a) {
    struct used_aliases uses = {0};
    struct buf out = {0};
    find_aliases(m, attributes, &uses);
    find_aliases(m, body, &uses);
    for (uint32_t i = 0; i < uses.n; i++)
        find_aliases(m, uses.items[i].value, &uses);
    if (uses.n)
        qsort(uses.items, uses.n, sizeof *uses.items, by_definition);
    for (uint32_t i = 0; i < uses.n; i++)
        buf_printf(&out, "%.*s = %.*s\n", (int)uses.items[i].name.n, uses.items[i].name.p, (int)uses.items[i].value.n,
                   uses.items[i].value.p);
    free(uses.items);
    buf_add(&out, STR("module "));
    if (attributes.n)
        buf_printf(&out, "attributes {%.*s} ", (int)attributes.n, attributes.p);
    buf_printf(&out, "{\n%.*s}\n", (int)body.n, body.p);
    return buf_take(&out, a);
}

/* ---- which ops ---- */

struct cutting {
    const struct graph *g;
    const struct mlir *m;
    struct arena *arena;
    uint32_t func;
    uint32_t *ops, nops, cap; /* of the function, ascending */
    uint32_t *inputs, ninputs;
};

enum { MOST_BYTES = 1024, MOST_DEPTH = 8 }; /* of a constant's op, and of what makes a constant */

static const uint32_t *operands_of(const struct cutting *c, uint32_t op) {
    return c->m->operands + c->m->ops[op].first_operand;
}

static bool in_function(const struct cutting *c, uint32_t op) {
    return op != NONE && c->m->ops[op].func == c->func && c->m->ops[op].parent == c->m->funcs[c->func].op;
}

static bool is_in(const struct cutting *c, uint32_t op) {
    return find_id(c->ops, c->nops, op) != NONE;
}

static void add_op(struct cutting *c, uint32_t op) {
    uint32_t at = c->nops;
    if (is_in(c, op))
        return;
    c->ops = grow(c->ops, &c->cap, c->nops + 1, sizeof *c->ops);
    for (c->nops++; at > 0 && c->ops[at - 1] > op; at--)
        c->ops[at] = c->ops[at - 1];
    c->ops[at] = op;
}

/* A constant that is short to write, as are the ops that make it, which stand before it. */
static bool is_short_constant(const struct cutting *c, uint32_t value, unsigned depth) {
    uint32_t op = value == NONE ? NONE : c->m->values[value].def;
    if (!in_function(c, op) || depth > MOST_DEPTH || c->m->ops[op].callee != NONE)
        return false;
    struct str text = mlir_span(c->m, c->m->ops[op].text);
    if (text.n > MOST_BYTES)
        return false;
    for (uint32_t k = 0; k < c->m->ops[op].noperands; k++) {
        uint32_t v = operands_of(c, op)[k];
        if (v == NONE || c->m->values[v].def >= op || !is_short_constant(c, v, depth + 1))
            return false;
    }
    return !str_find(text, STR("dense_resource"));
}

/* Tells of the value what its type does not: that its elements are the same along some dimension, or how a
 * canonicaliser turns what stands behind. */
static bool tells_more(enum op_kind k) {
    return op_table[k].movement == MOVEMENT_BROADCAST || op_table[k].movement == MOVEMENT_PERMUTE;
}

/* It moves an argument of the model, or what others move so that it tells more. */
static bool is_moved_here(const struct cutting *c, uint32_t value, unsigned depth) {
    uint32_t op = value == NONE ? NONE : c->m->values[value].def;
    if (!in_function(c, op) || depth > MOST_DEPTH || !class_moves(graph_class(c->g, op)) || c->m->ops[op].noperands < 1)
        return false;
    return graph_argument(c->g, value) != NONE || tells_more((enum op_kind)c->g->kind[op]) ||
           is_moved_here(c, operands_of(c, op)[0], depth + 1);
}

/* Adds the op that makes `value` to those that are cut out, and what that op is made of, if it is a short constant or
 * only moves data: without it the shape or the number that the op needs would not be seen. */
static void take_along(struct cutting *c, uint32_t value, unsigned depth) {
    if (!is_short_constant(c, value, 0) && !is_moved_here(c, value, depth))
        return;
    uint32_t op = c->m->values[value].def;
    if (is_in(c, op))
        return;
    add_op(c, op);
    for (uint32_t k = 0; k < c->m->ops[op].noperands; k++)
        take_along(c, operands_of(c, op)[k], depth + 1);
}

static void add_input(struct cutting *c, uint32_t value) {
    for (uint32_t i = 0; i < c->ninputs; i++)
        if (c->inputs[i] == value)
            return;
    c->inputs[c->ninputs++] = value;
}

/* What the ops need, as far as it comes along, and what is left. */
static void find_inputs(struct cutting *c, const struct segment *s) {
    uint32_t most = 1;
    for (uint32_t i = 0; i < s->nops; i++)
        for (uint32_t k = 0; is_in(c, s->ops[i]) && k < c->m->ops[s->ops[i]].noperands; k++)
            take_along(c, operands_of(c, s->ops[i])[k], 0);
    for (uint32_t i = 0; i < c->nops; i++)
        most += c->m->ops[c->ops[i]].noperands;
    c->inputs = arena_alloc(c->arena, most * sizeof *c->inputs);
    for (uint32_t i = 0; i < c->nops; i++)
        for (uint32_t k = 0; k < c->m->ops[c->ops[i]].noperands; k++) {
            uint32_t v = operands_of(c, c->ops[i])[k];
            if (v != NONE && !is_in(c, c->m->values[v].def))
                add_input(c, v);
        }
}

/* Taken by an op that stays behind, or by none; what is written to is no use of it. Constants stay there, too. */
static bool is_result(const struct cutting *c, uint32_t value) {
    const struct graph *g = c->g;
    if (is_short_constant(c, value, 0))
        return false;
    bool inside = graph_op_is(g, c->m->values[value].def, ARBITRARY);
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1]; u++) {
        if (!is_in(c, g->uses[u]))
            return true;
        inside = true;
    }
    return !inside;
}

/* ---- print ---- */

/* "%5", or "%5#1"; an argument cannot be called that: "%result_5_1". */
static struct str name_of(const struct cutting *c, uint32_t value, bool argument) {
    struct str text = mlir_value_text(c->m, value, c->arena), rest = text, name = str_part(&rest, '#');
    return argument && rest.n
               ? arena_printf(c->arena, "%%result_%.*s_%.*s", (int)name.n - 1, name.p + 1, (int)rest.n, rest.p)
               : text;
}

static struct str type_of(const struct cutting *c, uint32_t value) {
    return c->m->types[c->m->values[value].type].text;
}

static void print_argument(const struct cutting *c, uint32_t value, struct buf *out) {
    struct str name = name_of(c, value, true), type = type_of(c, value);
    uint32_t func, number;
    bool own = graph_argument_of(c->g, value, &func, &number) && func == c->func;
    struct str attributes = own ? mlir_span(c->m, c->m->arg_attrs[c->m->funcs[func].first_arg_attr + number])
                            : graph_is_parameter(c->g, value)
                                ? STR("ttcore.argument_type = #ttcore.argument_type<parameter>")
                                : STR("ttcore.argument_type = #ttcore.argument_type<input>");
    buf_printf(out, "%.*s: %.*s", (int)name.n, name.p, (int)type.n, type.p);
    if (attributes.n)
        buf_printf(out, " {%.*s}", (int)attributes.n, attributes.p);
}

/* One number that a function makes which runs once: its op stays behind, and the number is written here. */
static bool is_loaded_number(const struct cutting *c, uint32_t value, struct constant *number) {
    uint32_t def = c->m->values[value].def;
    *number = graph_constant(c->g, value);
    return def != NONE && c->m->ops[def].callee != NONE && graph_is_made_once(c->g, def) && number->known &&
           isfinite(number->value) && graph_numel(c->g, value) > 0;
}

static void print_number(const struct cutting *c, uint32_t value, const struct constant *number, struct buf *out) {
    const struct mlir_type *type = &c->m->types[c->m->values[value].type];
    struct str name = name_of(c, value, true);
    buf_printf(out, "    %.*s = \"ttnn.full\"() <{fill_value = ", (int)name.n, name.p);
    if (format_is_float(type->dtype))
        buf_printf(out, "%.9e : f32", number->value);
    else
        buf_printf(out, "%.0f : i32", number->value);
    buf_add(out, STR(", shape = #ttnn.shape<"));
    for (uint32_t i = 0; i < type->rank; i++)
        buf_printf(out, "%s%" PRId64, i ? "x" : "", c->m->dims[type->first_dim + i]);
    buf_printf(out, ">}> : () -> %.*s\n", (int)type->text.n, type->text.p);
}

/* The text with another name of a value in it. */
static struct str renamed(const struct cutting *c, struct str text, struct str from, struct str to) {
    struct buf out = {0};
    for (size_t i = 0; i < text.n;) {
        struct str rest = {text.p + i, text.n - i};
        bool here = str_starts(rest, from) && (rest.n == from.n || !isdigit((unsigned char)rest.p[from.n]));
        buf_add(&out, here ? to : (struct str){rest.p, 1});
        i += here ? from.n : 1;
    }
    return buf_take(&out, c->arena);
}

static void print_op(const struct cutting *c, uint32_t op, struct buf *out) {
    struct buf lines = {0};
    segment_text(&(struct segment){c->m, &op, 1}, &lines);
    struct str text = buf_take(&lines, c->arena);
    for (uint32_t k = 0; k < c->m->ops[op].noperands; k++) {
        uint32_t v = operands_of(c, op)[k], def = v == NONE ? NONE : c->m->values[v].def;
        if (def != NONE && !is_in(c, def) && c->m->ops[def].nresults > 1)
            text = renamed(c, text, name_of(c, v, false), name_of(c, v, true));
    }
    while (text.n) {
        struct str line = str_line(&text);
        buf_printf(out, "    %.*s\n", (int)line.n, line.p);
    }
}

static void print_results(const struct cutting *c, bool types, struct buf *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->nops; i++)
        for (uint32_t k = 0; k < c->m->ops[c->ops[i]].nresults; k++) {
            uint32_t v = c->m->ops[c->ops[i]].first_result + k;
            struct str text = types ? type_of(c, v) : name_of(c, v, false);
            if (is_result(c, v))
                buf_printf(out, "%s%.*s", n++ ? ", " : "", (int)text.n, text.p);
        }
}

static void print_function(const struct cutting *c, struct buf *out) {
    const struct mlir_func *f = &c->m->funcs[c->func];
    struct str name = c->m->names[f->name], attributes = mlir_span(c->m, f->attributes);
    struct buf numbers = {0};
    struct constant number;
    bool any = false;
    buf_printf(out, "  func.func @%.*s(", (int)name.n, name.p);
    for (uint32_t i = 0; i < c->ninputs; i++) {
        if (is_loaded_number(c, c->inputs[i], &number)) {
            print_number(c, c->inputs[i], &number, &numbers);
            continue;
        }
        buf_add(out, any ? STR(", ") : STR(""));
        print_argument(c, c->inputs[i], out);
        any = true;
    }
    buf_add(out, STR(") -> ("));
    print_results(c, true, out);
    buf_add(out, STR(") "));
    if (attributes.n)
        buf_printf(out, "attributes {%.*s} ", (int)attributes.n, attributes.p);
    buf_add(out, STR("{\n"));
    buf_add(out, buf_str(&numbers));
    buf_free(&numbers);
    for (uint32_t i = 0; i < c->nops; i++)
        print_op(c, c->ops[i], out);
    struct buf names = {0};
    print_results(c, false, &names);
    buf_printf(out, names.n ? "    return %.*s : " : "    return%.*s", (int)names.n, names.p ? names.p : "");
    print_results(c, true, out);
    buf_add(out, STR("\n  }\n"));
    buf_free(&names);
}

/* The device that the layouts of TTNN are of. */
static void print_device(const struct cutting *c, struct buf *out) {
    uint32_t module = c->m->funcs[c->func].module;
    for (uint32_t op = 0; op < c->m->nops; op++)
        if (c->m->ops[op].parent == module && str_is(mlir_op_name(c->m, op), "ttcore.device")) {
            struct str text = mlir_span(c->m, c->m->ops[op].text);
            buf_printf(out, "  %.*s\n", (int)text.n, text.p);
        }
}

/* What becomes a module of its own; `ops` are to be freed. False where the ops are in no function. */
static bool cut_out(struct cutting *c, const struct graph *g, const struct segment *s, struct arena *a) {
    const struct mlir *m = s->ir;
    *c = (struct cutting){.g = g, .m = m, .arena = a, .func = s->nops ? m->ops[s->ops[s->nops - 1]].func : NONE};
    if (c->func == NONE)
        return false;
    for (uint32_t i = 0; i < s->nops; i++)
        if (in_function(c, s->ops[i]))
            add_op(c, s->ops[i]);
    find_inputs(c, s);
    return true;
}

struct str standalone_module(const struct graph *g, const struct segment *s, struct arena *a) {
    const struct mlir *m = s->ir;
    struct cutting c;
    if (!cut_out(&c, g, s, a))
        return STR("");
    struct buf body = {0};
    print_device(&c, &body);
    print_function(&c, &body);
    free(c.ops);
    uint32_t module = m->funcs[c.func].module;
    struct str attributes = module == NONE ? STR("") : mlir_span(m, m->ops[module].attrs);
    return module_around(m, attributes, buf_take(&body, a), a);
}

uint64_t standalone_kind(const struct graph *g, const struct segment *s, struct arena *a) {
    struct cutting c;
    if (!cut_out(&c, g, s, a))
        return 0;
    uint64_t kind = segment_hash(&(struct segment){c.m, c.ops, c.nops});
    for (uint32_t i = 0; i < c.nops; i++)
        for (uint32_t k = 0; k < c.m->ops[c.ops[i]].nresults; k++)
            kind = hash_mix(kind, is_result(&c, c.m->ops[c.ops[i]].first_result + k));
    for (uint32_t i = 0; i < c.ninputs; i++)
        kind = hash_mix(kind, graph_is_parameter(g, c.inputs[i]));
    free(c.ops);
    return kind | 1;
}
