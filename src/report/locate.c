/* Parameter names near a match: those of the values that its pattern lists under `locate`, or of the
 * weights of the op that made such a value. Names are shortened by the rules of patterns/locations.yml
 * and never completed. */
#include "report/locate.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FOUND = 12, MAX_VISITED = 160, MATCH_LIMIT = 10000, MAX_PAIRS = 8 };

struct finder {
    const struct graph *g;
    struct str names[MAX_FOUND];
    uint32_t n;
    uint32_t visited[MAX_VISITED];
    uint32_t nvisited;
};

static bool visit(struct finder *f, uint32_t v) {
    for (uint32_t i = 0; i < f->nvisited; i++)
        if (f->visited[i] == v)
            return false;
    if (f->nvisited == MAX_VISITED)
        return false;
    f->visited[f->nvisited++] = v;
    return true;
}

static void add_name(struct finder *f, struct str name) {
    for (uint32_t i = 0; i < f->n; i++)
        if (str_eq(f->names[i], name))
            return;
    if (name.n && f->n < MAX_FOUND)
        f->names[f->n++] = name;
}

/* Names of all arguments that a parameter is made of. The list of its own grows while it is walked. */
static void parameter_names(struct finder *names, uint32_t value) {
    const struct graph *g = names->g;
    struct finder walk = {.g = g}, *f = &walk;
    visit(f, value);
    for (uint32_t i = 0; i < f->nvisited; i++) {
        uint32_t v = f->visited[i], func, number;
        uint32_t caller = graph_caller_value(g, v), callee = graph_callee_value(g, v);
        uint32_t op = g->m->values[v].def;
        if (caller != NONE)
            visit(f, caller);
        else if (op == NONE && graph_argument_of(g, v, &func, &number))
            add_name(names, graph_argument_name(g, v));
        if (callee != NONE)
            visit(f, callee);
        for (uint32_t k = 0; op != NONE && callee == NONE && k < graph_noperands(g, op); k++)
            if (graph_operands(g, op)[k] != NONE)
                visit(f, graph_operands(g, op)[k]);
    }
}

static bool has_weights(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    return c == OP_CONTRACT || c == OP_AXISWISE || g->kind[op] == K_CONV2D;
}

/* Weights of the nearest op that has some, breadth first towards the inputs. */
static void nearest_weights(struct finder *f, uint32_t value) {
    const struct graph *g = f->g;
    uint32_t queue[MAX_VISITED], head = 0, tail = 0;
    queue[tail++] = value;
    while (head < tail && f->n == 0) {
        uint32_t op = g->m->values[queue[head++]].def;
        if (op == NONE || graph_class(g, op) == OP_CALL)
            continue;
        for (uint32_t k = 0; k < graph_noperands(g, op); k++) {
            uint32_t v = graph_operands(g, op)[k];
            if (v == NONE)
                continue;
            if (has_weights(g, op) && graph_is_parameter(g, v) && !graph_constant(g, v).known)
                parameter_names(f, v);
            else if (tail < MAX_VISITED && visit(f, v))
                queue[tail++] = v;
        }
    }
}

/* Pairs of offsets that a match has set: the whole, then its groups; the rest is left from earlier matches. 0: no
 * match. */
static int regex_match(const struct location_rule *r, struct str s, pcre2_match_data *data,
                       pcre2_match_context *limits) {
    int pairs = pcre2_match(r->regex, (PCRE2_SPTR)s.p, s.n, 0, 0, data, limits);
    return pairs < 0 ? 0 : pairs == 0 ? MAX_PAIRS : pairs;
}

static struct str stripped(const struct pattern_set *set, struct str name, struct arena *a, pcre2_match_data *data,
                           pcre2_match_context *limits) {
    for (uint32_t i = 0; i < set->nlocations; i++) {
        const struct location_rule *r = &set->locations[i];
        if (!r->strip || !regex_match(r, name, data, limits))
            continue;
        const PCRE2_SIZE *at = pcre2_get_ovector_pointer(data);
        name = arena_printf(a, "%.*s%.*s", (int)at[0], name.p, (int)(name.n - at[1]), name.p + at[1]);
    }
    return name;
}

