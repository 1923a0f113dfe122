/* Which dialect a block is written in, by a light look at its text. */
#include "log/scan.h"

#include <string.h>

static const char *find_from(struct str text, const char *from, struct str what) {
    return str_find((struct str){from, (size_t)(text.p + text.n - from)}, what);
}

/* An op and not a string that happens to start the same: "ttir.add"( */
static const char *find_op(struct str text, const char *from, struct str quoted) {
    const char *p = from, *end = text.p + text.n;
    while ((p = find_from(text, p, quoted)) != NULL) {
        const char *q = p + quoted.n;
        while (q < end && ((*q >= 'a' && *q <= 'z') || *q == '_' || *q == '.' || (*q >= '0' && *q <= '9')))
            q++;
        if (end - q > 1 && q[0] == '"' && q[1] == '(')
            return p;
        p = q;
    }
    return NULL;
}

static const char *find_last(struct str text, struct str what) {
    for (const char *p = text.p + text.n - what.n; text.n >= what.n && p >= text.p; p--) {
        p = memrchr(text.p, what.p[0], (size_t)(p - text.p) + 1);
        if (!p)
            return NULL;
        if (memcmp(p, what.p, what.n) == 0)
            return p;
    }
    return NULL;
}

/* Does the function around `at` run on the host or once only? */
static bool aside(struct str text, const char *at) {
    struct str before = {text.p, (size_t)(at - text.p)};
    const char *func = find_last(before, STR("func.func"));
    if (!func)
        return false;
    const char *stop = memchr(func, '\n', (size_t)(text.p + text.n - func));
    struct str head = {func, (size_t)((stop ? stop : text.p + text.n) - func)};
    return str_find(head, STR("cpu_hoisted")) || str_find(head, STR("forward_cpu")) ||
           str_find(head, STR("const_eval"));
}

static bool has_device_ttir(struct str text) {
    const char *cpu = str_find(text, STR("cpu_module {")), *p = text.p, *end = text.p + text.n;
    const char *device = cpu ? find_from(text, cpu, STR("device_module {")) : NULL;
    while ((p = find_op(text, p, STR("\"ttir."))) != NULL) {
        bool in_cpu = cpu && p > cpu && !(device && p > device);
        if (!in_cpu && !aside(text, p))
            return true;
        const char *next = find_from(text, p, STR("func.func"));
        p = next ? next : end;
    }
    return false;
}

static struct str module_name(struct str text) {
    const char *p = text.p, *end = text.p + text.n;
    while ((p = find_from(text, p, STR("module"))) != NULL) {
        p += strlen("module");
        const char *q = p;
        while (q < end && *q == ' ')
            q++;
        if (q == p || q >= end || (*q != '@' && *q != '{' && *q != 'a'))
            continue;
        const char *from = ++q;
        if (from[-1] != '@')
            continue;
        while (q < end && *q != ' ' && *q != '{' && *q != '\n')
            q++;
        return (struct str){from, (size_t)(q - from)};
    }
    return (struct str){0};
}

/* The name stands before the first function; aliases before it can be long, functions longer. */
static struct str head_of(struct str text) {
    const char *func = str_find(text, STR("func.func"));
    return (struct str){text.p, func ? (size_t)(func - text.p) : text.n};
}

void block_dialects(struct found *f) {
    struct log_block *b = &f->block;
    b->has_ttnn = find_op(b->text, b->text.p, STR("\"ttnn.")) != NULL;
    if (b->has_ttnn)
        b->has_ttir = has_device_ttir(b->text);
    else
        b->has_ttir = find_op(b->text, b->text.p, STR("\"ttir.")) || str_find(b->text, STR("= ttir."));
    f->module = module_name(head_of(b->text));
}
