/* NAME.cpp: a class that matches and rewrites, and the function that adds it to a set of patterns. */
#include "rewrite/rewrite.h"

#include <string.h>

#include "base/embedded.h"
#include "lang/printer.h"
#include "library/lowering.h"
#include "rewrite/cpp.h"

static struct str_list append(struct str_list list, struct str one, struct arena *a) {
    struct str *items = arena_alloc(a, (list.n + 1) * sizeof *items);
    if (list.n)
        memcpy(items, list.items, list.n * sizeof *items);
    items[list.n] = one;
    return (struct str_list){items, list.n + 1};
}

/* A text in comments of 80 columns, behind `before` and, on further lines, `behind`. */
static void put_comment(struct buf *b, uint32_t indent, const char *before, const char *behind, struct str text) {
    enum { WIDTH = 80 };
    size_t column = 0;
    while (text.n) {
        struct str word = str_part(&text, ' ');
        bool next = column && column + 1 + word.n > WIDTH;
        if (column == 0 || next) {
            const char *head = next ? behind : before;
            buf_printf(b, "%s%*s%s%.*s", next ? "\n" : "", (int)indent, "", head, (int)word.n, word.p);
            column = indent + strlen(head) + word.n;
            continue;
        }
        buf_printf(b, " %.*s", (int)word.n, word.p);
        column += 1 + word.n;
    }
    buf_addc(b, '\n');
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
    bool differs = strcmp(key, "outside") == 0; /* says where the fused op is another function */
    put_comment(b, 6, "// ", "//   ",
                arena_printf(a, "%s%s", differs ? "Not checked, and different there: " : "Not checked: ",
                             differs ? said.p + strlen("outside: ") : said.p));
    out->unchecked = append(out->unchecked, said, a);
}

static struct str printed(struct cpp *c, const struct number *n) {
    struct buf b = {0};
    number_print(c->match, NULL, n, &b);
    return buf_take(&b, c->arena);
}

enum demanded { MUST_HOLD_OR_NEXT, MUST_HOLD, MUST_NOT_HOLD };

/* A condition as C++, of an `or` what can be expressed of it: less holds then, never more. What cannot be is noted in
 * `left`. Empty: nothing can be. */
static struct str some_of(struct cpp *c, const struct number *n, struct str_list *left) {
    struct str why = c->why, text = cpp_number(c, n), a, b;
    const struct number *said = n->op == NUM_CALL && n->call == NONE ? n->a : n; /* what a definition says */
    if (text.n)
        return text;
    c->why = why;
    if (said->op != NUM_OR) {
        *left = append(*left, printed(c, n), c->arena);
        return text;
    }
    a = some_of(c, said->a, left);
    b = some_of(c, said->b, left);
    return a.n && b.n ? arena_printf(c->arena, "%s || %s", a.p, b.p) : a.n ? a : b;
}

/* "if (wrong) {" and what is done then. */
static void put_test(struct cpp *c, struct str wrong, struct str said, enum demanded how) {
    struct str quoted = cpp_quoted(c, said);
    if (how == MUST_HOLD_OR_NEXT) {
        cpp_put(c->out, 6, STR(""), arena_printf(c->arena, "if (!match.check(%s, %s)) {", wrong.p, quoted.p));
        buf_add(c->out, STR("\n        continue;\n      }\n"));
        return;
    }
    cpp_put(c->out, 6, STR(""), arena_printf(c->arena, "if (%s) {", wrong.p));
    buf_add(c->out, STR("\n"));
    cpp_put(c->out, 8, STR("return "),
            arena_printf(c->arena, "rewriter.notifyMatchFailure(op, \"%s%s);",
                         how == MUST_NOT_HOLD ? "must not hold: " : "does not hold: ", quoted.p + 1));
    buf_add(c->out, STR("\n      }\n"));
}

/* A condition of the pattern; what of it cannot be expressed is a comment. */
static void put_condition(struct cpp *c, struct rewrite *out, const char *key, const struct number *n,
                          enum demanded how) {
    struct str_list left = {0};
    struct str said = printed(c, n);
    c->in_condition = true;
    struct str text = some_of(c, n, &left);
    if (text.n && how == MUST_HOLD)
        text = left.n ? cpp_negated(c, text) : cpp_not(c, n);
    c->in_condition = false;
    if (text.n)
        put_test(c, text, said, how);
    for (uint32_t i = 0; i < left.n && text.n; i++)
        put_unchecked(c->out, out, c->arena, key, left.items[i]);
    if (!text.n)
        put_unchecked(c->out, out, c->arena, key, said);
}

