/* Prints an inspection as tables of 80 columns; rows without content are left out. Names and lists may be longer: a
 * line is broken where a terminal shows it. */
#include "base/utf8.h"
#include "device/price/price.h"
#include "report/inspect/inspect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, BLOCK_WIDTH = 33, NAMES_WIDTH = 26, MAX_NAMES = 8 };

static void put_clean(FILE *out, struct str s) {
    print_clean(s, "", out);
}

static const char *plural(uint64_t n) {
    return n == 1 ? "" : "s";
}

/* ", 3 lines dropped"; nothing for none. */
static void put_count(FILE *out, uint32_t n, const char *what, const char *done) {
    if (n)
        fprintf(out, ", %" PRIu32 " %s%s %s", n, what, plural(n), done);
}

/* ---- blocks ---- */

static struct str block_name(const struct log_block *b, struct arena *a) {
    const char *stage = log_stage_name(b->stage);
    if (b->stage == LOG_PASS_BEFORE || b->stage == LOG_PASS_AFTER)
        return arena_printf(a, "%s %.*s", stage, (int)b->label.n, b->label.p);
    return b->label.n ? b->label : str_of(stage);
}

static const char *dialects(bool ttir, bool ttnn) {
    return ttir && ttnn ? "ttir ttnn" : ttir ? "ttir" : ttnn ? "ttnn" : "-";
}

static void put_row(FILE *out, uint32_t graph, struct str name, uint64_t first, uint64_t last, const char *dialect) {
    char lines[48];
    snprintf(lines, sizeof lines, "%" PRIu64 "-%" PRIu64, first, last);
    fprintf(out, "  %5" PRIu32 "  ", graph);
    put_clean(out, name);
    fprintf(out, "%*s  %-15s  %-9s", (int)(name.n < BLOCK_WIDTH ? BLOCK_WIDTH - name.n : 0), "", lines, dialect);
}

static void put_block(FILE *out, const struct log_block *b, struct arena *a) {
    put_row(out, b->graph, block_name(b, a), b->first_line, b->last_line, dialects(b->has_ttir, b->has_ttnn));
    fputs(b->chosen ? "  chosen" : "  -", out);
    if (!b->complete)
        fputs(", incomplete", out);
    put_count(out, b->dropped_lines, "line", "dropped");
    put_count(out, b->joined_lines, "line", "joined");
    fputc('\n', out);
}

/* Number of blocks from i on that are not chosen and of one graph: several of them share a row. */
static uint32_t count_others(const struct log_scan *scan, uint32_t i) {
    uint32_t n = 0;
    while (i + n < scan->nblocks && !scan->blocks[i + n].chosen && scan->blocks[i + n].graph == scan->blocks[i].graph)
        n++;
    return n;
}

static void put_others(FILE *out, const struct log_block *first, uint32_t n, struct arena *a) {
    struct str from = block_name(first, a), to = block_name(first + n - 1, a);
    bool ttir = false, ttnn = false;
    for (uint32_t i = 0; i < n; i++) {
        ttir |= first[i].has_ttir;
        ttnn |= first[i].has_ttnn;
    }
    struct str name = arena_printf(a, "%" PRIu32 " blocks: %.*s .. %.*s", n, (int)from.n, from.p, (int)to.n, to.p);
    if (name.n > BLOCK_WIDTH)
        name = arena_printf(a, "%" PRIu32 " blocks", n);
    put_row(out, first->graph, name, first->first_line, first[n - 1].last_line, dialects(ttir, ttnn));
    fputs("  -\n", out);
}

static void put_blocks(FILE *out, const struct log_scan *scan, struct arena *a) {
    if (scan->nblocks == 0)
        return;
    fprintf(out, "  %5s  %-*s  %-15s  %-9s  %s\n", "graph", BLOCK_WIDTH, "block", "lines", "dialects", "state");
    for (uint32_t i = 0; i < scan->nblocks; i++) {
        uint32_t others = count_others(scan, i);
        if (others >= 3) {
            put_others(out, &scan->blocks[i], others, a);
            i += others - 1;
        } else {
            put_block(out, &scan->blocks[i], a);
        }
    }
}

