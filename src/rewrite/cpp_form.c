/* The fused form as variables of type Tensor, made by a Form. */
#include "rewrite/cpp.h"

#include <stdlib.h>
#include <string.h>

#include "lang/condition.h"
#include "library/lowering.h"

static struct str tensor(struct cpp *c, const struct node *n);

/* ---- what is present ---- */

/* Joins two conditions; an empty one always holds. */
static struct str both(struct cpp *c, struct str a, struct str b) {
    return a.n && b.n && !str_eq(a, b) ? arena_printf(c->arena, "%s && %s", a.p, b.p) : a.n ? a : b;
}

/* That the match has the names of a number. */
static const char *absent(const struct cpp *c) {
    return c->way ? "()" : "{}";
}

/* A name of the match. */
static struct str name_of(struct cpp *c, struct str name) {
    return c->way ? cpp_slot(c, formula_slot(c->match, name)) : cpp_name(c, name);
}

/* A call of a function of Form, of these operands; in PDLL of one that is called alike. `op`: its class, or K_UNKNOWN.
 */
static struct str form_call(struct cpp *c, const char *function, enum op_kind k, struct str args) {
    struct str op = k == K_UNKNOWN ? STR("") : c->way ? pdll_op_name(c, k) : cpp_class(c, k);
    if (k != K_UNKNOWN && !op.n)
        return op;
    if (!c->way)
        return arena_printf(c->arena, "form.%s%s%s%s(%s)", function, op.n ? "<" : "", op.p, op.n ? ">" : "", args.p);
    op = op.n ? arena_printf(c->arena, "attr<\"\\\"%s\\\"\">, ", op.p) : op;
    return arena_printf(c->arena, "%s(%s, %s%s)", cpp_camel(c->arena, str_of(function)).p, c->way->root.p, op.p,
                        args.p);
}

static struct str number_needs(struct cpp *c, const struct formula *f, const struct number *n) {
    if (!n)
        return STR("");
    struct str a = number_needs(c, f, n->a), b = number_needs(c, f, n->b), own = STR("");
    bool is_root = n->slot != NONE && f->root->kind == N_NAMED && f->root->slot == n->slot;
    if (n->slot != NONE && n->op != NUM_VALUE && n->op != NUM_CALL && !is_root)
        own = !c->way                ? arena_printf(c->arena, "match.has(%s)", cpp_name(c, f->slot_name[n->slot]).p)
              : pdll_has(c, n->slot) ? own
                                     : STR("absent");
    return both(c, own, both(c, a, b));
}

/* The number of an attribute of the form, over the names of the match: of a name, or an expression. NULL with a
 * reason. */
static const struct number *attribute_of(struct cpp *c, const struct attr_spec *a) {
    uint32_t slot = formula_slot(c->match, a->value);
    const struct number *n = NULL;
    struct diags none = {.arena = c->arena};
    if (slot != NONE) {
        struct number *of = arena_alloc(c->arena, sizeof *of);
        *of = (struct number){.op = NUM_VALUE_OF, .slot = slot};
        return of;
    }
    bool ok = condition_parse(&n, c->match, c->arena, a->value, (struct text_origin){"", 1, 1}, NULL, &none);
    diags_free(&none);
    if (!ok)
        cpp_cannot(c, "the fused form has an attribute that is no number: %s", a->key);
    return ok ? n : NULL;
}

static struct str attribute_text(struct cpp *c, const struct attr_spec *a) {
    const struct formula *form = c->formula;
    const struct number *n = attribute_of(c, a);
    c->formula = c->match;
    struct str text = n ? cpp_number(c, n) : STR("");
    c->formula = form;
    return text;
}

/* The condition under which the numbers of an op's attributes are known; empty: always. */
static struct str attributes_need(struct cpp *c, const struct node *n) {
    struct str all = STR("");
    bool of_form = op_table[n->op].class == OP_SLICE || op_table[n->op].class == OP_MOVE || op_convolves(n->op) ||
                   (n->op == K_SDPA && !c->way);
    for (uint32_t i = 0; i < n->nattrs && !of_form; i++) {
        const struct number *x = attribute_of(c, &n->attrs[i]);
        all = both(c, all, x ? number_needs(c, c->match, x) : STR(""));
    }
    return all;
}

/* ---- ops ---- */

static const struct attr_spec *attribute_named(const struct node *n, const char *key) {
    for (uint32_t i = 0; i < n->nattrs; i++)
        if (strcmp(n->attrs[i].key, key) == 0)
            return &n->attrs[i];
    return NULL;
}

/* The operands, absent ones as "{}". */
static bool operands(struct cpp *c, const struct node *n, struct str *v, uint32_t most) {
    for (uint32_t i = 0; i < most; i++)
        v[i] = str_of(absent(c));
    if (n->nargs > most) {
        cpp_cannot(c, "the fused form has too many operands of %s", op_table[n->op].name);
        return false;
    }
    for (uint32_t i = 0; i < n->nargs; i++) {
        v[i] = tensor(c, n->args[i]);
        if (!v[i].n)
            return false;
    }
    return true;
}

/* The bits of an attribute that is an integer, as the op table has it; 0: it is none. */
static int integer_bits(enum op_kind k, const char *key) {
    for (struct str rest = str_of(op_table[k].attributes ? op_table[k].attributes : ""); rest.n;) {
        struct str type = str_part(&rest, ' '), name = str_part(&type, ':');
        if (str_is(name, key))
            return str_starts(type, STR("i64")) ? 64 : str_starts(type, STR("i32")) ? 32 : 0;
    }
    return 0;
}