static void put_conditions(struct cpp *c, struct rewrite *out, const struct pattern *p) {
    if (p->nwhere)
        put_comment(c->out, 6, "// ", "// ",
                    STR("Where one of these does not hold, the ops may match in another way."));
    for (uint32_t i = 0; i < p->nwhere; i++)
        put_condition(c, out, "where", p->where[i], MUST_HOLD_OR_NEXT);
    if (p->nrequire || p->nunless)
        put_comment(c->out, 6, "// ", "// ", STR("What the fused op takes, however they match."));
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

/* The formula of the fused form, as comments. */
static struct str_list lines_of(struct str text, struct arena *a) {
    struct buf b = {0};
    for (struct str rest = str_trim(text); rest.n;)
        put_comment(&b, 0, "///   ", "///       ", str_line(&rest));
    b.n -= b.n > 0; /* the last end of line */
    return append((struct str_list){0}, buf_take(&b, a), a);
}

/* "// NAME.cpp - what it is.", and what it is made of. */
static struct str title_of(const struct pattern *p, struct str what, struct arena *a) {
    struct buf b = {0};
    put_comment(&b, 0, "// ", "// ", arena_printf(a, "%s.cpp - %s", p->name.p, what.p));
    buf_add(&b, STR("//\n"));
    put_comment(&b, 0, "// ", "// ",
                arena_printf(a, "Made of the pattern %s by `fusion-audit patterns pass %s`.", p->name.p, p->name.p));
    b.n -= b.n > 0;
    return buf_take(&b, a);
}

/* The classes of the ops where a match may end. */
static struct str_list roots(struct cpp *c) {
    const struct node *root = c->match->root;
    struct str_list list = {0};
    for (uint32_t k = 1; k < K_COUNT; k++) {
        struct str why = c->why;
        struct str op = node_is(root, (enum op_kind)k) ? cpp_class(c, (enum op_kind)k) : STR("");
        c->why = why;
        list = op.n ? append(list, op, c->arena) : list;
        list = op.n && k == K_CLAMP ? append(list, STR("ClampScalarOp"), c->arena) : list;
    }
    return list;
}

/* What adds the class to a set of patterns, for each op where a match may end. */
static struct str addition(struct str camel, struct str_list ops, struct arena *a) {
    struct str names = STR("");
    for (uint32_t i = 0; i < ops.n; i++)
        names = arena_printf(a, "%s%s%s::getOperationName()", names.p, i ? ", " : "", ops.items[i].p);
    bool several = ops.n > 1;
    struct str add = cpp_statement(a, several ? 4 : 2,
                                   arena_printf(a, "patterns.add<%sFusionPattern>(%s, patterns.getContext());", camel.p,
                                                several ? "root" : names.p));
    struct str list = cpp_statement(a, 7, arena_printf(a, "{%s}) {", names.p));
    return several ? arena_printf(a, "  for (StringRef root :\n%s\n%s\n  }", list.p, add.p) : add;
}

/* What is searched for: the member of the root, and the names of values that others may use, too. */
static struct str searched(struct cpp *c, const struct pattern *p, struct str root) {
    struct str escapes = STR("");
    for (uint32_t i = 0; i < p->nescapes; i++)
        escapes = arena_printf(c->arena, "%s%s%s", escapes.p, i ? ", " : "",
                               cpp_name(c, c->match->slot_name[p->escapes[i]]).p);
    bool more = c->match->nsecondary > 0;
    return escapes.n || more ? arena_printf(c->arena, "%s, {%s}%s", root.p, escapes.p, more ? ", others" : "") : root;
}

/* What was written since the last call, without its last end of line. */
static struct str_list written(struct cpp *c) {
    struct str text = buf_take(c->out, c->arena);
    text.n -= str_ends(text, STR("\n"));
    return text.n ? append((struct str_list){0}, text, c->arena) : (struct str_list){0};
}

bool rewrite_form(const struct pattern_set *set, const struct pattern *p, struct arena *a, struct formula *f) {
    struct diags none = {.arena = a};
    bool ok = p->fused.n && fused_parse(f, a, set, p->fused, p->fused_origin, &none);
    diags_free(&none);
    return ok;
}

/* The summary without the op of TTNN, which a pass over TTIR does not write. */
static struct str summary(const struct pattern *p, struct arena *a) {
    const char *end = str_find(p->summary, STR("; collapse"));
    return end ? arena_printf(a, "%.*s.", (int)(end - p->summary.p), p->summary.p) : p->summary;
}

/* Fills the class. Empty with a reason. */
static struct str fill_class(struct cpp *c, struct rewrite *out, const struct pattern *p, const struct formula *fused) {
    struct arena *a = c->arena;
    struct str camel = cpp_camel(a, p->name), root = cpp_terms(c), result;
    struct str_list members = written(c), conditions, ops = roots(c);
    struct buf text = {0};
    if (!root.n || !ops.n)
        return STR("");
    root = searched(c, p, root);
    put_conditions(c, out, p);
    conditions = written(c);
    bool again = conditions.n && str_find(conditions.items[0], STR("continue;"));
    if (conditions.n) /* an empty line behind them */
        conditions = append((struct str_list){0},
                            arena_printf(a, "%.*s\n", (int)conditions.items[0].n, conditions.items[0].p), a);
    c->formula = fused;
    memset(c->written, 0, sizeof c->written);
    c->in_condition = true;
    result = cpp_form(c);
    if (!result.n)
        return result;
    struct str title = title_of(p, summary(p, a), a), names = cpp_form_names(c);
    struct str constructor =
        cpp_statement(a, 2, arena_printf(a, "%sFusionPattern(StringRef root, MLIRContext *context)", camel.p));
    struct str search = cpp_statement(a, 4, arena_printf(a, "%s (match.next(%s)) {", again ? "while" : "if", root.p));
    struct str form = cpp_statement(a, 6, arena_printf(a, "Form form(match, rewriter, {%s});", names.p));
    struct str replace = cpp_statement(a, 6, arena_printf(a, "return form.replaceRoot(%s);", result.p));
    struct str add = addition(camel, ops, a),
               populate = cpp_statement(
                   a, 0, arena_printf(a, "void populate%sPatterns(RewritePatternSet &patterns) {", camel.p));
    const struct blank blanks[] = {{STR("{Name}"), {&camel, 1}},
                                   {STR("{title}"), {&title, 1}},
                                   {STR("{fused}"), lines_of(p->fused, a)},
                                   {STR("{members}"), members},
                                   {STR("{constructor}"), {&constructor, 1}},
                                   {STR("{search}"), {&search, 1}},
                                   {STR("{conditions}"), conditions},
                                   {STR("{form}"), {&form, 1}},
                                   {STR("{variables}"), written(c)},
                                   {STR("{replace}"), {&replace, 1}},
                                   {STR("{populate}"), {&populate, 1}},
                                   {STR("{add}"), {&add, 1}}};
    fill_lines(&text, embedded_text("NAME.cpp"), blanks, sizeof blanks / sizeof *blanks);
    return buf_take(&text, a);
}

/* Why the fusion is never made; empty: nothing says so. */
static struct str blocked(const struct pattern *p) {
    for (uint32_t i = 0; i < p->nblock; i++)
        if (!p->block[i].when)
            return p->block[i].say;
    return STR("");
}

void rewrite_write(const struct pattern_set *set, const struct pattern *p, struct arena *a, struct rewrite *out) {
    struct buf body = {0};
    struct formula *fused = arena_alloc(a, sizeof *fused);
    struct cpp c = {.arena = a, .set = set, .pattern = p, .formula = &p->formula, .match = &p->formula, .out = &body};
    *out = (struct rewrite){0};
    if (pattern_reach(p) != REACH_DIALECT)
        cpp_cannot(&c, "the dialect lacks %.*s of %s", (int)pattern_lacks(p).n, pattern_lacks(p).p, p->fused_op.p);
    else if (blocked(p).n)
        cpp_cannot(&c, "it is blocked: %s", blocked(p).p);
    else if (!rewrite_form(set, p, a, fused))
        cpp_cannot(&c, "the pattern does not say what the fused op computes");
    else
        out->text = fill_class(&c, out, p, fused);
    out->why = out->text.n ? STR("") : c.why.n ? c.why : STR("no op of TTIR ends it");
    buf_free(&body);
}

bool rewrite_is_possible(const struct pattern_set *set, const struct pattern *p) {
    struct arena scratch = {0};
    struct rewrite r;
    rewrite_write(set, p, &scratch, &r);
    bool is = r.text.n > 0;
    arena_free(&scratch);
    return is;
}
