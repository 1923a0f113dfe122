/* Collects the entries of a report. An entry is found by its key in a hash table; the text of an instance goes to the
 * spool as it is added, so that memory grows by a few bytes for each instance. */
#include "report/report.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { TEXTS = 9, SIZES = TEXTS + 4 }; /* texts of struct instance_text; their lengths and where two spans are */

struct instance_group {
    uint64_t key;
    const struct stored_instance *first; /* in the order of the report */
    struct str label;                    /* of that one, when it was asked for */
    UT_hash_handle hh;
};

struct report_index {
    struct str key; /* the strings of the entry, each preceded by its length */
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

static void index_add(struct report *r, struct str key, uint32_t entry) {
    struct report_index *item = arena_alloc(&r->arena, sizeof *item);
    *item = (struct report_index){.key = arena_str(&r->arena, key), .entry = entry};
    HASH_ADD_KEYPTR(hh, r->index, item->key.p, item->key.n, item);
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
    const struct note_marks *k = &in->marks;
    uint64_t sizes[SIZES] = {in->ir_loc.n,   0, 0, in->notes.n,      in->validation.n, in->cost.n,
                             in->label.n,    0, 0, k->verdict.begin, k->verdict.end,   k->compiler.begin,
                             k->compiler.end};
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
    buf_add(out, in->label);
    for (int i = 0; i < 2; i++) {
        const struct segment *segment = i ? &in->ttnn : &in->ttir;
        before = out->n;
        if (segment->nops && segment->ir->source) /* not made by hand */
            segment_lines(segment, out);
        sizes[7 + i] = out->n - before;
    }
    memcpy(out->p, sizes, sizeof sizes);
    return spool_add(&r->spool, buf_str(out));
}

bool report_instance(struct report *r, const struct stored_instance *s, struct buf *buffer, struct instance_text *out) {
    uint64_t sizes[SIZES], total = 0;
    if (!spool_read(&r->spool, s->at, sizeof sizes, buffer))
        return false;
    memcpy(sizes, buffer->p, sizeof sizes);
    for (int i = 0; i < TEXTS; i++)
        total += sizes[i];
    if (!spool_read(&r->spool, s->at + sizeof sizes, total, buffer))
        return false;
    const char *p = buffer->p;
    struct str *texts[TEXTS] = {&out->ir_loc, &out->ttir,  &out->ttnn,       &out->notes,     &out->validation,
                                &out->cost,   &out->label, &out->ttir_lines, &out->ttnn_lines};
    for (int i = 0; i < TEXTS; i++) {
        *texts[i] = (struct str){p, sizes[i]};
        p += sizes[i];
    }
    out->verdict = (struct span){(uint32_t)sizes[TEXTS], (uint32_t)sizes[TEXTS + 1]};
    out->compiler = (struct span){(uint32_t)sizes[TEXTS + 2], (uint32_t)sizes[TEXTS + 3]};
    return true;
}

/* The group of an instance, made where none is alike. */
static struct instance_group *group_of(struct report *r, uint64_t key, bool *made) {
    struct instance_group *g = NULL;
    HASH_FIND(hh, r->groups, (const char *)&key, sizeof key, g);
    *made = !g;
    if (!g) {
        g = arena_alloc(&r->arena, sizeof *g);
        g->key = key;
        HASH_ADD_KEYPTR(hh, r->groups, (const char *)&g->key, sizeof g->key, g);
    }
    return g;
}

/* Of one kind and one option or pattern: reasons of refusal may differ. */
static void todo_add(struct report *r, struct report_entry *e, const struct instance *in, bool different) {
    struct todo t = in->marks.todo;
    uint32_t i = 0;
    while (i < e->ntodos && (e->todos[i].todo.kind != t.kind || !str_eq(e->todos[i].todo.what, t.what)))
        i++;
    if (i == e->ntodos) {
        e->todos = grow(e->todos, &e->todos_cap, e->ntodos + 1, sizeof *e->todos);
        e->todos[e->ntodos++] = (struct entry_todo){{t.kind, arena_str(&r->arena, t.what), arena_str(&r->arena, t.why)},
                                                    .most = in->saved,
                                                    .reason = in->reason};
    }
    struct entry_todo *to = &e->todos[i];
    to->reasons_differ |= to->reason != in->reason;
    if (in->saved > to->most)
        to->todo.why = arena_str(&r->arena, t.why);
    to->most = in->saved > to->most ? in->saved : to->most;
    to->saved += in->saved;
    to->nplaces++;
    to->ndifferent += different;
}

static const struct report_rule *rule_of(struct report *r, const struct pattern *p) {
    struct arena *a = &r->arena;
    for (const struct report_rule *rule = r->rules; rule; rule = rule->next)
        if (str_eq(rule->name, p->name))
            return rule;
    struct report_rule *rule = arena_alloc(a, sizeof *rule);
    *rule = (struct report_rule){.name = arena_str(a, p->name),
                                 .summary = arena_str(a, p->summary),
                                 .match = arena_str(a, p->match),
                                 .fused_op = arena_str(a, p->fused_op),
                                 .source = arena_str(a, p->source),
                                 .number = r->rules ? r->rules->number + 1 : 0,
                                 .next = r->rules};
    return r->rules = rule;
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
    struct stored_instance *s = &e->instances[e->ninstances++];
    *s = (struct stored_instance){.order = instance->order,
                                  .at = r->count_only ? 0 : store(r, instance),
                                  .saved = instance->saved,
                                  .fingerprint = instance->fingerprint,
                                  .rule = instance->pattern ? rule_of(r, instance->pattern) : NULL};
    bool different = true;
    if (instance->alike)
        s->group = group_of(r, str_hash(bytes) ^ instance->alike, &different);
    if (instance->marks.todo.kind != TODO_NOTHING)
        todo_add(r, e, instance, different);
    if (!r->version.n && instance->marks.version.n)
        r->version = arena_str(&r->arena, instance->marks.version);
    e->saved += instance->saved;
}

void report_leave_out(struct report *r, const struct left_out *x) {
    struct arena *a = &r->arena;
    r->left_out = grow(r->left_out, &r->left_out_cap, r->nleft_out + 1, sizeof *r->left_out);
    struct left_out *to = &r->left_out[r->nleft_out++];
    *to = *x;
    struct str *texts[] = {&to->rule, &to->fused_op, &to->label, &to->place, &to->reason};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = arena_str(a, *texts[i]);
    r->nsuppressed += !x->gone;
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

static int compare_todos(const void *pa, const void *pb) {
    const struct entry_todo *a = pa, *b = pb;
    int c = (a->saved < b->saved) - (a->saved > b->saved);
    if (c == 0)
        c = compare(a->todo.kind, b->todo.kind);
    return c ? c : str_cmp(a->todo.what, b->todo.what);
}

/* The first of each group. */
static void groups_begin(struct report *r) {
    for (struct instance_group *g = r->groups; g; g = g->hh.next)
        g->first = NULL;
    for (uint32_t i = 0; i < r->nentries; i++)
        for (uint32_t k = 0; k < r->entries[i].ninstances; k++) {
            struct stored_instance *s = &r->entries[i].instances[k];
            if (s->group && !s->group->first)
                *s->group = (struct instance_group){.key = s->group->key, .first = s, .hh = s->group->hh};
        }
}

void report_sort(struct report *r, enum report_order by) {
    static int (*const orders[])(const void *, const void *) = {compare_savings, compare_counts, compare_names};
    HASH_CLEAR(hh, r->index);
    r->sorted = by;
    if (r->nentries > 0)
        qsort(r->entries, r->nentries, sizeof *r->entries, orders[by]);
    for (uint32_t i = 0; i < r->nentries; i++) {
        struct report_entry *e = &r->entries[i];
        qsort(e->instances, e->ninstances, sizeof *e->instances,
              by == SORT_SAVING ? compare_instances : compare_orders);
        if (e->ntodos > 0)
            qsort(e->todos, e->ntodos, sizeof *e->todos, compare_todos);
    }
    groups_begin(r);
}

/* ---- notes as they are printed ---- */

static struct str label_of(struct report *r, struct instance_group *g) {
    struct buf buffer = {0};
    struct instance_text text;
    if (!g->label.n && report_instance(r, g->first, &buffer, &text))
        g->label = arena_str(&r->arena, text.label);
    buf_free(&buffer);
    return g->label;
}

static void add_part(struct buf *out, struct str text, size_t begin, size_t end) {
    buf_add(out, (struct str){text.p + begin, end - begin});
}

struct str report_notes(struct report *r, const struct report_entry *e, const struct stored_instance *s,
                        const struct instance_text *text, struct buf *buffer) {
    bool first = s == e->instances, again = s->group && s->group->first != s;
    struct str notes = text->notes;
    struct span v = text->verdict, c = text->compiler;
    buffer->n = 0;
    add_part(buffer, notes, 0, again ? v.begin : v.end);
    add_part(buffer, notes, v.end, again ? c.begin : c.end);
    if (again && (v.end > v.begin || c.end > c.begin)) {
        struct str label = label_of(r, s->group);
        buf_printf(buffer, "alike: %.*s, whose %s%s%s hold%s here.\n", (int)label.n, label.p,
                   v.end > v.begin ? "proof" : "", v.end > v.begin && c.end > c.begin ? " and " : "",
                   c.end > c.begin ? "compiler notes" : "", c.end > c.begin ? "" : "s");
    }
    if (first && e == r->entries && r->version.n)
        buf_printf(buffer, "compiler version: what is said of its passes, here and elsewhere, is as of %.*s.\n",
                   (int)r->version.n, r->version.p);
    if (first && !r->details && e->ntodos) {
        buf_add(buffer, STR("action: "));
        report_action(r, e, buffer);
        buf_addc(buffer, '\n');
    }
    add_part(buffer, notes, c.end, notes.n);
    if (s->fingerprint.count) {
        char fingerprint[FINGERPRINT_TEXT];
        buf_printf(buffer, "fingerprint: %s\n", fingerprint_text(&s->fingerprint, fingerprint));
    }
    if (s->known)
        buf_printf(buffer, "known: %s\n", s->known);
    return buf_str(buffer);
}

bool report_walk(struct report *r, const struct report_visitor *v, void *context) {
    struct buf buffer = {0}, notes = {0};
    bool ok = true;
    for (uint32_t i = 0; i < r->nentries && ok; i++) {
        const struct report_entry *e = &r->entries[i];
        if (v->entry)
            v->entry(context, e);
        for (uint32_t k = 0; k < e->ninstances && ok; k++) {
            struct instance_text text;
            ok = report_instance(r, &e->instances[k], &buffer, &text);
            if (!ok)
                break;
            text.notes = report_notes(r, e, &e->instances[k], &text, &notes);
            v->instance(context, e, &e->instances[k], &text);
        }
        if (v->end_entry)
            v->end_entry(context, e);
    }
    buf_free(&buffer);
    buf_free(&notes);
    return ok;
}

void report_free(struct report *r) {
    HASH_CLEAR(hh, r->index);
    HASH_CLEAR(hh, r->groups);
    for (uint32_t i = 0; i < r->nentries; i++) {
        free(r->entries[i].instances);
        free(r->entries[i].todos);
    }
    free(r->entries);
    free(r->left_out);
    spool_free(&r->spool);
    buf_free(&r->key);
    buf_free(&r->text);
    arena_free(&r->arena);
    *r = (struct report){0};
}
