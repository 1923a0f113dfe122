/* What changed between two compiles, as one document, which is JSON or text. */
#include "report/compare/diff.h"

static double change_us(const struct change *c) {
    return c->finding ? c->finding->saved_us : 0;
}

static const char *const finding_words[] = {"new", "changed", "gone"};

static void write_us(struct writer *w, const char *key, double us) {
    if (us > 0) {
        write_key(w, str_of(key));
        write_real(w, us);
    }
}

static void write_change(struct writer *w, const struct change *c) {
    static const char *const words[] = {"lost", "partly lost", "gained", "changed"};
    write_map(w);
    write_pair(w, "change", str_of(words[c->kind]), TEXT_NAME);
    write_pair_if_any(w, "place", c->place, TEXT_QUOTED);
    write_pair_if_any(w, "now", c->now, TEXT_QUOTED);
    write_pair_if_any(w, "how", c->how, TEXT_QUOTED);
    write_us(w, "us", change_us(c));
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

void diff_write_finding(struct writer *w, const struct changed_finding *x) {
    const struct finding *f = x->finding;
    char fingerprint[FINGERPRINT_TEXT];
    write_map(w);
    write_pair(w, "change", str_of(finding_words[x->kind]), TEXT_NAME);
    write_pair(w, "fused_op", f->fused_op, TEXT_NAME);
    write_pair_if_any(w, "place", f->place, TEXT_QUOTED);
    write_pair_if_any(w, "ir_loc", f->ir_loc, TEXT_QUOTED);
    write_us(w, "saved_us", f->saved_us);
    if (x->of_op)
        write_pair_bool(w, "of_op", true);
    write_pair_if_any(w, "fingerprint", str_of(fingerprint_text(&f->fingerprint, fingerprint)), TEXT_QUOTED);
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
    write_us(w, "total_us", c->total_us);
    write_us(w, "saved_us", c->saved_us);
    write_close(w);
}

static const struct template change_text[] = {
    {.of = "changes",
     .alike = true,
     .text = "  {change}: {place?{place}|at a place without a name}{now?, now {now}|}{how?, {how}|}"
             "{us?, about {us:us}|}\n"},
    {.text = NULL},
};

static const struct template diff_text[] = {
    {.of = "fused_ops", .text = "{fused_op}: {before} before, {now} now\n", .below = change_text},
    {.text =
         "{findings?findings: {before.findings} before, {now.findings} now, {new} new, {gone} gone, {changed} changed"
         "{of_ops?; {of_ops} of them at fused ops above|}\n|}"},
    {.of = "findings",
     .alike = true,
     .text = "{of_op?|  {change}: {fused_op}, {place?{place}|at a place without a name}{ir_loc? [{ir_loc}]|}"
             "{saved_us?, about {saved_us:us}|}\n}"},
    {.text = "{before.total_us?{now.total_us?all ops: about {before.total_us:us} before, {now.total_us:us} now\n|}|}"
             "{before.saved_us?to save: about {before.saved_us:us} before, "
             "{now.saved_us?{now.saved_us:us}|nothing} now\n|"
             "{now.saved_us?to save: nothing before, about {now.saved_us:us} now\n|}}"},
    {.text = NULL},
};

bool diff_print(const struct diff *d, bool json, FILE *out) {
    struct writer w;
    uint32_t of_ops = 0;
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
    for (uint32_t i = 0; i < FINDING_CHANGES; i++) {
        write_pair_number(&w, finding_words[i], d->counts[i]);
        of_ops += d->of_ops[i];
    }
    write_pair_number(&w, "of_ops", of_ops);
    write_list_at(&w, "findings");
    for (uint32_t i = 0; i < d->nfindings; i++)
        diff_write_finding(&w, &d->findings[i]);
    write_close(&w);
    write_close(&w);
    return write_end(&w);
}
