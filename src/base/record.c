/* Owns the encoding of structs as JSON objects. fields.c encodes single values. */
#include "base/record.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The layout of every list: struct { T *at; size_t n; }. */
struct list {
    void *at;
    size_t n;
};

static struct list get_list(const void *from)
{
    struct list l;
    memcpy(&l, from, sizeof l);
    return l;
}

static const char *const *get_texts(const void *from)
{
    return *(const char *const *const *)from;
}

/* ---- the same ---------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* A missing list and an empty one are written the same way, so they are equal. */
static bool same_texts(const char *const *a, const char *const *b)
{
    static const char *const none[] = {NULL};
    a = a ? a : none;
    b = b ? b : none;
    for (; *a && *b; a++, b++)
        if (strcmp(*a, *b) != 0)
            return false;
    return *a == *b;
}

/* Compares bits: a NaN equals itself, and 0 differs from -0. */
static bool same_number(double a, double b)
{
    uint64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x == y;
}

static bool same_numbers(const struct field_numbers *a, const struct field_numbers *b)
{
    bool same = a->n == b->n;
    for (uint32_t i = 0; i < a->n && same; i++)
        same = !strcmp(a->at[i].name, b->at[i].name) && same_number(a->at[i].value, b->at[i].value);
    return same;
}

static bool same_list(const struct record *r, struct list a, struct list b)
{
    bool same = a.n == b.n;
    for (size_t i = 0; i < a.n && same; i++)
        same = record_equal(r, (char *)a.at + i * r->size, (char *)b.at + i * r->size);
    return same;
}

static size_t value_size(enum field_type kind)
{
    switch (kind) {
    case FIELD_U8:
        return sizeof(uint8_t);
    case FIELD_I32:
    case FIELD_U32:
        return sizeof(uint32_t);
    case FIELD_WORD:
        return sizeof(unsigned);
    case FIELD_FLAG:
        return sizeof(bool);
    default: /* times and numbers */
        return sizeof(int64_t);
    }
}

static bool same_value(const struct field *f, const void *a, const void *b)
{
    switch (FIELD_KIND(f->type)) {
    case FIELD_TEXT:
    case FIELD_PATH:
        return same_text(*(const char *const *)a, *(const char *const *)b);
    case FIELD_CHARS:
        return !strcmp(a, b);
    case FIELD_TEXTS:
    case FIELD_PAIRS:
        return same_texts(get_texts(a), get_texts(b));
    case FIELD_NUMBERS:
        return same_numbers(a, b);
    case FIELD_LIST:
        return same_list(f->of, get_list(a), get_list(b));
    case FIELD_OBJECT:
    case FIELD_INLINE:
        return record_equal(f->of, a, b);
    default:
        return !memcmp(a, b, value_size(FIELD_KIND(f->type)));
    }
}

bool record_equal(const struct record *r, const void *a, const void *b)
{
    for (const struct field *f = r->members; f->name; f++)
        if (!same_value(f, (const char *)a + f->at, (const char *)b + f->at))
            return false;
    return true;
}

/* ---- writing ------------------------------------------------------------------- */

static void add_texts(const char *const *texts, struct str *out)
{
    const char *comma = "";
    str_add(out, "[");
    for (; texts && *texts; texts++) {
        str_add(out, comma);
        str_add_json(out, *texts);
        comma = ",";
    }
    str_add(out, "]");
}

static void add_pairs(const char *const *pairs, struct str *out)
{
    const char *comma = "";
    struct str name = {0};
    str_add(out, "{");
    for (; pairs && *pairs; pairs++) {
        size_t n = strcspn(*pairs, "=");
        name.n = 0;
        str_add_n(&name, *pairs, n);
        str_add(out, comma);
        str_add_json(out, name.at);
        str_add(out, ":");
        str_add_json(out, *pairs + n + 1);
        comma = ",";
    }
    str_add(out, "}");
    str_done(&name);
}

static void add_numbers(const struct field_numbers *numbers, struct str *out)
{
    static const struct field value = {.name = "", .type = FIELD_NUMBER};
    str_add(out, "{");
    for (uint32_t i = 0; i < numbers->n; i++) {
        str_add(out, i ? "," : "");
        str_add_json(out, numbers->at[i].name);
        str_add(out, ":");
        fields_add_value(&value, &numbers->at[i].value, out);
    }
    str_add(out, "}");
}

static void add_list(const struct record *r, struct list list, struct str *out)
{
    str_add(out, "[");
    for (size_t i = 0; i < list.n; i++) {
        str_add(out, i ? "," : "");
        record_encode(r, (char *)list.at + i * r->size, out);
    }
    str_add(out, "]");
}

