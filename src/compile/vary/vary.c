/* fa_vary: a module with one thing changed at a time, each an edit of its text, so that all else stays as it was
 * printed. What an edit breaks is left out where this program sees it, or refused by the compiler that is asked:
 * neither is an answer. */
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "compile/apply/prove_rewrite.h"
#include "compile/apply/text_edit.h"
#include "fusion_audit.h"
#include "ir/mlir/builder.h"
#include "ir/mlir/dtype.h"
#include "ir/mlir/print.h"
#include "patterns/library/library.h"
#include "search/match/match.h"

enum { MOST_VARIANTS = 32, WANTED_RANK = 4 /* of most kernels */ };

struct fa_variants {
    struct arena arena;
    struct diags diags;
    struct pattern_set own;
    const struct pattern_set *patterns;
    struct fa_variant items[MOST_VARIANTS];
    uint32_t n;
};

/* The module that is varied: one function. */
struct varied {
    struct fa_variants *out;
    const struct graph *g;
    const struct mlir *m;
    const struct mlir_func *f;
    struct span body; /* of the whole function */
    struct match match;
    struct match_detail detail;
    struct text_edits edits; /* of the variant that is being made */
};

/* ---- one variant ---- */

static bool find_match(const struct fa_variants *v, const struct graph *g, struct arena *a, struct match *out) {
    bool found = false;
    for (uint32_t i = 0; i < g->m->nfuncs && !found; i++) {
        struct match_list list = {.n = 0};
        match_function(v->patterns, g, i, a, &list);
        found = list.n > 0;
        if (found)
            *out = list.items[0];
        free(list.items);
    }
    return found;
}

/* The fusion is there to be made, as far as can be told here. */
static bool still_matches(struct fa_variants *v, struct str module) {
    struct module_text t;
    struct match match;
    bool found = module_text_read(&t, module, &v->arena) && find_match(v, &t.level.graph, &v->arena, &match);
    module_text_free(&t);
    return found;
}

static void add_variant(struct fa_variants *v, struct str what, struct str module, struct str option) {
    if (v->n < MOST_VARIANTS)
        v->items[v->n++] = (struct fa_variant){arena_strdup(&v->arena, what), arena_strdup(&v->arena, module),
                                               option.n ? arena_strdup(&v->arena, option) : ""};
}

/* The edits are one. */
static void end_variant(struct varied *x, struct str what) {
    struct fa_variants *v = x->out;
    if (x->edits.n && text_edits_are_apart(&x->edits)) {
        struct str module = text_edited(x->m->text, &x->edits, &v->arena);
        if (still_matches(v, module))
            add_variant(v, what, module, STR(""));
    }
    text_edits_free(&x->edits);
}