/* ", {form.number("epsilon", 1e-05)}" of the attributes that the form says, empty where it says none; the others are
 * those of the match. False with a reason. */
static bool attributes(struct cpp *c, const struct node *n, struct str *text) {
    *text = STR("");
    for (uint32_t i = 0; i < n->nattrs; i++) {
        struct str value = attribute_text(c, &n->attrs[i]);
        if (!value.n)
            return false;
        int bits = integer_bits(n->op, n->attrs[i].key);
        if (c->way && (bits || n->op == K_GROUP_NORM)) {
            cpp_cannot(c, "the attribute %s of %s", n->attrs[i].key, op_table[n->op].name);
            return false;
        }
        if (c->way) {
            bool norm = op_table[n->op].class == OP_AXISWISE;
            *text = arena_printf(c->arena, "%s%s%s%sFloat(%s)", text->p, i ? ", " : "", norm ? "" : n->attrs[i].key,
                                 norm ? "" : " = ", pdll_asked(c, value).p);
            continue;
        }
        *text = arena_printf(c->arena, bits ? "%s%sform.integer(\"%s\", %s, %d)" : "%s%sform.number(\"%s\", %s)",
                             text->p, i ? ", " : "", n->attrs[i].key, value.p, bits);
    }
    *text = text->n && !c->way ? arena_printf(c->arena, ", {%s}", text->p) : *text;
    return true;
}

static struct str attention(struct cpp *c, const struct node *n, const struct str *v) {
    const struct attr_spec *a = attribute_named(n, "scale");
    struct str scale = a ? attribute_text(c, a) : c->way ? STR("attr<\"unit\">") : STR("std::nullopt");
    return scale.n ? form_call(c, "attention", K_UNKNOWN,
                               arena_printf(c->arena, "%s, %s, %s, %s, %s, %s", v[0].p, v[1].p, v[2].p, v[3].p, v[4].p,
                                            scale.p))
                   : scale;
}

static struct str slice_form(struct cpp *c, const struct node *n, struct str x) {
    const struct attr_spec *begin = attribute_named(n, "begin"), *end = attribute_named(n, "end");
    bool first = n->dim.given && begin && end && str_is(begin->value, "0") && str_is(end->value, "1");
    if (first && c->way)
        return x; /* has one element there: as all values in PDLL have a dimension for each axis */
    if (first)
        return arena_printf(c->arena, "form.first(%s, %d)", x.p, n->dim.axis);
    if (c->way || !n->dim.given || !begin || n->nattrs != 1 + (end != NULL))
        return cpp_cannot(c, "the fused form slices with a step, or without an axis");
    struct str from = attribute_text(c, begin), to = end && from.n ? attribute_text(c, end) : STR("INFINITY");
    return from.n && to.n ? arena_printf(c->arena, "form.slice(%s, %d, %s, %s)", x.p, n->dim.axis, from.p, to.p)
                          : STR("");
}

/* The next item of a list whose items may have commas within brackets. */
static struct str next_item(struct str *rest) {
    size_t n = cpp_item_end(*rest);
    struct str one = str_trim((struct str){rest->p, n});
    n += n < rest->n;
    *rest = (struct str){rest->p + n, rest->n - n};
    return one;
}

/* A number that the form names in a text. */
static struct str number_text(struct cpp *c, const char *key, struct str text) {
    const struct attr_spec a = {.key = key, .value = text};
    return attribute_text(c, &a);
}

/* reshape(x, shape="1, numel(x)"): all that x varies along as one dimension between ones; any other shape as numbers;
 * like=y: as the value is put in the place of y. */
static struct str reshaped_form(struct cpp *c, const struct node *n, struct str x) {
    const struct attr_spec *shape = attribute_named(n, "shape");
    uint32_t before = 0, after = 0, longer = 0;
    struct str list = STR("");
    if (attribute_named(n, "like"))
        return x;
    for (struct str rest = shape ? shape->value : STR(""); rest.n;) {
        bool one = str_is(next_item(&rest), "1");
        before += one && !longer;
        after += one && longer;
        longer += !one;
    }
    const char *numbers = c->way ? "%s, attr<\"%u\">, attr<\"%u\">" : "%s, %u, %u";
    if (longer == 1)
        return form_call(c, "asOneAxis", K_UNKNOWN, arena_printf(c->arena, numbers, x.p, before, after));
    if (c->way)
        return cpp_cannot(c, "the fused form reshapes to several dimensions");
    for (struct str rest = shape ? shape->value : STR(""); rest.n;) {
        struct str number = number_text(c, "shape", next_item(&rest));
        if (!number.n)
            return number;
        list = arena_printf(c->arena, "%s%s%s", list.p, list.n ? ", " : "", number.p);
    }
    return list.n ? arena_printf(c->arena, "form.reshaped(%s, {%s})", x.p, list.p)
                  : cpp_cannot(c, "the fused form reshapes to a shape that is not known");
}

/* The names of the match in a list, as the language has them; in PDLL those that are there. */
static struct str names_of(struct cpp *c, struct str list) {
    struct str text = STR("");
    for (struct str rest = list; rest.n;) {
        struct str one = str_item(&rest);
        if (formula_slot(c->match, one) == NONE)
            return STR("");
        if (!c->way || pdll_has(c, formula_slot(c->match, one)))
            text = arena_printf(c->arena, "%s%s%s", text.p, text.n ? ", " : "", name_of(c, one).p);
    }
    return text;
}

