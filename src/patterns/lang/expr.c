/* Precedence climbing over the tokens of a formula, by the table of infix signs. Grammar: fusion-patterns(5). It ends
 * at an error. */
#include "patterns/lang/expr.h"

#include <ctype.h>
#include <string.h>

#include "patterns/lang/infix.h"

void formula_fail(struct formula_parser *p, struct str at, const char *hint, const char *what) {
    if (!p->failed)
        diag_add(p->diags, SEV_ERROR, lex_place(p->origin, p->text, at.p), hint, "%s", what);
    p->failed = true;
}

/* What people write for something that is written otherwise here. */
static const char *other_notation(struct str token) {
    static const struct {
        const char *token, *hint;
    } notations[] = {{"=", "values are compared by ==, !=, <, <=, > and >="},
                     {"^", "a power is x ** 3"},
                     {"[", "a part of x is x[..., 0:32], or slice(x, dim=-1, part=0, of=2) by halves"},
                     {"->", "rearrange(x, \"b s (h d) -> b h s d\")"},
                     {".", "operators are functions of their operands: transposed(k), exp(x)"},
                     {"if", "where(condition, x, y) chooses"},
                     {"!", "conditions are joined as not(c), c & d, c | d"},
                     {"and", "conditions are joined as not(c), c & d, c | d"},
                     {"or", "conditions are joined as not(c), c & d, c | d"}};
    for (size_t i = 0; i < sizeof notations / sizeof *notations; i++)
        if (str_is(token, notations[i].token))
            return notations[i].hint;
    return NULL;
}

static void advance(struct formula_parser *p) {
    p->token = lex_next(&p->lexer);
}

static bool at_punct(const struct formula_parser *p, const char *s) {
    return p->token.kind == T_PUNCT && p->token.text.p[0] == s[0] && str_is(p->token.text, s);
}

static bool accept(struct formula_parser *p, const char *s) {
    if (!at_punct(p, s))
        return false;
    advance(p);
    return true;
}

static void expect(struct formula_parser *p, const char *s) {
    if (!accept(p, s)) {
        struct str what = arena_printf(p->arena, "'%s' expected%s%.*s%s", s, p->token.text.n ? " before '" : "",
                                       (int)p->token.text.n, p->token.text.p, p->token.text.n ? "'" : "");
        formula_fail(p, p->token.text, p->token.text.n ? other_notation(p->token.text) : p->at_end, what.p);
    }
}

static struct expr *new_expr(struct formula_parser *p, enum expr_kind kind, struct str text) {
    struct expr *e = arena_alloc(p->arena, sizeof *e);
    if (++p->nexprs > MAX_NODES)
        formula_fail(p, text, NULL, "the formula is too large");
    e->kind = kind;
    e->text = text;
    return e;
}

static struct expr *with_args(struct formula_parser *p, struct expr *e, struct expr *const *args, uint32_t n) {
    e->args = arena_alloc(p->arena, n * sizeof *e->args);
    e->nargs = n;
    memcpy(e->args, args, n * sizeof *args);
    return e;
}

/* Infix signs from `least` on. */
static struct expr *parse_infix(struct formula_parser *p, enum binding_power least);

static struct expr *parse_either(struct formula_parser *p) {
    return parse_infix(p, P_EITHER);
}

static struct expr *parse_call(struct formula_parser *p, struct expr *call) {
    struct expr *args[MAX_ARGS] = {NULL};
    struct str keys[MAX_ARGS] = {{0}};
    uint32_t n = 0;
    while (!p->failed && !at_punct(p, ")")) {
        if (n == MAX_ARGS) {
            formula_fail(p, p->token.text, NULL, "too many arguments");
            return call;
        }
        struct expr *arg = parse_either(p);
        if (arg->kind == E_NAME && accept(p, "=")) {
            keys[n] = arg->text;
            arg = parse_either(p);
        }
        args[n++] = arg;
        if (!accept(p, ","))
            break;
    }
    expect(p, ")");
    call->keys = arena_alloc(p->arena, n * sizeof *keys);
    memcpy(call->keys, keys, n * sizeof *keys);
    return with_args(p, call, args, n);
}

