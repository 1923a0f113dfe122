/* What each op of LLVM makes of symbols: integers and pointers, memory, arithmetic on elements, descriptors. */
#include "ir/mlir/host_reader.h"

#include <stdlib.h>
#include <string.h>

#include "ir/mlir/builder.h"
#include "ir/mlir/scan.h"
#include "ir/mlir/tables.h"

enum { ALIGNED = 1, OFFSET = 2, SIZES = 3, STRIDES = 4, MAX_RESULTS = 256 };

/* ---- text ---- */

static struct str text_of(const struct host_reader *r, uint32_t op) {
    return mlir_span(r->m, r->m->ops[op].text);
}

struct str llvm_said(const struct mlir *m, uint32_t op, const char *key, const char *before, const char *ends) {
    struct str value;
    return mlir_attr(m, op, key, &value) ? value : text_until(text_behind(mlir_span(m, m->ops[op].text), before), ends);
}

struct str llvm_symbol(struct str text) {
    struct str name = text.n && *text.p == '@' ? (struct str){text.p + 1, text.n - 1} : text;
    (void)mlir_string(text, &name);
    return name;
}

/* "!llvm.ptr -> f32", "(!llvm.ptr) -> f32", "i32 to i64", ": !llvm.struct<...>" */
static struct str result_type(const struct host_reader *r, uint32_t op) {
    static const char *const before[] = {"-> ", " to ", " : "};
    struct str type = STR("");
    for (size_t i = 0; !type.n && i < sizeof before / sizeof *before; i++)
        type = text_behind(text_of(r, op), before[i]);
    return type;
}

bool llvm_is(const struct host_reader *r, uint32_t op, const char *name) {
    return str_is(mlir_op_name(r->m, op), name);
}

uint32_t llvm_operand(const struct host_reader *r, uint32_t op, uint32_t i) {
    const struct mlir_op *o = &r->m->ops[op];
    return i < o->noperands ? r->m->operands[o->first_operand + i] : NONE;
}

/* ---- symbols ---- */

static bool is_open(const struct host_reader *r, uint32_t serial) {
    bool open = serial == 0;
    for (uint32_t k = 0; k < r->host.nloops; k++)
        open |= r->host.loops[k].serial == serial;
    return open;
}

static struct symbol symbol_of(const struct host_reader *r, uint32_t value) {
    bool own = value != NONE && value >= r->first_value && value - r->first_value < r->nvalues;
    struct symbol s = own ? r->symbols[value - r->first_value] : (struct symbol){0};
    return is_open(r, s.serial) ? s : (struct symbol){0};
}

struct symbol symbol_of_operand(const struct host_reader *r, uint32_t op, uint32_t i) {
    return symbol_of(r, llvm_operand(r, op, i));
}

bool symbol_set(struct host_reader *r, uint32_t value, struct symbol s) {
    if (value < r->first_value || value - r->first_value >= r->nvalues)
        return false;
    s.serial = r->host.nloops ? r->host.loops[r->host.nloops - 1].serial : 0;
    r->symbols[value - r->first_value] = s;
    return s.kind != NOTHING;
}

static bool set(struct host_reader *r, uint32_t op, struct symbol s) {
    return r->m->ops[op].nresults == 1 && symbol_set(r, r->m->ops[op].first_result, s);
}

bool symbol_is_fixed(const struct symbol *s) {
    static const struct affine zero;
    struct affine at = s->at;
    at.base = 0;
    return s->kind == WHOLE && affine_equal(&at, &zero);
}

static bool set_tensor(struct host_reader *r, uint32_t op, uint32_t tensor, uint64_t loaded) {
    return tensor != NONE && set(r, op, (struct symbol){TENSOR, .id = tensor, .source = NONE, .loaded = loaded});
}

static uint64_t bit_of(uint32_t buffer) {
    return 1ull << (buffer < 63 ? buffer : 63);
}

/* ---- integers and pointers ---- */

/* In memory; a truth value takes one. */
static int64_t bytes_in(enum dtype t) {
    return t == DT_OTHER || t == DT_NONE ? 0 : (dtype_table[t].bits + 7) / 8;
}

static int64_t bytes_of(const struct mlir *m, struct str type) {
    return bytes_in(mlir_dtype(m, type));
}

