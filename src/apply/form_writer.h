/* The walk over a form. Private to form.c and composite.c. */
#ifndef FA_FORM_WRITER_H
#define FA_FORM_WRITER_H

#include "apply/form.h"
#include "numeric/formula_run.h"

struct form_writer {
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

struct written write_node(struct form_writer *w, const struct node *n);
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
