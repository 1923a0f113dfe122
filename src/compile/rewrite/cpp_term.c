/* A formula as members of type Line and Term. Where a part is used, its text has a mark with the number of the part;
 * when all uses are known it becomes a member of its own, or is put in there. */
#include "compile/rewrite/cpp.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "patterns/lang/condition.h"
#include "patterns/lang/infix.h"

/* How tightly an expression holds together: as the signs of formulas do, which C++ has in the same order. */
enum { LOOSEST = P_EITHER, CALL = P_PRODUCT + 1, LITERAL };

struct phrase {
    struct str text;
    int power;
};

static struct phrase term(struct cpp *c, const struct node *n);

/* ---- parts ---- */

enum { MARK = 1, MARK_END = 2 }; /* MARK, the power that the place wants as a digit, number, MARK_END */

struct cpp_part {
    struct str text, name;   /* a name that nothing asks for earlier comes with the member */
    const struct node *node; /* what it is, where it has no name yet */
    uint32_t slot;           /* of a line; NONE: alternatives of an idiom */
    uint32_t uses, operands; /* operands in PDLL, so far */
    int power;
    bool put;
};

/* The next mark in a text, its number, and the text behind it. False: there is none. */
static bool next_mark(struct str *rest, struct str *before, int *power, uint32_t *part) {
    const char *at = rest->n ? memchr(rest->p, MARK, rest->n) : NULL;
    if (!at)
        return false;
    *before = (struct str){rest->p, (size_t)(at - rest->p)};
    *power = at[1] - '0';
    *part = 0;
    for (at += 2; *at != MARK_END; at++)
        *part = *part * 10 + (uint32_t)(*at - '0');
    rest->n -= (size_t)(at + 1 - rest->p);
    rest->p = at + 1;
    return true;
}

static struct str mark(struct cpp *c, uint32_t part, int power) {
    return arena_printf(c->arena, "%c%d%u%c", MARK, power, part, MARK_END);
}

static uint32_t add_part(struct cpp *c, struct phrase p, uint32_t slot, struct str name) {
    for (uint32_t i = 0; i < c->nparts && !c->way; i++)
        if (str_eq(c->parts[i].text, p.text) && (slot == NONE) == (c->parts[i].slot == NONE) &&
            (slot == NONE || !name.n))
            return i;
    if (c->nparts % 64 == 0) {
        struct cpp_part *more = arena_alloc(c->arena, (c->nparts + 64) * sizeof *more);
        if (c->nparts)
            memcpy(more, c->parts, c->nparts * sizeof *more);
        c->parts = more;
    }
    c->parts[c->nparts] = (struct cpp_part){.text = p.text, .name = name, .slot = slot, .power = p.power};
    return c->nparts++;
}

/* A piece where something of this power is wanted; marks bring their own parentheses. */
static struct str wanted(struct cpp *c, struct phrase p, int power) {
    if (p.text.n && p.text.p[0] == MARK && memchr(p.text.p, MARK_END, p.text.n) == p.text.p + p.text.n - 1) {
        char *text = arena_strdup(c->arena, p.text);
        text[1] = (char)('0' + power);
        return str_of(text);
    }
    return p.power < power && p.text.n ? arena_printf(c->arena, "(%s)", p.text.p) : p.text;
}

/* ---- how often names are used ---- */

static void count_number(struct cpp *c, const struct number *n) {
    if (!n)
        return;
    if (n->slot != NONE && n->op != NUM_VALUE)
        c->uses[n->slot] += 2; /* it needs a name */
    count_number(c, n->a);
    count_number(c, n->b);
}

static void count_uses(struct cpp *c, const struct node *n) {
    if (n->kind == N_NAMED && c->uses[n->slot]++)
        return;
    count_number(c, n->number);
    for (uint32_t i = 0; i < n->nargs; i++)
        count_uses(c, n->args[i]);
}

/* ---- names of parts ---- */

static bool holds(struct str text, const char *p) {
    return p >= text.p && p < text.p + text.n;
}

