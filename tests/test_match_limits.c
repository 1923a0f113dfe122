/* What the search and its conditions say at the limits of what they know: in each row a place that is found and one,
 * of the same arguments, that almost is. */
#include "pattern_text.h"
#include "search/match/conditions.h"
#include "search/match/matcher.h"

#include <criterion/criterion.h>

TestSuite(match_limits, .init = search_setup, .fini = search_teardown, .timeout = 30);

#define HEADS(x, y, apart, with)                                                                                       \
    x "r = ttir.reshape " x " -> " apart "; " x "b = ttir.broadcast " x "r -> " with "; " y " = ttir.reshape " x       \
      "b -> 1x4x7x8\n"
#define ATTEND                                                                                                         \
    "t = ttir.permute kk {permutation = [0, 1, 3, 2]} -> 1x4x8x7; s = ttir.matmul q t; w = ttir.softmax s\n"           \
    "o = ttir.matmul w vv; return o"
#define GROUP(x, apart, mean)                                                                                          \
    "y = ttir.reshape " x " -> " apart "; m = ttir.mean y {dim_arg = [2], keep_dim = true} -> " mean                   \
    "; d = ttir.subtract y m -> " apart "\n"
#define NO_PAD         "p = ttir.pad x {padding = array<i32: 0, 0, 0, 0, 0, 0, 0, 0>} -> 1x4x5x3\n"
#define HIGH_PAD(more) "p = ttir.pad x {padding = array<i32: 0, 0, 1, 1, 0, 0, 0, 0" more ">} -> 1x6x5x3\n"
#define CONV(sizes)                                                                                                    \
    "o = ttnn.conv2d p w {batch_size = 1, " sizes                                                                      \
    ", in_channels = 3, out_channels = 8, kernel_size = [1, 1], padding = [0, 0]} -> 1x4x5x8; return o"
#define CORNER(s) s " = ttir.slice_static x {begins = [0, 0], ends = [4, 4]} -> 4x4; "
#define FIRST(dim)                                                                                                     \
    "c = ttir.conv2d x w -> 1x2x1x3; p = ttir.permute c {permutation = [3, 0, 1, 2]} -> 3x1x2x1\n"                     \
    "o = ttir.batch_norm_inference p a b m v {dimension = " dim " : i32} -> 3x1x2x1; return o"
#define ONE_CHANNEL(before, n)                                                                                         \
    "p = ttir.pad x {padding = array<i32: " before ", 0, 1, 1, 1, 1, 0, 0>} -> " n "x6x7x1\n"                          \
    "o = ttnn.conv2d p w {batch_size = " n ", input_height = 6, input_width = 7, in_channels = 1, out_channels = 8, "  \
    "kernel_size = [1, 1], padding = [0, 0]} -> " n "x6x7x8; return o"

