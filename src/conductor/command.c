/* Owns the reading of what the server says. A line that is not even an object is
 * an error; an object that makes no sense becomes COMMAND_BAD with the reason, so
 * that it can be answered. */
#include "conductor/message.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECONDS_MAX 1e9
#define CPUS_MAX_COUNT 1e6
enum { SIGNAL_MAX = 64 };

static int read_signal(const json_t *object, const char *field, int *out, struct err *err)
{
    const json_t *v = json_object_get(object, field);
    if (!v && *out)
        return 0;
    if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > SIGNAL_MAX)
        return err_set(err, ERR_INVALID, "%s must be a number between 1 and %d", field, SIGNAL_MAX);
    *out = (int)json_integer_value(v);
    return 0;
}

static int read_number(const json_t *object, const char *field, double max, double *out,
                       struct err *err)
{
    const json_t *v = json_object_get(object, field);
    if (!v)
        return 0;
    double n = json_number_value(v);
    if (!json_is_number(v) || !(n >= 0 && n <= max))
        return err_set(err, ERR_INVALID, "%s must be a number from 0 to %g", field, max);
    *out = n;
    return 0;
}

static int read_seconds(const json_t *object, const char *field, usec_t *out, struct err *err)
{
    double s = time_seconds(*out);
    if (read_number(object, field, SECONDS_MAX, &s, err) < 0)
        return -1;
    return time_from_seconds(s, out);
}

