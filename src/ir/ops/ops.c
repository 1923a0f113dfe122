/* The operator table and its look-ups by name. */
#include "ir/ops/ops.h"

#include <stdlib.h>
#include <string.h>

const struct op_info op_table[OPERATORS] = {
    [NO_OPERATOR] = {.name = "", .roles = "*", .spellings = ""},
#define OP(id, n, c, r, how, value, ...) [K_##id] = {.name = n, .class = OP_##c, .roles = r, .spellings = __VA_ARGS__},
#include "ir/ops/ops.def"
};

const char *const window_dim_keys[MAX_WINDOW][MAX_WINDOW] = {
    {"length_dim"}, {"height_dim", "width_dim"}, {"depth_dim", "height_dim", "width_dim"}};
const char *const window_size_keys[MAX_WINDOW][MAX_WINDOW] = {
    {"input_length"}, {"input_height", "input_width"}, {"input_depth", "input_height", "input_width"}};

static const uint8_t name_lengths[OPERATORS] = {
#define OP(id, n, ...) [K_##id] = sizeof(n) - 1,
#include "ir/ops/ops.def"
};

enum op_kind op_kind_of_name(struct str neutral) {
    const uint8_t *at = name_lengths, *end = name_lengths + OPERATORS;
    while (neutral.n > 0 && neutral.n < 256 && (at = memchr(at + 1, (int)neutral.n, (size_t)(end - at - 1))) != NULL) {
        const char *name = op_table[at - name_lengths].name;
        if (*name == *neutral.p && memcmp(name, neutral.p, neutral.n) == 0)
            return (enum op_kind)(at - name_lengths);
    }
    return NO_OPERATOR;
}

static bool has_word(const char *words, struct str w) {
    for (const char *p = words; p; p = strchr(p, ' ')) {
        p += *p == ' ';
        if (strncmp(p, w.p, w.n) == 0 && (p[w.n] == ' ' || p[w.n] == '\0'))
            return true;
    }
    return false;
}

/* Most spellings are the neutral name in a dialect: that operator is asked first. */
enum op_kind op_kind_of_spelling(struct str spelling) {
    if (spelling.n == 0 || memchr(spelling.p, 0, spelling.n) || memchr(spelling.p, ' ', spelling.n))
        return NO_OPERATOR; /* no word has these */
    const char *dot = memrchr(spelling.p, '.', spelling.n), *from = dot ? dot + 1 : spelling.p;
    enum op_kind likely = op_kind_of_name((struct str){from, (size_t)(spelling.p + spelling.n - from)});
    if (likely != NO_OPERATOR && has_word(op_table[likely].spellings, spelling))
        return likely;
    for (int k = 1; k < OPERATORS; k++)
        if (has_word(op_table[k].spellings, spelling))
            return (enum op_kind)k;
    return NO_OPERATOR;
}

struct str op_spelling(enum op_kind k, const char *dialect, const char *end) {
    for (struct str rest = str_of(op_table[k].spellings); rest.n;) {
        struct str one = str_part(&rest, ' ');
        if (str_starts(one, str_of(dialect)) && str_ends(one, str_of(end)))
            return one;
    }
    return STR("");
}

const char *op_nearest_name(struct str misspelt) {
    const char *names[OPERATORS];
    for (int k = 1; k < OPERATORS; k++)
        names[k - 1] = op_table[k].name;
    return str_nearest(misspelt, names, OPERATORS - 1);
}

/* ---- attributes ---- */

/* What stands behind "KEY" and the sign in words between blanks or commas; false where none is of that key. */
static bool word_of_key(const char *words, struct str key, char sign, struct str *rest) {
    for (const char *p = words; p && *p; p += strspn(p, " ,")) {
        size_t n = strcspn(p, " ,");
        if (n > key.n && memcmp(p, key.p, key.n) == 0 && p[key.n] == sign) {
            *rest = (struct str){p + key.n + 1, n - key.n - 1};
            return true;
        }
        p += n;
    }
    return false;
}

bool op_works_along(enum op_kind k, struct str key) {
    for (const char *const *a = op_table[k].axes; *a; a++)
        if (str_is(key, *a))
            return true;
    return false;
}

enum dims_role op_dims_role(enum op_kind k, struct str key) {
    static const char *const names[] = {
        [DIMS_AXIS] = "axis",   [DIMS_ORDER] = "order", [DIMS_BEGINS] = "begins",   [DIMS_ENDS] = "ends",
        [DIMS_STEPS] = "steps", [DIMS_SHAPE] = "shape", [DIMS_FACTORS] = "factors", [DIMS_FACTOR] = "factor",
        [DIMS_SIZES] = "sizes", [DIMS_COUNT] = "count"};
    struct str role;
    if (op_works_along(k, key))
        return DIMS_AXIS;
    if (word_of_key(op_table[k].dims, key, ':', &role))
        for (int i = DIMS_AXIS; i <= DIMS_COUNT; i++)
            if (str_is(role, names[i]))
                return (enum dims_role)i;
    return DIMS_NONE;
}

/* One of the words begins with the key, before a sign of theirs. */
static bool has_key(const char *words, struct str key) {
    for (const char *p = words; p && *p; p += strcspn(p, " ,"), p += strspn(p, " ,"))
        if (strcspn(p, ":=~ ,") == key.n && memcmp(p, key.p, key.n) == 0)
            return true;
    return false;
}

/* "slope=parameter": an operand or the attribute. */
static bool stands_for_operand(enum op_kind k, struct str key) {
    bool found = false;
    for (struct str roles = str_of(op_table[k].roles); roles.n && !found;) {
        struct str role = str_item(&roles);
        (void)str_part(&role, '=');
        found = role.n && str_eq(role, key);
    }
    return found;
}

/* How an op is run, not what it computes; or what is folded into it. */
static bool may_stand_on_any(struct str key) {
    return str_find(key, STR("config")) || str_find(key, STR("activation")) ||
           has_word("dtype layout operandSegmentSizes topology num_links sub_device_id use_multicore", key);
}

bool op_may_have(enum op_kind k, struct str key) {
    const struct op_info *op = &op_table[k];
    const char *const columns[] = {op->attributes, op->strict,  op->dims,    op->absent,  op->in_formula,  op->axes[0],
                                   op->axes[1],    op->axes[2], op->says[0], op->says[1], op->channels.key};
    bool may = may_stand_on_any(key) || stands_for_operand(k, key);
    for (size_t i = 0; i < sizeof columns / sizeof *columns && !may; i++)
        may = has_key(columns[i], key);
    return may || !(op->attributes || op->class == OP_ELTWISE);
}

bool op_default(const char *defaults, struct str key, bool ttnn, struct str *value) {
    if (!word_of_key(defaults, key, '=', value))
        return false;
    const char *slash = memchr(value->p, '/', value->n);
    if (slash)
        *value = ttnn ? (struct str){slash + 1, (size_t)(value->p + value->n - slash - 1)}
                      : (struct str){value->p, (size_t)(slash - value->p)};
    return true;
}

uint32_t op_operand_of_role(enum op_kind k, struct str role) {
    struct str rest = str_of(op_table[k].roles);
    for (uint32_t i = 0; rest.n; i++) {
        struct str one = str_item(&rest);
        one.n = strcspn(one.p, ",?=");
        if (str_eq(one, role))
            return i;
    }
    return NONE;
}

struct str op_role_attribute(enum op_kind k, struct str role) {
    struct str attribute;
    return word_of_key(op_table[k].roles, role, '=', &attribute) ? attribute : STR("");
}
