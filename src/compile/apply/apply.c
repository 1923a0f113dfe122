/* fa_apply: reads the module, and writes fused ops into it until nothing more is found. */
#include "compile/apply/apply.h"

#include "compile/apply/choose.h"
#include "compile/apply/file_edit.h"
#include "compile/apply/prove_rewrite.h"
#include "compile/apply/rewrite.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/locale.h"
#include "elementwise/rules.h"
#include "patterns/library/choose.h"
#include "patterns/library/library.h"
#include "report/explain/asked.h"
#include "search/match/fingerprint.h"

/* What became of a finding. */
struct outcome {
    const struct pattern *pattern;
    uint32_t op;     /* of the module as it is read, or what one that was written is made for; or NONE */
    const char *why; /* it is left; NULL: it is applied */
    bool refused;    /* nothing is written for its sake */
};

struct fa_application {
    const struct fa_apply_options *options;
    struct arena arena;
    struct diags diags;
    struct pattern_set own;             /* read for this call */
    const struct pattern_set *patterns; /* these or those of a library */
    struct chips chips;
    struct inputs inputs;
    struct level ttir;
    struct replacing how;
    struct outcome *outcomes;
    uint32_t noutcomes, outcomes_cap;
    bool *applied;              /* per op of `ttir`: some outcome is a fused op there */
    struct taken_numbers taken; /* arguments of `ttir` */
    bool *asked;                /* per op of `ttir`: --at means it, or what became of it; NULL: all of it is meant */
    struct str text;            /* that is written */
    struct str after;           /* the module alone */
    struct str unknown;         /* applied.unknown */
    double stand_in;
    struct match_cache *cache; /* of all rounds, as the proofs are */
    struct proofs *proofs;
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

/* ---- new names ---- */

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

/* ---- what became of findings ---- */

/* The op of another text of the module whose result has the name of this one's, in the function of the same name; or
 * NONE. */
static uint32_t same_op(const struct mlir *m, uint32_t op, const struct mlir *other) {
    uint32_t func = m->ops[op].func, from = 0, end = other->nops, its = NONE;
    struct str name = mlir_result_name(m, op);
    if (m == other)
        return op;
    if (func != NONE) {
        its = mlir_func_named(other, m->names[m->funcs[func].name]);
        from = its == NONE ? end : other->funcs[its].first_op;
        end = its == NONE ? end : other->funcs[its].end_op;
    }
    for (uint32_t i = from; i < end; i++)
        if (other->ops[i].nresults && other->ops[i].func == its && str_eq(mlir_result_name(other, i), name))
            return i;
    return NONE;
}

/* The op of the module as it is read; of one that was written, what it is made for. */
static uint32_t op_as_read(const struct fa_application *a, const struct graph *g, uint32_t op) {
    enum { MOST = 8 };
    uint32_t found = same_op(g->m, op, &a->ttir.ir);
    for (int i = 0; i < MOST && found == NONE; i++) {
        uint32_t v = g->m->ops[op].nresults ? g->m->ops[op].first_result : NONE;
        if (v == NONE || graph_nuses(g, v) != 1)
            break;
        op = g->uses[g->first_use[v]];
        found = same_op(g->m, op, &a->ttir.ir);
    }
    return found;
}

/* What was left is found again in what was written, or gone. */
static void drop_left(struct fa_application *a) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->noutcomes; i++)
        if (!a->outcomes[i].why)
            a->outcomes[n++] = a->outcomes[i];
    a->noutcomes = n;
}

static void keep_outcome(struct fa_application *a, struct outcome x) {
    a->outcomes = grow(a->outcomes, &a->outcomes_cap, a->noutcomes + 1, sizeof *a->outcomes);
    a->outcomes[a->noutcomes++] = x;
    if (!x.why && x.op != NONE)
        a->applied[x.op] = true;
}

/* The fused op is there, and lacks what TTIR cannot express: an activation, a scale that is an argument. */
static bool was_applied(const struct fa_application *a, const struct pattern *pattern, uint32_t op) {
    bool found = false;
    for (uint32_t i = 0; op != NONE && a->applied[op] && i < a->noutcomes && !found; i++) {
        const struct outcome *x = &a->outcomes[i];
        found = !x->why && x->op == op && str_eq(x->pattern->fused_op, pattern->fused_op);
    }
    return found;
}

static struct source_location place_of(const struct fa_application *a, uint32_t op) {
    const struct mlir *m = &a->ttir.ir;
    return op == NONE ? (struct source_location){a->ttir.source->path, 0, 0} : mlir_place(m, m->ops[op].text.begin);
}

