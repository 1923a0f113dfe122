/* Functions of the host: what is read of loops over memory, and what is left alone. */
#include "ir/mlir/mlir.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;
static struct diags diags;
static struct source source;
static struct log_block block;
static struct mlir m;

static void setup(void) {
    arena = (struct arena){0};
    diags = (struct diags){.arena = &arena};
}

static void teardown(void) {
    if (m.tables)
        mlir_free(&m);
    diags_free(&diags);
    arena_free(&arena);
}

TestSuite(host, .init = setup, .fini = teardown);

/* Loops that are open while a body is written, and the number of names that it took. */
struct body {
    struct buf text;
    char open[4][8];
    int nopen, names;
};

static int pointer(struct body *b, const char *array, const char *index) {
    buf_printf(&b->text, "%%p%d = llvm.getelementptr inbounds|nuw %%%s[%%%s] : (!llvm.ptr, i64) -> !llvm.ptr, f32\n",
               ++b->names, array, index);
    return b->names;
}

/* "for i 3" and "end", "x = a[k]", "r[k] = x", "k = mul i c3", "y = fadd x b"; anything else is LLVM. */
static void add_line(struct body *b, const char *line) {
    char to[8], op[24], x[8], y[8];
    int n;
    if (sscanf(line, "for %7s %d", to, &n) == 2) {
        buf_printf(&b->text,
                   "llvm.br ^head_%s(%%c0 : i64)\n^head_%s(%%%s: i64):\n%%t_%s = llvm.icmp \"slt\" %%%s, %%c%d : i64\n"
                   "llvm.cond_br %%t_%s, ^in_%s, ^out_%s\n^in_%s:\n",
                   to, to, to, to, to, n, to, to, to, to);
        memcpy(b->open[b->nopen++], to, sizeof to);
    } else if (strcmp(line, "end") == 0) {
        const char *of = b->open[--b->nopen];
        buf_printf(&b->text, "%%n_%s = llvm.add %%%s, %%c1 : i64\nllvm.br ^head_%s(%%n_%s : i64)\n^out_%s:\n", of, of,
                   of, of, of);
    } else if (sscanf(line, "%7[a-z0-9] = %7[a-z0-9][%7[a-z0-9]]", to, x, y) == 3) {
        n = pointer(b, x, y);
        buf_printf(&b->text, "%%%s = llvm.load %%p%d : !llvm.ptr -> f32\n", to, n);
    } else if (sscanf(line, "%7[a-z0-9][%7[a-z0-9]] = %7[a-z0-9]", x, y, to) == 3) {
        n = pointer(b, x, y);
        buf_printf(&b->text, "llvm.store %%%s, %%p%d : f32, !llvm.ptr\n", to, n);
    } else if (sscanf(line, "%7s = %23[a-z.] %7[a-z0-9] %7[a-z0-9]", to, op, x, y) == 4) {
        bool floats = op[0] == 'f' || strstr(op, "imum");
        buf_printf(&b->text, "%%%s = llvm.%s %%%s, %%%s : %s\n", to, op, x, y, floats ? "f32" : "i64");
    } else {
        buf_printf(&b->text, "%s\n", line);
    }
}

static const char descriptor[] = "!llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>";

/* A function of the host of a: 2x3, b: 3 and whole numbers e: 2, which fills r (and q) and returns it as a tensor, and
 * what calls it. */
