/* Definitions: read, and found by name. */
#include "patterns/lang/expr.h"

static uint32_t slot_of(struct str name) {
    return name.n ? ((uint32_t)name.n + (uint8_t)name.p[0] + 5u * (uint8_t)name.p[name.n - 1]) % IDIOM_SLOTS : 0;
}

bool definition_read(struct idiom *out, struct arena *a, struct str text, struct text_origin origin, struct diags *d) {
    struct formula_parser p = {.arena = a, .diags = d, .text = text, .origin = origin, .lexer = {text, 0, 0}};
    *out = (struct idiom){.text = text, .origin = origin};
    const char *body = formula_definition_head(&p, out);
    out->body = (struct str){body, body ? (size_t)(text.p + text.n - body) : 0};
    return body != NULL;
}

struct str definition_head(const struct idiom *definition) {
    return (struct str){definition->name.p, (size_t)(definition->body.p - 1 - definition->name.p)};
}

bool idiom_add(struct idioms *all, struct arena *a, struct idiom idiom, struct diags *d) {
    struct formula_parser p = {
        .arena = a, .diags = d, .text = idiom.text, .origin = idiom.origin, .lexer = {idiom.body, 0, 0}};
    struct definition *lines = formula_lines(&p, &idiom.nlines);
    for (uint32_t i = 0; i < idiom.nlines && idiom.op && !p.failed; i++)
        if (lines[i].kind != LINE_PLAIN)
            formula_fail(&p, lines[i].name, NULL, "only ops of a dialect have further results");
    if (p.failed)
        return false;
    if (idiom.op && idiom.nlines)
        lines[idiom.nlines - 1].name = STR("");
    uint32_t *newest = &all->newest[slot_of(idiom.name)];
    idiom.lines = lines;
    idiom.older = *newest;
    all->items = arena_grow(a, all->items, &all->cap, all->n + 1, sizeof *all->items);
    all->items[all->n++] = idiom;
    *newest = all->n;
    return true;
}

const struct idiom *idiom_find(const struct idioms *all, struct str name) {
    for (; all; all = all->others)
        for (uint32_t i = all->newest[slot_of(name)]; i; i = all->items[i - 1].older)
            if (str_eq(all->items[i - 1].name, name))
                return &all->items[i - 1];
    return NULL;
}
