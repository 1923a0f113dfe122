/* Mistakes that authors of patterns are told of; an audit does not look for them. */
#include "patterns/library/lint.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "patterns/lang/build.h"
#include "patterns/lang/template.h"
#include "patterns/library/lowering.h"

struct checker {
    const struct pattern_set *set;
    const char *file;
    struct diags *diags;
    struct arena arena;
    const char **ops; /* of TTNN, its dialect and its library, without "ttnn." */
    uint32_t nops, ops_cap;
    bool failed;
};

static bool same_file(const char *a, const char *b) {
    struct stat sa, sb;
    return strcmp(a, b) == 0 ||
           (stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino);
}

static void warn(struct checker *c, uint64_t line, const char *what, struct str word, const char *more) {
    diag_add(c->diags, SEV_WARNING, (struct source_location){c->file, line, 0}, NULL, "%s%.*s%s", what, (int)word.n,
             word.p, more);
}

/* ---- ops ---- */

static const struct str ttnn = {"ttnn.", 5};

static struct str without_dialect(struct str op) {
    size_t n = str_starts(op, ttnn) ? ttnn.n : 0;
    return (struct str){op.p + n, op.n - n};
}

static void add_op(struct checker *c, struct str name) {
    c->ops = grow(c->ops, &c->ops_cap, c->nops + 1, sizeof *c->ops);
    c->ops[c->nops++] = arena_strdup(&c->arena, name);
}

static void list_ops(struct checker *c) {
    for (uint32_t k = 0; k < OPERATORS; k++)
        for (struct str rest = str_of(op_table[k].spellings); rest.n;) {
            struct str spelling = str_part(&rest, ' ');
            if (str_starts(spelling, ttnn))
                add_op(c, without_dialect(spelling));
        }
    for (struct str rest = c->set->library; rest.n;) {
        struct str name = str_part(&rest, ' ');
        if (name.n)
            add_op(c, name);
    }
}

/* ---- texts with {names} ---- */

/* Line of a piece of text in the file; that of the pattern when YAML changed the text (folded, escaped). */
static uint64_t line_of(const struct pattern *p, struct str piece) {
    const char *at = str_find(p->text, piece);
    uint64_t line = p->text_line;
    for (const char *c = p->text.p; at && c < at; c++)
        line += *c == '\n';
    return at ? line : p->line;
}

static void check_fused_op(struct checker *c, const struct pattern *p) {
    struct str name = without_dialect(p->fused_op);
    for (uint32_t i = 0; i < c->nops; i++)
        if (str_is(name, c->ops[i]) && name.n < p->fused_op.n)
            return;
    const char *nearest = str_nearest(name, c->ops, c->nops);
    struct source_location at = {c->file, line_of(p, p->fused_op), 0};
    const char *hint = str_is(name, "TODO") ? "write the op here that these ops should become"
                       : nearest            ? arena_printf(&c->arena, "did you mean ttnn.%s?", nearest).p
                                            : "ops that the library of TTNN has since are named under `library`";
    diag_add(c->diags, SEV_ERROR, at, hint, "no op of TTNN: %.*s", (int)p->fused_op.n, p->fused_op.p);
    c->failed = true;
}

static void check_template(struct checker *c, const struct pattern *p, struct str text) {
    struct str before, inner;
    while (next_braced(&text, &before, &inner))
        if (braced_read(&p->formula, inner, &c->arena).kind == BRACED_TEXT)
            warn(c, line_of(p, (struct str){inner.p - 1, inner.n + 2}),
                 "neither a name of the formula nor a number, printed as it is: {", inner, "}");
}

#define WORD "abcdefghijklmnopqrstuvwxyz0123456789_"

/* A single word, with _ in it or where the file has rules, seems to be the name of one. */
static void check_rules(struct checker *c, const struct pattern *p, const struct note_rule *rules, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        check_template(c, p, rules[i].say);
        bool named = p->shared.n || strchr(rules[i].say.p, '_');
        if (rules[i].say.n && named && strspn(rules[i].say.p, WORD) == rules[i].say.n)
            warn(c, line_of(p, rules[i].say), "no rule of the file has this name: ", rules[i].say, "");
    }
}

/* Every match of the node has the name. */
static bool always_binds(const struct formula *f, const struct node *n, uint32_t slot) {
    bool each = n->kind == N_EITHER;
    if ((n->kind == N_VARIABLE || n->kind == N_NAMED) && n->slot == slot)
        return true;
    for (uint32_t i = 0; i < n->nattrs; i++)
        if (n->attrs[i].word && str_eq(n->attrs[i].value, f->slots[slot].name))
            return true;
    for (uint32_t i = 0; i < n->nargs; i++)
        if (always_binds(f, n->args[i], slot) != each)
            return !each;
    return each;
}

