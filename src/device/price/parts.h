/* The ops that a match is about, as its price sees them. Private to parts.c, price_fused.c and price.c. */
#ifndef FA_PARTS_H
#define FA_PARTS_H

#include "device/price/price.h"

/* The ops that a match is about, in textual order. */
struct parts {
    struct pricer *pricer;
    const struct match *match;
    const struct match_detail *detail;
    struct arena *arena;
    uint32_t *ops, n;
    bool *stays;        /* it runs all the same */
    bool *moves;        /* it stays only to move the result */
    enum op_kind fused; /* NO_OPERATOR where TTNN has no such op */
    uint32_t operand;   /* the largest that the fused op takes and is computed at run time, a value; or NONE */
    uint32_t product;   /* the largest contraction among them, an op; NONE: there is none */
    uint32_t scores;    /* of an attention, the product before its softmax; NONE: none is */
    uint32_t narrow;    /* what the result of a norm or an attention is cast to, which works on that type where its
                           operand has it or is cast from it for the match alone, a value; or NONE */
    uint32_t unmoved;   /* what the fused op yields where the result is moved behind it, a value; or NONE */
    bool attention;     /* two products around a softmax */
};

const struct graph *graph_of(const struct parts *s);
void *for_parts(const struct parts *s, size_t size);
uint32_t part_of(const struct parts *s, uint32_t op);
uint32_t part_that_makes(const struct parts *s, uint32_t value);
uint32_t value_before_moves(const struct parts *s, uint32_t value); /* by parts that only move it */
bool is_used_outside(const struct parts *s, uint32_t value);
bool part_yields(const struct parts *s, uint32_t op);
bool is_attention(enum op_kind k);
bool is_product(enum op_kind k);
bool is_norm(const struct parts *s);
bool spells_norm(const struct parts *s); /* and none of the parts is that norm */
/* Attentions work on 16 bits, and norms on narrow types: what is widened for the match alone is not, and what is cast
 * behind it comes out so. */
uint32_t taken_by_fused(const struct parts *s, uint32_t value);
uint32_t yielded_by_fused(const struct parts *s);
bool takes_any_order(const struct parts *s);
bool op_moves_rows(const struct parts *s, uint32_t op);
bool part_reads(const struct parts *s, uint32_t value);
void mark_parts_made_of(const struct parts *s, uint32_t value, bool *made);
const struct binding *next_turned_operand(const struct parts *s, uint32_t from);
void parts_of_match(struct parts *s, struct pricer *p, const struct match *m, const struct match_detail *d,
                    struct arena *a);

/* price_fused.c: the fused op; false: something of it is not known. */
bool price_fused(const struct parts *s, struct price *out);

#endif
