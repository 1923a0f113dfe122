/* The report as YAML events. What libyaml is told: UTF-8 unescaped, no line width, no document marks,
 * block mappings and block sequences. Text that is no valid UTF-8 is repaired first (text.h),
 * so that a report can always be read. Pieces of it are made side by side and written in order. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/utf8.h"
#include "base/work.h"
#include "report/report.h"
#include "report/text.h"

struct printer {
    yaml_emitter_t emitter;
    bool ok;
    struct report *report;
    struct buf instance, utf8; /* scratch */
};

/* `made`: what yaml_*_event_initialize returned. libyaml takes the event over. */
static void put(struct printer *p, yaml_event_t *event, int made) {
    p->ok = p->ok && made && yaml_emitter_emit(&p->emitter, event);
}

static void put_scalar(struct printer *p, struct str s, yaml_scalar_style_t style) {
    yaml_event_t event;
    if (!p->ok || s.n > INT_MAX) {
        p->ok = false;
        return;
    }
    const yaml_char_t *value = (const yaml_char_t *)(s.n > 0 ? s.p : "");
    put(p, &event, yaml_scalar_event_initialize(&event, NULL, NULL, value, (int)s.n, 1, 1, style));
}

static void put_name(struct printer *p, struct str s) {
    s = utf8_repair(s, &p->utf8);
    put_scalar(p, s, text_name_style(s));
}

/* A number stays one. */
static void put_value(struct printer *p, struct str s) {
    double x;
    if (mlir_float(s, &x))
        put_scalar(p, s, YAML_PLAIN_SCALAR_STYLE);
    else
        put_name(p, s);
}

static void put_key(struct printer *p, const char *key) {
    put_scalar(p, str_of(key), YAML_PLAIN_SCALAR_STYLE);
}

static void put_block(struct printer *p, const char *key, struct str s) {
    put_key(p, key);
    s = utf8_repair(s, &p->utf8);
    put_scalar(p, s, text_block_style(s));
}

