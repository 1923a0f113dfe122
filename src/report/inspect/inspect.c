/* The `inspect` command: counts what was read from any number of files, also from those that an audit refuses.
 *
 * One graph is in memory at a time. Of two files, one of each level, the modules that an audit pairs are a graph. */
#include "report/inspect/inspect.h"
#include "base/directory.h"
#include "base/locale.h"
#include "input/log/inputs.h"
#include "ir/pair/belong.h"

#include <stdlib.h>

struct inspector {
    struct inspection *in;
    bool unpaired;
};

static bool is_ttnn(const struct level *l) {
    return l->ir.block->has_ttnn;
}

static void free_level(struct level *l) {
    if (l)
        level_free(l);
    free(l);
}

static struct level *read_block(struct inspection *in, struct file_facts *f, uint32_t block) {
    struct level *l = xrealloc(NULL, sizeof *l);
    level_read(l, &(struct level_text){&f->scan.blocks[block], &f->source}, &in->diags);
    f->modules[block] = inspect_module(&l->graph, is_ttnn(l), &in->chips, &in->facts.facts, &in->arena);
    return l;
}

/* `several`: messages name the graph. */
static void add_pair(struct inspector *r, uint32_t graph, bool several, const struct level *ttir,
                     const struct level *ttnn) {
    struct inspection *in = r->in;
    struct pairing p;
    if (!r->unpaired)
        (void)levels_belong(&(struct level_pair){ttir, ttnn, several ? graph : 0}, &in->diags);
    pair_build(&p, &ttir->graph, &ttnn->graph, true);
    in->pairs = grow(in->pairs, &in->pairs_cap, in->npairs + 1, sizeof *in->pairs);
    in->pairs[in->npairs++] =
        (struct pair_facts){graph, ttir->source->path, ttnn->source->path, p.nlocation, p.ndataflow, p.nunpaired};
    pair_free(&p);
}

/* A chosen block, to be sorted by graph. */
struct chosen {
    uint32_t graph, block;
};

static int by_graph(const void *a, const void *b) {
    const struct chosen *x = a, *y = b;
    if (x->graph != y->graph)
        return x->graph < y->graph ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

/* Those that were not read yet. */
static uint32_t chosen_blocks(const struct file_facts *f, struct chosen *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->scan.nblocks; i++)
        if (f->scan.blocks[i].chosen && !f->modules[i])
            out[n++] = (struct chosen){f->scan.blocks[i].graph, i};
    if (n)
        qsort(out, n, sizeof *out, by_graph);
    return n;
}

static void inspect_blocks(struct inspector *r, size_t file) {
    struct inspection *in = r->in;
    struct file_facts *f = &in->files[file];
    struct chosen *order = arena_alloc(&in->arena, ((size_t)f->scan.nblocks + 1) * sizeof *order);
    uint32_t n = chosen_blocks(f, order);
    for (uint32_t i = 0, next = 0; i < n; i = next) {
        struct level *level[2] = {NULL, NULL}; /* TTIR, TTNN */
        for (next = i; next < n && order[next].graph == order[i].graph; next++) {
            struct level *l = read_block(in, f, order[next].block);
            if (level[is_ttnn(l)])
                free_level(l);
            else
                level[is_ttnn(l)] = l;
        }
        if (level[0] && level[1])
            add_pair(r, order[i].graph, f->scan.ngraphs > 1, level[0], level[1]);
        free_level(level[0]);
        free_level(level[1]);
    }
}

/* Scans the sources of one path. Of an archive with IR what has none is left out. */
static void scan_sources(struct inspection *in, const char *path, struct source *sources, uint32_t n) {
    size_t before = in->nfiles;
    uint32_t headers = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct file_facts *f = &in->files[in->nfiles];
        *f = (struct file_facts){.source = sources[i]};
        log_scan(&f->source, &in->arena, &f->scan);
        f->modules = arena_alloc(&in->arena, ((size_t)f->scan.nblocks + 1) * sizeof *f->modules);
        headers += f->scan.bare_headers;
        if (f->scan.nblocks || n == 1)
            in->nfiles++;
        else
            source_close(&f->source);
    }
    bool none = in->nfiles == before || in->files[before].scan.nblocks == 0;
    if (none &&
        (in->nfiles == before || !inputs_say_other(&in->files[before].source, &in->files[before].scan, &in->diags)))
        diag_add(&in->diags, SEV_ERROR, (struct source_location){path, 0, 0}, NULL,
                 headers ? "has headers of MLIR modules but no IR after them" : "has no IR in it");
}

