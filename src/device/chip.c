/* Reads chips from YAML, and the chip that a module states from its `system_desc`. */
#include "device/chip.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/tree.h"
#include "device/affine.h"

/* ---- files ---- */

enum value_kind { VALUE_TEXT, VALUE_COUNT, VALUE_POWER, VALUE_RATE, VALUE_GRID };

static const struct {
    const char *key;
    enum value_kind kind;
    size_t member;
} keys[] = {
    {"chip", VALUE_TEXT, offsetof(struct chip, name)},
    {"arch", VALUE_TEXT, offsetof(struct chip, arch)},
    {"summary", VALUE_TEXT, offsetof(struct chip, summary)},
    {"grid", VALUE_GRID, offsetof(struct chip, rows)},
    {"l1_bytes", VALUE_COUNT, offsetof(struct chip, l1_bytes)},
    {"l1_reserved_bytes", VALUE_COUNT, offsetof(struct chip, l1_reserved_bytes)},
    {"l1_align_bytes", VALUE_POWER, offsetof(struct chip, l1_align)},
    {"dram_align_bytes", VALUE_POWER, offsetof(struct chip, dram_align)},
    {"dram_channels", VALUE_COUNT, offsetof(struct chip, dram_channels)},
    {"dram_channel_bytes", VALUE_COUNT, offsetof(struct chip, dram_channel_bytes)},
    {"clock_mhz", VALUE_RATE, offsetof(struct chip, clock_mhz)},
    {"dram_peak_gb_per_s", VALUE_RATE, offsetof(struct chip, dram_peak)},
    {"dram_gb_per_s", VALUE_RATE, offsetof(struct chip, dram_rate)},
    {"gap_us", VALUE_RATE, offsetof(struct chip, gap_us)},
    {"startup_us", VALUE_RATE, offsetof(struct chip, startup_us)},
    {"matrix_use", VALUE_RATE, offsetof(struct chip, matrix_use)},
    {"core_bytes_per_cycle", VALUE_RATE, offsetof(struct chip, core_bytes)},
    {"link_gb_per_s", VALUE_RATE, offsetof(struct chip, link_rate)},
};

enum { NKEYS = sizeof keys / sizeof *keys };

struct chip_file {
    struct chips *set;
    const char *file;
    struct diags *diags;
};

static bool refuse(const struct chip_file *r, const struct tree *at, const char *hint, const char *what,
                   struct str word) {
    struct source_location place = {r->file, at->line, at->column};
    diag_add(r->diags, SEV_ERROR, place, hint, "%s%.*s", what, (int)word.n, word.n ? word.p : "");
    return false;
}

/* Digits and nothing else, above 0. */
static bool read_count(struct str text, int64_t *out) {
    return mlir_int(text, out) && *out > 0 && *out < (int64_t)1 << 40;
}

static bool read_grid(struct str text, int64_t out[2]) {
    int64_t extents[MAX_GRID_RANK];
    struct str rest;
    if (extents_read(text, extents, &rest) != 2 || rest.n || extents[0] < 1 || extents[0] > 1024 || extents[1] < 1 ||
        extents[1] > 1024)
        return false;
    memcpy(out, extents, 2 * sizeof *out);
    return true;
}

static bool read_value(struct chip *c, int key, struct str text) {
    void *member = (char *)c + keys[key].member;
    int64_t *count = member;
    double *rate = member;
    switch (keys[key].kind) {
    case VALUE_TEXT:
        *(struct str *)member = text;
        return text.n > 0;
    case VALUE_GRID:
        return read_grid(text, count);
    case VALUE_COUNT:
        return read_count(text, count);
    case VALUE_POWER:
        return read_count(text, count) && (*count & (*count - 1)) == 0 && *count <= 4096;
    case VALUE_RATE:
        return mlir_float(text, rate) && *rate > 0 && *rate < 1e9;
    }
    return false;
}

static int key_named(struct str name) {
    for (int i = 0; i < NKEYS; i++)
        if (str_is(name, keys[i].key))
            return i;
    return -1;
}

