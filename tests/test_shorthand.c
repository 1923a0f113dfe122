/* IR in short and what it expands to. */
#include <criterion/criterion.h>

#include "patterns/library/shorthand.h"

static struct arena arena;

static void expands(const char *text, const char *want) {
    struct str out;
    struct shorthand_error error = {0};
    bool good = shorthand_expand(str_of(text), "ttir", "bf16", &arena, &out, &error);
    cr_assert(good, "%s: %.*s", text, (int)error.message.n, error.message.p ? error.message.p : "");
    cr_assert(str_is(out, want), "%s gives\n%s\nnot\n%s", text, out.p, want);
    arena_free(&arena);
}

static void fails(const char *text, size_t at, const char *message) {
    struct str out;
    struct shorthand_error error = {0};
    cr_assert_not(shorthand_expand(str_of(text), "ttir", "bf16", &arena, &out, &error), "%s", text);
    cr_assert_eq(error.at, at, "%s: at %zu", text, error.at);
    cr_assert(str_is(error.message, message), "%s: %s", text, error.message.p);
    arena_free(&arena);
}

Test(shorthand, defaults_and_types) {
    expands("p = matmul x:2x3 w:3x4 -> 2x4",
            "%p = \"ttir.matmul\"(%x, %w) <{transpose_a = false, transpose_b = false}> : (tensor<2x3xbf16>, "
            "tensor<3x4xbf16>) -> tensor<2x4xbf16>");
    expands("o = ttnn.add x:2x3xf32 b:3xf32",
            "%o = \"ttnn.add\"(%x, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>");
    expands("r = reshape x:6 -> 2x3", "%r = \"ttir.reshape\"(%x) <{shape = [2 : i32, 3 : i32]}> : (tensor<6xbf16>) -> "
                                      "tensor<2x3xbf16>");
    expands("r = broadcast x:1x3 -> 2x3", "%r = \"ttir.broadcast\"(%x) <{broadcast_dimensions = array<i64: 2, 1>}> : "
                                          "(tensor<1x3xbf16>) -> tensor<2x3xbf16>");
    expands("s = slice x:4x8 {begins = [0, 2], ends = [4, 6]} -> 4x4",
            "%s = \"ttir.slice_static\"(%x) <{begins = [0 : i32, 2 : i32], ends = [4 : i32, 6 : i32], step = [1 : i32, "
            "1 : i32]}> : (tensor<4x8xbf16>) -> tensor<4x4xbf16>");
    expands("s = slice_static x:4x8 {begins = [0, 2], ends = [4, 6]} -> 4x4",
            "%s = \"ttir.slice_static\"(%x) <{begins = [0 : i32, 2 : i32], ends = [4 : i32, 6 : i32], step = [1 : i32, "
            "1 : i32]}> : (tensor<4x8xbf16>) -> tensor<4x4xbf16>");
    expands("n = rms_norm x:2x8 w:8 {epsilon = 1e-5}",
            "%n = \"ttir.rms_norm\"(%x, %w) <{epsilon = 1.0e-5 : f32, normalized_shape = array<i64: 8>, "
            "operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<2x8xbf16>, tensor<8xbf16>) -> tensor<2x8xbf16>");
}

Test(shorthand, a_reduction_has_the_type_that_it_leaves) {
    expands("m = mean x:2x3x4 {dim_arg = [-1]}", "%m = \"ttir.mean\"(%x) <{dim_arg = [-1 : i32], keep_dim = true}> : "
                                                 "(tensor<2x3x4xbf16>) -> tensor<2x3x1xbf16>");
    expands("m = max x:2x3x4 {dim_arg = [0:i32,1:i32], keep_dim = false}",
            "%m = \"ttir.max\"(%x) <{dim_arg = [0:i32,1:i32], keep_dim = false}> : (tensor<2x3x4xbf16>) -> "
            "tensor<4xbf16>");
    expands("m = max x:2x3x4 {dim_arg = [0, 1], keep_dim = false}",
            "%m = \"ttir.max\"(%x) <{dim_arg = [0 : i32, 1 : i32], keep_dim = false}> : (tensor<2x3x4xbf16>) -> "
            "tensor<4xbf16>");
    expands("m = sum x:2x3", "%m = \"ttir.sum\"(%x) <{keep_dim = true}> : (tensor<2x3xbf16>) -> tensor<1x1xbf16>");
}

Test(shorthand, attributes_go_on_in_the_next_line) {
    expands("m = mean x:2x3x4 {dim_arg =\n  [-1],\n  keep_dim = true}",
            "%m = \"ttir.mean\"(%x) <{dim_arg = [-1 : i32], keep_dim = true}> : (tensor<2x3x4xbf16>) -> "
            "tensor<2x3x1xbf16>\n\n");
}

