/* For report_yaml_test.py: prints a report on standard output with one instance for each text on standard input ("5\n"
 * and 5 bytes), its notes and its ir_loc these bytes, its segment one op with them. */
#include <stdlib.h>

#include "report/report.h"

enum { MAX_TEXTS = 10000 };

static bool read_text(struct str *out) {
    struct buf bytes = {0};
    size_t n;
    if (scanf("%zu", &n) != 1 || getchar() == EOF)
        return false;
    while (bytes.n < n)
        buf_addc(&bytes, (char)getchar());
    buf_addc(&bytes, '\0'); /* the view of an empty text is not NULL, as in the program */
    *out = (struct str){bytes.p, n};
    return true;
}

int main(void) {
    struct report r = {.ttir_path = "12", .ttnn_path = "a: #b"};
    struct mlir *irs = calloc(MAX_TEXTS, sizeof *irs);
    struct mlir_op *ops = calloc(MAX_TEXTS, sizeof *ops);
    struct str components[] = {STR("ttnn.matmul"), STR("null")};
    struct entry_key key = {STR("ttnn.linear"), STR("ttnn"), {components, 2}, {0}};
    uint32_t zero = 0;
    int n = 0;
    for (struct str text; n < MAX_TEXTS && read_text(&text); n++) {
        ops[n].text = (struct span){0, (uint32_t)text.n};
        irs[n] = (struct mlir){.text = text, .ops = &ops[n], .nops = 1};
        struct instance instance = {.ir_loc = text, .ttnn = {&irs[n], &zero, 1}, .notes = text, .order = (uint64_t)n};
        report_add(&r, &key, &instance);
    }
    report_sort(&r, SORT_COUNT);
    bool ok = report_print(&r, stdout);
    report_free(&r);
    for (int i = 0; i < n; i++)
        free((void *)(uintptr_t)irs[i].text.p);
    free(irs);
    free(ops);
    return ok ? 0 : 1;
}