static void edit(struct varied *x, size_t begin, size_t end, struct str text) {
    text_edits_add(&x->edits, (struct span){(uint32_t)begin, (uint32_t)end}, text);
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Where a text stands in the function from `at` on, outside of strings; NONE behind the last. */
static uint32_t next_at(const struct varied *x, struct str what, uint32_t at) {
    const char *t = x->m->text.p;
    bool quoted = false;
    for (uint32_t i = x->body.begin; i + what.n <= x->body.end; i++) {
        quoted ^= t[i] == '"';
        if (i >= at && !quoted && memcmp(t + i, what.p, what.n) == 0)
            return i;
    }
    return NONE;
}

static struct str value_text(const struct varied *x, uint32_t value) {
    return mlir_value_text(x->m, value, &x->out->arena);
}

static struct str type_text(const struct varied *x, uint32_t value) {
    return x->m->types[x->m->values[value].type].text;
}

/* ---- types ---- */

/* 0xFF80, which is less than all others in bf16, is 0xFF800000 in f32. */
static void change_bits(struct varied *x, bool wider) {
    const char *t = x->m->text.p;
    struct str prefix = STR("dense<0x");
    for (uint32_t i = 0; (i = next_at(x, prefix, i)) != NONE;) {
        i += (uint32_t)prefix.n;
        uint32_t end = i;
        while (is_word(t[end]))
            end++;
        if (wider && end - i == 4)
            edit(x, end, end, STR("0000"));
        else if (!wider && end - i == 8 && memcmp(t + end - 4, "0000", 4) == 0)
            edit(x, end - 4, end, STR(""));
    }
}

static void vary_type(struct varied *x, struct str to) {
    const struct str types[] = {STR("f32"), STR("bf16"), STR("f16")};
    const char *t = x->m->text.p;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        for (uint32_t i = 0; !str_eq(types[k], to) && (i = next_at(x, types[k], i)) != NONE; i++)
            if (!is_word(t[i + types[k].n]) && (t[i - 1] == 'x' || t[i - 1] == '<' || t[i - 1] == ' '))
                edit(x, i, i + types[k].n, to);
    if (x->edits.n)
        change_bits(x, str_is(to, "f32"));
    end_variant(x, arena_printf(&x->out->arena, "once its types are %.*s", (int)to.n, to.p));
}

/* ---- arguments of one element ---- */

/* "%e: tensor<1x1xbf16> {...}, " with the comma that goes with it. */
static struct span span_of_argument(const struct varied *x, uint32_t value) {
    struct span s = x->m->values[value].name;
    const char *t = x->m->text.p;
    bool quoted = false;
    int depth = 0;
    for (; s.end < x->body.end && (quoted || depth || (t[s.end] != ',' && t[s.end] != ')')); s.end++) {
        quoted ^= t[s.end] == '"';
        depth += !quoted && strchr("<{([", t[s.end]);
        depth -= !quoted && strchr(">})]", t[s.end]);
    }
    if (t[s.end] == ',') {
        s.end++;
        s.end += t[s.end] == ' ';
    } else {
        while (s.begin > x->body.begin && (t[s.begin - 1] == ' ' || t[s.begin - 1] == '\n'))
            s.begin--;
        s.begin -= t[s.begin - 1] == ',';
    }
    return s;
}

/* The name of the formula that an argument is, itself or moved; NULL: none. */
static const struct binding *binding_of(const struct varied *x, uint32_t argument, uint32_t *slot) {
    for (*slot = 0; *slot < x->detail.nslots; ++*slot) {
        const struct binding *b = &x->detail.slots[*slot];
        if (x->match.pattern->formula.slots[*slot].is_variable && b->value != NONE &&
            graph_argument(x->g, b->value) == argument)
            return b;
    }
    return NULL;
}

/* What the pattern takes it to hold; else a number that is as good as any. */
static double number_of(const struct varied *x, uint32_t argument) {
    for (uint32_t i = 0; i < x->detail.nconstants; i++) {
        const struct assumed_constant *c = &x->detail.constants[i];
        if (graph_argument(x->g, c->value) == argument && c->number == c->number)
            return c->number;
    }
    return 1e-5;
}

static void vary_argument(struct varied *x, uint32_t value) {
    struct arena *a = &x->out->arena;
    const struct mlir_type *type = &x->m->types[x->m->values[value].type];
    struct str name = value_text(x, value), called = STR("");
    uint32_t slot;
    if (type->numel != 1 || !format_is_float(type->dtype))
        return;
    if (binding_of(x, value, &slot))
        called = x->match.pattern->formula.slots[slot].name;
    struct span s = span_of_argument(x, value);
    uint32_t first = x->m->ops[x->f->first_op].text.begin;
    edit(x, s.begin, s.end, STR(""));
    edit(x, first, first,
         arena_printf(a, "%.*s = \"ttir.constant\"() <{value = dense<%.6e> : %.*s}> : () -> %.*s\n    ", (int)name.n,
                      name.p, number_of(x, value), (int)type->text.n, type->text.p, (int)type->text.n, type->text.p));
    end_variant(x, called.n ? arena_printf(a, "once the %.*s is a constant", (int)called.n, called.p)
                            : arena_printf(a, "once %.*s is a constant", (int)name.n, name.p));
}

/* ---- users ---- */

static uint32_t find_return(const struct varied *x) {
    for (uint32_t op = x->f->first_op; op < x->f->end_op; op++)
        if (x->m->ops[op].parent == x->f->op && str_is(mlir_op_name(x->m, op), "func.return"))
            return op;
    return NONE;
}

/* Of the results of the function. */
static struct span span_of_results(const struct varied *x) {
    const char *t = x->m->text.p;
    uint32_t at = x->f->nargs ? span_of_argument(x, x->f->first_arg + x->f->nargs - 1).end : x->body.begin;
    uint32_t end = x->m->ops[x->f->first_op].text.begin;
    while (at + 1 < end && memcmp(t + at, "->", 2) != 0)
        at++;
    struct span s = {at + 2, end};
    for (int depth = 0; at < end; at++) {
        depth += t[at] == '(';
        if (t[at] == ')' && --depth == 0) {
            s.end = at + 1;
            break;
        }
    }
    return s;
}

/* What ops behind it take, too, is returned no more. */
static void vary_users(struct varied *x) {
    uint32_t end = find_return(x), n = end == NONE ? 0 : x->m->ops[end].noperands, kept = 0;
    const uint32_t *returned = n ? x->m->operands + x->m->ops[end].first_operand : NULL;
    struct buf values = {0}, types = {0}, gone = {0};
    for (uint32_t i = 0; i < n; i++) {
        struct str value = value_text(x, returned[i]), type = type_text(x, returned[i]);
        if (graph_nuses(x->g, returned[i]) > 1) {
            buf_printf(&gone, "%s%.*s", gone.n ? ", " : "", (int)value.n, value.p);
            continue;
        }
        buf_printf(&values, "%s%.*s", kept ? ", " : "", (int)value.n, value.p);
        buf_printf(&types, "%s%.*s", kept++ ? ", " : "", (int)type.n, type.p);
    }
    if (kept && kept < n) {
        struct arena *a = &x->out->arena;
        struct span s = x->m->ops[end].text, r = span_of_results(x);
        edit(x, r.begin, r.end, arena_printf(a, " (%.*s)", (int)types.n, types.p));
        edit(x, s.begin, s.end, arena_printf(a, "return %.*s : %.*s", (int)values.n, values.p, (int)types.n, types.p));
        end_variant(x, arena_printf(a, "once nothing else takes %.*s", (int)gone.n, gone.p));
    }
    buf_free(&values);
    buf_free(&types);
    buf_free(&gone);
}

/* ---- ops between ---- */

/* All that has its type gets that of its operand. */
static void vary_op(struct varied *x, uint32_t op) {
    const struct mlir_op *o = &x->m->ops[op];
    if (!class_moves(graph_class(x->g, op)) || graph_noperands(x->g, op) != 1 || o->nresults != 1 ||
        graph_operands(x->g, op)[0] == NONE)
        return;
    struct arena *a = &x->out->arena;
    uint32_t from = o->first_result, to = graph_operands(x->g, op)[0];
    struct str both[][2] = {{value_text(x, from), value_text(x, to)}, {type_text(x, from), type_text(x, to)}};
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; !str_eq(both[k][0], both[k][1]) && (i = next_at(x, both[k][0], i)) != NONE; i++)
            if ((i < o->text.begin || i >= o->text.end) && (k || !is_word(x->m->text.p[i + both[k][0].n])))
                edit(x, i, i + both[k][0].n, both[k][1]);
    struct span line = whole_lines(x->m->text, o->text);
    edit(x, line.begin, line.end, STR(""));
    struct str name = mlir_op_name(x->m, op);
    end_variant(x, arena_printf(a, "once %.*s (%.*s) is gone", (int)both[0][0].n, both[0][0].p, (int)name.n, name.p));
}