static struct expr *parse_name(struct formula_parser *p) {
    struct token name = p->token;
    advance(p);
    bool forced = str_is(name.text, "op") && p->token.kind == T_NAME;
    if (forced) {
        name = p->token;
        advance(p);
    }
    struct expr *e = new_expr(p, at_punct(p, "(") ? E_CALL : E_NAME, name.text);
    p->series |= str_ends(name.text, STR(".."));
    e->forced_op = forced;
    if (accept(p, "("))
        return parse_call(p, e);
    if (forced)
        expect(p, "(");
    return e;
}

static struct expr *parse_literal(struct formula_parser *p, enum expr_kind kind) {
    struct expr *e = new_expr(p, kind, p->token.text);
    e->value = p->token.value;
    advance(p);
    return e;
}

/* [-2, -1] */
static struct expr *parse_list(struct formula_parser *p) {
    struct expr *all[MAX_ARGS];
    struct expr *e = new_expr(p, E_LIST, p->token.text);
    uint32_t n = 0;
    expect(p, "[");
    do
        all[n++] = parse_either(p);
    while (n < MAX_ARGS && !p->failed && accept(p, ","));
    expect(p, "]");
    return with_args(p, e, all, n);
}

static void add_argument(struct expr *call, const char *key, struct expr *value) {
    call->args[call->nargs] = value;
    call->keys[call->nargs++] = str_of(key);
}

/* One of "begin:end:step", each of which may be left out. What is no number and no name is kept as a text. */
static void parse_bound(struct formula_parser *p, struct expr *slice, const char *key) {
    const char *from = p->token.text.p;
    if (at_punct(p, ":") || at_punct(p, ",") || at_punct(p, "]"))
        return;
    struct expr *e = parse_infix(p, P_SUM);
    if (e->kind == E_NEG)
        formula_fail(p, e->text, "x[..., :n]", "bounds are counted from the first element on");
    else if (!p->failed && e->kind != E_NUMBER && e->kind != E_NAME)
        e = new_expr(p, E_STRING, str_trim((struct str){from, (size_t)(p->token.text.p - from)}));
    add_argument(slice, key, e);
}

/* x[..., begin:end, :] stands for slice(x, dim=-2, begin=begin, end=end). */
static struct expr *parse_index(struct formula_parser *p, struct expr *of) {
    enum { MOST_BOUNDS = 5 };
    struct str at = p->token.text;
    struct expr *cuts[MAX_RANK], *e = of;
    uint32_t n = 0;
    expect(p, "[");
    expect(p, "...");
    while (!p->failed && n < MAX_RANK && accept(p, ",")) {
        struct expr *cut = new_expr(p, E_CALL, STR("slice"));
        cut->args = arena_alloc(p->arena, MOST_BOUNDS * sizeof *cut->args);
        cut->keys = arena_alloc(p->arena, MOST_BOUNDS * sizeof *cut->keys);
        cut->forced_op = cut->index = true;
        add_argument(cut, "", of);
        parse_bound(p, cut, "begin");
        expect(p, ":");
        parse_bound(p, cut, "end");
        if (accept(p, ":"))
            parse_bound(p, cut, "step");
        cuts[n++] = cut;
    }
    expect(p, "]");
    for (uint32_t i = 0; i < n && !p->failed; i++) {
        struct expr *number = new_expr(p, E_NUMBER, at), *dim = new_expr(p, E_NEG, at);
        if (cuts[i]->nargs == 1) /* ":", all of it */
            continue;
        number->value = n - i;
        add_argument(cuts[i], "dim", with_args(p, dim, &number, 1));
        cuts[i]->args[0] = e;
        e = cuts[i];
    }
    return e;
}

static bool at_index(const struct formula_parser *p) {
    struct lexer ahead = p->lexer;
    return at_punct(p, "[") && str_is(lex_next(&ahead).text, "...");
}

