/* Finds the parts of a `device` attribute by their names. */
#include "device/chips/grid.h"

#include <string.h>

static bool part(struct str text, struct str name, struct str *rest) {
    const char *p = str_find(text, name);
    if (!p)
        return false;
    p += name.n;
    *rest = str_trim((struct str){p, text.n - (size_t)(p - text.p)});
    if (rest->n && *rest->p == '=')
        *rest = str_trim((struct str){rest->p + 1, rest->n - 1});
    return true;
}

/* From the first '<' to its partner, without both; an arrow is no bracket. */
static bool inside(struct str text, struct str *out) {
    const char *open = text.n ? memchr(text.p, '<', text.n) : NULL, *end = text.p + text.n;
    uint32_t depth = 0;
    for (const char *p = open; p && p < end; p++) {
        depth += *p == '<';
        if (*p == '>' && p[-1] != '-' && --depth == 0) {
            *out = (struct str){open + 1, (size_t)(p - open - 1)};
            return true;
        }
    }
    return false;
}

static int64_t count_items(struct str list) {
    struct str item;
    int64_t n = 0;
    const char *close = list.n && *list.p == '[' ? memchr(list.p, ']', list.n) : NULL;
    if (!close)
        return 0;
    list = (struct str){list.p + 1, (size_t)(close - list.p - 1)};
    while (mlir_item(&list, &item))
        n++;
    return n;
}

bool worker_grid_read(struct str text, struct worker_grid *out) {
    struct str grid, list, rest, item;
    *out = (struct worker_grid){0};
    if (!part(text, STR("workerGrid"), &grid) || !inside(grid, &list) || !mlir_item(&list, &item) ||
        !(out->rank = extents_read(item, out->extents, &rest)))
        return false;
    if (part(text, STR("meshShape"), &rest))
        out->mesh_rank = extents_read(rest, out->mesh, &rest);
    if (part(text, STR("chipIds"), &rest))
        out->chips = count_items(rest);
    return true;
}

bool worker_grid_of_module(const struct graph *g, struct worker_grid *out) {
    struct str text;
    for (uint32_t op = 0; op < g->m->nops; op++)
        if ((g->kind[op] == K_DEVICE && worker_grid_read(mlir_span(g->m, g->m->ops[op].text), out)) ||
            (g->kind[op] == K_MODULE && mlir_attr(g->m, op, "tt.device", &text) && worker_grid_read(text, out)))
            return true;
    return false;
}
