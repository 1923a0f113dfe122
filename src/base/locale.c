#include "base/locale.h"

#include "base/base.h"

locale_t locale_enter(void) {
    return uselocale((locale_t)made((void *)newlocale(LC_ALL_MASK, "C", (locale_t)0)));
}

void locale_leave(const locale_t *before) {
    freelocale(uselocale(*before));
}
