/* The fused form of a pattern on what a match binds. A name of the form is the value of that name in the match, seen
 * along the axes of the formula; an op that the form has from the graph works in axes of its own, so the form may be
 * evaluated in those instead. */
#include "prove/form.h"

#include <math.h>
#include <string.h>

#include "library/lowering.h"
#include "prove/devices.h"

static const struct formula *formula_of(const struct match *m) {
    return m->pattern->is_variant ? &m->pattern->variant_of->formula : &m->pattern->formula;
}

const struct formula *form_pattern(const struct proof *p) {
    return formula_of(p->match);
}

uint32_t form_slot(const struct proof *p, uint32_t fused_slot) {
    struct str name = p->fused->slot_name[fused_slot];
    return name.n ? formula_slot(formula_of(p->match), name) : NONE;
}

bool form_is_bound(const struct proof *p, uint32_t slot) {
    const struct binding *b = slot == NONE ? NULL : &p->bound.slots[slot];
    return b && b->value != NONE && b->map && b->axes;
}

/* ---- index maps by enumeration ---- */

/* Every digit that the map depends on is one of an axis. */
static bool covers(const struct axes *axes, const struct imap *map) {
    struct imap all = {.n = axes->n ? axes->end[axes->n - 1] : 0};
    memcpy(all.t, axes->t, all.n * sizeof *all.t);
    for (uint32_t i = 0; i < all.n; i++)
        all.t[i].stride = 1;
    imap_canonical(&all);
    return imap_within(map, &all);
}

/* Index of the formula's axes to element of the value: the digits of each axis make the indices of the spaces, and the
 * map's terms take theirs out of these. */
static int64_t element_at(const struct axes *axes, const struct imap *map, const int64_t *at) {
    int64_t element = 0;
    for (uint32_t k = 0; k < map->n; k++) {
        const struct term *m = &map->t[k];
        int64_t index = 0;
        for (uint32_t d = 0; d < axes->n; d++)
            for (uint32_t j = axes_begin(axes, d); j < axes->end[d]; j++)
                if (axes->t[j].space == m->space)
                    index += at[d] / axes->t[j].stride % axes->t[j].size * axes->t[j].lo;
        element += index / m->lo % m->size * m->stride;
    }
    return element;
}

/* The same by tables, one for each axis, where what the axes add to an element does not depend on each other. */
struct road {
    const struct axes *axes;
    const struct imap *map;
    int64_t *at[MAX_RANK]; /* what an index of the axis adds; NULL: nothing, or there are no tables */
    bool tables;
};

static bool overlap(const struct term *t, const struct term *m) {
    return t->space == m->space && t->lo < m->lo * m->size && m->lo < t->lo * t->size;
}

/* Digits of one axis, or whole digits of several: a term of the map is a sum over them. */
static bool is_sum_over_axes(const struct axes *axes, const struct term *m) {
    uint32_t first = NONE;
    bool several = false, whole = true;
    for (uint32_t d = 0; d < axes->n; d++)
        for (uint32_t j = axes_begin(axes, d); j < axes->end[d]; j++) {
            const struct term *t = &axes->t[j];
            if (!overlap(t, m))
                continue;
            several |= first != NONE && first != d;
            first = d;
            whole &= t->lo >= m->lo && t->lo * t->size <= m->lo * m->size;
        }
    return !several || whole;
}

static bool adds(const struct axes *axes, const struct imap *map, uint32_t d) {
    bool found = false;
    for (uint32_t j = axes_begin(axes, d); j < axes->end[d]; j++)
        for (uint32_t k = 0; k < map->n; k++)
            found |= overlap(&axes->t[j], &map->t[k]);
    return found;
}

static int64_t *axis_table(struct arena *a, const struct axes *axes, const struct imap *map, uint32_t d) {
    int64_t n = axes_extent(axes, (int)d), at[MAX_RANK] = {0};
    int64_t *table = arena_alloc(a, (size_t)n * sizeof *table);
    for (at[d] = 0; at[d] < n; at[d]++)
        table[at[d]] = element_at(axes, map, at);
    return table;
}

static struct road road_along(struct arena *a, const struct axes *axes, const struct imap *map) {
    struct road r = {axes, map, {NULL}, true};
    for (uint32_t k = 0; k < map->n; k++)
        r.tables &= is_sum_over_axes(axes, &map->t[k]);
    for (uint32_t d = 0; d < axes->n && r.tables; d++)
        if (adds(axes, map, d))
            r.at[d] = axis_table(a, axes, map, d);
    return r;
}

