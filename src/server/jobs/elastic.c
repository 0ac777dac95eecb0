/* Owns the set-up of elastic jobs.
 *
 * Threads in place: one process with the malleable library, told how many threads fit
 * its CPUs. Workers: our launcher starts the job's program once per worker, told how
 * many. Both are told by the page that the conductor makes for "malleable". */
#include "server/jobs/elastic.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "server/jobs/parts.h"
#include "server/log.h"

/* A file of ours, by its place from the program's directory: in the build tree, or
 * installed. NULL when it is in none of them. */
static char *find_file(const char *variable, const char *const *places)
{
    const char *given = getenv(variable);
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (given)
        return *given ? xstrdup(given) : NULL;
    for (size_t i = 0; n > 0 && places[i]; i++) {
        struct str path = {0};
        exe[n] = '\0';
        str_addf(&path, "%.*s/%s", (int)(strrchr(exe, '/') - exe), exe, places[i]);
        char *full = realpath(path.at, NULL);
        str_done(&path);
        if (full)
            return full;
    }
    return NULL;
}

static const char *const libraries[] = {"libtrainyard-malleable.so",
                                        "../lib/trainyard/libtrainyard-malleable.so", NULL};
static const char *const launchers[] = {"../python/trainyard_torchrun.py",
                                        "../share/trainyard/python/trainyard_torchrun.py", NULL};
static const char *const discoveries[] = {"../python/trainyard_hosts.py",
                                          "../share/trainyard/python/trainyard_hosts.py", NULL};

static void set(json_t *o, const char *key, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    json_object_set_new(json_object_get(o, "env"), key, json_string(text));
}

/* Whether the request itself says how many threads it wants. */
static bool sets_threads(const struct spec *s)
{
    for (uint32_t i = 0; i < s->env.n; i++)
        if (!strncmp(s->env.at[i], "OMP_NUM_THREADS=", strlen("OMP_NUM_THREADS=")))
            return true;
    return false;
}

static void set_workers(const struct live_job *j, const struct attempt *a, const struct spec *s,
                        json_t *o)
{
    int64_t workers = parts_of(j, a), cpus = a->cpus / UNIT / workers;
    set(o, "TRAINYARD_WORKERS", workers);
    set(o, "TRAINYARD_WORKERS_MIN", j->terms.workers_min);
    set(o, "TRAINYARD_WORKERS_MAX", j->terms.workers_max);
    set(o, "TRAINYARD_CPUS_PER_WORKER", cpus > 0 ? cpus : 1);
    if (!sets_threads(s))
        set(o, "OMP_NUM_THREADS", cpus > 0 ? cpus : 1);
    json_object_set_new(o, "malleable", json_pack("{s:I}", "threads", (json_int_t)workers));
}

/* Puts the launcher before the job's own words. */
static int wrap_command(json_t *o, struct err *err)
{
    AUTO_FREE char *launcher = find_file("TRAINYARD_TORCHRUN", launchers);
    json_t *words = json_object_get(o, "command"), *all = json_array();
    static const char *const before[] = {"/usr/bin/env", "python3"};
    if (!launcher) {
        json_decref(all);
        return err_set(err, ERR_NOT_FOUND,
                       "trainyard_torchrun.py is not installed beside trainyard, and resize: "
                       "torchrun needs it");
    }
    for (size_t i = 0; i < COUNT_OF(before); i++)
        json_array_append_new(all, json_string(before[i]));
    json_array_append_new(all, json_string(launcher));
    json_array_append_new(all, json_string("--"));
    json_array_extend(all, words);
    json_object_set_new(o, "command", all);
    return 0;
}

/* The library lowers the number of threads, from as many as the job may ever use. */
static void set_threads(const struct live_job *j, struct attempt *a, const struct spec *s,
                        json_t *o)
{
    AUTO_FREE char *library = find_file("TRAINYARD_MALLEABLE", libraries);
    int64_t most = j->terms.cpus_max / UNIT;
    bool there = library && access(library, R_OK) == 0;
    if (!there || strpbrk(library, ": ")) {
        struct str text = {0};
        str_addf(&text, "Its threads do not follow its CPUs: %s %s.",
                 library ? library : "libtrainyard-malleable.so",
                 !library ? "is not there beside trainyard"
                 : !there ? "is not there"
                          : "must be in a place without blanks and colons");
        free(a->notice);
        a->notice = text.at;
        log_warning("job=%lld attempt=%u %s", (long long)a->job, a->n, a->notice);
        return;
    }
    if (!sets_threads(s))
        set(o, "OMP_NUM_THREADS", most > 1 ? most : 1);
    json_object_set_new(
        o, "malleable",
        json_pack("{s:s, s:I}", "library", library, "threads", (json_int_t)parts_of(j, a)));
}

int elastic_set_up(const struct live_job *j, struct attempt *a, const struct spec *s, json_t *o,
                   struct err *err)
{
    const struct terms *t = &j->terms;
    if (t->resize == SPEC_RESIZE_TORCHRUN) {
        set_workers(j, a, s, o);
        return wrap_command(o, err);
    }
    if (t->resize == SPEC_RESIZE_HOROVOD) {
        AUTO_FREE char *script = find_file("TRAINYARD_HOSTS", discoveries);
        set_workers(j, a, s, o);
        if (script)
            json_object_set_new(json_object_get(o, "env"), "TRAINYARD_HOST_DISCOVERY",
                                json_string(script));
        return 0;
    }
    bool live = t->resize == SPEC_RESIZE_LIVE ||
                (t->resize == SPEC_RESIZE_AUTO && t->asked_min < t->asked_max);
    if (live && a->pool == POOL_CPU && s->workers.max == 1)
        set_threads(j, a, s, o);
    return 0;
}
