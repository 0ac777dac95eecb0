/* Owns spec.json: its members, their defaults and their checks. */
#include "protocol/launch_spec.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define MEMBER(type, name) offsetof(struct type, name)

/* clang-format off */
static const struct field cgroup_members[] = {
    {"path", FIELD_PATH, MEMBER(launch_cgroup, path), 0, 0, NULL},
    {"procs", FIELD_TEXT | FIELD_OPTIONAL, MEMBER(launch_cgroup, procs), 1, 0, NULL},
    {0},
};
static const struct launch_cgroup cgroup_defaults = {.procs = LAUNCH_CGROUP_PROCS};
static const struct record record_of_cgroup =
    {cgroup_members, sizeof(struct launch_cgroup), &cgroup_defaults};

static const struct field warning_members[] = {
    {"number", FIELD_I32, MEMBER(launch_warning, signal), 1, SIGNAL_NUMBER_MAX, NULL},
    {"before_s", FIELD_SECONDS | FIELD_OPTIONAL, MEMBER(launch_warning, before), 0, 0, NULL},
    {"to", FIELD_WORD | FIELD_OPTIONAL, MEMBER(launch_warning, reach), 0, 0, REACH_WORDS},
    {0},
};
#define WARNING_DEFAULTS {.reach = REACH_GROUP}
static const struct launch_warning warning_defaults = WARNING_DEFAULTS;
static const struct record record_of_warning =
    {warning_members, sizeof(struct launch_warning), &warning_defaults};

static const struct field progress_members[] = {
    {"pattern", FIELD_TEXT | FIELD_OPTIONAL, MEMBER(launch_progress, pattern), 0, 0, NULL},
    {"total", FIELD_I64 | FIELD_OPTIONAL, MEMBER(launch_progress, total), 0, INT64_MAX / 2, NULL},
    {"past", FIELD_I64 | FIELD_OPTIONAL, MEMBER(launch_progress, past), 0, INT64_MAX / 2, NULL},
    {"unit", FIELD_TEXT | FIELD_OPTIONAL, MEMBER(launch_progress, unit), 0, 0, NULL},
    {0},
};
static const struct launch_progress progress_defaults = {0};
static const struct record record_of_progress =
    {progress_members, sizeof(struct launch_progress), &progress_defaults};

static const struct field malleable_members[] = {
    {"threads", FIELD_I64, MEMBER(launch_malleable, threads), 1, INT32_MAX, NULL},
    {"processors", FIELD_I64 | FIELD_OPTIONAL, MEMBER(launch_malleable, processors), 0, INT32_MAX, NULL},
    {"library", FIELD_PATH | FIELD_OPTIONAL, MEMBER(launch_malleable, library), 0, 0, NULL},
    {"probe", FIELD_FLAG | FIELD_OPTIONAL, MEMBER(launch_malleable, probe), 0, 0, NULL},
    {0},
};
static const struct launch_malleable malleable_defaults = {0};
static const struct record record_of_malleable =
    {malleable_members, sizeof(struct launch_malleable), &malleable_defaults};

