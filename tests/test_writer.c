/* The document writer: what libyaml and json-c read back, and which style a YAML text has. */
#include <criterion/criterion.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/writer.h"

/* A map of one key, `notes`. */
static char *written(struct str s, enum markup markup, enum text_style style) {
    struct writer w;
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    write_begin(&w, markup, out);
    write_map(&w);
    write_pair(&w, "notes", s, style);
    write_close(&w);
    cr_assert(write_end(&w));
    fclose(out);
    return text;
}

static void expect_name(const char *name, bool quoted) {
    char *text = written(str_of(name), MARKUP_YAML, TEXT_NAME);
    cr_expect_eq(strncmp(text, "notes: \"", 8) == 0, quoted, "%s", text);
    free(text);
}

Test(writer, names_that_are_no_strings_are_quoted) {
    static const char *const quoted[] = {"",  "12",   "1e3", "true",       "No",  "null",
                                         "~", ".inf", "-",   "2026-11-20", "a b", "#x"};
    static const char *const plain[] = {"ttnn.linear", "a/b.mlir", "./x", "../x.log", "/tmp/x-1.mlir",
                                        "truely",      "x",        "_x",  "/"};
    for (size_t i = 0; i < sizeof quoted / sizeof *quoted; i++)
        expect_name(quoted[i], true);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        expect_name(plain[i], false);
}

Test(writer, invalid_utf8_is_replaced) {
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"a\xFFz", "a\xEF\xBF\xBDz"},
        {"\xC0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"},                                 /* overlong NUL */
        {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},                 /* surrogate */
        {"\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"}, /* beyond U+10FFFF */
        {"x\xE2\x82", "x\xEF\xBF\xBD\xEF\xBF\xBD"},                               /* cut off */
        {"\xE2\x86\x92 \xF0\x9F\x98\x80", "\xE2\x86\x92 \xF0\x9F\x98\x80"},
    };
    struct buf scratch = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str got = utf8_repair(str_of(cases[i].in), &scratch);
        cr_expect(str_is(got, cases[i].out), "case %zu: %.*s", i, (int)got.n, got.p);
    }
    buf_free(&scratch);
}

/* Wherever a byte stands: alone and among eight that are looked at together. */
Test(writer, controls_are_found_at_each_place) {
    for (int byte = 0; byte < 256; byte++)
        for (size_t at = 0; at < 20; at++) {
            char text[20];
            memset(text, 'a', sizeof text);
            text[at] = (char)byte;
            bool clean = (byte >= 0x20 && byte < 0x7F) || byte == '\n';
            size_t end = utf8_clean_end((struct str){text, sizeof text}, 0, "\n");
            cr_expect(end == (clean ? sizeof text : at), "%02x at %zu: %zu", byte, at, end);
        }
}

/* What drives a terminal is escaped, and read back as it was. */
Test(writer, controls_are_escaped) {
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"a\x1B[2J", "\"a\\e[2J\""},
        {"a\x7F", "\"a\\x7F\""},
        {"a\xC2\x9B", "\"a\\x9B\""},
        {"a\x9B", "|-\n  a\xEF\xBF\xBD"},
        {"a\xE2\x80\xAE\\u", "\"a\\u202E\\\\u\""},
        {"\xE2\x81\xA6\xE2\x80\x8F\xD8\x9C", "\"\\u2066\\u200F\\u061C\""},
        {"a\xE2\x80\xA7\xE2\x81\xAA\xD8\x9B\xC2\xA0", "|-\n  a\xE2\x80\xA7\xE2\x81\xAA\xD8\x9B\xC2\xA0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = written(str_of(cases[i].in), MARKUP_YAML, TEXT_BLOCK);
        struct str notes = str_of(text);
        cr_assert(str_starts(notes, STR("notes: ")));
        notes = (struct str){text + 7, notes.n - 8};
        cr_expect(str_is(notes, cases[i].out), "case %zu: %s", i, text);
        free(text);
    }
}

/* The value of the first `notes` of YAML text, or NULL. */
static char *read_notes(const char *yaml, size_t *n, yaml_scalar_style_t *style) {
    yaml_parser_t parser;
    char *notes = NULL;
    bool found = false, end = false;
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, (const yaml_char_t *)yaml, strlen(yaml));
    while (!end) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event))
            break;
        end = event.type == YAML_STREAM_END_EVENT;
        if (event.type == YAML_SCALAR_EVENT && found && !notes) {
            notes = malloc(event.data.scalar.length + 1);
            *n = event.data.scalar.length;
            memcpy(notes, event.data.scalar.value, *n + 1);
            *style = event.data.scalar.style;
        }
        if (event.type == YAML_SCALAR_EVENT && strcmp((char *)event.data.scalar.value, "notes") == 0)
            found = true;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return notes;
}

