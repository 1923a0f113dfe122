/* What `try` and `try --why` share. */
#ifndef FA_CLI_TRY_H
#define FA_CLI_TRY_H

#include "cli/compiler.h"

struct asking;
struct try_args {
    struct args args;
    const char *compiler, *pipeline, *output_dir;
    unsigned seconds;
    bool why;
    struct asking *asking; /* of --why */
};

/* Takes what is missed alone through the compiler, as it is and with one thing changed at a time. */
enum fa_status try_why(struct try_args *x, FILE *out);
/* Where its answers are kept for the user; NULL: there is no place for them. */
const char *tried_file(struct args *args);

#endif