static const struct field members[] = {
    {"job", FIELD_I64, MEMBER(launch_spec, job), 0, INT64_MAX, NULL},
    {"attempt", FIELD_I64, MEMBER(launch_spec, attempt), 0, INT64_MAX, NULL},
    {"name", FIELD_TEXT | FIELD_OPTIONAL, MEMBER(launch_spec, name), 0, 0, NULL},
    {"command", FIELD_TEXTS, MEMBER(launch_spec, command), 0, 0, NULL},
    {"workdir", FIELD_PATH, MEMBER(launch_spec, workdir), 0, 0, NULL},
    {"env", FIELD_PAIRS, MEMBER(launch_spec, env), 0, 0, NULL},
    {"socket", FIELD_PATH, MEMBER(launch_spec, socket), 0, 0, NULL},
    {"token", FIELD_TEXT, MEMBER(launch_spec, token), 1, 0, NULL},
    {"cgroup", FIELD_LIST | FIELD_OPTIONAL, MEMBER(launch_spec, cgroups), 0, 0, &record_of_cgroup},
    {"cpus", FIELD_NUMBER | FIELD_OPTIONAL, MEMBER(launch_spec, cpus), 0, CPUS_NUMBER_MAX, NULL},
    {"cpuset_os", FIELD_TEXT | FIELD_OPTIONAL, MEMBER(launch_spec, cpuset), 0, 0, NULL},
    {"gpus", FIELD_TEXTS | FIELD_OPTIONAL, MEMBER(launch_spec, gpus), 0, 0, NULL},
    {"nice", FIELD_I32 | FIELD_OPTIONAL, MEMBER(launch_spec, nice), -20, 19, NULL},
    {"oom_score_adj", FIELD_I32 | FIELD_OPTIONAL, MEMBER(launch_spec, oom_score_adj), 0, 1000, NULL},
    {"memory_share_mb", FIELD_I64 | FIELD_OPTIONAL, MEMBER(launch_spec, memory_share), 0, INT64_MAX >> 21, NULL},
    {"log_max_bytes", FIELD_I64 | FIELD_OPTIONAL, MEMBER(launch_spec, log_max_bytes), 1, INT64_MAX / 2, NULL},
    {"log_keep", FIELD_I64 | FIELD_OPTIONAL, MEMBER(launch_spec, log_keep), 1, 1000, NULL},
    {"grace_s", FIELD_SECONDS | FIELD_OPTIONAL, MEMBER(launch_spec, grace), 0, 0, NULL},
    {"time_limit_s", FIELD_SECONDS | FIELD_OPTIONAL, MEMBER(launch_spec, time_limit), 0, 0, NULL},
    {"signal", FIELD_OBJECT | FIELD_OPTIONAL, MEMBER(launch_spec, warning), 0, 0, &record_of_warning},
    {"checkpoint_signal", FIELD_I32 | FIELD_OPTIONAL, MEMBER(launch_spec, checkpoint_signal), 1, SIGNAL_NUMBER_MAX, NULL},
    {"progress", FIELD_OBJECT | FIELD_OPTIONAL, MEMBER(launch_spec, progress), 0, 0, &record_of_progress},
    {"sample_s", FIELD_SECONDS | FIELD_OPTIONAL, MEMBER(launch_spec, sample), 0, 0, NULL},
    {"lease_s", FIELD_SECONDS | FIELD_OPTIONAL, MEMBER(launch_spec, lease), 0, 0, NULL},
    {"await_lease", FIELD_FLAG | FIELD_OPTIONAL, MEMBER(launch_spec, await_lease), 0, 0, NULL},
    {"start_within_s", FIELD_SECONDS | FIELD_OPTIONAL, MEMBER(launch_spec, start_within), 0, 0, NULL},
    {"linger_s", FIELD_SECONDS | FIELD_OPTIONAL, MEMBER(launch_spec, linger), 0, 0, NULL},
    {"kill_wait_s", FIELD_SECONDS | FIELD_OPTIONAL, MEMBER(launch_spec, patience), 0, 0, NULL},
    {"malleable", FIELD_OBJECT | FIELD_OPTIONAL, MEMBER(launch_spec, malleable), 0, 0, &record_of_malleable},
    {"job_files", FIELD_TEXT | FIELD_OPTIONAL, MEMBER(launch_spec, job_files), 1, 0, NULL},
    {"hosts", FIELD_TEXT | FIELD_OPTIONAL, MEMBER(launch_spec, hosts), 0, 0, NULL},
    {"pty", FIELD_WORD | FIELD_OPTIONAL, MEMBER(launch_spec, pty), 0, 0, PTY_WORDS},
    {"lines", FIELD_PATH | FIELD_OPTIONAL, MEMBER(launch_spec, lines), 0, 0, NULL},
    {"wait_children", FIELD_FLAG | FIELD_OPTIONAL, MEMBER(launch_spec, wait_children), 0, 0, NULL},
    {"echo", FIELD_FLAG | FIELD_OPTIONAL, MEMBER(launch_spec, echo), 0, 0, NULL},
    {"exit_copy", FIELD_PATH | FIELD_OPTIONAL, MEMBER(launch_spec, exit_copy), 0, 0, NULL},
    {"inherit", FIELD_FLAG | FIELD_OPTIONAL, MEMBER(launch_spec, inherit), 0, 0, NULL},
    {0},
};
/* clang-format on */

static const struct launch_spec defaults = {
    .log_max_bytes = 100LL << 20,
    .log_keep = 3,
    .grace = 60 * USEC_PER_SEC,
    .time_limit = USEC_NEVER,
    .warning = WARNING_DEFAULTS,
    .checkpoint_signal = SIGTERM,
    .sample = USEC_PER_SEC,
    .linger = 600 * USEC_PER_SEC,
    .patience = 60 * USEC_PER_SEC,
    .pty = PTY_NO, /* servers of earlier versions expect it */
};

const struct record launch_spec_record = {members, sizeof(struct launch_spec), &defaults};

void launch_spec_init(struct launch_spec *s)
{
    *s = defaults;
}

/* ---- its environment ------------------------------------------------------------ */

