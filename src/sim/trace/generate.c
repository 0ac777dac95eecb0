/* Owns the workload generator. Arrivals are Poisson, or Poisson modulated by a
 * two-state Markov chain (bursty); run times are log-normal. Each aspect of a
 * job draws from a stream of its own, so that adding deadlines, say, leaves
 * arrivals and sizes as they were. Arrival times are stretched at the end so
 * that the offered load is what was asked for, not only on average. */
#include "sim/trace/generate.h"

#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "sim/trace/workload.h"

struct generator {
    struct workload *w;
    struct trace *trace;
    struct rng arrivals, shapes, deadlines, losses;
    const struct speed *curves[WORKLOAD_CHOICES]; /* of the models in the mix */
    units_t min, max;
    double offered; /* unit-microseconds so far */
    bool in_burst;
    double spell, spell_left; /* mean length of a burst; of this one; microseconds */
};

/* Units of the kind that the jobs take; `one` is the most that one job may. */
static units_t capacity(const struct cluster *c, bool cpu, units_t *one)
{
    units_t all = 0;
    *one = 0;
    if (cpu) {
        for (uint32_t i = 0; i < c->n; i++)
            *one = c->nodes[i].cpus > *one ? c->nodes[i].cpus : *one;
        return cluster_size(c, POOL_CPU, false);
    }
    for (unsigned pool = POOL_GPU; pool < cluster_pools(c); pool++) {
        units_t size = cluster_size(c, pool, false);
        *one = size > *one ? size : *one;
        all += size;
    }
    return all;
}

/* Leaves out of the default sizes those that no job could have. */
static void drop_sizes(struct workload_mix *m, units_t one)
{
    double kept = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->size[i] <= one) {
            m->size[n] = m->size[i];
            kept += m->share[n++] = m->share[i];
        }
    for (uint32_t i = 0; i < n; i++)
        m->share[i] /= kept;
    m->n = n ? n : m->n;
}

/* Sets the sizes that jobs may have. */
static int set_sizes(struct generator *g, units_t one, struct err *err)
{
    struct workload *w = g->w;
    if (!w->own_sizes)
        drop_sizes(&w->sizes, one);
    units_t low = w->sizes.size[0], high = 0;
    for (uint32_t i = 0; i < w->sizes.n; i++) {
        low = w->sizes.size[i] < low ? w->sizes.size[i] : low;
        high = w->sizes.size[i] > high ? w->sizes.size[i] : high;
    }
    if (high > one)
        return err_set(err, ERR_INVALID,
                       "generate: jobs of %g units, but one job can have at most %g on this "
                       "cluster; give smaller sizes=",
                       (double)high / UNIT, (double)one / UNIT);
    g->min = w->min ? w->min : low < UNIT ? low : UNIT;
    g->max = w->max ? w->max : high;
    if (w->kind != JOB_RIGID && (low < g->min || high > g->max))
        return err_set(err, ERR_INVALID, "generate: sizes from %g to %g, but min %g and max %g",
                       (double)low / UNIT, (double)high / UNIT, (double)g->min / UNIT,
                       (double)g->max / UNIT);
    return 0;
}

static void build_curves(struct generator *g)
{
    uint32_t n = (uint32_t)((g->max + UNIT - 1) / UNIT);
    for (uint32_t i = 0; i < g->w->models.n; i++) {
        const struct workload_model *m = &workload_models[g->w->models.size[i]];
        struct speed *curve = ARENA_NEW(&g->trace->arena, struct speed);
        double *speeds = ARENA_ARRAY(&g->trace->arena, n, double);
        double four = m->fixed + m->parallel / 4;
        for (uint32_t k = 1; k <= n; k++)
            speeds[k - 1] =
                k <= 4 ? m->speed[k - 1] : m->speed[3] * four / (m->fixed + m->parallel / k);
        *curve = speed_table(&g->trace->arena, speeds, n);
        g->curves[i] = curve;
    }
}

static uint32_t draw_choice(struct rng *r, const struct workload_mix *m)
{
    double x = rng_uniform(r);
    uint32_t i = 0;
    while (i + 1 < m->n && x >= m->share[i])
        x -= m->share[i++];
    return i;
}

/* Microseconds to the next arrival when they come `mean` apart on average. */
static double draw_gap(struct generator *g, double mean)
{
    const struct workload *w = g->w;
    double calm = 1 / (1 - w->busy + w->busy * w->burst), gap = 0;
    if (!w->bursty)
        return rng_exponential(&g->arrivals, mean);
    for (;;) {
        double rate = g->in_burst ? calm * w->burst : calm;
        double next = rng_exponential(&g->arrivals, mean / rate);
        if (next <= g->spell_left) {
            g->spell_left -= next;
            return gap + next;
        }
        /* Exponential gaps have no memory: what was drawn past the change of
         * state is drawn again at the new rate. */
        gap += g->spell_left;
        g->in_burst = !g->in_burst;
        double spell = g->spell * (g->in_burst ? 1 : (1 - w->busy) / w->busy);
        g->spell_left = rng_exponential(&g->arrivals, spell);
    }
}

static double draw_run_time(struct generator *g)
{
    const struct workload *w = g->w;
    double mean = (double)w->mean, most = 1000 * mean;
    double t = mean * exp(w->sigma * rng_normal(&g->shapes) - w->sigma * w->sigma / 2);
    t = t < most ? t : most;
    return round(t > USEC_PER_SEC ? t : (double)USEC_PER_SEC);
}