static int64_t road_element(const struct road *r, const int64_t *at) {
    int64_t element = 0;
    if (!r->tables)
        return element_at(r->axes, r->map, at);
    for (uint32_t d = 0; d < r->axes->n; d++)
        element += r->at[d] ? r->at[d][at[d]] : 0;
    return element;
}

static struct shape shape_of_axes(const struct axes *axes) {
    struct shape s = {.rank = axes->n};
    for (uint32_t d = 0; d < axes->n; d++)
        s.dim[d] = axes_extent(axes, (int)d);
    return s;
}

static bool same_axes(const struct axes *a, const struct axes *b) {
    uint32_t n = a->n ? a->end[a->n - 1] : 0;
    if (a->n != b->n || memcmp(a->end, b->end, a->n * sizeof *a->end) != 0)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (a->t[i].space != b->t[i].space || a->t[i].lo != b->t[i].lo || a->t[i].size != b->t[i].size ||
            a->t[i].stride != b->t[i].stride)
            return false;
    return true;
}

static bool shape_in_graph(const struct proof *p, uint32_t value, struct shape *s) {
    uint32_t rank;
    const int64_t *dims = graph_shape(p->match->graph, value, &rank);
    if (!dims || rank > TENSOR_RANK || graph_numel(p->match->graph, value) < 0)
        return false;
    *s = (struct shape){.rank = rank};
    memcpy(s->dim, dims, rank * sizeof *dims);
    return true;
}

/* ---- a name along the formula's axes ---- */

/* The same axis, or one of which it is a part. */
static bool axis_meant(const struct axes *axes, const struct axes *root, uint32_t d) {
    struct imap mine, roots;
    axes_axis(axes, (int)d, &mine);
    axes_axis(root, (int)d, &roots);
    return imap_equal(&mine, &roots) || match_axis_is_cut(&mine);
}

/* The axes of a root, which operands of a product have not. */
static bool are_axes_of(const struct axes *axes, const struct axes *root) {
    bool same = axes->n == root->n;
    for (uint32_t d = 0; same && d < axes->n; d++)
        same = axis_meant(axes, root, d);
    return same;
}

static bool works_across(const struct proof *p, const struct axes *axes) {
    return p->work_axis != NONE && are_axes_of(axes, p->root_axes);
}

/* The axis that the match works along is the last one of the fused form. What varies along none of the formula's axes
 * varies along one that a reduction took away. */
static bool form_axes(const struct proof *p, const struct binding *b, struct axes *out) {
    struct term gone[MAX_TERMS];
    uint32_t ngone = 0;
    int64_t stride = 1;
    bool across = works_across(p, b->axes);
    for (uint32_t i = 0; i < b->map->n && !covers(b->axes, b->map); i++) {
        struct imap one = {.n = 1, .t = {b->map->t[i]}};
        if (covers(b->axes, &one))
            continue;
        gone[ngone++] = (struct term){one.t[0].space, one.t[0].lo, one.t[0].size, stride};
        stride *= one.t[0].size;
    }
    axes_clear(out);
    for (uint32_t d = 0; d < b->axes->n; d++)
        if ((d != p->work_axis || !across) &&
            !axes_add(out, b->axes->t + axes_begin(b->axes, d), b->axes->end[d] - axes_begin(b->axes, d)))
            return false;
    if (ngone)
        return axes_add(out, gone, ngone);
    uint32_t d = p->work_axis;
    return !across || axes_add(out, b->axes->t + axes_begin(b->axes, d), b->axes->end[d] - axes_begin(b->axes, d));
}

static const struct tensor *outside(struct proof *p, struct str name) {
    bench_fail(&p->bench, "%.*s varies along more than the axes of the formula", (int)name.n, name.p);
    return NULL;
}

/* The axes of the root of some line. */
static bool are_root_axes(const struct proof *p, const struct axes *axes) {
    const struct formula *f = formula_of(p->match);
    bool found = are_axes_of(axes, p->root_axes);
    for (uint32_t i = 0; i < f->nsecondary && !found; i++) {
        const struct axes *also = f->also[i].node->kind == N_NAMED ? p->bound.slots[f->also[i].node->slot].axes : NULL;
        found = also && are_axes_of(axes, also);
    }
    return found;
}