/* Whether a condition asks for one of these names, in C++. */
static bool asks_for(struct cpp *c, const struct number *n, struct str names) {
    while (n->op == NUM_CALL && n->call == NONE)
        n = n->a;
    if (n->op == NUM_OR)
        return asks_for(c, n->a, names) || asks_for(c, n->b, names);
    if (n->op != NUM_CALL || n->call != CONDITION_present)
        return false;
    for (struct str rest = names; rest.n;)
        if (str_eq(str_item(&rest), cpp_slot(c, n->args[0])))
            return true;
    return false;
}

/* conv2d(x, w, b, padding="p", activation="act, other"): the activation is an op behind it, which the lowering takes.
 */
static struct str convolution(struct cpp *c, const struct node *n, const struct str *v) {
    struct str pads = STR(""), act = STR("");
    for (uint32_t i = 0; i < n->nattrs; i++) {
        struct str *names = strcmp(n->attrs[i].key, "padding") == 0      ? &pads
                            : strcmp(n->attrs[i].key, "activation") == 0 ? &act
                                                                         : NULL;
        if (names)
            *names = names_of(c, n->attrs[i].value);
        if (!names || (!names->n && !c->way))
            return cpp_cannot(c, "the fused form has an attribute of %s that is not written: %s", op_table[n->op].name,
                              n->attrs[i].key);
    }
    for (uint32_t i = 0; i < c->pattern->nrequire && act.n; i++)
        if (asks_for(c, c->pattern->require[i], act))
            return cpp_cannot(c, "an activation of %s is an op of its own in TTIR, which its lowering takes in",
                              op_table[n->op].name);
    bool bias = !str_is(v[2], absent(c));
    struct str same = arena_printf(c->arena, "%s, %s%s%s", v[0].p, v[1].p, bias ? ", " : "", bias ? v[2].p : "");
    if (c->way && str_eq(same, c->way->window))
        return cpp_cannot(c, "a convolution that stays as it is");
    if (c->way && pads.n)
        return cpp_cannot(c, "the padding of a pad before a window");
    struct str args = arena_printf(c->arena, "%s, %s, %s%s%s%s", v[0].p, v[1].p, v[2].p, pads.n ? ", {" : "", pads.p,
                                   pads.n ? "}" : "");
    struct str text = form_call(c, "convolution", n->op, args);
    args = arena_printf(c->arena, c->way ? "%s, %s" : "%s, {%s}", text.p, act.p);
    return act.n && text.n ? form_call(c, "activated", K_UNKNOWN, args) : text;
}

/* An op of the match again: max_pool2d(x, padding="p"). */
static struct str again_form(struct cpp *c, const struct node *n, const struct str *v) {
    struct str op = cpp_class(c, n->op), pads = STR(""), keys = STR(""), args = STR("");
    for (uint32_t i = 0; i < n->nargs; i++)
        args = arena_printf(c->arena, "%s%s%s", args.p, i ? ", " : "", v[i].p);
    for (uint32_t i = 0; i < n->nattrs && op.n; i++) {
        const struct attr_spec *a = &n->attrs[i];
        bool flag = str_is(a->value, "true") || str_is(a->value, "false");
        struct str names = names_of(c, a->value), one = STR("");
        if (strcmp(a->key, "padding") == 0 && names.n)
            pads = names;
        else if (flag)
            one = arena_printf(c->arena, "form.flag(\"%s\", %.*s)", a->key, (int)a->value.n, a->value.p);
        else
            return cpp_cannot(c, "the fused form has an attribute of %s that is not written: %s", op_table[n->op].name,
                              a->key);
        keys = one.n ? arena_printf(c->arena, "%s%s%s", keys.p, keys.n ? ", " : "", one.p) : keys;
    }
    return op.n ? arena_printf(c->arena, "form.again<%s>({%s}, {%s}%s%s%s)", op.p, args.p, keys.p, pads.n ? ", {" : "",
                               pads.p, pads.n ? "}" : "")
                : op;
}

/* Whether the formula of the match has such an op. */
static bool has_op(const struct node *n, enum op_kind k) {
    bool has = n->kind == N_OP && n->op == k;
    for (uint32_t i = 0; i < n->nargs && !has; i++)
        has = has_op(n->args[i], k);
    return has;
}

static struct str concat_form(struct cpp *c, const struct node *n) {
    struct str list = STR("");
    for (uint32_t i = 0; i < n->nargs; i++) {
        struct str one = tensor(c, n->args[i]);
        if (!one.n)
            return one;
        list = arena_printf(c->arena, "%s%s%s", list.p, i ? ", " : "", one.p);
    }
    return n->dim.given && !c->way ? arena_printf(c->arena, "form.concat({%s}, %d)", list.p, n->dim.axis)
                                   : cpp_cannot(c, "the fused form concatenates without an axis");
}

/* A function of Form that takes the operands and nothing else; empty: there is none. */
static struct str plain_form(struct cpp *c, const struct node *n, const struct str *v) {
    static const struct {
        const char *name;
        enum op_kind op;
        uint32_t nargs;
    } plain[] = {{"add", K_ADD, 2},
                 {"subtract", K_SUBTRACT, 2},
                 {"multiply", K_MULTIPLY, 2},
                 {"divide", K_DIVIDE, 2},
                 {"clamp", K_CLAMP, 3},
                 {"batchNorm", K_BATCH_NORM_INFERENCE, 5},
                 {"product", K_MATMUL, 2},
                 {"product", K_LINEAR, 3},
                 {"concatenateHeads", K_CONCATENATE_HEADS, 1},
                 {"rotaryEmbedding", K_ROTARY_EMBEDDING, 3}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i].op == n->op && !n->nattrs && (n->op != K_BATCH_NORM_INFERENCE || n->nargs == plain[i].nargs)) {
            struct str text = v[0];
            for (uint32_t k = 1; k < plain[i].nargs; k++)
                text = arena_printf(c->arena, "%s, %s", text.p, v[k].p);
            return form_call(c, plain[i].name, K_UNKNOWN, text);
        }
    return STR("");
}