static bool may_be_absent(const struct formula *f, uint32_t slot) {
    bool bound = always_binds(f, f->root, slot);
    for (uint32_t i = 0; i < f->nsecondary && !bound; i++)
        bound = !f->also[i].optional && always_binds(f, f->also[i].node, slot);
    return !bound;
}

/* Arguments in one text of which some may be absent, with which all of it goes. */
static void check_argument(struct checker *c, const struct pattern *p, const struct note_rule *rule) {
    struct str text = rule->say, before, inner, optional = {NULL, 0};
    bool always = false;
    while (next_braced(&text, &before, &inner)) {
        struct braced braced = braced_read(&p->formula, inner, &c->arena);
        bool absent = false;
        for (uint32_t i = 0; i < p->formula.nslots; i++)
            absent |= (braced.names.slots[i / 64] >> i % 64 & 1) && may_be_absent(&p->formula, i);
        always |= !absent;
        optional = absent ? inner : optional;
    }
    if (always && optional.n && !rule->when)
        warn(c, line_of(p, optional), "all of this text of `call` is left out where the match lacks what is in {",
             optional, "}: write that argument as an item of its own");
}

/* ---- the fused form ---- */

/* `absent` stands for an operand that the op goes without. */
static void check_fused(struct checker *c, const struct pattern *p) {
    const struct formula *f = p->fused->formula;
    for (uint32_t i = 0; i < f->nslots; i++)
        if (f->slots[i].is_variable && f->slots[i].name.n && formula_slot(&p->formula, f->slots[i].name) == NONE &&
            !str_is(f->slots[i].name, "absent"))
            warn(c, line_of(p, p->fused->text),
                 "`fused` speaks of a name that the formula does not have: ", f->slots[i].name, "");
}

/* The formula of an assumption has no other variable than the name itself. */
static void check_holds(struct checker *c, const struct pattern *p, const struct holding *h) {
    const struct formula *f = h->form->formula;
    for (uint32_t i = 0; i < f->nslots; i++)
        if (f->slots[i].is_variable && !str_eq(f->slots[i].name, p->formula.slots[h->slot].name))
            warn(c, line_of(p, h->form->text), "`holds` speaks of another name: ", f->slots[i].name, "");
}

/* ---- the formula ---- */

/* A node whose op is never printed with an attribute that it asks for. */
static bool asks_in_vain(const struct node *n, void *context) {
    const struct attr_spec **asked = context;
    for (uint32_t i = 0; i < n->nattrs && n->kind == N_OP && op_table[n->op].class != OP_SLICE; i++)
        if (!op_may_have(n->op, str_of((*asked = &n->attrs[i])->key)))
            return true;
    return false;
}

/* A product of what is written as moved: the op is meant to be there then, and its operand has other axes. */
static bool multiplies_moved(const struct node *n, void *context) {
    (void)context;
    bool found = false;
    for (uint32_t i = 0; i < n->nargs && n->kind == N_OP && op_table[n->op].class == OP_CONTRACT; i++)
        found |= n->args[i]->kind == N_OP && op_table[n->args[i]->op].class == OP_MOVE;
    return found;
}

static void check_formula(struct checker *c, const struct pattern *p) {
    const struct attr_spec *asked;
    const struct node *n = formula_find(&p->formula, multiplies_moved, NULL);
    if (n)
        warn(c, line_of(p, n->text), "an operand of ", n->text,
             " is only what is printed as moved: transposed(x) is x with its last two axes exchanged, however");
    n = formula_find(&p->formula, asks_in_vain, &asked);
    if (!n)
        return;
    diag_add(c->diags, SEV_ERROR, (struct source_location){c->file, line_of(p, n->text), 0}, NULL,
             "%s has no such attribute: '%s'", op_table[n->op].name, asked->key);
    c->failed = true;
}

/* ---- other patterns ---- */

static void check_replaced(struct checker *c, const struct pattern *p) {
    const struct pattern *old = p->replaces;
    if (!old || (same_file(old->file->path, c->file) && old->line == p->line))
        return;
    struct str more = arena_printf(&c->arena, " of %s:%llu", old->file->path, (unsigned long long)old->line);
    warn(c, p->line, "replaces ", old->name, more.p);
}

static void check_demands_on(struct checker *c, const struct pattern *p) {
    struct str role, name;
    if (demand_missed(c->set, p, &role, &name))
        warn(c, p->fused->origin.line, "demands on the fused op speak of its operand ", role,
             arena_printf(&c->arena, ", which is called %.*s here: they are not looked at", (int)name.n, name.p).p);
}