static const struct idiom *idiom_of(const struct idioms *all, const char *p) {
    for (; all; all = all->others)
        for (uint32_t i = 0; i < all->n; i++)
            if (holds(all->items[i].text, p))
                return &all->items[i];
    return NULL;
}

/* The first name that a part speaks of. */
static struct str first_name(struct cpp *c, const struct node *n) {
    if (n->kind == N_VARIABLE || n->kind == N_NAMED)
        if (c->formula->slot_name[n->slot].n)
            return c->formula->slot_name[n->slot];
    struct str name = STR("");
    for (uint32_t i = 0; i < n->nargs && !name.n; i++)
        name = first_name(c, n->args[i]);
    return name;
}

/* "name" of the line "name = ..." of an idiom that begins before p; empty: its value. */
static struct str line_before(struct str body, const char *p) {
    struct str name = STR("");
    for (struct str rest = body; rest.n;) {
        struct str one = str_line(&rest), words = one, first = str_trim(str_part(&words, '='));
        if (holds(one, p) && words.p <= p && words.n)
            name = first;
    }
    for (size_t i = 0; i < name.n; i++)
        if (!isalnum((unsigned char)name.p[i]) && name.p[i] != '_')
            return STR("");
    return name;
}

static bool is_taken(struct cpp *c, struct str id) {
    bool taken = false;
    for (uint32_t i = 0; i < c->formula->nslots && !taken; i++)
        taken = c->formula->slot_name[i].n && str_eq(cpp_name(c, c->formula->slot_name[i]), id);
    for (uint32_t i = 0; i < c->nparts && !taken; i++)
        taken = str_eq(c->parts[i].name, id);
    return taken;
}

/* "ScaledOrEarly" of the lines scaled | early; empty: some are no lines. */
static struct str names_of_lines(struct cpp *c, const struct node *n) {
    struct str text = STR("");
    for (uint32_t i = 0; i < n->nargs; i++) {
        struct str one = n->args[i]->kind == N_NAMED ? c->formula->slot_name[n->args[i]->slot] : STR("");
        if (n->kind != N_EITHER || !one.n)
            return STR("");
        text = arena_printf(c->arena, "%s%s%s", text.p, i ? "Or" : "", cpp_camel(c->arena, one).p);
    }
    return text;
}

/* "Concat" of concat(x, y), or of that as the first of several. */
static struct str name_of_op(struct cpp *c, const struct node *n) {
    while ((n->kind == N_EITHER || n->kind == N_NAMED) && n->nargs)
        n = n->args[0];
    return n->kind == N_OP ? cpp_camel(c->arena, str_of(op_table[n->op].name)) : STR("Part");
}

/* rsqrtRadicand of rsqrt(radicand), softmaxTotalS of a line of softmax(s), concatS of concat(s, sink). */
static struct str part_name(struct cpp *c, const struct node *n) {
    const struct idiom *of = idiom_of(&c->set->idioms, n->text.p);
    struct str lines = names_of_lines(c, n), line = STR("");
    struct str first = lines.n ? STR("") : cpp_camel(c->arena, first_name(c, n));
    struct str base = lines.n ? lines : of ? cpp_camel(c->arena, of->name) : name_of_op(c, n);
    if (of && !lines.n)
        line = cpp_camel(c->arena, line_before(of->body, n->text.p));
    base = arena_printf(c->arena, "%s%s%s", base.p, line.n ? line.p : "", first.n ? first.p : "");
    char *name = arena_strdup(c->arena, base);
    name[0] = (char)tolower((unsigned char)name[0]);
    struct str id = cpp_name(c, str_of(name));
    for (uint32_t again = 2; is_taken(c, id); again++)
        id = arena_printf(c->arena, "%s%u", name, again);
    return id;
}

/* ---- nodes ---- */

/* A number that is known without a match. */
static double no_leaf(void *self, const struct number *n) {
    (void)self;
    (void)n;
    return NAN;
}

