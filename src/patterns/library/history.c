#include "patterns/library/history.h"

#include "patterns/library/loader.h"

#define FACT_TEXT(key, member, required)                                                                               \
    { key, FIELD_TEXT, required, offsetof(struct fact, member), NULL, NULL }

void load_fact(struct loader *l, const struct tree *n) {
    static const struct field fields[] = {FACT_TEXT("pass", pass, false),
                                          FACT_TEXT("pattern", pattern, false),
                                          FACT_TEXT("option", option, false),
                                          FACT_TEXT("since", since, true),
                                          FACT_TEXT("until", until, false),
                                          FACT_TEXT("dump", dump, false),
                                          FACT_TEXT("default", defaults, false),
                                          FACT_TEXT("xla", xla, false),
                                          FACT_TEXT("xla_default", xla_default, false)};
    struct fact fact = {.pass = STR("")};
    if (READ_RECORD(l, n, fields, "{pattern: SDPAFusingPattern, since: 2026-07-17}", &fact))
        APPEND(&l->set->arena, &l->set->facts, had, fact);
}

#define PRINTED_TEXT(key)                                                                                              \
    { #key, FIELD_TEXT, false, offsetof(struct print_fact, key), NULL, NULL }

void load_printed(struct loader *l, const struct tree *n) {
    static const struct field fields[] = {PRINTED_TEXT(since),   PRINTED_TEXT(until),   PRINTED_TEXT(attributes),
                                          PRINTED_TEXT(operand), PRINTED_TEXT(results), PRINTED_TEXT(ttir),
                                          PRINTED_TEXT(ttnn)};
    struct print_fact row = {.since = STR("")};
    if (READ_RECORD(l, n, fields, "{until: 2026-06-02, attributes: dtype, ttnn: add multiply}", &row))
        APPEND(&l->set->arena, &l->set->facts, prints, row);
}

static const struct fact *named(const struct compiler_facts *f, size_t member, struct str name) {
    for (uint32_t i = 0; i < f->nhad && name.n; i++)
        if (str_eq(*(const struct str *)(const void *)((const char *)&f->had[i] + member), name))
            return &f->had[i];
    return NULL;
}

const struct fact *fact_of_pass(const struct compiler_facts *f, struct str name) {
    return named(f, offsetof(struct fact, pass), name);
}

const struct fact *fact_of_pattern(const struct compiler_facts *f, struct str name) {
    return named(f, offsetof(struct fact, pattern), name);
}

const struct fact *fact_of_option(const struct compiler_facts *f, struct str option) {
    for (size_t i = 0; i < option.n; i++)
        if (option.p[i] == '=')
            option.n = i;
    return named(f, offsetof(struct fact, option), option);
}

bool fact_is_younger(const struct fact *f, struct day_span s) {
    return f && s.before.n && str_cmp(f->since, s.before) >= 0;
}

bool fact_is_there(const struct fact *f, struct day_span s) {
    bool stays = f && (!f->until.n || (s.before.n && str_cmp(s.before, f->until) <= 0));
    return stays && s.since.n && str_cmp(f->since, s.since) <= 0;
}

/* The next "2025-07-29 true" of a list. */
static bool next_default(struct str *rest, struct str *day, struct str *value) {
    enum { DAY = 10 };
    if (rest->n <= DAY)
        return false;
    *day = (struct str){rest->p, DAY};
    size_t end = DAY + 1;
    while (end < rest->n && rest->p[end] != ',')
        end++;
    *value = (struct str){rest->p + DAY + 1, end - DAY - 1};
    *rest = end + 2 < rest->n ? (struct str){rest->p + end + 2, rest->n - end - 2} : STR("");
    return true;
}

/* In the order of the days: what holds on the first one, then each change before the last. */
enum by_default fact_default(const struct fact *f, struct str value, struct day_span s, bool xla) {
    struct str rest = xla && f->xla.n ? f->xla_default : f->defaults, day, is, last = STR("");
    bool yes = false, no = false;
    while (next_default(&rest, &day, &is)) {
        if (s.before.n && str_cmp(day, s.before) >= 0)
            break;
        if (s.since.n && str_cmp(day, s.since) <= 0) /* all before it is over */
            yes = no = false;
        else if (!last.n)
            no = true; /* there was none before */
        last = is;
        yes |= str_eq(is, value);
        no |= !str_eq(is, value);
    }
    return yes == no ? DEFAULT_OPEN : yes ? DEFAULT_YES : DEFAULT_NO;
}

bool word_among(struct str list, struct str word) {
    for (size_t i = 0; i + word.n <= list.n; i++)
        if ((i == 0 || list.p[i - 1] == ' ') && (i + word.n == list.n || list.p[i + word.n] == ' ') &&
            memcmp(list.p + i, word.p, word.n) == 0)
            return true;
    return false;
}
