/* Pattern files and directories (libyaml). Sections that patterns may use (idioms, locations, fused_ops, lowering) are
 * read first, from all files of a directory. Every mistake is an error with its place, and a file with an error adds no
 * pattern after it. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "library/loader.h"

static void switch_off(struct loader *l, const yaml_node_t *name) {
    struct pattern *p = find_pattern(l->set, scalar_text(name));
    if (p)
        retire_pattern(l->set, p, NULL);
    else
        warn_at(l, name, nearest_pattern_name(l->set, scalar_text(name), NULL),
                "switched off, but there is no such pattern: ", scalar_text(name));
}

/* {name: X, off: true}: an earlier pattern is switched off. */
static bool switches_off(struct loader *l, const yaml_node_t *map) {
    const yaml_node_t *off = lookup(l, map, "off"), *name = lookup(l, map, "name");
    if (!off || !is_scalar(l, off) || str_is(scalar_text(off), "false"))
        return false;
    if (!name || !str_is(scalar_text(off), "true"))
        error_at(l, off, "{name: linear, off: true}", "`off` is true or false and stands beside the name of a pattern",
                 STR(""));
    else if (is_scalar(l, name))
        switch_off(l, name);
    return true;
}

static void load_document(struct loader *l, bool idioms) {
    const yaml_node_t *root = yaml_document_get_root_node(&l->doc);
    if (!root)
        return;
    if (root->type != YAML_MAPPING_NODE) {
        error_at(l, root, NULL, l->tests_of ? "tests are a mapping of patterns" : "a pattern is a mapping", STR(""));
        return;
    }
    if (l->tests_of) {
        load_test_document(l, l->tests_of, root);
        return;
    }
    const yaml_node_t *list = lookup(l, root, "idioms");
    if (list && idioms)
        load_idioms(l, list);
    const yaml_node_t *rules = lookup(l, root, "locations");
    if (rules && idioms)
        load_locations(l, rules);
    const yaml_node_t *signs = lookup(l, root, "fused_ops");
    if (signs && idioms)
        load_signs(l, signs);
    const yaml_node_t *lowered = lookup(l, root, "lowering");
    if (lowered && idioms)
        load_lowerings(l, lowered);
    if (list || rules || signs || lowered || idioms)
        return;
    if (switches_off(l, root) || l->failed)
        return;
    struct pattern *p = load_pattern(l, root);
    if (!l->failed)
        add_pattern(l->set, p);
}

static void load_text_of_file(struct loader *l, bool idioms) {
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return;
    loader_begin(l);
    yaml_parser_set_input_string(&parser, (const unsigned char *)l->text.p, l->text.n);
    bool any = false;
    for (bool more = true; more && !l->failed;) {
        if (!yaml_parser_load(&parser, &l->doc)) {
            struct source_location at = {l->file, parser.problem_mark.line + 1,
                                         (uint32_t)parser.problem_mark.column + 1};
            diag_add(l->diags, SEV_ERROR, at, NULL, "not YAML: %s", parser.problem ? parser.problem : "unreadable");
            l->failed = true;
            break;
        }
        more = yaml_document_get_root_node(&l->doc) != NULL;
        any |= more;
        load_document(l, idioms);
        yaml_document_delete(&l->doc);
    }
    if (!any && !l->failed && !idioms)
        warn_at(l, NULL, NULL, "has no pattern in it", STR(""));
    yaml_parser_delete(&parser);
    loader_end(l);
}

/* True when the text has one of the sections that patterns are read after. */
static bool has_sections(struct str text) {
    static const char *const sections[] = {"idioms:", "locations:", "fused_ops:", "lowering:"};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        for (const char *at = str_find(text, str_of(sections[i])); at;) {
            if (at == text.p || at[-1] == '\n')
                return true;
            at++;
            at = str_find((struct str){at, (size_t)(text.p + text.n - at)}, str_of(sections[i]));
        }
    return false;
}

