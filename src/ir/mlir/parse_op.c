/* One op: its results, its name, and then by its form. */
#include "ir/mlir/parse.h"

#include <string.h>

#include "ir/ops/ops.h"

static bool is_one_of(struct str s, const char *const *words, bool prefix) {
    for (; *words && !(prefix ? str_starts(s, str_of(*words)) : str_is(s, *words)); words++)
        ;
    return *words;
}

static unsigned flags_of(struct str name) {
    /* custom forms that custom_op reads exactly; dialects whose custom forms it is known to read */
    static const char *const read[] = {"func.return",          "func.call",         "builtin.module",
                                       "ttcore.device_module", "ttcore.cpu_module", "tt.cpu_module",
                                       "ttcore.load_cached",   "tt.device_module",  "tt.load_cached",
                                       "ttcore.device",        "tt.device",         NULL};
    static const char *const usual[] = {"arith.",        "bufferization.", "builtin.",   "cf.",        "chlo.",
                                        "complex.",      "emitc.",         "func.",      "linalg.",    "llvm.",
                                        "math.",         "memref.",        "mhlo.",      "quant.",     "scf.",
                                        "sdy.",          "shape.",         "stablehlo.", "tensor.",    "tt.device",
                                        "tt.cpu_module", "tt.load_cached", "ttcore.",    "ttir.empty", "ttir.to_layout",
                                        "vector.",       "vhlo.",          NULL};
    bool calls = str_find(name, STR("call")) || str_find(name, STR("composite")) || str_find(name, STR("load_cached"));
    bool module = str_ends(name, STR("module"));
    return (calls ? OP_CALLS : 0) | (module ? OP_MODULE | OP_ISOLATED : 0) |
           (str_ends(name, STR(".cpu_module")) ? OP_CPU : 0) | (str_ends(name, STR(".func")) ? OP_ISOLATED : 0) |
           (str_is(name, "func.func") ? OP_FUNC : 0) | (is_one_of(name, read, false) ? OP_READ : 0) |
           (is_one_of(name, usual, true) ? OP_USUAL : 0) | (op_is(op_kind_of_spelling(name), IN_PLACE) ? OP_WRITES : 0);
}

/* The name of an op. */
static uint32_t op_name_add(struct ir_parser *p, struct str text) {
    uint32_t old = p->flags_cap, id = name_add(p->m, text);
    p->flags = grow(p->flags, &p->flags_cap, p->m->nnames, sizeof *p->flags);
    memset(p->flags + old, 0, (p->flags_cap - old) * sizeof *p->flags);
    p->flags[id] = p->flags[id] ? p->flags[id] : (uint16_t)(flags_of(text) | OP_SEEN);
    return id;
}

static bool read_results(struct ir_parser *p) {
    do {
        struct result_name r = {.count = 1};
        space(p);
        const char *from = p->p;
        if (!read_value_name(p, &r.text, &r.name)) {
            p->wrong = "expected the name of a result";
            return false;
        }
        if (peek(p) == ':' && ((r.count = read_result_count(p)) == 0 || r.count >= RESULT_MAX))
            return parse_fail(p, from, "bad number of results");
        p->results = grow(p->results, &p->results_cap, p->nresults + 1, sizeof *p->results);
        p->results[p->nresults++] = r;
    } while (accept(p, ','));
    return accept(p, '=') || parse_fail(p, p->p, "expected '=' after the results of an operation");
}

/* What ends a region without a dialect: the op around it has that. */
static struct str name_of_yield(struct ir_parser *p) {
    struct str around = p->in.parent == NONE ? STR("") : mlir_op_name(p->m, p->in.parent),
               dialect = str_part(&around, '.');
    return dialect.n ? arena_printf(&p->m->tables->arena, "%.*s.yield", (int)dialect.n, dialect.p) : STR("yield");
}

/* The id of the name of an op, in full. */
static bool read_op_name(struct ir_parser *p, bool generic, uint32_t *id) {
    static const char *const short_names[][2] = {
        {"return", "func.return"},     {"call", "func.call"},
        {"func", "func.func"},         {"module", "builtin.module"},
        {"constant", "func.constant"}, {"unrealized_conversion_cast", "builtin.unrealized_conversion_cast"}};
    const char *from = p->p, *q = generic ? scan_string(from, p->end) : scan_ident(from, p->end);
    if (!q)
        return parse_fail(p, from, "the name of an operation is not closed");
    size_t quotes = generic ? 1 : 0;
    struct str name = {from + quotes, (size_t)(q - from) - 2 * quotes};
    bool file = p->end - q > 1 && *q == ':' && scan_is(q[1], CH_DIGIT); /* "f.py:1:2" */
    if (!generic && (file || !scan_op_word(from, p->end)))
        return parse_fail(p, from, "expected an operation");
    for (size_t i = 0; i < sizeof short_names / sizeof *short_names && !generic; i++)
        if (str_is(name, short_names[i][0]))
            name = str_of(short_names[i][1]);
    if (!generic && str_is(name, "yield"))
        name = name_of_yield(p);
    *id = op_name_add(p, name);
    p->p = q;
    return true;
}

bool parse_op(struct ir_parser *p) {
    struct mlir *m = p->m;
    const char *start = p->p;
    uint32_t names = p->nresults, op = m->nops, noperands = m->noperands, nforward = p->nforward;
    uint32_t name = NONE;
    bool ok = *p->p != '%' || read_results(p), generic = false;
    if (ok) {
        space(p);
        generic = peek(p) == '"';
        ok = read_op_name(p, generic, &name);
    }
    if (ok) {
        m->ops = grow(m->ops, &m->ops_cap, op + 1, sizeof *m->ops);
        m->ops[m->nops++] = (struct mlir_op){.name = name,
                                             .text = {(uint32_t)(start - p->begin), 0},
                                             .first_operand = m->noperands,
                                             .first_result = m->nvalues,
                                             .callee = NONE,
                                             .func = p->in.func,
                                             .parent = p->in.parent};
        ok = generic ? generic_op(p, op, names) : custom_op(p, op, names);
        bool referred = m->nops > op + 1 || m->ops[op].nresults > 0 || (m->nfuncs && m->funcs[m->nfuncs - 1].op >= op);
        if ((ok || referred) && m->ops[op].text.end == 0)
            m->ops[op].text.end = (uint32_t)(p->p - p->begin);
        if (!ok && !referred) { /* a bad op leaves nothing behind, unless something refers to it already */
            m->nops = op;
            m->noperands = noperands;
            p->nforward = nforward < p->nforward ? nforward : p->nforward;
        }
    }
    for (uint32_t i = names; i < p->nresults && !ok; i++)
        if (!name_binding_of(p, &(struct value_use){.name = p->results[i].name}))
            name_bind(p, p->results[i].name, (struct name_binding){.value = NONE});
    p->nresults = names;
    return ok;
}