static const struct {
    const char *formula, *keys, *args, *found, *missed;
} rows[] = {
    /* reductions, softmax and norms whose shapes or dimensions are not known */
    {"out = exp(sum(x))", "", "x:2x3 u:*xf32",
     "s = ttir.sum x {dim_arg = [0, 1], keep_dim = false} -> f32; o = ttir.exp s; return o",
     "s = ttir.sum u -> f32; o = ttir.exp s; return o"},
    {"out = exp(sum(x))", "", "x:4x3x5",
     "s = ttir.sum x {dim_arg = [2], keep_dim = false} -> 4x3; r = ttir.reshape s -> 6x2; o = ttir.exp r; return o",
     "s = ttir.sum x {dim_arg = [2], keep_dim = false} -> 4x3; r = ttir.reshape s -> 6x2\n"
     "p = ttir.permute r {permutation = [1, 0]} -> 2x6; o = ttir.exp p; return o"},
    {"out = exp(layer_norm(x))", "", "x:2x3",
     "n = ttir.layer_norm x {normalized_shape = [2, 3]}; o = ttir.exp n; return o",
     "n = ttir.layer_norm x {normalized_shape = [1, 2, 3]}; o = ttir.exp n; return o"},
    {"out = exp(softmax(x))", "", "x:2x3", "n = ttir.softmax x {dimension = 1}; o = ttir.exp n; return o",
     "n = ttir.softmax x {dimension = 2}; o = ttir.exp n; return o"},
    /* slices of all, of what is not printed, of two dimensions */
    {"out = exp(slice(x))", "", "x:4x6",
     "s = ttir.slice_static x {begins = [0, 1], ends = [4, 6]} -> 4x5; o = ttir.exp s; return o",
     "s = ttir.slice_static x {begins = [0, 0], ends = [4, 6]} -> 4x6; o = ttir.exp s; return o"},
    {"out = exp(slice(x))", "", "x:4x6",
     "s = ttir.slice_static x {begins = [1, 0], ends = [4, 6]} -> 3x6; o = ttir.exp s; return o",
     "s = ttir.slice_static x {begins = [1, 0], ends = [4]} -> 3x6; o = ttir.exp s; return o"},
    {"out = slice(softmax(x, dim=-1))", "", "x:4x6",
     "n = ttir.softmax x {dimension = 1}; o = ttir.slice_static n {begins = [1, 2], ends = [4, 6]} -> 3x4; return o",
     "n = ttir.softmax x {dimension = 0}; o = ttir.slice_static n {begins = [1, 2], ends = [4, 6]} -> 3x4; return o"},
    /* an op of five operands */
    {"out = distributed_rms_norm(exp(x), w, r, s, t)", "", "x:2x8 w:8 r:2x8 s:2x8 t:2x8",
     "e = ttir.exp x; o = ttnn.distributed_rms_norm e w r s t; return o",
     "e = ttir.abs x; o = ttnn.distributed_rms_norm e w r s t; return o"},
    /* a value as a whole and element for element */
    {"out = conv2d(x, w) + x", "", "x:1x4x4x3 y:1x4x4x3 w:3x3x1x1",
     "c = ttir.conv2d x w -> 1x4x4x3; o = ttir.add c x; return o",
     "c = ttir.conv2d x w -> 1x4x4x3; o = ttir.add c y; return o"},
    /* a name for another name is the value before a cast, too */
    {"n = x\nout = exp(n) * n", "", "x:2x3 y:2x3",
     "c = ttir.typecast x -> 2x3xbf16; e = ttir.exp c -> 2x3; o = ttir.multiply e x; return o",
     "c = ttir.typecast x -> 2x3xbf16; e = ttir.exp c -> 2x3; o = ttir.multiply e y; return o"},
    /* what a value is the same along; an axis of a reshape of which it varies along a part */
    {"out = exp(x) * w", "where: along_axis(w, x, 0)", "x:2x3",
     "e = ttir.exp x; w = ttir.full {fill_value = 3.0 : f32} -> 2x1; o = ttir.multiply e w; return o",
     "e = ttir.exp x; w = ttir.full {fill_value = 3.0 : f32} -> 1x3; o = ttir.multiply e w; return o"},
    {"out = reshape(exp(x) * w)", "where: repeated(w)", "x:2x3x4 w:2x3x1",
     "e = ttir.exp x; z = ttir.zeros -> 2x3x4; m = ttir.multiply e z; o = ttir.reshape m -> 2x12; return o",
     "e = ttir.exp x; z = ttir.full {fill_value = 2.0 : f32} -> 2x3x4; v = ttir.multiply w z; m = ttir.multiply e v\n"
     "o = ttir.reshape m -> 2x12; return o"},
    /* numbers of an op and of a value */
    {"out = exp(x) + y", "where: attribute(y, \"stride\") == 1", "x:1x4x4x3 z:1x4x4x3",
     "e = ttir.exp x; p = ttir.max_pool2d z {kernel = [1, 1], stride = [1, 1]} -> 1x4x4x3; o = ttir.add e p; return o",
     "e = ttir.exp x; p = ttir.max_pool2d z {kernel = [1, 1], stride = [1, 2]} -> 1x4x4x3; o = ttir.add e p; return o"},
    {"m = mean(x)\nout = exp(x - m)", "where: attribute(m, \"dim_arg\") == 1", "x:2x3",
     "m = ttir.mean x {dim_arg = [1]}; d = ttir.subtract x m; o = ttir.exp d; return o",
     "m = ttir.mean x {dim_arg = [0]}; d = ttir.subtract x m; o = ttir.exp d; return o"},
    {"out = matmul(x, y)", "where: innermost(y) == -1", "x:2x1 y:1x1 z:1x1", "o = ttir.matmul x y; return o",
     "o = ttir.add x y; return o"},
    {"out = exp(x) + y", "require: size(printed(y), 0) > size(y, 0)", "x:2x3 y:1x3",
     "e = ttir.exp x; b = ttir.broadcast y -> 2x3; o = ttir.add e b; return o",
     "e = ttir.exp x; b = ttir.broadcast y -> 2x3; o = ttir.add e b; t = ttir.tanh y; return o t"},
    /* an operand is no value that the match computes, whatever other operands are the same */
    {"p = matmul(x, w)\nq = matmul(y, v)\nout = (p + q) * z", "where: same(x, y)", "a:2x4 b:4x3 c:4x3 z:2x3",
     "p = ttir.matmul a b; q = ttir.matmul a c; s = ttir.add p q; o = ttir.multiply s z; return o",
     "p = ttir.matmul a b; q = ttir.matmul a c; s = ttir.add p q; o = ttir.multiply s p; return o"},
    /* a trailing axis of one element may be a leading one */
    {"out = exp(softmax(x, dim=-1))", "", "x:8x1 y:8x2", "s = ttir.softmax x {dimension = 0}; o = ttir.exp s; return o",
     "s = ttir.softmax y {dimension = 0}; o = ttir.exp s; return o"},
    /* conditions on what is not there */
    {"out = exp(x) * y [+ b]", "require: used_by(b, \"add$\")", "x:2x3 y:2x3 z:2x3",
     "e = ttir.exp x; m = ttir.multiply e y; o = ttir.add m z; return o",
     "e = ttir.exp x; o = ttir.multiply e y; return o"},
    /* one value, read in the same way: but for the axes that are summed */
    {"out = exp(x) * y", "where: same(x, y)", "x:4", "e = ttir.exp x; o = ttir.multiply e x; return o",
     "e = ttir.exp x; r = ttir.reshape x -> 4x1; o = ttir.multiply e r -> 4x4; return o"},
    {"out = matmul(x, w) * matmul(y, v)", "where: same(x, y)", "a:2x4 b:4x3 c:4x3 d:2x4",
     "p = ttir.matmul a b; q = ttir.matmul a c; o = ttir.multiply p q; return o",
     "p = ttir.matmul a b; q = ttir.matmul d c; o = ttir.multiply p q; return o"},
    {"h = matmul(w, v)\nout = matmul(u, h)", "unless: same(u, w)", "a:4x4 b:4x1 c:4x4",
     "h = ttir.matmul a b; o = ttir.matmul c h; return o", "h = ttir.matmul a b; o = ttir.matmul a h; return o"},
    {"out = x @ transposed(x)", "", "x:3x4 y:3x4 z:4x4",
     "t = ttir.permute x {permutation = [1, 0]} -> 4x3; o = ttir.matmul x t; return o",
     "t = ttir.permute y {permutation = [1, 0]} -> 4x3; o = ttir.matmul x t; return o"},
    {"out = x @ x", "", "x:4x4", "o = ttir.matmul x x; return o",
     "t = ttir.permute x {permutation = [1, 0]} -> 4x4; o = ttir.matmul t x; return o"},
    /* under a reduced root */
    {"out = sum(x * max(x, dim=-1), dim=-1)", "", "x:4x4",
     "m = ttir.max x {dim_arg = [1], keep_dim = true} -> 4x1; p = ttir.multiply x m\n"
     "o = ttir.sum p {dim_arg = [1], keep_dim = false} -> 4; return o",
     "m = ttir.max x {dim_arg = [0], keep_dim = true} -> 1x4; p = ttir.multiply x m\n"
     "o = ttir.sum p {dim_arg = [1], keep_dim = false} -> 4; return o"},
    {"out = sum(exp(x), dim=[-3, -1])", "", "x:2x3x4",
     "e = ttir.exp x; o = ttir.sum e {dim_arg = [0, 2], keep_dim = false} -> 3; return o",
     "e = ttir.exp x; o = ttir.sum e {dim_arg = [0, 1], keep_dim = false} -> 4; return o"},
    {"out = sum(sum(x, dim=-1) * y, dim=-1)", "where: extent(x, -1) == 4 & extent(x, -2) == 3", "x:2x3x4 y:2x3",
     "s = ttir.sum x {dim_arg = [2], keep_dim = false} -> 2x3; p = ttir.multiply s y\n"
     "o = ttir.sum p {dim_arg = [1], keep_dim = false} -> 2; return o",
     "s = ttir.sum x {dim_arg = [1], keep_dim = false} -> 2x4; p = ttir.multiply s s\n"
     "o = ttir.sum p {dim_arg = [1], keep_dim = false} -> 2; return o"},
    {"out = sum(x, dim=-1) * (1 / extent(x, -1))", "", "x:2x8",
     "s = ttir.sum x {dim_arg = [1], keep_dim = true} -> 2x1\n"
     "c = ttir.full {fill_value = 0.125 : f32, shape = array<i32: 1>} -> 1; o = ttir.multiply s c -> 2x1; return o",
     "s = ttir.sum x {dim_arg = [1], keep_dim = true} -> 2x1\n"
     "c = ttir.full {fill_value = 0.5 : f32, shape = array<i32: 1>} -> 1; o = ttir.multiply s c -> 2x1; return o"},
    {"out = a[..., :n] * b[..., :n]", "where: value(n) == 2", "a:2x8 b:2x4",
     "s = ttir.slice_static a {begins = [0, 0], ends = [2, 2]} -> 2x2\n"
     "t = ttir.slice_static b {begins = [0, 0], ends = [2, 2]} -> 2x2; o = ttir.multiply s t; return o",
     "s = ttir.slice_static a {begins = [0, 0], ends = [2, 2]} -> 2x2\n"
     "t = ttir.slice_static b {begins = [0, 1], ends = [2, 3]} -> 2x2; o = ttir.multiply s t; return o"},
    {"out = function(where(x > 0, x, slope * x))", "where: value(slope) == 0.25", "x:8 y:8",
     "c = ttir.full {fill_value = 0.25 : f32, shape = array<i32: 8>} -> 8; m = ttir.multiply x c\n"
     "o = ttir.maximum m x; return o",
     "c = ttir.full {fill_value = 0.25 : f32, shape = array<i32: 8>} -> 8; m = ttir.multiply x c\n"
     "o = ttir.maximum m y; return o"},
    /* heads and groups of channels */
    {"out = matmul(softmax(matmul(q, transposed(k)), dim=-1), v)", "where: grouped(q, k, v)",
     "q:1x4x5x8 k:1x2x7x8 v:1x2x7x8",
     HEADS("k", "kk", "1x2x1x7x8", "1x2x2x7x8") HEADS("v", "vv", "1x2x1x7x8", "1x2x2x7x8") ATTEND,
     HEADS("k", "kk", "1x1x2x7x8", "1x2x2x7x8") HEADS("v", "vv", "1x1x2x7x8", "1x2x2x7x8") ATTEND},
    {"m = mean(x)\nout = exp(x - m)", "where: channel_groups(m, 1)", "x:2x4x2x3 z:1x4x1x1",
     GROUP("x", "2x2x12", "2x2x1") "o = ttir.reshape d -> 2x4x2x3; e = ttir.exp o; return e",
     GROUP("z", "1x2x2", "1x2x1") "o = ttir.reshape d -> 1x4x1x1; e = ttir.exp o; return e"},
    {"m = mean(x)\nout = exp(x - m)", "where: channel_groups(m, 1)", "x:2x4x2x3 z:4x12",
     GROUP("x", "2x2x12", "2x2x1") "o = ttir.reshape d -> 2x4x2x3; e = ttir.exp o; return e",
     GROUP("z", "4x3x4", "4x3x1") "o = ttir.reshape d -> 4x12; e = ttir.exp o; return e"},
    {"out = exp(x)", "where: columns(x, -1)", "a:2x4 b:4x3 w:3 c:2x3",
     "p = ttir.matmul a b; s = ttir.add w p; o = ttir.exp s; return o", "s = ttir.add w c; o = ttir.exp s; return o"},
    /* windows that are none, or of sizes that cannot be */
    {"p = pad(x)\nout = conv2d(p, w)", "where: pads_window(p, out)", "x:1x4x5x3 w:8x3x1x1",
     NO_PAD CONV("input_height = 4, input_width = 5"),
     NO_PAD CONV("input_height = 4, input_width = 9223372036854775807 : i64")},
    {"p = pad(x)\nout = conv2d(p, w)", "where: pads_window(p, out)", "x:1x4x5x1 w:8x1x1x1", ONE_CHANNEL("0", "1"),
     ONE_CHANNEL("1", "2")},
    {"p = pad(x)\nout = exp(p) | conv2d(p, w)", "where: pads_window(p, out)", "x:1x4x5x3 w:8x3x1x1",
     NO_PAD CONV("input_height = 4, input_width = 5"), NO_PAD "o = ttir.exp p; return o"},
    {"n = batch_norm_inference(x, a, b, m, v)\nout = n + y", "where: normalizes_channels(n, y)",
     "x:1x1x1x1 y:1x2x3x1 z:1x2x1x3 a:1 b:1 m:1 v:1",
     "n = ttir.batch_norm_inference x a b m v {dimension = 3 : i32} -> 1x1x1x1; o = ttir.add n y; return o",
     "n = ttir.batch_norm_inference x a b m v {dimension = 3 : i32} -> 1x1x1x1; o = ttir.add n z; return o"},
    /* columns of a product behind a norm and a slice of rows, and cut unevenly */
    {"out = exp(x)", "where: columns(x, -2)", "a:4x2 b:2x6 c:4x6",
     "p = ttir.matmul a b; n = ttir.softmax p {dimension = 1}; t = ttir.permute n {permutation = [1, 0]} -> 6x4\n"
     "o = ttir.exp t; return o",
     "p = ttir.matmul a b; r = ttir.reshape p -> 3x8; t = ttir.permute r {permutation = [1, 0]} -> 8x3\n"
     "o = ttir.exp t; return o"},
    {"out = exp(x)", "where: columns(x, -1)", "a:4x2 b:2x6 c:4x6",
     "p = ttir.matmul a b; s = ttir.slice_static p {begins = [1, 0], ends = [3, 6]} -> 2x6; o = ttir.exp s; return o",
     "s = ttir.slice_static c {begins = [1, 0], ends = [3, 6]} -> 2x6; o = ttir.exp s; return o"},
    /* what was looked through is not used elsewhere; what the fused op yields is no operand of it */
    {"out = exp(x) + y", "", "x:2x3 y:6", "e = ttir.exp x; r = ttir.reshape e -> 6; o = ttir.add r y; return o",
     "e = ttir.exp x; r = ttir.reshape e -> 6; n = ttir.neg r; o = ttir.add r y; return o n"},
    {"s = x + r\nout = exp(s) * t", "escapes: [s]", "x:2x3 r:2x3 t:2x3",
     "s = ttir.add x r; e = ttir.exp s; o = ttir.multiply e t; return o s",
     "s = ttir.add x r; e = ttir.exp s; o = ttir.multiply e s; return o s"},
    /* channels along the first dimension, and along none that there is */
    {"y = conv2d(x, w)\nout = y + b", "where: along_axis(b, y, -1)", "x:3x4x4x1 w:8x3x1x1 b:8x1x1x1 c:1x4x1x1",
     "y = ttir.conv2d x w {channel_dim = 0 : i64} -> 8x4x4x1; o = ttir.add y b; return o",
     "y = ttir.conv2d x w {channel_dim = 0 : i64} -> 8x4x4x1; o = ttir.add y c; return o"},
    {"y = conv2d(x, w)\nout = y + b", "where: along_axis(b, y, -1)", "x:1x4x4x3 w:8x3x1x1 b:1x1x1x8 c:1x4x1x1",
     "y = ttir.conv2d x w {channel_dim = 4 : i64} -> 1x4x4x8; o = ttir.add y b; return o",
     "y = ttir.conv2d x w {channel_dim = 4 : i64} -> 1x4x4x8; o = ttir.add y c; return o"},
    /* a sum of nothing */
    {"out = exp(sum(x))", "", "x:2x1 y:2x0", "s = ttir.sum x {dim_arg = [1]} -> 2; o = ttir.exp s; return o",
     "s = ttir.sum y {dim_arg = [1]} -> 2; o = ttir.exp s; return o"},
    {"out = slice(x) + slice(x)", "", "x:8x8", CORNER("s") CORNER("t") "o = ttir.add s t; return o",
     CORNER("s") "t = ttir.permute s {permutation = [1, 0]} -> 4x4; o = ttir.add s t; return o"},
    /* windows along dimensions that there are not, and of more numbers than dimensions */
    {"p = pad(x)\nout = conv2d(p, w)", "where: pads_window(p, out)", "x:1x4x5x3 w:8x3x1x1",
     HIGH_PAD("") "o = ttir.conv2d p w {height_dim = 1, width_dim = 2, channel_dim = 3} -> 1x6x5x8; return o",
     HIGH_PAD("") "o = ttir.conv2d p w {height_dim = 1, width_dim = 4, channel_dim = 3} -> 1x6x5x8; return o"},
    {"p = pad(x)\nout = conv2d(p, w)", "where: pads_window(p, out)", "x:1x4x5x3 w:8x3x1x1",
     HIGH_PAD("") CONV("input_height = 6, input_width = 5"),
     HIGH_PAD(", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0")
         CONV("input_height = 6, input_width = 5")},
    {"c = conv2d(x, w)\nout = batch_norm_inference(c, a, b, m, v)", "where: normalizes_channels(out, c)",
     "x:1x2x1x2 w:3x2x1x1 a:3 b:3 m:3 v:3", FIRST("0"), FIRST("2")},
    {"n = batch_norm_inference(x, a, b, m, v)\nout = n + y", "where: normalizes_channels(n, y)",
     "x:1x1x1x1 y:1x2x3x1 z:1x1x1x1 a:1 b:1 m:1 v:1",
     "n = ttir.batch_norm_inference x a b m v {dimension = 3 : i32} -> 1x1x1x1; o = ttir.add n y; return o",
     "n = ttir.batch_norm_inference x a b m v {dimension = 3 : i32} -> 1x1x1x1; o = ttir.add n z; return o"},
};

