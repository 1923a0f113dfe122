#include "report/finding.h"

static void add_line(struct buf *out, const char *key, struct str text) {
    text = str_trim(text);
    if (text.n)
        buf_printf(out, "%s%.*s\n", key, (int)text.n, text.p);
}

static void add_lines(struct buf *out, const char *key, struct str_list lines, const char *end) {
    for (uint32_t i = 0; i < lines.n; i++) {
        struct str text = str_trim(lines.items[i]);
        if (text.n)
            buf_printf(out, "%s%.*s%s\n", key, (int)text.n, text.p, end);
    }
}

static void add_remarks(struct buf *out, const struct notes *n) {
    add_lines(out, "blocked: ", n->blocked, "");
    if (n->decomposed)
        buf_add(out, STR("decomposed: the compiler took a fused op apart here for a reason of the op.\n"));
    add_lines(out, "", n->remarks, "");
    add_lines(out, "", n->slices, "");
    add_lines(out, "outside of the claim: ", n->outside, "");
    add_lines(out, "precondition: ", n->preconditions, "");
}

static void add_locations(struct buf *out, struct str_list names) {
    for (uint32_t i = 0; i < names.n; i++)
        buf_printf(out, "%s%.*s", i ? ", " : "locations: ", (int)names.items[i].n, names.items[i].p);
    if (names.n)
        buf_addc(out, '\n');
}

/* The fused op as it would be written in Python. */
static void add_call(struct buf *out, struct str fused_op, struct str_list arguments) {
    for (uint32_t i = 0; i < arguments.n; i++)
        buf_printf(out, "%s%.*s%s%.*s", i ? ", " : "call: ", i ? 0 : (int)fused_op.n, fused_op.p, i ? "" : "(",
                   (int)arguments.items[i].n, arguments.items[i].p);
    if (arguments.n)
        buf_add(out, STR(")\n"));
}

/* What does not depend on names: where an earlier place is alike, one line names that one. */
static void add_reference(struct buf *out, const struct finding *f, bool proof, bool compiler) {
    if (f->same_as && (proof || compiler))
        buf_printf(out, "alike: %.*s, whose %s%s%s hold%s here.\n", (int)f->same_as->label.n, f->same_as->label.p,
                   proof ? "proof" : "", proof && compiler ? " and " : "", compiler ? "compiler notes" : "",
                   compiler ? "" : "s");
}

static void add_layout(struct buf *out, const struct finding *f) {
    uint32_t between = f->notes.between;
    add_lines(out, "competes with ", f->conflicts, " at the same ops.");
    if (f->ngraphs > 1)
        buf_printf(out, "graph: %u of %u\n", f->graph, f->ngraphs);
    if (f->copies > 1)
        buf_printf(out, "compiled %u times in this log, reported once.\n", f->copies);
    if (between)
        buf_printf(out, "not contiguous: %u other op%s between these; reordering may be required.\n", between,
                   between == 1 ? " stands" : "s stand");
    if (f->unpaired)
        buf_add(out, STR("TTIR: no pair established for these ops.\n"));
}

struct extent extent_of(const struct mlir *m, uint32_t op) {
    struct span span = m->ops[op].text;
    span.end = span.begin + (uint32_t)str_trim(mlir_span(m, span)).n;
    return (struct extent){mlir_place(m, span.begin), mlir_place(m, span.end)};
}

struct str finding_place(const struct finding *f) {
    return f->place.n ? f->place : STR("not stated in the input (no parameter name nearby)");
}

/* Where the compiler's pattern is, or a new one would be. */
static void add_source(struct buf *out, const struct finding *f) {
    const struct claim *c = &f->notes.claim;
    struct str file = c->set && !f->same_as ? claim_file(c) : STR("");
    if (file.n)
        buf_printf(out, "compiler source: %.*s%s\n", (int)file.n, file.p,
                   c->pattern->status.pass.n ? "" : ", where a new pattern would stand");
}

void finding_notes(const struct finding *f, struct str first, struct buf *out) {
    const struct notes *n = &f->notes;
    struct arena a = {0};
    char fingerprint[FINGERPRINT_TEXT];
    struct str compiler = n->claim.set ? classification_note(&n->claim, &a) : STR("");
    add_line(out, "", f->pattern ? f->pattern->summary : STR(""));
    add_remarks(out, n);
    add_lines(out, "precondition: the fused op keeps ", n->carried, ".");
    if (f->proof && !f->same_as)
        add_line(out, "", verdict_line(f->proof, &a));
    add_line(out, "wrong beside it: ", f->beside);
    add_line(out, "saves: ", f->device ? price_line(&f->price, f->device, &a) : STR(""));
    add_line(out, "model location: ", finding_place(f));
    add_line(out, "source torch ops: ", n->torch.n ? n->torch : STR("not stated in the input"));
    add_call(out, f->fused_op, n->call);
    add_locations(out, n->locations);
    add_line(out, "compiler: ", f->same_as ? STR("") : compiler);
    add_source(out, f);
    add_reference(out, f, f->proof != NULL, compiler.n > 0);
    buf_add(out, first);
    add_layout(out, f);
    if (f->fingerprint.count)
        buf_printf(out, "fingerprint: %s\n", fingerprint_text(&f->fingerprint, fingerprint));
    add_line(out, "known: ", f->known);
    arena_free(&a);
}

static struct str_list list_copy(struct str_list l, struct arena *a) {
    struct str *items = arena_alloc(a, (l.n + (size_t)1) * sizeof *items);
    for (uint32_t i = 0; i < l.n; i++)
        items[i] = arena_str(a, l.items[i]);
    return (struct str_list){items, l.n};
}

static struct notes notes_copy(const struct notes *n, struct arena *a) {
    struct notes copy = *n;
    struct str_list *lists[] = {&copy.blocked,       &copy.remarks,     &copy.slices,         &copy.outside,
                                &copy.carried,       &copy.call,        &copy.locations,      &copy.names,
                                &copy.preconditions, &copy.claim.fails, &copy.claim.undecided};
    struct str *texts[] = {&copy.place, &copy.torch, &copy.claim.signature, &copy.claim.undone};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        *lists[i] = list_copy(*lists[i], a);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = arena_str(a, *texts[i]);
    return copy;
}

static const struct proved *proof_copy(const struct proved *p, struct arena *a) {
    struct proved *copy = p ? arena_alloc(a, sizeof *copy) : NULL;
    if (!copy)
        return NULL;
    *copy = *p;
    copy->text = arena_str(a, p->text);
    copy->needless = arena_str(a, p->needless);
    return copy;
}

static struct finding *finding_copy(const struct finding *f, struct arena *a) {
    struct finding *copy = arena_alloc(a, sizeof *copy);
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
                           &copy->todo.why,
                           &copy->beside,
                           &copy->class.dialect_level,
                           &copy->class.pass_status,
                           &copy->class.owning_pass,
                           &copy->class.existing_pattern,
                           &copy->class.source_file};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = arena_str(a, *texts[i]);
    copy->component_ops = list_copy(f->component_ops, a);
    copy->conflicts = list_copy(f->conflicts, a);
    copy->notes = notes_copy(&f->notes, a);
    copy->proof = proof_copy(f->proof, a);
    return copy;
}

/* All but the pattern and the device, which stay where they are. */
struct finding *finding_add(struct finding_list *l, const struct finding *f, struct arena *a) {
    struct finding *copy = finding_copy(f, a);
    copy->number = l->n;
    l->items = grow(l->items, &l->cap, l->n + 1, sizeof(struct finding *));
    return l->items[l->n++] = copy;
}