/* Findings that are left for one reason. */
struct left {
    const struct outcome *first;
    struct str text;
    struct buf lines; /* of the first few others */
    uint32_t others;
    UT_hash_handle hh;
};

static void add_left(struct fa_application *a, struct left **all, const struct outcome *x) {
    enum { MOST_LINES = 8 };
    const struct pattern *p = x->pattern;
    struct left *same;
    struct str text = arena_printf(&a->arena, "%.*s (%.*s) is %s: %s", (int)p->fused_op.n, p->fused_op.p,
                                   (int)p->name.n, p->name.p, x->refused ? "refused" : "left", x->why);
    HASH_FIND(hh, *all, text.p, text.n, same);
    if (!same) {
        same = arena_alloc(&a->arena, sizeof *same);
        *same = (struct left){.first = x, .text = text};
        HASH_ADD_KEYPTR(hh, *all, same->text.p, same->text.n, same);
    } else if (same->others++ < MOST_LINES && x->op != NONE) {
        buf_printf(&same->lines, "%s%" PRIu64, same->lines.n ? ", " : ": line ", place_of(a, x->op).line);
    }
}

/* Each reason once. */
static void say_left(struct fa_application *a) {
    struct left *all = NULL;
    for (uint32_t i = 0; i < a->noutcomes; i++)
        if (a->outcomes[i].why)
            add_left(a, &all, &a->outcomes[i]);
    for (struct left *l = all; l; l = l->hh.next) {
        const struct outcome *x = l->first;
        diag_add(&a->diags, x->refused ? SEV_ERROR : SEV_NOTE, place_of(a, x->op),
                 x->refused ? "--partial leaves what is not proved" : NULL,
                 l->others ? "%.*s (the same at %u more place%s%.*s)" : "%.*s", (int)l->text.n, l->text.p, l->others,
                 l->others == 1 ? "" : "s", (int)l->lines.n, l->lines.p);
        buf_free(&l->lines);
    }
    HASH_CLEAR(hh, all);
}

/* ---- one round ---- */

/* A module, the fused ops that are written into it, and the edits that do so. */
struct round {
    const struct level *level;
    struct selection selection;
    struct replacement *all;
    uint32_t n;
    struct text_edits edits;
    struct arena arena, texts;
    struct str after; /* the module with the edits; in `texts` */
};

static void search_module(struct fa_application *a, struct round *r) {
    struct search_setup setup = {.patterns = a->patterns, .caches = &a->cache, .threads = 1};
    struct device device = device_for(&a->chips, NULL, &r->level->graph, NULL);
    struct pricer pricer;
    pricer_begin(&pricer, &r->level->graph, &device, a->chips.cycles);
    select_matches(&setup, &a->options->patterns, a->proofs, &r->level->graph, &pricer, &r->arena, &r->selection);
    pricer_end(&pricer);
}

static void choose_findings(struct fa_application *a, struct round *r, const bool *asked) {
    struct device device = device_for(&a->chips, NULL, &r->level->graph, NULL);
    struct pricer pricer;
    pricer_begin(&pricer, &r->level->graph, &device, a->chips.cycles);
    struct choosing c = {.how = &a->how, .pricer = &pricer, .options = a->options, .asked = asked};
    r->all = choose(&c, &r->selection, &r->arena, &r->n);
    pricer_end(&pricer);
}

static uint32_t count_written(const struct round *r) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n; i++)
        n += r->all[i].written;
    return n;
}

/* It was written, and is not proved. */
static bool is_refused(const struct fa_application *a, const struct replacement *x) {
    return !a->options->partial && x->reported && x->text.n > 0 && !x->written && !x->slower;
}

/* Takes the other functions out, unless this one calls some. */
static void leave_alone(const struct graph *g, uint32_t func, struct text_edits *edits) {
    const struct mlir *m = g->m;
    for (uint32_t op = m->funcs[func].first_op; op < m->funcs[func].end_op; op++)
        if (m->ops[op].callee != NONE)
            return;
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (i != func)
            text_edits_add(edits, function_text(m, i), STR(""));
}

