/* NAME.cpp: a class that matches and rewrites, and the function that adds it to a set of patterns. */
#include "compile/rewrite/rewrite.h"

#include <string.h>

#include "base/embedded.h"
#include "compile/rewrite/cpp.h"
#include "patterns/lang/printer.h"
#include "patterns/library/lowering.h"

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

static void put_unchecked(struct cpp *c, struct rewrite *out, const char *key, struct str text) {
    struct arena *a = c->arena;
    struct buf line = {0};
    buf_printf(&line, "%s: ", key);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '\n')
            buf_addc(&line, text.p[i]);
        else
            buf_addc(&line, ' ');
    struct str said = buf_take(&line, a);
    bool differs = strcmp(key, "outside") == 0; /* says where the fused op is another function */
    put_comment(c->out, c->way ? 2 : 6, "// ", "//   ",
                arena_printf(a, "%s%s", differs ? "Not checked, and different there: " : "Not checked: ",
                             differs ? said.p + strlen("outside: ") : said.p));
    cpp_add_new(&out->unchecked, said, a);
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
        *left = cpp_append(*left, printed(c, n), c->arena);
        return text;
    }
    a = some_of(c, said->a, left);
    b = some_of(c, said->b, left);
    return a.n && b.n ? arena_printf(c->arena, c->way ? "Or(%s, %s)" : "%s || %s", a.p, b.p) : a.n ? a : b;
}

/* The same in PDLL: "Holds1(...);". */
static void put_holds(struct cpp *c, struct str text, enum demanded how) {
    text = how == MUST_NOT_HOLD ? arena_printf(c->arena, "Not(%s)", text.p) : text;
    cpp_put(c->out, 2, STR(""), arena_printf(c->arena, "%s;", pdll_holds(c, text).p));
    buf_addc(c->out, '\n');
}

