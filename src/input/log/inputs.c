/* From the files of a command line to the pairs of modules that are audited. The level of a file is told by its
 * content, never by its name: a module with TTNN ops is the TTNN level, one with TTIR ops only is the TTIR level. */
#include "input/log/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void complain(struct diags *d, const char *file, const char *hint, const char *what) {
    diag_add(d, SEV_ERROR, (struct source_location){file, 0, 0}, hint, "%s", what);
}

static struct compile *compile_of(struct inputs *in, uint32_t number) {
    if (in->compile_at[number])
        return &in->compiles[in->compile_at[number] - 1];
    in->compiles = grow(in->compiles, &in->cap, in->ncompiles + 1, sizeof *in->compiles);
    struct compile *c = &in->compiles[in->ncompiles++];
    memset(c, 0, sizeof *c);
    c->number = number;
    in->compile_at[number] = in->ncompiles;
    return c;
}

struct file_levels {
    uint32_t ttir, ttnn;
};

static struct file_levels count_levels(const struct input_file *f) {
    struct file_levels n = {0, 0};
    for (uint32_t i = 0; i < f->scan.nblocks; i++) {
        const struct log_block *b = &f->scan.blocks[i];
        n.ttir += b->chosen && log_is_ttir(b);
        n.ttnn += b->chosen && log_is_ttnn(b);
    }
    return n;
}

static bool is_stablehlo(const struct input_file *f) {
    struct buf b = {0};
    bool is = false;
    for (uint32_t i = 0; i < f->scan.nblocks && !is; i++)
        is = str_find(log_text(&f->source, &f->scan.blocks[i], &b), STR("stablehlo.")) != NULL;
    buf_free(&b);
    return is;
}

static bool is_lfs_pointer(const struct input_file *f) {
    return str_starts((struct str){f->source.data, f->source.size}, STR("version https://git-lfs.github.com/spec/"));
}

/* https://mlir.llvm.org/docs/BytecodeFormat/, "Magic Number" */
static bool is_bytecode(const struct input_file *f) {
    return str_starts((struct str){f->source.data, f->source.size}, STR("ML\xefR"));
}

/* The identifier stands behind the offset of the root table, or behind that and the size of the whole:
 * https://flatbuffers.dev/internals/ and include/ttmlir/Target of tt-mlir. */
static bool is_flatbuffer(const struct input_file *f) {
    static const struct str identifiers[] = {{"TTNN", 4}, {"TTM0", 4}};
    bool is = false;
    for (size_t at = 4; at <= 8 && at + 4 <= f->source.size; at += 4)
        for (size_t i = 0; i < sizeof identifiers / sizeof *identifiers; i++)
            is |= str_eq((struct str){f->source.data + at, 4}, identifiers[i]);
    return is;
}

/* What is given in place of TTIR and TTNN, and what makes those of it. */
static const struct input_kind {
    bool (*is)(const struct input_file *f);
    const char *what, *hint;
} kinds[] = {
    {is_stablehlo, "is StableHLO, without TTIR or TTNN",
     "TTIR and TTNN of a module are made by `ttmlir-opt --stablehlo-to-ttir-pipeline m.mlir -o m.ttir.mlir` "
     "and `ttmlir-opt --ttir-to-ttnn-backend-pipeline m.ttir.mlir -o m.ttnn.mlir`"},
    {is_bytecode, "is MLIR bytecode, not text", "`ttmlir-opt m.mlirbc -o m.mlir` prints it"},
    {is_flatbuffer, "is a flatbuffer, which has no IR in it",
     "give the TTIR and TTNN that it was made of: `ttmlir-opt --ttir-to-ttnn-backend-pipeline m.ttir.mlir -o "
     "m.ttnn.mlir`; what some flatbuffers keep of them is shown by `ttrt read --section mlir m.ttnn`"},
    {is_lfs_pointer, "is a pointer of git-lfs, not the file", "`git lfs pull` fetches it"},
};

static const struct input_kind *kind_of(const struct input_file *f) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].is(f))
            return &kinds[i];
    return NULL;
}

