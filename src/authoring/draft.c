/* Finds ops by the names of their results, writes a pattern with these ops as its example, and tests it. A formula says
 * along which axis its ops work; where a pattern with axes does not match its own example, one without is tried. */
#include "authoring/draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "authoring/examples.h"
#include "input/log/inputs.h"
#include "input/unpack/source.h"

enum { MAX_ASKED = 64 };

/* "%14,%17,@func" */
struct asked {
    struct str names[MAX_ASKED]; /* with '%' */
    uint32_t n;
    struct str func; /* without '@'; empty: any */
};

struct maker {
    struct pattern_set *set;
    struct diags *diags;
    const struct fa_inputs *file;
    const char *list;
    struct asked asked;
    struct arena arena;
    struct source source;
    struct log_scan scan;
    struct mlir ir;
    struct graph graph;
    bool read;
    uint32_t func, root;
    uint32_t ops[MAX_ASKED];
};

__attribute__((format(printf, 3, 4))) static bool fail(struct maker *k, const char *hint, const char *format, ...) {
    va_list args;
    char message[512];
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    diag_add(k->diags, SEV_ERROR, (struct source_location){k->file->files[0], 0, 0}, hint, "%s", message);
    return false;
}

static bool parse_asked(struct maker *k) {
    for (const char *p = k->list; *p;) {
        size_t n = strcspn(p, ",");
        struct str word = str_trim((struct str){p, n});
        p += n;
        p += *p == ',';
        if (str_starts(word, STR("@"))) {
            k->asked.func = (struct str){word.p + 1, word.n - 1};
            continue;
        }
        if (k->asked.n == MAX_ASKED)
            return fail(k, NULL, "more than %d ops are asked for", (int)MAX_ASKED);
        const char *hash = word.n ? memchr(word.p, '#', word.n) : NULL;
        word.n = hash ? (size_t)(hash - word.p) : word.n;
        if (word.n)
            k->asked.names[k->asked.n++] =
                str_starts(word, STR("%")) ? word : arena_printf(&k->arena, "%%%.*s", (int)word.n, word.p);
    }
    return k->asked.n || fail(k, "--ops %14,%17", "no op is asked for");
}

/* ---- where the ops are ---- */

static uint32_t op_of(const struct maker *k, uint32_t func, struct str name) {
    for (uint32_t op = 0; op < k->ir.nops; op++)
        if (k->ir.ops[op].func == func && k->ir.ops[op].nresults &&
            str_eq(mlir_span(&k->ir, k->ir.values[k->ir.ops[op].first_result].name), name))
            return op;
    return NONE;
}

static bool has_all(struct maker *k, uint32_t func) {
    for (uint32_t i = 0; i < k->asked.n; i++)
        if ((k->ops[i] = op_of(k, func, k->asked.names[i])) == NONE)
            return false;
    k->func = func;
    return true;
}

/* In the function that is named, else in one that runs on the device, else in ops outside of any function. */
static bool find_in_module(struct maker *k) {
    for (uint32_t f = 0; f < k->ir.nfuncs; f++) {
        bool named = str_eq(k->ir.names[k->ir.funcs[f].name], k->asked.func);
        if ((k->asked.func.n ? named : k->graph.func_kind[f] == FUNC_MAIN) && has_all(k, f))
            return true;
    }
    return !k->asked.func.n && has_all(k, NONE);
}

static void close_module(struct maker *k) {
    if (!k->read)
        return;
    graph_free(&k->graph);
    mlir_free(&k->ir);
    k->read = false;
}

/* In the blocks that an audit would take, TTNN before TTIR. */
static bool find_ops(struct maker *k) {
    struct diags quiet = {.arena = &k->arena};
    bool found = false;
    for (int ttnn = 1; ttnn >= 0 && !found; ttnn--)
        for (uint32_t b = 0; b < k->scan.nblocks && !found; b++) {
            const struct log_block *block = &k->scan.blocks[b];
            bool wanted = k->file->levels == FA_BOTH_LEVELS || (k->file->levels == FA_TTNN_ONLY) == (ttnn == 1);
            if (!block->chosen || block->has_ttnn != ttnn || !wanted)
                continue;
            close_module(k);
            mlir_parse(&k->ir, &k->source, block, &quiet);
            graph_build(&k->graph, &k->ir, &quiet);
            k->read = true;
            found = find_in_module(k);
        }
    diags_free(&quiet);
    return found || fail(k, "the results are meant, as they are printed: --ops %14,%17 or --ops %14,%17,@main",
                         "no function has all of %s", k->list);
}

/* ---- the draft ---- */

static bool is_part(const struct graph *g, uint32_t op) {
    return !draft_is_mover(g, op) && graph_class(g, op) != OP_CONSTANT && graph_class(g, op) != OP_CALL;
}

/* How the formula is written: what is written first is tried first. */
enum way { AS_FUNCTION, WITH_AXES, WITHOUT_AXES, WAYS };

static void begin(struct maker *k, struct draft *s, enum way way) {
    *s = (struct draft){.graph = &k->graph,
                        .func = k->func,
                        .arena = &k->arena,
                        .axes = way == WITH_AXES,
                        .function = way == AS_FUNCTION};
    s->chosen = arena_alloc(&k->arena, k->ir.nops + 1);
    s->shown = arena_alloc(&k->arena, k->ir.nops + 1);
    s->names = arena_alloc(&k->arena, (k->ir.nvalues + 1) * sizeof *s->names);
    for (uint32_t i = 0; i < k->asked.n; i++) {
        s->shown[k->ops[i]] = true;
        s->chosen[k->ops[i]] = is_part(&k->graph, k->ops[i]);
    }
}