/* The node of the form that is its result. */
static const struct node *result_of(const struct formula *f) {
    const struct node *n = f->root;
    while (n->kind == N_NAMED || n->kind == N_EITHER)
        n = n->args[0];
    return n;
}

/* That the result of an op of the form is as large as what it replaces: as its first operand is, or the product or
 * convolution of the match. False with a reason. */
static bool test_extents(struct cpp *c, const struct node *n, struct str args) {
    bool of_match = n->args[0]->kind == N_VARIABLE && op_table[n->op].class != OP_CONTRACT && !op_convolves(n->op);
    struct str x = of_match ? (struct str){args.p, cpp_item_end(args)} : c->way->whole;
    if (!x.n) {
        cpp_cannot(c, "how large the fused form's %s is", op_table[n->op].name);
        return false;
    }
    pdll_test(c, arena_printf(c->arena, "IsAsLargeAs(%.*s, %s)", (int)x.n, x.p, c->way->root.p));
    return true;
}

/* An op of PDLL; its attributes are those that the form says. As large as the root, whose type it has. */
static struct str pdll_result(struct cpp *c, const struct node *n, struct str args, struct str keys) {
    struct str op = pdll_op_name(c, n->op);
    if (n != result_of(c->formula) && n->nargs == 1 && !keys.n)
        return form_call(c, "unary", n->op, args);
    if (n != result_of(c->formula))
        return cpp_cannot(c, "%s within the fused form", op_table[n->op].name);
    if (!test_extents(c, n, args))
        return STR("");
    return !op.n ? op
                 : arena_printf(c->arena, "op<%s>(%s)%s%s%s -> (type)", op.p, args.p, keys.n ? " {" : "", keys.p,
                                keys.n ? "}" : "");
}

/* How many operands an op of the form needs. */
static uint32_t needed(const struct node *n) {
    return n->op == K_LINEAR || op_convolves(n->op) ? 2
           : n->op == K_SDPA                        ? 3
           : op_table[n->op].class == OP_AXISWISE   ? 1
                                                    : n->nargs;
}

static struct str op_form(struct cpp *c, const struct node *n) {
    enum { MOST = 5 };
    struct str v[MOST];
    if (n->op == K_CONCAT)
        return concat_form(c, n);
    if (!operands(c, n, v, MOST))
        return STR("");
    for (uint32_t i = 0; c->way && i < needed(n); i++)
        if (str_is(v[i], absent(c)))
            return v[i];
    if (c->way && (op_table[n->op].class == OP_CONTRACT || op_convolves(n->op) || n->op == K_SDPA) &&
        !test_extents(c, n, STR("")))
        return STR("");
    if (c->way && (n->op == K_SDPA || n->op == K_REPEAT_INTERLEAVE || n->op == K_CONCATENATE_HEADS ||
                   n->op == K_ROTARY_EMBEDDING || (op_table[n->op].class == OP_OPAQUE && !op_convolves(n->op))))
        return cpp_cannot(c, "the fused form has an op that is not written: %s", op_table[n->op].name);
    struct str plain = plain_form(c, n, v);
    if (plain.n)
        return plain;
    if (op_convolves(n->op))
        return convolution(c, n, v);
    if (n->op == K_SDPA)
        return attention(c, n, v);
    if (c->way && n->op == K_SOFTMAX && !n->nattrs && c->way->axis.n)
        return pdll_result(
            c, n, v[0],
            arena_printf(c->arena, "dimension = attr<\"%s : si32\">, numericStable = attr<\"true\">", c->way->axis.p));
    if (n->op == K_SOFTMAX && !n->nattrs && !c->way && !n->dim.given)
        return arena_printf(c->arena, "form.softmax(%s, true)", v[0].p);
    if (n->op == K_SLICE)
        return slice_form(c, n, v[0]);
    if (n->op == K_RESHAPE)
        return reshaped_form(c, n, v[0]);
    if (n->op == K_REPEAT_INTERLEAVE && n->dim.given) /* as often as the axis of the root says */
        return arena_printf(c->arena, "form.repeatInterleave(%s, %d)", v[0].p, n->dim.axis);
    if (op_table[n->op].class == OP_OPAQUE && has_op(c->match->root, n->op) && n->op != K_GROUP_NORM)
        return again_form(c, n, v);
    struct str op = cpp_class(c, n->op), keys;
    if (!op.n || !attributes(c, n, &keys))
        return STR("");
    bool norm = n->op == K_RMS_NORM || n->op == K_LAYER_NORM;
    keys = c->way && norm && !keys.n ? STR("attr<\"unit\">") : keys;
    if (c->way && norm)
        return !test_extents(c, n, v[0])
                   ? STR("")
                   : form_call(c, "norm", n->op,
                               arena_printf(c->arena, "%s, %s, %s, %s", v[0].p, v[1].p, v[2].p, keys.p));
    if (c->way && n->op == K_GROUP_NORM)
        return cpp_cannot(c, "how the fused form's %s is written", op_table[n->op].name);
    if (n->op == K_DISTRIBUTED_RMS_NORM && n->nargs == 3)
        return arena_printf(c->arena, "form.distributedNorm<%s>(%s, {%s}, %s)", op.p, v[0].p, v[1].p, v[2].p);
    if (n->op == K_DISTRIBUTED_LAYER_NORM && n->nargs == 4)
        return arena_printf(c->arena, "form.distributedNorm<%s>(%s, {%s, %s}, %s)", op.p, v[0].p, v[1].p, v[2].p,
                            v[3].p);
    if (n->op == K_GROUP_NORM)
        return arena_printf(c->arena, "form.groupNorm(%s, %s, %s%s)", v[0].p, v[2].p, v[3].p, keys.p);
    if (n->op == K_RMS_NORM || n->op == K_LAYER_NORM)
        return arena_printf(c->arena, "form.norm<%s>(%s, {%s, %s}%s)", op.p, v[0].p, v[1].p, v[2].p, keys.p);
    if (op_table[n->op].class == OP_REDUCE && !n->nattrs && !n->dim.given)
        return form_call(c, "reduce", n->op, v[0]);
    if (op_table[n->op].class != OP_ELTWISE || n->dim.given)
        return cpp_cannot(c, "the fused form has an op that is not written: %s", op_table[n->op].name);
    struct str text = v[0];
    for (uint32_t i = 1; i < n->nargs; i++)
        text = arena_printf(c->arena, "%s, %s", text.p, v[i].p);
    if (c->way)
        return pdll_result(c, n, text, keys);
    return arena_printf(c->arena, "form.elementwise<%s>({%s}%s)", op.p, text.p, keys.p);
}