/* "(256 : index) : i64", "(1.000000e+00 : f32) : f32", "<{value = 256 : index}> : () -> i64" */
static bool read_constant(struct host_reader *r, uint32_t op) {
    struct str text = llvm_said(r->m, op, "value", "(", ")");
    struct symbol s = {.kind = WHOLE};
    if (mlir_int(text, &s.at.base))
        return set(r, op, s);
    s.kind = NUMBER;
    return mlir_float(text, &s.number) && set(r, op, s);
}

static bool read_null(struct host_reader *r, uint32_t op) {
    return set(r, op, (struct symbol){.kind = POINTER, .id = NONE});
}

/* Of a constant of the module: llvm.mlir.global private constant @name(dense<1.0> : tensor<1x1xf32>) */
static bool read_global(struct host_reader *r, uint32_t op) {
    struct str name = llvm_symbol(llvm_said(r->m, op, "global_name", "@", " :("));
    uint32_t global = NONE, type;
    for (uint32_t i = 0; i < r->nglobals && global == NONE; i++)
        if (str_eq(llvm_symbol(llvm_said(r->m, r->globals[i], "sym_name", "@", "(")), name))
            global = r->globals[i];
    struct str value = STR("");
    if (global != NONE && !mlir_attr(r->m, global, "value", &value))
        value = text_behind(text_of(r, global), "(");
    struct str tensor = text_until(text_behind(value, " : tensor<"), ">");
    struct mlir_type t;
    if (!tensor.n || !str_starts(value, STR("dense<")))
        return false;
    value.n = (size_t)(tensor.p + tensor.n + 1 - value.p);
    type = type_add(r->m, arena_printf(&r->m->tables->arena, "tensor<%.*s>", (int)tensor.n, tensor.p));
    t = r->m->types[type];
    if (t.kind != TYPE_TENSOR || t.rank > MAX_LOOPS)
        return false;
    struct buf text = {0};
    buf_printf(&text, "value = %.*s", (int)value.n, value.p);
    uint32_t buffer = host_buffer(&r->host);
    host_set(&r->host, buffer, build_value(r->m, "ttir.constant", buf_str(&text), NULL, 0, type));
    buf_free(&text);
    return set(r, op, (struct symbol){.kind = POINTER, .id = buffer});
}

/* A number that counts places, of which an element may say one. */
static bool place_of(const struct host_reader *r, struct symbol *s) {
    if (s->kind == TENSOR && format_is_integer(host_dtype(&r->host, s->id))) {
        s->kind = WHOLE;
        s->at = (struct affine){.index = s->id, .times = 1};
    }
    return s->kind == WHOLE;
}

/* "%8[%23] : (!llvm.ptr, i64) -> !llvm.ptr, f32", rawConstantIndices in the generic form: how many, where INT32_MIN
 * stands for an operand. */
static int indices_of(const struct host_reader *r, uint32_t op, int64_t index[MAX_LOOPS]) {
    struct str raw, item, list = text_until(text_behind(text_of(r, op), "["), "]");
    int n = 0;
    if (mlir_attr(r->m, op, "rawConstantIndices", &raw))
        return mlir_ints(raw, index, MAX_LOOPS);
    for (; (item = str_item(&list)).n; n++)
        if (n < MAX_LOOPS && !mlir_int(item, &index[n]))
            index[n] = INT32_MIN;
    return n;
}

/* Zeros into arrays of arrays stay where they are. */
static bool read_element(struct host_reader *r, uint32_t op) {
    struct symbol s = symbol_of_operand(r, op, 0), by = symbol_of_operand(r, op, 1);
    struct str type = llvm_said(r->m, op, "elem_type", "-> !llvm.ptr, ", " \n");
    int64_t index[MAX_LOOPS], bytes = bytes_of(r->m, type);
    int n = indices_of(r, op, index);
    bool zeros = n > 0 && n <= MAX_LOOPS;
    for (int i = 0; zeros && i < n; i++)
        zeros = index[i] == 0;
    if (s.kind != POINTER || (zeros && str_starts(type, STR("!llvm.array"))))
        return s.kind == POINTER && set(r, op, s);
    if (n != 1 || !bytes || (s.bytes && s.bytes != bytes))
        return false;
    if (index[0] != INT32_MIN)
        by = (struct symbol){.kind = WHOLE, .at.base = index[0]};
    s.bytes = bytes;
    return place_of(r, &by) && affine_add(&s.at, &by.at, 1) && set(r, op, s);
}

