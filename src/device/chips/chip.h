/* Chips: what the files of devices/ say of them, and what a module says of its own.
 *
 * A file has one document for each chip, whose keys are the rows of a table in chip.c, or one with the key `cycles`:
 * numbers by operator, `other` for those that are not named. */
#ifndef FA_CHIP_H
#define FA_CHIP_H

#include "ir/graph/graph.h"

/* One chip. A `system_desc` overrides what it states. */
struct chip {
    struct str name, arch, summary; /* "n150", "wormhole_b0" */
    int64_t rows, columns;          /* of the grid that ops run on */
    int64_t l1_bytes, l1_reserved_bytes;
    int64_t dram_align; /* bytes: a power of two */
    int64_t dram_channels, dram_channel_bytes;
    double clock_mhz;
    double dram_rate;          /* GB/s: as ordinary ops reach it */
    double gap_us, startup_us; /* between two ops; of a kernel before data flow */
    double matrix_use;         /* of the peak of the matrix unit */
    double core_bytes;         /* that one core moves in a cycle */
    double link_rate;          /* GB/s of one link between chips */
};

struct chips {
    struct chip *items;
    uint32_t n, cap;
    double cycles[OPERATORS]; /* of one core for a tile of 32x32 elements */
};

static inline int64_t chip_cores(const struct chip *c) {
    return c->rows * c->columns;
}
static inline int64_t chip_l1(const struct chip *c) { /* bytes of a core that tensors and buffers may have */
    return c->l1_bytes - c->l1_reserved_bytes;
}

/* Reads all files *.yml of a directory in order of name. Strings are in `a`. False with diagnostics. */
bool chips_load(struct chips *set, const char *directory, struct arena *a, struct diags *d);
/* Reads the text of one file, which `file` names in diagnostics. */
bool chips_load_text(struct chips *set, const char *file, struct str text, struct arena *a, struct diags *d);
void chips_free(struct chips *set);
/* NULL: there is none of that name. */
const struct chip *chip_named(const struct chips *set, struct str name);

/* How the chip was chosen. */
enum chip_choice { CHIP_ASSUMED, CHIP_CHOSEN, CHIP_OF_MODULE };

/* A chip, and what the module says of its device. */
struct device {
    struct chip chip;
    enum chip_choice choice;
};

/* The chip that the module states: of its arch that of the set with its grid, or the first, with all that the module's
 * `system_desc` states in place of the set's figures. False: it states none, or of an arch that the set does not have.
 */
bool device_of_module(const struct chips *set, const struct graph *g, struct device *out);
/* The chip that was asked for, else that of the first module that states one, else the n150. Each may be NULL. */
struct device device_for(const struct chips *set, const struct chip *asked, const struct graph *a,
                         const struct graph *b);

#endif
