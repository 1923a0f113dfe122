/* What an op prints is that of IR in short (library/shorthand_op.h), which the operator table says. */
#include "apply/emit.h"

#include <math.h>
#include <stdio.h>

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

struct str ttir_spelling(enum op_kind k, const char *end) {
    for (struct str rest = str_of(op_table[k].spellings); rest.n;) {
        struct str one = str_part(&rest, ' ');
        if (str_starts(one, STR("ttir.")) && str_ends(one, str_of(end)))
            return one;
    }
    return STR("");
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
    s->spelling = o->spelling.n ? o->spelling : ttir_spelling(o->kind, "");
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

static void infer_result(struct emitter *e, const struct written_op *o, struct short_op *s) {
    struct short_shape t = {.known = false};
    if (o->shape) {
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
        if (str_eq(e->lines[i]->results, name))
            return e->lines[i];
    return NULL;
}

struct written emit(struct emitter *e, const struct written_op *o) {
    struct short_op *s = short_of(e, o);
    if (!o->operands && o->element == DT_NONE)
        op_fails(e->eval, "the element type of %s is not known", op_table[o->kind].name);
    infer_result(e, o, s);
    s->results = arena_printf(e->eval->arena, "%.*s%u", (int)e->prefix.n, e->prefix.p, (*e->next)++);
    if (e->nlines == MAX_LINES)
        op_fails(e->eval, "the fused form takes too many ops");
    e->lines[e->nlines++] = s;
    struct short_shape t = short_shape_of(s->types[0]);
    struct written v = {.name = s->results,
                        .type = s->types[0],
                        .shape = {.rank = t.rank},
                        .element = o->element ? o->element : o->operands[o->kind == K_WHERE].element,
                        .factor = 1};
    memcpy(v.shape.dim, t.dims, t.rank * sizeof *t.dims);
    v.stored = v.shape;
    return v;
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