static struct expr *parse_primary(struct formula_parser *p) {
    struct token t = p->token;
    struct expr *e = NULL, *inner;
    if (++p->depth > MAX_PAREN_DEPTH)
        formula_fail(p, t.text, NULL, "nested too deeply");
    if (p->failed) {
        e = new_expr(p, E_NUMBER, t.text);
    } else if (t.kind == T_NUMBER || t.kind == T_STRING) {
        e = parse_literal(p, t.kind == T_NUMBER ? E_NUMBER : E_STRING);
    } else if (t.kind == T_NAME) {
        e = parse_name(p);
    } else if (at_punct(p, "[")) {
        e = parse_list(p);
    } else if (accept(p, "-")) {
        inner = parse_infix(p, P_POWER);
        e = with_args(p, new_expr(p, E_NEG, t.text), &inner, 1);
    } else if (accept(p, "(")) {
        e = parse_either(p);
        expect(p, ")");
    } else {
        struct str what = t.text.n
                              ? arena_printf(p->arena, "an expression expected before '%.*s'", (int)t.text.n, t.text.p)
                              : STR("an expression expected");
        formula_fail(p, t.text, other_notation(t.text), what.p);
        e = new_expr(p, E_NUMBER, t.text);
    }
    while (!p->failed && at_index(p))
        e = parse_index(p, e);
    p->depth--;
    return e;
}

static struct expr *infix(struct formula_parser *p, struct str sign, struct expr *a, struct expr *b) {
    struct expr *args[2] = {a, b};
    return with_args(p, new_expr(p, E_INFIX, sign), args, 2);
}

/* "left [* x]" stands for left * x | left; "left [*|/ x]" for left * x | left / x | left. The operand binds more
 * tightly than the first sign. */
static struct expr *parse_optional(struct formula_parser *p, struct expr *left, enum binding_power sign) {
    enum { MAX_OPTIONAL = 4 };
    struct str signs[MAX_OPTIONAL];
    struct expr *all[MAX_OPTIONAL + 1];
    uint32_t n = 0;
    struct expr *e = new_expr(p, E_EITHER, p->token.text);
    expect(p, "[");
    do {
        const struct infix *infix = p->token.kind == T_PUNCT ? infix_of_sign(p->token.text) : NULL;
        if (!infix || infix->power != sign)
            formula_fail(p, p->token.text, "x [+|- y]", "a sign like the first one expected");
        signs[n++] = p->token.text;
        advance(p);
    } while (n < MAX_OPTIONAL && accept(p, "|"));
    struct expr *right = parse_infix(p, sign + 1);
    expect(p, "]");
    for (uint32_t i = 0; i < n; i++)
        all[i] = infix(p, signs[i], left, right);
    all[n] = left;
    e->optional = true;
    return with_args(p, e, all, n + 1);
}

static struct expr *parse_alternatives(struct formula_parser *p, struct expr *first) {
    struct expr *all[MAX_ARGS] = {first};
    uint32_t n = 1;
    struct expr *e = new_expr(p, E_EITHER, first->text);
    while (!p->failed && accept(p, "|")) {
        if (n == MAX_ARGS) {
            formula_fail(p, p->token.text, "put some of them into an idiom", "too many alternatives");
            break;
        }
        all[n++] = parse_infix(p, P_AND);
    }
    return with_args(p, e, all, n);
}

/* The sign that follows, perhaps behind the '[' of an optional part; NULL: none. */
static const struct infix *next_sign(const struct formula_parser *p, bool optional) {
    struct lexer ahead = p->lexer;
    struct token t = optional ? lex_next(&ahead) : p->token;
    return t.kind == T_PUNCT ? infix_of_sign(t.text) : NULL;
}

static struct expr *parse_infix(struct formula_parser *p, enum binding_power least) {
    struct expr *left = parse_primary(p);
    enum binding_power most = P_WORD;
    while (!p->failed) {
        bool optional = at_punct(p, "[") && !at_index(p);
        const struct infix *sign = next_sign(p, optional);
        struct str text = p->token.text;
        if (!sign || sign->power < least || sign->power > most || (optional && sign->power < P_SUM))
            break;
        if (optional) {
            left = parse_optional(p, left, sign->power);
        } else if (sign->power == P_EITHER) {
            left = parse_alternatives(p, left);
        } else {
            advance(p);
            left = infix(p, text, left, parse_infix(p, sign->power == P_POWER ? P_POWER : sign->power + 1));
        }
        if (sign->power == P_COMPARISON) /* of two values, not of three */
            most = P_AND;
    }
    return left;
}