/* Extents of the axes; one where a value beside the root does not vary, but for the last axis: it broadcasts. */
static struct shape shape_beside_root(const struct proof *p, const struct binding *b, const struct axes *axes) {
    struct shape s = shape_of_axes(axes);
    for (uint32_t d = 0; d + 1 < s.rank && are_root_axes(p, b->axes); d++) {
        struct imap axis;
        axes_axis(axes, (int)d, &axis);
        if (!imap_touches(b->map, &axis))
            s.dim[d] = 1;
    }
    return s;
}

static const struct tensor *along_axes(struct proof *p, const struct binding *b, const struct tensor *t,
                                       struct str name) {
    struct axes axes;
    struct index_walk w;
    if (!form_axes(p, b, &axes) || !covers(&axes, b->map))
        return outside(p, name);
    struct shape s = shape_beside_root(p, b, &axes);
    struct tensor *out = tensor_new(&p->bench, &s);
    if (!out)
        return NULL;
    struct road road = road_along(p->bench.arena, &axes, b->map);
    walk_begin(&w, &s);
    for (int64_t i = 0; walk_more(&w); walk_next(&w), i++) {
        int64_t element = road_element(&road, w.at);
        if (element < 0 || element >= t->n)
            return outside(p, name);
        out->x[i] = t->x[element];
    }
    return out;
}

/* ---- a name along the axes of an op of the graph ---- */

/* One element only along each axis that the tensor does not vary along: it broadcasts. */
static const struct tensor *collapsed(struct proof *p, const struct tensor *t) {
    struct view v = view_of(t);
    for (uint32_t d = 0; d < t->shape.rank; d++) {
        int64_t stride = v.stride[d];
        bool varies = false;
        for (int64_t i = 0; i < t->n && !varies && t->shape.dim[d] > 1; i++)
            if (i / stride % t->shape.dim[d] > 0)
                varies = t->x[i] != t->x[i - stride];
        if (!varies)
            v.shape.dim[d] = 1;
    }
    return view_copy(&p->bench, v);
}

/* The element of the frame's value that the root has at an index of its axes. Behind a batch normalisation, which
 * leaves elements where they are, the index is that of its operand. */
static int64_t frame_element(const struct proof *p, const int64_t *at) {
    const struct binding *f = &p->bound.slots[p->frame.slot];
    if (p->frame.behind == NONE)
        return element_at(p->root_axes, f->map, at);
    int64_t index = element_at(p->root_axes, p->bound.slots[p->frame.behind].map, at), element = 0;
    for (uint32_t k = 0; k < f->map->n; k++)
        element += index / f->map->t[k].lo % f->map->t[k].size * f->map->t[k].stride;
    return element;
}

/* The value as a function of the elements of the frame's, each of which the root uses once. */
static const struct tensor *along_frame(struct proof *p, const struct binding *b, const struct tensor *t,
                                        struct str name) {
    const struct binding *f = &p->bound.slots[p->frame.slot];
    struct shape s, root = shape_of_axes(p->root_axes);
    struct index_walk w;
    if (!shape_in_graph(p, f->value, &s) || !covers(b->axes, b->map))
        return outside(p, name);
    struct tensor *out = tensor_new(&p->bench, &s);
    if (!out)
        return NULL;
    for (walk_begin(&w, &root); walk_more(&w); walk_next(&w)) {
        int64_t to = frame_element(p, w.at), from = element_at(b->axes, b->map, w.at);
        if (to < 0 || to >= out->n || from < 0 || from >= t->n)
            return outside(p, name);
        out->x[to] = t->x[from];
    }
    return collapsed(p, out);
}

/* Elements of the root, in order, of a result in the frame's axes. */
static const struct tensor *from_frame(struct proof *p, const struct tensor *t) {
    const struct binding *f = &p->bound.slots[p->frame.slot];
    struct shape s, both, root = shape_of_axes(p->root_axes);
    struct index_walk w;
    if (!shape_in_graph(p, f->value, &s) || !shape_broadcast(&p->bench, &s, &t->shape, &both) || !shape_eq(&s, &both))
        return t;
    struct view v = view_expanded(t, &s);
    const struct tensor *full = view_copy(&p->bench, v);
    struct tensor *out = full ? tensor_new(&p->bench, &root) : NULL;
    if (!out)
        return NULL;
    walk_begin(&w, &root);
    for (int64_t i = 0; walk_more(&w); walk_next(&w), i++)
        out->x[i] = full->x[frame_element(p, w.at)];
    return out;
}

