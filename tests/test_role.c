/* Roles of matches: each role is found in the dataflow of a layer, and none where more than one is possible. */
#include "ir_text.h"
#include "report/place/locate.h"
#include "report/place/role.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;
static struct ir ir;
static struct flow *flow;
static struct pattern pattern;
static struct pattern_set set;

static void forget(void) {
    flow_free(flow);
    flow = NULL;
    if (ir.text)
        ir_free(&ir);
    ir.text = NULL;
}

static void setup(void) {
    struct diags diags = {.arena = &arena};
    cr_assert(patterns_load(&set, arena_printf(&arena, "%s/locations.yml", getenv("FA_PATTERNS")).p, &diags), "%s",
              diags.n ? diags.items[0].message : "");
    diags_free(&diags);
}

static void teardown(void) {
    forget();
    patterns_free(&set);
    arena_free(&arena);
}

TestSuite(role, .init = setup, .fini = teardown, .timeout = 30);

static void build(const char *args, const char *ops) {
    forget();
    ir_short(&ir, args, ops);
    flow = flow_new(&ir.g);
}

/* A match of the ops that make these results, in textual order; the last one is its root. */
static struct match match_of(const char *results) {
    uint32_t *ops = arena_alloc(&arena, 16 * sizeof *ops), n = 0;
    char name[32];
    for (int used; sscanf(results, "%31s%n", name, &used) == 1; results += used) {
        cr_assert_lt(n, 16);
        ops[n++] = ir_op(&ir, name);
    }
    return (struct match){.pattern = &pattern, .graph = &ir.g, .ops = ops, .root = ops[n - 1], .nops = n};
}

static void is(const char *results, const char *want) {
    struct match m = match_of(results);
    struct role r = role_of(flow, &m, &arena);
    cr_assert(str_is(r.text, want), "%s is '%.*s', not '%s', in\n%s", results, (int)r.text.n, r.text.p ? r.text.p : "",
              want, ir.text);
}

static void is_at(const char *results, const char *want) {
    struct match m = match_of(results);
    struct match_detail none = {.slots = NULL};
    struct str_list names;
    struct str place = locate_match(&set, flow, &m, &none, &names, &arena);
    cr_assert(str_is(place, want), "%s is at '%.*s', not '%s', in\n%s", results, (int)place.n, place.p ? place.p : "",
              want, ir.text);
}

/* ---- parts of a layer ---- */

#define W         "!parameter!layers.3."
#define ATTENTION "wq:8x8" W "attn.q.weight wk:8x8" W "attn.k.weight wv:8x8" W "attn.v.weight wo:8x8" W "attn.o.weight "
#define MLP       "w1:8x16" W "mlp.up.weight w2:16x8" W "mlp.down.weight wg:8x16" W "mlp.gate.weight "
#define NORMS     "g1:8" W "norm1.weight g2:8" W "norm2.weight gf:8!parameter!norm.weight wl:8x32!parameter!lm_head.weight "
#define X         "x:1x6x8!input!hidden "
#define LAYER     X ATTENTION MLP NORMS

#define NORM_1                  "n = ttnn.rms_norm x g1 -> 1x6x8\n"
#define PROJECT                 "a = ttnn.matmul n wq -> 1x6x8; b = ttnn.matmul n wk -> 1x6x8; c = ttnn.matmul n wv -> 1x6x8\n"
#define HEADS(q)                q "4 = ttnn.reshape " q " {shape = [1 : i32, 6 : i32, 2 : i32, 4 : i32]} -> 1x6x2x4\n"
#define TURN(to, q, dims, type) to " = ttnn.permute " q "4 {permutation = array<i64: " dims ">} -> " type "\n"
#define SPLIT                                                                                                          \
    HEADS("a")                                                                                                         \
    HEADS("b")                                                                                                         \
    HEADS("c")                                                                                                         \
    TURN("q", "a", "0, 2, 1, 3", "1x2x6x4")                                                                            \
    TURN("k", "b", "0, 2, 3, 1", "1x2x4x6") TURN("v", "c", "0, 2, 1, 3", "1x2x6x4")
