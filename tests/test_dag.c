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

/* A value that is parted again leaves no trace in what it represented, and what else that represents stays. */
Test(dag, parted) {
    build("x:8x32", "a = exp x; b = abs x", "e = exp x; j = foo.host x");
    uint32_t a = value(BEFORE, "%a"), b = value(BEFORE, "%b"), parted = value(AFTER, "%j");
    struct dag_value was = d.values[parted];
    merge("%e", "%a", CONDITIONAL);
    merge("%j", "%a", PROVED);
    dag_part(&d, parted, &was);
    cr_assert_eq(d.values[parted].rep, NONE);
    cr_assert_eq(d.values[a].merged, CONDITIONAL);
    merge("%j", "%b", PROVED);
    dag_part(&d, parted, &was);
    cr_assert_eq(d.values[b].merged, NOT_MERGED);
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