Test(match_limits, one_place_is_found_and_the_other_is_not) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pattern(rows[i].formula, rows[i].keys);
        cr_expect_eq(search_all(rows[i].args, rows[i].found), 1, "row %zu, %u places in\n%s", i, list.n, ir.text);
        pattern(rows[i].formula, rows[i].keys);
        cr_expect_eq(search_all(rows[i].args, rows[i].missed), 0, "row %zu: %u places in\n%s", i, list.n, ir.text);
    }
}

/* `n` ops in a row between the exp of x and a tanh. */
static const char *chain(const char *op, int n) {
    struct str text = STR("c0 = ttir.exp x;");
    for (int i = 0; i < n; i++)
        text = arena_printf(&arena, "%.*s c%d = ttir.%s;", (int)text.n, text.p, i + 1,
                            arena_printf(&arena, op, i, 100 - i - 1, 100 - i - 1).p);
    return arena_printf(&arena, "%.*s o = ttir.tanh c%d; return o", (int)text.n, text.p, n).p;
}

Test(match_limits, chains_of_movement_end) {
    for (int n = MAX_CHAIN; n <= MAX_CHAIN + 1; n++) {
        pattern("out = exp(x)", "where: no_user(out, \"[.]add$\")");
        cr_expect_eq(search_all("x:4xbf16", chain("typecast c%d -> 4xf32", n - 2)), n == MAX_CHAIN, "%d casts", n - 2);
    }
}

