/* The log scanner: blocks stay inside the source and map back to it. */
#include "fuzz.h"
#include "input/log/log.h"

static void check_block(struct source *s, const struct log_block *b, uint32_t ngraphs) {
    struct buf cleaned = {0};
    uint32_t lines = 1;
    for (size_t i = 0; i < s->size; i++)
        lines += s->data[i] == '\n';
    struct str text = log_text(s, b, &cleaned);
    fuzz_touch(b->label);
    fuzz_touch(text);
    FUZZ_PROMISE(b->source_offset <= s->size);
    FUZZ_PROMISE(b->first_line >= 1 && b->first_line <= b->last_line);
    FUZZ_PROMISE(b->graph <= ngraphs);
    FUZZ_PROMISE(!b->pieces || b->npieces > 0);
    for (uint32_t i = 0; b->pieces && i < b->npieces; i++) {
        FUZZ_PROMISE(b->pieces[i].source_offset <= s->size && b->pieces[i].text_offset <= text.n);
        FUZZ_PROMISE(i == 0 || b->pieces[i].text_offset >= b->pieces[i - 1].text_offset);
    }
    for (size_t i = 0; i < 8; i++) {
        struct source_location p = log_place(s, b, text.n / 7 * i);
        FUZZ_PROMISE(p.line >= 1 && p.line <= lines + 1 && p.column >= 1); /* aliases of others stand anywhere */
    }
    buf_free(&cleaned);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = {0};
    struct source source = fuzz_source(data, size);
    struct log_scan scan;
    log_scan(&source, &arena, &scan);
    for (uint32_t i = 0; i < scan.nblocks; i++)
        check_block(&source, &scan.blocks[i], scan.ngraphs);
    arena_free(&arena);
    return 0;
}