static void add_value(const struct field *f, const void *from, struct str *out)
{
    switch (FIELD_KIND(f->type)) {
    case FIELD_TEXTS:
        add_texts(get_texts(from), out);
        break;
    case FIELD_PAIRS:
        add_pairs(get_texts(from), out);
        break;
    case FIELD_NUMBERS:
        add_numbers(from, out);
        break;
    case FIELD_LIST:
        add_list(f->of, get_list(from), out);
        break;
    case FIELD_OBJECT:
        record_encode(f->of, from, out);
        break;
    default:
        fields_add_value(f, from, out);
        break;
    }
}

void record_add_members(const struct record *r, const void *from, struct str *out)
{
    for (const struct field *f = r->members; f->name; f++) {
        const char *value = (const char *)from + f->at;
        if (FIELD_KIND(f->type) == FIELD_INLINE) {
            record_add_members(f->of, value, out);
        } else if (!(f->type & FIELD_OPTIONAL) ||
                   !same_value(f, value, (const char *)r->defaults + f->at)) {
            str_addf(out, "%s\"%s\":", out->at[out->n - 1] == '{' ? "" : ",", f->name);
            add_value(f, value, out);
        }
    }
}

void record_encode(const struct record *r, const void *from, struct str *out)
{
    str_add(out, "{");
    record_add_members(r, from, out);
    str_add(out, "}");
}

/* ---- reading ------------------------------------------------------------------- */

static int read_texts(const struct field *f, const json_t *v, struct arena *a, const char ***out,
                      struct err *err)
{
    size_t n = json_array_size(v);
    const char **texts = ARENA_ARRAY(a, n + 1, const char *);
    if (!json_is_array(v))
        return err_set(err, ERR_INVALID, "%s must be a list of strings", f->name);
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(json_array_get(v, i));
        if (!text)
            return err_set(err, ERR_INVALID, "%s[%zu] must be a string", f->name, i);
        texts[i] = arena_strdup(a, text);
    }
    *out = texts;
    return 0;
}

static int read_pairs(const struct field *f, json_t *v, struct arena *a, const char ***out,
                      struct err *err)
{
    const char **pair = ARENA_ARRAY(a, json_object_size(v) + 1, const char *), **first = pair;
    const char *name;
    json_t *value;
    if (!json_is_object(v))
        return err_set(err, ERR_INVALID, "%s must be an object of strings", f->name);
    json_object_foreach(v, name, value)
    {
        if (!*name || strchr(name, '='))
            return err_set(err, ERR_INVALID, "%s: '%.100s' cannot be a name", f->name, name);
        if (!json_is_string(value))
            return err_set(err, ERR_INVALID, "%s.%.100s must be a string", f->name, name);
        size_t size = strlen(name) + 1 + json_string_length(value) + 1;
        char *text = arena_raw(a, size);
        snprintf(text, size, "%s=%s", name, json_string_value(value));
        *pair++ = text;
    }
    *out = first;
    return 0;
}

static int read_numbers(const struct field *f, json_t *v, struct field_numbers *out,
                        struct err *err)
{
    const char *name;
    json_t *value;
    if (!json_is_object(v))
        return err_set(err, ERR_INVALID, "%s must be an object of numbers", f->name);
    out->n = 0;
    json_object_foreach(v, name, value)
    {
        struct field_number *number = &out->at[out->n++];
        fields_cut_text(name, number->name, sizeof number->name);
        if (fields_get_real(value, f->name, &number->value, err) < 0)
            return -1;
        if (out->n == FIELD_NUMBERS_MAX)
            break;
    }
    return 0;
}

static int read_members(const struct record *r, const json_t *object, struct arena *a, char *to,
                        struct err *err);

/* Adds the path of the member to the error: "path is missing" becomes "cgroup[0].path is
 * missing". */
__attribute__((format(printf, 2, 3))) static int within(struct err *err, const char *fmt, ...)
{
    struct str text = {0};
    va_list args;
    va_start(args, fmt);
    str_addv(&text, fmt, args);
    va_end(args);
    str_add(&text, err->text);
    err_set(err, err->code, "%s", text.at);
    str_done(&text);
    return -1;
}

