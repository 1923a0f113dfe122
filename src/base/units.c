#include "base/units.h"

#include <inttypes.h>
#include <stdlib.h>
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

bool read_time_or_share(struct str s, double *us, double *share) {
    static const struct {
        const char *unit;
        double us, share;
    } units[] = {{"us", 1, 0}, {"ms", 1e3, 0}, {"s", 1e6, 0}, {"%", 0, 0.01}};
    char digits[32] = "";
    size_t n = 0;
    while (n < s.n && n + 1 < sizeof digits && ((s.p[n] >= '0' && s.p[n] <= '9') || s.p[n] == '.'))
        n++;
    memcpy(digits, s.p, n);
    char *end = digits;
    double x = strtod(digits, &end);
    struct str unit = str_trim((struct str){s.p + n, s.n - n});
    for (size_t i = 0; i < sizeof units / sizeof *units && n && !*end; i++)
        if (str_is(unit, units[i].unit)) {
            *us = x * units[i].us;
            *share = x * units[i].share;
            return true;
        }
    return false;
}
