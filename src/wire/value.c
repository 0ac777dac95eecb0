/* Owns the parsing and formatting of single values. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "wire/value.h"

#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"

int value_span(const char *text, double lo, double hi, double scale, int64_t *min, int64_t *max,
               struct err *err)
{
    char low[32], high[32];
    const char *dash = strchr(text, '-');
    size_t n = dash ? (size_t)(dash - text) : strlen(text);
    if (n == 0 || n >= sizeof low || (dash && strlen(dash + 1) >= sizeof high))
        return err_set(err, ERR_INVALID, "'%s': expected a number or MIN-MAX", text);
    snprintf(low, sizeof low, "%.*s", (int)n, text);
    snprintf(high, sizeof high, "%s", dash ? dash + 1 : low);
    double a, b;
    if (str_parse_double(low, lo, hi, &a, err) < 0 || str_parse_double(high, lo, hi, &b, err) < 0)
        return -1;
    if (a > b)
        return err_set(err, ERR_INVALID, "'%s': the minimum is above the maximum", text);
    *min = llround(a * scale);
    *max = llround(b * scale);
    return 0;
}

int value_memory(const char *text, int64_t *mb, struct err *err)
{
    static const double scales[] = {1.0 / 1024, 1, 1024, 1024 * 1024};
    static const char units[] = "kmgt";
    char number[32];
    size_t n = strspn(text, "0123456789.");
    double scale = 1, value;
    const char *unit = text + n, *known = NULL;
    if (*unit && (known = strchr(units, tolower((unsigned char)*unit)))) {
        scale = scales[known - units];
        unit++;
        if (str_equal_nocase(unit, "b") || str_equal_nocase(unit, "ib") ||
            str_equal_nocase(unit, "i"))
            unit += strlen(unit);
    }
    snprintf(number, sizeof number, "%.*s", (int)(n < sizeof number ? n : 0), text);
    if (n == 0 || *unit || str_parse_double(number, 0, 1e12, &value, err) < 0)
        return err_set(err, ERR_INVALID,
                       "'%s' is not a size; write 512m, 4g, 1.5t or a number of MB", text);
    if (value * scale > 1e9)
        return err_set(err, ERR_INVALID, "'%s': at most 950t", text);
    *mb = (int64_t)ceil(value * scale);
    return 0;
}

int value_duration(const char *text, double lo, double hi, usec_t *out, struct err *err)
{
    usec_t t;
    char low[32], high[32];
    if (time_parse(text, &t, err) < 0)
        return -1;
    usec_t min = (usec_t)(lo * (double)USEC_PER_SEC), max = (usec_t)(hi * (double)USEC_PER_SEC);
    if (t < min || t > max)
        return err_set(err, ERR_INVALID, "'%s' is not between %s and %s", text,
                       time_format(min, low, sizeof low), time_format(max, high, sizeof high));
    *out = t;
    return 0;
}

int value_lease(const char *text, double lo, double hi, usec_t *out, struct err *err)
{
    if (strcmp(text, "none") != 0)
        return value_duration(text, lo, hi, out, err);
    *out = USEC_NEVER;
    return 0;
}

/* "500", "500steps" or "500step"; 0 when it is not that. */
static double parse_steps(const char *text)
{
    char digits[24];
    struct err ignored;
    int64_t n;
    size_t length = strspn(text, "0123456789");
    if (length >= sizeof digits ||
        (strcmp(text + length, "steps") != 0 && strcmp(text + length, "step") != 0))
        return 0;
    snprintf(digits, sizeof digits, "%.*s", (int)length, text);
    return str_parse_int(digits, 1, INT64_C(1) << 50, &n, &ignored) < 0 ? 0 : (double)n;
}

int value_flatness(const char *text, struct flatness *out, struct err *err)
{
    static const double century = 36525.0 * 86400;
    struct flatness f = {0};
    char part[24];
    size_t n = strcspn(text, "%");
    if (n >= sizeof part || strncmp(text + n, "%/", 2) != 0)
        return err_set(err, ERR_INVALID, "'%s': expected PART%%/WINDOW, such as 5%%/10min", text);
    snprintf(part, sizeof part, "%.*s", (int)n, text);
    if (str_parse_double(part, 1e-6, 100, &f.part, err) < 0)
        return -1;
    f.part /= 100;
    f.steps = parse_steps(text + n + 2);
    if (!f.steps && value_duration(text + n + 2, 1, century, &f.time, err) < 0)
        return -1;
    *out = f;
    return 0;
}

const char *value_flatness_text(const struct flatness *f, char buf[VALUE_FLATNESS])
{
    if (f->time)
        snprintf(buf, VALUE_FLATNESS, "%.15g%%/%.17gs", f->part * 100, time_seconds(f->time));
    else
        snprintf(buf, VALUE_FLATNESS, "%.15g%%/%.0fsteps", f->part * 100, f->steps);
    return buf;
}

