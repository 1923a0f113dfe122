/* The promises of images: what computes one thing has one image, however it is spelled; what computes another has not.
 */
#include "ir/pair/image.h"
#include "ir_text.h"

#include <criterion/criterion.h>

static struct ir ir;
static struct images images;

static void forget(void) {
    if (!ir.text)
        return;
    images_free(&images);
    ir_free(&ir);
    ir.text = NULL;
}

TestSuite(image, .fini = forget);

static void look(void) {
    static const uint32_t identity[32] = {0};
    cr_assert_leq(ir.m.nfuncs, 32);
    images_begin(&images, &ir.g, identity, NULL, NULL);
    images_look(&images);
}

static const struct image *image(const char *value) {
    return &images.of[ir_value(&ir, value)];
}

/* Of %a and %b. */
static bool alike(const char *args, const char *ops) {
    forget();
    ir_short(&ir, args, ops);
    look();
    cr_assert(image_known(image("%a")) && image_known(image("%b")), "%s", ops);
    return image_equal(image("%a"), image("%b"));
}

#define NORM(x, dims, of)                                                                                              \
    "q = ttir.multiply " x " " x "; m2 = ttir.mean q {dim_arg = [" dims "], keep_dim = true}\n"                        \
    "e = ttir.add m2 0.00001:" of "; r = ttir.rsqrt e; h = ttir.multiply " x " r\n"
#define CENTRE(dims) "m = ttir.mean x {dim_arg = [" dims "], keep_dim = true}; d = ttir.subtract x m\n"
#define EPSILON      "epsilon = 1.0e-05 : f32"
#define SHARD(r, direction, type, to)                                                                                  \
    r " = ttir.mesh_shard x {shard_dims = array<i64: -1, 1>, shard_direction = #ttcore.shard_direction<" direction     \
      ">, shard_shape = array<i64: 1, 2>, shard_type = #ttcore.shard_type<" type ">} -> " to "\n"
#define CONVOLUTION(r, config)                                                                                         \
    r " = ttnn.conv2d x w {batch_size = 1, in_channels = 3, out_channels = 2, input_height = 4, input_width = 4, "     \
      "kernel_size = array<i32: 1, 1>, stride = array<i32: 1, 1>, padding = array<i32: 0, 0>, dilation = array<i32: 1" \
      ", 1>, groups = 1, conv2d_config = #ttnn.conv2d_config<" config ">} -> 1x1x16x2\n"
#define HEADS(q, k, v)                                                                                                 \
    "c = ttir.concat w u z {dim = 1} -> 4x16; p = ttir.matmul x c -> 1x3x16\n" q ", " k ", " v                         \
    " = ttir.split_query_key_value_and_split_heads p {num_heads = 2 : ui32, num_kv_heads = 1 : ui32, transpose_key = " \
    "false} -> 1x2x3x4, 1x1x3x4, 1x1x3x4\n"
#define CUT(begins, ends, of) "ttir.slice_static " of " {begins = [0, " begins "], ends = [2, " ends "]}\n"

