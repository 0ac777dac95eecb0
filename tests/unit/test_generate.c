/* Owns the tests of the workload generator: that a seed fixes the jobs, that
 * what was asked for is what comes out, and that every workload survives being
 * written and read. */
#include "support/test.h"

#include <unistd.h>

#include "base/rng.h"
#include "base/str.h"
#include "sim/nodes.h"
#include "sim/trace/generate.h"
#include "sim/trace/trace.h"
#include "sim/trace/workload.h"
#include "sim/trace/write.h"
#include "support/same_jobs.h"

#define S USEC_PER_SEC

struct fixture {
    struct arena arena;
    struct cluster cluster;
    struct trace_options options;
};

static void set_up(struct fixture *f, const char *nodes)
{
    struct err err;
    *f = (struct fixture){0};
    assert_ok(nodes_parse(nodes, &f->arena, &f->cluster, &err), err);
    f->options.cluster = &f->cluster;
}

static struct trace generate(const struct fixture *f, const char *spec, uint64_t seed)
{
    struct trace t;
    struct err err;
    assert_ok(trace_generate(spec, seed, &f->options, &t, &err), err);
    return t;
}

static double run_time(const struct job *j)
{
    return j->work / speed_at(&j->speeds[0], j->req);
}

static void follows_the_seed(void **state)
{
    static const char spec[] = "bursty:jobs=500,kind=malleable,deadlines=0.5,loss=exp";
    struct fixture f;
    (void)state;
    set_up(&f, "16x4");
    struct trace a = generate(&f, spec, 7), b = generate(&f, spec, 7), c = generate(&f, spec, 8);
    assert_same_jobs(&a, &b);
    assert_true(a.jobs[99].submit != c.jobs[99].submit && a.jobs[99].work != c.jobs[99].work);
    trace_done(&a);
    trace_done(&b);
    trace_done(&c);
    arena_done(&f.arena);
}

/* Adding one aspect leaves the others as they were. */
static void keeps_aspects_apart(void **state)
{
    struct fixture f;
    (void)state;
    set_up(&f, "16x4");
    struct trace a = generate(&f, "poisson:jobs=300", 3);
    struct trace b = generate(&f, "poisson:jobs=300,deadlines=0.4,loss=exp", 3);
    int deadlines = 0;
    for (uint32_t i = 0; i < a.n; i++) {
        assert_int_equal(a.jobs[i].submit, b.jobs[i].submit);
        assert_true(a.jobs[i].work == b.jobs[i].work && a.jobs[i].req == b.jobs[i].req);
        assert_int_equal(b.jobs[i].loss.kind, LOSS_EXP);
        assert_true(b.jobs[i].loss.a >= 3 && b.jobs[i].loss.a <= 12);
        deadlines += b.jobs[i].deadline != USEC_NEVER;
    }
    assert_in_range(deadlines, 90, 150);
    trace_done(&a);
    trace_done(&b);
    arena_done(&f.arena);
}

static void meets_the_load(void **state)
{
    static const char *const specs[] = {"poisson:jobs=100,load=0.5", "poisson:jobs=5000,load=1.3",
                                        "bursty:jobs=5000,load=0.9,sigma=2.5",
                                        "poisson:jobs=1,load=0.8", "poisson:jobs=2,sigma=0"};
    static const double load[] = {0.5, 1.3, 0.9, 0.8, 0.8};
    struct fixture f;
    (void)state;
    set_up(&f, "16x4");
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct trace t = generate(&f, specs[i], 5);
        double offered = 0;
        for (uint32_t k = 0; k < t.n; k++)
            offered += run_time(&t.jobs[k]) * (double)t.jobs[k].req / UNIT;
        assert_near(offered / (64 * (double)t.jobs[t.n - 1].submit), load[i], 1e-6);
        trace_done(&t);
    }
    arena_done(&f.arena);
}

static void draws_what_was_asked_for(void **state)
{
    enum { JOBS = 40000 };
    struct fixture f;
    double sum = 0, log_sum = 0, log_squares = 0;
    int ones = 0;
    (void)state;
    set_up(&f, "16x4");
    struct trace t = generate(&f, "poisson:jobs=40000,mean=10m,sigma=1,sizes=1/4:3/1", 11);
    for (uint32_t i = 0; i < t.n; i++) {
        const struct job *j = &t.jobs[i];
        double run = run_time(j) / S;
        assert_true(j->req == UNIT || j->req == 4 * UNIT);
        assert_true(i == 0 || j->submit >= j[-1].submit);
        ones += j->req == UNIT;
        sum += run;
        log_sum += log(run);
        log_squares += log(run) * log(run);
    }
    double deviation = sqrt(log_squares / JOBS - pow(log_sum / JOBS, 2));
    assert_near(ones / (double)JOBS, 0.75, 0.01);
    assert_near(sum / JOBS, 600, 20);
    assert_near(deviation, 1, 0.02);
    trace_done(&t);
    arena_done(&f.arena);
}

