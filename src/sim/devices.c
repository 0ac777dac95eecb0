/* Owns how devices are spelt. */
#include "sim/devices.h"

#include <string.h>

enum { NAME_LENGTH = 20 };

/* Letters, digits, dashes and underscores. */
static bool is_name(const char *text, size_t n)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return n > 0 && n <= NAME_LENGTH && strspn(text, allowed) >= n;
}

/* The kind with this name; DEVICES_MAX if there is none and no room for another. */
static int find_kind(const char **names, const char *name, struct arena *a)
{
    int kind = 0;
    while (kind < DEVICES_MAX && names[kind] && !str_equal_nocase(names[kind], name))
        kind++;
    if (kind < DEVICES_MAX && !names[kind]) {
        if (!a)
            return DEVICES_MAX;
        names[kind] = arena_strdup(a, name);
    }
    return kind;
}

static int parse_one(const char *text, size_t n, const char **names, struct arena *a,
                     struct devices *out, struct err *err)
{
    char name[NAME_LENGTH + 1], count[16];
    const char *equals = memchr(text, '=', n);
    size_t length = equals ? (size_t)(equals - text) : 0, rest = equals ? n - length - 1 : 0;
    int64_t number;
    if (!is_name(text, length) || rest >= sizeof count)
        return err_set(err, ERR_INVALID, "'%.*s': expected devices like tpu=2",
                       (int)(n < 40 ? n : 40), text);
    memcpy(name, text, length);
    name[length] = '\0';
    memcpy(count, equals + 1, rest);
    count[rest] = '\0';
    if (str_parse_int(count, 0, DEVICES_LIMIT, &number, err) < 0)
        return err_prefix(err, "%s", name);
    int kind = find_kind(names, name, a);
    if (kind == DEVICES_MAX)
        return err_set(err, ERR_INVALID,
                       a ? "'%s': at most %d kinds of devices" : "'%s': no node has this device",
                       name, DEVICES_MAX);
    out->of[kind] = (int32_t)number;
    return 0;
}

int devices_parse(const char *text, size_t n, const char **names, struct arena *a,
                  struct devices *out, struct err *err)
{
    struct devices found = {{0}};
    for (size_t at = 0; at <= n;) {
        const char *slash = memchr(text + at, '/', n - at);
        size_t length = slash ? (size_t)(slash - text) - at : n - at;
        if (parse_one(text + at, length, names, a, &found, err) < 0)
            return -1;
        at += length + 1;
    }
    *out = found;
    return 0;
}

void devices_print(struct str *s, const char *const *names, const struct devices *d)
{
    const char *slash = "";
    for (int i = 0; i < DEVICES_MAX; i++)
        if (d->of[i]) {
            str_addf(s, "%s%s=%d", slash, names[i], d->of[i]);
            slash = "/";
        }
}