Test(match_limits, a_chain_has_as_many_links_as_there_is_room_for) {
    struct link links[3] = {{.op = 7}, {.op = 7}, {.op = 7}};
    struct imap identity;
    pattern("out = exp(x)", "");
    search_all("x:6", "a = ttir.reshape x -> 2x3; b = ttir.reshape a -> 3x2; return b");
    imap_identity(&identity, 0, 6);
    cr_expect_eq(movement_chain(&ir.g, ir_value(&ir, "%b"), &identity, links, 2), 2);
    cr_expect(links[1].value == ir_value(&ir, "%a") && links[2].op == 7);
    cr_expect_eq(movement_chain(&ir.g, ir_value(&ir, "%b"), &identity, links, 3), 3);
    cr_expect_eq(links[2].value, ir_value(&ir, "%x"));
}

/* A fragment may hold an op that is made of itself: the way up from it ends. */
Test(match_limits, a_slice_of_itself_has_an_end) {
    pattern("m = matmul(a, b) | linear(a, b, c)\nout = slice(m)", "");
    forget_ir();
    ir_read_bad(&ir, "%s = \"ttir.slice_static\"(%s) <{begins = [0 : i32], ends = [4 : i32], step = [1 : i32]}> : "
                     "(tensor<8xf32>) -> tensor<4xf32>\n");
    match_function(&set, &ir.g, NONE, &arena, &list);
    cr_expect_eq(list.n, 0);
}

