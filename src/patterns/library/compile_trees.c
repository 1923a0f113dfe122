/* A build step: prints the YAML files of directories as C, as the trees that tree_read would make of them
 * (base/tree.h). The patterns of the first directory are loaded before that: with a mistake in one the build ends, so
 * that audits may put off reading what is compiled in.
 *
 * usage: compile_trees OUTPUT DEPENDENCIES PATTERNS DIRECTORY... */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/tree.h"
#include "input/source/source.h"
#include "patterns/library/pattern.h"

const struct compiled_tree compiled_trees[] = {{0, 0, NULL}}; /* this program has none */

/* All nodes of all files in one array: `next` and the others are indices of it. */
struct flat_tree {
    const struct tree *tree;
    uint32_t first, next, value;
    size_t text;
};

struct compiler {
    struct arena arena;
    struct diags diags;
    struct flat_tree *nodes;
    uint32_t n, cap;
    struct buf texts, files, dependencies;
};

/* A node, what is below it and what is behind it. Its index; NONE: there is none. */
static uint32_t flatten(struct compiler *c, const struct tree *t) {
    if (!t)
        return NONE;
    uint32_t i = c->n++;
    c->nodes = grow(c->nodes, &c->cap, c->n, sizeof *c->nodes);
    struct flat_tree flat = {t, NONE, NONE, NONE, c->texts.n};
    buf_add(&c->texts, t->text);
    buf_addc(&c->texts, '\0');
    flat.first = flatten(c, t->first);
    flat.next = flatten(c, t->next);
    flat.value = flatten(c, t->value);
    c->nodes[i] = flat;
    return i;
}

static void add_file(struct compiler *c, const char *path) {
    struct source s;
    if (!source_open(&s, path, &c->diags))
        return;
    struct str text = arena_str(&c->arena, (struct str){s.data, s.size});
    source_close(&s);
    struct tree_file file = tree_read(text, &c->arena);
    buf_printf(&c->dependencies, " %s", path);
    if (!file.wrong && file.documents)
        buf_printf(&c->files, "    {0x%llxu, %zu, nodes + %u},\n", (unsigned long long)str_hash(text), text.n,
                   flatten(c, file.documents));
}

/* Not of tests, which audits do not read. */
static int is_read_by_audits(const struct dirent *e) {
    struct str name = str_of(e->d_name);
    return name.p[0] != '.' && str_ends(name, STR(".yml")) && !str_ends(name, STR(".test.yml"));
}

static void add_directory(struct compiler *c, const char *path) {
    struct dirent **names;
    int n = scandir(path, &names, is_read_by_audits, alphasort);
    if (n < 0) {
        diag_add(&c->diags, SEV_ERROR, (struct source_location){path, 0, 0}, NULL, "%s", strerror(errno));
        return;
    }
    buf_printf(&c->dependencies, " %s", path); /* it changes when a file is added */
    for (int i = 0; i < n; i++) {
        add_file(c, arena_printf(&c->arena, "%s/%s", path, names[i]->d_name).p);
        free(names[i]);
    }
    free(names);
}

static void print_link(FILE *out, uint32_t i) {
    if (i == NONE)
        fputs(", NULL", out);
    else
        fprintf(out, ", nodes + %u", i);
}

static void print_trees(const struct compiler *c, FILE *out) {
    fputs("#include \"base/tree.h\"\n\nstatic const char texts[] = {", out);
    for (size_t i = 0; i < c->texts.n; i++)
        fprintf(out, "%s%d,", i % 32 ? "" : "\n    ", c->texts.p[i]);
    fprintf(out, "\n    0};\n\nstatic const struct tree nodes[%u] = {\n", c->n + 1);
    for (uint32_t i = 0; i < c->n; i++) {
        const struct tree *t = c->nodes[i].tree;
        fprintf(out, "    {%d, %d, %u, %llu, {texts + %zu, %zu}, %u", t->kind, t->block, t->column,
                (unsigned long long)t->line, c->nodes[i].text, t->text.n, t->n);
        print_link(out, c->nodes[i].first);
        print_link(out, c->nodes[i].next);
        print_link(out, c->nodes[i].value);
        fputs("},\n", out);
    }
    fprintf(out, "};\n\nconst struct compiled_tree compiled_trees[] = {\n%.*s    {0, 0, NULL}};\n", (int)c->files.n,
            c->files.n ? c->files.p : "");
}

static bool write_files(const struct compiler *c, const char *output, const char *dependencies) {
    FILE *out = fopen(output, "wb"), *list = fopen(dependencies, "wb");
    if (out)
        print_trees(c, out);
    if (list)
        fprintf(list, "%s:%.*s\n", output, (int)c->dependencies.n, c->dependencies.p);
    bool written = out && list && !ferror(out) && !ferror(list);
    written = (!out || fclose(out) == 0) && written;
    return (!list || fclose(list) == 0) && written;
}

int main(int argc, char **argv) {
    struct compiler c = {.n = 0};
    struct pattern_set set = {0};
    c.diags.arena = &c.arena;
    if (argc < 4)
        return 2;
    patterns_load(&set, argv[3], &c.diags);
    for (int i = 3; i < argc; i++)
        add_directory(&c, argv[i]);
    for (uint32_t i = 0; i < c.diags.n; i++) {
        const struct diag *d = &c.diags.items[i];
        fprintf(stderr, "%s:%llu:%u: %s: %s\n", d->file, (unsigned long long)d->line, d->column,
                severity_name(d->severity), d->message);
    }
    bool good = c.diags.errors == 0 && write_files(&c, argv[1], argv[2]);
    buf_free(&c.texts);
    buf_free(&c.files);
    buf_free(&c.dependencies);
    free(c.nodes);
    diags_free(&c.diags);
    patterns_free(&set);
    arena_free(&c.arena);
    return good ? 0 : 1;
}
