/* What registers, builds and tests the patterns. */
#include "compile/rewrite/files.h"

#include <ctype.h>
#include <string.h>

#include "base/embedded.h"
#include "compile/rewrite/cpp.h"

static struct str argument_of(const struct pattern *p, struct arena *a) {
    struct buf b = {0};
    buf_add(&b, STR("fuse-"));
    for (size_t i = 0; i < p->name.n; i++)
        buf_addc(&b, p->name.p[i]);
    struct str text = buf_take(&b, a);
    char *at = arena_strdup(a, text);
    for (size_t i = 0; i < text.n; i++)
        at[i] = (char)(at[i] == '_' ? '-' : at[i]);
    return str_of(at);
}

struct str files_of_all(const char *name, const struct pattern *const *list, uint32_t n, struct arena *a) {
    enum { NAME, CAMEL, PASS, DECLARATION, REGISTRATION, BLANKS };
    struct buf text = {0};
    struct str *all[BLANKS];
    for (uint32_t k = 0; k < BLANKS; k++)
        all[k] = arena_alloc(a, (n + 1) * sizeof **all);
    const struct blank blanks[BLANKS] = {{STR("{name}"), {all[NAME], n}},
                                         {STR("{Name}"), {all[CAMEL], n}},
                                         {STR("{pass}"), {all[PASS], n}},
                                         {STR("{declaration}"), {all[DECLARATION], n}},
                                         {STR("{registration}"), {all[REGISTRATION], n}}};
    for (uint32_t i = 0; i < n; i++) {
        struct str camel = cpp_camel(a, list[i]->name), pass = argument_of(list[i], a);
        all[NAME][i] = list[i]->name;
        all[CAMEL][i] = camel;
        all[PASS][i] = pass;
        all[DECLARATION][i] =
            cpp_statement(a, 0, arena_printf(a, "void populate%sPatterns(RewritePatternSet &patterns);", camel.p));
        all[REGISTRATION][i] =
            cpp_statement(a, 2, arena_printf(a, "registerFusion<populate%sPatterns>(\"%s\");", camel.p, pass.p));
    }
    fill_lines(&text, embedded_text(name), blanks, BLANKS);
    return buf_take(&text, a);
}

/* The op that a hit becomes, by its spelling in TTIR; empty: there is none of its own. */
static struct str fused_spelling(const struct pattern *p, struct arena *a) {
    enum op_kind k = op_kind_of_spelling(p->fused_op);
    return op_is(k, COMPOSITE) ? STR("ttcore.composite") : arena_str(a, cpp_spelling(k));
}

static uint32_t occurrences(struct str text, struct str op) {
    uint32_t n = 0;
    for (const char *at = op.n ? str_find(text, op) : NULL; at; n++) {
        text = (struct str){at + op.n, (size_t)(text.p + text.n - at) - op.n};
        at = str_find(text, op);
    }
    return n;
}

/* Whether an op begins at text[at]: "%3 = ", "%a:2 = ". */
static bool op_begins(struct str text, size_t at) {
    size_t end = at + 1;
    while (end < text.n && (isalnum((unsigned char)text.p[end]) || (text.p[end] && strchr("_.$-:", text.p[end]))))
        end++;
    return text.p[at] == '%' && str_starts((struct str){text.p + end, text.n - end}, STR(" = "));
}

/* A line of a function's body, an op a line. */
static void put_ops(struct buf *b, struct str line) {
    while (line.n) {
        size_t end = 1;
        while (end < line.n && !(line.p[end - 1] == ' ' && op_begins(line, end)))
            end++;
        struct str op = str_trim((struct str){line.p, end});
        buf_printf(b, "  %.*s\n", (int)op.n, op.p);
        line = (struct str){line.p + end, line.n - end};
    }
}

static const char example_begins[] = "func.func @example(";

/* The module of an example. A function that is wrapped around its ops is called `name`. */
static void put_module(struct buf *b, struct str module, struct str name) {
    if (!str_starts(module, str_of(example_begins))) {
        buf_add(b, module);
        return;
    }
    struct str head = str_line(&module);
    buf_printf(b, "func.func @%s(%.*s\n", name.p, (int)(head.n - strlen(example_begins)),
               head.p + strlen(example_begins));
    while (module.n) {
        struct str line = str_trim(str_line(&module));
        if (str_is(line, "}"))
            buf_add(b, STR("}\n"));
        else
            put_ops(b, line);
    }
}

/* `before`: how often the op is there already. `operands`: what it begins with. */
static void put_checks(struct buf *b, struct str op, uint32_t before, bool hit, struct str name, struct str operands) {
    buf_printf(b, "// CHECK-LABEL: func.func%s%s%s\n", name.n ? " @" : "", name.p, name.n ? "(" : "");
    if (!op.n)
        return;
    if (before && !hit)
        buf_printf(b, "// CHECK-COUNT-%u: \"%s\"\n", before, op.p);
    buf_printf(b, "// CHECK%s: \"%s\"%.*s\n", hit ? "" : "-NOT", op.p, (int)(operands.n > 1 ? operands.n : 0),
               operands.p);
}

struct str files_test(const struct pattern_set *set, const struct pattern *p, bool pdll, struct arena *a) {
    struct buf b = {0}, text = {0};
    struct str *operands = arena_alloc(a, (p->nexamples + 1) * sizeof *operands);
    if (p->fused)
        operands_of_examples(set, p, form_of(p->fused), op_kind_of_spelling(p->fused_op), a, operands);
    struct str argument = argument_of(p, a), op = fused_spelling(p, a);
    struct diags none = {.arena = a};
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->nexamples; i++) {
        const struct example *e = &p->examples[i];
        bool ttnn = e->one_of_two && str_is(str_of(e->one_of_two), "ttnn");
        struct str module = ttnn ? STR("") : example_module(p, e, a, &none);
        if (!operands[i].p || !module.n || str_find(module, STR("ttnn.")))
            continue;
        buf_printf(&b, "%s\n// %s%.*s\n", count++ ? "\n// -----\n" : "",
                   e->hit ? "It fuses" : "It does not fuse: ", (int)(e->hit ? 0 : e->because.n),
                   e->hit ? "" : e->because.p);
        struct str name = STR("");
        if (str_starts(module, str_of(example_begins)))
            name = arena_printf(a, "%s%.*s_%u", e->hit ? "" : "not_", (int)p->name.n, p->name.p, count);
        put_checks(&b, op, occurrences(module, op), e->hit, name, operands[i]);
        put_module(&b, module, name);
    }
    diags_free(&none);
    struct str examples = buf_take(&b, a);
    examples.n -= str_ends(examples, STR("\n"));
    const struct blank blanks[] = {
        {STR("{name}"), {&p->name, 1}}, {STR("{pass}"), {&argument, 1}}, {STR("{examples}"), {&examples, 1}}};
    fill_lines(&text, embedded_text(pdll ? "NAME.pdll.mlir" : "NAME.mlir"), blanks, sizeof blanks / sizeof *blanks);
    return buf_take(&text, a);
}
