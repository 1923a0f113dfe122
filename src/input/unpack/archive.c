#include "input/unpack/archive.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/base.h"

bool libarchive_load(struct libarchive *lib) {
    memset(lib, 0, sizeof *lib);
    errno = 0;
    lib->handle = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL); /* its name since version 3.0, of 2011 */
    check_memory(lib->handle ? 0 : errno);
    bool all = lib->handle != NULL;
#define F(name)                                                                                                        \
    if (all) {                                                                                                         \
        void *function = dlsym(lib->handle, #name);                                                                    \
        memcpy(&lib->name, &function, sizeof function); /* C has no cast from data to functions */                     \
        all = function != NULL;                                                                                        \
    }
    ARCHIVE_FUNCTIONS(F)
#undef F
    if (!all)
        libarchive_unload(lib);
    return all;
}

void libarchive_unload(struct libarchive *lib) {
    if (lib->handle)
        dlclose(lib->handle);
    lib->handle = NULL;
}
