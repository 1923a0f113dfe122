/* The user's compiler, run on one module at a time. */
#ifndef FA_CLI_COMPILER_H
#define FA_CLI_COMPILER_H

#include "cli/options.h"
#include "cli/process.h"

struct user_compiler {
    struct args *args;
    const char *program, *pipeline, *output_dir; /* of the command line */
    unsigned seconds;
    const char *mesh;     /* "mesh-shape=2,4" of the last module, where it is of several devices; or NULL */
    int out, err;         /* what the last compile printed: without a name, or in --output-dir; -1: there is none */
    enum process_end end; /* of the last compile */
};

/* A file of compile `number`: in --output-dir, made anew, or one without a name. -1 with errno. */
int compiler_file(struct user_compiler *c, size_t number, const char *end);
/* Its options, as --pipeline gives them, but for those that are among `options`, then these. */
char *compiler_pipeline(const struct user_compiler *c, const char *const *options, size_t n);
/* NULL, or why there is nothing in `out`. compiler_close closes both files. */
const char *compiler_run(struct user_compiler *c, size_t number, const char *const *options, size_t n,
                         const char *file);
void compiler_close(struct user_compiler *c);
/* What it is called, and the version that it says it has. NULL with the error of its args: it cannot be started. */
const char *compiler_name(struct user_compiler *c);

#endif