/* How many elements an axis has, or 1 divided by it, which makes a mean of a sum; empty: it is another number. */
static struct str extent_term(struct cpp *c, const struct number *n) {
    bool inverse = n->op == NUM_DIV && n->a->op == NUM_VALUE && n->a->value == 1;
    n = inverse ? n->b : n;
    if (n->op != NUM_EXTENT || n->slot == NONE || !cpp_slot(c, n->slot).n)
        return STR("");
    return arena_printf(c->arena, "%s(%s, %d)", inverse ? "m_InverseExtent" : "m_Extent", cpp_slot(c, n->slot).p,
                        n->axis);
}

static struct phrase number_term(struct cpp *c, const struct node *n) {
    double value = number_evaluate(n->number, no_leaf, NULL);
    if (!isnan(value) && !c->way)
        return (struct phrase){cpp_double(c->arena, value), LITERAL};
    struct str extent = c->way ? STR("") : extent_term(c, n->number);
    if (extent.n)
        return (struct phrase){extent, CALL};
    struct str x = isnan(value) ? cpp_number(c, n->number) : cpp_double(c->arena, value);
    if (c->way)
        return (struct phrase){x.n ? pdll_number(c, x) : x, PDLL_VALUE};
    return (struct phrase){x.n ? arena_printf(c->arena, "m_Number([=](const Match &match) { return %s; })", x.p) : x,
                           CALL};
}

/* An operand; in PDLL with axes of its own where the op gives it some. */
static struct phrase operand(struct cpp *c, const struct node *n, const struct node *arg) {
    struct pdll_way *w = c->way;
    if (!w || n->kind != N_OP)
        return term(c, arg);
    uint32_t frame = w->frame;
    enum op_kind op = w->op;
    w->op = n->op;
    if (pdll_has_own_axes(n->op) && w->nframes + 1 < MOST_FRAMES)
        w->frame = ++w->nframes;
    struct phrase x = term(c, op_table[n->op].class == OP_CONTRACT && arg->kind == N_TRANSPOSED ? arg->args[0] : arg);
    if (w->frame != frame)
        w->frames[w->frame] = x.text;
    w->frame = frame;
    w->op = op;
    return x;
}

/* Whether the second operand stands first: PDLL has an order for them. */
static bool swaps(struct cpp *c, const struct node *n) {
    bool may = c->way && n->kind == N_OP && op_is(n->op, COMMUTES) && n->nargs == 2 && n->args[0] != n->args[1];
    return may && pdll_choose(c, 2);
}

/* The arguments, with a comma between. */
static struct str terms(struct cpp *c, const struct node *n) {
    struct str text = STR("");
    bool swapped = swaps(c, n);
    uint32_t nargs =
        c->way && n->kind == N_OP && cpp_has_numbers(n->op) ? 1 : n->nargs; /* bounds are attributes there */
    uint32_t owed = c->way ? c->way->owed : 0;
    for (uint32_t i = 0; i < nargs; i++) {
        if (c->way)
            c->way->owed = owed + (n->kind == N_OP);
        for (uint32_t k = i + 1; k < nargs && c->way; k++)
            c->way->owed += pdll_least_ops(c, n->args[k]);
        struct str one = wanted(c, operand(c, n, n->args[i]), LOOSEST);
        if (c->way)
            c->way->owed = owed;
        if (!one.n)
            return one;
        text = i && swapped ? arena_printf(c->arena, "%s, %s", one.p, text.p)
                            : arena_printf(c->arena, "%s%s%s", text.p, i ? ", " : "", one.p);
    }
    return text;
}

static struct str dim_text(struct cpp *c, const struct node *n) {
    return n->dim.given ? arena_printf(c->arena, ", %d", n->dim.axis) : STR("");
}

static bool part_value(const struct node *n, const char *key, int64_t *out) {
    for (uint32_t i = 0; i < n->nattrs; i++)
        if (strcmp(n->attrs[i].key, key) == 0)
            return mlir_int(n->attrs[i].value, out);
    return false;
}

