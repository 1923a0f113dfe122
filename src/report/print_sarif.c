/* The report in SARIF 2.1.0 (OASIS standard "Static Analysis Results Interchange Format"): a rule for each pattern that
 * found something, a result for each place. What a baseline knows, or --suppress leaves out, is kept, with a
 * suppression; what a baseline knows and is gone, as absent. */
#include "base/json.h"
#include "report/lines.h"
#include "report/report.h"

struct sarif_printer {
    struct report *report;
    json *results;
    struct buf text; /* scratch */
};

/* {"text": ...} */
static json *message(struct str text) {
    json *m = json_map();
    json_put_text(m, "text", text);
    return m;
}

/* A path as a relative or absolute URI (RFC 3986): all but unreserved characters and slashes in percent. */
static struct str uri_of(const char *path, struct buf *out) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    out->n = 0;
    if (path[0] == '/')
        buf_add(out, path[1] == '/' ? STR("file:///.") : STR("file://"));
    for (; *path; path++) {
        if (strchr(plain, *path))
            buf_addc(out, *path);
        else
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)*path);
    }
    return buf_str(out);
}

static json *rule_of(const struct report_rule *r, struct buf *scratch) {
    json *rule = json_map(), *help = json_map(), *properties = json_map();
    json_put_text(rule, "id", r->name);
    json_put(rule, "shortDescription", message(r->summary.n ? r->summary : r->fused_op));
    scratch->n = 0;
    buf_printf(scratch, "%.*s (%.*s) could stand where this formula holds:\n", (int)r->fused_op.n, r->fused_op.p,
               (int)r->source.n, r->source.p);
    buf_add(scratch, r->match);
    json_put_text(help, "text", buf_str(scratch));
    json_put(rule, "help", help);
    json_put_text(properties, "fused_op", r->fused_op);
    json_put_text(properties, "source", r->source);
    json_put(rule, "properties", properties);
    return rule;
}

/* The rules in the order of their numbers: they are kept the last one first. */
static json *rules_of(const struct report *r, struct buf *scratch) {
    json *rules = json_list();
    uint32_t n = r->rules ? r->rules->number + 1 : 0;
    for (uint32_t i = 0; i < n; i++)
        for (const struct report_rule *rule = r->rules; rule; rule = rule->next)
            if (rule->number == i)
                json_append(rules, rule_of(rule, scratch));
    return rules;
}

static uint64_t first_number(struct str lines) {
    uint64_t n = 0;
    for (size_t i = 0; i < lines.n && lines.p[i] >= '0' && lines.p[i] <= '9'; i++)
        n = n * 10 + (uint64_t)(lines.p[i] - '0');
    return n;
}

static json *location_of(const char *path, struct str lines, struct str place, struct buf *scratch) {
    json *location = json_map(), *physical = json_map(), *artifact = json_map(), *region = json_map();
    json *logical = json_map(), *list = json_list();
    uint64_t line = first_number(lines);
    json_put_text(artifact, "uri", uri_of(path, scratch));
    json_put(physical, "artifactLocation", artifact);
    if (line) {
        json_put_number(region, "startLine", line);
        json_put(physical, "region", region);
    } else {
        json_object_put(region);
    }
    json_put(location, "physicalLocation", physical);
    json_put_text(logical, "fullyQualifiedName", place);
    json_append(list, logical);
    json_put(location, "logicalLocations", list);
    return location;
}

static void put_fingerprint(json *result, const struct fingerprint *f) {
    char text[FINGERPRINT_TEXT];
    if (!f->count)
        return;
    json *prints = json_map();
    json_put_text(prints, "fusionAudit/v1", str_of(fingerprint_text(f, text)));
    json_put(result, "partialFingerprints", prints);
}

/* Empty: not suppressed, of a run that knows suppressions. */
static void put_suppression(json *result, struct str why) {
    json *list = json_list();
    if (why.n) {
        json *suppression = json_map();
        json_put_text(suppression, "kind", STR("external"));
        json_put_text(suppression, "justification", why);
        json_append(list, suppression);
    }
    json_put(result, "suppressions", list);
}