bool inputs_say_other(const struct source *s, const struct log_scan *scan, struct diags *d) {
    const struct input_kind *kind = kind_of(&(struct input_file){.source = *s, .scan = *scan});
    if (kind)
        complain(d, s->path, kind->hint, kind->what);
    return kind != NULL;
}

/* Keeps the source if there is something to audit in it. */
static void take_source(struct inputs *in, struct source *s, struct arena *a) {
    struct input_file *f = &in->files[in->nfiles];
    *f = (struct input_file){.source = *s};
    log_scan(&f->source, a, &f->scan);
    struct file_levels n = count_levels(f);
    if (n.ttir + n.ttnn > 0) {
        in->nfiles++;
        return;
    }
    f->kind = kind_of(f);
    source_close(&f->source);
}

static void complain_of(const struct input_file *f, const char *path, const struct fa_inputs *o, struct diags *d) {
    bool failed = o->levels != FA_TTIR_ONLY && log_say_failures(&f->scan, path, d);
    if (f->kind)
        complain(d, path, f->kind->hint, f->kind->what);
    else if (failed)
        return;
    else if (f->scan.bare_headers)
        complain(d, path, "a file sink of the logger holds the headers only: capture standard error instead",
                 "has headers of MLIR modules but no IR after them");
    else if (f->scan.executed_only)
        complain(d, path, "capture the compile too: IR is printed there",
                 "has no IR, only lines of executed operations");
    else
        complain(d, path, f->scan.nblocks ? NULL : "fusion-audit(1), Input, says what makes a compile print it",
                 f->scan.nblocks ? "has IR, but no ops of TTIR or TTNN" : "has no IR in it");
}

/* Opens and scans the files. In an archive it passes over what has nothing to audit, unless nothing has. */
static bool open_files(struct inputs *in, const struct fa_inputs *o, struct arena *a, struct diags *d) {
    struct source_list list = {0};
    uint32_t *end = arena_alloc(a, o->nfiles * sizeof *end);
    bool ok = true;
    for (size_t i = 0; i < o->nfiles; i++) {
        ok &= source_read(&list, o, i, d);
        end[i] = list.n;
    }
    in->files = arena_alloc(a, (list.n + (size_t)1) * sizeof *in->files);
    for (uint32_t i = 0, at = 0; i < o->nfiles; i++) {
        uint32_t begin = at;
        size_t before = in->nfiles;
        while (at < end[i])
            take_source(in, &list.items[at++], a);
        if (begin == at || in->nfiles > before)
            continue;
        ok = false;
        if (at - begin == 1)
            complain_of(&in->files[in->nfiles], list.items[begin].path, o, d);
        else
            complain(d, o->files[i], NULL, "no file in it has ops of TTIR or TTNN");
    }
    free(list.items);
    return ok;
}

static void take_block(struct inputs *in, const struct input_file *f, const struct log_block *b, uint32_t number) {
    struct compile *c = compile_of(in, number);
    struct level_text *l = log_is_ttnn(b) ? &c->ttnn : &c->ttir;
    if (!l->block)
        *l = (struct level_text){b, &f->source};
    if (log_is_ttnn(b))
        in->ttnn_path = f->source.path;
    else
        in->ttir_path = f->source.path;
}

static void take_blocks(struct inputs *in, const struct input_file *f, bool ttir, bool ttnn) {
    for (uint32_t i = 0; i < f->scan.nblocks; i++) {
        const struct log_block *b = &f->scan.blocks[i];
        if (!b->chosen || !((ttir && log_is_ttir(b)) || (ttnn && log_is_ttnn(b))))
            continue;
        take_block(in, f, b, b->graph);
        in->ngraphs = f->scan.ngraphs;
    }
}

