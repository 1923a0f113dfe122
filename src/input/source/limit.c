#include "input/source/unpack.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* "max" is none. */
static uint64_t number_in(const char *path) {
    uint64_t n;
    FILE *f = fopen(path, "re");
    bool read = f && fscanf(f, "%" SCNu64, &n) == 1;
    if (f)
        fclose(f);
    return read ? n : UINT64_MAX;
}

/* The least one of a group and those above it. */
static uint64_t group_memory(const char *mount, char *group, const char *name) {
    uint64_t least = UINT64_MAX;
    for (char *slash = group; slash;) { /* ends with "", the root */
        char path[8192];
        snprintf(path, sizeof path, "%s%s/%s", mount, group, name);
        uint64_t n = number_in(path);
        least = n < least ? n : least;
        if ((slash = strrchr(group, '/')) != NULL)
            *slash = '\0';
    }
    return least;
}

uint64_t cgroup_memory(const char *groups, const char *mount) {
    uint64_t least = UINT64_MAX;
    char line[4096], v1[4096];
    snprintf(v1, sizeof v1, "%s/memory", mount);
    FILE *f = fopen(groups, "re");
    while (f && fgets(line, sizeof line, f)) { /* "4:memory:/docker/1f", "0::/user.slice" */
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group || group[1] != '/')
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        uint64_t n = UINT64_MAX;
        if (strcmp(controllers, ":") == 0)
            n = group_memory(mount, group, "memory.max");
        else if (strstr(controllers, "memory"))
            n = group_memory(v1, group, "memory.limit_in_bytes");
        least = n < least ? n : least;
    }
    if (f)
        fclose(f);
    return least;
}

size_t default_limit(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    uint64_t group = cgroup_memory("/proc/self/cgroup", "/sys/fs/cgroup");
    memory = (group < memory ? group : memory) / 2;
    return memory > SIZE_MAX / 4 ? SIZE_MAX / 4 : (size_t)memory;
}
