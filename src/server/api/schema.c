/* Owns what is derived from an object's table of members: printing a C struct as JSON, and
 * checking a request's body. */
#include "server/api/schema.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "wire/value.h"

/* ---- types ----------------------------------------------------------------- */

const char *api_type_next(const char **p, size_t *n)
{
    const char *word = *p + (**p == '?');
    *n = strcspn(word, "|");
    *p = word + *n + (word[*n] == '|');
    return word;
}

bool api_member_optional(const struct api_member *m)
{
    return *m->type == '?';
}

static bool word_is(const char *word, size_t n, const char *name)
{
    return strlen(name) == n && !strncmp(word, name, n);
}

/* ---- printing -------------------------------------------------------------- */

/* NULL for an empty text if that is allowed. Drops an incomplete character at the end, which
 * text that was cut to fit may have. */
static json_t *print_string(const char *text, bool nullable)
{
    size_t n = text ? str_valid_utf8(text) : 0;
    return n || !nullable ? json_stringn(n ? text : "", n) : NULL;
}

double api_seconds(usec_t t)
{
    return t ? time_seconds(t) : NAN;
}

double api_units(units_t n)
{
    return (double)n / UNIT;
}

static json_t *print_member(const struct api_member *m, const void *from)
{
    const void *at = (const char *)from + m->at;
    bool nullable = strchr(m->type, '|') || api_member_optional(m);
    switch (m->as) {
    case API_AS_INTEGER:
        return nullable && *(const int64_t *)at == API_NULL ? NULL
                                                            : json_integer(*(const int64_t *)at);
    case API_AS_NUMBER:
        return isfinite(*(const double *)at) ? json_real(*(const double *)at) : NULL;
    case API_AS_BOOLEAN:
        return json_boolean(*(const bool *)at);
    case API_AS_STRING:
        return print_string(*(const char *const *)at, nullable);
    case API_AS_JSON:
        break;
    }
    return *(json_t *const *)at;
}

static void print_members(const struct api_schema *schema, const void *from, json_t *out)
{
    if (schema->base)
        print_members(schema->base, from, out);
    for (const struct api_member *m = schema->members; m->name; m++) {
        json_t *value = print_member(m, from);
        if (value || !api_member_optional(m))
            json_object_set_new(out, m->name, value ? value : json_null());
    }
}

json_t *api_print(const struct api_schema *schema, const void *from)
{
    json_t *out = json_object();
    print_members(schema, from, out);
    return out;
}

/* ---- checking -------------------------------------------------------------- */

static const struct {
    const char *name, *text;
} words[] = {
    {"string", "a string"},       {"integer", "a whole number"}, {"number", "a number"},
    {"boolean", "true or false"}, {"object", "an object"},       {"null", "null"},
};

/* Other words are lists, or names of schemas, whose objects the handler checks. */
static const char *describe_word(const char *word, size_t n)
{
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (word_is(word, n, words[i].name))
            return words[i].text;
    return word[n - 1] == ']' ? "a list" : "an object";
}

static bool word_fits(const char *word, size_t n, const json_t *value)
{
    if (word[n - 1] == ']')
        return json_is_array(value);
    switch (json_typeof(value)) {
    case JSON_STRING:
        return word_is(word, n, "string");
    case JSON_INTEGER:
        return word_is(word, n, "integer") || word_is(word, n, "number");
    case JSON_REAL:
        return word_is(word, n, "number");
    case JSON_TRUE:
    case JSON_FALSE:
        return word_is(word, n, "boolean");
    case JSON_NULL:
        return word_is(word, n, "null");
    case JSON_ARRAY:
        return false;
    case JSON_OBJECT:
        break;
    }
    return word_is(word, n, "object") || isupper((unsigned char)*word);
}

static bool type_fits(const char *type, const json_t *value)
{
    for (size_t n; *type;) {
        const char *word = api_type_next(&type, &n);
        if (word_fits(word, n, value))
            return true;
    }
    return false;
}

/* "expected a string, a number or null" */
static int refuse_type(const struct api_member *m, struct err *err)
{
    struct str text = {0};
    const char *type = m->type;
    for (size_t n; *type;) {
        const char *word = api_type_next(&type, &n);
        str_addf(&text, "%s%s", !text.n ? "" : *type ? ", " : " or ", describe_word(word, n));
    }
    err_set(err, ERR_INVALID, "%s: expected %s", m->name, text.at);
    str_done(&text);
    return -1;
}

static const char *member_name(const void *ctx, size_t i)
{
    return ((const struct api_member *)ctx)[i].name;
}

static const struct api_member *find_member(const struct api_schema *schema, const char *name,
                                            size_t *n)
{
    const struct api_member *found = NULL;
    for (*n = 0; schema->members[*n].name; ++*n)
        if (!strcmp(schema->members[*n].name, name))
            found = &schema->members[*n];
    return found;
}

static int check_member(const struct api_schema *schema, const char *name, const json_t *value,
                        struct err *err)
{
    size_t n;
    const struct api_member *m = find_member(schema, name, &n);
    if (!m)
        return api_refuse_unknown("member", name, n, member_name, schema->members, err);
    return type_fits(m->type, value) ? 0 : refuse_type(m, err);
}

int api_refuse_unknown(const char *what, const char *name, size_t n,
                       const char *(*known)(const void *ctx, size_t i), const void *ctx,
                       struct err *err)
{
    char shown[VALUE_SHOWN];
    const char *near = n ? str_nearest(name, n, known, ctx) : NULL;
    value_show(name, shown);
    if (near)
        return err_set(err, ERR_INVALID, "unknown %s '%s'; did you mean '%s'?", what, shown, near);
    return err_set(err, ERR_INVALID, "unknown %s '%s'%s%s%s", what, shown, n ? "" : "; no ",
                   n ? "" : what, n ? "" : " is allowed here");
}

int api_check_object(const struct api_schema *schema, const json_t *object, const char **field,
                     struct err *err)
{
    const char *name;
    json_t *value;
    if (schema->kind == API_JOB_REQUEST) /* wire/ checks it when it reads it */
        return 0;
    json_object_foreach((json_t *)object, name, value)
    {
        *field = name;
        if (check_member(schema, name, value, err) < 0)
            return -1;
    }
    for (const struct api_member *m = schema->members; m->name; m++) {
        *field = m->name;
        if (!api_member_optional(m) && !json_object_get(object, m->name))
            return err_set(err, ERR_INVALID, "%s: this member is required", m->name);
    }
    return 0;
}
