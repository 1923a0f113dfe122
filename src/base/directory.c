/* Relative to the program first, or to the library, so that an installation can be moved as a whole; else where it was
 * installed. */
#include "base/directory.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_directory(const char *path) {
    return access(path, R_OK | X_OK) == 0;
}

/* In share/, beside a program of a build, or the bin/ of a program, or the lib/ or lib/x86_64-linux-gnu/ of a library,
 * or lib/python3.11/site-packages/fusion_audit/. False: it is not there. */
static bool find_beside(const char *file, const char *name, struct arena *a, struct str *out) {
    const char *const up[] = {"", "/..", "/../..", "/../../..", "/../../../.."}, *slash = strrchr(file, '/');
    for (int i = 0; slash && i < 5; i++) {
        *out = arena_printf(a, "%.*s%s/share/fusion-audit/%s", (int)(slash - file), file, up[i], name);
        if (is_directory(out->p))
            return true;
    }
    return false;
}

struct str data_directory(const char *data, const char *name, struct arena *a) {
    static const char here; /* in the library, which may be a shared one */
    char exe[PATH_MAX];
    Dl_info library;
    struct str found;
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = '\0';
    if (data)
        return arena_printf(a, "%s/%s", data, name);
    if (find_beside(exe, name, a, &found) ||
        (dladdr(&here, &library) && find_beside(library.dli_fname, name, a, &found)))
        return found;
    return arena_printf(a, "%s/%s", FA_DATA_DIR, name);
}
