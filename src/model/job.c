/* Owns what a valid job is. */
#include "model/job.h"

#include <math.h>
#include <string.h>

static const struct speed linear = {NULL, NULL, 0, true};

const struct speed *job_speed(const struct job *j, unsigned pool)
{
    return &j->speeds[j->nspeeds == 1 ? 0 : pool < j->nspeeds ? pool : 0];
}

static struct speed copy_speed(const struct speed *s, struct arena *a)
{
    struct speed copy = *s;
    size_t n = (size_t)s->len + 1;
    if (s->at)
        copy.at = memcpy(arena_raw(a, n * sizeof *s->at), s->at, n * sizeof *s->at);
    if (s->next)
        copy.next = memcpy(arena_raw(a, n * sizeof *s->next), s->next, n * sizeof *s->next);
    return copy;
}

struct job *job_copy(const struct job *j, struct arena *a)
{
    struct job *copy = ARENA_NEW(a, struct job);
    struct speed *speeds = ARENA_ARRAY(a, j->nspeeds, struct speed);
    for (uint8_t i = 0; i < j->nspeeds; i++)
        speeds[i] = copy_speed(&j->speeds[i], a);
    *copy = *j;
    copy->speeds = speeds;
    copy->name = j->name ? arena_strdup(a, j->name) : NULL;
    copy->group = j->group ? arena_strdup(a, j->group) : NULL;
    return copy;
}

static void fill_defaults(struct job *j)
{
    if (!j->speeds) {
        j->speeds = &linear;
        j->nspeeds = 1;
    }
    if (!j->req)
        j->req = j->min ? j->min : UNIT;
    if (!j->min)
        j->min = j->req;
    if (!j->max)
        j->max = j->req > j->min ? j->req : j->min;
    if (j->min == j->max)
        j->kind = JOB_RIGID;
    else if (j->kind == JOB_RIGID)
        j->min = j->max = j->req;
    if (j->weight == 0)
        j->weight = 1;
    if (!j->deadline)
        j->deadline = USEC_NEVER;
}

static bool time_is_valid(usec_t t)
{
    return t >= 0 && t <= USEC_LIMIT;
}

static int check_units(const struct job *j, struct err *err)
{
    if (j->max > UNITS_MAX || j->req > UNITS_MAX)
        return err_set(err, ERR_INVALID, "more than a million units");
    if (j->min > j->max)
        return err_set(err, ERR_INVALID, "min %g is above max %g", (double)j->min / UNIT,
                       (double)j->max / UNIT);
    if (j->req < j->min || j->req > j->max)
        return err_set(err, ERR_INVALID, "req %g is not between min %g and max %g",
                       (double)j->req / UNIT, (double)j->min / UNIT, (double)j->max / UNIT);
    if (j->pool != POOL_CPU && (j->req % UNIT || j->min % UNIT || j->max % UNIT))
        return err_set(err, ERR_INVALID, "a number of GPUs must be a whole number");
    if (j->cpus < 0 || j->cpus > UNITS_MAX)
        return err_set(err, ERR_INVALID, "CPUs per GPU must be from 0 to a million");
    return 0;
}

int job_normalise(struct job *j, struct err *err)
{
    const struct job_cost *c = &j->cost;
    if (j->req < 0 || j->min < 0 || j->max < 0)
        return err_set(err, ERR_INVALID, "units must not be negative");
    fill_defaults(j);
    if (check_units(j, err) < 0)
        return -1;
    if (!work_is_valid(j->work))
        return err_set(err, ERR_INVALID, "work must be a number of seconds from 0 to 1e12");
    if (!time_is_valid(j->submit))
        return err_set(err, ERR_INVALID, "submit time must be from 0 to 290 years");
    if (j->deadline != USEC_NEVER && !time_is_valid(j->deadline))
        return err_set(err, ERR_INVALID, "deadline must be from 0 to 290 years");
    if (!time_is_valid(c->restart) || !time_is_valid(c->resize) || !time_is_valid(c->move) ||
        !time_is_valid(c->checkpoint))
        return err_set(err, ERR_INVALID, "costs must be from 0 to 290 years");
    if (!(j->weight > 0) || !isfinite(j->weight))
        return err_set(err, ERR_INVALID, "weight must be a positive number");
    if (j->memory_mb < 0)
        return err_set(err, ERR_INVALID, "memory must not be negative");
    if (j->no_restart && (!j->can_pause || j->pool != POOL_CPU || !j->whole))
        return err_set(err, ERR_INVALID,
                       "only a job on the CPUs of one node can be frozen for as long as it takes");
    if (j->worker < 0 || (j->worker && (j->whole || j->min % j->worker || j->max % j->worker)))
        return err_set(err, ERR_INVALID,
                       "a job of workers may be on several nodes, and has whole workers only");
    if ((j->apart || j->nodes) && !j->worker)
        return err_set(err, ERR_INVALID, "only a job of workers has a number of nodes");
    if (j->can_pause && j->no_preempt)
        return err_set(err, ERR_INVALID,
                       "a job that is paused to make room cannot be one that is never preempted");
    return 0;
}
