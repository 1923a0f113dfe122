/* Regular expressions of patterns/locations.yml applied to names. Names come from the input, so that every match has a
 * step limit. */
#include "report/place/names.h"

#include <string.h>

#include "base/hash.h"

enum { MATCH_LIMIT = 10000, MAX_PAIRS = 8, MAX_STRIPS = 16, MOST_KNOWN = 1 << 14 };

struct known_name {
    struct str name, stripped;
    UT_hash_handle hh;
};

void known_names_free(struct known_names *known) {
    HASH_CLEAR(hh, known->head);
    arena_free(&known->arena);
}

void names_add(struct names *to, struct str name) {
    for (uint32_t i = 0; i < to->n; i++)
        if (str_eq(to->items[i], name))
            return;
    if (name.n && to->n < MAX_NAMES)
        to->items[to->n++] = name;
}

void name_reader_begin(struct name_reader *r, const struct pattern_set *set, struct known_names *known,
                       struct arena *a) {
    *r = (struct name_reader){set, known, a, made(pcre2_match_data_create(MAX_PAIRS, NULL)),
                              made(pcre2_match_context_create(NULL))};
    pcre2_set_match_limit(r->limits, MATCH_LIMIT);
    pcre2_set_depth_limit(r->limits, MATCH_LIMIT);
}

void name_reader_end(struct name_reader *r) {
    pcre2_match_data_free(r->data);
    pcre2_match_context_free(r->limits);
}

/* The number of offset pairs that a match has set, one for the whole and one for each group; 0: no match. Pairs beyond
 * are left over from earlier matches. */
static int regex_match(const struct name_reader *r, const struct location_rule *rule, struct str s) {
    int pairs = pcre2_match(rule->regex->code, (PCRE2_SPTR)s.p, s.n, 0, 0, r->data, r->limits);
    if (pairs == PCRE2_ERROR_NOMEMORY)
        out_of_memory();
    return pairs < 0 ? 0 : pairs == 0 ? MAX_PAIRS : pairs;
}

static struct str strip(const struct name_reader *r, struct str name) {
    for (uint32_t i = 0; i < r->set->nlocations; i++) {
        const struct location_rule *rule = &r->set->locations[i];
        for (int k = 0; rule->strip && k < MAX_STRIPS && regex_match(r, rule, name); k++) {
            const PCRE2_SIZE *at = pcre2_get_ovector_pointer(r->data);
            if (at[0] >= at[1])
                break;
            char *left = arena_alloc(r->arena, name.n + 1);
            memcpy(left, name.p, at[0]);
            memcpy(left + at[0], name.p + at[1], name.n - at[1]);
            name = (struct str){left, name.n - (at[1] - at[0])};
        }
    }
    return name;
}

static struct str stripped(const struct name_reader *r, struct str name) {
    struct known_names *all = r->known;
    struct known_name *k = NULL;
    HASH_FIND(hh, all->head, name.p, name.n, k);
    if (k)
        return k->stripped;
    struct str out = strip(r, name);
    if (all->n == MOST_KNOWN)
        return out;
    k = arena_alloc(&all->arena, sizeof *k);
    *k = (struct known_name){.name = arena_str(&all->arena, name), .stripped = arena_str(&all->arena, out)};
    HASH_ADD_KEYPTR(hh, all->head, k->name.p, k->name.n, k);
    all->n++;
    return k->stripped;
}

void names_strip(const struct name_reader *r, struct names *names) {
    struct names out = {.n = 0};
    for (uint32_t i = 0; i < names->n; i++)
        names_add(&out, stripped(r, names->items[i]));
    *names = out;
}

static void say(struct buf *out, const struct location_rule *rule, struct str name, const PCRE2_SIZE *at, bool group) {
    for (size_t k = 0; k < rule->say.n; k++) {
        if (rule->say.p[k] == '$' && k + 1 < rule->say.n && rule->say.p[k + 1] == '1' && group) {
            buf_add(out, (struct str){name.p + at[2], at[3] - at[2]});
            k++;
        } else {
            buf_addc(out, rule->say.p[k]);
        }
    }
}

/* What the rules say of one name; may be empty. */
static struct str name_says(const struct name_reader *r, struct str name) {
    struct buf out = {0};
    for (uint32_t i = 0; i < r->set->nlocations; i++) {
        const struct location_rule *rule = &r->set->locations[i];
        int pairs = rule->strip ? 0 : regex_match(r, rule, name);
        if (pairs == 0)
            continue;
        const PCRE2_SIZE *at = pcre2_get_ovector_pointer(r->data);
        if (out.n)
            buf_add(&out, STR(", "));
        say(&out, rule, name, at, pairs > 1 && at[2] != PCRE2_UNSET);
    }
    return buf_take(&out, r->arena);
}

struct str names_agree(const struct name_reader *r, const struct names *names, bool *differ) {
    struct str all = STR("");
    *differ = false;
    for (uint32_t i = 0; i < names->n; i++) {
        struct str one = name_says(r, names->items[i]);
        *differ |= i > 0 && !str_eq(one, all);
        all = one;
    }
    return *differ ? STR("") : all;
}

void names_keep_saying(const struct name_reader *r, struct names *names) {
    struct names kept = {.n = 0};
    for (uint32_t i = 0; i < names->n; i++)
        if (name_says(r, names->items[i]).n)
            names_add(&kept, names->items[i]);
    if (kept.n)
        *names = kept;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Names of single ops end in a number, file names in a line and a column: behind what the rule matches must come
 * another module. */
bool name_is_module(const struct name_reader *r, struct str name) {
    if (memchr(name.p, ':', name.n) || memchr(name.p, ' ', name.n))
        return false;
    for (uint32_t i = 0; i < r->set->nlocations; i++) {
        const struct location_rule *rule = &r->set->locations[i];
        if (rule->strip || !regex_match(r, rule, name))
            continue;
        PCRE2_SIZE end = pcre2_get_ovector_pointer(r->data)[1];
        if (end + 1 < name.n && (name.p[end] == '.' || name.p[end] == '/') && is_letter(name.p[end + 1]))
            return true;
    }
    return false;
}

/* Length of the longest common prefix that ends with a dot or slash, which separate modules; or else with an
 * underscore. */
static size_t common_prefix(const struct names *names) {
    const struct str *s = names->items;
    size_t len = s[0].n, cut = 0, module = 0;
    for (uint32_t i = 1; i < names->n; i++) {
        size_t k = 0;
        while (k < len && k < s[i].n && s[i].p[k] == s[0].p[k])
            k++;
        len = k;
    }
    for (size_t k = 0; k < len; k++) {
        if (s[0].p[k] == '_')
            cut = k + 1;
        else if (s[0].p[k] == '.' || s[0].p[k] == '/')
            module = k + 1;
    }
    return module ? module : cut;
}

void names_write(struct buf *out, const struct names *names, bool inside) {
    if (names->n == 1) {
        buf_add(out, names->items[0]);
        return;
    }
    size_t cut = names->n ? common_prefix(names) : 0;
    if (cut > 1) {
        buf_add(out, (struct str){names->items[0].p, cut - 1});
        buf_add(out, inside ? STR(": ") : STR(" ("));
    }
    for (uint32_t i = 0; i < names->n; i++) {
        if (i)
            buf_add(out, STR(", "));
        buf_add(out, (struct str){names->items[i].p + cut, names->items[i].n - cut});
    }
    if (cut > 1 && !inside)
        buf_addc(out, ')');
}