static bool read_file(struct loader *l, const char *path) {
    FILE *f = fopen(path, "rb");
    struct source_location at = {path, 0, 0};
    l->file = arena_strdup(&l->set->arena, str_of(path));
    if (!f) {
        diag_add(l->diags, SEV_ERROR, at, NULL, "%s", strerror(errno));
        return false;
    }
    struct buf b = {0};
    char chunk[4096];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_add(&b, (struct str){chunk, n});
    bool ok = !ferror(f);
    fclose(f);
    if (!ok)
        diag_add(l->diags, SEV_ERROR, at, NULL, "cannot be read");
    l->text = arena_str(&l->set->arena, buf_str(&b));
    buf_free(&b);
    return ok;
}

/* What patterns may use is read first, from all files. */
static bool load_files(struct pattern_set *set, const char *const *paths, uint32_t n, struct diags *d) {
    struct loader *l = arena_alloc(&set->arena, (n + 1) * sizeof *l);
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++) {
        l[i].set = set;
        l[i].diags = d;
        ok = read_file(&l[i], paths[i]);
        if (ok && has_sections(l[i].text))
            load_text_of_file(&l[i], true);
        ok &= !l[i].failed;
    }
    for (uint32_t i = 0; i < n && ok; i++) {
        load_text_of_file(&l[i], false);
        ok = !l[i].failed;
    }
    return ok;
}

/* "linear.test.yml" beside "linear.yml", if it is there. */
bool patterns_load_tests(struct pattern_set *set, const struct pattern *of, struct diags *d) {
    struct loader l = {.set = set, .diags = d, .tests_of = of->file.p};
    if (of->tests_read || !str_ends(of->file, STR(".yml")))
        return true;
    for (uint32_t i = 0; i < set->n; i++)
        set->items[i]->tests_read |= set->items[i]->file.p == of->file.p;
    struct str tests = arena_printf(&set->arena, "%.*s.test.yml", (int)(of->file.n - 4), of->file.p);
    if (access(tests.p, F_OK) != 0)
        return true;
    if (!read_file(&l, tests.p))
        return false;
    load_text_of_file(&l, false);
    return !l.failed;
}

const struct pattern *patterns_load_text(struct pattern_set *set, const char *name, struct str text, struct diags *d) {
    struct loader l = {.set = set, .diags = d};
    l.file = arena_strdup(&set->arena, str_of(name));
    l.text = arena_str(&set->arena, text);
    load_text_of_file(&l, false);
    patterns_index(set);
    for (uint32_t i = set->n; i-- > 0 && !l.failed;)
        if (set->items[i]->file.p == l.file)
            return set->items[i];
    return NULL;
}

static int is_pattern_file(const struct dirent *e) {
    struct str name = str_of(e->d_name);
    return name.p[0] != '.' && str_ends(name, STR(".yml")) && !str_ends(name, STR(".test.yml"));
}

static bool load_directory(struct pattern_set *set, const char *path, struct diags *d) {
    struct dirent **names;
    int n = scandir(path, &names, is_pattern_file, alphasort);
    if (n < 0) {
        diag_add(d, SEV_ERROR, (struct source_location){path, 0, 0}, NULL, "%s", strerror(errno));
        return false;
    }
    const char **paths = arena_alloc(&set->arena, ((size_t)n + 1) * sizeof *paths);
    for (int i = 0; i < n; i++) {
        paths[i] = arena_printf(&set->arena, "%s/%s", path, names[i]->d_name).p;
        free(names[i]);
    }
    free(names);
    if (n == 0)
        diag_add(d, SEV_ERROR, (struct source_location){path, 0, 0}, "pattern files end in .yml",
                 "has no pattern file in it");
    return n > 0 && load_files(set, paths, (uint32_t)n, d);
}

static bool load_path(struct pattern_set *set, const char *path, struct diags *d) {
    struct stat st;
    if (stat(path, &st) != 0) {
        diag_add(d, SEV_ERROR, (struct source_location){path, 0, 0}, NULL, "%s", strerror(errno));
        return false;
    }
    if (S_ISDIR(st.st_mode))
        return load_directory(set, path, d);
    return load_files(set, &path, 1, d);
}

bool patterns_load(struct pattern_set *set, const char *path, struct diags *d) {
    bool ok = load_path(set, path, d);
    patterns_index(set);
    return ok;
}
