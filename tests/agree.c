/* Whether two modules of one function compute the same: both are evaluated as a whole, in f64, on random arguments.
 *
 * usage: agree PATTERNS BEFORE AFTER [NUMBER...]
 * Prints the largest difference of a result, relative to its elements (L2). With numbers, arguments are made of these,
 * in turns until one shows a difference; results count that are no floats, and sorts leave equal elements in either
 * order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "parsed_module.h"
#include "patterns/library/pattern.h"
#include "proof/numeric/interpret_graph.h"
#include "proof/value/evaluate.h"

enum { MOST_READ = 1 << 28, MOST_VALUES = 256, MOST_NUMBERS = 64, TURNS = 8 };

#define SHOWN 1e-3 /* a difference that no rounding makes */

static const enum equals orders[] = {EQUALS_FIRST, EQUALS_LAST}; /* of sorts, by turns */

/* What arguments are made of; none: numbers from -1 to 1. */
struct choice {
    double items[MOST_NUMBERS];
    uint32_t n, turn;
};

struct side {
    struct arena arena;
    struct parsed_module module;
    struct eval_context eval;
    struct lazies nodes;
    struct given given[MOST_VALUES];
    const struct tensor *results[MOST_VALUES];
    uint32_t nresults;
};

static struct str read_file(const char *path, struct arena *a) {
    struct buf b = {0};
    FILE *f = fopen(path, "r");
    size_t n = 1;
    while (f && n > 0) {
        n = fread(buf_more(&b, 1 << 16), 1, 1 << 16, f);
        b.n -= (1 << 16) - n;
    }
    if (f)
        fclose(f);
    return buf_take(&b, a);
}

/* The same for the same argument; whole ones may be positions of anything that has two. */
static double random_number(const struct choice *c, bool whole, uint32_t argument, int64_t element) {
    uint64_t h = hash_mix(hash_mix(0x1234567u + c->turn, argument + 1), (uint64_t)element + 1);
    if (whole)
        return (double)((c->n ? h >> 32 : (uint64_t)element) % 2);
    return c->n ? c->items[(h >> 32) % c->n] : (double)(h >> 11) * 0x1p-52 - 1;
}

/* Types of arguments are those of BEFORE: the compiler makes floats of conditions. */
static bool give(struct side *s, const struct side *before, const struct choice *c, uint32_t argument) {
    struct shape shape;
    uint32_t value = s->module.ir.funcs[0].first_arg + argument;
    uint32_t there = before->module.ir.funcs[0].first_arg + argument;
    struct tensor *t = shape_in_graph(&s->module.graph, value, &shape) ? tensor_new(&s->eval, &shape) : NULL;
    bool whole = format_is_integer(graph_dtype(&before->module.graph, there));
    for (int64_t i = 0; t && i < t->n; i++)
        t->x[i] = random_number(c, whole, argument, i);
    s->given[argument] = (struct given){value, t};
    return t != NULL;
}

static bool evaluate(struct side *s, const struct side *before, const struct pattern_set *set, const struct choice *c,
                     const char *path) {
    s->eval = (struct eval_context){.arena = &s->arena,
                                    .lowerings = set,
                                    .nodes = &s->nodes,
                                    .max_elements = 1 << 26,
                                    .equals = orders[c->turn % 2]};
    parsed_module_read(&s->module, read_file(path, &s->arena), &s->arena);
    if (s->module.ir.nfuncs != 1 || s->module.ir.bad_ops)
        return eval_fail(&s->eval, "is no function of well-formed ops");
    const struct mlir *m = &s->module.ir;
    const struct mlir_func *f = &m->funcs[0];
    const struct mlir_op *end = &m->ops[f->end_op - 1];
    bool good = f->nargs == before->module.ir.funcs[0].nargs && f->nargs < MOST_VALUES && end->noperands < MOST_VALUES;
    for (uint32_t i = 0; i < f->nargs && good; i++)
        good = give(s, before, c, i);
    struct program p = {.graph = &s->module.graph, .given = s->given, .ngiven = f->nargs};
    s->nresults = end->noperands;
    good = good && interpret_values(&s->eval, &p, m->operands + end->first_operand, end->noperands, s->results);
    for (uint32_t i = 0; i < s->nresults && good; i++)
        good = (s->results[i] = elements_read(&s->eval, s->results[i], MOST_READ));
    return good;
}