/* False where no module of one file is one of the other. */
static bool take_partners(struct inputs *in, const struct input_file *ttir, const struct input_file *ttnn,
                          struct arena *a) {
    const uint32_t *partners = log_partners(&ttir->scan, &ttnn->scan, a);
    uint32_t *numbers = arena_alloc(a, (ttir->scan.nblocks + (size_t)1) * sizeof *numbers), n = 0;
    bool any = false;
    for (uint32_t i = 0; i < ttir->scan.nblocks; i++) {
        const struct log_block *b = &ttir->scan.blocks[i];
        if (b->chosen && log_is_ttir(b))
            take_block(in, ttir, b, numbers[i] = ++n);
    }
    for (uint32_t i = 0; i < ttnn->scan.nblocks; i++) {
        const struct log_block *b = &ttnn->scan.blocks[i];
        if (!b->chosen || !log_is_ttnn(b))
            continue;
        take_block(in, ttnn, b, partners[i] == NONE ? ++n : numbers[partners[i]]);
        any |= partners[i] != NONE;
    }
    in->ngraphs = n;
    return any;
}

static enum fa_status read_one_level(struct inputs *in, const struct fa_inputs *o, struct diags *d) {
    bool ttir = o->levels == FA_TTIR_ONLY;
    uint32_t with_level = 0;
    for (size_t i = 0; i < in->nfiles; i++) {
        struct file_levels n = count_levels(&in->files[i]);
        with_level += (ttir ? n.ttir : n.ttnn) > 0;
    }
    if (with_level > 1) {
        complain(d, "", NULL, ttir ? "more than one file with a TTIR level" : "more than one file with a TTNN level");
        return FA_USAGE;
    }
    for (size_t i = 0; i < in->nfiles; i++)
        take_blocks(in, &in->files[i], ttir, !ttir);
    if (in->ncompiles)
        return FA_CLEAN;
    complain(d, o->files[0], ttir ? "--ttnn-only audits TTNN" : "--ttir-only audits TTIR",
             ttir ? "has no TTIR level" : "has no TTNN level");
    return FA_INPUT;
}

static bool is_whole(const struct compile *c) {
    return c->ttir.block && c->ttnn.block;
}

/* Says of which graphs a level is not there: once, however many they are. */
static void say_incomplete(const struct inputs *in, bool ttnn, struct diags *d) {
    const struct level_text *first = NULL;
    uint32_t number = 0, n = 0;
    for (uint32_t i = 0; i < in->ncompiles; i++) {
        const struct compile *c = &in->compiles[i];
        const struct level_text *there = ttnn ? &c->ttir : &c->ttnn;
        if (is_whole(c) || !there->block)
            continue;
        first = n++ ? first : there;
        number = n == 1 ? c->number : number;
    }
    if (!n)
        return;
    char others[48] = "";
    if (n > 1)
        snprintf(others, sizeof others, " and %u other%s of %u", n - 1, n == 2 ? "" : "s", in->ngraphs);
    struct source_location where = {first->source->path, first->block->first_line, 0};
    diag_add(d, SEV_WARNING, where,
             ttnn ? "the text ends before their TTNN, or it is printed elsewhere; --ttir-only audits TTIR alone"
                  : "the text begins behind their TTIR, or it is printed elsewhere; --ttnn-only audits TTNN alone",
             "graph %u%s %s no %s level: not audited", number, others, n == 1 ? "has" : "have", ttnn ? "TTNN" : "TTIR");
}

/* A graph with one level only is left out; when no graph has both, nothing can be audited. `any`: TTNN would do. */
static enum fa_status check_levels(struct inputs *in, const char *path, bool any, struct diags *d) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < in->ncompiles; i++)
        kept += is_whole(&in->compiles[i]);
    if (kept == 0 && in->failed) /* they failed, which is said */
        return FA_INPUT;
    if (kept == 0) {
        bool ttnn = in->ncompiles && in->compiles[0].ttnn.block;
        complain(d, path,
                 ttnn  ? "give the TTIR file too, or use --ttnn-only"
                 : any ? "a TTNN file or a log is meant, or both levels of each compile"
                       : "give the TTNN file or log too, or use --ttir-only",
                 ttnn ? "has no TTIR level" : "has no TTNN level");
        return FA_INPUT;
    }
    in->partial = kept < in->ncompiles;
    say_incomplete(in, true, d);
    say_incomplete(in, false, d);
    kept = 0;
    for (uint32_t i = 0; i < in->ncompiles; i++)
        if (is_whole(&in->compiles[i]))
            in->compiles[kept++] = in->compiles[i];
    in->ncompiles = kept;
    return FA_CLEAN;
}

