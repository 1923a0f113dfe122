#include "compile/verify/candidates.h"

#include <stdlib.h>

#include "ir/graph/index.h"

enum { MAX_SIGNATURES = 8, MAX_NAMES_OF_OP = 8, MAX_SAME_NAME = 4, MAX_WALK = 64, MAX_BESIDE = 2 };

static const int64_t *dims_of(const struct dag *d, uint32_t v, uint32_t *rank) {
    return graph_shape(dag_graph(d, v), d->values[v].value, rank);
}

/* Dimensions of one are some of the other side by side: what a reshape makes of a value, but for chance. */
static bool may_reshape(const struct dag *d, uint32_t before, uint32_t after) {
    uint32_t n, m, i = 0, k = 0;
    const int64_t *a = dims_of(d, before, &n), *b = dims_of(d, after, &m);
    while (a && b && (i < n || k < m)) {
        int64_t left = i < n ? a[i++] : 1, right = k < m ? b[k++] : 1;
        uint32_t nleft = left > 1, nright = right > 1;
        while (left != right && (left < right ? i < n : k < m)) {
            if (left < right) {
                nleft += a[i] > 1;
                left *= a[i++];
            } else {
                nright += b[k] > 1;
                right *= b[k++];
            }
        }
        if (left != right || (nleft > 1 && nright > 1))
            return false;
    }
    return a && b;
}

static bool is_known(const struct merge_candidate *all, uint32_t n, const struct merge_candidate *x) {
    for (uint32_t i = 0; i < n; i++)
        if (all[i].before == x->before && all[i].moved.rank == x->moved.rank &&
            memcmp(all[i].moved.order, x->moved.order, x->moved.rank) == 0)
            return true;
    return false;
}

static uint32_t add(struct merge_candidate *out, uint32_t n, struct merge_candidate x) {
    if (n < MAX_CANDIDATES && !is_known(out, n, &x))
        out[n++] = x;
    return n;
}

/* ---- permuted ---- */

/* Dimensions of one element do not matter: what is left of both has to be the same extents in another order, or the
 * value of AFTER has some of them as one. */
static bool may_permute(const int64_t *from, uint32_t rank, const uint8_t *order, const int64_t *to, uint32_t rank_to) {
    uint32_t d = 0;
    for (uint32_t i = 0; i < rank_to; i++) {
        int64_t n = 1;
        for (; d < rank && n < to[i]; d++)
            n *= from[order[d]];
        if (n != to[i])
            return false;
    }
    for (; d < rank; d++)
        if (from[order[d]] != 1)
            return false;
    return true;
}

static uint32_t add_range(uint8_t order[MOVED_RANK], uint32_t at, uint32_t from, uint32_t to) {
    for (uint32_t d = from; d < to && at < MOVED_RANK; d++)
        order[at++] = (uint8_t)d;
    return at;
}

/* The ways in which the dimensions of BEFORE, in another order, give the shape of AFTER: two runs of them swapped
 * (NCHW and NHWC, heads and rows), since that is what layouts do; outer ones stay more often than inner ones. */
static uint32_t add_permuted(const struct dag *d, uint32_t before, uint32_t after, struct merge_candidate *out,
                             uint32_t n) {
    uint32_t rank, to_rank;
    const int64_t *from = dims_of(d, before, &rank), *to = dims_of(d, after, &to_rank);
    if (!from || !to || rank < 2 || rank > MOVED_RANK)
        return n;
    for (uint32_t i = rank; i-- > 0;)
        for (uint32_t k = i + 1; k < rank; k++)
            for (uint32_t end = k + 1; end <= rank; end++) {
                struct merge_candidate x = {.before = before, .moved = {.rank = (uint8_t)rank}};
                uint32_t at = add_range(x.moved.order, 0, 0, i);
                at = add_range(x.moved.order, at, k, end);
                at = add_range(x.moved.order, at, i, k);
                add_range(x.moved.order, at, end, rank);
                bool moves = false; /* more than dimensions of one element */
                int64_t last = -1;
                for (uint32_t e = 0; e < rank; e++)
                    if (from[x.moved.order[e]] > 1) {
                        moves |= x.moved.order[e] < last;
                        last = x.moved.order[e];
                    }
                if (moves && may_permute(from, rank, x.moved.order, to, to_rank))
                    n = add(out, n, x);
            }
    return n;
}

/* The dimensions of a value of AFTER in the order in which the value of BEFORE has them that it is made of, by permutes
 * only. */
