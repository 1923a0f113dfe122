/* A build step: reads the pattern files of a directory, and writes the set as it is in memory then (image.h). With a
 * mistake in a file the build ends.
 *
 * The set is loaded twice, each time with one region as its arena, and __wrap_arena_alloc, which the linker puts before
 * arena_alloc, notes what is allocated there. What the first set reaches is copied. A word is a pointer where it is an
 * address in its region and that of the other set is as far from it as the regions are from one another: what padding
 * happens to hold beside a byte is not, since that distance is no multiple of 256. An address in the program is one of
 * a text where its length stands behind it, as in struct str; nothing else of the program is pointed to. Padding that
 * holds what is left of such an address passes for an empty text where a zero follows it, as behind a flag of one
 * element of an array: struct slot has no padding for that.
 *
 * usage: compile_patterns BYTES SOURCE DEPENDENCIES DIRECTORY */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/library/image.h"

const struct pattern_image pattern_image = {0}; /* this program has none */

enum { REGION = 256 << 20, APART = 0x130 };

struct block {
    char *at, *other; /* other: of the second set */
    size_t size, to;  /* to: in the image; 0: nothing points to it */
};

static struct {
    char *region, *other;
    struct block *blocks; /* of the first set, in the order of their addresses */
    uint32_t n, cap, nother;
    struct buf bytes, pointers, files;
    const char *directory;
    bool failed;
} made_of;

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker has these names */
void *__real_arena_alloc(struct arena *a, size_t size);
void *__wrap_arena_alloc(struct arena *a, size_t size);
extern const char __executable_start, _end;
/* NOLINTEND(bugprone-reserved-identifier) */

static bool is_in(const char *p, const char *region) {
    return region && p >= region && p < region + REGION;
}

void *__wrap_arena_alloc(struct arena *a, size_t size) {
    char *p = __real_arena_alloc(a, size);
    size = (size + 15) & ~(size_t)15;
    if (is_in(p, made_of.region)) {
        made_of.blocks = grow(made_of.blocks, &made_of.cap, made_of.n + 1, sizeof *made_of.blocks);
        made_of.blocks[made_of.n++] = (struct block){.at = p, .size = size};
    } else if (is_in(p, made_of.other)) {
        made_of.failed |= made_of.nother >= made_of.n || made_of.blocks[made_of.nother].size != size;
        if (!made_of.failed)
            made_of.blocks[made_of.nother++].other = p;
    }
    return p;
}

static int holds(const void *key, const void *block) {
    const char *p = key;
    const struct block *b = block;
    return p < b->at ? -1 : p >= b->at + b->size;
}

static char *word_at(const char *at) {
    char *word;
    memcpy(&word, at, sizeof word);
    return word;
}

static void add_word(struct buf *b, size_t word) {
    uint32_t w = (uint32_t)word;
    buf_add(b, (struct str){(const char *)&w, sizeof w});
}

static size_t add_bytes(const char *p, size_t n) {
    size_t at = made_of.bytes.n;
    buf_add(&made_of.bytes, (struct str){p, n});
    while (made_of.bytes.n % 16)
        buf_addc(&made_of.bytes, '\0');
    return at;
}

static size_t place_of(const char *p);

/* Where in the image stands what a word points to; 0: it is no pointer. */
static size_t place_of_word(const struct block *b, size_t i) {
    const char *word = word_at(b->at + i), *other = word_at(b->other + i);
    bool program = word == other && word >= &__executable_start && word < &_end && i + 2 * sizeof(char *) <= b->size;
    if (program && (uintptr_t)word_at(b->at + i + sizeof(char *)) == strlen(word))
        return add_bytes(word, strlen(word) + 1);
    bool pointer =
        is_in(word, made_of.region) && is_in(other, made_of.other) && word - made_of.region == other - made_of.other;
    return pointer ? place_of(word) : 0;
}

/* Copies a block and what it points to, without what differs from the other one by chance. */
static void copy_block(struct block *b) {
    b->to = add_bytes(b->at, b->size);
    for (size_t i = 0; i < b->size; i++)
        if (b->at[i] != b->other[i])
            made_of.bytes.p[b->to + i] = 0;
    for (size_t i = 0; i + sizeof(char *) <= b->size; i += sizeof(char *)) {
        const char *word = word_at(b->at + i);
        size_t offset = place_of_word(b, i), n = strlen(made_of.directory);
        if (!offset)
            continue;
        bool file = strncmp(word, made_of.directory, n) == 0 && word[n] == '/';
        if (file) { /* no path of a build is in it */
            memset(made_of.bytes.p + offset, 0, n);
            offset += n + 1;
        }
        add_word(file ? &made_of.files : &made_of.pointers, b->to + i);
        memcpy(made_of.bytes.p + b->to + i, &offset, sizeof offset);
    }
}

