#include "report/compare/findings.h"

#include <stdlib.h>

#include "base/units.h"
#include "input/unpack/yaml.h"

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

/* "29.77 ms (n150 assumed)" */
static void read_all_ops(struct report *r, struct str line) {
    struct str device = str_trim(line), time = str_part(&device, '(');
    r->total_us = price_line_us(time);
    r->device = (struct str){device.p, device.n - str_ends(device, STR(")"))};
}

/* Without what stands behind it, in parentheses at its end. */
static struct str action_alone(struct str line) {
    size_t n = line.n, depth = 0;
    if (!str_ends(line, STR(")")))
        return line;
    do {
        n--;
        depth += line.p[n] == ')';
        depth -= line.p[n] == '(';
    } while (n > 0 && depth > 0);
    return n > 0 && line.p[n - 1] == ' ' ? str_trim((struct str){line.p, n}) : line;
}

/* "about 721 us of 2.0 ms, 411 us more than ttnn.matmul": what counts of it. */
static double counted_of(const struct finding *f, struct str line) {
    const char *more = str_find(line, STR(" more than "));
    if (!more)
        return f->saved_us > 0 ? f->saved_us : 0;
    struct str rest = {line.p, (size_t)(more - line.p)}, last = rest;
    while (rest.n)
        last = str_part(&rest, ',');
    return str_is(f->source, "ttnn") ? price_line_us(last) : 0;
}

/* These facts are in notes only, in lines of which the notes of a pattern may hold the like: those come first, and what
 * is known comes last. False: there is no line of the place. */
static bool read_notes(struct report *r, struct finding *f, struct str notes) {
    bool placed = false;
    while (notes.n) {
        struct str line = str_line(&notes);
        if (has_key(&line, "saves:")) {
            f->saved_us = price_line_us(line);
            f->price.known = true;
            f->counts_us = counted_of(f, line);
        } else if (has_key(&line, "model location:")) {
            f->place = str_starts(line, STR(PLACE_NOT_STATED)) ? STR("") : line;
            placed = true;
        } else if (has_key(&line, "source:")) {
            f->notes.source = line;
        } else if (placed && has_key(&line, "action:")) {
            f->action = action_alone(line);
        } else if (placed && has_key(&line, "all ops:")) {
            read_all_ops(r, line);
        } else if (placed && has_key(&line, "compiler version:")) {
            r->version = line;
        } else if (placed && has_key(&line, "known:")) {
            f->known = line;
        }
    }
    return placed;
}

/* JSON has keys for them. */
static bool read_keys(struct finding *f, const struct tree *instance, struct arena *a) {
    struct str saved, counted, known;
    if (!text_of(instance, "saved_us", &saved) || !text_of(instance, "counted_us", &counted) ||
        !text_of(instance, "known", &known))
        return false;
    if (known.n)
        f->known = known;
    f->price.known |= tree_lookup(instance, "saves") != NULL;
    if (saved.n)
        f->saved_us = strtod(arena_strdup(a, saved), NULL);
    if (counted.n)
        f->counts_us = strtod(arena_strdup(a, counted), NULL);
    return true;
}

/* The types of what the lines of a component op take and yield, without their layouts. */
static uint64_t types_hash(uint64_t hash, struct str segment, struct str op) {
    const struct str tensor = STR("tensor<");
    while (segment.n) {
        struct str line = str_line(&segment);
        const char *end = line.p + line.n;
        for (const char *at = str_find_word(line, op); at;) {
            at = str_find((struct str){at, (size_t)(end - at)}, tensor);
            if (!at)
                break;
            struct str type = {at += tensor.n, 0};
            while (at < end && *at != ',' && *at != '>')
                at++;
            type.n = (size_t)(at - type.p);
            hash = hash_mix(hash, str_hash(type));
        }
    }
    return hash;
}

/* Of the names in a place, "output of attention (fed by block.attention: query, key)", in any order; 0: there are none.
 */
static uint32_t names_hash(struct str place) {
    const char *names = memchr(place.p ? place.p : "", '(', place.n);
    struct str rest = names ? (struct str){names + 1, (size_t)(place.p + place.n - names - 1)} : place;
    uint64_t sum = 0;
    while (rest.n) {
        struct str word = str_part(&rest, ' ');
        while (word.n && strchr(",:)", word.p[word.n - 1]))
            word.n--;
        sum += str_hash(word);
    }
    return place.n ? (uint32_t)sum | 1 : 0;
}