static struct str slice_term(struct cpp *c, const struct node *n, struct str x) {
    int64_t part = 0, of = 0, end = 0;
    struct str dim = n->dim.given ? arena_printf(c->arena, "%d", n->dim.axis) : STR("std::nullopt");
    struct str which = STR("");
    if (n->nattrs && part_value(n, "part", &part) && part_value(n, "of", &of))
        which = arena_printf(c->arena, "partOf(%d, %d)", (int)part, (int)of);
    else if (n->nattrs && part_value(n, "part", &part) && part_value(n, "every", &of))
        which = arena_printf(c->arena, "partEvery(%d, %d)", (int)part, (int)of);
    else if (n->nattrs && part_value(n, "begin", &part) && part_value(n, "end", &end))
        which = arena_printf(c->arena, "partFrom(%d, %d)", (int)part, (int)end);
    else if (n->nattrs)
        return cpp_cannot(c, "the formula slices another part than one of equal ones");
    if (!which.n)
        return arena_printf(c->arena, "m_Slice(%s%s)", x.p, dim_text(c, n).p);
    return arena_printf(c->arena, "m_Slice(%s, %s, %s, true)", x.p, dim.p, which.p);
}

/* a + b, as the formula has it. A literal of C++ is no Term by itself. */
static struct phrase infix_term(struct cpp *c, const struct node *n, const struct infix *sign) {
    struct phrase a = term(c, n->args[0]), b = a.text.n ? term(c, n->args[1]) : a;
    if (!b.text.n)
        return b;
    if (a.power == LITERAL && b.power == LITERAL)
        a.text = arena_printf(c->arena, "Term(%s)", a.text.p);
    bool chain = sign->power >= P_SUM;
    return (struct phrase){arena_printf(c->arena, "%s %s %s", wanted(c, a, (int)sign->power + !chain).p, sign->sign,
                                        wanted(c, b, (int)sign->power + 1).p),
                           (int)sign->power};
}

/* The call that makes a Term of an op, by its class. */
static struct str call_of_op(struct cpp *c, const struct node *n, struct str name, struct str args) {
    const char *op = name.p, *x = args.p;
    switch (op_table[n->op].class) {
    case OP_ELTWISE:
        if (cpp_has_numbers(n->op))
            return arena_printf(c->arena, "m_Clamp(%s)", x);
        if (op_is(n->op, COMMUTES) && n->nargs == 2)
            return arena_printf(c->arena, "m_Commutative<%s>(%s)", op, x);
        return arena_printf(c->arena, "m_Elementwise<%s>(%s)", op, x);
    case OP_REDUCE:
        return arena_printf(c->arena, "m_Reduction<%s>(%s%s)", op, x, dim_text(c, n).p);
    case OP_AXISWISE:
        return arena_printf(c->arena, "m_Along<%s>({%s}%s)", op, x, dim_text(c, n).p);
    case OP_CONTRACT:
        return arena_printf(c->arena, "m_Product(%s)", x);
    case OP_SLICE:
        return slice_term(c, n, args);
    case OP_JOIN:
        return arena_printf(c->arena, "m_Concat({%s}%s)", x, dim_text(c, n).p);
    case OP_MOVE:
    case OP_CAST:
        return op_table[n->op].movement == MOVEMENT_RESHAPE ? arena_printf(c->arena, "m_Reshape(%s)", x)
                                                            : arena_printf(c->arena, "m_View<%s>(%s)", op, x);
    case OP_OPAQUE:
        if (n->op == K_BATCH_NORM_INFERENCE)
            return arena_printf(c->arena, "m_BatchNorm({%s})", x);
        if (n->op == K_SDPA)
            return arena_printf(c->arena, "m_Attention({%s})", x);
        return arena_printf(c->arena, "%s<%s>({%s})", op_convolves(n->op) ? "m_Convolution" : "m_Opaque", op, x);
    case OP_ALIKE:
        if (op_is(n->op, FOLDED_WEIGHTS))
            return arena_printf(c->arena, "m_DistributedNorm<%s>({%s})", op, x);
        /* fall through */
    default:
        return cpp_cannot(c, "it is not known how the operands of %s are indexed", op_table[n->op].name);
    }
}

