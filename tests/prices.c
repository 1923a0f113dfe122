/* usage: prices DEVICES < PATHS: us that all ops of the module at each path take on an n150, a line for each;
 * -1: it is not one function. */
#include "device/price/price.h"
#include "parsed_module.h"

#include <stdio.h>
#include <string.h>

static double price_of(const struct chips *chips, const struct source *file, struct arena *a) {
    struct device device = {*chip_named(chips, STR("n150")), CHIP_CHOSEN};
    struct parsed_module p;
    struct pricer pricer;
    double us = -1;
    if (parsed_module_read(&p, (struct str){file->data, file->size}, a) && p.ir.nfuncs == 1) {
        pricer_begin(&pricer, &p.graph, &device, chips->cycles);
        us = graph_us(&pricer, NULL, arena_alloc(a, (p.graph.m->nops + (size_t)1) * sizeof us));
        pricer_end(&pricer);
    }
    parsed_module_free(&p);
    return us;
}

int main(int argc, char **argv) {
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct chips chips = {0};
    struct source source;
    char path[4096];
    if (argc < 2 || !chips_load(&chips, argv[1], &arena, &diags))
        return 2;
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = '\0';
        if (!source_open(&source, path, &diags))
            return 2;
        printf("%.4f\n", price_of(&chips, &source, &arena));
        source_close(&source);
    }
    chips_free(&chips);
    diags_free(&diags);
    arena_free(&arena);
    return 0;
}