/* By what YAML says of it as JSON does: the place, the fused op, component ops and their types. */
static void identify(struct finding *f, struct str segment) {
    struct fingerprint *told = &f->fingerprint;
    told->place = names_hash(f->place);
    told->structure = hash_mix(str_hash(f->fused_op), told->place);
    for (uint32_t i = 0, k; i < f->component_ops.n; i++) {
        const struct str *ops = f->component_ops.items;
        told->structure = hash_mix(told->structure, str_hash(ops[i]));
        for (k = 0; !str_eq(ops[k], ops[i]); k++) {
        }
        told->structure = k == i ? types_hash(told->structure, segment, ops[i]) : told->structure;
    }
}

struct numbered {
    uint64_t structure;
    uint32_t at; /* in the report */
};

static int by_structure(const void *pa, const void *pb) {
    const struct numbered *a = pa, *b = pb;
    if (a->structure != b->structure)
        return a->structure < b->structure ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* The number of each among those of its structure. */
static void rank_all(const struct finding_list *all) {
    struct numbered *sorted = xcalloc(all->n + (size_t)1, sizeof *sorted);
    for (uint32_t i = 0; i < all->n; i++)
        sorted[i] = (struct numbered){all->items[i]->fingerprint.structure, i};
    qsort(sorted, all->n, sizeof *sorted, by_structure);
    for (uint32_t i = 1; i < all->n; i++)
        if (sorted[i].structure == sorted[i - 1].structure)
            all->items[sorted[i].at]->fingerprint.rank = all->items[sorted[i - 1].at]->fingerprint.rank + 1;
    free(sorted);
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

static bool read_entry(const struct yaml *y, const struct tree *entry, struct arena *a, struct report *out) {
    const struct tree *instances = tree_lookup(entry, "instances");
    struct finding all = {.places = 1};
    if (!instances || instances->kind != TREE_SEQUENCE || !text_of(entry, "fused_op", &all.fused_op) ||
        !text_of(entry, "source", &all.source) || !text_of(entry, "lacks", &all.lacks) || !all.fused_op.n)
        return yaml_wrong(y, entry, NULL, "this is no entry of a report: `fused_op`, `source`, `instances` expected");
    all.component_ops = names_of(tree_lookup(entry, "component_ops"), y->arena);
    for (const struct tree *i = instances->first; i; i = i->next) {
        struct finding f = all;
        struct str notes, ttir, ttnn;
        if (!text_of(i, "ir_loc", &f.ir_loc) || !text_of(i, "notes", &notes) || !text_of(i, "ttir_segment", &ttir) ||
            !text_of(i, "ttnn_segment", &ttnn))
            return yaml_wrong(y, i, NULL, "`ir_loc`, `notes` and segments are texts");
        if (!read_notes(out, &f, notes))
            return yaml_wrong(y, i, NULL, "its notes have no line `model location:`");
        if (!all.lacks.n && i == instances->first && str_find(notes, STR(TODO_DIALECT_SAID)))
            all.lacks = f.lacks = STR("what TTNN's library has");
        if (!read_keys(&f, i, y->arena))
            return yaml_wrong(y, i, "write the report anew with this version", "its keys cannot be read");
        identify(&f, ttnn.n ? ttnn : ttir);
        all.action = f.action;
        finding_add(&out->findings, &f, a);
    }
    return true;
}

/* What all ops take is in JSON also where nothing is found; in the digits of YAML. */
static bool read_totals(const struct yaml *y, const struct tree *document, struct report *out) {
    struct str total, device;
    struct buf said = {0};
    if (!text_of(document, "total_us", &total) || !text_of(document, "device", &device))
        return yaml_wrong(y, document, NULL, "`total_us` is a number, `device` a text");
    if (total.n) {
        add_total_time(&said, strtod(arena_strdup(y->arena, total), NULL));
        out->total_us = price_line_us(buf_str(&said));
    }
    out->device = device.n ? device : out->device;
    for (uint32_t i = 0; i < out->findings.n; i++)
        out->saved_us += out->findings.items[i]->counts_us;
    buf_free(&said);
    return true;
}

bool report_read(const char *path, struct arena *a, struct diags *d, struct report *out) {
    struct arena trees = {0};
    struct yaml y = {.path = path, .arena = &trees, .diags = d};
    bool good = read_report(path, &trees, d, &y.documents);
    const struct tree *entries = y.documents ? tree_lookup(y.documents, "missed_fusions") : NULL;
    for (const struct tree *e = good && entries ? entries->first : NULL; e && good; e = e->next)
        good = read_entry(&y, e, a, out);
    rank_all(&out->findings);
    good = good && (!y.documents || read_totals(&y, y.documents, out));
    out->device = arena_str(a, out->device);
    out->version = arena_str(a, out->version);
    arena_free(&trees);
    return good;
}