/* ---- alternatives ---- */

struct alternative {
    const struct node *node;
    struct str text;
    bool names[MAX_SLOTS];
};

static void add_numbers(const struct number *n, bool *names) {
    if (!n)
        return;
    if (n->slot != NONE && n->op != NUM_VALUE && n->op != NUM_CALL)
        names[n->slot] = true;
    add_numbers(n->a, names);
    add_numbers(n->b, names);
}

/* Slots of the match that a part of the form speaks of. */
static void add_names(struct cpp *c, const struct node *n, bool *names) {
    uint32_t slot = n->kind == N_VARIABLE ? formula_slot(c->match, c->formula->slot_name[n->slot]) : NONE;
    struct str why = c->why;
    if (slot != NONE)
        names[slot] = true;
    for (uint32_t i = 0; i < n->nattrs; i++)
        add_numbers(attribute_of(c, &n->attrs[i]), names);
    c->why = why;
    for (uint32_t i = 0; i < n->nargs; i++)
        add_names(c, n->args[i], names);
}

/* -1, 0, 1: it has fewer names than the other, the same, more; 2: others. */
static int compare_names(const struct alternative *a, const struct alternative *b) {
    bool more = false, less = false;
    for (uint32_t i = 0; i < MAX_SLOTS; i++) {
        more |= a->names[i] && !b->names[i];
        less |= b->names[i] && !a->names[i];
    }
    return more && less ? 2 : more ? 1 : less ? -1 : 0;
}

static bool is_binary(const struct node *n, enum op_kind k) {
    return n->kind == N_OP && n->op == k && n->nargs == 2 && !n->nattrs;
}

/* Of x * s and x / s, and of + and -, what the match does with s; any other alternative is as good. */
static bool has_sign_of_match(struct cpp *c, const struct node *n) {
    static const enum op_kind signs[][2] = {
        {K_MULTIPLY, K_DIVIDE}, {K_DIVIDE, K_MULTIPLY}, {K_ADD, K_SUBTRACT}, {K_SUBTRACT, K_ADD}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        bool names[MAX_SLOTS] = {false}, other = false;
        if (!is_binary(n, signs[i][0]))
            continue;
        add_names(c, n->args[1], names);
        for (uint32_t slot = 0; slot < c->match->nslots; slot++)
            other |= names[slot] && pdll_has(c, slot) && c->way->user[slot] == signs[i][1];
        return !other;
    }
    return true;
}

/* x * s | x / s, perhaps | x: "form.scaled(x, s, {s})"; likewise of + and -; or empty. */
static struct str scaled_form(struct cpp *c, const struct node *n) {
    const struct node *times = n->args[0], *over = n->nargs > 1 ? n->args[1] : NULL;
    bool names[MAX_SLOTS] = {false};
    struct str list = STR("");
    bool sum = over && is_binary(times, K_ADD) && is_binary(over, K_SUBTRACT);
    if (!over || n->nargs > 3 || !(sum || (is_binary(times, K_MULTIPLY) && is_binary(over, K_DIVIDE))))
        return list;
    struct str x = tensor(c, times->args[0]), by = x.n ? tensor(c, times->args[1]) : x;
    if (!by.n || !str_eq(x, tensor(c, over->args[0])) || !str_eq(by, tensor(c, over->args[1])) ||
        (n->nargs == 3 && !str_eq(x, tensor(c, n->args[2]))))
        return list;
    add_names(c, times->args[1], names);
    for (uint32_t i = 0; i < c->match->nslots; i++)
        if (names[i])
            list = arena_printf(c->arena, "%s%s%s", list.p, list.n ? ", " : "", cpp_name(c, c->match->slot_name[i]).p);
    return arena_printf(c->arena, "form.%s(%s, %s, {%s})", sum ? "shifted" : "scaled", x.p, by.p, list.p);
}

/* A function of Form that looks at the match, and fails where its op is not what is matched. */
static bool checks_itself(const struct node *n) {
    return n->kind == N_NAMED ? checks_itself(n->args[0])
                              : n->kind == N_OP && (n->op == K_ROTARY_EMBEDDING || n->op == K_REPEAT_INTERLEAVE);
}