/* Elements that a map tells apart. */
static int64_t map_size(const struct imap *map) {
    int64_t n = 1;
    for (uint32_t i = 0; i < map->n; i++)
        n *= map->t[i].size;
    return n;
}

static bool is_named_op(const struct proof *p, uint32_t slot) {
    return !formula_of(p->match)->slot_is_variable[slot] && form_is_bound(p, slot) && p->bound.slots[slot].op != NONE &&
           p->bound.slots[slot].line == 0;
}

/* Its elements and the root's are each other's, one for one. */
static bool is_seen_from_root(const struct proof *p, uint32_t slot) {
    const struct binding *b = &p->bound.slots[slot];
    struct shape s, root = shape_of_axes(p->root_axes);
    return is_named_op(p, slot) && covers(p->root_axes, b->map) && shape_in_graph(p, b->value, &s) &&
           map_size(b->map) == shape_count(&s) && shape_count(&s) == shape_count(&root);
}

/* A batch normalisation between the root and what has this name, which is seen along an index of its own; or NONE. */
static uint32_t behind(const struct proof *p, uint32_t slot) {
    const struct binding *b = &p->bound.slots[slot];
    const struct graph *g = p->match->graph;
    for (uint32_t i = 0; i < formula_of(p->match)->nslots && is_named_op(p, slot); i++) {
        bool norm = is_seen_from_root(p, i) && g->kind[p->bound.slots[i].op] == K_BATCH_NORM_INFERENCE;
        if (norm && map_size(b->map) == graph_numel(g, b->value) &&
            graph_numel(g, b->value) == map_size(p->bound.slots[i].map))
            return i;
    }
    return NONE;
}

static bool is_convolution(enum op_kind k) {
    return k == K_CONV1D || k == K_CONV2D || k == K_CONV3D || k == K_CONV_TRANSPOSE2D;
}

/* Ops that have axes of their own; those come first that the form is most likely about. */
static uint32_t frame_class(const struct graph *g, uint32_t op) {
    enum op_kind k = (enum op_kind)g->kind[op];
    return is_convolution(k)                                                      ? 0
           : op_table[k].class == OP_OPAQUE                                       ? 1
           : op_table[k].class == OP_CONTRACT || op_table[k].class == OP_AXISWISE ? 2
                                                                                  : NONE;
}

static const struct frame no_frame = {NONE, NONE};

static void find_frames(struct proof *p) {
    const struct graph *g = p->match->graph;
    for (uint32_t class = 0; class < 3; class ++) {
        if (class == 2)
            p->frames[p->nframes++] = no_frame;
        for (uint32_t i = 0; i < formula_of(p->match)->nslots && p->nframes + 1 < MAX_FRAMES; i++) {
            if (!is_named_op(p, i) || frame_class(g, p->bound.slots[i].op) != class)
                continue;
            bool seen = is_seen_from_root(p, i);
            uint32_t norm = seen || class > 0 ? NONE : behind(p, i);
            if (seen || norm != NONE)
                p->frames[p->nframes++] = (struct frame){i, norm};
        }
    }
}

/* ---- what the form says of the match in attributes ---- */

/* The one number that a leaf was given: what is an attribute of the fused op is known then. */
static double number_given(const void *self, uint32_t value) {
    const struct proof *p = self;
    for (uint32_t i = 0; i < p->nleaves; i++) {
        const struct tensor *t = p->given[i].tensor;
        bool one = p->given[i].value == value && t && t->n > 0;
        for (int64_t k = 1; one && k < t->n; k++)
            one = t->x[k] == t->x[0];
        if (one)
            return t->x[0];
    }
    return NAN;
}

static struct evaluation evaluation_of(const struct proof *p) {
    return (struct evaluation){.graph = p->match->graph,
                               .formula = formula_of(p->match),
                               .bindings = p->bound.slots,
                               .axes = p->root_axes,
                               .ops = p->match->ops,
                               .nops = p->match->nops,
                               .arena = p->arena,
                               .brief = true};
}

bool form_outside(const struct proof *p, enum outside what) {
    const struct pattern *pattern = p->match->pattern;
    struct evaluation e = evaluation_of(p);
    bool found = false;
    for (uint32_t i = 0; i < pattern->noutside && !found; i++)
        found = pattern->outside[i].what == what &&
                (!pattern->outside[i].when || evaluate(&e, pattern->outside[i].when) != 0);
    return found;
}