static const char *module_of(const char *lines, int rows, int columns) {
    struct body b = {0};
    buf_printf(
        &b.text,
        "module {\nfunc.func private @host(tensor<2x3xf32>, tensor<3xf32>, tensor<2xi32>) -> tensor<%dx%dxf32>\n"
        "func.func @main(%%x: tensor<2x3xf32>, %%y: tensor<3xf32>, %%z: tensor<2xi32>) -> tensor<%dx%dxf32> {\n"
        "%%0 = call @host(%%x, %%y, %%z) : (tensor<2x3xf32>, tensor<3xf32>, tensor<2xi32>) -> tensor<%dx%dxf32>\n"
        "return %%0 : tensor<%dx%dxf32>\n}\nbuiltin.module {\n"
        "llvm.mlir.global private constant @two(dense<2.0> : tensor<1xf32>) : !llvm.array<1 x f32>\n"
        "llvm.func @host(%%a0: !llvm.ptr, %%a: !llvm.ptr, %%a2: i64, %%a3: i64, %%a4: i64, %%a5: i64, %%a6: i64, "
        "%%b0: !llvm.ptr, %%b: !llvm.ptr, %%b2: i64, %%b3: i64, %%b4: i64, "
        "%%e0: !llvm.ptr, %%e: !llvm.ptr, %%e2: i64, %%e3: i64, %%e4: i64) -> %s {\n"
        "%%zero = llvm.mlir.constant(0.000000e+00 : f32) : f32\n",
        rows, columns, rows, columns, rows, columns, rows, columns, descriptor);
    for (int i = 0; i < 10; i++)
        buf_printf(&b.text, "%%c%d = llvm.mlir.constant(%d : index) : i64\n", i, i);
    add_line(&b, "%r = llvm.call @malloc(%c9) : (i64) -> !llvm.ptr");
    add_line(&b, "%q = llvm.call @malloc(%c9) : (i64) -> !llvm.ptr");
    for (struct str rest = str_of(lines); rest.n;)
        add_line(&b, arena_strdup(&arena, str_trim(str_part(&rest, ';'))));
    static const char *const fields[][2] = {{"%r", "0"}, {"%r", "1"}, {"%c0", "2"}};
    buf_printf(&b.text, "%%v0 = llvm.mlir.poison : %s\n", descriptor);
    for (int i = 0; i < 3; i++)
        buf_printf(&b.text, "%%v%d = llvm.insertvalue %s, %%v%d[%s] : %s\n", i + 1, fields[i][0], i, fields[i][1],
                   descriptor);
    const int sizes[] = {rows, columns, columns, 1};
    for (int i = 0; i < 4; i++)
        buf_printf(&b.text, "%%v%d = llvm.insertvalue %%c%d, %%v%d[%d, %d] : %s\n", i + 4, sizes[i], i + 3, 3 + i / 2,
                   i % 2, descriptor);
    buf_printf(&b.text, "llvm.return %%v7 : %s\n}\n}\n}\n", descriptor);
    const char *text = arena_strdup(&arena, buf_str(&b.text));
    buf_free(&b.text);
    return text;
}

/* "reshape:6 add:2x3": the ops that the call has as its body; empty where it has none. */
static const char *body_of_call(const char *text) {
    source = (struct source){.path = "test", .data = text, .size = strlen(text)};
    block = (struct log_block){.text = {text, strlen(text)}};
    if (m.tables)
        mlir_free(&m);
    mlir_parse(&m, &source, &block, &diags);
    cr_assert_eq(diags.n, 0, "%s", text);
    const struct mlir_func *f = &m.funcs[m.nfuncs - 1];
    struct str said = STR("");
    for (uint32_t op = f->first_op; f->in_cpu_module && op < f->end_op; op++)
        if (m.ops[op].nresults == 1) {
            struct str name = mlir_op_name(&m, op), type = m.types[m.values[m.ops[op].first_result].type].text;
            said = arena_printf(&arena, "%.*s%s%.*s:%.*s", (int)said.n, said.p, said.n ? " " : "", (int)name.n - 5,
                                name.p + 5, (int)type.n - 12, type.p + 7);
        }
    return arena_strdup(&arena, said);
}

struct host_case {
    const char *lines;
    int rows, columns;
    const char *ops;
};

static void check(const struct host_case *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const char *text = module_of(cases[i].lines, cases[i].rows, cases[i].columns), *ops = body_of_call(text);
        cr_expect_str_eq(ops, cases[i].ops, "%s\nis read as \"%s\"\nexpected   \"%s\"\n", cases[i].lines, ops,
                         cases[i].ops);
    }
}

#define IN_A "k = mul i c3; k2 = add k j;" /* element i, j of a */
#define BOTH "for i 2; for j 3;" IN_A
#define SUM  "for s 2; r[s] = zero; end; "
/* row g of a, which element i of e says */
#define PICK                                                                                                           \
    "%pe = llvm.getelementptr %e[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32; "                                           \
    "%g0 = llvm.load %pe : !llvm.ptr -> i32; %g = llvm.sext %g0 : i32 to i64; "