static bool read_address(struct host_reader *r, uint32_t op) {
    struct symbol s = symbol_of_operand(r, op, 0);
    if (s.kind != POINTER)
        return false;
    int64_t bytes;
    if (s.id == NONE)
        return !__builtin_mul_overflow(s.at.base, s.bytes, &bytes) &&
               set(r, op, (struct symbol){.kind = WHOLE, .at.base = bytes});
    return set(r, op, (struct symbol){.kind = ADDRESS, .id = s.id});
}

/* Memory begins at the address that was aligned, and not at the one before. */
static bool read_pointer(struct host_reader *r, uint32_t op) {
    bool known = symbol_of_operand(r, op, 0).kind == ADDRESS;
    return known && set(r, op, (struct symbol){.kind = POINTER, .id = host_buffer(&r->host)});
}

/* Sums, differences and products of what is affine; an address that is aligned stays the address. */
static bool read_whole(struct host_reader *r, uint32_t op) {
    struct symbol a = symbol_of_operand(r, op, 0), b = symbol_of_operand(r, op, 1);
    bool adds = llvm_is(r, op, "llvm.add"), subtracts = llvm_is(r, op, "llvm.sub"), overflows = false;
    if (a.kind == ADDRESS && (adds || subtracts))
        return (b.kind == WHOLE || b.kind == REMAINDER) && set(r, op, a);
    if (a.kind == ADDRESS && llvm_is(r, op, "llvm.urem"))
        return set(r, op, (struct symbol){.kind = REMAINDER});
    if ((a.kind == TENSOR && b.kind == TENSOR) || !place_of(r, &a) || !place_of(r, &b))
        return false;
    a.loaded = b.loaded |= a.loaded;
    if (llvm_is(r, op, "llvm.mul")) {
        struct symbol *x = symbol_is_fixed(&b) ? &a : &b;
        int64_t by = x == &a ? b.at.base : a.at.base;
        if (!symbol_is_fixed(&a) && !symbol_is_fixed(&b))
            return false;
        overflows |= __builtin_mul_overflow(x->at.base, by, &x->at.base);
        overflows |= __builtin_mul_overflow(x->at.times, by, &x->at.times);
        for (int k = 0; k < MAX_LOOPS; k++)
            overflows |= __builtin_mul_overflow(x->at.by[k], by, &x->at.by[k]);
        return !overflows && set(r, op, *x);
    }
    if (!adds && !subtracts)
        return false;
    return affine_add(&a.at, &b.at, adds ? 1 : -1) && set(r, op, a);
}

/* ---- memory ---- */

static bool read_copy(struct host_reader *r, uint32_t op) {
    struct symbol to = symbol_of_operand(r, op, 0), from = symbol_of_operand(r, op, 1), n = symbol_of_operand(r, op, 2);
    if (to.kind != POINTER || from.kind != POINTER || to.id == NONE || from.id == NONE || !symbol_is_fixed(&n))
        return false;
    int64_t bytes = bytes_in(r->host.buffers[from.id].dtype);
    return bytes && n.at.base % bytes == 0 &&
           host_copy(&r->host, to.id, to.at.base, from.id, from.at.base, n.at.base / bytes);
}

/* A pointer whose elements are those of the buffer. */
static bool points(const struct host_reader *r, const struct symbol *p, struct str type) {
    enum dtype t = p->kind == POINTER && p->id != NONE ? r->host.buffers[p->id].dtype : DT_OTHER;
    enum dtype of = mlir_dtype(r->m, type);
    bool alike = dtype_table[t].bits == dtype_table[of].bits && format_is_float(t) == format_is_float(of);
    return t != DT_OTHER && (t == DT_NONE || alike) && (!p->bytes || p->bytes == bytes_in(of));
}

static bool read_load(struct host_reader *r, uint32_t op) {
    struct symbol p = symbol_of_operand(r, op, 0);
    if (!points(r, &p, text_until(result_type(r, op), " \n")))
        return false;
    uint32_t tensor = host_load(&r->host, p.id, &p.at);
    return tensor != NONE && set(r, op, (struct symbol){TENSOR, tensor, p.id, bit_of(p.id), .at = p.at});
}

