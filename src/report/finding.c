#include "report/finding.h"

#include <stdlib.h>
#include <string.h>

static void add_line(struct note_lines *out, const char *key, struct str text) {
    text = str_trim(text);
    if (!text.n)
        return;
    buf_printf(&out->text, "%s%s", key, *key ? ": " : "");
    out->items = grow(out->items, &out->cap, out->n + 1, sizeof *out->items);
    out->items[out->n++] = (struct note_line){key, out->text.n, text.n};
    buf_add(&out->text, text);
    buf_addc(&out->text, '\n');
}

static void add_lines(struct note_lines *out, const char *key, struct str_list lines) {
    for (uint32_t i = 0; i < lines.n; i++)
        add_line(out, key, lines.items[i]);
}

static void add_remarks(struct note_lines *out, const struct notes *n) {
    add_lines(out, "blocked", n->blocked);
    if (n->decomposed)
        add_line(out, "decomposed", STR("the compiler took a fused op apart here for a reason of the op."));
    add_lines(out, "", n->remarks);
    add_lines(out, "", n->slices);
    add_lines(out, "outside of the claim", n->outside);
    add_lines(out, "precondition", n->preconditions);
}

/* With what stands before, between and behind them; empty where there are none. */
static struct str joined(struct str_list names, const char *before, const char *end, struct arena *a) {
    struct buf b = {0};
    for (uint32_t i = 0; i < names.n; i++)
        buf_printf(&b, "%s%.*s", i ? ", " : before, (int)names.items[i].n, names.items[i].p);
    buf_add(&b, str_of(names.n ? end : ""));
    return buf_take(&b, a);
}

/* What does not depend on names: where an earlier place is alike, one line names that one. */
static void add_reference(struct note_lines *out, const struct finding *f, bool proof, bool compiler, struct arena *a) {
    if (f->same_as && (proof || compiler))
        add_line(out, "alike",
                 arena_printf(a, "%.*s, whose %s%s%s hold%s here.", (int)f->same_as->label.n, f->same_as->label.p,
                              proof ? "proof" : "", proof && compiler ? " and " : "", compiler ? "compiler notes" : "",
                              compiler ? "" : "s"));
}

static void add_layout(struct note_lines *out, const struct finding *f, struct arena *a) {
    uint32_t between = f->notes.between;
    for (uint32_t i = 0; i < f->conflicts.n; i++)
        add_line(out, "",
                 arena_printf(a, "competes with %.*s at the same ops.", (int)f->conflicts.items[i].n,
                              f->conflicts.items[i].p));
    if (f->ngraphs > 1)
        add_line(out, "graph", arena_printf(a, "%u of %u", f->graph, f->ngraphs));
    if (f->copies > 1)
        add_line(out, "", arena_printf(a, "compiled %u times in this log, reported once.", f->copies));
    if (between)
        add_line(out, "not contiguous",
                 arena_printf(a, "%u other op%s between these; reordering may be required.", between,
                              between == 1 ? " stands" : "s stand"));
    if (f->unpaired)
        add_line(out, "TTIR", STR("no pair established for these ops."));
}

struct extent extent_of(const struct mlir *m, uint32_t op) {
    struct span span = m->ops[op].text;
    span.end = span.begin + (uint32_t)str_trim(mlir_span(m, span)).n;
    return (struct extent){mlir_place(m, span.begin), mlir_place(m, span.end)};
}

struct str finding_place(const struct finding *f) {
    return f->place.n ? f->place : STR("not stated in the input (no parameter name nearby)");
}

/* What is in the file of the compiler's source, where it is not its pattern. */
static const char *stands_there(const struct pattern_status *s) {
    if (s->pass.n)
        return "";
    if (!str_is(s->level, "library"))
        return ", where a new pattern would stand";
    return s->lacks.n ? ", which has the op" : ", where the op would stand";
}

static void add_source(struct note_lines *out, const struct finding *f, struct arena *a) {
    const struct claim *c = &f->notes.claim;
    struct str file = c->set && !f->same_as ? claim_file(c) : STR("");
    if (file.n)
        add_line(out, "compiler source",
                 arena_printf(a, "%.*s%s", (int)file.n, file.p, stands_there(&c->pattern->status)));
}

struct str finding_notes(const struct finding *f, struct str version, struct str action, struct note_lines *out) {
    const struct notes *n = &f->notes;
    struct arena a = {0};
    char fingerprint[FINGERPRINT_TEXT];
    struct str compiler = n->claim.set ? classification_note(&n->claim, &a) : STR("");
    out->text.n = out->n = 0;
    add_line(out, "", f->pattern ? f->pattern->summary : STR(""));
    add_remarks(out, n);
    for (uint32_t i = 0; i < n->carried.n; i++)
        add_line(out, "precondition",
                 arena_printf(&a, "the fused op keeps %.*s.", (int)n->carried.items[i].n, n->carried.items[i].p));
    if (f->proof && !f->same_as)
        add_line(out, "", verdict_line(f->proof, &a));
    add_line(out, "known defect", f->same_as ? STR("") : f->known_defect);
    add_line(out, "saves", f->device ? price_line(&f->price, f->device, &a) : STR(""));
    add_line(out, "model location", finding_place(f));
    add_line(out, "source torch ops", n->torch.n ? n->torch : STR("not stated in the input"));
    add_line(out, "call", joined(n->call, arena_printf(&a, "%.*s(", (int)f->fused_op.n, f->fused_op.p).p, ")", &a));
    add_line(out, "locations", joined(n->locations, "", "", &a));
    add_line(out, "compiler", f->same_as ? STR("") : compiler);
    add_source(out, f, &a);
    add_reference(out, f, f->proof != NULL, compiler.n > 0, &a);
    add_line(out, "compiler version", version);
    add_line(out, "action", action);
    add_layout(out, f, &a);
    if (f->fingerprint.count)
        add_line(out, "fingerprint", str_of(fingerprint_text(&f->fingerprint, fingerprint)));
    add_line(out, "known", f->known);
    arena_free(&a);
    return buf_str(&out->text);
}

