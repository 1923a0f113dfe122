/* Reads findings back, from the spool or a file: both have the same notes, and these say what a gate asks for. */
#include "gate/findings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/tree.h"
#include "report/lines.h"

/* "...; about 2.0 of 4.4 us (...)", "...; slower by about 2.0 us than ...". */
static double saved_us(struct str line) {
    const char *about = str_find(line, STR("; about ")), *slower = str_find(line, STR("; slower by about "));
    const char *number = about ? about + strlen("; about ") : slower ? slower + strlen("; slower by about ") : NULL;
    return number ? strtod(number, NULL) * (about ? 1 : -1) : 0;
}

static struct gate_finding *add(struct finding_list *l) {
    l->items = grow(l->items, &l->cap, l->n + 1, sizeof *l->items);
    l->items[l->n] = (struct gate_finding){.stored = NULL};
    return &l->items[l->n++];
}

static bool read_notes(struct gate_finding *f, struct str notes, struct arena *a) {
    f->place = arena_str(a, notes_line(notes, "model location:"));
    f->saved_us = saved_us(arena_str(a, notes_line(notes, "saves:")));
    f->known = notes_line(notes, "known:").n > 0;
    return fingerprint_read(notes_line(notes, "fingerprint:"), &f->fingerprint);
}

struct collector {
    struct arena *arena;
    struct finding_list *out;
};

static void collect(void *context, const struct report_entry *e, const struct stored_instance *s,
                    const struct instance_text *text) {
    const struct collector *c = context;
    (void)s;
    struct gate_finding *f = add(c->out);
    read_notes(f, text->notes, c->arena);
    f->fused_op = e->key.fused_op;
    f->source = e->key.source;
    f->ir_loc = arena_str(c->arena, text->ir_loc);
}

bool findings_of_report(struct report *r, struct arena *a, struct finding_list *out) {
    static const struct report_visitor visitor = {NULL, collect, NULL};
    struct collector c = {a, out};
    uint32_t at = 0;
    if (!report_walk(r, &visitor, &c))
        return false;
    for (uint32_t i = 0; i < r->nentries; i++)
        for (uint32_t k = 0; k < r->entries[i].ninstances; k++)
            out->items[at++].stored = &r->entries[i].instances[k];
    return true;
}

struct fingerprints finding_fingerprints(const struct finding_list *l) {
    return (struct fingerprints){l->n ? &l->items->fingerprint : NULL, l->n, sizeof *l->items};
}

/* ---- files ---- */

static bool refuse(struct diags *d, const char *path, const struct tree *at, const char *hint, const char *what) {
    diag_add(d, SEV_ERROR, (struct source_location){path, at ? at->line : 0, at ? at->column : 0}, hint, "%s", what);
    return false;
}

bool read_whole(const char *path, struct arena *a, struct diags *d, struct str *out) {
    enum { STEP = 65536 };
    FILE *file = fopen(path, "re");
    struct buf b = {0};
    if (!file)
        return refuse(d, path, NULL, NULL, strerror(errno));
    for (size_t got = STEP; got == STEP;) {
        got = fread(buf_more(&b, STEP), 1, STEP, file);
        b.n -= STEP - got;
    }
    int error = ferror(file) ? errno : 0;
    fclose(file);
    *out = buf_take(&b, a);
    return !error || refuse(d, path, NULL, NULL, strerror(error));
}

bool read_yaml(const char *path, struct arena *a, struct diags *d, const struct tree **document) {
    struct str text;
    if (!read_whole(path, a, d, &text))
        return false;
    struct tree_file file = tree_read(text, a);
    if (file.wrong) {
        struct tree at = {.line = file.line, .column = file.column};
        return refuse(d, path, &at, NULL, file.wrong);
    }
    *document = file.documents;
    if (file.documents && file.documents->next)
        return refuse(d, path, file.documents->next, NULL, "more than one document");
    return true;
}

/* The text of a key that has to be a scalar; empty where it is absent. */
static bool text_of(const struct tree *map, const char *key, struct str *out) {
    const struct tree *t = tree_lookup(map, key);
    *out = t && t->kind == TREE_SCALAR ? t->text : STR("");
    return !t || t->kind == TREE_SCALAR;
}

static bool read_entry(const char *path, const struct tree *entry, struct arena *a, struct diags *d,
                       struct finding_list *out) {
    const struct tree *instances = tree_lookup(entry, "instances");
    struct str fused_op, source;
    if (!instances || instances->kind != TREE_SEQUENCE || !text_of(entry, "fused_op", &fused_op) ||
        !text_of(entry, "source", &source) || !fused_op.n)
        return refuse(d, path, entry, NULL, "this is no entry of a report: `fused_op`, `source`, `instances` expected");
    for (const struct tree *i = instances->first; i; i = i->next) {
        struct gate_finding *f = add(out);
        struct str notes;
        f->fused_op = fused_op;
        f->source = source;
        if (!text_of(i, "ir_loc", &f->ir_loc) || !text_of(i, "notes", &notes))
            return refuse(d, path, i, NULL, "`ir_loc` and `notes` are texts");
        if (!read_notes(f, notes, a))
            return refuse(d, path, i, "write the report anew with this version",
                          "its notes have no line `fingerprint:`");
    }
    return true;
}

bool findings_read(const char *path, struct arena *a, struct diags *d, struct finding_list *out) {
    const struct tree *document = NULL;
    if (!read_yaml(path, a, d, &document))
        return false;
    const struct tree *entries = document ? tree_lookup(document, "missed_fusions") : NULL;
    if (document && (!entries || entries->kind != TREE_SEQUENCE))
        return refuse(d, path, document, NULL, "this is no report: `missed_fusions` expected");
    for (const struct tree *e = entries ? entries->first : NULL; e; e = e->next)
        if (!read_entry(path, e, a, d, out))
            return false;
    return true;
}