/* ---- modules ---- */

/* "@first .. @last" where that fits. */
static void put_names(FILE *out, struct str first, struct str last) {
    fputc('@', out);
    put_clean(out, first);
    if (!str_eq(first, last) && first.n + last.n + strlen("@ .. @") <= NAMES_WIDTH) {
        fputs(" .. @", out);
        put_clean(out, last);
    }
}

static void put_kind(FILE *out, const struct module_facts *m, enum func_kind kind) {
    struct func_facts sum = {0};
    struct str first = {"", 0}, last = {"", 0};
    uint32_t n = 0, broken = 0;
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct func_facts *f = &m->funcs[i];
        if (f->kind != kind)
            continue;
        first = n++ ? first : f->name;
        last = f->name;
        broken += !f->complete;
        sum.nargs += f->nargs;
        sum.nops += f->nops;
        sum.nvalues += f->nvalues;
        sum.nedges += f->nedges;
    }
    if (n == 0)
        return;
    fprintf(out, "    %-10s  %5" PRIu32 "  %5" PRIu32 "  %6" PRIu32 "  %6" PRIu32 "  %6" PRIu32 "  ",
            inspect_func_kind(kind), n, sum.nargs, sum.nops, sum.nvalues, sum.nedges);
    put_names(out, first, last);
    put_count(out, broken, "function", "incomplete");
    fputc('\n', out);
}

/* Ops of main functions and outside of functions, without modules and other structure. */
static struct op_count *audited_ops(const struct module_facts *m, uint32_t *n) {
    struct op_count *all = NULL;
    uint32_t cap = 0, total = 0;
    for (uint32_t i = 0; i <= m->nfuncs; i++) {
        const struct func_facts *f = i < m->nfuncs ? &m->funcs[i] : &m->outside;
        for (uint32_t k = 0; k < f->ncounts && (f == &m->outside || f->kind == FUNC_MAIN); k++) {
            if (f == &m->outside && op_table[f->counts[k].kind].class == OP_STRUCTURE)
                continue;
            all = grow(all, &cap, total + 1, sizeof *all);
            all[total++] = f->counts[k];
        }
    }
    *n = inspect_merge(all, total);
    return all;
}

/* In columns, read from top to bottom. */
static void put_ops(FILE *out, const struct module_facts *m) {
    uint32_t n;
    struct op_count *ops = audited_ops(m, &n);
    size_t wide = 0;
    for (uint32_t i = 0; i < n; i++)
        wide = ops[i].name.n > wide ? ops[i].name.n : wide;
    uint32_t columns = wide + 9 < WIDTH - 4 ? (uint32_t)((WIDTH - 4) / (wide + 9)) : 1;
    uint32_t rows = (n + columns - 1) / columns;
    if (n)
        fputs("    ops that run on the device at each call\n", out);
    for (uint32_t r = 0; r < rows; r++) {
        fputs("    ", out);
        for (uint32_t i = r; i < n; i += rows) {
            fprintf(out, "%5" PRIu32 "  ", ops[i].n);
            put_clean(out, ops[i].name);
            if (i + rows < n)
                fprintf(out, "%*s", (int)(wide - ops[i].name.n + 2), "");
        }
        fputc('\n', out);
    }
    free(ops);
}

