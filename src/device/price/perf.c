/* Reads the CSV and joins it with a graph by the outermost name of locations. */
#include "device/price/perf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct perf_place {
    struct str name, code; /* location; what ran there first */
    double us;
    uint32_t rows;
    unsigned classes; /* that the rows are of, a bit for each enum op_class; 0: not known */
};

struct perf_index {
    uint32_t place;
    UT_hash_handle hh;
};

enum column { CODE, TYPE, DEVICE_ID, KERNEL, FIRMWARE, GAP, LOCATION, CONST_EVAL, COLUMNS };
static const char *const column_names[COLUMNS] = {
    [CODE] = "OP CODE",
    [TYPE] = "OP TYPE",
    [DEVICE_ID] = "DEVICE ID",
    [KERNEL] = "DEVICE KERNEL DURATION [ns]",
    [FIRMWARE] = "DEVICE FW DURATION [ns]", /* where the other is not there */
    [GAP] = "OP TO OP LATENCY [ns]",
    [LOCATION] = "LOC",
    [CONST_EVAL] = "CONST_EVAL_OP",
};

enum { MAX_GAP_NS = 10000 /* more is the host's, or the first op's */, MAX_DEVICES_SEEN = 64, MAX_NAMES = 4 };

/* What ops of the device are called, by the class of TTNN ops that run them. */
static const struct {
    const char *part;
    enum op_class class;
} families[] = {{"Matmul", OP_CONTRACT},    {"Binary", OP_ELTWISE},   {"Unary", OP_ELTWISE}, {"Ternary", OP_ELTWISE},
                {"LayerNorm", OP_AXISWISE}, {"Softmax", OP_AXISWISE}, {"Reduce", OP_REDUCE}, {"Typecast", OP_CAST},
                {"Transpose", OP_MOVE},     {"Permute", OP_MOVE},     {"Reshape", OP_MOVE},  {"Repeat", OP_MOVE},
                {"Concat", OP_JOIN},        {"Slice", OP_SLICE},      {"Tilize", OP_LAYOUT}};

struct perf_reader {
    struct perf *out;
    struct arena *arena;
    int at[COLUMNS];  /* of a column in a row; -1: it is not there */
    enum column time; /* the one that counts */
    struct str devices[MAX_DEVICES_SEEN];
    uint32_t ndevices;
};

/* The next field; quotes are taken off, doubled ones inside are one. False at the end of the line, which is skipped. */
static bool next_field(const char **p, const char *end, struct buf *out) {
    bool quoted = *p < end && **p == '"';
    out->n = 0;
    if (*p >= end || **p == '\n')
        return false;
    for (*p += quoted; *p < end; (*p)++) {
        if (quoted && **p == '"') {
            if (*p + 1 < end && (*p)[1] == '"')
                (*p)++;
            else {
                quoted = false;
                continue;
            }
        } else if (!quoted && (**p == ',' || **p == '\n' || **p == '\r')) {
            break;
        }
        buf_addc(out, **p);
    }
    while (*p < end && **p == '\r')
        (*p)++;
    if (*p < end && **p == ',')
        (*p)++;
    return true;
}

/* The fields of one line that are asked for, in the arena. */
static void read_line(const struct perf_reader *r, const char **p, const char *end, struct str fields[COLUMNS]) {
    struct buf field = {0};
    for (int i = 0; next_field(p, end, &field); i++)
        for (int c = 0; c < COLUMNS; c++)
            if (r->at[c] == i)
                fields[c] = str_trim(arena_str(r->arena, buf_str(&field)));
    *p += *p < end;
    buf_free(&field);
}

static void read_header(struct perf_reader *r, const char **p, const char *end) {
    struct buf field = {0};
    for (int c = 0; c < COLUMNS; c++)
        r->at[c] = -1;
    for (int i = 0; next_field(p, end, &field); i++)
        for (int c = 0; c < COLUMNS; c++)
            if (str_is(str_trim(buf_str(&field)), column_names[c]))
                r->at[c] = i;
    *p += *p < end;
    buf_free(&field);
}

