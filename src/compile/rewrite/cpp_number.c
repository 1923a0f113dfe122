/* Numbers and conditions. What a condition asks of a match is a function of FusionMatch.h, a row each. */
#include "compile/rewrite/cpp.h"

#include <math.h>
#include <string.h>

#include "patterns/lang/condition.h"
#include "patterns/lang/infix.h"

static const struct {
    enum condition_id id;
    enum { CPP_ONLY, OF_VALUES, OF_AXES, OF_PLACE } pdll; /* what it asks: values; of the last name its axes; both */
    const char *function;
} functions[] = {
    {CONDITION_constant, OF_VALUES, "isConstant"},
    {CONDITION_scalar, OF_VALUES, "isScalar"},
    {CONDITION_parameter, OF_VALUES, "isParameter"},
    {CONDITION_stored, OF_VALUES, "isStored"},
    {CONDITION_stated_constant, OF_VALUES, "isConstant"},
    {CONDITION_same, OF_VALUES, "isSame"},
    {CONDITION_count_power, OF_VALUES, "isPowerOfCount"},
    {CONDITION_matrix, OF_VALUES, "isMatrix"},
    {CONDITION_along_axis, OF_AXES, "variesAlong"},
    {CONDITION_same_along, OF_AXES, "isSameAlong"},
    {CONDITION_repeated, OF_PLACE, "isRepeated"},
    {CONDITION_along_reduced, OF_PLACE, "variesAlongReduced"},
    {CONDITION_positions, CPP_ONLY, "isTable"},
    {CONDITION_aligned, CPP_ONLY, "isAligned"},
    {CONDITION_grouped, CPP_ONLY, "areGrouped"},
    {CONDITION_read_as, CPP_ONLY, "isReadAs"},
    {CONDITION_after, CPP_ONLY, "isAfter"},
    {CONDITION_channel_groups, CPP_ONLY, "areChannelGroups"},
    {CONDITION_regrouped, OF_VALUES, "isRegrouped"},
    {CONDITION_normalizes_channels, OF_VALUES, "normalizesChannels"},
    {CONDITION_pads_window, CPP_ONLY, "padsWindow"},
    {CONDITION_no_user, OF_VALUES, "hasNoUser"},
    {CONDITION_used_by, OF_VALUES, "isUsedBy"},
};

struct str cpp_double(struct arena *a, double x) {
    if (isinf(x))
        return x < 0 ? STR("-INFINITY") : STR("INFINITY");
    struct str text = arena_printf(a, "%.10g", x);
    return strcspn(text.p, ".e") < text.n ? text : arena_printf(a, "%s.0", text.p);
}

/* What a number speaks of, as an argument; empty where it has no name in C++. */
static struct str name_of_slot(struct cpp *c, uint32_t slot) {
    uint32_t there = c->formula == c->match ? slot : formula_slot(c->match, c->formula->slot_name[slot]);
    if (there == NONE || !cpp_slot(c, there).n)
        return cpp_cannot(c, "it speaks of a value that only the fused form has");
    return cpp_slot(c, there);
}

/* The text of a regular expression; empty where only PCRE has it. */
static struct str regex_text(const struct cpp *c, const pcre2_code *code) {
    const struct regexes *all = &c->set->conditions.regexes;
    for (uint32_t i = 0; i < all->n; i++)
        if (all->items[i].code == code && !str_find(all->items[i].text, STR("(?")) &&
            !str_find(all->items[i].text, STR("\\")))
            return all->items[i].text;
    return STR("");
}

/* The function that has the same name in PDLL, begun with a capital. */
static struct str pdll_call(struct cpp *c, const struct number *n, size_t row) {
    struct str name = cpp_camel(c->arena, str_of(functions[row].function)), text = STR(""), x, frame = STR("");
    for (uint32_t k = 0; k < n->nargs; k++) {
        bool axes = functions[row].pdll == OF_AXES && k + 1 == n->nargs;
        if (c->way->frame_of[n->args[k]] != c->way->frame_of[n->args[0]] && functions[row].pdll != OF_VALUES)
            return cpp_cannot(c, "%s of values with other axes", condition_table[n->call].name);
        frame = pdll_frame(c, n->args[k]);
        x = axes ? frame : name_of_slot(c, n->args[k]);
        if (!x.n)
            return x;
        text = arena_printf(c->arena, "%s%s%s", text.p, k ? ", " : "", x.p);
    }
    if (functions[row].pdll == OF_PLACE)
        text = arena_printf(c->arena, "%s, %s", text.p, frame.p);
    for (uint32_t k = 0; k < n->ngiven; k++)
        text = arena_printf(c->arena, "%s, %d", text.p, n->given[k]);
    if (n->regex) {
        struct str regex = regex_text(c, n->regex);
        if (!regex.n)
            return cpp_cannot(c, "the expression is none of LLVM's");
        text = arena_printf(c->arena, "%s, '%.*s'", text.p, (int)regex.n, regex.p);
    }
    return arena_printf(c->arena, "%s(%s)", name.p, text.p);
}

