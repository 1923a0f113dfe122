#include "report/finding.h"

#include "base/hash.h"

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

/* A condition of the fusion: it is told at every place. */
static bool is_precondition(struct str line) {
    return str_starts(line, STR("precondition: "));
}

uint32_t lines_told_once(const struct finding *f, struct str out[MOST_TOLD_ONCE]) {
    const struct str_list lists[] = {f->notes.remarks, f->notes.slices, f->notes.outside};
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (uint32_t k = 0; k < lists[i].n && n < MOST_TOLD_ONCE; k++)
            if (!is_precondition(lists[i].items[k]))
                out[n++] = lists[i].items[k];
    return n;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '#';
}

/* The name of a value, "%12" or "%arg3 (layers.0.weight)", that begins the text; empty: none does. */
static struct str value_name(struct str s) {
    size_t n = 1;
    if (!s.n || *s.p != '%')
        return STR("");
    while (n < s.n && is_word(s.p[n]))
        n++;
    if (n + 1 < s.n && s.p[n] == ' ' && s.p[n + 1] == '(') {
        const char *end = memchr(s.p + n, ')', s.n - n);
        n = end ? (size_t)(end - s.p) + 1 : n;
    }
    return (struct str){s.p, n};
}

uint64_t line_hash(struct str line) {
    uint64_t hash = 0;
    for (size_t i = 0; i < line.n;) {
        size_t n = value_name((struct str){line.p + i, line.n - i}).n;
        if (!n && is_digit(line.p[i]) && (i == 0 || !is_word(line.p[i - 1])))
            while (i + n < line.n && is_word(line.p[i + n]))
                n++;
        hash = hash_mix(hash, n ? '%' : (unsigned char)line.p[i]);
        i += n ? n : 1;
    }
    return hash;
}

/* The first value that one line names and the other does not; empty: there is none. */
static struct str other_value(struct str line, struct str than) {
    for (size_t i = 0; i < line.n; i++) {
        struct str name = value_name((struct str){line.p + i, line.n - i});
        if (name.n && !str_find_word(than, name))
            return name;
    }
    return STR("");
}

/* What is said of one value, and the other values that it holds for, too. */
static void add_told(struct note_lines *out, const struct finding *f, struct arena *a) {
    struct str lines[MOST_TOLD_ONCE];
    uint32_t n = lines_told_once(f, lines);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t before = 0;
        if (f->told >> i & 1)
            continue;
        while (before < i && line_hash(lines[before]) != line_hash(lines[i]))
            before++;
        if (before < i)
            continue;
        struct buf text = {0};
        buf_add(&text, lines[i]);
        for (uint32_t k = i + 1, others = 0; k < n; k++) {
            struct str value = other_value(lines[k], lines[i]);
            if (value.n && line_hash(lines[k]) == line_hash(lines[i]))
                buf_printf(&text, "%s%.*s", others++ ? ", " : " Likewise ", (int)value.n, value.p);
        }
        bool outside = i >= n - (f->notes.outside.n < n ? f->notes.outside.n : n);
        add_line(out, outside ? "outside of the claim" : "", buf_take(&text, a));
    }
}

static void add_preconditions(struct note_lines *out, const struct notes *n, struct arena *a) {
    for (uint32_t i = 0; i < n->remarks.n; i++)
        if (is_precondition(n->remarks.items[i]))
            add_line(out, "", n->remarks.items[i]);
    add_lines(out, "precondition", n->preconditions);
    for (uint32_t i = 0; i < n->carried.n; i++)
        add_line(out, "precondition",
                 arena_printf(a, "the fused op keeps %.*s.", (int)n->carried.items[i].n, n->carried.items[i].p));
}

/* With what stands before, between and behind them; empty where there are none. */
static struct str joined(struct str_list names, const char *before, const char *end, struct arena *a) {
    struct buf b = {0};
    for (uint32_t i = 0; i < names.n; i++)
        buf_printf(&b, "%s%.*s", i ? ", " : before, (int)names.items[i].n, names.items[i].p);
    buf_add(&b, str_of(names.n ? end : ""));
    return buf_take(&b, a);
}

/* The first ones and the last one; none that is a path through the model, which place and source tell. */
static struct str few_locations(struct str_list names, struct arena *a) {
    enum { MOST = 3 };
    struct buf b = {0};
    for (uint32_t i = 0; i < names.n; i++) {
        if (memchr(names.items[i].p, '|', names.items[i].n))
            return STR("");
        if (names.n <= MOST || i + 1 < MOST || i + 1 == names.n)
            buf_printf(&b, "%s%.*s",
                       i == 0                               ? ""
                       : names.n > MOST && i + 1 == names.n ? ", ..., "
                                                            : ", ",
                       (int)names.items[i].n, names.items[i].p);
    }
    return buf_take(&b, a);
}