#define SCORES "s = ttnn.matmul q k -> 1x2x6x6\n"
#define CORE   SCORES "p = ttnn.softmax s {dimension = 3 : si32} -> 1x2x6x6; o = ttnn.matmul p v -> 1x2x6x4\n"
#define MERGE                                                                                                          \
    "t = ttnn.permute o {permutation = array<i64: 0, 2, 1, 3>} -> 1x6x2x4\n"                                           \
    "u = ttnn.reshape t {shape = [1 : i32, 6 : i32, 8 : i32]} -> 1x6x8; d = ttnn.matmul u wo -> 1x6x8\n"
#define ADD_1   "r = ttnn.add x d -> 1x6x8\n"
#define NORM_2  "m = ttnn.rms_norm r g2 -> 1x6x8\n"
#define PLAIN   "e = ttnn.matmul m w1 -> 1x6x16; f = ttnn.gelu e -> 1x6x16; h = ttnn.matmul f w2 -> 1x6x8\n"
#define ADD_2   "z = ttnn.add r h -> 1x6x8\n"
#define FINAL   "y = ttnn.rms_norm z gf -> 1x6x8; l = ttnn.matmul y wl -> 1x6x32; return l\n"
#define REST    MERGE ADD_1 NORM_2 PLAIN ADD_2 FINAL
#define FORWARD NORM_1 PROJECT SPLIT CORE REST

Test(role, parts_of_a_layer) {
    build(LAYER, FORWARD);
    is("%a", "query projection");
    is("%b", "key projection");
    is("%c", "value projection");
    is("%a %b %c", "query, key and value projections");
    is("%d", "output projection");
    is("%e", "first linear of the MLP");
    is("%h", "second linear of the MLP");
    is("%e %f %h", "MLP");
    is("%f", "activation of the MLP");
    is("%n", "pre-attention norm");
    is("%m", "pre-MLP norm");
    is("%y", "final norm");
    is("%r %m", "pre-MLP norm");
    is("%s %p %o", "self-attention");
    is("%p", "softmax of self-attention");
    is("%q", "query of self-attention");
    is("%k", "key of self-attention");
    is("%v", "value of self-attention");
    is("%t", "output of self-attention");
    is("%r", "residual add after attention");
    is("%z", "residual add after the MLP");
    is("%l", "");
}

Test(role, with_names) {
    build(LAYER, FORWARD);
    is_at("%a", "query projection, layer 3 (layers.3.attn.q)");
    is_at("%a %b %c", "query, key and value projections, layer 3 (layers.3.attn: q, k, v)");
    is_at("%p", "softmax of self-attention, layer 3 (fed by layers.3.attn: q, k)");
    is_at("%s %p %o", "self-attention, layer 3 (fed by layers.3.attn: q, k, v)");
    is_at("%f", "activation of the MLP, layer 3 (fed by layers.3.mlp.up)");
    is_at("%r %m", "pre-MLP norm, layer 3 (layers.3.norm2)");
    is_at("%y", "final norm (norm)");
    is_at("%l", "lm_head");
    build(X "wq:8x8!parameter wk:8x8!parameter wv:8x8!parameter wo:8x8!parameter g1:8!parameter ",
          NORM_1 PROJECT SPLIT CORE MERGE ADD_1 "return r");
    is_at("%a", "query projection");
    is_at("%d", "output projection");
}

#define ROPE(to, q)                                                                                                    \
    to "1 = ttnn.slice_static " q " {begins = [0, 0, 0, 0], ends = [1, 2, 6, 2]} -> 1x2x6x2\n" to                      \
       "2 = ttnn.slice_static " q " {begins = [0, 0, 0, 2], ends = [1, 2, 6, 4]} -> 1x2x6x2\n" to "3 = ttnn.neg " to   \
       "2 -> 1x2x6x2; " to "5 = ttnn.concat " to "3 " to "1 {dim = -1} -> 1x2x6x4\n" to "6 = ttnn.multiply " q         \
       " cos -> 1x2x6x4; " to "7 = ttnn.multiply " to "5 sin -> 1x2x6x4; " to " = ttnn.add " to "6 " to                \
       "7 -> 1x2x6x4\n"
#define ROTATED                                                                                                        \
    HEADS("a")                                                                                                         \
    HEADS("b")                                                                                                         \
    HEADS("c")                                                                                                         \
    TURN("aq", "a", "0, 2, 1, 3", "1x2x6x4")                                                                           \
    TURN("bk", "b", "0, 2, 1, 3", "1x2x6x4")                                                                           \
    TURN("v", "c", "0, 2, 1, 3", "1x2x6x4")                                                                            \
    ROPE("q", "aq") ROPE("kr", "bk") "k = ttnn.permute kr {permutation = array<i64: 0, 1, 3, 2>} -> 1x2x4x6\n"