static struct str call(struct cpp *c, const struct number *n) {
    if (n->call == NONE) /* a definition */
        return cpp_number(c, n->a);
    const struct condition_info *info = &condition_table[n->call];
    if (n->sources || n->printed)
        return cpp_cannot(c, "%s of a value as it is printed", info->name);
    if (n->call == CONDITION_present) {
        struct str x = name_of_slot(c, n->args[0]);
        return x.n ? arena_printf(c->arena, "match.has(%.*s)", (int)x.n, x.p) : x;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (functions[i].id != (enum condition_id)n->call || (c->way && functions[i].pdll == CPP_ONLY))
            continue;
        if (c->way)
            return pdll_call(c, n, i);
        struct str text = arena_printf(c->arena, "%s(match", functions[i].function);
        for (uint32_t k = 0; k < n->nargs; k++) {
            struct str x = name_of_slot(c, n->args[k]);
            if (!x.n)
                return x;
            text = arena_printf(c->arena, "%s, %.*s", text.p, (int)x.n, x.p);
        }
        bool list = n->call == CONDITION_read_as;
        for (uint32_t k = 0; k < n->ngiven; k++)
            text = arena_printf(c->arena, "%s, %s%d%s", text.p, list && k == 0 ? "{" : "", n->given[k],
                                list && k + 1 == n->ngiven ? "}" : "");
        if (n->regex) {
            struct str regex = regex_text(c, n->regex);
            if (!regex.n)
                return cpp_cannot(c, "the expression is none of LLVM's");
            text = arena_printf(c->arena, "%s, %s", text.p, cpp_quoted(c, regex).p);
        }
        return arena_printf(c->arena, "%s)", text.p);
    }
    return cpp_cannot(c, "%s", info->says);
}

static struct str measure(struct cpp *c, const struct number *n) {
    static const char *const plain[MEASURES] = {[MEASURE_rank] = "rankOf",
                                                [MEASURE_size] = "sizeAt",
                                                [MEASURE_numel] = "numberOfElements",
                                                [MEASURE_dtype] = "elementTypeOf",
                                                [MEASURE_siblings] = "siblingsOf"};
    struct str x = name_of_slot(c, n->slot);
    if (!x.n)
        return x;
    if (n->sources || n->printed)
        return cpp_cannot(c, "%s of a value as it is printed", measure_table[n->call].name);
    if (c->way && n->call == MEASURE_attribute)
        return arena_printf(c->arena, "AttributeOf(%s, '%s')", x.p, n->key);
    if (n->call == MEASURE_attribute)
        return arena_printf(c->arena, "attributeOf(match, %.*s, \"%s\")", (int)x.n, x.p, n->key);
    if (n->call >= MEASURE_begin && n->call <= MEASURE_cut && !c->way)
        return arena_printf(c->arena, "boundsOf(match, %.*s).%s", (int)x.n, x.p, measure_table[n->call].name);
    if (!plain[n->call] || (c->way && n->call == MEASURE_siblings))
        return cpp_cannot(c, "%s", measure_table[n->call].says);
    if (c->way)
        return arena_printf(c->arena, n->call == MEASURE_size ? "%s(%s, %d)" : "%s(%s)",
                            cpp_camel(c->arena, str_of(plain[n->call])).p, x.p, n->given[0]);
    return n->call == MEASURE_size ? arena_printf(c->arena, "sizeAt(match, %.*s, %d)", (int)x.n, x.p, n->given[0])
                                   : arena_printf(c->arena, "%s(match, %.*s)", plain[n->call], (int)x.n, x.p);
}

static struct str extent_text(struct cpp *c, const struct number *n) {
    if (c->way) {
        struct str frame = pdll_frame(c, n->slot);
        return frame.n ? arena_printf(c->arena, "SizeAt(%s, %d)", frame.p, n->axis)
                       : cpp_cannot(c, "it speaks of a value that only the fused form has");
    }
    if (n->slot == NONE && c->in_condition)
        return cpp_cannot(c, "extent of the axes of the formula");
    if (n->slot == NONE)
        return arena_printf(c->arena, "extentHere(match, %d)", n->axis);
    struct str x = name_of_slot(c, n->slot);
    return x.n ? arena_printf(c->arena, "extentOf(match, %.*s, %d)", (int)x.n, x.p, n->axis) : x;
}

/* What a definition says, or the condition itself. */
static const struct number *said(const struct number *n) {
    while (n->op == NUM_CALL && n->call == NONE)
        n = n->a;
    return n;
}

static enum binding_power power_of(const struct number *n) {
    n = said(n);
    if (n->op == NUM_NOT) { /* as cpp_not writes it */
        const struct number *of = said(n->a);
        return of->op == NUM_NOT                      ? power_of(of->a)
               : of->op == NUM_OR                     ? P_AND
               : of->op == NUM_EQ || of->op == NUM_NE ? P_COMPARISON
                                                      : P_WORD;
    }
    const struct infix *sign = infix_of_number(n->op);
    return sign && n->op != NUM_MOD ? sign->power : P_WORD;
}