static uint32_t tensor_of(struct host_reader *r, const struct symbol *s, enum dtype dtype) {
    return s->kind == NUMBER   ? host_number(&r->host, s->number, dtype)
           : s->kind == WHOLE  ? host_whole(&r->host, &s->at, dtype)
           : s->kind == TENSOR ? s->id
                               : NONE;
}

static bool is_used_once(const struct host_reader *r, uint32_t value) {
    uint32_t uses = 0;
    for (uint32_t op = r->first_op; op < r->end_op; op++)
        for (uint32_t i = 0; i < r->m->ops[op].noperands; i++)
            uses += llvm_operand(r, op, i) == value;
    return uses == 1;
}

/* What adds an element to the place that it then is stored at, and to nothing else; the element in `x`. */
static const char *reduction(struct host_reader *r, uint32_t value, const struct symbol *place, struct symbol *x) {
    static const char *const known[][2] = {{"llvm.fadd", "ttir.sum"},         {"llvm.add", "ttir.sum"},
                                           {"llvm.intr.maximum", "ttir.max"}, {"llvm.intr.maxnum", "ttir.max"},
                                           {"llvm.intr.minimum", "ttir.min"}, {"llvm.intr.minnum", "ttir.min"}};
    uint32_t op = value == NONE ? NONE : r->m->values[value].def;
    bool moves = true;
    for (uint32_t k = 0; k < r->host.nloops; k++)
        moves &= place->at.by[k] != 0 || r->host.loops[k].extent == 1;
    for (size_t i = 0; !moves && op != NONE && i < sizeof known / sizeof *known; i++)
        for (uint32_t k = 0; llvm_is(r, op, known[i][0]) && k < 2; k++) {
            struct symbol sum = symbol_of_operand(r, op, k);
            *x = symbol_of_operand(r, op, 1 - k);
            if (sum.kind == TENSOR && sum.source == place->id && affine_equal(&sum.at, &place->at) &&
                !(x->loaded & bit_of(place->id)) && is_used_once(r, value) && is_used_once(r, llvm_operand(r, op, k)))
                return known[i][1];
        }
    return NULL;
}

/* " : f32, !llvm.ptr", " : (f32, !llvm.ptr) -> ()" */
static struct str stored_type(struct str text) {
    const char *end = str_find(text, STR(", !llvm.ptr")), *begin = end ? end : text.p;
    while (begin > text.p && begin[-1] != ' ' && begin[-1] != '(')
        begin--;
    return (struct str){begin, end ? (size_t)(end - begin) : 0};
}

static bool read_store(struct host_reader *r, uint32_t op) {
    struct symbol x = symbol_of_operand(r, op, 0), p = symbol_of_operand(r, op, 1), element = x;
    struct str type = stored_type(text_of(r, op));
    if (!points(r, &p, type))
        return false;
    const char *adds = reduction(r, llvm_operand(r, op, 0), &p, &element);
    uint32_t tensor = tensor_of(r, adds ? &element : &x, mlir_dtype(r->m, type));
    return tensor != NONE && host_store(&r->host, p.id, &p.at, tensor, adds);
}

/* ---- arithmetic ---- */

/* Of operands that have elements of one type, but for the first `apart`. */
static bool set_result(struct host_reader *r, uint32_t op, const char *name, uint32_t apart, enum dtype result) {
    uint32_t n = r->m->ops[op].noperands, tensors[3];
    enum dtype dtype = DT_F32;
    uint64_t loaded = 0;
    bool elements = false;
    if (n <= apart || n > 3)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        struct symbol s = symbol_of_operand(r, op, i);
        bool element = s.kind == TENSOR || (s.kind == WHOLE && s.at.times);
        elements |= element;
        if (element && i >= apart)
            dtype = host_dtype(&r->host, s.kind == TENSOR ? s.id : s.at.index);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct symbol s = symbol_of_operand(r, op, i);
        tensors[i] = tensor_of(r, &s, i < apart ? DT_I1 : dtype);
        loaded |= s.loaded;
    }
    result = result == DT_NONE ? dtype : result;
    return elements && set_tensor(r, op, host_op(&r->host, name, tensors, n, result), loaded);
}

static bool read_arithmetic(struct host_reader *r, uint32_t op, const char *name) {
    return r->m->ops[op].noperands <= 2 && set_result(r, op, name, 0, DT_NONE);
}

