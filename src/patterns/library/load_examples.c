/* Examples of patterns: pieces of IR that a pattern has to match, or must not. They stand in a file beside that of the
 * patterns, under their names, or under the key `tests` of the pattern itself. */
#include <string.h>

#include "patterns/library/loader.h"
#include "patterns/library/shorthand.h"

enum { MAX_EXAMPLES = 10000 }; /* of one pattern; each may stand for both dialects */

static const char *const argument_types[] = {"input", "parameter", "constant", "unknown"};

static bool is_argument_type(struct str type) {
    for (size_t i = 0; i < sizeof argument_types / sizeof *argument_types; i++)
        if (str_is(type, argument_types[i]))
            return true;
    return false;
}

/* "w: parameter", or with the model's name: "w: parameter layers.0.weight". */
static void load_argument(struct loader *l, struct example *e, const struct tree *key, const struct tree *value) {
    if (!is_scalar(l, key) || !is_scalar(l, value))
        return;
    struct str name = key->text, text = str_trim(value->text);
    const char *blank = memchr(text.p, ' ', text.n);
    struct str type = {text.p, blank ? (size_t)(blank - text.p) : text.n};
    if (str_starts(name, STR("%")))
        name = (struct str){name.p + 1, name.n - 1};
    if (!is_argument_type(type)) {
        error_at(l, value, "one of input, parameter, constant, unknown; a model name may follow",
                 "unknown argument type: ", type);
        return;
    }
    struct str model = str_trim((struct str){type.p + type.n, text.n - type.n});
    e->args[e->nargs++] = (struct example_arg){name, type, model};
}

static void load_arguments(struct loader *l, struct example *e, const struct tree *map) {
    if (map->kind != TREE_MAPPING) {
        error_at(l, map, "args: {w: parameter}", "`args` says what the arguments are", STR(""));
        return;
    }
    e->args = arena_alloc(&l->set->arena, (map->n + (size_t)1) * sizeof *e->args);
    for (const struct tree *k = map->first; k && !l->in.failed; k = k->next)
        load_argument(l, e, k, k->value);
}

static struct source_location place_in_text(const struct example *e, size_t at) {
    struct source_location p = {e->origin.file->path, e->origin.line, e->origin.column};
    size_t line = 0;
    for (size_t i = 0; i < at && i < e->text.n; i++)
        if (e->text.p[i] == '\n') {
            p.line++;
            line = i + 1;
        }
    p.column += (uint32_t)(at - line);
    return p;
}

/* Of several ops that YAML has made one line. */
static const char *hint_of(struct str text) {
    const char *first = str_find(text, STR(" = "));
    struct str rest = first ? (struct str){first + 3, (size_t)(text.p + text.n - first) - 3} : STR("");
    bool folded = !memchr(text.p, '\n', text.n) && !memchr(text.p, ';', text.n) && str_find(rest, STR(" = "));
    return folded ? "each op has a line of its own, which YAML keeps in texts behind `|`" : NULL;
}

/* IR in short becomes MLIR of one dialect. */
static void expand(struct loader *l, struct example *e, const char *dialect) {
    struct shorthand_error error = {0};
    struct str text;
    if (shorthand_is_mlir(e->text))
        return;
    if (shorthand_expand(e->text, dialect, "bf16", &l->set->arena, &text, &error)) {
        e->text = text;
        return;
    }
    diag_add(l->in.diags, SEV_ERROR, place_in_text(e, error.at), hint_of(e->text), "%.*s", (int)error.message.n,
             error.message.p);
    l->in.failed = true;
}

struct example_record {
    const struct tree *hit, *miss, *args, *level;
    struct str name, because, explains, says;
};

/* What only tests of one kind may say. */
static void check_example(struct loader *l, const struct example_record *r, const struct tree *map) {
    if ((r->hit != NULL) == (r->miss != NULL))
        error_at(l, map, NULL, "a test has either `hit` or `miss`, with IR as text", STR(""));
    else if (r->hit && r->because.n)
        error_at(l, tree_lookup(map, "because"), NULL, "`because` says why a `miss` is none", STR(""));
    else if (r->hit && r->explains.n)
        error_at(l, tree_lookup(map, "explains"), NULL, "`explains` is what `explain` says of a `miss`", STR(""));
    else if (r->miss && r->says.n)
        error_at(l, tree_lookup(map, "says"), NULL, "`says` is what the notes say of a `hit`", STR(""));
}