/* ---- ranks ---- */

/* How an attribute that counts dimensions changes where `n` come in front. */
enum dims_kind { DIM_NUMBERS, EACH_DIM_0, EACH_DIM_1, DIM_ORDER };

static const struct dims_attribute {
    const char *key;
    enum dims_kind kind;
} dims_attributes[] = {{"dim", DIM_NUMBERS},
                       {"dim_arg", DIM_NUMBERS},
                       {"dimension", DIM_NUMBERS},
                       {"dim0", DIM_NUMBERS},
                       {"dim1", DIM_NUMBERS},
                       {"begins", EACH_DIM_0},
                       {"ends", EACH_DIM_1},
                       {"step", EACH_DIM_1},
                       {"shape", EACH_DIM_1},
                       {"broadcast_dimensions", EACH_DIM_1},
                       {"repeat_dimensions", EACH_DIM_1},
                       {"permutation", DIM_ORDER}};

static void change_dims(struct varied *x, uint32_t op, const struct dims_attribute *d, uint32_t n) {
    const struct attr *at = attrs_find(graph_attributes(x->g, op), d->key);
    int64_t list[16];
    uint32_t count = 0;
    struct arena *a = &x->out->arena; /* equal properties of ops may be one text, so it is looked for in the op */
    struct str op_text = mlir_span(x->m, x->m->ops[op].text);
    struct str said = at ? arena_printf(a, "%s = %.*s", d->key, (int)at->text.n, at->text.p) : STR("");
    const char *found = said.n ? str_find(op_text, said) : NULL;
    if (!found || at->n < 0 || at->n > 8)
        return;
    size_t begin = (size_t)(found - x->m->text.p) + said.n - at->text.n;
    for (uint32_t i = 0; i < n && d->kind != DIM_NUMBERS; i++)
        list[count++] = d->kind == DIM_ORDER ? i : d->kind == EACH_DIM_1;
    for (int32_t i = 0; i < at->n; i++)
        list[count++] =
            at->list[i] + (d->kind == DIM_ORDER || (d->kind == DIM_NUMBERS && at->list[i] >= 0) ? (int64_t)n : 0);
    edit(x, begin, begin + at->text.n, ints_like(at->text, list, count, a));
}

