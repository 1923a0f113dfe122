/* Functions of the host are looked through. What the compiler computes of parameters before the first run it lowers to
 * LLVM: loops that load from and store to memory. Here such a function becomes one of TTIR ops on tensors, with the
 * same name, which the declaration that is called then has as its body. What is not understood stays as it is.
 *
 * Read are loops that count, places that are affine in their counters, and arithmetic between. Sources: CPU hoisting of
 * tt-mlir (ttir.cpu_hoist_call); SCFToControlFlow and FinalizeMemRefToLLVM of MLIR, whose descriptor of a tensor is
 * {allocated, aligned, offset, sizes, strides}. */
#include "ir/mlir/host_reader.h"

#include <stdlib.h>
#include <string.h>

#include "ir/mlir/builder.h"
#include "ir/mlir/scan.h"
#include "ir/mlir/tables.h"

enum { MAX_OPS = 1 << 14 };

/* ---- blocks ---- */

/* Between an op and the one before. */
static struct str text_before(const struct host_reader *r, uint32_t op) {
    uint32_t from = op == r->first_op ? r->m->ops[r->op].text.end : r->m->ops[op - 1].text.end;
    return mlir_span(r->m, (struct span){from, r->m->ops[op].text.begin});
}

/* "bb3" of the k-th "^bb3" in a text; empty where there is none. */
static struct str label(struct str text, int k) {
    for (; k >= 0; k--)
        text = text_behind(text, "^");
    return text_until(text, " (:,)]\n");
}

/* The first op of the block that the k-th label of a branch names, or NONE. */
static uint32_t target(const struct host_reader *r, uint32_t branch, int k) {
    struct str name = label(mlir_span(r->m, r->m->ops[branch].text), k);
    for (uint32_t i = 0; name.n && i < r->nblocks; i++)
        if (str_eq(r->blocks[i].label, name))
            return r->blocks[i].op;
    return NONE;
}

static void find_blocks(struct host_reader *r) {
    for (uint32_t op = r->first_op; op < r->end_op; op++) {
        struct str name = label(text_before(r, op), 0);
        if (!name.n)
            continue;
        r->blocks = grow(r->blocks, &r->blocks_cap, r->nblocks + 1, sizeof *r->blocks);
        r->blocks[r->nblocks++] = (struct host_block){name, op};
    }
}

/* The only argument of the block that begins at an op, or NONE. */
static uint32_t block_argument(const struct host_reader *r, uint32_t op) {
    const struct mlir_op *before = &r->m->ops[op - 1];
    uint32_t first = before->first_result + before->nresults;
    return op > r->first_op && r->m->ops[op].first_result == first + 1 ? first : NONE;
}

/* ---- control ---- */

/* Of signed numbers: "slt", which is number 2. */
static bool is_less(const struct host_reader *r, uint32_t op) {
    struct str predicate = llvm_said(r->m, op, "predicate", "\"", "\"");
    int64_t number;
    return str_is(predicate, "slt") || (mlir_int(predicate, &number) && number == 2);
}

/* ^header(%i): %c = icmp "slt" %i, %n; cond_br %c, ^body, ^behind. Counted in ones, from a constant to one. */
static uint32_t enter_loop(struct host_reader *r, uint32_t branch, uint32_t header) {
    uint32_t counter = block_argument(r, header), test = r->m->ops[header].first_result;
    struct host *h = &r->host;
    struct symbol from = symbol_of_operand(r, branch, 0), to = symbol_of_operand(r, header, 1);
    bool counts = header + 1 < r->end_op && counter != NONE && llvm_is(r, header, "llvm.icmp") &&
                  llvm_operand(r, header, 0) == counter && is_less(r, header) &&
                  llvm_is(r, header + 1, "llvm.cond_br") && llvm_operand(r, header + 1, 0) == test;
    if (!counts || !symbol_is_fixed(&from) || !symbol_is_fixed(&to) || from.at.base < 0 || to.at.base <= from.at.base ||
        to.at.base > MAX_ELEMENTS || h->nloops == MAX_LOOPS)
        return NONE;
    h->nest += h->nloops == 0;
    h->loops[h->nloops++] = (struct loop){header, ++h->serials, from.at.base, to.at.base - from.at.base};
    struct symbol i = {.kind = WHOLE, .at.base = from.at.base};
    i.at.by[h->nloops - 1] = h->loops[h->nloops - 1].extent > 1;
    return symbol_set(r, counter, i) ? target(r, header + 1, 0) : NONE;
}

static uint32_t leave_loop(struct host_reader *r, uint32_t branch) {
    struct host *h = &r->host;
    struct loop *loop = &h->loops[h->nloops - 1];
    uint32_t next = llvm_operand(r, branch, 0), add = next == NONE ? NONE : r->m->values[next].def;
    if (add == NONE)
        return NONE;
    struct symbol step = symbol_of_operand(r, add, 1);
    if (!llvm_is(r, add, "llvm.add") || llvm_operand(r, add, 0) != block_argument(r, loop->header) ||
        !symbol_is_fixed(&step) || step.at.base != 1)
        return NONE;
    h->nloops--;
    return target(r, loop->header + 1, 1);
}

/* Where it goes on behind a branch, or NONE. */
static uint32_t follow(struct host_reader *r, uint32_t branch) {
    const struct host *h = &r->host;
    uint32_t to = target(r, branch, 0);
    if (to == NONE || !llvm_is(r, branch, "llvm.br"))
        return NONE;
    if (h->nloops && h->loops[h->nloops - 1].header == to)
        return leave_loop(r, branch);
    return r->m->ops[branch].noperands ? enter_loop(r, branch, to) : to;
}

