#include "numeric_fixtures.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

void fixture_open(struct fixture_file *f, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/numeric/%s.json", getenv("FA_FIXTURES"), name);
    *f = (struct fixture_file){.all = json_object_from_file(path)};
    cr_assert(f->all, "%s", path);
    f->n = json_object_array_length(f->all);
}

void fixture_close(struct fixture_file *f) {
    json_object_put(f->all);
}

json_object *fixture_entry(struct fixture_file *f) {
    return f->at < f->n ? json_object_array_get_idx(f->all, f->at++) : NULL;
}

static json_object *member(json_object *o, const char *key) {
    json_object *v = NULL;
    json_object_object_get_ex(o, key, &v);
    return v;
}

static const char *text_of(json_object *o, const char *key) {
    return json_object_get_string(member(o, key));
}

static double number_of(json_object *v) {
    return json_object_is_type(v, json_type_string) ? strtod(json_object_get_string(v), NULL)
                                                    : json_object_get_double(v);
}

double fixture_number(json_object *entry, const char *key) {
    return number_of(member(entry, key));
}

static struct shape shape_of(const char *type) {
    struct shape s = {0};
    for (char *end; type[0] >= '0' && type[0] <= '9'; type = end + 1)
        s.dim[s.rank++] = strtoll(type, &end, 10);
    return s;
}

static const struct tensor *tensor_of_json(struct eval_context *b, json_object *o) {
    json_object *data = member(o, "data");
    struct shape s = shape_of(text_of(o, "type"));
    struct tensor *t = tensor_new(b, &s);
    cr_assert(t, "%s", b->error.p);
    cr_assert_eq((size_t)t->n, json_object_array_length(data));
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] = number_of(json_object_array_get_idx(data, (size_t)i));
    return t;
}

const struct tensor *fixture_tensor(struct eval_context *b, json_object *entry, const char *key) {
    return tensor_of_json(b, member(entry, key));
}

static void add_types(struct buf *b, json_object *tensors, const char *name) {
    size_t n = json_object_array_length(tensors), written = 0;
    for (size_t i = 0; i < n; i++) {
        json_object *t = json_object_array_get_idx(tensors, i);
        if (!t)
            continue;
        buf_printf(b, "%s", written++ ? ", " : "");
        if (name)
            buf_printf(b, "%%%s%zu: ", name, i);
        buf_printf(b, "tensor<%s>", text_of(t, "type"));
    }
}

static void write_module(struct buf *b, json_object *c) {
    json_object *operands = member(c, "operands"), *results = member(c, "results");
    size_t n = json_object_array_length(operands), written = 0;
    buf_printf(b, "func.func @main(");
    add_types(b, operands, "a");
    buf_printf(b, ") {\n%%r:%zu = \"%s\"(", json_object_array_length(results), text_of(c, "op"));
    for (size_t i = 0; i < n; i++)
        if (json_object_array_get_idx(operands, i))
            buf_printf(b, "%s%%a%zu", written++ ? ", " : "", i);
    buf_printf(b, ") <{%s}> : (", text_of(c, "attrs"));
    add_types(b, operands, NULL);
    buf_printf(b, ") -> (");
    add_types(b, results, NULL);
    buf_printf(b, ")\nreturn\n}\n%c", '\0');
}

static void give(struct fixture_op *f, struct eval_context *b, json_object *operands) {
    for (size_t i = 0; i < json_object_array_length(operands); i++) {
        char name[32];
        snprintf(name, sizeof name, "%%a%zu", i);
        json_object *o = json_object_array_get_idx(operands, i);
        if (o)
            f->given[f->ngiven++] = (struct given){ir_value(&f->ir, name), tensor_of_json(b, o)};
    }
}

bool fixture_next(struct fixture_file *file, struct eval_context *b, struct fixture_op *f) {
    json_object *c = fixture_entry(file);
    struct buf text = {0};
    if (!c)
        return false;
    memset(f, 0, sizeof *f);
    snprintf(f->label, sizeof f->label, "%s {%s}", text_of(c, "op"), text_of(c, "attrs"));
    write_module(&text, c);
    ir_read(&f->ir, text.p);
    buf_free(&text);
    f->op = ir_op_named(&f->ir, text_of(c, "op"), 0);
    give(f, b, member(c, "operands"));
    json_object *results = member(c, "results");
    f->nresults = (uint32_t)json_object_array_length(results);
    for (uint32_t i = 0; i < f->nresults; i++)
        f->want[i] = tensor_of_json(b, json_object_array_get_idx(results, i));
    return true;
}