static bool find_layout(const struct dag *d, uint32_t value, uint32_t rank, uint32_t order[MOVED_RANK]) {
    for (uint32_t i = 0; i < rank; i++)
        order[i] = i;
    for (uint32_t left = MAX_WALK; left > 0 && value != NONE; left--) {
        const struct dag_value *v = &d->values[value];
        uint32_t of_permute[MAX_RANK], n;
        if (v->rep != NONE) {
            for (uint32_t i = 0; i < rank && v->moved.rank == rank; i++)
                order[i] = v->moved.order[order[i]];
            return (v->moved.rank == 0 || v->moved.rank == rank) && dims_of(d, v->rep, &n) && n == rank;
        }
        if (v->node == NONE || d->nodes[v->node].noperands != 1 ||
            !permutation_of(d->side[AFTER].g, d->nodes[v->node].op, rank, of_permute))
            return false;
        for (uint32_t i = 0; i < rank; i++)
            order[i] = of_permute[order[i]];
        value = dag_operands(d, v->node)[0];
    }
    return false;
}

/* In the layout of an operand, which most ops keep. */
static uint32_t add_in_layout(const struct dag *d, uint32_t before, uint32_t after, struct merge_candidate *out,
                              uint32_t n) {
    uint32_t rank, to_rank, order[MOVED_RANK], node = d->values[after].node;
    const int64_t *from = dims_of(d, before, &rank), *to = dims_of(d, after, &to_rank);
    for (uint32_t i = 0; from && to && rank == to_rank && rank <= MOVED_RANK && i < d->nodes[node].noperands; i++) {
        struct merge_candidate x = {.before = before, .moved = {.rank = (uint8_t)rank}};
        uint32_t v = dag_operands(d, node)[i], of_operand;
        if (v == NONE || !dims_of(d, v, &of_operand) || of_operand != rank || !find_layout(d, v, rank, order))
            continue;
        bool moves = false, fits = true;
        for (uint32_t k = 0; k < rank; k++) {
            x.moved.order[k] = (uint8_t)order[k];
            moves |= order[k] != k;
            fits &= from[order[k]] == to[k];
        }
        n = moves && fits ? add(out, n, x) : n;
    }
    return n;
}

/* ---- by location ---- */

static uint64_t name_hash(const struct graph *g, uint32_t op, int which) {
    struct str names[MAX_NAMES_OF_OP];
    int n = mlir_loc_names(g->m, op, names, MAX_NAMES_OF_OP);
    return which < n && which < MAX_NAMES_OF_OP ? str_hash(names[which]) | 1 : 0;
}

static int by_hash(const void *a, const void *b, void *hashes) {
    const uint64_t *h = hashes;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return h[x] < h[y] ? -1 : h[x] > h[y] ? 1 : x < y ? -1 : x > y;
}

static uint32_t add_named(const struct candidates *c, uint32_t after, struct merge_candidate *out, uint32_t n) {
    const struct dag *d = c->d;
    const struct dag_value *v = &d->values[after];
    for (int which = 0; which < MAX_NAMES_OF_OP; which++) {
        uint64_t hash = name_hash(d->side[AFTER].g, d->nodes[v->node].op, which);
        uint32_t lo = 0, hi = c->nnames;
        if (!hash)
            break;
        while (lo < hi) {
            uint32_t mid = lo + (hi - lo) / 2;
            if (c->hashes[c->by_name[mid]] < hash)
                lo = mid + 1;
            else
                hi = mid;
        }
        for (uint32_t i = lo; i < c->nnames && c->hashes[c->by_name[i]] == hash && i < lo + MAX_SAME_NAME; i++) {
            const struct dag_node *x = &d->nodes[c->by_name[i]];
            uint32_t before = v->result < x->nresults ? x->first_result + v->result : NONE;
            if (before != NONE && dag_numel(d, before) == dag_numel(d, after))
                n = add(out, n, (struct merge_candidate){.before = before});
        }
    }
    return n;
}

static struct str name_of(const struct dag *d, uint32_t value) {
    const struct mlir *m = dag_graph(d, value)->m;
    return mlir_span(m, m->values[d->values[value].value].name);
}

static uint32_t add_of_same_name(const struct dag *d, uint32_t after, struct merge_candidate *out, uint32_t n) {
    const struct dag_side *b = &d->side[BEFORE];
    struct str name = name_of(d, after);
    for (uint32_t node = b->first_node; node < b->end_node; node++)
        for (uint32_t i = 0; i < d->nodes[node].nresults; i++) {
            uint32_t v = d->nodes[node].first_result + i;
            if (str_eq(name_of(d, v), name) && dag_same_dims(d, v, after))
                n = add(out, n, (struct merge_candidate){.before = v});
        }
    return n;
}

