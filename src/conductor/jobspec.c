/* Owns the reading of spec.json. Each field is a row of a table: its kind, where
 * it goes, its range. What is not in the table is unknown; null is the same as
 * absent. A text in the result lives in the arena: the JSON tree is gone when
 * jobspec_parse returns. */
#include "conductor/jobspec.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_LOG_BYTES (100LL << 20)
#define SECONDS_MAX 1e9
enum { DEFAULT_LOG_KEEP = 3, DEFAULT_GRACE_S = 60, DEFAULT_LINGER_S = 600 };
enum { DEFAULT_PATIENCE_S = 60, SIGNAL_MAX = 64 };

enum kind { TEXT, PATH, INTEGER, SECONDS, NUMBER, OTHER };

struct field {
    const char *name;
    enum kind kind;
    bool required;
    size_t offset;  /* in struct jobspec, for all kinds but OTHER */
    int64_t lo, hi; /* of an INTEGER */
    int (*read)(const json_t *v, struct jobspec *s, struct err *err); /* of OTHER */
};

static int read_text(const struct field *f, const json_t *v, struct jobspec *s, void *out,
                     struct err *err)
{
    const char *text = json_string_value(v);
    if (!text)
        return err_set(err, ERR_INVALID, "%s must be a text", f->name);
    if (f->kind == PATH && *text != '/')
        return err_set(err, ERR_INVALID, "%s must be an absolute path", f->name);
    *(const char **)out = arena_strdup(&s->arena, text);
    return 0;
}

static int read_integer(const struct field *f, const json_t *v, int64_t *out, struct err *err)
{
    if (!json_is_integer(v) || json_integer_value(v) < f->lo || json_integer_value(v) > f->hi)
        return err_set(err, ERR_INVALID, "%s must be a whole number between %lld and %lld", f->name,
                       (long long)f->lo, (long long)f->hi);
    *out = json_integer_value(v);
    return 0;
}

static int read_seconds(const struct field *f, const json_t *v, usec_t *out, struct err *err)
{
    double s = json_number_value(v);
    if (!json_is_number(v) || !(s >= 0 && s <= SECONDS_MAX))
        return err_set(err, ERR_INVALID, "%s must be a number of seconds from 0 to %g", f->name,
                       SECONDS_MAX);
    return time_from_seconds(s, out);
}

static int read_number(const struct field *f, const json_t *v, double *out, struct err *err)
{
    if (!json_is_number(v) || !(json_number_value(v) >= 0))
        return err_set(err, ERR_INVALID, "%s must be a number from 0", f->name);
    *out = json_number_value(v);
    return 0;
}

static int read_field(const struct field *f, const json_t *object, struct jobspec *s,
                      struct err *err)
{
    const char *name = strrchr(f->name, '.');
    const json_t *v = json_object_get(object, name ? name + 1 : f->name);
    void *out = (char *)s + f->offset;
    if (json_is_null(v))
        v = NULL;
    if (!v)
        return f->required ? err_set(err, ERR_INVALID, "%s is missing", f->name) : 0;
    switch (f->kind) {
    case TEXT:
    case PATH:
        return read_text(f, v, s, out, err);
    case INTEGER:
        return read_integer(f, v, out, err);
    case SECONDS:
        return read_seconds(f, v, out, err);
    case NUMBER:
        return read_number(f, v, out, err);
    case OTHER:
        break;
    }
    return f->read ? f->read(v, s, err) : 0;
}

static int read_fields(const struct field *fields, size_t n, const json_t *object,
                       struct jobspec *s, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (read_field(&fields[i], object, s, err) < 0)
            return -1;
    return 0;
}

static int read_command(const json_t *v, struct jobspec *s, struct err *err)
{
    size_t n = json_array_size(v);
    s->command = ARENA_ARRAY(&s->arena, n + 1, char *);
    for (size_t i = 0; i < n; i++) {
        const char *word = json_string_value(json_array_get(v, i));
        if (!word)
            return err_set(err, ERR_INVALID, "command[%zu] must be a text", i);
        s->command[i] = arena_strdup(&s->arena, word);
    }
    if (!n || !*s->command[0])
        return err_set(err, ERR_INVALID, "command must be a list that begins with a program");
    return 0;
}

static int read_env(const json_t *v, struct jobspec *s, struct err *err)
{
    if (!json_is_object(v))
        return err_set(err, ERR_INVALID, "env must be an object of texts");
    s->env = ARENA_ARRAY(&s->arena, json_object_size(v) + 2, char *); /* see name_signal */
    size_t i = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)v, key, value)
    {
        if (!*key || strchr(key, '='))
            return err_set(err, ERR_INVALID, "env: '%.100s' cannot be a variable's name", key);
        if (!json_is_string(value))
            return err_set(err, ERR_INVALID, "env.%.100s must be a text", key);
        size_t n = strlen(key) + 1 + strlen(json_string_value(value)) + 1;
        s->env[i] = arena_raw(&s->arena, n);
        snprintf(s->env[i++], n, "%s=%s", key, json_string_value(value));
    }
    return 0;
}

