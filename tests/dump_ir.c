/* Prints what the reader makes of a file, one op a line: name, operands, resolved location.
 * An operand is "op.result" with the op's number in textual order, or "arg.number".
 * For tests/reader_vs_mlir_opt.py. */
#include "ir/mlir/mlir.h"

#include <stdio.h>

static void print_op(const struct mlir *m, uint32_t op) {
    struct str names[64], name = mlir_op_name(m, op), loc = mlir_loc_text(m, op);
    printf("%.*s\t", (int)name.n, name.p);
    for (uint32_t i = 0; i < m->ops[op].noperands; i++) {
        const struct mlir_value *v = &m->values[m->operands[m->ops[op].first_operand + i]];
        if (v->def == NONE)
            printf("%sarg.%u", i ? " " : "", v->index);
        else
            printf("%s%u.%u", i ? " " : "", v->def, v->index);
    }
    printf("\t%s", loc.n ? "" : "-");
    int n = mlir_loc_names(m, op, names, 64);
    for (int i = 0; i < n; i++)
        printf("%s%.*s", i ? "|" : "", (int)names[i].n, names[i].p);
    putchar('\n');
}

int main(int argc, char **argv) {
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct source source;
    struct log_scan scan;
    if (argc != 2 || !source_open(&source, argv[1], &diags))
        return 2;
    log_scan(&source, &arena, &scan);
    for (uint32_t b = 0; b < scan.nblocks; b++) {
        struct mlir m;
        mlir_parse(&m, &source, &scan.blocks[b], &diags);
        for (uint32_t op = 0; op < m.nops; op++)
            print_op(&m, op);
        mlir_free(&m);
    }
    int status = diags.n > 0;
    diags_free(&diags);
    source_close(&source);
    arena_free(&arena);
    return status;
}
