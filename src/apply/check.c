#include "apply/check.h"

#include "apply/rewrite.h"
#include "verify/compare_modules.h"

/* A module that is text in memory. */
struct read_text {
    struct source source;
    struct log_block block;
    struct mlir ir;
    struct graph graph;
    struct diags diags;
};

static bool read_text(struct read_text *t, struct str text, const char *name, struct arena *a) {
    *t = (struct read_text){.source = {.path = name, .data = text.p, .size = text.n},
                            .block = {.text = text, .complete = true},
                            .diags = {.arena = a}};
    mlir_parse(&t->ir, &t->source, &t->block, &t->diags);
    graph_build(&t->graph, &t->ir, &t->diags);
    return t->ir.ops && t->ir.bad_ops == 0 && t->diags.errors == 0;
}

static void read_text_free(struct read_text *t) {
    graph_free(&t->graph);
    mlir_free(&t->ir);
    diags_free(&t->diags);
}

/* The replacement that a value of AFTER is defined in; or NONE. */
static uint32_t replacement_of(const struct replacement *all, const bool *marked, uint32_t n, struct str name) {
    for (uint32_t i = 0; i < n; i++)
        for (struct str rest = marked[i] ? all[i].text : STR(""); rest.n;) {
            struct str line = str_line(&rest), names = str_part(&line, '='), one;
            while (next_result(&names, &one))
                if (str_eq(one, name))
                    return i;
        }
    return NONE;
}

static struct str reason_for(const struct judgement *j, struct arena *a) {
    if (j->answer == ANSWER_DIFFERENT)
        return STR("the module with it computes something else");
    return arena_printf(a, "the module with it is not proved to compute the same: %.*s", (int)j->why.n, j->why.p);
}

/* Takes back the last replacement of a region that is not proved; false: it has none. */
static bool blame(const struct compared_region *r, const struct mlir *after, struct replacement *all, bool *marked,
                  uint32_t n, struct arena *a) {
    for (uint32_t k = r->nops[AFTER]; k-- > 0 && after->ops;) {
        struct mlir_op o = after->ops[r->ops[AFTER][k]];
        struct str name = o.nresults ? mlir_span(after, after->values[o.first_result].name) : STR("");
        uint32_t i = name.n ? replacement_of(all, marked, n, name) : NONE;
        if (i == NONE)
            continue;
        all[i].why = reason_for(&r->judgement, a);
        marked[i] = false;
        return true;
    }
    return false;
}

static bool judge(const struct module_check *c, const struct read_text *texts, struct replacement *all, bool *marked,
                  uint32_t n, struct arena *a, struct str *why) {
    struct module_comparison m;
    bool blamed = false, good;
    struct what_to_compare what = {.watch = c->watch};
    for (uint32_t i = 0; i < n; i++)
        what.excluded |= marked[i] ? all[i].excluded : 0;
    compare_modules(&m, c->lowerings, &texts[BEFORE].graph, &texts[AFTER].graph, what);
    good = m.why.n == 0 && m.nundecided == 0;
    for (uint32_t i = 0; i < m.nregions; i++) {
        if (!m.regions[i].needed || m.regions[i].judgement.answer == ANSWER_PROVED)
            continue;
        good = false;
        blamed |= blame(&m.regions[i], &texts[AFTER].ir, all, marked, n, a);
    }
    if (!good && !blamed)
        *why = m.why.n ? arena_str(a, m.why) : STR("not all of the module is proved to compute the same");
    module_comparison_free(&m);
    return good;
}

bool check_module(const struct module_check *c, struct replacement *all, bool *marked, uint32_t n, struct arena *a,
                  struct str *why) {
    struct read_text plain, texts[SIDES];
    struct taken_number *there = arena_alloc(a, (c->ntaken + (size_t)1) * sizeof *there);
    uint32_t nthere = 0;
    bool good = read_text(&plain, c->after, "rewritten module", a);
    if (!good)
        *why = plain.diags.n ? arena_str(a, str_of(plain.diags.items[0].message)) : STR("it cannot be read");
    for (uint32_t i = 0; i < c->ntaken; i++) {
        there[nthere] = c->taken[i];
        nthere += same_argument(c->before, c->taken[i].argument, &plain.ir, &there[nthere].argument);
    }
    struct str before = with_numbers(c->before, c->taken, c->ntaken, a),
               after = with_numbers(&plain.ir, there, nthere, a);
    read_text_free(&plain);
    if (!good)
        return false;
    bool read = read_text(&texts[BEFORE], before, "module", a);
    read &= read_text(&texts[AFTER], after, "rewritten module", a);
    good = read && judge(c, texts, all, marked, n, a, why);
    if (!read)
        *why = STR("the module with numbers in place of arguments cannot be read");
    read_text_free(&texts[BEFORE]);
    read_text_free(&texts[AFTER]);
    return good;
}
