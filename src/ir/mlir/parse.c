/* Textual MLIR to flat arrays, by recursive descent: regions hold ops, ops hold operands, attributes, types and
 * regions.
 *
 * An op is in generic form ("ttir.add"(%0, %1) <{...}> : (...) -> ...) or in custom form, which only its dialect could
 * read for sure. Of custom forms the walk over tokens in custom_op takes what it can tell: operands, symbol,
 * attributes, regions, types, location; func.func alone has a reader of its own.
 *
 * A reading function returns false after fail(); the loop over the ops of a region reports that and goes on at the next
 * line that begins an op. */
#include "ir/mlir/scan.h"
#include "ir/mlir/tables.h"

#include <stdlib.h>
#include <string.h>

enum { NEST_MAX = 256, RESULT_MAX = 1 << 16, SPARE_RESULTS = 64 };

/* What a name of a value stands for. It holds if its stamp is that of the innermost isolated region. */
struct name_binding {
    uint32_t stamp, value, count; /* count: results that share the name, "%5:2"; 0: of an op that could not be read */
    bool undefined;
};

struct shadowed_binding { /* a binding as it was outside of the region */
    uint32_t name;
    struct name_binding old;
};

struct value_use { /* "%5" or "%5#1" */
    struct span text;
    uint32_t name, result; /* name: id in tables.values */
};

struct forward_use { /* of a name without a binding so far */
    struct value_use use;
    uint32_t operand, op, type;
};

struct result_name { /* "%5:2" before '=' */
    struct span text;
    uint32_t name, count;
};

struct typed_use {
    struct value_use use;
    uint32_t type;
};

/* Where the next op belongs; a region changes it and puts it back. */
struct ir_context {
    uint32_t func, parent, module, stamp;
    bool in_cpu_module, several_blocks, args_wanted;
};

/* A dictionary read a moment ago: where the same bytes stand, scanning would find the same end. Those of ops repeat with
 * every layer of a model. */
struct recent_text {
    const char *p;
    uint32_t n; /* bytes; 0: none */
};

enum { RECENT_SLOTS = 1024, RECENT_LONGEST = 1 << 12, RECENT_HEAD = 48 /* lists of numbers differ late */ };

struct ir_parser {
    struct mlir *m;
    struct diags *d;
    const char *p, *begin, *end;
    const char *wrong, *wrong_at; /* of the op that is being read */
    bool truncated;
    uint32_t depth, last_stamp, no_type;
    uint8_t *flags; /* by names id: OP_CALLS and the like */
    uint32_t flags_cap;
    struct ir_context in;
    struct name_binding *bindings;
    uint32_t nbindings;
    struct shadowed_binding *shadowed;
    uint32_t nshadowed, shadowed_cap;
    struct forward_use *forward;
    uint32_t nforward, forward_cap;
    /* stacks: an op takes from them what it has put there */
    struct result_name *results;
    uint32_t nresults, results_cap;
    struct typed_use *uses;
    uint32_t nuses, uses_cap;
    uint32_t *types, ntypes, types_cap; /* the list of types read last */
    struct recent_text recent[RECENT_SLOTS];
};

static bool parse_ops(struct ir_parser *p);

/* ---- text ---- */

static char peek(const struct ir_parser *p) {
    return p->p < p->end ? *p->p : 0;
}

static void space(struct ir_parser *p) {
    p->p = scan_space(p->p, p->end);
}

static inline bool at_text(struct ir_parser *p, const char *what) {
    const char *q = scan_space(p->p, p->end);
    size_t n = strlen(what);
    if ((size_t)(p->end - q) < n || memcmp(q, what, n) != 0)
        return false;
    p->p = q;
    return true;
}

static inline bool accept_text(struct ir_parser *p, const char *what) {
    bool here = at_text(p, what);
    p->p += here ? strlen(what) : 0;
    return here;
}

/* The same of one byte. */
static inline bool at(struct ir_parser *p, char c) {
    const char *q = p->p < p->end && *p->p == c ? p->p : scan_space(p->p, p->end);
    if (q >= p->end || *q != c)
        return false;
    p->p = q;
    return true;
}

static inline bool accept(struct ir_parser *p, char c) {
    bool here = at(p, c);
    p->p += here;
    return here;
}

static bool accept_word(struct ir_parser *p, const char *word) {
    const char *from = p->p;
    if (accept_text(p, word) && (p->p >= p->end || !scan_is(*p->p, CH_IDENT)))
        return true;
    p->p = from;
    return false;
}

static struct span span_of(const struct ir_parser *p, const char *from, const char *to) {
    return (struct span){(uint32_t)(from - p->begin), (uint32_t)(to - p->begin)};
}

static uint32_t end_before(const struct ir_parser *p, const char *to) {
    while (to > p->begin && strchr(" \t\r\n", to[-1]))
        to--;
    return (uint32_t)(to - p->begin);
}

static const char *line_end(const char *p, const char *end) {
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    return stop ? stop : end;
}

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

/* ---- what is wrong ---- */

static bool fail(struct ir_parser *p, const char *where, const char *what) {
    if (!p->wrong) {
        p->wrong = what;
        p->wrong_at = where;
    }
    return false;
}

static void say(struct ir_parser *p, enum severity severity, const char *where, const char *what) {
    if (p->d && !diag_drop(p->d, severity))
        diag_add(p->d, severity, log_place(p->m->source, p->m->block, (size_t)(where - p->begin)), NULL, "%s", what);
}

/* The op does not hold together; of a line that is pasted alone, a warning. */
static void say_bad(struct ir_parser *p, uint32_t op, const char *where, const char *what) {
    bool whole = p->m->ops[op].func != NONE;
    p->m->ops[op].bad |= whole;
    say(p, whole ? SEV_ERROR : SEV_WARNING, where, what);
}

/* ---- names of values ---- */

static bool read_name(struct ir_parser *p, struct span *text, uint32_t *name) {
    const char *from = p->p, *q = peek(p) == '%' ? scan_name(from + 1, p->end) : from;
    if (q <= from + 1)
        return fail(p, from, q == from ? "expected a value" : "expected the name of a value after '%'");
    *text = span_of(p, from, q);
    *name = sym_add(p->m->tables, &p->m->tables->values, (struct str){from, (size_t)(q - from)});
    uint32_t old = p->nbindings;
    if (*name >= old) {
        p->bindings = grow(p->bindings, &p->nbindings, *name + 1, sizeof *p->bindings);
        memset(p->bindings + old, 0, (p->nbindings - old) * sizeof *p->bindings);
    }
    p->p = q;
    return true;
}

