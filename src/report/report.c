/* Collects the entries of a report. An entry is found by its key in a hash table; the text of an instance goes to the
 * spool as it is added, so that memory grows by a few bytes for each instance. */
#include "report/report.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { TEXTS = 6 }; /* fields of struct instance_text */

struct report_index {
    char *key; /* the strings of the entry, each preceded by its length */
    uint32_t entry;
    UT_hash_handle hh;
};

static void key_add(struct buf *key, struct str s) {
    buf_add(key, (struct str){(const char *)&s.n, sizeof s.n});
    buf_add(key, s);
}

static struct str key_bytes(struct buf *out, const struct entry_key *key) {
    const struct classification *c = &key->class;
    out->n = 0;
    key_add(out, key->fused_op);
    key_add(out, key->source);
    for (uint32_t i = 0; i < key->component_ops.n; i++)
        key_add(out, key->component_ops.items[i]);
    const struct str more[] = {c->dialect_level, c->pass_status, c->owning_pass, c->existing_pattern};
    for (int i = 0; c->given && i < 4; i++)
        key_add(out, more[i]);
    return buf_str(out);
}

static void index_free(struct report *r) {
    struct report_index *item = r->index;
    HASH_CLEAR(hh, r->index);
    while (item) {
        struct report_index *next = item->hh.next;
        free(item->key);
        free(item);
        item = next;
    }
}

static void index_add(struct report *r, struct str key, uint32_t entry) {
    struct report_index *item = xrealloc(NULL, sizeof *item);
    *item = (struct report_index){.key = xrealloc(NULL, key.n), .entry = entry};
    memcpy(item->key, key.p, key.n);
    HASH_ADD_KEYPTR(hh, r->index, item->key, key.n, item);
}

/* Made anew when an instance is added after report_sort, which moves the entries. */
static void index_make(struct report *r) {
    for (uint32_t i = 0; i < r->nentries; i++)
        index_add(r, key_bytes(&r->key, &r->entries[i].key), i);
}

/* Number of the entry with this key, or NONE. */
static uint32_t index_find(struct report *r, struct str key) {
    struct report_index *item = NULL;
    HASH_FIND(hh, r->index, key.p, key.n, item);
    return item ? item->entry : NONE;
}

static void entry_add(struct report *r, const struct entry_key *key) {
    struct arena *a = &r->arena;
    const struct classification *c = &key->class;
    uint32_t n = key->component_ops.n;
    struct str *components = arena_alloc(a, (n + 1) * sizeof *components);
    for (uint32_t i = 0; i < n; i++)
        components[i] = arena_str(a, key->component_ops.items[i]);
    r->entries = grow(r->entries, &r->entries_cap, r->nentries + 1, sizeof *r->entries);
    r->entries[r->nentries++] =
        (struct report_entry){.key = {arena_str(a, key->fused_op),
                                      arena_str(a, key->source),
                                      {components, n},
                                      {c->given, arena_str(a, c->dialect_level), arena_str(a, c->pass_status),
                                       arena_str(a, c->owning_pass), arena_str(a, c->existing_pattern)}}};
}

/* In the spool an instance is the lengths of its texts and then the texts, in the order of struct instance_text.
 * Segments are appended in place: their lengths are known afterwards. */
static uint64_t store(struct report *r, const struct instance *in) {
    uint64_t sizes[TEXTS] = {in->ir_loc.n, 0, 0, in->notes.n, in->validation.n, in->cost.n};
    struct buf *out = &r->text;
    out->n = 0;
    buf_add(out, (struct str){(const char *)sizes, sizeof sizes});
    buf_add(out, in->ir_loc);
    size_t before = out->n;
    segment_text(&in->ttir, out);
    sizes[1] = out->n - before;
    before = out->n;
    segment_text(&in->ttnn, out);
    sizes[2] = out->n - before;
    buf_add(out, in->notes);
    buf_add(out, in->validation);
    buf_add(out, in->cost);
    memcpy(out->p, sizes, sizeof sizes);
    return spool_add(&r->spool, buf_str(out));
}

