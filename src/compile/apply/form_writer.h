/* The walk over a form. Private to the files that write forms, from the bottom up: form_writer.c (what is written, to
 * whom asks for tensors), composite.c (lowerings), form_ops.c (ops), form.c (names and results). */
#ifndef FA_FORM_WRITER_H
#define FA_FORM_WRITER_H

#include "compile/apply/form.h"
#include "proof/numeric/formula_run.h"
#include "proof/prove/proof.h"

struct form_writer {
    /* A node. A pointer, since ops ask for their operands. */
    struct written (*write)(struct form_writer *w, const struct node *n);
    struct form_request *request;
    struct emitter *e;
    struct form_run run;
    struct formula_context context;
    struct formula_run names;
    struct written values[MAX_SLOTS]; /* by name of the form, as far as they are written */
    bool known[MAX_SLOTS];
    enum dtype element; /* in which the ops compute */
};

static const struct written absent = {.element = DT_OTHER};
static inline bool is_absent(const struct written *v) {
    return v->element == DT_OTHER;
}

static inline const struct graph *graph_of(const struct form_writer *w) {
    return reference_graph(w->run.ref);
}
static inline const char *name_text(struct form_writer *w, struct str s) {
    return arena_strdup(w->e->eval->arena, s);
}

/* Of an op in the form, whose operands are nodes. */
struct written write_op(struct form_writer *w, const struct node *n);
/* With what is pending. */
struct shape logical_shape(const struct written *v);
/* What a name of a formula is, to whom asks for extents and numbers. */
const struct tensor *stand_in(struct form_writer *w, const struct written *v);
/* For formula_run.evaluate: a line of the form that a number asks for. */
const struct tensor *evaluate_stand_in(struct formula_run *r, const struct node *n);
/* What the op computes, in its place. False: that is not known. */
bool write_lowering(struct form_writer *w, const struct node *n, const struct written *v, uint32_t nv,
                    struct written *out);
/* Makes the op a ttcore.composite, and writes the function that it is decomposed to: what the op computes, by its
 * lowering. */
void add_composite(struct form_writer *w, struct written_op *o);

#endif
