/* Owns the formatting and parsing of durations. */
#include "base/time.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double unit_seconds(const char **p)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"min", 60}, {"ms", 1e-3}, {"us", 1e-6}, {"d", 86400},
                 {"h", 3600}, {"m", 60},    {"s", 1}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(units[i].name);
        if (!strncmp(*p, units[i].name, n) && !isalpha((unsigned char)(*p)[n])) {
            *p += n;
            return units[i].seconds;
        }
    }
    return 0;
}

int time_from_seconds(double seconds, usec_t *out)
{
    double us = seconds * (double)USEC_PER_SEC;
    if (!(fabs(us) <= (double)USEC_LIMIT))
        return -1;
    *out = llround(us);
    return 0;
}

/* Adds the duration at *p ("4h") and moves past it. A number without a unit is seconds if it is
 * the whole text. */
static int add_part(const char **p, bool first, double *sum)
{
    char *end;
    double value = strtod(*p, &end);
    bool hex = end > *p + 1 && tolower((unsigned char)(*p)[1]) == 'x';
    if (end == *p || hex || !(isdigit((unsigned char)**p) || **p == '.'))
        return -1;
    *p = end;
    double unit = first && !*end ? 1 : unit_seconds(p);
    *sum += value * unit;
    return unit > 0 ? 0 : -1;
}

int time_parse(const char *text, usec_t *out, struct err *err)
{
    const char *p = text;
    double sum = 0;
    do
        if (add_part(&p, p == text, &sum) < 0)
            return err_set(err, ERR_INVALID,
                           "'%s' is not a duration; write 90, 90s, 15m, 2h30m or 1d", text);
    while (*p);
    if (time_from_seconds(sum, out) < 0)
        return err_set(err, ERR_INVALID, "duration '%s' is above 290 years", text);
    return 0;
}

char *time_format(usec_t t, char *buf, size_t size)
{
    const char *sign = t < 0 ? "-" : "";
    uint64_t us = t < 0 ? -(uint64_t)t : (uint64_t)t, s = us / USEC_PER_SEC;
    unsigned long long minutes = s / 60, hours = s / 3600, days = s / 86400;
    if (t == USEC_NEVER)
        snprintf(buf, size, "never");
    else if (s < 1)
        snprintf(buf, size, "%s%ums", sign, (unsigned)(us / 1000));
    else if (s < 60)
        snprintf(buf, size, "%s%u.%us", sign, (unsigned)s, (unsigned)(us / 100000 % 10));
    else if (s < 3600)
        snprintf(buf, size, "%s%llum%02us", sign, minutes, (unsigned)(s % 60));
    else if (s < 86400)
        snprintf(buf, size, "%s%lluh%02um", sign, hours, (unsigned)(minutes % 60));
    else
        snprintf(buf, size, "%s%llud%02uh", sign, days, (unsigned)(hours % 24));
    return buf;
}
