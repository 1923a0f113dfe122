/* Of many files which belong together: TTIR and TTNN of one compile, told by what is in them, never by names. A file
 * with both levels is by itself. A TTNN module goes with the TTIR whose functions and signatures agree and most of
 * whose ops it descends from, each TTIR with one; a further TTNN of the same TTIR is a pair, too, unless it has the
 * same ops as the first: then it is the same compile printed again, as after the rewrites of the runtime. */
#include <fts.h>
#include <stdlib.h>

#include "base/locale.h"
#include "fusion_audit.h"
#include "input/log/inputs.h"
#include "input/log/log.h"
#include "ir/pair/belong.h"
#include "report/report.h"

/* A file of one level, of which the first module is parsed. */
struct pair_module {
    const char *path;
    uint32_t nmodules;
    struct source source;
    struct log_scan scan;
    struct level level;
    uint64_t ops; /* of the one module: hash of how often it has each operator that computes */
    struct pair_module *partner;
    struct pair_module *same; /* a TTNN of the same TTIR with the same ops */
};

struct pair_modules {
    struct pair_module **items;
    uint32_t n, cap;
};

struct fa_pairs {
    struct fa_pair *items; /* in the order of the paths */
    uint32_t n, cap;
    bool failed;
    struct arena arena;
    struct diags diags;
};

struct finder {
    struct fa_pairs *out;
    struct pair_modules ttir, ttnn;
};

static void complain(struct finder *f, enum severity severity, const char *path, const char *hint, const char *what) {
    diag_add(&f->out->diags, severity, (struct source_location){path, 0, 0}, hint, "%s", what);
    f->out->failed |= severity == SEV_ERROR;
}

/* ---- paths ---- */

struct paths {
    const char **items;
    uint32_t n, cap;
};

static int compare_paths(const void *pa, const void *pb) {
    const char *const *a = pa, *const *b = pb;
    return strcmp(*a, *b);
}

static void add_path(struct paths *p, const char *path, struct arena *a) {
    p->items = grow(p->items, &p->cap, p->n + 1, sizeof *p->items);
    p->items[p->n++] = arena_strdup(a, str_of(path));
}

/* What is in a directory and is not read. */
static void complain_of_entry(struct finder *f, const FTSENT *e) {
    const char *path = arena_strdup(&f->out->arena, str_of(e->fts_path));
    if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS)
        complain(f, SEV_ERROR, path, NULL, strerror(e->fts_errno));
    else if (e->fts_info == FTS_SL || e->fts_info == FTS_SLNONE)
        complain(f, SEV_WARNING, path, "name it if it is to be audited", "links in a directory are not followed");
}

