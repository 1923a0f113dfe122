/* Makes a module of each example and searches it for the pattern alone.
 *
 * A snippet becomes the body of a function: names that it does not define are its arguments, results that it does not
 * use are returned. Their types stand in the snippet, so it is parsed once to find them and once more as a whole. */
#include "authoring/examples.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/graph/graph.h"
#include "ir/mlir/mlir.h"
#include "report/explain/near_miss.h"
#include "search/match/match.h"

struct example_run {
    const struct pattern_set *set;
    const struct pattern *pattern;
    const struct example *example;
    struct diags *diags;
    struct arena arena; /* of this example */
    const struct example_judge *judge;
    struct example_counts *counts;
    bool failed;
};

struct module {
    struct source source;
    struct log_block block;
    struct mlir ir;
    struct graph graph;
    struct diags diags;
};

__attribute__((format(printf, 3, 4))) static void fail(struct example_run *r, const char *hint, const char *format,
                                                       ...) {
    char message[512];
    const struct example *e = r->example;
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const char *level = e->one_of_two ? e->one_of_two : "";
    diag_add(r->diags, SEV_ERROR, (struct source_location){e->origin.file->path, e->line, 0}, hint,
             "%.*s: %s%s%.*s%s%s%s: %s", (int)r->pattern->name.n, r->pattern->name.p, e->hit ? "hit" : "miss",
             e->name.n || *level ? " (" : "", (int)e->name.n, e->name.n ? e->name.p : "",
             e->name.n && *level ? ", " : "", level, e->name.n || *level ? ")" : "", message);
    r->failed = true;
}

static void module_read(struct module *m, struct example_run *r, struct str text) {
    memset(m, 0, sizeof *m);
    m->diags.arena = &r->arena;
    m->source = (struct source){.path = r->pattern->file->path, .data = text.p, .size = text.n};
    m->block = (struct log_block){.text = text, .complete = true};
    mlir_parse(&m->ir, &m->source, &m->block, &m->diags);
    graph_build(&m->graph, &m->ir, &m->diags);
}

static void module_free(struct module *m) {
    graph_free(&m->graph);
    mlir_free(&m->ir);
    diags_free(&m->diags);
}

/* Diagnostics of the parser as errors at their position in the pattern file; `before`: lines put before the snippet. */
static void report_parsing(struct example_run *r, const struct module *m, uint64_t before) {
    const struct text_origin *o = &r->example->origin;
    for (uint32_t i = 0; i < m->diags.n; i++) {
        const struct diag *d = &m->diags.items[i];
        uint64_t line = d->line > before ? o->line + d->line - before - 1 : r->example->line;
        uint32_t column = d->line > before && d->column ? d->column + o->column - 1 : 0;
        diag_add(r->diags, SEV_ERROR, (struct source_location){o->file->path, line, column}, d->hint, "%s", d->message);
        r->failed = true;
    }
}

/* ---- from a snippet to a function ---- */

static const struct example_arg *argument_named(const struct example *e, struct str name) {
    for (uint32_t i = 0; i < e->nargs; i++)
        if (str_eq(e->args[i].name, name))
            return &e->args[i];
    return NULL;
}

static void add_argument(struct example_run *r, const struct module *m, uint32_t value, bool first, struct buf *out) {
    const struct mlir_value *v = &m->ir.values[value];
    struct str name = mlir_span(&m->ir, v->name), type = m->ir.types[v->type].text;
    const struct example_arg *arg = argument_named(r->example, (struct str){name.p + 1, name.n - 1});
    struct str kind = arg ? arg->type : STR("input");
    if (!type.n)
        fail(r, "its type has to stand at its use", "%.*s is nowhere defined", (int)name.n, name.p);
    buf_printf(out, "%s%.*s: %.*s {", first ? "" : ", ", (int)name.n, name.p, (int)type.n, type.p ? type.p : "");
    bool typed = !str_is(kind, "unknown");
    if (typed)
        buf_printf(out, "ttcore.argument_type = #ttcore.argument_type<%.*s>", (int)kind.n, kind.p);
    if (arg && arg->model_name.n)
        buf_printf(out, "%sttir.name = \"%.*s\"", typed ? ", " : "", (int)arg->model_name.n, arg->model_name.p);
    buf_addc(out, '}');
}

/* Values that the snippet does not define, each once, in the order of their first use. */
static void add_arguments(struct example_run *r, const struct module *m, struct buf *out) {
    uint32_t n = 0;
    for (uint32_t v = 0; v < m->ir.nvalues; v++)
        if (m->ir.values[v].def == NONE && m->ir.values[v].index == 0)
            add_argument(r, m, v, n++ == 0, out);
}

