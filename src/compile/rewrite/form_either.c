/* Alternatives of the fused form, which are written already: which of them a match has the names of. */
#include "compile/rewrite/form.h"

#include <stdlib.h>
#include <string.h>

static void add_numbers(const struct number *n, bool *names) {
    if (!n)
        return;
    if (n->slot != NONE && n->op != NUM_VALUE && n->op != NUM_CALL)
        names[n->slot] = true;
    add_numbers(n->a, names);
    add_numbers(n->b, names);
}

void form_add_names(struct cpp *c, const struct node *n, bool *names) {
    uint32_t slot = n->kind == N_VARIABLE ? formula_slot(c->match, c->formula->slot_name[n->slot]) : NONE;
    struct str why = c->why;
    if (slot != NONE)
        names[slot] = true;
    for (uint32_t i = 0; i < n->nattrs; i++)
        add_numbers(form_attribute_of(c, &n->attrs[i]), names);
    c->why = why;
    for (uint32_t i = 0; i < n->nargs; i++)
        form_add_names(c, n->args[i], names);
}

int form_compare_names(const struct alternative *a, const struct alternative *b) {
    bool more = false, less = false;
    for (uint32_t i = 0; i < MAX_SLOTS; i++) {
        more |= a->names[i] && !b->names[i];
        less |= b->names[i] && !a->names[i];
    }
    return more && less ? 2 : more ? 1 : less ? -1 : 0;
}

bool form_is_binary(const struct node *n, enum op_kind k) {
    return n->kind == N_OP && n->op == k && n->nargs == 2 && !n->nattrs;
}

/* A function of Form that looks at the match, and fails where its op is not what is matched. */
static bool checks_itself(const struct node *n) {
    return n->kind == N_NAMED
               ? checks_itself(n->args[0])
               : n->kind == N_OP && (op_is(n->op, COMPOSITE) || op_table[n->op].movement == MOVEMENT_INTERLEAVE);
}

/* Attributes that are numbers as they stand. */
static bool has_literals(const struct node *n) {
    bool all = true;
    for (uint32_t i = 0; i < n->nattrs; i++) {
        char *end;
        struct str value = n->attrs[i].value;
        all &= value.n && (strtod(value.p, &end), end == value.p + value.n);
    }
    return all;
}

bool form_are_ambiguous(const struct alternative *a, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++) {
            const struct node *x = a[i].node, *y = a[k].node;
            if (form_compare_names(&a[i], &a[k]) == 0 && x->kind == N_OP && y->kind == N_OP &&
                !(checks_itself(x) && checks_itself(y)) && (x->op != y->op || !has_literals(x) || !has_literals(y)))
                return true;
        }
    return false;
}

bool form_are_behind(struct cpp *c, const struct alternative *a, uint32_t n) {
    uint32_t behind = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (a[i].node->kind == N_OP && a[i].node->op == op_kind_of_spelling(c->pattern->fused_op))
            return false;
        behind += a[i].node->kind == N_OP && a[i].node->nargs == 1 && op_table[a[i].node->op].class == OP_ELTWISE;
    }
    return behind > 0;
}

/* Those with more names come first. */
static void sort_by_names(struct alternative *all, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++)
            if (form_compare_names(&all[i], &all[k]) == -1) {
                struct alternative moved = all[k];
                memmove(&all[i + 1], &all[i], (k - i) * sizeof *all);
                all[i] = moved;
                k = i;
            }
}

/* Names of an alternative that not all have. */
static struct str own_names(struct cpp *c, const struct alternative *all, uint32_t n, uint32_t at) {
    struct str list = STR("");
    for (uint32_t slot = 0; slot < c->match->nslots; slot++) {
        uint32_t having = 0;
        for (uint32_t i = 0; i < n; i++)
            having += all[i].names[slot];
        if (all[at].names[slot] && having < n)
            list =
                arena_printf(c->arena, "%s%s%s", list.p, list.n ? ", " : "", cpp_name(c, c->match->slot_name[slot]).p);
    }
    return list;
}

/* What a part of the form moves, it only reshapes: of that the axes of values tell whether it is right. */
static bool only_reshapes(const struct node *n) {
    enum op_class class = n->kind == N_OP ? op_table[n->op].class : OP_ELTWISE;
    bool only = op_table[n->op].movement == MOVEMENT_RESHAPE ||
                (class != OP_SLICE && class != OP_JOIN && class != OP_MOVE && class != OP_REDUCE);
    for (uint32_t i = 0; i < n->nargs && only; i++)
        only = only_reshapes(n->args[i]);
    return only;
}