Test(role, through_rope_bias_scale_mask_and_casts) {
    build(LAYER "bq:8" W "attn.q.bias mask:1x1x6x6!input cos:1x1x6x4!input sin:1x1x6x4!input ",
          NORM_1 PROJECT ROTATED CORE REST);
    is("%a", "query projection");
    is("%b", "key projection");
    is("%q1 %q2 %q3 %q5 %q6 %q7 %q", "query of self-attention");
    is("%kr1 %kr2 %kr3 %kr5 %kr6 %kr7 %kr", "key of self-attention");
    is_at("%s %p %o", "self-attention, layer 3 (fed by layers.3.attn: q, k, v)");
    build(LAYER "bq:8" W "attn.q.bias mask:1x1x6x6!input ", NORM_1
          "a0 = ttnn.matmul n wq -> 1x6x8; b = ttnn.matmul n wk -> 1x6x8; c = ttnn.matmul n wv -> 1x6x8\n"
          "a = ttnn.add a0 bq -> 1x6x8\n" SPLIT SCORES
          "f5 = ttnn.full {fill_value = 5.000000e-01 : f32} -> 1x1x1x1; s1 = ttnn.multiply s f5 -> 1x2x6x6\n"
          "s2 = ttnn.add s1 mask -> 1x2x6x6; s3 = ttnn.typecast s2 -> 1x2x6x6\n"
          "mx = ttnn.max s3 {dim_arg = [3 : i32], keep_dim = true} -> 1x2x6x1; s4 = ttnn.subtract s3 mx -> "
          "1x2x6x6; ex = ttnn.exp s4 -> 1x2x6x6\n"
          "sm = ttnn.sum ex {dim_arg = [3 : i32], keep_dim = true} -> 1x2x6x1; p = ttnn.divide ex sm -> 1x2x6x6\n"
          "o = ttnn.matmul p v -> 1x2x6x4\n" REST);
    is("%a0 %a", "query projection");
    is("%b", "key projection");
    is("%c", "value projection");
    is("%mx %s4 %ex %sm %p", "softmax of self-attention");
    is("%s %s1 %s2 %s3 %mx %s4 %ex %sm %p %o", "self-attention");
}

Test(role, of_ops_that_are_fused_already) {
    build(LAYER,
          NORM_1 PROJECT HEADS("a") HEADS("b") HEADS("c") TURN("q", "a", "0, 2, 1, 3",
                                                               "1x2x6x4") TURN("k", "b", "0, 2, 1, 3", "1x2x6x4")
              TURN("v", "c", "0, 2, 1, 3", "1x2x6x4") "o = ttnn.scaled_dot_product_attention q k v -> 1x2x6x4\n" REST);
    is("%a", "query projection");
    is("%b", "key projection");
    is("%c", "value projection");
    is("%o", "self-attention");
    is("%d", "output projection");
    is("%n", "pre-attention norm");
}

#define THIRDS                                                                                                         \
    "j = ttnn.matmul n w3 -> 1x6x24\n"                                                                                 \
    "a = ttnn.slice_static j {begins = [0, 0, 0], ends = [1, 6, 8]} -> 1x6x8\n"                                        \
    "b = ttnn.slice_static j {begins = [0, 0, 8], ends = [1, 6, 16]} -> 1x6x8\n"                                       \
    "c = ttnn.slice_static j {begins = [0, 0, 16], ends = [1, 6, 24]} -> 1x6x8\n"

Test(role, one_product_for_all_three) {
    build(LAYER "w3:8x24" W "attn.qkv.weight ", NORM_1 THIRDS SPLIT CORE REST);
    is_at("%j", "query, key and value projection, layer 3 (layers.3.attn.qkv)");
    is("%s %p %o", "self-attention");
    is("%n", "pre-attention norm");
}

