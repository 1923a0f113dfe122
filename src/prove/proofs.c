/* Each match is written as a module of its own, in its own extents and in small ones. The text is what verdicts are
 * kept by, and what is read, searched and evaluated: a verdict depends on nothing else. */
#include "prove/proofs.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <uthash.h>

#include "numeric/numeric.h"
#include "prove/compare.h"
#include "reduce/print_module.h"

enum {
    LARGE = 1 << 22,        /* elements and multiplications of one evaluation in small extents */
    LARGE_OWN = 1 << 18,    /* in those of the text, or in those of constants */
    FEW_PAYLOAD = 1 << 10,  /* elements of constants that are read in any case */
    FEW_OWN = 1 << 14,      /* of an evaluation with them */
    MANY_PAYLOAD = 1 << 16, /* elements of constants that are read where they may decide */
    MANY_OWN = 1 << 13,     /* of those that are written as they are */
    SHAPES = 4,             /* that a match is evaluated in at most, */
    FEW_SHAPES = 2,         /* in any case, */
    CHOICES = 8,            /* of extents that are tried for them */
    TRIES = 12,             /* to change an op so that it is a place of the pattern */
    CHEAP = 1 << 16 /* and what those before may have spent for further ones: it is counted, not measured, so that
                     * the verdict is the same everywhere */
};

struct kept {
    UT_hash_handle hh;
    struct str key;
    struct proved verdict;
};

struct proofs {
    const struct pattern_set *set;
    pthread_mutex_t lock; /* of all below */
    struct arena arena;
    struct kept *kept;
    uint32_t evaluated;
};