static struct binding bound(const char *name) {
    struct match_detail d;
    cr_assert_eq(list.n, 1);
    match_details(&list.items[0], &arena, &d);
    return d.slots[formula_slot(&list.items[0].pattern->formula, str_of(name))];
}

/* A factor that the formula has is looked for among those that change something. */
Test(match_limits, a_factor_of_one_is_none) {
    pattern("out = -(x * w)", "");
    search_all("x:2x3 w:2x3",
               "m = ttir.multiply x w; c = ttir.ones -> 2x1; n = ttir.multiply m c; o = ttir.neg n; return o");
    cr_expect_eq(bound("w").value, ir_value(&ir, "%w"));
    cr_expect_eq(search_all("x:2x3", "c = ttir.ones -> 2x1; n = ttir.multiply x c; o = ttir.neg n; return o"), 0);
}

/* Along windows in any order of the dimensions, and of one element. */
Test(match_limits, pads_of_a_window) {
    struct window_pads w;
    pattern("p = pad(x)\nout = conv2d(p, w)", "where: pads_window(p, out)");
    search_all("x:4x1x1x3 w:8x3x1x1",
               "p = ttir.pad x {padding = array<i32: 1, 2, 0, 0, 0, 0, 0, 0>} -> 7x1x1x3\n"
               "o = ttir.conv2d p w {batch_dim = 1, height_dim = 0, width_dim = 2, channel_dim = 3, "
               "padding = array<i32: 0, 0, 0, 0>} -> 7x1x1x8\n"
               "q:2 = ttir.max_pool2d_with_indices -> 7x1x1x3, 7x1x1x3; return o");
    struct binding pad = bound("p");
    cr_assert(window_pads(&ir.g, ir_op(&ir, "%o"), &pad, &w));
    cr_expect(w.n == 2 && w.size[0] == 7 && w.size[1] == 1 && w.stride[0] == 3 && w.stride[1] == 3);
    cr_expect(w.before[0] == 1 && w.after[0] == 2 && w.before[1] == 0 && w.after[1] == 0);
    cr_expect_not(window_pads(&ir.g, ir_op(&ir, "%p"), &pad, &w), "no window");
    cr_expect_not(window_pads(&ir.g, NONE, &pad, &w), "no op");
    cr_expect_not(window_pads(&ir.g, ir_op(&ir, "%q"), &pad, &w), "nothing to pad");
    search_all("x:1x4x5x3 w:8x3x1x1",
               "p = ttir.pad x {padding = array<i32: 0, 0, 1, 1, 2, 2, 0, 0>} -> 1x6x9x3\n"
               "o = ttnn.conv2d p w {batch_size = 1, input_height = 6, input_width = 9, in_channels = 3, "
               "out_channels = 8, kernel_size = [1, 1], padding = [0, 0]} -> 1x6x9x8; return o");
    pad = bound("p");
    cr_assert(window_pads(&ir.g, ir_op(&ir, "%o"), &pad, &w));
    cr_expect(w.n == 2 && w.size[0] == 6 && w.size[1] == 9);
    cr_expect(w.before[0] == 1 && w.after[0] == 1 && w.before[1] == 2 && w.after[1] == 2);
}