/* Attributes that are numbers as they stand. */
static bool has_literals(const struct node *n) {
    bool all = true;
    for (uint32_t i = 0; i < n->nattrs; i++) {
        char *end;
        struct str value = n->attrs[i].value;
        all &= value.n && (strtod(value.p, &end), end == value.p + value.n);
    }
    return all;
}

/* Alternatives that need the same names and are different ops, or have different attributes: only numbers would tell
 * which one it is. Of attributes that are numbers, as epsilon = 0, the first one is that of the formula. */
static bool are_ambiguous(const struct alternative *a, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++) {
            const struct node *x = a[i].node, *y = a[k].node;
            if (compare_names(&a[i], &a[k]) == 0 && x->kind == N_OP && y->kind == N_OP &&
                !(checks_itself(x) && checks_itself(y)) && (x->op != y->op || !has_literals(x) || !has_literals(y)))
                return true;
        }
    return false;
}

/* Some are ops of one value, and none is the fused one: they stand behind it. */
static bool are_behind(struct cpp *c, const struct alternative *a, uint32_t n) {
    uint32_t behind = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (a[i].node->kind == N_OP && a[i].node->op == op_kind_of_spelling(c->pattern->fused_op))
            return false;
        behind += a[i].node->kind == N_OP && a[i].node->nargs == 1 && op_table[a[i].node->op].class == OP_ELTWISE;
    }
    return behind > 0;
}

/* Those with more names come first. */
static void sort_by_names(struct alternative *all, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++)
            if (compare_names(&all[i], &all[k]) == -1) {
                struct alternative moved = all[k];
                memmove(&all[i + 1], &all[i], (k - i) * sizeof *all);
                all[i] = moved;
                k = i;
            }
}

/* Names of an alternative that not all have. */
static struct str own_names(struct cpp *c, const struct alternative *all, uint32_t n, uint32_t at) {
    struct str list = STR("");
    for (uint32_t slot = 0; slot < c->match->nslots; slot++) {
        uint32_t having = 0;
        for (uint32_t i = 0; i < n; i++)
            having += all[i].names[slot];
        if (all[at].names[slot] && having < n)
            list =
                arena_printf(c->arena, "%s%s%s", list.p, list.n ? ", " : "", cpp_name(c, c->match->slot_name[slot]).p);
    }
    return list;
}

/* What a part of the form moves, it only reshapes: of that the axes of values tell whether it is right. */
static bool only_reshapes(const struct node *n) {
    enum op_class class = n->kind == N_OP ? op_table[n->op].class : OP_ELTWISE;
    bool only = n->op == K_RESHAPE || (class != OP_SLICE && class != OP_JOIN && class != OP_MOVE && class != OP_REDUCE);
    for (uint32_t i = 0; i < n->nargs && only; i++)
        only = only_reshapes(n->args[i]);
    return only;
}

/* In the place of an alternative that cannot be written: where the match has a name that none of the others has, the
 * form is none. False where nothing tells it from the others. */
static bool refuse(struct cpp *c, struct alternative *a, const struct alternative *all, uint32_t n) {
    struct str any = STR("");
    bool told = false;
    for (uint32_t i = 0; i < n; i++) /* one with more names comes first */
        if (all[i].text.n && compare_names(a, &all[i]) == -1) {
            a->text = STR("form.fail(\"this form is not written\")");
            return true;
        }
    for (uint32_t slot = 0; slot < c->match->nslots; slot++) {
        bool known = !a->names[slot];
        for (uint32_t i = 0; i < n && !known; i++)
            known = all[i].text.n && all[i].names[slot];
        if (!known)
            any = arena_printf(c->arena, "%s%smatch.has(%s)", any.p, any.n ? " || " : "",
                               cpp_name(c, c->match->slot_name[slot]).p);
    }
    for (uint32_t i = 0; i < n && !told; i++)
        told =
            all[i].text.n && compare_names(a, &all[i]) == 0 && (checks_itself(all[i].node) || only_reshapes(a->node));
    if (any.n)
        a->text = arena_printf(c->arena, "(%s ? form.fail(\"this form is not written\") : Tensor())", any.p);
    return any.n || told;
}

/* Moves those that are written to the front. */
static uint32_t written_first(struct alternative *all, uint32_t n) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (all[i].text.n)
            all[kept++] = all[i];
    return kept;
}

/* It is absent where the match lacks one of its names. */
static bool wants_all(const struct node *n) {
    bool all = n->kind == N_VARIABLE || n->kind == N_NUMBER || n->kind == N_NAMED ||
               (n->kind == N_OP && op_table[n->op].class == OP_ELTWISE && !n->nattrs);
    for (uint32_t i = 0; i < n->nargs && all; i++)
        all = wants_all(n->args[i]);
    return all;
}

/* Names that an alternative alone has: "match.has(a) && match.has(b)". */
static struct str has_names(struct cpp *c, const struct alternative *all, uint32_t n, uint32_t at) {
    struct str text = STR("");
    for (struct str rest = own_names(c, all, n, at); rest.n;)
        text = arena_printf(c->arena, "%s%smatch.has(%s)", text.p, text.n ? " && " : "",
                            arena_str(c->arena, str_item(&rest)).p);
    return text;
}

/* "match.has(a) ? form(a) : form(b)", where the names tell which one it is; or empty. */
static struct str choice_of(struct cpp *c, const struct alternative *all, uint32_t n) {
    struct str text = all[n - 1].text;
    for (uint32_t i = n - 1; i-- > 0;) {
        struct str has = wants_all(all[i].node) ? has_names(c, all, n, i) : STR("");
        if (!has.n)
            return has;
        text = arena_printf(c->arena, "%s ? %s : %s", has.p, all[i].text.p, text.p);
    }
    return text;
}

