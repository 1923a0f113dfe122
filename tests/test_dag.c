/* The graph of both modules that verify compares, and the cones in it. */
#include "compile/verify/cone.h"
#include "ir_text.h"

#include <criterion/criterion.h>

static struct ir ir[SIDES];
static struct dag d;

static void teardown(void) {
    dag_free(&d);
    ir_free(&ir[BEFORE]);
    ir_free(&ir[AFTER]);
}

TestSuite(dag, .fini = teardown, .timeout = 60);

static void build(const char *args, const char *before, const char *after) {
    ir_short(&ir[BEFORE], args, before);
    ir_short(&ir[AFTER], args, after);
    dag_build(&d, &ir[BEFORE].g, ir_func(&ir[BEFORE], "main"), &ir[AFTER].g, ir_func(&ir[AFTER], "main"));
}

/* What a name of a side stands for. */
static uint32_t value(int side, const char *name) {
    return d.side[side].of[ir_value(&ir[side], name)];
}

static void merge(const char *after, const char *before, enum merge how) {
    dag_merge(&d, value(AFTER, after), value(BEFORE, before), (struct movement){.rank = 0}, how);
}

/* What joins values and is parted again leaves no trace in these, and what else they represent stays. */
Test(dag, parted) {
    build("x:8x32", "a = exp x; b = abs x; c = neg x", "e = exp x; j = foo.host x -> 16x32");
    uint32_t a = value(BEFORE, "%a"), b = value(BEFORE, "%b"), joined = value(AFTER, "%j");
    struct dag_value was = d.values[joined];
    merge("%e", "%a", CONDITIONAL);
    dag_join(&d, joined, &(struct dag_join){.parts = {a, b}, .n = 2});
    cr_assert_eq(d.values[b].merged, PROVED);
    dag_part(&d, joined, &was);
    cr_assert_eq(d.values[joined].join, NONE);
    cr_assert_eq(d.values[a].merged, CONDITIONAL);
    cr_assert_eq(d.values[b].merged, NOT_MERGED);
    merge("%j", "%b", PROVED);
    dag_part(&d, joined, &was);
    cr_assert_eq(d.values[b].merged, NOT_MERGED);
}

/* Parts of what AFTER joins are inputs of its side, and of that of BEFORE where that takes them as well. */
Test(dag, joined_inputs) {
    build("x:8x32", "a = exp x; b = abs x; r = concat a b {dim = 0} -> 16x32", "j = foo.host x -> 16x32; r = neg j");
    dag_join(&d, value(AFTER, "%j"), &(struct dag_join){.parts = {value(BEFORE, "%a"), value(BEFORE, "%b")}, .n = 2});
    struct cone_pair c = {.result = {value(BEFORE, "%a"), value(AFTER, "%r")}};
    cr_assert(cone_build(&c, &d, PROVED), "%s", c.why.text.p);
    cr_assert_eq(c.ninputs, 2); /* %x of %a, which is compared; %b */
    for (uint32_t i = 0; i < c.ninputs; i++)
        cr_assert_eq(c.used[i], c.inputs[i] == value(BEFORE, "%b") ? 1 << AFTER : 1 << BEFORE | 1 << AFTER);
    cr_assert_eq(c.nnodes, 2);
    c = (struct cone_pair){.result = {value(BEFORE, "%r"), value(AFTER, "%r")}};
    cr_assert(cone_build(&c, &d, PROVED), "%s", c.why.text.p);
    cr_assert_eq(c.ninputs, 2);
    cr_assert_not(cone_has_foreign_input(&c, &d));
}

/* A constant that is cast to fewer digits is another value, which only what is cast likewise is. */
Test(dag, rounded_constants) {
    const char *ops =
        "c = full {fill_value = 0.3 : f32, shape = array<i32: 8, 32>} -> 8x32; h = typecast c -> 8x32xbf16; "
        "f = typecast h -> 8x32; a = multiply x c; b = multiply x f";
    build("x:8x32", ops, ops);
    for (int side = 0; side < SIDES; side++) {
        cr_assert_eq(value(side, "%f"), value(side, "%h"));
        cr_assert_neq(value(side, "%c"), value(side, "%h"));
        cr_assert_neq(value(side, "%a"), value(side, "%b"));
    }
    for (uint32_t node = d.side[AFTER].first_node; node < d.side[AFTER].end_node; node++)
        cr_assert(dag_merge_twin(&d, node));
    static const char *const names[] = {"%c", "%h", "%a", "%b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cr_assert_eq(d.values[value(AFTER, names[i])].rep, value(BEFORE, names[i]), "%s", names[i]);
}
