/* Owns the JSON form of a job request. A scalar is read like the text that a user would write;
 * lists and maps are arrays and objects. What is written reads back as the same request. */
#include "wire/spec_json.h"

#include <stdio.h>

#include "base/str.h"
#include "model/speed.h"
#include "wire/spec_lists.h"
#include "wire/spec_set.h"
#include "wire/value.h"

/* The text of a scalar, in `number` when it is a number; NULL for other values and for a string
 * that contains NUL. */
static const char *scalar_text(const json_t *v, char *number, size_t size)
{
    switch (json_typeof(v)) {
    case JSON_STRING:
        return strlen(json_string_value(v)) == json_string_length(v) ? json_string_value(v) : NULL;
    case JSON_INTEGER:
        snprintf(number, size, "%lld", (long long)json_integer_value(v));
        return number;
    case JSON_REAL:
        /* With as few digits as read back as the same number. */
        snprintf(number, size, "%.15g", json_real_value(v));
        if (strtod(number, NULL) != json_real_value(v))
            snprintf(number, size, "%.17g", json_real_value(v));
        return number;
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    default:
        return NULL;
    }
}

static int set_scalar(struct spec *s, const struct spec_field *f, const json_t *v, struct err *err)
{
    char number[40];
    const char *text = scalar_text(v, number, sizeof number);
    if (!text)
        return err_set(err, ERR_INVALID, "%s: expected a string without NUL, or a number", f->name);
    return spec_set(s, f, text, err);
}

/* A command given as one string is a line for the shell. */
static int set_line(struct spec *s, const struct spec_field *f, const json_t *v, struct err *err)
{
    const char *line = scalar_text(v, NULL, 0);
    if (!line)
        return err_set(err, ERR_INVALID, "%s: expected a string without NUL", f->name);
    return spec_set_shell(s, line, err);
}

static int set_array(struct spec *s, const struct spec_field *f, const json_t *v, struct err *err)
{
    size_t i;
    json_t *item;
    if (!spec_field_repeats(f))
        return err_set(err, ERR_INVALID, "%s: expected one value, not a list", f->name);
    json_array_foreach(v, i, item)
    {
        if (set_scalar(s, f, item, err) < 0)
            return -1;
    }
    return 0;
}

static int set_object(struct spec *s, const struct spec_field *f, const json_t *v, struct err *err)
{
    const char *key;
    json_t *item;
    char number[40], shown[VALUE_SHOWN];
    if (f->type != SPEC_MAP)
        return err_set(err, ERR_INVALID, "%s: expected %s, not an object", f->name,
                       spec_field_repeats(f) ? "a list" : "one value");
    json_object_foreach((json_t *)v, key, item)
    {
        const char *text = scalar_text(item, number, sizeof number);
        if (!text || strchr(key, '='))
            return err_set(err, ERR_INVALID, "%s: '%s': %s", f->name, value_show(key, shown),
                           text ? "a variable's name must not contain ="
                                : "expected a string without NUL, or a number");
        AUTO_FREE char *pair = xmalloc(strlen(key) + strlen(text) + 2);
        sprintf(pair, "%s=%s", key, text);
        if (spec_set(s, f, pair, err) < 0)
            return -1;
    }
    return 0;
}

static int set_member(struct spec *s, const char *key, const json_t *v, struct err *err)
{
    const struct spec_field *f = spec_find(key, err);
    if (!f)
        return -1;
    spec_clear(s, f);
    if (json_is_null(v))
        return 0;
    if (json_is_array(v))
        return set_array(s, f, v, err);
    if (json_is_object(v))
        return set_object(s, f, v, err);
    if (json_is_string(v) && f->at == offsetof(struct spec, command))
        return set_line(s, f, v, err);
    return set_scalar(s, f, v, err);
}

int spec_from_json(const json_t *object, struct spec *s, const char **field, struct err *err)
{
    const char *key;
    json_t *v;
    *field = NULL;
    if (!json_is_object(object))
        return err_set(err, ERR_INVALID, "expected a JSON object");
    json_object_foreach((json_t *)object, key, v)
    {
        if (set_member(s, key, v, err) < 0) {
            *field = key;
            return -1;
        }
    }
    return 0;
}

