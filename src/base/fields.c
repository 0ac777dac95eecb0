/* Owns the spelling of the members of plain structs as JSON. */
#include "base/fields.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>

void fields_add_real(struct str *out, double x)
{
    if (isnan(x))
        str_add(out, "\"nan\"");
    else if (isinf(x))
        str_add(out, x > 0 ? "\"inf\"" : "\"-inf\"");
    else if (x == 0) /* "-0" would be read as a whole number, which has no sign */
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

static void write_value(const struct field *f, const void *from, struct str *out)
{
    switch (f->type) {
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
    case FIELD_OPTIONAL_FLAG:
        str_add(out, *(const bool *)from ? "true" : "false");
        break;
    case FIELD_WORD:
        fields_add_word(out, f->words, *(const unsigned *)from);
        break;
    case FIELD_TEXT:
        if (*(const char *const *)from)
            str_add_json(out, *(const char *const *)from);
        else
            str_add(out, "null");
        break;
    }
}

void fields_write(const struct field *fields, const void *from, struct str *out)
{
    for (const struct field *f = fields; f->name; f++) {
        str_addf(out, "%s\"%s\":", f == fields ? "" : ",", f->name);
        write_value(f, (const char *)from + f->at, out);
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

static int read_word(const struct field *f, const json_t *v, unsigned *out, struct err *err)
{
    const char *text = json_string_value(v);
    int n = text ? fields_get_word(text, f->words) : -1;
    if (n < 0)
        return err_set(err, ERR_INVALID, "%s must be one of %s", f->name, f->words);
    *out = (unsigned)n;
    return 0;
}

static int read_text(const struct field *f, const json_t *v, struct arena *a, const char **out,
                     struct err *err)
{
    if (!json_is_string(v) && !json_is_null(v))
        return err_set(err, ERR_INVALID, "%s must be a text", f->name);
    *out = json_is_null(v) ? NULL : arena_strdup(a, json_string_value(v));
    return 0;
}

static int read_time(const struct field *f, const json_t *v, usec_t *out, struct err *err)
{
    if (!json_is_null(v))
        return fields_get_int(v, f->name, -USEC_LIMIT, USEC_LIMIT, out, err);
    *out = USEC_NEVER;
    return 0;
}

static int read_value(const struct field *f, const json_t *v, struct arena *a, void *to,
                      struct err *err)
{
    int64_t n = 0;
    switch (f->type) {
    case FIELD_TIME:
        return read_time(f, v, to, err);
    case FIELD_REAL:
        return fields_get_real(v, f->name, to, err);
    case FIELD_FLAG:
    case FIELD_OPTIONAL_FLAG:
        if (!json_is_boolean(v))
            return err_set(err, ERR_INVALID, "%s must be true or false", f->name);
        *(bool *)to = json_is_true(v);
        return 0;
    case FIELD_WORD:
        return read_word(f, v, to, err);
    case FIELD_TEXT:
        return read_text(f, v, a, to, err);
    default:
        break;
    }
    if (fields_get_int(v, f->name, f->lo, f->hi, &n, err) < 0)
        return -1;
    if (f->type == FIELD_U8)
        *(uint8_t *)to = (uint8_t)n;
    else if (f->type == FIELD_I32)
        *(int32_t *)to = (int32_t)n;
    else if (f->type == FIELD_U32)
        *(uint32_t *)to = (uint32_t)n;
    else
        *(int64_t *)to = n;
    return 0;
}

int fields_read(const struct field *fields, const json_t *object, struct arena *a, void *to,
                struct err *err)
{
    for (const struct field *f = fields; f->name; f++) {
        const json_t *v = json_object_get(object, f->name);
        if (!v && f->type == FIELD_OPTIONAL_FLAG) {
            *(bool *)((char *)to + f->at) = false;
            continue;
        }
        if (!v)
            return err_set(err, ERR_INVALID, "%s is missing", f->name);
        if (read_value(f, v, a, (char *)to + f->at, err) < 0)
            return -1;
    }
    return 0;
}