void note_lines_free(struct note_lines *l) {
    free(l->items);
    buf_free(&l->text);
    *l = (struct note_lines){.n = 0};
}

/* ---- copies ---- */

/* What one finding says many others say: the last copies, by the last bits of their hashes. */
enum { SHARED = 1024, LONGEST_SHARED = 512, MOST_SHARED = 16 };
struct shared_texts {
    struct str texts[SHARED];
    struct str_list lists[SHARED];
};

struct copier {
    struct shared_texts *shared;
    struct arena *arena;
};

static struct str text_copy(struct copier to, struct str s) {
    if (s.n == 0)
        return STR("");
    if (s.n > LONGEST_SHARED)
        return arena_str(to.arena, s);
    struct str *last = &to.shared->texts[str_hash(s) % SHARED];
    if (!str_eq(*last, s))
        *last = arena_str(to.arena, s);
    return *last;
}

static const struct str *items_copy(struct copier to, const struct str *items, uint32_t n) {
    return memcpy(arena_alloc(to.arena, n * sizeof *items), items, n * sizeof *items);
}

static struct str_list list_copy(struct copier to, struct str_list l) {
    struct str few[MOST_SHARED], *items = l.n > MOST_SHARED ? arena_alloc(to.arena, l.n * sizeof *items) : few;
    for (uint32_t i = 0; i < l.n; i++)
        items[i] = text_copy(to, l.items[i]);
    if (l.n == 0 || items != few)
        return (struct str_list){l.n ? items : NULL, l.n};
    struct str bytes = {(const char *)few, l.n * sizeof *few};
    struct str_list *last = &to.shared->lists[str_hash(bytes) % SHARED];
    if (last->n != l.n || memcmp(last->items, few, bytes.n) != 0)
        *last = (struct str_list){items_copy(to, few, l.n), l.n};
    return *last;
}

static struct notes notes_copy(struct copier to, const struct notes *n) {
    struct notes copy = *n;
    struct str_list *lists[] = {&copy.blocked, &copy.remarks,   &copy.slices, &copy.outside,      &copy.carried,
                                &copy.call,    &copy.locations, &copy.names,  &copy.preconditions};
    struct str *texts[] = {&copy.place, &copy.torch, &copy.claim.signature, &copy.claim.undone};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        *lists[i] = list_copy(to, *lists[i]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = text_copy(to, *texts[i]);
    return copy;
}

static const struct proved *proof_copy(struct copier to, const struct proved *p) {
    struct proved *copy = p ? arena_alloc(to.arena, sizeof *copy) : NULL;
    if (!copy)
        return NULL;
    *copy = *p;
    copy->text = text_copy(to, p->text);
    return copy;
}

static struct finding *finding_copy(struct copier to, const struct finding *f) {
    struct finding *copy = arena_alloc(to.arena, sizeof *copy);
    *copy = *f;
    struct str *texts[] = {&copy->fused_op,
                           &copy->source,
                           &copy->ir_loc,
                           &copy->place,
                           &copy->lacks,
                           &copy->known,
                           &copy->label,
                           &copy->ttir.text,
                           &copy->ttir.lines,
                           &copy->ttir.module,
                           &copy->ttnn.text,
                           &copy->ttnn.lines,
                           &copy->ttnn.module,
                           &copy->todo.what,
                           &copy->todo.then,
                           &copy->todo.needs,
                           &copy->todo.spelled,
                           &copy->todo.why,
                           &copy->todo.tried,
                           &copy->known_defect,
                           &copy->class.dialect_level,
                           &copy->class.pass_status,
                           &copy->class.owning_pass,
                           &copy->class.existing_pattern,
                           &copy->class.source_file};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = text_copy(to, *texts[i]);
    copy->component_ops = list_copy(to, f->component_ops);
    copy->conflicts = list_copy(to, f->conflicts);
    copy->notes = notes_copy(to, &f->notes);
    copy->proof = proof_copy(to, f->proof);
    return copy;
}

/* All but the pattern and the device, which stay where they are. */
struct finding *finding_add(struct finding_list *l, const struct finding *f, struct arena *a) {
    if (!l->shared)
        l->shared = arena_alloc(a, sizeof *l->shared);
    struct finding *copy = finding_copy((struct copier){l->shared, a}, f);
    copy->number = l->n;
    l->items = grow(l->items, &l->cap, l->n + 1, sizeof(struct finding *));
    return l->items[l->n++] = copy;
}
