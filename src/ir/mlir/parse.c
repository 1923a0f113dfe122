/* Textual MLIR to flat arrays, by recursive descent: regions hold ops, ops hold operands, attributes, types and
 * regions. A reading function returns false after parse_fail(); the loop over the ops of a region reports that and goes
 * on at the next line that begins an op. */
#include "ir/mlir/parse.h"

#include <stdlib.h>
#include <string.h>

/* Does an op, a block, an alias or the end of a region start at this line? */
static bool is_boundary(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    if (p >= end || *p == '}' || *p == '^' || scan_starts_op(p, end))
        return true;
    if (*p == '#' || *p == '!') {
        const char *q = scan_ident(p + 1, end);
        return end - q > 3 && memcmp(q, " = ", 3) == 0;
    }
    return scan_is(*p, CH_ALPHA) ? scan_op_word(p, end) : end - p > 3 && memcmp(p, "{-#", 3) == 0;
}

/* To the next boundary. Only braces at the ends of lines open regions here: whatever else is open on a line belongs to
 * the broken op. */
static void resync(struct ir_parser *p) {
    uint32_t depth = 0;
    for (const char *from = p->p; from < p->end; p->p = from) {
        const char *stop = line_end(from, p->end), *next;
        struct str line = str_trim((struct str){from, (size_t)(stop - from)});
        depth += str_ends(line, STR("{"));
        next = from = stop < p->end ? stop + 1 : p->end;
        if (depth == 0 && is_boundary(from, p->end)) {
            p->p = from;
            return;
        }
        while (next < p->end && scan_is(*next, CH_BLANK) && *next != '\n')
            next++;
        depth -= next < p->end && *next == '}' && depth > 0;
    }
}

static void report_end(struct ir_parser *p) {
    if (!p->truncated)
        parse_say(p, SEV_ERROR, p->end, "the IR is cut off here: functions that are not closed are left out");
    p->truncated = true;
}

/* One diagnostic for a bad op; a text that is cut in the op is reported as cut. */
static void recover(struct ir_parser *p, const char *start) {
    const char *where = p->wrong_at ? p->wrong_at : start, *what = p->wrong ? p->wrong : "cannot read this operation";
    if (is_pretty_place(p, where)) {
        (void)refuse_pretty(p, start);
        return;
    }
    p->m->bad_ops++;
    p->p = p->p < start ? start : p->p;
    resync(p);
    if (p->p >= p->end && p->depth > 0)
        report_end(p);
    else
        parse_say(p, SEV_ERROR, where, what);
    p->wrong = p->wrong_at = NULL;
}

static bool parse_item(struct ir_parser *p) {
    char c = *p->p;
    if (c == '#' || c == '!')
        return parse_alias(p);
    if (c == '^')
        return parse_block_label(p);
    if (c == '{')
        return parse_resources(p);
    if (c == '%' || c == '"' || scan_is(c, CH_ALPHA))
        return parse_op(p);
    return parse_fail(p, p->p, "expected an operation");
}

static bool parse_ops(struct ir_parser *p) {
    for (;;) {
        space(p);
        if (p->p >= p->end) {
            if (p->depth > 0)
                report_end(p);
            return false;
        }
        if (*p->p == '}' && p->depth > 0) {
            p->p++;
            return true;
        }
        const char *start = p->p;
        if (!parse_item(p) || p->p == start)
            recover(p, start);
    }
}

/* Arrays have grown by doubling: what they did not fill goes back. */
static void shrink(struct mlir *m) {
    m->ops_cap = m->nops;
    m->ops = xrealloc(m->ops, m->nops * sizeof *m->ops);
    m->values_cap = m->nvalues;
    m->values = xrealloc(m->values, m->nvalues * sizeof *m->values);
    m->operands_cap = m->noperands;
    m->operands = xrealloc(m->operands, m->noperands * sizeof *m->operands);
}

void mlir_parse(struct mlir *m, const struct source *s, const struct log_block *block, struct diags *d) {
    *m = (struct mlir){.source = s, .block = block};
    m->tables = tables_new();
    m->text = log_text(s, block, &m->tables->text);
    struct ir_parser p = {.m = m,
                          .d = d,
                          .p = m->text.p,
                          .begin = m->text.p,
                          .end = m->text.p + m->text.n,
                          .read_ops = parse_ops,
                          .in = {.func = NONE, .parent = NONE, .module = NONE}};
    struct ir_region top;
    p.no_type = type_add(m, STR(""));
    region_enter(&p, &top, true);
    (void)parse_ops(&p);
    region_leave(&p, &top);
    types_resolve(m);
    name_functions(m);
    look_through_traces(m);
    look_through_host(m);
    shrink(m);
    free(p.flags);
    free(p.bindings);
    free(p.shadowed);
    free(p.forward);
    free(p.results);
    free(p.uses);
    free(p.types);
    sym_free(&m->tables->values);
}

void mlir_free(struct mlir *m) {
    struct mlir_tables *t = m->tables;
    free(m->ops);
    free(m->values);
    free(m->operands);
    free(m->types);
    free(m->dims);
    free(m->names);
    free(m->funcs);
    free(m->arg_attrs);
    if (t) {
        sym_free(&t->names);
        sym_free(&t->types);
        sym_free(&t->values);
        sym_free(&t->alias_names);
        sym_free(&t->files);
        free(t->aliases);
        free(t->locs);
        free(t->file_names);
        free(t->func_of_name);
        buf_free(&t->text);
        buf_free(&t->built);
        arena_free(&t->arena);
        pthread_mutex_destroy(&t->files_lock);
        free(t);
    }
    *m = (struct mlir){0};
}

struct source_location mlir_place(const struct mlir *m, uint32_t text_offset) {
    struct source_location nowhere = {0};
    return m->source ? log_place(m->source, m->block, text_offset) : nowhere;
}
