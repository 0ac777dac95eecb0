/* Owns the translation of a request into the engine's job. */
#include "server/jobs/terms.h"

#include <math.h>
#include <signal.h>
#include <string.h>

/* A job with a deadline that names no size may have any: 0..0, until the machine is known. */
static bool is_open(const struct spec *s)
{
    return (s->deadline || s->deadline_at) && s->nodes.max == 1 && !s->cpus.max && !s->gpus.max &&
           (s->resize == SPEC_RESIZE_AUTO || s->resize == SPEC_RESIZE_LIVE);
}

static struct terms as_asked(const struct spec *s)
{
    bool gang = s->nodes.max > 1;
    units_t lo = gang ? s->nodes.min : s->workers.min, hi = gang ? s->nodes.max : s->workers.max;
    units_t one = is_open(s) ? 0 : UNIT;
    struct spec_span cpus = s->cpus.max ? s->cpus : (struct spec_span){one, one};
    return (struct terms){
        .cpus_min = cpus.min * lo,
        .cpus_max = cpus.max * hi,
        .asked_min = cpus.min * lo,
        .asked_max = cpus.max * hi,
        .gpus_min = s->gpus.min * lo,
        .gpus_max = s->gpus.max * hi,
        .pool = s->gpus.max ? POOL_ANY_GPU : POOL_CPU,
        .container = s->image != NULL,
        .gang = gang,
        .gpu_type = s->gpus.max ? s->gpu_type : NULL,
        .memory_mb = s->memory_mb,
        .resize = s->resize,
        .preempt = s->preempt,
        .resumes = s->checkpoint_dir || s->checkpoint_signal || s->resize >= SPEC_RESIZE_RESTART,
        .time_limit = s->time_limit,
        .signal = s->signal.number,
        .signal_before = s->signal.before,
        .checkpoint_signal = s->checkpoint_signal ? s->checkpoint_signal : SIGTERM,
        .grace = s->grace,
        .lease = s->lease,
        .weight = s->weight,
        .target = s->target,
        .retries = (uint32_t)s->retries,
        .backoff = s->backoff,
        .requeue = s->requeue,
        .array_limit = s->array.limit,
        .workers_min = (uint32_t)lo,
        .workers_max = (uint32_t)hi,
        .move_cost = TERMS_MOVE_COST,
        .resize_cost = s->resize >= SPEC_RESIZE_RESTART ? TERMS_RESIZE_COST : 0,
    };
}

int terms_from_spec(const struct spec *s, struct terms *out, struct err *err)
{
    struct terms t = as_asked(s);
    if (spec_has_launcher(t.resize) && (s->cpus.min % UNIT || s->cpus.min != s->cpus.max))
        return err_set(err, ERR_INVALID,
                       "cpus: workers need one whole number of CPUs each, such as 1 or 2");
    if (t.gang && !t.container)
        return err_set(err, ERR_INVALID,
                       "nodes: jobs on several nodes run in containers; give an image");
    *out = t;
    return 0;
}

/* Whether it consists of equal workers. */
static bool has_workers(const struct terms *t)
{
    return t->gang || spec_has_launcher(t->resize);
}

void terms_open(struct terms *t, units_t room)
{
    if (t->asked_max || t->pool != POOL_CPU)
        return;
    t->asked_min = UNIT;
    t->asked_max = room > UNIT ? room / UNIT * UNIT : UNIT;
    if (!t->cpus_max) {
        t->cpus_min = t->asked_min;
        t->cpus_max = t->asked_max;
    }
}

void terms_follow_row(struct terms *t, const struct job_row *row)
{
    t->cpus_min = row->cpus_min;
    t->cpus_max = row->cpus_max;
    t->time_limit = row->time_limit;
    t->resumes |= row->saves;
    if (row->move_cost)
        t->move_cost = row->move_cost;
    if (row->resize_cost)
        t->resize_cost = row->resize_cost;
}

void terms_to_row(const struct terms *t, struct job_row *row)
{
    row->cpus_min = t->cpus_min;
    row->cpus_max = t->cpus_max;
    row->gpus_min = t->gpus_min;
    row->gpus_max = t->gpus_max;
    row->memory_mb = t->memory_mb;
    row->time_limit = t->time_limit;
}

/* How the job makes room. One that would start again from nothing is not stopped: it is frozen
 * if it is on CPUs, and left alone on GPUs, whose memory cannot be freed. */
static void set_preemption(const struct terms *t, struct job *out)
{
    bool automatic = t->preempt == SPEC_PREEMPT_AUTO && !t->resumes;
    out->no_move = !t->resumes;
    out->no_restart = automatic && t->pool == POOL_CPU && !t->gang;
    out->can_pause = t->preempt == SPEC_PREEMPT_PAUSE || out->no_restart;
    out->no_preempt = t->preempt == SPEC_PREEMPT_NEVER || (automatic && !out->no_restart);
}

