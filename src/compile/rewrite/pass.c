/* fa_library_pass: the files of the selected patterns, each whole or not at all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/locale.h"
#include "compile/rewrite/files.h"
#include "patterns/library/choose.h"
#include "patterns/library/library.h"
#include "report/compare/findings.h"

struct passes {
    struct fa_library *library;
    const char *directory;
    bool pdll;
    struct arena arena;
    const struct pattern **list; /* those that were written */
    uint32_t n;
    bool failed; /* a file */
};

static void put(struct passes *w, const char *name, const char *end, struct str text) {
    struct str path = arena_printf(&w->arena, "%s/%s%s", w->directory, name, end);
    char error[256];
    if (w->failed || file_write_text(text, path.p, error, sizeof error))
        return;
    diag_add(&w->library->diags, SEV_ERROR, (struct source_location){"", 0, 0}, NULL, "%s", error);
    w->failed = true;
}

/* Says what the pass lacks of the pattern. */
static void say_unchecked(struct passes *w, const struct pattern *p, const struct rewrite *r) {
    for (uint32_t i = 0; i < r->left.n; i++)
        diag_add(&w->library->diags, SEV_NOTE, (struct source_location){p->file.p, p->line, 0}, NULL,
                 "%s: left out: %s", p->name.p, r->left.items[i].p);
    for (uint32_t i = 0; i < r->unchecked.n; i++)
        diag_add(&w->library->diags, SEV_NOTE, (struct source_location){p->file.p, p->line, 0}, NULL,
                 "%s: unchecked: %s", p->name.p, r->unchecked.items[i].p);
}

static void write_pattern(struct passes *w, struct pattern *p) {
    struct pattern_set *set = &w->library->patterns;
    struct rewrite r;
    struct diags none = {.arena = &w->arena};
    pattern_complete(set, p);
    rewrite_write(set, p, w->pdll, &w->arena, &r);
    if (!r.text.n) {
        diag_add(&w->library->diags, SEV_WARNING, (struct source_location){p->file.p, p->line, 0}, NULL,
                 "%s: no pass: %s", p->name.p, r.why.p);
        return;
    }
    patterns_load_tests(set, p, &none);
    diags_free(&none);
    say_unchecked(w, p, &r);
    put(w, p->name.p, w->pdll ? ".pdll" : ".cpp", r.text);
    put(w, p->name.p, ".mlir", files_test(set, p, w->pdll, &w->arena));
    w->list[w->n++] = p;
}

/* Files beside those of patterns: of both formats, or of one; some are filled with the patterns. */
static void write_shared(struct passes *w) {
    static const struct {
        const char *name;
        bool cpp, pdll, filled;
    } files[] = {{"FusionNumbers.h", true, true, false},  {"FusionMatch.h", true, false, false},
                 {"FusionForm.h", true, false, false},    {"FusionPatterns.h", true, false, true},
                 {"FusionPasses.cpp", true, false, true}, {"CMakeLists.txt", true, false, true},
                 {"README.md", true, false, true},        {"Fusion.pdll", false, true, false},
                 {"FusionPdll.cpp", false, true, false}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (w->pdll ? files[i].pdll : files[i].cpp)
            put(w, files[i].name, "",
                files[i].filled ? files_of_all(files[i].name, w->list, w->n, &w->arena) : embedded_text(files[i].name));
}

/* An instance of the report is one of the pattern: it names it, or its notes begin with its summary. */
static bool is_instance_of(const struct tree *instance, const struct pattern *p) {
    const struct tree *name = tree_lookup(instance, "pattern"), *notes = tree_lookup(instance, "notes");
    if (name && name->kind == TREE_SCALAR)
        return str_eq(name->text, p->name);
    return notes && notes->kind == TREE_SCALAR && p->summary.n && str_starts(notes->text, p->summary);
}

static bool is_reported(const struct tree *entries, const struct pattern *p) {
    for (const struct tree *e = entries ? entries->first : NULL; e; e = e->next) {
        const struct tree *op = tree_lookup(e, "fused_op"), *instances = tree_lookup(e, "instances");
        if (!op || op->kind != TREE_SCALAR || !str_eq(op->text, p->fused_op))
            continue;
        for (const struct tree *i = instances ? instances->first : NULL; i; i = i->next)
            if (is_instance_of(i, p))
                return true;
    }
    return false;
}

/* Leaves those selected that the report has findings of. False with a diagnostic. */
static bool select_reported(struct passes *w, const char *report) {
    struct pattern_set *set = &w->library->patterns;
    const struct tree *document = NULL;
    if (!read_report(report, &w->arena, &w->library->diags, &document))
        return false;
    const struct tree *entries = document ? tree_lookup(document, "missed_fusions") : NULL;
    for (uint32_t i = 0; i < set->n; i++)
        set->items[i]->selected &= is_reported(entries, set->items[i]);
    return true;
}

enum fa_status fa_library_pass(struct fa_library *l, const char *report, enum fa_pass_format format,
                               const char *directory, size_t *written) {
    IN_C_LOCALE;
    struct passes w = {.library = l, .directory = directory, .pdll = format == FA_PASS_PDLL};
    struct pattern_set *set = &l->patterns;
    *written = 0;
    if (report && !select_reported(&w, report)) {
        arena_free(&w.arena);
        return FA_INPUT;
    }
    w.list = xrealloc(NULL, (set->n + 1) * sizeof *w.list);
    for (uint32_t i = 0; i < set->n && !w.failed; i++)
        if (set->items[i]->selected && !set->items[i]->replaced && pattern_is_direct(set->items[i]))
            write_pattern(&w, set->items[i]);
    if (w.n)
        write_shared(&w);
    *written = w.n;
    free(w.list);
    arena_free(&w.arena);
    return w.failed ? FA_INPUT : w.n ? FA_CLEAN : FA_USAGE;
}