Test(shorthand, operands_that_are_attributes_are_those_of_an_op_of_its_own) {
    expands("o = clamp x:2 {min = 0, max = 6}",
            "%o = \"ttir.clamp_scalar\"(%x) <{max = 6.0 : f32, min = 0.0 : f32}> : (tensor<2xbf16>) -> tensor<2xbf16>");
    expands("o = clamp x:2 l:2 h:2", "%o = \"ttir.clamp_tensor\"(%x, %l, %h) : (tensor<2xbf16>, tensor<2xbf16>, "
                                     "tensor<2xbf16>) -> tensor<2xbf16>");
}

Test(shorthand, literals_are_constants) {
    expands("o = multiply x:2x3 0.5", "%lit0 = \"ttir.full\"() <{fill_value = 0.5 : f32, shape = array<i32: 1, 1>}> : "
                                      "() -> tensor<1x1xbf16> %o = \"ttir.multiply\"(%x, %lit0) : (tensor<2x3xbf16>, "
                                      "tensor<1x1xbf16>) -> tensor<2x3xbf16>");
    expands("f = ttnn.full {fill_value = 1} -> 2xf32",
            "%f = \"ttnn.full\"() <{fill_value = 1.0 : f32, shape = #ttnn.shape<2>}> : () -> tensor<2xf32>");
}

Test(shorthand, results_locations_and_lines) {
    expands("v, i = sort x:4 {descending = true} -> 4, 4xsi32 @a>b # comment\n\nreturn i v",
            "%v, %i = \"ttir.sort\"(%x) <{descending = true, dim = -1 : si32, stable = false}> : (tensor<4xbf16>) -> "
            "(tensor<4xbf16>, tensor<4xsi32>) loc(\"a\"(\"b\"))\n\nreturn %i, %v : tensor<4xsi32>, tensor<4xbf16>");
    expands("s:2 = x.split a:4xf32 {k = \"p, q\"} -> 2xf32, 2xf32; o = abs s#1",
            "%s:2 = \"x.split\"(%a) <{k = \"p, q\"}> : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>) %o = "
            "\"ttir.abs\"(%s#1) : (tensor<2xf32>) -> tensor<2xf32>");
    expands("ttnn.deallocate x:4 {force = false}",
            "\"ttnn.deallocate\"(%x) <{force = false}> : (tensor<4xbf16>) -> ()");
}

static void infers(const char *text, const char *type) {
    struct str out;
    struct shorthand_error error = {0};
    cr_assert(shorthand_expand(str_of(text), "ttir", "f32", &arena, &out, &error), "%s: %s", text, error.message.p);
    cr_assert(str_ends(out, str_of(type)), "%s: %s", text, out.p);
    arena_free(&arena);
}

Test(shorthand, types_of_products_and_slices) {
    infers("p = matmul x:2x3x4x5 w:3x5x6", " -> tensor<2x3x4x6xf32>");
    infers("p = matmul x:4x4 w:4x4 {transpose_a = true}", " -> tensor<4x4xf32>");
    infers("p = linear x:5x4 w:6x5 b:6 {transpose_a = true, transpose_b = true}", " -> tensor<4x6xf32>");
    infers("p = matmul x:1x4 w:4x1", " -> tensor<1x1xf32>");
    infers("s = slice x:8x9 {begins = [1, 0], ends = [8, 9], step = [2, 3]}", " -> tensor<4x3xf32>");
    infers("t = permute x:2x3x4 {permutation = [2, 0, 1]}", " -> tensor<4x2x3xf32>");
    infers("w = where c:2x3xi1 x:2x1xbf16 0.0", "tensor<2x1xbf16>, tensor<1x1xbf16>) -> tensor<2x3xbf16>");
    infers("w = where c:2x3xi1 0.0 1.0", "tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>");
    fails("t = permute x:2x3 {permutation = [2, 0]}", 4, "the type of the result is needed, behind '->': 'permute'");
    infers("p = matmul x:4 w:4x5 {transpose_a = true}", " -> tensor<5xf32>");
    infers("p = matmul x:2x3x4 w:4 {transpose_b = true}", " -> tensor<2x3xf32>");
    infers("p = matmul x:4 w:4", " -> tensor<1xf32>");
    infers("p = linear x:2x4 w:4x3 b:5x1x3", " -> tensor<5x2x3xf32>");
    infers("s = slice x:8 {begins = [7], ends = [0], step = [-2]}", " -> tensor<4xf32>");
    fails("p = matmul x:4 w:3x4", 4, "the shapes do not fit, 4, 3x4: 'matmul'");
    fails("s = slice x:8 {begins = [3], ends = [2]}", 4, "the shapes do not fit these attributes, 8: 'slice'");
    infers("s = slice x:8 {begins = [-2], ends = [8]}", " -> tensor<2xf32>");
    infers("t = transpose x:2x3x4 {dim0 = -1, dim1 = 0}", " -> tensor<4x3x2xf32>");
    infers("c = concat x:2x3 y:2x4 {dim = -1}", " -> tensor<2x7xf32>");
    fails("t = transpose x:2x3 {dim0 = 0, dim1 = 2}", 4, "the type of the result is needed, behind '->': 'transpose'");
    fails("c = concat x:2x3 y:3x4 {dim = 1}", 4, "the shapes do not fit these attributes, 2x3, 3x4: 'concat'");
    fails("p = matmul x:4x3 w:4x4", 4, "the shapes do not fit, 4x3, 4x4: 'matmul'");
    fails("s = slice x:8 {begins = [2], ends = [9]}", 4, "the shapes do not fit these attributes, 8: 'slice'");
    fails("s = slice x:8 {begins = [2, 3], ends = [4]}", 4, "the type of the result is needed, behind '->': 'slice'");
}