/* What an op writes into a tensor: the op of BEFORE that writes into the same one, or makes of it what it writes. */
static uint32_t add_written(const struct dag *d, uint32_t after, struct merge_candidate *out, uint32_t n) {
    const struct dag_node *x = &d->nodes[d->values[after].node];
    if (mlir_result_name(d->side[AFTER].g->m, x->op).n > 0)
        return n;
    uint32_t v = d->operands[x->first_operand], before = v == NONE ? NONE : d->values[v].rep;
    for (uint32_t i = d->side[BEFORE].first_node; before != NONE && i < d->side[BEFORE].end_node; i++)
        if (d->nodes[i].nresults == 1 && d->nodes[i].noperands > 1 && dag_operands(d, i)[0] == before &&
            dag_kind(d, i) != NO_OPERATOR &&
            (d->values[d->nodes[i].first_result].value == d->values[before].value ||
             dag_kind(d, i) == dag_kind(d, d->values[after].node)))
            n = add(out, n, (struct merge_candidate){.before = d->nodes[i].first_result});
    return n;
}

/* ---- what a function on the host makes, whose body is not there ---- */

static bool is_called_alike(const struct dag *d, const struct dag_node *x, uint32_t call) {
    const struct dag_side *b = &d->side[BEFORE];
    const struct mlir *m = b->g->m, *w = d->side[AFTER].g->m;
    uint32_t callee = m->ops[call].callee, other = w->ops[x->op].callee;
    bool same = callee != NONE && other != NONE && str_eq(m->names[callee], w->names[other]) &&
                graph_noperands(b->g, call) == x->noperands;
    for (uint32_t i = 0; same && i < x->noperands; i++) {
        uint32_t v = d->operands[x->first_operand + i], y = graph_operands(b->g, call)[i];
        same = v == NONE || y == NONE ? v == y : d->values[v].rep != NONE && d->values[v].rep == b->of[y];
    }
    return same;
}

/* What the function of that name makes of the same values in BEFORE, where it may have a body. */
static uint32_t add_called(const struct dag *d, uint32_t after, struct merge_candidate *out, uint32_t n) {
    const struct dag_value *v = &d->values[after];
    const struct dag_side *b = &d->side[BEFORE];
    const struct mlir *m = b->g->m;
    for (uint32_t op = 0; op < m->nops; op++) {
        uint32_t before = v->result < m->ops[op].nresults ? b->of[m->ops[op].first_result + v->result] : NONE;
        if (before != NONE && is_called_alike(d, &d->nodes[v->node], op) && dag_numel(d, before) == dag_numel(d, after))
            n = add(out, n, (struct merge_candidate){.before = before});
    }
    return n;
}

/* ---- by signature ---- */

/* The last of the values of BEFORE that a value of AFTER is made of, as far as these are known. */
static uint32_t last_input(const struct dag *d, uint32_t after) {
    uint32_t stack[MAX_WALK], seen[MAX_WALK], n = 0, nseen = 0, last = 0;
    for (stack[n++] = d->values[after].node; n > 0;) {
        uint32_t node = stack[--n];
        if (nseen == MAX_WALK || has_id(seen, nseen, node))
            continue;
        seen[nseen++] = node;
        for (uint32_t i = 0; i < d->nodes[node].noperands; i++) {
            uint32_t v = dag_operands(d, node)[i];
            if (v == NONE)
                continue;
            if (d->values[v].rep != NONE)
                last = d->values[v].rep > last ? d->values[v].rep : last;
            else if (d->values[v].node != NONE && n < MAX_WALK)
                stack[n++] = d->values[v].node;
        }
    }
    return last;
}

/* Values of BEFORE with the signature of a value of AFTER. Of many that look alike (blocks that share weights) those
 * that follow soonest on what it is made of. */