static bool form_number(const void *self, struct str text, double *out) {
    const struct proof *p = self;
    struct evaluation e = evaluation_of(p);
    e.number_of = number_given;
    e.self = p;
    const struct number *n = number_of_text(p->like.numbers, e.formula, text, p->arena);
    *out = n ? evaluate(&e, n) : NAN;
    return n && !isnan(*out);
}

static const struct binding *matched_pad(const struct proof *p, struct str name) {
    uint32_t slot = name.n ? formula_slot(formula_of(p->match), name) : NONE;
    const struct binding *b = form_is_bound(p, slot) ? &p->bound.slots[slot] : NULL;
    return b && b->op != NONE && p->match->graph->kind[b->op] == K_PAD ? b : NULL;
}

static struct str attribute_written(const struct node *n, const char *key) {
    for (uint32_t i = 0; i < n->nattrs; i++)
        if (strcmp(n->attrs[i].key, key) == 0)
            return n->attrs[i].value;
    return STR("");
}

static uint32_t op_of_kind(const struct proof *p, enum op_kind k) {
    for (uint32_t i = 0; i < p->match->nops; i++)
        if (p->match->graph->kind[p->match->ops[i]] == k)
            return p->match->ops[i];
    return NONE;
}

/* Of the names that are listed, the operator of the first that is there. */
static struct str activation_named(const struct proof *p, struct str names) {
    while (names.n) {
        const char *comma = memchr(names.p, ',', names.n);
        struct str name = {names.p, comma ? (size_t)(comma - names.p) : names.n};
        uint32_t slot = formula_slot(formula_of(p->match), str_trim(name));
        if (slot != NONE && p->bound.slots[slot].op != NONE)
            return str_of(op_table[p->match->graph->kind[p->bound.slots[slot].op]].name);
        names.p += name.n + (comma != NULL);
        names.n -= name.n + (comma != NULL);
    }
    return STR("");
}

/* padding="p" and activation="act" speak of matched ops: what is not there is as the op of the graph has it. */
static bool form_attribute(const void *self, const struct node *n, const char *key, struct str *out) {
    const struct proof *p = self;
    struct str written = attribute_written(n, key), list = attribute_written(n, "padding");
    const struct binding *pad = matched_pad(p, list);
    uint32_t op = pad || written.n ? op_of_kind(p, n->op) : NONE;
    if (strcmp(key, "activation") == 0 && written.n) {
        *out = activation_named(p, written);
        return true;
    }
    if (pad)
        return op != NONE && form_padding(p, op, pad, key, out);
    if (strcmp(key, "padding") != 0 || op == NONE || formula_slot(formula_of(p->match), written) == NONE)
        return false;
    *out = STR("");
    mlir_attr(p->match->graph->m, op, key, out);
    return true;
}

/* The op whose first operand is this name and takes up a matched pad; NULL when there is none. */
static const struct node *padded_op(const struct proof *p, const struct node *n, uint32_t fused_slot) {
    if (n->kind == N_OP && n->nargs && n->args[0]->kind == N_VARIABLE && n->args[0]->slot == fused_slot &&
        matched_pad(p, attribute_written(n, "padding")))
        return n;
    const struct node *found = NULL;
    for (uint32_t i = 0; i < n->nargs && !found; i++)
        found = padded_op(p, n->args[i], fused_slot);
    return found;
}

/* ---- names ---- */

/* Ops whose first operand is a tensor as it is printed, whatever the axes of the formula are. */
static bool takes_whole(enum op_kind k) {
    static const enum op_kind kinds[] = {K_CONCATENATE_HEADS,
                                         K_NLP_CONCAT_HEADS,
                                         K_NLP_CONCAT_HEADS_DECODE,
                                         K_NLP_CREATE_QKV_HEADS_DECODE,
                                         K_SPLIT_QUERY_KEY_VALUE_AND_SPLIT_HEADS,
                                         K_GLOBAL_AVG_POOL2D,
                                         K_PERMUTE,
                                         K_TRANSPOSE,
                                         K_REPEAT,
                                         K_REPEAT_INTERLEAVE,
                                         K_TOPK,
                                         K_UPDATE_CACHE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i] == k)
            return true;
    return false;
}

