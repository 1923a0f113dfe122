/* Sections of pattern files that all patterns share: idioms, and the rules that read a model location out of names. */
#include "library/loader.h"

void load_idioms(struct loader *l, const yaml_node_t *list) {
    if (list->type != YAML_SEQUENCE_NODE) {
        error_at(l, list, NULL, "`idioms` is a list", STR(""));
        return;
    }
    for (yaml_node_item_t *i = list->data.sequence.items.start; i < list->data.sequence.items.top; i++) {
        const yaml_node_t *n = yaml_document_get_node(&l->doc, *i);
        if (is_scalar(l, n) && !idiom_add(&l->set->idioms, &l->set->arena, kept_text(l, n), origin_of(l, n), l->diags))
            l->failed = true;
    }
}

/* ---- locations ---- */

static void load_location(struct loader *l, const yaml_node_t *n) {
    const yaml_node_t *strip = n->type == YAML_MAPPING_NODE ? lookup(l, n, "strip") : NULL;
    const yaml_node_t *match = n->type == YAML_MAPPING_NODE ? lookup(l, n, "match") : NULL;
    const yaml_node_t *say = n->type == YAML_MAPPING_NODE ? lookup(l, n, "say") : NULL;
    const yaml_node_t *regex = strip ? strip : match;
    if (!regex || (match && !say)) {
        error_at(l, n, "- {match: 'layers?[.](\\d+)', say: 'layer $1'}", "a rule has `strip`, or `match` and `say`",
                 STR(""));
        return;
    }
    if (!is_scalar(l, regex) || (say && !is_scalar(l, say)))
        return;
    const char *wrong;
    pcre2_code *re = regex_compile(scalar_text(regex), &l->set->arena, &wrong);
    if (!re) {
        error_at(l, regex, NULL, "wrong regular expression: ", str_of(wrong));
        return;
    }
    struct pattern_set *set = l->set;
    set->locations = grow(set->locations, &set->locations_cap, set->nlocations + 1, sizeof *set->locations);
    set->locations[set->nlocations++] = (struct location_rule){re, strip != NULL, say ? kept_text(l, say) : STR("")};
}

void load_locations(struct loader *l, const yaml_node_t *list) {
    if (list->type != YAML_SEQUENCE_NODE) {
        error_at(l, list, NULL, "`locations` is a list", STR(""));
        return;
    }
    for (yaml_node_item_t *i = list->data.sequence.items.start; i < list->data.sequence.items.top; i++)
        load_location(l, yaml_document_get_node(&l->doc, *i));
}
