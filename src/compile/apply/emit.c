/* What an op prints is that of IR in short (patterns/library/shorthand_op.h), which the operator table says. */
#include "compile/apply/emit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/ops/infer.h"

struct written written_number(double x) {
    return (struct written){.number = x, .factor = 1, .element = DT_NONE};
}

/* ---- texts ---- */

struct str list_text(struct arena *a, const int64_t *list, uint32_t n) {
    struct buf b = {0};
    buf_addc(&b, '[');
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&b, "%s%lld", i ? ", " : "", (long long)list[i]);
    buf_addc(&b, ']');
    return buf_take(&b, a);
}

/* The shortest text that reads back as the same f32. */
struct str float_property(struct arena *a, double x) {
    char text[40];
    float f = (float)x;
    if (isinf(f))
        return f > 0 ? STR("0x7F800000") : STR("0xFF800000");
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*e", digits, (double)f);
        if (strtof(text, NULL) == f)
            break;
    }
    return arena_str(a, str_of(text));
}

static struct str tensor_type(struct emitter *e, const struct shape *s, enum dtype element) {
    struct short_shape t = {.rank = s->rank, .known = true};
    if (!dtype_table[element].spelling)
        op_fails(e->eval, "a tensor of %s cannot be written", dtype_table[element].name);
    t.element = str_of(dtype_table[element].spelling);
    memcpy(t.dims, s->dim, s->rank * sizeof *s->dim);
    return short_shape_type(e->eval->arena, &t);
}

void add_key(struct written_op *o, const char *key, struct str value) {
    if (o->nattrs < SHORT_ATTRS) {
        o->keys[o->nattrs] = str_of(key);
        o->values[o->nattrs++] = value;
    }
}

/* ---- an op ---- */

/* The op in short; absent operands are left out. */
static struct short_op *short_of(struct emitter *e, const struct written_op *o) {
    struct short_op *s = arena_alloc(e->eval->arena, sizeof *s);
    s->kind = o->kind;
    s->spelling = o->spelling.n ? o->spelling : op_spelling(o->kind, "ttir.", "");
    s->word = s->spelling;
    if (!s->spelling.n)
        op_fails(e->eval, "TTIR has no op %s", op_table[o->kind].name);
    for (uint32_t i = 0; i < o->noperands; i++) {
        if (!o->operands[i].name.n)
            continue;
        s->operands[s->noperands] = o->operands[i].name;
        s->operand_types[s->noperands++] = o->operands[i].type;
    }
    s->nattrs = o->nattrs;
    memcpy(s->keys, o->keys, o->nattrs * sizeof *o->keys);
    memcpy(s->values, o->values, o->nattrs * sizeof *o->values);
    return s;
}

static void infer_type(struct emitter *e, const struct written_op *o, struct short_op *s) {
    struct short_shape t = {.known = false};
    if (o->shape && o->noperands && s->noperands && (!o->element || o->element == o->operands[0].element)) {
        t = short_shape_of(o->operands[0].type); /* i32 or si32, as it is there */
        t.rank = o->shape->rank;
        memcpy(t.dims, o->shape->dim, t.rank * sizeof *t.dims);
        s->types[0] = short_shape_type(e->eval->arena, &t);
    } else if (o->shape) {
        s->types[0] = tensor_type(e, o->shape, o->element ? o->element : o->operands[0].element);
    } else {
        struct short_fault fault = short_infer(e->eval->arena, s, &s->types[0]);
        if (fault.what)
            op_fails(e->eval, "%.*s: %s", (int)s->spelling.n, s->spelling.p, fault.what);
        t = short_shape_of(s->types[0]);
    }
    s->ntypes = 1;
    if (o->element && !o->shape) {
        t.element = str_of(dtype_table[o->element].spelling);
        s->types[0] = short_shape_type(e->eval->arena, &t);
    }
}

const struct short_op *emitted(const struct emitter *e, struct str name) {
    for (uint32_t i = 0; i < e->nlines; i++)
        for (struct str rest = e->lines[i]->results, one; next_result(&rest, &one);)
            if (str_eq(one, name))
                return e->lines[i];
    return NULL;
}

static void add_line(struct emitter *e, struct short_op *s) {
    struct buf names = {0};
    for (uint32_t i = 0; i < s->ntypes; i++)
        buf_printf(&names, s->ntypes > 1 ? "%s%.*s%u_%u" : "%s%.*s%u", i ? ", " : "", (int)e->prefix.n, e->prefix.p,
                   *e->next, i);
    ++*e->next;
    s->results = buf_take(&names, e->eval->arena);
    if (e->nlines == MAX_LINES)
        op_fails(e->eval, "the fused form takes too many ops");
    e->lines[e->nlines++] = s;
}

/* As `v`, with the name and the type of a result. */
static struct written result_of(const struct short_op *s, uint32_t number, struct written v) {
    struct short_shape t = short_shape_of(s->types[number]);
    struct str rest = s->results;
    for (uint32_t i = 0; i <= number; i++)
        next_result(&rest, &v.name);
    v.type = s->types[number];
    v.shape = (struct shape){.rank = t.rank};
    memcpy(v.shape.dim, t.dims, t.rank * sizeof *t.dims);
    v.stored = v.shape;
    v.factor = 1;
    v.swapped = false;
    return v;
}

struct written emitted_result(const struct emitter *e, const struct written *v, uint32_t number) {
    const struct short_op *s = emitted(e, v->name);
    if (!s || number >= s->ntypes)
        op_fails(e->eval, "the op has not so many results");
    struct written out = result_of(s, number, *v);
    out.element = mlir_dtype(NULL, short_shape_of(out.type).element);
    return out;
}