static void begin_mapping(struct printer *p) {
    yaml_event_t event;
    if (p->ok)
        put(p, &event, yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
}

static void end_mapping(struct printer *p) {
    yaml_event_t event;
    if (p->ok)
        put(p, &event, yaml_mapping_end_event_initialize(&event));
}

static void begin_list(struct printer *p, const char *key) {
    yaml_event_t event;
    put_key(p, key);
    if (p->ok)
        put(p, &event, yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
}

static void end_list(struct printer *p) {
    yaml_event_t event;
    if (p->ok)
        put(p, &event, yaml_sequence_end_event_initialize(&event));
}

/* Lines of `key: value`. */
static void put_lines(struct printer *p, const char *key, struct str lines) {
    char name[64];
    put_key(p, key);
    begin_mapping(p);
    while (lines.n > 0) {
        const char *end = memchr(lines.p, '\n', lines.n), *colon = memchr(lines.p, ':', lines.n);
        if (!end || !colon || colon > end || (size_t)(colon - lines.p) >= sizeof name)
            break;
        memcpy(name, lines.p, (size_t)(colon - lines.p));
        name[colon - lines.p] = '\0';
        put_key(p, name);
        put_value(p, str_trim((struct str){colon + 1, (size_t)(end - colon - 1)}));
        lines.n -= (size_t)(end + 1 - lines.p);
        lines.p = end + 1;
    }
    end_mapping(p);
}

static void put_instance(struct printer *p, const struct stored *stored) {
    struct written w;
    if (!p->ok || !report_instance(p->report, stored, &p->instance, &w)) {
        p->ok = false;
        return;
    }
    begin_mapping(p);
    if (w.ir_loc.n > 0) {
        put_key(p, "ir_loc");
        put_scalar(p, utf8_repair(w.ir_loc, &p->utf8), YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    }
    if (w.ttir.n > 0)
        put_block(p, "ttir_segment", w.ttir);
    if (w.ttnn.n > 0)
        put_block(p, "ttnn_segment", w.ttnn);
    put_block(p, "notes", w.notes);
    if (w.validation.n > 0)
        put_lines(p, "validation", w.validation);
    end_mapping(p);
}

static void put_class(struct printer *p, const struct classification *c) {
    const struct {
        const char *key;
        struct str value;
    } all[] = {{"dialect_level", c->dialect_level},
               {"pass_status", c->pass_status},
               {"owning_pass", c->owning_pass},
               {"existing_pattern", c->existing_pattern}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        put_key(p, all[i].key);
        if (all[i].value.n)
            put_name(p, all[i].value);
        else
            put_scalar(p, STR("null"), YAML_PLAIN_SCALAR_STYLE);
    }
}

static void put_head(struct printer *p, const struct entry *e) {
    put_key(p, "fused_op");
    put_name(p, e->fused_op);
    put_key(p, "source");
    put_name(p, e->source);
    begin_list(p, "component_ops");
    for (uint32_t i = 0; i < e->ncomponents; i++)
        put_name(p, e->component_ops[i]);
    end_list(p);
    if (e->class.given)
        put_class(p, &e->class);
}

static void put_path(struct printer *p, const char *key, const char *path) {
    if (path) {
        put_key(p, key);
        put_name(p, str_of(path));
    }
}

static void put_input(struct printer *p, const struct report *r) {
    put_key(p, "input");
    begin_mapping(p);
    put_path(p, "ttir", r->ttir_path);
    put_path(p, "ttnn", r->ttnn_path);
    end_mapping(p);
}

/* ---- a report in pieces ---- */

/* Some instances of one entry. A piece is printed as a report of its own; without the lines that the piece before it
 * has printed it is what follows there. */
struct piece {
    uint32_t entry, begin, end;
};

enum { PIECE = 64, AHEAD = 32 }; /* instances; pieces that may wait for an earlier one */

struct printed {
    struct buf text;
    bool ready, good;
    int reason; /* errno, where it is not good */
};

struct pieces {
    struct report *report;
    struct piece *v;
    uint32_t n;
    FILE *out;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t written;
    struct printed printed[AHEAD]; /* by number */
    uint32_t next;                 /* to be written */
    bool writing;                  /* some thread does */
    bool failed;
    int reason; /* errno of the thread that failed; 0: the text is no YAML */
};

static void put_piece(struct printer *p, const struct piece *piece, bool first) {
    const struct report *r = p->report;
    const struct entry *e = piece ? &r->entries[piece->entry] : NULL;
    begin_mapping(p);
    if (first)
        put_input(p, r);
    begin_list(p, "missed_fusions");
    if (e) {
        begin_mapping(p);
        if (piece->begin == 0)
            put_head(p, e);
        begin_list(p, "instances");
        for (uint32_t i = piece->begin; i < piece->end; i++)
            put_instance(p, &e->instances[i]);
        end_list(p);
        end_mapping(p);
    }
    end_list(p);
    end_mapping(p);
}

static int keep_text(void *buf, unsigned char *text, size_t n) {
    buf_add(buf, (struct str){(const char *)text, n});
    return 1;
}

/* NULL: a report without entries. */
static bool print_piece(struct report *r, const struct piece *piece, bool first, struct buf *out) {
    yaml_event_t event;
    struct printer p = {.ok = true, .report = r};
    if (!yaml_emitter_initialize(&p.emitter))
        return false;
    yaml_emitter_set_output(&p.emitter, keep_text, out);
    yaml_emitter_set_unicode(&p.emitter, 1);
    yaml_emitter_set_width(&p.emitter, -1);
    put(&p, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    if (p.ok)
        put(&p, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
    put_piece(&p, piece, first);
    if (p.ok)
        put(&p, &event, yaml_document_end_event_initialize(&event, 1));
    if (p.ok)
        put(&p, &event, yaml_stream_end_event_initialize(&event));
    yaml_emitter_delete(&p.emitter);
    buf_free(&p.instance);
    buf_free(&p.utf8);
    return p.ok;
}

/* Behind the lines "missed_fusions:" and, of an entry that goes on, "- instances:". */
static struct str without_lines(struct str text, uint32_t lines) {
    for (; lines > 0; lines--) {
        const char *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) + 1 : text.n;
        text = (struct str){text.p + n, text.n - n};
    }
    return text;
}

/* The next piece, by one thread at a time and without the lock. */
static void write_next(struct pieces *all, struct printed *p) {
    const struct piece *piece = all->n ? &all->v[all->next] : NULL;
    struct str rest = without_lines(buf_str(&p->text), all->next == 0 || !piece ? 0 : piece->begin == 0 ? 1 : 2);
    bool good = p->good && !all->failed;
    pthread_mutex_unlock(&all->lock);
    errno = p->reason;
    good = good && fwrite(rest.p, 1, rest.n, all->out) == rest.n;
    int reason = errno;
    pthread_mutex_lock(&all->lock);
    if (!good && !all->failed) {
        all->failed = true;
        all->reason = reason;
    }
    p->ready = false;
    all->next++;
    pthread_cond_broadcast(&all->written);
}

/* Pieces are written in order by whoever has made the one that is next, together with those that wait for it: nobody
 * waits for a turn. */
static void print_one(void *context, uint32_t i, uint32_t slot) {
    struct pieces *all = context;
    struct printed *p = &all->printed[i % AHEAD];
    (void)slot;
    pthread_mutex_lock(&all->lock);
    while (i - all->next >= AHEAD)
        pthread_cond_wait(&all->written, &all->lock);
    pthread_mutex_unlock(&all->lock);
    errno = 0;
    p->text.n = 0;
    p->good = print_piece(all->report, all->n ? &all->v[i] : NULL, i == 0, &p->text);
    p->reason = errno;
    pthread_mutex_lock(&all->lock);
    p->ready = true;
    if (!all->writing) {
        all->writing = true;
        while (all->printed[all->next % AHEAD].ready)
            write_next(all, &all->printed[all->next % AHEAD]);
        all->writing = false;
    }
    pthread_mutex_unlock(&all->lock);
}

static struct piece *cut(const struct report *r, uint32_t *n) {
    struct piece *v = NULL;
    uint32_t cap = 0;
    *n = 0;
    for (uint32_t e = 0; e < r->nentries; e++)
        for (uint32_t at = 0; at < r->entries[e].ninstances; at += PIECE) {
            uint32_t left = r->entries[e].ninstances - at;
            v = grow(v, &cap, *n + 1, sizeof *v);
            v[(*n)++] = (struct piece){e, at, at + (left < PIECE ? left : PIECE)};
        }
    return v;
}

bool report_print(struct report *r, FILE *out) {
    struct pieces all = {.report = r, .out = out};
    pthread_mutex_init(&all.lock, NULL);
    pthread_cond_init(&all.written, NULL);
    all.v = cut(r, &all.n);
    work_run(all.n ? all.n : 1, r->jobs ? r->jobs : 1, print_one, &all);
    for (uint32_t i = 0; i < AHEAD; i++)
        buf_free(&all.printed[i].text);
    pthread_cond_destroy(&all.written);
    pthread_mutex_destroy(&all.lock);
    free(all.v);
    if (!all.failed && (fflush(out) != 0 || ferror(out))) {
        all.failed = true;
        all.reason = errno;
    }
    errno = all.reason;
    return !all.failed;
}