static size_t place_of(const char *p) {
    struct block *b = bsearch(p, made_of.blocks, made_of.n, sizeof *b, holds);
    if (!b) {
        fprintf(stderr, "a pointer to what was not allocated\n");
        made_of.failed = true;
        return 0;
    }
    if (!b->to)
        copy_block(b);
    return b->to + (size_t)(p - b->at);
}

static bool load(struct pattern_set *set, char *region, const char *directory) {
    struct arena arena = {0};
    struct diags d = {.arena = &arena};
    set->arena = (struct arena){.at = region, .end = region + REGION};
    bool good = patterns_load(set, directory, &d);
    for (uint32_t i = 0; i < d.n; i++)
        fprintf(stderr, "%s:%llu:%u: %s: %s\n", d.items[i].file, (unsigned long long)d.items[i].line, d.items[i].column,
                severity_name(d.items[i].severity), d.items[i].message);
    diags_free(&d);
    arena_free(&arena);
    set->arena = (struct arena){0};
    return good;
}

static bool write_file(const char *path, struct str text) {
    FILE *out = fopen(path, "wb");
    bool written = out && fwrite(text.p, 1, text.n, out) == text.n;
    return out && fclose(out) == 0 && written;
}

static bool write_image(char **paths) {
    struct buf all = {0}, source = {0};
    size_t size = made_of.bytes.n, npointers = made_of.pointers.n, nfiles = made_of.files.n;
    buf_add(&all, buf_str(&made_of.bytes));
    buf_add(&all, buf_str(&made_of.pointers));
    buf_add(&all, buf_str(&made_of.files));
    buf_printf(&source,
               "#include \"patterns/library/image.h\"\n\n"
               "__asm__(\".section .rodata\\n.balign 16\\n.globl pattern_bytes\\n.hidden pattern_bytes\\n\"\n"
               "        \"pattern_bytes: .incbin \\\"%s\\\"\\n.previous\\n\");\n"
               "extern const char pattern_bytes[] __attribute__((visibility(\"hidden\"), aligned(16)));\n\n"
               "const struct pattern_image pattern_image = {\n    0x%llxu, pattern_bytes, %zu,\n"
               "    (const uint32_t *)(const void *)(pattern_bytes + %zu), %zu,\n"
               "    (const uint32_t *)(const void *)(pattern_bytes + %zu), %zu};\n",
               paths[1], (unsigned long long)patterns_hash(paths[4]), size, size, npointers / sizeof(uint32_t),
               size + npointers, nfiles / sizeof(uint32_t));
    bool good = write_file(paths[1], buf_str(&all)) && write_file(paths[2], buf_str(&source));
    buf_free(&all);
    buf_free(&source);
    return good;
}

static bool write_dependencies(char **paths) {
    struct buf list = {0};
    buf_printf(&list, "%s %s: %s", paths[1], paths[2], paths[4]); /* a directory changes when a file is added */
    DIR *d = opendir(paths[4]);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        if (str_ends(str_of(e->d_name), STR(".yml")) && !str_ends(str_of(e->d_name), STR(".test.yml")))
            buf_printf(&list, " %s/%s", paths[4], e->d_name);
    if (d)
        closedir(d);
    buf_addc(&list, '\n');
    bool good = write_file(paths[3], buf_str(&list));
    buf_free(&list);
    return good;
}

int main(int argc, char **argv) {
    if (argc != 5)
        return 2;
    static struct pattern_set sets[2];
    char *regions = xcalloc(2, REGION + APART);
    made_of.directory = argv[4];
    made_of.region = regions;
    if (!load(&sets[0], made_of.region, argv[4]))
        return 1;
    made_of.other = regions + REGION + APART;
    if (!load(&sets[1], made_of.other, argv[4]) || made_of.failed || made_of.nother != made_of.n)
        return 1;
    regexes_free(&sets[0].conditions.regexes);
    regexes_free(&sets[1].conditions.regexes);
    copy_block(&(struct block){(char *)&sets[0], (char *)&sets[1], sizeof sets[0], 0});
    bool good = !made_of.failed && write_image(argv) && write_dependencies(argv);
    buf_free(&made_of.bytes);
    buf_free(&made_of.pointers);
    buf_free(&made_of.files);
    free(made_of.blocks);
    free(regions);
    return good ? 0 : 1;
}
