/* Owns the parsing and formatting of array indices. */
#include "wire/indices.h"

#include <ctype.h>
#include <stdbool.h>

enum { RANGES_MAX = 256, LARGEST = 10000000 };

/* Digits at *p; a number that is too large is cut to one that is refused. */
static bool take_number(const char **p, uint32_t *out)
{
    uint64_t v = 0;
    const char *start = *p;
    for (; isdigit((unsigned char)**p); ++*p)
        v = v > LARGEST ? v : v * 10 + (uint64_t)(**p - '0');
    *out = (uint32_t)v;
    return *p > start;
}

/* "3", "0-9" or "0-9:3". */
static int take_range(const char **p, struct indices_range *out, struct err *err)
{
    const char *start = *p;
    struct indices_range r = {.step = 1};
    bool whole = take_number(p, &r.first);
    r.last = r.first;
    if (whole && **p == '-') {
        ++*p;
        whole = take_number(p, &r.last);
        if (whole && **p == ':') {
            ++*p;
            whole = take_number(p, &r.step);
        }
    }
    if (!whole)
        return err_set(err, ERR_INVALID,
                       "'%.40s': expected an index, FIRST-LAST or FIRST-LAST:STEP", start);
    if (r.first > LARGEST || r.last > LARGEST || r.step > LARGEST)
        return err_set(err, ERR_INVALID, "'%.40s': indices go up to %d", start, LARGEST);
    if (r.last < r.first || r.step == 0)
        return err_set(err, ERR_INVALID, "'%.40s': expected FIRST <= LAST and STEP >= 1", start);
    *out = r;
    return 0;
}

static uint32_t range_count(const struct indices_range *r)
{
    return (r->last - r->first) / r->step + 1;
}

static bool range_has(const struct indices_range *r, uint32_t i)
{
    return i >= r->first && i <= r->last && (i - r->first) % r->step == 0;
}

/* Fails when the last range has an index that another range has as well. */
static int check_new(const struct indices_range *ranges, uint32_t n, struct err *err)
{
    const struct indices_range *last = &ranges[n - 1];
    for (const struct indices_range *r = ranges; r < last; r++) {
        if (r->last < last->first || last->last < r->first)
            continue;
        for (uint32_t i = last->first; i <= last->last; i += last->step)
            if (range_has(r, i))
                return err_set(err, ERR_INVALID, "index %u is given twice", i);
    }
    return 0;
}

static int take_limit(const char *p, uint32_t *limit, struct err *err)
{
    int64_t v = 0;
    if (*p == '%' && str_parse_int(p + 1, 1, INDICES_MAX, &v, err) < 0)
        return err_prefix(err, "the limit after %%");
    if (*p && *p != '%')
        return err_set(err, ERR_INVALID, "'%.40s': expected 0-9, 1,3,5 or 0-99%%4", p);
    *limit = (uint32_t)v;
    return 0;
}

int indices_parse(const char *text, struct arena *a, struct indices *out, struct err *err)
{
    struct indices_range ranges[RANGES_MAX];
    uint32_t n = 0, limit, count = 0;
    for (const char *p = text;; p++) {
        if (n == RANGES_MAX)
            return err_set(err, ERR_INVALID, "more than %d ranges in an array", RANGES_MAX);
        if (take_range(&p, &ranges[n], err) < 0)
            return -1;
        count += range_count(&ranges[n]);
        if (count > INDICES_MAX)
            return err_set(err, ERR_INVALID, "an array of more than %d jobs", INDICES_MAX);
        if (check_new(ranges, ++n, err) < 0)
            return -1;
        if (*p == ',')
            continue;
        if (take_limit(p, &limit, err) < 0)
            return -1;
        break;
    }
    out->at = arena_raw(a, n * sizeof *ranges);
    memcpy(out->at, ranges, n * sizeof *ranges);
    out->n = n;
    out->limit = limit;
    return 0;
}

void indices_format(const struct indices *x, struct str *out)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct indices_range *r = &x->at[i];
        str_addf(out, "%s%u", i ? "," : "", r->first);
        if (r->last > r->first)
            str_addf(out, "-%u", r->last);
        if (r->last > r->first && r->step > 1)
            str_addf(out, ":%u", r->step);
    }
    if (x->limit)
        str_addf(out, "%%%u", x->limit);
}

uint32_t indices_count(const struct indices *x)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->n; i++)
        n += range_count(&x->at[i]);
    return n;
}

uint32_t indices_nth(const struct indices *x, uint32_t k)
{
    const struct indices_range *r = x->at;
    for (; k >= range_count(r); r++)
        k -= range_count(r);
    return r->first + k * r->step;
}
