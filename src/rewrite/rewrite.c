/* NAME.cpp: a class that matches and rewrites, and the function that adds it to a set of patterns. */
#include "rewrite/rewrite.h"

#include <string.h>

#include "lang/printer.h"
#include "library/lowering.h"
#include "rewrite/cpp.h"

/* Lines of a text, each behind `before`. */
static void put_lines(struct buf *b, const char *before, struct str text) {
    for (struct str rest = str_trim(text); rest.n;) {
        struct str one = str_line(&rest);
        buf_printf(b, "%s%.*s\n", before, (int)one.n, one.p);
    }
}

static void put_unchecked(struct buf *b, struct rewrite *out, struct arena *a, const char *key, struct str text) {
    struct buf line = {0};
    buf_printf(&line, "%s: ", key);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '\n')
            buf_addc(&line, text.p[i]);
        else
            buf_addc(&line, ' ');
    struct str said = buf_take(&line, a);
    buf_printf(b, "      // unchecked: %s\n", said.p);
    struct str *items = arena_alloc(a, (out->unchecked.n + 1) * sizeof *items);
    if (out->unchecked.n)
        memcpy(items, out->unchecked.items, out->unchecked.n * sizeof *items);
    items[out->unchecked.n++] = said;
    out->unchecked.items = items;
}

enum demanded { MUST_HOLD_OR_NEXT, MUST_HOLD, MUST_NOT_HOLD };

/* A condition of the pattern; one that cannot be expressed is a comment. */
static void put_condition(struct cpp *c, struct rewrite *out, const char *key, const struct number *n,
                          enum demanded how) {
    struct str why = c->why, text, test;
    c->in_condition = true;
    text = cpp_number(c, n);
    if (!text.n && n->op == NUM_OR && how != MUST_NOT_HOLD) { /* one of both is enough */
        text = cpp_number(c, n->a);
        text = text.n ? text : cpp_number(c, n->b);
    }
    c->in_condition = false;
    struct buf said = {0};
    number_print(c->match, NULL, n, &said);
    if (!text.n) {
        c->why = why;
        put_unchecked(c->out, out, c->arena, key, buf_str(&said));
        buf_free(&said);
        return;
    }
    struct str quoted = cpp_quoted(c, buf_str(&said));
    buf_free(&said);
    test = how == MUST_NOT_HOLD ? text : arena_printf(c->arena, "!(%s)", text.p);
    if (how == MUST_HOLD_OR_NEXT) {
        cpp_put(c->out, 6, STR("if ("), arena_printf(c->arena, "!match.check(%s, %s))", text.p, quoted.p));
        buf_add(c->out, STR("\n        continue;\n"));
        return;
    }
    cpp_put(c->out, 6, STR("if ("), arena_printf(c->arena, "%s)", test.p));
    buf_addc(c->out, '\n');
    cpp_put(c->out, 8, STR("return "),
            arena_printf(c->arena, "rewriter.notifyMatchFailure(op, \"%s%s);", how == MUST_NOT_HOLD ? "not " : "",
                         quoted.p + 1));
    buf_addc(c->out, '\n');
}

static void put_conditions(struct cpp *c, struct rewrite *out, const struct pattern *p) {
    for (uint32_t i = 0; i < p->nwhere; i++)
        put_condition(c, out, "where", p->where[i], MUST_HOLD_OR_NEXT);
    for (uint32_t i = 0; i < p->nrequire; i++)
        put_condition(c, out, "require", p->require[i], MUST_HOLD);
    for (uint32_t i = 0; i < p->nunless; i++)
        put_condition(c, out, "unless", p->unless[i], MUST_NOT_HOLD);
    for (uint32_t i = 0; i < p->ndecomposed; i++)
        put_condition(c, out, "decomposed", p->decomposed[i], MUST_NOT_HOLD);
    for (uint32_t i = 0; i < p->nblock; i++)
        if (p->block[i].when)
            put_condition(c, out, "block", p->block[i].when, MUST_NOT_HOLD);
    for (uint32_t i = 0; i < p->npositive; i++)
        put_unchecked(c->out, out, c->arena, "positive", c->match->slot_name[p->positive[i]]);
    for (uint32_t i = 0; i < p->nreplicated; i++)
        put_unchecked(c->out, out, c->arena, "replicated", c->match->slot_name[p->replicated[i]]);
    for (uint32_t i = 0; i < p->nholds; i++)
        put_unchecked(c->out, out, c->arena, "holds", p->holds[i].formula);
    for (uint32_t i = 0; i < p->noutside; i++)
        put_unchecked(c->out, out, c->arena, "outside", p->outside[i].say);
}

