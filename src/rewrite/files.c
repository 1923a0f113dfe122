/* What registers, builds and tests the patterns. */
#include "rewrite/files.h"

#include "base/embedded.h"
#include "rewrite/cpp.h"

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
    struct buf text = {0};
    struct str *names = arena_alloc(a, (size_t)3 * n * sizeof *names), *camels = names + n, *arguments = camels + n;
    const struct blank blanks[] = {
        {STR("{name}"), {names, n}}, {STR("{Name}"), {camels, n}}, {STR("{pass}"), {arguments, n}}};
    for (uint32_t i = 0; i < n; i++) {
        names[i] = list[i]->name;
        camels[i] = cpp_camel(a, list[i]->name);
        arguments[i] = argument_of(list[i], a);
    }
    fill_lines(&text, embedded_text(name), blanks, sizeof blanks / sizeof *blanks);
    return buf_take(&text, a);
}

/* The op that a hit becomes, by its spelling in TTIR; empty: there is none of its own. */
static struct str fused_spelling(const struct pattern *p, struct arena *a) {
    enum op_kind k = op_kind_of_spelling(p->fused_op);
    for (struct str rest = k == K_UNKNOWN ? STR("") : str_of(op_table[k].spellings); rest.n;) {
        struct str one = str_part(&rest, ' ');
        if (str_starts(one, STR("ttir.")))
            return k == K_CLAMP ? STR("ttir.clamp_scalar") : arena_str(a, one);
    }
    return STR("");
}

static uint32_t occurrences(struct str text, struct str op) {
    uint32_t n = 0;
    for (const char *at = op.n ? str_find(text, op) : NULL; at; n++) {
        text = (struct str){at + op.n, (size_t)(text.p + text.n - at) - op.n};
        at = str_find(text, op);
    }
    return n;
}

/* `before`: how often the op is there already. */
static void put_checks(struct buf *b, struct str op, uint32_t before, bool hit) {
    buf_add(b, STR("// CHECK-LABEL: func.func\n"));
    if (!op.n)
        return;
    if (before && !hit)
        buf_printf(b, "// CHECK-COUNT-%u: \"%s\"\n", before, op.p);
    buf_printf(b, "// CHECK%s: \"%s\"\n", hit ? "" : "-NOT", op.p);
}

struct str files_test(const struct pattern *p, struct arena *a) {
    struct buf b = {0}, text = {0};
    struct str argument = argument_of(p, a), op = fused_spelling(p, a);
    struct diags none = {.arena = a};
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->nexamples; i++) {
        const struct example *e = &p->examples[i];
        bool ttnn = e->one_of_two && str_is(str_of(e->one_of_two), "ttnn");
        struct str module = ttnn ? STR("") : example_module(p, e, a, &none);
        if (!module.n || str_find(module, STR("ttnn.")))
            continue;
        buf_printf(&b, "%s\n// %s%.*s\n", count++ ? "\n// -----\n" : "",
                   e->hit ? "It fuses" : "It does not fuse: ", (int)(e->hit ? 0 : e->because.n),
                   e->hit ? "" : e->because.p);
        put_checks(&b, op, occurrences(module, op), e->hit);
        buf_add(&b, module);
    }
    diags_free(&none);
    struct str examples = buf_take(&b, a);
    examples.n -= str_ends(examples, STR("\n"));
    const struct blank blanks[] = {{STR("{pass}"), {&argument, 1}}, {STR("{examples}"), {&examples, 1}}};
    fill_lines(&text, embedded_text("NAME.mlir"), blanks, sizeof blanks / sizeof *blanks);
    return buf_take(&text, a);
}
