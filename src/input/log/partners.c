/* The modules of one compile in two files. A file has them in any order, and may lack some: names tell. */
#include "base/hash.h"
#include "input/log/log.h"

#include <stdlib.h>

enum { TTIR, TTNN, LEVELS };

/* The modules of one name. */
struct namesakes {
    struct str name;
    uint32_t block[LEVELS], n[LEVELS]; /* the last one, and how many there are */
    UT_hash_handle hh;
};

static void note(struct namesakes *of, int level, uint32_t block) {
    of->block[level] = block;
    of->n[level]++;
}

static void settle(const struct namesakes *of, uint32_t *partners) {
    if (of->n[TTIR] == 1 && of->n[TTNN] == 1)
        partners[of->block[TTNN]] = of->block[TTIR];
}

uint32_t *log_partners(const struct log_scan *ttir, const struct log_scan *ttnn, struct arena *a) {
    const struct log_scan *scans[LEVELS] = {ttir, ttnn};
    struct namesakes *names = NULL, *e, *next, all = {.name = STR("")};
    uint32_t *partners = arena_alloc(a, (ttnn->nblocks + (size_t)1) * sizeof *partners);
    memset(partners, 0xff, ttnn->nblocks * sizeof *partners);
    for (int level = TTIR; level < LEVELS; level++)
        for (uint32_t i = 0; i < scans[level]->nblocks; i++) {
            const struct log_block *b = &scans[level]->blocks[i];
            if (!b->chosen || !(level == TTIR ? log_is_ttir(b) : log_is_ttnn(b)))
                continue;
            note(&all, level, i);
            struct str name = b->module.n ? b->module : STR("");
            HASH_FIND(hh, names, name.p, (unsigned)name.n, e);
            if (!e) {
                e = xcalloc(1, sizeof *e);
                e->name = name;
                HASH_ADD_KEYPTR(hh, names, e->name.p, (unsigned)e->name.n, e);
            }
            note(e, level, i);
        }
    settle(&all, partners);
    HASH_ITER(hh, names, e, next) {
        if (e->name.n)
            settle(e, partners);
        HASH_DEL(names, e);
        free(e);
    }
    return partners;
}