/* "(has(a) ? x : Tensor())" where it is no operand. */
static struct str unbracketed(struct cpp *c, struct str text) {
    bool is = text.p[0] == '(' && str_ends(text, STR(" : Tensor())"));
    return is ? arena_printf(c->arena, "%.*s", (int)text.n - 2, text.p + 1) : text;
}

static struct str list_of(struct cpp *c, struct alternative *all, uint32_t n) {
    struct str text = STR("");
    bool same = true;
    sort_by_names(all, n);
    for (uint32_t i = 0; i + 1 < n; i++)
        same &= compare_names(&all[i], &all[i + 1]) == 0;
    struct str choice = same && n > 1 ? text : choice_of(c, all, n);
    if (choice.n)
        return choice;
    for (uint32_t i = 0; i < n; i++) {
        struct str way = arena_printf(c->arena, "[&] { return %s; }", unbracketed(c, all[i].text).p),
                   comma = i ? STR(", ") : STR("");
        text = same ? arena_printf(c->arena, "%s%s%s", text.p, comma.p, way.p)
                    : arena_printf(c->arena, "%s%s{%s, {%s}}", text.p, comma.p, way.p, own_names(c, all, n, i).p);
    }
    return arena_printf(c->arena, "form.either({%s})", text.p);
}

/* x + y | x: "form.addIf(x, y)", which is x where there is no y; y | 0: "form.orElse(y, 0.0)"; or empty. */
static struct str optional_form(struct cpp *c, const struct node *n) {
    static const struct {
        enum op_kind op;
        const char *name;
    } ops[] = {{K_ADD, "add"}, {K_SUBTRACT, "subtract"}, {K_MULTIPLY, "multiply"}, {K_DIVIDE, "divide"}};
    const struct node *whole = n->args[0], *rest = n->nargs == 2 ? n->args[1] : NULL;
    if (rest && rest->kind == N_NUMBER) {
        struct str x = tensor(c, whole), y = x.n ? tensor(c, rest) : x;
        return y.n ? arena_printf(c->arena, "form.orElse(%s, %s)", x.p, y.p) : y;
    }
    for (size_t i = 0; rest && i < sizeof ops / sizeof *ops; i++)
        if (is_binary(whole, ops[i].op)) {
            struct str x = tensor(c, whole->args[0]), y = x.n ? tensor(c, whole->args[1]) : x;
            if (y.n && str_eq(x, tensor(c, rest)))
                return arena_printf(c->arena, "form.%sIf(%s, %s)", ops[i].name, x.p, y.p);
        }
    return STR("");
}

/* An argument of a call as a whole, which may stand behind a "?": a list in braces may not. */
static bool is_argument(struct str text) {
    return text.n && cpp_item_end(text) == text.n && !memchr(text.p, '{', text.n);
}

/* What the language says of a part, without the variables that it would need. */
static struct str tried(struct cpp *c, const struct node *n) {
    struct cpp before = *c;
    struct str tests = c->way->tests;
    size_t length = c->out->n;
    struct str text = tensor(c, n);
    *c = before;
    c->way->tests = tests;
    c->out->n = length;
    return text;
}

/* The alternative of which the way has most names; of several with one sign or the other, that of the match. */
static struct str pdll_either(struct cpp *c, const struct node *n) {
    struct alternative best = {0}, one;
    for (uint32_t i = 0; i < n->nargs; i++) {
        one = (struct alternative){.node = n->args[i], .text = tried(c, n->args[i])};
        add_names(c, one.node, one.names);
        if (str_is(one.text, absent(c)) || !has_sign_of_match(c, one.node))
            continue;
        int order = best.node ? compare_names(&one, &best) : 1;
        if (order == 1 || (order == 0 && !best.text.n))
            best = one;
    }
    return best.node ? tensor(c, best.node) : str_of(absent(c));
}

/* Two calls that differ in one number: "f(x, has(eps) ? a : b)" of (has(eps) ? f(x, a) : Tensor()) and f(x, b). */
static struct str one_call(struct cpp *c, struct str a, struct str b) {
    static const char between[] = " ? ", end[] = " : Tensor())";
    const char *ask = str_starts(a, STR("(match.has(")) ? str_find(a, STR(between)) : NULL;
    if (!ask || !str_ends(a, STR(end)))
        return STR("");
    struct str when = {a.p + 1, (size_t)(ask - a.p - 1)};
    a.n -= when.n + strlen(between) + strlen(end) + 1;
    a.p = ask + strlen(between);
    size_t front = 0, back = 0;
    while (front < a.n && front < b.n && a.p[front] == b.p[front])
        front++;
    while (front > 0 && !strchr(" (", a.p[front - 1]))
        front--;
    while (back < a.n - front && back < b.n - front && a.p[a.n - 1 - back] == b.p[b.n - 1 - back])
        back++;
    while (back > 0 && !strchr("),", a.p[a.n - back]))
        back--;
    struct str one = {a.p + front, a.n - back - front}, other = {b.p + front, b.n - back - front};
    if (!front || !back || !is_argument(one) || !is_argument(other) || memchr(other.p, '(', other.n))
        return STR("");
    return arena_printf(c->arena, "%.*s%.*s ? %.*s : %.*s%.*s", (int)front, a.p, (int)when.n, when.p, (int)one.n, one.p,
                        (int)other.n, other.p, (int)back, a.p + a.n - back);
}

