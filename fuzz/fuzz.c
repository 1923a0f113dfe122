/* Inputs in memory. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct source fuzz_source(const uint8_t *data, size_t size) {
    return (struct source){.path = "input", .data = (const char *)data, .size = size};
}

const char *fuzz_file(int i, struct str bytes) {
    static int fds[FUZZ_FILES];
    static char names[FUZZ_FILES][32];
    if (fds[i] == 0) {
        fds[i] = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(names[i], sizeof names[i], "/proc/self/fd/%d", fds[i]);
    }
    if (fds[i] < 0 || ftruncate(fds[i], 0) != 0 || pwrite(fds[i], bytes.p, bytes.n, 0) != (ssize_t)bytes.n) {
        perror("memfd");
        exit(1);
    }
    return names[i];
}

struct str fuzz_cut(struct str *text) {
    for (const char *p = text->p, *end = p + text->n; p < end;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p)), *next = nl ? nl + 1 : end;
        if (nl && nl - p == 3 && memcmp(p, "---", 3) == 0) {
            text->n = (size_t)(p - text->p);
            return (struct str){next, (size_t)(end - next)};
        }
        p = next;
    }
    return (struct str){text->p + text->n, 0};
}

void fuzz_touch(struct str s) {
    unsigned char sum = 0;
    for (size_t i = 0; i < s.n; i++)
        sum ^= (unsigned char)s.p[i];
    __asm__ volatile("" : : "r"(sum)); /* used, as far as the compiler can tell */
}

void fuzz_broken(const char *condition, const char *file, int line) {
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
    abort();
}