static int read_cgroups(const json_t *v, struct jobspec *s, struct err *err)
{
    static const struct field path = {"cgroup.path", PATH, true, 0, 0, 0, NULL};
    static const struct field procs = {"cgroup.procs", TEXT, true, 0, 0, 0, NULL};
    if (!json_is_array(v))
        return err_set(err, ERR_INVALID, "cgroup must be a list of {\"path\":..,\"procs\":..}");
    s->n_cgroups = json_array_size(v);
    s->cgroups = ARENA_ARRAY(&s->arena, s->n_cgroups, struct jobspec_group);
    for (size_t i = 0; i < s->n_cgroups; i++) {
        const json_t *g = json_array_get(v, i), *file = json_object_get(g, "procs");
        struct jobspec_group *out = &s->cgroups[i];
        out->procs = "cgroup.procs";
        if (read_text(&path, json_object_get(g, "path"), s, &out->path, err) < 0 ||
            (file && read_text(&procs, file, s, &out->procs, err) < 0))
            return -1;
        if (!*out->procs || strchr(out->procs, '/'))
            return err_set(err, ERR_INVALID, "cgroup.procs must be the name of a file");
    }
    return 0;
}

#define AT(member) offsetof(struct jobspec, member)

static int read_warning(const json_t *v, struct jobspec *s, struct err *err)
{
    static const struct field fields[] = {
        {"signal.number", INTEGER, true, AT(warn_signal), 1, SIGNAL_MAX, NULL},
        {"signal.before_s", SECONDS, false, AT(warn_before), 0, 0, NULL},
    };
    const char *reach = json_string_value(json_object_get(v, "to"));
    if (read_fields(fields, COUNT_OF(fields), v, s, err) < 0)
        return -1;
    return reach ? reach_parse(reach, &s->warn_reach, err) : 0;
}

static int read_progress(const json_t *v, struct jobspec *s, struct err *err)
{
    static const struct field fields[] = {
        {"progress.pattern", TEXT, false, AT(progress_pattern), 0, 0, NULL},
        {"progress.total", INTEGER, false, AT(progress_total), 0, INT64_MAX / 2, NULL},
    };
    return read_fields(fields, COUNT_OF(fields), v, s, err);
}

static int read_malleable(const json_t *v, struct jobspec *s, struct err *err)
{
    static const struct field fields[] = {
        {"malleable.threads", INTEGER, true, AT(threads), 1, INT32_MAX, NULL},
        {"malleable.library", PATH, false, AT(library), 0, 0, NULL},
    };
    return read_fields(fields, COUNT_OF(fields), v, s, err);
}

static const struct field fields[] = {
    {"job", INTEGER, true, AT(job), 0, INT64_MAX, NULL},
    {"attempt", INTEGER, true, AT(attempt), 0, INT64_MAX, NULL},
    {"name", TEXT, false, AT(name), 0, 0, NULL},
    {"command", OTHER, true, 0, 0, 0, read_command},
    {"workdir", PATH, true, AT(workdir), 0, 0, NULL},
    {"env", OTHER, true, 0, 0, 0, read_env},
    {"socket", PATH, true, AT(socket), 0, 0, NULL},
    {"token", TEXT, true, AT(token), 0, 0, NULL},
    {"cgroup", OTHER, false, 0, 0, 0, read_cgroups},
    {"cpus", NUMBER, false, AT(cpus), 0, 0, NULL},
    {"cpuset", OTHER, false, 0, 0, 0, NULL}, /* as the server numbers them: not needed */
    {"gpus", OTHER, false, 0, 0, 0, NULL},   /* by UUID: the environment names them to the job */
    {"cpuset_os", TEXT, false, AT(cpuset), 0, 0, NULL},
    {"nice", INTEGER, false, AT(nice), -20, 19, NULL},
    {"log_max_bytes", INTEGER, false, AT(log_max_bytes), 1, INT64_MAX / 2, NULL},
    {"log_keep", INTEGER, false, AT(log_keep), 1, 1000, NULL},
    {"grace_s", SECONDS, false, AT(grace), 0, 0, NULL},
    {"time_limit_s", SECONDS, false, AT(time_limit), 0, 0, NULL},
    {"signal", OTHER, false, 0, 0, 0, read_warning},
    {"checkpoint_signal", INTEGER, false, AT(checkpoint_signal), 1, SIGNAL_MAX, NULL},
    {"progress", OTHER, false, 0, 0, 0, read_progress},
    {"sample_s", SECONDS, false, AT(sample), 0, 0, NULL},
    {"linger_s", SECONDS, false, AT(linger), 0, 0, NULL},
    {"kill_wait_s", SECONDS, false, AT(patience), 0, 0, NULL},
    {"malleable", OTHER, false, 0, 0, 0, read_malleable},
};

