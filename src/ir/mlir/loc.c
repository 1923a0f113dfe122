/* Locations and aliases, resolved when somebody asks. Depth and steps are bounded: aliases of a damaged text may form
 * cycles or trees of exponential size. */
#include "ir/mlir/scan.h"
#include "ir/mlir/tables.h"

#include <string.h>

enum { ALIAS_DEPTH = 16, LOC_DEPTH = 64, LOC_STEPS = 1 << 14 };

bool mlir_alias(const struct mlir *m, struct str alias, struct str *value) {
    uint32_t number;
    const struct mlir_tables *t = m->tables;
    if (loc_number(alias, &number) && number < t->nlocs && t->locs[number].end) {
        *value = mlir_span(m, t->locs[number]);
        return true;
    }
    uint32_t id = sym_find(&t->alias_names, alias);
    if (id == NONE)
        return false;
    *value = t->aliases[id].value;
    return true;
}

struct str mlir_unalias(const struct mlir *m, struct str text) {
    struct str value;
    for (int i = 0; i < ALIAS_DEPTH && text.n > 1 && (*text.p == '#' || *text.p == '!'); i++) {
        if (text.p[text.n - 1] == '>' || !mlir_alias(m, text, &value)) /* #dialect.attribute<...> */
            break;
        text = value;
    }
    return text;
}

uint64_t mlir_aliases_hash(const struct mlir *m) {
    const struct mlir_tables *t = m->tables;
    uint64_t h = 0;
    for (const struct sym *s = t->alias_names.head; s; s = s->hh.next)
        h = (h ^ str_hash(s->text)) * 0x9E3779B97F4A7C15ull + str_hash(t->aliases[s->id].value);
    return h;
}

struct str mlir_loc_text(const struct mlir *m, uint32_t op) {
    return mlir_span(m, m->ops[op].loc);
}

struct loc_walk {
    const struct mlir *m;
    struct str *out;
    int n, max;
    int steps;
};

static void add_name(struct loc_walk *w, struct str name) {
    if (w->n < w->max)
        w->out[w->n++] = name;
}

/* "file":1:2 reads file:1:2; made once for each distinct text, under a lock: threads ask for names of one module. */
static struct str file_name(const struct mlir *m, struct str text, struct str file, struct str where) {
    struct mlir_tables *t = m->tables;
    pthread_mutex_lock(&t->files_lock);
    uint32_t known = t->files.n, id = sym_add(t, &t->files, text);
    t->file_names = grow(t->file_names, &t->file_names_cap, id + 1, sizeof *t->file_names);
    if (id == known)
        t->file_names[id] = arena_printf(&t->arena, "%.*s%.*s", (int)file.n, file.p, (int)where.n, where.p);
    struct str name = t->file_names[id];
    pthread_mutex_unlock(&t->files_lock);
    return name;
}

static const char *read_position(const char *p, const char *end) {
    while (p < end && (*p == ':' || scan_is(*p, CH_DIGIT)))
        p++;
    return p;
}

static void walk_loc(struct loc_walk *w, struct str text, int depth);

static void walk_list(struct loc_walk *w, const char *p, const char *end, int depth) {
    struct str item;
    while (scan_item(&p, end, &item))
        walk_loc(w, item, depth + 1);
}

static void walk_quoted(struct loc_walk *w, struct str text, int depth) {
    const char *end = text.p + text.n, *q = scan_string(text.p, end);
    if (!q)
        return;
    struct str name = {text.p + 1, (size_t)(q - text.p - 2)};
    if (q < end && *q == ':') {
        const char *stop = read_position(q, end);
        struct str whole = {text.p, (size_t)(stop - text.p)};
        add_name(w, file_name(w->m, whole, name, (struct str){q, (size_t)(stop - q)}));
        return;
    }
    add_name(w, name);
    if (q < end && *q == '(')
        walk_loc(w, (struct str){q + 1, (size_t)(end - q - 1) - (end[-1] == ')')}, depth + 1);
}

/* fused<meta>[a, b] */
static void walk_fused(struct loc_walk *w, struct str text, int depth) {
    const char *p = text.p + strlen("fused"), *end = text.p + text.n;
    if (p < end && *p == '<' && !(p = scan_balanced(p, end)))
        return;
    if (p < end && *p == '[' && end[-1] == ']' && end - p >= 2)
        walk_list(w, p + 1, end - 1, depth);
}

/* callsite(a at b) */
static void walk_callsite(struct loc_walk *w, struct str text, int depth) {
    const char *p = text.p + strlen("callsite("), *end = text.p + text.n - (text.p[text.n - 1] == ')');
    const char *at = p;
    while (at < end) {
        at = scan_until(at, end, ' ');
        if (end - at > 4 && memcmp(at, " at ", 4) == 0)
            break;
        if (at < end)
            at++;
    }
    walk_loc(w, (struct str){p, (size_t)(at - p)}, depth + 1);
    if (end - at > 4)
        walk_loc(w, (struct str){at + 4, (size_t)(end - at - 4)}, depth + 1);
}

/* Text is what stands inside loc( ), or an alias, or loc( ) itself where an alias was followed. */
static void walk_loc(struct loc_walk *w, struct str text, int depth) {
    text = str_trim(text);
    for (;; depth++) {
        struct str value;
        if (depth > LOC_DEPTH || ++w->steps > LOC_STEPS || w->n >= w->max || text.n == 0)
            return;
        if (text.p[0] == '#' && mlir_alias(w->m, text, &value))
            text = str_trim(value);
        else if (str_starts(text, STR("loc(")) && text.p[text.n - 1] == ')')
            text = str_trim((struct str){text.p + 4, text.n - 5});
        else
            break;
    }
    if (text.p[0] == '"')
        walk_quoted(w, text, depth);
    else if (str_starts(text, STR("fused")))
        walk_fused(w, text, depth);
    else if (str_starts(text, STR("callsite(")))
        walk_callsite(w, text, depth);
}

int mlir_loc_names(const struct mlir *m, uint32_t op, struct str *out, int max) {
    struct loc_walk w = {.m = m, .out = out, .max = max};
    walk_loc(&w, mlir_loc_text(m, op), 0);
    return w.n;
}
