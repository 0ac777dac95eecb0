/* Owns the syntax of policy parameters. */
#include "policy/params.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

int params_find(const struct param *declared, const char *name, size_t length)
{
    for (int i = 0; declared && declared[i].name; i++)
        if (strlen(declared[i].name) == length && !strncmp(declared[i].name, name, length))
            return i;
    return -1;
}

void params_default(const struct param *declared, struct params *out)
{
    *out = (struct params){0};
    for (int i = 0; declared && declared[i].name; i++)
        param_parse(&declared[i], declared[i].preset, &out->v[i], NULL);
}

static int parse_choice(const struct param *d, const char *text, double *out, struct err *err)
{
    int index = 0;
    for (const char *p = d->choices; *p; index++) {
        size_t n = strcspn(p, "|");
        if (strlen(text) == n && !strncmp(p, text, n)) {
            *out = index;
            return 0;
        }
        p += n + (p[n] == '|');
    }
    return err_set(err, ERR_INVALID, "%s=%s: expected one of %s", d->name, text, d->choices);
}

static int parse_list(const struct param *d, const char *text, struct param_value *out,
                      struct err *err)
{
    struct param_value v = {0};
    const char *p = text;
    while (v.n < PARAM_LIST_MAX) {
        char item[32];
        size_t n = strcspn(p, "/");
        if (n >= sizeof item)
            return err_set(err, ERR_INVALID, "%s: '%.30s...' is too long", d->name, p);
        memcpy(item, p, n);
        item[n] = '\0';
        if (str_parse_double(item, d->lo, d->hi, &v.list[v.n], err) < 0)
            return err_prefix(err, "%s", d->name);
        if (d->type == PARAM_LIST && v.n && v.list[v.n] <= v.list[v.n - 1])
            return err_set(err, ERR_INVALID, "%s=%s: the numbers must increase", d->name, text);
        v.n++;
        if (!p[n]) {
            *out = v;
            return 0;
        }
        p += n + 1;
    }
    return err_set(err, ERR_INVALID, "%s=%s: more than %d numbers", d->name, text, PARAM_LIST_MAX);
}

static int parse_percent(const struct param *d, const char *text, double *out, struct err *err)
{
    char digits[32];
    size_t n = strlen(text);
    if (n && n < sizeof digits && text[n - 1] == '%')
        n--;
    if (n >= sizeof digits)
        return err_set(err, ERR_INVALID, "%s=%s is not a percentage", d->name, text);
    memcpy(digits, text, n);
    digits[n] = '\0';
    double v;
    if (str_parse_double(digits, d->lo, d->hi, &v, err) < 0)
        return err_prefix(err, "%s", d->name);
    *out = v / 100;
    return 0;
}

static int parse_duration(const struct param *d, const char *text, double *out, struct err *err)
{
    usec_t t;
    if (time_parse(text, &t, err) < 0)
        return err_prefix(err, "%s", d->name);
    if (time_seconds(t) < d->lo || time_seconds(t) > d->hi)
        return err_set(err, ERR_INVALID, "%s=%s is not between %g s and %g s", d->name, text, d->lo,
                       d->hi);
    *out = (double)t;
    return 0;
}

int param_parse(const struct param *d, const char *text, struct param_value *out, struct err *err)
{
    switch (d->type) {
    case PARAM_NUMBER:
        if (str_parse_double(text, d->lo, d->hi, &out->number, err) < 0)
            return err_prefix(err, "%s", d->name);
        return 0;
    case PARAM_PERCENT:
        return parse_percent(d, text, &out->number, err);
    case PARAM_DURATION:
        return parse_duration(d, text, &out->number, err);
    case PARAM_CHOICE:
        return parse_choice(d, text, &out->number, err);
    case PARAM_LIST:
    case PARAM_NUMBERS:
        return parse_list(d, text, out, err);
    }
    return err_set(err, ERR_INTERNAL, "%s: unknown type", d->name);
}

void param_describe(const struct param *p, char *buf, size_t size)
{
    switch (p->type) {
    case PARAM_NUMBER:
        snprintf(buf, size, "%s=%s (number from %g to %g)", p->name, p->preset, p->lo, p->hi);
        break;
    case PARAM_PERCENT:
        snprintf(buf, size, "%s=%s (percentage from %g to %g)", p->name, p->preset, p->lo, p->hi);
        break;
    case PARAM_DURATION:
        snprintf(buf, size, "%s=%s (duration from %g s to %g s)", p->name, p->preset, p->lo, p->hi);
        break;
    case PARAM_CHOICE:
        snprintf(buf, size, "%s=%s (one of %s)", p->name, p->preset, p->choices);
        break;
    case PARAM_LIST:
    case PARAM_NUMBERS:
        snprintf(buf, size, "%s=%s (up to %d %snumbers from %g to %g, separated by /)", p->name,
                 p->preset, PARAM_LIST_MAX, p->type == PARAM_LIST ? "increasing " : "", p->lo,
                 p->hi);
        break;
    }
}