static void check_pattern(struct checker *c, const struct pattern *p) {
    check_replaced(c, p);
    check_demands_on(c, p);
    check_formula(c, p);
    if (pattern_is_direct(p))
        check_fused_op(c, p);
    check_rules(c, p, p->torch, p->ntorch);
    check_rules(c, p, p->call, p->ncall);
    for (uint32_t i = 0; i < p->ncall; i++)
        check_argument(c, p, &p->call[i]);
    check_rules(c, p, p->notes, p->nnotes);
    check_rules(c, p, p->block, p->nblock);
    check_rules(c, p, p->outside, p->noutside);
    check_rules(c, p, p->undone, p->nundone);
    for (uint32_t i = 0; i < p->nholds; i++)
        check_holds(c, p, &p->holds[i]);
    check_fused(c, p);
}

/* ---- idioms ---- */

static bool calls(struct str text, struct str name) {
    struct lexer l = {text.n ? text : STR(""), 0, 0};
    bool forced = false; /* `op tanh(x)` is no idiom */
    bool power = str_is(name, "square") || str_is(name, "root") || str_is(name, "rsqrt");
    for (struct token t = lex_next(&l), next; t.kind != T_END && t.kind != T_BAD; t = next) {
        next = lex_next(&l);
        if (t.kind == T_NAME && !forced && str_eq(t.text, name) && next.kind == T_PUNCT && str_is(next.text, "("))
            return true;
        if (power && str_is(t.text, "**"))
            return true;
        forced = t.kind == T_NAME && str_is(t.text, "op");
    }
    return false;
}

static bool is_used(const struct pattern_set *set, const struct idiom *idiom) {
    for (uint32_t i = 0; i < set->n; i++) {
        const struct pattern *p = set->items[i];
        bool used = calls(p->match, idiom->name) || (p->fused && calls(p->fused->text, idiom->name));
        for (uint32_t k = 0; k < p->nholds; k++)
            used |= calls(p->holds[k].form->text, idiom->name);
        if (used)
            return true;
    }
    for (uint32_t i = 0; i < set->idioms.n; i++)
        if (!str_eq(set->idioms.items[i].name, idiom->name) && calls(set->idioms.items[i].body, idiom->name))
            return true;
    return false;
}

/* The definition before this one, if any. */
static const struct idiom *replaced_idiom(const struct pattern_set *set, uint32_t at) {
    for (uint32_t i = at; i-- > 0;)
        if (str_eq(set->idioms.items[i].name, set->idioms.items[at].name))
            return &set->idioms.items[i];
    return NULL;
}

static void check_idiom(struct checker *c, uint32_t at) {
    const struct idiom *idiom = &c->set->idioms.items[at], *old = replaced_idiom(c->set, at);
    if (old && !(same_file(old->origin.file->path, c->file) && old->origin.line == idiom->origin.line)) {
        struct str more =
            arena_printf(&c->arena, " of %s:%llu", old->origin.file->path, (unsigned long long)old->origin.line);
        warn(c, idiom->origin.line, "replaces the idiom ", idiom->name, more.p);
    }
    if (!is_used(c->set, idiom))
        warn(c, idiom->origin.line, "no pattern uses the idiom ", idiom->name, "");
}

static void check_demand(struct checker *c, const struct demand *d) {
    if (!d->used)
        warn(c, d->when.origin.line, "no pattern of these ops has the names of this demand: ", d->when.text, "");
}

bool pattern_file_is_of(const char *file, const char *path) {
    size_t n = strlen(path);
    return strncmp(file, path, n) == 0 && (file[n] == '\0' || file[n] == '/');
}

bool patterns_check(const struct pattern_set *set, const char *path, struct diags *d) {
    struct checker c = {.set = set, .diags = d};
    list_ops(&c);
    for (uint32_t i = 0; i < set->n; i++) {
        c.file = set->items[i]->file->path;
        if (pattern_file_is_of(c.file, path))
            check_pattern(&c, set->items[i]);
    }
    for (uint32_t i = 0; i < set->idioms.n; i++) {
        c.file = set->idioms.items[i].origin.file->path;
        if (pattern_file_is_of(c.file, path))
            check_idiom(&c, i);
    }
    for (uint32_t i = 0; i < set->ndemands; i++) {
        c.file = set->demands[i].when.origin.file->path;
        if (pattern_file_is_of(c.file, path))
            check_demand(&c, &set->demands[i]);
    }
    free(c.ops);
    arena_free(&c.arena);
    return !c.failed;
}
