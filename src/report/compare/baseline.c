#include "report/compare/baseline.h"

#include <math.h>
#include <stdlib.h>

#include "base/writer.h"
#include "elementwise/rules.h"
#include "input/unpack/yaml.h"
#include "patterns/library/choose.h"
#include "report/compare/compare.h"

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

static bool read_us(struct str s, void *member) {
    char digits[32] = "", *end = digits;
    if (s.n < sizeof digits)
        memcpy(digits, s.p, s.n);
    *(double *)member = strtod(digits, &end);
    return s.n && end == digits + s.n;
}

static bool read_known(struct baseline *b, const struct yaml *y, const struct tree *entry) {
    static const struct field fields[] = {
        {"fingerprint", FIELD_VALUE, false, offsetof(struct known, fingerprint), read_fingerprint,
         "one of the notes of a report"},
        {"location", FIELD_VALUE, false, offsetof(struct known, location), yaml_word, "a glob"},
        {"fused_op", FIELD_VALUE, false, offsetof(struct known, fused_op), yaml_word, "a text"},
        {"place", FIELD_VALUE, false, offsetof(struct known, place), yaml_word, "a text"},
        {"reason", FIELD_VALUE, false, offsetof(struct known, reason), yaml_word, "a text"},
        {"until", FIELD_VALUE, false, offsetof(struct known, until), read_date, "a date such as 2027-01-31"},
        {"saved_us", FIELD_VALUE, false, offsetof(struct known, saved_us), read_us, "a number"},
    };
    struct known k = {.saved_us = -INFINITY, .line = entry->line, .column = entry->column};
    if (!yaml_record(y, entry, fields, sizeof fields / sizeof *fields, &k))
        return false;
    bool rule = !k.fingerprint.count;
    if (rule && ((!k.fused_op.n && !k.location.n) || !k.reason.n))
        return yaml_wrong(y, entry, NULL, "`fingerprint` expected, or `fused_op` or `location` with a `reason`");
    struct known_list *list = rule ? &b->rules : &b->places;
    list->items = grow(list->items, &list->cap, list->n + 1, sizeof *list->items);
    list->items[list->n++] = k;
    if (!rule)
        finding_add(&b->findings,
                    &(struct finding){
                        .fingerprint = k.fingerprint, .fused_op = k.fused_op, .place = k.place, .saved_us = k.saved_us},
                    y->arena);
    return true;
}

bool baseline_read(struct baseline *b, const char *path, struct arena *a, struct diags *d) {
    static const struct field fields[] = {
        {"total_us", FIELD_VALUE, false, offsetof(struct baseline, total_us), read_us, "a number"},
        {"known_findings", FIELD_NESTED, true, offsetof(struct baseline, list), NULL, "a list"},
    };
    struct yaml y = {.path = path, .form = "a list, `known_findings`", .arena = a, .diags = d};
    *b = (struct baseline){.path = path};
    if (!yaml_open(&y))
        return false;
    if (y.documents && y.documents->next)
        return yaml_wrong(&y, y.documents->next, NULL, "more than one document");
    if (y.documents && !yaml_record(&y, y.documents, fields, sizeof fields / sizeof *fields, b))
        return false;
    if (b->list && b->list->kind != TREE_SEQUENCE)
        return yaml_wrong(&y, b->list, NULL, "this is no baseline");
    for (const struct tree *i = b->list ? b->list->first : NULL; i; i = i->next)
        if (!read_known(b, &y, i))
            return false;
    return true;
}

static bool any_matches(struct str_list names, struct str glob) {
    for (uint32_t i = 0; i < names.n; i++)
        if (str_matches(names.items[i], glob))
            return true;
    return false;
}

/* By the place in the model, and by the names in the locations of its ops. */
static bool rule_means(const struct known *k, const struct finding *f) {
    return (!k->fused_op.n || str_matches(f->fused_op, k->fused_op)) &&
           (!k->location.n || str_matches(f->place, k->location) || any_matches(f->notes.names, k->location) ||
            any_matches(f->notes.locations, k->location));
}

/* The first rule that means a finding; or NULL. */
static struct known *rule_of(const struct baseline *b, const struct finding *f) {
    uint32_t i = 0;
    while (i < b->rules.n && !rule_means(&b->rules.items[i], f))
        i++;
    return i < b->rules.n ? &b->rules.items[i] : NULL;
}

void baseline_apply(struct baseline *b, struct report *r) {
    struct findings_compared c = findings_compare(&b->findings, &r->findings);
    for (uint32_t i = 0; i < r->findings.n; i++) {
        struct finding *f = r->findings.items[i];
        struct known *rule = rule_of(b, f), *k = rule;
        if (!rule && c.before_of[i] != NONE)
            k = &b->places.items[c.before_of[i]];
        if (rule)
            rule->applies = true;
        if (k)
            f->known = k->reason.n ? k->reason : STR("in the baseline");
    }
    for (uint32_t i = 0; i < b->places.n; i++) {
        b->places.items[i].applies = c.is_there[i];
        if (!c.is_there[i])
            finding_add(&r->gone, b->findings.items[i], &r->arena);
    }
    r->before_us = b->total_us;
    r->compared = true;
    findings_compared_free(&c);
}

