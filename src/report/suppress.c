#include "report/suppress.h"

#include <stdlib.h>

#include "input/source/yaml.h"

static bool read_item(struct suppressions *s, const struct yaml *y, const struct tree *item) {
    static const struct field fields[] = {
        {"fused_op", FIELD_VALUE, false, offsetof(struct suppression, fused_op), yaml_word, "a glob"},
        {"location", FIELD_VALUE, false, offsetof(struct suppression, location), yaml_word, "a glob"},
        {"reason", FIELD_VALUE, true, offsetof(struct suppression, reason), yaml_word, "a text"},
    };
    struct suppression x = {.line = item->line};
    if (!yaml_record(y, item, fields, sizeof fields / sizeof *fields, &x))
        return false;
    if (!x.fused_op.n && !x.location.n)
        return yaml_wrong(y, item, NULL, "neither `fused_op` nor `location`");
    s->items = grow(s->items, &s->cap, s->n + 1, sizeof *s->items);
    s->items[s->n++] = x;
    return true;
}

bool suppressions_read(struct suppressions *s, const char *path, struct arena *a, struct diags *d) {
    struct yaml y = {.path = path,
                     .form = "a list: - {fused_op: ttnn.linear, location: '*lm_head*', reason: why it is not wanted}",
                     .arena = a,
                     .diags = d};
    *s = (struct suppressions){.file = arena_strdup(a, str_of(path))};
    if (!yaml_open(&y))
        return false;
    if (!y.documents || y.documents->kind != TREE_SEQUENCE || y.documents->next)
        return yaml_wrong(&y, y.documents, NULL, "no list of suppressions");
    for (const struct tree *item = y.documents->first; item; item = item->next)
        if (!read_item(s, &y, item))
            return false;
    return true;
}

void suppressions_free(struct suppressions *s) {
    free(s->items);
    *s = (struct suppressions){.file = NULL};
}

static bool means(const struct suppression *x, struct str fused_op, struct str_list names) {
    bool here = !x->location.n;
    for (uint32_t i = 0; i < names.n && !here; i++)
        here = str_matches(names.items[i], x->location);
    return here && (!x->fused_op.n || str_matches(fused_op, x->fused_op));
}

const struct suppression *suppression_of(struct suppressions *s, struct str fused_op, struct str_list names) {
    uint32_t at = 0;
    while (at < s->n && !means(&s->items[at], fused_op, names))
        at++;
    if (at == s->n)
        return NULL;
    s->items[at].nplaces++;
    return &s->items[at];
}

void suppressions_say_unused(const struct suppressions *s, struct diags *d) {
    for (uint32_t i = 0; i < s->n; i++)
        if (!s->items[i].nplaces)
            diag_add(d, SEV_WARNING, (struct source_location){s->file, s->items[i].line, 0}, NULL,
                     "suppresses nothing: no place is missed that it means");
}
