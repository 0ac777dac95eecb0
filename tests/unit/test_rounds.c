/* Pollux' rules: rounds, restarts, interference, and what a policy is told. */
#include "sim/rounds.h"

#include "policy/combo.h"
#include "sim/nodes.h"
#include "sim/sim.h"
#include "support/test.h"

struct run {
    struct arena arena;
    struct cluster cluster;
    struct trace trace;
    struct sim_options o;
    struct sim_result r;
    units_t first; /* size of the first start */
    units_t most;  /* largest growth in one step, as a ratio in thousandths */
};

static void observe(void *ctx, const struct engine *e, usec_t now)
{
    struct run *run = ctx;
    (void)now;
    for (size_t i = 0; i < e->effects.n; i++) {
        const struct effect *f = &e->effects.at[i];
        if (f->kind == EFFECT_START && !run->first)
            run->first = f->to;
        if (f->kind == EFFECT_RESIZE && f->to * UNIT / f->from > run->most)
            run->most = f->to * UNIT / f->from;
    }
}

static void run_init(struct run *run, const char *nodes, const char *text, enum trace_batch batch,
                     const char *policy)
{
    struct err err;
    *run = (struct run){0};
    struct trace_options t = {.cluster = &run->cluster,
                              .profiles = "data/pollux/profiles",
                              .batch = batch,
                              .cost = {.restart = 30 * USEC_PER_SEC}};
    assert_ok(nodes_parse(nodes, &run->arena, &run->cluster, &err), err);
    assert_ok(trace_parse("t.csv", text, strlen(text), &t, &run->trace, &err), err);
    run->o = (struct sim_options){
        .trace = &run->trace,
        .cluster = &run->cluster,
        .rules = RULES_POLLUX,
        .rounds = {.length = 60 * USEC_PER_SEC},
        .observe = observe,
        .ctx = run,
    };
    assert_ok(combo_parse(policy, &run->o.combo, &err), err);
}

static void run_sim(struct run *run)
{
    struct err err;
    assert_ok(sim_run(&run->o, &run->r, &err), err);
}

static void run_done(struct run *run)
{
    result_done(&run->r);
    trace_done(&run->trace);
    arena_done(&run->arena);
}

#define HEADER "name,time,application,num_replicas,batch_size\n"

/* A job alone on a fixed size: it is seen at the end of its round, stands still for half a
 * minute, and takes what its epochs take, within a second for each. */
static void charges_the_start(void **state)
{
    struct run run;
    (void)state;
    run_init(&run, "2x4", HEADER "a,50,cifar10,4,1024\n", BATCH_FIXED, "fifo");
    run_sim(&run);
    const struct job *j = &run.trace.jobs[0];
    double alone = j->work / speed_at(j->speeds, 4 * UNIT) / USEC_PER_SEC;
    assert_int_equal(run.r.job[0].start, 60 * USEC_PER_SEC);
    assert_near(run.r.mean_jct_s, 10 + 30 + alone, j->learning->goodput->epochs / 2.0);
    assert_true(run.r.mean_jct_s == (double)(int)run.r.mean_jct_s);
    run_done(&run);
}

/* Three jobs take half of each node. Then d has two GPUs on the first and one on the second, and
 * e two on the third and the other one on the second: there they meet. */
static void slows_jobs_that_meet(void **state)
{
    static const char text[] = HEADER "a,0,cifar10,2,1024\nb,0,cifar10,2,1024\n"
                                      "c,0,cifar10,2,1024\nd,0,cifar10,3,1024\n"
                                      "e,0,cifar10,3,1024\n";
    struct run with, without;
    (void)state;
    run_init(&without, "3x4", text, BATCH_FIXED, "allocate=fifo,place=spread,share=hard");
    run_init(&with, "3x4", text, BATCH_FIXED, "allocate=fifo,place=spread,share=hard");
    with.o.rounds.interference = 0.25;
    run_sim(&without);
    run_sim(&with);
    for (int i = 0; i < 5; i++) {
        double slower = (double)(with.r.job[i].end - 90 * USEC_PER_SEC) /
                        (double)(without.r.job[i].end - 90 * USEC_PER_SEC);
        assert_near(slower, i < 3 ? 1 : 4 / 3.0, i < 3 ? 0 : 0.03); /* epochs end at seconds */
    }
    run_done(&with);
    run_done(&without);
}

