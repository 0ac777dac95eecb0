/* Owns resizing a job that cannot change in place: its command is asked to save and exit, and is
 * started again with new variables. It remains the same attempt, with one claim, one log and one
 * time limit. */
#include "conductor/restart.h"

#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "conductor/conductor.h"
#include "conductor/job.h"

/* Copies what the next start needs, because the message is freed by then. */
static void keep_size(struct restart *r, const struct restart_message *m)
{
    arena_reset(&r->arena);
    r->cpuset = m->cpuset ? arena_strdup(&r->arena, m->cpuset) : NULL;
    size_t n = 0;
    while (m->env && m->env[n])
        n++;
    r->env = ARENA_ARRAY(&r->arena, n + 1, const char *);
    for (size_t i = 0; i < n; i++)
        r->env[i] = arena_strdup(&r->arena, m->env[i]);
}

int restart_ask(struct conductor *c, const struct restart_message *m, struct err *err)
{
    if (c->over || (c->life.stage != LIFE_RUNNING && !c->restart.wanted))
        return err_set(err, ERR_CONFLICT, "the job is ending");
    /* A restart in progress only gets the newer size. */
    bool going = c->restart.wanted;
    c->spec.cpus = m->cpus; /* so that a new server need not ask again */
    keep_size(&c->restart, m);
    if (going)
        return 0;
    c->restart.asked = clock_read_steady();
    job_stop(c, &m->stop, "resize");
    c->restart.wanted = !c->over;
    return 0;
}

/* The job reported its last step and exited with 0: it is complete. */
static bool is_complete(const struct conductor *c)
{
    const struct progress *p = progress_now(c->follow.reader);
    return WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0 && (p->has & PROGRESS_TOTAL) &&
           p->step >= p->total;
}

static void take_size(struct conductor *c)
{
    if (c->restart.cpuset)
        c->spec.cpuset = arena_strdup(&c->arena, c->restart.cpuset);
    for (const char **e = c->restart.env; *e; e++)
        launch_spec_put(&c->spec, &c->arena, *e);
}

/* As before the first start, except for its running time. */
static void begin_again(struct conductor *c)
{
    usec_t now = clock_read_steady(), ran = c->life.ran;
    if (c->life.since != USEC_NEVER)
        ran += now - c->life.since;
    struct life_rules rules = c->life.rules;
    life_init(&c->life, &rules);
    c->life.ran = ran;
    c->leader_ended = c->failed = false;
    c->status = 0;
    c->exit.stop[0] = '\0';
    c->groups.used = true;
    c->incarnation++;
}

bool restart_job(struct conductor *c)
{
    enum { LAST_READS = 64 };
    if (!c->restart.wanted || c->life.timed_out || c->life.stuck || is_complete(c))
        return false;
    if (c->output.fd >= 0)
        job_read_output(c, LAST_READS);
    loop_close(&c->loop, &c->output);
    loop_close(&c->loop, &c->report);
    job_report_progress(c, true);
    c->restart.wanted = false;
    take_size(c);
    logfile_note(&c->log, "starting again with %g CPUs", c->spec.cpus);
    begin_again(c);
    job_start(c);
    job_watch(c);
    return true;
}
