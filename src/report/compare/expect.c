#include "report/compare/expect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/writer.h"
#include "input/unpack/yaml.h"
#include "patterns/library/signs.h"
#include "report/explain/explain.h"

enum { MOST_NAMED = 3 /* places in a message */, LEAST_NEAR = 3 /* ops that match, of those that do not all */ };

#define FUSED "fused " /* before an op */

/* "== 65", ">= 48": a number behind a sign. */
static bool read_wanted(struct str text, struct expectation *x) {
    static const struct {
        const char *sign;
        bool least, most; /* the number bounds that side */
        int less;         /* which it is not itself */
    } signs[] = {{"==", true, true, 0},
                 {">=", true, false, 0},
                 {"<=", false, true, 0},
                 {">", true, false, 1},
                 {"<", false, true, 1}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (!str_starts(text, str_of(signs[i].sign)))
            continue;
        size_t n = strlen(signs[i].sign);
        struct str digits = str_trim((struct str){text.p + n, text.n - n});
        uint64_t number = 0;
        for (size_t k = 0; k < digits.n; k++) {
            if (digits.p[k] < '0' || digits.p[k] > '9' || number > 100000000)
                return false;
            number = number * 10 + (uint64_t)(digits.p[k] - '0');
        }
        if (!digits.n || (signs[i].less && signs[i].most && !number))
            return false;
        x->least = signs[i].least ? number + (uint64_t)signs[i].less : 0;
        x->most = signs[i].most ? number - (uint64_t)signs[i].less : UINT64_MAX;
        return true;
    }
    return false;
}

static bool read_section(struct expectations *e, const struct yaml *y, const struct tree *map, enum scope scope,
                         struct str where) {
    static const struct {
        const char *word;
        enum scope scope;
    } scopes[] = {{"function ", SCOPE_FUNCTION}, {"location ", SCOPE_LOCATION}};
    for (const struct tree *k = map->first; k; k = k->next) {
        struct expectation x = {.scope = scope, .where = where, .op = k->text, .line = k->line, .column = k->column};
        x.fused = str_starts(x.op, STR(FUSED));
        if (x.fused)
            x.op = str_trim((struct str){x.op.p + strlen(FUSED), x.op.n - strlen(FUSED)});
        if (k->kind != TREE_SCALAR || !k->text.n || k->value->kind == TREE_SEQUENCE)
            return yaml_wrong(y, k, NULL, "an op and a number expected");
        if (k->value->kind == TREE_SCALAR) {
            x.wanted = k->value->text;
            if (!read_wanted(x.wanted, &x))
                return yaml_wrong(y, k->value, NULL, "one of ==, >=, <=, >, < and a number expected");
            e->items = grow(e->items, &e->cap, e->n + 1, sizeof *e->items);
            e->items[e->n++] = x;
            continue;
        }
        size_t i = scope == SCOPE_MODEL ? 0 : 2;
        while (i < 2 && !str_starts(k->text, str_of(scopes[i].word)))
            i++;
        if (i == 2)
            return yaml_wrong(y, k, NULL, "`function GLOB:` or `location GLOB:` expected");
        size_t n = strlen(scopes[i].word);
        if (!read_section(e, y, k->value, scopes[i].scope, str_trim((struct str){k->text.p + n, k->text.n - n})))
            return false;
    }
    return true;
}

/* For YAML a value that begins with `>` is a block that goes on below: it is quoted here, which moves nothing before
 * it. */
static struct str quote_signs(struct str text, struct arena *a) {
    struct buf out = {0};
    while (text.n) {
        const char *end = memchr(text.p, '\n', text.n);
        struct str line = {text.p, end ? (size_t)(end - text.p) : text.n};
        const char *colon = str_find(line, STR(": "));
        size_t used = line.n + (end != NULL), from = colon ? (size_t)(colon - line.p) + 1 : line.n;
        while (from < line.n && line.p[from] == ' ')
            from++;
        bool sign = from < line.n && line.p[from] == '>';
        size_t digits = from + sign;
        while (digits < line.n && (line.p[digits] == '=' || line.p[digits] == ' '))
            digits++;
        size_t to = digits;
        while (to < line.n && line.p[to] >= '0' && line.p[to] <= '9')
            to++;
        struct str rest = {line.p + to, line.n - to};
        if (to > digits && sign && (!str_trim(rest).n || str_starts(str_trim(rest), STR("#")))) {
            buf_printf(&out, "%.*s'%.*s'%.*s", (int)from, line.p, (int)(to - from), line.p + from, (int)(used - to),
                       line.p + to);
        } else {
            buf_add(&out, (struct str){line.p, used});
        }
        text = (struct str){text.p + used, text.n - used};
    }
    return buf_take(&out, a);
}

