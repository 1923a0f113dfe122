/* A scan that other threads help with finds what a scan alone does, to the last byte. */
#include "base/work.h"
#include "log/log.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

enum { HELPERS = 3 };

struct scanned {
    struct source source;
    struct arena arena;
    struct log_scan scan;
};

static void *help(void *board) {
    work_help(board);
    return NULL;
}

static void scan_text(struct scanned *s, struct str text, bool helped) {
    pthread_t threads[HELPERS];
    struct work_board *board = helped ? work_board_new() : NULL;
    memset(s, 0, sizeof *s);
    s->source = (struct source){.path = "x.log", .data = text.p, .size = text.n, .line_cache_line = 1};
    for (int i = 0; i < HELPERS && helped; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, help, board), 0);
    log_scan_helped(&s->source, &s->arena, board, &s->scan);
    if (!helped)
        return;
    work_close(board);
    for (int i = 0; i < HELPERS; i++)
        pthread_join(threads[i], NULL);
    work_board_free(board);
}

static void expect_same_block(const struct log_block *a, const struct log_block *b, uint32_t i) {
    cr_assert(a->stage == b->stage && a->source_offset == b->source_offset && a->text.n == b->text.n, "block %u", i);
    cr_assert(a->first_line == b->first_line && a->last_line == b->last_line, "lines of block %u", i);
    cr_assert(a->dropped_lines == b->dropped_lines && a->joined_lines == b->joined_lines, "block %u", i);
    cr_assert(a->complete == b->complete && a->has_ttir == b->has_ttir && a->has_ttnn == b->has_ttnn &&
                  a->has_ops == b->has_ops,
              "block %u", i);
    cr_assert(a->graph == b->graph && a->chosen == b->chosen && a->duplicate_of == b->duplicate_of &&
                  a->copies == b->copies && a->npieces == b->npieces,
              "block %u", i);
    for (uint32_t k = 0; k < a->npieces; k++)
        cr_assert(a->pieces[k].text_offset == b->pieces[k].text_offset &&
                      a->pieces[k].source_offset == b->pieces[k].source_offset,
                  "piece %u of block %u", k, i);
}

static uint32_t expect_same(const struct buf *text) {
    struct scanned alone, helped;
    scan_text(&alone, buf_str(text), false);
    scan_text(&helped, buf_str(text), true);
    uint32_t n = alone.scan.nblocks;
    cr_assert_eq(n, helped.scan.nblocks);
    cr_assert_eq(alone.scan.ngraphs, helped.scan.ngraphs);
    cr_assert_eq(alone.scan.is_log, helped.scan.is_log);
    cr_assert_eq(alone.scan.bare_headers, helped.scan.bare_headers);
    for (uint32_t i = 0; i < n; i++)
        expect_same_block(&alone.scan.blocks[i], &helped.scan.blocks[i], i);
    arena_free(&alone.arena);
    arena_free(&helped.arena);
    return n;
}

static uint64_t seed;

static unsigned pick(unsigned n) { /* xorshift64* */
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (unsigned)((seed * 0x2545F4914F6CDD1Du >> 33) % n);
}

/* What may stand between two ops of a module; mostly nothing. */
static const char *const strange[] = {
    "    // a comment\n",
    "\n",
    "    %x = \"ttir.region\"() ({\n    }) : () -> i32\n",
    "2026-08-21 10:15:02.301 (  12.695s) [        7F3A1C40]      a.cc:1     1| hello\n",
    "    %y = \"ttir.neg\"(%arg0) : (tensor<8xf32>) -> tensor<8xf32>\r\n",
    "    \033[1m%z = \"ttir.neg\"(%arg0) : (tensor<8xf32>) -> tensor<8xf32>\033[0m\n",
    "    %w = \"a|b\"() : () -> i32\n",
    "#loc7 = loc(\"seven\")\n",
    "    %v = \"ttnn.add\"(%arg0, %arg0) : (tensor<8xf32>, tensor<8xf32>) -> ",
    "    %u = \"ttir.add\"(%arg0,\n"
    "2026-08-21 10:15:02.301 (  12.695s) [        7F3A1C40]      a.cc:1     1| half\n"
    " %arg0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>\n",
    "[2026-08-21 10:15:02.301] [INFO] hello\n",
    "#loc9 = loc(\"nine\")[2026-08-21 10:15:02.301] [INFO] hello (x)\n",
    "}\n",
    "module @second {\n",
    "  ttcore.cpu_module {\n"};

