/* Owns the encoding of struct members as JSON. */
#include "base/fields.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fields_add_real(struct str *out, double x)
{
    if (isnan(x))
        str_add(out, "\"nan\"");
    else if (isinf(x))
        str_add(out, x > 0 ? "\"inf\"" : "\"-inf\"");
    else if (x == 0) /* "-0" would be read as an integer, which has no sign */
        str_add(out, signbit(x) ? "-0.0" : "0");
    else
        str_addf(out, "%.17g", x);
}

void fields_add_time(struct str *out, usec_t t)
{
    if (t == USEC_NEVER)
        str_add(out, "null");
    else
        str_addf(out, "%" PRId64, t);
}

void fields_add_word(struct str *out, const char *words, unsigned n)
{
    for (; n; n--)
        words += strcspn(words, "|") + 1;
    str_addf(out, "\"%.*s\"", (int)strcspn(words, "|"), words);
}

int fields_get_word(const char *text, const char *words)
{
    for (int n = 0;; n++) {
        size_t length = strcspn(words, "|");
        if (strlen(text) == length && !strncmp(text, words, length))
            return n;
        if (!words[length])
            return -1;
        words += length + 1;
    }
}

static void add_text(struct str *out, const char *text)
{
    if (text)
        str_add_json(out, text);
    else
        str_add(out, "null");
}

