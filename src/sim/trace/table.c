/* Owns the binding of columns by name and the typed fields. Plain decimal
 * numbers, nearly all of a trace, take an exact path in integers; the rest goes
 * to the parsers of base. */
#include "sim/trace/table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static int read_header(struct table *t, struct err *err)
{
    int got = csv_next(&t->csv, err);
    if (got == 0)
        err_set(err, ERR_INVALID, "%s: the file is empty; expected a header line", t->csv.name);
    if (got <= 0) {
        csv_done(&t->csv);
        return -1;
    }
    t->width = t->csv.fields.n;
    return 0;
}

int table_open(struct table *t, const char *path, struct err *err)
{
    *t = (struct table){0};
    return csv_open(&t->csv, path, err) < 0 ? -1 : read_header(t, err);
}

int table_from_text(struct table *t, const char *name, const char *text, size_t n, struct err *err)
{
    *t = (struct table){0};
    return csv_from_text(&t->csv, name, text, n, err) < 0 ? -1 : read_header(t, err);
}

void table_done(struct table *t)
{
    csv_done(&t->csv);
}

static int column_find(const struct column *columns, const char *name)
{
    for (int i = 0; columns[i].name; i++)
        if (*columns[i].name && !strcmp(columns[i].name, name))
            return i;
    return -1;
}

bool table_fits(const struct table *t, const struct column *columns, size_t *known)
{
    bool seen[COLUMNS_MAX] = {false};
    size_t n = 0;
    for (size_t i = 0; i < t->csv.fields.n; i++) {
        int at = column_find(columns, t->csv.fields.at[i].at);
        if (at >= 0 && !seen[at]) {
            seen[at] = true;
            n++;
        }
    }
    if (known)
        *known = n;
    for (int i = 0; columns[i].name; i++)
        if (columns[i].required && !seen[i])
            return false;
    return true;
}

static const char *column_name(const void *ctx, size_t i)
{
    return ((const struct column *)ctx)[i].name;
}

static int fail_unknown(const struct table *t, size_t field, const struct column *columns,
                        const char *what, struct err *err)
{
    char shown[40];
    const char *name = t->csv.fields.at[field].at;
    size_t n = 0;
    while (columns[n].name)
        n++;
    const char *near = str_nearest(name, n, column_name, columns);
    near = near && *near ? near : NULL;
    return csv_fail(&t->csv, field, err, "unknown column '%s' for the %s format%s%s%s",
                    csv_show(name, shown, sizeof shown), what, near ? "; did you mean '" : "",
                    near ? near : "", near ? "'?" : "");
}

int table_bind(struct table *t, const struct column *columns, const char *what, struct err *err)
{
    t->columns = columns;
    for (int i = 0; i < COLUMNS_MAX; i++)
        t->field[i] = -1;
    for (size_t i = 0; i < t->csv.fields.n; i++) {
        int at = column_find(columns, t->csv.fields.at[i].at);
        if (at < 0)
            return fail_unknown(t, i, columns, what, err);
        if (t->field[at] >= 0)
            return csv_fail(&t->csv, i, err, "column '%s' is given twice", columns[at].name);
        t->field[at] = (int)i;
    }
    for (int i = 0; columns[i].name; i++)
        if (columns[i].required && t->field[i] < 0)
            return csv_fail(&t->csv, t->width, err, "the %s format needs a column '%s'", what,
                            columns[i].name);
    return 0;
}

int table_next(struct table *t, struct err *err)
{
    int got = csv_next(&t->csv, err);
    if (got > 0 && t->csv.fields.n != t->width)
        return csv_fail(&t->csv, t->width, err, "%zu fields; the header has %zu", t->csv.fields.n,
                        t->width);
    return got;
}

int table_each(const char *path, const struct column *columns, const char *what,
               int (*row)(const struct table *t, void *ctx, struct err *err), void *ctx,
               struct err *err)
{
    struct table t;
    if (table_open(&t, path, err) < 0)
        return -1;
    int rc = table_bind(&t, columns, what, err);
    while (rc == 0 && (rc = table_next(&t, err)) > 0)
        rc = row(&t, ctx, err);
    table_done(&t);
    return rc;
}

bool table_has(const struct table *t, int column)
{
    int i = t->field[column];
    return i >= 0 && t->csv.fields.at[i].n > 0;
}

const char *table_text(const struct table *t, int column)
{
    int i = t->field[column];
    return i >= 0 ? t->csv.fields.at[i].at : "";
}

int table_fail(const struct table *t, int column, struct err *err, const char *fmt, ...)
{
    char text[sizeof err->text], shown[48];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    size_t field = t->field[column] >= 0 ? (size_t)t->field[column] : 0;
    return csv_fail(&t->csv, field, err, "%s '%s': %s", t->columns[column].name,
                    csv_show(table_text(t, column), shown, sizeof shown), text);
}

int table_prefix(const struct table *t, int column, struct err *err)
{
    char why[sizeof err->text];
    memcpy(why, err->text, sizeof why);
    return table_fail(t, column, err, "%s", why);
}

