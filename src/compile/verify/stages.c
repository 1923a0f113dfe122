/* Two files: the modules that log.h chooses, TTNN with its TTIR where there are several; one file: all stages that it
 * prints, each against the one before. */
#include <stdlib.h>

#include "compile/verify/verify.h"

static void complain(struct fa_verification *v, const char *file, const char *hint, const char *what) {
    diag_add(&v->diags, SEV_ERROR, (struct source_location){file, 0, 0}, hint, "%s", what);
}

static void complain_of_none(struct fa_verification *v, uint32_t i) {
    if (!inputs_say_other(&v->sources.items[i], &v->scans[i], &v->diags))
        complain(v, v->sources.items[i].path, NULL, "has no module with ops of TTIR or TTNN");
}

static struct stage_pair *add_pair(struct fa_verification *v) {
    v->pairs = grow(v->pairs, &v->pairs_cap, v->npairs + 1, sizeof *v->pairs);
    struct stage_pair *p = &v->pairs[v->npairs++];
    memset(p, 0, sizeof *p);
    return p;
}

static bool has_level(const struct log_block *b) {
    return (b->has_ttir || b->has_ttnn) && b->has_ops;
}

/* The module that two files are compared by: the chosen one, of TTIR rather than TTNN where `ttir`. */
static const struct log_block *module_of(const struct log_scan *s, bool ttir) {
    const struct log_block *found = NULL;
    for (uint32_t i = 0; i < s->nblocks; i++) {
        const struct log_block *b = &s->blocks[i];
        if ((b->chosen || s->nblocks == 1) && has_level(b) && (!found || (!ttir && b->has_ttnn && !found->has_ttnn)))
            found = b;
    }
    return found;
}

/* Modules that are compared with no other, the first of them. */
struct alone {
    const struct source *source;
    const struct log_block *first;
    uint32_t n;
};

static void leave_alone(struct alone *x, const struct source *s, const struct log_block *b) {
    if (!x->n++)
        *x = (struct alone){s, b, 1};
}

static void say_alone(struct fa_verification *v, const struct alone *x, const char *hint) {
    if (x->n == 1)
        diag_add(&v->diags, SEV_NOTE, (struct source_location){x->source->path, x->first->first_line, 0}, hint,
                 "this module is compared with no other");
    else if (x->n)
        diag_add(&v->diags, SEV_NOTE, (struct source_location){x->source->path, x->first->first_line, 0}, hint,
                 "%u modules, the first one here, are compared with no other", x->n);
}

/* Each module of TTNN in the second file with its TTIR in the first one. */
static void pair_partners(struct fa_verification *v) {
    const struct log_scan *ttir = &v->scans[BEFORE], *ttnn = &v->scans[AFTER];
    const uint32_t *partners = log_partners(ttir, ttnn, &v->arena);
    bool *taken = arena_alloc(&v->arena, ttir->nblocks + (size_t)1);
    struct alone alone = {.n = 0};
    for (uint32_t i = 0; i < ttnn->nblocks; i++) {
        const struct log_block *b = &ttnn->blocks[i];
        if (partners[i] != NONE) {
            struct stage_pair *p = add_pair(v);
            p->text[BEFORE] = (struct level_text){&ttir->blocks[partners[i]], &v->sources.items[BEFORE]};
            p->text[AFTER] = (struct level_text){b, &v->sources.items[AFTER]};
            taken[partners[i]] = true;
        } else if (b->chosen && log_is_ttnn(b) && b->has_ops) {
            leave_alone(&alone, &v->sources.items[AFTER], b);
        }
    }
    for (uint32_t i = 0; i < ttir->nblocks; i++)
        if (ttir->blocks[i].chosen && log_is_ttir(&ttir->blocks[i]) && ttir->blocks[i].has_ops && !taken[i])
            leave_alone(&alone, &v->sources.items[BEFORE], &ttir->blocks[i]);
    if (v->npairs)
        say_alone(v, &alone, "the other file has no module of its name, or several");
}

static enum fa_status pair_files(struct fa_verification *v) {
    pair_partners(v);
    if (v->npairs)
        return FA_CLEAN;
    struct stage_pair *p = add_pair(v);
    for (int side = 0; side < SIDES; side++) {
        const struct log_block *b = module_of(&v->scans[side], side == BEFORE);
        if (!b) {
            complain_of_none(v, (uint32_t)side);
            return FA_INPUT;
        }
        p->text[side] = (struct level_text){b, &v->sources.items[side]};
    }
    return FA_CLEAN;
}