/* Weights that a const-eval function concatenates. */
Test(role, weights_through_const_eval) {
    build(LAYER,
          "w3 = ttcore.load_cached wq wk wv {callee = @main_const_eval_0} -> 8x24\n" NORM_1 THIRDS SPLIT CORE REST
          "func main_const_eval_0 a:8x8 b:8x8 c:8x8\n"
          "j = ttnn.concat a b c {dim = 1} -> 8x24; return j");
    is_at("%n", "pre-attention norm, layer 3 (layers.3.norm1)");
    is_at("%s %p %o", "self-attention, layer 3 (fed by layers.3.attn: q, k, v)");
    struct match m = {.pattern = &pattern, .graph = &ir.g, .nops = 1};
    for (uint32_t op = 0; op < ir.m.nops; op++)
        if (flow_linear_role(flow, op) == (ROLE_QUERY | ROLE_KEY | ROLE_VALUE)) {
            m.ops = &op;
            m.root = op;
            struct match_detail none = {.slots = NULL};
            struct str_list names;
            cr_assert(str_is(locate_match(&set, flow, &m, &none, &names, &arena),
                             "query, key and value projection, layer 3 (layers.3.attn: q, k, v)"));
            return;
        }
    cr_assert_fail("no projection in\n%s", ir.text);
}

Test(role, keys_and_values_through_a_cache) {
    build(LAYER "kc:1x2x6x4!input!k_cache vc:1x2x6x4!input!v_cache ",
          NORM_1 PROJECT HEADS("a") HEADS("b") HEADS("c") TURN("q", "a", "0, 2, 1, 3", "1x2x6x4")
              TURN("k0", "b", "0, 2, 1, 3", "1x2x6x4")
                  TURN("v0", "c", "0, 2, 1, 3", "1x2x6x4") "ttnn.fill_cache kc k0; ttnn.fill_cache vc v0\n"
                                                           "k = ttnn.permute kc {permutation = array<i64: 0, 1, 3, 2>} "
                                                           "-> 1x2x4x6; v = ttnn.typecast vc -> "
                                                           "1x2x6x4\n" CORE MERGE ADD_1 "return r kc vc\n");
    is("%b", "key projection");
    is("%c", "value projection");
    is("%s %p %o", "self-attention");
    /* the older form, with a result */
    build(LAYER "kc:1x2x6x4!input!k_cache vc:1x2x6x4!input!v_cache ",
          NORM_1 PROJECT HEADS("a") HEADS("b") HEADS("c") TURN("q", "a", "0, 2, 1, 3", "1x2x6x4")
              TURN("k0", "b", "0, 2, 1, 3", "1x2x6x4")
                  TURN("v0", "c", "0, 2, 1, 3", "1x2x6x4") "k1 = ttnn.fill_cache kc k0 -> 1x2x6x4\n"
                                                           "v = ttnn.fill_cache vc v0 -> 1x2x6x4\n"
                                                           "k = ttnn.permute k1 {permutation = array<i64: 0, 1, 3, 2>} "
                                                           "-> 1x2x4x6\n" CORE MERGE ADD_1 "return r\n");
    is("%b", "key projection");
    is("%c", "value projection");
    is("%s %p %o", "self-attention");
}

Test(role, gated_mlp) {
#define GATED                                                                                                          \
    "e = ttnn.matmul m wg -> 1x6x16; i = ttnn.matmul m w1 -> 1x6x16; f = ttnn.silu e -> 1x6x16\n"                      \
    "j = ttnn.multiply i f -> 1x6x16; h = ttnn.matmul j w2 -> 1x6x8\n"
    build(LAYER, NORM_1 PROJECT SPLIT CORE MERGE ADD_1 NORM_2 GATED ADD_2 FINAL);
    is_at("%e", "gate projection, layer 3 (layers.3.mlp.gate)");
    is_at("%i", "up projection, layer 3 (layers.3.mlp.up)");
    is_at("%h", "down projection, layer 3 (layers.3.mlp.down)");
    is("%e %i", "gate and up projections");
    is("%e %i %f %j %h", "gated MLP");
    is("%f %j", "activation of the MLP");
    is("%m", "pre-MLP norm");
    build(LAYER "w3:8x32" W "mlp.gate_up.weight ", NORM_1 PROJECT SPLIT CORE MERGE ADD_1 NORM_2
          "w = ttnn.matmul m w3 -> 1x6x32; e = ttnn.slice_static w {begins = [0, 0, 0], ends = [1, 6, 16]} -> 1x6x16\n"
          "i = ttnn.slice_static w {begins = [0, 0, 16], ends = [1, 6, 32]} -> 1x6x16\n"
          "f = ttnn.silu e -> 1x6x16; j = ttnn.multiply f i -> 1x6x16; h = ttnn.matmul j w2 -> 1x6x8\n" ADD_2 FINAL);
    is("%w", "gate and up projection");
    is("%h", "down projection");
}

