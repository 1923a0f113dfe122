/* Feeds files, and all files of directories, to a fuzz target without a fuzzer: the regression run over found inputs,
 * with any compiler. An input that takes more than ten seconds of processor time fails the run. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>

static unsigned count;

static int not_hidden(const struct dirent *e) {
    return e->d_name[0] != '.';
}

static bool replay_file(const char *path) {
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (!f || fstat(fileno(f), &st) != 0) {
        perror(path);
        return false;
    }
    size_t size = (size_t)st.st_size;
    uint8_t *data = xrealloc(NULL, size ? size : 1); /* of exactly this size: reading beyond it is seen */
    bool whole = fread(data, 1, size, f) == size;
    fclose(f);
    printf("%s\n", path); /* the last line names the input that failed */
    fflush(stdout);
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = 10}, NULL); /* processor time: machines are busy */
    if (whole)
        LLVMFuzzerTestOneInput(data, size);
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
    free(data);
    count++;
    return whole;
}

static bool replay(const char *path) {
    struct dirent **names;
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return replay_file(path);
    int n = scandir(path, &names, not_hidden, alphasort);
    bool ok = n >= 0;
    for (int i = 0; i < n; i++) {
        struct buf file = {0};
        buf_printf(&file, "%s/%s", path, names[i]->d_name);
        buf_addc(&file, '\0');
        ok = replay(file.p) && ok;
        buf_free(&file);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    return ok;
}

int main(int argc, char **argv) {
    bool ok = true;
    for (int i = 1; i < argc; i++)
        ok = replay(argv[i]) && ok;
    printf("%u inputs\n", count);
    return ok ? 0 : 1;
}