static void add_types(const struct module *m, const uint32_t *values, uint32_t n, struct buf *out) {
    for (uint32_t i = 0; i < n; i++) {
        struct str type = m->ir.types[m->ir.values[values[i]].type].text;
        buf_printf(out, "%s%.*s", i ? ", " : "", (int)type.n, type.p ? type.p : "");
    }
}

/* The types of the results of a snippet with a `return`. */
static bool has_return(const struct module *m, struct buf *types) {
    for (uint32_t op = 0; op < m->ir.nops; op++)
        if (graph_class(&m->graph, op) == OP_RETURN) {
            add_types(m, &m->ir.operands[m->ir.ops[op].first_operand], m->ir.ops[op].noperands, types);
            return true;
        }
    return false;
}

/* "return %1, %5#1 : type, type" of what no op uses. */
static void add_return(const struct module *m, struct buf *out, struct buf *types) {
    for (uint32_t v = 0; v < m->ir.nvalues; v++) {
        const struct mlir_value *value = &m->ir.values[v];
        struct str name = mlir_span(&m->ir, value->name);
        if (value->def == NONE || graph_nuses(&m->graph, v) || !name.n)
            continue;
        const struct mlir_op *op = &m->ir.ops[value->def];
        bool one_of_several = v != op->first_result && value->name.begin == m->ir.values[v - 1].name.begin;
        one_of_several |=
            v + 1 < op->first_result + op->nresults && value->name.begin == m->ir.values[v + 1].name.begin;
        buf_printf(out, "%s%.*s", types->n ? ", " : "return ", (int)name.n, name.p);
        if (one_of_several)
            buf_printf(out, "#%u", value->index);
        buf_add(types, types->n ? STR(", ") : STR(""));
        add_types(m, &v, 1, types);
    }
    buf_printf(out, "%s%.*s\n", types->n ? " : " : "return", (int)types->n, types->n ? types->p : "");
}

static bool is_whole(struct str text) {
    return str_find(text, STR("func.func")) != NULL;
}

static void wrap(struct buf *out, struct str arguments, struct str results, struct str body, struct str end) {
    buf_printf(out, "func.func @example(%.*s) -> (%.*s) {\n", (int)arguments.n, arguments.p ? arguments.p : "",
               (int)results.n, results.p ? results.p : "");
    buf_add(out, body);
    buf_addc(out, '\n');
    buf_add(out, end);
    buf_add(out, STR("}\n"));
}

/* The text of the module; empty with errors. */
static struct str module_text(struct example_run *r) {
    struct buf arguments = {0}, types = {0}, end = {0}, out = {0};
    struct module m;
    if (is_whole(r->example->text))
        return r->example->text;
    module_read(&m, r, r->example->text); /* a fragment: what it uses and does not define are its arguments */
    report_parsing(r, &m, 0);
    add_arguments(r, &m, &arguments);
    if (!has_return(&m, &types))
        add_return(&m, &end, &types);
    wrap(&out, buf_str(&arguments), buf_str(&types), r->example->text, buf_str(&end));
    struct str text = arena_str(&r->arena, r->failed ? STR("") : buf_str(&out));
    module_free(&m);
    buf_free(&arguments);
    buf_free(&types);
    buf_free(&end);
    buf_free(&out);
    return text;
}

/* ---- what is found in it ---- */

static void check_module(struct example_run *r, const struct module *m) {
    report_parsing(r, m, !is_whole(r->example->text));
    for (uint32_t v = 0; v < m->ir.nvalues && m->ir.undefined_values && !r->failed; v++) {
        struct str name = mlir_span(&m->ir, m->ir.values[v].name);
        bool argument = false;
        for (uint32_t f = 0; f < m->ir.nfuncs; f++)
            argument |= v - m->ir.funcs[f].first_arg < m->ir.funcs[f].nargs;
        if (m->ir.values[v].def == NONE && !argument)
            fail(r, NULL, "%.*s is nowhere defined", (int)name.n, name.p);
    }
    for (uint32_t i = 0; i < r->example->nargs && !r->failed; i++) {
        struct str want =
            arena_printf(&r->arena, "%%%.*s", (int)r->example->args[i].name.n, r->example->args[i].name.p);
        bool found = false;
        for (uint32_t v = 0; v < m->ir.nvalues; v++)
            found |= m->ir.values[v].def == NONE && str_eq(mlir_span(&m->ir, m->ir.values[v].name), want);
        if (!found)
            fail(r, NULL, "`args` speaks of %s, which is no argument here", want.p);
    }
    if (!r->failed && m->ir.nfuncs == 0)
        fail(r, NULL, "there are no ops in it");
}