static const struct {
    const char *args, *ops;
} like[] = {
    {"x:2x8 m:8 v:8 w:8 c:8",
     "a = ttnn.batch_norm_inference x m v w c {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>, " EPSILON
     "}; d = ttnn.subtract x m\n"
     "e = ttnn.add v 0.00001:8; r = ttnn.rsqrt e; h = ttnn.multiply d r\n"
     "g = ttnn.multiply h w; b = ttnn.add g c"},
    {"x:2x8 m:8 v:8", "a = ttnn.batch_norm_inference x m v {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, " EPSILON
                      "}; d = ttnn.subtract x m\n"
                      "e = ttnn.add v 0.00001:8; r = ttnn.rsqrt e; b = ttnn.multiply d r"},
    {"x:2x8 w:8 v:8", "a = ttir.layer_norm x w v {" EPSILON "}\n" CENTRE("1")
                          NORM("d", "1", "1x1") "g = ttir.multiply h w; b = ttir.add g v"},
    {"x:2x4x8 w:4x8", "a = ttir.layer_norm x w {" EPSILON ", normalized_shape = [4, 8]}\n" CENTRE("1, 2")
                          NORM("d", "1, 2", "1x1x1") "b = ttir.multiply h w"},
    {"x:2x8 w:8 v:8",
     "a = ttir.rms_norm x w v {" EPSILON "}\n" NORM("x", "1", "1x1") "g = ttir.multiply h w; b = ttir.add g v"},
    {"x:2x8 w:8", "z = ttir.add x x; a = ttir.distributed_rms_norm z w; b = ttir.distributed_rms_norm x w x"},
    {"x:2x8 w:8 v:8",
     "z = ttir.add x x; a = ttir.distributed_layer_norm z w v; b = ttir.distributed_layer_norm x w v x"},
    {"x:2x8", "a = ttir.hardsigmoid x; s = ttir.add x 3.0:1x1; r = ttir.relu6 s; b = ttir.div r 6.0:1x1"},
    {"x:2x8",
     "a = ttir.softmax x {dimension = 1}; m = ttir.max x {dim_arg = [1], keep_dim = true}\n"
     "d = ttir.subtract x m; e = ttir.exp d; s = ttir.sum e {dim_arg = [1], keep_dim = true}; b = ttir.div e s"},
    {"x:2x8 w:8x4 v:4", "a = ttir.linear x w v; p = ttir.matmul x w; b = ttir.add p v"},
    /* what was joined is taken out again */
    {"x:2x3 y:2x5", "c = ttir.concat x y {dim = 1} -> 2x8; s = " CUT("0", "3", "c") "a = ttir.exp s; b = ttir.exp x"},
    {"x:2x3 y:2x5", "c = ttir.concat x y {dim = -1} -> 2x8; s = " CUT("3", "8", "c") "a = ttir.exp s; b = ttir.exp y"},
    {"x:2x4 w:4x3 v:4x5",
     "c = ttir.concat w v {dim = 1} -> 4x8; p = ttir.matmul x c; a = " CUT("3", "8", "p") "b = ttir.matmul x v"},
    {"x:2x1 y:2x5", "c = ttir.concat x y {dim = 1} -> 2x6; s = " CUT("1", "6", "c") "a = ttir.exp s; b = ttir.exp y"},
    /* an activation that is folded in, and attention in steps */
    {"x:2x4 w:4x3", "a = ttnn.matmul x w {activation = \"silu\"}; p = ttnn.matmul x w; b = ttnn.silu p"},
    {"x:2x4 w:4x3", "a = ttnn.matmul x w {activation = \"relu\"}; p = ttnn.matmul x w; b = ttnn.relu p"},
    {"q:1x2x4x8 k:1x2x6x8 v:1x2x6x8 m:1x1x4x6",
     "a = ttir.scaled_dot_product_attention q k v m {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, scale = 0.5 : "
     "f32} -> 1x2x4x8\n"
     "t = ttir.permute k {permutation = [0, 1, 3, 2]} -> 1x2x8x6; s = ttir.matmul q t; c = ttir.multiply s 0.5:1\n"
     "d = ttir.add c m; w = ttir.softmax d {dimension = -1}; b = ttir.matmul w v"},
    /* comparisons the other way round, and negated */
    {"x:2x8 y:2x8 c:2x8 d:2x8", "k = ttir.gt c d; n = ttir.logical_not k; a = ttir.where n x y; b = ttir.where k y x"},
    {"x:2x8 y:2x8", "a = ttir.gt x y; b = ttir.lt y x"},
    {"x:2x8 y:2x8", "a = ttir.ge x y; b = ttir.le y x"},
    {"x:2x8 y:2x8", "a = ttir.maximum x y; b = ttir.maximum y x"},
    {"x:2x8 y:2x8", "a = ttir.lt x y; g = ttir.ge x y; b = ttir.logical_not g"},
    {"x:2x8 y:2x8", "a = ttir.gt x y; g = ttir.le x y; b = ttir.logical_not g"},
    {"x:2x8 y:2x8", "a = ttir.ne x y; g = ttir.eq x y; b = ttir.logical_not g"},
    {"x:2x4 w:4x3 v:4x5 y:3 z:5", "c = ttir.concat w v {dim = 1} -> 4x8; d = ttir.concat y z {dim = 0} -> 8\n"
                                  "p = ttir.linear x c d; a = " CUT("3", "8", "p") "b = ttir.linear x v z"},
    {"x:2x4 w:4x3 v:4x5 y:3 z:5",
     "c = ttir.concat w v {dim = 1} -> 4x8; d = ttir.concat y z {dim = 0} -> 8\n"
     "q = ttir.matmul x c; p = ttir.add q d; a = " CUT("3", "8", "p") "r = ttir.matmul x v\n"
                                                                      "b = ttir.add r z"},
    {"x:1x3x4 w:4x8 u:4x4 z:4x4", HEADS("a", "k", "v") "b = ttir.matmul x w -> 1x3x8"},
    {"x:1x3x4 w:4x8 u:4x4 z:4x4", HEADS("q", "k", "a") "b = ttir.matmul x z -> 1x3x4"},
    /* a shard is of a device, whatever the whole is called */
    {"x:2x8", SHARD("s", "full_to_shard", "identity", "2x4") "a = ttir.exp s; b = ttir.exp x"},
    {"x:2x8", SHARD("s", "shard_to_full", "replicate", "2x8") "a = ttir.exp s; b = ttir.exp x"},
    {"x:1x1x16x3 w:2x3x1x1", CONVOLUTION("a", "deallocate_activation = true") CONVOLUTION("b", "weights_dtype = bf16")},
};