/* Each op is met once: the ops of a loop stand for all iterations. */
static bool read_body(struct host_reader *r) {
    uint32_t op = r->first_op;
    for (uint32_t steps = r->end_op - r->first_op; steps > 0 && op < r->end_op; steps--) {
        if (llvm_is(r, op, "llvm.return"))
            return llvm_read_return(r, op);
        if (llvm_is(r, op, "llvm.br")) {
            op = follow(r, op);
            if (op == NONE)
                return false;
        } else if (!llvm_read_op(r, op++)) {
            return false;
        }
    }
    return false;
}

static bool build_arguments(struct mlir *m, const struct mlir_func *declared) {
    for (uint32_t i = 0; i < declared->nargs; i++) {
        struct mlir_type t = m->types[m->values[declared->first_arg + i].type];
        int64_t dims[MAX_LOOPS], n = 1;
        if (t.kind != TYPE_TENSOR || t.rank > MAX_LOOPS)
            return false;
        for (uint32_t d = 0; d < t.rank; d++) {
            dims[d] = m->dims[t.first_dim + d];
            if (dims[d] < 1 || dims[d] > MAX_ELEMENTS || (n *= dims[d]) > MAX_ELEMENTS)
                return false;
        }
        char name[16];
        snprintf(name, sizeof name, "%%arg%u", i);
        uint32_t type = build_tensor(m, dims, t.rank, t.dtype);
        if (type == NONE)
            return false;
        build_argument(m, str_of(name), type, STR(""));
    }
    return true;
}

/* A tensor is passed as its descriptor: two pointers, the offset, sizes and strides. */
static bool read_arguments(struct host_reader *r, uint32_t func) {
    uint32_t value = r->first_value, end = r->first_value + r->nvalues;
    for (uint32_t i = 0; i < r->m->funcs[func].nargs; i++) {
        uint32_t argument = r->m->funcs[func].first_arg + i, buffer = host_buffer(&r->host);
        struct mlir_type t = r->m->types[r->m->values[argument].type];
        int64_t stride = 1;
        if (value + 3 + 2 * t.rank > end)
            return false;
        host_set(&r->host, buffer, argument);
        symbol_set(r, value++, (struct symbol){.kind = POINTER, .id = buffer});
        symbol_set(r, value++, (struct symbol){.kind = POINTER, .id = buffer});
        symbol_set(r, value++, (struct symbol){.kind = WHOLE});
        for (uint32_t d = t.rank; d-- > 0; stride *= r->m->dims[t.first_dim + d]) {
            symbol_set(r, value + d, (struct symbol){.kind = WHOLE, .at.base = r->m->dims[t.first_dim + d]});
            symbol_set(r, value + t.rank + d, (struct symbol){.kind = WHOLE, .at.base = stride});
        }
        value += 2 * t.rank;
    }
    return true;
}

/* The first of the arguments, which are the values before those of the body. */
static uint32_t first_argument(const struct mlir *m, uint32_t value) {
    while (value > 0 && m->values[value - 1].def == NONE && m->values[value - 1].index > 0)
        value--;
    return value > 0 && m->values[value - 1].def == NONE ? value - 1 : value;
}

static void read_function(struct mlir *m, uint32_t declared, uint32_t op, const uint32_t *globals, uint32_t nglobals) {
    struct mlir was = *m;
    struct host_reader r = {
        .m = m, .host.m = m, .op = op, .first_op = op + 1, .globals = globals, .nglobals = nglobals};
    for (r.end_op = r.first_op; r.end_op < m->nops && m->ops[r.end_op].parent == op;)
        r.end_op++;
    if (r.end_op == r.first_op || r.end_op - r.first_op > MAX_OPS)
        return;
    find_blocks(&r);
    r.first_value = first_argument(m, m->ops[r.first_op].first_result);
    r.nvalues = m->ops[r.end_op - 1].first_result - r.first_value;
    r.symbols = xcalloc(r.nvalues + (size_t)1, sizeof *r.symbols);
    build_function(m, m->names[m->funcs[declared].name]);
    size_t text = m->tables->built.n;
    struct mlir_func f = m->funcs[declared];
    if (build_arguments(m, &f) && read_arguments(&r, m->nfuncs - 1) && read_body(&r)) {
        build_end(m);
        m->funcs[m->nfuncs - 1].in_cpu_module = true;
    } else {
        m->nops = was.nops;
        m->nvalues = was.nvalues;
        m->noperands = was.noperands;
        m->nfuncs = was.nfuncs;
        m->narg_attrs = was.narg_attrs;
        m->tables->built.n = text;
    }
    free(r.symbols);
    free(r.blocks);
    free(r.views);
    free(r.host.buffers);
}

void look_through_host(struct mlir *m) {
    uint32_t nops = m->nops, nfuncs = m->nfuncs, llvm = sym_find(&m->tables->names, STR("llvm.func"));
    uint32_t global = sym_find(&m->tables->names, STR("llvm.mlir.global")), *globals = NULL, n = 0, cap = 0;
    for (uint32_t op = 0; llvm != NONE && op < nops; op++)
        if (m->ops[op].name == global) {
            globals = grow(globals, &cap, n + 1, sizeof *globals);
            globals[n++] = op;
        }
    for (uint32_t op = 0; llvm != NONE && op < nops; op++) {
        if (m->ops[op].name != llvm)
            continue;
        struct str name = llvm_symbol(llvm_said(m, op, "sym_name", "@", "("));
        uint32_t id = sym_find(&m->tables->names, name);
        for (uint32_t f = 0; id != NONE && f < nfuncs; f++)
            if (m->funcs[f].name == id && m->funcs[f].declaration)
                read_function(m, f, op, globals, n);
    }
    free(globals);
}