/* loc("sum.140_mean"("sum.140")) to sum.140_mean, loc("x.mlir":17:14) to x.mlir:17:14; empty: it names nothing. */
static struct str name_of(struct str loc, struct arena *a) {
    if (!loc.n)
        return STR("");
    const char *open = memchr(loc.p, '"', loc.n), *end = loc.p + loc.n;
    const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
    if (!close)
        return STR("");
    struct str name = {open + 1, (size_t)(close - open - 1)};
    const char *p = close + 1;
    while (p < end && (*p == ':' || (*p >= '0' && *p <= '9')))
        p++;
    return arena_printf(a, "%.*s%.*s", (int)name.n, name.p, (int)(p - close - 1), close + 1);
}

static uint32_t find_place(const struct perf *p, struct str name) {
    struct perf_index *found = NULL;
    HASH_FIND(hh, p->index, name.p, name.n, found);
    return found ? found->place : NONE;
}

static struct perf_place *place_named(struct perf *p, struct str name, struct arena *a) {
    uint32_t at = find_place(p, name);
    if (at == NONE) {
        struct perf_index *item = arena_alloc(a, sizeof *item);
        at = item->place = p->nplaces;
        p->places = grow(p->places, &p->places_cap, at + 1, sizeof *p->places);
        p->places[p->nplaces++] = (struct perf_place){.name = name};
        HASH_ADD_KEYPTR(hh, p->index, name.p, name.n, item);
    }
    return &p->places[at];
}

static double number(struct str text) {
    double x;
    return text.n && mlir_float(text, &x) && x > 0 ? x : 0;
}

/* In ns, in decimal; empty: not measured. */
static bool is_time(struct str text) {
    double x;
    return !text.n || (mlir_float(text, &x) && isfinite(x) && !memchr(text.p, 'x', text.n));
}

static void count_device(struct perf_reader *r, struct str id) {
    for (uint32_t i = 0; i < r->ndevices; i++)
        if (str_eq(r->devices[i], id))
            return;
    if (r->ndevices < MAX_DEVICES_SEEN)
        r->devices[r->ndevices++] = id;
}

static void add_row(struct perf_reader *r, const struct str fields[COLUMNS]) {
    struct perf *p = r->out;
    double gap = number(fields[GAP]), ns = number(fields[r->time]);
    if (!fields[CODE].n || str_is(fields[TYPE], "signpost") || str_starts(fields[CODE], STR("(torch)")))
        return;
    if (str_is(fields[CONST_EVAL], "true") || str_is(fields[CONST_EVAL], "True")) {
        p->nconst_eval++;
        return;
    }
    p->nrows++;
    struct str name = name_of(fields[LOCATION], r->arena);
    p->nunknown += !name.n;
    if (!name.n)
        return;
    struct perf_place *place = place_named(p, name, r->arena);
    count_device(r, fields[DEVICE_ID]);
    if (!place->rows++)
        place->code = fields[CODE];
    place->us += (ns + (gap < MAX_GAP_NS ? gap : MAX_GAP_NS)) / 1000;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (str_find(fields[CODE], str_of(families[i].part)))
            place->classes |= 1U << families[i].class;
}

static uint64_t line_of(const struct source *s, const char *p) {
    uint64_t line = 1;
    for (const char *q = s->data; (q = memchr(q, '\n', (size_t)(p - q))); q++)
        line++;
    return line;
}

static bool read_rows(struct perf_reader *r, const struct source *s, const char *p, struct diags *d) {
    for (const char *row = p, *end = s->data + s->size; p < end; row = p) {
        struct str fields[COLUMNS] = {{0}};
        read_line(r, &p, end, fields);
        if (!is_time(fields[r->time])) {
            diag_add(d, SEV_ERROR, (struct source_location){s->path, line_of(s, row), 0}, NULL, "%s is '%.*s', no time",
                     column_names[r->time], (int)fields[r->time].n, fields[r->time].p);
            return false;
        }
        add_row(r, fields);
    }
    for (uint32_t i = 0; i < r->out->nplaces && r->ndevices > 1; i++)
        r->out->places[i].us /= r->ndevices;
    return true;
}