/* An op as a part, which its result is used of. */
static struct phrase pdll_term(struct cpp *c, const struct node *n, struct str args) {
    struct str text = pdll_op(c, n, args);
    if (!text.n)
        return (struct phrase){text, PDLL_VALUE};
    uint32_t part = add_part(c, (struct phrase){text, PDLL_OP}, NONE, STR(""));
    c->parts[part].name = part_name(c, n);
    struct str value = mark(c, part, LOOSEST);
    pdll_test_op(c, n, value);
    static const char *const bounds[] = {"min", "max"};
    for (int i = 0; cpp_has_numbers(n->op) && i < 2; i++)
        pdll_test(c, arena_printf(c->arena, "IsSetTo(%s, attr<\"\\\"%s\\\"\">, attr<\"\\\"%s\\\"\">)", value.p,
                                  bounds[i], cpp_number(c, n->args[i + 1]->number).p));
    return (struct phrase){mark(c, part, LOOSEST), PDLL_VALUE};
}

static struct phrase op_term(struct cpp *c, const struct node *n) {
    static const struct phrase none = {{"", 0}, CALL};
    enum op_class class = op_table[n->op].class;
    const struct infix *sign = n->nargs == 2 ? infix_of_op(n->op) : NULL;
    struct str name = class == OP_CONTRACT ? STR("") : cpp_class(c, n->op);
    if (!name.n && class != OP_CONTRACT)
        return none;
    if (n->nattrs && class != OP_SLICE) {
        cpp_cannot(c, "the formula asks for attributes of %s, which are not matched", op_table[n->op].name);
        return none;
    }
    if (!c->way && sign && sign->power >= P_COMPARISON && n->op != K_REMAINDER)
        return infix_term(c, n, sign);
    struct str args = terms(c, n);
    if (c->way)
        return args.n ? pdll_term(c, n, args) : none;
    return args.n ? (struct phrase){call_of_op(c, n, name, args), CALL} : none;
}

/* Where a name is, for what PDLL asks of it. */
static void note_place(struct cpp *c, uint32_t slot) {
    if (!c->way || pdll_has(c, slot))
        return;
    c->way->frame_of[slot] = c->way->frame;
    c->way->user[slot] = c->way->op;
}

/* A line of PDLL: the op that it is has its name. */
static struct phrase pdll_line(struct cpp *c, const struct node *n, struct phrase value) {
    struct str rest = value.text, before, name = c->formula->slot_name[n->slot];
    uint32_t part;
    int power;
    if (!next_mark(&rest, &before, &power, &part)) { /* a variable or a number */
        part = add_part(c, value, n->slot, value.text);
        c->parts[part].put = true;
    } else if (name.n && c->parts[part].slot == NONE) {
        c->parts[part].slot = n->slot;
        c->parts[part].name = cpp_name(c, name);
    }
    c->line_of[n->slot] = part + 1;
    c->line_name[n->slot] = c->parts[part].name;
    return (struct phrase){mark(c, part, LOOSEST), PDLL_VALUE};
}

/* A line, or what an idiom names and more than one place uses. */
static struct phrase named_term(struct cpp *c, const struct node *n) {
    struct str name = c->formula->slot_name[n->slot];
    if (!name.n && c->uses[n->slot] < 2)
        return term(c, n->args[0]);
    if (c->line_of[n->slot] == 0) {
        note_place(c, n->slot);
        struct phrase value = term(c, n->args[0]);
        if (!value.text.n)
            return value;
        if (c->way)
            return pdll_line(c, n, value);
        value.text = wanted(c, value, LOOSEST);
        struct str id = name.n ? cpp_name(c, name) : part_name(c, n->args[0]);
        uint32_t part = add_part(c, value, n->slot, name.n ? id : STR(""));
        c->parts[part].name = c->parts[part].name.n ? c->parts[part].name : id;
        c->line_of[n->slot] = part + 1;
        c->line_name[n->slot] = c->parts[part].name;
    }
    return (struct phrase){mark(c, c->line_of[n->slot] - 1, LOOSEST), CALL};
}

/* One alternative. */
static struct phrase pdll_term_of(struct cpp *c, const struct node *n) {
    uint32_t which = pdll_alternative(c, n), used = c->way->used;
    if (which == n->nargs)
        return (struct phrase){STR(""), PDLL_VALUE};
    struct phrase x = term(c, n->args[which]);
    if (!x.text.n && c->way->used == used && !c->way->again && !c->way->cut)
        pdll_leave_out(c, n, which);
    return x;
}

