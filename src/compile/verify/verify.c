/* fa_verify: reads the modules, compares the pairs side by side, adds up, and decides the status. */
#include "compile/verify/verify.h"
#include "report/page/page.h"

#include <stdlib.h>

#include "base/directory.h"
#include "base/file.h"
#include "base/locale.h"
#include "base/work.h"
#include "report/report.h"

enum { MOST_GLOBS = 32 /* that are looked for in the modules */ };

static void add_up(struct fa_verification *v, const struct stage_pair *p) {
    v->ndifferences += p->ndifferences;
    v->nundecided += p->nundecided;
    for (int side = 0; side < SIDES; side++)
        for (int a = 0; a <= ANSWER_NOT_COMPARED; a++)
            v->answers[side][a] += p->answers[side][a];
}

/* The reason for most of what was not compared. */
static struct str most_frequent_reason(const struct module_comparison *m, struct arena *a) {
    struct str best = STR("");
    uint32_t most = 0;
    for (uint32_t i = 0; i < m->nregions; i++) {
        const struct compared_region *r = &m->regions[i];
        uint32_t n = r->nops[AFTER] + r->nops[BEFORE];
        if (r->needed && r->judgement.answer == ANSWER_NOT_COMPARED && n > most) {
            most = n;
            best = r->judgement.why.text;
        }
    }
    return arena_str(a, best);
}

/* "concat(%a, %b)", or the name of an argument. */
/* A bit for each glob of --only that a name of the module matches. */
static uint32_t globs_of(const struct mlir *m, const char *only) {
    struct str rest = str_of(only);
    uint32_t found = 0;
    for (unsigned i = 0; rest.n && i < MOST_GLOBS; i++) {
        struct str glob = str_item(&rest);
        for (uint32_t k = 0; k < m->nnames && !(found >> i & 1); k++)
            found |= str_matches(m->names[k], glob) ? 1u << i : 0;
    }
    return found;
}

static void take_answers(struct fa_verification *v, struct stage_pair *p, const struct module_comparison *m,
                         const struct level levels[SIDES]) {
    memcpy(p->answers, m->answers, sizeof p->answers);
    p->globs = globs_of(&levels[AFTER].ir, v->options->only);
    p->nundecided = m->nundecided;
    p->why = arena_str(&p->arena, m->why);
    p->missing = most_frequent_reason(m, &p->arena);
    check_pair(p, m, levels, v->options);
    if (v->options->at)
        print_place(p, m, levels, v->options);
}

static void compare_pair(void *context, uint32_t i, uint32_t worker) {
    struct fa_verification *v = context;
    struct stage_pair *p = &v->pairs[i];
    struct level levels[SIDES];
    struct module_comparison m;
    (void)worker;
    p->diags = (struct diags){.arena = &p->arena};
    p->lowerings = &v->lowerings;
    p->seed = v->options->seed;
    for (int side = 0; side < SIDES; side++) {
        level_read(&levels[side], &p->text[side], &p->diags);
        p->skipped |= p->diags.errors > 0 || levels[side].ir.bad_ops > 0;
    }
    compare_modules(&m, p->lowerings, &levels[BEFORE].graph, &levels[AFTER].graph,
                    (struct what_to_compare){.seed = v->options->seed});
    take_answers(v, p, &m, levels);
    module_comparison_free(&m);
    for (int side = 0; side < SIDES; side++)
        level_free(&levels[side]);
}

static struct source_location place_of(const struct stage_pair *p) {
    return (struct source_location){p->text[AFTER].source->path, p->text[AFTER].block->first_line, 0};
}

static void say_what_is_missing(struct fa_verification *v) {
    for (uint32_t i = 0; i < v->npairs; i++) {
        const struct stage_pair *p = &v->pairs[i];
        if (p->why.n || p->missing.n)
            diag_add(&v->diags, p->why.n ? SEV_ERROR : SEV_NOTE, place_of(p),
                     p->why.n ? "two modules of one compile are meant, the earlier one first" : NULL,
                     "%u of %u ops not compared: %.*s",
                     p->answers[BEFORE][ANSWER_NOT_COMPARED] + p->answers[AFTER][ANSWER_NOT_COMPARED],
                     count_answers(p->answers[BEFORE]) + count_answers(p->answers[AFTER]),
                     (int)(p->why.n ? p->why.n : p->missing.n), p->why.n ? p->why.p : p->missing.p);
    }
}

static bool names_an_op(struct str glob) {
    for (int k = 0; k < OPERATORS; k++)
        for (struct str rest = str_of(op_table[k].spellings); rest.n;)
            if (str_matches(str_part(&rest, ' '), glob))
                return true;
    return false;
}