/* The operand is this name, reshaped or not. */
static bool is_name(const struct node *n, uint32_t slot) {
    if (n->kind == N_VARIABLE)
        return n->slot == slot;
    for (uint32_t i = 0; i < n->nargs && n->kind == N_EITHER; i++)
        if (is_name(n->args[i], slot))
            return true;
    return n->nargs && (n->kind == N_NAMED || (n->kind == N_OP && n->op == K_RESHAPE)) && is_name(n->args[0], slot);
}

static bool is_taken_whole(const struct node *n, uint32_t slot) {
    if (n->kind == N_OP && takes_whole(n->op) && n->nargs && is_name(n->args[0], slot))
        return true;
    for (uint32_t i = 0; i < n->nargs; i++)
        if (is_taken_whole(n->args[i], slot))
            return true;
    return false;
}

static bool known_constant(const struct graph *g, uint32_t value, const struct tensor *t) {
    if (!graph_constant(g, value).known)
        return false;
    for (int64_t i = 1; i < t->n; i++)
        if (t->x[i] != t->x[0])
            return false;
    return t->n > 0;
}

/* Of its own result the fused form may ask extents only. */
static const struct tensor *no_number(struct bench *b, const struct tensor *like) {
    struct tensor *t = like ? tensor_copy(b, like) : NULL;
    for (int64_t i = 0; t && i < t->n; i++)
        t->x[i] = NAN;
    return t;
}

/* Beside a convolution a number for each channel is a row, wherever the channels are; but for what it convolves. */
static const struct tensor *by_channel(struct proof *p, const struct binding *b, const struct tensor *t) {
    const struct graph *g = p->match->graph;
    uint32_t op = p->frame.slot == NONE ? NONE : p->bound.slots[p->frame.slot].op, wide = 0;
    if (op == NONE || !is_convolution((enum op_kind)g->kind[op]) || b->value == graph_operands(g, op)[0] ||
        b->value == graph_operands(g, op)[1])
        return t;
    const struct tensor *one = collapsed(p, t);
    for (uint32_t d = 0; one && d < one->shape.rank; d++)
        wide += one->shape.dim[d] > 1;
    return one && wide <= 1 ? tensor_reshape(&p->bench, one, &(struct shape){1, {one->n}}) : t;
}

static const struct tensor *name_value(struct proof *p, uint32_t fused_slot, const struct tensor *t) {
    const struct binding *b = &p->bound.slots[form_slot(p, fused_slot)];
    struct str name = p->fused->slot_name[fused_slot];
    const struct node *padded = padded_op(p, p->fused->root, fused_slot);
    const struct tensor *out;
    if (padded)
        out = form_unpadded(p, op_of_kind(p, padded->op), matched_pad(p, attribute_written(padded, "padding")), t);
    else if (p->whole[fused_slot])
        out = t;
    else if (t->n == 1 || known_constant(p->match->graph, b->value, t))
        out = tensor_scalar(&p->bench, t->x[0]);
    else if (p->frame.slot != NONE && same_axes(b->axes, p->root_axes))
        out = along_frame(p, b, t, name);
    else
        out = along_axes(p, b, t, name);
    out = out ? by_channel(p, b, out) : NULL;
    return b->value == form_root(p) ? no_number(&p->bench, out) : out;
}

/* ---- lines ---- */

/* The slot of the pattern that a line of the form is called like, where that is a value of the match. */
static uint32_t line_slot(const struct proof *p, const struct node *line) {
    uint32_t slot = line->kind == N_NAMED ? form_slot(p, line->slot) : NONE;
    return slot != NONE && !formula_of(p->match)->slot_is_variable[slot] && p->bound.slots[slot].value != NONE ? slot
                                                                                                               : NONE;
}

uint32_t form_root(const struct proof *p) {
    const struct match *m = p->match;
    uint32_t slot = line_slot(p, p->fused->root);
    if (slot != NONE && (p->bound.slots[slot].op != NONE || p->bound.slots[slot].line > 0))
        return p->bound.slots[slot].value;
    return m->graph->m->ops[m->root].first_result;
}

/* In the order of the root's own axes again. */
static const struct tensor *in_root_order(struct proof *p, const struct tensor *t) {
    uint32_t order[TENSOR_RANK], n = t->shape.rank;
    if (p->frame.slot != NONE)
        return from_frame(p, t);
    if (p->work_axis == NONE || n != p->root_axes->n || n < 2)
        return t;
    for (uint32_t d = 0; d < n; d++)
        order[d] = d < p->work_axis ? d : d == p->work_axis ? n - 1 : d - 1;
    struct view v = view_permuted(view_of(t), order);
    return view_copy(&p->bench, v);
}

