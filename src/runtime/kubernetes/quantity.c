/* Owns the reading of amounts. */
#include "runtime/kubernetes/quantity.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *suffix;
    double factor;
} suffixes[] = {
    {"", 1},        {"n", 1e-9},    {"u", 1e-6},    {"m", 1e-3},
    {"k", 1e3},     {"M", 1e6},     {"G", 1e9},     {"T", 1e12},
    {"P", 1e15},    {"E", 1e18},    {"Ki", 1024.0}, {"Mi", 1048576.0},
    {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60},
};

bool quantity_parse(const char *text, double *out)
{
    char digits[64];
    size_t n = strspn(text, "+-.0123456789");
    if (!n || n >= sizeof digits)
        return false;
    /* "12E" is a suffix, "12e3" an exponent. */
    if ((text[n] == 'e' || text[n] == 'E') &&
        (isdigit((unsigned char)text[n + 1]) || text[n + 1] == '-' || text[n + 1] == '+'))
        n += 2 + strspn(text + n + 2, "0123456789");
    if (n >= sizeof digits)
        return false;
    memcpy(digits, text, n);
    digits[n] = '\0';
    char *end;
    double value = strtod(digits, &end);
    if (*end || !isfinite(value))
        return false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (!strcmp(text + n, suffixes[i].suffix)) {
            *out = value * suffixes[i].factor;
            return isfinite(*out);
        }
    return false;
}

double quantity_get(const json_t *object, const char *name)
{
    const json_t *v = json_object_get(object, name);
    double value = 0;
    if (json_is_number(v))
        return json_number_value(v);
    if (!json_is_string(v) || !quantity_parse(json_string_value(v), &value))
        return 0;
    return value;
}