/* Whether the job can change its size while it runs: by threads, by the workers of a launcher,
 * or by a restart. */
static bool is_malleable(const struct terms *t)
{
    if (t->gang)
        return false;
    switch (t->resize) {
    case SPEC_RESIZE_NONE:
        return false;
    case SPEC_RESIZE_AUTO:
    case SPEC_RESIZE_LIVE:
        return t->pool == POOL_CPU;
    default:
        return true;
    }
}

uint32_t terms_workers(const struct terms *t, units_t units)
{
    units_t most = t->pool == POOL_CPU ? t->asked_max : t->gpus_max;
    units_t each = spec_has_launcher(t->resize) ? most / (units_t)t->workers_max : units;
    return each > 0 ? (uint32_t)(units / each) : 1;
}

static units_t largest(const struct terms *t)
{
    return t->pool == POOL_CPU ? t->asked_max : t->gpus_max;
}

/* Whole workers only. */
static struct speed worker_sizes(const struct terms *t, units_t most,
                                 const struct speed_fit *measured, struct arena *arena)
{
    uint32_t each = (uint32_t)(largest(t) / UNIT / (units_t)t->workers_max);
    uint32_t n = (uint32_t)(most / UNIT);
    double *speeds = ARENA_ARRAY(arena, n, double);
    for (uint32_t k = 1; k <= n; k++) {
        double speed = measured ? speed_fit_step(measured, UNIT).mid /
                                      speed_fit_step(measured, (units_t)k * UNIT).mid
                                : k;
        speeds[k - 1] = k % each ? NAN : speed;
    }
    return speed_table(arena, speeds, n);
}

/* NULL = speed is proportional to units. The length of a curve is bounded by the largest node,
 * because a request may ask for any number. */
static const struct speed *make_curve(const struct terms *t, units_t room,
                                      const struct speed_fit *measured, struct arena *arena)
{
    const struct speed_fit *fit = speed_fit_is_curve(measured) ? measured : NULL;
    units_t least = t->pool == POOL_CPU ? t->asked_min : t->gpus_min;
    units_t bound = t->gang ? room * (units_t)t->workers_max : room;
    units_t most = largest(t) < bound ? largest(t) : bound;
    struct speed curve;
    if (least > most)
        return NULL; /* no node can hold it */
    if (has_workers(t))
        curve = worker_sizes(t, most, fit, arena);
    else if (fit && most > UNIT)
        curve = speed_fit_curve(fit, arena, (uint32_t)((least + UNIT - 1) / UNIT),
                                (uint32_t)((most + UNIT - 1) / UNIT));
    else
        return NULL;
    struct speed *kept = ARENA_NEW(arena, struct speed);
    *kept = curve;
    return kept;
}

/* CPUs follow the GPUs: what was asked for goes with the most of them. A job that may shrink keeps
 * a whole CPU for each, if it asked for one at all. */
static units_t cpus_per_gpu(const struct terms *t)
{
    units_t each = t->cpus_max / (t->gpus_max / UNIT);
    bool shrinks = t->gpus_min < t->gpus_max && t->cpus_max >= UNIT;
    return shrinks && each < UNIT ? UNIT : each;
}

int terms_to_job(const struct terms *t, uint32_t id, const char *name, int32_t priority,
                 usec_t submit, usec_t deadline, units_t room, const struct speed_fit *measured,
                 struct arena *arena, struct job *out, struct err *err)
{
    bool gpu = t->pool != POOL_CPU;
    const struct speed *curve = make_curve(t, room, measured, arena);
    *out = (struct job){
        .id = id,
        .priority = priority,
        .name = name,
        .submit = submit,
        .kind = is_malleable(t) ? JOB_MALLEABLE : JOB_MOLDABLE,
        .pool = t->pool,
        .whole = !t->gang,
        .apart = t->gang,
        .worker = t->gang ? largest(t) / (units_t)t->workers_max : 0,
        .min = gpu ? t->gpus_min : t->cpus_min,
        .max = gpu ? t->gpus_max : t->cpus_max,
        .req = gpu ? t->gpus_max : t->cpus_max,
        .cpus = gpu ? cpus_per_gpu(t) : 0,
        .memory_mb = t->memory_mb,
        .weight = t->weight,
        .deadline = deadline,
        .work = TERMS_WORK_UNKNOWN,
        .target = t->target,
        .cost = {.restart = t->resize_cost, .resize = t->resize_cost, .move = t->move_cost},
        .speeds = curve,
        .nspeeds = curve ? 1 : 0,
    };
    set_preemption(t, out);
    out->devices.of[t->container ? DEVICE_CONTAINER : DEVICE_PROCESS] = 1;
    return job_normalise(out, err);
}
