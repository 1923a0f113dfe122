/* The report in SARIF 2.1.0 (OASIS standard "Static Analysis Results Interchange Format"): a rule for each pattern that
 * found something, a result for each place. What a baseline knows is kept, with a suppression. Properties are there
 * that GitHub asks for (docs.github.com, "SARIF support for code scanning"); it does not know absent results, which it
 * would show as alerts. */
#include "base/hash.h"
#include "base/writer.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct place_key {
    uint64_t structure;
    uint32_t place, entry;
};

struct occurrences {
    struct place_key key;
    uint32_t n;
    UT_hash_handle hh;
};

struct sarif {
    const struct report *report;
    struct writer w;
    const struct pattern **rules; /* in the order of the report */
    uint32_t nrules, cap;
    struct occurrences *occurrences;
    struct arena arena; /* of these */
    struct buf text;    /* scratch */
    struct note_lines notes;
};

static void put(struct sarif *s, const char *key, struct str text) {
    write_pair(&s->w, key, text, TEXT_QUOTED);
}

/* "key": {"text": ...} */
static void put_message(struct sarif *s, const char *key, struct str text) {
    write_map_at(&s->w, key);
    put(s, "text", text);
    write_close(&s->w);
}

/* ---- rules ---- */

static uint32_t rule_number(const struct sarif *s, const struct pattern *p) {
    uint32_t i = 0;
    while (i < s->nrules && s->rules[i] != p)
        i++;
    return i;
}

static void find_rules(struct sarif *s) {
    const struct report *r = s->report;
    for (uint32_t i = 0; i < r->nentries; i++)
        for (uint32_t k = 0; k < r->entries[i].nfindings; k++) {
            const struct pattern *p = r->entries[i].findings[k]->pattern;
            if (!p || rule_number(s, p) < s->nrules)
                continue;
            s->rules = grow(s->rules, &s->cap, s->nrules + 1, sizeof *s->rules);
            s->rules[s->nrules++] = p;
        }
}

static void put_rule(struct sarif *s, const struct pattern *p) {
    write_map(&s->w);
    put(s, "id", p->name);
    put_message(s, "shortDescription", p->summary.n ? p->summary : p->fused_op);
    s->text.n = 0;
    buf_printf(&s->text, "%.*s (%.*s) could stand where this formula holds:\n", (int)p->fused_op.n, p->fused_op.p,
               (int)p->source.n, p->source.p);
    buf_add(&s->text, p->match);
    put_message(s, "fullDescription", buf_str(&s->text));
    put_message(s, "help", buf_str(&s->text));
    write_map_at(&s->w, "properties");
    put(s, "fused_op", p->fused_op);
    put(s, "source", p->source);
    write_close(&s->w);
    write_close(&s->w);
}

static void put_tool(struct sarif *s) {
    write_map_at(&s->w, "tool");
    write_map_at(&s->w, "driver");
    put(s, "name", STR("fusion-audit"));
    put(s, "version", STR(FA_VERSION));
    put(s, "informationUri", STR("man:fusion-audit(1)"));
    write_list_at(&s->w, "rules");
    for (uint32_t i = 0; i < s->nrules; i++)
        put_rule(s, s->rules[i]);
    write_close(&s->w);
    write_close(&s->w);
    write_close(&s->w);
}

/* ---- results ---- */

static void put_location(struct sarif *s, const struct finding *f, struct str place) {
    const struct extent *at = s->report->ttnn_path ? &f->ttnn.first : &f->ttir.first;
    write_list_at(&s->w, "locations");
    write_map(&s->w);
    write_map_at(&s->w, "physicalLocation");
    write_map_at(&s->w, "artifactLocation");
    bool whole = report_uri(s->report, &s->text);
    put(s, "uri", buf_str(&s->text));
    if (!whole)
        put(s, "uriBaseId", STR("%SRCROOT%"));
    write_close(&s->w);
    write_map_at(&s->w, "region");
    write_pair_number(&s->w, "startLine", at->begin.line);
    write_pair_number(&s->w, "startColumn", at->begin.column);
    write_pair_number(&s->w, "endLine", at->end.line);
    write_pair_number(&s->w, "endColumn", at->end.column);
    write_close(&s->w);
    write_close(&s->w);
    write_list_at(&s->w, "logicalLocations");
    write_map(&s->w);
    put(s, "fullyQualifiedName", place);
    write_close(&s->w);
    write_close(&s->w);
    write_close(&s->w);
    write_close(&s->w);
}

/* The first line of the model in Python: of "modeling.py:188 (forward), line 200" it is 200. */
static void put_related(struct sarif *s, struct str source) {
    const char *end = str_find(source, STR(".py:"));
    struct str rest = source, first = str_part(&rest, ';');
    const char *line = str_find(first, STR(", line"));
    if (!end)
        return;
    const char *digits = line ? line : end + strlen(".py");
    while (digits < first.p + first.n && !(*digits >= '0' && *digits <= '9'))
        digits++;
    uint64_t number = 0;
    for (; digits < first.p + first.n && *digits >= '0' && *digits <= '9' && number < UINT32_MAX; digits++)
        number = 10 * number + (uint64_t)(*digits - '0');
    write_list_at(&s->w, "relatedLocations");
    write_map(&s->w);
    put_message(s, "message", source);
    write_map_at(&s->w, "physicalLocation");
    write_map_at(&s->w, "artifactLocation");
    s->text.n = 0;
    add_uri(&s->text, (struct str){source.p, (size_t)(end - source.p) + strlen(".py")});
    put(s, "uri", buf_str(&s->text));
    write_close(&s->w);
    write_map_at(&s->w, "region");
    write_pair_number(&s->w, "startLine", number);
    write_close(&s->w);
    write_close(&s->w);
    write_close(&s->w);
    write_close(&s->w);
}

