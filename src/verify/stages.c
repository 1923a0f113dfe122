/* Two files: a module of each, which log.h chooses; one file: all stages that it prints, each against the one before.
 */
#include <stdlib.h>

#include "verify/verify.h"

static void complain(struct fa_verification *v, const char *file, const char *hint, const char *what) {
    diag_add(&v->diags, SEV_ERROR, (struct source_location){file, 0, 0}, hint, "%s", what);
}

static struct stage_pair *add_pair(struct fa_verification *v) {
    v->pairs = grow(v->pairs, &v->pairs_cap, v->npairs + 1, sizeof *v->pairs);
    struct stage_pair *p = &v->pairs[v->npairs++];
    memset(p, 0, sizeof *p);
    return p;
}

static bool has_level(const struct log_block *b) {
    return (b->has_ttir || b->has_ttnn) && b->has_ops && b->text.p;
}

/* The module that two files are compared by: the chosen one, of TTIR rather than TTNN where `ttir`. */
static const struct log_block *module_of(const struct log_scan *s, bool ttir) {
    const struct log_block *found = NULL;
    for (uint32_t i = 0; i < s->nblocks; i++) {
        const struct log_block *b = &s->blocks[i];
        if ((b->chosen || s->nblocks == 1) && (b->has_ttir || b->has_ttnn) && b->has_ops &&
            (!found || (!ttir && b->has_ttnn && !found->has_ttnn)))
            found = b;
    }
    return found;
}

static enum fa_status pair_files(struct fa_verification *v) {
    struct stage_pair *p = add_pair(v);
    for (int side = 0; side < SIDES_OF_CUT; side++) {
        const struct log_block *b = module_of(&v->scans[side], side == BEFORE);
        if (!b) {
            complain(v, v->sources.items[side].path, NULL, "has no module with ops of TTIR or TTNN");
            return FA_INPUT;
        }
        p->text[side] = (struct level_text){b, &v->sources.items[side]};
    }
    return FA_CLEAN;
}

/* The name of a module's main function: stages of one graph have it in common. */
static struct str function_of(struct str text) {
    const char *at = str_find(text, STR("func.func @"));
    size_t n = 0, left = at ? text.n - (size_t)(at - text.p) : 0;
    while (n < left && at[n] != '(')
        n++;
    return at ? (struct str){at, n} : STR("");
}

static enum fa_status pair_stages(struct fa_verification *v) {
    const struct source *s = &v->sources.items[0];
    const struct log_scan *scan = &v->scans[0];
    uint32_t *last = arena_alloc(&v->arena, (scan->nblocks + (size_t)1) * sizeof *last), n = 0;
    for (uint32_t i = 0; i < scan->nblocks; i++) {
        const struct log_block *b = &scan->blocks[i];
        if (!has_level(b) || b->failed)
            continue;
        if (!b->complete) {
            diag_add(&v->diags, SEV_ERROR, (struct source_location){s->path, b->first_line, 0}, NULL,
                     "this module is cut off: it is compared with no other");
            continue;
        }
        uint32_t k = n;
        struct str name = function_of(b->text);
        while (k > 0 && !str_eq(function_of(scan->blocks[last[k - 1]].text), name))
            k--;
        if (k > 0 && !str_eq(scan->blocks[last[k - 1]].text, b->text)) {
            struct stage_pair *p = add_pair(v);
            p->text[BEFORE] = (struct level_text){&scan->blocks[last[k - 1]], s};
            p->text[AFTER] = (struct level_text){b, s};
            p->pass = b->stage == LOG_PASS_AFTER ? b->label : STR("");
        }
        last[n++] = i;
    }
    if (v->npairs)
        return FA_CLEAN;
    complain(v, s->path, "give two modules, or a log of several stages (--mlir-print-ir-after-all)",
             n ? "has one stage only" : "has no module with ops of TTIR or TTNN");
    return FA_INPUT;
}

enum fa_status find_pairs(struct fa_verification *v) {
    const struct fa_verify_options *o = v->options;
    if (o->nfiles < 1 || o->nfiles > 2) {
        complain(v, "", "give two modules of one compile, or one log of several stages",
                 o->nfiles ? "more than two files" : "no file given");
        return FA_USAGE;
    }
    if (o->precision && o->nfiles < 2) {
        complain(v, "", "give two modules, the one of the device last", "--precision compares two modules");
        return FA_USAGE;
    }
    bool good = true;
    for (size_t i = 0; i < o->nfiles; i++)
        good &= source_read(&v->sources, o->files[i], o->max_input, &v->diags);
    if (!good)
        return FA_INPUT;
    if (v->sources.n != o->nfiles) {
        complain(v, o->files[0], "name one file in it", "an archive of several files");
        return FA_USAGE;
    }
    v->scans = arena_alloc(&v->arena, v->sources.n * sizeof *v->scans);
    for (uint32_t i = 0; i < v->sources.n; i++) {
        log_scan(&v->sources.items[i], &v->arena, &v->scans[i]);
        log_say_failures(&v->scans[i], v->sources.items[i].path, &v->diags);
    }
    return o->nfiles == 2 ? pair_files(v) : pair_stages(v);
}