struct proofs *proofs_new(const struct pattern_set *set) {
    struct proofs *p = xcalloc(1, sizeof *p);
    p->set = set;
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

void proofs_free(struct proofs *p) {
    if (!p)
        return;
    HASH_CLEAR(hh, p->kept);
    pthread_mutex_destroy(&p->lock);
    arena_free(&p->arena);
    free(p);
}

uint32_t proofs_count(const struct proofs *p) {
    return p->evaluated;
}

static const char *chip_name(bool blackhole) {
    return blackhole ? "blackhole" : "wormhole_b0";
}

/* What is stated is needed, or it is said that it is not. */
static struct str with_preconditions(const struct proved *v, struct str line, struct arena *a) {
    if (v->needed)
        line = arena_printf(a, "%.*s; differs without %s", (int)line.n, line.p,
                            v->needed == 1 && !v->needless.n ? "its precondition"
                            : v->needed == 1                 ? "one precondition"
                                                             : "each of its preconditions");
    if (v->needless.n)
        line = arena_printf(a, "%.*s; same without the precondition of %.*s", (int)line.n, line.p, (int)v->needless.n,
                            v->needless.p);
    if (v->same_outside)
        line = arena_printf(a, "%.*s; same outside of the claim, too", (int)line.n, line.p);
    return line;
}

struct str verdict_line(const struct proved *v, struct arena *a) {
    const struct effect *e = &v->effect;
    if (v->kind != VERDICT_SAME)
        return arena_printf(a, "not validated: %.*s", (int)v->text.n, v->text.p);
    struct str within = v->bound > 0 ? arena_printf(a, " within %g", v->bound) : STR("");
    struct str line = arena_printf(a, "validated: same function%s%.*s (f64, %u shape%s)",
                                   v->for_constants ? " for what its constants hold" : "", (int)within.n, within.p, v->shapes,
                                   v->shapes == 1 ? "" : "s");
    if (!e->known)
        return with_preconditions(v, line, a);
    double ratio = e->error[1] / e->error[0];
    line = arena_printf(a, "%.*s, device PCC %.5f", (int)line.n, line.p,
                        floor(e->pcc[1] * 1e5) / 1e5); /* 1 only where it is 1 */
    if (e->error[0] > 0)
        line = arena_printf(a, "%.*s, error %s of unfused", (int)line.n, line.p,
                            arena_printf(a, ratio < 0.095 ? "%.2gx" : "%.2fx", ratio).p);
    line = arena_printf(a, "%.*s (%s, %s)", (int)line.n, line.p, dtype_name(e->type), chip_name(e->blackhole));
    return with_preconditions(v, line, a);
}

static void put_number(struct buf *out, const char *key, double x) {
    if (isfinite(x))
        buf_printf(out, "%s: %.6g\n", key, x);
}

struct str verdict_details(const struct proved *v, struct arena *a) {
    static const char *const keys[2][3] = {{"pcc_unfused", "relative_l2_unfused", "ulp_unfused"},
                                           {"pcc_fused", "relative_l2_fused", "ulp_fused"}};
    struct buf out = {0};
    if (v->kind != VERDICT_SAME) {
        buf_printf(&out, "verdict: not_validated\nreason: %.*s\n", (int)v->text.n, v->text.p);
    } else {
        buf_printf(&out, "verdict: same_function\narithmetic: f64\nshapes: %u\n", v->shapes);
        if (v->for_constants)
            buf_add(&out, STR("constants: as_held\n"));
        if (v->bound > 0)
            put_number(&out, "within", v->bound);
        if (v->needed)
            buf_printf(&out, "preconditions_needed: %u\n", v->needed);
        if (v->needless.n)
            buf_printf(&out, "preconditions_needless: %.*s\n", (int)v->needless.n, v->needless.p);
        if (v->same_outside)
            buf_printf(&out, "same_outside_of_the_claim: true\n");
        if (v->effect.known)
            buf_printf(&out, "chip: %s\ndtype: %s\n", chip_name(v->effect.blackhole), dtype_name(v->effect.type));
        for (int i = 0; i < 2 && v->effect.known; i++) {
            put_number(&out, keys[i][0], v->effect.pcc[i]);
            put_number(&out, keys[i][1], v->effect.error[i]);
            put_number(&out, keys[i][2], v->effect.ulp[i]);
        }
    }
    struct str text = arena_str(a, buf_str(&out));
    buf_free(&out);
    return text;
}

/* The system description stands before the ops. */
bool is_for_blackhole(const struct mlir *m) {
    struct str head = {m->text.p, m->nops ? m->ops[m->nfuncs ? m->funcs[0].op : 0].text.begin : 0};
    return str_find(head, STR("arch = <blackhole>")) || str_find(head, STR("#ttcore.arch<blackhole>"));
}

/* ---- verdicts that are known ---- */

static bool known(struct proofs *p, struct str key, struct proved *out) {
    struct kept *k = NULL;
    pthread_mutex_lock(&p->lock);
    HASH_FIND(hh, p->kept, key.p, key.n, k);
    if (k)
        *out = k->verdict;
    pthread_mutex_unlock(&p->lock);
    return k != NULL;
}

static void keep(struct proofs *p, struct str key, struct proved *v, bool evaluated) {
    struct kept *k = NULL;
    pthread_mutex_lock(&p->lock);
    HASH_FIND(hh, p->kept, key.p, key.n, k);
    if (!k) {
        k = arena_alloc(&p->arena, sizeof *k);
        *k = (struct kept){.key = arena_str(&p->arena, key), .verdict = *v};
        k->verdict.text = arena_str(&p->arena, v->text);
        k->verdict.needless = arena_str(&p->arena, v->needless);
        HASH_ADD_KEYPTR(hh, p->kept, k->key.p, k->key.n, k);
        p->evaluated += evaluated;
    }
    *v = k->verdict;
    pthread_mutex_unlock(&p->lock);
}

/* ---- a match as a module of its own ---- */

struct small {
    struct source source;
    struct log_block block;
    struct mlir ir;
    struct graph graph;
    struct diags diags;
    struct pattern pattern;
    struct match match;
};

/* What the match already met is not asked again: with other extents or locations it may say something else. */
static struct pattern alone(const struct pattern *p) {
    struct pattern one = *p;
    if (p->is_variant)
        one.formula = p->variant_of->formula;
    one.variant = one.variant_of = NULL;
    one.is_variant = one.replaced = false;
    one.selected = one.show_blocked = one.show_decomposed = true;
    one.nrequire = one.nunless = 0;
    return one;
}

static void small_read(struct small *s, struct str text, struct arena *a) {
    s->diags.arena = a;
    s->source = (struct source){.path = "proof", .data = text.p, .size = text.n, .line_cache_line = 1};
    s->block = (struct log_block){.text = text, .complete = true};
    mlir_parse(&s->ir, &s->source, &s->block, &s->diags);
    graph_build(&s->graph, &s->ir);
}

static void small_free(struct small *s) {
    graph_free(&s->graph);
    mlir_free(&s->ir);
    diags_free(&s->diags);
}

/* The op of the small module that an op of the part became. */
static uint32_t op_in(const struct small *s, const struct subgraph *p, const struct printed_module *w, uint32_t op) {
    for (uint32_t i = 0; i < p->nops; i++)
        if (p->ops[i] == op)
            return w->line[i] == NONE ? NONE : s->ir.funcs[0].first_op + w->line[i];
    return NONE;
}

/* The same ops play the same roles. */
static bool is_same_match(const struct small *s, const struct subgraph *p, const struct printed_module *w,
                          const struct match *m, const struct match *found) {
    bool same = m->nops == found->nops;
    for (uint32_t i = 0; i < m->nops && same; i++)
        same = op_in(s, p, w, m->ops[i]) == found->ops[i];
    return same;
}

/* The same but for what was changed, and all that the pattern asks of a place holds. */
static bool is_changed_match(const struct small *s, const struct subgraph *p, const struct printed_module *w,
                             const struct match *m, const struct match *found, const struct mutation *mu) {
    uint32_t kept = 0, first = s->ir.funcs[0].first_op;
    bool added = mu->added == NONE;
    for (uint32_t i = 0; i < found->nops; i++) {
        bool known = mu->added != NONE && found->ops[i] == first + mu->added;
        added |= known;
        for (uint32_t k = 0; k < m->nops && !known; k++)
            known = op_in(s, p, w, m->ops[k]) == found->ops[i];
        if (!known)
            return false;
    }
    for (uint32_t k = 0; k < m->nops; k++)
        kept += op_in(s, p, w, m->ops[k]) != NONE;
    return added && found->nops == kept + (mu->added != NONE);
}

static bool find_match(struct small *s, const struct pattern_set *set, const struct subgraph *p,
                       const struct printed_module *w, const struct match *m, const struct mutation *mu,
                       struct arena *a) {
    struct pattern *one = &s->pattern;
    struct pattern_set only = {.max_steps = set->max_steps, .items = &one, .n = 1};
    struct match_list list = {0};
    bool found = false;
    s->pattern = alone(m->pattern);
    if (mu) { /* what was never asked */
        s->pattern.nrequire = m->pattern->nrequire;
        s->pattern.nunless = m->pattern->nunless;
        s->pattern.show_blocked = false;
    }
    if (s->ir.nfuncs != 1 || s->ir.bad_ops > 0)
        return false;
    patterns_index(&only);
    match_function(&only, &s->graph, 0, a, &list);
    for (uint32_t i = 0; i < list.n && !found; i++)
        if (mu ? is_changed_match(s, p, w, m, &list.items[i], mu) : is_same_match(s, p, w, m, &list.items[i])) {
            s->match = list.items[i];
            found = true;
        }
    free(only.rooted);
    free(list.items);
    return found;
}

/* ---- one proof ---- */

static const struct str not_found = {"the match is not found again by itself", 38};

struct question {
    struct proofs *proofs;
    const struct match *match;
    struct subgraph subgraph;
    struct extents own;
    bool blackhole;
    const struct variation *vary; /* only the verdict of this is wanted; or NULL */
    struct payloads payloads;             /* what constants hold, */
    bool holds;                   /* where that is written, */
    struct shrink_options shrink_options;   /* and which of the constants stay as large as they are */
    struct mutation mutation;     /* of that */
    struct arena arena;
    struct str seen[CHOICES]; /* texts that were evaluated */
    uint32_t nseen;
    bool again; /* the last one was among them */
};

static struct proved nothing(struct str why) {
    return (struct proved){.kind = VERDICT_NONE, .text = why};
}

static struct print_options print_options_of(const struct question *q, bool ties) {
    return (struct print_options){.pattern = q->match->pattern, .scale_constants = ties, .payloads = q->holds ? &q->payloads : NULL};
}

/* The text of the part, evaluated. False where the match is not found in it. */
static bool evaluate_text(struct question *q, const struct printed_module *w, struct proved *out) {
    struct small *s = arena_alloc(&q->arena, sizeof *s);
    small_read(s, w->text, &q->arena);
    const struct mutation *mu = q->mutation.change ? &q->mutation : NULL;
    bool found = find_match(s, q->proofs->set, &q->subgraph, w, q->match, mu, &q->arena);
    if (found && q->vary)
        *out = prove_function(q->proofs->set, &s->match, q->vary->seed, &q->arena);
    else if (found)
        *out = prove_match(q->proofs->set, &s->match, q->blackhole, &q->arena);
    small_free(s);
    return found;
}

static struct proved evaluate_in(struct question *q, const struct extents *e) {
    struct printed_module w;
    struct proved v;
    struct str why = STR("");
    for (int ties = 1; ties >= 0; ties--) {
        struct print_options how = print_options_of(q, ties);
        if (!subgraph_print(&q->subgraph, e, &how, &q->arena, &w, &why))
            return nothing(why);
        if (evaluate_text(q, &w, &v))
            return v;
    }
    return nothing(not_found);
}

/* Which ops of the text are matched, and which looked through: one that may be left out of a formula is either. */
static struct str matched_ops(struct question *q) {
    const struct match *m = q->match;
    char *text = arena_alloc(&q->arena, q->subgraph.nops + 1);
    for (uint32_t i = 0; i < q->subgraph.nops; i++) {
        text[i] = '-';
        for (uint32_t k = 0; k < m->nops; k++)
            if (m->ops[k] == q->subgraph.ops[i])
                text[i] = 'm';
    }
    return (struct str){text, q->subgraph.nops};
}

/* `whole`: of the match as it is, in whatever shapes; else of these. */
static struct str key_of(struct question *q, struct str text, bool whole) {
    struct str matched = matched_ops(q);
    return arena_printf(&q->arena, "%p %d %d %.*s\n%.*s", (const void *)q->match->pattern, q->blackhole, whole,
                        (int)matched.n, matched.p, (int)text.n, text.p);
}

static bool is_seen(const struct question *q, struct str text) {
    for (uint32_t i = 0; i < q->nseen; i++)
        if (str_eq(q->seen[i], text))
            return true;
    return false;
}

/* One choice of small extents. False where there is none, or none that was not tried. */
static bool prove_small(struct question *q, uint32_t which, double large, struct proved *v) {
    struct extents small;
    struct printed_module w;
    struct print_options how = print_options_of(q, true);
    struct str why = STR("");
    q->shrink_options.which = which;
    q->again = false;
    bool there = extents_shrink(&q->subgraph, &q->shrink_options, &small, &why);
    if (there && extents_cost(&q->subgraph, &small) > large) {
        why = STR("no shapes that are small enough keep all relations");
        there = false;
    }
    if (!there || !subgraph_print(&q->subgraph, &small, &how, &q->arena, &w, &why)) {
        *v = nothing(why);
        return false;
    }
    q->again = is_seen(q, w.text);
    if (q->again)
        return false;
    if (q->nseen < CHOICES)
        q->seen[q->nseen++] = w.text;
    struct str key = key_of(q, w.text, false);
    if (!known(q->proofs, key, v)) {
        *v = evaluate_in(q, &small);
        keep(q->proofs, key, v, true);
    }
    if (q->shrink_options.strict || !str_eq(v->text, not_found))
        return true;
    q->shrink_options.strict = true; /* a condition of the pattern may ask for a relation that was given up */
    return prove_small(q, which, large, v);
}

/* In small extents of several sizes; in its own where those do not do, or refute it, and it is small itself. */
static struct proved prove(struct question *q) {
    struct proved first = nothing(STR("")), v;
    bool evaluated = false;
    uint32_t shapes = 0;
    uint64_t spent = 0;
    for (uint32_t which = 0; which < CHOICES && shapes < SHAPES && (shapes < FEW_SHAPES || spent < CHEAP); which++) {
        bool there = prove_small(q, which, LARGE, &v);
        evaluated |= there && !str_eq(v.text, not_found);
        if (which == 0 || (there && v.kind == VERDICT_DIFFERENT))
            first = v;
        if (which > 0 && (q->again || (there && str_eq(v.text, not_found))))
            continue;
        if (!there || v.kind != VERDICT_SAME)
            break;
        first.shapes = ++shapes;
        spent += v.spent;
        first.bound = fmax(first.bound, v.bound);
        if (v.needed > first.needed) {
            first.needed = v.needed;
            first.needless = v.needless;
        }
    }
    if ((evaluated && first.kind != VERDICT_DIFFERENT) || extents_cost(&q->subgraph, &q->own) > LARGE_OWN)
        return first;
    v = evaluate_in(q, &q->own);
    v.shapes = 1;
    return v.kind != VERDICT_NONE || !evaluated ? v : first;
}

/* ---- what constants hold ---- */

/* In extents of which those of the constants stay; then what they hold is all that is asked about. */
static bool prove_whole(struct question *q, double large, struct proved *v) {
    if (q->payloads.elements > MANY_OWN)
        return false;
    for (uint32_t i = 0; i < q->subgraph.ninputs; i++)
        q->shrink_options.keep[i] = q->payloads.of[i] != NULL;
    bool there = prove_small(q, 0, large, v) && v->kind != VERDICT_NONE;
    memset(q->shrink_options.keep, 0, sizeof q->shrink_options.keep);
    return there;
}

/* With the beginning of each constant. That is no proof, and no refutation, unless the whole is like its beginning; but
 * what is refuted for any constant and for this one too is refuted. */
static struct proved prove_beginning(struct question *q, struct proved any) {
    static const struct str depends = {"it depends on what a constant holds, which is too large", 55};
    struct proved v;
    bool there = prove_small(q, 0, LARGE, &v) && v.kind != VERDICT_NONE;
    if (there && (q->payloads.regular || v.kind == VERDICT_DIFFERENT))
        return v;
    return any.kind == VERDICT_DIFFERENT ? nothing(depends) : any;
}

/* A constant that is no single number was an argument: what holds for any holds for this one, unless a small one shows
 * that it does not. Where it does not hold for any, what it holds decides. */
static struct proved prove_held(struct question *q, struct proved any) {
    bool same = any.kind == VERDICT_SAME;
    struct proved v;
    if (!q->match->pattern->fused.n || !payload_read(&q->subgraph, same ? FEW_PAYLOAD : MANY_PAYLOAD, &q->arena, &q->payloads))
        return any;
    q->holds = true;
    q->shrink_options.strict = false;
    q->nseen = 0;
    bool whole = prove_whole(q, same ? FEW_OWN : LARGE_OWN, &v);
    if (same && (!whole || v.kind == VERDICT_SAME)) {
        any.shapes += whole;
        return any;
    }
    if (!whole)
        v = prove_beginning(q, any);
    if (v.kind == VERDICT_SAME) {
        v.shapes = 1;
        v.for_constants = true;
    }
    return v;
}

/* "%a3" in a counterexample is the third value that the part takes: by its own name. */
static struct str by_own_names(struct proofs *p, const struct subgraph *subgraph, struct str text) {
    const struct mlir *m = subgraph->graph->m;
    struct buf out = {0};
    for (size_t i = 0; i < text.n;) {
        size_t end = i + 2;
        uint32_t number = 0;
        for (; text.n - i > 2 && text.p[i] == '%' && text.p[i + 1] == 'a' && end < text.n && text.p[end] >= '0' &&
               text.p[end] <= '9' && number < MAX_SUBGRAPH_INPUTS;
             end++)
            number = number * 10 + (uint32_t)(text.p[end] - '0');
        if (end > i + 2 && number < subgraph->ninputs) {
            buf_add(&out, mlir_span(m, m->values[subgraph->inputs[number]].name));
            i = end;
        } else {
            buf_addc(&out, text.p[i++]);
        }
    }
    pthread_mutex_lock(&p->lock);
    struct str own = arena_str(&p->arena, buf_str(&out));
    pthread_mutex_unlock(&p->lock);
    buf_free(&out);
    return own;
}

struct proved proofs_ask(struct proofs *proofs, const struct match *m, bool blackhole) {
    struct question *q = xcalloc(1, sizeof *q);
    struct printed_module w;
    struct str why = STR(""), key;
    struct proved v;
    q->proofs = proofs;
    q->match = m;
    q->blackhole = blackhole;
    struct print_options how = print_options_of(q, true);
    bool good = subgraph_of_match(m, &q->subgraph, &why) && extents_unchanged(&q->subgraph, &q->own, &why) &&
                subgraph_print(&q->subgraph, &q->own, &how, &q->arena, &w, &why);
    key = good ? key_of(q, w.text, true) : arena_printf(&q->arena, "why %.*s", (int)why.n, why.p);
    if (!known(proofs, key, &v)) {
        v = good ? prove(q) : nothing(why);
        keep(proofs, key, &v, false);
    }
    if (good)
        v = prove_held(q, v);
    if (v.kind == VERDICT_DIFFERENT)
        v.text = by_own_names(proofs, &q->subgraph, v.text);
    if (v.needless.n)
        v.needless = by_own_names(proofs, &q->subgraph, v.needless);
    arena_free(&q->arena);
    free(q);
    return v;
}

/* ---- variations ---- */

/* The element types of all tensors: constants are written as f64 and stay that. */
static struct str with_types(struct str text, enum variation_types types, struct arena *a) {
    static const struct {
        const char *from, *to[TYPES_COUNT];
    } names[] = {{"xbf16>", {"xbf16>", "xf32>", "xf16>"}}, {"xf32>", {"xf32>", "xbf16>", "xf16>"}}};
    struct buf out = {0};
    for (size_t i = 0; i < text.n;) {
        const char *to = NULL;
        size_t length = 1;
        for (size_t k = 0; k < 2 && !to; k++)
            if (str_starts((struct str){text.p + i, text.n - i}, str_of(names[k].from))) {
                to = names[k].to[types];
                length = strlen(names[k].from);
            }
        buf_add(&out, to ? str_of(to) : (struct str){text.p + i, 1});
        i += length;
    }
    struct str varied = arena_str(a, buf_str(&out));
    buf_free(&out);
    return varied;
}

/* The text of the part in these extents, changed. False where it has no such change. */
static bool write_varied(struct question *q, const struct extents *e, uint64_t seed, struct printed_module *w) {
    struct str why;
    struct print_options how = print_options_of(q, true);
    q->mutation = (struct mutation){q->vary->change, seed, NONE};
    if (!subgraph_print(&q->subgraph, e, &how, &q->arena, w, &why) ||
        (q->vary->change && !mutate(&q->mutation, &q->subgraph, q->match, &q->arena, w)))
        return false;
    w->text = with_types(w->text, q->vary->types, &q->arena);
    return true;
}

/* An op more or less is one of many, of which few are a place of the pattern. */
static struct proved vary(struct question *q) {
    struct extents small;
    struct printed_module w;
    struct proved v;
    struct str why = STR("");
    int tries = q->vary->change == CHANGE_DROP || q->vary->change == CHANGE_INSERT ? TRIES : 1;
    if (!subgraph_of_match(q->match, &q->subgraph, &why) || !extents_shrink(&q->subgraph, &(struct shrink_options){.which = q->vary->which}, &small, &why) ||
        extents_cost(&q->subgraph, &small) > LARGE)
        return nothing(why);
    for (int i = 0; i < tries; i++)
        if (write_varied(q, &small, seed_of(q->vary->seed, (uint64_t)i), &w) && evaluate_text(q, &w, &v))
            return v;
    return nothing(STR("the match is not found in it"));
}

struct proved prove_variation(const struct pattern_set *set, const struct match *m, const struct variation *v,
                              struct arena *a) {
    struct question *q = xcalloc(1, sizeof *q);
    struct proofs *proofs = proofs_new(set);
    q->proofs = proofs;
    q->match = m;
    q->vary = v;
    struct proved verdict = vary(q);
    if (verdict.kind == VERDICT_DIFFERENT)
        verdict.text = by_own_names(proofs, &q->subgraph, verdict.text);
    verdict.text = arena_str(a, verdict.text);
    arena_free(&q->arena);
    free(q);
    proofs_free(proofs);
    return verdict;
}
