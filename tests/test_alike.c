/* What is remembered of places that are alike changes nothing of what is found: each fixture is searched with all
 * bundled patterns, once with and once without. */
#include "ir_text.h"
#include "pattern/match.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *whole(const char *path) {
    FILE *f = fopen(path, "rb");
    cr_assert_not_null(f, "%s", path);
    fseek(f, 0, SEEK_END);
    size_t n = (size_t)ftell(f);
    rewind(f);
    char *text = calloc(n + 1, 1);
    cr_assert_eq(fread(text, 1, n, f), n);
    fclose(f);
    return text;
}

static void search(struct pattern_set *set, const struct graph *g, bool forget, struct arena *a,
                   struct match_list *out) {
    struct matcher *m = match_searcher_new(g, a);
    set->forget = forget;
    memset(out, 0, sizeof *out);
    for (uint32_t f = 0; f < g->m->nfuncs; f++)
        if (g->func_kind[f] == FUNC_MAIN)
            match_search(m, set, f, out);
    match_closer_free(m);
}

static void same(const struct match_list *a, const struct match_list *b, const char *path) {
    cr_assert_eq(a->n, b->n, "%s: %u and %u", path, a->n, b->n);
    for (uint32_t i = 0; i < a->n; i++) {
        const struct match *x = &a->items[i], *y = &b->items[i];
        cr_assert(x->pattern == y->pattern && x->nops == y->nops && x->nthrough == y->nthrough, "%s", path);
        cr_assert_eq(memcmp(x->ops, y->ops, x->nops * sizeof *x->ops), 0, "%s", path);
        cr_assert_eq(memcmp(x->through, y->through, x->nthrough * sizeof *x->through), 0, "%s", path);
    }
}

Test(alike, what_is_remembered_changes_nothing, .timeout = 100) {
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct pattern_set set;
    memset(&set, 0, sizeof set);
    set.no_examples = true;
    const char *fixtures = getenv("FA_FIXTURES");
    cr_assert_not_null(fixtures);
    struct str dir = arena_printf(&arena, "%s/../patterns", fixtures);
    cr_assert(patterns_load(&set, dir.p, &diags));
    glob_t files;
    cr_assert_eq(glob(arena_printf(&arena, "%s/dit*.mlir", fixtures).p, 0, NULL, &files), 0);
    cr_assert_eq(glob(arena_printf(&arena, "%s/families/*.mlir", fixtures).p, GLOB_APPEND, NULL, &files), 0);
    uint32_t found = 0;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        char *text = whole(files.gl_pathv[i]);
        struct ir ir;
        struct match_list with, without;
        ir_read_bad(&ir, text);
        search(&set, &ir.g, false, &arena, &with);
        search(&set, &ir.g, true, &arena, &without);
        same(&with, &without, files.gl_pathv[i]);
        found += with.n;
        free(with.items);
        free(without.items);
        ir_free(&ir);
        free(text);
    }
    cr_assert_gt(found, 100, "only %u places", found);
    globfree(&files);
    patterns_free(&set);
    diags_free(&diags);
    arena_free(&arena);
}
