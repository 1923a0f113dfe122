/* Removes the report of an earlier run on the same input, when nothing is missed any more. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "base/utf8.h"
#include "report/report.h"

/* Bytes that are read to find the first key: a large file of something else is not read as a whole. */
#define HEAD_BYTES 65536

struct head {
    FILE *file;
    size_t left;
};

static int read_head(void *data, unsigned char *buffer, size_t size, size_t *size_read) {
    struct head *head = data;
    if (size > head->left)
        size = head->left;
    *size_read = fread(buffer, 1, size, head->file);
    head->left -= *size_read;
    return !ferror(head->file);
}

static bool parse(yaml_parser_t *parser, yaml_event_t *event) {
    bool ok = yaml_parser_parse(parser, event) != 0;
    if (parser->error == YAML_MEMORY_ERROR)
        out_of_memory();
    return ok;
}

/* The type of the next event; YAML_NO_EVENT for an error. */
static yaml_event_type_t next(yaml_parser_t *parser) {
    yaml_event_t event;
    if (!parse(parser, &event))
        return YAML_NO_EVENT;
    yaml_event_type_t type = event.type;
    yaml_event_delete(&event);
    return type;
}

/* Skips the rest of a collection after its start event. */
static bool skip(yaml_parser_t *parser) {
    for (size_t depth = 1; depth > 0;) {
        switch (next(parser)) {
        case YAML_MAPPING_START_EVENT:
        case YAML_SEQUENCE_START_EVENT:
            depth++;
            break;
        case YAML_MAPPING_END_EVENT:
        case YAML_SEQUENCE_END_EVENT:
            depth--;
            break;
        case YAML_NO_EVENT:
            return false;
        default:
            break;
        }
    }
    return true;
}

/* Which of the keys comes next in a mapping: n at its end, -1 for anything else. */
static int next_key(yaml_parser_t *parser, const char *const *keys, int n) {
    yaml_event_t event;
    int key = -1;
    if (!parse(parser, &event))
        return -1;
    if (event.type == YAML_MAPPING_END_EVENT)
        key = n;
    for (int i = 0; event.type == YAML_SCALAR_EVENT && i < n; i++)
        if (strcmp((const char *)event.data.scalar.value, keys[i]) == 0)
            key = i;
    yaml_event_delete(&event);
    return key;
}

/* The next event is a scalar: this path, as a report has it. */
static bool is_path(yaml_parser_t *parser, const char *path) {
    yaml_event_t event;
    struct buf scratch = {0};
    if (!path || !parse(parser, &event))
        return false;
    bool is = event.type == YAML_SCALAR_EVENT &&
              str_is(utf8_repair(str_of(path), &scratch), (const char *)event.data.scalar.value);
    yaml_event_delete(&event);
    buf_free(&scratch);
    return is;
}

/* A mapping of exactly the paths of this run. */
static bool is_own_input(yaml_parser_t *parser, const struct report_head *h) {
    bool seen[2] = {false, false};
    int key;
    if (next(parser) != YAML_MAPPING_START_EVENT)
        return false;
    while ((key = next_key(parser, h->input, 2)) >= 0 && key < 2) {
        if (seen[key] || !is_path(parser, h->paths[key]))
            return false;
        seen[key] = true;
    }
    return key == 2 && seen[0] == (h->paths[0] != NULL) && seen[1] == (h->paths[1] != NULL);
}

static bool is_collection(yaml_parser_t *parser) {
    yaml_event_type_t type = next(parser);
    return (type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT) && skip(parser);
}

static bool is_own_report(yaml_parser_t *parser, struct head *head, const struct report_head *h) {
    static const yaml_event_type_t begin[] = {YAML_STREAM_START_EVENT, YAML_DOCUMENT_START_EVENT,
                                              YAML_MAPPING_START_EVENT};
    int key, seen = 0;
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (next(parser) != begin[i])
            return false;
    while ((key = next_key(parser, h->keys, h->nkeys)) >= 0 && key < h->nkeys) {
        head->left = SIZE_MAX;
        if (seen & 1 << key || !(key == 0 ? is_own_input(parser, h) : is_collection(parser)))
            return false;
        seen |= 1 << key;
    }
    return key == h->nkeys && seen == (1 << key) - 1 && next(parser) == YAML_DOCUMENT_END_EVENT &&
           next(parser) == YAML_STREAM_END_EVENT;
}

bool remove_stale(const struct report_head *h, const char *path) {
    struct stat st;
    yaml_parser_t parser;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    FILE *file = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
    if (!file) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    struct head head = {file, HEAD_BYTES};
    if (!yaml_parser_initialize(&parser))
        out_of_memory();
    yaml_parser_set_input(&parser, read_head, &head);
    bool ours = is_own_report(&parser, &head, h);
    yaml_parser_delete(&parser);
    fclose(file);
    return ours && unlink(path) == 0;
}

bool report_remove_stale(const struct report *r, const char *path) {
    const struct report_head head = {.keys = {"input", "missed_fusions"},
                                     .nkeys = 2,
                                     .input = {"ttir", "ttnn"},
                                     .paths = {r->ttir_path, r->ttnn_path}};
    return remove_stale(&head, path);
}