Test(host, loops_over_memory_are_ops_on_tensors) {
    static const struct host_case cases[] = {
        {BOTH "x = a[k2]; l = mul j c2; l2 = add l i; r[l2] = x; end; end", 3, 2, "reshape:6 permute:3x2 reshape:6"},
        {BOTH "x = a[k2]; y = b[j]; z = fadd x y; r[k2] = z; end; end", 2, 3,
         "reshape:6 reshape:1x3 add:2x3 reshape:6"},
        {BOTH "x = b[j]; r[k2] = x; end; end", 2, 3, "reshape:6 reshape:1x3 broadcast:2x3 reshape:6"},
        {"for i 2; l = mul i c3; l2 = add l c1; x = a[l2]; r[i] = x; end", 2, 1,
         "reshape:6 slice_static:2x1 reshape:2"},
        {"%g = llvm.mlir.addressof @two : !llvm.ptr; " BOTH "x = a[k2]; y = g[c0]; z = fmul x y; r[k2] = z; end; end",
         2, 3, "reshape:6 constant:1 reshape:1x1 multiply:2x3 reshape:6"},
        {SUM BOTH "x = a[k2]; y = r[i]; z = fadd y x; r[i] = z; end; end", 2, 1,
         "reshape:6 full:1 broadcast:2 reshape:2x1 add:2x3 reshape:2x1 sum:2x1 add:2x1 reshape:2"},
        {BOTH "x = a[k2]; r[k2] = x; end; end; for n 3; x1 = b[n]; n1 = add n c6; r[n1] = x1; end", 3, 3,
         "reshape:6 reshape:6 concat:9 reshape:3x3"},
        {BOTH "x = a[k2]; l = mul i c4; l2 = add l j; r[l2] = x; end; end; "
              "for n 2; x1 = a[n]; n1 = mul n c4; n2 = add n1 c3; r[n2] = x1; end",
         2, 4, "reshape:6 slice_static:2 reshape:2x1 concat:2x4 reshape:8"},
        {BOTH "x = a[k2]; r[k2] = x; end; end; for u 6; x1 = r[u]; %y1 = llvm.fneg %x1 : f32; r[u] = y1; end", 2, 3,
         "reshape:6 reshape:6 neg:6 reshape:2x3"},
        /* a part that is written once more */
        {"for u 6; r[u] = zero; end; for i 3; x = b[i]; l = add i c2; r[l] = x; end", 2, 3,
         "reshape:6 full:1 broadcast:6 slice_static:2 slice_static:1 concat:6 reshape:2x3"},
        {"for u 6; r[u] = zero; end; for i 2; x = a[i]; l = mul i c3; l2 = add l c1; r[l2] = x; end", 2, 3,
         "reshape:6 full:1 broadcast:6 slice_static:2 reshape:2x1 reshape:2x3 slice_static:2x1 slice_static:2x1 "
         "concat:2x3 reshape:6"},
        {"for u 6; x = a[u]; %y = llvm.call @erff(%x) : (f32) -> f32; r[u] = y; end", 2, 3,
         "reshape:6 erf:6 reshape:2x3"},
        /* truth values, one of two, counters as numbers */
        {"for i 3; x = b[i]; %t = llvm.fcmp \"ogt\" %x, %zero : f32; %y = llvm.select %t, %x, %zero : i1, f32; r[i] = "
         "y; "
         "end",
         3, 1, "reshape:6 full:1 gt: full:1 where:3 reshape:3x1"},
        {"for i 3; x = b[i]; %t = llvm.fcmp \"une\" %x, %zero : f32; %u = llvm.fcmp \"olt\" %x, %zero : f32; "
         "%v = llvm.and %t, %u : i1; %y = llvm.uitofp %v : i1 to f32; r[i] = y; end",
         3, 1, "reshape:6 full:1 ne: full:1 lt: logical_and: typecast:3 reshape:3x1"},
        {BOTH "%y = llvm.sitofp %k2 : i64 to f32; r[k2] = y; end; end", 2, 3,
         "reshape:6 arange:2x1x arange:1x3x add:2x3x typecast:2x3 reshape:6"},
        /* rows, columns of rows, and elements that other elements count */
        {"for i 2; " PICK
         "for j 3; l = mul g c3; l2 = add l j; x = a[l2]; k = mul i c3; k2 = add k j; r[k2] = x; end; end",
         2, 3, "reshape:6 typecast:2x embedding:2x3 reshape:6 reshape:6"},
        {"for i 2; " PICK "l = mul g c3; l2 = add l c1; x = a[l2]; r[i] = x; end", 2, 1,
         "reshape:6 typecast:2x embedding:2x3 reshape:6 slice_static:2x1 reshape:2"},
        {"for i 2; " PICK "h = intr.smin g c2; x = b[h]; r[i] = x; end", 2, 1,
         "reshape:6 typecast:2x full:1x minimum:2x reshape:3x1 embedding:2x1 reshape:2"},
        {"for i 2; " PICK "%m = llvm.mul %g, %c3 : i64; %f = llvm.sitofp %m : i64 to f32; r[i] = f; end", 2, 1,
         "reshape:6 typecast:2x full:1x multiply:2x typecast:2 reshape:2x1"},
    };
    check(cases, sizeof cases / sizeof *cases);
}

