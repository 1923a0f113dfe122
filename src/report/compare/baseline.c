#include "report/compare/baseline.h"

#include <math.h>
#include <stdlib.h>

#include "base/writer.h"
#include "input/source/yaml.h"
#include "patterns/library/choose.h"
#include "regions/rules.h"
#include "report/compare/compare.h"

static const char not_said[] = "known when this file was written";

static bool read_date(struct str s, void *member) {
    static const char form[] = "dddd-dd-dd";
    bool ok = s.n == sizeof form - 1;
    for (size_t i = 0; i < s.n && ok; i++)
        ok = form[i] == '-' ? s.p[i] == '-' : s.p[i] >= '0' && s.p[i] <= '9';
    int month = ok ? atoi(s.p + 5) : 0, day = ok ? atoi(s.p + 8) : 0;
    *(struct str *)member = s;
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static bool read_fingerprint(struct str s, void *member) {
    return fingerprint_read(s, member);
}

static bool read_known(struct baseline *b, const struct yaml *y, const struct tree *entry) {
    static const struct field fields[] = {
        {"fingerprint", FIELD_VALUE, true, offsetof(struct known, fingerprint), read_fingerprint,
         "one of the notes of a report"},
        {"fused_op", FIELD_VALUE, false, offsetof(struct known, fused_op), yaml_word, "a text"},
        {"place", FIELD_VALUE, false, offsetof(struct known, place), yaml_word, "a text"},
        {"reason", FIELD_VALUE, false, offsetof(struct known, reason), yaml_word, "a text"},
        {"until", FIELD_VALUE, false, offsetof(struct known, until), read_date, "a date such as 2027-01-31"},
    };
    struct known k = {.line = entry->line, .column = entry->column};
    if (!yaml_record(y, entry, fields, sizeof fields / sizeof *fields, &k))
        return false;
    b->items = grow(b->items, &b->cap, b->n + 1, sizeof *b->items);
    b->items[b->n++] = k;
    finding_add(&b->findings, &(struct finding){.fingerprint = k.fingerprint, .saved_us = -INFINITY}, y->arena);
    return true;
}

bool baseline_read(struct baseline *b, const char *path, struct arena *a, struct diags *d) {
    struct yaml y = {.path = path, .arena = a, .diags = d};
    *b = (struct baseline){.path = path};
    if (!yaml_open(&y))
        return false;
    if (y.documents && y.documents->next)
        return yaml_wrong(&y, y.documents->next, NULL, "more than one document");
    const struct tree *list = y.documents ? tree_lookup(y.documents, "known_findings") : NULL;
    if (y.documents && (!list || list->kind != TREE_SEQUENCE || y.documents->n != 1))
        return yaml_wrong(&y, y.documents, NULL, "this is no baseline: one list, `known_findings`, expected");
    for (const struct tree *i = list ? list->first : NULL; i; i = i->next)
        if (!read_known(b, &y, i))
            return false;
    return true;
}

uint32_t baseline_apply(struct baseline *b, struct finding_list *l) {
    struct findings_compared c = findings_compare(&b->findings, l);
    uint32_t nnew = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        const struct known *k = c.before_of[i] == NONE ? NULL : &b->items[c.before_of[i]];
        nnew += !k;
        if (k)
            l->items[i]->known = k->reason.n ? k->reason : str_of(not_said);
    }
    for (uint32_t i = 0; i < b->n; i++)
        b->items[i].applies = c.is_there[i];
    findings_compared_free(&c);
    return nnew;
}

/* By --only, --skip and --source: all patterns of a fused op were searched. */
static bool looked_for(const struct pattern_set *set, const struct fa_patterns *o, struct str fused_op) {
    for (uint32_t i = 0; i < set->n; i++) {
        const struct pattern *p = set->items[i];
        if (!p->replaced && str_eq(p->fused_op, fused_op) && (!p->selected || !source_wanted(o, p)))
            return false;
    }
    return !str_is(fused_op, "ttnn.generic") || region_kind_wanted(set, o) == REGION_REDUCTION;
}

uint32_t baseline_tell(const struct baseline *b, const char *today, bool all, const struct pattern_set *set,
                       const struct fa_patterns *o, struct diags *d) {
    uint32_t told = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct known *k = &b->items[i];
        struct source_location at = {b->path, k->line, k->column};
        bool expired = k->until.n && str_cmp(k->until, str_of(today)) < 0,
             gone = all && !k->applies && looked_for(set, o, k->fused_op);
        if (!expired && !gone)
            continue;
        told++;
        diag_add(d, SEV_WARNING, at, gone ? "remove the entry, or write the baseline anew with --write-baseline" : NULL,
                 "%.*s%s%.*s: known%s%.*s%s", (int)k->fused_op.n, k->fused_op.n ? k->fused_op.p : "",
                 k->place.n ? ", " : "", (int)k->place.n, k->place.n ? k->place.p : "", expired ? " until " : "",
                 expired ? (int)k->until.n : 0, expired ? k->until.p : "",
                 gone         ? ", and no longer there"
                 : k->applies ? ", and still there"
                              : "");
    }
    return told;
}

bool baseline_print(const struct finding_list *l, const struct baseline *before, FILE *out) {
    struct baseline none = {.path = NULL};
    if (!before)
        before = &none;
    struct findings_compared c = findings_compare(&before->findings, l);
    char text[FINGERPRINT_TEXT];
    struct writer w;
    write_begin(&w, MARKUP_YAML, out);
    write_map(&w);
    write_list_at(&w, "known_findings");
    for (uint32_t i = 0; i < l->n; i++) {
        const struct finding *f = l->items[i];
        const struct known *k = c.before_of[i] == NONE ? NULL : &before->items[c.before_of[i]];
        write_map(&w);
        write_pair(&w, "fingerprint", str_of(fingerprint_text(&f->fingerprint, text)), TEXT_NAME);
        write_pair(&w, "fused_op", f->fused_op, TEXT_NAME);
        write_pair(&w, "place", finding_place(f), TEXT_NAME);
        write_pair(&w, "reason", k && k->reason.n ? k->reason : str_of(not_said), TEXT_NAME);
        if (k && k->until.n)
            write_pair(&w, "until", k->until, TEXT_NAME);
        write_close(&w);
    }
    write_close(&w);
    write_close(&w);
    findings_compared_free(&c);
    return write_end(&w);
}

void baseline_free(struct baseline *b) {
    free(b->items);
    free(b->findings.items);
    *b = (struct baseline){.path = NULL};
}
