#include "cli/names.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Its parts, with a slash behind each: those of "./x/../run.tar:m.mlir" are "x/run.tar/m.mlir/". */
static char *parts_of(struct args *args, const char *path) {
    char *parts = kept(args, strlen(path) + 2), *to = parts;
    for (size_t n; *path; path += n + (path[n] != '\0')) {
        n = strcspn(path, "/:");
        if (strspn(path, ".") >= n && n <= 2) /* nothing, "." or ".." */
            continue;
        memcpy(to, path, n);
        to[n] = '/';
        to += n + 1;
    }
    return parts;
}

/* A directory or an archive. */
static bool has_files(const char *word, const char *const *paths, size_t n) {
    struct stat st;
    bool found = stat(word, &st) == 0 && S_ISDIR(st.st_mode);
    for (size_t i = 0; i < n && !found; i++)
        found = begins(paths[i], word) && paths[i][strlen(word)] == ':';
    return found;
}

static void drop_last(char *parts) {
    size_t n = strlen(parts);
    n -= n > 0;
    while (n > 0 && parts[n - 1] != '/')
        n--;
    parts[n] = '\0';
}

static void drop_kind(char *name) {
    static const char *const kinds[] = {".mlir", ".ttnn", ".ttir", ".log", ".txt", ".gz",
                                        ".bz2",  ".xz",   ".zst",  ".yml", ".json"};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    for (size_t i = 0; i < KINDS; i++) {
        size_t n = strlen(name), kind = strlen(kinds[i]);
        if (!ends(name, kinds[i]) || n == kind || name[n - kind - 1] == '/')
            continue;
        name[n - kind] = '\0';
        i = SIZE_MAX; /* again from the first one */
    }
}

/* What all words of the command line begin with. */
static const char *common(struct args *args, const char *const *paths, size_t n) {
    const struct fa_inputs *words = &args->options.inputs;
    char *all = NULL;
    for (size_t i = 0; i < words->nfiles; i++) {
        char *parts = parts_of(args, words->files[i]);
        if (!has_files(words->files[i], paths, n))
            drop_last(parts);
        all = all ? all : parts;
        while (!begins(parts, all))
            drop_last(all);
    }
    return all ? all : "";
}

static bool is_taken(const char **names, size_t n, size_t but, const char *name) {
    bool taken = false;
    for (size_t i = 0; i < n && !taken; i++)
        taken = i != but && strcmp(names[i], name) == 0;
    return taken;
}

const char **names_of(struct args *args, const char *const *paths, size_t n) {
    const char **names = kept(args, (n + 1) * sizeof *names), **whole = kept(args, (n + 1) * sizeof *whole),
               **out = kept(args, (n + 1) * sizeof *out);
    const char *base = common(args, paths, n);
    for (size_t i = 0; i < n; i++) {
        char *name = parts_of(args, paths[i]);
        name += begins(name, base) ? strlen(base) : 0;
        whole[i] = text(args, "%.*s", (int)(strlen(name) - (*name != '\0')), name);
        drop_kind(name = text(args, "%s", whole[i]));
        names[i] = name;
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = is_taken(names, n, i, names[i]) ? whole[i] : names[i];
        for (size_t k = 2; is_taken(out, i, i, out[i]); k++) /* given twice */
            out[i] = text(args, "%s-%zu", whole[i], k);
    }
    return out;
}

/* ---- files of a directory ---- */

struct found_files {
    const char **items;
    size_t n, cap;
};

static void add_file(struct args *args, struct found_files *f, const char *path) {
    if (f->n == f->cap) {
        const char **more = kept(args, 2 * (f->cap + 8) * sizeof *more);
        for (size_t i = 0; i < f->n; i++)
            more[i] = f->items[i];
        f->items = more;
        f->cap = 2 * (f->cap + 8);
    }
    f->items[f->n++] = path;
}

static bool ends_in(const char *name, const char *all) {
    for (size_t n; *all; all += n + (all[n] == '|')) {
        n = strcspn(all, "|");
        size_t length = strlen(name);
        if (length > n && strncmp(name + length - n, all, n) == 0)
            return true;
    }
    return false;
}

static void find_files(struct args *args, struct found_files *f, const char *directory, const char *end) {
    struct dirent **entries = NULL;
    int n = scandir(directory, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name, *path = text(args, "%s/%s", directory, name);
        struct stat st;
        bool there = *name != '.' && lstat(path, &st) == 0;
        if (there && S_ISDIR(st.st_mode)) /* links to directories may be circles */
            find_files(args, f, path, end);
        else if (there && ends_in(name, end))
            add_file(args, f, path);
        free(entries[i]);
    }
    free(entries);
}

const char **files_below(struct args *args, const char *directory, const char *end, size_t *n) {
    struct found_files found = {NULL, 0, 0};
    find_files(args, &found, directory, end);
    *n = found.n;
    return found.items;
}

const char *name_below(struct args *args, const char *directory, const char *path) {
    char *name = text(args, "%s", path + strlen(directory) + 1);
    drop_kind(name);
    return name;
}
