/* Reads chips from YAML, and the chip that a module states from its `system_desc`. */
#include "device/chips/chip.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/chips/affine.h"
#include "input/unpack/yaml.h"

/* ---- files ---- */

/* Digits and nothing else, above 0. */
static bool read_count(struct str text, void *member) {
    int64_t *out = member;
    return mlir_int(text, out) && *out > 0 && *out < (int64_t)1 << 40;
}

static bool read_power(struct str text, void *member) {
    int64_t *out = member;
    return read_count(text, out) && (*out & (*out - 1)) == 0 && *out <= 4096;
}

static bool read_rate(struct str text, void *member) {
    double *out = member;
    return mlir_float(text, out) && *out > 0 && *out < 1e9;
}

static bool read_grid(struct str text, void *member) {
    int64_t extents[MAX_GRID_RANK];
    struct str rest;
    if (extents_read(text, extents, &rest) != 2 || rest.n || extents[0] < 1 || extents[0] > 1024 || extents[1] < 1 ||
        extents[1] > 1024)
        return false;
    memcpy(member, extents, 2 * sizeof *extents);
    return true;
}

struct chip_record {
    struct chip chip;
    struct str like; /* a chip whose figures it has, where it says nothing else */
};

static const char a_number[] = "a number above 0", a_power[] = "a power of two", a_text[] = "a text";

#define MEMBER(name) offsetof(struct chip_record, chip.name)
static const struct field fields[] = {
    {"chip", FIELD_VALUE, true, MEMBER(name), yaml_word, a_text},
    {"like", FIELD_VALUE, false, offsetof(struct chip_record, like), yaml_word, "the name of a chip"},
    {"arch", FIELD_VALUE, true, MEMBER(arch), yaml_word, a_text},
    {"summary", FIELD_VALUE, true, MEMBER(summary), yaml_word, a_text},
    {"grid", FIELD_VALUE, true, MEMBER(rows), read_grid, "rows x columns, such as 8x8"},
    {"l1_bytes", FIELD_VALUE, true, MEMBER(l1_bytes), read_count, a_number},
    {"l1_reserved_bytes", FIELD_VALUE, true, MEMBER(l1_reserved_bytes), read_count, a_number},
    {"dram_align_bytes", FIELD_VALUE, true, MEMBER(dram_align), read_power, a_power},
    {"dram_channels", FIELD_VALUE, true, MEMBER(dram_channels), read_count, a_number},
    {"dram_channel_bytes", FIELD_VALUE, true, MEMBER(dram_channel_bytes), read_count, a_number},
    {"clock_mhz", FIELD_VALUE, true, MEMBER(clock_mhz), read_rate, a_number},
    {"dram_gb_per_s", FIELD_VALUE, true, MEMBER(dram_rate), read_rate, a_number},
    {"gap_us", FIELD_VALUE, true, MEMBER(gap_us), read_rate, a_number},
    {"startup_us", FIELD_VALUE, true, MEMBER(startup_us), read_rate, a_number},
    {"matrix_use", FIELD_VALUE, true, MEMBER(matrix_use), read_rate, a_number},
    {"core_bytes_per_cycle", FIELD_VALUE, true, MEMBER(core_bytes), read_rate, a_number},
    {"link_gb_per_s", FIELD_VALUE, true, MEMBER(link_rate), read_rate, a_number},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static bool read_chip(struct chips *set, const struct yaml *y, const struct tree *map) {
    const struct tree *like = tree_lookup(map, "like");
    const struct chip *other = like && like->kind == TREE_SCALAR ? chip_named(set, like->text) : NULL;
    struct chip_record r = {.chip = other ? *other : (struct chip){.rows = 0}};
    struct yaml own = *y;
    own.partial = other != NULL;
    if (like && !other)
        return yaml_wrong(y, like, "the chip stands before, in the same file or one that is read before",
                          "no such chip: %.*s", (int)like->text.n, like->text.n ? like->text.p : "");
    if (!yaml_record(&own, map, fields, FIELDS, &r))
        return false;
    const struct chip *c = &r.chip;
    if (chip_l1(c) <= 0)
        return yaml_wrong(y, map, NULL, "more of L1 is reserved than there is");
    if (chip_named(set, c->name))
        return yaml_wrong(y, map, NULL, "there is already a chip %.*s", (int)c->name.n, c->name.p);
    set->items = grow(set->items, &set->cap, set->n + 1, sizeof *set->items);
    set->items[set->n++] = *c;
    return true;
}

static bool read_cycles(struct chips *set, const struct yaml *y, const struct tree *map) {
    const struct tree *other = tree_lookup(map, "other");
    double cycles;
    if (!other || other->kind != TREE_SCALAR || !mlir_float(other->text, &cycles))
        return yaml_wrong(y, map, NULL, "`cycles` is a mapping of operators to numbers, with one for `other`");
    for (int k = 0; k < OPERATORS; k++)
        set->cycles[k] = cycles;
    for (const struct tree *k = map->first; k; k = k->next) {
        enum op_kind kind = k->kind == TREE_SCALAR ? op_kind_of_name(k->text) : NO_OPERATOR;
        if (kind == NO_OPERATOR && k->value != other)
            return yaml_wrong(y, k, NULL, "no such operator: %.*s", (int)k->text.n, k->text.n ? k->text.p : "");
        if (k->value->kind != TREE_SCALAR || !mlir_float(k->value->text, &cycles) || !(cycles > 0 && cycles < 1e6))
            return yaml_wrong(y, k->value, NULL, "cycles are a number above 0");
        if (kind != NO_OPERATOR)
            set->cycles[kind] = cycles;
    }
    return true;
}

static bool read_documents(struct chips *set, const struct yaml *y) {
    for (const struct tree *t = y->documents; t; t = t->next) {
        const struct tree *cycles = tree_lookup(t, "cycles");
        if (cycles ? !read_cycles(set, y, cycles) : !read_chip(set, y, t))
            return false;
    }
    return true;
}

bool chips_load_text(struct chips *set, const char *file, struct str text, struct arena *a, struct diags *d) {
    struct yaml y = {.path = file, .arena = a, .diags = d};
    return yaml_read(&y, text) && read_documents(set, &y);
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
        struct yaml y = {.path = arena_printf(a, "%s/%s", directory, names[i]->d_name).p, .arena = a, .diags = d};
        ok = ok && yaml_open(&y) && read_documents(set, &y);
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
        const char *name;
        bool (*read)(struct str text, void *member);
        size_t member;
    } stated[] = {{"grid", read_grid, offsetof(struct chip, rows)},
                  {"l1_size", read_count, offsetof(struct chip, l1_bytes)},
                  {"l1_unreserved_base", read_count, offsetof(struct chip, l1_reserved_bytes)},
                  {"noc_dram_address_align_bytes", read_power, offsetof(struct chip, dram_align)},
                  {"num_dram_channels", read_count, offsetof(struct chip, dram_channels)},
                  {"dram_channel_size", read_count, offsetof(struct chip, dram_channel_bytes)}};
    for (size_t i = 0; i < sizeof stated / sizeof *stated; i++) {
        struct chip changed = *c;
        struct str text;
        if (said_of(desc, stated[i].name, &text) && stated[i].read(text, (char *)&changed + stated[i].member) &&
            chip_l1(&changed) > 0)
            *c = changed;
    }
}

static bool system_desc(const struct graph *g, struct str *desc) {
    for (uint32_t op = 0; op < g->m->nops; op++)
        if (graph_class(g, op) == OP_STRUCTURE &&
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