static void expect_round_trip(struct str text, int literal) {
    char *yaml = written(text, MARKUP_YAML, TEXT_BLOCK);
    size_t n = 0;
    yaml_scalar_style_t style = YAML_ANY_SCALAR_STYLE;
    char *got = read_notes(yaml, &n, &style);
    cr_assert(got, "unreadable:\n%s", yaml);
    cr_expect(n == text.n && memcmp(got, text.p, n) == 0, "not the same:\n%s", yaml);
    cr_expect_null(strstr(yaml, "\n..."));
    if (literal >= 0)
        cr_expect_eq(style == YAML_LITERAL_SCALAR_STYLE, literal, "style:\n%s", yaml);
    free(got);
    free(yaml);
}

Test(writer, round_trip_of_nasty_text) {
    static const struct {
        const char *text;
        int literal;
    } cases[] = {
        {"plain\n", 1},
        {"no newline", 1},
        {"two\nlines", 1},
        {"", 0},
        {"\n", 0},
        {"end\n\n", 0},
        {"  leading blanks\nx\n", 1},
        {"\nleading break\n", 1},
        {"\n  both\nx\n", 1},
        {" x\n   y\n", 1},
        {"a\n\n\nb\n", 1},
        {"# no comment\n", 1},
        {"- x: y\n", 1},
        {"---\n", 1},
        {"...\n", 1},
        {"%TAG\n", 1},
        {"\"quoted\" 'too' \\n\n", 1},
        {"{a: [b]}\n", 1},
        {"a: |\n  b\n", 1},
        {"tab\there\n", 0},
        {"blank at end \nx\n", 0},
        {"x ", 0},
        {" ", 0},
        {"  \nx\n", 0},
        {"cr\r\n", 0},
        {"bell\a\n", 0},
        {"del\x7F\n", 0},
        {"nel\xC2\x85\n", 0},
        {"ls\xE2\x80\xA8x\n", 0},
        {"ps\xE2\x80\xA9\n", 0},
        {"\xEF\xBB\xBF"
         "bom\n",
         0},
        {"c1\xC2\x9B\n", 0},
        {"\xEF\xBF\xBF\n", 0},
        {"arrow \xE2\x86\x92 dash \xE2\x80\x94\n", 1},
        {"nbsp\xC2\xA0\n", 1},
        {"\xF0\x9F\x98\x80\n", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_round_trip(str_of(cases[i].text), cases[i].literal);
    expect_round_trip(STR("nul\0inside\n"), 0);
}

Test(writer, long_lines_are_not_folded) {
    struct buf text = {0};
    for (int i = 0; i < 100000; i++)
        buf_add(&text, STR("tensor<1x2xf32>, "));
    buf_add(&text, STR("end\n"));
    expect_round_trip(buf_str(&text), 1);
    buf_addc(&text, '\t');
    expect_round_trip(buf_str(&text), 0);
    buf_free(&text);
}

Test(writer, round_trip_of_random_text) {
    static const char *const parts[] = {
        " ",  "\n", "a",  "\t", ":", "#",  "-",        "\xC2\x85",     "\xE2\x80\xA8",
        "\r", "|",  "\"", "\\", "%", "  ", "\xC3\xA9", "\xEF\xBB\xBF", "\xF0\x9F\x98\x80",
        "'",  "..."};
    uint32_t seed = 1;
    for (int i = 0; i < 5000; i++) {
        struct buf text = {0};
        for (int length = i % 9 + 1; length > 0; length--) {
            seed = seed * 1664525u + 1013904223u;
            buf_add(&text, str_of(parts[(seed >> 8) % (sizeof parts / sizeof *parts)]));
        }
        expect_round_trip(buf_str(&text), -1);
        buf_free(&text);
    }
}

/* ---- JSON ---- */

static json_object *member(json_object *map, const char *key) {
    json_object *j = NULL;
    cr_assert(json_object_object_get_ex(map, key, &j), "%s", key);
    return j;
}

Test(writer, texts_in_json_are_read_back) {
    static const char *const texts[] = {"", "a \"b\" \\ /", "two\nlines\t\x1B", "\xE2\x80\xA8 \xC2\x9B \x7F",
                                        "\xF0\x9F\x98\x80"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *text = written(str_of(texts[i]), MARKUP_JSON, TEXT_BLOCK);
        json_object *j = json_tokener_parse(text);
        cr_expect_str_eq(json_object_get_string(member(j, "notes")), texts[i], "%s", text);
        cr_expect(!strpbrk(text, "\x1B\x7F"), "%s", text);
        json_object_put(j);
        free(text);
    }
}

Test(writer, both_markups_have_one_layout) {
    static const char *const wanted[] = {"a:\n- 1\n- x: \"t\"\n  y: null\nb: []\nc: true\nf:\n  k: 2.50\n  w: word\n",
                                         "{\n  \"a\": [\n    1,\n    {\n      \"x\": \"t\",\n      \"y\": null\n"
                                         "    }\n  ],\n  \"b\": [],\n  \"c\": true,\n  \"f\": {\n    \"k\": 2.50,\n"
                                         "    \"w\": \"word\"\n  }\n}\n"};
    struct figure figures[] = {{STR("k"), STR("2.50"), true}, {STR("w"), STR("word"), false}};
    for (enum markup m = MARKUP_YAML; m <= MARKUP_JSON; m++) {
        struct writer w;
        char *text = NULL;
        size_t n = 0;
        FILE *out = open_memstream(&text, &n);
        write_begin(&w, m, out);
        write_map(&w);
        write_list_at(&w, "a");
        write_number(&w, 1);
        write_map(&w);
        write_pair(&w, "x", STR("t"), TEXT_QUOTED);
        write_pair_or_null(&w, "y", STR(""), TEXT_QUOTED);
        write_close(&w);
        write_close(&w);
        write_list_at(&w, "b");
        write_close(&w);
        write_pair_bool(&w, "c", true);
        write_figures(&w, "f", (struct figures){figures, 2});
        write_figures(&w, "absent", (struct figures){NULL, 0});
        write_close(&w);
        cr_assert(write_end(&w));
        fclose(out);
        cr_expect_str_eq(text, wanted[m]);
        free(text);
    }
}

Test(writer, a_stream_that_fails_is_an_error) {
    for (enum markup m = MARKUP_YAML; m <= MARKUP_JSON; m++) {
        struct writer w;
        FILE *out = fopen("/dev/full", "w");
        setvbuf(out, NULL, _IONBF, 0);
        write_begin(&w, m, out);
        write_map(&w);
        write_pair(&w, "a", STR("b"), TEXT_QUOTED);
        write_close(&w);
        cr_expect_not(write_end(&w), "%d", m);
        fclose(out);
    }
}

/* ---- text ---- */

static void write_sample(struct writer *w) {
    write_pair(w, "name", STR("a\033b"), TEXT_NAME);
    write_pair_number(w, "one", 1);
    write_pair_number(w, "zero", 0);
    write_pair_null(w, "nothing");
    write_list_at(w, "items");
    for (uint64_t i = 1; i <= 2; i++) {
        write_map(w);
        write_pair_number(w, "n", i);
        write_key(w, STR("us"));
        write_real(w, 1500 * (double)i);
        write_close(w);
    }
    write_close(w);
    write_close(w);
}

Test(writer, a_text_is_what_a_template_makes_of_the_document) {
    static const struct column columns[] = {{"n", "{n}"}, {"none", "{name}"}, {"time", "{us:us}"}, {NULL, NULL}};
    static const struct {
        struct template templates[2];
        const char *text;
    } cases[] = {
        {{{.text = "{name}, {one op}, {zero op}, {items item}\n"}}, "a\\x1Bb, 1 op, 0 ops, 2 items\n"},
        {{{.text = "{one?{one}|-}{zero?x|-}{nothing?x|-}{absent?x|}{items?+|}\n"}}, "1--+\n"},
        {{{.text = "{items*{n}={us:us}}; {items*{^one}{^n}}\n"}}, "1=1.5 ms, 2=3.0 ms; 1, 1\n"},
        {{{.of = "items", .text = "{n}", .apart = true}}, "1\n2"},
        {{{.of = "nothing", .text = "x"}}, ""},
        {{{.of = "items", .columns = columns, .indent = 2}}, "  n    time\n  1  1.5 ms\n  2  3.0 ms\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        size_t n = 0;
        FILE *out = open_memstream(&text, &n);
        struct writer w;
        write_as_text(&w, cases[i].templates, out);
        write_sample(&w);
        cr_expect(write_end(&w));
        fclose(out);
        cr_expect_str_eq(text, cases[i].text, "%zu", i);
        free(text);
    }
}

Test(writer, texts_that_differ_in_numbers_are_told_once) {
    static const struct template templates[] = {{.of = "items", .text = "layer {}: {^of}\n", .alike = true},
                                                {.text = NULL}};
    for (uint64_t many = 3; many <= 4; many++) {
        char *text = NULL;
        size_t n = 0;
        FILE *out = open_memstream(&text, &n);
        struct writer w;
        write_as_text(&w, templates, out);
        write_pair(&w, "of", STR("x"), TEXT_NAME);
        write_list_at(&w, "items");
        for (uint64_t i = 0; i < many; i++) {
            write_map(&w);
            write_pair_number(&w, "i", i);
            write_close(&w);
        }
        write_close(&w);
        write_close(&w);
        cr_expect(write_end(&w));
        fclose(out);
        cr_expect_eq(strstr(text, "    and 3 more like it\n") != NULL, many == 4, "%s", text);
        free(text);
    }
}
