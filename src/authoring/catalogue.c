/* The part of fusion_audit.h that is about patterns and not about an input: the commands `patterns` and `lower`. */
#include <stdlib.h>
#include <string.h>

#include "authoring/draft.h"
#include "authoring/examples.h"
#include "base/lines.h"
#include "base/locale.h"
#include "fusion_audit.h"
#include "patterns/lang/condition.h"
#include "patterns/lang/printer.h"
#include "patterns/library/choose.h"
#include "patterns/library/library.h"
#include "patterns/library/lint.h"
#include "patterns/library/lowering.h"
#include "proof/prove/example.h"

enum { FORMULA_WIDTH = 80 /* a longer line of a formula goes on below, indented */ };

static int by_order(const void *a, const void *b) {
    const struct pattern *x = *(const struct pattern *const *)a, *y = *(const struct pattern *const *)b;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* The selected patterns in the order of reading; to be freed. */
static const struct pattern **selected(const struct pattern_set *set, uint32_t *n) {
    const struct pattern **list = xrealloc(NULL, (set->n + 1) * sizeof *list);
    *n = 0;
    for (uint32_t i = 0; i < set->n; i++)
        if (set->items[i]->selected && !set->items[i]->replaced)
            list[(*n)++] = set->items[i];
    qsort(list, *n, sizeof *list, by_order);
    return list;
}

void fa_library_list(const struct fa_library *l, FILE *out) {
    uint32_t n;
    const struct pattern **list = selected(&l->patterns, &n);
    for (uint32_t i = 0; i < n; i++) {
        fprintf(out, "%s  %s  %s\n", list[i]->name.p, list[i]->fused_op.p, list[i]->source.p);
        if (list[i]->says.n)
            fprintf(out, "    %.*s\n", (int)list[i]->says.n, list[i]->says.p);
    }
    free(list);
}

static int widest(size_t now, struct str s) {
    return (int)(s.n > now ? s.n : now);
}

void fa_library_conditions(const struct fa_library *l, FILE *out) {
    const struct idioms *definitions = &l->patterns.conditions.definitions;
    for (uint32_t g = 0; g < CONDITION_GROUPS; g++) {
        fprintf(out, "%s:\n", condition_groups[g].says);
        for (uint32_t i = 0; i < CONDITIONS; i++)
            if (condition_table[i].group == g)
                fprintf(out, "  %s\n", condition_table[i].says);
        for (uint32_t i = 0; i < definitions->n; i++)
            if (definitions->items[i].group == g &&
                (!i || strcmp(definitions->items[i].says, definitions->items[i - 1].says) != 0))
                fprintf(out, "  %s\n", definitions->items[i].says); /* once for all numbers of arguments */
    }
    fputs("numbers that a value or its op has:\n", out);
    for (uint32_t i = 0; i < MEASURES; i++)
        fprintf(out, "  %s\n", measure_table[i].says);
}

static void show(const struct pattern *p, FILE *out) {
    struct buf b = {0};
    struct str text = str_trim(p->text);
    struct str shared = str_trim(p->shared);
    buf_printf(&b, "# %s:%llu\n%.*s%s%.*s\n\n# searched for%s%s:\n", p->file->path, (unsigned long long)p->line,
               (int)shared.n, shared.p, shared.n ? "\n---\n" : "", (int)text.n, text.p,
               p->is_variant ? ", the formula of " : "", p->is_variant ? p->variant_of->name.p : "");
    fwrite(b.p, 1, b.n, out);
    b.n = 0;
    formula_print(&p->formula, 4, &b);
    print_lines(buf_str(&b), FORMULA_WIDTH, out);
    buf_free(&b);
}

static void print_indented(struct str text, FILE *out) {
    for (text = str_trim(text); text.n > 0;) {
        struct str line = str_line(&text);
        fprintf(out, "    %.*s\n", (int)line.n, line.p);
    }
}

static void show_definition(const struct idiom *i, FILE *out) {
    struct str head = definition_head(i);
    fprintf(out, "%.*s:\n", (int)head.n, head.p);
    print_indented(i->body, out);
}

enum fa_status fa_library_show(struct fa_library *l, const char *const *names, size_t nnames, FILE *out) {
    IN_C_LOCALE;
    enum fa_status status = FA_CLEAN;
    bool any = false;
    for (size_t k = 0; k < nnames; k++) {
        struct fa_patterns one = {.only = names[k]};
        const struct idiom *idiom = idiom_find(&l->patterns.idioms, str_of(names[k]));
        struct str bad;
        if (patterns_select(&l->patterns, names[k], NULL, &bad)) {
            uint32_t n;
            const struct pattern **list = selected(&l->patterns, &n);
            for (uint32_t i = 0; i < n; i++, any = true) {
                fputs(any ? "\n" : "", out);
                show(list[i], out);
            }
            free(list);
        } else if (!idiom) {
            library_select(&l->patterns, &one, &l->diags); /* says what is wrong */
            status = FA_USAGE;
        }
        if (idiom) {
            fputs(any ? "\n" : "", out);
            fprintf(out, "# %s:%llu\n", idiom->origin.file->path, (unsigned long long)idiom->origin.line);
            show_definition(idiom, out);
            any = true;
        }
    }
    return status;
}

enum fa_status fa_library_check(struct fa_library *l, const char *const *files, size_t n) {
    IN_C_LOCALE;
    bool good = true;
    for (size_t i = 0; i < n; i++)
        good &= patterns_load(&l->patterns, files[i], &l->diags);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < l->patterns.n && good; k++)
            if (pattern_file_is_of(l->patterns.items[k]->file->path, files[i]))
                good = patterns_load_tests(&l->patterns, l->patterns.items[k], &l->diags);
    bool read = good;
    for (size_t i = 0; i < n && read; i++)
        good &= patterns_check(&l->patterns, files[i], &l->diags);
    return good ? FA_CLEAN : FA_USAGE;
}