static uint32_t read_count(struct ir_parser *p) {
    uint32_t n = 0;
    for (p->p++; p->p < p->end && scan_is(*p->p, CH_DIGIT); p->p++)
        n = n < RESULT_MAX ? n * 10 + (uint32_t)(*p->p - '0') : n;
    return n;
}

static bool read_use(struct ir_parser *p, struct value_use *use) {
    if (!read_name(p, &use->text, &use->name))
        return false;
    use->result = peek(p) == '#' ? read_count(p) : 0;
    return true;
}

static const struct name_binding *known(const struct ir_parser *p, const struct value_use *u) {
    const struct name_binding *b = &p->bindings[u->name];
    return b->stamp == p->in.stamp && u->result < b->count ? b : NULL;
}

/* What the op says of names is known: it is in a function, and neither it nor an op around it is unknown assembly. */
static bool is_strict(const struct ir_parser *p, uint32_t op) {
    const struct mlir *m = p->m;
    if (op >= m->nops || m->ops[op].func == NONE)
        return false;
    for (uint32_t o = op; o != m->funcs[m->ops[op].func].op && o != NONE; o = m->ops[o].parent)
        if (m->ops[o].custom)
            return false;
    return true;
}

static void bad_name(struct ir_parser *p, uint32_t op, struct span name, const char *fault) {
    p->m->ops[op].bad = true;
    if (fault && p->d && !diag_drop(p->d, SEV_ERROR))
        diag_add(p->d, SEV_ERROR, log_place(p->m->source, p->m->block, name.begin), NULL, "%.*s %s",
                 (int)(name.end - name.begin), p->begin + name.begin, fault);
}

static void bind(struct ir_parser *p, uint32_t name, struct name_binding b) {
    p->shadowed = grow(p->shadowed, &p->shadowed_cap, p->nshadowed + 1, sizeof *p->shadowed);
    p->shadowed[p->nshadowed++] = (struct shadowed_binding){name, p->bindings[name]};
    b.stamp = p->in.stamp;
    p->bindings[name] = b;
}

static void define(struct ir_parser *p, uint32_t name, uint32_t value, uint32_t count) {
    uint32_t op = p->m->values[value].def;
    if (p->bindings[name].stamp == p->in.stamp && op != NONE && is_strict(p, op))
        bad_name(p, op, p->m->values[value].name, "is defined twice");
    bind(p, name, (struct name_binding){.value = value, .count = count});
}

static void add_operand(struct ir_parser *p, const struct value_use *u) {
    struct mlir *m = p->m;
    const struct name_binding *b = known(p, u);
    m->operands = grow(m->operands, &m->operands_cap, m->noperands + 1, sizeof *m->operands);
    if (!b) {
        p->forward = grow(p->forward, &p->forward_cap, p->nforward + 1, sizeof *p->forward);
        p->forward[p->nforward++] = (struct forward_use){*u, m->noperands, m->nops - 1, NONE};
    }
    m->operands[m->noperands++] = b ? b->value + u->result : NONE;
}

/* At the end of an isolated region no definition can follow: what is not bound becomes an undefined value. */
static void resolve(struct ir_parser *p, uint32_t from, bool isolated) {
    uint32_t kept = from;
    for (uint32_t i = from; i < p->nforward; i++) {
        struct forward_use u = p->forward[i];
        struct name_binding b = p->bindings[u.use.name];
        bool named = b.stamp == p->in.stamp, found = named && u.use.result < b.count, strict = is_strict(p, u.op);
        if (!found && !isolated) {
            p->forward[kept++] = u;
            continue;
        }
        uint32_t v = b.value + u.use.result;
        if (!found) {
            p->m->undefined_values++;
            v = value_add(p->m, (struct mlir_value){.type = u.type == NONE ? p->no_type : u.type,
                                                    .def = NONE,
                                                    .index = u.use.result,
                                                    .name = u.use.text});
            if (!named)
                bind(p, u.use.name, (struct name_binding){.value = v, .count = u.use.result == 0, .undefined = true});
        }
        p->m->operands[u.operand] = v;
        if (strict && ((found && b.undefined) || (named && !found && b.count == 0)))
            bad_name(p, u.op, u.use.text, NULL); /* it was said */
        else if (strict && (!found || !p->in.several_blocks))
            bad_name(p, u.op, u.use.text,
                     found   ? "is used before it is defined"
                     : named ? "has no result of this number"
                             : "is not defined");
    }
    p->nforward = kept;
}

/* ---- regions ---- */

struct ir_region {
    struct ir_context outer;
    uint32_t shadowed, forward;
    bool isolated;
};

static void enter(struct ir_parser *p, struct ir_region *r, bool isolated) {
    *r = (struct ir_region){p->in, p->nshadowed, p->nforward, isolated};
    if (isolated)
        p->in.stamp = ++p->last_stamp;
}

static void leave(struct ir_parser *p, const struct ir_region *r) {
    resolve(p, r->forward, r->isolated);
    for (; p->nshadowed > r->shadowed; p->nshadowed--)
        p->bindings[p->shadowed[p->nshadowed - 1].name] = p->shadowed[p->nshadowed - 1].old;
    bool blocks = p->in.several_blocks; /* of the function */
    uint32_t func = p->in.func;
    p->in = r->outer;
    p->in.several_blocks = func == r->outer.func ? blocks : r->outer.several_blocks;
}

/* From '{' to behind '}'; false when the text ends first. */
static bool parse_body(struct ir_parser *p, uint32_t op) {
    const char *open = p->p++;
    if (p->depth >= NEST_MAX) {
        const char *close = scan_balanced(open, p->end);
        say(p, SEV_ERROR, open, "regions are nested too deeply; this one is skipped");
        p->m->bad_ops++;
        p->p = close ? close : p->end;
        return close != NULL;
    }
    p->in.parent = op;
    p->depth++;
    bool closed = parse_ops(p);
    p->depth--;
    return closed;
}

/* ---- names of ops ---- */

enum {
    OP_CALLS = 1,
    OP_MODULE = 2,
    OP_ISOLATED = 4,
    OP_CPU = 8,
    OP_FUNC = 16,
    OP_READ = 32,
    OP_USUAL = 64,
    OP_SEEN = 128
};

static unsigned flags_of(struct str name);

/* The name of an op. */
static uint32_t op_name_add(struct ir_parser *p, struct str text) {
    uint32_t old = p->flags_cap, id = name_add(p->m, text);
    p->flags = grow(p->flags, &p->flags_cap, p->m->nnames, sizeof *p->flags);
    memset(p->flags + old, 0, p->flags_cap - old);
    p->flags[id] = p->flags[id] ? p->flags[id] : (uint8_t)(flags_of(text) | OP_SEEN);
    return id;
}

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
           (is_one_of(name, usual, true) ? OP_USUAL : 0);
}