Test(role, cross_attention) {
    build(
        LAYER "text:1x6x8!input!text ", NORM_1
        "a = ttnn.matmul n wq -> 1x6x8; b = ttnn.matmul text wk -> 1x6x8; c = ttnn.matmul text wv -> 1x6x8\n" SPLIT CORE
            REST);
    is("%s %p %o", "cross-attention");
    is("%a", "query projection");
    is("%b %c", "key and value projections");
    is("%n", "pre-attention norm");
    /* keys share one of several origins with the queries: neither self- nor cross-attention */
    build(LAYER "w0:8x8" W "attn.sr.weight ",
          NORM_1 "n0 = ttnn.matmul n w0 -> 1x6x8; a = ttnn.matmul n wq -> 1x6x8; b = ttnn.matmul n0 wk -> 1x6x8\n"
                 "c = ttnn.matmul n0 wv -> 1x6x8\n" SPLIT CORE REST);
    is("%s %p %o", "attention");
    /* queries and keys are projected from different values of one stream */
    build(LAYER "w0:8x8" W "a.weight w9:8x8" W "b.weight ",
          NORM_1 "n0 = ttnn.matmul n w0 -> 1x6x8; n9 = ttnn.matmul n w9 -> 1x6x8; a = ttnn.matmul n0 wq -> 1x6x8\n"
                 "b = ttnn.matmul n9 wk -> 1x6x8; c = ttnn.matmul n9 wv -> 1x6x8\n" SPLIT CORE REST);
    is("%s %p %o", "attention");
    /* operands without a projection */
    build("q:1x2x6x4!input k:1x2x4x6!input v:1x2x6x4!input ", CORE "return o");
    is("%s %p %o", "attention");
    is("%p", "softmax of attention");
}

Test(role, norms_after_and_of_heads) {
    build(LAYER, "n = ttnn.typecast x -> 1x6x8\n" PROJECT SPLIT CORE MERGE
                 "r0 = ttnn.add x d -> 1x6x8; r = ttnn.layer_norm r0 g1 -> 1x6x8; m = ttnn.typecast r -> 1x6x8\n" PLAIN
                 "z0 = ttnn.add r h -> 1x6x8; z = ttnn.layer_norm z0 g2 -> 1x6x8; return z");
    is("%r", "post-attention norm");
    is("%z", "post-MLP norm");
    build(LAYER "gq:4" W "attn.q_norm.weight gk:4" W "attn.k_norm.weight ",
          NORM_1 PROJECT HEADS("a") HEADS("b")
              HEADS("c") "an = ttnn.rms_norm a4 gq -> 1x6x2x4; bn = ttnn.rms_norm b4 gk -> 1x6x2x4\n"
                         "q = ttnn.permute an {permutation = array<i64: 0, 2, 1, 3>} -> 1x2x6x4\n"
                         "k = ttnn.permute bn {permutation = array<i64: 0, 2, 3, 1>} -> 1x2x4x6\n" TURN(
                             "v", "c", "0, 2, 1, 3", "1x2x6x4") CORE MERGE
          "dn = ttnn.rms_norm d g2 -> 1x6x8; r = ttnn.add x dn -> 1x6x8; return r");
    is("%an", "query norm");
    is("%bn", "key norm");
    is("%dn", "post-attention norm");
    is("%n", "pre-attention norm");
    is("%a", "query projection");
}

/* A decomposed norm whose shift and scale are computed from another input. */
Test(role, modulated_norm) {
    build(LAYER "c0:1x1x8!input!time wm:8x8" W "modulation.weight ",
          "sh = ttnn.matmul c0 wm -> 1x1x8; sq = ttnn.multiply x x -> 1x6x8\n"
          "me = ttnn.mean sq {dim_arg = [2 : i32], keep_dim = true} -> 1x6x1; rt = ttnn.rsqrt me -> 1x6x1\n"
          "n0 = ttnn.multiply x rt -> 1x6x8; n1 = ttnn.multiply n0 sh -> 1x6x8; n = ttnn.add n1 sh -> 1x6x8\n" PROJECT
              SPLIT CORE MERGE "gd = ttnn.multiply d sh -> 1x6x8; r = ttnn.add x gd -> 1x6x8; return r\n");
    is("%sq %me %rt %n0 %n1 %n", "pre-attention norm");
    is("%sh", "");
    is("%a", "query projection");
    is("%d", "output projection");
    is("%gd %r", "residual add after attention");
}

