/* Lines of a model in Python, as locations have them: "...|/path/modeling_qwen3.py:188|forward|200|aten__mm" of
 * torch_xla, where a function begins and the line in it; or frames of files with names of functions around them, as of
 * JAX, the innermost first. */
#include "report/place/notes.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES = 32, MOST_FUNCTIONS = 3 };

/* A line in a function. */
struct frame {
    struct str file, function; /* of the file its name alone; function: or empty */
    uint32_t begins;           /* the function; 0: not known */
    uint32_t first, last;      /* lines */
    bool installed;            /* a package, which the model uses */
};

static uint32_t read_number(struct str *s) {
    uint32_t n = 0;
    while (s->n && *s->p >= '0' && *s->p <= '9' && n < UINT32_MAX / 10 - 1) {
        n = 10 * n + (uint32_t)(*s->p - '0');
        *s = (struct str){s->p + 1, s->n - 1};
    }
    return n;
}

/* Up to the next bar, which goes too. */
static struct str read_field(struct str *s) {
    const char *bar = memchr(s->p, '|', s->n);
    struct str field = {s->p, bar ? (size_t)(bar - s->p) : s->n};
    size_t gone = field.n + (bar ? 1 : 0);
    *s = (struct str){s->p + gone, s->n - gone};
    return field;
}

/* False: the name has no line of Python. */
static bool read_frame(struct str name, struct frame *f) {
    const struct str end = STR(".py:");
    const char *at = str_find(name, end);
    if (!at)
        return false;
    const char *begin = at;
    while (begin > name.p && begin[-1] != '/' && begin[-1] != '|')
        begin--;
    const char *path = begin;
    while (path > name.p && path[-1] != '|')
        path--;
    *f = (struct frame){.file = {begin, (size_t)(at - begin) + end.n - 1},
                        .installed = str_find((struct str){path, (size_t)(begin - path)}, STR("-packages/"))};
    struct str rest = {at + end.n, (size_t)(name.p + name.n - at) - end.n};
    f->first = f->last = read_number(&rest);
    if (!f->first || begin == at)
        return false;
    if (!rest.n || *rest.p != '|')
        return true;
    read_field(&rest);
    f->begins = f->first;
    f->function = read_field(&rest);
    f->first = f->last = read_number(&rest);
    return !str_is(f->function, "__torch_function__"); /* a hook, which frontends put around all that is called */
}

/* Of an op: the innermost one of the model itself; where there is none, of a package. */
static bool frame_of(const struct mlir *m, uint32_t op, struct frame *out) {
    struct str names[MOST_FRAMES];
    int n = mlir_loc_names(m, op, names, MOST_FRAMES);
    bool any = false;
    for (int i = 0; i < n && i < MOST_FRAMES; i++) {
        struct frame f;
        if (!read_frame(names[i], &f))
            continue;
        if (!f.begins && i > 0 && !str_find(names[i - 1], STR(".py:")))
            f.function = names[i - 1];
        if (!any || (out->installed && !f.installed))
            *out = f;
        any = true;
    }
    return any;
}

bool op_is_from(const struct mlir *m, uint32_t op, struct str file, uint64_t line) {
    struct str names[MOST_FRAMES];
    int n = mlir_loc_names(m, op, names, MOST_FRAMES);
    bool found = false;
    for (int i = 0; i < n && i < MOST_FRAMES && !found; i++) {
        struct frame f;
        found = read_frame(names[i], &f) && str_ends(file, f.file) &&
                (f.begins == line || (f.first <= line && line <= f.last));
    }
    return found;
}

static void add_frame(struct frame *all, uint32_t *n, const struct frame *f) {
    uint32_t i = 0;
    while (i < *n &&
           !(str_eq(all[i].file, f->file) && str_eq(all[i].function, f->function) && all[i].begins == f->begins))
        i++;
    if (i == *n)
        all[(*n)++] = *f;
    all[i].first = f->first < all[i].first ? f->first : all[i].first;
    all[i].last = f->last > all[i].last ? f->last : all[i].last;
}

static void write_frame(struct buf *out, const struct frame *f) {
    bool several = f->last > f->first;
    buf_printf(out, "%s%.*s:%u", out->n ? "; " : "", (int)f->file.n, f->file.p, f->begins ? f->begins : f->first);
    if (!f->begins && several)
        buf_printf(out, " to %u", f->last);
    if (f->function.n)
        buf_printf(out, " (%.*s)", (int)f->function.n, f->function.p);
    if (f->begins && f->first)
        buf_printf(out, several ? ", lines %u to %u" : ", line %u", f->first, f->last);
}

struct str source_of(const struct segment *s, struct arena *a) {
    struct frame *all = arena_alloc(a, (s->nops + (size_t)1) * sizeof *all), f;
    struct buf out = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->nops; i++)
        if (frame_of(s->ir, s->ops[i], &f))
            add_frame(all, &n, &f);
    for (uint32_t i = 0; i < n && i < MOST_FUNCTIONS; i++)
        write_frame(&out, &all[i]);
    if (n > MOST_FUNCTIONS)
        buf_add(&out, STR("; ..."));
    return buf_take(&out, a);
}
