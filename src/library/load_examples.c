/* The key `tests` of a pattern: pieces of IR that it has to match, or must not. */
#include "library/loader.h"

#include <string.h>

static const char *const argument_types[] = {"input", "parameter", "constant"};

static bool is_argument_type(struct str type) {
    for (size_t i = 0; i < sizeof argument_types / sizeof *argument_types; i++)
        if (str_is(type, argument_types[i]))
            return true;
    return false;
}

/* "w: parameter", or with the model's name: "w: parameter layers.0.weight". */
static void load_argument(struct loader *l, struct example *e, const yaml_node_t *key, const yaml_node_t *value) {
    if (!is_scalar(l, key) || !is_scalar(l, value))
        return;
    struct str name = kept_text(l, key), text = str_trim(kept_text(l, value));
    const char *blank = memchr(text.p, ' ', text.n);
    struct str type = {text.p, blank ? (size_t)(blank - text.p) : text.n};
    if (str_starts(name, STR("%")))
        name = (struct str){name.p + 1, name.n - 1};
    if (!is_argument_type(type)) {
        error_at(l, value, "one of input, parameter, constant; a model name may follow",
                 "unknown argument type: ", type);
        return;
    }
    struct str model = str_trim((struct str){type.p + type.n, text.n - type.n});
    e->args[e->nargs++] = (struct example_arg){name, type, model};
}

static void load_arguments(struct loader *l, struct example *e, const yaml_node_t *map) {
    if (map->type != YAML_MAPPING_NODE) {
        error_at(l, map, "args: {w: parameter}", "`args` says what the arguments are", STR(""));
        return;
    }
    size_t n = (size_t)(map->data.mapping.pairs.top - map->data.mapping.pairs.start);
    e->args = arena_alloc(&l->set->arena, (n + 1) * sizeof *e->args);
    for (size_t i = 0; i < n && !l->failed; i++) {
        const yaml_node_pair_t *p = &map->data.mapping.pairs.start[i];
        load_argument(l, e, yaml_document_get_node(&l->doc, p->key), yaml_document_get_node(&l->doc, p->value));
    }
}

static void check_example_keys(struct loader *l, const yaml_node_t *map) {
    static const char *const keys[] = {"hit", "miss", "name", "args", "because", "explains", "says"};
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top && !l->failed; p++)
        check_key(l, yaml_document_get_node(&l->doc, p->key), keys, sizeof keys / sizeof *keys,
                  "a test has `hit` or `miss`, and may have `name`, `args`, `because`, `explains` and `says`");
}

static void load_example(struct loader *l, struct example *e, const yaml_node_t *map) {
    if (map->type == YAML_MAPPING_NODE)
        check_example_keys(l, map);
    if (l->failed)
        return;
    const yaml_node_t *hit = map->type == YAML_MAPPING_NODE ? lookup(l, map, "hit") : NULL;
    const yaml_node_t *miss = map->type == YAML_MAPPING_NODE ? lookup(l, map, "miss") : NULL;
    const yaml_node_t *text = hit ? hit : miss, *n;
    if (!text || (hit && miss)) {
        error_at(l, map, NULL, "a test has either `hit` or `miss`, with IR as text", STR(""));
        return;
    }
    if (!is_scalar(l, text))
        return;
    *e = (struct example){.hit = hit != NULL, .text = kept_text(l, text), .origin = origin_of(l, text)};
    e->line = map->start_mark.line + 1;
    if ((n = lookup(l, map, "name")) && is_scalar(l, n))
        e->name = kept_text(l, n);
    if (!l->failed && (n = lookup(l, map, "because")) && is_scalar(l, n))
        e->because = kept_text(l, n);
    if (!l->failed && e->because.n && hit)
        error_at(l, n, NULL, "`because` says why a `miss` is none", STR(""));
    if (!l->failed && (n = lookup(l, map, "explains")) && is_scalar(l, n))
        e->explains = kept_text(l, n);
    if (!l->failed && e->explains.n && hit)
        error_at(l, n, NULL, "`explains` is what `explain` says of a `miss`", STR(""));
    if (!l->failed && (n = lookup(l, map, "says")) && is_scalar(l, n))
        e->says = kept_text(l, n);
    if (!l->failed && e->says.n && !hit)
        error_at(l, n, NULL, "`says` is what the notes say of a `hit`", STR(""));
    if (!l->failed && (n = lookup(l, map, "args")))
        load_arguments(l, e, n);
}

void load_examples(struct loader *l, struct pattern *p, const yaml_node_t *n) {
    if (n->type != YAML_SEQUENCE_NODE) {
        error_at(l, n, "tests: [{hit: ...}, {miss: ...}]", "`tests` is a list", STR(""));
        return;
    }
    size_t count = (size_t)(n->data.sequence.items.top - n->data.sequence.items.start);
    p->examples = arena_alloc(&l->set->arena, (count + 1) * sizeof *p->examples);
    for (size_t i = 0; i < count && !l->failed; i++)
        load_example(l, &p->examples[p->nexamples++], yaml_document_get_node(&l->doc, n->data.sequence.items.start[i]));
}
