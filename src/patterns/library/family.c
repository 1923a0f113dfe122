/* A family: one document that is a pattern for each value of its variables, which its texts name as "$op". */
#include <string.h>

#include "patterns/library/loader.h"

/* The variable that `text` begins with, as a key of `family`; the longest one, so that "$op" is not the begin of
 * "$ops". */
static const struct tree *variable_at(const struct tree *family, struct str text) {
    const struct tree *found = NULL;
    for (const struct tree *v = family->first; v; v = v->next)
        if (str_starts(text, v->text) && (!found || v->text.n > found->text.n))
            found = v;
    return found;
}

static struct str replaced(const struct tree *family, uint32_t member, struct str text, struct arena *a) {
    struct buf out = {0};
    size_t kept = 0; /* up to here it is in `out` */
    for (size_t i = 0; i < text.n; i++) {
        struct str rest = {text.p + i + 1, text.n - i - 1};
        const struct tree *v = text.p[i] == '$' ? variable_at(family, rest) : NULL;
        if (!v)
            continue;
        const struct tree *value = v->value->first;
        for (uint32_t k = 0; k < member; k++)
            value = value->next;
        buf_add(&out, (struct str){text.p + kept, i - kept});
        buf_add(&out, value->text);
        i += v->text.n;
        kept = i + 1;
    }
    buf_add(&out, (struct str){text.p + kept, text.n - kept});
    return buf_take(&out, a);
}

/* A copy of the node and of those behind it; of the items of a list those that the member leaves a text. */
static const struct tree *instance(const struct tree *family, uint32_t member, const struct tree *n, bool items,
                                   struct arena *a) {
    const struct tree *first = NULL;
    for (const struct tree **to = &first; n; n = n->next) {
        struct tree *copy = arena_alloc(a, sizeof *copy);
        *copy = *n;
        copy->text =
            memchr(n->text.p ? n->text.p : "", '$', n->text.n) ? replaced(family, member, n->text, a) : n->text;
        if (items && n->text.n && !copy->text.n)
            continue;
        copy->first = instance(family, member, n->first, n->kind == TREE_SEQUENCE, a);
        copy->value = instance(family, member, n->value, false, a);
        copy->n = 0;
        for (const struct tree *child = copy->first; child; child = child->next)
            copy->n++;
        copy->next = NULL;
        *to = copy;
        to = &copy->next;
    }
    return first;
}

/* Members that have no variable in their name would replace one another. */
static bool has_own_names(const struct tree *root, const struct tree *family) {
    const struct tree *name = tree_lookup(root, "name");
    for (size_t i = 0; name && i < name->text.n; i++)
        if (name->text.p[i] == '$' && variable_at(family, (struct str){name->text.p + i + 1, name->text.n - i - 1}))
            return true;
    return false;
}

uint32_t family_size(struct loader *l, const struct tree *root) {
    const char *form = "for: {op: [add, multiply]}, and $op in the texts";
    const struct tree *family = tree_lookup(root, "for");
    uint32_t size = family->kind == TREE_MAPPING && family->first ? family->first->value->n : 0;
    for (const struct tree *v = size ? family->first : NULL; v && !l->in.failed; v = v->next) {
        const struct tree *list = v->value;
        if (list->kind != TREE_SEQUENCE || list->n != size)
            error_at(l, list, form, "the variables of `for` have lists of one length", STR(""));
        for (const struct tree *i = l->in.failed ? NULL : list->first; i && !l->in.failed; i = i->next)
            is_scalar(l, i);
    }
    if (!size)
        error_at(l, family, form, "`for` has lists of values for its variables", STR(""));
    else if (!l->in.failed && !has_own_names(root, family))
        error_at(l, family, "name: $op_with_activations", "the `name` of a family has one of its variables", STR(""));
    return l->in.failed ? 0 : size;
}

const struct tree *family_member(const struct loader *l, const struct tree *root, uint32_t member) {
    struct tree alone = *root;
    alone.next = NULL;
    return instance(tree_lookup(root, "for"), member, &alone, false, &l->set->arena);
}
