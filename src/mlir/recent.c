/* Slots are chosen by a hash of the first bytes, as many as tell such texts apart in the modules of the corpus. */
#include "mlir/recent.h"

enum { TYPE_BYTES = 24, DICT_BYTES = 48 };

static size_t slot_of(uint64_t key, unsigned bits) {
    return (size_t)(key * 0x9e3779b97f4a7c15u >> (64 - bits));
}

/* "tensor<1x32x64xbf16, #ttnn_layout12>": shapes differ late. */
static uint64_t type_key(const char *p) {
    uint64_t w[TYPE_BYTES / 8];
    memcpy(w, p, sizeof w);
    return w[0] ^ (w[1] << 23 | w[1] >> 41) ^ (w[2] << 47 | w[2] >> 17);
}

struct recent_text *recent_type(struct recent_texts *r, const char *p, const char *end) {
    return r && end - p >= TYPE_BYTES ? &r->types[slot_of(type_key(p), RECENT_BITS)] : NULL;
}

struct recent_text *recent_name(struct recent_texts *r, const char *p, const char *end) {
    uint64_t w;
    if (!r || end - p < TYPE_BYTES)
        return NULL;
    memcpy(&w, p + 4, sizeof w); /* of "ttir.add" the part behind the dialect's first letters */
    return &r->names[slot_of(w, RECENT_BITS)];
}

struct recent_text *recent_dict(struct recent_texts *r, const char *p, const char *end, uint32_t name) {
    uint64_t w[DICT_BYTES / 8], key = (uint64_t)name << 32;
    if (!r || end - p < DICT_BYTES)
        return NULL;
    memcpy(w, p, sizeof w);
    for (int i = 0; i < DICT_BYTES / 8; i++) /* lists of numbers differ late */
        key = (key << 11 | key >> 53) ^ w[i];
    return &r->dicts[slot_of(key, RECENT_BITS)];
}

/* By the first type and the op: the other types mostly follow from these. */
struct recent_signature *recent_signature(struct recent_texts *r, const char *p, const char *end, uint32_t name) {
    if (!r || end - p < TYPE_BYTES)
        return NULL;
    return &r->signatures[slot_of(type_key(p) ^ (uint64_t)name << 32, RECENT_SIGNATURE_BITS)];
}