/* "123", "1.5", ".5": digits as one integer and how many stand behind the
 * point. False for any other spelling and for what does not fit. */
static bool scan_decimal(const char *s, int64_t *digits, int *decimals)
{
    int64_t sum = 0;
    int n = 0, point = -1;
    for (; *s; s++) {
        if (*s == '.' && point < 0) {
            point = n;
        } else if (*s >= '0' && *s <= '9' && n < 18) {
            sum = sum * 10 + (*s - '0');
            n++;
        } else {
            return false;
        }
    }
    *digits = sum;
    *decimals = point < 0 ? 0 : n - point;
    return n > 0;
}

/* Plain seconds in whole microseconds. */
static bool scan_micros(const char *s, int64_t *out)
{
    int64_t digits;
    int decimals;
    if (!scan_decimal(s, &digits, &decimals) || decimals > 6)
        return false;
    for (; decimals < 6; decimals++) {
        if (digits > USEC_LIMIT / 10)
            return false;
        digits *= 10;
    }
    *out = digits;
    return digits <= USEC_LIMIT;
}

int table_int(const struct table *t, int column, int64_t lo, int64_t hi, int64_t *out,
              struct err *err)
{
    const char *text = table_text(t, column);
    int64_t v;
    int decimals;
    bool plain = scan_decimal(text, &v, &decimals) && !decimals && !strchr(text, '.');
    if (!plain && str_parse_int(text, lo, hi, &v, NULL) < 0)
        v = lo - 1;
    if (v < lo || v > hi)
        return table_fail(t, column, err, "expected a whole number from %lld to %lld",
                          (long long)lo, (long long)hi);
    *out = v;
    return 0;
}

int table_double(const struct table *t, int column, double lo, double hi, double *out,
                 struct err *err)
{
    static const double powers[] = {1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    const char *text = table_text(t, column);
    int64_t digits;
    int decimals;
    double v;
    if (scan_decimal(text, &digits, &decimals) && digits < 1LL << 53)
        v = (double)digits / powers[decimals];
    else if (str_parse_double(text, lo, hi, &v, NULL) < 0)
        v = NAN;
    if (!(v >= lo && v <= hi))
        return table_fail(t, column, err, "expected a number from %g to %g", lo, hi);
    *out = v;
    return 0;
}

int table_time(const struct table *t, int column, usec_t *out, struct err *err)
{
    const char *text = table_text(t, column);
    usec_t v;
    if (!scan_micros(text, &v) && time_parse(text, &v, NULL) < 0)
        return table_fail(t, column, err,
                          "expected seconds from 0 to 9.2e9 (290 years), or a duration like 90s, "
                          "15m or 2h30m");
    *out = v;
    return 0;
}

int table_work(const struct table *t, int column, double *out, struct err *err)
{
    const char *text = table_text(t, column);
    size_t n = strlen(text);
    char number[64];
    usec_t v = 0;
    if (n > 2 && n < sizeof number && !strcmp(text + n - 2, "us")) {
        memcpy(number, text, n - 2);
        number[n - 2] = '\0';
        if (str_parse_double(number, 0, 1e18, out, NULL) == 0)
            return 0;
    }
    if (table_time(t, column, &v, err) < 0)
        return -1;
    *out = (double)v;
    return 0;
}

int table_units(const struct table *t, int column, units_t lo, units_t *out, struct err *err)
{
    const double most = 1e6;
    double v = 0;
    if (table_double(t, column, (double)lo / UNIT, most, &v, err) < 0)
        return -1;
    units_t units = llround(v * UNIT);
    if (fabs(v * UNIT - (double)units) > 1e-6)
        return table_fail(t, column, err, "expected at most three decimals");
    *out = units;
    return 0;
}

int table_choice(const struct table *t, int column, const char *choices, int *out, struct err *err)
{
    const char *text = table_text(t, column), *p = choices;
    size_t n = strlen(text);
    for (int i = 0;; i++) {
        size_t length = strcspn(p, "|");
        if (length == n && !memcmp(p, text, n)) {
            *out = i;
            return 0;
        }
        if (!p[length])
            return table_fail(t, column, err, "expected one of %s", choices);
        p += length + 1;
    }
}

int memory_parse(const char *text, int64_t *mb, struct err *err)
{
    static const struct {
        char unit;
        double mb;
    } units[] = {{'m', 1}, {'g', 1024}, {'t', 1024 * 1024}};
    char number[32];
    size_t n = strlen(text);
    double scale = 1, v;
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (n > 1 && tolower((unsigned char)text[n - 1]) == units[i].unit) {
            scale = units[i].mb;
            n--;
            break;
        }
    if (n == 0 || n >= sizeof number)
        return err_set(err, ERR_INVALID, "expected memory like 512m, 64g or 1t");
    memcpy(number, text, n);
    number[n] = '\0';
    if (str_parse_double(number, 0, 1e9, &v, NULL) < 0 || v * scale > 1e9)
        return err_set(err, ERR_INVALID, "expected memory like 512m, 64g or 1t, at most 950t");
    *mb = llround(v * scale);
    return 0;
}
