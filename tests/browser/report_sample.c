/* Writes a report of synthetic results, for the browser test:
 *
 *     report_sample JOBS POLICIES FILE [never]
 *
 * A small list scheduler of its own gives them the shape of real ones: jobs
 * queue, run, are preempted and resized, miss deadlines. Some names are hostile
 * on purpose; job 20 is larger than the cluster, with "never" all jobs are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/rng.h"
#include "sim/report/report.h"
#include "sim/result.h"

enum { NODES = 16, NODE_GPUS = 4, CAPACITY = NODES * NODE_GPUS };

static const char *const hostile[] = {
    "</script><script>document.title='hacked'</script>",
    "<!--<script>",
    "quote\" back\\slash 'single' &amp; <b>bold</b>",
    "line\nfeed, tab\t, bell\a, escape\033[31m",
    "invalid \xff\xc3 utf-8",
    "right \xe2\x80\xae to left",
    "a-name-that-goes-on-€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€",
    "",
};

static const char *const groups[] = {"resnet50", "vgg16", "bert", "gpt-2", "deepspeech2", "lstm"};

static const char *job_name(struct arena *arena, uint32_t i)
{
    if (i >= 3 && i - 3 < COUNT_OF(hostile))
        return hostile[i - 3];
    char name[16];
    snprintf(name, sizeof name, "job-%05u", i);
    return arena_strdup(arena, name);
}

static void job_fill(struct job *j, uint32_t i, uint32_t n, struct rng *rng, usec_t *clock)
{
    static const uint32_t sizes[] = {1, 1, 1, 1, 2, 2, 4, 4, 8, 16};
    *clock += (usec_t)(rng_exponential(rng, 200 + 160 * sin(i * 14.0 / n)) * 1e6);
    units_t req = sizes[rng_below(rng, COUNT_OF(sizes))] * UNIT;
    double length = exp(7.0 + 1.5 * rng_normal(rng));
    *j = (struct job){
        .id = i,
        .group = rng_below(rng, 12) ? groups[rng_below(rng, COUNT_OF(groups))] : NULL,
        .submit = 86400 * USEC_PER_SEC + *clock / USEC_PER_SEC * USEC_PER_SEC,
        .pool = POOL_GPU,
        .req = req,
        .min = req,
        .max = req,
        .work = round(fmin(length, 3e4)) * 1e6,
        .deadline = USEC_NEVER,
    };
    if (rng_below(rng, 3))
        j->deadline = j->submit + (usec_t)(j->work * (1.1 + 3 * rng_uniform(rng)));
}

/* The scheduler: waiting jobs in a heap by the policy's key, ends in another. */
struct yard {
    const struct job *jobs;
    struct sim_result *r;
    struct heap waiting, running;
    units_t used;
    double held; /* unit-seconds */
    uint32_t policy, n;
};

static int64_t yard_key(const struct yard *y, uint32_t i)
{
    switch (y->policy % 3) {
    case 0:
        return y->jobs[i].submit;
    case 1:
        return (int64_t)y->jobs[i].work;
    default:
        return (int64_t)(y->jobs[i].work * (double)y->jobs[i].req / 4 +
                         (double)y->jobs[i].submit * 50);
    }
}

static void yard_sample(struct yard *y, usec_t now)
{
    VEC_PUSH(&y->r->samples,
             (struct sim_sample){now, (uint32_t)y->running.n, (uint32_t)y->waiting.n,
                                 (double)y->used / (CAPACITY * UNIT)});
}

static void yard_bar(struct yard *y, uint32_t i, usec_t from, usec_t to, units_t n)
{
    VEC_PUSH(&y->r->segments, (struct sim_segment){i, i % NODES, from, to, n, (double)n});
    y->held += (double)n / UNIT * time_seconds(to - from);
}

/* The second policy preempts long jobs once, the third resizes them. */
static void yard_start(struct yard *y, uint32_t i, usec_t now)
{
    const struct job *j = &y->jobs[i];
    struct sim_job *row = &y->r->job[i];
    usec_t work = (usec_t)j->work, half = now + work / 2 / USEC_PER_SEC * USEC_PER_SEC;
    usec_t gap = 0, end = now + work;
    row->starts = 1;
    if (y->policy % 3 == 1 && work > 4000 * USEC_PER_SEC) {
        gap = 900 * USEC_PER_SEC;
        end += gap;
        row->preemptions = 1;
        row->starts = 2;
    }
    bool resize = y->policy % 3 == 2 && j->req > 2 * UNIT;
    if (gap || resize) {
        yard_bar(y, i, now, half, j->req);
        yard_bar(y, i, half + gap, end, resize ? j->req / 2 : j->req);
        row->resizes = resize;
        row->moves = gap && i % 5 == 0;
    } else {
        yard_bar(y, i, now, end, j->req);
    }
    row->start = now;
    row->end = end;
    row->wait = now - j->submit + gap;
    row->run = end - now - gap;
    row->outcome = SIM_DONE;
    row->fair_s = 2 * j->work / USEC_PER_SEC;
    y->used += j->req;
    heap_set(&y->running, i, end);
}