Test(image, one_thing_has_one_image_however_it_is_spelled) {
    for (size_t i = 0; i < sizeof like / sizeof *like; i++)
        cr_expect(alike(like[i].args, like[i].ops), "%s", like[i].ops);
}

static const struct {
    const char *args, *ops;
} unlike[] = {
    {"x:2x8 w:8", "a = ttir.layer_norm x w; b = ttir.rms_norm x w"},
    {"x:2x8 w:8 v:8", "a = ttir.layer_norm x w; b = ttir.layer_norm x w v"},
    {"x:2x8 w:8", "a = ttir.rms_norm x w {" EPSILON "}; b = ttir.rms_norm x w {epsilon = 1.0e-01 : f32}"},
    {"x:2x8 w:8", "a = ttir.distributed_rms_norm x w; b = ttir.distributed_layer_norm x w"},
    {"x:2x8", "a = ttir.relu x; b = ttir.abs x"},
    {"x:2x8", "a = ttir.hardsigmoid x; b = ttir.sigmoid x"},
    {"x:2x8", "a = ttir.max x {dim_arg = [1]}; b = ttir.mean x {dim_arg = [1]}"},
    {"x:2x8", "a = ttir.mean x {dim_arg = [0]}; b = ttir.mean x {dim_arg = [1]}"},
    {"x:2x3 y:2x5", "c = ttir.concat x y {dim = 1} -> 2x8; s = " CUT("1", "4", "c") "a = ttir.exp s; b = ttir.exp x"},
    {"x:2x3 y:2x5", "c = ttir.concat x y {dim = 1} -> 2x8; s = " CUT("3", "8", "c") "a = ttir.exp s; b = ttir.exp x"},
    {"x:2x4 w:4x3 v:4x5 z:8", "c = ttir.concat w v {dim = 1} -> 4x8; p = ttir.linear x c z; a = " CUT(
                                  "3", "8", "p") "b = ttir.matmul x v"}, /* nothing is known of a part of z */
    {"x:2x4 w:4x3 v:4x5",
     "c = ttir.concat w v {dim = 1} -> 4x8; p = ttir.matmul x c; a = " CUT("3", "8", "p") "b = ttir.matmul x w"},
    {"x:2x4 w:4x4 v:4x4",
     "c = ttir.concat w v {dim = 1} -> 4x8; p = ttir.matmul x c\n"
     "a = ttir.slice_static p {begins = [0, 0], ends = [2, 4], step = [1, 2]} -> 2x2; b = ttir.matmul x w"},
    {"x:2x8 y:2x8 z:2x8", "a = ttir.eq x y; b = ttir.eq x z"},
    {"x:2x4 w:4x3 v:4x5", "c = ttir.concat w v {dim = 1} -> 4x8; k = ttir.full {fill_value = 0.5 : f32} -> 4x8\n"
                          "p = ttir.matmul x k; a = " CUT("3", "8", "p") "b = ttir.matmul x v"},
    {"x:8x4 y:4", "p = ttir.add x y; a = ttir.slice_static p {begins = [0, 0], ends = [3, 4]} -> 3x4\n"
                  "b = ttir.slice_static p {begins = [3, 0], ends = [8, 4]} -> 5x4"},
    {"x:8x4 w:4x3 v:4x5", "c = ttir.concat w v {dim = 1} -> 4x8; p = ttir.matmul x c; b = ttir.matmul x v\n"
                          "a = ttir.slice_static p {begins = [3, 0], ends = [8, 8]} -> 5x8"}, /* rows */
    {"x:1x3x4 w:4x8 u:4x4 z:4x4", HEADS("q", "a", "v") "b = ttir.matmul x z -> 1x3x4"},
    {"x:1x3x4 w:4x4 u:4x8 z:4x4",
     HEADS("a", "k", "v") "b = ttir.matmul x w -> 1x3x4"}, /* other parts than those joined */
    {"x:2x8", SHARD("s", "full_to_shard", "devices", "2x4") "a = ttir.exp s; b = ttir.exp x"},
    {"x:1x1x16x3 w:2x3x1x1",
     CONVOLUTION("a", "activation = <op_type = silu>") CONVOLUTION("b", "weights_dtype = bf16")},
};

