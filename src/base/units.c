#include "base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/locale.h"

const char *fa_format_time(double us, char out[FA_TIME_TEXT]) {
    IN_C_LOCALE;
    static const char *const units[] = {"us", "ms", "s"};
    double x = us * (1 + 1e-7); /* half a digit is rounded up, also where it was printed and read in between */
    int unit = 0;
    for (; unit < 2 && (x >= 999.5 || x <= -999.5); unit++)
        x /= 1000;
    snprintf(out, FA_TIME_TEXT, x < 9.95 && x > -9.95 ? "%.1f %s" : "%.0f %s", x, units[unit]);
    return out;
}

void add_time_part(struct buf *out, double part, double all) {
    char some[FA_TIME_TEXT], whole[FA_TIME_TEXT];
    size_t n = strlen(fa_format_time(part, some));
    const char *unit = strchr(fa_format_time(all, whole), ' ');
    if (strcmp(strchr(some, ' '), unit) == 0)
        n -= strlen(unit);
    buf_printf(out, "%.*s of %s", (int)n, some, whole);
}

void add_total_time(struct buf *out, double us) {
    if (us >= 1e6)
        buf_printf(out, "%.4g s", us / 1e6);
    else if (us >= 1e3)
        buf_printf(out, "%.4g ms", us / 1e3);
    else
        buf_printf(out, "%.4g us", us);
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