/* ---- pieces of an op ---- */

static bool read_type(struct ir_parser *p, uint32_t *type) {
    const char *from = p->p;
    space(p);
    const char *q = scan_type(p->p, p->end), *begin = p->p;
    p->p = q > begin ? q : from; /* the next line is not part of the bad op */
    if (q == begin)
        return fail(p, from, "expected a type");
    *type = type_add(p->m, (struct str){begin, (size_t)(q - begin)});
    return true;
}

static bool read_types(struct ir_parser *p) {
    uint32_t type;
    do {
        if (!read_type(p, &type))
            return false;
        p->types = grow(p->types, &p->types_cap, p->ntypes + 1, sizeof *p->types);
        p->types[p->ntypes++] = type;
    } while (accept(p, ','));
    return true;
}

static bool read_type_group(struct ir_parser *p) {
    if (!accept(p, '('))
        return read_types(p);
    return accept(p, ')') || (read_types(p) && (accept(p, ')') || fail(p, p->p, "types are not closed")));
}

static bool read_braces(struct ir_parser *p, struct span *inside, const char *what) {
    const char *q = scan_balanced(p->p, p->end);
    if (!q)
        return fail(p, p->p, what);
    *inside = span_of(p, p->p + 1, q - 1);
    p->p = q;
    return true;
}

static bool read_dict(struct ir_parser *p, uint32_t op, struct span *inside, const char *what) {
    struct recent_text *recent = recent_of(p, p->m->ops[op].name);
    const char *from = p->p;
    if (recent && recent->n && (size_t)(p->end - from) >= recent->n && memcmp(recent->p, from, recent->n) == 0) {
        p->p += recent->n;
        *inside = span_of(p, from + 1, p->p - 1);
        return true;
    }
    if (!read_braces(p, inside, what))
        return false;
    if (recent && p->p - from <= RECENT_LONGEST)
        *recent = (struct recent_text){from, (uint32_t)(p->p - from)};
    return true;
}

static bool read_attrs(struct ir_parser *p, uint32_t op) {
    return !at(p, '{') || read_dict(p, op, &p->m->ops[op].attrs, "attributes are not closed");
}

