/* Warnings for authors of patterns; an audit does not compute them. */
#include "patterns/library/check.h"

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

/* ---- texts with {names} ---- */

/* Line of a piece of text in the file; that of the pattern when YAML changed the text (folded, escaped). */
static uint64_t line_of(const struct pattern *p, struct str piece) {
    const char *at = str_find(p->text, piece);
    uint64_t line = p->text_line;
    for (const char *c = p->text.p; at && c < at; c++)
        line += *c == '\n';
    return at ? line : p->line;
}

static void check_template(struct checker *c, const struct pattern *p, struct str text) {
    struct diags quiet = {.arena = &c->arena};
    for (size_t i = 0; i < text.n; i++) {
        const char *close = text.p[i] == '{' ? memchr(text.p + i, '}', text.n - i) : NULL;
        if (!close)
            continue;
        struct str inner = {text.p + i + 1, (size_t)(close - text.p) - i - 1};
        const struct number *n;
        struct text_origin nowhere = {"", 0, 0};
        if (formula_slot(&p->formula, inner) == NONE && !template_word(&p->formula, inner) &&
            !condition_parse(&n, &p->formula, &c->arena, inner, nowhere, NULL, &quiet))
            warn(c, line_of(p, (struct str){text.p + i, inner.n + 2}),
                 "neither a name of the formula nor a number, printed as it is: {", inner, "}");
        i = (size_t)(close - text.p);
    }
    diags_free(&quiet);
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

/* ---- the fused form ---- */

/* `absent` stands for an operand that the op goes without. */
static void check_fused(struct checker *c, const struct pattern *p) {
    const struct formula *f = form_of(p->fused);
    for (uint32_t i = 0; i < f->nslots; i++)
        if (f->slot_is_variable[i] && f->slot_name[i].n && formula_slot(&p->formula, f->slot_name[i]) == NONE &&
            !str_is(f->slot_name[i], "absent"))
            warn(c, line_of(p, p->fused->text),
                 "`fused` speaks of a name that the formula does not have: ", f->slot_name[i], "");
}

/* The formula of an assumption has no other variable than the name itself. */
static void check_holds(struct checker *c, const struct pattern *p, const struct holding *h) {
    const struct formula *f = form_of(h->form);
    for (uint32_t i = 0; i < f->nslots; i++)
        if (f->slot_is_variable[i] && !str_eq(f->slot_name[i], p->formula.slot_name[h->slot]))
            warn(c, line_of(p, h->form->text), "`holds` speaks of another name: ", f->slot_name[i], "");
}

/* ---- other patterns ---- */

static void check_replaced(struct checker *c, const struct pattern *p) {
    const struct pattern *old = p->replaces;
    if (!old || (same_file(old->file.p, c->file) && old->line == p->line))
        return;
    struct str more = arena_printf(&c->arena, " of %s:%llu", old->file.p, (unsigned long long)old->line);
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
    if (pattern_is_direct(p) && !str_starts(p->fused_op, STR("ttnn.")))
        warn(c, p->line, "no op of TTNN, which `source` says has it: ", p->fused_op, "");
    check_rules(c, p, p->torch, p->ntorch);
    check_rules(c, p, p->call, p->ncall);
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
    for (struct token t = lex_next(&l), next; t.kind != T_END && t.kind != T_BAD; t = next) {
        next = lex_next(&l);
        if (t.kind == T_NAME && !forced && str_eq(t.text, name) && next.kind == T_PUNCT && str_is(next.text, "("))
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
    if (old && !(same_file(old->origin.file, c->file) && old->origin.line == idiom->origin.line)) {
        struct str more =
            arena_printf(&c->arena, " of %s:%llu", old->origin.file, (unsigned long long)old->origin.line);
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

void patterns_check(const struct pattern_set *set, const char *path, struct diags *d) {
    struct checker c = {.set = set, .diags = d};
    for (uint32_t i = 0; i < set->n; i++) {
        c.file = set->items[i]->file.p;
        if (pattern_file_is_of(c.file, path))
            check_pattern(&c, set->items[i]);
    }
    for (uint32_t i = 0; i < set->idioms.n; i++) {
        c.file = set->idioms.items[i].origin.file;
        if (pattern_file_is_of(c.file, path))
            check_idiom(&c, i);
    }
    for (uint32_t i = 0; i < set->ndemands; i++) {
        c.file = set->demands[i].when.origin.file;
        if (pattern_file_is_of(c.file, path))
            check_demand(&c, &set->demands[i]);
    }
    arena_free(&c.arena);
}