static struct str either_form(struct cpp *c, const struct node *n) {
    enum { MOST = 20 };
    const char *text_end = c->formula->text.p + c->formula->text.n;
    if (n->text.p < c->formula->text.p || n->text.p >= text_end)
        return tensor(c, n->args[0]); /* of an idiom: the first one */
    if (c->way)
        return pdll_either(c, n);
    struct str why = c->why, first = STR(""), scaled = scaled_form(c, n);
    struct alternative all[MOST], kept[MOST];
    uint32_t count = n->nargs < MOST ? n->nargs : MOST, nkept = 0;
    scaled = scaled.n ? scaled : optional_form(c, n);
    c->why = why;
    if (scaled.n)
        return scaled;
    for (uint32_t i = 0; i < count; i++) {
        all[i] = (struct alternative){.node = n->args[i], .text = tensor(c, n->args[i])};
        add_names(c, n->args[i], all[i].names);
        first = first.n ? first : c->why;
        c->why = why;
        if (all[i].text.n)
            kept[nkept++] = all[i];
    }
    if (!nkept) {
        c->why = first;
        return STR("");
    }
    struct str call = nkept == 2 && count == 2 ? one_call(c, kept[0].text, kept[1].text) : STR("");
    if (call.n)
        return call;
    if (are_ambiguous(kept, nkept))
        return are_behind(c, kept, nkept)
                   ? cpp_cannot(c, "an activation is an op of its own in TTIR, which the lowering to %s takes in",
                                c->pattern->fused_op.p)
                   : cpp_cannot(c, "only numbers tell which alternative of the fused form is right");
    for (uint32_t i = 0; i < count; i++)
        if (!all[i].text.n && !refuse(c, &all[i], kept, nkept)) {
            c->why = first;
            return STR("");
        }
    return list_of(c, all, written_first(all, count));
}

static struct str named_form(struct cpp *c, const struct node *n) {
    struct str name = c->formula->slot_name[n->slot];
    if (!name.n)
        return tensor(c, n->args[0]);
    struct str id = arena_printf(c->arena, "fused%s", cpp_camel(c->arena, name).p);
    if (c->written[n->slot])
        return id;
    struct str value = tensor(c, n->args[0]);
    if (!value.n || (c->way && (n == c->formula->root || !memchr(value.p, '(', value.n) || str_is(value, "()"))))
        return value;
    c->written[n->slot] = true;
    value = c->way ? value : unbracketed(c, value);
    cpp_put(c->out, c->way ? 4 : 6, arena_printf(c->arena, c->way ? "let %s = " : "Tensor %s = ", id.p),
            arena_printf(c->arena, "%s;", value.p));
    buf_addc(c->out, '\n');
    return id;
}

static struct str tensor(struct cpp *c, const struct node *n) {
    struct str x;
    switch (n->kind) {
    case N_VARIABLE:
        x = c->formula->slot_name[n->slot];
        if (formula_slot(c->match, x) == NONE || (c->way && !pdll_has(c, formula_slot(c->match, x))))
            return str_of(absent(c));
        return c->way ? name_of(c, x) : arena_printf(c->arena, "form(%s)", name_of(c, x).p);
    case N_NAMED:
        return named_form(c, n);
    case N_NUMBER:
        x = cpp_number(c, n->number);
        return c->way && x.n ? form_call(c, "number", K_UNKNOWN, pdll_asked(c, x)) : x;
    case N_EITHER:
        return either_form(c, n);
    case N_TRANSPOSED:
        x = tensor(c, n->args[0]);
        return x.n && !str_is(x, "()") ? form_call(c, "transposed", K_UNKNOWN, x) : x;
    case N_OP: {
        struct str needs = attributes_need(c, n);
        if (c->way && needs.n)
            return str_of(absent(c));
        x = op_form(c, n);
        return needs.n && x.n ? arena_printf(c->arena, "(%s ? %s : Tensor())", needs.p, x.p) : x;
    }
    default:
        return cpp_cannot(c, "the fused form has a part that is not written");
    }
}

/* Names whose format the form is computed in: all but those of masks, which a fused op takes in its own. */
static void add_formats(struct cpp *c, const struct node *n, bool *names) {
    uint32_t slot = n->kind == N_VARIABLE ? formula_slot(c->match, c->formula->slot_name[n->slot]) : NONE;
    uint32_t nargs = n->kind == N_OP && n->op == K_SDPA && n->nargs > 3 ? 3 : n->nargs;
    if (slot != NONE)
        names[slot] = true;
    for (uint32_t i = 0; i < nargs; i++)
        add_formats(c, n->args[i], names);
}

struct str cpp_form_names(struct cpp *c) {
    bool names[MAX_SLOTS] = {false};
    struct str list = STR("");
    add_formats(c, c->formula->root, names);
    for (uint32_t i = 0; i < c->formula->nsecondary; i++)
        add_formats(c, c->formula->also[i].node, names);
    for (uint32_t i = 0; i < c->match->nslots; i++)
        if (names[i])
            list = arena_printf(c->arena, "%s%s%s", list.p, list.n ? ", " : "", cpp_name(c, c->match->slot_name[i]).p);
    return list;
}

struct str cpp_form(struct cpp *c) {
    struct str root = tensor(c, c->formula->root);
    for (uint32_t i = 0; i < c->formula->nsecondary && root.n; i++) {
        const struct node *also = c->formula->also[i].node;
        struct str value = tensor(c, also), name = c->formula->slot_name[also->slot];
        if (!value.n || formula_slot(c->match, name) == NONE)
            return cpp_cannot(c, "the fused form has a further result that is not written");
        buf_printf(c->out, "      form.replace(%s, %s);\n", cpp_name(c, name).p, value.p);
    }
    return root;
}