Test(shorthand, functions) {
    expands("func f x:2x3 w:3!parameter!a.w d:!ttnn.device\no = ttnn.add x w\nreturn o\nfunc g\nttnn.nop; return\n",
            "func.func @f(%x: tensor<2x3xbf16>, %w: tensor<3xbf16> {ttcore.argument_type = "
            "#ttcore.argument_type<parameter>, ttir.name = \"a.w\"}, %d: !ttnn.device) -> (tensor<2x3xbf16>) {\n"
            "%o = \"ttnn.add\"(%x, %w) : (tensor<2x3xbf16>, tensor<3xbf16>) -> tensor<2x3xbf16>\n"
            "return %o : tensor<2x3xbf16>\n}\nfunc.func @g() {\n\"ttnn.nop\"() : () -> () return \n}\n");
    fails("func f x", 7, "an argument of a function needs a type: 'x'");
    fails("func", 4, "a function needs a name");
    fails("func f x:2\nfunc g\no = abs x", 26, "its type has to stand where it is first used: 'x'");
}

Test(shorthand, infinite_numbers) {
    expands("o = maximum x:2 -inf",
            "%lit0 = \"ttir.full\"() <{fill_value = 0xFF800000 : f32, shape = array<i32: 1>}> : () -> "
            "tensor<1xbf16> %o = \"ttir.maximum\"(%x, %lit0) : (tensor<2xbf16>, tensor<1xbf16>) -> "
            "tensor<2xbf16>");
    expands("o = pad x:2 {padding = [1, 1], value = inf} -> 4",
            "%o = \"ttir.pad\"(%x) <{padding = array<i32: 1, 1>, value = 0x7F800000 : f32}> : (tensor<2xbf16>) -> "
            "tensor<4xbf16>");
}

Test(shorthand, what_is_wrong) {
    fails("v = sort x:4 -> 4, 4", 4, "each type needs a result: 'sort'");
    fails("o = add x y", 8, "its type has to stand where it is first used: 'x'");
    fails("o = frobnicate x:2", 4, "the dialect has no op of this name: 'frobnicate'");
    fails("o = add x:2 y:3", 4, "the shapes do not fit, 2, 3: 'add'");
    fails("o = sum x:2 {dim_arg = [1, 2", 28, "a '}' is missing");
    fails("o = sum x:2 {dim_arg = one}", 23, "a list of whole numbers is meant: 'one'");
    fails("y = ttir.clamp_scalar x:2 {max, min = 1.0}", 27, "an attribute has no value: 'max'");
    fails("y = ttir.clamp_scalar x:2 {max = , min = 1.0}", 27, "an attribute has no value: 'max'");
    fails("o = full {fill_value = 1}", 4, "the type of the result is needed, behind '->': 'full'");
    fails("o = sum x:2 {dim_arg = [0], keepdim = true}", 28,
          "sum has no such attribute (it has dim_arg, keep_dim): 'keepdim'");
    fails("o = exp x:2 {axis = 0}", 13, "exp has no such attribute (none): 'axis'");
    fails("o = full {fill_value = tiny} -> 2", 23, "a number is meant: 'tiny'");
    fails("o = add x:2 tiny", 12, "its type has to stand where it is first used: 'tiny'");
    fails("o = concat x:2 y:2 -> 4", 4, "dim is needed: 'concat'");
    fails("a, b = abs x:2", 3, "each result needs a type: 'b'");
    fails("a:4294967297 = abs x:2", 0, "each result needs a type: 'a:4294967297'");
}

Test(shorthand, tells_mlir_apart) {
    cr_assert(shorthand_is_mlir(STR("  %0 = \"ttir.abs\"(%x) : (f32) -> f32")));
    cr_assert(shorthand_is_mlir(STR("\"ttnn.deallocate\"(%x) : (f32) -> ()")));
    cr_assert(shorthand_is_mlir(STR("func.func @f() {\n}\n")));
    cr_assert_not(shorthand_is_mlir(STR("o = abs x:2\n")));
}