static int read_list(const struct field *f, const json_t *v, struct arena *a, void *to,
                     struct err *err)
{
    const struct record *r = f->of;
    struct list list = {NULL, json_array_size(v)};
    if (!json_is_array(v))
        return err_set(err, ERR_INVALID, "%s must be a list of objects", f->name);
    list.at = arena_alloc_array(a, list.n, r->size);
    for (size_t i = 0; i < list.n; i++)
        if (read_members(r, json_array_get(v, i), a, (char *)list.at + i * r->size, err) < 0)
            return within(err, "%s[%zu].", f->name, i);
    memcpy(to, &list, sizeof list);
    return 0;
}

static int read_value(const struct field *f, json_t *v, struct arena *a, char *to, struct err *err)
{
    switch (FIELD_KIND(f->type)) {
    case FIELD_TEXTS:
        return read_texts(f, v, a, (void *)to, err);
    case FIELD_PAIRS:
        return read_pairs(f, v, a, (void *)to, err);
    case FIELD_NUMBERS:
        return read_numbers(f, v, (void *)to, err);
    case FIELD_LIST:
        return read_list(f, v, a, to, err);
    case FIELD_OBJECT:
        if (!json_is_object(v))
            return err_set(err, ERR_INVALID, "%s must be an object", f->name);
        return read_members(f->of, v, a, to, err) < 0 ? within(err, "%s.", f->name) : 0;
    default:
        return fields_get_value(f, v, a, to, err);
    }
}

static int read_member(const struct field *f, const json_t *object, struct arena *a, char *to,
                       struct err *err)
{
    if (FIELD_KIND(f->type) == FIELD_INLINE)
        return read_members(f->of, object, a, to, err);
    json_t *v = json_object_get(object, f->name);
    bool optional = f->type & FIELD_OPTIONAL;
    if (v && !(optional && json_is_null(v)))
        return read_value(f, v, a, to, err);
    return optional ? 0 : err_set(err, ERR_INVALID, "%s is missing", f->name);
}

/* Starts with the defaults. */
static int read_members(const struct record *r, const json_t *object, struct arena *a, char *to,
                        struct err *err)
{
    memcpy(to, r->defaults, r->size);
    for (const struct field *f = r->members; f->name; f++)
        if (read_member(f, object, a, to + f->at, err) < 0)
            return -1;
    return 0;
}

int record_decode(const struct record *r, const json_t *object, struct arena *a, void *to,
                  struct err *err)
{
    char *read = arena_raw(a, r->size);
    if (!json_is_object(object))
        return err_set(err, ERR_INVALID, "it must be one JSON object");
    if (read_members(r, object, a, read, err) < 0)
        return -1;
    memcpy(to, read, r->size);
    return 0;
}

static bool knows(const struct record *r, const char *name)
{
    for (const struct field *f = r->members; f->name; f++)
        if (FIELD_KIND(f->type) == FIELD_INLINE ? knows(f->of, name) : !strcmp(f->name, name))
            return true;
    return false;
}

void record_name_unknown(const struct record *r, const json_t *object, struct str *out)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value)
    {
        if (!knows(r, name))
            str_addf(out, "%s%s", out->n ? " " : "", name);
    }
}

static const char **copy_texts(const char *const *from, struct arena *a)
{
    size_t n = 0;
    if (!from)
        return NULL;
    while (from[n])
        n++;
    const char **to = ARENA_ARRAY(a, n + 1, const char *);
    for (size_t i = 0; i < n; i++)
        to[i] = arena_strdup(a, from[i]);
    return to;
}

/* Copies what the member points to; the member itself was copied already. */
static void copy_member(const struct field *f, struct arena *a, char *to)
{
    const struct record *r = f->of;
    struct list *list = (void *)to;
    switch (FIELD_KIND(f->type)) {
    case FIELD_TEXT:
    case FIELD_PATH:
        if (*(const char **)to)
            *(const char **)to = arena_strdup(a, *(const char **)to);
        break;
    case FIELD_TEXTS:
    case FIELD_PAIRS:
        *(const char ***)to = copy_texts(*(const char *const **)to, a);
        break;
    case FIELD_LIST: {
        const char *from = list->at;
        list->at = arena_alloc_array(a, list->n, r->size);
        for (size_t i = 0; i < list->n; i++)
            record_copy(r, from + i * r->size, a, (char *)list->at + i * r->size);
        break;
    }
    case FIELD_OBJECT:
    case FIELD_INLINE:
        for (f = r->members; f->name; f++)
            copy_member(f, a, to + f->at);
        break;
    default:
        break;
    }
}

void record_copy(const struct record *r, const void *from, struct arena *a, void *to)
{
    memcpy(to, from, r->size);
    for (const struct field *f = r->members; f->name; f++)
        copy_member(f, a, (char *)to + f->at);
}