static struct phrase either_term(struct cpp *c, const struct node *n) {
    struct phrase all = {STR(""), CALL}, one;
    if (c->way)
        return pdll_term_of(c, n);
    for (uint32_t i = 0; i < n->nargs; i++) {
        if (i > 0 && cpp_is_by_values(n->args[i])) {
            c->by_values = true;
            continue;
        }
        one = term(c, n->args[i]);
        if (!one.text.n || n->nargs == 1)
            return one;
        if (i == 0 && one.power == LITERAL)
            one.text = arena_printf(c->arena, "Term(%s)", one.text.p);
        all.text = arena_printf(c->arena, "%s%s%s", all.text.p, i ? " | " : "", wanted(c, one, P_EITHER + (i > 0)).p);
        all.power = P_EITHER;
    }
    uint32_t part = add_part(c, all, NONE, STR(""));
    c->parts[part].node = n;
    return (struct phrase){mark(c, part, LOOSEST), P_EITHER};
}

static struct phrase call_term(struct cpp *c, const char *function, const struct node *n) {
    struct str x = terms(c, n);
    return (struct phrase){x.n ? arena_printf(c->arena, "%s(%s)", function, x.p) : x, CALL};
}

static struct phrase term(struct cpp *c, const struct node *n) {
    if (c->way && (n->kind == N_VARIABLE || n->kind == N_NAMED) && pdll_forbids(c, n->slot))
        return (struct phrase){STR(""), PDLL_VALUE};
    switch (n->kind) {
    case N_VARIABLE:
        note_place(c, n->slot);
        c->is_variable[n->slot] = true;
        return (struct phrase){cpp_name(c, c->formula->slot_name[n->slot]), CALL};
    case N_NAMED:
        return named_term(c, n);
    case N_NUMBER:
        return number_term(c, n);
    case N_EITHER:
        return either_term(c, n);
    case N_OP:
        return op_term(c, n);
    case N_TRANSPOSED:
        if (c->way)
            return (struct phrase){cpp_cannot(c, "a transposed value"), CALL};
        return call_term(c, "m_Transposed", n);
    case N_OUTER:
        if (c->way)
            return (struct phrase){cpp_cannot(c, "an outer product"), CALL};
        return call_term(c, "m_Outer", n);
    case N_FUNCTION:
        return (struct phrase){cpp_cannot(c, "a function by its values"), CALL};
    case N_RESULT:
        break;
    }
    return (struct phrase){cpp_cannot(c, "the formula has a further result of an op, which is not matched"), CALL};
}

/* ---- members ---- */

static void count_marks(struct cpp *c, struct str text) {
    struct str before;
    uint32_t part;
    int power;
    while (next_mark(&text, &before, &power, &part))
        c->parts[part].uses++;
}

static bool is_member(const struct cpp *c, uint32_t part) {
    enum { SHORT = 20 };
    const struct cpp_part *p = &c->parts[part];
    return c->way || p->slot != NONE || (p->uses > 1 && p->text.n > SHORT);
}

/* What an op of PDLL is called as an operand. MLIR does not compare what a result is at its second use (as of 22.1: of
 * exp(x) / (1 + exp(x)) any exponential would do), so that a further use has a name of its own, which is compared. */
static struct str pdll_operand(struct cpp *c, struct cpp_part *p) {
    if (p->power != PDLL_OP || p->operands++ == 0)
        return p->name;
    struct str name = arena_printf(c->arena, "%sAgain%.0u", p->name.p, p->operands > 2 ? p->operands - 1 : 0);
    buf_printf(c->out, "  let %s: Value;\n", name.p);
    pdll_test(c, pdll_holds(c, arena_printf(c->arena, "IsSame(%s, %s)", p->name.p, name.p)));
    return name;
}

static bool is_root(const struct cpp *c, uint32_t part) {
    return c->way && part == c->way->root_part;
}

