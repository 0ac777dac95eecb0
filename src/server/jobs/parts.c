/* Owns how many threads or workers a job has at its size. A job with CPUs of its own has one
 * thread per CPU. If CPUs are shared by weight, the threads of all jobs on a node are divided
 * together. */
#include "server/jobs/parts.h"

#include "server/turn.h"
#include "server/yard.h"

int64_t parts_of(const struct live_job *j, const struct attempt *a)
{
    if (spec_has_launcher(j->terms.resize))
        return terms_workers(&j->terms, a->pool == POOL_CPU ? a->cpus : a->gpus);
    bool shared = a->share && a->share != a->cpus;
    if (shared && a->parts)
        return a->parts;
    units_t n = shared ? a->share : a->cpus;
    return n > UNIT ? n / UNIT : 1;
}

struct sharer {
    struct attempt *a;
    int64_t most; /* threads that it may have */
    int64_t threads;
};

/* The job that is furthest below its share; NULL if all have their maximum. */
static struct sharer *neediest(struct sharer *s, size_t n)
{
    struct sharer *found = NULL;
    units_t lack = 0;
    for (size_t i = 0; i < n; i++) {
        units_t l = s[i].a->share - s[i].threads * UNIT;
        if (s[i].threads < s[i].most && l > lack) {
            lack = l;
            found = &s[i];
        }
    }
    return found;
}

/* Divides whole threads by largest remainder: one per CPU in total, and at least one per job.
 * With more, threads of a job would wait for each other; with fewer, a CPU would be idle. */
static void divide_threads(struct yard *y, units_t cpus, struct sharer *s, size_t n)
{
    struct sharer *next;
    int64_t left = cpus / UNIT;
    for (size_t i = 0; i < n; i++) {
        s[i].threads = s[i].a->share > UNIT ? s[i].a->share / UNIT : 1;
        left -= s[i].threads;
    }
    for (; left > 0 && (next = neediest(s, n)); left--)
        next->threads++;
    for (size_t i = 0; i < n; i++) {
        if (s[i].a->parts == s[i].threads)
            continue;
        s[i].a->parts = (uint32_t)s[i].threads;
        turn_pursue(y, s[i].a);
    }
}

void parts_divide(struct yard *y, uint32_t node)
{
    const struct engine *e = &y->engine;
    const struct node *n = &e->cluster.nodes[node];
    units_t cpus = n->cpus;
    VEC(struct sharer) on = {0};
    if (!e->config.combo.policy[AXIS_SHARE]->soft)
        return;
    for (size_t i = 0; i < n->tasks.n; i++) {
        const struct live_job *j = yard_job_of_task(y, n->tasks.at[i]);
        struct attempt *a = j ? j->attempt : NULL;
        if (!a || !task_running(&e->tasks[n->tasks.at[i]]))
            continue;
        if (a->pool == POOL_CPU)
            VEC_PUSH(&on, (struct sharer){a, j->terms.cpus_max / UNIT, 0});
        else
            cpus -= a->cpus;
    }
    divide_threads(y, cpus, on.at, on.n);
    VEC_DONE(&on);
}
