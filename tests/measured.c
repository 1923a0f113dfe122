/* Holds the model of prices against published times of single ops, tests/measured.tsv.
 *
 * usage: measured DEVICES TABLE [DOCUMENT]
 * Prints the rows of the table in measured/prices.md. With DOCUMENT: says which ops are further off than TABLE allows,
 * and which rows are not in the document; exit status 1. */
#include "device/price/cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 7 };
enum { CHIP, WITHIN, TIME, OP, RESULT, OPERANDS, SOURCE };

/* "32x64xbfp_bf8" as a type of MLIR. */
static void add_type(struct buf *out, const char *text) {
    const char *block = strstr(text, "bfp_bf8");
    buf_printf(out, block ? "tensor<%.*s!ttcore.tile<32x32, bfp_bf8>>" : "tensor<%.*s>",
               block ? (int)(block - text) : (int)strlen(text), text);
}

static void add_module(struct buf *out, char *columns[COLUMNS]) {
    struct buf args = {0}, values = {0}, types = {0}, result = {0};
    int n = 0;
    for (char *t = strtok(columns[OPERANDS], " "); t; t = strtok(NULL, " "), n++) {
        buf_printf(&args, "%s%%a%d: ", n ? ", " : "", n);
        buf_printf(&values, "%s%%a%d", n ? ", " : "", n);
        buf_printf(&types, "%s", n ? ", " : "");
        add_type(&args, t);
        add_type(&types, t);
    }
    add_type(&result, columns[RESULT]);
    bool config = strcmp(columns[OP], "ttnn.layer_norm") == 0;
    buf_printf(out, "module {\nfunc.func @main(%.*s) {\n%%r = \"%s\"(%.*s) %s: (%.*s) -> %.*s\nreturn\n}\n}\n",
               (int)args.n, args.p, columns[OP] + (*columns[OP] == '-'), (int)values.n, values.p,
               config ? "<{operandSegmentSizes = array<i32: 1, 0, 0>}> " : "", (int)types.n, types.p, (int)result.n,
               result.p);
    buf_free(&args);
    buf_free(&values);
    buf_free(&types);
    buf_free(&result);
}

/* Us of the only op; of one that goes with the gap before it. */
static double estimate(const struct chips *chips, const struct chip *chip, struct str text, bool goes) {
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct source source = {.path = "measured", .data = text.p, .size = text.n};
    struct log_scan scan;
    struct mlir m;
    struct graph g;
    struct cost cost = {.counted = {0}};
    struct device device = {*chip, CHIP_CHOSEN};
    struct pricer pricer;
    struct work work;
    log_scan(&source, &arena, &scan);
    mlir_parse(&m, &source, &scan.blocks[0], &diags);
    graph_build(&g, &m, &diags);
    pricer_begin(&pricer, &g, &device, chips->cycles);
    for (uint32_t op = 0; op < m.nops; op++)
        if (op_is_launched(&pricer, op) && work_of_op(&pricer, op, &work))
            cost_add(&pricer, &work, &cost);
    pricer_end(&pricer);
    graph_free(&g);
    mlir_free(&m);
    diags_free(&diags);
    arena_free(&arena);
    return cost.estimated.us - (goes ? 0 : chip->gap_us);
}

static bool is_off(const char *within, double ratio) {
    double factor = strcmp(within, "off") == 0 ? 2 : strtod(within, NULL);
    bool outside = ratio > factor || ratio < 1 / factor;
    return strcmp(within, "off") == 0 ? !outside : outside;
}

static int failures;

static void put_row(const struct chips *chips, char *line, const char *document) {
    char *columns[COLUMNS] = {0}, row[512];
    int n = 0;
    for (char *next = line; next && n < COLUMNS; n++)
        columns[n] = strsep(&next, "\t");
    const struct chip *chip = n == COLUMNS ? chip_named(chips, str_of(columns[CHIP])) : NULL;
    if (!chip) {
        fprintf(stderr, "not a row: %s\n", line);
        exit(2);
    }
    struct buf text = {0};
    bool goes = *columns[OP] == '-';
    add_module(&text, columns);
    double measured = strtod(columns[TIME], NULL), us = estimate(chips, chip, buf_str(&text), goes);
    buf_free(&text);
    snprintf(row, sizeof row, "| %s | %s%s | %s | %.*f | %.*f | %.2f%s |", columns[CHIP], goes ? "no " : "",
             strchr(columns[OP], '.') + 1, columns[RESULT], measured < 100, measured, us < 100, us, us / measured,
             strcmp(columns[WITHIN], "off") == 0 ? " (off)" : "");
    if (!document) {
        puts(row);
        return;
    }
    if (is_off(columns[WITHIN], us / measured)) {
        fprintf(stderr, "%s (%s): not within %s\n", row, columns[SOURCE], columns[WITHIN]);
        failures++;
    }
    if (!strstr(document, row)) {
        fprintf(stderr, "%s: not in the document\n", row);
        failures++;
    }
}

static char *read_file(const char *path) {
    FILE *f = fopen(path, "r");
    struct buf b = {0};
    char chunk[4096];
    size_t n;
    if (!f)
        exit(2);
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_add(&b, (struct str){chunk, n});
    buf_addc(&b, '\0');
    fclose(f);
    return b.p;
}

int main(int argc, char **argv) {
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct chips chips = {0};
    if (argc < 3 || !chips_load(&chips, argv[1], &arena, &diags))
        return 2;
    char *table = read_file(argv[2]), *document = argc > 3 ? read_file(argv[3]) : NULL;
    for (char *next = table, *line; (line = strsep(&next, "\n"));)
        if (*line && *line != '#')
            put_row(&chips, line, document);
    free(table);
    free(document);
    chips_free(&chips);
    diags_free(&diags);
    arena_free(&arena);
    return failures > 0;
}
