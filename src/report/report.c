/* Groups findings into entries and puts both in order. */
#include "report/report.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct finding *report_add(struct report *r, const struct finding *f) {
    return finding_add(&r->findings, f, &r->arena);
}

uint32_t report_places(const struct report *r) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->findings.n; i++)
        n += r->findings.items[i]->places;
    return n;
}

uint32_t report_known(const struct report *r) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->findings.n; i++)
        n += r->findings.items[i]->known.n > 0;
    return n;
}

struct entry_share entry_share(const struct report_entry *e, bool known) {
    struct entry_share x = {0};
    for (uint32_t i = 0; i < e->nfindings; i++)
        if ((e->findings[i]->known.n > 0) == known) {
            x.n++;
            x.saved += e->findings[i]->counts_us;
            x.fails |= e->findings[i]->fails;
        }
    return x;
}

static bool counts(const struct report_entry *e, bool new_only) {
    return !new_only || entry_share(e, false).n > 0;
}

uint32_t report_fused_ops(const struct report *r, bool new_only) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->nentries; i++) {
        bool first = counts(&r->entries[i], new_only);
        for (uint32_t k = 0; k < i && first; k++)
            first = !counts(&r->entries[k], new_only) ||
                    !str_eq(r->entries[k].findings[0]->fused_op, r->entries[i].findings[0]->fused_op);
        n += first;
    }
    return n;
}

double report_least_us(const struct report *r) {
    return r->least.given ? r->least.us + r->least.share * r->total_us : NO_TIME_US;
}

/* ---- order ---- */

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

/* 0: they are the same but for the reason. */
static int compare_todos(const struct todo *a, const struct todo *b) {
    int c = compare(a->kind, b->kind);
    if (c == 0)
        c = compare(a->around.kind, b->around.kind);
    if (c == 0)
        c = str_cmp(a->what, b->what);
    if (c == 0)
        c = str_cmp(a->then, b->then);
    return c ? c : str_cmp(a->tried, b->tried);
}

/* 0: they are of one entry. */
static int compare_keys(const struct finding *a, const struct finding *b) {
    const struct classification *x = &a->class, *y = &b->class;
    int c = str_cmp(a->fused_op, b->fused_op);
    if (c == 0)
        c = str_cmp(a->source, b->source);
    if (c == 0)
        c = str_cmp(a->lacks, b->lacks);
    if (c == 0)
        c = compare_lists(a->component_ops, b->component_ops);
    if (c == 0)
        c = str_cmp(x->pass_status, y->pass_status);
    if (c == 0)
        c = str_cmp(x->owning_pass, y->owning_pass);
    if (c == 0)
        c = str_cmp(x->existing_pattern, y->existing_pattern);
    if (c == 0)
        c = str_cmp(x->dialect_level, y->dialect_level);
    return c ? c : compare_todos(&a->todo, &b->todo);
}

static int compare_numbers(const void *pa, const void *pb) {
    const struct finding *const *a = pa, *const *b = pb;
    return compare((*a)->number, (*b)->number);
}

static int compare_by_key(const void *pa, const void *pb) {
    const struct finding *const *a = pa, *const *b = pb;
    int c = compare_keys(*a, *b);
    return c ? c : compare_numbers(pa, pb);
}

static int compare_findings(const void *pa, const void *pb) {
    const struct finding *const *a = pa, *const *b = pb;
    double x = (*a)->saved_us, y = (*b)->saved_us;
    return x < y ? 1 : x > y ? -1 : compare_numbers(pa, pb);
}

/* Sums of many places and products of a few are the same, up to rounding. */
static int64_t in_ns(double us) {
    return llround(us * 1000);
}

static int compare_savings(const void *pa, const void *pb) {
    const struct report_entry *x = pa, *y = pb;
    int c = (x->alone < 0) - (y->alone < 0);
    if (c == 0)
        c = !str_is(x->findings[0]->source, "ttnn") - !str_is(y->findings[0]->source, "ttnn");
    if (c == 0)
        c = (in_ns(x->saved) < in_ns(y->saved)) - (in_ns(x->saved) > in_ns(y->saved));
    if (c == 0)
        c = (in_ns(x->alone) < in_ns(y->alone)) - (in_ns(x->alone) > in_ns(y->alone));
    if (c == 0)
        c = compare(y->nplaces, x->nplaces);
    return c ? c : compare_keys(x->findings[0], y->findings[0]);
}

/* ---- entries ---- */