static void open_files(struct inspector *r, const struct fa_inputs *o) {
    struct inspection *in = r->in;
    struct source_list list = {0};
    uint32_t *end = arena_alloc(&in->arena, (o->nfiles + 1) * sizeof *end);
    for (size_t i = 0; i < o->nfiles; i++) {
        source_read(&list, o, i, &in->diags);
        end[i] = list.n;
    }
    in->files = arena_alloc(&in->arena, (list.n + o->nfiles + 1) * sizeof *in->files);
    for (uint32_t i = 0, at = 0; i < o->nfiles; at = end[i++]) {
        if (at < end[i])
            scan_sources(in, o->files[i], list.items + at, end[i] - at);
        else
            in->files[in->nfiles++].source.path = o->files[i];
    }
    free(list.items);
}

/* FA_INPUT when something could not be read. */
static enum fa_status status_of(const struct inspection *in) {
    bool skipped = in->diags.errors > 0;
    for (size_t i = 0; i < in->nfiles; i++)
        for (uint32_t b = 0; b < in->files[i].scan.nblocks; b++) {
            const struct module_facts *m = in->files[i].modules[b];
            skipped |= m && (m->bad_ops > 0 || !in->files[i].scan.blocks[b].complete);
        }
    return skipped ? FA_INPUT : FA_CLEAN;
}

/* All chosen blocks are of one level. */
static bool is_of_level(const struct log_scan *scan, bool ttnn) {
    bool all = true;
    for (uint32_t i = 0; i < scan->nblocks; i++)
        all &= !scan->blocks[i].chosen || log_is_ttnn(&scan->blocks[i]) == ttnn;
    return all;
}

/* The modules of two files that an audit pairs, numbered as there: in the order of TTIR. */
static void inspect_partners(struct inspector *r, struct file_facts *ttir, struct file_facts *ttnn) {
    struct inspection *in = r->in;
    const uint32_t *partners = log_partners(&ttir->scan, &ttnn->scan, &in->arena);
    uint32_t number = 0;
    for (uint32_t i = 0; i < ttir->scan.nblocks; i++) {
        if (!ttir->scan.blocks[i].chosen)
            continue;
        number++;
        for (uint32_t k = 0; k < ttnn->scan.nblocks; k++) {
            if (partners[k] != i)
                continue;
            struct level *of_ttir = read_block(in, ttir, i), *of_ttnn = read_block(in, ttnn, k);
            add_pair(r, number, ttir->scan.ngraphs > 1, of_ttir, of_ttnn);
            free_level(of_ttir);
            free_level(of_ttnn);
        }
    }
}

static void inspect_all(struct inspector *r) {
    struct inspection *in = r->in;
    for (int ttir = 0; ttir < 2 && in->nfiles == 2; ttir++)
        if (is_of_level(&in->files[ttir].scan, false) && is_of_level(&in->files[!ttir].scan, true))
            inspect_partners(r, &in->files[ttir], &in->files[!ttir]);
    for (size_t i = 0; i < in->nfiles; i++)
        inspect_blocks(r, i);
    in->status = status_of(in);
}

enum fa_status fa_inspect(const struct fa_inspect_options *o, FILE *out) {
    IN_C_LOCALE;
    struct inspection in = {0};
    struct inspector r = {.in = &in, .unpaired = o->inputs.unpaired};
    in.diags.arena = &in.arena;
    chips_load(&in.chips, data_directory(o->data, "devices", &in.arena).p, &in.arena, &in.diags);
    struct str patterns = data_directory(o->data, "patterns", &in.arena);
    patterns_load(&in.facts, arena_printf(&in.arena, "%s/compiler_facts.yml", patterns.p).p, &in.diags);
    open_files(&r, &o->inputs);
    inspect_all(&r);
    inspect_print(&in, o->json, out);
    for (size_t i = 0; i < in.nfiles; i++)
        source_close(&in.files[i].source);
    free(in.pairs);
    chips_free(&in.chips);
    patterns_free(&in.facts);
    diags_free(&in.diags);
    arena_free(&in.arena);
    return in.status;
}