Test(image, what_computes_another_thing_has_another) {
    for (size_t i = 0; i < sizeof unlike / sizeof *unlike; i++)
        cr_expect_not(alike(unlike[i].args, unlike[i].ops), "%s", unlike[i].ops);
}

/* Calls are followed to a depth: functions may call themselves. */
Test(image, a_value_of_calls_in_calls_is_known_to_a_depth) {
    for (int depth = 8; depth <= 9; depth++) {
        struct buf b = {0};
        for (int i = 0; i < depth; i++)
            buf_printf(
                &b,
                "func.func %s@f%d(%%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                "%%a%d = func.call @f%d(%%x) : (tensor<4xf32>) -> tensor<4xf32>\nreturn %%a%d : tensor<4xf32>\n}\n",
                i ? "private " : "", i, i, i + 1, i);
        buf_printf(&b,
                   "func.func private @f%d(%%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                   "%%a = \"ttir.exp\"(%%x) : (tensor<4xf32>) -> tensor<4xf32>\nreturn %%a : tensor<4xf32>\n}\n",
                   depth);
        buf_printf(&b, "%c", '\0');
        forget();
        ir_read(&ir, b.p);
        buf_free(&b);
        look();
        cr_assert_eq(image_known(image("%a0")), depth == 8);
    }
}

/* However often a function is called. */
Test(image, a_value_behind_many_calls_is_known) {
    struct buf b = {0};
    buf_printf(&b, "func.func @main(%%0: tensor<4xf32>) -> tensor<4xf32> {\n");
    for (int i = 0; i < 100; i++)
        buf_printf(&b, "%%%d = func.call @f(%%%d) : (tensor<4xf32>) -> tensor<4xf32>\n", i + 1, i);
    buf_printf(&b, "return %%100 : tensor<4xf32>\n}\nfunc.func private @f(%%x: tensor<4xf32>) -> tensor<4xf32> {\n");
    for (int i = 0; i < 10; i++)
        buf_printf(&b, "%%y%d = \"ttir.sin\"(%%%s) : (tensor<4xf32>) -> tensor<4xf32>\n", i,
                   i ? (char[]){'y', (char)('/' + i), 0} : "x");
    buf_printf(&b, "return %%y9 : tensor<4xf32>\n}\n%c", '\0');
    forget();
    ir_read(&ir, b.p);
    buf_free(&b);
    look();
    cr_assert(image_known(image("%100")));
}