#define EXAMPLE(key, kind)                                                                                             \
    { #key, kind, false, offsetof(struct example_record, key), NULL, NULL }

/* `level`: the dialect that operators without one are spelled in; both: the example is two. */
static void load_example(struct loader *l, struct pattern *p, const struct tree *map) {
    static const struct field fields[] = {EXAMPLE(hit, FIELD_SCALAR),    EXAMPLE(miss, FIELD_SCALAR),
                                          EXAMPLE(name, FIELD_TEXT),     EXAMPLE(level, FIELD_SCALAR),
                                          EXAMPLE(args, FIELD_TREE),     EXAMPLE(because, FIELD_TEXT),
                                          EXAMPLE(explains, FIELD_TEXT), EXAMPLE(says, FIELD_TEXT)};
    struct example_record r = {.hit = NULL};
    if (!READ_RECORD(
            l, map, fields,
            "a test has `hit` or `miss`, and may have `name`, `level`, `args`, `because`, `explains` and `says`", &r))
        return;
    check_example(l, &r, map);
    struct str level = r.level ? r.level->text : STR("ttir");
    bool both = str_is(level, "both");
    if (!l->in.failed && !both && !str_is(level, "ttir") && !str_is(level, "ttnn"))
        error_at(l, r.level, "ttir, ttnn or both", "unknown level: ", level);
    if (l->in.failed)
        return;
    const struct tree *text = r.hit ? r.hit : r.miss;
    struct example *e = &p->examples[p->nexamples++];
    *e = (struct example){.hit = r.hit != NULL,
                          .text = text->text,
                          .origin = origin_of(l, text),
                          .line = map->line,
                          .name = r.name,
                          .because = r.because,
                          .explains = r.explains,
                          .says = r.says,
                          .one_of_two = both ? "ttir" : NULL};
    if (r.args)
        load_arguments(l, e, r.args);
    if (both && !l->in.failed) {
        struct example *other = &p->examples[p->nexamples++];
        *other = *e;
        other->one_of_two = "ttnn";
        expand(l, other, "ttnn");
    }
    if (!l->in.failed)
        expand(l, e, str_is(level, "ttnn") ? "ttnn" : "ttir");
}

void load_examples(struct loader *l, struct pattern *p, const struct tree *n) {
    if (l->set->no_examples)
        return;
    if (n->kind != TREE_SEQUENCE) {
        error_at(l, n, "tests: [{hit: ...}, {miss: ...}]", "`tests` is a list", STR(""));
        return;
    }
    if (n->n > MAX_EXAMPLES) {
        error_at(l, n, NULL, "too many examples", STR(""));
        return;
    }
    p->examples = arena_alloc(&l->set->arena, (2 * (size_t)n->n + 1) * sizeof *p->examples);
    p->nexamples = 0;
    for (const struct tree *i = n->first; i && !l->in.failed; i = i->next)
        load_example(l, p, i);
}

static struct pattern *pattern_of_file(const struct pattern_set *set, struct str name, const char *file) {
    struct pattern *p = find_pattern(set, name);
    for (struct pattern *r = set->retired; r && !(p && strcmp(p->file->path, file) == 0); r = r->next_retired)
        if (str_eq(r->name, name))
            p = r;
    return p && strcmp(p->file->path, file) == 0 ? p : NULL;
}

void load_test_document(struct loader *l, const char *patterns, const struct tree *map) {
    if (map->kind != TREE_MAPPING) {
        error_at(l, map, "linear: [{hit: ...}, {miss: ...}]", "a list of tests for each pattern is meant", STR(""));
        return;
    }
    for (const struct tree *i = map->first; i && !l->in.failed; i = i->next) {
        const struct tree *key = i;
        struct pattern *p = is_scalar(l, key) ? pattern_of_file(l->set, key->text, patterns) : NULL;
        if (p)
            load_examples(l, p, i->value);
        else if (!l->in.failed)
            error_at(l, key, NULL, "tests of a pattern that is not in the file beside this one: ", key->text);
    }
}