bool report_instance(struct report *r, const struct stored_instance *s, struct buf *buffer, struct instance_text *out) {
    uint64_t sizes[TEXTS], total = 0;
    if (!spool_read(&r->spool, s->at, sizeof sizes, buffer))
        return false;
    memcpy(sizes, buffer->p, sizeof sizes);
    for (int i = 0; i < TEXTS; i++)
        total += sizes[i];
    if (!spool_read(&r->spool, s->at + sizeof sizes, total, buffer))
        return false;
    const char *p = buffer->p;
    struct str *texts[TEXTS] = {&out->ir_loc, &out->ttir, &out->ttnn, &out->notes, &out->validation, &out->cost};
    for (int i = 0; i < TEXTS; i++) {
        *texts[i] = (struct str){p, sizes[i]};
        p += sizes[i];
    }
    return true;
}

void report_add(struct report *r, const struct entry_key *key, const struct instance *instance) {
    if (!r->index)
        index_make(r);
    struct str bytes = key_bytes(&r->key, key);
    uint32_t at = index_find(r, bytes);
    if (at == NONE) {
        at = r->nentries;
        index_add(r, bytes, at);
        entry_add(r, key);
    }
    struct report_entry *e = &r->entries[at];
    e->instances = grow(e->instances, &e->instances_cap, e->ninstances + 1, sizeof *e->instances);
    e->instances[e->ninstances++] =
        (struct stored_instance){instance->order, r->count_only ? 0 : store(r, instance), instance->saved};
    e->saved += instance->saved;
}

static int compare(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int compare_lists(struct str_list a, struct str_list b) {
    for (uint32_t i = 0; i < a.n && i < b.n; i++) {
        int c = str_cmp(a.items[i], b.items[i]);
        if (c != 0)
            return c;
    }
    return compare(a.n, b.n);
}

static int compare_names(const void *pa, const void *pb) {
    const struct report_entry *x = pa, *y = pb;
    const struct entry_key *a = &x->key, *b = &y->key;
    int c = str_cmp(a->fused_op, b->fused_op);
    if (c == 0)
        c = str_cmp(a->source, b->source);
    if (c == 0)
        c = compare_lists(a->component_ops, b->component_ops);
    if (c == 0)
        c = str_cmp(a->class.pass_status, b->class.pass_status);
    if (c == 0)
        c = str_cmp(a->class.owning_pass, b->class.owning_pass);
    if (c == 0)
        c = str_cmp(a->class.existing_pattern, b->class.existing_pattern);
    return c ? c : str_cmp(a->class.dialect_level, b->class.dialect_level);
}

static int compare_counts(const void *pa, const void *pb) {
    const struct report_entry *x = pa, *y = pb;
    int c = compare(y->ninstances, x->ninstances);
    return c ? c : compare_names(pa, pb);
}

static int compare_savings(const void *pa, const void *pb) {
    const struct report_entry *x = pa, *y = pb;
    int c = (x->saved < 0) - (y->saved < 0);
    if (c == 0)
        c = !str_is(x->key.source, "ttnn") - !str_is(y->key.source, "ttnn");
    if (c == 0)
        c = (x->saved < y->saved) - (x->saved > y->saved);
    return c ? c : compare_counts(pa, pb);
}

/* Instances of the same order stay in the order in which they were added, which is that of their offsets. */
static int compare_orders(const void *pa, const void *pb) {
    const struct stored_instance *a = pa, *b = pb;
    int c = compare(a->order, b->order);
    return c ? c : compare(a->at, b->at);
}

static int compare_instances(const void *pa, const void *pb) {
    const struct stored_instance *a = pa, *b = pb;
    int c = (a->saved < b->saved) - (a->saved > b->saved);
    return c ? c : compare_orders(pa, pb);
}

void report_sort(struct report *r, enum report_order by) {
    static int (*const orders[])(const void *, const void *) = {compare_savings, compare_counts, compare_names};
    index_free(r);
    if (r->nentries > 0)
        qsort(r->entries, r->nentries, sizeof *r->entries, orders[by]);
    for (uint32_t i = 0; i < r->nentries; i++)
        qsort(r->entries[i].instances, r->entries[i].ninstances, sizeof *r->entries[i].instances,
              by == SORT_SAVING ? compare_instances : compare_orders);
}

void report_free(struct report *r) {
    index_free(r);
    for (uint32_t i = 0; i < r->nentries; i++)
        free(r->entries[i].instances);
    free(r->entries);
    spool_free(&r->spool);
    buf_free(&r->key);
    buf_free(&r->text);
    arena_free(&r->arena);
    *r = (struct report){0};
}