/* All patterns are selected while some are tested: which of several with one formula matches depends on all. */
enum fa_status fa_library_test(struct fa_library *l, const struct fa_test_options *options,
                               struct fa_test_counts *counts) {
    IN_C_LOCALE;
    struct example_counts n = {0, 0};
    struct prover prover = {
        .set = &l->patterns, .diags = &l->diags, .say_unproved = options->say_unproved, .seed = options->seed};
    struct example_judge judge = {prove_example, &prover, options->say_unproved};
    uint32_t ntaken;
    const struct pattern **taken = selected(&l->patterns, &ntaken);
    for (uint32_t i = 0; i < l->patterns.n; i++)
        l->patterns.items[i]->selected = true;
    *counts = (struct fa_test_counts){.patterns = ntaken};
    bool good = true;
    for (uint32_t i = 0; i < ntaken && good; i++)
        good = patterns_load_tests(&l->patterns, taken[i], &l->diags);
    for (uint32_t i = 0; i < ntaken && good; i++) {
        uint32_t before = prover.proved;
        counts->without += taken[i]->nexamples == 0;
        examples_run(&l->patterns, taken[i], &l->diags, &judge, &n);
        counts->by_formula += taken[i]->fused->own ? prover.proved - before : 0;
    }
    free(taken);
    counts->tests = n.run;
    counts->failed = n.failed;
    counts->proved = prover.proved;
    counts->unproved = prover.unproved;
    return !good ? FA_USAGE : n.failed ? FA_MISSED : FA_CLEAN;
}

enum fa_status fa_library_new(struct fa_library *l, const struct fa_inputs *file, const char *ops, FILE *out) {
    IN_C_LOCALE;
    struct buf text = {0};
    bool good = draft_make(&l->patterns, file, ops, &l->diags, &text);
    if (good)
        fwrite(text.p, 1, text.n, out);
    buf_free(&text);
    return good ? FA_CLEAN : FA_INPUT;
}

/* ---- lowerings ---- */

static void list_lowerings(const struct pattern_set *set, FILE *out) {
    int width = 0;
    for (uint32_t i = 0; i < set->nlowerings; i++)
        width = widest((size_t)width, set->lowerings[i].op.name);
    for (uint32_t i = 0; i < set->nlowerings; i++) {
        const struct lowering *w = &set->lowerings[i];
        if (lowering_of_name(set, w->op.name) == w)
            fprintf(out, "%-*.*s  %.*s\n", width, (int)w->op.name.n, w->op.name.p, (int)w->source.n, w->source.p);
    }
}

static void show_lowering(const struct lowering *w, FILE *out) {
    show_definition(&w->op, out);
    fprintf(out, "source: %.*s\n", (int)w->source.n, w->source.p);
}

/* By the name that formulas use, or by a spelling of a dialect. */
static const struct lowering *find_lowering(const struct pattern_set *set, struct str op) {
    const struct lowering *w = lowering_of_name(set, op);
    return w ? w : lowering_of_kind(set, op_kind_of_spelling(op));
}

static const char *nearest_lowering(const struct pattern_set *set, struct arena *a, const char *op) {
    const char **names = xrealloc(NULL, (set->nlowerings + 1) * sizeof *names);
    for (uint32_t i = 0; i < set->nlowerings; i++)
        names[i] = arena_strdup(a, set->lowerings[i].op.name);
    const char *dot = strchr(op, '.');
    const char *found = str_nearest(str_of(dot ? dot + 1 : op), names, set->nlowerings);
    free(names);
    return found ? arena_printf(a, "did you mean %s?", found).p : "fusion-audit lower lists them";
}

enum fa_status fa_library_lower(struct fa_library *l, const char *const *ops, size_t n, FILE *out) {
    IN_C_LOCALE;
    const struct pattern_set *set = &l->patterns;
    enum fa_status status = FA_CLEAN;
    if (n == 0)
        list_lowerings(set, out);
    for (size_t i = 0; i < n; i++) {
        const struct lowering *w = find_lowering(set, str_of(ops[i]));
        if (w) {
            fputs(i ? "\n" : "", out);
            show_lowering(w, out);
            continue;
        }
        diag_add(&l->diags, SEV_ERROR, (struct source_location){"", 0, 0}, nearest_lowering(set, &l->arena, ops[i]),
                 "no lowering of '%s'", ops[i]);
        status = FA_USAGE;
    }
    return status;
}
