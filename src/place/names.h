/* Names of parameters and modules, read by the rules of patterns/locations.yml: shortened, never completed. */
#ifndef FA_NAMES_H
#define FA_NAMES_H

#include "library/pattern.h"

enum { MAX_NAMES = 12 };

struct names {
    struct str items[MAX_NAMES];
    uint32_t n;
};

void names_add(struct names *to, struct str name);

/* What is read with the rules; may be kept for many names. */
struct name_reader {
    const struct pattern_set *set;
    struct arena *arena;
    pcre2_match_data *data;
    pcre2_match_context *limits;
};

bool name_reader_begin(struct name_reader *r, const struct pattern_set *set, struct arena *a);
void name_reader_end(struct name_reader *r);

/* Without what says nothing about the place. */
void names_strip(const struct name_reader *r, struct names *names);
/* What the rules find in a name: "layer 3"; empty when nothing. */
struct str name_says(const struct name_reader *r, struct str name);
/* What all names say; empty when nothing or when they differ. */
struct str names_agree(const struct name_reader *r, const struct names *names, bool *differ);
/* Keeps those that say something, if any does. */
void names_keep_saying(const struct name_reader *r, struct names *names);
/* A path of modules that says something: layers.3.self_attn, not layer.140 or dot.5. */
bool name_is_module(const struct name_reader *r, struct str name);
/* One name, or what all begin with and how they go on; `inside` parentheses there are none of its own. */
void names_write(struct buf *out, const struct names *names, bool inside);

#endif
