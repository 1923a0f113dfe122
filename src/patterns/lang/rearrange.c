#include "patterns/lang/rearrange.h"

#include <ctype.h>

/* One letter or word for each axis; their numbers are those of `names`. */
struct axis_names {
    struct str items[MAX_RANK];
    uint8_t n;
};

static uint8_t number_of(struct axis_names *names, struct str word) {
    uint8_t i = 0;
    while (i < names->n && !str_eq(names->items[i], word))
        i++;
    if (i == names->n && i < MAX_RANK)
        names->items[names->n++] = word;
    return i;
}

/* What is wrong with it; NULL: nothing. */
static const char *read_side(struct str text, struct axis_names *names, struct arranged_dims *out) {
    uint8_t n = 0;
    bool open = false;
    *out = (struct arranged_dims){.rank = 0};
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        size_t word = i, begin = i;
        while (word < text.n && (isalnum((unsigned char)text.p[word]) || text.p[word] == '_'))
            word++;
        bool one = word == i + 1 && c == '1' && !open; /* a dimension without an axis */
        if (word > i) {
            if (n == MAX_RANK || out->rank == MAX_RANK)
                return "too many axes";
            if (!one && isdigit((unsigned char)c))
                return "only 1 is a number here: axes have names, and are as large as the value says";
            if (!one)
                out->axes[n++] = number_of(names, (struct str){text.p + i, word - i});
            i = word - 1;
        } else if (c == '(' || c == ')') {
            if (open != (c == ')'))
                return "the parentheses do not match";
            open = c == '(';
        } else if (c != ' ') {
            return "each axis is written: no dots, a word for each";
        }
        if (!open && (word > begin || c == ')'))
            out->end[out->rank++] = n;
    }
    return open ? "the parentheses do not match" : out->rank == 0 ? "a side without axes" : NULL;
}

/* Each of the axes once. */
static bool has_each(const struct arranged_dims *d, uint8_t naxes) {
    unsigned seen = 0;
    uint8_t n = d->end[d->rank - 1];
    for (uint8_t i = 0; i < n; i++)
        seen |= 1u << d->axes[i];
    return n == naxes && seen == (1u << naxes) - 1;
}

const char *rearrangement_read(struct str text, struct rearrangement *out) {
    struct axis_names names = {.n = 0};
    const char *arrow = str_find(text, STR("->"));
    if (!arrow)
        return "an arrow is meant between the axes of x and the same axes in another order";
    struct str from = {text.p, (size_t)(arrow - text.p)}, to = {arrow + 2, text.n - from.n - 2};
    *out = (struct rearrangement){.text = text};
    const char *wrong = read_side(from, &names, &out->from);
    if (!wrong)
        wrong = read_side(to, &names, &out->to);
    out->naxes = names.n;
    bool both = wrong || (has_each(&out->from, names.n) && has_each(&out->to, names.n));
    return both ? wrong : "each axis stands once on either side of the arrow";
}

/* Of a dimension of which one axis is not known, that one. False: they do not fit. */
static bool find_unknown(const struct arranged_dims *d, const int64_t *shape, int64_t *extents, uint32_t *known) {
    for (uint8_t i = 0, at = 0; i < d->rank; at = d->end[i++]) {
        int64_t rest = shape[i];
        uint8_t unknown = MAX_RANK, n = 0;
        for (uint8_t k = at; k < d->end[i]; k++)
            if (!(*known >> d->axes[k] & 1)) {
                unknown = d->axes[k];
                n++;
            } else if (rest % extents[d->axes[k]] != 0) {
                return false;
            } else {
                rest /= extents[d->axes[k]];
            }
        if (rest < 1 || (n == 0 && rest != 1))
            return false;
        if (n == 1) {
            extents[unknown] = rest;
            *known |= 1u << unknown;
        }
    }
    return true;
}

bool rearrangement_extents(const struct rearrangement *r, const int64_t *from, const int64_t *to,
                           int64_t extents[MAX_RANK]) {
    uint32_t known = 0, before;
    do {
        before = known;
        if ((from && !find_unknown(&r->from, from, extents, &known)) ||
            (to && !find_unknown(&r->to, to, extents, &known)))
            return false;
    } while (known != before);
    return known == (1u << r->naxes) - 1;
}
