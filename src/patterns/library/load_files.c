/* Pattern files and directories. Sections that patterns may use (define, locations, fused_ops and others) are read
 * first, from all files of a directory. Every mistake is an error with its place, and a file with an error adds no
 * pattern after it. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "patterns/library/image.h"
#include "patterns/library/loader.h"
#include "patterns/library/lowering.h"

static void switch_off(struct loader *l, const struct tree *name) {
    struct pattern *p = find_pattern(l->set, name->text);
    if (p)
        retire_pattern(l->set, p, NULL);
    else
        warn_at(l, name, nearest_pattern_name(l->set, name->text, NULL),
                "switched off, but there is no such pattern: ", name->text);
}

/* {name: X, off: true}: an earlier pattern is switched off. */
static bool switches_off(struct loader *l, const struct tree *map) {
    const struct tree *off = tree_lookup(map, "off"), *name = tree_lookup(map, "name");
    if (!off || !is_scalar(l, off) || str_is(off->text, "false"))
        return false;
    if (!name || !str_is(off->text, "true"))
        error_at(l, off, "{name: linear, off: true}", "`off` is true or false and stands beside the name of a pattern",
                 STR(""));
    else if (is_scalar(l, name))
        switch_off(l, name);
    return true;
}

/* What patterns may use is read before them, from all files. */
static const struct {
    const char *key;
    void (*load)(struct loader *l, const struct tree *item);
    bool to_the_end; /* all items are read, also behind a wrong one */
} sections[] = {
    {"define", load_definition, true}, {"locations", load_location, true}, {"fused_ops", load_sign, true},
    {"passes", load_pass, false},      {"options", load_option, false},    {"unchecked", load_unchecked, true},
    {"had", load_fact, false},         {"prints", load_printed, false},    {"compiler", load_version, false},
    {"demands", load_demand, false},   {"library", load_library, false}};

enum { NSECTIONS = sizeof sections / sizeof *sections };

static void load_section(struct loader *l, size_t section, const struct tree *list) {
    if (list->kind != TREE_SEQUENCE)
        error_at(l, list, NULL, arena_printf(&l->set->arena, "`%s` is a list", sections[section].key).p, STR(""));
    else
        for (const struct tree *i = list->first; i && (!l->in.failed || sections[section].to_the_end); i = i->next)
            sections[section].load(l, i);
}

static bool has_sections(const struct tree *root) {
    for (const struct tree *k = root->kind == TREE_MAPPING ? root->first : NULL; k; k = k->next)
        for (size_t i = 0; i < NSECTIONS && k->text.n; i++)
            if (*k->text.p == *sections[i].key && str_is(k->text, sections[i].key))
                return true;
    return false;
}

static void load_sections(struct loader *l, const struct tree *root) {
    const char *keys[NSECTIONS];
    for (size_t i = 0; i < NSECTIONS; i++)
        keys[i] = sections[i].key;
    record_check_keys(&l->in, root, keys, NSECTIONS, "a pattern has a document of its own, behind a line `---`");
    for (size_t i = 0; i < NSECTIONS && !l->in.failed; i++) {
        const struct tree *list = tree_lookup(root, sections[i].key);
        if (list)
            load_section(l, i, list);
    }
}

static void load_document(struct loader *l, const struct tree *root) {
    if (root->kind != TREE_MAPPING) {
        error_at(l, root, NULL, l->tests_of ? "tests are a mapping of patterns" : "a pattern is a mapping", STR(""));
        return;
    }
    if (l->tests_of) {
        load_test_document(l, l->tests_of, root);
        return;
    }
    if (tree_lookup(root, "defaults") || tree_lookup(root, "rules")) {
        load_shared(l, root);
        return;
    }
    if (has_sections(root) || switches_off(l, root) || l->in.failed)
        return;
    bool family = tree_lookup(root, "for");
    uint32_t n = family ? family_size(l, root) : 1;
    for (uint32_t i = 0; i < n && !l->in.failed; i++) {
        struct pattern *p = load_pattern(l, family ? family_member(l, root, i) : root);
        if (!l->in.failed)
            add_pattern(l->set, p);
    }
}

/* The documents before the first that is no YAML, then an error. Those behind a wrong one are read for their own
 * mistakes, unless they may be like that one. */
static void load_documents(struct loader *l) {
    bool failed = l->in.failed;
    for (const struct tree *t = l->trees.documents; t; t = t->next) {
        if (failed && tree_lookup(t, "like"))
            continue;
        l->in.failed = false;
        load_document(l, t);
        failed |= l->in.failed;
    }
    l->in.failed = failed;
    if (l->trees.wrong) {
        struct source_location at = {l->in.file, l->trees.line, l->trees.column};
        const char *hint = strstr(l->trees.wrong, "mapping values") ? "a text with ': ' in it has to be quoted" : NULL;
        diag_add(l->in.diags, SEV_ERROR, at, hint, "not YAML: %s", l->trees.wrong);
        l->in.failed = true;
    }
    if (!l->trees.documents && !l->in.failed)
        warn_at(l, NULL, NULL, "has no pattern in it", STR(""));
}

static void load_sections_of_file(struct loader *l) {
    for (const struct tree *t = l->trees.documents; t && !l->in.failed; t = t->next)
        if (has_sections(t))
            load_sections(l, t);
}

/* False with the reason in errno. */
static bool read_bytes(const char *path, struct buf *b) {
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    char chunk[1 << 14];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_add(b, (struct str){chunk, n});
    bool ok = !ferror(f);
    return fclose(f) == 0 && ok;
}