/* The same elements in the same order: a fused op that moves data too is written without that. */
static bool line_outcome(struct proof *p, const struct tensor *want, const struct tensor *got, bool root,
                         struct outcome *out) {
    struct shape both;
    if (root && !(got = in_root_order(p, got)))
        return false;
    *out = (struct outcome){want, got};
    if (got->n == want->n) {
        out->got = tensor_reshape(&p->bench, got, &want->shape);
    } else if (got->n < want->n && shape_broadcast(&p->bench, &got->shape, &want->shape, &both) &&
               shape_eq(&both, &want->shape)) {
        struct view v = view_expanded(got, &want->shape);
        out->got = view_copy(&p->bench, v);
    }
    return out->got != NULL;
}

/* ---- both sides ---- */

struct sides {
    uint32_t values[2 * MAX_SLOTS], n;
    const struct tensor *tensors[2 * MAX_SLOTS];
    const struct tensor *slots[MAX_SLOTS];                 /* of the form, in the frame at hand */
    uint32_t at[MAX_SLOTS];                                /* by slot of the form: its place in `values`, or NONE */
    uint32_t line_at[MAX_OUTCOMES], line_of[MAX_OUTCOMES]; /* line_of: 0 the root, then the further ones */
    uint32_t nlines;
};

static void find_lines(const struct proof *p, struct sides *s) {
    s->values[s->n] = form_root(p);
    s->line_at[0] = s->n++;
    s->line_of[0] = 0;
    s->nlines = 1;
    for (uint32_t i = 0; i < p->fused->nsecondary && s->nlines < MAX_OUTCOMES; i++) {
        uint32_t slot = line_slot(p, p->fused->also[i].node);
        if (slot == NONE)
            continue;
        s->values[s->n] = p->bound.slots[slot].value;
        s->line_of[s->nlines] = i + 1;
        s->line_at[s->nlines++] = s->n++;
    }
}

static void find_names(const struct proof *p, struct sides *s) {
    for (uint32_t i = 0; i < p->fused->nslots; i++) {
        uint32_t slot = form_slot(p, i);
        s->at[i] = NONE;
        if (!p->fused->slot_is_variable[i] || !form_is_bound(p, slot))
            continue;
        s->values[s->n] = p->bound.slots[slot].value;
        s->at[i] = s->n++;
    }
}

static const struct tensor *line_value(const struct proof *p, const struct tensor **named,
                                       const struct tensor *const *results, uint32_t line) {
    return line == 0 ? results[0] : named[p->fused->also[line - 1].node->slot];
}

bool form_begin(struct proof *p) {
    struct sides *s = arena_alloc(p->bench.arena, sizeof *s);
    find_lines(p, s);
    find_names(p, s);
    struct program program = {
        .graph = p->match->graph, .given = p->given, .ngiven = p->nleaves, .ops = p->inside, .nops = p->ninside};
    p->sides = s;
    devices_begin(p, SIDE_MATCH);
    return interpret_values(&p->bench, &program, s->values, s->n, s->tensors);
}

bool form_names(struct proof *p) {
    struct sides *s = p->sides;
    for (uint32_t i = 0; i < p->fused->nslots; i++) {
        s->slots[i] = s->at[i] == NONE ? NULL : name_value(p, i, s->tensors[s->at[i]]);
        if (s->at[i] != NONE && !s->slots[i])
            return false;
    }
    return true;
}

uint32_t form_evaluate(struct proof *p, struct outcome out[MAX_OUTCOMES]) {
    const struct sides *s = p->sides;
    const struct tensor *named[MAX_SLOTS] = {NULL}, *results[MAX_RESULTS] = {NULL};
    struct formula_options how = {.context = &p->like, .choice = &p->choice, .named = named};
    devices_begin(p, SIDE_FORM);
    if (!formula_value_of(&p->bench, p->prover->set, p->fused, s->slots, &how, results))
        return 0;
    for (uint32_t i = 0; i < s->nlines; i++) {
        const struct tensor *got = line_value(p, named, results, s->line_of[i]);
        if (!got || !line_outcome(p, s->tensors[s->line_at[i]], got, i == 0, &out[i]))
            return 0;
    }
    return s->nlines;
}

/* ---- setting up ---- */