/* Of numbers with a sign; of two of which one is none (NaN) only "une" is true. */
static bool read_comparison(struct host_reader *r, uint32_t op) {
    static const struct {
        const char *integers, *floats;
        int of_integers, of_floats; /* their numbers in the generic form */
        const char *ttir;
    } all[] = {{"eq", "oeq", 0, 1, "ttir.eq"},  {"ne", "une", 1, 13, "ttir.ne"}, {"slt", "olt", 2, 4, "ttir.lt"},
               {"sle", "ole", 3, 5, "ttir.le"}, {"sgt", "ogt", 4, 2, "ttir.gt"}, {"sge", "oge", 5, 3, "ttir.ge"}};
    struct str predicate = llvm_said(r->m, op, "predicate", "\"", "\"");
    bool floats = llvm_is(r, op, "llvm.fcmp");
    int64_t number = -1;
    (void)mlir_int(predicate, &number);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (str_is(predicate, floats ? all[i].floats : all[i].integers) ||
            number == (floats ? all[i].of_floats : all[i].of_integers))
            return set_result(r, op, all[i].ttir, 0, DT_I1);
    return false;
}

static bool read_select(struct host_reader *r, uint32_t op) {
    struct symbol s = symbol_of_operand(r, op, 0);
    return s.kind == TENSOR && r->m->ops[op].noperands == 3 && set_result(r, op, "ttir.where", 1, DT_NONE);
}

/* Of truth values. */
static bool read_logic(struct host_reader *r, uint32_t op) {
    const char *name = llvm_is(r, op, "llvm.and")  ? "ttir.logical_and"
                       : llvm_is(r, op, "llvm.or") ? "ttir.logical_or"
                                                   : "ttir.logical_xor";
    bool truths = true;
    for (uint32_t i = 0; i < r->m->ops[op].noperands; i++) {
        struct symbol s = symbol_of_operand(r, op, i);
        truths &= s.kind != TENSOR || host_dtype(&r->host, s.id) == DT_I1;
    }
    return truths && set_result(r, op, name, 0, DT_I1);
}

/* "%26 = llvm.sext %25 : i32 to i64"; of whole numbers that count places nothing is left to do. */
static bool read_cast(struct host_reader *r, uint32_t op) {
    struct symbol s = symbol_of_operand(r, op, 0);
    enum dtype to = mlir_dtype(r->m, text_until(result_type(r, op), " \n"));
    bool widens = llvm_is(r, op, "llvm.sext"), place = s.kind == WHOLE && (widens || s.at.times == 0);
    if (place && format_is_integer(to))
        return set(r, op, s);
    bool truth = s.kind == TENSOR && host_dtype(&r->host, s.id) == DT_I1;
    bool unsigned_ = llvm_is(r, op, "llvm.zext") || llvm_is(r, op, "llvm.uitofp");
    if (llvm_is(r, op, "llvm.trunc") || unsigned_ != truth) /* of elements, whose sign nothing says */
        return false;
    enum dtype from = s.at.times ? host_dtype(&r->host, s.at.index) : DT_I32;
    uint32_t x = s.kind == WHOLE ? tensor_of(r, &s, from) : s.id;
    return (s.kind == TENSOR || s.kind == WHOLE) && x != NONE && to != DT_OTHER &&
           set_tensor(r, op, host_op(&r->host, "ttir.typecast", &x, 1, to), s.loaded);
}

/* ---- results ---- */

/* "!llvm.struct<(struct<(ptr, ..)>, struct<(ptr, ..)>)>" has two; 0: it is no list of descriptors. */
static uint32_t count_results(struct str type) {
    uint32_t n = 0;
    if (!str_starts(type, STR("!llvm.struct<(struct")))
        return 0;
    while ((type = text_behind(type, "struct<(ptr")).n)
        n++;
    return n;
}

static struct symbol new_view(struct host_reader *r, struct str type) {
    struct str sizes = text_behind(type, "array<");
    int64_t rank = 0;
    uint32_t several = count_results(type), n = several ? several : 1, first = r->nviews;
    if (several > MAX_RESULTS)
        return (struct symbol){.kind = NOTHING};
    if (sizes.n && !mlir_int(text_until(sizes, " "), &rank))
        rank = MAX_LOOPS + 1;
    r->views = grow(r->views, &r->views_cap, r->nviews + n, sizeof *r->views);
    memset(r->views + first, 0, n * sizeof *r->views);
    for (uint32_t i = 0; i < n; i++)
        r->views[first + i] = (struct descriptor){.buffer = NONE, .rank = several ? 0 : (uint32_t)rank};
    r->nviews += n;
    return (struct symbol){.kind = rank > MAX_LOOPS ? NOTHING
                                   : several        ? RESULTS
                                                    : VIEW,
                           .id = first,
                           .nviews = several};
}