static void put_head(struct buf *b, const struct pattern *p, struct str class) {
    buf_printf(b, "// %s.cpp - %s\n//\n// Made of the pattern %s by `fusion-audit patterns pass %s`.\n", p->name.p,
               p->summary.p, p->name.p, p->name.p);
    buf_add(b, STR("#include \"FusionForm.h\"\n\nnamespace mlir::tt::ttir::fusion {\nnamespace {\n\n"));
    buf_printf(b, "/// The formula, line by line; `out` becomes\n///\n");
    put_lines(b, "///   ", p->fused);
    buf_printf(b, "///\nclass %s : public RewritePattern {\n", class.p);
}

/* The ops where a match may end. */
static bool put_registration(struct cpp *c, struct str class, struct str camel) {
    const struct node *root = c->match->root;
    uint32_t count = 0;
    buf_printf(c->out, "} // namespace\n\nvoid populate%sPatterns(RewritePatternSet &patterns) {\n", camel.p);
    for (uint32_t k = 1; k < K_COUNT; k++) {
        struct str why = c->why;
        struct str op = node_is(root, (enum op_kind)k) ? cpp_class(c, (enum op_kind)k) : STR("");
        c->why = why;
        if (!op.n)
            continue;
        const char *others[] = {op.p, k == K_CLAMP ? "ClampScalarOp" : NULL};
        for (size_t i = 0; i < 2; i++)
            if (others[i])
                buf_printf(c->out, "  patterns.add<%s>(%s::getOperationName(), patterns.getContext());\n", class.p,
                           others[i]);
        count++;
    }
    buf_add(c->out, STR("}\n\n} // namespace mlir::tt::ttir::fusion\n"));
    return count > 0;
}

/* Within loops of the class: what is matched, then the fused form in its place. */
static bool put_rewrite(struct cpp *c, struct rewrite *out, const struct pattern *p, const struct formula *fused,
                        struct str root) {
    struct str escapes = STR("");
    for (uint32_t i = 0; i < p->nescapes; i++)
        escapes = arena_printf(c->arena, "%s%s%s", escapes.p, i ? ", " : "",
                               cpp_name(c, c->match->slot_name[p->escapes[i]]).p);
    buf_printf(c->out,
               "\n  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {\n"
               "    Match match(op);\n    while (match.next(%s%s%s%s)) {\n",
               root.p, escapes.n ? ", {" : "", escapes.p, escapes.n ? "}" : "");
    put_conditions(c, out, p);
    buf_add(c->out, STR("\n      Form form(match, rewriter);\n"));
    c->formula = fused;
    memset(c->written, 0, sizeof c->written);
    c->in_condition = true;
    struct str result = cpp_form(c);
    if (!result.n)
        return false;
    buf_printf(c->out,
               "      return form.replaceRoot(%s);\n    }\n"
               "    return rewriter.notifyMatchFailure(op, match.why());\n  }\n};\n\n",
               result.p);
    return true;
}

static bool parse_fused(const struct pattern_set *set, const struct pattern *p, struct arena *a, struct formula *f) {
    struct diags none = {.arena = a};
    bool ok = p->fused.n && fused_parse(f, a, set, p->fused, p->fused_origin, &none);
    diags_free(&none);
    return ok;
}

void rewrite_write(const struct pattern_set *set, const struct pattern *p, struct arena *a, struct rewrite *out) {
    struct buf text = {0}, body = {0};
    struct formula *fused = arena_alloc(a, sizeof *fused);
    struct cpp c = {.arena = a, .set = set, .formula = &p->formula, .match = &p->formula, .out = &body};
    struct str camel = cpp_camel(a, p->name), class = arena_printf(a, "%sFusion", camel.p);
    *out = (struct rewrite){0};
    if (pattern_reach(p) != REACH_DIALECT)
        cpp_cannot(&c, "the dialect lacks %.*s of %s", (int)pattern_lacks(p).n, pattern_lacks(p).p, p->fused_op.p);
    else if (!parse_fused(set, p, a, fused))
        cpp_cannot(&c, "the pattern does not say what the fused op computes");
    struct str root = c.why.n ? STR("") : cpp_terms(&c);
    if (root.n) {
        buf_printf(&body,
                   "\npublic:\n  %s(StringRef root, MLIRContext *context) : RewritePattern(root, 1, context) {}\n",
                   class.p);
        if (put_rewrite(&c, out, p, fused, root) && put_registration(&c, class, camel)) {
            put_head(&text, p, class);
            buf_add(&text, buf_str(&body));
            out->text = buf_take(&text, a);
        }
    }
    out->why = out->text.n ? STR("") : c.why.n ? c.why : STR("no op of TTIR ends it");
    buf_free(&body);
}