/* Two files give one level each; one that holds a module of both gives the level that the other file lacks. */
static enum fa_status read_two(struct inputs *in, struct arena *a, struct diags *d) {
    struct file_levels n[2] = {count_levels(&in->files[0]), count_levels(&in->files[1])};
    const char *what = n[0].ttir + n[1].ttir == 0   ? "no TTIR level: both files are TTNN"
                       : n[0].ttnn + n[1].ttnn == 0 ? "no TTNN level: both files are TTIR"
                                                    : "more than one TTIR and one TTNN level in two files";
    for (size_t ttir = 0; ttir < 2; ttir++) {
        size_t ttnn = 1 - ttir;
        bool one = n[ttir].ttir == 1 && n[ttnn].ttnn == 1 && n[ttir].ttnn + n[ttnn].ttir <= 1;
        bool pure = n[ttir].ttir > 0 && n[ttnn].ttnn > 0 && n[ttir].ttnn + n[ttnn].ttir == 0;
        if (!one && !pure)
            continue;
        if (take_partners(in, &in->files[ttir], &in->files[ttnn], a))
            return check_levels(in, in->files[ttnn].source.path, false, d);
        what = "several modules in each file, and no name that one of each has";
    }
    complain(d, "", "give one TTIR and one TTNN file, or one log with any number of graphs", what);
    return FA_USAGE;
}

/* More than two, of an archive. */
static enum fa_status refuse_many(struct inputs *in, struct diags *d) {
    in->several = true;
    struct buf hint = {0};
    buf_printf(&hint, "name one TTIR and one TTNN file in it, such as %s", in->files[0].source.path);
    buf_addc(&hint, '\0');
    complain(d, "", hint.p, "more than two files with TTIR or TTNN");
    buf_free(&hint);
    return FA_USAGE;
}

static bool has_ttir(const struct inputs *in) {
    for (size_t i = 0; i < in->nfiles; i++)
        if (count_levels(&in->files[i]).ttir)
            return true;
    return false;
}

static enum fa_status read_levels(struct inputs *in, const struct fa_inputs *o, struct arena *a, struct diags *d) {
    if (o->levels != FA_BOTH_LEVELS && !(o->levels == FA_ANY_LEVEL && has_ttir(in)))
        return read_one_level(in, o, d);
    if (in->nfiles == 2)
        return read_two(in, a, d);
    if (in->nfiles > 2)
        return refuse_many(in, d);
    take_blocks(in, &in->files[0], true, true);
    return check_levels(in, in->files[0].source.path, o->levels == FA_ANY_LEVEL, d);
}

enum fa_status inputs_read(struct inputs *in, const struct fa_inputs *o, struct arena *a, struct diags *d) {
    memset(in, 0, sizeof *in);
    if (o->nfiles == 0 || o->nfiles > 2) {
        complain(d, "", "give one TTIR and one TTNN file, or one log with any number of graphs",
                 o->nfiles ? "more than two files" : "no file given");
        return FA_USAGE;
    }
    bool ok = open_files(in, o, a, d);
    uint32_t ngraphs = 0;
    for (size_t i = 0; i < in->nfiles && o->levels != FA_TTIR_ONLY; i++)
        in->failed |= log_say_failures(&in->files[i].scan, in->files[i].source.path, d);
    for (size_t i = 0; i < in->nfiles; i++)
        ngraphs += in->files[i].scan.ngraphs;
    in->compile_at = arena_alloc(a, (ngraphs + (size_t)1) * sizeof *in->compile_at);
    return ok ? read_levels(in, o, a, d) : FA_INPUT;
}

void inputs_free(struct inputs *in) {
    free(in->compiles);
    for (size_t i = 0; i < in->nfiles; i++)
        source_close(&in->files[i].source);
}