static bool read_file(struct loader *l, const char *path) {
    struct buf b = {0};
    bool ok = read_bytes(path, &b);
    check_memory(ok ? 0 : errno);
    if (!ok)
        diag_add(l->in.diags, SEV_ERROR, (struct source_location){path, 0, 0}, NULL, "%s", strerror(errno));
    else
        loader_begin(l, path, buf_take(&b, &l->set->arena));
    buf_free(&b);
    return ok;
}

/* Of what sections define, whether or not patterns use it. */
static bool check_definitions(struct pattern_set *set, uint32_t idiom, uint32_t condition, struct diags *d) {
    bool ok = true;
    for (; idiom < set->idioms.n; idiom++)
        ok &= idiom_check(&set->idioms, &set->idioms.items[idiom], d);
    for (; condition < set->conditions.definitions.n; condition++)
        ok &= definition_check(&set->conditions, condition, d);
    return ok;
}

static bool load_files(struct pattern_set *set, const char *const *paths, uint32_t n, struct diags *d) {
    struct loader *l = arena_alloc(&set->arena, (n + 1) * sizeof *l);
    struct text_file *files = arena_alloc(&set->arena, (n + 1) * sizeof *files);
    uint32_t idiom = set->idioms.n, condition = set->conditions.definitions.n;
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++) {
        l[i] = (struct loader){.set = set, .file = &files[i], .in.diags = d};
        if ((ok = read_file(&l[i], paths[i])))
            load_sections_of_file(&l[i]);
        ok &= !l[i].in.failed;
    }
    ok = ok && check_definitions(set, idiom, condition, d);
    bool read = ok;
    for (uint32_t i = 0; i < n && read; i++) {
        l[i].in.failed = !ok;
        load_documents(&l[i]);
        ok = !l[i].in.failed;
    }
    return ok;
}

/* "linear.test.yml" beside "linear.yml", if it is there. */
bool patterns_load_tests(struct pattern_set *set, const struct pattern *of, struct diags *d) {
    struct loader l = {.set = set, .in.diags = d, .tests_of = of->file->path};
    struct str file = str_of(of->file->path);
    if (of->tests_read || !str_ends(file, STR(".yml")))
        return true;
    for (uint32_t i = 0; i < set->n; i++)
        set->items[i]->tests_read |= set->items[i]->file == of->file;
    struct str tests = arena_printf(&set->arena, "%.*s.test.yml", (int)(file.n - 4), file.p);
    if (access(tests.p, F_OK) != 0)
        return true;
    if (!read_file(&l, tests.p))
        return false;
    load_documents(&l);
    return !l.in.failed;
}

const struct pattern *patterns_load_text(struct pattern_set *set, const char *name, struct str text, struct diags *d) {
    struct loader l = {.set = set, .in.diags = d};
    loader_begin(&l, name, arena_str(&set->arena, text));
    load_documents(&l);
    patterns_index(set);
    for (uint32_t i = set->n; i-- > 0 && !l.in.failed;)
        if (set->items[i]->file == l.file)
            return set->items[i];
    return NULL;
}

static int is_pattern_file(const struct dirent *e) {
    struct str name = str_of(e->d_name);
    return name.p[0] != '.' && str_ends(name, STR(".yml")) && !str_ends(name, STR(".test.yml"));
}

/* In order of name; freed by the caller. -1 with errno. */
static int list_files(const char *path, struct dirent ***names) {
    int n = scandir(path, names, is_pattern_file, alphasort);
    check_memory(n < 0 ? errno : 0);
    return n;
}

static void free_names(struct dirent **names, int n) {
    for (int i = 0; i < n; i++)
        free(names[i]);
    if (n >= 0)
        free(names);
}

uint64_t patterns_hash(const char *directory) {
    struct dirent **names;
    int n = list_files(directory, &names);
    struct arena a = {0};
    struct buf file = {0};
    uint64_t hash = 0;
    bool ok = n > 0;
    for (int i = 0; i < n && ok; i++, file.n = 0) {
        buf_printf(&file, "%016llx%s%c", (unsigned long long)hash, names[i]->d_name, '\0');
        ok = read_bytes(arena_printf(&a, "%s/%s", directory, names[i]->d_name).p, &file);
        hash = str_hash(buf_str(&file));
    }
    free_names(names, n);
    buf_free(&file);
    arena_free(&a);
    return ok ? hash : 0;
}

static bool load_directory(struct pattern_set *set, const char *path, struct diags *d) {
    struct dirent **names;
    int n = list_files(path, &names);
    if (n < 0) {
        diag_add(d, SEV_ERROR, (struct source_location){path, 0, 0}, NULL, "%s", strerror(errno));
        return false;
    }
    const char **paths = arena_alloc(&set->arena, ((size_t)n + 1) * sizeof *paths);
    for (int i = 0; i < n; i++)
        paths[i] = arena_printf(&set->arena, "%s/%s", path, names[i]->d_name).p;
    free_names(names, n);
    if (n == 0)
        diag_add(d, SEV_ERROR, (struct source_location){path, 0, 0}, "pattern files end in .yml",
                 "has no pattern file in it");
    return n > 0 && load_files(set, paths, (uint32_t)n, d);
}

bool patterns_load(struct pattern_set *set, const char *path, struct diags *d) {
    struct stat st;
    if (stat(path, &st) != 0) {
        diag_add(d, SEV_ERROR, (struct source_location){path, 0, 0}, NULL, "%s", strerror(errno));
        return false;
    }
    bool ok = S_ISDIR(st.st_mode) ? load_directory(set, path, d) : load_files(set, &path, 1, d);
    patterns_index(set);
    return ok;
}

bool patterns_load_bundled(struct pattern_set *set, const char *directory, struct diags *d) {
    return image_load(set, directory, patterns_hash(directory)) || patterns_load(set, directory, d);
}