bool expectations_read(struct expectations *e, const char *path, struct arena *a, struct diags *d) {
    struct yaml y = {.path = path,
                     .form = "such as `ttnn.rms_norm: == 65`, or below `function GLOB:` or `location GLOB:`",
                     .arena = a,
                     .diags = d};
    struct str text;
    *e = (struct expectations){.path = path};
    if (!yaml_text(&y, &text) || !yaml_read(&y, quote_signs(text, a)))
        return false;
    if (!y.documents || y.documents->kind != TREE_MAPPING || y.documents->next)
        return yaml_wrong(&y, y.documents, NULL, "this is no list of expectations");
    return read_section(e, &y, y.documents, SCOPE_MODEL, STR(""));
}

/* ---- counting ---- */

/* One of the names in the location of an op, or of an argument that it reads. */
static bool is_located(struct str glob, const struct graph *g, uint32_t op) {
    enum { MOST = 16 };
    struct str names[MOST];
    int n = mlir_loc_names(g->m, op, names, MOST);
    for (int i = 0; i < n && i < MOST; i++)
        if (str_matches(names[i], glob))
            return true;
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i], argument = v == NONE ? NONE : graph_argument(g, v);
        struct str name = argument == NONE ? STR("") : graph_argument_name(g, argument);
        if (name.n && str_matches(name, glob))
            return true;
    }
    return false;
}

void expectations_count(struct expectations *e, const struct pattern_set *set, const struct graph *g) {
    struct sign_reader *signs = sign_reader_new(set, g);
    bool *named = xcalloc(g->m->nnames + (size_t)1, sizeof *named);
    for (uint32_t i = 0; i < e->n; i++) {
        struct expectation *x = &e->items[i];
        for (uint32_t k = 0; k < g->m->nnames; k++)
            named[k] = str_matches(g->m->names[k], x->op);
        for (uint32_t op = 0; op < g->m->nops; op++) {
            const struct mlir_op *o = &g->m->ops[op];
            if (!named[o->name] || !graph_is_audited(g, op) || (x->fused && !is_sign_of_fusing(signs, op)))
                continue;
            struct str func = o->func == NONE ? STR("") : g->m->names[g->m->funcs[o->func].name];
            x->found += x->scope == SCOPE_MODEL ||
                        (x->scope == SCOPE_FUNCTION ? str_matches(func, x->where) : is_located(x->where, g, op));
        }
    }
    sign_reader_free(signs);
    free(named);
}

/* ---- checking ---- */

/* The findings of the fused op: where it is not, and what stands there. */
static void add_missed(struct buf *out, const struct expectation *x, const struct finding_list *l) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        const struct finding *f = l->items[i];
        if (!str_matches(f->fused_op, x->op))
            continue;
        struct str where = f->place.n ? f->place : f->ir_loc;
        if (n++ < MOST_NAMED)
            buf_printf(out, "%s%.*s", n == 1 ? "it is missed at " : "; ", (int)where.n, where.p);
    }
    if (n > MOST_NAMED)
        buf_printf(out, " and %u more places", n - MOST_NAMED);
}

/* Where it nearly could be, and what is different there: all is read and searched once more, so not for many, and not
 * for input that cannot be read twice. */
static void add_nearest(struct buf *out, const struct expectation *x, const struct fa_audit_options *o) {
    struct fa_explain_options asked = {.inputs = o->inputs, .patterns = o->patterns, .most = MOST_NAMED};
    struct stat st;
    for (size_t i = 0; i < o->inputs.nfiles; i++)
        if (!(o->inputs.contents && o->inputs.contents[i].data) &&
            (stat(o->inputs.files[i], &st) != 0 || !S_ISREG(st.st_mode)))
            return;
    asked.patterns.only = x->op.p;
    asked.patterns.skip = NULL;
    asked.patterns.library = NULL;
    struct fa_explanation *e = fa_explain(&asked);
    for (uint32_t i = 0; i < e->n; i++) {
        const struct explained *c = &e->items[i];
        if (c->nops == c->total || (c->nops >= LEAST_NEAR && 2 * c->nops >= c->total))
            buf_printf(out, "%s%.*s at line %" PRIu64 " (%.*s: %.*s)", out->n ? ", " : "it is nearly at ",
                       (int)c->root.name.n, c->root.name.p, c->root.line, (int)c->pattern.n, c->pattern.p,
                       (int)c->reason.n, c->reason.p);
    }
    fa_explanation_free(e);
}

