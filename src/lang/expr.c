/* Recursive descent over the tokens of a formula, from the loosest operator to the tightest: alternatives, &,
 * comparisons, sums, products, then names, calls and parentheses. Grammar: fusion-patterns(5). It ends at an error. */
#include "lang/expr.h"

#include <string.h>

void formula_fail(struct formula_parser *p, struct str at, const char *hint, const char *what) {
    if (!p->failed)
        diag_add(p->diags, SEV_ERROR, lex_place(p->origin, p->text, at.p), hint, "%s", what);
    p->failed = true;
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
        formula_fail(p, p->token.text, NULL, what.p);
    }
}

/* `max`: room for arguments. */
static struct expr *new_expr(struct formula_parser *p, enum expr_kind kind, struct str text, uint32_t max) {
    struct expr *e = arena_alloc(p->arena, sizeof *e);
    if (++p->nexprs > MAX_NODES)
        formula_fail(p, text, NULL, "the formula is too large");
    e->kind = kind;
    e->text = text;
    e->args = max ? arena_alloc(p->arena, max * sizeof(struct expr *)) : NULL;
    return e;
}

static struct expr *parse_either(struct formula_parser *p);

static struct expr *parse_call(struct formula_parser *p, struct expr *call) {
    struct expr *args[MAX_ARGS];
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
    call->nargs = n;
    call->args = arena_alloc(p->arena, (n + 1) * sizeof *args);
    call->keys = arena_alloc(p->arena, (n + 1) * sizeof *keys);
    for (uint32_t i = 0; i < n; i++) {
        call->args[i] = args[i];
        call->keys[i] = keys[i];
    }
    return call;
}

static struct expr *parse_name(struct formula_parser *p) {
    struct token name = p->token;
    advance(p);
    bool forced = str_is(name.text, "op") && p->token.kind == T_NAME;
    if (forced) {
        name = p->token;
        advance(p);
    }
    struct expr *e = new_expr(p, at_punct(p, "(") ? E_CALL : E_NAME, name.text, 0);
    e->forced_op = forced;
    if (accept(p, "("))
        return parse_call(p, e);
    if (forced)
        expect(p, "(");
    return e;
}

static struct expr *parse_primary(struct formula_parser *p) {
    struct token t = p->token;
    if (++p->depth > MAX_PAREN_DEPTH)
        formula_fail(p, t.text, NULL, "nested too deeply");
    struct expr *e = new_expr(p, E_NUMBER, t.text, 1);
    if (p->failed) {
        p->depth--;
        return e;
    }
    if (t.kind == T_NUMBER) {
        e->value = t.value;
        advance(p);
    } else if (t.kind == T_STRING) {
        e->kind = E_STRING;
        advance(p);
    } else if (t.kind == T_NAME) {
        e = parse_name(p);
    } else if (accept(p, "-")) {
        e->kind = E_NEG;
        e->args[e->nargs++] = parse_primary(p);
    } else if (accept(p, "(")) {
        e = parse_either(p);
        expect(p, ")");
    } else {
        struct str what = t.text.n
                              ? arena_printf(p->arena, "an expression expected before '%.*s'", (int)t.text.n, t.text.p)
                              : STR("an expression expected");
        formula_fail(p, t.text, NULL, what.p);
    }
    p->depth--;
    return e;
}

static struct expr *infix(struct formula_parser *p, struct str op, struct expr *a, struct expr *b) {
    struct expr *e = new_expr(p, E_INFIX, op, 2);
    e->args[0] = a;
    e->args[1] = b;
    e->nargs = 2;
    return e;
}

static bool next_is(const struct formula_parser *p, const char *ops) {
    struct lexer ahead = p->lexer;
    struct token t = lex_next(&ahead);
    return t.kind == T_PUNCT && t.text.n == 1 && strchr(ops, t.text.p[0]);
}