static bool is_in_a_module(const struct fa_verification *v, unsigned glob) {
    bool any = glob >= MOST_GLOBS;
    for (uint32_t i = 0; i < v->npairs && !any; i++)
        any = v->pairs[i].globs >> glob & 1;
    return any;
}

/* A glob of --only that no op has, neither in the table nor in the modules. */
static bool check_only(struct fa_verification *v) {
    struct str rest = str_of(v->options->only);
    for (unsigned i = 0; rest.n; i++) {
        struct str glob = str_item(&rest);
        if (!names_an_op(glob) && !is_in_a_module(v, i)) {
            diag_add(&v->diags, SEV_ERROR, (struct source_location){"", 0, 0}, "such as ttnn.linear or *.softmax",
                     "--only: no op is called '%.*s'", (int)glob.n, glob.p);
            return false;
        }
    }
    return true;
}

/* What fused ops compute, and what the compiler is known for; no pattern is needed. */
static bool load_lowerings(struct fa_verification *v) {
    static const char *const files[] = {"lowering.yml", "compiler.yml", "compiler_facts.yml"};
    struct str dir = data_directory(v->options->data, "patterns", &v->arena);
    bool loaded = true;
    for (size_t i = 0; i < sizeof files / sizeof *files && loaded; i++)
        loaded =
            patterns_load(&v->lowerings, arena_printf(&v->arena, "%.*s/%s", (int)dir.n, dir.p, files[i]).p, &v->diags);
    return loaded;
}

static enum fa_status run(struct fa_verification *v) {
    enum fa_status found = load_lowerings(v) ? find_pairs(v) : FA_INPUT;
    uint32_t threads = work_threads(v->options->jobs), n = 0, missing = 0, none = 0, skipped = 0;
    if (found != FA_CLEAN)
        return found;
    skipped = (uint32_t)v->diags.errors;
    work_run(v->npairs, threads, compare_pair, v);
    for (uint32_t i = 0; i < v->npairs; i++) {
        diags_take(&v->diags, &v->pairs[i].diags);
        add_up(v, &v->pairs[i]);
        buf_add(&v->text, buf_str(&v->pairs[i].answer));
        none += v->pairs[i].why.n > 0;
        skipped += v->pairs[i].skipped;
    }
    if (v->text.n)
        buf_addc(&v->text, '\0');
    for (int side = 0; side < SIDES; side++) {
        n += count_answers(v->answers[side]);
        missing += v->answers[side][ANSWER_NOT_COMPARED];
    }
    if (!check_only(v))
        return FA_USAGE;
    double share = n ? 1 - (double)missing / n : none ? 0 : 1;
    if (v->options->at && !v->text.n)
        diag_add(&v->diags, SEV_ERROR, (struct source_location){v->options->inputs.files[0], 0, 0},
                 "a value, a line, an op and its line, or a location", "nothing is at '%s'", v->options->at);
    if (v->options->at)
        return v->text.n ? FA_CLEAN : FA_INPUT;
    if (v->ndifferences)
        return FA_MISSED;
    say_what_is_missing(v);
    double least = v->options->strict ? 1 : v->options->min_compared;
    if (share < least && none < v->npairs)
        diag_add(&v->diags, SEV_ERROR, (struct source_location){"", 0, 0},
                 v->options->strict ? "--details lists them; --strict wants all"
                                    : "--details lists them; --min-compared=0 accepts it",
                 "only %.1f %% of the compute ops were compared", 100 * share);
    if (none == v->npairs || share < least)
        return FA_INPUT;
    if (v->nundecided)
        diag_add(&v->diags, SEV_ERROR, (struct source_location){"", 0, 0}, "--details lists them",
                 "whether %u regions that seem to differ do was not decided", v->nundecided);
    return skipped || v->nundecided ? FA_INPUT : FA_CLEAN;
}

struct fa_verification *fa_verify(const struct fa_verify_options *options) {
    IN_C_LOCALE;
    struct fa_verification *v = xcalloc(1, sizeof *v);
    v->options = options;
    v->diags = (struct diags){.arena = &v->arena};
    for (size_t i = 0; i < options->inputs.nfiles && i < 2; i++)
        v->paths[i] = arena_strdup(&v->arena, str_of(options->inputs.files[i]));
    v->narrowed = options->only;
    v->status = run(v);
    v->options = NULL;
    return v;
}