static uint32_t find_signatures(const struct candidates *c, uint32_t after, uint32_t found[MAX_SIGNATURES]) {
    const struct dag *d = c->d;
    uint32_t first, n = 0, last = last_input(d, after), far[MAX_SIGNATURES];
    uint32_t all = signature_find(&c->align->index, &c->align->ttnn.of[d->values[after].value], UINT32_MAX, &first);
    for (uint32_t i = 0; i < all; i++) {
        uint32_t v = d->side[BEFORE].of[c->align->index.values[first + i]], k;
        if (v == NONE || dag_numel(d, v) != dag_numel(d, after))
            continue;
        uint32_t distance = v > last ? v - last : UINT32_MAX - v;
        if (n == MAX_SIGNATURES && distance >= far[n - 1])
            continue;
        for (k = n < MAX_SIGNATURES ? n++ : n - 1; k > 0 && far[k - 1] > distance; k--) {
            far[k] = far[k - 1];
            found[k] = found[k - 1];
        }
        far[k] = distance;
        found[k] = v;
    }
    return n;
}

/* ---- what is made of one ---- */

/* Of a value of that location what ops make of it next: AFTER may have these in one op. */
static uint32_t add_made_of(const struct dag *d, uint32_t before, uint32_t after, struct merge_candidate *out,
                            uint32_t n) {
    enum { STEPS = 2 };
    for (uint32_t node = d->values[before].node + 1, left = STEPS; left > 0 && node < d->side[BEFORE].end_node;
         node++) {
        uint32_t v = d->nodes[node].first_result;
        if (!has_id(dag_operands(d, node), d->nodes[node].noperands, before) || !dag_computes(d, node) ||
            d->nodes[node].nresults != 1 || dag_numel(d, v) != dag_numel(d, before))
            continue;
        n = may_reshape(d, v, after) ? add(out, n, (struct merge_candidate){.before = v})
                                     : add_permuted(d, v, after, out, n);
        before = v;
        left--;
    }
    return n;
}

/* ---- a part ---- */

/* A part of what one op makes may be what several ops of BEFORE make of the same: the next ones that are nothing yet.
 */
static uint32_t add_parts(const struct dag *d, uint32_t after, struct merge_candidate *out, uint32_t n) {
    enum { PARTS = 6, REACH = 32 };
    uint32_t whole = d->values[after].node == NONE || dag_class(d, d->values[after].node) != OP_SLICE
                         ? NONE
                         : dag_operands(d, d->values[after].node)[0];
    uint32_t last = whole == NONE || d->values[whole].rep != NONE ? NONE : last_input(d, after), parts = 0;
    uint32_t begin = d->side[BEFORE].first_node,
             at = last == NONE || d->values[last].node == NONE ? 0 : d->values[last].node;
    for (uint32_t i = at > begin + REACH ? at - REACH : begin;
         last != NONE && i < d->side[BEFORE].end_node && i <= at + REACH && parts < PARTS; i++) {
        uint32_t v = d->nodes[i].first_result;
        if (!dag_computes(d, i) || d->values[v].merged != NOT_MERGED || dag_numel(d, v) != dag_numel(d, after))
            continue;
        parts++;
        n = may_reshape(d, v, after) ? add(out, n, (struct merge_candidate){.before = v}) : n;
    }
    return n;
}

/* ---- by what they are made of ---- */

/* What a value is, or is of BEFORE, before it was moved; NONE: of AFTER, and of no value that is known. */
static uint32_t base_of(const struct dag *d, uint32_t value) {
    for (uint32_t left = MAX_WALK; left > 0 && value != NONE; left--) {
        const struct dag_value *v = &d->values[value];
        if (v->side == AFTER && v->rep != NONE)
            value = v->rep;
        else if (v->node != NONE && class_moves(dag_class(d, v->node)) && d->nodes[v->node].noperands > 0)
            value = dag_operands(d, v->node)[0];
        else
            return v->side == BEFORE ? value : NONE;
    }
    return NONE;
}

static uint32_t count_shared(const struct dag *d, uint32_t node, const uint32_t *bases, uint32_t n) {
    uint32_t shared = 0;
    for (uint32_t i = 0; i < d->nodes[node].noperands; i++) {
        uint32_t base = dag_operands(d, node)[i] == NONE ? NONE : base_of(d, dag_operands(d, node)[i]);
        shared += base != NONE && has_id(bases, n, base);
    }
    return shared;
}

/* Values of BEFORE that are made of the same ones, at least in part, and that nothing is known to be: where an op does
 * something else, that is what it should make. */
