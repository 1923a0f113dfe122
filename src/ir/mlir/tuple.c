/* Tuples are looked through: a function that takes or returns one takes or returns its elements, which are values of
 * their own, and what takes a tuple apart names one of them. Source: TTNNTuplifyTensors of tt-mlir, which puts the
 * arguments and the results of each function into one tuple before code is generated. */
#include <stdlib.h>
#include <string.h>

#include "ir/mlir/scan.h"
#include "ir/mlir/tables.h"

/* What stands for a value of the text: values in `list`. */
struct elements {
    uint32_t first, n;
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

static void list_value(struct tuples *t, uint32_t value) {
    t->list = grow(t->list, &t->cap, t->n + 1, sizeof *t->list);
    t->list[t->n++] = value;
}

static bool takes_element(const struct mlir *m, uint32_t op) {
    return str_ends(mlir_op_name(m, op), STR(".get_tuple_element")) && m->ops[op].noperands == 1 &&
           m->ops[op].nresults == 1;
}

static bool makes_tuple(const struct mlir *m, uint32_t op) {
    return str_ends(mlir_op_name(m, op), STR(".tuple")) && m->ops[op].nresults == 1;
}

/* An argument or a result that is several from now on. */
static bool is_spread(const struct mlir *m, uint32_t value, struct str *inside) {
    uint32_t op = m->values[value].def;
    return tuple_inside(m, m->values[value].type, inside) &&
           (op == NONE || (!takes_element(m, op) && !makes_tuple(m, op)));
}

/* All values in their order, elements in place of tuples. */
static void renumber_values(struct tuples *t) {
    struct mlir *m = t->m;
    struct mlir_value *old = m->values;
    struct str inside, item;
    uint32_t n = 0, cap = 0;
    struct mlir_value *values = NULL;
    for (uint32_t v = 0; v < t->nvalues; v++) {
        bool spread = is_spread(m, v, &inside);
        const char *at = inside.p;
        t->of[v] = (struct elements){.first = t->n};
        while (!spread || (scan_item(&at, inside.p + inside.n, &item) && item.n)) {
            values = grow(values, &cap, n + 1, sizeof *values);
            values[n] = old[v];
            values[n].type = spread ? type_add(m, item) : old[v].type;
            list_value(t, n++);
            if (!spread)
                break;
        }
        t->of[v].n = t->n - t->of[v].first;
    }
    m->values = grow(values, &cap, n + 1, sizeof *values); /* never NULL */
    m->nvalues = n;
    m->values_cap = cap;
    free(old);
}

/* The first of what stands for values from `first` on, and how many there are for `n` of them. */
static uint32_t renumber(struct tuples *t, uint32_t first, uint32_t *n) {
    uint32_t begin = first < t->nvalues ? t->of[first].first : t->n, end = begin;
    for (uint32_t v = first; v < first + *n && v < t->nvalues; v++)
        end = t->of[v].first + t->of[v].n;
    for (uint32_t i = begin; i < end; i++)
        t->m->values[t->list[i]].index = i - begin;
    *n = end - begin;
    return begin < end ? t->list[begin] : 0;
}

static void spread_arguments(struct tuples *t, struct mlir_func *f) {
    struct mlir *m = t->m;
    uint32_t attrs = m->narg_attrs, old = f->first_arg, nold = f->nargs, n = f->nargs;
    f->first_arg = renumber(t, old, &n);
    m->arg_attrs = grow(m->arg_attrs, &m->arg_attrs_cap, attrs + n + 1, sizeof *m->arg_attrs);
    memset(m->arg_attrs + attrs, 0, (n + (size_t)1) * sizeof *m->arg_attrs);
    for (uint32_t i = 0; i < nold; i++)
        if (t->of[old + i].n == 1)
            m->arg_attrs[attrs + t->list[t->of[old + i].first] - f->first_arg] = m->arg_attrs[f->first_arg_attr + i];
    m->narg_attrs += n;
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

/* What stands for the operands. */
static void spread_operands(struct tuples *t, struct mlir_op *o) {
    struct mlir *m = t->m;
    uint32_t first = m->noperands;
    for (uint32_t i = 0; i < o->noperands; i++) {
        uint32_t v = m->operands[o->first_operand + i];
        struct elements e = v < t->nvalues ? t->of[v] : (struct elements){.n = 0};
        for (uint32_t k = 0; k < (v < t->nvalues ? e.n : 1); k++) {
            m->operands = grow(m->operands, &m->operands_cap, m->noperands + 1, sizeof *m->operands);
            m->operands[m->noperands++] = v < t->nvalues ? t->list[e.first + k] : v;
        }
    }
    o->first_operand = first;
    o->noperands = m->noperands - first;
}

static void look_through(struct tuples *t, uint32_t op) {
    struct mlir *m = t->m;
    struct mlir_op *o = &m->ops[op];
    bool takes = takes_element(m, op), makes = makes_tuple(m, op);
    uint32_t result = o->first_result, i = takes ? element_number(m, op) : NONE, n = o->nresults;
    o->first_result = renumber(t, result, &n);
    o->nresults = n;
    spread_operands(t, o);
    if (takes && i < o->noperands) {
        t->of[result] = (struct elements){.first = t->n, .n = 1};
        list_value(t, m->operands[o->first_operand + i]);
        m->values[t->list[t->n - 1]].name = m->values[o->first_result].name;
    } else if (makes) {
        t->of[result] = (struct elements){.first = t->n, .n = o->noperands};
        for (uint32_t k = 0; k < o->noperands; k++)
            list_value(t, m->operands[o->first_operand + k]);
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
    renumber_values(&t);
    for (uint32_t f = 0; f < m->nfuncs; f++)
        spread_arguments(&t, &m->funcs[f]);
    for (uint32_t op = 0; op < m->nops; op++)
        look_through(&t, op);
    free(t.of);
    free(t.list);
}