/* "if (wrong) {" and what is done then. */
static void put_test(struct cpp *c, struct str wrong, struct str said, enum demanded how) {
    struct str quoted = cpp_quoted(c, said);
    if (how == MUST_HOLD_OR_NEXT) {
        c->searches_on = true;
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

/* Whether all of a condition can be asked in C++. */
static bool cpp_checks(struct cpp *c, const struct number *n) {
    struct cpp other = *c;
    other.way = NULL;
    other.in_condition = true;
    return cpp_number(&other, n).n > 0;
}

/* A condition of the pattern; what of it cannot be expressed is a comment. */
static void put_condition(struct cpp *c, struct rewrite *out, const char *key, const struct number *n,
                          enum demanded how) {
    struct str_list left = {0};
    int known = c->way ? pdll_known(c, n) : -1;
    if (known >= 0) {
        c->way->never |= known == (how == MUST_NOT_HOLD);
        return;
    }
    struct str said = printed(c, n);
    c->in_condition = true;
    struct str text = some_of(c, n, &left);
    if (text.n && how == MUST_HOLD && !c->way)
        text = left.n ? cpp_negated(c, text) : cpp_not(c, n);
    c->in_condition = false;
    if (text.n && c->way)
        put_holds(c, text, how);
    else if (text.n)
        put_test(c, text, said, how);
    if (c->way && (!text.n || (left.n && how == MUST_NOT_HOLD)) && cpp_checks(c, n))
        c->way->unasked = c->way->unasked.n ? c->way->unasked : said;
    for (uint32_t i = 0; i < left.n && text.n; i++)
        put_unchecked(c, out, key, left.items[i]);
    if (!text.n)
        put_unchecked(c, out, key, said);
}

static void put_conditions(struct cpp *c, struct rewrite *out, const struct pattern *p) {
    if (p->nwhere && !c->way)
        put_comment(c->out, 6, "// ", "// ",
                    STR("Where one of these does not hold, the ops may match in another way."));
    for (uint32_t i = 0; i < p->nwhere; i++)
        put_condition(c, out, "where", p->where[i], MUST_HOLD_OR_NEXT);
    if ((p->nrequire || p->nunless) && !c->way)
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
        put_unchecked(c, out, "positive", c->match->slot_name[p->positive[i]]);
    for (uint32_t i = 0; i < p->nreplicated; i++)
        put_unchecked(c, out, "replicated", c->match->slot_name[p->replicated[i]]);
    for (uint32_t i = 0; i < p->nholds; i++)
        put_unchecked(c, out, "holds", p->holds[i].form->text);
    for (uint32_t i = 0; i < p->noutside; i++)
        put_unchecked(c, out, "outside", p->outside[i].say);
}

/* The formula of the fused form, as comments. */
static struct str_list lines_of(struct str text, struct arena *a) {
    struct buf b = {0};
    for (struct str rest = str_trim(text); rest.n;)
        put_comment(&b, 0, "///   ", "///       ", str_line(&rest));
    b.n -= b.n > 0; /* the last end of line */
    return cpp_append((struct str_list){0}, buf_take(&b, a), a);
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

/* Further classes that the terms of FusionMatch.h take for one op: a - b is -(b - a), too. */
static const char *const further[][2] = {{"ClampTensorOp", "ClampScalarOp"},
                                         {"ReshapeOp", "SqueezeOp"},
                                         {"ReshapeOp", "UnsqueezeOp"},
                                         {"SubtractOp", "NegOp"}};

/* The classes of the ops where a match may end. */
static struct str_list roots(struct cpp *c) {
    const struct node *root = c->match->root;
    struct str_list list = {0};
    for (uint32_t k = 1; k < OPERATORS; k++) {
        struct str why = c->why;
        struct str op = node_is(root, (enum op_kind)k) ? cpp_class(c, (enum op_kind)k) : STR("");
        c->why = why;
        list = op.n ? cpp_append(list, op, c->arena) : list;
        for (size_t i = 0; op.n && i < sizeof further / sizeof *further; i++)
            list = str_is(op, further[i][0]) ? cpp_append(list, str_of(further[i][1]), c->arena) : list;
    }
    return list;
}

/* What adds the class to a set of patterns, for each op where a match may end. */
static struct str addition(struct str camel, struct str_list ops, struct arena *a) {
    struct str list = STR("");
    for (uint32_t i = 0; i < ops.n; i++)
        list = arena_printf(a, "%s, %s", list.p, ops.items[i].p);
    return cpp_statement(a, 2, arena_printf(a, "addFusion<%sFusionPattern%s>(patterns);", camel.p, list.p));
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
    return text.n ? cpp_append((struct str_list){0}, text, c->arena) : (struct str_list){0};
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
    if (c->by_values)
        out->left = cpp_append(out->left, STR("spellings of a function that its values alone show"), a);
    root = searched(c, p, root);
    put_conditions(c, out, p);
    conditions = written(c);
    if (conditions.n) /* an empty line behind them */
        conditions = cpp_append((struct str_list){0},
                                arena_printf(a, "%.*s\n", (int)conditions.items[0].n, conditions.items[0].p), a);
    c->formula = fused;
    memset(c->written, 0, sizeof c->written);
    c->in_condition = true;
    result = cpp_form(c);
    if (!result.n)
        return result;
    struct str title = title_of(p, summary(p, a), a), names = cpp_form_names(c);
    struct str class = arena_printf(a, "class %sFusionPattern : public FusionPattern {", camel.p);
    struct str search =
        cpp_statement(a, 4, arena_printf(a, "%s (match.next(%s)) {", c->searches_on ? "while" : "if", root.p));
    struct str form = cpp_statement(a, 6, arena_printf(a, "Form form(match, rewriter, {%s});", names.p));
    struct str replace = cpp_statement(a, 6, arena_printf(a, "return form.replaceRoot(%s);", result.p));
    struct str populate =
        cpp_statement(a, 0, arena_printf(a, "void populate%sPatterns(RewritePatternSet &patterns) {", camel.p));
    struct str add = addition(camel, ops, a);
    const struct blank blanks[] = {{STR("{Name}"), {&camel, 1}},
                                   {STR("{title}"), {&title, 1}},
                                   {STR("{fused}"), lines_of(p->fused->text, a)},
                                   {STR("{left}"), out->left},
                                   {STR("{members}"), members},
                                   {STR("{class}"), {&class, 1}},
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

/* ---- PDLL ---- */

/* One way to write the formula. Empty with a reason, or without one where it never matches. */
static struct str pdll_pattern(struct cpp *c, struct rewrite *out, const struct formula *fused) {
    struct str root = cpp_terms(c), result, members, conditions;
    if (!root.n || c->way->never)
        return STR("");
    if (!str_ends(root, STR(".0")))
        return cpp_cannot(c, "a value that no op makes");
    members = buf_take(c->out, c->arena);
    put_conditions(c, out, c->pattern);
    conditions = buf_take(c->out, c->arena);
    if (c->way->never)
        return STR("");
    if (c->way->unasked.n)
        return cpp_cannot(c, "%s", c->way->unasked.p);
    c->formula = fused;
    memset(c->written, 0, sizeof c->written);
    c->in_condition = true;
    result = cpp_form(c);
    if (!result.n || str_is(result, "()"))
        return cpp_cannot(c, "the fused form does not say what it becomes");
    struct str variables = buf_take(c->out, c->arena);
    buf_add(c->out, members);
    for (struct str rest = c->way->tests; rest.n;)
        buf_printf(c->out, "  %s\n", arena_str(c->arena, str_line(&rest)).p);
    buf_add(c->out, conditions);
    root.n -= 2;
    buf_printf(c->out, "  rewrite %.*s with {\n%s", (int)root.n, root.p, variables.n ? variables.p : "");
    cpp_put(c->out, 4, arena_printf(c->arena, "replace %.*s with ", (int)root.n, root.p), result);
    buf_add(c->out, STR(";\n  };\n}"));
    return buf_take(c->out, c->arena);
}

/* The next way: the last choice that has one more alternative takes it. */
static bool next_way(struct pdll_way *w) {
    uint32_t i = w->used;
    while (i > 0 && w->taken[i - 1] + 1 >= w->of[i - 1])
        i--;
    if (i > 0)
        w->taken[i - 1]++;
    w->nchoices = i;
    return i > 0;
}

struct ways {
    const struct cpp *shared;
    const struct formula *fused;
    struct pdll_way way; /* the last one */
    struct unsaid *unsaid;
    struct str_list bodies, patterns;
    uint32_t tries;
    bool more; /* some have more ops */
};

/* Writes a way that has so many ops. */
static void write_way(struct ways *w, struct rewrite *out, uint32_t ops) {
    struct pdll_way way = {.nchoices = w->way.nchoices, .unsaid = &w->unsaid, .most_ops = ops};
    struct cpp c = *w->shared;
    memcpy(way.taken, w->way.taken, sizeof way.taken);
    c.way = &way;
    struct str body = pdll_pattern(&c, out, w->fused), name = cpp_camel(c.arena, c.pattern->name);
    c.out->n = 0;
    w->way = way;
    w->tries++;
    w->more |= way.cut || way.more;
    if (!body.n && c.why.n && !way.cut)
        cpp_add_new(&out->left, c.why, c.arena);
    if (body.n && way.ops == ops && cpp_add_new(&w->bodies, body, c.arena))
        w->patterns = cpp_append(
            w->patterns,
            arena_printf(c.arena, "Pattern %s%u with benefit(%u) {\n%s\n", name.p, w->bodies.n, ops, body.p), c.arena);
}

/* All ways, those of fewest ops first. */
static struct str fill_pdll(const struct cpp *shared, struct rewrite *out, const struct formula *fused) {
    enum { MOST_WAYS = 100, MOST_TRIES = 3000 };
    struct arena *a = shared->arena;
    const struct pattern *p = shared->pattern;
    struct str name = p->name, what = summary(p, a);
    struct buf text = {0};
    struct ways w = {.shared = shared, .fused = fused, .more = true};
    bool next = true, full = false;
    for (uint32_t ops = 1; w.more && !full; ops++) {
        w.way = (struct pdll_way){0};
        w.more = false;
        for (next = true; next && !full; full = w.tries >= MOST_TRIES || w.bodies.n >= MOST_WAYS) {
            write_way(&w, out, ops);
            if (w.way.again) /* the same choices are others now */
                w.way.nchoices = w.way.used;
            next = w.way.again || next_way(&w.way);
        }
    }
    if (!w.bodies.n && !out->left.n)
        out->left = cpp_append(out->left, arena_printf(a, "none of %u ways to write it can be said", w.tries), a);
    if (!w.bodies.n)
        return STR("");
    if (next || w.more)
        out->left = cpp_append(out->left, arena_printf(a, "all ways to write it but %u", w.bodies.n), a);
    const struct blank blanks[] = {{STR("{name}"), {&name, 1}},
                                   {STR("{summary}"), {&what, 1}},
                                   {STR("{fused}"), lines_of(p->fused->text, a)},
                                   {STR("{left}"), out->left},
                                   {STR("{patterns}"), w.patterns}};
    fill_lines(&text, embedded_text("NAME.pdll"), blanks, sizeof blanks / sizeof *blanks);
    return buf_take(&text, a);
}

/* Whether C++ can say it; else why not. What decides between alternatives of the fused form is known there. */
static bool is_cpp(const struct pattern_set *set, const struct pattern *p, struct arena *a, struct rewrite *out) {
    struct rewrite other;
    rewrite_write(set, p, false, a, &other);
    out->why = other.why;
    return other.text.n > 0;
}

void rewrite_write(const struct pattern_set *set, const struct pattern *p, bool pdll, struct arena *a,
                   struct rewrite *out) {
    struct buf body = {0};
    struct cpp c = {.arena = a, .set = set, .pattern = p, .formula = &p->formula, .match = &p->formula, .out = &body};
    *out = (struct rewrite){0};
    if (pattern_reach(p) != REACH_DIALECT)
        cpp_cannot(&c, "the dialect lacks %.*s of %s", (int)pattern_lacks(p).n, pattern_lacks(p).p, p->fused_op.p);
    else if (blocked(p).n)
        cpp_cannot(&c, "it is blocked: %s", blocked(p).p);
    else if (!p->fused)
        cpp_cannot(&c, "the pattern does not say what the fused op computes");
    else if (pdll && !is_cpp(set, p, a, out))
        cpp_cannot(&c, "%s", out->why.p);
    else if (pdll && p->formula.nsecondary)
        cpp_cannot(&c, "a line that ends elsewhere than the others");
    else if (pdll && c.pattern->nescapes)
        cpp_cannot(&c, "a value that others may use, too");
    else
        out->text = pdll ? fill_pdll(&c, out, form_of(p->fused)) : fill_class(&c, out, p, form_of(p->fused));
    struct str why = c.why.n ? c.why : out->left.n ? out->left.items[0] : STR("no op of TTIR ends it");
    out->why = out->text.n ? STR("") : why;
    buf_free(&body);
}

bool rewrite_is_possible(const struct pattern_set *set, const struct pattern *p) {
    struct arena scratch = {0};
    struct rewrite r;
    rewrite_write(set, p, false, &scratch, &r);
    bool is = r.text.n > 0;
    arena_free(&scratch);
    return is;
}