/* Names of weights are those of the nearest landmarks, however many ops lie between. */
Test(role, names_behind_long_chains) {
    struct buf chain = {0};
    buf_printf(&chain, "%s",
               NORM_1 "long0 = ttnn.matmul n wq -> 1x6x8; b = ttnn.matmul n wk -> 1x6x8; c = ttnn.matmul n wv "
                      "-> 1x6x8\n");
    for (int i = 0; i < 200; i++)
        buf_printf(&chain, "long%d = ttnn.abs long%d -> 1x6x8\n", i + 1, i);
    buf_printf(&chain, "a = ttnn.abs long200 -> 1x6x8\n%s%c", SPLIT CORE REST, '\0');
    build(LAYER, chain.p);
    is_at("%s %p %o", "self-attention, layer 3 (fed by layers.3.attn: q, k, v)");
    buf_free(&chain);
}

/* ---- ambiguous roles ---- */

Test(role, names_do_not_make_a_role) {
    build(X "w:8x8!parameter!layers.3.attn.query.weight ", "a = ttnn.matmul x w -> 1x6x8; return a");
    is_at("%a", "layer 3 (layers.3.attn.query)");
    build(X "w:8x32!parameter!lm_head.weight ", "a = ttnn.matmul x w -> 1x6x32; return a");
    is_at("%a", "lm_head");
}

/* The role comes from the use; where the name of the weight contradicts it, only the name is printed. */
Test(role, names_that_contradict_the_use) {
    build(X "wk:8x8" W "attn.query.weight wq:8x8" W "attn.key.weight wv:8x8" W "attn.v_proj.weight wo:8x8" W
            "attn.out.weight g1:8" W "n.weight ",
          NORM_1 PROJECT SPLIT CORE MERGE ADD_1 "return r");
    is("%a", "query projection");
    is_at("%a", "layer 3 (layers.3.attn.key)");
    is_at("%b", "layer 3 (layers.3.attn.query)");
    is_at("%c", "value projection, layer 3 (layers.3.attn.v_proj)");
    is_at("%d", "output projection, layer 3 (layers.3.attn.out)");
}

/* Scores as keys times queries, transposed before the softmax: the first operand is the keys. */
Test(role, queries_and_keys_are_told_apart_by_the_values) {
#define SWAPPED_SCORES(turn, p)                                                                                        \
    HEADS("a")                                                                                                         \
    HEADS("b")                                                                                                         \
    HEADS("c")                                                                                                         \
    TURN("q", "a", "0, 2, 1, 3", "1x2x6x4")                                                                            \
    TURN("k", "b", "0, 2, 3, 1", "1x2x4x6")                                                                            \
    TURN("v", "c", "0, 2, 1, 3", "1x2x6x4") SCORES turn "o = ttnn.matmul " p " v -> 1x2x6x4\n"
    build(LAYER, NORM_1 PROJECT SWAPPED_SCORES("st = ttnn.permute s {permutation = array<i64: 0, 1, 3, 2>} -> 1x2x6x6\n"
                                               "p = ttnn.softmax st {dimension = 3 : si32} -> 1x2x6x6\n",
                                               "p") REST);
    is("%a", "key projection");
    is("%b", "query projection");
    build(LAYER, NORM_1 PROJECT SWAPPED_SCORES("st = ttnn.reshape s {shape = [1 : i32, 1 : i32, 2 : i32, 36 : i32]} -> "
                                               "1x1x2x36; su = ttnn.reshape st {shape = [1 : i32, 2 : i32, 6 : i32, 6 "
                                               ": i32]} -> 1x2x6x6\n"
                                               "p = ttnn.softmax su {dimension = 3 : si32} -> 1x2x6x6\n",
                                               "p") REST);
    is("%a", "");
    is("%b", "");
}

/* A softmax along the query dimension is no attention. */
Test(role, softmax_along_another_axis) {
    build(LAYER, NORM_1 PROJECT SPLIT SCORES "p = ttnn.softmax s {dimension = 2 : si32} -> 1x2x6x6\n"
                                             "o = ttnn.matmul p v -> 1x2x6x4\n" REST);
    is("%a", "");
    is("%c", "");
    is("%d", "");
    is("%s %p %o", "");
    is("%n", "");
}