/* The first place of an entry speaks for those that say the same. */
static void add_verdict(struct note_lines *out, const struct finding *f, const struct notes_of_entry *e,
                        struct arena *a) {
    if (!f->proof || (e->details ? f->same_as != NULL : f->agrees && !e->first))
        return;
    struct str line = e->details ? verdict_line(f->proof, a) : verdict_in_short(f->proof, a), where = STR("");
    if (e->first && !e->details && e->places > 1)
        where = e->agreeing == e->places ? arena_printf(a, " (all %u places)", e->places)
                                         : arena_printf(a, " (%u of %u places)", e->agreeing, e->places);
    add_line(out, "", arena_printf(a, "%.*s%.*s", (int)line.n, line.p, (int)where.n, where.p));
}

struct str finding_lines(const struct finding *f, struct arena *a) {
    struct str lines = f->ttnn.text.n ? f->ttnn.lines : f->ttir.lines, first = {lines.p, 0}, last = lines;
    if (f->ir_loc.n || !lines.n)
        return STR("");
    while (first.n < lines.n && is_digit(lines.p[first.n]))
        first.n++;
    for (size_t i = 0; i < lines.n; i++)
        if (!is_digit(lines.p[i]))
            last = (struct str){lines.p + i + 1, lines.n - i - 1};
    return arena_printf(a, "%.*s to %.*s", (int)first.n, first.p, (int)last.n, last.p);
}

static void add_dump_lines(struct note_lines *out, const struct finding *f, struct arena *a) {
    struct str lines = finding_lines(f, a);
    if (lines.n)
        add_line(out, "lines",
                 arena_printf(a, "%.*s of the %s", (int)lines.n, lines.p, f->ttnn.text.n ? "TTNN" : "TTIR"));
}

static void add_layout(struct note_lines *out, const struct finding *f, struct arena *a) {
    uint32_t between = f->notes.between;
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

struct str finding_sentence(const struct finding *f) {
    return str_trim(f->notes.sentence.n || !f->pattern ? f->notes.sentence : f->pattern->summary);
}

struct str finding_place(const struct finding *f) {
    return f->place.n ? f->place : STR(PLACE_NOT_STATED);
}

static struct str beside_others(const struct finding *f, struct arena *a) {
    char more[FA_TIME_TEXT];
    struct str others = joined(f->instead_of, "", "", a);
    if (!others.n)
        return others;
    return arena_printf(a, "%s more than %.*s", f->more_us < NO_TIME_US ? "no" : fa_format_time(f->more_us, more),
                        (int)others.n, others.p);
}

struct str finding_notes(const struct finding *f, const struct notes_of_entry *e, struct note_lines *out) {
    const struct notes *n = &f->notes;
    struct arena a = {0};
    const struct device *shown = e->first || e->details ? f->device : NULL;
    out->text.n = out->n = 0;
    add_line(out, "", finding_sentence(f));
    add_lines(out, "blocked", n->blocked);
    if (n->decomposed)
        add_line(out, "decomposed", STR("the compiler took a fused op apart here for a reason of the op."));
    add_told(out, f, &a);
    add_preconditions(out, n, &a);
    add_verdict(out, f, e, &a);
    add_line(out, "known defect", e->first ? f->known_defect : STR(""));
    add_line(out, "saves", f->device ? price_line(&f->price, shown, beside_others(f, &a), &a) : STR(""));
    add_line(out, "model location", finding_place(f));
    add_line(out, "source", n->source);
    add_dump_lines(out, f, &a);
    add_line(out, "source torch ops", n->torch.n ? n->torch : STR("not stated in the input"));
    add_line(out, "call", joined(n->call, arena_printf(&a, "%.*s(", (int)f->fused_op.n, f->fused_op.p).p, ")", &a));
    add_line(out, "locations", e->details ? joined(n->locations, "", "", &a) : few_locations(n->locations, &a));
    add_line(out, "action", e->action);
    add_line(out, "all ops", e->all_ops);
    add_line(out, "compiler version", e->version);
    add_layout(out, f, &a);
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
    struct str *texts[] = {&copy.sentence, &copy.source,          &copy.place,
                           &copy.torch,    &copy.claim.signature, &copy.claim.undone};
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
                           &copy->action,
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
    copy->instead_of = list_copy(to, f->instead_of);
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