/* Sia's rules: a restart takes as long as its application's, the speed is below that of the
 * profiles, and a job that only changes its nodes does not stop. */
static void follows_sia(void **state)
{
    struct run run;
    struct err err;
    (void)state;
    run_init(&run, "2x4", HEADER "a,50,cifar10,4,1024\n", BATCH_FIXED, "fifo");
    double work = run.trace.jobs[0].work;
    struct trace_options t = {.cluster = &run.cluster,
                              .profiles = "data/pollux/profiles",
                              .batch = BATCH_FIXED,
                              .sia = true};
    trace_done(&run.trace);
    static const char text[] = HEADER "a,50,cifar10,4,1024\n";
    assert_ok(trace_parse("t.csv", text, strlen(text), &t, &run.trace, &err), err);
    const struct job *j = &run.trace.jobs[0];
    assert_int_equal(j->cost.restart, 50 * USEC_PER_SEC);
    assert_near(j->work / work, 1.8, 1e-6);
    run.o.rules = RULES_SIA;
    run.o.rounds.shapes_only = true;
    run_sim(&run);
    double alone = j->work / speed_at(j->speeds, 4 * UNIT) / USEC_PER_SEC;
    assert_near(run.r.mean_jct_s, 10 + 50 + alone, j->learning->goodput->epochs / 2.0);
    run_done(&run);
}

static void doubles_at_most(void **state)
{
    struct run given, learned;
    (void)state;
    run_init(&given, "2x4", HEADER "a,0,cifar10,4,1024\n", BATCH_ADAPTIVE, "hesrpt");
    run_init(&learned, "2x4", HEADER "a,0,cifar10,4,1024\n", BATCH_ADAPTIVE, "hesrpt");
    learned.o.rounds.learned = true;
    run_sim(&given);
    run_sim(&learned);
    assert_true(given.first > UNIT);
    assert_int_equal(learned.first, UNIT);
    assert_true(learned.most > UNIT && learned.most <= 2 * UNIT);
    assert_true(learned.r.mean_jct_s > given.r.mean_jct_s);
    run_done(&given);
    run_done(&learned);
}

/* Of the first two jobs nothing is known. When the others come, one of each group has ended, and
 * srsf serves the shorter one first although it comes second. */
static void learns_from_group(void **state)
{
    static const char text[] = HEADER "a,0,deepspeech2,1,20\nb,0,cifar10,1,128\n"
                                      "c,40000,deepspeech2,1,20\nd,40000,cifar10,1,128\n";
    struct run given, learned;
    (void)state;
    run_init(&given, "1x1", text, BATCH_ADAPTIVE, "srsf");
    run_init(&learned, "1x1", text, BATCH_ADAPTIVE, "srsf");
    learned.o.rounds.learned = true;
    run_sim(&given);
    run_sim(&learned);
    assert_int_equal(learned.r.finished, 4);
    bool first = given.r.job[0].end < given.r.job[1].end;
    assert_false(first || given.r.job[2].end < given.r.job[3].end);
    assert_true(learned.r.job[3].end < learned.r.job[2].end);
    run_done(&given);
    run_done(&learned);
}

/* Errors change decisions, not how long a job alone takes; the same seed errs in the same way. */
static void errs_by_seed(void **state)
{
    static const char text[] = HEADER "a,0,cifar10,4,1024\nb,0,deepspeech2,4,160\n"
                                      "c,10,yolov3,4,32\nd,20,cifar10,4,1024\n";
    double first = 0;
    int others = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct run run;
        run_init(&run, "2x4", text, BATCH_ADAPTIVE, "srsf");
        run.o.rounds.size_error = 1.2;
        run.o.rounds.seed = seed ? seed : 1;
        run_sim(&run);
        assert_int_equal(run.r.finished, 4);
        if (seed == 1)
            assert_true(run.r.mean_jct_s == first);
        first = seed ? first : run.r.mean_jct_s;
        others += run.r.mean_jct_s != first;
        run_done(&run);
    }
    assert_true(others > 0);
}

static const struct CMUnitTest tests[] = {
    TEST(charges_the_start), TEST(slows_jobs_that_meet), TEST(follows_sia),
    TEST(doubles_at_most),   TEST(learns_from_group),    TEST(errs_by_seed),
};

int main(void)
{
    return RUN(tests);
}