Test(role, products_that_feed_two_things) {
    /* feeds the query of an attention and an MLP */
    build(LAYER, NORM_1 PROJECT SPLIT CORE MERGE "e = ttnn.gelu a -> 1x6x8; h = ttnn.matmul e wo -> 1x6x8\n"
                                                 "r = ttnn.add x d -> 1x6x8; z = ttnn.add r h -> 1x6x8; return z");
    is("%a", "");
    is("%h", "");
    /* feeds the query of an attention and its result */
    build(LAYER, NORM_1 PROJECT SPLIT CORE MERGE "z = ttnn.add d a -> 1x6x8; return z");
    is("%a", "");
    /* feeds the query of one attention and the key of the next */
    build(LAYER, NORM_1 PROJECT SPLIT CORE
          "k2 = ttnn.permute q {permutation = array<i64: 0, 1, 3, 2>} -> 1x2x4x6; s2 = ttnn.matmul o k2 -> 1x2x6x6\n"
          "p2 = ttnn.softmax s2 {dimension = 3 : si32} -> 1x2x6x6; o2 = ttnn.matmul p2 v -> 1x2x6x4; return o2");
    is("%a", "");
    is("%b", "key projection");
    is("%c", "value projection");
}

Test(role, attention_weights_used_elsewhere) {
    build(LAYER, NORM_1 PROJECT SPLIT CORE MERGE ADD_1 "return r p");
    is("%a", "query projection"); /* shown beside the result */
    build(LAYER, NORM_1 PROJECT SPLIT CORE "w = ttnn.argsort p -> 1x2x6x6\n" MERGE ADD_1 "return r w");
    is("%a", "");
    is("%c", "");
    build(LAYER, NORM_1 PROJECT SPLIT CORE "o9 = ttnn.matmul p q -> 1x2x6x4\n" MERGE ADD_1 "return r o9");
    is("%b", "");
    is("%c", "");
}

Test(role, norms_before_two_kinds_of_block) {
    build(LAYER, NORM_1 PROJECT SPLIT CORE MERGE "m = ttnn.typecast n -> 1x6x8\n" PLAIN
                                                 "i = ttnn.add d h -> 1x6x8; z = ttnn.add x i -> 1x6x8\n" FINAL);
    is("%n", "");
    is("%a", "query projection");
    is("%h", "second linear of the MLP");
    is("%i", "");
    is("%z", "residual add after attention and MLP");
    is("%y", "final norm");
    /* the norm of the result of a linear, inside of a projection in two steps */
    build(LAYER "w0:8x8" W "attn.q_a.weight ",
          "x0 = ttnn.matmul x w0 -> 1x6x8; n = ttnn.rms_norm x0 g1 -> 1x6x8\n" PROJECT SPLIT CORE REST);
    is("%n", "");
}

Test(role, chains_that_are_no_mlp) {
    /* a time embedding: the result is not added to a stream */
    build(LAYER, "e = ttnn.matmul x w1 -> 1x6x16; f = ttnn.silu e -> 1x6x16; h = ttnn.matmul f w2 -> 1x6x8; return h");
    is("%e", "");
    is("%h", "");
    is("%f", "");
    /* added to another embedding, not to its own stream */
    build(LAYER "label:1x6x8!input!label ",
          "e = ttnn.matmul x w1 -> 1x6x16; f = ttnn.silu e -> 1x6x16; h = ttnn.matmul f w2 -> 1x6x8\n"
          "z = ttnn.add label h -> 1x6x8; return z");
    is("%e", "");
    is("%h", "");
    is("%z", "");
    /* no activation between the linears */
    build(LAYER, "e = ttnn.matmul x w1 -> 1x6x16; h = ttnn.matmul e w2 -> 1x6x8; z = ttnn.add x h -> 1x6x8; return z");
    is("%e", "");
    is("%z", "");
    /* the hidden values have another use */
    build(LAYER, "e = ttnn.matmul x w1 -> 1x6x16; f = ttnn.gelu e -> 1x6x16; h = ttnn.matmul f w2 -> 1x6x8\n"
                 "z = ttnn.add x h -> 1x6x8; w = ttnn.argsort f -> 1x6x16; return z w");
    is("%e", "");
    is("%h", "");
    /* both factors are activated: neither is the gate */
    build(LAYER, "e = ttnn.matmul x wg -> 1x6x16; i = ttnn.matmul x w1 -> 1x6x16; f = ttnn.silu e -> 1x6x16\n"
                 "k = ttnn.sigmoid i -> 1x6x16; j = ttnn.multiply f k -> 1x6x16; h = ttnn.matmul j w2 -> 1x6x8\n"
                 "z = ttnn.add x h -> 1x6x8; return z");
    is("%e", "");
    is("%h", "");
}