/* Of what is neither an op nor a glob. */
static void add_meant(struct buf *out, const struct expectation *x) {
    struct str name = x->op, dialect = str_part(&name, '.');
    if (!name.n) {
        name = dialect;
        dialect = STR("ttnn");
    }
    bool glob = str_find(x->op, STR("*")) || str_find(x->op, STR("?")) || str_find(x->op, STR("["));
    const char *meant = !glob && op_kind_of_spelling(x->op) == NO_OPERATOR ? op_nearest_name(name) : NULL;
    if (meant)
        buf_printf(out, "did you mean %.*s.%s?", (int)dialect.n, dialect.p, meant);
}

uint32_t expectations_check(const struct expectations *e, const struct finding_list *l,
                            const struct fa_audit_options *o, struct diags *d) {
    static const char *const words[] = {"", " in function ", " at location "};
    uint32_t failed = 0;
    for (uint32_t i = 0; i < e->n; i++) {
        const struct expectation *x = &e->items[i];
        struct buf hint = {0};
        if (x->found >= x->least && x->found <= x->most)
            continue;
        failed++;
        if (x->found < x->least)
            add_missed(&hint, x, l);
        if (x->found < x->least && !hint.n)
            add_meant(&hint, x);
        if (x->found < x->least && !hint.n && failed <= MOST_NAMED)
            add_nearest(&hint, x, o);
        buf_addc(&hint, '\0');
        diag_add(d, SEV_ERROR, (struct source_location){e->path, x->line, x->column}, hint.n > 1 ? hint.p : NULL,
                 "%s%.*s%s%.*s: %.*s expected, %" PRIu64 " there", x->fused ? FUSED : "", (int)x->op.n, x->op.p,
                 words[x->scope], (int)x->where.n, x->where.n ? x->where.p : "", (int)x->wanted.n, x->wanted.p,
                 x->found);
        buf_free(&hint);
    }
    return failed;
}

void expectations_free(struct expectations *e) {
    free(e->items);
    *e = (struct expectations){.path = NULL};
}

/* ---- writing ---- */

static int compare_counts(const void *pa, const void *pb) {
    const struct fused_count *a = pa, *b = pb;
    return str_cmp(a->op, b->op);
}

static uint32_t count_of(struct fused_counts *c, struct str name, struct arena *a) {
    uint32_t i = 0;
    while (i < c->n && !str_eq(c->items[i].op, name))
        i++;
    if (i < c->n)
        return i;
    c->items = grow(c->items, &c->cap, c->n + 1, sizeof *c->items);
    c->items[c->n++] = (struct fused_count){arena_str(a, name), 0};
    return i;
}

void fused_count_add(struct fused_counts *c, const struct pattern_set *set, const struct graph *g, struct arena *a) {
    struct sign_reader *signs = sign_reader_new(set, g);
    uint32_t *at = xcalloc(g->m->nnames + (size_t)1, sizeof *at); /* by name: 1 + index into the counts */
    for (uint32_t op = 0; op < g->m->nops; op++) {
        uint32_t name = g->m->ops[op].name;
        if (!graph_is_audited(g, op) || !is_sign_of_fusing(signs, op))
            continue;
        if (!at[name])
            at[name] = 1 + count_of(c, g->m->names[name], a);
        c->items[at[name] - 1].n++;
    }
    free(at);
    sign_reader_free(signs);
}

bool fused_counts_print(const struct fused_counts *c, FILE *out) {
    struct writer w;
    if (c->n)
        qsort(c->items, c->n, sizeof *c->items, compare_counts);
    write_begin(&w, MARKUP_YAML, out);
    write_map(&w);
    for (uint32_t i = 0; i < c->n; i++) {
        struct buf key = {0}, wanted = {0};
        buf_printf(&key, FUSED "%.*s", (int)c->items[i].op.n, c->items[i].op.p);
        buf_printf(&wanted, ">= %" PRIu64, c->items[i].n);
        write_key(&w, buf_str(&key));
        write_figure(&w, buf_str(&wanted));
        buf_free(&key);
        buf_free(&wanted);
    }
    write_close(&w);
    return write_end(&w);
}