static bool read_poison(struct host_reader *r, uint32_t op) {
    return set(r, op, new_view(r, result_type(r, op)));
}

static bool insert_into_view(struct host_reader *r, uint32_t op, const struct symbol *x, uint32_t view, int64_t field,
                             int64_t at) {
    struct descriptor *v = &r->views[view];
    if (x->kind == POINTER && field <= ALIGNED && x->id != NONE) {
        v->buffer = field == ALIGNED ? x->id : v->buffer;
        return set(r, op, (struct symbol){.kind = VIEW, .id = view});
    }
    if (!symbol_is_fixed(x) || field < OFFSET || field > STRIDES || at < 0 || at >= MAX_LOOPS)
        return false;
    *(field == OFFSET ? &v->offset : field == SIZES ? &v->sizes[at] : &v->strides[at]) = x->at.base;
    return set(r, op, (struct symbol){.kind = VIEW, .id = view});
}

/* "%38 = llvm.insertvalue %37, %2[3, 1]", "%38 = "llvm.insertvalue"(%2, %37) <{position = array<i64: 3, 1>}>": copies
 * of descriptors, each with one field more. */
static bool read_insert(struct host_reader *r, uint32_t op) {
    struct str position, list = text_until(text_behind(text_of(r, op), "["), "]"), item;
    bool generic = mlir_attr(r->m, op, "position", &position);
    struct symbol x = symbol_of_operand(r, op, generic), into = symbol_of_operand(r, op, !generic);
    int64_t at[2] = {-1, 0};
    int n = generic ? mlir_ints(position, at, 2) : 0;
    for (; !generic && n < 2 && (item = str_item(&list)).n && mlir_int(item, &at[n]);)
        n++;
    if (n < 1 || n > 2 || (!generic && list.n))
        return false;
    uint32_t count = into.kind == RESULTS ? into.nviews : 1, first = r->nviews;
    if (into.kind != RESULTS && into.kind != VIEW)
        return false;
    r->views = grow(r->views, &r->views_cap, r->nviews + count, sizeof *r->views);
    memcpy(r->views + first, r->views + into.id, count * sizeof *r->views);
    r->nviews += count;
    if (into.kind == VIEW)
        return insert_into_view(r, op, &x, first, at[0], at[1]);
    if (x.kind != VIEW || at[0] < 0 || at[0] >= into.nviews)
        return false;
    r->views[first + at[0]] = r->views[x.id];
    return set(r, op, (struct symbol){.kind = RESULTS, .id = first, .nviews = count});
}

bool llvm_read_return(struct host_reader *r, uint32_t op) {
    struct symbol s = symbol_of_operand(r, op, 0);
    uint32_t values[MAX_RESULTS], n = 0;
    if (r->host.nloops || (s.kind != VIEW && s.kind != RESULTS))
        return false;
    for (uint32_t i = 0; i < (s.kind == VIEW ? 1 : s.nviews) && r->views[s.id + i].buffer != NONE; i++) {
        const struct descriptor *v = &r->views[s.id + i];
        uint32_t value = host_view(&r->host, v->buffer, v->offset, v->sizes, v->strides, v->rank);
        if (value == NONE)
            return false;
        values[n++] = value;
    }
    build_return(r->m, values, n);
    return n > 0;
}

/* ---- calls ---- */

/* What the C library computes (MathToLibm of MLIR), of f32 with an f behind the name. */
static const char *of_library(struct str name) {
    static const char *const known[][2] = {{"erf", "ttir.erf"},     {"erfc", "ttir.erfc"},   {"tanh", "ttir.tanh"},
                                           {"tan", "ttir.tan"},     {"atan", "ttir.atan"},   {"sin", "ttir.sin"},
                                           {"cos", "ttir.cos"},     {"exp", "ttir.exp"},     {"expm1", "ttir.expm1"},
                                           {"log", "ttir.log"},     {"log1p", "ttir.log1p"}, {"pow", "ttir.pow"},
                                           {"floor", "ttir.floor"}, {"ceil", "ttir.ceil"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i][0]);
        if (str_is(name, known[i][0]) || (name.n == n + 1 && name.p[n] == 'f' && memcmp(name.p, known[i][0], n) == 0))
            return known[i][1];
    }
    return NULL;
}