Test(host, what_is_not_understood_stays) {
    static const struct host_case cases[] = {
        /* an iteration reads what another one writes */
        {"for i 5; x = a[i]; r[i] = x; end; for j 4; y = r[j]; j1 = add j c1; r[j1] = y; end", 5, 1, ""},
        {"for i 5; r[i] = zero; x = r[c0]; i1 = add i c1; r[i1] = x; end", 6, 1, ""},
        {"for u 6; x = a[u]; %y = llvm.call @j0f(%x) : (f32) -> f32; r[u] = y; end", 2, 3, ""},
        /* the last iteration wins */
        {BOTH "x = a[k2]; r[i] = x; end; end", 2, 1, ""},
        {SUM BOTH "x = a[k2]; y = r[i]; z = fsub y x; r[i] = z; end; end", 2, 1, ""},
        {SUM BOTH "x = a[k2]; y = r[i]; z = fadd y y; r[i] = z; end; end", 2, 1, ""},
        {SUM BOTH "x = a[k2]; y = r[i]; w = fmul y x; z = fadd y w; r[i] = z; end; end", 2, 1, ""},
        {SUM BOTH "x = a[k2]; y = r[i]; z = fadd y x; r[i] = z; q[k2] = z; end; end", 2, 1, ""},
        {SUM BOTH "x = a[k2]; y = r[i]; z = fadd y x; r[i] = z; q[k2] = y; end; end", 2, 1, ""},
        {SUM BOTH "x = a[k2]; y = r[i]; w = r[i]; z = fadd y x; r[i] = z; q[k2] = w; end; end", 2, 1, ""},
        /* a part that nothing stores, or two that overlap */
        {"for i 4; x = a[i]; r[i] = x; end", 2, 3, ""},
        {"for i 4; x = a[i]; r[i] = x; end; for j 3; y = b[j]; j1 = add j c3; r[j1] = y; end", 2, 3, ""},
        {"for u 6; r[u] = zero; end; for i 3; x = b[i]; l = add i c4; r[l] = x; end", 2, 3, ""},
        {"for u 6; r[u] = zero; end; for i 3; x = b[i]; l = mul i c2; l2 = add l c1; r[l2] = x; y = r[c0]; q[i] = y; "
         "end",
         2, 3, ""},
        /* beyond the end; places that are no digits of an index */
        {"for i 4; x = b[i]; r[i] = x; end", 4, 1, ""},
        {"for i 2; for j 3; k = add i j; x = a[k]; l = mul i c3; l2 = add l j; r[l2] = x; end; end", 2, 3, ""},
        {"for i 2; k = mul i i; x = a[k]; r[i] = x; end", 2, 1, ""},
        /* rows that the table is not made of, or that a place is beyond; where elements say is not stored to */
        {"for i 2; " PICK "l = mul g c4; x = a[l]; r[i] = x; end", 2, 1, ""},
        {"for i 2; " PICK "l = mul g c3; l2 = add l c3; x = a[l2]; r[i] = x; end", 2, 1, ""},
        {"for i 2; " PICK "l = mul g c3; l2 = add l i; x = a[l2]; r[i] = x; end", 2, 1, ""},
        {"for i 2; " PICK "l = sub c3 g; x = a[l]; r[i] = x; end", 2, 1, ""},
        {"for i 2; " PICK "x = a[i]; r[g] = x; end", 2, 1, ""},
        {"for i 2; x = a[i]; r[i] = x; end; for i 2; " PICK "y = r[g]; r[i] = y; end", 2, 1, ""},
        /* a pointer that counts bytes, and elements of four */
        {"for i 2; %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8; %x = llvm.load %p : !llvm.ptr "
         "-> f32; "
         "r[i] = x; end",
         2, 1, ""},
        /* other loops, ops and functions; what is true of NaN, or counts without a sign */
        {"for i 3; x = b[i]; %t = llvm.fcmp \"ugt\" %x, %zero : f32; %y = llvm.select %t, %x, %zero : i1, f32; r[i] = "
         "y; "
         "end",
         3, 1, ""},
        {"for i 2; " PICK "%t = llvm.icmp \"ult\" %g, %c2 : i64; %y = llvm.uitofp %t : i1 to f32; r[i] = y; end", 2, 1,
         ""},
        {"for i 2; " PICK "%y = llvm.uitofp %g : i64 to f32; r[i] = y; end", 2, 1, ""},
        {"for i 2; " PICK "%t = llvm.icmp \"slt\" %g, %c2 : i64; %y = llvm.sitofp %t : i1 to f32; r[i] = y; end", 2, 1,
         ""},
        {"for i 2; " PICK "%t = llvm.and %g, %c1 : i64; %y = llvm.sitofp %t : i64 to f32; r[i] = y; end", 2, 1, ""},
        {"for i 2; x = a[i]; y = frem x x; r[i] = y; end", 2, 1, ""},
        {"%w = llvm.call @other(%a) : (!llvm.ptr) -> !llvm.ptr; for i 2; x = w[i]; r[i] = x; end", 2, 1, ""},
        {"for i 2; x = a[i]; end; r[c0] = x", 1, 1, ""},
        {"%w = llvm.ptrtoint %r : !llvm.ptr to i64; %v = llvm.inttoptr %w : i64 to !llvm.ptr; for i 2; x = a[i]; v[i] "
         "= x; "
         "end",
         2, 1, ""},
    };
    check(cases, sizeof cases / sizeof *cases);
    static const char *const changed[][2] = {
        {"\"slt\"", "\"sle\""}, {"add %i, %c1", "add %i, %c2"}, {"^head_i(%c0", "^head_i(%c2"}};
    const char *text = module_of("for i 2; x = b[i]; r[i] = x; end", 2, 1);
    cr_expect_str_neq(body_of_call(text), "");
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
        const char *at = strstr(text, changed[i][0]);
        cr_assert_not_null(at);
        struct str other =
            arena_printf(&arena, "%.*s%s%s", (int)(at - text), text, changed[i][1], at + strlen(changed[i][0]));
        cr_expect_str_eq(body_of_call(other.p), "", "%s", changed[i][1]);
    }
}

