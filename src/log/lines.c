/* Lines of a log. Patterns are compiled when the first candidate for them comes along; each match has
 * a limit, so that no line can hold the scan up. */
#include "log/lines.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

enum { MATCH_LIMIT = 20000, GROUPS = 8, LINE_LIMIT = 1 << 13, SAMPLE_LINES = 64 };

enum rx { RX_PREFIX, RX_PREAMBLE, RX_XLA, RX_DUMP, RX_FORGE, RX_TORCH, RX_JIT, RX_COUNT };

static const char *const patterns[RX_COUNT] = {
    [RX_PREFIX] = "^(?:"
                  "(?<mpi>\\[\\d+,\\d+\\]<(?:stdout|stderr|stddiag)>):(?: (?! ))?|" /* indentation stays */
                  "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d+Z (?:(?:stdout|stderr) [FP] )?|"
                  "[^\\t]{1,200}\\t[^\\t]{1,200}\\t(?:\\xef\\xbb\\xbf)?\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z |"
                  "(?<vllm>\\((?:EngineCore|Worker|APIServer)[^)]*pid=\\d+\\)) ?"
                  "(?:(?:DEBUG|INFO|WARNING|ERROR) \\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d \\[[^\\]]+:\\d+\\] ?)?|"
                  "[A-Z][a-z]{2} +\\d+ \\d\\d:\\d\\d:\\d\\d (?:[\\w.-]+ [\\w./-]+\\[\\d+\\]: )?"
                  ")",
    [RX_PREAMBLE] = "^(?:"
                    "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d[.,]\\d{3} (?:\\(\\s*[\\d.]+s\\) \\[|\\| |- |[A-Z]+ )|"
                    "\\s{0,22}[A-Za-z]\\w+ \\| +[A-Z]+ +\\| |"
                    "\\[\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3}\\] \\[|"
                    "V\\d{4} .*\\] \\[|[IWEF]\\d{4} |"
                    "(?:DEBUG|INFO|WARNING|ERROR) \\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d \\[|"
                    "loc\\(.*\\): (?:error|warning|remark|note):"
                    ")",
    [RX_XLA] = "(?:\\[ *([^\\]\\[]{1,40}?) *\\] +\\S.*)?\\bMLIR Module ([\\w.-]+):\\s*$",
    [RX_DUMP] = "^// -----// IR Dump (Before|After) (\\S+?)(?::| |$)(.*?) ?//----- //\\s*$",
    [RX_FORGE] = "(?:^| )(TTIR|TTNN|MLIR) module (?:after|before)\\b[^:]*:\\s*$",
    [RX_TORCH] = "^(Torch FX|Torch Backend|StableHLO|TTIR|TTNN|Torch Onnx)(?: module)+\\s*$",
    [RX_JIT] = "^---- IR Dump after (.*) ----\\s*$",
};