static bool before_equals(const struct formula_parser *p) {
    struct lexer ahead = p->lexer;
    struct token t = lex_next(&ahead);
    return t.kind == T_PUNCT && str_is(t.text, "=");
}

/* `also` or `maybe` before the name of a line: it is a secondary root. */
static enum line_kind line_kind(struct formula_parser *p) {
    struct lexer ahead = p->lexer;
    bool also = str_is(p->token.text, "also"), maybe = str_is(p->token.text, "maybe");
    if (p->token.kind != T_NAME || !(also || maybe) || lex_next(&ahead).kind != T_NAME)
        return LINE_PLAIN;
    advance(p);
    return also ? LINE_ALSO : LINE_MAYBE;
}

/* Of what stands behind an expression. */
static const char *hint_behind(const struct formula_parser *p, const struct expr *e) {
    const char *other = other_notation(e->kind == E_NAME && str_is(e->text, "not") ? STR("!") : p->token.text);
    return other ? other : "a new definition starts on a new line, which YAML keeps in texts behind `|`";
}

/* ---- series ---- */

/* The number that the names of a series begin with, or NONE: it is a name of its own. */
static uint32_t first_of_series(struct str name) {
    uint32_t first = 0, tens = 1;
    if (!str_ends(name, STR("..")))
        return NONE;
    for (size_t i = name.n - 2; i-- > 0 && isdigit((unsigned char)name.p[i]) && tens < 1000; tens *= 10)
        first += tens * (uint32_t)(name.p[i] - '0');
    return first;
}

static struct str name_of_series(struct formula_parser *p, struct str name, uint32_t i) {
    uint32_t first = first_of_series(name);
    size_t letters = name.n - 2;
    if (first == NONE)
        return name;
    if (first > LAST_OF_SERIES)
        formula_fail(p, name, NULL, "a series ends with the number 16");
    while (letters > 0 && isdigit((unsigned char)name.p[letters - 1]))
        letters--;
    return arena_printf(p->kept ? p->kept : p->arena, "%.*s%u", (int)letters, name.p, first + i);
}

/* The same of the names in the text of an attribute: begin="extent(w2.., -1)". */
static struct str names_in_text(struct formula_parser *p, struct str text, uint32_t i) {
    struct lexer l = {text, 0, 0};
    struct buf out = {0};
    const char *from = text.p;
    for (struct token t = lex_next(&l); t.kind != T_END && t.kind != T_BAD; t = lex_next(&l)) {
        if (t.kind != T_NAME || first_of_series(t.text) == NONE)
            continue;
        buf_add(&out, (struct str){from, (size_t)(t.text.p - from)});
        buf_add(&out, name_of_series(p, t.text, i));
        from = t.text.p + t.text.n;
    }
    if (from == text.p)
        return text;
    buf_add(&out, (struct str){from, (size_t)(text.p + text.n - from)});
    return buf_take(&out, p->kept ? p->kept : p->arena);
}

uint32_t series_size(struct formula_parser *p, const struct expr *e) {
    uint32_t first = p->series && e->kind == E_NAME ? first_of_series(e->text) : NONE, n = 1;
    for (uint32_t i = 0; i < e->nargs && p->series && n == 1; i++)
        n = series_size(p, e->args[i]);
    return first > LAST_OF_SERIES ? n : LAST_OF_SERIES + 1 - first;
}

struct expr *series_member(struct formula_parser *p, const struct expr *e, uint32_t i) {
    struct expr *copy = new_expr(p, e->kind, e->text);
    *copy = *e;
    if (e->kind == E_NAME)
        copy->text = name_of_series(p, e->text, i);
    else if (e->kind == E_STRING && !p->condition)
        copy->text = names_in_text(p, e->text, i);
    copy->args = arena_alloc(p->arena, (e->nargs + (size_t)1) * sizeof *copy->args);
    for (uint32_t k = 0; k < e->nargs; k++)
        copy->args[k] = series_member(p, e->args[k], i);
    return copy;
}

