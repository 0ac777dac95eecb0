/* How far estimates of the time left are off, at 10, 25, 50 and 75 % of a job's steps, and how many
 * ends are inside the band. The jobs are those of the Pollux and ElasticFlow traces, with the speed
 * curves of their profiles; the estimator is that of the live server (model/speed_fit.h).
 *
 * A job makes 1000 steps. It changes its size after 5 % of them. Step times vary by 10 %, the
 * first ten are three times as long, one in a hundred stalls for ten steps, a validation
 * takes as long as ten steps after every tenth of the job, and a third of the jobs have a
 * foreign load for a tenth of their time, which makes them half as slow again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "model/speed_fit.h"
#include "sim/nodes.h"
#include "sim/trace/trace.h"

enum { STEPS = 1000, MARKS = 4 };
static const double marks[MARKS] = {0.1, 0.25, 0.5, 0.75};

struct errors {
    double *at[MARKS];
    uint32_t n, inside[MARKS];
};

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The time of one step on a curve, with all that happens to it. */
static double step_time(struct rng *r, double ideal, int step, int load_from)
{
    double t = ideal * exp(0.1 * rng_normal(r));
    if (step < 10)
        t *= 3;
    if (rng_uniform(r) < 0.01)
        t += 10 * ideal;
    if (step % (STEPS / 10) == STEPS / 10 - 1)
        t += 10 * ideal;
    if (step >= load_from && step < load_from + STEPS / 10)
        t *= 1.5;
    return t;
}

/* A size that the job can have, drawn at random. */
static units_t draw_size(struct rng *r, const struct job *j, const struct speed *speed)
{
    units_t most = j->max < 16 * UNIT ? j->max : 16 * UNIT;
    units_t n = speed_floor(speed, (1 + (units_t)(rng_uniform(r) * (double)most / UNIT)) * UNIT);
    return n > j->min ? n : j->min;
}

static void run_job(struct rng *r, const struct job *j, struct errors *e)
{
    const struct speed *speed = job_speed(j, j->pool == POOL_ANY_GPU ? POOL_GPU : j->pool);
    units_t first = draw_size(r, j, speed), n = draw_size(r, j, speed);
    int load_from = rng_uniform(r) < 1.0 / 3 ? (int)(rng_uniform(r) * STEPS) : 2 * STEPS;
    struct range expected[MARKS] = {{0}};
    double at[MARKS] = {0}, now = 0;
    struct speed_seen seen;
    speed_seen_init(&seen, (usec_t)1800 * USEC_PER_SEC);
    for (int i = 0, mark = 0; i < STEPS; i++) {
        units_t size = i < STEPS / 20 ? first : n;
        double t = step_time(r, j->work / STEPS / speed_at(speed, size), i, load_from);
        now += t;
        speed_seen_add(&seen, (usec_t)now, size, t);
        if (mark == MARKS || i + 1 < marks[mark] * STEPS)
            continue;
        struct range one;
        struct speed_fit fit;
        speed_fit(&seen, (usec_t)now, NULL, &fit);
        if (!speed_seen_step(&seen, (usec_t)now, n, &one))
            one = speed_fit_step(&fit, n);
        double left = STEPS - i - 1;
        expected[mark] = speed_seen_rest(&seen, &one, left);
        at[mark++] = now;
    }
    for (int m = 0; m < MARKS; m++) {
        double left = now - at[m];
        e->at[m][e->n] = fabs(expected[m].mid - left) / left;
        e->inside[m] += expected[m].low <= left && left <= expected[m].high;
    }
    e->n++;
}

static int measure(const char *name, const char *path, const char *nodes, const char *profiles)
{
    struct arena arena = {0};
    struct cluster cluster;
    struct trace trace;
    struct err err;
    struct errors e = {0};
    struct rng r;
    rng_init(&r, 1);
    if (nodes_parse(nodes, &arena, &cluster, &err) < 0)
        return fprintf(stderr, "%s\n", err.text), 1;
    struct trace_options o = {.profiles = profiles, .cluster = &cluster};
    if (trace_read(path, &o, &trace, &err) < 0)
        return fprintf(stderr, "%s\n", err.text), 1;
    for (int m = 0; m < MARKS; m++)
        e.at[m] = xcalloc(trace.n, sizeof **e.at);
    for (uint32_t i = 0; i < trace.n; i++)
        run_job(&r, &trace.jobs[i], &e);
    printf("%-20s %5u", name, e.n);
    for (int m = 0; m < MARKS; m++) {
        qsort(e.at[m], e.n, sizeof **e.at, compare_doubles);
        printf("   %4.1f %% %4.1f %% %3.0f %%", 100 * e.at[m][e.n / 2], 100 * e.at[m][e.n * 9 / 10],
               100.0 * e.inside[m] / e.n);
        free(e.at[m]);
    }
    printf("\n");
    trace_done(&trace);
    arena_done(&arena);
    return 0;
}

int main(void)
{
    int bad = 0;
    printf("Time left: median error, 90th percentile of it, ends inside the band\n");
    printf("%-20s %5s   %-19s   %-19s   %-19s   %-19s\n", "trace", "jobs", "at 10 %", "at 25 %",
           "at 50 %", "at 75 %");
    bad |= measure("Pollux 1", "data/pollux/workload-1.csv", "16x4", "data/pollux/profiles");
    bad |= measure("Pollux 4", "data/pollux/workload-4.csv", "16x4", "data/pollux/profiles");
    bad |= measure("ElasticFlow", "data/elasticflow/elasticVpollux_e.csv", "16x4:t4",
                   "data/elasticflow/throughputs.csv");
    bad |= measure("ElasticFlow Philly", "data/elasticflow/philly_103959.csv", "16x8:a100",
                   "data/elasticflow/throughputs.csv");
    return bad;
}
