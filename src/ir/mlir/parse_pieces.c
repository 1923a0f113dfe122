/* Pieces of an op that all forms have: types, dictionaries, locations, symbols; and what is wrong with one. */
#include "ir/mlir/parse.h"

#include <string.h>

/* The slot of what begins as the text here; NULL where the text is about to end. */
static struct recent_text *recent_of(struct ir_parser *p, uint32_t salt) {
    uint64_t word, h = salt;
    if (p->end - p->p < RECENT_HEAD)
        return NULL;
    for (int i = 0; i < RECENT_HEAD; i += 8) {
        memcpy(&word, p->p + i, 8);
        h = hash_mix(h, word);
    }
    return &p->recent[h % RECENT_SLOTS];
}

bool parse_fail(struct ir_parser *p, const char *where, const char *what) {
    if (!p->wrong) {
        p->wrong = what;
        p->wrong_at = where;
    }
    return false;
}

void parse_say(struct ir_parser *p, enum severity severity, const char *where, const char *what) {
    if (p->d && !diag_drop(p->d, severity))
        diag_add(p->d, severity, log_place(p->m->source, p->m->block, (size_t)(where - p->begin)), NULL, "%s", what);
}

/* The op does not hold together; of a line that is pasted alone, a warning. */
void parse_say_bad(struct ir_parser *p, uint32_t op, const char *where, const char *what) {
    bool whole = p->m->ops[op].func != NONE;
    p->m->ops[op].bad |= whole;
    parse_say(p, whole ? SEV_ERROR : SEV_WARNING, where, what);
}

bool read_type(struct ir_parser *p, uint32_t *type) {
    const char *from = p->p;
    space(p);
    const char *q = scan_type(p->p, p->end), *begin = p->p;
    p->p = q > begin ? q : from; /* the next line is not part of the bad op */
    if (q == begin)
        return parse_fail(p, from, "expected a type");
    *type = type_add(p->m, (struct str){begin, (size_t)(q - begin)});
    return true;
}

bool read_types(struct ir_parser *p) {
    uint32_t type;
    do {
        if (!read_type(p, &type))
            return false;
        p->types = grow(p->types, &p->types_cap, p->ntypes + 1, sizeof *p->types);
        p->types[p->ntypes++] = type;
    } while (accept(p, ','));
    return true;
}

bool read_type_group(struct ir_parser *p) {
    if (!accept(p, '('))
        return read_types(p);
    return accept(p, ')') || (read_types(p) && (accept(p, ')') || parse_fail(p, p->p, "types are not closed")));
}

bool read_braces(struct ir_parser *p, struct span *inside, const char *what) {
    const char *q = scan_balanced(p->p, p->end);
    if (!q)
        return parse_fail(p, p->p, what);
    *inside = span_of(p, p->p + 1, q - 1);
    p->p = q;
    return true;
}

bool read_dict(struct ir_parser *p, uint32_t op, struct span *inside, const char *what) {
    struct recent_text *recent = recent_of(p, p->m->ops[op].name);
    const char *from = p->p;
    if (recent && recent->n && (size_t)(p->end - from) >= recent->n && memcmp(recent->p, from, recent->n) == 0) {
        p->p += recent->n;
        *inside = span_of(p, recent->p + 1, recent->p + recent->n - 1);
        return true;
    }
    if (!read_braces(p, inside, what))
        return false;
    if (recent && p->p - from <= RECENT_LONGEST)
        *recent = (struct recent_text){from, (uint32_t)(p->p - from)};
    return true;
}

bool read_attrs(struct ir_parser *p, uint32_t op) {
    return !at(p, '{') || read_dict(p, op, &p->m->ops[op].attrs, "attributes are not closed");
}

bool read_loc(struct ir_parser *p, struct span *loc) {
    if (!at_text(p, "loc("))
        return true;
    const char *from = p->p + 4, *q = from < p->end && *from == '#' ? scan_ident(from + 1, p->end) : p->end;
    if (q < p->end && *q == ')') { /* "loc(#loc12)", as most are */
        *loc = span_of(p, from, q);
        p->p = q + 1;
        return true;
    }
    p->p += 3;
    return read_braces(p, loc, "a location is not closed");
}

bool read_symbol(struct ir_parser *p, struct str *name) {
    space(p);
    const char *from = p->p + 1;
    if (peek(p) != '@')
        return parse_fail(p, p->p, "expected a symbol");
    bool quoted = from < p->end && *from == '"';
    const char *q = quoted ? scan_string(from, p->end) : scan_name(from, p->end);
    if (!q || q == from)
        return parse_fail(p, p->p, q ? "expected the name of a symbol after '@'" : "a symbol is not closed");
    *name = (struct str){from + quoted, (size_t)(q - from) - (quoted ? 2 : 0)};
    p->p = q;
    return true;
}
