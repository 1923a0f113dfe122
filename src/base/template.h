/* A document as text for people: what templates make of its tree (writer.h, write_as_text). Nothing of the input in it
 * drives a terminal or ends a line.
 *
 * In the text of a template stands, for the node that is printed,
 *     {KEY}          what is behind a key, "name", "device.chip", of the node; of a list how many there are; {} is the
 *                    node itself, {^KEY} asks the nearest node around it that has the key
 *     {KEY NOUN}     "3 ops", "1 op"
 *     {KEY:us}, {KEY:bytes}  a number of these in a unit that people read
 *     {KEY:md}       as text in Markdown
 *     {KEY:csv}      as a field of CSV
 *     {KEY:x}        a list as extents, "8x8"
 *     {KEY:label}    a word at the begin of a line, in a column
 *     {KEY?YES|NO}   one of two texts; NO where the key is absent, empty, null, false or 0
 *     {KEY*EACH}     a text for each item of a list, with commas between them */
#ifndef FA_TEMPLATE_H
#define FA_TEMPLATE_H

#include <stdio.h>

#include "base/tree.h"

struct column {
    const char *title, *cell; /* cell: a text as above */
};

struct template {
    const char *of;    /* keys from the node around it to what is printed, each item of lists: "files", "blocks.module",
                          or several of these, "reports|all"; NULL: that node itself */
    const char *where; /* a key: only those that have it; or NULL */
    const char *text;  /* printed for each; its lines end in it */
    bool apart;        /* a blank line between them */
    bool alike; /* of texts that differ in numbers only, as those of like layers do, the first and how many more */
    const struct column *columns; /* in place of text: a table, up to one without a cell. A column that is empty in all
                                     rows is left out */
    unsigned indent;              /* of the table */
    const struct template *below; /* behind the text of each, up to one that prints nothing */
};

/* Prints templates, up to one that prints nothing. */
void template_print(const struct template *templates, const struct tree *t, FILE *out);

#endif