/* "left [* x]" stands for left * x | left; "left [*|/ x]" for left * x | left / x | left. */
static struct expr *parse_optional(struct formula_parser *p, struct expr *left,
                                   struct expr *(*operand)(struct formula_parser *)) {
    enum { MAX_OPTIONAL = 4 };
    struct str ops[MAX_OPTIONAL];
    uint32_t n = 0;
    struct expr *e = new_expr(p, E_EITHER, p->token.text, MAX_OPTIONAL + 1);
    expect(p, "[");
    do {
        ops[n++] = p->token.text;
        advance(p);
    } while (n < MAX_OPTIONAL && accept(p, "|"));
    struct expr *right = operand(p);
    expect(p, "]");
    for (uint32_t i = 0; i < n; i++)
        e->args[e->nargs++] = infix(p, ops[i], left, right);
    e->args[e->nargs++] = left;
    return e;
}

static struct expr *parse_level(struct formula_parser *p, const char *ops,
                                struct expr *(*operand)(struct formula_parser *)) {
    struct expr *left = operand(p);
    while (!p->failed) {
        if (p->token.kind == T_PUNCT && p->token.text.n == 1 && strchr(ops, p->token.text.p[0])) {
            struct str op = p->token.text;
            advance(p);
            left = infix(p, op, left, operand(p));
        } else if (at_punct(p, "[") && next_is(p, ops)) {
            left = parse_optional(p, left, operand);
        } else {
            break;
        }
    }
    return left;
}

static struct expr *parse_product(struct formula_parser *p) {
    return parse_level(p, "*/%", parse_primary);
}
static struct expr *parse_sum(struct formula_parser *p) {
    return parse_level(p, "+-", parse_product);
}

static bool at_comparison(const struct formula_parser *p) {
    static const char *const ops[] = {"==", "!=", "<=", ">=", "<", ">"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (at_punct(p, ops[i]))
            return true;
    return false;
}

static struct expr *parse_comparison(struct formula_parser *p) {
    struct expr *left = parse_sum(p);
    if (p->failed || !at_comparison(p))
        return left;
    struct str op = p->token.text;
    advance(p);
    return infix(p, op, left, parse_sum(p));
}

static struct expr *parse_and(struct formula_parser *p) {
    struct expr *left = parse_comparison(p);
    while (!p->failed && at_punct(p, "&")) {
        struct str op = p->token.text;
        advance(p);
        left = infix(p, op, left, parse_comparison(p));
    }
    return left;
}

static struct expr *parse_either(struct formula_parser *p) {
    struct expr *first = parse_and(p);
    if (p->failed || !at_punct(p, "|"))
        return first;
    struct expr *e = new_expr(p, E_EITHER, first->text, MAX_ARGS);
    e->args[e->nargs++] = first;
    while (!p->failed && accept(p, "|")) {
        if (e->nargs == MAX_ARGS) {
            formula_fail(p, p->token.text, "put some of them into an idiom", "too many alternatives");
            break;
        }
        e->args[e->nargs++] = parse_and(p);
    }
    return e;
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

const struct definition *formula_lines(struct formula_parser *p, uint32_t *count) {
    struct definition lines[MAX_LINES];
    uint32_t n = 0;
    advance(p);
    while (!p->failed && p->token.kind != T_END) {
        if (p->token.kind == T_LINE) {
            advance(p);
            continue;
        }
        if (n == MAX_LINES) {
            formula_fail(p, p->token.text, NULL, "too many lines");
            break;
        }
        struct definition *d = &lines[n++];
        d->name = (struct str){NULL, 0};
        d->kind = line_kind(p);
        if (p->token.kind == T_NAME && next_is(p, "=")) {
            d->name = p->token.text;
            advance(p);
            advance(p);
        }
        d->expr = parse_either(p);
        if (!p->failed && p->token.kind != T_LINE && p->token.kind != T_END)
            formula_fail(p, p->token.text, "a new definition starts on a new line", "end of line expected");
    }
    struct definition *kept = arena_alloc(p->arena, (n + 1) * sizeof *kept);
    for (uint32_t i = 0; i < n; i++)
        kept[i] = lines[i];
    *count = n;
    return kept;
}

const char *formula_idiom_head(struct formula_parser *p, struct idiom *idiom) {
    advance(p);
    idiom->name = p->token.text;
    if (p->token.kind != T_NAME)
        formula_fail(p, p->token.text, "name(x, dim): formula", "an idiom starts with its name");
    advance(p);
    expect(p, "(");
    while (!p->failed && p->token.kind == T_NAME && idiom->nparams < 6) {
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