/* A match over two layers, and a match of which two results are used. */
Test(role, matches_of_more_than_one_thing) {
    build(LAYER "v2:16x8!parameter!layers.4.mlp.down.weight v1:8x16!parameter!layers.4.mlp.up.weight ",
          NORM_1 PROJECT SPLIT CORE MERGE ADD_1 NORM_2 PLAIN ADD_2
          "e9 = ttnn.matmul z v1 -> 1x6x16; f9 = ttnn.gelu e9 -> 1x6x16; h9 = ttnn.matmul f9 v2 -> 1x6x8\n"
          "z9 = ttnn.add z h9 -> 1x6x8; return z9");
    is("%e %e9", "");
    is("%h %e9", "");
    is_at("%h %e9", "layers (3.mlp.down, 4.mlp.up)");
    is("%a %e", "");
    is("%q %k", "");
    is("%n %m", "");
    is_at("%z", "residual add after the MLP, layer 3 (fed by layers.3.mlp.down)");
}

/* Weights nearby are of two layers: no layer is printed. */
Test(role, neighbours_that_disagree) {
    build("x:6x8!input!x w:8x8!parameter!layers.1.a.weight v:8x8!parameter!layers.2.b.weight ",
          "a = ttnn.matmul x w -> 6x8; b = ttnn.matmul x v -> 6x8; o = ttnn.multiply a b -> 6x8\n"
          "c = ttnn.matmul o v -> 6x8; return c");
    is_at("%o", "");
    build("x:6x8!input!x w:8x8!parameter!layers.1.a.weight v:8x8!parameter!layers.1.b.weight ",
          "a = ttnn.matmul x w -> 6x8; b = ttnn.matmul x v -> 6x8; o = ttnn.multiply a b -> 6x8; return o");
    is_at("%o", "layer 1 (fed by layers.1: a, b)");
    /* the search for weights ends at a residual add, so that what follows is printed instead */
    build("x:6x8!input!x w:8x8!parameter!layers.1.a.weight v:8x8!parameter!layers.2.b.weight ",
          "a = ttnn.matmul x w -> 6x8; r = ttnn.add x a -> 6x8; o = ttnn.abs r -> 6x8; b = ttnn.matmul o v -> 6x8; "
          "return b");
    is_at("%o", "layer 2 (before layers.2.b)");
}

Test(role, numbers_that_are_no_layer) {
#define NAMED(name, want)                                                                                              \
    build("x:6x8!input!x w:8x8!parameter!" name " ", "a = ttnn.matmul x w -> 6x8; return a");                          \
    is_at("%a", want)
    NAMED("conv2d_3x3.weight", "conv2d_3x3");
    NAMED("fc1.weight", "fc1");
    NAMED("block1.0.weight", "block1.0");
    NAMED("norm_layer2.weight", "norm_layer2");
    NAMED("arg7_1", "");
    NAMED("args_0", "");
    NAMED("transformer.h.11.mlp.c_fc.weight", "layer 11 (transformer.h.11.mlp.c_fc)");
    NAMED("L['self']._modules['layers']._modules['14'].mlp.weight", "layer 14 (layers.14.mlp)");
}

Test(role, locations_with_module_paths) {
#define AT(loc, want)                                                                                                  \
    build("x:6x8!input!x y:6x8!input!y ", "a = ttnn.multiply x y -> 6x8 @" loc "; return a");                          \
    is_at("%a", want)
    AT("model.layers.14.self_attn.rope", "layer 14 (model.layers.14.self_attn.rope)");
    AT("layers.14/self_attn/q_proj", "layer 14 (layers.14/self_attn/q_proj)");
    AT("multiply.4_tm0>layers.2.mlp", "layer 2 (layers.2.mlp)");
    AT("dot.456", "");
    AT("layer.140", "");
    AT("layer.140_tm0", "");
    AT("layers.3", "");
    AT("h.12_in_0_layout", "");
}