/* The text with members by their names, and all else in place. `operands`: of an op. */
static void unfold(struct cpp *c, struct str text, bool operands, struct buf *out) {
    struct str before;
    uint32_t part;
    int power;
    while (next_mark(&text, &before, &power, &part)) {
        struct cpp_part *p = &c->parts[part];
        buf_add(out, before);
        bool brackets = !is_member(c, part) && p->power < power;
        if (brackets)
            buf_addc(out, '(');
        if (is_member(c, part))
            buf_printf(out, "%s%s", c->way && operands ? pdll_operand(c, p).p : p->name.p,
                       is_root(c, part) ? ".0" : "");
        else
            unfold(c, p->text, operands, out);
        if (brackets)
            buf_addc(out, ')');
    }
    buf_add(out, text);
}

static void put_part(struct cpp *c, uint32_t part) {
    struct cpp_part *p = &c->parts[part];
    struct str rest = p->text, before;
    uint32_t inner;
    int power;
    if (p->put)
        return;
    p->put = true;
    while (next_mark(&rest, &before, &power, &inner))
        put_part(c, inner);
    if (!is_member(c, part))
        return;
    if (!p->name.n)
        p->name = part_name(c, p->node);
    struct buf text = {0};
    unfold(c, p->text, true, &text);
    struct str said = p->slot == NONE ? STR("") : c->formula->slot_name[p->slot]; /* as the pattern has it */
    said = arena_str(c->arena, said.n ? said : p->name);
    struct str value = buf_take(&text, c->arena);
    if (c->way) /* .0 once, not at each use: MLIR asks first what is asked often, here of an op that may not be there */
        cpp_put(c->out, 2, arena_printf(c->arena, "let %s = ", p->name.p),
                arena_printf(c->arena, "%s%s;", value.p, is_root(c, part) ? " -> (type)" : ".0"));
    else if (p->slot == NONE)
        cpp_put(c->out, 2, arena_printf(c->arena, "const Term %s = ", p->name.p),
                arena_printf(c->arena, "%s;", value.p));
    else
        cpp_put(c->out, 2, STR(""),
                arena_printf(c->arena, "const Line %s = {%u, \"%s\", %s};", p->name.p, p->slot, said.p, value.p));
    buf_addc(c->out, '\n');
}

static void put_variables(struct cpp *c) {
    struct buf list = {0};
    for (uint32_t i = 0; i < c->formula->nslots && c->way; i++)
        if (c->is_variable[i])
            buf_printf(c->out, "  let %s: Value;\n", cpp_name(c, c->formula->slot_name[i]).p);
    for (uint32_t i = 0; c->way && i < c->way->numbers; i++)
        buf_printf(c->out, "  let number%u: Value;\n", i + 1);
    if (c->way) {
        buf_add(c->out, STR("  let type: Type;\n"));
        return;
    }
    for (uint32_t i = 0; i < c->formula->nslots; i++)
        if (c->is_variable[i])
            buf_printf(&list, "%s%s{%u, \"%.*s\"}", list.n ? ", " : "", cpp_name(c, c->formula->slot_name[i]).p, i,
                       (int)c->formula->slot_name[i].n, c->formula->slot_name[i].p);
    buf_addc(&list, ';');
    if (list.n > 1)
        cpp_put(c->out, 2, STR("static constexpr Name "), buf_str(&list));
    buf_add(c->out, list.n > 1 ? STR("\n\n") : STR(""));
    buf_free(&list);
}

/* The names of a line, in the order in which a match looks for one that is bound. */
static void add_names(struct cpp *c, const struct node *n, struct buf *out, bool *seen) {
    if ((n->kind == N_NAMED || n->kind == N_VARIABLE) && !seen[n->slot] && c->formula->slot_name[n->slot].n)
        buf_printf(out, "%s%s", out->n ? ", " : "", cpp_slot(c, n->slot).p);
    if (n->kind == N_NAMED || n->kind == N_VARIABLE)
        seen[n->slot] = true;
    for (uint32_t i = 0; i < n->nargs; i++)
        add_names(c, n->args[i], out, seen);
}

