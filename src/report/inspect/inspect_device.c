/* What a module says of its device, and the layouts of its values. Each layout is read once for each type that has it.
 */
#include "report/inspect/inspect.h"

#include <stdlib.h>
#include <string.h>

/* What is known of one type. */
struct typed {
    bool asked, read, fits;
    bool open;  /* an alias of it is not defined, which the table of aliases says */
    bool other; /* it is no layout, but how a tensor is cut over a mesh, say */
    struct layout layout;
    int64_t bytes;
};

static const struct typed *typed_of(struct typed *all, const struct mlir *m, uint32_t type, int64_t align) {
    const struct mlir_type *t = &m->types[type];
    struct typed *x = &all[type];
    struct str alias;
    if (!x->asked && t->encoding.n) {
        x->other = !layout_is_one(m, t->encoding);
        x->open = mlir_unresolved(m, t->encoding, &alias);
        x->read = layout_read(m, t->encoding, &x->layout);
        x->fits = x->read && (!t->ranked || layout_settle(&x->layout, m->dims + t->first_dim, t->rank));
        x->bytes = x->read ? layout_bytes(&x->layout, align) : -1;
    }
    x->asked = true;
    return x;
}

static bool alike(const struct layout *a, const struct layout *b) {
    return a->memory == b->memory && a->sharding == b->sharding && a->dtype == b->dtype &&
           a->tile_height == b->tile_height && a->tile_width == b->tile_width && a->rank == b->rank &&
           memcmp(a->grid, b->grid, a->rank * sizeof *a->grid) == 0;
}

static void count(struct device_facts *f, const struct typed *x) {
    uint32_t i = 0;
    while (i < f->nlayouts && !alike(&f->layouts[i].layout, &x->layout))
        i++;
    if (i == f->nlayouts) {
        f->layouts = grow(f->layouts, &f->layouts_cap, f->nlayouts + 1, sizeof *f->layouts);
        f->layouts[f->nlayouts++] = (struct layout_count){.layout = x->layout};
    }
    f->layouts[i].n++;
    if (x->bytes > 0 && f->layouts[i].bytes < INT64_MAX - x->bytes)
        f->layouts[i].bytes += x->bytes;
}

static int most_first(const void *a, const void *b) {
    const struct layout_count *x = a, *y = b;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return memcmp(&x->layout, &y->layout, offsetof(struct layout, has_map));
}

struct device_facts inspect_device(const struct graph *g, const struct chips *chips, struct arena *a) {
    const struct mlir *m = g->m;
    struct device_facts f = {.known = false};
    struct typed *types = xcalloc(m->ntypes + (size_t)1, sizeof *types);
    f.known = device_of_module(chips, g, &f.device);
    worker_grid_of_module(g, &f.grid);
    for (uint32_t v = 0; v < m->nvalues; v++) {
        if (!m->types[m->values[v].type].encoding.n)
            continue;
        const struct typed *x = typed_of(types, m, m->values[v].type, f.known ? f.device.chip.dram_align : 1);
        f.unread += !x->read && !x->open && !x->other;
        f.inconsistent += x->read && !x->fits;
        if (x->read)
            count(&f, x);
    }
    free(types);
    struct layout_count *kept = arena_alloc(a, (f.nlayouts + (size_t)1) * sizeof *kept);
    if (f.nlayouts) {
        qsort(f.layouts, f.nlayouts, sizeof *f.layouts, most_first);
        memcpy(kept, f.layouts, f.nlayouts * sizeof *kept);
    }
    free(f.layouts);
    f.layouts = kept;
    return f;
}
