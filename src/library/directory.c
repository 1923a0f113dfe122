/* Relative to the program first, so that an installation can be moved as a whole; else where it was installed. */
#include "library/directory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_directory(const char *path) {
    return access(path, R_OK | X_OK) == 0;
}

struct str pattern_directory(struct arena *a) {
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n > 0) {
        exe[n] = '\0';
        if (strncmp(exe, FA_BUILD_ROOT "/", strlen(FA_BUILD_ROOT) + 1) == 0 && is_directory(FA_SOURCE_PATTERN_DIR))
            return STR(FA_SOURCE_PATTERN_DIR);
        char *slash = strrchr(exe, '/');
        struct str beside = arena_printf(a, "%.*s/../share/fusion-audit/patterns", (int)(slash ? slash - exe : 0), exe);
        if (is_directory(beside.p))
            return beside;
    }
    return STR(FA_PATTERN_DIR);
}
