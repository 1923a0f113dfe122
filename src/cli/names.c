#include "cli/names.h"

#include <string.h>
#include <sys/stat.h>

/* Its parts, with a slash behind each: those of "./x/../run.tar:m.mlir" are "x/run.tar/m.mlir/". */
static struct str parts_of(const char *path, struct arena *a) {
    struct str rest = str_of(path);
    struct buf b = {0};
    while (rest.n) {
        size_t n = 0;
        while (n < rest.n && rest.p[n] != '/' && rest.p[n] != ':')
            n++;
        struct str part = {rest.p, n};
        rest = (struct str){rest.p + n + (n < rest.n), rest.n - n - (n < rest.n)};
        if (part.n && !str_is(part, ".") && !str_is(part, ".."))
            buf_printf(&b, "%.*s/", (int)part.n, part.p);
    }
    return buf_take(&b, a);
}

/* A directory or an archive. */
static bool has_files(const char *word, const char *const *paths, size_t n) {
    struct stat st;
    size_t length = strlen(word);
    bool found = stat(word, &st) == 0 && S_ISDIR(st.st_mode);
    for (size_t i = 0; i < n && !found; i++)
        found = strncmp(paths[i], word, length) == 0 && paths[i][length] == ':';
    return found;
}

static struct str without_last(struct str parts) {
    size_t n = parts.n ? parts.n - 1 : 0;
    while (n > 0 && parts.p[n - 1] != '/')
        n--;
    return (struct str){parts.p, n};
}

static struct str without_kind(struct str s) {
    static const char *const kinds[] = {".mlir", ".ttnn", ".ttir", ".log", ".txt", ".gz",
                                        ".bz2",  ".xz",   ".zst",  ".yml", ".json"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct str rest = {s.p, s.n - strlen(kinds[i])};
        if (str_ends(s, str_of(kinds[i])) && rest.n && rest.p[rest.n - 1] != '/') {
            s = rest;
            i = SIZE_MAX; /* again from the first one */
        }
    }
    return s;
}

static struct str common(const char *const *paths, size_t n, const char *const *words, size_t nwords, struct arena *a) {
    struct str all = STR("");
    for (size_t i = 0; i < nwords; i++) {
        struct str parts = parts_of(words[i], a);
        if (!has_files(words[i], paths, n))
            parts = without_last(parts);
        if (i == 0)
            all = parts;
        while (!str_starts(parts, all))
            all = without_last(all);
    }
    return all;
}

static bool is_taken(const char **names, size_t n, size_t but, const char *name) {
    bool taken = false;
    for (size_t i = 0; i < n && !taken; i++)
        taken = i != but && strcmp(names[i], name) == 0;
    return taken;
}

const char **names_of(const char *const *paths, size_t n, const char *const *words, size_t nwords, struct arena *a) {
    const char **names = arena_alloc(a, (n + 1) * sizeof *names), **whole = arena_alloc(a, (n + 1) * sizeof *whole);
    const char **out = arena_alloc(a, (n + 1) * sizeof *out);
    struct str base = common(paths, n, words, nwords, a);
    for (size_t i = 0; i < n; i++) {
        struct str name = parts_of(paths[i], a);
        name = str_starts(name, base) ? (struct str){name.p + base.n, name.n - base.n} : name;
        name.n -= name.n > 0;
        whole[i] = arena_strdup(a, name);
        names[i] = arena_strdup(a, without_kind(name));
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = is_taken(names, n, i, names[i]) ? whole[i] : names[i];
        for (size_t k = 2; is_taken(out, i, i, out[i]); k++) /* given twice */
            out[i] = arena_printf(a, "%s-%zu", whole[i], k).p;
    }
    return out;
}