/* The op that a line has to stand behind, by a condition of the pattern; empty: none. */
static struct str after(struct cpp *c, uint32_t slot) {
    for (uint32_t i = 0; i < c->pattern->nwhere; i++) {
        const struct number *n = c->pattern->where[i];
        if (n->op == NUM_CALL && n->call == CONDITION_after && n->args[0] == slot)
            return cpp_slot(c, n->args[1]);
    }
    return STR("");
}

/* A member with the lines that end elsewhere. */
static void put_others(struct cpp *c) {
    struct buf list = {0};
    for (uint32_t i = 0; i < c->formula->nsecondary; i++) {
        const struct secondary_root *one = &c->formula->also[i];
        struct buf names = {0};
        bool seen[MAX_SLOTS] = {false};
        struct str line = cpp_slot(c, one->node->slot);
        add_names(c, one->node->args[0], &names, seen);
        struct str behind = after(c, one->node->slot);
        buf_printf(&list, "%s{%s, %s, {%.*s}, %u%s%s%s}", i ? ", " : "", line.p, line.p, (int)names.n, names.p,
                   one->deep,
                   one->optional ? ", true"
                   : behind.n    ? ", false"
                                 : "",
                   behind.n ? ", " : "", behind.p);
        buf_free(&names);
    }
    cpp_put(c->out, 2, STR(""),
            arena_printf(c->arena, "const SmallVector<Also> others{%s};", buf_take(&list, c->arena).p));
    buf_addc(c->out, '\n');
}

static struct str unfolded(struct cpp *c, struct str text) {
    struct buf b = {0};
    unfold(c, text, false, &b);
    return buf_take(&b, c->arena);
}

/* Tests that what lies between has no other user: what is made first is for the root alone. */
static void put_private(struct cpp *c, struct str root) {
    for (uint32_t i = 0; i < c->nparts; i++) {
        const struct cpp_part *p = &c->parts[i];
        struct str rest = p->text, before;
        uint32_t inner;
        int power;
        bool first = true; /* no op is among its operands */
        while (next_mark(&rest, &before, &power, &inner))
            first &= c->parts[inner].power != PDLL_OP;
        if (p->uses && p->power == PDLL_OP && first)
            pdll_test(c, arena_printf(c->arena, "IsOnlyFor(%s, %s)", p->name.p, unfolded(c, root).p));
    }
}

struct str cpp_terms(struct cpp *c) {
    for (uint32_t i = 0; i < c->formula->nsecondary; i++)
        if (c->formula->also[i].beside)
            return cpp_cannot(c, "a line without a name that is bound");
    count_uses(c, c->formula->root);
    for (uint32_t i = 0; i < c->formula->nsecondary; i++)
        count_uses(c, c->formula->also[i].node);
    struct phrase root = term(c, c->formula->root);
    for (uint32_t i = 0; i < c->formula->nsecondary && root.text.n; i++)
        if (!term(c, c->formula->also[i].node).text.n)
            root.text.n = 0;
    if (!root.text.n)
        return STR("");
    for (uint32_t i = 0; i < c->nparts; i++)
        count_marks(c, c->parts[i].text);
    struct str text = root.text, before;
    int power;
    if (c->way && !next_mark(&text, &before, &power, &c->way->root_part))
        return cpp_cannot(c, "a value that no op makes");
    put_variables(c);
    for (uint32_t i = 0; i < c->nparts; i++)
        put_part(c, i);
    if (c->formula->nsecondary && !c->way)
        put_others(c);
    struct str result = unfolded(c, root.text);
    for (uint32_t i = 0; c->way && i <= c->way->nframes; i++)
        c->way->frames[i] = i ? unfolded(c, c->way->frames[i]) : result;
    if (c->way) {
        c->way->tests = unfolded(c, c->way->tests);
        c->way->whole = unfolded(c, c->way->whole);
        c->way->root = result;
        for (uint32_t i = 0; i < c->match->nslots; i++)
            c->line_name[i] = c->line_of[i] == c->way->root_part + 1 ? result : c->line_name[i];
        pdll_settle(c);
        put_private(c, root.text);
    }
    return result;
}
