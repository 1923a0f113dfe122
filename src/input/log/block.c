/* The text of a block and its way back to the source. A block of one stretch is a view; one that was cleaned is put
 * together each time that it is asked for, so that a long log is never copied as a whole. */
#include "input/log/scan.h"

struct str found_text(const struct source *s, const struct found_block *f, struct buf *b) {
    if (f->text.n == 0)
        return f->block.text;
    b->n = 0;
    for (uint32_t i = 0; i < f->text.n; i++)
        buf_add(b, (struct str){s->data + f->text.v[i].begin, f->text.v[i].end - f->text.v[i].begin});
    return buf_str(b);
}

struct str log_text(const struct source *s, const struct log_block *block, struct buf *b) {
    b->n = 0;
    if (block->npieces == 0)
        return block->text;
    for (uint32_t i = 0; i < block->npieces; i++) {
        size_t from = block->pieces[i].text_offset,
               to = i + 1 < block->npieces ? block->pieces[i + 1].text_offset : block->text.n;
        buf_add(b, (struct str){s->data + block->pieces[i].source_offset, to - from});
    }
    return buf_str(b);
}

size_t log_offset(const struct log_block *block, size_t text_offset) {
    if (!block->pieces)
        return block->source_offset + text_offset;
    uint32_t low = 0, high = block->npieces;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (block->pieces[middle].text_offset <= text_offset)
            low = middle;
        else
            high = middle;
    }
    return block->pieces[low].source_offset + (text_offset - block->pieces[low].text_offset);
}

struct source_location log_place(const struct source *s, const struct log_block *block, size_t text_offset) {
    return source_place(s, log_offset(block, text_offset));
}

const char *log_stage_name(enum log_stage stage) {
    static const char *const names[] = {[LOG_PLAIN] = "plain",
                                        [LOG_TTIR] = "ttir",
                                        [LOG_TTNN] = "ttnn",
                                        [LOG_TTNN_RUNTIME] = "ttnn_runtime",
                                        [LOG_PASS_BEFORE] = "before pass",
                                        [LOG_PASS_AFTER] = "after pass",
                                        [LOG_OTHER] = "other"};
    return (unsigned)stage <= LOG_OTHER ? names[stage] : "unknown";
}

bool log_say_failures(const struct log_scan *scan, const char *path, struct diags *d) {
    bool any = false;
    for (uint32_t i = 0; i < scan->nblocks; i++) {
        const struct log_block *b = &scan->blocks[i];
        struct source_location at = {path, b->error_line ? b->error_line : b->first_line, 0};
        if (!b->failed)
            continue;
        diag_add(d, SEV_ERROR, at, NULL, "the compiler failed here%s%.*s: what it left is not looked at",
                 b->label.n ? ", at " : "", (int)b->label.n, b->label.p);
        any = true;
    }
    return any;
}