/* The shortest text that reads back as the same number: 0.1, not 0.10000000000000001. */
static void add_number(struct str *out, double x)
{
    enum { SURE = 15, EXACT = 17 };
    char text[32];
    if (!isfinite(x) || x == 0) {
        fields_add_real(out, x);
        return;
    }
    for (int digits = SURE; digits <= EXACT; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    str_add(out, text);
}

static void add_seconds(struct str *out, usec_t t)
{
    if (t == USEC_NEVER)
        str_add(out, "null");
    else
        add_number(out, time_seconds(t));
}

void fields_add_value(const struct field *f, const void *from, struct str *out)
{
    switch (FIELD_KIND(f->type)) {
    case FIELD_U8:
        str_addf(out, "%u", *(const uint8_t *)from);
        break;
    case FIELD_I32:
        str_addf(out, "%" PRId32, *(const int32_t *)from);
        break;
    case FIELD_U32:
        str_addf(out, "%" PRIu32, *(const uint32_t *)from);
        break;
    case FIELD_I64:
        str_addf(out, "%" PRId64, *(const int64_t *)from);
        break;
    case FIELD_TIME:
        fields_add_time(out, *(const usec_t *)from);
        break;
    case FIELD_REAL:
        fields_add_real(out, *(const double *)from);
        break;
    case FIELD_FLAG:
        str_add(out, *(const bool *)from ? "true" : "false");
        break;
    case FIELD_WORD:
        fields_add_word(out, f->of, *(const unsigned *)from);
        break;
    case FIELD_TEXT:
    case FIELD_PATH:
        add_text(out, *(const char *const *)from);
        break;
    case FIELD_SECONDS:
        add_seconds(out, *(const usec_t *)from);
        break;
    case FIELD_NUMBER:
        add_number(out, *(const double *)from);
        break;
    case FIELD_CHARS:
        add_text(out, from);
        break;
    default:
        break;
    }
}

void fields_write(const struct field *fields, const void *from, struct str *out)
{
    for (const struct field *f = fields; f->name; f++) {
        str_addf(out, "%s\"%s\":", f == fields ? "" : ",", f->name);
        fields_add_value(f, (const char *)from + f->at, out);
    }
}

int fields_get_real(const json_t *v, const char *name, double *out, struct err *err)
{
    const char *text = json_string_value(v);
    if (json_is_number(v))
        *out = json_number_value(v);
    else if (text && !strcmp(text, "nan"))
        *out = NAN;
    else if (text && (!strcmp(text, "inf") || !strcmp(text, "-inf")))
        *out = *text == '-' ? -INFINITY : INFINITY;
    else
        return err_set(err, ERR_INVALID, "%s must be a number, \"inf\", \"-inf\" or \"nan\"", name);
    return 0;
}

int fields_get_int(const json_t *v, const char *name, int64_t lo, int64_t hi, int64_t *out,
                   struct err *err)
{
    if (!json_is_integer(v) || json_integer_value(v) < lo || json_integer_value(v) > hi)
        return err_set(err, ERR_INVALID, "%s must be a whole number from %" PRId64 " to %" PRId64,
                       name, lo, hi);
    *out = json_integer_value(v);
    return 0;
}

void fields_cut_text(const char *text, char *out, size_t size)
{
    size_t n = strnlen(text, size);
    if (n == size)
        for (n--; n && ((unsigned char)text[n] & 0xc0) == 0x80;) /* inside a character */
            n--;
    memcpy(out, text, n);
    out[n] = '\0';
}

static int read_word(const struct field *f, const json_t *v, unsigned *out, struct err *err)
{
    const char *text = json_string_value(v);
    int n = text ? fields_get_word(text, f->of) : -1;
    if (n < 0)
        return err_set(err, ERR_INVALID, "%s must be one of %s", f->name, (const char *)f->of);
    *out = (unsigned)n;
    return 0;
}

static int read_text(const struct field *f, const json_t *v, struct arena *a, const char **out,
                     struct err *err)
{
    const char *text = json_string_value(v);
    size_t n = json_string_length(v);
    if (!text && (!json_is_null(v) || f->lo))
        return err_set(err, ERR_INVALID, "%s must be a string", f->name);
    if (text && n < (size_t)f->lo)
        return err_set(err, ERR_INVALID, "%s must not be empty", f->name);
    if (text && f->hi && n > (size_t)f->hi)
        return err_set(err, ERR_INVALID, "%s must be a string of at most %" PRId64 " bytes",
                       f->name, f->hi);
    *out = text ? arena_strndup(a, text, n) : NULL;
    return 0;
}

static int read_path(const struct field *f, const json_t *v, struct arena *a, const char **out,
                     struct err *err)
{
    const char *text = json_string_value(v);
    if (!text || *text != '/')
        return err_set(err, ERR_INVALID, "%s must be an absolute path", f->name);
    *out = arena_strdup(a, text);
    return 0;
}

static int read_chars(const struct field *f, const json_t *v, char *out, struct err *err)
{
    if (!json_is_string(v))
        return err_set(err, ERR_INVALID, "%s must be a string", f->name);
    fields_cut_text(json_string_value(v), out, (size_t)f->hi);
    return 0;
}

static int read_number(const struct field *f, const json_t *v, double *out, struct err *err)
{
    if (!f->lo && !f->hi)
        return fields_get_real(v, f->name, out, err);
    double x = json_number_value(v);
    if (!json_is_number(v) || !(x >= (double)f->lo && x <= (double)f->hi))
        return err_set(err, ERR_INVALID, "%s must be a number from %" PRId64 " to %" PRId64,
                       f->name, f->lo, f->hi);
    *out = x;
    return 0;
}

static int read_seconds(const struct field *f, const json_t *v, usec_t *out, struct err *err)
{
    double s = json_number_value(v);
    if (json_is_null(v))
        *out = USEC_NEVER;
    else if (!json_is_number(v) || !(s >= 0 && s <= time_seconds(FIELD_SECONDS_MAX)))
        return err_set(err, ERR_INVALID, "%s must be a number of seconds from 0 to %g", f->name,
                       time_seconds(FIELD_SECONDS_MAX));
    else
        return time_from_seconds(s, out);
    return 0;
}

static int read_time(const struct field *f, const json_t *v, usec_t *out, struct err *err)
{
    if (!json_is_null(v))
        return fields_get_int(v, f->name, -USEC_LIMIT, USEC_LIMIT, out, err);
    *out = USEC_NEVER;
    return 0;
}

static int read_whole(const struct field *f, const json_t *v, void *to, struct err *err)
{
    int64_t n = 0;
    if (fields_get_int(v, f->name, f->lo, f->hi, &n, err) < 0)
        return -1;
    enum field_type kind = FIELD_KIND(f->type);
    if (kind == FIELD_U8)
        *(uint8_t *)to = (uint8_t)n;
    else if (kind == FIELD_I32)
        *(int32_t *)to = (int32_t)n;
    else if (kind == FIELD_U32)
        *(uint32_t *)to = (uint32_t)n;
    else
        *(int64_t *)to = n;
    return 0;
}

int fields_get_value(const struct field *f, const json_t *v, struct arena *a, void *to,
                     struct err *err)
{
    switch (FIELD_KIND(f->type)) {
    case FIELD_TIME:
        return read_time(f, v, to, err);
    case FIELD_REAL:
        return fields_get_real(v, f->name, to, err);
    case FIELD_FLAG:
        if (!json_is_boolean(v))
            return err_set(err, ERR_INVALID, "%s must be true or false", f->name);
        *(bool *)to = json_is_true(v);
        return 0;
    case FIELD_WORD:
        return read_word(f, v, to, err);
    case FIELD_TEXT:
        return read_text(f, v, a, to, err);
    case FIELD_PATH:
        return read_path(f, v, a, to, err);
    case FIELD_CHARS:
        return read_chars(f, v, to, err);
    case FIELD_NUMBER:
        return read_number(f, v, to, err);
    case FIELD_SECONDS:
        return read_seconds(f, v, to, err);
    default:
        return read_whole(f, v, to, err);
    }
}

int fields_read(const struct field *fields, const json_t *object, struct arena *a, void *to,
                struct err *err)
{
    for (const struct field *f = fields; f->name; f++) {
        const json_t *v = json_object_get(object, f->name);
        if (!v && f->type & FIELD_OPTIONAL)
            continue;
        if (!v)
            return err_set(err, ERR_INVALID, "%s is missing", f->name);
        if (fields_get_value(f, v, a, (char *)to + f->at, err) < 0)
            return -1;
    }
    return 0;
}