/* Results below LEAST count as that: zeros but for rounding do not differ. */
static double difference(const struct tensor *a, const struct tensor *b, double least) {
    double sum = 0, size = least * least;
    for (int64_t i = 0; i < a->n && a->n == b->n; i++) {
        bool same = a->x[i] == b->x[i] || (isnan(a->x[i]) && isnan(b->x[i]));
        if (!same && !(isfinite(a->x[i]) && isfinite(b->x[i])))
            return INFINITY;
        sum += same ? 0 : (a->x[i] - b->x[i]) * (a->x[i] - b->x[i]);
        size += isfinite(a->x[i]) ? a->x[i] * a->x[i] : 0;
    }
    return a->n == b->n ? sqrt(sum / size) : INFINITY;
}

static bool is_float(const struct side *s, uint32_t result) {
    const struct mlir *m = &s->module.ir;
    return format_is_float(
        graph_dtype(&s->module.graph, m->operands[m->ops[m->funcs[0].end_op - 1].first_operand + result]));
}

/* A millionth of 1, or of the largest number that arguments are made of where that is less. */
static double least_size(const struct choice *c) {
    double largest = c->n ? 0 : 1;
    for (uint32_t i = 0; i < c->n; i++)
        largest = fmax(largest, fabs(c->items[i]));
    return 1e-6 * (largest > 0 ? fmin(largest, 1) : 1);
}

/* The largest difference of a result; below 0: there is none, for one side cannot be evaluated. */
static double compare(const struct pattern_set *set, const struct choice *c, char *const paths[2]) {
    static struct side sides[2];
    double worst = 0;
    bool good = true;
    sides[0] = sides[1] = (struct side){.nresults = 0};
    for (int i = 0; i < 2 && good; i++) {
        good = evaluate(&sides[i], &sides[0], set, c, paths[i]);
        if (!good)
            fprintf(stderr, "%s: %.*s\n", paths[i], (int)sides[i].eval.error.n, sides[i].eval.error.p);
    }
    good = good && sides[0].nresults == sides[1].nresults;
    for (uint32_t i = 0; i < sides[0].nresults && good; i++) /* positions of what is nearly equal may differ */
        if (c->n || is_float(&sides[0], i))
            worst = fmax(worst, difference(sides[0].results[i], sides[1].results[i], least_size(c)));
    for (int i = 0; i < 2; i++) {
        parsed_module_free(&sides[i].module);
        lazies_free(&sides[i].nodes);
        arena_free(&sides[i].arena);
    }
    return good ? worst : -1;
}

int main(int argc, char **argv) {
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct pattern_set set = {0};
    struct choice choice = {.n = 0};
    double worst = -1;
    bool good = argc >= 4 && argc <= 4 + MOST_NUMBERS && patterns_load(&set, argv[1], &diags);
    for (int i = 4; i < argc && good; i++)
        choice.items[choice.n++] = strtod(argv[i], NULL);
    for (uint32_t turns = choice.n ? TURNS : 1; choice.turn < turns && good && worst < SHOWN; choice.turn++) {
        double found = compare(&set, &choice, argv + 2);
        good = found >= 0;
        worst = good ? fmax(worst, found) : -1;
    }
    if (worst >= 0)
        printf("%.3g\n", worst);
    patterns_free(&set);
    diags_free(&diags);
    arena_free(&arena);
    return worst >= 0 ? 0 : 1;
}
