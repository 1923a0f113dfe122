#include "compile/apply/prove_rewrite.h"

#include "compile/apply/rewrite.h"
#include "compile/verify/compare_modules.h"

bool module_text_read(struct module_text *t, struct str text, struct arena *a) {
    *t = (struct module_text){.source = {.path = "rewritten module", .data = text.p, .size = text.n},
                              .block = {.text = text, .complete = true},
                              .diags = {.arena = a}};
    level_read(&t->level, &(struct level_text){&t->block, &t->source}, &t->diags);
    return t->level.ir.ops && t->level.ir.bad_ops == 0 && t->diags.errors == 0;
}

void module_text_free(struct module_text *t) {
    level_free(&t->level);
    diags_free(&t->diags);
}

/* The replacement that a value of AFTER is defined in; or NONE. */
static uint32_t replacement_of(const struct replacement *all, uint32_t n, struct str name) {
    for (uint32_t i = 0; i < n; i++)
        for (struct str rest = all[i].written ? all[i].text : STR(""); rest.n;) {
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
    return arena_printf(a, "the module with it is not proved to compute the same: %.*s", (int)j->why.text.n,
                        j->why.text.p);
}

/* Takes back the last replacement of a region that is not proved; false: it has none. */
static bool blame(const struct compared_region *r, const struct mlir *after, struct replacement *all, uint32_t n,
                  struct arena *a) {
    for (uint32_t k = r->nops[AFTER]; k-- > 0 && after->ops;) {
        struct str name = mlir_result_name(after, r->ops[AFTER][k]);
        uint32_t i = name.n ? replacement_of(all, n, name) : NONE;
        if (i == NONE)
            continue;
        all[i].why = reason_for(&r->judgement, a);
        all[i].written = false;
        return true;
    }
    return false;
}

static bool judge(const struct module_check *c, const struct graph *const *graphs, struct replacement *all, uint32_t n,
                  struct arena *a, struct str *why) {
    struct module_comparison m;
    bool blamed = false, good;
    struct what_to_compare what = {.same_names = true};
    for (uint32_t i = 0; i < n; i++)
        what.excluded |= all[i].written ? all[i].excluded : 0;
    compare_modules(&m, c->lowerings, graphs[BEFORE], graphs[AFTER], what);
    good = m.why.n == 0 && m.nundecided == 0;
    for (uint32_t i = 0; i < m.nregions; i++) {
        if (!m.regions[i].needed || m.regions[i].judgement.answer == ANSWER_PROVED)
            continue;
        good = false;
        blamed |= blame(&m.regions[i], graphs[AFTER]->m, all, n, a);
    }
    if (!good && !blamed)
        *why = m.why.n ? arena_str(a, m.why) : STR("not all of the module is proved to compute the same");
    module_comparison_free(&m);
    return good;
}

bool check_module(const struct module_check *c, struct replacement *all, uint32_t n, struct arena *a, struct str *why) {
    struct module_text after, numbered[SIDES] = {{.source = {.data = NULL}}};
    const struct graph *graphs[SIDES] = {c->before, &after.level.graph};
    struct taken_numbers numbers[SIDES] = {take_numbers(all, n, a)};
    bool good = module_text_read(&after, c->after, a);
    if (!good)
        *why = after.diags.n ? str_of(after.diags.items[0].message) : STR("it cannot be read");
    add_numbers(&numbers[AFTER], &after.level.ir, numbers[BEFORE], c->before->m, a);
    for (int side = 0; side < SIDES && good && numbers[BEFORE].n; side++) {
        good = module_text_read(&numbered[side], with_numbers(graphs[side]->m, numbers[side], a), a);
        if (!good)
            *why = STR("the module with numbers in place of arguments cannot be read");
        graphs[side] = &numbered[side].level.graph;
    }
    good = good && judge(c, graphs, all, n, a, why);
    module_text_free(&numbered[BEFORE]);
    module_text_free(&numbered[AFTER]);
    module_text_free(&after);
    return good;
}
