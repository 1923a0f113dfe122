/* fa_apply: reads the module, selects findings, writes their fused ops, and proves the result; where a part is enough,
 * again without those that are not proved. */
#include "apply/check.h"
#include "apply/rewrite.h"
#include "apply/unified_diff.h"

#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/locale.h"
#include "base/watch.h"
#include "base/work.h"
#include "explain/asked.h"
#include "graph/level.h"
#include "library/library.h"
#include "prove/select.h"

struct fa_application {
    const struct fa_apply_options *options;
    struct arena arena;
    struct diags diags;
    struct pattern_set own;             /* read for this call */
    const struct pattern_set *patterns; /* these or those of a library */
    struct inputs inputs;
    struct level ttir;
    struct selection selection;
    struct replacement *all; /* of the findings that are asked for */
    bool *marked;            /* of each, that it is applied */
    uint32_t n;
    struct str text;     /* that is written */
    struct watch *watch; /* or NULL */
    enum fa_status status;
};

/* ---- what is asked for ---- */

static bool parse_value(const char *text, struct str *name, double *number) {
    const char *equals = strchr(text, '=');
    char *end = NULL;
    if (!equals || equals == text)
        return false;
    *name = (struct str){text, (size_t)(equals - text)};
    *number = strtod(equals + 1, &end);
    return end != equals + 1 && !*end && isfinite(*number);
}

static bool check_values(struct fa_application *a) {
    struct str name;
    double number;
    for (size_t i = 0; i < a->options->nvalues; i++)
        if (!parse_value(a->options->values[i], &name, &number)) {
            diag_add(&a->diags, SEV_ERROR, (struct source_location){"", 0, 0}, "such as --value=eps=1e-05",
                     "--value takes NAME=NUMBER: %s", a->options->values[i]);
            return false;
        }
    return true;
}

/* For form_request.number. */
static bool number_given(const void *self, struct str formula_name, struct str argument, double *out) {
    const struct fa_apply_options *o = self;
    struct str name;
    double number;
    for (size_t i = o->nvalues; i-- > 0;)
        if (parse_value(o->values[i], &name, &number) && (str_eq(name, formula_name) || str_eq(name, argument))) {
            *out = number;
            return true;
        }
    return false;
}

static bool is_assumed(const struct fa_apply_options *o, const struct pattern *p) {
    for (struct str rest = str_of(o->assume); rest.n;) {
        struct str glob = str_item(&rest);
        if (str_is(glob, "all") || str_matches(p->name, glob) || str_matches(p->fused_op, glob))
            return true;
    }
    return false;
}

/* The first precondition of the match, or what its claim leaves out; empty: it has none. */
static struct str precondition_of(const struct match_detail *d, struct arena *a) {
    if (d->preconditions.n)
        return d->preconditions.items[0];
    if (d->outside.n)
        return d->outside.items[0];
    for (uint32_t i = 0; i < d->remarks.n; i++)
        if (str_starts(d->remarks.items[i], STR("precondition: ")))
            return arena_str(a, (struct str){d->remarks.items[i].p + 14, d->remarks.items[i].n - 14});
    return STR("");
}

/* ---- findings ---- */

static struct source_location place_of(const struct fa_application *a, const struct match *m) {
    return mlir_place(&a->ttir.ir, a->ttir.ir.ops[m->root].text.begin);
}

/* It was written, and is not proved. */
static bool is_refused(const struct fa_application *a, uint32_t i) {
    return !a->options->partial && a->all[i].text.n > 0 && !a->marked[i];
}

static void say_left(struct fa_application *a, uint32_t i) {
    const struct replacement *r = &a->all[i];
    const struct pattern *p = r->match->pattern;
    bool refused = is_refused(a, i);
    diag_add(&a->diags, refused ? SEV_ERROR : SEV_NOTE, place_of(a, r->match),
             refused ? "--partial leaves what is not proved" : NULL, "%.*s (%.*s) is %s: %.*s", (int)p->fused_op.n,
             p->fused_op.p, (int)p->name.n, p->name.p, refused ? "refused" : "left", (int)r->why.n, r->why.p);
}

static void write_one(struct fa_application *a, struct replacing *how, const struct match *m, struct replacement *out) {
    struct arena *arena = &a->arena;
    struct reading *r = arena_alloc(arena, sizeof *r);
    *out = (struct replacement){.match = m};
    if (!reading_find(r, a->patterns, m, arena, &out->why)) {
        out->why = arena_printf(arena, "it is not proved: %.*s", (int)out->why.n, out->why.p);
        return;
    }
    struct str precondition = precondition_of(&r->ref.bound, arena);
    if (precondition.n && !is_assumed(a->options, m->pattern))
        out->why = arena_printf(arena, "it has a precondition (--assume=%.*s takes it to hold): %.*s",
                                (int)m->pattern->name.n, m->pattern->name.p, (int)precondition.n, precondition.p);
    else
        replace_match(how, r, arena, out);
}

