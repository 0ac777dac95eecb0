/* Owns the spelling of numbers. Values are turned into integers of their last
 * decimal first: printf's %f would follow the locale. */
#include "sim/report/figure.h"

#include <math.h>
#include <stdio.h>

/* From here on a double has no sixth decimal, and its millionths no int64. */
#define WHOLE_ONLY 1e12

void figure_add_int(struct str *s, int64_t value)
{
    char digits[24], *p = digits + sizeof digits;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        *--p = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0)
        *--p = '-';
    str_add_n(s, p, (size_t)(digits + sizeof digits - p));
}

void figure_add_seconds(struct str *s, usec_t t)
{
    uint64_t us = t < 0 ? 0 - (uint64_t)t : (uint64_t)t;
    char decimals[8];
    if (t < 0)
        str_add(s, "-");
    figure_add_int(s, (int64_t)(us / USEC_PER_SEC));
    if (us % USEC_PER_SEC == 0)
        return;
    int n = snprintf(decimals, sizeof decimals, ".%06u", (unsigned)(us % USEC_PER_SEC));
    while (decimals[n - 1] == '0')
        n--;
    str_add_n(s, decimals, (size_t)n);
}

void figure_add(struct str *s, double value)
{
    if (!isfinite(value))
        str_add(s, "null");
    else if (fabs(value) >= WHOLE_ONLY)
        str_addf(s, "%.0f", value);
    else
        figure_add_seconds(s, llround(value * 1e6));
}

void figure_add_grouped(struct str *s, double value, unsigned decimals)
{
    static const double scales[] = {1, 10, 100, 1000};
    if (!isfinite(value) || fabs(value) >= WHOLE_ONLY) {
        str_add(s, "-");
        return;
    }
    int64_t scale = (int64_t)scales[decimals], scaled = llround(fabs(value) * scales[decimals]);
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%lld", (long long)(scaled / scale));
    if (value < 0 && scaled)
        str_add(s, "-");
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            str_add(s, ",");
        str_add_n(s, &digits[i], 1);
    }
    if (decimals)
        str_addf(s, ".%0*lld", (int)decimals, (long long)(scaled % scale));
}

void figure_add_column(struct str *s, const char *name, const int64_t *values, size_t n)
{
    size_t same = 1;
    while (same < n && values[same] == values[0])
        same++;
    str_addf(s, ",\"%s\":", name);
    if (n && same >= n) {
        figure_add_int(s, values[0]);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        str_add_n(s, i ? "," : "[", 1);
        figure_add_int(s, values[i]);
    }
    str_add(s, n ? "]" : "[]");
}
