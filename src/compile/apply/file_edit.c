#include "compile/apply/file_edit.h"

static bool is_whole_file(const struct inputs *in, const struct level_text *module) {
    for (size_t i = 0; i < in->nfiles; i++)
        if (&in->files[i].source == module->source)
            return in->files[i].scan.nblocks == 1 && !in->files[i].scan.is_log && module->source->size <= UINT32_MAX;
    return false;
}

static bool ends_with_return(const struct source *s) {
    const char *end = memchr(s->data, '\n', s->size);
    return end && end > s->data && end[-1] == '\r';
}

static struct str with_returns(struct str text, struct arena *a) {
    struct buf b = {0};
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\n')
            buf_addc(&b, '\r');
        buf_addc(&b, text.p[i]);
    }
    return buf_take(&b, a);
}

/* What was taken out of the file at the end of a span stays. */
static struct span span_of_file(const struct log_block *b, struct span at) {
    uint32_t begin = (uint32_t)log_offset(b, at.begin);
    return (struct span){begin, at.end > at.begin ? (uint32_t)log_offset(b, at.end - 1) + 1 : begin};
}

struct str edits_of_file(const struct inputs *in, const struct level_text *module, struct str text,
                         struct text_edits *edits, struct arena *a) {
    const struct source *s = module->source;
    if (!is_whole_file(in, module))
        return text;
    bool returns = ends_with_return(s);
    for (uint32_t i = 0; i < edits->n; i++) {
        struct text_edit *e = &edits->items[i];
        e->at = span_of_file(module->block, e->at);
        e->text = returns ? with_returns(e->text, a) : e->text;
    }
    return (struct str){s->data, s->size};
}