static uint32_t add_of_same_operands(const struct dag *d, uint32_t after, struct merge_candidate *out) {
    const struct dag_node *x = &d->nodes[d->values[after].node];
    const struct dag_side *b = &d->side[BEFORE];
    uint32_t bases[MAX_WALK], nbases = 0, best[MAX_BESIDE], shared[MAX_BESIDE], found = 0, n = 0;
    for (uint32_t i = 0; i < x->noperands && nbases < MAX_WALK; i++) {
        uint32_t base =
            d->operands[x->first_operand + i] == NONE ? NONE : base_of(d, d->operands[x->first_operand + i]);
        if (base != NONE && !dag_is_constant(d, base))
            bases[nbases++] = base;
    }
    for (uint32_t node = b->first_node; nbases > 0 && node < b->end_node; node++) {
        const struct dag_node *y = &d->nodes[node];
        uint32_t v = d->values[after].result < y->nresults ? y->first_result + d->values[after].result : NONE, k;
        if (v == NONE || d->values[v].merged != NOT_MERGED || !dag_computes(d, node) ||
            dag_numel(d, v) != dag_numel(d, after))
            continue;
        uint32_t now = 2 * count_shared(d, node, bases, nbases);
        now += now && dag_kind(d, node) == dag_kind(d, d->values[after].node);
        if (now == 0 || (found == MAX_BESIDE && now <= shared[found - 1]))
            continue;
        for (k = found < MAX_BESIDE ? found++ : found - 1; k > 0 && shared[k - 1] < now; k--) {
            shared[k] = shared[k - 1];
            best[k] = best[k - 1];
        }
        shared[k] = now;
        best[k] = v;
    }
    for (uint32_t i = 0; i < found; i++)
        n = may_reshape(d, best[i], after) ? add(out, n, (struct merge_candidate){.before = best[i]})
                                           : add_permuted(d, best[i], after, out, n);
    return n;
}

/* ---- all ---- */

void candidates_begin(struct candidates *c, const struct dag *d, const struct alignment *align, bool same_names) {
    const struct dag_side *b = &d->side[BEFORE];
    *c = (struct candidates){.d = d, .align = align, .same_names = same_names};
    c->by_name = xrealloc(NULL, (b->end_node + (size_t)1) * sizeof *c->by_name);
    c->hashes = xcalloc(b->end_node + (size_t)1, sizeof *c->hashes);
    for (uint32_t i = b->first_node; i < b->end_node; i++)
        if (dag_computes(d, i) && (c->hashes[i] = name_hash(b->g, d->nodes[i].op, 0)))
            c->by_name[c->nnames++] = i;
    qsort_r(c->by_name, c->nnames, sizeof *c->by_name, by_hash, c->hashes);
}

void candidates_free(struct candidates *c) {
    free(c->by_name);
    free(c->hashes);
}

uint32_t candidates_of(const struct candidates *c, uint32_t after, struct merge_candidate out[MAX_CANDIDATES]) {
    const struct dag *d = c->d;
    struct merge_candidate named[MAX_CANDIDATES];
    uint32_t found[MAX_SIGNATURES], nfound = find_signatures(c, after, found), nnamed = add_named(c, after, named, 0);
    uint32_t n = add_written(d, after, out, 0);
    if (c->same_names)
        n = add_of_same_name(d, after, out, n);
    if (dag_class(d, d->values[after].node) == OP_CALL)
        n = add_called(d, after, out, n);
    for (uint32_t i = 0; i < nfound; i++)
        n = add_in_layout(d, found[i], after, out, n);
    for (uint32_t i = 0; i < nnamed; i++) /* of several that look alike the one of that location */
        if (has_id(found, nfound, named[i].before) && dag_same_dims(d, named[i].before, after))
            n = add(out, n, named[i]);
    for (uint32_t i = 0; i < nfound; i++)
        if (dag_same_dims(d, found[i], after))
            n = add(out, n, (struct merge_candidate){.before = found[i]});
    for (uint32_t i = 0; i < nfound; i++)
        if (may_reshape(d, found[i], after))
            n = add(out, n, (struct merge_candidate){.before = found[i]});
    for (uint32_t i = 0; i < nnamed; i++)
        if (may_reshape(d, named[i].before, after))
            n = add(out, n, named[i]);
    for (uint32_t i = 0; i < nfound; i++)
        n = add_permuted(d, found[i], after, out, n);
    for (uint32_t i = 0; nfound == 0 && i < nnamed; i++)
        n = add_permuted(d, named[i].before, after, out, n);
    for (uint32_t i = 0; nfound == 0 && i < nnamed; i++)
        n = add_made_of(d, named[i].before, after, out, n);
    n = add_parts(d, after, out, n);
    return n ? n : add_of_same_operands(d, after, out);
}