static bool has_name_with(const struct mlir *m, struct str prefix) {
    bool found = false;
    for (uint32_t i = 0; i < m->nnames && !found; i++) /* symbols among them */
        found = str_starts(m->names[i], (struct str){prefix.p + 1, prefix.n - 1});
    for (uint32_t i = 0; i < m->nvalues && !found; i++)
        found = str_starts(mlir_span(m, m->values[i].name), prefix);
    return found;
}

static struct str free_prefix(struct fa_application *a) {
    struct str prefix = STR("%fused_");
    for (unsigned i = 2; has_name_with(&a->ttir.ir, prefix); i++)
        prefix = arena_printf(&a->arena, "%%fused%u_", i);
    return prefix;
}

static struct str free_alias(struct fa_application *a) {
    struct str alias = STR("#loc_fused");
    for (unsigned i = 2; str_find(a->ttir.ir.text, alias); i++)
        alias = arena_printf(&a->arena, "#loc_fused%u_", i);
    return alias;
}

static bool asked_for(const bool *asked, const struct match *m) {
    bool found = !asked;
    for (uint32_t i = 0; i < m->nops && !found; i++)
        found = asked[m->ops[i]];
    return found;
}

static bool write_replacements(struct fa_application *a) {
    const struct fa_apply_options *o = a->options;
    const struct match_list *list = &a->selection.matches;
    struct replacing how = {
        .patterns = a->patterns, .prefix = free_prefix(a), .alias = free_alias(a), .number = number_given, .self = o};
    bool *asked = o->at ? arena_alloc(&a->arena, a->ttir.ir.nops + (size_t)1) : NULL;
    struct str became = STR("");
    if (o->at && !asked_mark(o->at, &a->ttir, NULL, &a->arena, asked, &became)) {
        diag_add(&a->diags, SEV_ERROR, (struct source_location){a->ttir.source->path, 0, 0},
                 "a value, a line, an op and its line, or a location", "nothing is at '%s'", o->at);
        return false;
    }
    a->all = arena_alloc(&a->arena, (list->n + (size_t)1) * sizeof *a->all);
    a->marked = arena_alloc(&a->arena, list->n + (size_t)1);
    for (uint32_t i = 0; i < list->n; i++) {
        if (pattern_reach(list->items[i].pattern) != REACH_DIALECT || !asked_for(asked, &list->items[i]))
            continue;
        write_one(a, &how, &list->items[i], &a->all[a->n]);
        a->marked[a->n] = a->all[a->n].text.n > 0;
        a->n++;
    }
    return true;
}

/* ---- proving ---- */

enum { MOST_TAKEN = 1024 };

static uint32_t take_numbers(const struct fa_application *a, struct taken_number *out, uint32_t most) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t k = 0; a->marked[i] && k < a->all[i].ntaken; k++) {
            bool known = false;
            for (uint32_t j = 0; j < n && !known; j++)
                known = out[j].argument == a->all[i].taken[k].argument;
            if (!known && n < most)
                out[n++] = a->all[i].taken[k];
        }
    return n;
}

static struct str with_assumed(struct fa_application *a) {
    struct taken_number *taken = arena_alloc(&a->arena, MOST_TAKEN * sizeof *taken);
    return with_numbers(&a->ttir.ir, taken, take_numbers(a, taken, MOST_TAKEN), &a->arena);
}

static bool any_marked(const struct fa_application *a) {
    bool any = false;
    for (uint32_t i = 0; i < a->n; i++)
        any |= a->marked[i];
    return any;
}

/* The edits that are proved, fewer each time. False: they are not, and a part of them is not enough. */
static bool prove_rewritten(struct fa_application *a, struct text_edits *edits) {
    struct taken_number *taken = arena_alloc(&a->arena, MOST_TAKEN * sizeof *taken);
    for (;;) {
        struct str why = STR("");
        *edits = rewrite_module(&a->ttir.graph, a->all, a->marked, a->n, &a->arena);
        if (!any_marked(a))
            return true;
        struct module_check check = {.lowerings = a->patterns,
                                     .before = &a->ttir.ir,
                                     .after = text_edited(a->ttir.ir.text, edits, &a->arena),
                                     .taken = taken,
                                     .watch = a->watch,
                                     .ntaken = take_numbers(a, taken, MOST_TAKEN)};
        if (check_module(&check, a->all, a->marked, a->n, &a->arena, &why))
            return true;
        if (watch_has_ended(a->watch))
            return false;
        if (why.n) {
            diag_add(&a->diags, SEV_ERROR, (struct source_location){a->ttir.source->path, 0, 0},
                     "--only and --skip choose fewer", "the rewritten module is refused: %.*s", (int)why.n, why.p);
            return false;
        }
        for (uint32_t i = 0; i < a->n; i++)
            if (is_refused(a, i))
                return false;
        text_edits_free(edits);
    }
}

/* ---- the whole ---- */

