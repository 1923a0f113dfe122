/* What is proved of the examples of a pattern directory: proofs.txt has it, and table_test.py compares.
 *
 *     relu6/0: same, bf16 error ...                           the verdict; the first match of the pattern
 *       4 ops; inputs %x, ... thresholds 6, epsilon 0; ...    what the proof knows of the match
 *       plain: -0.4091 0 1.5 -> 0.3899                        of each trial: a number for each input, and the result
 *     relu6/1: ...                                            further matches, without the details
 *     10 more alike
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "authoring/examples.h"
#include "proof/prove/proofs.h"
#include "proof/prove/prove.h"

struct table {
    const struct pattern_set *set;
    struct proofs *proofs;
    const struct pattern *last; /* whose match was printed */
    uint32_t matches, alike;    /* of it; those that are like the one before */
    char *before;               /* what was printed of that */
};

static const char *const kinds[] = {"not evaluated", "same", "different"};

static void print_text(const char *before, struct str text, FILE *out) {
    if (text.n)
        fprintf(out, "%s%.*s", before, (int)text.n, text.p);
}

static void print_verdict(const struct proved *v, FILE *out) {
    fprintf(out, "%s", kinds[v->kind]);
    print_text(": ", v->text, out);
    if (v->bound > 0)
        fprintf(out, ", within %g", v->bound);
    if (v->device.known && v->device.relative_l2[0] > 0)
        fprintf(out, ", %s error %.2e unfused, %.2e fused, %.3g and %.3g ulp", dtype_table[v->device.type].name,
                v->device.relative_l2[0], v->device.relative_l2[1], v->device.ulp[0], v->device.ulp[1]);
    fprintf(out, "%s%s\n", v->same_outside ? ", same outside" : "", v->misfit ? ", misfit" : "");
}

/* Its own shapes are small enough for all numbers of them. */
static bool is_small(const struct match *m) {
    enum { MAX_ELEMENTS = 1 << 14 };
    const struct graph *g = m->graph;
    int64_t most = 0;
    for (uint32_t i = 0; i < m->nops; i++)
        for (uint32_t k = 0; k < graph_noperands(g, m->ops[i]); k++) {
            uint32_t v = graph_operands(g, m->ops[i])[k];
            int64_t n = v == NONE ? 0 : graph_numel(g, v);
            most = n > most ? n : most;
        }
    return most <= MAX_ELEMENTS;
}

static void print_input(const struct mlir *m, const struct input *in, FILE *out) {
    static const char *const uses[] = {"", " selects", " hides where true", " hides where false"};
    fprintf(out, " %.*s", (int)mlir_span(m, m->values[in->value].name).n, mlir_span(m, m->values[in->value].name).p);
    if (in->constant)
        fprintf(out, " %s %g", in->constant->stated ? "states" : "is", in->constant->number);
    if (in->facts.indices)
        fprintf(out, " index below %lld", (long long)in->facts.indices);
    fprintf(out, "%s%s%s%s%s%s,", in->holds ? " holds" : "", in->positive ? " positive" : "",
            in->replicated ? " replicated" : "", in->facts.divides ? " divides" : "", uses[in->facts.predicate],
            in->facts.mask_sign > 0   ? " mask"
            : in->facts.mask_sign < 0 ? " penalty"
                                      : "");
}

static void print_proof(struct proof *p, FILE *out) {
    const struct reference *r = &p->ref;
    const struct fused_form *f = &p->form;
    uint32_t slot = f->frames[p->frame].slot;
    struct str frame = slot != NONE ? reference_formula(r)->slots[slot].name : STR("formula");
    fprintf(out, "  %u ops; inputs", r->nops);
    for (uint32_t i = 0; i < r->problem.ninputs; i++)
        print_input(reference_graph(r)->m, &r->problem.inputs[i], out);
    fprintf(out, " thresholds");
    for (uint32_t i = 0; i < r->problem.thresholds.n; i++)
        fprintf(out, " %.4g", r->problem.thresholds.at[i]);
    fprintf(out, ", epsilon %g%s; axes of %.*s of %u, axis %d, %u output%s\n", r->problem.thresholds.epsilon,
            r->problem.integers ? ", integers" : "", (int)frame.n, frame.p, f->nframes, (int)f->work_axis, f->noutputs,
            f->noutputs == 1 ? "" : "s");
}

static void print_all(struct table *t, const struct match *m, struct arena *a, FILE *out) {
    struct proved v = proofs_ask(t->proofs, m, false);
    struct proof *p = proof_new(t->set, m, 0, a);
    print_verdict(&v, out);
    if (!m->pattern->fused || !is_small(m) || t->matches > 0 || proof_run(p).kind == VERDICT_NONE)
        return;
    print_proof(p, out);
}

static void end_alike(struct table *t) {
    if (t->alike)
        printf("%u more alike\n", t->alike);
    t->alike = 0;
}

static struct str print_match(void *self, const struct match *m, const struct example *e, struct arena *a) {
    struct table *t = self;
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    (void)e;
    t->matches = t->last == m->pattern ? t->matches + 1 : 0;
    t->last = m->pattern;
    print_all(t, m, a, out);
    fclose(out);
    if (t->matches && strcmp(t->before, text) == 0) {
        t->alike++;
    } else {
        end_alike(t);
        printf("%.*s/%u: %s", (int)m->pattern->name.n, m->pattern->name.p, t->matches, text);
    }
    free(t->before);
    t->before = text;
    return STR("");
}

int main(int argc, char **argv) {
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct pattern_set set = {0};
    struct example_counts counts = {0};
    bool good = argc == 2 && patterns_load(&set, argv[1], &diags);
    for (uint32_t i = 0; i < set.n; i++)
        good &= patterns_load_tests(&set, set.items[i], &diags);
    struct table table = {.set = &set, .proofs = proofs_new(&set, true)};
    struct example_judge judge = {.judge = print_match, .self = &table};
    for (uint32_t i = 0; i < set.n; i++)
        examples_run(&set, set.items[i], &diags, &judge, &counts);
    for (uint32_t i = 0; i < diags.n; i++)
        fprintf(stderr, "%s\n", diags.items[i].message);
    good &= diags.n == 0 && counts.run > 0;
    end_alike(&table);
    free(table.before);
    proofs_free(table.proofs);
    patterns_free(&set);
    diags_free(&diags);
    arena_free(&arena);
    return good ? 0 : 1;
}