/* An op that is matched is not told as one that was looked through. */
Test(match_limits, a_matched_op_is_no_op_between) {
    pattern("out = permute(x)\nalso k = exp(x)", "");
    cr_assert_eq(search_all("x:2x3", "p = ttir.permute x {permutation = [1, 0]}; e = ttir.exp p; return e"), 1);
    cr_expect_eq(list.items[0].nthrough, 0);
    cr_assert_eq(search_all("x:2x3", "p = ttir.permute x {permutation = [1, 0]}; c = ttir.typecast x -> 2x3xbf16\n"
                                     "e = ttir.exp c; return p e"),
                 1);
    cr_expect_eq(list.items[0].nthrough, 1);
}

/* Nothing uses the roots, whose hashes would differ by where. What is found at one holds at another like it, but for
 * locations, users and what is deeper: each in a second function, whose operands are not the first ones. */
Test(match_limits, roots_alike_are_told_apart_by_what_was_asked) {
    static const struct {
        const char *formula, *keys, *refused, *accepted;
    } pairs[] = {
        {"out = exp(x) + y", "unless: one_location()", "a = ttir.exp x @s.1; b = ttir.add a x @s.1;",
         "c = ttir.exp z @exp.1; d = ttir.add c z @add.2;"},
        {"out = exp(x)", "where: no_user(out, \"[.]add$\")",
         "k = ttir.neg x; b = ttir.exp x; f = ttir.abs b; g = ttir.add b x; j = ttir.sin k;",
         "l = ttir.neg z; d = ttir.exp z; h = ttir.abs d; i = ttir.multiply d z; m = ttir.sin l;"},
        {"out = exp(neg(x))", "where: no_user(x, \"[.]add$\")",
         "a = ttir.neg x; b = ttir.exp a; f = ttir.sin x; g = ttir.add f x;",
         "c = ttir.neg z; d = ttir.exp c; h = ttir.sin z; i = ttir.multiply h z;"},
        {"out = exp(neg(softmax(x, dim=-1)))", "",
         "p = ttir.softmax x {dimension = 0}; a = ttir.neg p; b = ttir.exp a;",
         "q = ttir.softmax z {dimension = 1}; c = ttir.neg q; d = ttir.exp c;"},
        {"out = exp(neg(x))", "where: extent(-1) == 5", "a = ttir.neg x; b = ttir.exp a;",
         "c = ttir.neg w; d = ttir.exp c;"},
    };
    for (size_t i = 0; i < 2 * sizeof pairs / sizeof *pairs; i++) {
        const char *one = pairs[i / 2].refused, *two = pairs[i / 2].accepted;
        pattern(pairs[i / 2].formula, pairs[i / 2].keys);
        search_all(
            "u:2x3",
            arena_printf(&arena,
                         "t = ttir.tanh u; r = ttir.multiply u t; return r\nfunc g x:3x3 z:3x3 w:3x5\n%s%s return",
                         i % 2 ? one : two, i % 2 ? two : one)
                .p);
        cr_assert_eq(list.n, 1, "%s: %u places in\n%s", pairs[i / 2].formula, list.n, ir.text);
        cr_expect_eq(list.items[0].root, ir_op(&ir, "%d"));
    }
}