/* What the permutes of a module take. */
static double permutes_us(const struct fa_application *a, const struct graph *g, struct arena *scratch) {
    double *of_ops = arena_alloc(scratch, (g->m->nops + (size_t)1) * sizeof *of_ops), sum = 0;
    struct device device = device_for(&a->chips, NULL, g, NULL);
    struct pricer pricer;
    pricer_begin(&pricer, g, &device, a->chips.cycles);
    graph_us(&pricer, NULL, of_ops);
    pricer_end(&pricer);
    for (uint32_t op = 0; op < g->m->nops; op++)
        sum += g->kind[op] == K_PERMUTE ? of_ops[op] : 0;
    return sum;
}

/* An operand that has to be permuted first takes longer than the fused op saves. */
static bool is_slower(const struct fa_application *a, const struct round *r, struct replacement *x) {
    const struct graph *g = &r->level->graph;
    struct arena scratch = {0};
    struct text_edits rest = {0}, edits = rewrite_module(g, x, 1, &scratch);
    struct module_text before, after;
    leave_alone(g, x->match->func, &rest);
    leave_alone(g, x->match->func, &edits);
    bool read = module_text_read(&before, text_edited(g->m->text, &rest, &scratch), &scratch);
    bool slower =
        module_text_read(&after, text_edited(g->m->text, &edits, &scratch), &scratch) && read &&
        permutes_us(a, &after.level.graph, &scratch) - permutes_us(a, &before.level.graph, &scratch) > x->saved_us;
    module_text_free(&before);
    module_text_free(&after);
    text_edits_free(&rest);
    text_edits_free(&edits);
    arena_free(&scratch);
    return slower;
}

/* Of places that are alike the first one is asked about. */
static void leave_slower(struct fa_application *a, struct round *r) {
    const struct graph *g = &r->level->graph;
    struct arena scratch = {0};
    uint64_t aliases = mlir_aliases_hash(g->m);
    uint64_t *alike = arena_alloc(&scratch, (g->m->nfuncs + (size_t)1) * sizeof *alike); /* names are no matter */
    struct {
        uint64_t key;
        bool slower;
    } *known = arena_alloc(&scratch, (r->n + (size_t)1) * sizeof *known);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n && !included(&a->options->patterns, "slower"); i++) {
        struct replacement *x = &r->all[i];
        if (!x->written || !str_find(x->text, STR("ttir.permute")))
            continue;
        uint32_t func = x->match->func, k = 0;
        if (func != NONE && !alike[func])
            alike[func] = function_fingerprint(g, func, aliases);
        known[n].key = func != NONE && alike[func] ? match_alike(x->match, alike[func]) : 0;
        while (k < n && !(known[n].key && known[k].key == known[n].key))
            k++;
        if (k == n)
            known[n++].slower = is_slower(a, r, x);
        if (!known[k].slower)
            continue;
        x->written = false;
        x->slower = true;
        x->why = STR("not faster");
    }
    arena_free(&scratch);
}

/* The edits that are proved, fewer each time. False: they are not, and a part of them is not enough. */
static bool prove_rewritten(struct fa_application *a, struct round *r) {
    const struct mlir *m = &r->level->ir;
    while (count_written(r) > 0) {
        struct str why = STR("");
        r->edits = rewrite_module(&r->level->graph, r->all, r->n, &r->arena);
        arena_free(&r->texts);
        r->after = text_edited(m->text, &r->edits, &r->texts);
        struct module_check check = {.lowerings = a->patterns, .before = &r->level->graph, .after = r->after};
        if (check_module(&check, r->all, r->n, &r->arena, &why))
            return true;
        if (why.n) {
            diag_add(&a->diags, SEV_ERROR, (struct source_location){a->ttir.source->path, 0, 0},
                     "--only and --skip choose fewer", "the rewritten module is refused: %.*s", (int)why.n, why.p);
            return false;
        }
        for (uint32_t i = 0; i < r->n; i++)
            if (is_refused(a, &r->all[i]))
                return false;
        text_edits_free(&r->edits);
    }
    return true;
}

static void keep_outcomes(struct fa_application *a, struct round *r) {
    const struct mlir *m = &r->level->ir;
    drop_left(a);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct replacement *x = &r->all[i];
        uint32_t op = op_as_read(a, &r->level->graph, x->match->root);
        if (a->asked && x->written && op != NONE)
            a->asked[op] = true;
        if (x->written && x->unknown.n)
            a->unknown = arena_str(&a->arena, x->unknown);
        if (x->written || (x->reported && !was_applied(a, x->match->pattern, op)))
            keep_outcome(a, (struct outcome){x->match->pattern, op, x->written ? NULL : arena_strdup(&a->arena, x->why),
                                             is_refused(a, x)});
    }
    add_numbers(&a->taken, &a->ttir.ir, take_numbers(r->all, r->n, &r->arena), m, &a->arena);
}

