/* A build step: reads the pattern files of a directory, and writes the set as it is in memory then (image.h), and C
 * that says which image it is. With a mistake in a file the build ends.
 *
 * The set is loaded twice, each time with one region as its arena, and __wrap_arena_alloc, which the linker puts before
 * arena_alloc, notes what is allocated there. What the first set reaches is copied. A word is a pointer where it is an
 * address in its region and that of the other set is as far from it as the regions are from one another: what padding
 * happens to hold beside a byte is not, since that distance is no multiple of 256. An address in the program is one of
 * a text where its length stands behind it, as in struct str; nothing else of the program is pointed to. Padding that
 * holds what is left of such an address passes for an empty text where a zero follows it, as behind a flag of one
 * element of an array: struct slot has no padding for that.
 *
 * usage: compile_patterns IMAGE SOURCE DEPENDENCIES DIRECTORY */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "patterns/library/image.h"

const uint64_t image_build = 0; /* this program has none */

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
        offset += IMAGE_ADDRESS;
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

/* In place of the file that was there, which programs that run have mapped. */
static bool write_file(const char *path, struct str text) {
    unlink(path);
    FILE *out = fopen(path, "wb");
    bool written = out && fwrite(text.p, 1, text.n, out) == text.n;
    return out && fclose(out) == 0 && written;
}

static bool write_image(char **paths) {
    struct buf source = {0}, *all = &made_of.bytes;
    struct image_header header = {.hash = patterns_hash(paths[4]),
                                  .size = all->n,
                                  .npointers = (uint32_t)(made_of.pointers.n / sizeof(uint32_t)),
                                  .nfiles = (uint32_t)(made_of.files.n / sizeof(uint32_t))};
    buf_add(all, buf_str(&made_of.pointers));
    buf_add(all, buf_str(&made_of.files));
    memcpy(all->p, &header, offsetof(struct image_header, set));
    header.build = str_hash(buf_str(all));
    memcpy(all->p, &header, offsetof(struct image_header, set));
    buf_printf(&source, "#include \"patterns/library/image.h\"\n\nconst uint64_t image_build = 0x%llxu;\n",
               (unsigned long long)header.build);
    bool good = write_file(paths[1], buf_str(all)) && write_file(paths[2], buf_str(&source));
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
    struct image_header header = {.hash = 0};
    buf_add(&made_of.bytes, (struct str){(const char *)&header, offsetof(struct image_header, set)});
    copy_block(&(struct block){(char *)&sets[0], (char *)&sets[1], sizeof sets[0], 0});
    bool good = !made_of.failed && write_image(argv) && write_dependencies(argv);
    buf_free(&made_of.bytes);
    buf_free(&made_of.pointers);
    buf_free(&made_of.files);
    free(made_of.blocks);
    free(regions);
    return good ? 0 : 1;
}
