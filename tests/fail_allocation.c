/* Interposed by faults_memory.py (LD_PRELOAD): the allocation number FAIL_ALLOCATION of a process fails, and no other.
 * Libraries are met too, but not libarchive, which does not survive each (input/unpack/unpack.c). At the end the number
 * of allocations is written to the file COUNT_ALLOCATIONS, if that is set. */
#undef _FILE_OFFSET_BITS /* under which mmap is mmap64 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static atomic_ulong count;
static unsigned long failing; /* 0: none */

__attribute__((constructor)) static void begin(void) {
    const char *number = getenv("FAIL_ALLOCATION");
    failing = number ? strtoul(number, NULL, 10) : 0;
    atomic_store(&count, 0);
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("COUNT_ALLOCATIONS");
    unsigned long n = atomic_load(&count);
    FILE *f = path ? fopen(path, "w") : NULL;
    if (f) {
        fprintf(f, "%lu\n", n);
        fclose(f);
    }
}

/* Whether code is of libarchive: its own calls, which are in one range of addresses. */
static bool in_libarchive(const void *code) {
    static const char *begin, *end;
    Dl_info info;
    if ((const char *)code >= begin && (const char *)code < end)
        return true;
    if (begin || !dladdr(code, &info) || !info.dli_fname || !strstr(info.dli_fname, "/libarchive.so"))
        return false;
    begin = info.dli_fbase;
    end = begin + (1 << 20);
    return true;
}

static bool fails(const void *caller) {
    if (in_libarchive(caller))
        return false;
    if (atomic_fetch_add(&count, 1) + 1 != failing)
        return false;
    errno = ENOMEM;
    return true;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, size);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    static void *(*next)(void *, size_t, int, int, int, off_t);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "mmap");
    return fails(__builtin_return_address(0)) ? MAP_FAILED : next(at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset) __attribute__((alias("mmap")));

void *mremap(void *at, size_t old, size_t size, int flags, ...) {
    static void *(*next)(void *, size_t, size_t, int, ...);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "mremap");
    return fails(__builtin_return_address(0)) ? MAP_FAILED : next(at, old, size, flags);
}