/* "", "Z", "+02:00" or "-0530" at the end of a date: local time, or seconds east of UTC. */
static bool parse_zone(const char *p, bool *local, long *east)
{
    struct tm offset = {0};
    *local = !*p;
    *east = 0;
    if (!*p || !strcmp(p, "Z"))
        return true;
    if (*p != '+' && *p != '-')
        return false;
    const char *end = strptime(p + 1, strchr(p, ':') ? "%H:%M" : "%H%M", &offset);
    *east = (*p == '-' ? -1 : 1) * (offset.tm_hour * 3600L + offset.tm_min * 60L);
    return end && !*end;
}

static bool parse_date(const char *text, double *seconds)
{
    struct tm tm = {.tm_isdst = -1};
    bool local;
    long east;
    const char *p = strptime(text, "%Y-%m-%d", &tm);
    if (p && (*p == 'T' || *p == ' '))
        p = strptime(p + 1, "%H:%M", &tm);
    if (p && *p == ':')
        p = strptime(p + 1, "%S", &tm);
    if (!p || !parse_zone(p, &local, &east))
        return false;
    int day = tm.tm_mday;
    *seconds = (double)((local ? mktime(&tm) : timegm(&tm)) - east);
    return tm.tm_mday == day; /* otherwise the month has no such day */
}

int value_when(const char *text, usec_t *out, struct err *err)
{
    double seconds;
    const double limit = 7258118400; /* 2200-01-01 */
    bool date = strlen(text) >= 10 && text[4] == '-';
    if (date ? !parse_date(text, &seconds) : str_parse_double(text, -1e15, 1e15, &seconds, err) < 0)
        return err_set(err, ERR_INVALID,
                       "'%s' is not a time; write 2030-01-31T18:00, or seconds since 1970", text);
    if (seconds < 0 || seconds > limit)
        return err_set(err, ERR_INVALID, "'%s' is not between 1970 and 2200", text);
    return time_from_seconds(seconds, out);
}

int value_flag(const char *text, bool *out, struct err *err)
{
    static const char *const words[] = {"false", "no", "off", "0", "true", "yes", "on", "1"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (str_equal_nocase(text, words[i])) {
            *out = i >= COUNT_OF(words) / 2;
            return 0;
        }
    return err_set(err, ERR_INVALID, "'%s': expected true or false", text);
}

int value_choice(const char *choices, const char *text, unsigned *out, struct err *err)
{
    unsigned index = 0;
    for (const char *p = choices; *p; index++) {
        size_t n = strcspn(p, "|");
        if (strlen(text) == n && !strncmp(p, text, n)) {
            *out = index;
            return 0;
        }
        p += n + (p[n] == '|');
    }
    return err_set(err, ERR_INVALID, "'%s': expected one of %s", text, choices);
}

const char *value_choice_name(const char *choices, unsigned index, char *buf, size_t size)
{
    for (; index > 0; index--)
        choices += strcspn(choices, "|") + 1;
    snprintf(buf, size, "%.*s", (int)strcspn(choices, "|"), choices);
    return buf;
}

static const struct {
    const char *name;
    int number;
} signals[] = {
    {"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"ABRT", SIGABRT},
    {"KILL", SIGKILL}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"ALRM", SIGALRM},
    {"TERM", SIGTERM}, {"CONT", SIGCONT}, {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},
    {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU}, {"URG", SIGURG},   {"WINCH", SIGWINCH},
};

int value_signal(const char *text, int *number, struct err *err)
{
    int64_t n;
    if (isdigit((unsigned char)*text)) {
        if (str_parse_int(text, 1, 64, &n, err) < 0)
            return -1;
        *number = (int)n;
        return 0;
    }
    const char *name = strncasecmp(text, "SIG", 3) ? text : text + 3;
    for (size_t i = 0; i < COUNT_OF(signals); i++)
        if (str_equal_nocase(signals[i].name, name)) {
            *number = signals[i].number;
            return 0;
        }
    return err_set(err, ERR_INVALID, "'%s' is not a signal; write USR1, SIGTERM or a number", text);
}

const char *value_signal_name(int number, char *buf, size_t size)
{
    snprintf(buf, size, "%d", number);
    for (size_t i = 0; i < COUNT_OF(signals); i++)
        if (signals[i].number == number)
            snprintf(buf, size, "%s", signals[i].name);
    return buf;
}

const char *value_show(const char *text, char buf[VALUE_SHOWN])
{
    size_t n = 0, valid = str_valid_utf8(text);
    for (size_t i = 0; text[i] && n < VALUE_SHOWN - 4; i++) {
        unsigned char c = (unsigned char)text[i];
        if (i == valid && text[i])
            valid = i + 1 + str_valid_utf8(text + i + 1), c = '?';
        buf[n++] = c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    buf[n] = '\0';
    if (n == VALUE_SHOWN - 4) {
        /* Do not cut a character before the dots. */
        while (n > 0 && str_valid_utf8(buf) < n)
            buf[--n] = '\0';
        if (text[n])
            memcpy(buf + n, "...", 4);
    }
    return buf;
}
