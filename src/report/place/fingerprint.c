/* Fingerprints. Hashes are FNV-1a of bytes, the same on all machines. */
#include "report/place/fingerprint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"

static const uint64_t FNV_BASIS = 0xcbf29ce484222325u, FNV_PRIME = 0x100000001b3u;

static uint64_t add_text(uint64_t h, struct str s) {
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * FNV_PRIME;
    return (h ^ 0xff) * FNV_PRIME; /* no byte of UTF-8: ends the text */
}

static uint64_t add_number(uint64_t h, uint64_t x) {
    for (int i = 0; i < 64; i += 8)
        h = (h ^ (x >> i & 0xff)) * FNV_PRIME;
    return h;
}

static uint64_t add_type(uint64_t h, const struct graph *g, uint32_t value) {
    uint32_t rank = 0;
    const int64_t *shape = value == NONE ? NULL : graph_shape(g, value, &rank);
    if (!shape)
        return add_number(h, value == NONE);
    for (uint32_t i = 0; i < rank; i++)
        h = add_number(h, (uint64_t)shape[i]);
    return add_text(h, str_of(dtype_table[graph_dtype(g, value)].name));
}

uint32_t own_attributes(const struct mlir *m, uint32_t op, struct attribute_hash out[OWN_ATTRIBUTES]) {
    struct str keys[OWN_ATTRIBUTES], values[OWN_ATTRIBUTES];
    int n = mlir_attrs(m, op, keys, values, OWN_ATTRIBUTES);
    uint32_t count = 0;
    for (int i = 0; i < n && i < OWN_ATTRIBUTES; i++)
        if (!memchr(keys[i].p, '.', keys[i].n) && !(values[i].n && values[i].p[0] == '#'))
            out[count++] = (struct attribute_hash){keys[i], add_text(add_text(FNV_BASIS, keys[i]), values[i])};
    return count;
}

static uint64_t hash_attributes(const struct mlir *m, uint32_t op) {
    struct attribute_hash own[OWN_ATTRIBUTES];
    uint64_t sum = 0;
    for (uint32_t i = own_attributes(m, op, own); i-- > 0;)
        sum += own[i].hash;
    return sum;
}

static const uint32_t *find_op(const uint32_t *ops, uint32_t n, uint32_t op) {
    for (uint32_t i = 0; i < n; i++)
        if (ops[i] == op)
            return &ops[i];
    return NULL;
}

/* An operand: the hash of the op that it comes from through what only moves, or its type where it is from outside. */
static uint64_t hash_operand(const struct graph *g, uint32_t value, const uint32_t *ops, uint32_t n,
                             const uint64_t *hashes) {
    for (uint32_t v = value; v != NONE && g->m->values[v].def != NONE;) {
        uint32_t def = g->m->values[v].def;
        const uint32_t *at = find_op(ops, n, def);
        if (at)
            return add_number(hashes[at - ops], g->m->values[v].index);
        if (!graph_looks_through(g, def))
            break;
        v = graph_through(g, def);
    }
    return add_type(FNV_BASIS, g, value);
}

uint64_t structure_hash(const struct graph *g, struct str name, const uint32_t *ops, uint32_t n, struct arena *a) {
    uint64_t *hashes = arena_alloc(a, (n + (size_t)1) * sizeof *hashes), sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t op = ops[i];
        const struct mlir_op *o = &g->m->ops[op];
        bool commutes = op_is((enum op_kind)g->kind[op], COMMUTES);
        uint64_t h = add_number(add_text(FNV_BASIS, mlir_op_name(g->m, op)), hash_attributes(g->m, op)), either = 0;
        for (uint32_t r = 0; r < o->nresults; r++)
            h = add_type(h, g, o->first_result + r);
        for (uint32_t k = 0; k < graph_noperands(g, op); k++) {
            uint64_t operand = hash_operand(g, graph_operands(g, op)[k], ops, i, hashes);
            h = commutes ? h : add_number(h, operand);
            either += operand;
        }
        hashes[i] = add_number(h, commutes ? either : 0);
        sum += hashes[i];
    }
    return add_number(add_text(FNV_BASIS, name), sum);
}

uint32_t place_hash(const struct str_list *names) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < names->n; i++)
        sum += add_text(FNV_BASIS, names->items[i]);
    uint32_t h = (uint32_t)(sum ^ sum >> 32);
    return names->n && !h ? 1 : h;
}

/* ---- ranks ---- */

struct like {
    uint64_t key;
    uint32_t count;
    UT_hash_handle hh;
};

struct ranks {
    struct like *likes;
    struct like **of; /* per op */
    uint32_t *rank;   /* per op, from 1 */
};

/* Of its function and the type of its result: a fused op counts where the last of its parts would. 0: casts and layout
 * changes, which come and go between compiles, are like nothing. */
static uint64_t hash_of_like(const struct graph *g, uint32_t op) {
    const struct mlir_op *o = &g->m->ops[op];
    enum op_class c = graph_class(g, op);
    if (!o->nresults || c == OP_CAST || c == OP_LAYOUT || c == OP_CONSTANT)
        return 0;
    return add_type(add_number(FNV_BASIS, o->func), g, o->first_result);
}

struct ranks *ranks_new(const struct graph *g) {
    struct ranks *r = xcalloc(1, sizeof *r);
    r->of = xcalloc(g->m->nops + (size_t)1, sizeof *r->of);
    r->rank = xcalloc(g->m->nops + (size_t)1, sizeof *r->rank);
    for (uint32_t op = 0; op < g->m->nops; op++) {
        uint64_t key = hash_of_like(g, op);
        struct like *l = NULL;
        if (!key)
            continue;
        HASH_FIND(hh, r->likes, (const char *)&key, sizeof key, l);
        if (!l) {
            l = xcalloc(1, sizeof *l);
            l->key = key;
            HASH_ADD_KEYPTR(hh, r->likes, (const char *)&l->key, sizeof l->key, l);
        }
        r->of[op] = l;
        r->rank[op] = ++l->count;
    }
    return r;
}

void ranks_free(struct ranks *r) {
    struct like *l = r ? r->likes : NULL;
    if (!r)
        return;
    HASH_CLEAR(hh, r->likes);
    while (l) {
        struct like *next = l->hh.next;
        free(l);
        l = next;
    }
    free(r->of);
    free(r->rank);
    free(r);
}

void ranks_of(const struct ranks *r, uint32_t op, struct fingerprint *f) {
    f->rank = r->rank[op];
    f->count = r->of[op] ? r->of[op]->count : 1;
}

/* ---- text ---- */

const char *fingerprint_text(const struct fingerprint *f, char out[FINGERPRINT_TEXT]) {
    snprintf(out, FINGERPRINT_TEXT, "%016" PRIx64 ".%08" PRIx32 ".%" PRIu32 ".%" PRIu32, f->structure, f->place,
             f->rank, f->count);
    return out;
}

bool fingerprint_read(struct str text, struct fingerprint *out) {
    char copy[FINGERPRINT_TEXT], again[FINGERPRINT_TEXT];
    if (text.n >= sizeof copy || memchr(text.p, '\0', text.n))
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    return sscanf(copy, "%16" SCNx64 ".%8" SCNx32 ".%10" SCNu32 ".%10" SCNu32, &out->structure, &out->place, &out->rank,
                  &out->count) == 4 &&
           strcmp(copy, fingerprint_text(out, again)) == 0;
}
