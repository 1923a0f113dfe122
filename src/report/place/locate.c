/* Names near a match, the best ones first: parameters that its pattern lists under `locate`; module paths in its source
 * locations; weights that feed what the pattern lists; parameters that its ops use; weights that feed its operands;
 * weights that its result feeds. The first kind that yields names is used; names of weights that are only near count if
 * they are all of one layer. The role comes from role.c. */
#include "report/place/locate.h"
#include "report/place/names.h"
#include "report/place/role.h"
#include "report/place/segment.h"

#include <string.h>

enum { MAX_LOC_NAMES = 8 };

/* Names of all arguments that a parameter is computed from, also through calls of const-eval functions. */
static void parameter_names(const struct graph *g, uint32_t value, struct names *names) {
    struct value_list w = {.n = 0};
    value_list_add(&w, value);
    for (uint32_t i = 0; i < w.n; i++) {
        uint32_t v = w.items[i], func, number;
        uint32_t caller = graph_caller_value(g, v), callee = graph_callee_value(g, v);
        uint32_t op = g->m->values[v].def;
        if (caller == NONE && op == NONE && graph_argument_of(g, v, &func, &number))
            names_add(names, graph_argument_name(g, v));
        value_list_add(&w, caller);
        value_list_add(&w, callee);
        for (uint32_t k = 0; op != NONE && callee == NONE && k < graph_noperands(g, op) && !value_list_is_full(&w); k++)
            value_list_add(&w, graph_operands(g, op)[k]);
    }
}

/* A parameter, or an argument with a name of which nothing says that it is none. */
static bool is_named(const struct graph *g, uint32_t v) {
    if (v == NONE || graph_constant(g, v).known)
        return false;
    uint32_t argument = graph_is_parameter(g, v) ? NONE : graph_argument(g, v);
    return graph_is_parameter(g, v) ||
           (argument != NONE && !graph_argument_is_input(g, argument) && graph_argument_name(g, argument).n > 0);
}

static bool has_weights(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    return c == OP_CONTRACT || op_operand_of_role((enum op_kind)g->kind[op], STR("weight")) != NONE;
}

bool operand_names(const struct graph *g, uint32_t op, struct names *names) {
    bool any = false;
    for (uint32_t k = 0; k < graph_noperands(g, op); k++) {
        uint32_t v = graph_operands(g, op)[k];
        if (is_named(g, v)) {
            any = true;
            parameter_names(g, v, names);
        }
    }
    return any;
}

/* Adds the names of the weights of an op. False: it has none. */
static bool weight_names(const struct graph *g, uint32_t op, struct names *names) {
    return has_weights(g, op) && operand_names(g, op, names);
}

/* Names of the nearest weights towards the definitions of some values, or towards their uses: from landmark to
 * landmark. A residual add ends the search, since another layer may begin there; ahead, a matrix product without
 * weights does. */
static void near_weights(const struct flow *f, struct value_list *values, bool ahead, struct names *names) {
    const struct graph *g = f->g;
    for (uint32_t i = 0; i < values->n; i++) {
        const struct flow_links *links = ahead ? flow_to(f, values->items[i]) : flow_from(f, values->items[i]);
        for (uint32_t k = 0; k < links->n; k++) {
            const struct flow_link *l = &links->items[ahead ? links->n - 1 - k : k]; /* in textual order */
            uint32_t op = ahead ? l->at : flow_def(f, l->at);
            if (op == NONE || l->kind == LINK_RESIDUAL || weight_names(g, op, names) ||
                graph_class(g, op) == (ahead ? OP_CONTRACT : OP_CALL))
                continue;
            for (uint32_t n = 0; ahead && n < g->m->ops[op].nresults; n++)
                value_list_add(values, g->m->ops[op].first_result + n);
            for (uint32_t n = 0; !ahead && n < graph_noperands(g, op) && !value_list_is_full(values); n++)
                value_list_add(values, graph_operands(g, op)[n]);
        }
    }
}

/* ---- names of a match ---- */

struct whereabouts {
    const struct name_reader *reader;
    const struct flow *flow;
    const struct match *m;
    const struct binding *slots; /* of the formula; NULL: not bound */
    struct names names;
    const char *near; /* "fed by " or "before " for names of weights nearby; "" for names of the match itself */
};

static void own_slots(struct whereabouts *p) {
    for (uint32_t i = 0; p->slots && i < p->m->pattern->nlocate; i++) {
        uint32_t v = p->slots[p->m->pattern->locate[i]].value;
        if (is_named(p->flow->g, v))
            parameter_names(p->flow->g, v, &p->names);
    }
}

static void own_operands(struct whereabouts *p) {
    for (uint32_t i = 0; i < p->m->nops; i++)
        operand_names(p->flow->g, p->m->ops[i], &p->names);
}

