/* An explanation as text for people. */
#include "base/utf8.h"
#include "report/explain/explain.h"

enum { MOST_NAMED = 16 }; /* ops listed for people */

static void print_str(struct str s, FILE *out) {
    print_clean(s, "", out);
}

/* "ttnn.add 812, ttnn.exp 813": each with its line. */
static void print_ops(const struct explained *x, FILE *out) {
    fputs("  matched  ", out);
    for (uint32_t i = 0; i < x->nops && i < MOST_NAMED; i++)
        fprintf(out, "%s%.*s %llu", i ? ", " : "", (int)x->ops[i].name.n, x->ops[i].name.p,
                (unsigned long long)x->ops[i].line);
    if (x->nops > MOST_NAMED)
        fprintf(out, ", %u more", x->nops - MOST_NAMED);
    fputc('\n', out);
}

static void print_more(const struct explained *x, FILE *out) {
    if (x->nmore == 0)
        return;
    fprintf(out, "  same at  ");
    for (uint32_t i = 0; i < x->nmore && i < 8; i++)
        fprintf(out, "%s%llu", i ? ", " : "line ", (unsigned long long)x->more[i]);
    if (x->nmore > 8)
        fprintf(out, " and %u more places", x->nmore - 8);
    fputc('\n', out);
}

static void print_difference(const struct explained *x, FILE *out) {
    if (x->part.n)
        fprintf(out, "  %-8s %.*s\n", x->kind, (int)x->part.n, x->part.p);
    fputs("  because  ", out);
    print_str(x->reason, out);
    fputc('\n', out);
    if (x->others)
        fprintf(out, "  besides  %u more condition%s\n", x->others,
                x->others == 1 ? " does not hold" : "s do not hold");
    if (x->hint)
        fprintf(out, "  hint     %s\n", x->hint);
    if (x->compiler)
        fprintf(out, "  compiler %.*s accepts %.*s\n", (int)x->compiler->pattern.n, x->compiler->pattern.p,
                (int)x->compiler->accepts.n, x->compiler->accepts.p);
}

static void print_one(const struct explained *x, bool graphs, FILE *out) {
    print_str(str_of(x->file), out);
    fprintf(out, ":%llu: ", (unsigned long long)x->root.line);
    if (graphs)
        fprintf(out, "graph %u: ", x->graph);
    fprintf(out, "%.*s %.*s: ", (int)x->root.name.n, x->root.name.p, (int)x->root.result.n, x->root.result.p);
    if (x->outcome == OUTCOME_NEAR) {
        fprintf(out, "%.*s -> %.*s: ", (int)x->pattern.n, x->pattern.p, (int)x->fused_op.n, x->fused_op.p);
        if (x->nops == x->total)
            fprintf(out, "all %u ops match, but\n", x->nops);
        else
            fprintf(out, "%u of %u ops match\n", x->nops, x->total);
    } else {
        fprintf(out, "matched by %.*s (%.*s)%s", (int)x->pattern.n, x->pattern.p, (int)x->fused_op.n, x->fused_op.p,
                x->outcome == OUTCOME_REFUTED  ? ", but not reported"
                : x->outcome == OUTCOME_SLOWER ? ", left out unless --include=slower"
                                               : "");
        if (x->outcome == OUTCOME_GAVE_WAY)
            fprintf(out, ", gives way to %.*s", (int)x->winner.n, x->winner.p);
        fputc('\n', out);
    }
    if (x->nops)
        print_ops(x, out);
    if (x->outcome == OUTCOME_NEAR)
        print_difference(x, out);
    if (x->proof.n)
        fprintf(out, "  proof    %.*s\n", (int)x->proof.n, x->proof.p);
    if (x->price.n)
        fprintf(out, "  price    %.*s\n", (int)x->price.n, x->price.p);
    print_more(x, out);
}

void explain_print_text(const struct fa_explanation *e, FILE *out) {
    if (e->became.n)
        print_str(e->became, out), fputs("\n\n", out);
    if (e->n == 0) {
        fputs(e->at ? "nothing comes close at " : "nothing comes close", out);
        print_str(str_of(e->at), out);
        fputc('\n', out);
    }
    for (uint32_t i = 0; i < e->n; i++) {
        if (i)
            fputc('\n', out);
        print_one(&e->items[i], e->inputs.ncompiles > 1, out);
    }
}