static void yard_fill(struct yard *y, usec_t now)
{
    while (y->waiting.n) {
        uint32_t i = heap_top(&y->waiting).id;
        if (y->used + y->jobs[i].req > CAPACITY * UNIT)
            break;
        heap_pop(&y->waiting);
        yard_start(y, i, now);
    }
}

static void yard_run(struct yard *y)
{
    uint32_t next = 0;
    while (next < y->n || y->running.n) {
        usec_t arrival = next < y->n ? y->jobs[next].submit : USEC_NEVER;
        usec_t now = y->running.n && heap_top(&y->running).key < arrival ? heap_top(&y->running).key
                                                                         : arrival;
        while (y->running.n && heap_top(&y->running).key == now)
            y->used -= y->jobs[heap_pop(&y->running).id].req;
        for (; next < y->n && y->jobs[next].submit == now; next++) {
            y->r->job[next].start = y->r->job[next].end = USEC_NEVER;
            if (y->jobs[next].req > CAPACITY * UNIT)
                y->r->job[next].outcome = SIM_NEVER;
            else
                heap_set(&y->waiting, next, yard_key(y, next));
        }
        yard_fill(y, now);
        yard_sample(y, now);
        y->r->decisions++;
    }
    heap_done(&y->waiting);
    heap_done(&y->running);
}

/* Nodes that come and go, and a job that moves from the first to the second. */
static void record_nodes(struct sim_result *r)
{
    r->nodes = NODES;
    r->node = xcalloc(NODES, sizeof *r->node);
    for (uint32_t k = 0; k < 20; k++)
        for (uint32_t i = 0; i < NODES; i++)
            VEC_PUSH(&r->node_samples, (struct sim_node_sample){.at = k * 500 * USEC_PER_SEC,
                                                                .node = i,
                                                                .jobs = (k + i) % 4,
                                                                .gpu = (k + i) % 4 / 3.0});
    VEC_PUSH(&r->moves, (struct sim_move){3000 * USEC_PER_SEC, 0, 0, 1, "settled"});
}

static void simulate(const struct job *jobs, uint32_t n, uint32_t policy, struct sim_result *r)
{
    static const char *const names[] = {"fifo", "srtf", "allocate=afs-l,place=best-fit,share=hard"};
    struct yard y = {.jobs = jobs, .r = r, .policy = policy, .n = n};
    *r = (struct sim_result){.jobs = n, .job = xcalloc(n, sizeof *r->job)};
    snprintf(r->policy, sizeof r->policy, "%s", names[policy % 3]);
    if (policy >= 3)
        snprintf(r->policy, sizeof r->policy, "las:thresholds=%u", policy * 1000);
    for (uint32_t i = 0; i < n; i++)
        r->job[i].job = &jobs[i];
    yard_run(&y);
    record_nodes(r);
    result_summarise(r);
    r->utilization = y.held / (CAPACITY * r->makespan_s);
    r->decision_p50_us = 4.2;
    r->decision_p99_us = 61.5 + policy;
    r->decision_max_us = 380;
    r->wall_s = 0.25;
}

static void fill_cluster(struct arena *arena, struct cluster *c)
{
    *c = (struct cluster){.n = NODES, .gpu_types = {"T4"}};
    c->nodes = ARENA_ARRAY(arena, NODES, struct node);
    for (unsigned i = 0; i < NODES; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%u", i + 1);
        c->nodes[i] = (struct node){
            .name = arena_strdup(arena, name), .gpus = NODE_GPUS * UNIT, .gpu_pool = POOL_GPU};
    }
}

static struct job *make_jobs(struct arena *arena, uint32_t n, bool never)
{
    struct job *jobs = ARENA_ARRAY(arena, n, struct job);
    struct rng rng;
    usec_t clock = 0;
    rng_init(&rng, 7);
    for (uint32_t i = 0; i < n; i++) {
        job_fill(&jobs[i], i, n, &rng, &clock);
        jobs[i].name = job_name(arena, i);
        if (never || i == 20)
            jobs[i].req = jobs[i].min = jobs[i].max = 2 * CAPACITY * UNIT;
    }
    return jobs;
}

int main(int argc, char **argv)
{
    if (argc < 4 || atoi(argv[1]) < 1 || atoi(argv[2]) < 1) {
        fprintf(stderr, "usage: report_sample JOBS POLICIES FILE [never]\n");
        return 2;
    }
    uint32_t n = (uint32_t)atoi(argv[1]), policies = (uint32_t)atoi(argv[2]);
    struct arena arena = {0};
    struct cluster cluster;
    struct err err;
    fill_cluster(&arena, &cluster);
    const struct job *jobs = make_jobs(&arena, n, argc > 4);
    struct sim_result *r = ARENA_ARRAY(&arena, policies, struct sim_result);
    for (uint32_t i = 0; i < policies; i++)
        simulate(jobs, n, i, &r[i]);
    int rc = report_write(r, policies, &cluster, "traces/<synthetic> & \"quoted\".csv", "16x4:t4",
                          argv[3], &err);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.text);
    for (uint32_t i = 0; i < policies; i++)
        result_done(&r[i]);
    arena_done(&arena);
    return rc < 0;
}
