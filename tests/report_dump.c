/* For report_yaml_test.py: prints a report on standard output with one instance for each file named,
 * its notes and its ir_loc the bytes of the file, its segment one op with these bytes. */
#include <stdlib.h>

#include "report/report.h"

static struct str read_file(const char *path) {
    struct buf bytes = {0};
    FILE *f = fopen(path, "rb");
    for (int c; f && (c = getc(f)) != EOF;)
        buf_addc(&bytes, (char)c);
    if (f)
        fclose(f);
    buf_addc(&bytes, '\0'); /* the view of an empty file is not NULL, as in the program */
    return (struct str){bytes.p, bytes.n - 1};
}

int main(int argc, char **argv) {
    struct report r = {.ttir_path = "12", .ttnn_path = "a: #b"};
    struct mlir *irs = calloc((size_t)argc, sizeof *irs);
    struct mlir_op *ops = calloc((size_t)argc, sizeof *ops);
    struct str components[] = {STR("ttnn.matmul"), STR("null")};
    struct entry_key key = {STR("ttnn.linear"), STR("ttnn"), {components, 2}, {0}};
    uint32_t zero = 0;
    for (int i = 1; i < argc; i++) {
        struct str text = read_file(argv[i]);
        ops[i].text = (struct span){0, (uint32_t)text.n};
        irs[i] = (struct mlir){.text = text, .ops = &ops[i], .nops = 1};
        struct instance instance = {.ir_loc = text, .ttnn = {&irs[i], &zero, 1}, .notes = text, .order = (uint64_t)i};
        report_add(&r, &key, &instance);
    }
    report_sort(&r);
    bool ok = report_print(&r, stdout);
    report_free(&r);
    for (int i = 1; i < argc; i++)
        free((void *)(uintptr_t)irs[i].text.p);
    free(irs);
    free(ops);
    return ok ? 0 : 1;
}