bool form_refuse(struct cpp *c, struct alternative *a, const struct alternative *all, uint32_t n) {
    struct str any = STR("");
    bool told = false;
    for (uint32_t i = 0; i < n; i++) /* one with more names comes first */
        if (all[i].text.n && form_compare_names(a, &all[i]) == -1) {
            a->text = STR("form.fail(\"this form is not written\")");
            return true;
        }
    for (uint32_t slot = 0; slot < c->match->nslots; slot++) {
        bool known = !a->names[slot];
        for (uint32_t i = 0; i < n && !known; i++)
            known = all[i].text.n && all[i].names[slot];
        if (!known)
            any = arena_printf(c->arena, "%s%smatch.has(%s)", any.p, any.n ? " || " : "",
                               cpp_name(c, c->match->slot_name[slot]).p);
    }
    for (uint32_t i = 0; i < n && !told; i++)
        told = all[i].text.n && form_compare_names(a, &all[i]) == 0 &&
               (checks_itself(all[i].node) || only_reshapes(a->node));
    if (any.n)
        a->text = arena_printf(c->arena, "(%s ? form.fail(\"this form is not written\") : Tensor())", any.p);
    return any.n || told;
}

uint32_t form_written_first(struct alternative *all, uint32_t n) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (all[i].text.n)
            all[kept++] = all[i];
    return kept;
}

/* It is absent where the match lacks one of its names. */
static bool wants_all(const struct node *n) {
    bool all = n->kind == N_VARIABLE || n->kind == N_NUMBER || n->kind == N_NAMED ||
               (n->kind == N_OP && op_table[n->op].class == OP_ELTWISE && !n->nattrs);
    for (uint32_t i = 0; i < n->nargs && all; i++)
        all = wants_all(n->args[i]);
    return all;
}

/* Names that an alternative alone has: "match.has(a) && match.has(b)". */
static struct str has_names(struct cpp *c, const struct alternative *all, uint32_t n, uint32_t at) {
    struct str text = STR("");
    for (struct str rest = own_names(c, all, n, at); rest.n;)
        text = arena_printf(c->arena, "%s%smatch.has(%s)", text.p, text.n ? " && " : "",
                            arena_str(c->arena, str_item(&rest)).p);
    return text;
}

/* "match.has(a) ? form(a) : form(b)", where the names tell which one it is; or empty. */
static struct str choice_of(struct cpp *c, const struct alternative *all, uint32_t n) {
    struct str text = all[n - 1].text;
    for (uint32_t i = n - 1; i-- > 0;) {
        struct str has = wants_all(all[i].node) ? has_names(c, all, n, i) : STR("");
        if (!has.n)
            return has;
        text = arena_printf(c->arena, "%s ? %s : %s", has.p, all[i].text.p, text.p);
    }
    return text;
}

struct str form_unbracketed(struct cpp *c, struct str text) {
    bool is = text.p[0] == '(' && str_ends(text, STR(" : Tensor())"));
    return is ? arena_printf(c->arena, "%.*s", (int)text.n - 2, text.p + 1) : text;
}

struct str form_list(struct cpp *c, struct alternative *all, uint32_t n) {
    struct str text = STR("");
    bool same = true;
    sort_by_names(all, n);
    for (uint32_t i = 0; i + 1 < n; i++)
        same &= form_compare_names(&all[i], &all[i + 1]) == 0;
    struct str choice = same && n > 1 ? text : choice_of(c, all, n);
    if (choice.n)
        return choice;
    for (uint32_t i = 0; i < n; i++) {
        struct str way = arena_printf(c->arena, "[&] { return %s; }", form_unbracketed(c, all[i].text).p),
                   comma = i ? STR(", ") : STR("");
        text = same ? arena_printf(c->arena, "%s%s%s", text.p, comma.p, way.p)
                    : arena_printf(c->arena, "%s%s{%s, {%s}}", text.p, comma.p, way.p, own_names(c, all, n, i).p);
    }
    return arena_printf(c->arena, "form.either({%s})", text.p);
}

/* An argument of a call as a whole, which may stand behind a "?": a list in braces may not. */
static bool is_argument(struct str text) {
    return text.n && cpp_item_end(text) == text.n && !memchr(text.p, '{', text.n);
}

struct str form_one_call(struct cpp *c, struct str a, struct str b) {
    static const char between[] = " ? ", end[] = " : Tensor())";
    const char *ask = str_starts(a, STR("(match.has(")) ? str_find(a, STR(between)) : NULL;
    if (!ask || !str_ends(a, STR(end)))
        return STR("");
    struct str when = {a.p + 1, (size_t)(ask - a.p - 1)};
    a.n -= when.n + strlen(between) + strlen(end) + 1;
    a.p = ask + strlen(between);
    size_t front = 0, back = 0;
    while (front < a.n && front < b.n && a.p[front] == b.p[front])
        front++;
    while (front > 0 && !strchr(" (", a.p[front - 1]))
        front--;
    while (back < a.n - front && back < b.n - front && a.p[a.n - 1 - back] == b.p[b.n - 1 - back])
        back++;
    while (back > 0 && !strchr("),", a.p[a.n - back]))
        back--;
    struct str one = {a.p + front, a.n - back - front}, other = {b.p + front, b.n - back - front};
    if (!front || !back || !is_argument(one) || !is_argument(other) || memchr(other.p, '(', other.n))
        return STR("");
    return arena_printf(c->arena, "%.*s%.*s ? %.*s : %.*s%.*s", (int)front, a.p, (int)when.n, when.p, (int)one.n, one.p,
                        (int)other.n, other.p, (int)back, a.p + a.n - back);
}
