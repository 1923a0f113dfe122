/* Relative to the program first, so that an installation can be moved as a whole; else where it was installed. */
#include "base/directory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_directory(const char *path) {
    return access(path, R_OK | X_OK) == 0;
}

struct str data_directory(const char *name, struct arena *a) {
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n > 0) {
        exe[n] = '\0';
        struct str source = arena_printf(a, "%s/%s", FA_SOURCE_DIR, name);
        if (strncmp(exe, FA_BUILD_ROOT "/", strlen(FA_BUILD_ROOT) + 1) == 0 && is_directory(source.p))
            return source;
        char *slash = strrchr(exe, '/');
        struct str beside = arena_printf(a, "%.*s/../share/fusion-audit/%s", (int)(slash ? slash - exe : 0), exe, name);
        if (is_directory(beside.p))
            return beside;
    }
    return arena_printf(a, "%s/%s", FA_DATA_DIR, name);
}