/* -a + 2, where the 2 is a constant of the module. */
Test(host, the_generic_form_is_read) {
    const char *text =
        "\"builtin.module\"() ({\n"
        "\"func.func\"() <{function_type = (tensor<4xf32>) -> tensor<2x2xf32>, sym_name = \"host\"}> ({\n}) : () -> "
        "()\n"
        "\"builtin.module\"() ({\n"
        "\"llvm.mlir.global\"() <{addr_space = 0 : i32, constant, global_type = !llvm.array<1 x f32>, "
        "sym_name = \"two\", value = dense<2.0> : tensor<1xf32>}> ({\n}) : () -> ()\n"
        "\"llvm.func\"() <{function_type = !llvm.func<struct<(ptr)> (ptr, ptr, i64, i64, i64)>, sym_name = \"host\"}> "
        "({\n"
        "^bb0(%a0: !llvm.ptr, %a: !llvm.ptr, %a2: i64, %a3: i64, %a4: i64):\n"
        "%z = \"llvm.mlir.constant\"() <{value = 0 : index}> : () -> i64\n"
        "%c1 = \"llvm.mlir.constant\"() <{value = 1 : index}> : () -> i64\n"
        "%c2 = \"llvm.mlir.constant\"() <{value = 2 : index}> : () -> i64\n"
        "%n = \"llvm.mlir.constant\"() <{value = 4 : index}> : () -> i64\n"
        "%r = \"llvm.call\"(%n) <{callee = @malloc, operandSegmentSizes = array<i32: 1, 0>}> : (i64) -> !llvm.ptr\n"
        "%g = \"llvm.mlir.addressof\"() <{global_name = @two}> : () -> !llvm.ptr\n"
        "%g0 = \"llvm.getelementptr\"(%g) <{elem_type = !llvm.array<1 x f32>, rawConstantIndices = array<i32: 0, 0>}> "
        ": "
        "(!llvm.ptr) -> !llvm.ptr\n"
        "\"llvm.br\"(%z)[^bb1] : (i64) -> ()\n"
        "^bb1(%i: i64):\n"
        "%t = \"llvm.icmp\"(%i, %n) <{predicate = 2 : i64}> : (i64, i64) -> i1\n"
        "\"llvm.cond_br\"(%t)[^bb2, ^bb3] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()\n"
        "^bb2:\n"
        "%p = \"llvm.getelementptr\"(%a, %i) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>}> : "
        "(!llvm.ptr, i64) -> !llvm.ptr\n"
        "%x = \"llvm.load\"(%p) <{ordering = 0 : i64}> : (!llvm.ptr) -> f32\n"
        "%y = \"llvm.fneg\"(%x) <{fastmathFlags = #llvm.fastmath<none>}> : (f32) -> f32\n"
        "%two = \"llvm.load\"(%g0) <{ordering = 0 : i64}> : (!llvm.ptr) -> f32\n"
        "%s = \"llvm.fadd\"(%y, %two) : (f32, f32) -> f32\n"
        "%q = \"llvm.getelementptr\"(%r, %i) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>}> : "
        "(!llvm.ptr, i64) -> !llvm.ptr\n"
        "\"llvm.store\"(%s, %q) <{ordering = 0 : i64}> : (f32, !llvm.ptr) -> ()\n"
        "%j = \"llvm.add\"(%i, %c1) <{overflowFlags = 0 : i32}> : (i64, i64) -> i64\n"
        "\"llvm.br\"(%j)[^bb1] : (i64) -> ()\n"
        "^bb3:\n"
        "%v0 = \"llvm.mlir.poison\"() : () -> !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>\n"
        "%v1 = \"llvm.insertvalue\"(%v0, %r) <{position = array<i64: 1>}> : (!s, !llvm.ptr) -> !s\n"
        "%v2 = \"llvm.insertvalue\"(%v1, %c2) <{position = array<i64: 3, 0>}> : (!s, i64) -> !s\n"
        "%v3 = \"llvm.insertvalue\"(%v2, %c2) <{position = array<i64: 3, 1>}> : (!s, i64) -> !s\n"
        "%v4 = \"llvm.insertvalue\"(%v3, %c2) <{position = array<i64: 4, 0>}> : (!s, i64) -> !s\n"
        "%v5 = \"llvm.insertvalue\"(%v4, %c1) <{position = array<i64: 4, 1>}> : (!s, i64) -> !s\n"
        "\"llvm.return\"(%v5) : (!s) -> ()\n"
        "}) : () -> ()\n}) : () -> ()\n}) : () -> ()\n";
    cr_expect_str_eq(body_of_call(text), "constant:1 neg:4 add:4 reshape:2x2");
}

