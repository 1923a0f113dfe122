/* Tuples are looked through: a function that takes or returns one takes or returns its elements, which are values of
 * their own, and what takes a tuple apart names one of them. Source: TTNNTuplifyTensors of tt-mlir, which puts the
 * arguments and the results of each function into one tuple before code is generated. */
#include <stdlib.h>
#include <string.h>

#include "mlir/parser.h"
#include "mlir/scan.h"
#include "mlir/tables.h"

/* What stands for a value: values in `list`. A value that nothing else stands for is not listed. */
struct elements {
    uint32_t first, n;
    bool known;
};

struct tuples {
    struct mlir *m;
    struct elements *of; /* per value of the text */
    uint32_t nvalues;    /* of the text */
    uint32_t *list, n, cap;
};

static bool tuple_inside(const struct mlir *m, uint32_t type, struct str *inside) {
    struct str text = mlir_unalias(m, m->types[type].text);
    bool is = str_starts(text, STR("tuple<")) && str_ends(text, STR(">"));
    *inside = is ? (struct str){text.p + 6, text.n - 7} : STR("");
    return is;
}

static bool is_tuple(const struct mlir *m, uint32_t value) {
    struct str inside;
    return tuple_inside(m, m->values[value].type, &inside);
}

static void list_value(struct tuples *t, uint32_t value) {
    t->list = grow(t->list, &t->cap, t->n + 1, sizeof *t->list);
    t->list[t->n++] = value;
}

/* New values, one after the other, for `n` values, of which a tuple is its elements. Returns how many. */
static uint32_t add_values(struct tuples *t, uint32_t first, uint32_t n) {
    struct mlir *m = t->m;
    uint32_t added = 0;
    for (uint32_t v = first; v < first + n; v++) {
        struct mlir_value value = m->values[v];
        struct str inside, item = STR("");
        bool tuple = tuple_inside(m, value.type, &inside);
        const char *at = inside.p;
        t->of[v] = (struct elements){.first = t->n, .known = true};
        while (!tuple || (scan_item(&at, inside.p + inside.n, &item) && item.n)) {
            value.type = tuple ? type_add(m, item) : value.type;
            value.index = added++;
            list_value(t, value_add(m, value));
            if (!tuple)
                break;
        }
        t->of[v].n = t->n - t->of[v].first;
    }
    return added;
}

static bool has_tuple(const struct mlir *m, uint32_t first, uint32_t n) {
    bool found = false;
    for (uint32_t v = first; v < first + n && !found; v++)
        found = is_tuple(m, v);
    return found;
}

static void spread_arguments(struct tuples *t, struct mlir_func *f) {
    struct mlir *m = t->m;
    uint32_t first = m->nvalues, old = f->first_arg, attrs = m->narg_attrs, n;
    if (!has_tuple(m, old, f->nargs))
        return;
    n = add_values(t, old, f->nargs);
    m->arg_attrs = grow(m->arg_attrs, &m->arg_attrs_cap, attrs + n + 1, sizeof *m->arg_attrs);
    memset(m->arg_attrs + attrs, 0, (n + (size_t)1) * sizeof *m->arg_attrs);
    for (uint32_t i = 0; i < f->nargs; i++)
        if (!is_tuple(m, old + i))
            m->arg_attrs[attrs + t->list[t->of[old + i].first] - first] = m->arg_attrs[f->first_arg_attr + i];
    m->narg_attrs += n;
    f->first_arg = first;
    f->nargs = n;
    f->first_arg_attr = attrs;
}

/* Which element an op takes: "%t[2]", or an attribute of the generic form. */
static uint32_t element_number(const struct mlir *m, uint32_t op) {
    struct str text = mlir_span(m, m->ops[op].text), value;
    int64_t i;
    if (mlir_attr(m, op, "index", &value) && mlir_int(value, &i))
        return i < 0 || i > UINT16_MAX ? NONE : (uint32_t)i;
    const char *p = memchr(text.p, '[', text.n), *end = text.p + text.n;
    uint32_t n = 0, digits = 0;
    for (p = p ? p + 1 : end; p < end && scan_is(*p, CH_DIGIT) && digits < 5; p++, digits++)
        n = 10 * n + (uint32_t)(*p - '0');
    return digits ? n : NONE;
}

static const struct elements *elements_of(const struct tuples *t, uint32_t value) {
    return value != NONE && value < t->nvalues && t->of[value].known ? &t->of[value] : NULL;
}

/* Operands that are tuples, or stand for others. */
static void spread_operands(struct tuples *t, struct mlir_op *o) {
    struct mlir *m = t->m;
    uint32_t first = m->noperands, old = o->first_operand, n = o->noperands;
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
        any |= elements_of(t, m->operands[old + i]) != NULL;
    for (uint32_t i = 0; any && i < n; i++) {
        uint32_t v = m->operands[old + i];
        const struct elements *e = elements_of(t, v);
        for (uint32_t k = 0; k < (e ? e->n : 1); k++) {
            m->operands = grow(m->operands, &m->operands_cap, m->noperands + 1, sizeof *m->operands);
            m->operands[m->noperands++] = e ? t->list[e->first + k] : v;
        }
    }
    if (any) {
        o->first_operand = first;
        o->noperands = m->noperands - first;
    }
}

static void look_through(struct tuples *t, uint32_t op) {
    struct mlir *m = t->m;
    struct mlir_op *o = &m->ops[op];
    struct str name = mlir_op_name(m, op);
    bool takes = str_ends(name, STR(".get_tuple_element")) && o->noperands == 1 && o->nresults == 1;
    const struct elements *e = takes ? elements_of(t, m->operands[o->first_operand]) : NULL;
    uint32_t i = e ? element_number(m, op) : NONE;
    if (e && i < e->n) {
        uint32_t element = t->list[e->first + i];
        m->values[element].name = m->values[o->first_result].name;
        t->of[o->first_result] = (struct elements){.first = e->first + i, .n = 1, .known = true};
        return;
    }
    spread_operands(t, o);
    if (str_ends(name, STR(".tuple")) && o->nresults == 1) {
        t->of[o->first_result] = (struct elements){.first = t->n, .n = o->noperands, .known = true};
        for (uint32_t k = 0; k < o->noperands; k++)
            list_value(t, m->operands[o->first_operand + k]);
    } else if (has_tuple(m, o->first_result, o->nresults)) {
        uint32_t first = m->nvalues;
        o->nresults = add_values(t, o->first_result, o->nresults);
        o->first_result = first;
    }
}

void look_through_tuples(struct mlir *m) {
    struct tuples t = {.m = m, .nvalues = m->nvalues};
    bool any = false;
    for (uint32_t i = 0; i < m->ntypes && !any; i++)
        any = str_starts(mlir_unalias(m, m->types[i].text), STR("tuple<"));
    if (!any)
        return;
    t.of = xcalloc(m->nvalues + (size_t)1, sizeof *t.of);
    for (uint32_t f = 0; f < m->nfuncs; f++)
        spread_arguments(&t, &m->funcs[f]);
    for (uint32_t op = 0; op < m->nops; op++)
        look_through(&t, op);
    free(t.of);
    free(t.list);
}
