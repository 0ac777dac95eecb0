/* How long one decision takes: malleable jobs on nodes of 8 GPUs of one type or three, one job
 * ending and one arriving before each decision. CPU time of the decision alone.
 *
 *   decide [POLICY|all [JOBS]]   only this one, with so many jobs */
#include <stdio.h>
#include <time.h>

#include "base/rng.h"
#include "engine/engine.h"
#include "policy/combo.h"

enum { GPUS = 8, DECISIONS = 300, CURVES = 4, TYPES = 3 };

/* What is measured: with several types, a job is up to so many times as fast on another one. */
static const struct scale {
    uint32_t jobs, nodes;
    unsigned types;
} scales[] = {{10000, 1000, 1}, {2000, 256, TYPES}, {160, 8, TYPES}};

static double cpu_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Stage times of Muri's jobs on 8 GPUs, so that jobs can share. */
static const struct sharing sharing[] = {{.kind = 0, .step = 555, .stage = {502, 14, 0.4}},
                                         {.kind = 1, .step = 192, .stage = {0.5, 167, 59}},
                                         {.kind = 2, .step = 509, .stage = {435, 8, 0.5}},
                                         {.kind = 3, .step = 437, .stage = {0.6, 419, 49}},
                                         {.kind = 4, .step = 1010, .stage = {784, 117, 77}},
                                         {.kind = 5, .step = 957, .stage = {769, 57, 10}},
                                         {.kind = 6, .step = 214, .stage = {82, 75, 66}},
                                         {.kind = 7, .step = 226, .stage = {82, 88, 60}}};

/* Curves of the job's kind, by pool. */
typedef struct speed curves_t[CURVES][POOL_GPU + TYPES];

static void make_job(struct job *j, uint32_t id, struct rng *r, const struct scale *scale,
                     curves_t curves, usec_t now)
{
    static const int sizes[] = {1, 1, 1, 2, 2, 4, 8};
    units_t req = sizes[rng_below(r, COUNT_OF(sizes))] * UNIT;
    *j = (struct job){.id = id,
                      .name = "job",
                      .submit = now,
                      .kind = JOB_MALLEABLE,
                      .pool = scale->types > 1 ? POOL_ANY_GPU : POOL_GPU,
                      .req = req,
                      .min = UNIT,
                      .max = GPUS * UNIT,
                      .work = (600 + rng_exponential(r, 36000)) * 1e6,
                      .speeds = curves[rng_below(r, CURVES)],
                      .nspeeds = POOL_GPU + TYPES,
                      .sharing = &sharing[id % COUNT_OF(sharing)]};
    j->deadline = now + (usec_t)(j->work * (0.3 + 3 * rng_uniform(r)));
    j->cost.restart = j->cost.resize = j->cost.move = 20 * USEC_PER_SEC;
    job_normalise(j, NULL);
}

/* The running task that ends first. */
static uint32_t first_end(const struct engine *e, usec_t now)
{
    uint32_t best = e->running.at[0];
    for (size_t i = 1; i < e->running.n; i++)
        if (task_end(&e->tasks[e->running.at[i]], now) < task_end(&e->tasks[best], now))
            best = e->running.at[i];
    return best;
}

static void step(struct engine *e, struct event event, usec_t now)
{
    struct err err;
    if (engine_step(e, &event, now, &err) < 0) {
        fprintf(stderr, "decide: %s\n", err.text);
        exit(1);
    }
}

static void measure(const char *name, const struct scale *scale, const struct cluster *c,
                    struct job *jobs, curves_t curves)
{
    struct engine e;
    struct engine_config config = {.instant = true, .seed = 1};
    struct err err;
    struct rng r;
    double ms[DECISIONS], first;
    usec_t now = 0;
    if (combo_parse(name, &config.combo, &err) < 0) {
        fprintf(stderr, "decide: %s\n", err.text);
        exit(1);
    }
    rng_init(&r, 7);
    engine_init(&e, &config, c);
    uint32_t n = 0;
    for (; n < scale->jobs; n++) {
        make_job(&jobs[n], n, &r, scale, curves, now);
        step(&e, (struct event){.kind = EVENT_SUBMIT, .job = &jobs[n]}, now);
    }
    first = cpu_ms();
    step(&e, (struct event){.kind = EVENT_TICK}, now);
    first = cpu_ms() - first;
    for (int i = 0; i < DECISIONS; i++) {
        uint32_t task = first_end(&e, now);
        usec_t end = task_end(&e.tasks[task], now);
        now = end < now + 60 * USEC_PER_SEC ? end : now + 60 * USEC_PER_SEC;
        step(&e, (struct event){.kind = EVENT_END, .task = task}, now);
        make_job(&jobs[n], n, &r, scale, curves, now);
        step(&e, (struct event){.kind = EVENT_SUBMIT, .job = &jobs[n++]}, now);
        double start = cpu_ms();
        step(&e, (struct event){.kind = EVENT_TICK}, now);
        ms[i] = cpu_ms() - start;
    }
    qsort(ms, DECISIONS, sizeof *ms, compare);
    printf("%-38s %8.2f %8.2f %8.2f %8.2f\n", name, ms[DECISIONS / 2], ms[DECISIONS * 99 / 100 - 1],
           ms[DECISIONS - 1], first);
    fflush(stdout);
    engine_done(&e);
}

