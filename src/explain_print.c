/* An explanation as text for people and as JSON for programs. */
#include "explain.h"
#include "report/text.h"

#include <json-c/json.h>

typedef struct json_object json;

enum { MOST_NAMED = 16 }; /* ops listed for people */

/* ---- text ---- */

static void print_str(struct str s, FILE *out) {
    fwrite(s.p, 1, s.n, out);
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
}

static void print_one(const struct explained *x, bool graphs, FILE *out) {
    fprintf(out, "%s:%llu: ", x->file, (unsigned long long)x->root.line);
    if (graphs)
        fprintf(out, "graph %u: ", x->graph);
    fprintf(out, "%.*s %.*s: ", (int)x->root.name.n, x->root.name.p, (int)x->root.result.n, x->root.result.p);
    if (x->outcome == OUTCOME_NEAR) {
        fprintf(out, "%.*s -> %.*s: %u of %u ops match\n", (int)x->pattern.n, x->pattern.p, (int)x->fused_op.n,
                x->fused_op.p, x->nops, x->total);
    } else {
        fprintf(out, "matched by %.*s (%.*s)", (int)x->pattern.n, x->pattern.p, (int)x->fused_op.n, x->fused_op.p);
        if (x->outcome == OUTCOME_SETTLED)
            fprintf(out, ", gives way to %.*s", (int)x->winner.n, x->winner.p);
        fputc('\n', out);
    }
    if (x->nops)
        print_ops(x, out);
    if (x->outcome == OUTCOME_NEAR)
        print_difference(x, out);
    if (x->proof.n)
        fprintf(out, "  proof    %.*s\n", (int)x->proof.n, x->proof.p);
    print_more(x, out);
}

void explain_print_text(const struct fa_explanation *e, FILE *out) {
    if (e->n == 0)
        fprintf(out, "nothing comes close%s%s\n", e->at ? " at " : "", e->at ? e->at : "");
    for (uint32_t i = 0; i < e->n; i++) {
        if (i)
            fputc('\n', out);
        print_one(&e->items[i], e->inputs.ncompiles > 1, out);
    }
}

/* ---- JSON ---- */

static json *text(struct str s) {
    struct buf scratch = {0};
    struct str clean = text_utf8(s, &scratch);
    json *j = json_object_new_string_len(clean.p ? clean.p : "", (int)clean.n);
    buf_free(&scratch);
    return j;
}

static void put(json *object, const char *key, json *value) {
    json_object_object_add(object, key, value);
}

static json *number(uint64_t n) {
    return json_object_new_int64((int64_t)n);
}

static json *op(const struct explained_op *x) {
    json *o = json_object_new_object();
    put(o, "op", text(x->name));
    put(o, "result", text(x->result));
    put(o, "line", number(x->line));
    return o;
}

static json *difference(const struct explained *x) {
    json *o = json_object_new_object();
    put(o, "kind", text(str_of(x->kind)));
    put(o, "part", text(x->part));
    put(o, "reason", text(x->reason));
    put(o, "hint", x->hint ? text(str_of(x->hint)) : NULL);
    put(o, "others", number(x->others));
    put(o, "at", x->differs.line ? op(&x->differs) : NULL);
    return o;
}

static json *one(const struct explained *x) {
    static const char *const outcomes[] = {"matched", "gives way", "near"};
    json *o = json_object_new_object(), *ops = json_object_new_array(), *more = json_object_new_array();
    put(o, "outcome", text(str_of(outcomes[x->outcome])));
    put(o, "file", text(str_of(x->file)));
    put(o, "graph", number(x->graph));
    put(o, "root", op(&x->root));
    put(o, "pattern", text(x->pattern));
    put(o, "fused_op", text(x->fused_op));
    for (uint32_t i = 0; i < x->nops; i++)
        json_object_array_add(ops, op(&x->ops[i]));
    put(o, "matched", ops);
    put(o, "total", number(x->total));
    put(o, "proof", x->proof.n ? text(x->proof) : NULL);
    put(o, "gives_way_to", x->winner.n ? text(x->winner) : NULL);
    put(o, "difference", x->outcome == OUTCOME_NEAR ? difference(x) : NULL);
    for (uint32_t i = 0; i < x->nmore && i < 8; i++)
        json_object_array_add(more, number(x->more[i]));
    put(o, "same_at", more);
    put(o, "same", number(x->nmore));
    return o;
}

void explain_print_json(const struct fa_explanation *e, FILE *out) {
    json *document = json_object_new_object(), *places = json_object_new_array();
    put(document, "version", text(str_of(fa_version())));
    for (uint32_t i = 0; i < e->n; i++)
        json_object_array_add(places, one(&e->items[i]));
    put(document, "places", places);
    const int how = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE;
    fputs(json_object_to_json_string_ext(document, how), out);
    fputc('\n', out);
    json_object_put(document);
}
