/* What all reading functions of the parser share: errors of the op that is being read, diagnostics, spans, names of
 * ops. */
#include "mlir/parser.h"

#include <string.h>

bool parse_fail(struct ir_parser *p, const char *at, const char *message) {
    if (!p->error.message) {
        p->error.message = message;
        p->error.at = at;
    }
    return false;
}

void parse_say(struct ir_parser *p, enum severity sev, const char *at, const char *message) {
    if (p->d && !diag_drop(p->d, sev))
        diag_add(p->d, sev, log_place(p->m->source, p->m->block, (size_t)(at - p->begin)), NULL, "%s", message);
}

void parse_say_bad(struct ir_parser *p, uint32_t op, const char *at, const char *message) {
    bool whole = p->m->ops[op].func != NONE;
    p->m->ops[op].bad |= whole;
    parse_say(p, whole ? SEV_ERROR : SEV_WARNING, at, message);
}

struct span parse_span(const struct ir_parser *p, const char *from, const char *to) {
    return (struct span){(uint32_t)(from - p->begin), (uint32_t)(to - p->begin)};
}

uint32_t end_before(const struct ir_parser *p, const char *at) {
    while (at > p->begin && strchr(" \t\r\n", at[-1]))
        at--;
    return (uint32_t)(at - p->begin);
}

bool parse_word(struct ir_parser *p, const char *word) {
    size_t n = strlen(word);
    const char *at = p->p;
    parse_space(p);
    if ((size_t)(p->end - p->p) >= n && memcmp(p->p, word, n) == 0 &&
        (p->p + n == p->end || !scan_is(p->p[n], CH_IDENT))) {
        p->p += n;
        return true;
    }
    p->p = at;
    return false;
}

/* Ops of these dialects are not counted in mlir.custom_ops: the generic rule is known to read them. */
static const char *const known_prefixes[] = {"arith.",         "bufferization.", "builtin.", "cf.",
                                             "chlo.",          "complex.",       "emitc.",   "func.",
                                             "linalg.",        "llvm.",          "math.",    "memref.",
                                             "mhlo.",          "quant.",         "scf.",     "sdy.",
                                             "shape.",         "stablehlo.",     "tensor.",  "tt.device",
                                             "tt.cpu_module",  "tt.load_cached", "ttcore.",  "ttir.empty",
                                             "ttir.to_layout", "vector.",        "vhlo."};

static uint8_t flags_of(struct str name) {
    uint8_t f = 0;
    for (size_t i = 0; i < sizeof known_prefixes / sizeof *known_prefixes; i++)
        if (str_starts(name, str_of(known_prefixes[i])))
            f |= NF_KNOWN;
    if (str_find(name, STR("call")) || str_find(name, STR("composite")) || str_find(name, STR("load_cached")))
        f |= NF_CALLS;
    if (str_ends(name, STR("module")))
        f |= NF_MODULE | NF_ISOLATED;
    if (str_ends(name, STR(".cpu_module")))
        f |= NF_CPU;
    if (str_ends(name, STR(".func")))
        f |= NF_ISOLATED;
    if (str_is(name, "func.func"))
        f |= NF_FUNC;
    return f;
}

uint32_t parse_name(struct ir_parser *p, struct str text) {
    uint32_t known = p->m->nnames, id = name_add(p->m, text);
    if (id < known)
        return id;
    p->name_flags = grow(p->name_flags, &p->name_flags_cap, id + 1, sizeof *p->name_flags);
    p->name_flags[id] = memchr(text.p, '.', text.n) ? flags_of(text) : 0; /* others are symbols */
    return id;
}

uint32_t value_add(struct mlir *m, struct mlir_value v) {
    m->values = grow(m->values, &m->values_cap, m->nvalues + 1, sizeof *m->values);
    m->values[m->nvalues] = v;
    return m->nvalues++;
}
