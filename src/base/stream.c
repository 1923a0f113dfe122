/* Streams of fusion_audit.h whose bytes go to a function. */
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "fusion_audit.h"

struct callback {
    fa_write *write;
    void *context;
};

static ssize_t write_piece(void *cookie, const char *bytes, size_t n) {
    const struct callback *s = cookie;
    return s->write(s->context, bytes, n) ? (ssize_t)n : 0; /* 0 is an error */
}

static int close_stream(void *cookie) {
    free(cookie);
    return 0;
}

FILE *fa_open_stream(fa_write *write, void *context) {
    struct callback *s = xcalloc(1, sizeof *s);
    *s = (struct callback){write, context};
    return made(fopencookie(s, "w", (cookie_io_functions_t){.write = write_piece, .close = close_stream}));
}

bool fa_close_stream(FILE *stream) {
    bool whole = !ferror(stream);
    return fclose(stream) == 0 && whole;
}