bool perf_read(struct perf *p, const char *path, struct arena *a, struct diags *d) {
    struct perf_reader r = {.out = p, .arena = a};
    struct source source;
    *p = (struct perf){.nrows = 0};
    if (!source_open(&source, path, d))
        return false;
    const char *at = source.data, *end = at + source.size;
    if (source.size >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) /* of a spreadsheet */
        at += 3;
    read_header(&r, &at, end);
    r.time = r.at[KERNEL] >= 0 ? KERNEL : FIRMWARE;
    const char *lacks = r.at[CODE] < 0                           ? column_names[CODE]
                        : r.at[KERNEL] < 0 && r.at[FIRMWARE] < 0 ? column_names[KERNEL]
                        : r.at[LOCATION] < 0                     ? column_names[LOCATION]
                                                                 : NULL;
    if (lacks)
        diag_add(d, SEV_ERROR, (struct source_location){path, 1, 0},
                 "an ops_perf_results*.csv of the profiler is meant; `ttrt perf` adds the column LOC",
                 "there is no column %s", lacks);
    bool good = !lacks && read_rows(&r, &source, at, d);
    source_close(&source);
    return good;
}

void perf_free(struct perf *p) {
    HASH_CLEAR(hh, p->index);
    free(p->places);
    *p = (struct perf){.nrows = 0};
}

/* ---- joining ---- */

/* Whether rows and ops of a place are of one kind; said once for each place that has ops of a known class. */
static void judge(struct perf_join *j, const struct graph *g, const bool *fits, const uint32_t *example,
                  struct arena *a) {
    for (uint32_t i = 0; i < j->perf->nplaces; i++) {
        const struct perf_place *p = &j->perf->places[i];
        if (!p->classes || example[i] == NONE)
            continue;
        j->agreeing += fits[i];
        j->disagreeing += !fits[i];
        if (fits[i] || j->example.n)
            continue;
        struct str op = mlir_op_name(g->m, example[i]);
        j->example = arena_printf(a, "%.*s ran at \"%.*s\", where %.*s stands", (int)p->code.n, p->code.p,
                                  (int)p->name.n, p->name.p, (int)op.n, op.p);
    }
}

void perf_join_begin(struct perf_join *j, const struct perf *p, const struct graph *g, const struct device *d,
                     struct arena *a) {
    struct pricer pricer;
    uint32_t nops = g->m->nops, *example = arena_alloc(a, (p->nplaces + (size_t)1) * sizeof *example);
    bool *fits = arena_alloc(a, p->nplaces + (size_t)1);
    *j = (struct perf_join){.perf = p};
    pricer_begin(&pricer, g, d, NULL);
    j->place = xrealloc(NULL, (nops + (size_t)1) * sizeof *j->place);
    j->nops = xcalloc(p->nplaces + (size_t)1, sizeof *j->nops);
    for (uint32_t i = 0; i < p->nplaces; i++)
        example[i] = NONE;
    for (uint32_t op = 0; op < nops; op++) {
        struct str names[MAX_NAMES];
        enum op_class class = graph_class(g, op);
        j->place[op] = NONE;
        if (!op_is_launched(&pricer, op) || mlir_loc_names(g->m, op, names, MAX_NAMES) < 1)
            continue;
        uint32_t at = j->place[op] = find_place(p, names[0]);
        if (at == NONE)
            continue;
        if (!j->nops[at]++)
            j->joined += p->places[at].rows;
        fits[at] |= p->places[at].classes >> class & 1;
        if (class != OP_OPAQUE && class != OP_ALIKE)
            example[at] = op;
    }
    pricer_end(&pricer);
    judge(j, g, fits, example, a);
}

void perf_join_end(struct perf_join *j) {
    free(j->place);
    free(j->nops);
    *j = (struct perf_join){.perf = NULL};
}

double perf_of_ops(const struct perf_join *j, const uint32_t *ops, uint32_t n) {
    double us = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t place = j->place[ops[i]], here = 0;
        bool first = true;
        if (place == NONE)
            return 0;
        for (uint32_t k = 0; k < n; k++) {
            here += j->place[ops[k]] == place;
            first &= k >= i || j->place[ops[k]] != place;
        }
        if (here != j->nops[place])
            return 0;
        us += first ? j->perf->places[place].us : 0;
    }
    return us;
}
