/* Which finding is which: fingerprints as text and of structures, and two lists of them paired. */
#include <criterion/criterion.h>
#include <string.h>

#include "ir_text.h"
#include "report/compare/compare.h"
#include "report/compare/diff.h"

/* ---- text ---- */

Test(compare, a_fingerprint_is_read_as_it_was_written) {
    static const struct fingerprint all[] = {{0x5f0c2b9d03a1e7c4, 0x1a2b3c4d, 3, 24},
                                             {0, 0, 0, 1},
                                             {~UINT64_C(0), ~UINT32_C(0), ~UINT32_C(0), ~UINT32_C(0)}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[FINGERPRINT_TEXT];
        struct fingerprint again;
        cr_assert(fingerprint_read(str_of(fingerprint_text(&all[i], text)), &again), "%s", text);
        cr_assert(again.structure == all[i].structure && again.place == all[i].place && again.rank == all[i].rank &&
                      again.count == all[i].count,
                  "%s", text);
    }
}

Test(compare, what_is_no_fingerprint_is_refused) {
    static const char *const texts[] = {"",
                                        "5f0c2b9d03a1e7c4",
                                        "5f0c2b9d03a1e7c4.1a2b3c4d.3",
                                        "5f0c2b9d03a1e7c4.1a2b3c4d.3.24 ",
                                        "5f0c2b9d03a1e7c4.1a2b3c4d.3.24.1",
                                        "5F0C2B9D03A1E7C4.1a2b3c4d.3.24",
                                        "5f0c2b9d03a1e7c4.1a2b3c4d.03.24",
                                        "5f0c2b9d03a1e7c4.1a2b3c4d.-3.24",
                                        "5f0c2b9d03a1e7c4.1a2b3c4d.3.99999999999",
                                        "x f0c2b9d03a1e7c4.1a2b3c4d.3.24"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fingerprint f;
        cr_assert_not(fingerprint_read(str_of(texts[i]), &f), "%s", texts[i]);
    }
}

/* ---- structure ---- */

static uint64_t structure(const char *args, const char *body) {
    struct ir ir;
    uint32_t ops[16];
    ir_short(&ir, args, body);
    cr_assert_leq(ir.m.nops, 16);
    for (uint32_t op = 0; op < ir.m.nops; op++)
        ops[op] = op;
    uint64_t h = structure_hash(&ir.g, STR("any"), ops, ir.m.nops, &ir.arena);
    ir_free(&ir);
    return h;
}

Test(compare, a_structure_is_that_of_its_ops_and_their_shapes) {
    static const char args[] = "x:4x8 w:8x8 b:8", body[] = "p = matmul x w\no = add p b";
    static const struct {
        const char *args, *body;
        bool same;
    } others[] = {{"a:4x8 c:8x8 d:8", "q = matmul a c\nr = add q d", true},    /* renumbered */
                  {"b:8 w:8x8 x:4x8", "p = matmul x w\no = add p b", true},    /* arguments in another order */
                  {args, "p = matmul x w\no = add b p", true},                 /* add commutes */
                  {args, "p = matmul x w\no = subtract p b", false},           /* another op */
                  {"x:4x8 w:8x8 b:4x8", "p = matmul x w\no = add p b", false}, /* another shape */
                  {"x:4x8 w:8x8 b:8", "p = matmul x w {transpose_b=true}\no = add p b", false}, /* another attribute */
                  {args, "p = matmul x w\no = add p p", false}};                                /* fed in another way */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_assert_eq(structure(args, body) == structure(others[i].args, others[i].body), others[i].same, "%s",
                     others[i].body);
}

/* ---- pairs ---- */

enum { A = 1, B };

static struct fingerprint at(uint64_t structure, uint32_t place, uint32_t rank, uint32_t count) {
    return (struct fingerprint){structure, place, rank, count};
}

/* `want`: for each of `now` the index before, or '-'. */
static void pairs(const struct fingerprint *before, uint32_t nbefore, const struct fingerprint *now, const char *want) {
    uint32_t n = (uint32_t)strlen(want);
    uint32_t *of = fingerprints_pair((struct fingerprints){before, nbefore, sizeof *before},
                                     (struct fingerprints){now, n, sizeof *now});
    for (uint32_t i = 0; i < n; i++)
        cr_assert_eq(of[i], want[i] == '-' ? NONE : (uint32_t)(want[i] - '0'), "%s, %u: %u", want, i, of[i]);
    free(of);
}

Test(compare, equal_ones_are_paired_in_any_order) {
    struct fingerprint before[] = {at(A, 0, 1, 2), at(A, 0, 2, 2), at(B, 7, 1, 1)};
    struct fingerprint now[] = {at(B, 7, 1, 1), at(A, 0, 2, 2), at(A, 0, 1, 2)};
    pairs(before, 3, now, "210");
    pairs(before, 0, now, "---");
    pairs(before, 3, now, "");
}

/* A fusion lost in the first of two layers and one gained in the second are two changes. */
Test(compare, a_gain_and_a_loss_in_equal_layers_do_not_cancel) {
    struct fingerprint before[] = {at(A, 0, 1, 2)}, now[] = {at(A, 0, 2, 2)};
    pairs(before, 1, now, "-");
}

Test(compare, an_inserted_layer_shifts_those_behind_it) {
    struct fingerprint before[] = {at(A, 0, 1, 2), at(A, 0, 2, 2)};
    struct fingerprint now[] = {at(A, 0, 1, 3), at(A, 0, 2, 3), at(A, 0, 3, 3)};
    pairs(before, 2, now, "01-");
    pairs(now, 3, before, "01"); /* and one that was removed */
}

Test(compare, a_named_place_counts_more_than_a_rank) {
    struct fingerprint before[] = {at(A, 5, 1, 2), at(A, 6, 2, 2)}, now[] = {at(A, 6, 1, 2), at(A, 5, 2, 2)};
    pairs(before, 2, now, "10");
}

Test(compare, each_is_taken_once) {
    struct fingerprint before[] = {at(A, 5, 1, 9)}, now[] = {at(A, 5, 2, 9), at(A, 5, 1, 9)};
    pairs(before, 1, now, "-0");
    struct fingerprint other[] = {at(B, 5, 1, 9)};
    pairs(before, 1, other, "-");
}

/* ---- findings of two compiles ---- */

/* Of one op at one place, each in ops of its own. */
static struct finding missed_at_place(uint64_t structure, double saved_us) {
    return (struct finding){
        .fused_op = STR("ttnn.linear"), .fingerprint = at(structure, 7, 1, 1), .saved_us = saved_us};
}

/* The same op at one place in other ops is one of those before, unless it costs more. */
Test(compare, what_is_missed_in_other_ops_has_changed) {
    struct finding five = missed_at_place(1, 5), four = missed_at_place(2, 4), six = missed_at_place(3, 6);
    struct finding *items[] = {&five, &four, &six};
    for (uint32_t dearer = 0; dearer <= 1; dearer++) {
        struct finding_list before = {.items = items, .n = 1}, now = {.items = items + 1 + dearer, .n = 1};
        struct findings_compared c = findings_compare(&before, &now);
        cr_expect_eq(c.counts[FINDING_CHANGED], 1 - dearer);
        cr_expect_eq(c.counts[FINDING_NEW], dearer);
        cr_expect_eq(c.counts[FINDING_GONE], dearer);
        findings_compared_free(&c);
    }
}