enum fa_status fa_verification_status(const struct fa_verification *v) {
    return v->status;
}
const struct fa_diagnostics *fa_verification_diagnostics(const struct fa_verification *v) {
    return diagnostics_of(&v->diags);
}
size_t fa_verification_differences(const struct fa_verification *v) {
    return v->ndifferences;
}

struct fa_compared fa_verification_compared(const struct fa_verification *v, bool after) {
    const uint32_t *a = v->answers[after];
    return (struct fa_compared){count_answers(a), a[ANSWER_PROVED], a[ANSWER_DIFFERENT], a[ANSWER_NOT_COMPARED]};
}

const char *fa_verification_text(const struct fa_verification *v) {
    return v->text.n ? v->text.p : "";
}

static void get_check(struct arena *a, const struct check *c, struct fa_check *out) {
    *out = (struct fa_check){.kind = check_kinds[c->kind],
                             .fused_op = arena_strdup(a, c->fused_op),
                             .pass = arena_strdup(a, c->pass),
                             .location = arena_strdup(a, c->ir_loc),
                             .unchecked = arena_strdup(a, c->unchecked),
                             .matters_for = arena_strdup(a, c->matters_for),
                             .on_device = arena_strdup(a, c->on_device),
                             .counterexample = arena_strdup(a, c->counterexample),
                             .reason = arena_strdup(a, c->reason),
                             .needs = arena_strdup(a, c->needs),
                             .before = arena_strdup(a, c->segment[BEFORE]),
                             .after = arena_strdup(a, c->segment[AFTER]),
                             .before_module = arena_strdup(a, c->module[BEFORE]),
                             .after_module = arena_strdup(a, c->module[AFTER])};
}

bool fa_get_check(struct fa_verification *v, size_t i, struct fa_check *out) {
    for (uint32_t p = 0; p < v->npairs; i -= v->pairs[p++].checks.n)
        if (i < v->pairs[p].checks.n) {
            get_check(&v->arena, &v->pairs[p].checks.items[i], out);
            return true;
        }
    return false;
}

static bool has_checks(const struct fa_verification *v) {
    bool any = false;
    for (uint32_t i = 0; i < v->npairs; i++)
        any |= v->pairs[i].checks.n > 0;
    return any;
}

/* Whether there is a report in that format: nothing that differs is no YAML, and what was not compared is none. */
static bool has_report(const struct fa_verification *v, const char *format) {
    return has_checks(v) || (v->npairs && v->status != FA_USAGE && strcmp(format, "yaml") != 0);
}

bool fa_verification_print(const struct fa_verification *v, const char *format, FILE *out) {
    IN_C_LOCALE;
    if (!has_report(v, format))
        return true;
    FILE *document = document_begin(format, out);
    if (!document)
        return strcmp(format, "yaml") == 0 && check_print(v, MARKUP_YAML, out);
    bool good = check_print(v, MARKUP_JSON, document);
    return document_end(document, out) && good;
}

struct formatted_check {
    const struct fa_verification *v;
    const char *format;
};

static bool print_formatted(void *what, FILE *out) {
    const struct formatted_check *f = what;
    return fa_verification_print(f->v, f->format, out);
}

bool fa_verification_write(const struct fa_verification *v, const char *format, const char *path, char *error,
                           size_t n) {
    struct formatted_check f = {v, format};
    struct printing p = {print_formatted, &f};
    return !has_report(v, format) || file_write(&p, path, error, n);
}

bool fa_verification_remove_stale(const struct fa_verification *v, const char *path) {
    const struct report_head head = {.keys = {"input", "compared", "checks"},
                                     .nkeys = 3,
                                     .input = {v->paths[1] ? "before" : "log", "after"},
                                     .paths = {v->paths[0], v->paths[1]}};
    bool all = !v->answers[BEFORE][ANSWER_NOT_COMPARED] && !v->answers[AFTER][ANSWER_NOT_COMPARED];
    return v->status == FA_CLEAN && all && !has_checks(v) && !v->narrowed && strcmp(path, "-") != 0 &&
           remove_stale(&head, path);
}

void fa_verification_free(struct fa_verification *v) {
    if (!v)
        return;
    for (uint32_t i = 0; i < v->npairs; i++) {
        free(v->pairs[i].checks.items);
        buf_free(&v->pairs[i].answer);
        diags_free(&v->pairs[i].diags);
        arena_free(&v->pairs[i].arena);
    }
    free(v->pairs);
    for (uint32_t i = 0; i < v->sources.n; i++)
        source_close(&v->sources.items[i]);
    free(v->sources.items);
    patterns_free(&v->lowerings);
    buf_free(&v->text);
    diags_free(&v->diags);
    arena_free(&v->arena);
    free(v);
}
