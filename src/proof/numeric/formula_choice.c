/* Alternatives of a formula (a | b): which one counts, and the enumeration of all choices in a formula. */
#include "proof/numeric/formula_run.h"

/* Names that a node depends on. */
struct name_set {
    bool has[MAX_SLOTS], visited[MAX_SLOTS];
};

/* Adds the bound names. Named values are shared by several nodes: each is visited once. */
static void add_names(const struct formula_run *r, const struct node *n, struct name_set *names) {
    if ((n->kind == N_VARIABLE || n->kind == N_NAMED) && r->bound[n->slot])
        names->has[n->slot] = true;
    if (n->kind == N_NAMED && names->visited[n->slot])
        return;
    if (n->kind == N_NAMED)
        names->visited[n->slot] = true;
    for (uint32_t i = 0; i < n->nattrs; i++) {
        uint32_t slot = n->attrs[i].word ? formula_slot(r->formula, n->attrs[i].value) : NONE;
        if (slot != NONE && r->bound[slot])
            names->has[slot] = true;
    }
    for (uint32_t i = 0; i < n->nargs; i++)
        add_names(r, n->args[i], names);
}

/* An alternative with the names `mine` leaves out a bound name which one with the names `its` has: `x` beside `x +
 * bias`.
 */
static bool leaves_out(const struct name_set *mine, const struct name_set *its) {
    bool less = false;
    for (uint32_t i = 0; i < MAX_SLOTS; i++) {
        if (mine->has[i] && !its->has[i])
            return false;
        less |= its->has[i] && !mine->has[i];
    }
    return less;
}

static bool is_within(struct str text, const char *p) {
    return p >= text.p && p < text.p + text.n;
}

/* Index of the alternative that a node takes, the same one each time it is asked for in one evaluation. Only nodes that
 * stand in the formula's own text are choices; those of idioms take the first. */
static uint32_t decision(struct formula_run *r, const struct node *n, uint32_t count) {
    struct formula_choice *c = r->choice;
    for (uint32_t i = 0; i < r->ndecided; i++)
        if (c->node[i] == n)
            return c->taken[i];
    uint32_t at = r->ndecided;
    if (at == MAX_CHOICES || count < 2 || !is_within(r->formula->text, n->text.p))
        return 0;
    c->node[r->ndecided++] = n;
    if (at == c->n) {
        c->taken[at] = 0;
        c->n++;
    }
    c->of[at] = (uint8_t)count;
    return c->taken[at] < count ? c->taken[at] : 0;
}

/* Index of the alternative that the match has, else 0. Those of lowerings are not about its names. */
static uint32_t likeliest(const struct formula_run *r, const struct node *const *nodes, uint32_t n) {
    bool asks = r->context && r->context->likely && !r->inside;
    for (uint32_t i = 0; asks && i < n; i++)
        if (r->context->likely(r->context->self, nodes[i]))
            return i;
    return 0;
}

bool formula_choice_next(struct formula_choice *c) {
    while (c->n && c->taken[c->n - 1] + 1 >= c->of[c->n - 1])
        c->n--;
    if (c->n)
        c->taken[c->n - 1]++;
    return c->n > 0;
}

const struct node *formula_alternative(struct formula_run *r, const struct node *n) {
    enum { MOST = 16 };
    const struct node *there[MOST], *kept[MOST] = {NULL};
    struct name_set names[MOST];
    uint32_t count = 0, nkept = 0;
    for (uint32_t i = 0; i < n->nargs && count < (r->choice ? MOST : 1); i++)
        if (formula_present(r, n->args[i]))
            there[count++] = n->args[i];
    for (uint32_t i = 0; i < count && count > 1; i++) {
        names[i] = (struct name_set){0};
        add_names(r, there[i], &names[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        bool less = false;
        for (uint32_t k = 0; k < count && count > 1 && !less; k++)
            less = leaves_out(&names[i], &names[k]);
        if (!less)
            kept[nkept++] = there[i];
    }
    uint32_t which = nkept && r->choice ? decision(r, n, nkept) + likeliest(r, kept, nkept) : 0;
    return nkept ? kept[which % nkept] : NULL;
}