/* Of ops that only move data. */
static uint32_t last_shown(const struct maker *k, const struct draft *s) {
    uint32_t last = NONE;
    for (uint32_t op = 0; op < k->ir.nops; op++)
        if (s->shown[op] && draft_is_mover(&k->graph, op))
            last = op;
    return last;
}

/* The one op that feeds none of the others. */
static bool find_root(struct maker *k, const struct draft *s) {
    bool *feeds = arena_alloc(&k->arena, k->ir.nops + 1);
    k->root = NONE;
    for (uint32_t op = 0; op < k->ir.nops; op++) {
        struct str name = mlir_op_name(&k->ir, op);
        if (!s->chosen[op])
            continue;
        if (k->graph.kind[op] == NO_OPERATOR || k->ir.ops[op].nresults != 1)
            return fail(k, NULL, "formulas have no operator for %.*s", (int)name.n, name.p);
        for (uint32_t i = 0; i < graph_noperands(&k->graph, op); i++) {
            uint32_t v = graph_operands(&k->graph, op)[i], source = v == NONE ? NONE : draft_source(s, v);
            if (source != NONE)
                feeds[source] = true;
        }
    }
    for (uint32_t op = 0; op < k->ir.nops; op++) {
        if (!s->chosen[op] || feeds[op])
            continue;
        if (k->root != NONE)
            return fail(k, "a formula has one root that everything feeds: name the ops in between, too",
                        "neither of two ops feeds the other, or an op after both: %.*s, %.*s",
                        (int)mlir_op_name(&k->ir, k->root).n, mlir_op_name(&k->ir, k->root).p,
                        (int)mlir_op_name(&k->ir, op).n, mlir_op_name(&k->ir, op).p);
        k->root = op;
    }
    k->root = k->root == NONE ? last_shown(k, s) : k->root;
    return k->root != NONE || fail(k, NULL, "none of these ops computes anything");
}

static struct str printable(struct maker *k, const char *text) {
    char *copy = arena_strdup(&k->arena, str_of(text));
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7F)
            *c = '?';
    return str_of(copy);
}

enum drafted { DRAFTED, OTHER_WAY, NO_DRAFT };

/* OTHER_WAY: it cannot be written so. NO_DRAFT: with a diagnostic. */
static enum drafted write_draft(struct maker *k, enum way way, struct buf *out) {
    struct draft s;
    begin(k, &s, way);
    if (!find_root(k, &s))
        return NO_DRAFT;
    buf_printf(out, "# From %s of %s.\n", printable(k, k->list).p, printable(k, k->file->files[0]).p);
    buf_add(out, STR("name: my\nsummary: what this is.\nfused_op: ttnn.TODO\nmatch: |\n"));
    if (s.chosen[k->root]) {
        if (!draft_formula(&s, k->root, out))
            return OTHER_WAY;
    } else if (!draft_rearranged(&s, k->root, out)) {
        fail(k, NULL, "none of these ops computes anything, and they do more than to reorder elements");
        return NO_DRAFT;
    }
    draft_example(&s, out);
    return DRAFTED;
}

/* It can be read and matches its own example. */
static bool works(struct maker *k, struct str draft, struct diags *why) {
    struct example_counts counts = {0, 0};
    const struct pattern *p = patterns_load_text(k->set, "the pattern", draft, why);
    if (p)
        examples_run(k->set, p, why, NULL, &counts);
    return p && counts.run && !counts.failed;
}

static bool make_draft(struct maker *k, struct buf *out) {
    struct diags why = {.arena = &k->arena};
    enum drafted drafted = OTHER_WAY;
    bool good = false;
    for (int way = 0; way < WAYS && !good && drafted != NO_DRAFT; way++) {
        out->n = 0;
        why.n = 0;
        drafted = write_draft(k, (enum way)way, out);
        good = drafted == DRAFTED && works(k, buf_str(out), &why);
    }
    if (!good && drafted != NO_DRAFT)
        fail(k, why.n ? why.items[0].message : NULL, "a formula cannot say what %s are", k->list);
    diags_free(&why);
    return good;
}

/* StableHLO and the like, of which it is said what makes IR of it. */
static bool is_other(const struct maker *k) {
    for (uint32_t b = 0; b < k->scan.nblocks; b++)
        if (log_is_ttir(&k->scan.blocks[b]) || log_is_ttnn(&k->scan.blocks[b]))
            return false;
    return inputs_say_other(&k->source, &k->scan, k->diags);
}

bool draft_make(struct pattern_set *set, const struct fa_inputs *file, const char *ops, struct diags *d,
                struct buf *out) {
    struct maker *k = xrealloc(NULL, sizeof *k);
    memset(k, 0, sizeof *k);
    k->set = set;
    k->diags = d;
    k->file = file;
    k->list = ops;
    bool opened = source_read_one(&k->source, file, d), good = false;
    if (opened) {
        log_scan(&k->source, &k->arena, &k->scan);
        good = !is_other(k) && parse_asked(k) && find_ops(k) && make_draft(k, out);
        close_module(k);
        source_close(&k->source);
    }
    if (!good)
        out->n = 0;
    arena_free(&k->arena);
    free(k);
    return good;
}