static void add_result(void *context, const struct report_entry *e, const struct stored_instance *s,
                       const struct instance_text *text) {
    struct sarif_printer *p = context;
    const struct report *r = p->report;
    struct str rest = text->notes, summary = str_line(&rest);
    struct str place = notes_line(text->notes, "model location:"), saves = notes_line(text->notes, "saves:");
    json *result = json_map(), *locations = json_list(), *properties = json_map();
    p->text.n = 0;
    buf_printf(&p->text, "%.*s is missed: %.*s At: %.*s.", (int)e->key.fused_op.n, e->key.fused_op.p, (int)summary.n,
               summary.p, (int)place.n, place.p);
    if (saves.n)
        buf_printf(&p->text, " Fusing saves %.*s.", (int)saves.n, saves.p);
    json_put_text(result, "ruleId", s->rule ? s->rule->name : e->key.fused_op);
    if (s->rule)
        json_put_number(result, "ruleIndex", s->rule->number);
    json_put_text(result, "level", str_is(e->key.source, "ttnn") ? STR("warning") : STR("note"));
    json_put(result, "message", message(buf_str(&p->text)));
    if (r->ttnn_path || r->ttir_path)
        json_append(locations, location_of(r->ttnn_path ? r->ttnn_path : r->ttir_path,
                                           r->ttnn_path ? text->ttnn_lines : text->ttir_lines, place, &p->text));
    json_put(result, "locations", locations);
    put_fingerprint(result, &s->fingerprint);
    if (r->compared)
        json_put_text(result, "baselineState", s->known ? STR("unchanged") : STR("new"));
    put_suppression(result, s->known ? str_of(s->known) : STR(""));
    json_put_text(properties, "fused_op", e->key.fused_op);
    json_put_text(properties, "source", e->key.source);
    json_put(properties, "saved_us", json_real(s->saved));
    json_put_text(properties, "notes", text->notes);
    json_put(result, "properties", properties);
    json_append(p->results, result);
}

static void add_left_out(struct sarif_printer *p, const struct left_out *x) {
    const struct report *r = p->report;
    const char *path = r->ttnn_path ? r->ttnn_path : r->ttir_path;
    json *result = json_map(), *locations = json_list();
    char line[24];
    snprintf(line, sizeof line, "%llu", (unsigned long long)x->line);
    p->text.n = 0;
    buf_printf(&p->text, "%.*s %s%s%.*s.", (int)x->fused_op.n, x->fused_op.p,
               x->gone ? "is not missed any more" : "is missed", x->place.n ? ": " : "", (int)x->place.n, x->place.p);
    json_put_text(result, "ruleId", x->rule.n ? x->rule : x->fused_op);
    json_put_text(result, "level", STR("note"));
    json_put(result, "message", message(buf_str(&p->text)));
    if (path)
        json_append(locations, location_of(path, str_of(line), x->place, &p->text));
    json_put(result, "locations", locations);
    put_fingerprint(result, &x->fingerprint);
    if (x->gone)
        json_put_text(result, "baselineState", STR("absent"));
    put_suppression(result, x->reason);
    json_append(p->results, result);
}

bool report_print_sarif(struct report *r, FILE *out) {
    static const struct report_visitor visitor = {NULL, add_result, NULL};
    struct sarif_printer p = {.report = r, .results = json_list()};
    json *document = json_map(), *runs = json_list(), *run = json_map(), *tool = json_map(), *driver = json_map();
    json_put_text(document, "$schema", STR("https://json.schemastore.org/sarif-2.1.0.json"));
    json_put_text(document, "version", STR("2.1.0"));
    json_put_text(driver, "name", STR("fusion-audit"));
    json_put_text(driver, "version", STR(FA_VERSION));
    json_put(driver, "rules", rules_of(r, &p.text));
    json_put(tool, "driver", driver);
    json_put(run, "tool", tool);
    json_put(run, "results", p.results);
    json_append(runs, run);
    json_put(document, "runs", runs);
    bool whole = report_walk(r, &visitor, &p);
    for (uint32_t i = 0; i < r->nleft_out; i++)
        add_left_out(&p, &r->left_out[i]);
    if (whole)
        json_print(document, out);
    else
        json_object_put(document);
    buf_free(&p.text);
    return whole;
}
