/* Regions: a scope, and the ops between braces. */
#include "mlir/parser.h"

bool parse_body(struct ir_parser *p, uint32_t op) {
    const char *open = p->p;
    if (p->depth >= NEST_MAX) {
        const char *close = scan_balanced(p->p, p->end);
        parse_say(p, SEV_ERROR, open, "regions are nested too deeply; this one is skipped");
        p->m->bad_ops++;
        p->p = close ? close : p->end;
        return close != NULL;
    }
    uint32_t parent = p->parent;
    p->parent = op;
    p->depth++;
    p->p++;
    bool closed = p->parse_ops(p);
    p->depth--;
    p->parent = parent;
    return closed;
}

bool parse_region(struct ir_parser *p, uint32_t op, bool isolated) {
    struct name_scope s;
    scope_enter(p, &s, isolated);
    bool closed = parse_body(p, op);
    scope_leave(p, &s);
    return closed;
}
