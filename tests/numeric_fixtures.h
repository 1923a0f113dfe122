/* Ops with operands and results from fixtures/numeric, as NumPy computed them (numeric_reference.py). */
#ifndef FA_TEST_NUMERIC_FIXTURES_H
#define FA_TEST_NUMERIC_FIXTURES_H

#include <json-c/json.h>

#include "ir_text.h"
#include "proof/numeric/interpret_graph.h"

struct fixture_file {
    json_object *all;
    size_t at, n;
};

/* One op in a function of its own. */
struct fixture_op {
    struct ir ir; /* free it */
    char label[512];
    uint32_t op, ngiven, nresults;
    struct given given[8];
    const struct tensor *want[MAX_RESULTS];
};

void fixture_open(struct fixture_file *f, const char *name);
void fixture_close(struct fixture_file *f);
/* Tensors are made in the context. False at the end. */
bool fixture_next(struct fixture_file *f, struct eval_context *b, struct fixture_op *out);

/* Of a file that holds something else than ops: its entries, a member, a tensor. */
json_object *fixture_entry(struct fixture_file *f);
const struct tensor *fixture_tensor(struct eval_context *b, json_object *entry, const char *key);
double fixture_number(json_object *entry, const char *key);

#endif