/* `like: n150`: its figures, where this chip says nothing else. */
static bool begin_like(const struct chip_file *r, const struct tree *map, struct chip *c, unsigned *given) {
    const struct tree *like = tree_lookup(map, "like");
    if (!like)
        return true;
    const struct chip *other = like->kind == TREE_SCALAR ? chip_named(r->set, like->text) : NULL;
    if (!other)
        return refuse(r, like, "the chip stands before, in the same file or one that is read before",
                      "no such chip: ", like->text);
    *c = *other;
    *given = ~1U; /* all but its own name */
    return true;
}

static bool read_chip(const struct chip_file *r, const struct tree *map) {
    struct chip c = {.rows = 0};
    unsigned given = 0;
    if (map->kind != TREE_MAPPING)
        return refuse(r, map, NULL, "a chip is a mapping", STR(""));
    if (!begin_like(r, map, &c, &given))
        return false;
    for (const struct tree *k = map->first; k; k = k->next) {
        int key = k->kind == TREE_SCALAR ? key_named(k->text) : -1;
        if (key < 0 && k->kind == TREE_SCALAR && str_is(k->text, "like"))
            continue;
        if (key < 0)
            return refuse(r, k, NULL, "unknown key: ", k->text);
        if (k->value->kind != TREE_SCALAR || !read_value(&c, key, k->value->text))
            return refuse(r, k->value, "counts are above 0, alignments powers of two, grids rows x columns (8x8)",
                          "not a value of ", k->text);
        given |= 1U << key;
    }
    for (int i = 0; i < NKEYS; i++)
        if (!(given & 1U << i))
            return refuse(r, map, NULL, "a chip needs the key ", str_of(keys[i].key));
    if (chip_l1(&c) <= 0)
        return refuse(r, map, NULL, "more of L1 is reserved than there is", STR(""));
    if (chip_named(r->set, c.name))
        return refuse(r, map, NULL, "there is already a chip ", c.name);
    r->set->items = grow(r->set->items, &r->set->cap, r->set->n + 1, sizeof *r->set->items);
    r->set->items[r->set->n++] = c;
    return true;
}

static bool read_cycles(const struct chip_file *r, const struct tree *map) {
    const struct tree *other = tree_lookup(map, "other");
    double cycles;
    if (!other || other->kind != TREE_SCALAR || !mlir_float(other->text, &cycles))
        return refuse(r, map, NULL, "`cycles` is a mapping of operators to numbers, with one for `other`", STR(""));
    for (int k = 0; k < K_COUNT; k++)
        r->set->cycles[k] = cycles;
    for (const struct tree *k = map->first; k; k = k->next) {
        enum op_kind kind = k->kind == TREE_SCALAR ? op_kind_of_name(k->text) : K_UNKNOWN;
        if (kind == K_UNKNOWN && k->value != other)
            return refuse(r, k, NULL, "no such operator: ", k->text);
        if (k->value->kind != TREE_SCALAR || !mlir_float(k->value->text, &cycles) || !(cycles > 0 && cycles < 1e6))
            return refuse(r, k->value, NULL, "cycles are a number above 0", STR(""));
        if (kind != K_UNKNOWN)
            r->set->cycles[kind] = cycles;
    }
    return true;
}

bool chips_load_text(struct chips *set, const char *file, struct str text, struct arena *a, struct diags *d) {
    struct chip_file r = {set, file, d};
    struct tree_file f = tree_read(text, a);
    for (const struct tree *t = f.documents; t; t = t->next) {
        const struct tree *cycles = tree_lookup(t, "cycles");
        if (cycles ? !read_cycles(&r, cycles) : !read_chip(&r, t))
            return false;
    }
    if (f.wrong)
        diag_add(d, SEV_ERROR, (struct source_location){file, f.line, f.column}, NULL, "not YAML: %s", f.wrong);
    return !f.wrong;
}

static bool load_file(struct chips *set, const char *path, struct arena *a, struct diags *d) {
    struct source s;
    if (!source_open(&s, path, d))
        return false;
    bool ok = chips_load_text(set, arena_strdup(a, str_of(path)), (struct str){s.data, s.size}, a, d);
    source_close(&s);
    return ok;
}

static int is_yaml(const struct dirent *e) {
    return str_ends(str_of(e->d_name), STR(".yml"));
}