static void make_entries(struct report *r) {
    qsort(r->findings.items, r->findings.n, sizeof(struct finding *), compare_by_key);
    for (uint32_t i = 0; i < r->findings.n; i++) {
        if (i == 0 || compare_keys(r->findings.items[i - 1], r->findings.items[i]) != 0) {
            r->entries = grow(r->entries, &r->entries_cap, r->nentries + 1, sizeof *r->entries);
            r->entries[r->nentries++] = (struct report_entry){.findings = &r->findings.items[i]};
        }
        struct report_entry *e = &r->entries[r->nentries - 1];
        const struct price *price = &r->findings.items[i]->price;
        e->nfindings++;
        e->nplaces += r->findings.items[i]->places;
        e->saved += r->findings.items[i]->counts_us;
        e->alone += r->findings.items[i]->saved_us * r->findings.items[i]->places;
        bool by_hand = price->sharding_us > 0 || price->casts_us > 0;
        e->by_pass +=
            by_hand ? price_saved_by_pass_us(price) * r->findings.items[i]->counted : r->findings.items[i]->counts_us;
        e->undone += price_saved_undone_us(price) * r->findings.items[i]->counted;
        e->around += price->around_us * r->findings.items[i]->counted;
    }
}

/* Of the time of all ops: less of it is not worth a kernel, or work on the compiler. An option costs nothing. */
static double least_share(enum todo_kind k) {
    return k == TODO_KERNEL ? 0.01 : k == TODO_WRITE || k == TODO_DIALECT ? 0.001 : 0;
}

/* Whoever makes a fused op has it at all places, beside what others save there. */
static bool is_worth_making(const struct report *r, const struct report_entry *e) {
    const struct finding *one = e->findings[0];
    double us = 0;
    for (uint32_t i = 0; i < r->findings.n; i++) {
        const struct finding *f = r->findings.items[i];
        us += f->todo.kind == one->todo.kind && str_eq(f->fused_op, one->fused_op) ? f->gains_us : 0;
    }
    return us >= least_share(one->todo.kind) * r->total_us;
}

/* All findings together save what --min-saving asks; without that option a launch will do, if nothing has to be made.
 * Always where one of them has no price, since it may save much, or is slower, since --include=slower asked for it. */
static bool entry_is_kept(const struct report *r, const struct report_entry *e) {
    double saved = 0;
    int64_t launches = 0;
    for (uint32_t i = 0; i < e->nfindings; i++) {
        const struct finding *f = e->findings[i];
        if (!f->price.known || f->todo.kind == TODO_LEAVE)
            return true;
        saved += f->saved_us > 0 ? f->saved_us * f->places : 0;
        launches += price_saved(&f->price).launches * f->places;
    }
    return (saved >= report_least_us(r) || (launches > 0 && !r->least.given)) &&
           (!r->least.by_effort || is_worth_making(r, e));
}

/* Out of what is saved at all. */
static void count_out(struct report *r, struct finding *f) {
    double us = f->counts_us;
    f->left_out = true;
    r->saved_us -= us;
    for (uint32_t i = 0; i < r->nlayers; i++)
        if (r->layers[i].graph == f->graph && str_eq(r->layers[i].name, f->layer))
            r->layers[i].saved_us -= us;
}

static void leave_out_small(struct report *r) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->nentries; i++) {
        const struct report_entry *e = &r->entries[i];
        bool worth = entry_is_kept(r, e);
        for (uint32_t k = 0; k < e->nfindings && !worth; k++)
            count_out(r, e->findings[k]);
        r->nsmall += worth ? 0 : e->nplaces;
        if (worth)
            r->entries[n++] = *e;
    }
    r->nentries = n;
}

/* The list in the order of the entries. */
static void place_findings(struct report *r) {
    uint32_t n = 0;
    struct finding **sorted = xcalloc(r->findings.n + (size_t)1, sizeof *sorted), **at = sorted;
    for (uint32_t i = 0; i < r->nentries; i++) {
        struct report_entry *e = &r->entries[i];
        memcpy(at, e->findings, e->nfindings * sizeof(struct finding *));
        e->findings = at;
        at += e->nfindings;
        n += e->nfindings;
    }
    free(r->findings.items);
    r->findings.items = sorted;
    r->findings.cap = r->findings.n;
    r->findings.n = n;
}

/* What is to be done about an entry, in one line; or nothing. */
static void entry_action(const struct report_entry *e, struct buf *out) {
    const struct todo *t = entry_todo(e);
    todo_name(t, out);
    if (t->kind == TODO_OPTION && !t->spelled.n)
        buf_add(out, STR(" in " REPORT_PIPELINE));
    if (t->needs.n)
        buf_printf(out, " (needs a tt-mlir built with %.*s=ON)", (int)t->needs.n, t->needs.p);
    todo_reason(t, out);
}

static void add_action(struct report *r, struct report_entry *e) {
    struct buf action = {0};
    entry_action(e, &action);
    for (uint32_t i = 0; i < e->nfindings; i++)
        e->findings[i]->action = i ? e->findings[0]->action : arena_str(&r->arena, buf_str(&action));
    buf_free(&action);
}