/* Name of the first op that is not in the operator table, or empty: no formula can match it. */
static struct str unknown_op(const struct module *m) {
    for (uint32_t op = 0; op < m->ir.nops; op++) {
        struct str name = mlir_op_name(&m->ir, op);
        if (m->graph.kind[op] == NO_OPERATOR && (str_starts(name, STR("ttir.")) || str_starts(name, STR("ttnn."))))
            return name;
    }
    return STR("");
}

static const struct pattern *leader_of(const struct pattern *p) {
    return p->is_variant ? p->variant_of : p;
}

/* The pattern as the set has it, which may be changed. */
static struct pattern *in_set(const struct pattern_set *set, const struct pattern *p) {
    for (uint32_t i = 0; i < set->n; i++)
        if (set->items[i] == p)
            return set->items[i];
    return NULL;
}

static void search(struct example_run *r, const struct module *m, struct match_list *found) {
    struct pattern *leader = in_set(r->set, leader_of(r->pattern)), *own = in_set(r->set, r->pattern);
    if (!leader || !own)
        return;
    struct pattern_set alone = {.max_steps = r->set->max_steps, .items = &leader, .n = 1};
    own->show_blocked = r->example->hit; /* a match that `block` hides is a hit too */
    patterns_index(&alone);
    for (uint32_t f = 0; f < m->ir.nfuncs; f++)
        if (m->graph.func_kind[f] == FUNC_MAIN)
            match_function(&alone, &m->graph, f, &r->arena, found);
    arena_free(&alone.arena);
}

/* The largest match of the pattern itself, which an audit would keep; else one that shares its formula; or NULL. */
static const struct match *own_match(const struct example_run *r, const struct match_list *found) {
    const struct match *own = NULL;
    for (uint32_t i = 0; i < found->n; i++)
        if (found->items[i].pattern == r->pattern && (!own || found->items[i].nops > own->nops))
            own = &found->items[i];
    return own || !found->n ? own : &found->items[0];
}

/* What `explain` says of the pattern in a function, or empty. */
static struct str explanation(struct example_run *r, const struct module *m, uint32_t func) {
    struct near_miss near;
    if (m->graph.func_kind[func] != FUNC_MAIN ||
        !near_miss_of(leader_of(r->pattern), r->pattern, &m->graph, func, r->set->max_steps, &r->arena, &near))
        return STR("");
    return arena_printf(&r->arena, "%.*s%s%.*s", (int)near.part.n, near.part.p, near.part.n ? ": " : "",
                        (int)near.reason.n, near.reason.p);
}

static void fail_to_match(struct example_run *r, const struct module *m, const char *hint) {
    struct str said = STR("");
    for (uint32_t f = 0; f < m->ir.nfuncs && !said.n; f++)
        said = explanation(r, m, f);
    fail(r, hint, "the pattern does not match%s%s", said.n ? ": " : "", said.n ? said.p : "");
}

static void check_found(struct example_run *r, const struct module *m, const struct match_list *found) {
    const struct match *own = own_match(r, found);
    bool hit = own && own->pattern == r->pattern;
    struct str unknown = unknown_op(m);
    const char *hint =
        unknown.n ? arena_printf(&r->arena, "no op is known that is called %.*s", (int)unknown.n, unknown.p).p : NULL;
    if (found->gave_up) {
        fail(r, NULL, "the search was given up");
    } else if (r->example->hit && own && !hit) {
        fail(r, NULL, "matched by %.*s instead", (int)own->pattern->name.n, own->pattern->name.p);
    } else if (r->example->hit && !hit) {
        fail_to_match(r, m, hint);
    } else if (!r->example->hit && hit) {
        uint32_t root = own->root;
        struct str op = mlir_op_name(&m->ir, root);
        struct str result = mlir_span(&m->ir, m->ir.values[m->ir.ops[root].first_result].name);
        fail(r, NULL, "the pattern matches, at %.*s (%.*s)", (int)result.n, result.p, (int)op.n, op.p);
    } else if (!r->example->hit && hint) {
        fail(r, NULL, "%s", hint); /* a miss of such an example would prove nothing */
    }
}