/* Wherever the function stands in the text. */
Test(image, a_value_of_a_function_is_what_it_is_called_with) {
#define T "tensor<4xf32>"
    forget();
    ir_read(&ir, "func.func @f(%x: " T ") -> " T " {\n%c = \"ttir.exp\"(%x) : (" T ") -> " T "\n"
                 "%a = func.call @g(%c) : (" T ") -> " T "\n%b = \"ttir.sin\"(%c) : (" T ") -> " T "\n"
                 "return %a : " T "\n}\nfunc.func @g(%p: " T ") -> " T " {\n"
                 "%q = \"ttir.sin\"(%p) : (" T ") -> " T "\nreturn %q : " T "\n}\n");
    look();
    cr_assert(image_known(image("%b")) && image_equal(image("%a"), image("%b")));
    cr_assert(image_equal(image("%q"), image("%b")), "it is in the function, too");
}

/* Of a call with other operands than the function has arguments nothing is known. */
Test(image, a_call_that_does_not_fit_is_not_known) {
#define CALL(operands, types)                                                                                          \
    "func.func @f(%x: " T ") -> " T " {\n%a = func.call @g(" operands ") : (" types ") -> " T "\n"                     \
    "return %a : " T "\n}\nfunc.func @g(%p: " T ") -> " T " {\n"                                                       \
    "%q = \"ttir.sin\"(%p) : (" T ") -> " T "\nreturn %q : " T "\n}\n"
    for (int fits = 0; fits < 2; fits++) {
        forget();
        ir_read_bad(&ir, fits ? CALL("%x", T) : CALL("%x, %x", T ", " T));
        look();
        cr_assert_eq(image_known(image("%a")), fits);
    }
}

Test(image, ops_of_a_fragment_are_made_and_those_of_the_host_are_not) {
    forget();
    ir_read_bad(&ir, "%a = \"ttir.exp\"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n");
    cr_expect(image_is_made(&ir.g, ir_op(&ir, "%a")));
    forget();
    ir_read(&ir, "func.func @cpu_hoisted_f(%x: tensor<2x3xf32>) {\n"
                 "%a = \"ttir.exp\"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>\nreturn\n}\n");
    cr_expect_not(image_is_made(&ir.g, ir_op(&ir, "%a")));
    forget();
    ir_read_bad(&ir, "llvm.func @f(%arg0: !llvm.ptr) {\n%a = llvm.load %arg0 : !llvm.ptr -> f32\nllvm.return\n}\n");
    cr_expect_not(image_is_made(&ir.g, ir_op(&ir, "%a")));
    look();
}

Test(image, a_text_without_ops_has_no_images) {
    struct image_index x;
    uint32_t first;
    forget();
    ir_read(&ir, "");
    look();
    image_index_build(&x, &images);
    cr_assert_eq(image_find(&x, &(struct image){{7, 7, 7}, 0}, 4, &first), 0);
    image_index_free(&x);
}

Test(image, values_are_found_by_their_image_as_many_as_are_asked_for) {
    struct image_index x;
    uint32_t first, n;
    forget();
    ir_short(&ir, "x:4 y:4",
             "a = ttir.exp x; b = ttir.exp x; c = ttir.exp x; d = ttir.exp y; e = ttir.reshape a {shape = [2, 2]}");
    look();
    image_index_build(&x, &images);
    for (uint32_t most = 1; most <= 4; most++) {
        n = image_find(&x, image("%a"), most, &first);
        cr_assert_eq(n, most < 3 ? most : 3);
        cr_assert_eq(x.values[first], ir_value(&ir, "%a"));
    }
    cr_assert_eq(image_find(&x, image("%d"), 4, &first), 1);
    cr_assert_eq(image_find(&x, &(struct image){{7, 7, 7}, 0}, 4, &first), 0);
    image_index_free(&x);
}