/* How many findings of the entry up to this one are the same thing at the same place. */
static uint32_t count_occurrence(struct sarif *s, const struct report_entry *e, const struct finding *f) {
    struct place_key key = {f->fingerprint.structure, f->fingerprint.place, (uint32_t)(e - s->report->entries)};
    struct occurrences *o;
    HASH_FIND(hh, s->occurrences, (const char *)&key, sizeof key, o);
    if (!o) {
        o = arena_alloc(&s->arena, sizeof *o);
        *o = (struct occurrences){.key = key};
        HASH_ADD_KEYPTR(hh, s->occurrences, (const char *)&o->key, sizeof o->key, o);
    }
    return ++o->n;
}

/* The first one stays as it is when places are added elsewhere, as the "hash:occurrence" of other tools does. */
static void put_fingerprints(struct sarif *s, const struct report_entry *e, const struct finding *f) {
    char text[FINGERPRINT_TEXT];
    write_map_at(&s->w, "partialFingerprints");
    s->text.n = 0;
    buf_printf(&s->text, "%016" PRIx64 "%08" PRIx32 ":%" PRIu32, f->fingerprint.structure, f->fingerprint.place,
               count_occurrence(s, e, f));
    put(s, "primaryLocationLineHash", buf_str(&s->text));
    if (f->fingerprint.count)
        put(s, "fusionAudit/v1", str_of(fingerprint_text(&f->fingerprint, text)));
    write_close(&s->w);
}

/* Empty: not suppressed, of a run that knows suppressions. */
static void put_suppression(struct sarif *s, struct str why) {
    write_list_at(&s->w, "suppressions");
    if (why.n) {
        write_map(&s->w);
        put(s, "kind", STR("external"));
        put(s, "status", STR("accepted"));
        put(s, "justification", why);
        write_close(&s->w);
    }
    write_close(&s->w);
}

static void put_properties(struct sarif *s, const struct report_entry *e, const struct finding *f) {
    write_map_at(&s->w, "properties");
    put(s, "fused_op", f->fused_op);
    put(s, "source", f->source);
    if (f->lacks.n)
        put(s, "lacks", f->lacks);
    write_pair_real(&s->w, "saved_us", f->saved_us);
    put(s, "notes", report_notes(s->report, e, f, &s->notes));
    write_close(&s->w);
}

static void put_result(struct sarif *s, const struct report_entry *e, const struct finding *f) {
    struct arena a = {0};
    struct str summary = finding_sentence(f), place = finding_place(f);
    struct str saves = f->device ? price_line(&f->price, f->device, STR(""), &a) : STR("");
    write_map(&s->w);
    s->text.n = 0;
    buf_printf(&s->text, "%.*s is missed%s%.*s%s At: %.*s.", (int)f->fused_op.n, f->fused_op.p, summary.n ? ": " : "",
               (int)summary.n, summary.p, summary.n ? "" : ".", (int)place.n, place.p);
    if (saves.n)
        buf_printf(&s->text, " Fusing saves %.*s.", (int)saves.n, saves.p);
    if (f->todo.kind != TODO_NOTHING) {
        buf_add(&s->text, STR(" What to do: "));
        todo_text(&f->todo, &s->text);
        buf_addc(&s->text, '.');
    }
    put(s, "ruleId", f->pattern ? f->pattern->name : f->fused_op);
    if (f->pattern)
        write_pair_number(&s->w, "ruleIndex", rule_number(s, f->pattern));
    put(s, "level", str_is(f->source, "ttnn") && !f->lacks.n ? STR("warning") : STR("note"));
    put_message(s, "message", buf_str(&s->text));
    put_location(s, f, place);
    put_related(s, f->notes.source);
    put_fingerprints(s, e, f);
    if (s->report->compared)
        put(s, "baselineState", f->known.n ? STR("unchanged") : STR("new"));
    put_suppression(s, f->known);
    put_properties(s, e, f);
    write_close(&s->w);
    arena_free(&a);
}

/* Which of the compiles that are audited at one commit. */
static void put_category(struct sarif *s) {
    struct buf id = {0};
    report_uri(s->report, &s->text);
    buf_printf(&id, "fusion-audit/%.*s/", (int)s->text.n, s->text.p);
    write_map_at(&s->w, "automationDetails");
    put(s, "id", buf_str(&id));
    write_close(&s->w);
    buf_free(&id);
}

bool report_print_sarif(const struct report *r, FILE *out) {
    struct sarif s = {.report = r};
    find_rules(&s);
    write_begin(&s.w, MARKUP_JSON, out);
    write_map(&s.w);
    put(&s, "$schema", STR("https://json.schemastore.org/sarif-2.1.0.json"));
    put(&s, "version", STR("2.1.0"));
    write_list_at(&s.w, "runs");
    write_map(&s.w);
    put_tool(&s);
    put_category(&s);
    put(&s, "columnKind", STR("unicodeCodePoints"));
    write_list_at(&s.w, "results");
    for (uint32_t i = 0; i < r->nentries; i++)
        for (uint32_t k = 0; k < r->entries[i].nfindings; k++)
            put_result(&s, &r->entries[i], r->entries[i].findings[k]);
    write_close(&s.w);
    write_close(&s.w);
    write_close(&s.w);
    write_close(&s.w);
    HASH_CLEAR(hh, s.occurrences);
    arena_free(&s.arena);
    buf_free(&s.text);
    note_lines_free(&s.notes);
    free(s.rules);
    return write_end(&s.w);
}