static bool is_word(char c) {
    return c == '_' || isalnum((unsigned char)c);
}

/* Whole words of `text`; no words are in any. */
static bool has_words(struct str text, struct str words) {
    const char *begin = text.p, *end = text.p + text.n;
    if (!words.n)
        return true;
    for (const char *at; (at = str_find(text, words)); text = (struct str){at + 1, (size_t)(end - at) - 1})
        if ((at == begin || !is_word(at[-1]) || !is_word(*at)) &&
            (at + words.n == end || !is_word(at[words.n]) || !is_word(at[words.n - 1])))
            return true;
    return false;
}

/* `explains`: what `explain` says of the miss has to contain it. */
static void check_explanation(struct example_run *r, const struct module *m) {
    struct str want = r->example->explains, said = STR("");
    bool suggest = !r->example->hit && r->judge && r->judge->suggest;
    bool found = !want.n;
    for (uint32_t f = 0; f < m->ir.nfuncs && (!found || suggest); f++) {
        struct str here = explanation(r, m, f);
        found |= has_words(here, want);
        said = here.n ? here : said;
    }
    if (suggest && said.n)
        diag_add(r->diags, SEV_NOTE, (struct source_location){r->example->origin.file->path, r->example->line, 0}, NULL,
                 "%.*s: miss: explains: %.*s", (int)r->pattern->name.n, r->pattern->name.p, (int)said.n, said.p);
    if (!found)
        fail(r, NULL, "explain says: %s; and not: %.*s", said.n ? said.p : "nothing", (int)want.n, want.p);
}

static void add_lines(struct buf *out, struct str_list lines) {
    for (uint32_t i = 0; i < lines.n; i++) {
        buf_add(out, str_trim(lines.items[i]));
        buf_addc(out, '\n');
    }
}

/* `says`: the notes of the hit have to contain it. */
static void check_notes(struct example_run *r, const struct match *own) {
    struct match_detail d;
    struct buf said = {0};
    if (!r->example->says.n)
        return;
    match_details(own, &r->arena, &d);
    add_lines(&said, d.remarks);
    add_lines(&said, d.slices);
    add_lines(&said, d.outside);
    add_lines(&said, d.preconditions);
    add_lines(&said, d.undone);
    add_lines(&said, d.blocked);
    add_lines(&said, (struct str_list){&d.torch, d.torch.n > 0});
    add_lines(&said, d.call);
    struct str text = said.n ? str_trim(buf_str(&said)) : STR("nothing");
    if (!str_find(text, r->example->says))
        fail(r, NULL, "the notes say: %.*s; and not: %.*s", (int)text.n, text.p, (int)r->example->says.n,
             r->example->says.p);
    buf_free(&said);
}

static void judge_match(struct example_run *r, const struct match *own) {
    struct match as = *own;
    if (!r->judge)
        return;
    as.pattern = r->pattern;
    struct str wrong = r->judge->judge(r->judge->self, &as, r->example, &r->arena);
    if (wrong.n)
        fail(r, NULL, "%.*s", (int)wrong.n, wrong.p);
}

static void run_one(struct example_run *r) {
    struct match_list found = {0};
    struct module m;
    struct str text = module_text(r);
    r->counts->run++;
    if (!r->failed) {
        module_read(&m, r, text);
        check_module(r, &m);
        if (!r->failed) {
            search(r, &m, &found);
            check_found(r, &m, &found);
            if (!r->failed)
                check_explanation(r, &m);
            if (!r->failed && r->example->hit)
                check_notes(r, own_match(r, &found));
            for (uint32_t i = 0; i < found.n && !r->failed && r->example->hit; i++)
                if (found.items[i].pattern == r->pattern)
                    judge_match(r, &found.items[i]);
        }
        module_free(&m);
    }
    r->counts->failed += r->failed;
    free(found.items);
    arena_free(&r->arena);
}

struct str example_module(const struct pattern *p, const struct example *e, struct arena *a, struct diags *d) {
    struct example_run r = {.pattern = p, .example = e, .diags = d};
    struct str text = arena_str(a, module_text(&r));
    arena_free(&r.arena);
    return text;
}

void examples_run(const struct pattern_set *set, const struct pattern *p, struct diags *d,
                  const struct example_judge *judge, struct example_counts *out) {
    for (uint32_t i = 0; i < p->nexamples; i++) {
        struct example_run r = {
            .set = set, .pattern = p, .example = &p->examples[i], .diags = d, .judge = judge, .counts = out};
        run_one(&r);
    }
}
