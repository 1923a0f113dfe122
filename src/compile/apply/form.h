/* The fused form of a match as ops of TTIR: the walk of proof/numeric/formula_value.c over texts in place of tensors.
 */
#ifndef FA_APPLY_FORM_H
#define FA_APPLY_FORM_H

#include "compile/apply/emit.h"
#include "proof/prove/reading.h"

/* A number that an argument of the module is taken to hold. */
struct taken_number {
    uint32_t argument; /* its value */
    double number;
};

enum { MAX_TAKEN = 16, MAX_READS = 64 };

struct form_request {
    const struct reading *reading;
    struct emitter *emitter;
    /* --value: the number of a name of the formula or of an argument; false: there is none. */
    bool (*number)(const void *self, struct str formula_name, struct str argument, double *out);
    const void *self;
    double stand_in; /* of a number that has to be known, and that nothing tells; NAN: the form fails there */
    /* out: */
    bool unknown[MAX_SLOTS];              /* names of the form whose numbers it is */
    struct taken_number taken[MAX_TAKEN]; /* arguments whose numbers went into the text */
    uint32_t ntaken;
    struct {
        struct str name;
        uint32_t value;
    } reads[MAX_READS]; /* values of the module that ops may take, by how they are printed */
    uint32_t nreads;
    struct {
        struct written written; /* in the type of the value */
        uint32_t value;         /* of the module, which it replaces */
    } results[MAX_OUTPUTS];     /* the first one is the root's */
    uint32_t nresults;
};

/* Writes the ops. False with a reason in the emitter's context. */
bool write_form(struct form_request *q);

#endif
