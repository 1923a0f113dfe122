/* Names of parameters and modules (model.layers.3.self_attn.q_proj.weight), and what the rules of
 * patterns/locations.yml read in them ("layer 3"). Names are shortened, never completed. */
#ifndef FA_NAMES_H
#define FA_NAMES_H

#include "patterns/library/pattern.h"

enum { MAX_NAMES = 12 };

struct names {
    struct str items[MAX_NAMES];
    uint32_t n;
};

/* Adds a name unless it is empty or there already; beyond MAX_NAMES it is dropped. */
void names_add(struct names *to, struct str name);

/* Names of one graph, and what strip rules leave of them: names repeat with every layer. A zeroed struct is empty. */
struct known_names {
    struct known_name *head;
    uint32_t n;
    struct arena arena;
};

void known_names_free(struct known_names *known);

/* The rules with room for one match of a regular expression. Results are in the arena. */
struct name_reader {
    const struct pattern_set *set;
    struct known_names *known;
    struct arena *arena;
    pcre2_match_data *data;
    pcre2_match_context *limits;
};

void name_reader_begin(struct name_reader *r, const struct pattern_set *set, struct known_names *known,
                       struct arena *a);
void name_reader_end(struct name_reader *r);

/* Removes from each name what the strip rules match: wrappers and suffixes that do not tell modules apart. */
void names_strip(const struct name_reader *r, struct names *names);
/* What the rules say of all names ("layer 3"); empty when they say nothing, or *differ. */
struct str names_agree(const struct name_reader *r, const struct names *names, bool *differ);
/* Drops the names of which the rules say nothing, unless that would be all of them. */
void names_keep_saying(const struct name_reader *r, struct names *names);
/* Whether a name is a module path that a rule matches: layers.3.self_attn, but not the op names layer.140 and dot.5. */
bool name_is_module(const struct name_reader *r, struct str name);
/* Writes one name, or the common prefix of several and how each goes on. `inside`: within parentheses, so that the list
 * gets none of its own. */
void names_write(struct buf *out, const struct names *names, bool inside);

#endif
