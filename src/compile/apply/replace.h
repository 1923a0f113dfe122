/* What a match is replaced by: the lines of its fused op, in the place of the op of its root. */
#ifndef FA_REPLACE_H
#define FA_REPLACE_H

#include "compile/apply/form.h"

struct replacement {
    const struct match *match;
    double saved_us;
    const struct proved_reading *known;  /* how an audit proved it; NULL: it did not */
    bool reported;                       /* an audit reports it; else it gave way to one that saves less */
    bool written;                        /* the module gets it */
    bool slower;                         /* than what it would replace: it does not get it */
    uint32_t roots[MAX_OUTPUTS], nroots; /* the ops that go */
    uint32_t place;                      /* the one that the text stands in the place of */
    struct str text;                     /* empty: nothing is written */
    struct str why;                      /* then: the reason */
    struct str indent;                   /* of its lines */
    struct str functions;                /* that the text calls, or empty */
    struct str alias;                    /* the line of the location that the text names; or empty */
    uint32_t *reads;                     /* values of the module that the text takes */
    uint32_t nreads;
    uint32_t *moved; /* ops behind the place of the text that make these, and have to stand before it */
    uint32_t nmoved;
    struct taken_number *taken; /* arguments whose numbers are in it */
    uint32_t ntaken;
    struct str unknown; /* names of formulas that replacing.stand_in is the number of, by commas */
    unsigned excluded;  /* as reading.excluded */
};

struct replacing {
    const struct pattern_set *patterns;
    struct str prefix; /* of the names of new values, which no value of the module has */
    uint32_t next;     /* number of the next one */
    struct str alias;  /* of the names of new locations, likewise */
    uint32_t naliases;
    bool (*number)(const void *self, struct str formula_name, struct str argument, double *out); /* form_request */
    const void *self;
    double stand_in; /* form_request */
};

/* Texts are in `a`. */
void replace_match(struct replacing *how, const struct reading *r, struct arena *a, struct replacement *out);

#endif