/* The four measured sizes, and beyond them the last gain shrinks by a third each; on the second and
 * third type faster, each kind of job by another factor. */
static void make_curves(struct arena *a, curves_t curves)
{
    static const double speedups[CURVES][4] = {{1, 1.785, 2.5, 3.125},
                                               {1, 1.857, 2.6, 3.25},
                                               {1, 1.842, 2.692, 3.5},
                                               {1, 1.657, 2.148, 2.521}};
    for (int i = 0; i < CURVES; i++)
        for (int type = 0; type < TYPES; type++) {
            double s[GPUS], faster = 1 + type * (0.5 + i);
            for (int k = 0; k < GPUS; k++)
                s[k] = k < 4 ? speedups[i][k] * faster : s[k - 1] + (s[k - 1] - s[k - 2]) * 2 / 3;
            curves[i][POOL_GPU + type] = speed_table(a, s, GPUS);
        }
}

static void measure_all(const struct scale *scale, const char *only, curves_t curves)
{
    static const char *const names[] = {"fifo:order=strict",
                                        "fifo:order=skip",
                                        "fifo",
                                        "srjf",
                                        "srtf",
                                        "srsf",
                                        "edf",
                                        "las",
                                        "gittins",
                                        "elastic-fifo",
                                        "elastic-srjf",
                                        "elastic-las",
                                        "ffdl",
                                        "afs-l",
                                        "optimus",
                                        "hesrpt",
                                        "gavel:round=1s",
                                        "gavel:objective=makespan:round=1s",
                                        "makespan",
                                        "shockwave:round=1s",
                                        "pollux",
                                        "sia",
                                        "muri",
                                        "allocate=srsf,share=pack",
                                        "equal",
                                        "deadline",
                                        "allocate=elastic-fifo,place=best-fit",
                                        "qos",
                                        "voda-afs-l"};
    struct cluster c = {.n = scale->nodes, .gpu_types = {"first", "second", "third"}};
    struct job *jobs = xcalloc(scale->jobs + DECISIONS, sizeof *jobs);
    c.nodes = xcalloc(scale->nodes, sizeof *c.nodes);
    if (scale->types == 1)
        c.gpu_types[1] = c.gpu_types[2] = NULL;
    for (uint32_t i = 0; i < scale->nodes; i++)
        c.nodes[i] = (struct node){
            .name = "n", .gpus = GPUS * UNIT, .gpu_pool = (uint8_t)(POOL_GPU + i % scale->types)};
    printf("CPU milliseconds of one decision, %u active jobs on %u x %d GPUs of %u type%s\n",
           scale->jobs, scale->nodes, GPUS, scale->types, scale->types > 1 ? "s" : "");
    printf("%-38s %8s %8s %8s %8s\n", "policy", "p50", "p99", "max", "first");
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (!only || !strcmp(only, names[i]))
            measure(names[i], scale, &c, jobs, curves);
    free(c.nodes);
    free(jobs);
}

int main(int argc, char **argv)
{
    struct arena a = {0};
    curves_t curves = {0};
    make_curves(&a, curves);
    for (size_t i = 0; i < COUNT_OF(scales); i++)
        if (argc < 3 || strtoul(argv[2], NULL, 10) == scales[i].jobs)
            measure_all(&scales[i], argc > 1 && strcmp(argv[1], "all") != 0 ? argv[1] : NULL,
                        curves);
    arena_done(&a);
    return 0;
}