static void vary_rank(struct varied *x) {
    uint32_t rank = 0;
    for (uint32_t i = 0; i < x->m->nvalues; i++) {
        const struct mlir_type *t = &x->m->types[x->m->values[i].type];
        rank = t->ranked && t->rank > rank ? t->rank : rank;
    }
    if (rank == 0 || rank >= WANTED_RANK)
        return;
    uint32_t n = WANTED_RANK - rank;
    struct str tensor = STR("tensor<"), ones = {"1x1x1x", (size_t)2 * n};
    for (uint32_t i = 0; (i = next_at(x, tensor, i)) != NONE; i++) {
        uint32_t at = i + (uint32_t)tensor.n;
        if (x->m->text.p[at] >= '0' && x->m->text.p[at] <= '9')
            edit(x, at, at, ones);
    }
    for (uint32_t op = x->f->first_op; op < x->f->end_op; op++)
        for (size_t k = 0; k < sizeof dims_attributes / sizeof *dims_attributes; k++)
            change_dims(x, op, &dims_attributes[k], n);
    end_variant(x, STR("once it has four dimensions"));
}

/* ---- options ---- */

static void vary_options(struct varied *x) {
    struct arena *a = &x->out->arena;
    const struct pattern_status *s = &x->match.pattern->status;
    const struct compiler_pass *pass = find_pass(x->out->patterns, s->pass);
    struct str off = pass ? pass->off : STR(""), no = STR("=false");
    struct str on = str_ends(off, no) ? arena_printf(a, "%.*s=true", (int)(off.n - no.n), off.p) : STR("");
    struct str all[] = {s->gated, s->keeps, on};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].n)
            add_variant(x->out, arena_printf(a, "with %.*s", (int)all[i].n, all[i].p), x->m->text, all[i]);
}

/* ---- all of them ---- */

static void vary(struct varied *x) {
    vary_type(x, STR("f32"));
    vary_type(x, STR("bf16"));
    for (uint32_t i = 0; i < x->f->nargs; i++)
        vary_argument(x, x->f->first_arg + i);
    vary_users(x);
    for (uint32_t op = x->f->first_op; op < x->f->end_op; op++)
        vary_op(x, op);
    vary_rank(x);
    vary_options(x);
}

struct fa_variants *fa_vary(const char *module, const struct fa_patterns *patterns) {
    IN_C_LOCALE;
    struct fa_variants *v = xcalloc(1, sizeof *v);
    struct module_text t;
    struct varied x = {.out = v};
    v->diags = (struct diags){.arena = &v->arena};
    v->patterns = patterns_asked_for(patterns, &v->own, &v->diags);
    struct str text = str_of(module);
    bool read = module_text_read(&t, text, &v->arena);
    if (v->patterns && read && find_match(v, &t.level.graph, &v->arena, &x.match)) {
        x.g = &t.level.graph;
        x.m = &t.level.ir;
        x.f = &x.m->funcs[x.match.func];
        x.body = (struct span){x.m->ops[x.f->op].text.begin, x.m->ops[x.f->end_op - 1].text.end};
        if (match_details(&x.match, &v->arena, &x.detail))
            vary(&x);
    }
    module_text_free(&t);
    return v;
}

bool fa_get_variant(const struct fa_variants *v, size_t i, struct fa_variant *out) {
    if (i < v->n)
        *out = v->items[i];
    return i < v->n;
}

void fa_variants_free(struct fa_variants *v) {
    if (!v)
        return;
    patterns_free(&v->own);
    diags_free(&v->diags);
    arena_free(&v->arena);
    free(v);
}