static void own_locations(struct whereabouts *p) {
    struct str found[MAX_LOC_NAMES];
    for (uint32_t i = 0; i < p->m->nops; i++) {
        int n = mlir_loc_names(p->flow->g->m, p->m->ops[i], found, MAX_LOC_NAMES);
        for (int k = 0; k < n && k < MAX_LOC_NAMES; k++) {
            struct names one = {{found[k]}, 1};
            names_strip(p->reader, &one);
            if (one.n == 0 || !name_is_module(p->reader, one.items[0]))
                continue;
            names_add(&p->names, one.items[0]);
            break;
        }
    }
}

static void behind_slots(struct whereabouts *p) {
    struct value_list w = {.n = 0};
    for (uint32_t i = 0; p->slots && i < p->m->pattern->nlocate; i++)
        value_list_add(&w, p->slots[p->m->pattern->locate[i]].value);
    near_weights(p->flow, &w, false, &p->names);
}

static void behind_operands(struct whereabouts *p) {
    const struct graph *g = p->flow->g;
    struct segment s = matched_ops(p->m, p->reader->arena);
    struct value_list w = {.n = 0};
    for (uint32_t i = 0; i < p->m->nops; i++)
        for (uint32_t k = 0; k < graph_noperands(g, p->m->ops[i]); k++) {
            uint32_t v = graph_operands(g, p->m->ops[i])[k];
            if (v != NONE && find_id(s.ops, s.nops, g->m->values[v].def) == NONE)
                value_list_add(&w, v);
        }
    near_weights(p->flow, &w, false, &p->names);
}

static void ahead(struct whereabouts *p) {
    const struct mlir_op *root = &p->flow->g->m->ops[p->m->root];
    struct value_list w = {.n = 0};
    value_list_add(&w, root->nresults ? root->first_result : NONE);
    near_weights(p->flow, &w, true, &p->names);
}

static const struct way {
    void (*find)(struct whereabouts *);
    const char *near;
    bool unless_ahead; /* not where role.look is LOOK_AHEAD */
} ways[] = {
    {own_slots, "", false},    {own_locations, "", false},         {behind_slots, "fed by ", false},
    {own_operands, "", false}, {behind_operands, "fed by ", true}, {ahead, "before ", false},
};

/* The first way that finds names. Once names nearby were of several layers, no other names nearby are tried. */
static struct str find_names(struct whereabouts *p, enum look look) {
    bool near_differs = false;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        bool near = *ways[i].near != '\0', differ;
        if (near && (near_differs || (ways[i].unless_ahead && look == LOOK_AHEAD)))
            continue;
        p->names.n = 0;
        p->near = ways[i].near;
        ways[i].find(p);
        names_strip(p->reader, &p->names);
        if (near)
            names_keep_saying(p->reader, &p->names);
        struct str says = names_agree(p->reader, &p->names, &differ);
        near_differs |= near && differ;
        if (p->names.n && !(near && differ))
            return says;
    }
    p->names.n = 0;
    return STR("");
}

static bool contradicted(const struct role *role, const struct names *names) {
    for (uint32_t i = 0; i < names->n; i++)
        if (role_contradicts(role, names->items[i]))
            return true;
    return false;
}

static void write_place(struct buf *out, const struct whereabouts *p, struct str role, struct str says) {
    buf_add(out, role);
    if (role.n && says.n)
        buf_add(out, STR(", "));
    buf_add(out, says);
    bool inside = out->n > 0;
    if (p->names.n == 0)
        return;
    if (inside)
        buf_add(out, STR(" ("));
    buf_add(out, str_of(p->near));
    names_write(out, &p->names, inside);
    if (inside)
        buf_addc(out, ')');
}

struct str locate_match(const struct pattern_set *set, const struct flow *flow, const struct match *m,
                        const struct match_detail *detail, struct str_list *names, struct arena *a) {
    struct name_reader reader;
    struct buf out = {0};
    name_reader_begin(&reader, set, flow->known, a);
    struct whereabouts p = {.reader = &reader, .flow = flow, .m = m, .slots = detail->slots, .near = ""};
    struct role role = role_of(flow, m, a);
    struct str says = find_names(&p, role.look);
    struct str *copy = arena_alloc(a, (p.names.n + (size_t)1) * sizeof *copy);
    for (uint32_t i = 0; i < p.names.n; i++)
        copy[i] = arena_str(a, p.names.items[i]);
    *names = (struct str_list){copy, p.names.n};
    write_place(&out, &p, contradicted(&role, &p.names) ? STR("") : role.text, says);
    struct str text = arena_str(a, buf_str(&out));
    name_reader_end(&reader);
    buf_free(&out);
    return text;
}