static bool read_call(struct host_reader *r, uint32_t op) {
    struct str name = llvm_symbol(llvm_said(r->m, op, "callee", "@", "("));
    const char *ttir = of_library(name);
    if (str_is(name, "malloc") && !r->host.nloops)
        return set(r, op, (struct symbol){.kind = POINTER, .id = host_buffer(&r->host)});
    return str_is(name, "free") || (ttir && read_arithmetic(r, op, ttir));
}

/* ---- ops ---- */

typedef bool op_reader(struct host_reader *r, uint32_t op);

static const struct {
    const char *name;
    op_reader *read;
    const char *ttir; /* arithmetic on elements */
} ops[] = {
    {"llvm.mlir.constant", read_constant, NULL},
    {"llvm.mlir.zero", read_null, NULL},
    {"llvm.mlir.addressof", read_global, NULL},
    {"llvm.mlir.poison", read_poison, NULL},
    {"llvm.mlir.undef", read_poison, NULL},
    {"llvm.getelementptr", read_element, NULL},
    {"llvm.ptrtoint", read_address, NULL},
    {"llvm.inttoptr", read_pointer, NULL},
    {"llvm.add", read_whole, "ttir.add"},
    {"llvm.sub", read_whole, "ttir.subtract"},
    {"llvm.mul", read_whole, "ttir.multiply"},
    {"llvm.urem", read_whole, NULL},
    {"llvm.call", read_call, NULL},
    {"llvm.intr.memcpy", read_copy, NULL},
    {"llvm.load", read_load, NULL},
    {"llvm.store", read_store, NULL},
    {"llvm.insertvalue", read_insert, NULL},
    {"llvm.sext", read_cast, NULL},
    {"llvm.zext", read_cast, NULL},
    {"llvm.trunc", read_cast, NULL},
    {"llvm.fpext", read_cast, NULL},
    {"llvm.fptrunc", read_cast, NULL},
    {"llvm.sitofp", read_cast, NULL},
    {"llvm.uitofp", read_cast, NULL},
    {"llvm.icmp", read_comparison, NULL},
    {"llvm.fcmp", read_comparison, NULL},
    {"llvm.select", read_select, NULL},
    {"llvm.and", read_logic, NULL},
    {"llvm.or", read_logic, NULL},
    {"llvm.xor", read_logic, NULL},
    {"llvm.fptosi", read_cast, NULL},
    {"llvm.fadd", NULL, "ttir.add"},
    {"llvm.fsub", NULL, "ttir.subtract"},
    {"llvm.fmul", NULL, "ttir.multiply"},
    {"llvm.fdiv", NULL, "ttir.div"},
    {"llvm.fneg", NULL, "ttir.neg"},
    {"llvm.intr.sqrt", NULL, "ttir.sqrt"},
    {"llvm.intr.exp", NULL, "ttir.exp"},
    {"llvm.intr.log", NULL, "ttir.log"},
    {"llvm.intr.sin", NULL, "ttir.sin"},
    {"llvm.intr.cos", NULL, "ttir.cos"},
    {"llvm.intr.tanh", NULL, "ttir.tanh"},
    {"llvm.intr.fabs", NULL, "ttir.abs"},
    {"llvm.intr.floor", NULL, "ttir.floor"},
    {"llvm.intr.ceil", NULL, "ttir.ceil"},
    {"llvm.intr.pow", NULL, "ttir.pow"},
    {"llvm.intr.smax", NULL, "ttir.maximum"},
    {"llvm.intr.smin", NULL, "ttir.minimum"},
    {"llvm.intr.maximum", NULL, "ttir.maximum"},
    {"llvm.intr.maxnum", NULL, "ttir.maximum"},
    {"llvm.intr.minimum", NULL, "ttir.minimum"},
    {"llvm.intr.minnum", NULL, "ttir.minimum"},
};

bool llvm_read_op(struct host_reader *r, uint32_t op) {
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (llvm_is(r, op, ops[i].name))
            return (ops[i].read && ops[i].read(r, op)) || (ops[i].ttir && read_arithmetic(r, op, ops[i].ttir));
    return false;
}
