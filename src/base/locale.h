/* Numbers are read and written as in the locale "C", whatever that of the process is. */
#ifndef FA_LOCALE_H
#define FA_LOCALE_H

#include <locale.h>

/* Of this thread, until the end of the block: first in each function of fusion_audit.h that reads or writes a number,
 * and in each thread. */
#define IN_C_LOCALE __attribute__((cleanup(locale_leave), unused)) locale_t locale_before = locale_enter()

/* The locale that was in use before. */
locale_t locale_enter(void);
void locale_leave(const locale_t *before);

#endif
