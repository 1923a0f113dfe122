#include "pattern_text.h"

#include "search/match/search.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arena arena;
struct diags diags;
struct pattern_set set;
struct ir ir;
struct match_list list;

/* A set that has what is part of the language: the definitions of conditions, and what fused ops compute. */
static void new_set(void) {
    memset(&set, 0, sizeof set);
    cr_assert(patterns_load(&set, arena_printf(&arena, "%s/conditions.yml", getenv("FA_PATTERNS")).p, &diags));
    cr_assert(patterns_load(&set, arena_printf(&arena, "%s/lowering.yml", getenv("FA_PATTERNS")).p, &diags));
}

void search_setup(void) {
    arena = (struct arena){0};
    diags = (struct diags){.arena = &arena};
    new_set();
    memset(&ir, 0, sizeof ir);
    memset(&list, 0, sizeof list);
}

void forget_ir(void) {
    free(list.items);
    memset(&list, 0, sizeof list);
    if (ir.text)
        ir_free(&ir);
    ir.text = NULL;
}

void search_teardown(void) {
    forget_ir();
    patterns_free(&set);
    diags_free(&diags);
    arena_free(&arena);
}

void pattern_file(const char *yaml) {
    char path[] = "/tmp/fa-pattern-XXXXXX";
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, yaml, strlen(yaml)), (ssize_t)strlen(yaml));
    close(fd);
    forget_ir();
    patterns_free(&set);
    new_set();
    bool ok = patterns_load(&set, path, &diags);
    unlink(path);
    cr_assert(ok, "%s: line %d: %s", yaml, diags.n ? (int)diags.items[0].line : 0,
              diags.n ? diags.items[0].message : "");
}

void pattern(const char *match, const char *keys) {
    struct buf b = {0};
    buf_printf(&b, "name: p\nfused_op: ttnn.p\nsource: ttnn\nmatch: |\n");
    for (const char *p = match; *p;) {
        size_t n = strcspn(p, "\n");
        buf_printf(&b, "  %.*s\n", (int)n, p);
        p += n;
        p += *p == '\n';
    }
    buf_printf(&b, "%s\n%c", keys, '\0');
    pattern_file(b.p);
    buf_free(&b);
}

static uint32_t search_ir(void) {
    struct match_cache *cache = match_cache_new(&set); /* as an audit searches */
    struct searcher *s = searcher_new(&ir.g, cache, &arena);
    for (uint32_t f = 0; f < ir.m.nfuncs; f++)
        searcher_run(s, &set, f, &list);
    searcher_free(s);
    match_cache_free(cache);
    return list.n;
}

uint32_t search_all(const char *args, const char *ops) {
    forget_ir();
    ir_short(&ir, args, ops);
    return search_ir();
}

uint32_t search_text(const char *text) {
    forget_ir();
    ir_read(&ir, text);
    return search_ir();
}
