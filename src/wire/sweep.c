/* Owns sweeps: the values of parameters, and what stands for them in commands. */
#include "wire/sweep.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "wire/value.h"

/* The values of one parameter: a list in the text, or a range of numbers. */
struct values {
    const char *list; /* NULL = a range */
    double low, high, by;
    bool grows; /* by is a factor */
    uint32_t n;
};

static size_t name_length(const char *parameter)
{
    return strcspn(parameter, "=");
}

/* ---- parsing ------------------------------------------------------------------ */

static int parse_number(const char *text, size_t n, double *out)
{
    char copy[40];
    struct err ignored;
    if (n == 0 || n >= sizeof copy)
        return -1;
    snprintf(copy, sizeof copy, "%.*s", (int)n, text);
    return str_parse_double(copy, -1e300, 1e300, out, &ignored);
}

/* Numbers of a range; 0 when it has none. Rounding must not lose the last one. */
static double range_length(const struct values *v)
{
    double steps = v->grows ? log(v->high / v->low) / log(v->by) : (v->high - v->low) / v->by;
    return isfinite(steps) && steps > -1e-9 ? floor(steps + 1e-9) + 1 : 0;
}

/* LOW..HIGH[:[+]STEP|:xFACTOR]. */
static int parse_range(const char *text, const char *dots, struct values *out, struct err *err)
{
    struct values v = {.by = 1};
    size_t n = strcspn(dots + 2, ":");
    const char *by = dots[2 + n] ? dots + 2 + n + 1 : NULL;
    v.grows = by && *by == 'x';
    by = by && (*by == 'x' || *by == '+') ? by + 1 : by;
    if (parse_number(text, (size_t)(dots - text), &v.low) < 0 ||
        parse_number(dots + 2, n, &v.high) < 0 || (by && parse_number(by, strlen(by), &v.by) < 0))
        return err_set(err, ERR_INVALID, "expected LOW..HIGH, LOW..HIGH:STEP or LOW..HIGH:xFACTOR");
    if (v.grows && !(v.low > 0 && v.by > 1))
        return err_set(err, ERR_INVALID,
                       "a range with a factor begins above 0, and its factor is "
                       "above 1");
    if (!v.grows && !(v.by > 0))
        return err_set(err, ERR_INVALID, "the step of a range is above 0");
    double length = range_length(&v);
    if (length < 1)
        return err_set(err, ERR_INVALID, "the range is empty");
    v.n = length > INDICES_MAX ? INDICES_MAX + 1 : (uint32_t)length;
    *out = v;
    return 0;
}

static int parse_list(const char *text, struct values *out, struct err *err)
{
    uint32_t n = 1;
    for (const char *p = text; *p; p++) {
        if (*p == ',' && (p == text || !p[1] || p[1] == ','))
            return err_set(err, ERR_INVALID, "a value of the list is empty");
        n += *p == ',';
    }
    if (!*text)
        return err_set(err, ERR_INVALID, "it has no values");
    *out = (struct values){.list = text, .n = n};
    return 0;
}

static int parse_values(const char *parameter, struct values *out, struct err *err)
{
    const char *text = parameter + name_length(parameter) + 1;
    const char *dots = strchr(text, ',') ? NULL : strstr(text, "..");
    double low;
    bool range = dots && parse_number(text, (size_t)(dots - text), &low) == 0; /* not ../data */
    return range ? parse_range(text, dots, out, err) : parse_list(text, out, err);
}

static int check_parameter(const char *parameter, struct values *out, struct err *err)
{
    size_t n = name_length(parameter);
    char shown[VALUE_SHOWN];
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)parameter[i]) && !strchr("_-.", parameter[i]))
            return err_set(err, ERR_INVALID,
                           "'%s': a parameter's name has letters, digits, '_', '-' and '.'",
                           value_show(parameter, shown));
    if (parse_values(parameter, out, err) < 0)
        return err_prefix(err, "'%s'", value_show(parameter, shown));
    return 0;
}

int sweep_count(const struct spec_list *sweep, uint32_t *n, struct err *err)
{
    double all = 1;
    for (uint32_t i = 0; i < sweep->n; i++) {
        struct values v;
        if (check_parameter(sweep->at[i], &v, err) < 0)
            return -1;
        all *= v.n;
    }
    if (all > INDICES_MAX)
        return err_set(err, ERR_INVALID, "more than %d combinations", INDICES_MAX);
    *n = (uint32_t)all;
    return 0;
}

/* ---- values ------------------------------------------------------------------- */

/* Value number i. */
static void add_value(const struct values *v, uint32_t i, struct str *out)
{
    if (!v->list) {
        str_addf(out, "%.12g", v->grows ? v->low * pow(v->by, i) : v->low + v->by * i);
        return;
    }
    const char *at = v->list;
    for (; i > 0; i--)
        at += strcspn(at, ",") + 1;
    str_add_n(out, at, strcspn(at, ","));
}

static struct values values_of(const struct spec_list *sweep, uint32_t p)
{
    struct values v = {.n = 1};
    struct err checked;
    (void)parse_values(sweep->at[p], &v, &checked);
    return v;
}

void sweep_value(const struct spec_list *sweep, uint32_t p, uint32_t k, struct str *out)
{
    struct values v = values_of(sweep, p);
    for (uint32_t faster = p + 1; faster < sweep->n; faster++)
        k /= values_of(sweep, faster).n;
    add_value(&v, k % v.n, out);
}

/* The number of the parameter whose {NAME} the text begins with; sweep->n when none. */
static uint32_t find_mark(const struct spec_list *sweep, const char *text)
{
    uint32_t p = 0;
    for (; p < sweep->n; p++) {
        size_t n = name_length(sweep->at[p]);
        if (text[0] == '{' && !strncmp(text + 1, sweep->at[p], n) && text[1 + n] == '}')
            break;
    }
    return p;
}

bool sweep_uses(const struct spec_list *sweep, uint32_t p, const char *text)
{
    for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{'))
        if (find_mark(sweep, at) == p)
            return true;
    return false;
}

void sweep_fill(const struct spec_list *sweep, uint32_t k, const char *text, struct str *out)
{
    while (*text) {
        size_t plain = strcspn(text, "{");
        str_add_n(out, text, plain);
        text += plain;
        uint32_t p = find_mark(sweep, text);
        if (p < sweep->n) {
            sweep_value(sweep, p, k, out);
            text += name_length(sweep->at[p]) + 2;
        } else if (*text) {
            str_add_n(out, text++, 1);
        }
    }
    str_add(out, "");
}

struct spec_list sweep_fill_list(const struct spec_list *sweep, uint32_t k,
                                 const struct spec_list *list, struct arena *a)
{
    struct spec_list out = {ARENA_ARRAY(a, list->n + 1, const char *), list->n};
    for (uint32_t i = 0; i < list->n; i++) {
        struct str text = {0};
        sweep_fill(sweep, k, list->at[i], &text);
        out.at[i] = arena_strdup(a, text.at);
        str_done(&text);
    }
    return out;
}