static void draw_job(struct generator *g, struct job *j)
{
    const struct workload *w = g->w;
    char name[16];
    snprintf(name, sizeof name, "%u", j->id + 1);
    j->name = arena_strdup(&g->trace->arena, name);
    j->pool = w->cpu ? POOL_CPU : POOL_ANY_GPU;
    j->whole = w->cpu;
    j->kind = w->kind;
    j->req = w->sizes.size[draw_choice(&g->shapes, &w->sizes)];
    j->min = w->kind == JOB_RIGID ? j->req : g->min;
    j->max = w->kind == JOB_RIGID ? j->req : g->max;
    double run = draw_run_time(g), speed = (double)j->req / UNIT;
    if (w->models.n) {
        uint32_t model = draw_choice(&g->shapes, &w->models);
        j->group = workload_models[w->models.size[model]].name;
        j->speeds = g->curves[model];
        j->nspeeds = 1;
        speed = speed_at(g->curves[model], j->req);
    }
    j->work = run * speed;
    g->offered += run * (double)j->req / UNIT;
    if (rng_uniform(&g->deadlines) < w->deadlines)
        j->deadline =
            llround(run * (w->slack[0] + rng_uniform(&g->deadlines) * (w->slack[1] - w->slack[0])));
    j->loss = w->loss;
    if (w->draw_loss)
        j->loss = (struct loss){LOSS_EXP, 3 + 9 * rng_uniform(&g->losses), 0, 0};
}

/* Stretches the arrivals to the load; deadlines were relative until here. */
static int place_in_time(struct generator *g, double units, struct err *err)
{
    struct trace *t = g->trace;
    double span = g->offered / (g->w->load * units), last = (double)t->jobs[t->n - 1].submit;
    if (!(span < (double)USEC_LIMIT / 2))
        return err_set(err, ERR_INVALID,
                       "generate: at this load the jobs would take more than a century");
    for (uint32_t i = 0; i < t->n; i++) {
        struct job *j = &t->jobs[i];
        j->submit = last > 0 ? llround((double)j->submit * (span / last)) : 0;
        if (j->deadline != USEC_NEVER)
            j->deadline += j->submit;
        if (job_normalise(j, err) < 0)
            return err_prefix(err, "generate: job '%s'", j->name);
    }
    return 0;
}

/* Mean time between arrivals for the load that was asked for. */
static int find_gap(struct generator *g, double units, double *out, struct err *err)
{
    const struct workload *w = g->w;
    double size = 0;
    for (uint32_t i = 0; i < w->sizes.n; i++)
        size += w->sizes.share[i] * (double)w->sizes.size[i] / UNIT;
    double gap = size * (double)w->mean / (w->load * units);
    if (gap * (double)w->jobs > (double)USEC_LIMIT / 4)
        return err_set(err, ERR_INVALID,
                       "generate: at this load the jobs would take more than a century");
    /* Else most of the time would go into drawing spells without a job. */
    if (w->spell && (double)w->spell < gap)
        return err_set(err, ERR_INVALID,
                       "generate: spell is shorter than the mean gap of %gs between jobs",
                       gap / USEC_PER_SEC);
    g->spell = w->spell ? (double)w->spell : 10 * gap;
    *out = gap;
    return 0;
}

static int generate(struct generator *g, const struct trace_options *o, struct err *err)
{
    struct trace *t = g->trace;
    units_t one, all = capacity(o->cluster, g->w->cpu, &one);
    double units = (double)all / UNIT, at = 0, gap = 0;
    if (all == 0)
        return err_set(err, ERR_INVALID, "generate: the cluster has no %s",
                       g->w->cpu ? "CPUs" : "GPUs");
    if (set_sizes(g, one, err) < 0 || find_gap(g, units, &gap, err) < 0)
        return -1;
    build_curves(g);
    t->jobs = ARENA_ARRAY(&t->arena, (size_t)g->w->jobs, struct job);
    for (; t->n < g->w->jobs; t->n++) {
        struct job *j = &t->jobs[t->n];
        *j = (struct job){
            .id = t->n, .weight = 1, .deadline = USEC_NEVER, .target = NAN, .cost = o->cost};
        at += draw_gap(g, gap);
        j->submit = llround(at);
        draw_job(g, j);
    }
    return place_in_time(g, units, err);
}

int trace_generate(const char *spec, uint64_t seed, const struct trace_options *options,
                   struct trace *out, struct err *err)
{
    struct workload w;
    struct trace t = {.format = "generated"};
    if (!options->cluster)
        return err_set(err, ERR_INVALID, "generate: a workload needs a cluster to be sized for");
    if (workload_parse(spec, &w, err) < 0)
        return -1;
    /* A burst that is just over: it begins calm. */
    struct generator g = {.w = &w, .trace = &t, .in_burst = true};
    struct rng *const streams[] = {&g.arrivals, &g.shapes, &g.deadlines, &g.losses};
    for (size_t i = 0; i < COUNT_OF(streams); i++)
        rng_init(streams[i], rng_mix(seed) + i);
    if (generate(&g, options, err) < 0) {
        arena_done(&t.arena);
        return -1;
    }
    for (unsigned i = 0; i < POOLS_MAX - 1 && options->cluster->gpu_types[i]; i++)
        t.gpu_types[i] = arena_strdup(&t.arena, options->cluster->gpu_types[i]);
    *out = t;
    return 0;
}