/* A text that is too long is an error, as a cut one could mean something else. */
static int read_text(const json_t *object, const char *field, char *out, size_t size,
                     struct err *err)
{
    const json_t *v = json_object_get(object, field);
    if (!v || json_is_null(v))
        return 0;
    const char *text = json_string_value(v);
    if (!text || strlen(text) >= size)
        return err_set(err, ERR_INVALID, "%s must be a text of less than %zu bytes", field, size);
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

static int read_reach(const json_t *object, enum reach *out, struct err *err)
{
    char text[16] = "";
    if (read_text(object, "to", text, sizeof text, err) < 0)
        return -1;
    return *text ? reach_parse(text, out, err) : 0;
}

static int read_welcome(const json_t *object, struct command *c, struct err *err)
{
    const json_t *seq = json_object_get(object, "seq");
    if (!seq)
        return 0;
    if (!json_is_integer(seq) || json_integer_value(seq) < 0)
        return err_set(err, ERR_INVALID, "seq must be a whole number from 0");
    c->seq = json_integer_value(seq);
    return 0;
}

static int read_why(const json_t *object, struct command *c, struct err *err)
{
    return read_text(object, "text", c->text, sizeof c->text, err);
}

static int read_what(const json_t *object, struct command *c, struct err *err)
{
    return read_text(object, "what", c->text, sizeof c->text, err);
}

static int read_signal_command(const json_t *object, struct command *c, struct err *err)
{
    c->signal = 0;
    c->reach = REACH_GROUP;
    return read_signal(object, "number", &c->signal, err) < 0 ? -1
                                                              : read_reach(object, &c->reach, err);
}

static int read_stop(const json_t *object, struct command *c, struct err *err)
{
    if (read_signal(object, "signal", &c->signal, err) < 0 ||
        read_seconds(object, "grace_s", &c->grace, err) < 0 ||
        read_text(object, "reason", c->text, sizeof c->text, err) < 0)
        return -1;
    if (!*c->text)
        snprintf(c->text, sizeof c->text, "stop");
    return read_reach(object, &c->reach, err);
}

static int read_nothing(const json_t *object, struct command *c, struct err *err)
{
    (void)object, (void)c, (void)err;
    return 0;
}

static int read_resize(const json_t *object, struct command *c, struct err *err)
{
    const json_t *threads = json_object_get(object, "threads");
    if (threads && (!json_is_integer(threads) || json_integer_value(threads) < 1 ||
                    json_integer_value(threads) > INT32_MAX))
        return err_set(err, ERR_INVALID, "threads must be a whole number from 1");
    c->threads = json_integer_value(threads);
    c->cpus = -1;
    if (read_number(object, "cpus", CPUS_MAX_COUNT, &c->cpus, err) < 0 ||
        read_text(object, "cpuset_os", c->cpuset, sizeof c->cpuset, err) < 0)
        return -1;
    return c->cpus > 0 ? 0 : err_set(err, ERR_INVALID, "cpus must be a number above 0");
}

/* The variables, as lines. */
static int read_env(const json_t *object, char *out, size_t size, struct err *err)
{
    json_t *env = json_object_get(object, "env"), *value;
    const char *key;
    size_t n = 0;
    *out = '\0';
    if (env && !json_is_object(env))
        return err_set(err, ERR_INVALID, "env must be an object");
    json_object_foreach(env, key, value)
    {
        const char *text = json_string_value(value);
        if (!text || strchr(text, '\n') || strpbrk(key, "=\n"))
            return err_set(err, ERR_INVALID, "env: %s must be a text of one line", key);
        int wrote = snprintf(out + n, size - n, "%s=%s\n", key, text);
        if (wrote < 0 || (size_t)wrote >= size - n)
            return err_set(err, ERR_LIMIT, "env is too long");
        n += (size_t)wrote;
    }
    return 0;
}

static int read_restart(const json_t *object, struct command *c, struct err *err)
{
    if (read_resize(object, c, err) < 0 || read_env(object, c->env, sizeof c->env, err) < 0)
        return -1;
    return read_stop(object, c, err);
}

static int read_limit(const json_t *object, struct command *c, struct err *err)
{
    c->limit = 0;
    if (!json_is_null(json_object_get(object, "time_limit_s")) &&
        read_seconds(object, "time_limit_s", &c->limit, err) < 0)
        return -1;
    c->limit = c->limit ? c->limit : USEC_NEVER;
    return 0;
}

static const struct {
    const char *name;
    int (*read)(const json_t *object, struct command *c, struct err *err);
} types[] = {
    [COMMAND_WELCOME] = {"welcome", read_welcome},
    [COMMAND_REFUSED] = {"refused", read_why},
    [COMMAND_ACK] = {"ack", read_what},
    [COMMAND_SIGNAL] = {"signal", read_signal_command},
    [COMMAND_STOP] = {"stop", read_stop},
    [COMMAND_FREEZE] = {"freeze", read_nothing},
    [COMMAND_THAW] = {"thaw", read_nothing},
    [COMMAND_RESIZE] = {"resize", read_resize},
    [COMMAND_RESTART] = {"restart", read_restart},
    [COMMAND_LIMIT] = {"limit", read_limit},
};

static int read_command(const json_t *object, const char *type, struct command *c, struct err *err)
{
    const json_t *id = json_object_get(object, "id");
    if (id && (!json_is_integer(id) || json_integer_value(id) < 0))
        return err_set(err, ERR_INVALID, "id must be a whole number from 0");
    c->id = id ? json_integer_value(id) : -1;
    for (unsigned i = 0; i < COUNT_OF(types); i++) {
        if (strcmp(types[i].name, type) == 0) {
            c->type = (enum command_type)i;
            return types[i].read(object, c, err) < 0 ? err_prefix(err, "%s", type) : 0;
        }
    }
    return err_set(err, ERR_INVALID, "'%.60s' is not a command", type);
}

int command_parse(const char *line, size_t n, const struct jobspec *defaults, struct command *out,
                  struct err *err)
{
    json_error_t where;
    json_t *object = json_loadb(line, n, 0, &where);
    const char *type = json_string_value(json_object_get(object, "type"));
    if (!type) {
        err_set(err, ERR_INVALID, "not a message: %s", object ? "it has no type" : where.text);
        json_decref(object);
        return -1;
    }
    struct command c = {
        .id = -1,
        .seq = -1,
        .signal = (int)defaults->checkpoint_signal,
        .reach = REACH_ALL,
        .grace = defaults->grace,
    };
    struct err why;
    if (read_command(object, type, &c, &why) < 0) {
        c.type = COMMAND_BAD;
        memcpy(c.text, why.text, sizeof c.text);
    }
    json_decref(object);
    *out = c;
    return 0;
}