/* Angles that a function which runs once makes: a table of positions before it repeats them for each head. */
Test(match_limits, positions_before_a_function_that_runs_once) {
#define TABLE(rows) "tensor<1x1x" rows "x8xf32>"
#define ALL         "tensor<1x4x7x8xf32>"
#define TURNED(rows, times)                                                                                            \
    "func.func private @once(%a: " TABLE(                                                                              \
        rows) ") -> " ALL " attributes {tt.function_type = \"const_eval\"} {\n"                                        \
              "  %b = \"ttir.broadcast\"(%a) <{broadcast_dimensions = array<i64: 1, 4, " times                         \
              ", 1>}> : (" TABLE(rows) ") -> " ALL "\n  return %b : " ALL "\n}\nfunc.func @main(%x: " ALL              \
                                       ", %t: " TABLE(rows) ") -> " ALL " {\n"                                         \
                                                            "  %c = ttcore.load_cached(@once, [%t]) : (" TABLE(        \
                                                                rows) ") -> " ALL "\n"                                 \
                                                                      "  %o = \"ttir.multiply\"(%x, %c) : (" ALL       \
                                                                      ", " ALL ") -> " ALL "\n  return %o : " ALL      \
                                                                      "\n}\n"
    pattern("out = x * cos", "where: positions(cos)");
    cr_expect_eq(search_text(TURNED("7", "1")), 1);
    pattern("out = x * cos", "where: positions(cos)");
    cr_expect_eq(search_text(TURNED("1", "7")), 0);
}