/* The regular files below a directory, sorted; the path itself where it is none. */
static void add_files(struct finder *f, const char *path, struct paths *out) {
    char *roots[2] = {arena_strdup(&f->out->arena, str_of(path)), NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    uint32_t before = out->n, errors = f->out->diags.errors;
    FTSENT *e;
    bool directory = false;
    if (!tree)
        out_of_memory();
    while ((e = fts_read(tree))) {
        directory |= e->fts_info == FTS_D;
        if (directory && e->fts_info == FTS_F)
            add_path(out, e->fts_path, &f->out->arena);
        else if (directory)
            complain_of_entry(f, e);
    }
    fts_close(tree);
    if (!directory)
        add_path(out, path, &f->out->arena);
    else if (out->n > before)
        qsort(out->items + before, out->n - before, sizeof *out->items, compare_paths);
    else if (f->out->diags.errors == errors)
        complain(f, SEV_ERROR, path, NULL, "a directory without files");
}

/* ---- modules ---- */

static void add_pair(struct finder *f, const char *ttir, const char *ttnn) {
    struct fa_pairs *out = f->out;
    out->items = grow(out->items, &out->cap, out->n + 1, sizeof *out->items);
    out->items[out->n++] = (struct fa_pair){ttir, ttnn};
}

static uint64_t hash_ops(const struct graph *g) {
    uint64_t sum = 0;
    for (uint32_t op = 0; op < g->m->nops; op++) {
        enum op_class c = graph_class(g, op);
        bool computes = c != OP_LAYOUT && c != OP_CAST && c != OP_NO_USE && c != OP_CONSTANT && c != OP_STRUCTURE;
        if (computes)
            sum += str_hash(mlir_op_name(g->m, op));
    }
    return sum;
}

/* Of one level: the modules that are audited. */
static void add_module(struct finder *f, struct pair_modules *to, struct source *s, const struct log_scan *scan,
                       uint32_t nmodules) {
    struct pair_module *m = xcalloc(1, sizeof *m);
    struct diags unsaid = {.arena = &f->out->arena, .limit = 1}; /* the audit says it again */
    *m = (struct pair_module){.path = s->path, .nmodules = nmodules, .source = *s, .scan = *scan};
    struct level_text text = {NULL, &m->source};
    for (uint32_t i = 0; i < scan->nblocks && !text.block; i++)
        text.block = scan->blocks[i].chosen ? &scan->blocks[i] : NULL;
    level_read(&m->level, &text, &unsaid);
    diags_free(&unsaid);
    m->ops = hash_ops(&m->level.graph);
    to->items = grow(to->items, &to->cap, to->n + 1, sizeof *to->items);
    to->items[to->n++] = m;
}

/* A report or a baseline, some of which have IR in them. */
static bool is_report(const struct source *s) {
    struct str text = {s->data, s->size};
    bool found = str_starts(text, STR("known_findings:"));
    for (const struct report_format *f = report_formats; f->name && !found; f++)
        found = str_starts(text, str_of(f->begins));
    return found;
}

static void say_no_ir(struct finder *f, const struct source *s, const struct log_scan *scan) {
    if (inputs_say_other(s, scan, &f->out->diags))
        f->out->failed = true;
    else
        complain(f, SEV_ERROR, s->path, NULL, "has no ops of TTIR or TTNN");
}

/* What is neither TTIR nor TTNN is passed over where a directory or an archive has more, a report in any case. */
static bool take_source(struct finder *f, struct source *s, bool alone) {
    struct log_scan scan = {0};
    uint32_t ttir = 0, ttnn = 0;
    bool report = is_report(s);
    if (!report)
        log_scan(s, &f->out->arena, &scan);
    for (uint32_t i = 0; i < scan.nblocks; i++) {
        ttnn += scan.blocks[i].chosen && scan.blocks[i].has_ttnn;
        ttir += scan.blocks[i].chosen && scan.blocks[i].has_ttir && !scan.blocks[i].has_ttnn;
    }
    if (ttir && ttnn)
        add_pair(f, NULL, s->path);
    else if (ttir + ttnn) {
        add_module(f, ttir ? &f->ttir : &f->ttnn, s, &scan, ttir + ttnn);
        return true;
    } else if (alone && !report)
        say_no_ir(f, s, &scan);
    source_close(s);
    return report || (ttir && ttnn);
}

static void read_input(struct finder *f, const struct fa_inputs *in, size_t input, bool alone) {
    struct source_list list = {0};
    bool any = false;
    if (!source_read(&list, in, input, &f->out->diags)) {
        f->out->failed = true;
        return;
    }
    for (uint32_t i = 0; i < list.n; i++)
        any |= take_source(f, &list.items[i], alone && list.n == 1);
    if (!any && alone && list.n != 1)
        complain(f, SEV_ERROR, in->files[input], NULL, "has no ops of TTIR or TTNN");
    free(list.items);
}

static int compare_modules(const void *pa, const void *pb) {
    const struct pair_module *const *a = pa, *const *b = pb;
    return strcmp((*a)->path, (*b)->path);
}

static void sort_modules(struct pair_modules *all) {
    if (all->n)
        qsort(all->items, all->n, sizeof(struct pair_module *), compare_modules);
}

/* ---- pairing ---- */

struct possible_pair {
    uint32_t ttir, ttnn;
    uint32_t paired, origins; /* ops of the TTNN that descend from the TTIR */
};

struct possible_pairs {
    struct possible_pair *items;
    uint32_t n, cap;
};

/* The best first; those that are equal in the order of their paths. */
static int compare_candidates(const void *pa, const void *pb) {
    const struct possible_pair *a = pa, *b = pb;
    int c = (a->paired < b->paired) - (a->paired > b->paired);
    if (c == 0)
        c = (a->origins < b->origins) - (a->origins > b->origins);
    if (c == 0)
        c = (a->ttnn > b->ttnn) - (a->ttnn < b->ttnn);
    return c ? c : (a->ttir > b->ttir) - (a->ttir < b->ttir);
}

/* Adds to *out what of the TTNN descends from the TTIR. False: they are not of one compile, for all that is seen; tests
 * of a compiler have equal signatures by the dozen. */
static bool levels_agree(const struct level_pair *levels, struct diags *unsaid, struct possible_pair *out) {
    struct pairing p = {.ttir = NULL};
    bool agree = signatures_agree(levels, unsaid);
    if (agree) {
        pair_build(&p, &levels->ttir->graph, &levels->ttnn->graph, true);
        uint32_t npaired = p.nlocation + p.ndataflow;
        agree = origins_suffice(levels, &p, unsaid) && (npaired || p.norigins || !p.nunpaired);
        out->paired += npaired;
        out->origins += p.norigins;
    }
    pair_free(&p);
    return agree;
}

/* Of files with several modules: each of TTNN has a partner by its name, as an audit of the two wants it. */
static bool graphs_agree(struct pair_module *ttir, struct pair_module *ttnn, struct diags *unsaid,
                         struct possible_pair *out) {
    const uint32_t *partners = log_partners(&ttir->scan, &ttnn->scan, unsaid->arena);
    bool agree = ttir->nmodules == ttnn->nmodules;
    for (uint32_t i = 0; i < ttnn->scan.nblocks && agree; i++) {
        if (!ttnn->scan.blocks[i].chosen)
            continue;
        struct level before = {.present = false}, after = {.present = false};
        agree = partners[i] != NONE;
        if (agree) {
            level_read(&before, &(struct level_text){&ttir->scan.blocks[partners[i]], &ttir->source}, unsaid);
            level_read(&after, &(struct level_text){&ttnn->scan.blocks[i], &ttnn->source}, unsaid);
            agree = levels_agree(&(struct level_pair){&before, &after, 0}, unsaid, out);
        }
        level_free(&before);
        level_free(&after);
    }
    return agree;
}

static void add_if_possible(struct finder *f, uint32_t ttir, uint32_t ttnn, struct possible_pairs *out) {
    struct pair_module *before = f->ttir.items[ttir], *after = f->ttnn.items[ttnn];
    struct possible_pair x = {.ttir = ttir, .ttnn = ttnn};
    struct diags unsaid = {.arena = &f->out->arena, .limit = 1};
    bool one = before->nmodules == 1 && after->nmodules == 1;
    if (one ? levels_agree(&(struct level_pair){&before->level, &after->level, 0}, &unsaid, &x)
            : graphs_agree(before, after, &unsaid, &x)) {
        out->items = grow(out->items, &out->cap, out->n + 1, sizeof *out->items);
        out->items[out->n++] = x;
    }
    diags_free(&unsaid);
}

/* Of files with several modules it is not known. */
static bool have_the_same_ops(const struct pair_module *a, const struct pair_module *b) {
    return a->nmodules == 1 && b->nmodules == 1 && a->ops == b->ops;
}

/* Takes the best pairs of which neither has a partner yet; then what is left goes with a TTIR that has one. */
static void choose(struct finder *f, const struct possible_pairs *all) {
    for (uint32_t i = 0; i < all->n; i++) {
        struct pair_module *ttir = f->ttir.items[all->items[i].ttir], *ttnn = f->ttnn.items[all->items[i].ttnn];
        if (!ttir->partner && !ttnn->partner) {
            ttir->partner = ttnn;
            ttnn->partner = ttir;
        }
    }
    for (uint32_t i = 0; i < all->n; i++) {
        struct pair_module *ttir = f->ttir.items[all->items[i].ttir], *ttnn = f->ttnn.items[all->items[i].ttnn];
        if (ttnn->partner)
            continue;
        ttnn->partner = ttir;
        for (uint32_t k = 0; k < f->ttnn.n; k++)
            if (f->ttnn.items[k] != ttnn && f->ttnn.items[k]->partner == ttir &&
                have_the_same_ops(f->ttnn.items[k], ttnn))
                ttnn->same = f->ttnn.items[k];
    }
}

static void say_pairs(struct finder *f) {
    for (uint32_t i = 0; i < f->ttnn.n; i++) {
        struct pair_module *m = f->ttnn.items[i];
        if (m->same)
            complain(f, SEV_NOTE, m->path, NULL,
                     arena_printf(&f->out->arena, "has the ops of %s: audited once", m->same->path).p);
        else if (m->partner)
            add_pair(f, m->partner->path, m->path);
        else
            complain(f, SEV_ERROR, m->path, "--ttnn-only audits one TTNN file without TTIR",
                     "no TTIR that was given belongs to this TTNN");
    }
    for (uint32_t i = 0; i < f->ttir.n; i++)
        if (!f->ttir.items[i]->partner)
            complain(f, SEV_ERROR, f->ttir.items[i]->path, "--ttir-only audits one TTIR file without TTNN",
                     "no TTNN that was given belongs to this TTIR");
}

static void modules_free(struct pair_modules *all) {
    for (uint32_t i = 0; i < all->n; i++) {
        level_free(&all->items[i]->level);
        source_close(&all->items[i]->source);
        free(all->items[i]);
    }
    free(all->items);
}

static int compare_pairs(const void *pa, const void *pb) {
    const struct fa_pair *a = pa, *b = pb;
    return strcmp(a->ttnn, b->ttnn);
}

static void read_path(struct finder *f, const struct fa_inputs *o, const char *path) {
    struct paths paths = {0};
    add_files(f, path, &paths);
    struct fa_inputs found = {.files = paths.items, .nfiles = paths.n, .max_input = o->max_input};
    for (uint32_t k = 0; k < paths.n; k++)
        read_input(f, &found, k, paths.n == 1);
    free(paths.items);
}

static void find_pairs(struct finder *f, const struct fa_inputs *o) {
    struct possible_pairs all = {0};
    for (size_t i = 0; i < o->nfiles; i++)
        if (o->contents && o->contents[i].data)
            read_input(f, o, i, true);
        else
            read_path(f, o, o->files[i]);
    sort_modules(&f->ttir);
    sort_modules(&f->ttnn);
    for (uint32_t i = 0; i < f->ttnn.n; i++)
        for (uint32_t k = 0; k < f->ttir.n; k++)
            add_if_possible(f, k, i, &all);
    if (all.n)
        qsort(all.items, all.n, sizeof *all.items, compare_candidates);
    choose(f, &all);
    say_pairs(f);
    if (o->nfiles && !f->out->n && !f->out->failed)
        complain(f, SEV_ERROR, o->files[0], NULL,
                 o->nfiles == 1 ? "has no ops of TTIR or TTNN"
                                : "neither it nor what is given with it has ops of TTIR or TTNN");
    if (f->out->n)
        qsort(f->out->items, f->out->n, sizeof *f->out->items, compare_pairs);
    free(all.items);
    modules_free(&f->ttir);
    modules_free(&f->ttnn);
}

/* ---- as fusion_audit.h has it ---- */

struct fa_pairs *fa_find_pairs(const struct fa_pairs_options *options) {
    IN_C_LOCALE;
    struct fa_pairs *p = xcalloc(1, sizeof *p);
    p->diags.arena = &p->arena;
    p->diags.limit = options->max_diagnostics;
    struct finder f = {.out = p};
    find_pairs(&f, &options->inputs);
    return p;
}

bool fa_pairs_failed(const struct fa_pairs *p) {
    return p->failed;
}

size_t fa_pairs_count(const struct fa_pairs *p) {
    return p->n;
}

struct fa_pair fa_get_pair(const struct fa_pairs *p, size_t i) {
    return p->items[i];
}

const struct fa_diagnostics *fa_pairs_diagnostics(const struct fa_pairs *p) {
    return diagnostics_of(&p->diags);
}

void fa_pairs_free(struct fa_pairs *p) {
    if (!p)
        return;
    free(p->items);
    diags_free(&p->diags);
    arena_free(&p->arena);
    free(p);
}
