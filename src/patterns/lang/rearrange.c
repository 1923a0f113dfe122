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

static bool read_side(struct str text, struct axis_names *names, struct arranged_dims *out) {
    uint8_t n = 0;
    bool open = false, good = true;
    *out = (struct arranged_dims){.rank = 0};
    for (size_t i = 0; i < text.n && good; i++) {
        char c = text.p[i];
        size_t word = i, begin = i;
        while (word < text.n && (isalnum((unsigned char)text.p[word]) || text.p[word] == '_'))
            word++;
        bool one = word == i + 1 && c == '1' && !open; /* a dimension without an axis */
        if (word > i) {
            good = n < MAX_RANK && out->rank < MAX_RANK;
            if (good && !one)
                out->axes[n++] = number_of(names, (struct str){text.p + i, word - i});
            i = word - 1;
        } else if (c == '(' || c == ')') {
            good = open == (c == ')');
            open = c == '(';
        } else {
            good = c == ' ';
        }
        if (good && !open && (word > begin || c == ')'))
            out->end[out->rank++] = n;
    }
    return good && !open && out->rank > 0;
}

/* Each of the axes once. */
static bool has_each(const struct arranged_dims *d, uint8_t naxes) {
    unsigned seen = 0;
    uint8_t n = d->end[d->rank - 1];
    for (uint8_t i = 0; i < n; i++)
        seen |= 1u << d->axes[i];
    return n == naxes && seen == (1u << naxes) - 1;
}

bool rearrangement_read(struct str text, struct rearrangement *out) {
    struct axis_names names = {.n = 0};
    const char *arrow = str_find(text, STR("->"));
    if (!arrow)
        return false;
    struct str from = {text.p, (size_t)(arrow - text.p)}, to = {arrow + 2, text.n - from.n - 2};
    *out = (struct rearrangement){.text = text};
    if (!read_side(from, &names, &out->from) || !read_side(to, &names, &out->to))
        return false;
    out->naxes = names.n;
    return has_each(&out->from, names.n) && has_each(&out->to, names.n);
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