/* An operand of a sign; && within || has brackets, too. */
static struct str operand(struct cpp *c, const struct number *n, enum binding_power power) {
    struct str x = cpp_number(c, n);
    bool both = power == P_EITHER && power_of(n) == P_AND;
    return x.n && (power_of(n) < power || both) ? arena_printf(c->arena, "(%s)", x.p) : x;
}

static struct str operands(struct cpp *c, const struct number *n, const char *sign) {
    enum binding_power power = power_of(n);
    struct str a = operand(c, n->a, power), b = a.n ? operand(c, n->b, power + (power >= P_COMPARISON)) : a;
    return b.n ? arena_printf(c->arena, "%s %s %s", a.p, sign, b.p) : b;
}

static struct str one_operand(struct cpp *c, const struct number *n, const char *before) {
    struct str a = operand(c, n->a, before[1] ? P_EITHER : P_WORD);
    return a.n ? arena_printf(c->arena, before[1] ? "%s(%s)" : "%s%s", before, a.p) : a;
}

/* A sign as a function. */
static struct str pdll_sign(struct cpp *c, const struct number *n) {
    static const char *const names[] = {
        [NUM_NEG] = "Negate", [NUM_ADD] = "Plus",       [NUM_SUB] = "Minus",  [NUM_MUL] = "Times",
        [NUM_DIV] = "Over",   [NUM_SQRT] = "Root",      [NUM_EQ] = "Equal",   [NUM_NE] = "NotEqual",
        [NUM_LT] = "Less",    [NUM_LE] = "LessOrEqual", [NUM_GT] = "Greater", [NUM_GE] = "GreaterOrEqual",
        [NUM_AND] = "And",    [NUM_OR] = "Or",          [NUM_NOT] = "Not",    [NUM_MOD] = "Remainder",
    };
    int a_known = n->op == NUM_AND || n->op == NUM_OR ? pdll_known(c, n->a) : -1;
    int b_known = n->op == NUM_AND || n->op == NUM_OR ? pdll_known(c, n->b) : -1;
    if (a_known >= 0 || b_known >= 0) /* else all of it would be known */
        return cpp_number(c, a_known >= 0 ? n->b : n->a);
    struct str a = cpp_number(c, n->a), b = n->b && a.n ? cpp_number(c, n->b) : a;
    return b.n ? arena_printf(c->arena, "%s(%s%s%s)", names[n->op], a.p, n->b ? ", " : "", n->b ? b.p : "") : b;
}

struct str cpp_number(struct cpp *c, const struct number *n) {
    static const char *const signs[] = {
        [NUM_ADD] = "+", [NUM_SUB] = "-", [NUM_MUL] = "*", [NUM_DIV] = "/", [NUM_EQ] = "==",  [NUM_NE] = "!=",
        [NUM_LT] = "<",  [NUM_LE] = "<=", [NUM_GT] = ">",  [NUM_GE] = ">=", [NUM_AND] = "&&", [NUM_OR] = "||",
    };
    if (c->way && pdll_known(c, n) >= 0)
        return cpp_double(c->arena, pdll_known(c, n));
    if (c->way && n->op >= NUM_NEG && n->op <= NUM_MOD)
        return pdll_sign(c, n);
    switch (n->op) {
    case NUM_VALUE:
        return cpp_double(c->arena, n->value);
    case NUM_EXTENT:
        return extent_text(c, n);
    case NUM_NEG:
        return one_operand(c, n, "-");
    case NUM_NOT:
        return cpp_not(c, n->a);
    case NUM_SQRT:
        return one_operand(c, n, "std::sqrt");
    case NUM_MOD: {
        struct str a = cpp_number(c, n->a), b = a.n ? cpp_number(c, n->b) : a;
        return b.n ? arena_printf(c->arena, "std::fmod(%s, %s)", a.p, b.p) : b;
    }
    case NUM_MEASURE:
        return measure(c, n);
    case NUM_VALUE_OF: {
        struct str x = name_of_slot(c, n->slot);
        return x.n ? arena_printf(c->arena, c->way ? "ValueOf(%.*s)" : "valueOf(match, %.*s)", (int)x.n, x.p) : x;
    }
    case NUM_CALL:
        return call(c, n);
    default:
        return operands(c, n, signs[n->op]);
    }
}

/* That one of several does not hold, beside &&. */
static struct str not_operand(struct cpp *c, const struct number *n) {
    struct number none = {.op = NUM_NOT, .a = n};
    struct str x = cpp_not(c, n);
    return x.n && power_of(&none) < P_AND ? arena_printf(c->arena, "(%s)", x.p) : x;
}

struct str cpp_not(struct cpp *c, const struct number *n) {
    n = said(n);
    if (n->op == NUM_NOT)
        return cpp_number(c, n->a);
    if (n->op == NUM_EQ || n->op == NUM_NE)
        return operands(c, n, n->op == NUM_EQ ? "!=" : "==");
    if (n->op == NUM_OR) {
        struct str a = not_operand(c, n->a), b = a.n ? not_operand(c, n->b) : a;
        return b.n ? arena_printf(c->arena, "%s && %s", a.p, b.p) : b;
    }
    struct str x = cpp_number(c, n);
    return x.n ? cpp_negated(c, x) : x;
}