/* What the reader could not make sense of, which an audit ignores. */
static void put_unresolved(FILE *out, const struct module_facts *m) {
    if (m->bad_ops)
        fprintf(out, "    skipped: %" PRIu32 " op%s that could not be read\n", m->bad_ops, plural(m->bad_ops));
    if (m->undefined_values)
        fprintf(out, "    undefined: %" PRIu32 " value%s\n", m->undefined_values, plural(m->undefined_values));
    if (m->custom_ops)
        fprintf(out, "    custom assembly read by the general rule: %" PRIu32 " op%s\n", m->custom_ops,
                plural(m->custom_ops));
    for (uint32_t i = 0; i < m->nunknown && i < MAX_NAMES; i++) {
        fprintf(out, "%s%" PRIu32 " ", i ? ", " : "    not in the operator table: ", m->unknown[i].n);
        put_clean(out, m->unknown[i].name);
    }
    if (m->nunknown > MAX_NAMES)
        fprintf(out, " and %" PRIu32 " more", m->nunknown - MAX_NAMES);
    if (m->nunknown)
        fputc('\n', out);
    for (uint32_t i = 0; i < m->nunresolved && i < MAX_NAMES; i++) {
        fputs(i ? ", " : "    aliases without a definition: ", out);
        put_clean(out, m->unresolved[i]);
    }
    if (m->nunresolved > MAX_NAMES)
        fprintf(out, " and %" PRIu32 " more", m->nunresolved - MAX_NAMES);
    if (m->nunresolved)
        fprintf(out, " (%" PRIu32 " use%s)\n", m->unresolved_uses, plural(m->unresolved_uses));
}

/* "8x8"; `into` has room for all extents of a grid. */
static const char *extents(const int64_t *n, uint32_t rank, char into[MAX_GRID_RANK * 21]) {
    size_t at = 0;
    into[0] = '\0';
    for (uint32_t i = 0; i < rank; i++)
        at += (size_t)sprintf(into + at, "%s%" PRId64, i ? "x" : "", n[i]);
    return into;
}

static void put_device(FILE *out, const struct device_facts *f) {
    const struct chip *c = &f->device.chip;
    char text[MAX_GRID_RANK * 21];
    if (f->known)
        fprintf(out,
                "    device: %s (%s), %" PRId64 "x%" PRId64 " cores of %" PRId64 " bytes of L1, %" PRId64
                " DRAM channels",
                c->name.p, c->arch.p, c->rows, c->columns, chip_l1(c), c->dram_channels);
    else if (f->grid.rank)
        fprintf(out, "    device: worker grid %s", extents(f->grid.extents, f->grid.rank, text));
    if (f->grid.mesh_rank)
        fprintf(out, ", mesh %s", extents(f->grid.mesh, f->grid.mesh_rank, text));
    if (f->known || f->grid.rank)
        fputc('\n', out);
}

static void put_layouts(FILE *out, const struct device_facts *f) {
    char grid[MAX_GRID_RANK * 21], tile[MAX_GRID_RANK * 21];
    if (f->nlayouts)
        fprintf(out, "    %7s  %-7s  %-14s  %-7s  %-9s  %-7s  %9s\n", "values", "memory", "sharding", "grid", "tile",
                "element", "size");
    for (uint32_t i = 0; i < f->nlayouts; i++) {
        const struct layout_count *c = &f->layouts[i];
        const struct layout *l = &c->layout;
        bool tiled = l->tile_height > 0;
        const int64_t extent[2] = {l->tile_height, l->tile_width};
        struct buf size = {0};
        add_bytes(&size, c->bytes);
        buf_addc(&size, '\0');
        fprintf(out, "    %7" PRIu32 "  %-7s  %-14s  %-7s  %-9s  %-7s  %9s\n", c->n, memory_name(l->memory),
                sharding_name(l->sharding), extents(l->grid, l->rank, grid), tiled ? extents(extent, 2, tile) : "rows",
                dtype_table[l->dtype].name, size.p);
        buf_free(&size);
    }
    if (f->unread)
        fprintf(out, "    layouts that are not understood: %" PRIu32 "\n", f->unread);
    if (f->inconsistent)
        fprintf(out, "    values whose shape does not fit their layout: %" PRIu32 "\n", f->inconsistent);
}

static void put_version(FILE *out, const struct module_facts *m) {
    const struct version_sign *since = &m->version.since, *before = &m->version.before;
    if (since->day || before->day)
        fputs("    compiler:", out);
    if (since->day)
        fprintf(out, " from %s or later (%s: line %" PRIu64 ")", since->day, since->what, m->since_line);
    if (before->day)
        fprintf(out, "%s before %s (%s: line %" PRIu64 ")", since->day ? ", and" : " from", before->day, before->what,
                m->before_line);
    if (since->day || before->day)
        fputc('\n', out);
}