/* Variance of the number of arrivals in windows over its mean: 1 for Poisson. */
static double dispersion(const struct trace *t)
{
    enum { WINDOWS = 500 };
    double n[WINDOWS] = {0}, squares = 0, mean = (double)t->n / WINDOWS;
    usec_t span = t->jobs[t->n - 1].submit + 1;
    for (uint32_t i = 0; i < t->n; i++)
        n[(double)t->jobs[i].submit / (double)span * WINDOWS < WINDOWS - 1
              ? (int)((double)t->jobs[i].submit / (double)span * WINDOWS)
              : WINDOWS - 1]++;
    for (int i = 0; i < WINDOWS; i++)
        squares += (n[i] - mean) * (n[i] - mean);
    return squares / WINDOWS / mean;
}

static void comes_in_bursts(void **state)
{
    struct fixture f;
    (void)state;
    set_up(&f, "16x4");
    struct trace calm = generate(&f, "poisson:jobs=20000,sigma=1", 2);
    struct trace wild = generate(&f, "bursty:jobs=20000,sigma=1,burst=20", 2);
    struct trace flat = generate(&f, "bursty:jobs=20000,sigma=1,burst=1", 2);
    assert_near(dispersion(&calm), 1, 0.3);
    assert_near(dispersion(&flat), 1, 0.3);
    assert_true(dispersion(&wild) > 5);
    trace_done(&calm);
    trace_done(&wild);
    trace_done(&flat);
    arena_done(&f.arena);
}

static void shapes_jobs(void **state)
{
    struct fixture f;
    (void)state;
    set_up(&f, "2x4+32c");
    struct trace t = generate(
        &f, "poisson:jobs=400,kind=malleable,sizes=1/2/4,min=1,max=6,deadlines=1,slack=2-3", 1);
    for (uint32_t i = 0; i < t.n; i++) {
        const struct job *j = &t.jobs[i];
        assert_int_equal(j->kind, JOB_MALLEABLE);
        assert_int_equal(j->pool, POOL_ANY_GPU);
        assert_true(j->min == UNIT && j->max == 6 * UNIT && j->speeds[0].len == 6);
        assert_non_null(j->group);
        double slack = (double)(j->deadline - j->submit) / run_time(j);
        assert_true(slack >= 1.999999 && slack <= 3.000001);
    }
    trace_done(&t);
    t = generate(&f, "poisson:jobs=50,unit=cpu,sizes=0.5/16", 1);
    assert_int_equal(t.jobs[0].pool, POOL_CPU);
    assert_true(t.jobs[0].whole && t.jobs[0].nspeeds == 1 && !t.jobs[0].speeds[0].at);
    trace_done(&t);
    /* The default sizes go up to 8; a node of this cluster has 2. */
    arena_done(&f.arena);
    set_up(&f, "1x2");
    t = generate(&f, "poisson", 1);
    assert_int_equal(t.n, 1000);
    for (uint32_t i = 0; i < t.n; i++)
        assert_true(t.jobs[i].req <= 2 * UNIT);
    trace_done(&t);
    arena_done(&f.arena);
}

/* The continuation fits what was measured. */
static void fits_the_models(void **state)
{
    (void)state;
    for (const struct workload_model *m = workload_models; m->name; m++)
        for (int n = 1; n <= 4; n++)
            assert_near((m->fixed + m->parallel) / (m->fixed + m->parallel / n), m->speed[n - 1],
                        0.03 * m->speed[n - 1]);
}