struct lines {
    const struct source *s;
    struct arena *arena;
    size_t at;
    uint64_t number;
    bool has_escape;  /* somewhere in the file */
    bool has_tabs;    /* "job<TAB>step<TAB>time" prefixes in the first lines */
    bool has_numbers; /* every line of the sample starts like the output of grep -n */
    char mark;        /* every line of the sample starts with '+' or '-' */
    struct buf scratch;
    pcre2_code *code[RX_COUNT];
    pcre2_match_data *data;
    pcre2_match_context *context;
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static struct str take_line(const struct source *s, size_t from) {
    const char *p = s->data + from, *q = memchr(p, '\n', s->size - from);
    return (struct str){p, q ? (size_t)(q - p) : s->size - from};
}

static size_t grep_number(struct str text) {
    size_t i = 0;
    while (i < text.n && i < 12 && is_digit(text.p[i]))
        i++;
    return i > 0 && i < text.n && (text.p[i] == ':' || text.p[i] == '-') ? i + 1 : 0;
}

/* Residue of grep and diff is a prefix only when every line has it. */
static void sample(struct lines *l) {
    uint32_t seen = 0, numbers = 0, plus = 0, minus = 0;
    for (size_t at = 0; at < l->s->size && seen < SAMPLE_LINES;) {
        struct str t = take_line(l->s, at);
        at += t.n + 1;
        if (t.n == 0 || t.p[0] == '\r')
            continue;
        seen++;
        numbers += grep_number(t) > 0 && !(t.n > 10 && t.p[4] == '-' && t.p[7] == '-');
        plus += t.p[0] == '+';
        minus += t.p[0] == '-';
        const char *tab = memchr(t.p, '\t', t.n < 400 ? t.n : 400);
        l->has_tabs |= tab && memchr(tab + 1, '\t', (size_t)(t.p + t.n - tab - 1)) != NULL;
    }
    l->has_numbers = seen > 1 && numbers == seen;
    l->mark = seen > 1 && plus == seen ? '+' : seen > 1 && minus == seen ? '-' : 0;
}

struct lines *lines_open(const struct source *s, struct arena *a) {
    struct lines *l = arena_alloc(a, sizeof *l);
    l->s = s;
    l->arena = a;
    l->has_escape = s->size && memchr(s->data, '\033', s->size) != NULL;
    if (s->size >= 3 && memcmp(s->data, "\xef\xbb\xbf", 3) == 0)
        l->at = 3;
    if (s->size)
        sample(l);
    return l;
}

void lines_close(struct lines *l) {
    for (int i = 0; i < RX_COUNT; i++)
        pcre2_code_free(l->code[i]);
    pcre2_match_data_free(l->data);
    pcre2_match_context_free(l->context);
    buf_free(&l->scratch);
}

/* Number of groups, 0 for no match. */
static int match(struct lines *l, enum rx which, struct str text) {
    int error;
    PCRE2_SIZE offset;
    if (!l->code[which]) {
        l->code[which] = pcre2_compile((PCRE2_SPTR)patterns[which], PCRE2_ZERO_TERMINATED, 0, &error, &offset, NULL);
        if (!l->code[which])
            return 0;
        (void)pcre2_jit_compile(l->code[which], PCRE2_JIT_COMPLETE);
    }
    if (!l->data) {
        l->data = pcre2_match_data_create(GROUPS, NULL);
        l->context = pcre2_match_context_create(NULL);
        if (!l->data || !l->context)
            return 0;
        pcre2_set_match_limit(l->context, MATCH_LIMIT);
    }
    int n = pcre2_match(l->code[which], (PCRE2_SPTR)text.p, text.n, 0, 0, l->data, l->context);
    return n > 0 ? n : 0;
}

static struct str group(const struct lines *l, int n, struct str text, int i) {
    const PCRE2_SIZE *v = pcre2_get_ovector_pointer(l->data);
    if (i >= n || v[2 * i] == PCRE2_UNSET)
        return (struct str){0};
    return (struct str){text.p + v[2 * i], v[2 * i + 1] - v[2 * i]};
}

/* ESC [ parameters letter; the length of it, or 1. */
static size_t escape_length(const char *p, const char *end) {
    const char *q = p + 1;
    if (q >= end || *q != '[')
        return 1;
    for (q++; q < end && ((*q >= '0' && *q <= '9') || *q == ';' || *q == '?');)
        q++;
    return (size_t)(q - p) + (q < end);
}

static void drop_colours(struct lines *l, struct line *line) {
    const char *p = l->s->data + line->begin, *end = l->s->data + line->end;
    l->scratch.n = 0;
    line->nkeep = 0;
    while (p < end) {
        const char *esc = memchr(p, '\033', (size_t)(end - p)), *stop = esc ? esc : end;
        if (stop > p && line->nkeep < KEEP_MAX) {
            buf_add(&l->scratch, (struct str){p, (size_t)(stop - p)});
            line->keep[line->nkeep++] = (struct keep){(size_t)(p - l->s->data), (size_t)(stop - l->s->data)};
        }
        p = esc ? esc + escape_length(esc, end) : end;
    }
    line->text = buf_str(&l->scratch);
}

static void skip_front(struct line *line, size_t n) {
    line->text.p += n;
    line->text.n -= n;
    line->prefixed = true;
    uint32_t i = 0;
    for (; i < line->nkeep && n > 0; i++) {
        size_t have = line->keep[i].end - line->keep[i].begin;
        if (have > n)
            break;
        n -= have;
    }
    if (i > 0) {
        memmove(line->keep, line->keep + i, (line->nkeep - i) * sizeof *line->keep);
        line->nkeep -= i;
    }
    if (line->nkeep && n)
        line->keep[0].begin += n;
}

static bool may_have_prefix(const struct lines *l, struct str t) {
    if (t.n < 6)
        return false;
    char c = t.p[0];
    if (l->has_tabs && memchr(t.p, '\t', t.n < 210 ? t.n : 210))
        return true;
    if (is_digit(c))
        return t.n > 20 && t.p[10] == 'T' && t.p[4] == '-';
    if (c == '[')
        return is_digit(t.p[1]);
    if (c == '(')
        return t.p[1] == 'E' || t.p[1] == 'W' || t.p[1] == 'A';
    return c >= 'A' && c <= 'Z' && t.p[3] == ' ' && (t.p[4] == ' ' || is_digit(t.p[4]));
}

static void drop_prefixes(struct lines *l, struct line *line) {
    if (l->has_numbers && grep_number(line->text))
        skip_front(line, grep_number(line->text));
    if (l->mark && line->text.n && line->text.p[0] == l->mark)
        skip_front(line, 1);
    for (int i = 0; i < 4 && may_have_prefix(l, line->text); i++) {
        struct str t = line->text;
        if (t.n > LINE_LIMIT)
            t.n = LINE_LIMIT;
        int n = match(l, RX_PREFIX, t);
        if (n == 0)
            return;
        struct str mpi = group(l, n, t, 1), vllm = group(l, n, t, 2), whole = group(l, n, t, 0);
        if (mpi.n || vllm.n)
            line->key = mpi.n ? mpi : vllm;
        if (whole.n == 0)
            return;
        skip_front(line, whole.n);
    }
}

bool lines_next(struct lines *l, struct line *line) {
    if (l->at >= l->s->size)
        return false;
    struct str t = take_line(l->s, l->at);
    line->begin = l->at;
    line->end = l->at + t.n;
    line->next = line->end < l->s->size ? line->end + 1 : line->end;
    line->number = ++l->number;
    line->prefixed = false;
    line->key = (struct str){0};
    l->at = line->next;
    if (t.n > 0 && t.p[t.n - 1] == '\r')
        t.n--, line->end--;
    line->text = t;
    line->nkeep = 1;
    line->keep[0] = (struct keep){line->begin, line->end};
    if (l->has_escape && memchr(t.p, '\033', t.n))
        drop_colours(l, line);
    drop_prefixes(l, line);
    return true;
}

/* "    RuntimeTTNN |    DEBUG | " */
static bool like_runtime(struct str t) {
    size_t i = 0, from;
    while (i < t.n && i < 23 && t.p[i] == ' ')
        i++;
    for (from = i; i < t.n && ((t.p[i] | 32) >= 'a' ? (t.p[i] | 32) <= 'z' : is_digit(t.p[i]));)
        i++;
    return i > from && t.n - i > 3 && t.p[i] == ' ' && t.p[i + 1] == '|' && t.p[i + 2] == ' ';
}

bool line_is_preamble(struct lines *l, const struct line *line) {
    struct str t = line->text;
    if (t.n < 8)
        return false;
    char c = t.p[0];
    bool maybe = (is_digit(c) && t.p[4] == '-' && t.p[7] == '-') || (c == '[' && is_digit(t.p[1])) ||
                 (strchr("VIWEF", c) && is_digit(t.p[1])) || (c == 'l' && memcmp(t.p, "loc(", 4) == 0) ||
                 memcmp(t.p, "DEBUG ", 6) == 0 || memcmp(t.p, "INFO ", 5) == 0 || memcmp(t.p, "WARNING ", 8) == 0 ||
                 memcmp(t.p, "ERROR ", 6) == 0 || like_runtime(t);
    if (t.n > LINE_LIMIT && c != 'l')
        t.n = LINE_LIMIT;
    return maybe && match(l, RX_PREAMBLE, t) > 0;
}

static bool xla_header(struct lines *l, struct str t, struct header *h) {
    static const struct {
        const char *name;
        enum log_stage stage;
    } stages[] = {{"ttir", LOG_TTIR}, {"ttnn", LOG_TTNN}, {"ttnn_runtime", LOG_TTNN_RUNTIME}};
    int n = match(l, RX_XLA, t);
    if (n == 0)
        return false;
    struct str thread = group(l, n, t, 1), label = group(l, n, t, 2);
    *h = (struct header){.kind = HEADER_XLA,
                         .stage = LOG_OTHER,
                         .label = arena_str(l->arena, label),
                         .thread = arena_str(l->arena, thread)};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (str_is(label, stages[i].name))
            h->stage = stages[i].stage;
    return true;
}

static bool dump_header(struct lines *l, struct str t, struct header *h) {
    int n = match(l, RX_DUMP, t);
    bool before = false;
    struct str label;
    if (n > 0) {
        before = str_is(group(l, n, t, 1), "Before");
        label = group(l, n, t, 2);
    } else {
        if ((n = match(l, RX_JIT, t)) == 0)
            return false;
        label = group(l, n, t, 1);
    }
    *h = (struct header){.kind = HEADER_DUMP,
                         .stage = before ? LOG_PASS_BEFORE : LOG_PASS_AFTER,
                         .label = arena_str(l->arena, label),
                         .fusing = str_starts(label, STR("TTIRFusing")) || str_find(t, STR("ttir-fusing"))};
    return true;
}

static enum log_stage stage_of(struct str name) {
    return str_is(name, "TTIR") ? LOG_TTIR : str_is(name, "TTNN") ? LOG_TTNN : LOG_OTHER;
}

static bool named_header(struct lines *l, struct str t, enum rx which, enum header_kind kind, struct header *h) {
    int n = match(l, which, t);
    if (n == 0)
        return false;
    struct str name = group(l, n, t, 1);
    *h = (struct header){.kind = kind, .stage = stage_of(name), .label = arena_str(l->arena, name)};
    return true;
}

bool line_header(struct lines *l, const struct line *line, struct header *h) {
    struct str t = line->text;
    while (t.n && (t.p[t.n - 1] == ' ' || t.p[t.n - 1] == '\t'))
        t.n--;
    if (t.n < 8 || t.n > LINE_LIMIT)
        return false;
    switch (t.p[t.n - 1]) {
    case ':':
        return (str_find(t, STR("MLIR Module ")) && xla_header(l, t, h)) ||
               (str_find(t, STR(" module ")) && named_header(l, t, RX_FORGE, HEADER_FORGE, h));
    case '/':
        return t.p[0] == '/' && dump_header(l, t, h);
    case '-':
        if (t.p[0] != '-')
            return false;
        if (str_find(t, STR("END OF MLIR MODULE"))) {
            *h = (struct header){.kind = HEADER_END};
            return true;
        }
        return dump_header(l, t, h);
    case 'e':
        return str_ends(t, STR(" module")) && named_header(l, t, RX_TORCH, HEADER_TORCH, h);
    default:
        return false;
    }
}
