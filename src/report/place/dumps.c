#include "report/place/dumps.h"

#include <stdlib.h>

#include "ir/graph/level.h"

enum { SIDES = 2, PASSES = 4 };

/* The modules before the last run of a pass, and behind it. */
struct dumped {
    struct str pass;
    const struct log_block *blocks[SIDES]; /* NULL: there is none */
    struct level levels[SIDES];
    struct diags diags[SIDES];
};

struct dumps {
    const struct log_scan *scan;
    const struct source *source;
    const struct compile *compile;
    struct arena arena;
    struct dumped passes[PASSES];
    uint32_t n;
};

struct dumps *dumps_new(const struct inputs *in, const struct compile *c) {
    struct dumps *d = NULL;
    for (size_t i = 0; i < in->nfiles && !d && c->ttnn.block; i++)
        if (&in->files[i].source == c->ttnn.source) {
            d = xcalloc(1, sizeof *d);
            d->scan = &in->files[i].scan;
            d->source = c->ttnn.source;
            d->compile = c;
        }
    return d;
}

void dumps_free(struct dumps *d) {
    for (uint32_t i = 0; d && i < d->n; i++)
        for (int k = 0; k < SIDES; k++) {
            level_free(&d->passes[i].levels[k]);
            diags_free(&d->passes[i].diags[k]);
        }
    if (d)
        arena_free(&d->arena);
    free(d);
}

static bool is_dump(const struct dumps *d, uint32_t i) {
    const struct log_block *b = &d->scan->blocks[i];
    return b->graph == d->compile->ttnn.block->graph && b->complete && b->has_ops &&
           (b->stage == LOG_PASS_BEFORE || b->stage == LOG_PASS_AFTER);
}

/* The one in front of a block of the log, or behind it. */
static const struct log_block *next_dump(const struct dumps *d, uint32_t i, int step) {
    for (int64_t k = (int64_t)i + step; k >= 0 && k < (int64_t)d->scan->nblocks; k += step)
        if (is_dump(d, (uint32_t)k))
            return &d->scan->blocks[k];
    return NULL;
}

static void find_blocks(const struct dumps *d, struct dumped *p) {
    for (uint32_t i = d->scan->nblocks; i-- > 0;) {
        const struct log_block *b = &d->scan->blocks[i];
        if (!is_dump(d, i) || !str_eq(b->label, p->pass))
            continue;
        bool before = b->stage == LOG_PASS_BEFORE;
        p->blocks[0] = before ? b : next_dump(d, i, -1);
        p->blocks[1] = before ? next_dump(d, i, 1) : b;
        return;
    }
}

static struct dumped *dumped_of(struct dumps *d, struct str pass) {
    for (uint32_t i = 0; i < d->n; i++)
        if (str_eq(d->passes[i].pass, pass))
            return &d->passes[i];
    if (d->n == PASSES)
        return NULL;
    struct dumped *p = &d->passes[d->n++];
    *p = (struct dumped){.pass = pass};
    find_blocks(d, p);
    for (int k = 0; k < SIDES; k++) {
        p->diags[k] = (struct diags){.arena = &d->arena};
        if (p->blocks[k])
            level_read(&p->levels[k], &(struct level_text){p->blocks[k], d->source}, &p->diags[k]);
    }
    return p;
}

static struct str location_of(const struct mlir *m, uint32_t op) {
    enum { MOST = 8 };
    struct str names[MOST];
    int n = mlir_loc_names(m, op, names, MOST);
    return n > 0 && n <= MOST ? names[n - 1] : STR("");
}

static struct str type_of(const struct mlir *m, uint32_t op) {
    const struct mlir_op *o = &m->ops[op];
    return o->nresults ? m->types[m->values[o->first_result].type].text : STR("");
}

/* Ops of this name and type: all, and those of this location. */
struct alike_ops {
    uint32_t n, here;
    uint64_t line; /* of the first one here, else of the first one */
};

static struct alike_ops find_ops(const struct mlir *dump, const struct mlir *m, uint32_t op) {
    struct alike_ops out = {.n = 0};
    struct str where = location_of(m, op);
    for (uint32_t i = 0; i < dump->nops; i++) {
        if (!str_eq(mlir_op_name(dump, i), mlir_op_name(m, op)) || !str_eq(type_of(dump, i), type_of(m, op)))
            continue;
        bool here = where.n && str_eq(location_of(dump, i), where);
        if (out.n++ == 0 || (here && !out.here))
            out.line = mlir_place(dump, dump->ops[i].text.begin).line;
        out.here += here;
    }
    return out;
}

/* Each op is there on both sides; where the dumps have no locations, all that are like it. */
struct around dumps_around(struct dumps *d, struct str pass, const struct match *m) {
    struct around out = {.kind = AROUND_UNKNOWN};
    struct dumped *p = d && m && pass.n ? dumped_of(d, pass) : NULL;
    if (!p || !p->levels[0].present || !p->levels[1].present)
        return out;
    bool left = true, none = true;
    for (uint32_t i = 0; i < m->nops; i++) {
        struct alike_ops before = find_ops(&p->levels[0].ir, m->graph->m, m->ops[i]),
                         behind = find_ops(&p->levels[1].ir, m->graph->m, m->ops[i]);
        left &= before.n > 0 && (before.here || behind.here ? before.here && behind.here : before.n == behind.n);
        none &= before.n == 0;
        out.before = before.line;
        out.behind = behind.line;
    }
    if (left)
        out.kind = AROUND_LEFT;
    else if (none) {
        out.kind = AROUND_BEHIND;
        out.before = p->blocks[0]->first_line;
    }
    return out;
}