/* Where there is no room for what is to be done nothing is found. */
Test(match_limits, a_result_that_there_is_no_room_for) {
    pattern("s = sort(x)\nout = exp(result(s, 1))", "");
    cr_assert_eq(search_all("x:2x3", "v:2 = ttir.sort x -> 2x3, 2x3; e = ttir.exp v#1; return e"), 1);
    const struct pattern *p = list.items[0].pattern;
    struct matcher *m = matcher_new(&ir.g, 0, 0, &arena);
    cr_assert(match_at(m, p, ir_op(&ir, "%e")));
    matcher_undo(m, (struct mark){0});
    struct goal goal = *matcher_root_goal(m, p->formula.root, ir_op(&ir, "%e"), 0);
    while (goal.node->kind != N_RESULT)
        goal.node = goal.node->args[0];
    goal.value = ir_value(&ir, "%v#1");
    m->state.used = SCRATCH_BYTES;
    cr_expect_not(match_result(m, &goal));
    cr_expect(m->full);
    matcher_free(m);
}

/* Of many patterns that differ in a number each finds its own. */
Test(match_limits, numbers_of_many_patterns_are_told_apart) {
    struct buf b = {0};
    for (int i = 0; i < 400; i++)
        buf_printf(&b, "---\nname: p%d\nfused_op: ttnn.p%d\nsource: ttnn\nmatch: out = exp(x) * %d\n", i, i, i + 2);
    buf_addc(&b, '\0');
    pattern_file(b.p);
    buf_free(&b);
    for (int i = 0; i < 400; i++) {
        const char *ops = arena_printf(&arena,
                                       "k = ttir.full {fill_value = %d.0 : f32} -> 2x3; e = ttir.exp x\n"
                                       "o = ttir.multiply e k; return o",
                                       i + 2)
                              .p;
        cr_assert_eq(search_all("x:2x3", ops), 1, "%d", i + 2);
        cr_expect(str_eq(list.items[0].pattern->name, arena_printf(&arena, "p%d", i)));
    }
}

/* Where there is no more room the search is given up. */
Test(match_limits, assumptions_are_kept_once_and_up_to_a_limit) {
    struct assumptions a = {.nsliced = 0};
    for (uint32_t i = 0; i < 2 * MAX_ASSUMED_CONSTANTS + 2; i++) {
        cr_expect_eq(assumptions_are_full(&a), i > 2 * MAX_SLICED - 2, "%u", i);
        assume_slice(&a, i / 2);
        assume_constant(&a, i / 2, i, false);
        assume_precondition(&a, (struct precondition){i / 2, i / 2, false});
    }
    cr_expect_eq(a.nsliced, MAX_SLICED);
    cr_expect_eq(a.nconstants, MAX_ASSUMED_CONSTANTS);
    cr_expect_eq(a.npreconditions, MAX_PRECONDITIONS);
    for (uint32_t i = 0; i < MAX_SLICED; i++)
        cr_expect(a.sliced[i] == i && a.constants[i].value == i && a.constants[i].number == 2 * i);
}
