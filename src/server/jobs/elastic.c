/* Owns the set-up of elastic jobs.
 *
 * With threads, the job is one process with the malleable library, which limits its threads
 * to its CPUs. With workers, a launcher starts the job's program once per worker. Both read
 * the number from a page that the conductor creates for "malleable". */
#include "server/jobs/elastic.h"

#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "server/jobs/parts.h"
#include "server/jobs/rules.h"
#include "server/log.h"
#include "server/nodes.h"
#include "wire/spec.h"

static const char *tool(const struct yard *y, const struct attempt *a, enum runtime_tool which)
{
    const struct yard_runtime *r = nodes_runtime(y, a->node);
    return r->ops->tool(r->runtime, which);
}

static void set(const struct runtime_start *start, const char *name, int64_t value)
{
    launch_spec_set(start->spec, start->arena, name, "%lld", (long long)value);
}

/* Whether the request sets the variable. */
static bool has_variable(const struct live_job *j, const char *name)
{
    const struct spec *s = &j->submission->spec;
    size_t n = strlen(name);
    for (uint32_t i = 0; i < s->env.n; i++)
        if (!strncmp(s->env.at[i], name, n) && s->env.at[i][n] == '=')
            return true;
    return false;
}

/* Sets a variable with a number, unless the request does. */
static void set_default(const struct live_job *j, const struct runtime_start *start,
                        const char *name, int64_t value)
{
    if (!has_variable(j, name))
        set(start, name, value);
}

static void set_workers(const struct live_job *j, const struct attempt *a,
                        const struct runtime_start *start)
{
    int64_t workers = parts_of(j, a), cpus = a->cpus / UNIT / workers;
    set(start, "TRAINYARD_WORKERS", workers);
    set(start, "TRAINYARD_WORKERS_MIN", j->terms.workers_min);
    set(start, "TRAINYARD_WORKERS_MAX", j->terms.workers_max);
    set(start, "TRAINYARD_CPUS_PER_WORKER", cpus > 0 ? cpus : 1);
    set_default(j, start, "OMP_NUM_THREADS", cpus > 0 ? cpus : 1);
    start->spec->malleable.threads = workers;
}

static void set_notice(struct attempt *a, const char *text)
{
    free(a->notice);
    a->notice = xstrdup(text);
    log_warning("job=%lld attempt=%u %s", (long long)a->job, a->n, a->notice);
}

static void set_library_notice(struct attempt *a, const char *file, const char *why)
{
    struct str text = {0};
    str_addf(&text, "Its threads do not follow its CPUs: %s %s.", file, why);
    set_notice(a, text.at);
    str_done(&text);
}

/* Puts the launcher before the job's command. */
static void wrap_command(const char *launcher, const struct runtime_start *start)
{
    const char *const before[] = {"/usr/bin/env", "python3", launcher, "--"};
    size_t n = 0;
    while (start->spec->command[n])
        n++;
    const char **all = ARENA_ARRAY(start->arena, COUNT_OF(before) + n + 1, const char *);
    memcpy(all, before, sizeof before);
    memcpy(all + COUNT_OF(before), start->spec->command, n * sizeof *all);
    start->spec->command = all;
}

/* The largest size that the job can have on its node. */
static int64_t most_cpus(const struct yard *y, const struct live_job *j, const struct attempt *a)
{
    units_t here = y->cluster.nodes[a->node].cpus, asked = j->terms.asked_max;
    units_t most = here < asked ? here : asked;
    return most > UNIT ? (most + UNIT - 1) / UNIT : 1;
}

/* How often a thread of libgomp looks before it sleeps: what libgomp does where threads have to
 * share CPUs. It cannot know that here, because a program always sees the job's largest size. With
 * its usual 300,000, XGBoost with two threads on one CPU took eight times the CPU time. */
enum { SPIN_COUNT = 1000 };

/* The program starts with the most threads that the job may use; the library lowers them. */
static void set_threads(struct yard *y, const struct live_job *j, struct attempt *a,
                        const struct runtime_start *start)
{
    const char *library = tool(y, a, TOOL_MALLEABLE);
    int64_t most = most_cpus(y, j, a);
    if (!library) {
        set_library_notice(a, "libtrainyard-malleable.so", "is not installed next to trainyard");
        return;
    }
    bool here = nodes_runtime(y, a->node)->ops->in_place;
    if (here && access(library, R_OK) < 0) {
        set_library_notice(a, library, "does not exist");
        return;
    }
    if (strpbrk(library, ": ")) {
        set_library_notice(a, library, "must have a path without spaces and colons");
        return;
    }
    set_default(j, start, "OMP_NUM_THREADS", most);
    set_default(j, start, "GOMAXPROCS", most); /* Go asks the kernel, once */
    if (!has_variable(j, "OMP_WAIT_POLICY"))
        set_default(j, start, "GOMP_SPINCOUNT", SPIN_COUNT);
    start->spec->malleable = (struct launch_malleable){
        .threads = parts_of(j, a), .processors = most, .library = library};
}

int elastic_set_up(struct yard *y, const struct live_job *j, struct attempt *a,
                   const struct runtime_start *start, struct err *err)
{
    const struct terms *t = &j->terms;
    bool live = t->resize == SPEC_RESIZE_LIVE ||
                (t->resize == SPEC_RESIZE_AUTO && t->asked_min < t->asked_max);
    if (t->resize == SPEC_RESIZE_TORCHRUN) {
        const char *launcher = tool(y, a, TOOL_TORCHRUN);
        if (!launcher)
            return err_set(
                err, ERR_NOT_FOUND,
                "resize: torchrun needs trainyard_torchrun.py, which the server does not "
                "have; install it, or set TRAINYARD_TORCHRUN to its path");
        set_workers(j, a, start);
        wrap_command(launcher, start);
    } else if (t->resize == SPEC_RESIZE_HOROVOD) {
        const char *script = tool(y, a, TOOL_HOSTS);
        set_workers(j, a, start);
        if (script)
            launch_spec_set(start->spec, start->arena, "TRAINYARD_HOST_DISCOVERY", "%s", script);
    } else if (live && a->pool == POOL_CPU && j->submission->spec.workers.max == 1) {
        set_threads(y, j, a, start);
    }
    return 0;
}

void elastic_keep_size(struct yard *y, struct attempt *a, const char *misfit)
{
    struct live_job *j = yard_live(y, a->job);
    struct terms terms = j->terms;
    struct str text = {0};
    struct err err;
    if (terms.resize != SPEC_RESIZE_AUTO)
        return;
    terms.resize = SPEC_RESIZE_NONE;
    if (rules_apply_terms(y, j, &terms, j->row.priority, j->row.deadline, &err) < 0) {
        log_warning("job=%lld attempt=%u %s", (long long)a->job, a->n, err.text);
        return;
    }
    str_addf(&text,
             "It keeps its size while it runs: threads of %.60s wait for each other on fewer CPUs. "
             "`resize: live` changes it all the same.",
             misfit);
    set_notice(a, text.at);
    str_done(&text);
}