/* The results are a list of tensors, of any length. */
Test(host, several_results_are_returned) {
    enum { MOST = 48 };
    static const int counts[] = {2, 17, MOST};
    static const char one[] = "struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>";
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct buf text = {0}, all = {0};
        struct str type, results = STR("");
        for (int k = 0; k < counts[i]; k++)
            results = arena_printf(&arena, "%.*s%stensor<4xf32>", (int)results.n, results.p, k ? ", " : "");
        for (int k = 0; k < counts[i]; k++)
            buf_printf(&all, "%s%s", k ? ", " : "!llvm.struct<(", one);
        buf_printf(&all, ")>");
        type = buf_str(&all);
        buf_printf(&text,
                   "module {\nfunc.func private @host(tensor<4xf32>) -> (%.*s)\nbuiltin.module {\n"
                   "llvm.func @host(%%a0: !llvm.ptr, %%a: !llvm.ptr, %%a2: i64, %%a3: i64, %%a4: i64) -> %.*s {\n"
                   "%%v0 = llvm.mlir.poison : !llvm.%s\n%%v1 = llvm.insertvalue %%a, %%v0[1] : !llvm.%s\n"
                   "%%v2 = llvm.insertvalue %%a3, %%v1[3, 0] : !llvm.%s\n"
                   "%%v3 = llvm.insertvalue %%a4, %%v2[4, 0] : !llvm.%s\n%%r0 = llvm.mlir.poison : %.*s\n",
                   (int)results.n, results.p, (int)type.n, type.p, one, one, one, one, (int)type.n, type.p);
        for (int k = 0; k < counts[i]; k++)
            buf_printf(&text, "%%r%d = llvm.insertvalue %%v3, %%r%d[%d] : %.*s\n", k + 1, k, k, (int)type.n, type.p);
        buf_printf(&text, "llvm.return %%r%d : %.*s\n}\n}\n}\n", counts[i], (int)type.n, type.p);
        (void)body_of_call(arena_strdup(&arena, buf_str(&text)));
        const struct mlir_func *f = &m.funcs[m.nfuncs - 1];
        cr_assert(f->in_cpu_module);
        cr_expect_eq(m.ops[f->end_op - 1].noperands, (uint32_t)counts[i]);
        buf_free(&text);
        buf_free(&all);
    }
}