static void add_module(struct buf *b, unsigned size, unsigned one_in) {
    size_t end = b->n + size;
    unsigned locs = 0;
    buf_printf(b, "module @m%u {\n", pick(3));
    while (b->n < end) {
        buf_printf(b, "  func.func @f%u(%%arg0: tensor<8xf32>) -> tensor<8xf32> {\n", pick(1000));
        for (unsigned k = 0, n = 1 + pick(400); k < n; k++) {
            buf_printf(b, "    %%%u = \"%s.add\"(%%arg0, %%arg0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> ", k,
                       pick(900) ? "ttir" : "ttnn");
            buf_printf(b, "loc(#loc%u)\n", ++locs);
            if (one_in && pick(one_in) == 0)
                buf_add(b, str_of(strange[pick(sizeof strange / sizeof *strange)]));
        }
        buf_add(b, STR("    return %0 : tensor<8xf32> loc(#loc)\n  } loc(#loc1)\n"));
    }
    buf_add(b, STR("} loc(#loc)\n#loc = loc(unknown)\n"));
    for (unsigned k = 1; k <= locs; k++) {
        buf_printf(b, "#loc%u = loc(\"op.%u\")\n", one_in && pick(one_in) == 0 ? pick(locs) : k, k);
        if (one_in && pick(one_in) == 0)
            buf_add(b, str_of(strange[pick(sizeof strange / sizeof *strange)]));
    }
}

static uint32_t blocks_of(unsigned first, unsigned modules, unsigned size, unsigned one_in) {
    struct buf text = {0};
    seed = first;
    for (unsigned i = 0; i < modules; i++)
        add_module(&text, size, one_in);
    uint32_t n = expect_same(&text);
    buf_free(&text);
    return n;
}

Test(runs, clean_modules) {
    cr_assert_eq(blocks_of(1, 1, 9 << 20, 0), 1);
    cr_assert_eq(blocks_of(2, 5, 2 << 20, 0), 5);
    cr_assert_eq(blocks_of(3, 400, 20 << 10, 0), 400);
    cr_assert_eq(blocks_of(4, 1, 1 << 10, 0), 1, "too small to be helped with");
}

Test(runs, whatever_stands_between) {
    for (unsigned i = 0; i < 12; i++) {
        blocks_of(100 + i, 1, 8 << 20, 20000);
        blocks_of(200 + i, 3, 2 << 20, 2000 + 3000 * (i % 3));
        blocks_of(300 + i, 40, 200 << 10, 200);
    }
}

/* What the host does is told from what the device does, however long it is. */
Test(runs, on_the_host) {
    for (int host = 0; host < 2; host++) {
        struct buf text = {0};
        buf_add(&text, STR("module @m {\n  ttcore.device_module {\n    func.func @main() {\n"));
        buf_add(&text, STR("      %0 = \"ttnn.full\"() : () -> i32\n      return\n    }\n  }\n"));
        buf_add(&text, host ? STR("  ttcore.cpu_module {\n") : STR("  ttcore.device_module {\n"));
        buf_add(&text, STR("    func.func @other() {\n"));
        while (text.n < 9 << 20)
            buf_add(&text, STR("      %1 = \"ttir.neg\"(%0) : (i32) -> i32\n"));
        buf_add(&text, STR("      return\n    }\n  }\n}\n"));
        cr_assert_eq(expect_same(&text), 1);
        buf_free(&text);
    }
}

/* No line begins in most chunks. */
Test(runs, one_long_line) {
    struct buf text = {0};
    buf_add(&text, STR("module @m {\n  func.func @f() {\n    %0 = \"ttir.constant\"() <{value = dense<\"0x"));
    memset(buf_more(&text, 9 << 20), '0', 9 << 20);
    buf_add(&text, STR("\"> : tensor<8xf32>}> : () -> tensor<8xf32>\n    return\n  }\n}\n"));
    cr_assert_eq(expect_same(&text), 1);
    buf_free(&text);
}