/* What --at means. False: nothing. */
static bool find_asked(struct fa_application *a) {
    const struct fa_apply_options *o = a->options;
    struct str became = STR("");
    if (!o->at)
        return true;
    a->asked = arena_alloc(&a->arena, a->ttir.ir.nops + (size_t)1);
    if (asked_mark(o->at, &a->ttir, NULL, &a->arena, a->asked, &became))
        return true;
    diag_add(&a->diags, SEV_ERROR, (struct source_location){a->ttir.source->path, 0, 0},
             "a value, a line, an op and its line, or a location", "nothing is at '%s'", o->at);
    return false;
}

/* The same in what was written, where fused ops have the names of what they replace. */
static const bool *asked_in(const struct fa_application *a, const struct mlir *m, struct arena *arena) {
    bool *marks = a->asked && m != &a->ttir.ir ? arena_alloc(arena, m->nops + (size_t)1) : a->asked;
    for (uint32_t i = 0; i < a->ttir.ir.nops && marks != a->asked; i++) {
        uint32_t op = a->asked[i] ? same_op(&a->ttir.ir, i, m) : NONE;
        if (op != NONE)
            marks[op] = true;
    }
    return marks;
}

static bool run_round(struct fa_application *a, struct round *r) {
    search_module(a, r);
    choose_findings(a, r, asked_in(a, &r->level->ir, &r->arena));
    leave_slower(a, r);
    bool good = prove_rewritten(a, r);
    keep_outcomes(a, r);
    return good;
}

/* ---- the whole ---- */

/* The graph that is asked for, or the only one with TTIR; NULL: there is none, or there are several. */
static const struct compile *choose_graph(struct fa_application *a) {
    const struct inputs *in = &a->inputs;
    const struct compile *found = NULL;
    struct str numbers = STR("");
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->ncompiles; i++) {
        const struct compile *c = &in->compiles[i];
        if (!c->ttir.block)
            continue;
        numbers = arena_printf(&a->arena, "%.*s%s%u", (int)numbers.n, numbers.p, n++ ? ", " : "", c->number);
        if (!a->options->graph || a->options->graph == c->number)
            found = c;
    }
    if (found && (n == 1 || a->options->graph))
        return found;
    const char *path = in->ttir_path ? in->ttir_path : in->ttnn_path ? in->ttnn_path : "";
    diag_add(&a->diags, SEV_ERROR, (struct source_location){path, 0, 0}, n ? "--graph=N takes one of them" : NULL,
             "there is %s TTIR module%s%s", n ? "a" : "no", n ? " of each of these graphs: " : "", numbers.p);
    return NULL;
}

static bool read_module(struct fa_application *a, const struct compile **c) {
    *c = choose_graph(a);
    if (!*c)
        return false;
    level_read(&a->ttir, &(*c)->ttir, &a->diags);
    bool whole = a->diags.errors == 0 && a->ttir.ir.bad_ops == 0;
    if (!whole && !a->options->partial)
        diag_add(&a->diags, SEV_ERROR, (struct source_location){(*c)->ttir.source->path, 0, 0},
                 "--partial rewrites what could be read", "not all of the module could be read");
    return whole || a->options->partial;
}

enum { MOST_ROUNDS = 8 };

/* Rounds until nothing more is written, and the edits of all of them. Of a large module one text is held at a time. */
static bool run_rounds(struct fa_application *a, struct text_edits *edits) {
    struct str text = a->ttir.ir.text;
    struct arena texts = {0};
    bool good = find_asked(a), more = true;
    for (int i = 0; i < MOST_ROUNDS && good && more; i++) {
        struct module_text now = {.source = {.data = NULL}};
        struct round r = {.level = i ? &now.level : &a->ttir};
        good = i == 0 || module_text_read(&now, text, &r.arena) || a->options->partial;
        good = good && run_round(a, &r);
        more = good && count_written(&r) > 0;
        if (more)
            text_edits_join(edits, a->ttir.ir.text, &r.edits, &a->arena);
        text_edits_free(&r.edits);
        selection_free(&r.selection);
        module_text_free(&now);
        arena_free(&r.arena);
        arena_free(more ? &texts : &r.texts);
        if (more) {
            texts = r.texts;
            text = r.after;
        }
    }
    if (good)
        a->after = text;
    arena_merge(&a->arena, &texts);
    return good;
}

