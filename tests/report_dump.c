/* For report_yaml_test.py: prints a report on standard output with one finding for each text on standard input ("5\n"
 * and 5 bytes): its ir_loc and its segments are these bytes. */
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
    struct str components[] = {STR("ttnn.matmul"), STR("null")};
    int n = 0;
    for (struct str text; n < MAX_TEXTS && read_text(&text); n++) {
        struct finding f = {.fused_op = STR("ttnn.linear"),
                            .source = STR("ttnn"),
                            .component_ops = {components, 2},
                            .ir_loc = text,
                            .ttnn = {.text = text}};
        report_add(&r, &f);
        free((void *)(uintptr_t)text.p);
    }
    report_sort(&r);
    bool ok = report_print(&r, stdout);
    report_free(&r);
    return ok ? 0 : 1;
}
