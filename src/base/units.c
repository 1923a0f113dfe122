#include "base/units.h"

#include <inttypes.h>
#include <time.h>

#include "base/locale.h"

const char *fa_format_time(double us, char out[FA_TIME_TEXT]) {
    IN_C_LOCALE;
    if (us >= 999.5 || us <= -999.5)
        snprintf(out, FA_TIME_TEXT, "%.1f ms", us / 1000);
    else
        snprintf(out, FA_TIME_TEXT, us < 9.95 && us > -9.95 ? "%.1f us" : "%.0f us", us);
    return out;
}

void add_bytes(struct buf *out, int64_t n) {
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    double x = (double)n;
    int unit = -1;
    for (; x >= 999.95 && unit < 3; unit++)
        x /= 1000;
    if (unit < 0)
        buf_printf(out, "%" PRId64 " bytes", n);
    else
        buf_printf(out, "%.1f %s", x, units[unit]);
}

const char *today(char out[DAY_TEXT]) {
    time_t now = time(NULL);
    struct tm tm = {0};
    return gmtime_r(&now, &tm) && strftime(out, DAY_TEXT, "%Y-%m-%d", &tm) ? out : "";
}