/* Whether all patterns of a fused op (empty: of all) were searched for, and none was left out by --only, --skip or
 * --source: only then is a finding that is not there gone. */
static bool was_searched(const struct pattern_set *set, const struct fa_patterns *o, struct str fused_op) {
    for (uint32_t i = 0; i < set->n; i++) {
        const struct pattern *p = set->items[i];
        if (!p->replaced && (!fused_op.n || str_matches(p->fused_op, fused_op)) &&
            (!p->selected || !source_wanted(o, p)))
            return false;
    }
    return !str_is(fused_op, "ttnn.generic") || region_kind_wanted(set, o) == REGION_REDUCTION;
}

/* "ttnn.linear, layer 2" */
static void add_meant(struct buf *out, const struct known *k) {
    struct str where = k->place.n ? k->place : k->location;
    buf_printf(out, "%.*s%s%.*s", (int)k->fused_op.n, k->fused_op.n ? k->fused_op.p : "",
               k->fused_op.n && where.n ? ", " : "", (int)where.n, where.n ? where.p : "");
}

static bool tell(const struct baseline *b, const struct known *k, const char *today, bool looked, struct diags *d) {
    struct source_location at = {b->path, k->line, k->column};
    bool expired = k->until.n && str_cmp(k->until, str_of(today)) < 0, gone = looked && !k->applies;
    struct buf meant = {0};
    if (!expired && !gone)
        return false;
    add_meant(&meant, k);
    diag_add(d, SEV_WARNING, at, gone ? "remove the entry, or write the baseline anew with --write-baseline" : NULL,
             "%.*s: known%s%.*s%s", (int)meant.n, meant.p, expired ? " until " : "", expired ? (int)k->until.n : 0,
             expired ? k->until.p : "",
             gone         ? ", and no longer there"
             : k->applies ? ", and still there"
                          : "");
    buf_free(&meant);
    return true;
}

uint32_t baseline_tell(const struct baseline *b, const char *today, bool all, const struct pattern_set *set,
                       const struct fa_patterns *o, struct diags *d) {
    const struct known_list *lists[] = {&b->rules, &b->places};
    uint32_t told = 0;
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < lists[k]->n; i++) {
            const struct known *x = &lists[k]->items[i];
            told += tell(b, x, today, all && was_searched(set, o, x->fused_op), d);
        }
    return told;
}

static void print_known(struct writer *w, const struct known *k) {
    write_pair_if_any(w, "reason", k ? k->reason : STR(""), TEXT_NAME);
    write_pair_if_any(w, "until", k ? k->until : STR(""), TEXT_NAME);
    write_close(w);
}

static void print_rule(struct writer *w, const struct known *k) {
    write_map(w);
    write_pair_if_any(w, "fused_op", k->fused_op, TEXT_NAME);
    write_pair_if_any(w, "location", k->location, TEXT_QUOTED);
    print_known(w, k);
}

static void print_place(struct writer *w, const struct finding *f, const struct known *k) {
    char text[FINGERPRINT_TEXT];
    write_map(w);
    write_pair(w, "fingerprint", str_of(fingerprint_text(&f->fingerprint, text)), TEXT_NAME);
    write_pair(w, "fused_op", f->fused_op, TEXT_NAME);
    write_pair(w, "place", finding_place(f), TEXT_NAME);
    write_pair_real(w, "saved_us", f->saved_us);
    print_known(w, k);
}

bool baseline_print(const struct report *r, const struct baseline *before, FILE *out) {
    const struct finding_list *l = &r->findings;
    struct findings_compared c = findings_compare(&before->findings, l);
    struct writer w;
    write_begin(&w, MARKUP_YAML, out);
    write_map(&w);
    write_list_at(&w, "known_findings");
    for (uint32_t i = 0; i < before->rules.n; i++)
        print_rule(&w, &before->rules.items[i]);
    for (uint32_t i = 0; i < l->n; i++)
        if (!rule_of(before, l->items[i]))
            print_place(&w, l->items[i], c.before_of[i] == NONE ? NULL : &before->places.items[c.before_of[i]]);
    write_close(&w);
    write_pair_positive(&w, "total_us", r->total_us);
    write_close(&w);
    findings_compared_free(&c);
    return write_end(&w);
}

void baseline_free(struct baseline *b) {
    free(b->rules.items);
    free(b->places.items);
    free(b->findings.items);
    *b = (struct baseline){.path = NULL};
}