static void put_module(FILE *out, const struct log_block *b, const struct module_facts *m) {
    fprintf(out, "\n  graph %" PRIu32 ", %s: %" PRIu32 " op%s, %" PRIu32 " value%s, %" PRIu32 " edge%s", b->graph,
            m->is_ttnn       ? "TTNN"
            : log_is_ttir(b) ? "TTIR"
                             : "neither TTIR nor TTNN",
            m->nops, plural(m->nops), m->nvalues, plural(m->nvalues), m->nedges, plural(m->nedges));
    put_count(out, m->ndestinations, "destination operand", "left out");
    fputc('\n', out);
    if (m->nfuncs)
        fprintf(out, "    %-10s  %5s  %5s  %6s  %6s  %6s  %s\n", "kind", "funcs", "args", "ops", "values", "edges",
                "names");
    for (int kind = 0; kind < FUNC_KINDS; kind++)
        put_kind(out, m, (enum func_kind)kind);
    put_ops(out, m);
    put_version(out, m);
    put_device(out, &m->device);
    put_layouts(out, &m->device);
    put_unresolved(out, m);
}

/* ---- the whole ---- */

static void put_file(FILE *out, struct file_facts *f, struct arena *a) {
    put_clean(out, str_of(f->source.path));
    if (!f->source.data) {
        fputs(": not read\n", out);
        return;
    }
    fprintf(out, ": %s, %" PRIu32 " block%s, %" PRIu32 " graph%s", f->scan.is_log ? "log" : "MLIR", f->scan.nblocks,
            plural(f->scan.nblocks), f->scan.ngraphs, plural(f->scan.ngraphs));
    put_count(out, f->scan.bare_headers, "header", "without a module");
    fputc('\n', out);
    put_blocks(out, &f->scan, a);
    for (uint32_t i = 0; i < f->scan.nblocks; i++)
        if (f->modules[i])
            put_module(out, &f->scan.blocks[i], f->modules[i]);
}

static void put_pairs(FILE *out, const struct inspection *in) {
    if (in->npairs == 0)
        return;
    fprintf(out, "\nTTNN ops paired with TTIR ops\n  %5s  %11s  %11s  %10s  %s\n", "graph", "by location",
            "by dataflow", "not paired", "files");
    for (uint32_t i = 0; i < in->npairs; i++) {
        const struct pair_facts *p = &in->pairs[i];
        fprintf(out, "  %5" PRIu32 "  %11" PRIu32 "  %11" PRIu32 "  %10" PRIu32 "  ", p->graph, p->by_location,
                p->by_dataflow, p->unpaired);
        put_clean(out, str_of(p->ttir_path));
        if (strcmp(p->ttir_path, p->ttnn_path) != 0) {
            fputs(", ", out);
            put_clean(out, str_of(p->ttnn_path));
        }
        fputc('\n', out);
    }
}

static void put_diagnostic(FILE *out, const struct diag *d) {
    fputs("  ", out);
    put_clean(out, str_of(d->file));
    if (d->line)
        fprintf(out, ":%" PRIu64, d->line);
    if (d->line && d->column)
        fprintf(out, ":%" PRIu32, d->column);
    fprintf(out, ": %s: ", severity_name(d->severity));
    put_clean(out, str_of(d->message));
    fputc('\n', out);
    if (d->hint) {
        fputs("    hint: ", out);
        put_clean(out, str_of(d->hint));
        fputc('\n', out);
    }
}

void inspect_print_text(const struct inspection *in, FILE *out) {
    struct arena names = {0};
    for (size_t i = 0; i < in->nfiles; i++) {
        if (i)
            fputc('\n', out);
        put_file(out, &in->files[i], &names);
    }
    put_pairs(out, in);
    if (in->diags.n)
        fputs("\ndiagnostics\n", out);
    for (uint32_t i = 0; i < in->diags.n; i++)
        put_diagnostic(out, &in->diags.items[i]);
    if (in->diags.dropped)
        fprintf(out, "  and %" PRIu32 " more\n", in->diags.dropped);
    arena_free(&names);
}
