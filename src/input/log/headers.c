/* The regular expressions of log lines: headers of modules as tt-xla, forge and MLIR print them, errors of the
 * compiler. The first and last bytes of a line are tested first, which rules most lines out. Every match has a step
 * limit and sees a bounded stretch of the line, so that no line can hold the scan up. */
#include "input/log/line_reader.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

enum { MATCH_LIMIT = 20000, GROUPS = 8, LINE_LIMIT = 1 << 13 };

enum rx { RX_XLA, RX_DUMP, RX_FORGE, RX_TORCH, RX_JIT, RX_ERROR, RX_COUNT };

static const char *const patterns[RX_COUNT] = {
    [RX_XLA] = "(?:\\[ *([^\\]\\[]{1,40}?) *\\] +\\S.*)?\\bMLIR Module ([\\w.-]+):\\s*$",
    [RX_DUMP] = "^// -----// IR Dump (Before|After) (\\S+?)( Failed)?(?::| |$).*? ?//----- //\\s*$",
    [RX_FORGE] = "(?:^| )(TTIR|TTNN|MLIR) module (?:after|before)\\b[^:]*:\\s*$",
    [RX_TORCH] = "^(Torch FX|Torch Backend|StableHLO|TTIR|TTNN|Torch Onnx)(?: module)+\\s*$",
    [RX_JIT] = "^---- IR Dump after (.*) ----\\s*$",
    [RX_ERROR] =
        "^(?:loc\\(.*\\): error: |<unknown>:[\\d:]+ error: |\\S+\\.mlir:\\d+:\\d+: error: |error: '[\\w.]+' op )",
};

struct rules {
    struct arena *arena;
    pcre2_code *code[RX_COUNT];
    pcre2_match_data *data;
    pcre2_match_context *context;
};

struct rules *rules_open(struct arena *a) {
    struct rules *r = arena_alloc(a, sizeof *r);
    r->arena = a;
    return r;
}

void rules_close(struct rules *r) {
    for (int i = 0; i < RX_COUNT; i++)
        pcre2_code_free(r->code[i]);
    pcre2_match_data_free(r->data);
    pcre2_match_context_free(r->context);
}

/* Number of groups that are set, 0 for no match. */
static int match(struct rules *r, enum rx which, struct str text) {
    int error;
    PCRE2_SIZE offset;
    if (!r->code[which]) {
        r->code[which] =
            made(pcre2_compile((PCRE2_SPTR)patterns[which], PCRE2_ZERO_TERMINATED, 0, &error, &offset, NULL));
        (void)pcre2_jit_compile(r->code[which], PCRE2_JIT_COMPLETE);
    }
    if (!r->data) {
        r->data = made(pcre2_match_data_create(GROUPS, NULL));
        r->context = made(pcre2_match_context_create(NULL));
        pcre2_set_match_limit(r->context, MATCH_LIMIT);
    }
    int n = pcre2_match(r->code[which], (PCRE2_SPTR)text.p, text.n, 0, 0, r->data, r->context);
    if (n == PCRE2_ERROR_NOMEMORY)
        out_of_memory();
    return n > 0 ? n : 0;
}

static struct str group(const struct rules *r, int n, struct str text, int i) {
    const PCRE2_SIZE *v = pcre2_get_ovector_pointer(r->data) + 2 * (size_t)i;
    if (i >= n || v[0] == PCRE2_UNSET)
        return (struct str){0};
    return (struct str){text.p + v[0], v[1] - v[0]};
}

bool line_is_error(struct rules *r, struct str text) {
    struct str t = {text.p, text.n > LINE_LIMIT ? LINE_LIMIT : text.n};
    return str_find(t, STR("error: ")) && match(r, RX_ERROR, t) > 0;
}

static bool xla_header(struct rules *r, struct str t, struct header *h) {
    static const struct {
        const char *name;
        enum log_stage stage;
    } stages[] = {{"ttir", LOG_TTIR}, {"ttnn", LOG_TTNN}, {"ttnn_runtime", LOG_TTNN_RUNTIME}};
    int n = match(r, RX_XLA, t);
    if (n == 0)
        return false;
    struct str thread = group(r, n, t, 1), label = group(r, n, t, 2);
    *h = (struct header){.kind = HEADER_XLA,
                         .stage = LOG_OTHER,
                         .label = arena_str(r->arena, label),
                         .thread = arena_str(r->arena, thread)};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (str_is(label, stages[i].name))
            h->stage = stages[i].stage;
    return true;
}

static bool dump_header(struct rules *r, struct str t, struct header *h) {
    int n = match(r, RX_DUMP, t);
    bool before = false, failed = false;
    struct str label;
    if (n > 0) {
        before = str_is(group(r, n, t, 1), "Before");
        label = group(r, n, t, 2);
        failed = group(r, n, t, 3).n > 0;
    } else {
        if ((n = match(r, RX_JIT, t)) == 0)
            return false;
        label = group(r, n, t, 1);
    }
    *h = (struct header){.kind = HEADER_DUMP,
                         .stage = before ? LOG_PASS_BEFORE : LOG_PASS_AFTER,
                         .label = arena_str(r->arena, label),
                         .failed = failed,
                         .fusing = str_starts(label, STR("TTIRFusing")) || str_find(t, STR("ttir-fusing"))};
    return true;
}

static enum log_stage stage_of(struct str name) {
    return str_is(name, "TTIR") ? LOG_TTIR : str_is(name, "TTNN") ? LOG_TTNN : LOG_OTHER;
}

static bool named_header(struct rules *r, struct str t, enum rx which, enum header_kind kind, struct header *h) {
    int n = match(r, which, t);
    if (n == 0)
        return false;
    struct str name = group(r, n, t, 1);
    *h = (struct header){.kind = kind, .stage = stage_of(name), .label = arena_str(r->arena, name)};
    return true;
}

/* Lines that end a module without announcing another: END lines, section headings of pytest. */
static bool end_header(struct str t) {
    if (str_find(t, STR("END OF MLIR MODULE")))
        return true;
    return str_starts(t, STR("-----")) && str_ends(t, STR("-----")) && str_find(t, STR(" Captured "));
}

bool line_header(struct rules *r, struct str t, struct header *h) {
    while (t.n && (t.p[t.n - 1] == ' ' || t.p[t.n - 1] == '\t'))
        t.n--;
    if (t.n < 8 || t.n > LINE_LIMIT)
        return false;
    switch (t.p[t.n - 1]) {
    case ':':
        return (str_find(t, STR("MLIR Module ")) && xla_header(r, t, h)) ||
               (str_find(t, STR(" module ")) && named_header(r, t, RX_FORGE, HEADER_FORGE, h));
    case '/':
        return t.p[0] == '/' && dump_header(r, t, h);
    case '-':
        if (t.p[0] != '-')
            return false;
        if (end_header(t)) {
            *h = (struct header){.kind = HEADER_END};
            return true;
        }
        return dump_header(r, t, h);
    case 'e':
        return str_ends(t, STR(" module")) && named_header(r, t, RX_TORCH, HEADER_TORCH, h);
    default:
        return false;
    }
}
