#include "report/suppress.h"

#include <stdlib.h>

#include "base/tree.h"
#include "source/source.h"

static bool refuse(const struct suppressions *s, const struct tree *at, const char *what, struct str word,
                   struct diags *d) {
    diag_add(d, SEV_ERROR, (struct source_location){s->file, at ? at->line : 0, at ? at->column : 0},
             "a list: - {fused_op: ttnn.linear, location: '*lm_head*', reason: why it is not wanted}", "%s%.*s", what,
             (int)word.n, word.n ? word.p : "");
    return false;
}

static bool read_item(struct suppressions *s, const struct tree *item, struct diags *d) {
    struct suppression x = {.line = item->line};
    const struct {
        const char *key;
        struct str *to;
    } keys[] = {{"fused_op", &x.fused_op}, {"location", &x.location}, {"reason", &x.reason}};
    if (item->kind != TREE_MAPPING)
        return refuse(s, item, "no mapping", STR(""), d);
    for (const struct tree *key = item->first; key; key = key->next) {
        size_t i = 0;
        while (i < sizeof keys / sizeof *keys && !str_is(key->text, keys[i].key))
            i++;
        if (i == sizeof keys / sizeof *keys)
            return refuse(s, key, "unknown key: ", key->text, d);
        if (key->value->kind != TREE_SCALAR || keys[i].to->n)
            return refuse(s, key, "no text, or there twice: ", key->text, d);
        *keys[i].to = key->value->text;
    }
    if (!x.fused_op.n && !x.location.n)
        return refuse(s, item, "neither `fused_op` nor `location`", STR(""), d);
    if (!x.reason.n)
        return refuse(s, item, "no `reason`", STR(""), d);
    s->items = grow(s->items, &s->cap, s->n + 1, sizeof *s->items);
    s->items[s->n++] = x;
    return true;
}

bool suppressions_read(struct suppressions *s, const char *path, struct arena *a, struct diags *d) {
    struct source source;
    *s = (struct suppressions){.file = arena_strdup(a, str_of(path))};
    if (!source_open(&source, path, d))
        return false;
    struct tree_file file = tree_read(arena_str(a, (struct str){source.data, source.size}), a);
    source_close(&source);
    if (file.wrong) {
        diag_add(d, SEV_ERROR, (struct source_location){s->file, file.line, file.column}, NULL, "%s", file.wrong);
        return false;
    }
    if (!file.documents || file.documents->kind != TREE_SEQUENCE || file.documents->next)
        return refuse(s, file.documents, "no list of suppressions", STR(""), d);
    for (const struct tree *item = file.documents->first; item; item = item->next)
        if (!read_item(s, item, d))
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
