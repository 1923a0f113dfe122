/* What commands make of words: all of it lives until args_free. Where memory ends, so does the program, as it does
 * where the library ends it. */
#ifndef FA_CLI_TEXT_H
#define FA_CLI_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct args;

void *kept(struct args *args, size_t size); /* zeroed */
void kept_free(struct args *args);
char *text(struct args *args, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *text_of_list(struct args *args, const char *format, va_list list) __attribute__((format(printf, 2, 0)));
/* "a, b or c" where `last` is " or ". */
const char *join(struct args *args, const char *const *words, size_t n, const char *last);
bool begins(const char *text, const char *with);
bool ends(const char *text, const char *with);

#endif