/* A compile of before the ops lost their results. */
static bool has_results_in_place(const struct graph *g) {
    bool found = false;
    for (uint32_t op = 0; op < g->m->nops && !found; op++)
        found = op_is((enum op_kind)g->kind[op], IN_PLACE) && mlir_result_name(g->m, op).n > 0;
    return found;
}

static void drop_results(struct fa_application *a, struct text_edits *edits) {
    struct module_text now;
    if (module_text_read(&now, a->after, &a->arena)) {
        struct text_edits more = results_in_place(&now.level.graph);
        text_edits_join(edits, a->ttir.ir.text, &more, &a->arena);
        text_edits_free(&more);
    }
    module_text_free(&now);
}

static enum fa_status run(struct fa_application *a) {
    const struct fa_patterns *o = &a->options->patterns;
    struct fa_inputs ttir = a->options->inputs;
    const struct compile *c = NULL;
    struct text_edits edits = {0};
    ttir.levels = FA_TTIR_ONLY;
    a->patterns = check_values(a) ? patterns_asked_for(o, &a->own, &a->diags) : NULL;
    if (!a->patterns || !chips_load(&a->chips, devices_directory(o, &a->arena), &a->arena, &a->diags))
        return FA_USAGE;
    enum fa_status read = inputs_read(&a->inputs, &ttir, &a->arena, &a->diags);
    if (read != FA_CLEAN)
        return read;
    if (!read_module(a, &c))
        return FA_INPUT;
    a->applied = arena_alloc(&a->arena, a->ttir.ir.nops + (size_t)1);
    a->cache = match_cache_new(a->patterns);
    a->proofs = proofs_new(a->patterns, false);
    a->how = (struct replacing){.patterns = a->patterns,
                                .prefix = free_prefix(a),
                                .alias = free_alias(a),
                                .number = number_given,
                                .self = a->options,
                                .stand_in = a->stand_in};
    bool good = run_rounds(a, &edits);
    say_left(a);
    if (good && !has_results_in_place(&a->ttir.graph))
        drop_results(a, &edits);
    if (good && a->options->assumed) {
        text_edits_free(&edits);
        edits = put_numbers(&a->ttir.ir, a->taken, &a->arena);
    }
    struct str text = edits_of_file(&a->inputs, &c->ttir, a->ttir.ir.text, &edits, &a->arena);
    if (good)
        a->text = text_edited(text, &edits, &a->arena);
    text_edits_free(&edits);
    return good ? FA_CLEAN : FA_INPUT;
}

struct fa_application *apply_module(const struct fa_apply_options *options, double stand_in) {
    struct fa_application *a = xcalloc(1, sizeof *a);
    a->options = options;
    a->stand_in = stand_in;
    a->diags = (struct diags){.arena = &a->arena, .limit = options->max_diagnostics};
    a->status = run(a);
    a->options = NULL;
    return a;
}

struct fa_application *fa_apply(const struct fa_apply_options *options) {
    IN_C_LOCALE;
    return apply_module(options, NAN);
}

struct applied applied_texts(struct fa_application *a) {
    struct applied out = {.unknown = a->unknown};
    struct module_text after;
    struct taken_numbers there = {0};
    if (!a->after.n)
        return out;
    if (module_text_read(&after, a->after, &a->arena)) {
        add_numbers(&there, &after.level.ir, a->taken, &a->ttir.ir, &a->arena);
        out.before = with_numbers(&a->ttir.ir, a->taken, &a->arena);
        out.after = with_numbers(&after.level.ir, there, &a->arena);
    }
    module_text_free(&after);
    return out;
}

enum fa_status fa_application_status(const struct fa_application *a) {
    return a->status;
}
const struct fa_diagnostics *fa_application_diagnostics(const struct fa_application *a) {
    return diagnostics_of(&a->diags);
}
size_t fa_application_found(const struct fa_application *a) {
    return a->noutcomes;
}

const char *fa_application_left(const struct fa_application *a, size_t i) {
    return i < a->noutcomes ? a->outcomes[i].why : NULL;
}

size_t fa_application_applied(const struct fa_application *a) {
    size_t n = 0;
    for (uint32_t i = 0; i < a->noutcomes; i++)
        n += !a->outcomes[i].why;
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
    level_free(&a->ttir);
    chips_free(&a->chips);
    free(a->outcomes);
    match_cache_free(a->cache);
    proofs_free(a->proofs);
    inputs_free(&a->inputs);
    patterns_free(&a->own);
    diags_free(&a->diags);
    arena_free(&a->arena);
    free(a);
}