/* The one block that is audited of a file that is no log is the file, with all that stands around it. */
static struct str with_surroundings(struct fa_application *a, const struct compile *c, struct str text) {
    const struct source *s = c->ttir.source;
    const struct log_block *b = c->ttir.block;
    bool whole = a->inputs.nfiles == 1 && a->inputs.files[0].scan.nblocks == 1 && !a->inputs.files[0].scan.is_log;
    if (!whole || !b->text.p)
        return text;
    size_t end = b->source_offset + b->text.n;
    return arena_printf(&a->arena, "%.*s%.*s%.*s", (int)b->source_offset, s->data, (int)text.n, text.p,
                        (int)(s->size - end), s->data + end);
}

static bool read_module(struct fa_application *a, const struct compile **c) {
    const struct inputs *in = &a->inputs;
    for (uint32_t i = 0; i < in->ncompiles; i++)
        if (in->compiles[i].ttir.block) {
            if (*c) {
                diag_add(&a->diags, SEV_ERROR, (struct source_location){in->ttir_path, 0, 0}, "a file of one of them",
                         "there are several TTIR modules");
                return false;
            }
            *c = &in->compiles[i];
        }
    if (!*c) {
        diag_add(&a->diags, SEV_ERROR, (struct source_location){in->ttnn_path ? in->ttnn_path : "", 0, 0}, NULL,
                 "there is no TTIR module");
        return false;
    }
    level_read(&a->ttir, &(*c)->ttir, &a->diags);
    bool whole = a->diags.errors == 0 && a->ttir.ir.bad_ops == 0;
    if (!whole && !a->options->partial)
        diag_add(&a->diags, SEV_ERROR, (struct source_location){(*c)->ttir.source->path, 0, 0},
                 "--partial rewrites what could be read", "not all of the module could be read");
    return whole || a->options->partial;
}

static void search_module(struct fa_application *a) {
    struct match_cache *cache = match_cache_new(a->patterns);
    struct proofs *proofs = proofs_new(a->patterns);
    struct search_setup setup = {a->patterns, &cache, 1, a->watch};
    select_matches(&setup, &a->options->patterns, proofs, &a->ttir.graph, &a->arena, &a->selection);
    proofs_free(proofs);
    match_cache_free(cache);
}

static enum fa_status run(struct fa_application *a) {
    const struct fa_patterns *o = &a->options->patterns;
    struct fa_inputs ttir = a->options->inputs;
    const struct compile *c = NULL;
    struct text_edits edits = {0};
    ttir.levels = FA_TTIR_ONLY;
    a->patterns = check_values(a) ? patterns_asked_for(o, &a->own, &a->diags) : NULL;
    if (!a->patterns)
        return FA_USAGE;
    enum fa_status read = inputs_read(&a->inputs, &ttir, &a->arena, &a->diags);
    if (read != FA_CLEAN)
        return read;
    if (!read_module(a, &c))
        return FA_INPUT;
    search_module(a);
    if (watch_say_ended(a->watch, &a->diags) || !write_replacements(a))
        return FA_INPUT;
    bool good = prove_rewritten(a, &edits);
    if (watch_say_ended(a->watch, &a->diags)) {
        text_edits_free(&edits);
        return FA_INPUT;
    }
    for (uint32_t i = 0; i < a->n; i++)
        if (!a->marked[i])
            say_left(a, i);
    if (good && a->options->assumed)
        a->text = with_surroundings(a, c, with_assumed(a));
    else if (good && a->options->diff)
        a->text = unified_diff(a->ttir.ir.text, &edits, c->ttir.source->path, &a->arena);
    else if (good)
        a->text = with_surroundings(a, c, text_edited(a->ttir.ir.text, &edits, &a->arena));
    text_edits_free(&edits);
    return good ? FA_CLEAN : FA_INPUT;
}

struct fa_application *fa_apply(const struct fa_apply_options *options) {
    IN_C_LOCALE;
    struct fa_application *a = xcalloc(1, sizeof *a);
    a->options = options;
    a->diags = (struct diags){.arena = &a->arena, .limit = options->max_diagnostics};
    a->watch = watch_new(options->progress);
    a->status = run(a);
    a->options = NULL;
    return a;
}

enum fa_status fa_application_status(const struct fa_application *a) {
    return a->status;
}
const struct fa_diagnostics *fa_application_diagnostics(const struct fa_application *a) {
    return diagnostics_of(&a->diags);
}
size_t fa_application_found(const struct fa_application *a) {
    return a->n;
}

size_t fa_application_applied(const struct fa_application *a) {
    size_t n = 0;
    for (uint32_t i = 0; i < a->n; i++)
        n += a->marked[i];
    return n;
}

bool fa_application_print(const struct fa_application *a, FILE *out) {
    return !a->text.n || fwrite(a->text.p, 1, a->text.n, out) == a->text.n;
}

bool fa_application_write(const struct fa_application *a, const char *path, char *error, size_t n) {
    return file_write_text(a->text, path, error, n);
}

void fa_application_free(struct fa_application *a) {
    if (!a)
        return;
    selection_free(&a->selection);
    level_free(&a->ttir);
    inputs_free(&a->inputs);
    patterns_free(&a->own);
    watch_free(a->watch);
    diags_free(&a->diags);
    arena_free(&a->arena);
    free(a);
}