static bool axis_of(const struct graph *g, uint32_t op, int64_t *axis) {
    static const char *const keys[] = {"dim_arg", "dimension", "dim"};
    struct slice_bounds s;
    struct str text;
    int64_t list[2] = {0, 0};
    if (graph_class(g, op) == OP_SLICE && slice_bounds(g, op, &s) && s.ncut == 1) {
        for (uint32_t d = 0; d < s.rank; d++)
            if (s.cut[d])
                *axis = d;
        return true;
    }
    for (size_t k = 0; k < 3 && graph_class(g, op) != OP_SLICE; k++)
        if (mlir_attr(g->m, op, keys[k], &text) && (mlir_int(text, axis) || mlir_ints(text, list, 2) == 1)) {
            *axis = mlir_int(text, axis) ? *axis : list[0];
            return true;
        }
    return false;
}

/* Some operand is as it is printed, so that the result is, too. */
static bool is_as_printed(const struct proof *p) {
    bool found = false;
    for (uint32_t i = 0; i < p->fused->nslots && !found; i++)
        found = p->whole[i];
    return found;
}

/* A part by its bounds is along an axis that the form itself names. */
static bool says_bounds(const struct node *n) {
    bool says = n->kind == N_OP && n->op == K_SLICE && attribute_written(n, "begin").n > 0;
    for (uint32_t i = 0; i < n->nargs && !says; i++)
        says = says_bounds(n->args[i]);
    return says;
}

/* Of the first op that works along one axis of a tensor of the root's rank. */
static void find_work_axis(struct proof *p) {
    const struct graph *g = p->match->graph;
    struct shape s;
    int64_t axis = 0;
    p->work_axis = NONE;
    if (is_as_printed(p) || !shape_in_graph(p, form_root(p), &s) || s.rank != p->root_axes->n)
        return;
    uint32_t last = s.rank, rank = 0;
    while (last > 0 && s.dim[last - 1] == 1)
        last--;
    for (uint32_t i = 0; i < p->match->nops && p->work_axis == NONE; i++) {
        uint32_t op = p->match->ops[i];
        bool cuts = graph_class(g, op) == OP_SLICE && !says_bounds(p->fused->root);
        if (graph_class(g, op) != OP_REDUCE && !cuts && g->kind[op] != K_SOFTMAX)
            continue;
        if (!graph_shape(g, graph_operands(g, op)[0], &rank) || rank != s.rank)
            return;
        if (!axis_of(g, op, &axis))
            continue;
        axis += axis < 0 ? (int64_t)rank : 0;
        p->work_axis = axis >= 0 && axis < last ? (uint32_t)axis + s.rank - last : NONE;
    }
    if (p->work_axis != NONE && p->work_axis + 1 >= s.rank)
        p->work_axis = NONE;
}

const struct formula *form_read(struct proof *p, struct str text) {
    struct diags quiet = {.arena = p->arena};
    struct formula *f = arena_alloc(p->arena, sizeof *f);
    struct text_origin origin = {p->match->pattern->file.p, p->match->pattern->line, 0};
    bool good = fused_parse(f, p->arena, p->prover->set, text, origin, &quiet);
    if (!good)
        bench_fail(&p->bench, "`fused` or `holds` is no formula: %s", quiet.n ? quiet.items[0].message : "");
    diags_free(&quiet);
    return good ? f : NULL;
}

static bool read_form(struct proof *p) {
    p->fused = p->own ? formula_of(p->match) : form_read(p, p->match->pattern->fused);
    p->nfailed += p->fused == NULL;
    return p->fused != NULL;
}

bool form_prepare(struct proof *p) {
    const struct match *m = p->match;
    if (!read_form(p))
        return false;
    if (!match_bindings(m, p->arena, &p->bound))
        return bench_fail(&p->bench, "the match is not found again");
    p->root_axes = p->bound.slots[formula_of(m)->root->slot].axes;
    if (formula_of(m)->root->kind != N_NAMED || !p->root_axes)
        return bench_fail(&p->bench, "the root has no axes");
    struct number_memo *numbers = arena_alloc(p->arena, sizeof *numbers);
    numbers->arena = p->arena;
    p->like = (struct formula_context){m->graph, m->ops, m->nops, form_number, form_attribute, p, numbers};
    for (uint32_t i = 0; i < p->fused->nslots; i++)
        p->whole[i] = p->fused->slot_is_variable[i] && is_taken_whole(p->fused->root, i);
    find_work_axis(p);
    find_frames(p);
    p->frame = p->frames[0];
    return true;
}
