/* Which dialects a block has ops of, told from the beginning of each of its lines. A TTNN module may hold TTIR ops that
 * run on the host or once (cpu_hoisted, const_eval); these do not make it a TTIR module. */
#include "input/log/ir_line.h"
#include "input/log/scan.h"

#include <string.h>

enum { ENDS_MAX = 512 };

/* "ttir.add"( after the results, or ttir.empty in custom assembly. */
static void dialects_op(struct dialects *d, struct str in) {
    const char *p = in.p, *end = in.p + in.n;
    if (p < end && *p == '%') {
        if (!(p = memchr(p, '=', in.n)))
            return;
        for (p++; p < end && *p == ' ';)
            p++;
    }
    bool quoted = p < end && *p == '"';
    p += quoted;
    if (end - p < 6 || p[0] != 't' || p[1] != 't')
        return;
    if (memcmp(p, "ttir.", 5) == 0) {
        d->ttir = true;
        d->device_ttir |= quoted && !d->in_cpu_module && !d->host_function;
    } else if (memcmp(p, "ttnn.", 5) == 0) {
        d->ttnn = true;
    }
}

static void take_module_name(struct dialects *d, struct arena *a, struct str in) {
    const char *at = memchr(in.p, '@', in.n), *brace = memchr(in.p, '{', in.n);
    if (d->module.n || !at || (brace && brace < at) || (size_t)(at - in.p) > strlen("builtin.module  "))
        return;
    size_t n = 1, most = (size_t)(in.p + in.n - at);
    while (n < most && at[n] != ' ' && at[n] != '{')
        n++;
    d->module = arena_str(a, (struct str){at + 1, n - 1});
}

static bool names_cpu_function(struct str t) {
    return str_find(t, STR("cpu_hoisted")) || str_find(t, STR("forward_cpu"));
}

/* Ops on the same line as the head of a region: "module { func.func @main(...) { %0 = "ttir.add"(...". */
static void dialects_body(struct dialects *d, struct str in) {
    struct str body = str_trim(in);
    if (str_ends(body, STR("{")))
        return;
    if (str_find(body, STR("\"ttnn.")))
        d->ttnn = true;
    if (str_find(body, STR("\"ttir."))) {
        d->ttir = true;
        d->device_ttir |= !d->in_cpu_module && !d->host_function;
    }
}

static void dialects_func(struct dialects *d, struct str in) {
    /* the name stands at the beginning, attributes at the end of a line of any length */
    struct str begin = {in.p, in.n < ENDS_MAX ? in.n : ENDS_MAX}, end = {in.p + in.n - begin.n, begin.n};
    bool cpu = names_cpu_function(begin) || names_cpu_function(end);
    d->cpu |= cpu;
    d->host_function = cpu || str_find(begin, STR("const_eval")) || str_find(end, STR("const_eval"));
    dialects_body(d, in);
}

static void dialects_module(struct dialects *d, struct arena *a, struct str in) {
    take_module_name(d, a, in);
    dialects_body(d, in);
}

void dialects_line(struct dialects *d, struct arena *a, struct str in) {
    if (in.n < 5)
        return;
    bool quoted = in.p[0] == '"';
    struct str name = {in.p + quoted, in.n - quoted};
    if (str_starts(name, STR("ttcore.cpu_module")) || str_starts(name, STR("tt.cpu_module")))
        d->in_cpu_module = d->cpu = true;
    else if (str_starts(name, STR("ttcore.device_module")) || str_starts(name, STR("tt.device_module")))
        d->in_cpu_module = false;
    else if (is_func(in))
        dialects_func(d, in);
    else if (is_module(in))
        dialects_module(d, a, in);
    else if (in.p[0] == '%' || quoted)
        dialects_op(d, in);
}