static json_t *span_to_json(const struct spec_span *v, double scale)
{
    double min = (double)v->min / scale, max = (double)v->max / scale;
    if (v->min < v->max)
        return json_sprintf("%.10g-%.10g", min, max);
    return v->min % (int64_t)scale ? json_real(min) : json_integer((json_int_t)min);
}

/* Whole seconds without a fraction, which reads better. */
static json_t *time_to_json(usec_t t)
{
    return t % USEC_PER_SEC ? json_real(time_seconds(t)) : json_integer(t / USEC_PER_SEC);
}

static json_t *total_to_json(const struct spec_total *v)
{
    if (v->unit == PROGRESS_UNIT_NONE)
        return json_integer(v->value);
    return json_sprintf("%lld%s", (long long)v->value, progress_unit_name(v->unit));
}

static json_t *warning_to_json(const struct spec_warning *w)
{
    char name[16];
    return json_sprintf("%s@%.17g", value_signal_name(w->number, name, sizeof name),
                        time_seconds(w->before));
}

static json_t *array_to_json(const struct indices *x)
{
    struct str text = {0};
    indices_format(x, &text);
    json_t *v = json_string(text.at);
    str_done(&text);
    return v;
}

static json_t *list_to_json(const struct spec_list *list)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < list->n; i++)
        json_array_append_new(array, json_string(list->at[i]));
    return array;
}

static json_t *env_to_json(const struct spec_list *env)
{
    json_t *map = json_object();
    for (uint32_t i = 0; i < env->n; i++) {
        size_t n = strcspn(env->at[i], "=");
        AUTO_FREE char *key = xstrndup(env->at[i], n);
        json_object_set_new(map, key, json_string(env->at[i] + n + 1));
    }
    return map;
}

static json_t *deps_to_json(const struct spec_deps *deps)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < deps->n; i++) {
        const struct spec_dep *d = &deps->at[i];
        const char *kind = spec_dep_name(d->kind);
        json_array_append_new(array,
                              d->job ? json_sprintf("%s:%s", kind, d->job) : json_string(kind));
    }
    return array;
}

/* NULL for a text that is not set. */
static json_t *field_to_json(const struct spec_field *f, const void *at)
{
    char word[16], condition[CONDITION_TEXT], flat[VALUE_FLATNESS];
    switch (f->type) {
    case SPEC_TEXT:
    case SPEC_BODY:
        return json_string(*(const char *const *)at);
    case SPEC_CPUS:
    case SPEC_GPUS:
        return span_to_json(at, UNIT);
    case SPEC_COUNT:
        return span_to_json(at, 1);
    case SPEC_MEMORY:
        return json_integer(*(const int64_t *)at);
    case SPEC_LEASE:
        if (*(const usec_t *)at == USEC_NEVER)
            return json_string("none");
        return time_to_json(*(const usec_t *)at);
    case SPEC_DURATION:
    case SPEC_WHEN:
        return time_to_json(*(const usec_t *)at);
    case SPEC_INT:
        return json_integer(*(const int32_t *)at);
    case SPEC_REAL:
        return json_real(*(const double *)at);
    case SPEC_TOTAL:
        return total_to_json(at);
    case SPEC_FLAG:
        return json_boolean(*(const bool *)at);
    case SPEC_CHOICE:
        return json_string(value_choice_name(f->value, *(const unsigned *)at, word, sizeof word));
    case SPEC_SIGNAL:
        return json_string(value_signal_name(*(const int *)at, word, sizeof word));
    case SPEC_WARNING:
        return warning_to_json(at);
    case SPEC_IF:
        return json_string(condition_format(at, condition));
    case SPEC_FLAT:
        return json_string(value_flatness_text(at, flat));
    case SPEC_ARRAY:
        return array_to_json(at);
    case SPEC_LIST:
        return list_to_json(at);
    case SPEC_MAP:
        return env_to_json(at);
    case SPEC_DEPS:
        return deps_to_json(at);
    }
    return NULL;
}

json_t *spec_to_json(const struct spec *s)
{
    json_t *o = json_object();
    for (const struct spec_field *f = spec_fields; f->name; f++)
        if (spec_differs(s, f))
            json_object_set_new(o, f->name, field_to_json(f, (const char *)s + f->at));
    return o;
}
