/* Owns how one field of a job request is set from text. */
#include "wire/spec_set.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>

#include "base/str.h"
#include "model/speed.h"
#include "wire/spec_lists.h"
#include "wire/spec_places.h"
#include "wire/value.h"

static int set_text(struct spec *s, const struct spec_field *f, const char *text, struct err *err)
{
    enum { TEXT_MAX = 4096, BODY_MAX = 1 << 20, NAME_MAX = 128 };
    char shown[VALUE_SHOWN];
    size_t n = strlen(text), most = f->type == SPEC_BODY ? BODY_MAX : TEXT_MAX;
    const char **at = (const char **)((char *)s + f->at);
    for (const char *p = text; *p && f->type == SPEC_TEXT; p++)
        if (iscntrl((unsigned char)*p))
            return err_set(err, ERR_INVALID, "'%s': control characters are not allowed",
                           value_show(text, shown));
    if (n == 0)
        return err_set(err, ERR_INVALID, "must not be empty");
    if (n > most)
        return err_set(err, ERR_INVALID, "longer than %zu bytes", most);
    if (at == &s->name && (n > NAME_MAX || strspn(text, "0123456789") == n))
        return err_set(
            err, ERR_INVALID,
            "'%s': a name has at most %d bytes and not only digits, which would be an id",
            value_show(text, shown), NAME_MAX);
    *at = arena_strdup(&s->arena, text);
    return 0;
}

static int set_span(struct spec_span *at, const struct spec_field *f, const char *text,
                    struct err *err)
{
    struct spec_span v;
    bool count = f->type == SPEC_COUNT;
    if (value_span(text, f->lo, f->hi, UNIT, &v.min, &v.max, err) < 0)
        return -1;
    if (f->type != SPEC_CPUS && (v.min % UNIT || v.max % UNIT))
        return err_set(err, ERR_INVALID, "'%s': expected whole numbers", text);
    if (f->type == SPEC_GPUS && v.min == 0 && v.max > 0)
        return err_set(err, ERR_INVALID, "'%s': a job with GPUs needs at least 1", text);
    *at = count ? (struct spec_span){v.min / UNIT, v.max / UNIT} : v;
    return 0;
}

/* A signal that a process can handle. */
static int parse_signal(const char *text, int *out, struct err *err)
{
    int number;
    if (value_signal(text, &number, err) < 0)
        return -1;
    if (number == SIGKILL || number == SIGSTOP)
        return err_set(err, ERR_INVALID, "'%s': a job cannot catch this signal", text);
    *out = number;
    return 0;
}

static int set_warning(struct spec_warning *at, const char *text, struct err *err)
{
    char name[16];
    struct spec_warning v = {.before = 60 * USEC_PER_SEC};
    size_t n = strcspn(text, "@");
    if (n >= sizeof name)
        return err_set(err, ERR_INVALID, "'%s': expected SIGNAL@SECONDS", text);
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    if (parse_signal(name, &v.number, err) < 0)
        return -1;
    if (text[n] && value_duration(text + n + 1, 0, 366 * 86400.0, &v.before, err) < 0)
        return -1;
    *at = v;
    return 0;
}

static int set_total(struct spec_total *at, const char *text, struct err *err)
{
    struct spec_total v;
    if (progress_total_parse(text, &v.unit, &v.value, err) < 0)
        return -1;
    *at = v;
    return 0;
}

/* A whole number or a fraction, depending on the type of the field. */
static int set_number(void *at, const struct spec_field *f, const char *text, struct err *err)
{
    int64_t n;
    if (f->type == SPEC_REAL)
        return str_parse_double(text, f->lo, f->hi, at, err);
    if (str_parse_int(text, (int64_t)f->lo, (int64_t)f->hi, &n, err) < 0)
        return -1;
    *(int32_t *)at = (int32_t)n;
    return 0;
}

static int set_field(struct spec *s, const struct spec_field *f, const char *text, struct err *err)
{
    void *at = (char *)s + f->at;
    switch (f->type) {
    case SPEC_TEXT:
    case SPEC_BODY:
        return set_text(s, f, text, err);
    case SPEC_CPUS:
    case SPEC_GPUS:
    case SPEC_COUNT:
        return set_span(at, f, text, err);
    case SPEC_MEMORY:
        return value_memory(text, at, err);
    case SPEC_LEASE:
        return value_lease(text, f->lo, f->hi, at, err);
    case SPEC_DURATION:
        return value_duration(text, f->lo, f->hi, at, err);
    case SPEC_WHEN:
        return value_when(text, at, err);
    case SPEC_INT:
    case SPEC_REAL:
        return set_number(at, f, text, err);
    case SPEC_TOTAL:
        return set_total(at, text, err);
    case SPEC_FLAG:
        return value_flag(text, at, err);
    case SPEC_CHOICE:
        return value_choice(f->value, text, at, err);
    case SPEC_SIGNAL:
        return parse_signal(text, at, err);
    case SPEC_WARNING:
        return set_warning(at, text, err);
    case SPEC_IF:
        return condition_parse(text, at, err);
    case SPEC_FLAT:
        return value_flatness(text, at, err);
    case SPEC_ARRAY:
        return indices_parse(text, &s->arena, at, err);
    case SPEC_LIST:
        return spec_list_add(s, at, text, err);
    case SPEC_MAP:
        return spec_env_add(s, at, text, err);
    case SPEC_DEPS:
        return spec_deps_add(s, text, err);
    }
    return err_set(err, ERR_INTERNAL, "unknown type");
}

/* Numbers, words and the like, which are short enough to be shown in an error. */
static int check_plain(const struct spec_field *f, const char *text, struct err *err)
{
    enum { PLAIN_MAX = 64 };
    char shown[VALUE_SHOWN];
    size_t n = strlen(text), plain = 0;
    while (text[plain] >= ' ' && text[plain] <= '~')
        plain++;
    if (plain < n || n == 0 || (n > PLAIN_MAX && f->type != SPEC_ARRAY))
        return err_set(err, ERR_INVALID, "'%s': expected %s", value_show(text, shown),
                       f->value ? f->value : "true or false");
    return 0;
}

static int check_and_set(struct spec *s, const struct spec_field *f, const char *text,
                         struct err *err)
{
    char shown[VALUE_SHOWN];
    bool free_text = f->type == SPEC_TEXT || f->type == SPEC_BODY || spec_field_repeats(f);
    if (text[str_valid_utf8(text)])
        return err_set(err, ERR_INVALID, "'%s': not valid UTF-8", value_show(text, shown));
    if (!free_text && check_plain(f, text, err) < 0)
        return -1;
    return set_field(s, f, text, err);
}

int spec_set(struct spec *s, const struct spec_field *f, const char *text, struct err *err)
{
    if (check_and_set(s, f, text, err) < 0)
        return err_prefix(err, "%s", f->name);
    spec_place_forget(s, f);
    return 0;
}

int spec_set_shell(struct spec *s, const char *line, struct err *err)
{
    const struct spec_field *f = spec_find("command", err);
    spec_clear(s, f);
    if (spec_set(s, f, "/bin/sh", err) < 0 || spec_set(s, f, "-c", err) < 0)
        return -1;
    return spec_set(s, f, line, err);
}