/* Index of the variable whose name has n bytes, or of the end of the list. */
static size_t find_variable(const struct launch_spec *s, const char *name, size_t n)
{
    size_t i = 0;
    while (s->env && s->env[i] && (strncmp(s->env[i], name, n) != 0 || s->env[i][n] != '='))
        i++;
    return i;
}

const char *launch_spec_get(const struct launch_spec *s, const char *name)
{
    size_t n = strlen(name), i = find_variable(s, name, n);
    return s->env && s->env[i] ? s->env[i] + n + 1 : NULL;
}

/* Makes room for n variables; doubles the array. */
static void make_room(struct launch_spec *s, struct arena *a, size_t n)
{
    enum { ROOM = 32 };
    size_t room = n + 1 > ROOM ? 2 * n : ROOM;
    const char **env = ARENA_ARRAY(a, room, const char *);
    for (size_t i = 0; s->env && s->env[i]; i++)
        env[i] = s->env[i];
    s->env = env;
    s->env_room = room;
}

void launch_spec_put(struct launch_spec *s, struct arena *a, const char *line)
{
    size_t i = find_variable(s, line, strcspn(line, "="));
    if (!s->env || (!s->env[i] && i + 2 > s->env_room))
        make_room(s, a, i + 1);
    s->env[i] = arena_strdup(a, line);
}

void launch_spec_set(struct launch_spec *s, struct arena *a, const char *name, const char *fmt, ...)
{
    struct str line = {0};
    va_list args;
    str_addf(&line, "%s=", name);
    va_start(args, fmt);
    str_addv(&line, fmt, args);
    va_end(args);
    launch_spec_put(s, a, line.at);
    str_done(&line);
}

/* ---- reading --------------------------------------------------------------------- */

static int check(const struct launch_spec *s, struct err *err)
{
    if (!s->command[0] || !*s->command[0])
        return err_set(err, ERR_INVALID, "command must be a list that begins with a program");
    for (size_t i = 0; i < s->cgroups.n; i++)
        if (strchr(s->cgroups.at[i].procs, '/'))
            return err_set(err, ERR_INVALID, "cgroup[%zu]: procs must be the name of a file", i);
    if (s->job_files && (strchr(s->job_files, '/') || s->job_files[0] == '.'))
        return err_set(err, ERR_INVALID, "job_files must be the name of a directory");
    return 0;
}

int launch_spec_parse(const char *text, size_t n, struct arena *a, struct launch_spec *out,
                      struct str *unknown, struct err *err)
{
    json_error_t where;
    struct launch_spec s;
    json_t *object = json_loadb(text, n, JSON_REJECT_DUPLICATES, &where);
    if (!object)
        return err_set(err, ERR_INVALID, "spec.json: line %d, column %d: %s", where.line,
                       where.column, where.text);
    int rc = record_decode(&launch_spec_record, object, a, &s, err);
    if (rc == 0)
        rc = check(&s, err);
    if (rc == 0) {
        record_name_unknown(&launch_spec_record, object, unknown);
        *out = s;
    } else {
        err_prefix(err, "spec.json");
    }
    json_decref(object);
    return rc;
}

int launch_spec_read(int dir, struct arena *a, struct launch_spec *out, struct str *unknown,
                     struct err *err)
{
    AUTO_CLOSE int fd = fd_open_regular(dir, "spec.json", O_RDONLY, 0);
    struct stat st;
    bool other = fd < 0 && fd_is_not_regular(errno);
    if (!other && (fd < 0 || fstat(fd, &st) < 0))
        return err_set(err, ERR_IO, "cannot read spec.json: %s", strerror(errno));
    if (other || st.st_size > LAUNCH_SPEC_MAX_BYTES)
        return err_set(err, ERR_INVALID, "spec.json is not a regular file, or exceeds %d bytes",
                       LAUNCH_SPEC_MAX_BYTES);
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
    return launch_spec_parse(text, n, a, out, unknown, err);
}

int launch_spec_drop_env(int dir, const struct launch_spec *spec)
{
    static const char part[] = "spec.part";
    static const char *none[] = {NULL};
    struct launch_spec without = *spec;
    struct str text = {0};
    without.env = none;
    record_encode(&launch_spec_record, &without, &text);
    AUTO_CLOSE int fd = openat(dir, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ssize_t written = fd < 0 ? -1 : write(fd, text.at, text.n);
    bool whole = written == (ssize_t)text.n;
    int why = whole ? 0 : written < 0 ? errno : ENOSPC;
    if (whole && renameat(dir, part, dir, "spec.json") < 0)
        why = errno;
    if (why && fd >= 0)
        unlinkat(dir, part, 0);
    str_done(&text);
    return why;
}