/* Longest common prefix that ends at a separator. */
static size_t common_prefix(const struct str *names, uint32_t n) {
    size_t len = names[0].n, cut = 0;
    for (uint32_t i = 1; i < n; i++) {
        size_t k = 0;
        while (k < len && k < names[i].n && names[i].p[k] == names[0].p[k])
            k++;
        len = k;
    }
    for (size_t k = 0; k < len; k++)
        if (names[0].p[k] == '.' || names[0].p[k] == '_')
            cut = k + 1;
    return cut;
}

static void say_path(struct buf *out, struct str *names, uint32_t n) {
    if (n == 1) {
        buf_add(out, names[0]);
        return;
    }
    size_t cut = common_prefix(names, n);
    if (cut > 1) {
        buf_add(out, (struct str){names[0].p, cut - 1});
        buf_add(out, STR(" ("));
    }
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_add(out, STR(", "));
        buf_add(out, (struct str){names[i].p + cut, names[i].n - cut});
    }
    if (cut > 1)
        buf_addc(out, ')');
}

/* What the rules read in the first name, for example its layer. */
static void say_rules(struct buf *out, const struct pattern_set *set, struct str name, pcre2_match_data *data,
                      pcre2_match_context *limits) {
    for (uint32_t i = 0; i < set->nlocations; i++) {
        const struct location_rule *r = &set->locations[i];
        int pairs = r->strip ? 0 : regex_match(r, name, data, limits);
        if (pairs == 0)
            continue;
        const PCRE2_SIZE *at = pcre2_get_ovector_pointer(data);
        bool group = pairs > 1 && at[2] != PCRE2_UNSET;
        for (size_t k = 0; k < r->say.n; k++) {
            if (r->say.p[k] == '$' && k + 1 < r->say.n && r->say.p[k + 1] == '1' && group) {
                buf_add(out, (struct str){name.p + at[2], at[3] - at[2]});
                k++;
            } else {
                buf_addc(out, r->say.p[k]);
            }
        }
        buf_add(out, STR(", "));
    }
}

struct str locate_match(const struct pattern_set *set, const struct match *m, const struct match_detail *detail,
                        struct arena *a) {
    struct finder f = {.g = m->graph};
    for (uint32_t i = 0; i < m->pattern->nlocate; i++) {
        uint32_t v = detail->values[m->pattern->locate[i]];
        if (v == NONE || graph_constant(m->graph, v).known)
            continue;
        struct finder one = {.g = m->graph};
        if (graph_is_parameter(m->graph, v))
            parameter_names(&one, v);
        else
            nearest_weights(&one, v);
        for (uint32_t k = 0; k < one.n; k++)
            add_name(&f, one.names[k]);
    }
    if (f.n == 0)
        return STR("");
    pcre2_match_data *data = pcre2_match_data_create(MAX_PAIRS, NULL);
    pcre2_match_context *limits = pcre2_match_context_create(NULL);
    struct finder short_names = {0};
    struct buf out = {0};
    if (data && limits) {
        pcre2_set_match_limit(limits, MATCH_LIMIT);
        pcre2_set_depth_limit(limits, MATCH_LIMIT);
        for (uint32_t i = 0; i < f.n; i++)
            add_name(&short_names, stripped(set, f.names[i], a, data, limits));
        if (short_names.n) {
            say_rules(&out, set, short_names.names[0], data, limits);
            say_path(&out, short_names.names, short_names.n);
        }
    }
    pcre2_match_data_free(data);
    pcre2_match_context_free(limits);
    struct str text = arena_str(a, buf_str(&out));
    buf_free(&out);
    return text;
}
