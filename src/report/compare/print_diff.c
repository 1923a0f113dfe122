/* What changed between two compiles, as one document, which is JSON or text. */
#include "report/compare/diff.h"

static void write_change(struct writer *w, const struct change *c) {
    static const char *const words[] = {"lost", "partly lost", "gained", "changed"};
    write_map(w);
    write_pair(w, "change", str_of(words[c->kind]), TEXT_NAME);
    write_pair_if_any(w, "place", c->place, TEXT_QUOTED);
    write_pair_if_any(w, "now", c->now, TEXT_QUOTED);
    write_pair_if_any(w, "how", c->how, TEXT_QUOTED);
    if (c->kind == OP_LOST || c->kind == OP_PARTLY_LOST)
        write_pair_bool(w, "fails", true);
    write_close(w);
}

static void write_op(struct writer *w, const struct diff *d, const struct op_changes *x) {
    write_map(w);
    write_pair(w, "fused_op", x->op, TEXT_NAME);
    write_pair_number(w, "before", x->before);
    write_pair_number(w, "now", x->now);
    write_list_at(w, "changes");
    for (uint32_t i = 0; i < x->n; i++)
        write_change(w, &d->changes[x->first + i]);
    write_close(w);
    write_close(w);
}

static void write_side(struct writer *w, const char *key, const struct compile_summary *c) {
    write_map_at(w, key);
    write_list_at(w, "files");
    for (size_t i = 0; i < 2; i++)
        if (c->files[i] && (i == 0 || !str_eq(str_of(c->files[1]), str_of(c->files[0])))) /* a log has both levels */
            write_text(w, str_of(c->files[i]), TEXT_NAME);
    write_close(w);
    write_pair_number(w, "findings", c->missed->n);
    write_pair_positive(w, "total_us", c->total_us);
    write_pair_positive(w, "saved_us", c->saved_us);
    write_close(w);
}

static const struct template change_text[] = {
    {.of = "changes",
     .alike = true,
     .text = "  {change}{fails?, fails|}: {place?{place}|at a place without a name}{now?, now {now}|}{how?, {how}|}\n"},
    {.text = NULL},
};

static const struct template diff_text[] = {
    {.of = "fused_ops", .text = "{fused_op}: {before} before, {now} now\n", .below = change_text},
    {.text =
         "{findings?findings: {before.findings} before, {now.findings} now, {new} new, {gone} gone, {changed} changed"
         "\n|}"},
    {.of = "findings",
     .alike = true,
     .text = "  {change}{fails?, fails|}: {fused_op}, {place?{place}|at a place without a name}{ir_loc? [{ir_loc}]|}"
             "{saved_us?, about {saved_us:us}|}\n"},
    {.text = "{before.total_us?{now.total_us?all ops: about {before.total_us:us} before, {now.total_us:us} now\n|}|}"
             "{before.saved_us?to save: about {before.saved_us:us} before, "
             "{now.saved_us?{now.saved_us:us}|nothing} now\n|"
             "{now.saved_us?to save: nothing before, about {now.saved_us:us} now\n|}}"},
    {.text = NULL},
};

bool diff_print(const struct diff *d, bool json, FILE *out) {
    struct writer w;
    if (json)
        write_document(&w, MARKUP_JSON, out);
    else
        write_as_text(&w, diff_text, out);
    write_side(&w, "before", d->before);
    write_side(&w, "now", d->now);
    write_list_at(&w, "fused_ops");
    for (uint32_t i = 0; i < d->nops; i++)
        write_op(&w, d, &d->ops[i]);
    write_close(&w);
    write_pair_number(&w, "new", d->findings.counts[FINDING_NEW]);
    write_pair_number(&w, "gone", d->findings.counts[FINDING_GONE]);
    write_pair_number(&w, "changed", d->findings.counts[FINDING_CHANGED]);
    write_key(&w, STR("findings"));
    findings_compared_write(&d->findings, &w);
    write_close(&w);
    return write_end(&w);
}