/* All names of each series among the arguments of calls, in their place. */
static void spread_series(struct formula_parser *p, struct expr *e) {
    struct expr *args[MAX_ARGS];
    struct str keys[MAX_ARGS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->nargs; i++) {
        struct expr *arg = e->args[i];
        bool series = arg->kind == E_NAME && first_of_series(arg->text) != NONE;
        uint32_t size = series ? series_size(p, arg) : 1;
        if (n + size > MAX_ARGS || (series && e->kind != E_CALL))
            formula_fail(p, arg->text, "concat(w1.., dim=-1)", "a series stands among the arguments of a call");
        for (uint32_t k = 0; k < size && !p->failed; k++, n++) {
            args[n] = series ? series_member(p, arg, k) : arg;
            keys[n] = e->keys ? e->keys[i] : STR("");
        }
        spread_series(p, arg);
    }
    if (p->failed || n == e->nargs)
        return;
    e->keys = arena_alloc(p->arena, n * sizeof *keys);
    memcpy(e->keys, keys, n * sizeof *keys);
    with_args(p, e, args, n);
}

/* The lines that a line is, for each name of a series that it defines; how many. */
static uint32_t add_lines(struct formula_parser *p, const struct definition *d, struct definition *to, uint32_t room) {
    uint32_t first = first_of_series(d->name);
    bool defines = first != NONE;
    uint32_t n = first <= LAST_OF_SERIES ? LAST_OF_SERIES + 1 - first : 1;
    if (n > room)
        formula_fail(p, d->name, NULL, "too many lines");
    if (p->series && !defines && !p->condition)
        spread_series(p, d->expr);
    for (uint32_t i = 0; i < n && !p->failed; i++)
        to[i] =
            defines ? (struct definition){name_of_series(p, d->name, i), d->kind, series_member(p, d->expr, i)} : *d;
    return p->failed ? 0 : n;
}

/* ---- lines ---- */

struct definition *formula_lines(struct formula_parser *p, uint32_t *count) {
    struct definition lines[MAX_LINES];
    uint32_t n = 0;
    advance(p);
    while (!p->failed && p->token.kind != T_END) {
        if (p->token.kind == T_LINE) {
            advance(p);
            continue;
        }
        struct definition d = {.kind = line_kind(p)};
        if (p->token.kind == T_NAME && before_equals(p)) {
            d.name = p->token.text;
            p->series |= str_ends(d.name, STR(".."));
            advance(p);
            advance(p);
        }
        d.expr = parse_either(p);
        if (!p->failed && p->token.kind != T_LINE && p->token.kind != T_END)
            formula_fail(p, p->token.text, hint_behind(p, d.expr), "end of line expected");
        n += add_lines(p, &d, lines + n, MAX_LINES - n);
    }
    struct definition *kept = arena_alloc(p->arena, (n + 1) * sizeof *kept);
    for (uint32_t i = 0; i < n; i++)
        kept[i] = lines[i];
    *count = n;
    return kept;
}

const char *formula_definition_head(struct formula_parser *p, struct idiom *idiom) {
    advance(p);
    idiom->name = p->token.text;
    if (p->token.kind != T_NAME)
        formula_fail(p, p->token.text, "name(x, dim): formula", "a definition starts with its name");
    advance(p);
    idiom->op = str_is(idiom->name, "op") && p->token.kind == T_NAME;
    if (idiom->op) {
        idiom->name = p->token.text;
        advance(p);
    }
    expect(p, "(");
    while (!p->failed && p->token.kind == T_NAME && idiom->nparams < MOST_IDIOM_PARAMS) {
        idiom->params[idiom->nparams++] = p->token.text;
        advance(p);
        if (!accept(p, ","))
            break;
    }
    expect(p, ")");
    if (!p->failed && !at_punct(p, ":"))
        expect(p, ":");
    return p->failed ? NULL : p->token.text.p + 1;
}