static void refuses_specs(void **state)
{
    static const struct {
        const char *spec, *words;
    } cases[] = {
        {"", "expected poisson or bursty"},
        {"uniform:jobs=1", "generate 'uniform:jobs=1': expected poisson or bursty"},
        {"poissonx", "expected poisson or bursty"},
        {"poisson:job=1", "generate: no parameter 'job'; did you mean 'jobs'?"},
        {"poisson:xyzzy=1", "no parameter 'xyzzy'"},
        {"poisson:jobs", "'jobs' needs a value"},
        {"poisson:jobs=", "'jobs' needs a value"},
        {"poisson:jobs=0", "jobs: 0 is not between 1 and 10000000"},
        {"poisson:jobs=99999999", "is not between"},
        {"poisson:jobs=1,jobs=2", "'jobs' is given twice"},
        {"poisson:load=0", "load: 0 is not between"},
        {"poisson:load=nan", "load: 'nan' is not a number"},
        {"poisson:mean=0", "mean: expected at least 1s"},
        {"poisson:mean=soon", "mean: 'soon' is not a duration"},
        {"poisson:sigma=9", "sigma: 9 is not between 0 and 4"},
        {"poisson:sizes=1/x", "sizes: 'x' is not a number"},
        {"poisson:sizes=1/2:1", "as many shares as choices"},
        {"poisson:sizes=1/2:1/2/3", "as many shares as choices"},
        {"poisson:sizes=1/2:0/0", "not all 0"},
        {"poisson:sizes=1.5", "sizes: a number of GPUs must be a whole number"},
        {"poisson:sizes=65", "jobs of 65 units, but one job can have at most 64"},
        {"poisson:sizes=1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17", "at most 16 choices"},
        {"poisson:models=lstm", "models: no model 'lstm'; there are vgg16"},
        {"poisson:kind=soft", "kind: expected one of rigid|moldable|malleable"},
        {"poisson:unit=tpu", "unit: expected one of gpu|cpu"},
        {"poisson:unit=cpu", "the cluster has no CPUs"},
        {"poisson:max=4", "min and max need kind=malleable"},
        {"poisson:kind=malleable,min=4,max=2", "min is above max"},
        {"poisson:kind=malleable,sizes=1/2,min=2", "sizes from 1 to 2, but min 2"},
        {"poisson:kind=malleable,max=4", "sizes from 1 to 8, but min 1 and max 4"},
        {"poisson:deadlines=2", "deadlines: 2 is not between 0 and 1"},
        {"poisson:slack=1-2", "slack needs deadlines"},
        {"poisson:deadlines=1,slack=3-2", "slack: expected LOW-HIGH"},
        {"poisson:loss=steep", "loss: expected exp:A"},
        {"poisson:burst=5", "'burst' is only for bursty arrivals"},
        {"bursty:burst=0.5", "burst: 0.5 is not between"},
        {"bursty:busy=1", "busy: 1 is not between"},
        {"bursty:load=0.001,spell=1s", "spell is shorter than the mean gap"},
        {"poisson:jobs=10000000,mean=365d,load=0.001", "more than a century"},
    };
    struct fixture f;
    struct trace t;
    struct err err;
    (void)state;
    set_up(&f, "16x4");
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_error(trace_generate(cases[i].spec, 1, &f.options, &t, &err), err, ERR_INVALID,
                     cases[i].words);
    f.options.cluster = NULL;
    assert_error(trace_generate("poisson", 1, &f.options, &t, &err), err, ERR_INVALID,
                 "needs a cluster");
    arena_done(&f.arena);
}

/* A specification at random. */
static void random_spec(struct rng *r, struct str *s)
{
    static const char *const parts[][4] = {
        {"", ",load=0.3", ",load=2", ",load=0.01"},
        {"", ",sigma=0", ",sigma=3", ",mean=3d"},
        {"", ",kind=malleable", ",kind=moldable,max=16", ",kind=malleable,models=transformer"},
        {"", ",unit=cpu,sizes=0.25/0.5/1/3.125/8", ",sizes=1/3/8:1/2/3", ",sizes=2/8"},
        {"", ",deadlines=1", ",deadlines=0.3,slack=0.5-9", ",deadlines=0"},
        {"", ",loss=exp", ",loss=exp:5.2", ",loss=power:1:0.5:-0.1"},
    };
    s->n = 0;
    str_addf(s, "%s:jobs=%d", rng_below(r, 2) ? "poisson" : "bursty", 1 + (int)rng_below(r, 60));
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        str_add(s, parts[i][rng_below(r, 4)]);
}

static void survives_writing(void **state)
{
    char path[] = "/tmp/test_generate.XXXXXX";
    struct fixture f;
    struct rng r;
    struct str spec = {0};
    struct trace again;
    struct err err;
    (void)state;
    set_up(&f, "3x8:t4+16c,2x8:a100+16c");
    rng_init(&r, 42);
    int fd = mkstemp(path), done = 0;
    assert_true(fd >= 0);
    close(fd);
    for (int i = 0; i < 300; i++) {
        struct trace t;
        random_spec(&r, &spec);
        f.options.cost = (struct job_cost){0};
        if (i % 3 == 0)
            f.options.cost = (struct job_cost){i, 20 * S, 5 * S + 1, 0, 0};
        if (trace_generate(spec.at, (uint64_t)i, &f.options, &t, &err) < 0)
            fail_msg("%s: %s", spec.at, err.text);
        assert_ok(trace_write(&t, path, &err), err);
        struct trace_options plain = {.cluster = &f.cluster};
        assert_ok(trace_read(path, &plain, &again, &err), err);
        assert_same_jobs(&t, &again);
        done += (int)t.n;
        trace_done(&again);
        trace_done(&t);
    }
    assert_true(done > 300);
    unlink(path);
    str_done(&spec);
    arena_done(&f.arena);
}

static const struct CMUnitTest tests[] = {
    TEST(follows_the_seed),         TEST(keeps_aspects_apart), TEST(meets_the_load),
    TEST(draws_what_was_asked_for), TEST(comes_in_bursts),     TEST(shapes_jobs),
    TEST(fits_the_models),          TEST(refuses_specs),       TEST(survives_writing),
};

int main(void)
{
    return RUN(tests);
}
