#include "report/compare/findings.h"

#include <stdlib.h>

#include "input/source/yaml.h"

/* What has none of it was never one: where it breaks the rules of YAML says nothing. */
static bool may_be_report(struct str text) {
    text = str_trim(text);
    return !text.n || *text.p == '{' || str_starts(text, STR("input:")) || str_find(text, STR("missed_fusions"));
}

/* The tree of such a report, NULL of an empty file, in `a`. False with a diagnostic. */
static bool read_report(const char *path, struct arena *a, struct diags *d, const struct tree **document) {
    static const char what[] = "this is no report: `missed_fusions` expected",
                      hint[] = "an audit writes one: `fusion-audit -o report.yml m.ttir.mlir m.ttnn.mlir`";
    struct yaml y = {.path = path, .arena = a, .diags = d};
    struct str text;
    if (!yaml_text(&y, &text))
        return false;
    if (!may_be_report(text))
        return yaml_wrong(&y, NULL, hint, what);
    if (!yaml_read(&y, text))
        return false;
    *document = y.documents;
    if (*document && (*document)->next)
        return yaml_wrong(&y, (*document)->next, NULL, "more than one document");
    const struct tree *entries = *document ? tree_lookup(*document, "missed_fusions") : NULL;
    return !*document || (entries && entries->kind == TREE_SEQUENCE) || yaml_wrong(&y, *document, hint, what);
}

/* The text of a key that has to be a scalar; empty where it is absent. */
static bool text_of(const struct tree *map, const char *key, struct str *out) {
    const struct tree *t = tree_lookup(map, key);
    *out = t && t->kind == TREE_SCALAR ? t->text : STR("");
    return !t || t->kind == TREE_SCALAR;
}

static bool has_key(struct str *line, const char *key) {
    size_t n = strlen(key);
    if (!str_starts(*line, str_of(key)))
        return false;
    *line = str_trim((struct str){line->p + n, line->n - n});
    return true;
}

/* A report in YAML has these facts in its notes only, in lines of which the notes of a pattern may hold the like: those
 * come first, and what is known comes last. */
static void read_notes(struct finding *f, struct str notes) {
    while (notes.n) {
        struct str line = str_line(&notes);
        if (has_key(&line, "saves:")) {
            f->saved_us = price_line_us(line);
            f->price.known = true;
            f->counted = f->saved_us > 0 && !str_find(line, STR(", instead of "));
        } else if (has_key(&line, "model location:")) {
            f->place = line;
        } else if (has_key(&line, "source:")) {
            f->notes.source = line;
        } else if (f->place.n && has_key(&line, "known:")) {
            f->known = line;
        }
    }
}

/* JSON has keys for them. */
static bool read_keys(struct finding *f, const struct tree *instance, struct arena *a) {
    struct str saved, counted, fingerprint, known;
    if (!text_of(instance, "saved_us", &saved) || !text_of(instance, "counted_us", &counted) ||
        !text_of(instance, "fingerprint", &fingerprint) || !text_of(instance, "known", &known))
        return false;
    if (known.n)
        f->known = known;
    f->price.known |= tree_lookup(instance, "saves") != NULL;
    if (saved.n)
        f->saved_us = strtod(arena_strdup(a, saved), NULL);
    if (counted.n)
        f->counted = strtod(arena_strdup(a, counted), NULL) > 0;
    return !fingerprint.n || fingerprint_read(fingerprint, &f->fingerprint);
}

static struct str_list names_of(const struct tree *list, struct arena *a) {
    uint32_t n = 0;
    for (const struct tree *i = list ? list->first : NULL; i; i = i->next)
        n++;
    struct str *names = arena_alloc(a, (n + (size_t)1) * sizeof *names);
    n = 0;
    for (const struct tree *i = list ? list->first : NULL; i; i = i->next)
        names[n++] = i->text;
    return (struct str_list){names, n};
}

static bool read_entry(const struct yaml *y, const struct tree *entry, struct arena *a, struct finding_list *out) {
    const struct tree *instances = tree_lookup(entry, "instances");
    struct finding all = {.places = 1};
    if (!instances || instances->kind != TREE_SEQUENCE || !text_of(entry, "fused_op", &all.fused_op) ||
        !text_of(entry, "source", &all.source) || !text_of(entry, "lacks", &all.lacks) || !all.fused_op.n)
        return yaml_wrong(y, entry, NULL, "this is no entry of a report: `fused_op`, `source`, `instances` expected");
    all.component_ops = names_of(tree_lookup(entry, "component_ops"), y->arena);
    for (const struct tree *i = instances->first; i; i = i->next) {
        struct finding f = all;
        struct str notes;
        if (!text_of(i, "ir_loc", &f.ir_loc) || !text_of(i, "notes", &notes))
            return yaml_wrong(y, i, NULL, "`ir_loc` and `notes` are texts");
        read_notes(&f, notes);
        if (!f.place.n)
            return yaml_wrong(y, i, NULL, "its notes have no line `model location:`");
        if (!all.lacks.n && i == instances->first && str_find(notes, STR(TODO_DIALECT_SAID)))
            all.lacks = f.lacks = STR("what TTNN's library has");
        if (!read_keys(&f, i, y->arena))
            return yaml_wrong(y, i, "write the report anew with this version", "its `fingerprint` cannot be read");
        finding_add(out, &f, a);
    }
    return true;
}

/* JSON has keys for them. */
static bool read_totals(const struct yaml *y, const struct tree *document, struct report_read *out) {
    struct str total, saved;
    if (!text_of(document, "total_us", &total) || !text_of(document, "saved_us", &saved))
        return yaml_wrong(y, document, NULL, "`total_us` and `saved_us` are numbers");
    out->total_us = total.n ? strtod(arena_strdup(y->arena, total), NULL) : 0;
    if (saved.n)
        out->saved_us = strtod(arena_strdup(y->arena, saved), NULL);
    for (uint32_t i = 0; i < out->findings.n && !saved.n; i++)
        out->saved_us += out->findings.items[i]->saved_us * out->findings.items[i]->counted;
    return true;
}

bool findings_read(const char *path, struct arena *a, struct diags *d, struct report_read *out) {
    struct arena trees = {0};
    struct yaml y = {.path = path, .arena = &trees, .diags = d};
    bool good = read_report(path, &trees, d, &y.documents);
    const struct tree *entries = y.documents ? tree_lookup(y.documents, "missed_fusions") : NULL;
    for (const struct tree *e = good && entries ? entries->first : NULL; e && good; e = e->next)
        good = read_entry(&y, e, a, &out->findings);
    good = good && (!y.documents || read_totals(&y, y.documents, out));
    arena_free(&trees);
    return good;
}
