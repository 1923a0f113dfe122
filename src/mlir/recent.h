/* Texts of a module that were read a moment ago. Types, names of ops, attribute dictionaries and signatures repeat with
 * every layer of a model: comparing bytes with the last text that began alike is cheaper than scanning and hashing it.
 *
 * They save 21 % of the instructions of an audit of 50 MB of TTIR, 18 % of 50 MB of TTNN and 2 % of a model of 0.8 MB
 * (callgrind, one thread, modules of bench/generate.py). A parser without them (mlir_parse_with, NULL) yields the same
 * module, except for which of several equal dictionaries mlir_op.props and attrs point to. */
#ifndef FA_MLIR_RECENT_H
#define FA_MLIR_RECENT_H

#include "base/base.h"

enum { RECENT_BITS = 9, RECENT_SIGNATURE_BITS = 10, RECENT_SIGNATURE_TYPES = 5 };

/* A text that ends in a closing bracket or quote: where the same bytes stand, a scan would find the same text. */
struct recent_text {
    const char *p;
    uint32_t n, id; /* bytes, 0: none; of the type or name */
};

/* "(types) -> type" after an op of some name. */
struct recent_signature {
    const char *p;
    uint32_t n, ntypes; /* the last type is that of the result */
    uint32_t types[RECENT_SIGNATURE_TYPES];
};

/* Zeroed: empty. Each table has one slot for what begins alike. */
struct recent_texts {
    struct recent_text types[1 << RECENT_BITS], names[1 << RECENT_BITS], dicts[1 << RECENT_BITS];
    struct recent_signature signatures[1 << RECENT_SIGNATURE_BITS];
};

/* The slot of what begins at `p`. NULL when the text is about to end or nothing is remembered (`r` is NULL). */
struct recent_text *recent_type(struct recent_texts *r, const char *p, const char *end);
struct recent_text *recent_name(struct recent_texts *r, const char *p, const char *end); /* from the opening quote */
struct recent_text *recent_dict(struct recent_texts *r, const char *p, const char *end, uint32_t name);
struct recent_signature *recent_signature(struct recent_texts *r, const char *p, const char *end, uint32_t name);

/* Does the text of the slot (or NULL) stand at `p`? */
static inline bool recent_is(const struct recent_text *t, const char *p, const char *end) {
    return t && t->n > 0 && (size_t)(end - p) >= t->n && memcmp(t->p, p, t->n) == 0;
}
/* Fills a slot; too long a text is not worth a comparison. */
static inline void recent_keep(struct recent_text *t, const char *p, const char *end, uint32_t id) {
    enum { LONGEST = 1 << 12 };
    if (t && end - p <= LONGEST)
        *t = (struct recent_text){p, (uint32_t)(end - p), id};
}

#endif