struct written emit(struct emitter *e, const struct written_op *o) {
    struct short_op *s = short_of(e, o);
    if (!o->operands && o->element == DT_NONE)
        op_fails(e->eval, "the element type of %s is not known", op_table[o->kind].name);
    infer_type(e, o, s);
    add_line(e, s);
    return result_of(
        s, 0, (struct written){.element = o->element ? o->element : o->operands[op_is(o->kind, SELECTS)].element});
}

struct written emit_fused(struct emitter *e, struct written_op *o, struct str second) {
    struct short_op *s = short_of(e, o);
    struct attrs attributes = short_attributes(e->eval->arena, s);
    struct shape shapes[MOST_INFERRED];
    bool second_there = o->noperands > 1 && o->operands[1].name.n;
    const struct shape *operands[] = {&o->operands[0].shape, second_there ? &o->operands[1].shape : NULL};
    uint32_t n = infer_results(o->kind, &attributes, operands, 2, shapes);
    if (n == 0)
        shapes[n++] = o->operands[0].shape;
    for (s->ntypes = 0; s->ntypes < n; s->ntypes++) {
        struct short_shape t = short_shape_of(tensor_type(e, &shapes[s->ntypes], o->operands[0].element));
        t.element = s->ntypes && second.n ? second : t.element;
        s->types[s->ntypes] = short_shape_type(e->eval->arena, &t);
    }
    add_line(e, s);
    return result_of(s, 0, o->operands[0]);
}

/* ---- movement ---- */

static struct written emit_one(struct emitter *e, struct written_op o, const struct written *v) {
    o.operands = v;
    o.noperands = v != NULL;
    return emit(e, &o);
}

struct written emit_full(struct emitter *e, double number, const struct shape *s, enum dtype element) {
    struct written_op o = {.kind = K_FULL, .shape = s, .element = element};
    bool whole = format_is_integer(element);
    add_key(&o, "fill_value",
            whole ? arena_printf(e->eval->arena, "%lld : i32", (long long)number)
                  : float_property(e->eval->arena, number));
    return emit_one(e, o, NULL);
}

struct written emit_reshape(struct emitter *e, struct written v, const struct shape *s) {
    if (shape_count(&v.shape) != shape_count(s))
        op_fails(e->eval, "%s cannot become %s", shape_text(e->eval->arena, &v.shape).p,
                 shape_text(e->eval->arena, s).p);
    v.shape = *s;
    return v;
}

/* What is pending of its shape. */
static struct written reshaped(struct emitter *e, struct written v) {
    const struct short_op *s = is_reshaped(&v) ? emitted(e, v.name) : NULL;
    while (s && s->kind == K_RESHAPE) { /* of a reshape: of what that is made of */
        struct short_shape t = short_shape_of(s->operand_types[0]);
        v.name = s->operands[0];
        v.type = s->operand_types[0];
        v.stored = (struct shape){.rank = t.rank};
        memcpy(v.stored.dim, t.dims, t.rank * sizeof *t.dims);
        s = emitted(e, v.name);
    }
    if (!is_reshaped(&v))
        return v;
    struct written x = emit_one(e, (struct written_op){.kind = K_RESHAPE, .shape = &v.shape}, &v);
    x.factor = v.factor;
    x.swapped = v.swapped;
    return x;
}

struct written emit_permute(struct emitter *e, struct written v, const uint32_t *order) {
    int64_t list[MAX_RANK] = {0};
    bool moves = false;
    for (uint32_t d = 0; d < v.shape.rank; d++) {
        list[d] = order[d];
        moves |= order[d] != d;
    }
    if (!moves)
        return v;
    struct written_op o = {.kind = K_PERMUTE};
    v = reshaped(e, v);
    add_key(&o, "permutation", list_text(e->eval->arena, list, v.shape.rank));
    return emit_one(e, o, &v);
}

struct written emit_broadcast(struct emitter *e, struct written v, const struct shape *s) {
    if (shape_eq(&v.shape, s))
        return v;
    v = reshaped(e, v);
    return emit_one(e, (struct written_op){.kind = K_BROADCAST, .shape = s}, &v);
}

struct written emit_slice(struct emitter *e, struct written v, const int64_t *begin, const int64_t *end,
                          const int64_t *step) {
    struct written_op o = {.kind = K_SLICE};
    v = reshaped(e, v);
    struct arena *a = e->eval->arena;
    add_key(&o, "begins", list_text(a, begin, v.shape.rank));
    add_key(&o, "ends", list_text(a, end, v.shape.rank));
    add_key(&o, "step", list_text(a, step, v.shape.rank));
    return emit_one(e, o, &v);
}

struct written emit_cast(struct emitter *e, struct written v, enum dtype element) {
    if (v.element == element || !format_is_float(v.element) || !format_is_float(element))
        return v;
    struct written cast =
        emit_one(e, (struct written_op){.kind = K_TYPECAST, .shape = &v.stored, .element = element}, &v);
    cast.shape = v.shape;
    cast.factor = v.factor;
    cast.swapped = v.swapped;
    return cast;
}

struct written emit_plain(struct emitter *e, struct written v, enum dtype element) {
    if (is_number(&v))
        return emit_full(e, v.number, &(struct shape){1, {1}}, element);
    v = reshaped(e, v);
    if (v.swapped) {
        uint32_t order[MAX_RANK], rank = v.shape.rank;
        for (uint32_t d = 0; d < rank; d++)
            order[d] = d + 2 < rank ? d : 2 * rank - 3 - d;
        double factor = v.factor;
        v = emit_permute(e, v, order);
        v.factor = factor;
    }
    if (v.factor != 1) {
        struct written two[2] = {v, emit_full(e, v.factor, &(struct shape){1, {1}}, v.element)};
        v = emit(e, &(struct written_op){.kind = K_MULTIPLY, .operands = two, .noperands = 2});
    }
    return v;
}