static bool read_loc(struct ir_parser *p, struct span *loc) {
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

static bool read_symbol(struct ir_parser *p, struct str *name) {
    space(p);
    const char *from = p->p + 1;
    if (peek(p) != '@')
        return fail(p, p->p, "expected a symbol");
    bool quoted = from < p->end && *from == '"';
    const char *q = quoted ? scan_string(from, p->end) : scan_name(from, p->end);
    if (!q || q == from)
        return fail(p, p->p, q ? "expected the name of a symbol after '@'" : "a symbol is not closed");
    *name = (struct str){from + quoted, (size_t)(q - from) - (quoted ? 2 : 0)};
    p->p = q;
    return true;
}

static void type_operands(struct ir_parser *p, uint32_t op, uint32_t first_forward, uint32_t n) {
    const struct mlir_op *o = &p->m->ops[op];
    for (uint32_t i = first_forward; i < p->nforward; i++) {
        uint32_t k = p->forward[i].operand - o->first_operand;
        if (k < n && k < o->noperands)
            p->forward[i].type = p->types[k];
    }
}

static void bind_results(struct ir_parser *p, uint32_t names, uint32_t op) {
    uint32_t first = p->m->ops[op].first_result, n = p->m->ops[op].nresults;
    for (uint32_t i = names; i < p->nresults && n > 0; i++) {
        uint32_t count = p->results[i].count < n ? p->results[i].count : n;
        define(p, p->results[i].name, first, count);
        first += count;
        n -= count;
    }
}

/* Values of the results from `names` on, at most `most`: "%0:65535" of a damaged text is not believed. */
static void add_results(struct ir_parser *p, uint32_t op, uint32_t names, uint32_t most) {
    struct mlir_op *o = &p->m->ops[op];
    o->first_result = p->m->nvalues;
    o->nresults = 0;
    for (uint32_t i = names; i < p->nresults; i++)
        for (uint32_t k = 0; k < p->results[i].count && o->nresults < most; k++)
            value_add(p->m, (struct mlir_value){
                                .type = p->no_type, .def = op, .index = o->nresults++, .name = p->results[i].text});
}

/* The types from p->types[from] on. */
static void set_results(struct ir_parser *p, uint32_t op, uint32_t names, uint32_t from) {
    uint32_t n = p->ntypes > from ? p->ntypes - from : 0;
    add_results(p, op, names, n + SPARE_RESULTS);
    struct mlir_op *o = &p->m->ops[op];
    if (names == p->nresults) /* results that nobody uses may go without names */
        for (; o->nresults < n; o->nresults++)
            value_add(p->m, (struct mlir_value){.def = op, .index = o->nresults});
    else if (n && n != o->nresults)
        say_bad(p, op, p->begin + o->text.begin, "the number of result types differs from the number of results");
    for (uint32_t i = 0; i < n && i < o->nresults; i++)
        p->m->values[o->first_result + i].type = p->types[from + i];
    bind_results(p, names, op);
}

/* ---- functions ---- */

static uint32_t func_add(struct ir_parser *p, uint32_t op, struct str name) {
    struct mlir *m = p->m;
    m->funcs = grow(m->funcs, &m->funcs_cap, m->nfuncs + 1, sizeof *m->funcs);
    m->funcs[m->nfuncs] = (struct mlir_func){.name = name_add(m, name),
                                             .op = op,
                                             .first_op = m->nops,
                                             .end_op = m->nops,
                                             .first_arg = m->nvalues,
                                             .first_arg_attr = m->narg_attrs,
                                             .declaration = true,
                                             .complete = true,
                                             .in_cpu_module = p->in.in_cpu_module,
                                             .module = p->in.module};
    return m->nfuncs++;
}

static void arg_add(struct mlir *m, struct mlir_value v, struct span attrs) {
    value_add(m, v);
    m->arg_attrs = grow(m->arg_attrs, &m->arg_attrs_cap, m->narg_attrs + 1, sizeof *m->arg_attrs);
    m->arg_attrs[m->narg_attrs++] = attrs;
}

/* "(%a: type {attrs} loc(..), ...)", or without names. They are not bound yet. */
static bool read_args(struct ir_parser *p, uint32_t *n) {
    *n = 0;
    if (accept(p, ')'))
        return true;
    do {
        struct mlir_value v = {.def = NONE, .index = *n};
        struct span attrs = {0}, loc;
        uint32_t name;
        space(p);
        if (peek(p) == '%' && (!read_name(p, &v.name, &name) || !accept(p, ':')))
            return fail(p, p->p, "expected ':' after the name of an argument");
        if (!read_type(p, &v.type) ||
            (at(p, '{') && !read_braces(p, &attrs, "attributes of an argument are not closed")) || !read_loc(p, &loc))
            return false;
        arg_add(p->m, v, attrs);
        ++*n;
    } while (accept(p, ','));
    return accept(p, ')') || fail(p, p->p, "arguments are not closed");
}

static void bind_args(struct ir_parser *p, uint32_t first, uint32_t n) {
    for (uint32_t i = first; i < first + n; i++) {
        struct str name = mlir_span(p->m, p->m->values[i].name);
        if (name.n)
            define(p, sym_find(&p->m->tables->values, name), i, 1);
    }
}

static bool func_body(struct ir_parser *p, uint32_t op, uint32_t func, bool generic) {
    struct mlir *m = p->m;
    struct ir_region r;
    enter(p, &r, true);
    p->in.func = func;
    p->in.args_wanted = generic;
    p->in.several_blocks = false;
    bind_args(p, m->funcs[func].first_arg, m->funcs[func].nargs);
    m->funcs[func].first_op = m->nops;
    bool closed = parse_body(p, op);
    leave(p, &r);
    m->funcs[func].end_op = m->nops;
    m->funcs[func].complete = closed;
    m->funcs[func].declaration = closed && generic && m->nops == m->funcs[func].first_op;
    return closed;
}

/* Of a generic func.func name, arguments and their attributes are attributes, which may stand behind the body. */
static void func_attributes(struct ir_parser *p, uint32_t op, uint32_t func) {
    struct mlir *m = p->m;
    struct mlir_func *f = &m->funcs[func];
    struct str value, item;
    f->attributes = m->ops[op].attrs;
    if (mlir_attr(m, op, "sym_name", &value) && mlir_string(value, &item))
        f->name = name_add(m, item);
    if (f->declaration &&
        mlir_attr(m, op, "function_type", &value)) { /* no block has arguments that could be its own */
        const char *from = value.p + 1,
                   *end = value.n && *value.p == '(' ? scan_balanced(value.p, value.p + value.n) : NULL;
        f->first_arg = m->nvalues;
        f->first_arg_attr = m->narg_attrs;
        for (; end && scan_item(&from, end - 1, &item) && item.n; f->nargs++)
            arg_add(m, (struct mlir_value){.type = type_add(m, item), .def = NONE, .index = f->nargs},
                    (struct span){0});
    }
    if (!mlir_attr(m, op, "arg_attrs", &value) || value.n < 2 || *value.p != '[')
        return;
    const char *from = value.p + 1, *end = value.p + value.n - 1;
    for (uint32_t i = 0; i < f->nargs && scan_item(&from, end, &item); i++)
        if (item.n > 2 && *item.p == '{')
            m->arg_attrs[f->first_arg_attr + i] = span_of(p, item.p + 1, item.p + item.n - 1);
}

/* After "func.func". */
static bool custom_func(struct ir_parser *p, uint32_t op, uint32_t names) {
    struct mlir *m = p->m;
    struct str name;
    uint32_t nargs, first_arg = m->nvalues, first_attr = m->narg_attrs;
    (void)(accept_word(p, "private") || accept_word(p, "nested") || accept_word(p, "public"));
    if (!read_symbol(p, &name) || !(accept(p, '(') || fail(p, p->p, "expected the arguments of a function")) ||
        !read_args(p, &nargs))
        return false;
    if (accept_text(p, "->")) { /* the returned values have types of their own */
        space(p);
        const char *q = peek(p) == '(' ? scan_balanced(p->p, p->end) : scan_type(p->p, p->end);
        if (!q || q == p->p)
            return fail(p, p->p, "expected the result types of a function");
        p->p = q;
    }
    uint32_t func = func_add(p, op, name);
    struct mlir_func *f = &m->funcs[func];
    f->first_arg = first_arg;
    f->nargs = nargs;
    f->first_arg_attr = first_attr;
    p->ntypes = 0;
    set_results(p, op, names, 0);
    if (accept_word(p, "attributes") && !read_attrs(p, op))
        return false;
    f->attributes = m->ops[op].attrs;
    const char *end = p->p;
    if (!at(p, '{'))
        return read_loc(p, &m->ops[op].loc);
    m->ops[op].text.end = (uint32_t)(end - p->begin);
    return !func_body(p, op, func, false) || read_loc(p, &m->ops[op].loc);
}

/* "^bb0(%x: t loc(..), ...):" */
static bool parse_block_label(struct ir_parser *p) {
    struct mlir *m = p->m;
    uint32_t nargs = 0, first = m->nvalues, first_attr = m->narg_attrs;
    bool func_args = p->in.args_wanted;
    p->in.args_wanted = false;
    p->in.several_blocks |=
        m->nops > 0 && p->in.parent != m->nops - 1; /* the first of a region follows its op at once */
    p->p = scan_name(p->p + 1, p->end);
    if (accept(p, '(') && !read_args(p, &nargs))
        return false;
    if (!accept(p, ':'))
        return fail(p, p->p, "expected ':' after the label of a block");
    bind_args(p, first, nargs);
    if (func_args && p->in.func != NONE) {
        struct mlir_func *f = &m->funcs[p->in.func];
        f->first_arg = first;
        f->nargs = nargs;
        f->first_arg_attr = first_attr;
    }
    return true;
}

/* ---- ops in generic form ---- */

/* "({ops}, {ops})" */
static bool generic_regions(struct ir_parser *p, uint32_t op, unsigned flags) {
    const char *from = p->p;
    if (!at(p, '('))
        return true;
    const char *open = p->p++;
    if (!at(p, '{')) {
        p->p = from;
        return true;
    }
    p->m->ops[op].text.end = end_before(p, open);
    bool is_func = flags & OP_FUNC;
    do {
        if (!at(p, '{'))
            return fail(p, p->p, "expected '{' of a region");
        struct ir_region r;
        bool closed;
        if (is_func)
            closed = func_body(p, op, func_add(p, op, STR("")), true);
        else {
            enter(p, &r, flags & OP_ISOLATED);
            closed = parse_body(p, op);
            leave(p, &r);
        }
        if (!closed)
            return true; /* reported; the op itself is kept */
        is_func = false;
    } while (accept(p, ','));
    return accept(p, ')') || fail(p, p->p, "regions are not closed");
}

static void read_callee(struct ir_parser *p, uint32_t op) {
    static const char *const keys[] = {"callee", "decomposition", "callees", "call_target_name"};
    struct str value;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (mlir_attr(p->m, op, keys[i], &value) && value.n > 1 && *value.p == '@') {
            bool quoted = value.p[1] == '"';
            const char *from = value.p + 1 + quoted, *end = value.p + value.n;
            size_t n = quoted ? (value.n > 3 ? value.n - 3 : 0) : (size_t)(scan_name(from, end) - from);
            p->m->ops[op].callee = name_add(p->m, (struct str){from, n});
            return;
        }
}

/* "(types) -> types" */
static bool read_types_of_op(struct ir_parser *p, uint32_t *noperands) {
    p->ntypes = 0;
    if (!at(p, '('))
        return fail(p, scan_space(p->p, p->end), "expected '(' of a function type");
    if (!read_type_group(p))
        return false;
    *noperands = p->ntypes;
    if (!accept_text(p, "->"))
        return fail(p, scan_space(p->p, p->end), "expected '->'");
    return read_type_group(p);
}

static bool read_signature(struct ir_parser *p, uint32_t op, uint32_t names, uint32_t first_forward) {
    const char *from = p->p;
    uint32_t n;
    if (!read_types_of_op(p, &n))
        return false;
    if (n != p->m->ops[op].noperands)
        say_bad(p, op, from, "the number of operand types differs from the number of operands");
    type_operands(p, op, first_forward, n);
    set_results(p, op, names, n);
    return true;
}

/* Up to `close`. */
static bool read_operands(struct ir_parser *p, uint32_t op, char close) {
    struct value_use use;
    bool more = !accept(p, close);
    while (more) {
        space(p);
        if (!read_use(p, &use))
            return false;
        add_operand(p, &use);
        more = accept(p, ',');
        if (!more && !accept(p, close))
            return fail(p, p->p, "operands are not closed");
    }
    p->m->ops[op].noperands = p->m->noperands - p->m->ops[op].first_operand;
    return true;
}

static bool generic_op(struct ir_parser *p, uint32_t op, uint32_t names) {
    struct mlir *m = p->m;
    unsigned flags = p->flags[m->ops[op].name];
    uint32_t first_forward = p->nforward, func = m->nfuncs;
    if (!accept(p, '('))
        return fail(p, p->p, "expected '(' after the name of an operation");
    if (!read_operands(p, op, ')'))
        return false;
    struct span skipped;
    if (at(p, '[') && !read_braces(p, &skipped, "successors are not closed"))
        return false;
    const char *from = p->p, *open = scan_space(p->p, p->end);
    if (!accept(p, '<') || !at(p, '{'))
        p->p = from;
    else if (!read_dict(p, op, &m->ops[op].props, "properties are not closed") || !accept(p, '>')) {
        p->wrong_at = p->wrong ? open : p->wrong_at;
        return fail(p, open, "properties are not closed");
    }
    struct ir_context outer = p->in;
    p->in.module = flags & OP_MODULE ? op : outer.module;
    p->in.in_cpu_module |= (flags & OP_CPU) != 0;
    bool ok = generic_regions(p, op, flags);
    p->in.module = outer.module;
    p->in.in_cpu_module = outer.in_cpu_module;
    ok = ok && read_attrs(p, op);
    if (flags & OP_FUNC && func < m->nfuncs && m->funcs[func].op == op)
        func_attributes(p, op, func);
    if (!ok)
        return false;
    if (flags & OP_CALLS)
        read_callee(p, op);
    if (accept(p, ':'))
        return read_signature(p, op, names, first_forward) && read_loc(p, &m->ops[op].loc);
    if (!p->truncated)
        say_bad(p, op, p->begin + m->ops[op].text.begin, "an operation without a type");
    p->ntypes = 0;
    set_results(p, op, names, 0);
    return read_loc(p, &m->ops[op].loc);
}

/* ---- ops in custom form ---- */

struct custom_op {
    uint32_t op, uses, depth; /* uses: the first of this op in p->uses; depth: of ( and [ */
    uint32_t first_result_type;
    unsigned flags;
    bool in_region;   /* one has been met: the names of its arguments are bound */
    bool attributes;  /* the word stands before */
    const char *last; /* end of what belongs to the op for sure: not the blanks behind it */
    struct ir_region region;
};

static bool is_module(const struct custom_op *c) {
    return c->flags & OP_MODULE && c->flags & OP_READ;
}

/* Names met so far become operands. With a region, unknown names are its arguments. */
static void custom_operands(struct ir_parser *p, struct custom_op *c, bool region) {
    struct mlir *m = p->m;
    uint32_t index = 0;
    m->ops[c->op].first_operand = m->noperands;
    for (uint32_t i = c->uses; i < p->nuses; i++)
        if (!region || known(p, &p->uses[i].use)) {
            add_operand(p, &p->uses[i].use);
            p->uses[i].use.text.end = 0;
        }
    m->ops[c->op].noperands = m->noperands - m->ops[c->op].first_operand;
    if (!region)
        return;
    enter(p, &c->region, c->flags & OP_ISOLATED);
    c->in_region = true;
    if (is_module(c)) {
        p->in.module = c->op;
        p->in.func = NONE;
        p->in.in_cpu_module |= (c->flags & OP_CPU) != 0;
    }
    for (uint32_t i = c->uses; i < p->nuses; i++) {
        struct typed_use u = p->uses[i];
        if (!u.use.text.end)
            continue;
        uint32_t type = u.type == NONE ? p->no_type : u.type;
        uint32_t v = value_add(m, (struct mlir_value){.type = type, .def = NONE, .index = index, .name = u.use.text});
        index++;
        define(p, u.use.name, v, 1);
    }
}

static bool looks_like_region(const char *p, const char *end) {
    p = scan_space(p, end);
    if (p < end && (*p == '^' || scan_starts_op(p, end)))
        return true;
    if (p >= end || !scan_op_word(p, end))
        return false;
    p = scan_space(scan_ident(p, end), end);
    return p < end && !strchr("=,}", *p);
}

static bool custom_braces(struct ir_parser *p, struct custom_op *c) {
    struct mlir_op *o = &p->m->ops[c->op];
    bool module = is_module(c) && !c->attributes;
    struct span inside;
    c->attributes = false;
    if (c->depth == 0 && (module || looks_like_region(p->p + 1, p->end))) {
        o->text.end = o->text.end ? o->text.end : end_before(p, p->p);
        if (!c->in_region)
            custom_operands(p, c, true);
        struct ir_region nested;
        enter(p, &nested, false);
        (void)parse_body(p, c->op); /* one that is not closed takes all the rest with it: nothing is read twice */
        leave(p, &nested);
        c->last = p->p;
        return true;
    }
    if (!read_braces(p, &inside, "brackets do not match"))
        return false;
    if (o->attrs.end == 0)
        o->attrs = inside;
    return true;
}

static void custom_use(struct ir_parser *p, const struct custom_op *c, struct typed_use u) {
    const char *from = p->p;
    if (c->depth > 0 && accept(p, ':')) { /* "%x: type" in brackets may be an argument of a region that follows */
        space(p);
        const char *q = scan_type(p->p, p->end);
        if (q > p->p) {
            u.type = type_add(p->m, (struct str){p->p, (size_t)(q - p->p)});
            from = q;
        }
    }
    p->p = from;
    p->uses = grow(p->uses, &p->uses_cap, p->nuses + 1, sizeof *p->uses);
    p->uses[p->nuses++] = u;
}

/* After ':' or '->'. What does not read as types is left to the walk. */
static void custom_types(struct ir_parser *p, struct custom_op *c) {
    const char *from = p->p, *inner;
    p->ntypes = c->first_result_type = 0;
    for (;;) {
        bool group = accept(p, '(');
        inner = p->p;
        uint32_t before = p->ntypes, type;
        if (group ? !accept(p, ')') && !(read_types(p) && accept(p, ')')) : !read_type(p, &type)) {
            p->wrong = NULL;
            p->p = group ? inner - 1 : from;
            break;
        }
        if (!group) {
            p->types = grow(p->types, &p->types_cap, before + 1, sizeof *p->types);
            p->types[p->ntypes++] = type;
        }
        from = p->p;
        if (accept_text(p, "->") || accept_word(p, "to") || accept_word(p, "into"))
            c->first_result_type = p->ntypes;
        else if (!accept(p, ',')) {
            p->p = from;
            break;
        }
    }
    const struct mlir_op *o = &p->m->ops[c->op];
    uint32_t n = p->ntypes - c->first_result_type, first = c->first_result_type;
    if (n > 0 && n != o->nresults && o->nresults == 1)
        first = p->ntypes - 1; /* "x to y", "cond, then, else": the last one is the nearest guess */
    else if (n != o->nresults)
        return;
    for (uint32_t i = 0; i < o->nresults; i++)
        p->m->values[o->first_result + i].type = p->types[first + i];
}

/* Does the op go on after the newline at p->p? */
static bool goes_on(const struct ir_parser *p) {
    const char *before = p->p, *next = scan_space(p->p, p->end);
    while (before > p->begin && scan_is(before[-1], CH_BLANK))
        before--;
    if (next >= p->end)
        return false;
    if (before > p->begin && strchr(",:=(", before[-1]))
        return !scan_starts_op(next, p->end);
    return !strchr("%}^#!@", *next) && !scan_starts_op(next, p->end) && !scan_op_word(next, p->end) &&
           !(p->end - next > 2 && memcmp(next, "{-#", 3) == 0);
}

enum step { STEP_ON, STEP_END, STEP_BAD };

static enum step over(struct ir_parser *p, const char *q) {
    if (!q)
        return fail(p, p->p, "brackets do not match"), STEP_BAD;
    p->p = q;
    return STEP_ON;
}

/* One token. */
static enum step custom_step(struct ir_parser *p, struct custom_op *c) {
    struct typed_use u = {.type = NONE};
    struct str name;
    const char *next;
    char ch = *p->p;
    if (ch == '%') {
        if (!read_use(p, &u.use))
            return STEP_BAD;
        if (!c->in_region)
            custom_use(p, c, u);
        return STEP_ON;
    }
    if (ch == '(' || ch == '[')
        return c->depth++, over(p, p->p + 1);
    if (ch == ')' || ch == ']')
        return over(p, c->depth && c->depth-- ? p->p + 1 : NULL);
    if (ch == '<')
        return over(p, p->end - p->p > 1 && p->p[1] == '=' ? p->p + 1 : scan_balanced(p->p, p->end));
    if (ch == '"')
        return over(p, scan_string(p->p, p->end));
    if (ch == '{')
        return custom_braces(p, c) ? STEP_ON : STEP_BAD;
    if (ch == '}')
        return c->depth ? over(p, NULL) : STEP_END;
    if (ch == '@') {
        if (!read_symbol(p, &name))
            return STEP_BAD;
        if (c->flags & OP_CALLS && p->m->ops[c->op].callee == NONE)
            p->m->ops[c->op].callee = name_add(p->m, name);
        return STEP_ON;
    }
    if (ch == '\n') {
        next = scan_space(p->p, p->end);
        return c->depth == 0 && !goes_on(p) ? STEP_END
                                            : over(p, c->depth && scan_starts_op(next, p->end) ? NULL : next);
    }
    if (c->depth == 0 && (ch == ':' || (ch == '-' && p->end - p->p > 1 && p->p[1] == '>'))) {
        p->p += ch == ':' ? 1 : 2;
        custom_types(p, c);
        return STEP_ON;
    }
    if (ch == '/' && p->end - p->p > 1 && p->p[1] == '/')
        return over(p, line_end(p->p, p->end));
    if (!scan_is(ch, CH_IDENT))
        return over(p, p->p + 1);
    if (c->depth == 0 && p->end - p->p > 4 && memcmp(p->p, "loc(", 4) == 0)
        return read_loc(p, &p->m->ops[c->op].loc) ? STEP_END : STEP_BAD;
    next = scan_ident(p->p, p->end);
    c->attributes = str_is((struct str){p->p, (size_t)(next - p->p)}, "attributes");
    return over(p, next);
}

/* "@f(%a, %b) : (types) -> types", or "(@f, [%a, %b]) : ..." of what is cached. */
static bool custom_call(struct ir_parser *p, uint32_t op, uint32_t names, bool cached) {
    struct str name;
    uint32_t first_forward = p->nforward;
    if (cached && !accept(p, '('))
        return fail(p, p->p, "expected '('");
    if (!read_symbol(p, &name))
        return false;
    p->m->ops[op].callee = name_add(p->m, name);
    if ((cached && !accept(p, ',')) || !accept(p, cached ? '[' : '('))
        return fail(p, p->p, "expected the operands of a call");
    if (!read_operands(p, op, cached ? ']' : ')'))
        return false;
    if (cached && !accept(p, ')'))
        return fail(p, p->p, "expected ')'");
    if (!read_attrs(p, op))
        return false;
    if (!accept(p, ':'))
        return fail(p, p->p, "expected ':' and the type of a call");
    return read_signature(p, op, names, first_forward) && read_loc(p, &p->m->ops[op].loc);
}

static bool custom_op(struct ir_parser *p, uint32_t op, uint32_t names) {
    struct mlir *m = p->m;
    struct custom_op c = {.op = op, .uses = p->nuses, .last = p->p, .flags = p->flags[m->ops[op].name]};
    if (c.flags & OP_FUNC)
        return custom_func(p, op, names);
    if (c.flags & OP_CALLS && c.flags & OP_READ)
        return custom_call(p, op, names, str_ends(mlir_op_name(m, op), STR("load_cached")));
    enum step step = STEP_ON;
    uint32_t first_forward = p->nforward;
    p->ntypes = 0;
    add_results(p, op, names, 256);
    m->ops[op].custom = !(c.flags & OP_READ);
    while (step == STEP_ON && p->p < p->end) {
        step = custom_step(p, &c);
        if (step == STEP_ON && !scan_is(p->p[-1], CH_BLANK))
            c.last = p->p;
    }
    if (c.in_region)
        leave(p, &c.region);
    else if (step != STEP_BAD) {
        custom_operands(p, &c, false);
        if (c.flags & OP_READ)
            type_operands(p, op, first_forward, c.first_result_type ? c.first_result_type : p->ntypes);
    }
    p->nuses = c.uses;
    if (step == STEP_BAD)
        return false;
    if (is_module(&c) && !c.in_region)
        return fail(p, c.last, "expected '{' of a module");
    if (c.depth > 0)
        return fail(p, c.last, "brackets do not match");
    if (m->ops[op].loc.end == 0)
        p->p = c.last;
    bind_results(p, names, op);
    m->custom_ops += !(c.flags & OP_USUAL);
    return true;
}

/* ---- ops ---- */

static bool read_results(struct ir_parser *p) {
    do {
        struct result_name r = {.count = 1};
        space(p);
        const char *from = p->p;
        if (!read_name(p, &r.text, &r.name)) {
            p->wrong = "expected the name of a result";
            return false;
        }
        if (peek(p) == ':' && ((r.count = read_count(p)) == 0 || r.count >= RESULT_MAX))
            return fail(p, from, "bad number of results");
        p->results = grow(p->results, &p->results_cap, p->nresults + 1, sizeof *p->results);
        p->results[p->nresults++] = r;
    } while (accept(p, ','));
    return accept(p, '=') || fail(p, p->p, "expected '=' after the results of an operation");
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
        return fail(p, from, "the name of an operation is not closed");
    size_t quotes = generic ? 1 : 0;
    struct str name = {from + quotes, (size_t)(q - from) - 2 * quotes};
    bool file = p->end - q > 1 && *q == ':' && scan_is(q[1], CH_DIGIT); /* "f.py:1:2" */
    if (!generic && (file || !scan_op_word(from, p->end)))
        return fail(p, from, "expected an operation");
    for (size_t i = 0; i < sizeof short_names / sizeof *short_names && !generic; i++)
        if (str_is(name, short_names[i][0]))
            name = str_of(short_names[i][1]);
    if (!generic && str_is(name, "yield"))
        name = name_of_yield(p);
    *id = op_name_add(p, name);
    p->p = q;
    return true;
}

static bool parse_op(struct ir_parser *p) {
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
        if (!known(p, &(struct value_use){.name = p->results[i].name}))
            bind(p, p->results[i].name, (struct name_binding){.value = NONE});
    p->nresults = names;
    return ok;
}

/* ---- aliases, and what MLIR prints behind a module ---- */

/* False when the number is larger than the text: a huge number in a small text must not allocate a huge table. */
static bool add_loc(struct ir_parser *p, uint32_t number, struct str value) {
    struct mlir_tables *t = p->m->tables;
    if (number >= (uint32_t)(p->end - p->begin))
        return false;
    uint32_t old = t->nlocs;
    if (number >= old) {
        t->locs = grow(t->locs, &t->nlocs, number + 1, sizeof *t->locs);
        memset(t->locs + old, 0, (t->nlocs - old) * sizeof *t->locs);
    }
    t->locs[number] = span_of(p, value.p, value.p + value.n);
    return true;
}

static void add_alias(struct ir_parser *p, struct str name, struct str value) {
    struct mlir_tables *t = p->m->tables;
    uint32_t number;
    struct str inner;
    if (loc_number(name, &number) && add_loc(p, number, value))
        return;
    bool bad = mlir_unresolved(p->m, value, &inner); /* before the alias itself is known */
    uint32_t id = sym_add(t, &t->alias_names, name);
    t->aliases = grow(t->aliases, &t->aliases_cap, id + 1, sizeof *t->aliases);
    t->aliases[id] = (struct alias){value, bad};
}

/* To the end of its line, or of a bracket that runs over lines. NULL: brackets do not match. */
static const char *alias_end(const char *p, const char *end) {
    const char *stop = line_end(p, end);
    if (stop - p > 4 && memcmp(p, "loc(", 4) == 0 && stop[-1] == ')') /* printed on a line of its own */
        return stop;
    while (p && p < end && *p != '\n' && !(*p == '/' && p + 1 < end && p[1] == '/'))
        p = *p == '"' ? scan_string(p, end) : strchr("([{<", *p) && *p ? scan_balanced(p, end) : p + 1;
    return p;
}

/* Locations of --mlir-pretty-debuginfo, which MLIR does not read either: "[unknown]" or "f.py:1:2" behind something on
 * its line, "#loc3 = f.py:1:2". */
static bool is_pretty_place(const struct ir_parser *p, const char *from) {
    struct str line = str_trim((struct str){from, (size_t)(line_end(from, p->end) - from)});
    size_t n = line.n, colons = 0;
    while (from > p->begin && (from[-1] == ' ' || from[-1] == '\t'))
        from--;
    for (; n > 0 && (scan_is(line.p[n - 1], CH_DIGIT) || line.p[n - 1] == ':'); n--)
        colons += line.p[n - 1] == ':';
    return from > p->begin && from[-1] != '\n' &&
           (str_is(line, "[unknown]") || (colons == 2 && n > 0 && line.p[n - 1] != '"'));
}

static bool refuse_pretty(struct ir_parser *p, const char *where) {
    p->m->bad_ops++;
    p->truncated = true;
    say(p, SEV_ERROR, where,
        "locations printed by --mlir-pretty-debuginfo cannot be read back: print with --mlir-print-debuginfo");
    p->p = p->end;
    return true;
}

static bool parse_alias(struct ir_parser *p) {
    const char *from = p->p, *q = scan_name(from + 1, p->end);
    struct str name = {from, (size_t)(q - from)};
    uint32_t number;
    p->p = q;
    if (name.n < 2 || !accept(p, '='))
        return p->p = from, fail(p, from, "expected '=' after the name of an alias");
    q = scan_space(p->p, p->end);
    const char *stop = alias_end(q, p->end);
    if (!stop)
        return p->p = from, fail(p, q, "brackets of an alias definition do not match");
    struct str value = str_trim((struct str){q, (size_t)(stop - q)});
    if (!str_starts(value, STR("loc(")) && (str_is(name, "#loc") || loc_number(name, &number)))
        return refuse_pretty(p, from);
    add_alias(p, name, value);
    p->p = stop;
    return true;
}

/* "{-# dialect_resources: { builtin: { name: "0x...", ... } } #-}": each name is an alias of what is in quotes. */
static bool parse_resources(struct ir_parser *p) {
    if (!accept_text(p, "{-#"))
        return fail(p, p->p, "expected an operation");
    const char *q = p->p;
    struct str name = STR("");
    while (q && p->end - q >= 3 && memcmp(q, "#-}", 3) != 0) {
        const char *from = q;
        q = *q == '"' ? scan_string(q, p->end) : scan_ident(q, p->end);
        struct str word = {from, q ? (size_t)(q - from) : 0};
        if (word.n && *from == '"' && name.n)
            add_alias(p, name, word);
        else if (word.n)
            name = word;
        else if (q && *q != ':' && !scan_is(*q, CH_BLANK))
            name = STR("");
        q = q && q == from ? q + 1 : q;
    }
    p->p = q && p->end - q >= 3 ? q + 3 : p->end;
    return true;
}

/* ---- the loop over the ops of a region, and recovery ---- */

/* Does an op, a block, an alias or the end of a region start at this line? */
static bool is_boundary(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    if (p >= end || *p == '}' || *p == '^' || scan_starts_op(p, end))
        return true;
    if (*p == '#' || *p == '!') {
        const char *q = scan_ident(p + 1, end);
        return end - q > 3 && memcmp(q, " = ", 3) == 0;
    }
    return scan_is(*p, CH_ALPHA) ? scan_op_word(p, end) : end - p > 3 && memcmp(p, "{-#", 3) == 0;
}

/* To the next boundary. Only braces at the ends of lines open regions here: whatever else is open on a line belongs to
 * the broken op. */
static void resync(struct ir_parser *p) {
    uint32_t depth = 0;
    for (const char *from = p->p; from < p->end; p->p = from) {
        const char *stop = line_end(from, p->end), *next;
        struct str line = str_trim((struct str){from, (size_t)(stop - from)});
        depth += str_ends(line, STR("{"));
        next = from = stop < p->end ? stop + 1 : p->end;
        if (depth == 0 && is_boundary(from, p->end)) {
            p->p = from;
            return;
        }
        while (next < p->end && scan_is(*next, CH_BLANK) && *next != '\n')
            next++;
        depth -= next < p->end && *next == '}' && depth > 0;
    }
}

static void report_end(struct ir_parser *p) {
    if (!p->truncated)
        say(p, SEV_ERROR, p->end, "the IR is cut off here: functions that are not closed are left out");
    p->truncated = true;
}

/* One diagnostic for a bad op; a text that is cut in the op is reported as cut. */
static void recover(struct ir_parser *p, const char *start) {
    const char *where = p->wrong_at ? p->wrong_at : start, *what = p->wrong ? p->wrong : "cannot read this operation";
    if (is_pretty_place(p, where)) {
        (void)refuse_pretty(p, start);
        return;
    }
    p->m->bad_ops++;
    p->p = p->p < start ? start : p->p;
    resync(p);
    if (p->p >= p->end && p->depth > 0)
        report_end(p);
    else
        say(p, SEV_ERROR, where, what);
    p->wrong = p->wrong_at = NULL;
}

static bool parse_item(struct ir_parser *p) {
    char c = *p->p;
    if (c == '#' || c == '!')
        return parse_alias(p);
    if (c == '^')
        return parse_block_label(p);
    if (c == '{')
        return parse_resources(p);
    if (c == '%' || c == '"' || scan_is(c, CH_ALPHA))
        return parse_op(p);
    return fail(p, p->p, "expected an operation");
}

static bool parse_ops(struct ir_parser *p) {
    for (;;) {
        space(p);
        if (p->p >= p->end) {
            if (p->depth > 0)
                report_end(p);
            return false;
        }
        if (*p->p == '}' && p->depth > 0) {
            p->p++;
            return true;
        }
        const char *start = p->p;
        if (!parse_item(p) || p->p == start)
            recover(p, start);
    }
}

/* ---- a module ---- */

/* Arrays have grown by doubling: what they did not fill goes back. */
static void shrink(struct mlir *m) {
    m->ops_cap = m->nops;
    m->ops = xrealloc(m->ops, m->nops * sizeof *m->ops);
    m->values_cap = m->nvalues;
    m->values = xrealloc(m->values, m->nvalues * sizeof *m->values);
    m->operands_cap = m->noperands;
    m->operands = xrealloc(m->operands, m->noperands * sizeof *m->operands);
}

void mlir_parse(struct mlir *m, const struct source *s, const struct log_block *block, struct diags *d) {
    *m = (struct mlir){.source = s, .block = block};
    m->tables = tables_new();
    m->text = log_text(s, block, &m->tables->text);
    struct ir_parser p = {.m = m,
                          .d = d,
                          .p = m->text.p,
                          .begin = m->text.p,
                          .end = m->text.p + m->text.n,
                          .in = {.func = NONE, .parent = NONE, .module = NONE}};
    struct ir_region top;
    p.no_type = type_add(m, STR(""));
    enter(&p, &top, true);
    (void)parse_ops(&p);
    leave(&p, &top);
    types_resolve(m);
    name_functions(m);
    look_through_tuples(m);
    look_through_traces(m);
    look_through_host(m);
    shrink(m);
    free(p.flags);
    free(p.bindings);
    free(p.shadowed);
    free(p.forward);
    free(p.results);
    free(p.uses);
    free(p.types);
    sym_free(&m->tables->values);
}

void mlir_free(struct mlir *m) {
    struct mlir_tables *t = m->tables;
    free(m->ops);
    free(m->values);
    free(m->operands);
    free(m->types);
    free(m->dims);
    free(m->names);
    free(m->funcs);
    free(m->arg_attrs);
    if (t) {
        sym_free(&t->names);
        sym_free(&t->types);
        sym_free(&t->values);
        sym_free(&t->alias_names);
        sym_free(&t->files);
        free(t->aliases);
        free(t->locs);
        free(t->file_names);
        free(t->func_of_name);
        buf_free(&t->text);
        buf_free(&t->built);
        arena_free(&t->arena);
        pthread_mutex_destroy(&t->files_lock);
        free(t);
    }
    *m = (struct mlir){0};
}

struct source_location mlir_place(const struct mlir *m, uint32_t text_offset) {
    struct source_location nowhere = {0};
    return m->source ? log_place(m->source, m->block, text_offset) : nowhere;
}