struct first_alike {
    uint64_t key;
    const struct finding *first;
    UT_hash_handle hh;
};

/* Refers those that are alike to the first one. */
static void refer(struct report_entry *e) {
    struct arena arena = {0};
    struct first_alike *all = NULL, *found;
    for (uint32_t i = 0; i < e->nfindings; i++) {
        struct finding *f = e->findings[i];
        HASH_FIND(hh, all, (const char *)&f->alike, sizeof f->alike, found);
        f->same_as = found ? found->first : NULL;
        e->ndifferent += !found;
        if (found || !f->alike)
            continue;
        found = arena_alloc(&arena, sizeof *found);
        *found = (struct first_alike){.key = f->alike, .first = f};
        HASH_ADD_KEYPTR(hh, all, (const char *)&found->key, sizeof found->key, found);
    }
    HASH_CLEAR(hh, all);
    arena_free(&arena);
}

struct said_line {
    uint64_t hash;
    UT_hash_handle hh;
};

/* Marks what an earlier place of the entry says. */
static void mark_told(struct report_entry *e) {
    struct arena arena = {0};
    struct said_line *all = NULL, *known;
    struct str lines[MOST_TOLD_ONCE];
    for (uint32_t i = 0; i < e->nfindings; i++) {
        struct finding *f = e->findings[i];
        uint32_t n = lines_told_once(f, lines), added = 0;
        struct said_line *here = arena_alloc(&arena, (n + (size_t)1) * sizeof *here);
        f->told = 0;
        for (uint32_t k = 0; k < n; k++) {
            uint64_t hash = line_hash(lines[k]);
            HASH_FIND(hh, all, (const char *)&hash, sizeof hash, known);
            if (known)
                f->told |= (uint64_t)1 << k;
            else
                here[added++].hash = hash;
        }
        for (uint32_t k = 0; k < added; k++) {
            HASH_FIND(hh, all, (const char *)&here[k].hash, sizeof here[k].hash, known);
            if (!known)
                HASH_ADD_KEYPTR(hh, all, (const char *)&here[k].hash, sizeof here[k].hash, &here[k]);
        }
    }
    HASH_CLEAR(hh, all);
    arena_free(&arena);
}

/* How many say what the first one says. */
static void compare_proofs(struct report_entry *e) {
    struct arena a = {0};
    const struct proved *first = e->findings[0]->proof;
    struct str text = first ? verdict_in_short(first, &a) : STR("");
    e->agreeing = 0;
    for (uint32_t i = 0; i < e->nfindings && first; i++) {
        struct finding *f = e->findings[i];
        f->agrees = f->proof && str_eq(verdict_in_short(f->proof, &a), text);
        e->agreeing += f->agrees;
    }
    arena_free(&a);
}

void report_sort(struct report *r) {
    if (!r->findings.n)
        return;
    make_entries(r);
    leave_out_small(r);
    qsort(r->entries, r->nentries, sizeof *r->entries, compare_savings);
    place_findings(r);
    for (uint32_t i = 0; i < r->nentries; i++) {
        struct report_entry *e = &r->entries[i];
        qsort(e->findings, e->nfindings, sizeof(struct finding *), compare_findings);
        refer(e);
        add_action(r, e);
        mark_told(e);
        compare_proofs(e);
    }
    for (uint32_t i = 0; i < r->findings.n; i++)
        r->findings.items[i]->number = i;
}

/* The path from the working directory, if the file lies below it. */
static const char *from_here(const char *path) {
    char *here = path[0] == '/' ? getcwd(NULL, 0) : NULL;
    size_t n = here ? strlen(here) : 0;
    bool below = n && strncmp(path, here, n) == 0 && path[n] == '/';
    free(here);
    return below ? path + n + 1 : path;
}

const char *report_path(const struct report *r) {
    const char *path = from_here(r->ttnn_path ? r->ttnn_path : r->ttir_path ? r->ttir_path : "-");
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    return path;
}

/* All but unreserved characters and slashes in percent (RFC 3986). */
void add_uri(struct buf *out, struct str path) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    for (size_t i = 0; i < path.n; i++) {
        if (path.p[i] && strchr(plain, path.p[i]))
            buf_addc(out, path.p[i]);
        else
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)path.p[i]);
    }
}

bool report_uri(const struct report *r, struct buf *out) {
    const char *path = report_path(r);
    out->n = 0;
    bool whole = path[0] == '/';
    if (whole)
        buf_add(out, path[1] == '/' ? STR("file:///.") : STR("file://"));
    add_uri(out, str_of(path));
    return whole;
}

void report_free(struct report *r) {
    free(r->entries);
    free(r->findings.items);
    free(r->gone.items);
    free(r->layers);
    free(r->parts);
    times_free(&r->times);
    arena_free(&r->arena);
    *r = (struct report){0};
}
