/* Owns what an attempt finds when it starts: its directory, its script, spec.json
 * with the environment of the job. Nothing here needs to survive a crash of the
 * machine: an attempt without a claim is given up and the job starts anew. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "server/conductors.h"
#include "server/jobs/attempts.h"
#include "server/jobs/elastic.h"
#include "server/jobs/parts.h"
#include "store/jobs.h"

static int make_dirs(const char *path, struct err *err)
{
    AUTO_FREE char *copy = xstrdup(path);
    for (char *p = copy + 1;; p++) {
        if (*p && *p != '/')
            continue;
        char end = *p;
        *p = '\0';
        if (mkdir(copy, 0700) < 0 && errno != EEXIST)
            return err_set(err, ERR_IO, "cannot create %s: %s", copy, strerror(errno));
        if (!end)
            return 0;
        *p = end;
    }
}

/* The file appears whole, or not at all. */
static int write_file(const char *path, const char *text, mode_t mode, struct err *err)
{
    struct str tmp = {0};
    str_addf(&tmp, "%s.new", path);
    AUTO_FREE char *name = tmp.at;
    AUTO_CLOSE int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    size_t n = strlen(text);
    if (fd < 0 || write(fd, text, n) != (ssize_t)n || rename(name, path) < 0)
        return err_set(err, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    return 0;
}

static void set(json_t *env, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void set(json_t *env, const char *key, const char *fmt, ...)
{
    struct str text = {0};
    va_list args;
    va_start(args, fmt);
    str_addv(&text, fmt, args);
    va_end(args);
    json_object_set_new(env, key, json_string(text.at));
    str_done(&text);
}

static void set_default(json_t *env, const char *key, const char *value)
{
    if (value && !json_object_get(env, key))
        json_object_set_new(env, key, json_string(value));
}

/* GPUs by their UUIDs, as the runtime chose them. */
static void set_gpus(json_t *env, const json_t *uuids)
{
    struct str list = {0};
    size_t i;
    json_t *uuid;
    json_array_foreach(uuids, i, uuid)
        str_addf(&list, "%s%s", i ? "," : "", json_string_value(uuid));
    if (list.n)
        set(env, "CUDA_VISIBLE_DEVICES", "%s", list.at);
    str_done(&list);
}

static json_t *make_env(const struct live_job *j, const struct attempt *a, const struct spec *s,
                        const char *checkpoints)
{
    json_t *env = json_object();
    for (uint32_t i = 0; i < s->env.n; i++) {
        const char *equals = strchr(s->env.at[i], '=');
        if (equals)
            json_object_setn_new(env, s->env.at[i], (size_t)(equals - s->env.at[i]),
                                 json_string(equals + 1));
    }
    set_default(env, "PATH", getenv("PATH"));
    set_default(env, "HOME", getenv("HOME"));
    set(env, "TRAINYARD_JOB_ID", "%lld", (long long)a->job);
    set(env, "TRAINYARD_JOB_NAME", "%s", j->row.name);
    set(env, "TRAINYARD_ATTEMPT", "%u", a->n);
    set(env, "TRAINYARD_CPUS", "%g", (double)a->cpus / UNIT);
    set(env, "TRAINYARD_GPUS", "%g", (double)a->gpus / UNIT);
    set(env, "TRAINYARD_NODES", "1");
    set(env, "TRAINYARD_NODE_RANK", "0");
    set(env, "TRAINYARD_MASTER_ADDR", "127.0.0.1");
    set(env, "TRAINYARD_CHECKPOINT_DIR", "%s", checkpoints);
    set(env, "TRAINYARD_PROGRESS", "%s/progress", a->dir);
    if (j->row.array) {
        set(env, "TRAINYARD_ARRAY_JOB", "%lld", (long long)j->row.array);
        set(env, "TRAINYARD_ARRAY_INDEX", "%lld", (long long)j->row.array_index);
        set(env, "SLURM_ARRAY_TASK_ID", "%lld", (long long)j->row.array_index);
    }
    if (!json_object_get(env, "OMP_NUM_THREADS"))
        set(env, "OMP_NUM_THREADS", "%lld", (long long)parts_of(j, a));
    return env;
}

static void set_limits(json_t *o, const struct live_job *j, const struct spec *s)
{
    const struct terms *t = &j->terms;
    json_object_set_new(o, "grace_s", json_real(time_seconds(t->grace)));
    json_object_set_new(o, "checkpoint_signal", json_integer(t->checkpoint_signal));
    if (t->time_limit) {
        usec_t left = t->time_limit - j->row.run_time;
        json_object_set_new(o, "time_limit_s", json_real(time_seconds(left > 0 ? left : 1)));
    }
    if (t->signal)
        json_object_set_new(o, "signal",
                            json_pack("{s:i, s:f}", "number", t->signal, "before_s",
                                      time_seconds(t->signal_before)));
    json_t *progress = json_object();
    if (s->pattern)
        json_object_set_new(progress, "pattern", json_string(s->pattern));
    if (s->total > 0)
        json_object_set_new(progress, "total", json_integer((json_int_t)s->total));
    json_object_set_new(o, "progress", progress);
}

static json_t *make_command(const struct attempt *a, const struct spec *s, struct err *err)
{
    struct str path = {0};
    str_addf(&path, "%s/script", a->dir);
    AUTO_FREE char *script = path.at;
    if (s->script && write_file(script, s->script, 0700, err) < 0)
        return NULL;
    struct arena arena = {0};
    struct spec_list words = spec_words(s, script, &arena);
    json_t *list = json_array();
    for (uint32_t i = 0; i < words.n; i++)
        json_array_append_new(list, json_string(words.at[i]));
    arena_done(&arena);
    return list;
}

static const char *work_dir(const struct spec *s)
{
    const char *home = getenv("HOME");
    return s->workdir ? s->workdir : home && *home == '/' ? home : "/";
}

static int write_spec(struct yard *y, const struct live_job *j, struct attempt *a,
                      const struct spec *s, json_t *o, struct err *err)
{
    struct str dir = {0}, file = {0};
    str_addf(&dir, "%s/jobs/%lld/checkpoint", y->config.state_dir, (long long)a->job);
    str_addf(&file, "%s/spec.json", a->dir);
    AUTO_FREE char *own = dir.at, *path = file.at;
    const char *checkpoints = s->checkpoint_dir ? s->checkpoint_dir : own;
    json_t *command = make_command(a, s, err);
    if (!command || make_dirs(checkpoints, err) < 0) {
        json_decref(command);
        return -1;
    }
    json_t *env = make_env(j, a, s, checkpoints);
    set_gpus(env, json_object_get(o, "gpus"));
    json_object_set_new(o, "command", command);
    json_object_set_new(o, "env", env);
    json_object_set_new(o, "workdir", json_string(work_dir(s)));
    set_limits(o, j, s);
    if (elastic_set_up(j, a, s, o, err) < 0)
        return -1;
    AUTO_FREE char *text = json_dumps(o, JSON_INDENT(1));
    return write_file(path, text, 0600, err);
}

int attempt_launch(struct yard *y, struct attempt *a, struct err *err)
{
    const struct live_job *j = yard_live(y, a->job);
    struct runtime_attempt r = attempt_to_runtime(y, a);
    const struct spec *s = &j->submission->spec;
    json_t *o =
        json_pack("{s:I, s:i, s:s, s:s, s:s, s:f, s:I, s:i, s:f}", "job", (json_int_t)a->job,
                  "attempt", a->n, "name", j->row.name, "socket", conductors_path(y->conductors),
                  "token", a->token, "cpus", (double)a->cpus / UNIT, "log_max_bytes",
                  (json_int_t)ATTEMPT_LOG_MAX, "log_keep", ATTEMPT_LOG_KEEP, "sample_s", 1.0);
    int rc = make_dirs(a->dir, err);
    if (rc == 0)
        rc = y->config.runtime->prepare(y->runtime, &r, o, err);
    if (rc == 0)
        rc = write_spec(y, j, a, s, o, err);
    if (rc == 0)
        rc = y->config.runtime->spawn(y->runtime, a->dir, &a->pid, err);
    a->set_cpus = a->cpus;
    json_decref(o);
    return rc;
}