int reach_parse(const char *text, enum reach *out, struct err *err)
{
    static const char *const names[] = {
        [REACH_ALL] = "all", [REACH_GROUP] = "group", [REACH_LEADER] = "leader"};
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = (enum reach)i;
            return 0;
        }
    }
    return err_set(err, ERR_INVALID, "'%.50s' is not one of all, group, leader", text);
}

static void name_unknown(const json_t *object, struct str *unknown)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        size_t i = 0;
        while (i < COUNT_OF(fields) && strcmp(fields[i].name, key) != 0)
            i++;
        if (i == COUNT_OF(fields))
            str_addf(unknown, "%s%s", unknown->n ? " " : "", key);
    }
}

/* A job that waits for the checkpoint signal is told which it is, when it is not
 * the usual one. */
static void name_signal(struct jobspec *s)
{
    static const char name[] = "TRAINYARD_CHECKPOINT_SIGNAL=";
    char **e = s->env, text[sizeof name + 8];
    while (*e && strncmp(*e, name, sizeof name - 1) != 0)
        e++;
    if (*e || s->checkpoint_signal == SIGTERM)
        return;
    snprintf(text, sizeof text, "%s%d", name, (int)s->checkpoint_signal);
    *e = arena_strdup(&s->arena, text);
}

int jobspec_parse(const char *text, size_t n, struct jobspec *out, struct str *unknown,
                  struct err *err)
{
    json_error_t where;
    json_t *object = json_loadb(text, n, JSON_REJECT_DUPLICATES, &where);
    if (!object)
        return err_set(err, ERR_INVALID, "spec.json: line %d, column %d: %s", where.line,
                       where.column, where.text);
    struct jobspec s = {
        .time_limit = USEC_NEVER,
        .log_max_bytes = DEFAULT_LOG_BYTES,
        .log_keep = DEFAULT_LOG_KEEP,
        .grace = DEFAULT_GRACE_S * USEC_PER_SEC,
        .linger = DEFAULT_LINGER_S * USEC_PER_SEC,
        .patience = DEFAULT_PATIENCE_S * USEC_PER_SEC,
        .sample = USEC_PER_SEC,
        .checkpoint_signal = SIGTERM,
        .warn_reach = REACH_GROUP,
    };
    int rc = json_is_object(object) ? read_fields(fields, COUNT_OF(fields), object, &s, err)
                                    : err_set(err, ERR_INVALID, "it must be one JSON object");
    if (rc == 0) {
        if (s.time_limit == 0)
            s.time_limit = USEC_NEVER;
        name_signal(&s);
        name_unknown(object, unknown);
        *out = s;
    } else {
        err_prefix(err, "spec.json");
        jobspec_done(&s);
    }
    json_decref(object);
    return rc;
}

int jobspec_read(int dir, struct jobspec *out, struct str *unknown, struct err *err)
{
    AUTO_CLOSE int fd = openat(dir, "spec.json", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(err, ERR_IO, "cannot read spec.json: %s", strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_size > JOBSPEC_MAX_BYTES)
        return err_set(err, ERR_INVALID, "spec.json is not a file of at most %d bytes",
                       JOBSPEC_MAX_BYTES);
    AUTO_FREE char *text = xmalloc((size_t)st.st_size);
    size_t n = 0;
    while (n < (size_t)st.st_size) {
        ssize_t got = read(fd, text + n, (size_t)st.st_size - n);
        if (got < 0)
            return err_set(err, ERR_IO, "cannot read spec.json: %s", strerror(errno));
        if (got == 0)
            break;
        n += (size_t)got;
    }
    return jobspec_parse(text, n, out, unknown, err);
}

void jobspec_set_variable(struct jobspec *s, const char *line, size_t n)
{
    size_t key = (size_t)((const char *)memchr(line, '=', n) - line) + 1, count = 0;
    for (; s->env[count]; count++)
        if (!strncmp(s->env[count], line, key)) {
            s->env[count] = arena_strndup(&s->arena, line, n);
            return;
        }
    char **env = ARENA_ARRAY(&s->arena, count + 2, char *);
    memcpy(env, s->env, count * sizeof *env);
    env[count] = arena_strndup(&s->arena, line, n);
    s->env = env;
}

void jobspec_done(struct jobspec *s)
{
    arena_done(&s->arena);
}