/* What tells which stage of which graph a module is. */
struct stage {
    const struct log_block *block;
    uint64_t function; /* the name of its main function: stages of one graph have it in common */
    uint64_t text;
    bool has_others;
};

static struct stage stage_of(const struct source *s, const struct log_block *b) {
    struct buf copy = {0};
    struct str text = log_text(s, b, &copy);
    const char *public = str_find(text, STR("func.func @"));
    const char *at = public ? public : str_find(text, STR("func.func private @")); /* printed alone */
    size_t n = 0, left = at ? text.n - (size_t)(at - text.p) : 0;
    while (n < left && at[n] != '(')
        n++;
    struct stage stage = {b, str_hash((struct str){at, n}), str_hash(text), false};
    buf_free(&copy);
    return stage;
}

/* Functions of several compiles have one name, too. */
static bool begins_a_compile(const struct log_block *b, const struct log_block *before) {
    return (log_is_ttir(b) && log_is_ttnn(before)) ||
           (b->stage == LOG_TTIR && before->stage == LOG_TTIR && b->graph != before->graph);
}

static enum fa_status pair_stages(struct fa_verification *v) {
    const struct source *s = &v->sources.items[0];
    const struct log_scan *scan = &v->scans[0];
    struct stage *stages = arena_alloc(&v->arena, (scan->nblocks + (size_t)1) * sizeof *stages);
    uint32_t n = 0;
    for (uint32_t i = 0; i < scan->nblocks; i++) {
        const struct log_block *b = &scan->blocks[i];
        if (!has_level(b) || b->failed)
            continue;
        if (!b->complete) {
            diag_add(&v->diags, SEV_ERROR, (struct source_location){s->path, b->first_line, 0}, NULL,
                     "this module is cut off: it is compared with no other");
            continue;
        }
        struct stage stage = stage_of(s, b);
        uint32_t k = n;
        while (k > 0 && stages[k - 1].function != stage.function)
            k--;
        if (k > 0 && begins_a_compile(b, stages[k - 1].block))
            k = 0;
        if (k > 0)
            stages[k - 1].has_others = stage.has_others = true;
        if (k > 0 && stages[k - 1].text != stage.text) {
            struct stage_pair *p = add_pair(v);
            p->text[BEFORE] = (struct level_text){stages[k - 1].block, s};
            p->text[AFTER] = (struct level_text){b, s};
            p->pass = b->stage == LOG_PASS_AFTER ? b->label : STR("");
        }
        stages[n++] = stage;
    }
    struct alone alone = {.n = 0};
    for (uint32_t i = 0; i < n; i++)
        if (!stages[i].has_others)
            leave_alone(&alone, s, stages[i].block);
    if (v->npairs) {
        say_alone(v, &alone, "the log has one stage of it only");
        return FA_CLEAN;
    }
    if (n)
        complain(v, s->path, "give two modules, or a log of several stages (--mlir-print-ir-after-all)",
                 "has one stage only");
    else
        complain_of_none(v, 0);
    return FA_INPUT;
}

enum fa_status find_pairs(struct fa_verification *v) {
    const struct fa_verify_options *o = v->options;
    if (o->inputs.nfiles < 1 || o->inputs.nfiles > 2) {
        complain(v, "", "give two modules of one compile, or one log of several stages",
                 o->inputs.nfiles ? "more than two files" : "no file given");
        return FA_USAGE;
    }
    bool good = true;
    for (size_t i = 0; i < o->inputs.nfiles; i++)
        good &= source_read(&v->sources, &o->inputs, i, &v->diags);
    if (!good)
        return FA_INPUT;
    if (v->sources.n != o->inputs.nfiles) {
        complain(v, o->inputs.files[0], "name one file in it", "an archive of several files");
        return FA_USAGE;
    }
    v->scans = arena_alloc(&v->arena, v->sources.n * sizeof *v->scans);
    for (uint32_t i = 0; i < v->sources.n; i++) {
        log_scan(&v->sources.items[i], &v->arena, &v->scans[i]);
        log_say_failures(&v->scans[i], v->sources.items[i].path, &v->diags);
    }
    return o->inputs.nfiles == 2 ? pair_files(v) : pair_stages(v);
}
