#include "compile/apply/form_writer.h"

struct shape logical_shape(const struct written *v) {
    struct shape s = v->shape;
    if (v->swapped) {
        s.dim[s.rank - 1] = v->shape.dim[s.rank - 2];
        s.dim[s.rank - 2] = v->shape.dim[s.rank - 1];
    }
    return s;
}

const struct tensor *stand_in(struct form_writer *w, const struct written *v) {
    if (is_number(v))
        return tensor_scalar(w->e->eval, v->number);
    struct tensor *t = arena_alloc(w->e->eval->arena, sizeof *t);
    *t = (struct tensor){.shape = logical_shape(v), .n = shape_count(&v->shape)};
    return t;
}

/* For formula_run.evaluate: a line of the form that a number asks for. */
const struct tensor *evaluate_stand_in(struct formula_run *r, const struct node *n) {
    struct form_writer *w = (struct form_writer *)((char *)r - offsetof(struct form_writer, names));
    struct written v = w->write(w, n);
    return stand_in(w, &v);
}