bool chips_load(struct chips *set, const char *directory, struct arena *a, struct diags *d) {
    struct dirent **names;
    int n = scandir(directory, &names, is_yaml, alphasort);
    check_memory(n < 0 ? errno : 0);
    bool ok = n > 0;
    if (n <= 0)
        diag_add(d, SEV_ERROR, (struct source_location){directory, 0, 0}, NULL, "%s",
                 n < 0 ? strerror(errno) : "has no description of a chip (*.yml) in it");
    for (int i = 0; i < n; i++) {
        ok = ok && load_file(set, arena_printf(a, "%s/%s", directory, names[i]->d_name).p, a, d);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    return ok;
}

void chips_free(struct chips *set) {
    free(set->items);
    *set = (struct chips){0};
}

const struct chip *chip_named(const struct chips *set, struct str name) {
    for (uint32_t i = 0; i < set->n; i++)
        if (str_eq(set->items[i].name, name))
            return &set->items[i];
    return NULL;
}

/* ---- system_desc ---- */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* What is said of a key, in any form of the attribute: "grid = 8x8", "#tt.grid<8x8>", "arch = <wormhole_b0>". */
static bool said_of(struct str desc, const char *key, struct str *value) {
    const char *end = desc.p + desc.n;
    size_t n = strlen(key);
    for (struct str rest = desc;;) {
        const char *p = str_find(rest, str_of(key));
        if (!p)
            return false;
        rest = (struct str){p + 1, (size_t)(end - p - 1)};
        if ((p > desc.p && is_word(p[-1])) || p + n == end || is_word(p[n]))
            continue;
        for (p += n; p < end && (*p == ' ' || *p == '=' || *p == '<');)
            p++;
        const char *from = p;
        while (p < end && is_word(*p))
            p++;
        *value = (struct str){from, (size_t)(p - from)};
        return value->n > 0;
    }
}

static void override(struct chip *c, struct str desc) {
    static const struct {
        const char *stated, *key;
    } names[] = {{"grid", "grid"},
                 {"l1_size", "l1_bytes"},
                 {"l1_unreserved_base", "l1_reserved_bytes"},
                 {"noc_l1_address_align_bytes", "l1_align_bytes"},
                 {"noc_dram_address_align_bytes", "dram_align_bytes"},
                 {"num_dram_channels", "dram_channels"},
                 {"dram_channel_size", "dram_channel_bytes"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct chip changed = *c;
        struct str text;
        if (said_of(desc, names[i].stated, &text) && read_value(&changed, key_named(str_of(names[i].key)), text) &&
            chip_l1(&changed) > 0)
            *c = changed;
    }
}

static bool system_desc(const struct graph *g, struct str *desc) {
    for (uint32_t op = 0; op < g->m->nops; op++)
        if (g->kind[op] == K_MODULE &&
            (mlir_attr(g->m, op, "ttcore.system_desc", desc) || mlir_attr(g->m, op, "tt.system_desc", desc)))
            return true;
    return false;
}

bool device_of_module(const struct chips *set, const struct graph *g, struct device *out) {
    struct str desc, arch, grid;
    int64_t extents[2] = {0};
    const struct chip *found = NULL;
    if (!system_desc(g, &desc) || !said_of(desc, "arch", &arch))
        return false;
    bool has_grid = said_of(desc, "grid", &grid) && read_grid(grid, extents);
    for (uint32_t i = 0; i < set->n; i++) {
        const struct chip *c = &set->items[i];
        bool same_grid = has_grid && c->rows == extents[0] && c->columns == extents[1];
        if (str_eq(c->arch, arch) && (!found || (same_grid && found->rows * found->columns != extents[0] * extents[1])))
            found = c;
    }
    if (!found)
        return false;
    *out = (struct device){*found, CHIP_OF_MODULE};
    override(&out->chip, desc);
    return true;
}

struct device device_for(const struct chips *set, const struct chip *asked, const struct graph *a,
                         const struct graph *b) {
    const struct chip *usual = chip_named(set, STR("n150"));
    struct device d = {asked ? *asked : usual ? *usual : set->items[0], asked ? CHIP_CHOSEN : CHIP_ASSUMED};
    if (!asked && !(a && device_of_module(set, a, &d)) && b)
        device_of_module(set, b, &d);
    return d;
}
