/* Owns the tests of the trace readers and of trace_write: what each format
 * means, what is refused and with which words, that the committed traces and
 * the examples of docs/traces.md are read, and that what is written is read
 * back the same. */
#include "support/test.h"

#include <unistd.h>

#include "base/str.h"
#include "sim/nodes.h"
#include "sim/trace/generate.h"
#include "sim/trace/profiles.h"
#include "sim/trace/trace.h"
#include "sim/trace/write.h"
#include "support/same_jobs.h"

#define S USEC_PER_SEC

static int parse(const char *text, const struct trace_options *o, struct trace *out,
                 struct err *err)
{
    return trace_parse("t.csv", text, strlen(text), o, out, err);
}

static struct trace read_ok(const char *text, const struct trace_options *o)
{
    struct trace t;
    struct err err;
    assert_ok(parse(text, o, &t, &err), err);
    return t;
}

/* Time on req units of the first pool that it may have, in microseconds. */
static long long time_on_req(const struct job *j)
{
    return llround(j->work /
                   speed_at(job_speed(j, j->pool == POOL_ANY_GPU ? POOL_GPU : j->pool), j->req));
}

static void reads_the_smallest(void **state)
{
    struct trace_options o = {.cost = {1, 2, 3, 4, 0}};
    (void)state;
    struct trace t = read_ok("id,submit,work\na,0,600\nb,30,2h\n", &o);
    assert_int_equal(t.n, 2);
    assert_string_equal(t.format, "trainyard");
    const struct job *j = &t.jobs[1];
    assert_int_equal(j->id, 1);
    assert_string_equal(j->name, "b");
    assert_null(j->group);
    assert_int_equal(j->submit, 30 * S);
    assert_int_equal(j->kind, JOB_RIGID);
    assert_int_equal(j->pool, POOL_ANY_GPU);
    assert_false(j->whole || j->can_pause);
    assert_true(j->req == UNIT && j->min == UNIT && j->max == UNIT);
    assert_true(j->work == 7200.0 * S && j->weight == 1 && isnan(j->target));
    assert_int_equal(j->deadline, USEC_NEVER);
    assert_int_equal(j->cost.resize, 2);
    assert_int_equal(j->cost.checkpoint, 4);
    assert_int_equal(j->loss.kind, LOSS_NONE);
    trace_done(&t);
}

static void reads_every_column(void **state)
{
    struct arena a = {0};
    struct cluster c;
    struct err err;
    struct trace_options o = {.cluster = &c};
    (void)state;
    assert_ok(nodes_parse("1x4:t4+8c,1x8:a100+8c", &a, &c, &err), err);
    struct trace t = read_ok(
        "group,id,submit,work,req,min,max,kind,type,deadline,weight,memory,cpus_per_gpu,whole,"
        "preempt,speeds,loss,target,restart,resize,move,checkpoint\n"
        "team,x,1.5,100,2,1,4,moldable,A100,1h,2.5,4g,1.5,yes,pause,1/1.8/-/3,exp:5.2,0.25,"
        "1,2s,3,10m\n",
        &o);
    const struct job *j = t.jobs;
    assert_string_equal(j->group, "team");
    assert_int_equal(j->submit, 1500000);
    assert_int_equal(j->kind, JOB_MOLDABLE);
    assert_int_equal(j->pool, POOL_GPU + 1);
    assert_true(j->whole && j->can_pause && !j->no_preempt);
    assert_true(j->req == 2 * UNIT && j->min == UNIT && j->max == 4 * UNIT);
    assert_int_equal(j->deadline, 3600 * S + 1500000);
    assert_true(j->weight == 2.5 && j->target == 0.25);
    assert_int_equal(j->memory_mb, 4096);
    assert_int_equal(j->cpus, 1500);
    assert_true(speed_at(j->speeds, 2 * UNIT) == 1.8);
    assert_int_equal(speed_next(j->speeds, 2 * UNIT, 4 * UNIT), 4 * UNIT);
    assert_true(j->loss.kind == LOSS_EXP && j->loss.a == 5.2);
    assert_true(j->cost.restart == S && j->cost.resize == 2 * S && j->cost.move == 3 * S &&
                j->cost.checkpoint == 600 * S);
    trace_done(&t);
    arena_done(&a);
}

static void fills_sizes(void **state)
{
    static const struct {
        const char *line; /* unit,req,min,max,kind,speeds */
        enum job_kind kind;
        units_t req, min, max;
    } cases[] = {
        {"gpu,4,,,,", JOB_RIGID, 4000, 4000, 4000},
        {"gpu,4,,,malleable,", JOB_MALLEABLE, 4000, 1000, 4000},
        {"gpu,,2,8,,", JOB_MALLEABLE, 2000, 2000, 8000},
        {"gpu,,,8,moldable,", JOB_MOLDABLE, 1000, 1000, 8000},
        {"gpu,,,,malleable,1/1.9/2.5/2.2", JOB_MALLEABLE, 1000, 1000, 3000},
        {"gpu,,,,malleable,-/1.9/-/3", JOB_MALLEABLE, 2000, 2000, 4000},
        {"gpu,,,,,-/1.9/-/3", JOB_RIGID, 2000, 2000, 2000},
        {"gpu,2,2,2,rigid,", JOB_RIGID, 2000, 2000, 2000},
        {"gpu,2,2,2,malleable,", JOB_RIGID, 2000, 2000, 2000},
        {"cpu,0.5,,,malleable,", JOB_RIGID, 500, 500, 500},
        {"cpu,1.25,0.5,8,,", JOB_MALLEABLE, 1250, 500, 8000},
        {"cpu,0.5,0.5,2,,1/1.9", JOB_MALLEABLE, 500, 500, 2000},
    };
    struct trace_options o = {0};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[200];
        snprintf(text, sizeof text, "id,submit,work,unit,req,min,max,kind,speeds\nx,0,10,%s\n",
                 cases[i].line);
        struct trace t = read_ok(text, &o);
        const struct job *j = t.jobs;
        if (j->kind != cases[i].kind || j->req != cases[i].req || j->min != cases[i].min ||
            j->max != cases[i].max)
            fail_msg("%s: kind %d, req %lld, min %lld, max %lld", cases[i].line, j->kind,
                     (long long)j->req, (long long)j->min, (long long)j->max);
        assert_int_equal(j->pool, cases[i].line[0] == 'c' ? POOL_CPU : POOL_ANY_GPU);
        assert_int_equal(j->whole, cases[i].line[0] == 'c');
        trace_done(&t);
    }
}

static void keeps_times_exact(void **state)
{
    static const struct {
        const char *text;
        long long us;
    } cases[] = {
        {"0", 0},
        {"0.000001", 1},
        {"123456789.123457", 123456789123457},
        {"1234567890.123457", 1234567890123457},
        {"1e3", 1000000000},
        {"0.0000005", 1},
        {"2h30m", 9000 * S},
        {".5", 500000},
        {"7.", 7 * S},
        {"250ms", 250000},
    };
    struct trace_options o = {0};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[200];
        snprintf(text, sizeof text, "id,submit,duration,req\nx,%s,%s,7\n", cases[i].text,
                 cases[i].text);
        struct trace t = read_ok(text, &o);
        if (t.jobs->submit != cases[i].us || time_on_req(t.jobs) != cases[i].us)
            fail_msg("%s: submit %lld, duration %lld", cases[i].text, (long long)t.jobs->submit,
                     time_on_req(t.jobs));
        trace_done(&t);
    }
}

static const struct {
    const char *text, *words;
} bad_jobs[] = {
    {"id,submit,work\n", "t.csv: it has a header but no jobs"},
    {"id,submit,work\na,0,1\nb,0,1\na,0,1\n", "t.csv:4:1: id 'a': this id is on line 2 already"},
    {"id,submit,work\n1,0,1\n2,0,1\n2,0,1\n", "t.csv:4:1: id '2': this id is on line 3"},
    {"id,submit,work\n1,0,1\n3,0,1\n1,0,1\n", "t.csv:4:1: id '1': this id is on line 2"},
    {"id,submit,work\na,7,1\nb,5,1\n", "t.csv:3:3: submit '5': before the job above it; sort"},
    {"id,submit,work\n,0,1\n", "t.csv:2:1: id '': expected an id"},
    {"id,submit,work\na,-1,1\n", "t.csv:2:3: submit '-1': expected seconds from 0"},
    {"id,submit,work\na,nan,1\n", "submit 'nan': expected seconds"},
    {"id,submit,work\na,inf,1\n", "submit 'inf': expected seconds"},
    {"id,submit,work\na,1e300,1\n", "submit '1e300': expected seconds"},
    {"id,submit,work\na,99999999999999,1\n", "expected seconds"},
    {"id,submit,work\na,,1\n", "submit '': expected seconds"},
    {"id,submit,work\na,0,-5\n", "t.csv:2:5: work '-5': expected seconds"},
    {"id,submit,work\na,0,xus\n", "work 'xus': expected seconds"},
    {"id,submit,work\na,0,\n", "t.csv:2:5: no work; expected 'work'"},
    {"id,submit,work,duration\na,0,1,1\n", "both work and duration"},
    {"id,submit\na,0\n", "no work"},
    {"id,submit,work\na,0\n", "t.csv:2:4: 2 fields; the header has 3"},
    {"id,submit,work\na,0,1,2\n", "t.csv:2:7: 4 fields; the header has 3"},
    {"id,submit,work,req\na,0,1,0\n", "t.csv:2:7: req '0': expected a number from 1 to 1e+06"},
    {"id,submit,work,req\na,0,1,1.5\n",
     "t.csv:2:7: req '1.5': a number of GPUs must be a whole number"},
    {"id,submit,work,req\na,0,1,2000000\n", "expected a number from 1 to 1e+06"},
    {"id,submit,work,req,unit\na,0,1,0.0005,cpu\n", "req '0.0005'"},
    {"id,submit,work,req,unit\na,0,1,1.2345,cpu\n", "three decimals"},
    {"id,submit,work,unit\na,0,1,tpu\n", "unit 'tpu': expected one of gpu|cpu"},
    {"id,submit,work,kind\na,0,1,elastic\n", "expected one of rigid|moldable|malleable"},
    {"id,submit,work,kind,max\na,0,1,rigid,4\n", "expected no min and max"},
    {"id,submit,work,req,min,max\na,0,1,1,2,4\n", "2:7: req '1': expected a size from 2 to 4"},
    {"id,submit,work,min,max\na,0,1,4,2\n", "2:7: min '4': expected a smallest size of at most"},
    {"id,submit,work,type\na,0,1,a100\n", "type 'a100': the cluster has no such GPU type"},
    {"id,submit,work,unit,type\na,0,1,cpu,t4\n", "expected no GPU type for a job on CPUs"},
    {"id,submit,work,deadline\na,0,1,0\n", "expected a deadline after the submission"},
    {"id,submit,work,deadline_at\na,9,1,8\n", "t.csv:2:7: deadline_at '8': expected a deadline"},
    {"id,submit,work,deadline,deadline_at\na,0,1,5,5\n", "there is a 'deadline' too"},
    {"id,submit,work,weight\na,0,1,0\n", "weight '0'"},
    {"id,submit,work,memory\na,0,1,much\n", "memory 'much': expected memory like"},
    {"id,submit,work,unit,cpus_per_gpu\na,0,1,cpu,2\n", "expected 0 for a job on CPUs"},
    {"id,submit,work,whole\na,0,1,maybe\n", "expected one of no|yes"},
    {"id,submit,work,preempt\na,0,1,kill\n", "expected one of restart|pause|never|freeze"},
    {"id,submit,work,speeds\na,0,1,1/0\n", "speeds '1/0': expected speeds like 1/1.8/2.5"},
    {"id,submit,work,speeds\na,0,1,1/x\n", "'x' is not a number"},
    {"id,submit,work,speeds\na,0,1,-/-\n", "at least one size that runs"},
    {"id,submit,work,speeds\na,0,1,1/2 3\n", "expected one list"},
    {"id,submit,work,speeds\na,0,1,t4=1\n", "the cluster has no GPU type 't4'"},
    {"id,submit,work,req,speeds\na,0,1,3,1/2/-/4\n", "req '3': expected a size that has"},
    {"id,submit,work,max,speeds\na,0,1,5,1/2/-/4\n", "max '5': expected a size that has"},
    {"id,submit,work,loss\na,0,1,exp\n", "loss 'exp': expected exp:A"},
    {"id,submit,work,loss\na,0,1,exp:1:2\n", "expected exp:A"},
    {"id,submit,work,loss\na,0,1,inverse:1:0:0\n", "expected exp:A"},
    {"id,submit,work,loss\na,0,1,sine:1\n", "expected exp:A"},
    {"id,submit,work,target\na,0,1,low\n", "target 'low': expected a number"},
    {"id,submit,work,resize\na,0,1,-1\n", "resize '-1': expected seconds"},
};

static void refuses_jobs(void **state)
{
    struct trace_options o = {0};
    struct err err;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_jobs); i++) {
        struct trace t = {.n = 77};
        assert_error(parse(bad_jobs[i].text, &o, &t, &err), err, ERR_INVALID, bad_jobs[i].words);
        assert_int_equal(t.n, 77);
    }
}

static void refuses_headers(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "t.csv: the file is empty; expected a header line"},
        {"\n", "the file is empty"},
        {"hello\n", "t.csv:1:1: not a trace: no known header. Known formats: trainyard"},
        {"a,b,c\n1,2,3\n", "tiresias, muri, elasticflow, philly, pollux, voda, gavel"},
        {"id,submit,wrok\na,0,1\n",
         "t.csv:1:11: unknown column 'wrok' for the trainyard format; did you mean 'work'?"},
        {"id,submit,work,work\na,0,1,1\n", "t.csv:1:16: column 'work' is given twice"},
        {"id,work\na,1\n", "t.csv:1:8: the trainyard format needs a column 'submit'"},
        {"job_id,num_gpu,submit_time\n1,1,0\n", "the tiresias format needs a column 'duration'"},
        {"job_id,num_gpu,submit_time,duration,colour\n1,1,0,1,red\n",
         "unknown column 'colour' for the tiresias format"},
        {"\x7f\x45LF\x02\x01", "not a trace"},
    };
    struct trace_options o = {0};
    struct trace t;
    struct err err;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_error(parse(cases[i].text, &o, &t, &err), err, ERR_INVALID, cases[i].words);
    assert_error(trace_read("/no/such", &o, &t, &err), err, ERR_INVALID, "/no/such: No such file");
    assert_error(trace_read("/tmp", &o, &t, &err), err, ERR_INVALID, "a directory");
    assert_error(trace_read("/proc/self/exe", &o, &t, &err), err, ERR_INVALID, "NUL byte");
}

static void refuses_foreign_jobs(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"job_id,num_gpu,submit_time,duration\n1,0,0,1\n",
         "t.csv:2:3: num_gpu '0': expected a whole number from 1 to 1000000"},
        {"job_id,num_gpu,submit_time,duration\n1,1.5,0,1\n", "num_gpu '1.5': expected a whole"},
        {"job_id,num_gpu,submit_time,duration\n1,x,0,1\n", "num_gpu 'x': expected a whole"},
        {"job_id,num_gpu,submit_time,duration\n1,1,0,-1\n", "duration '-1': expected seconds"},
        {"job_id,num_gpu,submit_time,duration,iteration_time\n1,1,0,nan,1\n", "duration 'nan'"},
        {"job_id,num_gpu,submit_time,duration,iteration_time\n1,1,1e30,1,1\n",
         "submit_time '1e30'"},
        {"job_id,submit_s,duration_s,num_gpus\n1,0,1,-2\n", "num_gpus '-2'"},
        {"job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration\n"
         "1,10,5,m,10,1,1,1\n",
         "ddl '10': expected a deadline after the submission"},
        {"name,time,application,num_replicas,batch_size\na,0,bert,1,12\n",
         "t.csv: the pollux format needs --profiles: a directory"},
        {"job_id,submit_s,model,work_1gpu_s,req,min,max\n0,0,m,1,2,1,4\n",
         "the voda format needs --profiles: model,gpus,speedup"},
        {"job_id,job_type,total_steps,num_gpus,arrival_s\n0,LM,1,2,1\n",
         "no duration_s: give --profiles FILE with the columns gpu_type,job_type"},
        {"job_id,job_type,total_steps,num_gpus,arrival_s,slo,duration_s\n0,LM,1,2,1,1.2,5\n",
         "slo '1.2': expected -1"},
    };
    struct trace_options o = {0};
    struct trace t;
    struct err err;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_error(parse(cases[i].text, &o, &t, &err), err, ERR_INVALID, cases[i].words);
    o.profiles = "data/voda/speedups.csv";
    assert_error(
        parse("job_id,submit_s,model,work_1gpu_s,req,min,max\n0,0,vgg16,1,2,1,6\n", &o, &t, &err),
        err, ERR_INVALID, "t.csv:2:17: max '6': expected a size that has a speed");
    assert_error(parse("id,submit,work\na,0,1\n", &o, &t, &err), err, ERR_INVALID,
                 "the trainyard format takes no --profiles");
    assert_error(trace_read("data/elasticflow/cluster10.csv", &o, &t, &err), err, ERR_INVALID,
                 "has model,gpus,speedup, but the elasticflow format needs gpu_type,model,");
}

static void counts_milliseconds(void **state)
{
    struct trace_options o = {0};
    struct trace ms, s;
    struct err err;
    (void)state;
    assert_ok(trace_read("data/muri/trace3.csv", &o, &ms, &err), err);
    assert_ok(trace_read("data/muri/trace3_seconds.csv", &o, &s, &err), err);
    assert_string_equal(ms.format, "muri");
    assert_string_equal(s.format, "tiresias");
    assert_int_equal(ms.n, s.n);
    for (uint32_t i = 0; i < s.n; i++) {
        assert_int_equal(ms.jobs[i].submit, s.jobs[i].submit);
        assert_true(ms.jobs[i].work == s.jobs[i].work);
    }
    trace_done(&ms);
    trace_done(&s);
}

static const struct {
    const char *path, *profiles, *nodes;
    uint32_t n;
} files[] = {
    {"data/demo.csv", NULL, "4x4", 40},
    {"data/tiresias/60_job.csv", NULL, "4x4", 60},
    {"data/muri/trace1_seconds.csv", NULL, "8x8", 1494},
    {"data/muri/trace3_seconds.csv", NULL, "8x8", 992},
    {"data/muri/trace3.csv", NULL, "8x8", 992},
    {"data/elasticflow/elasticVpollux_e.csv", NULL, "16x4", 195},
    {"data/elasticflow/elasticVpollux_e.csv", "data/elasticflow/throughputs.csv", "16x4:t4", 195},
    {"data/elasticflow/cluster10.csv", "data/elasticflow/throughputs.csv", "64x4:A100", 260},
    {"data/elasticflow/philly_103959.csv", "data/elasticflow/throughputs.csv", "64x4:a100", 876},
    {"data/philly/philly_jobs.csv", NULL, "300x8", 71138},
    {"data/pollux/workload-1.csv", "data/pollux/profiles", "16x4", 160},
    {"data/pollux/workload-6.csv", "data/pollux/profiles", "16x4:t4", 160},
    {"data/pollux/load-0.5/workload-3.csv", "data/pollux/profiles", "16x4", 80},
    {"data/pollux/load-2.0/workload-3.csv", "data/pollux/profiles", "16x4", 320},
    {"data/voda/poisson.csv", "data/voda/speedups.csv", "3x4", 24},
    {"data/voda/bursty.csv", "data/voda/speedups.csv", "3x4", 24},
    {"data/gavel/max_min_fairness.csv", "data/gavel/rates.csv", "2x4:v100,4x4:p100", 96},
    {"data/gavel/max_min_fairness.csv", "data/gavel/rates.csv", "8x1:v100,16x1:p100,24x1:k80", 96},
    {"data/shockwave/120_jobs.csv", NULL, "8x4", 120},
    {"data/shockwave/220_0.2_5_100_25.csv", NULL, "16x4", 220},
    {"data/shockwave/900_0.2_5_100_5.csv", NULL, "32x8", 900},
    {"data/shockwave/900_0.2_5_1000_5.csv", NULL, "32x8", 900},
    {"data/shockwave/120_jobs.csv", "data/gavel/rates.csv", "8x4:v100,2x4:k80", 120},
};

/* Reads a file, writes it in our own format, and reads that. */
static void reads_back(const struct trace *t, const struct trace_options *o)
{
    char path[] = "/tmp/test_trace.XXXXXX";
    struct trace_options plain = {.cluster = o->cluster};
    struct trace again;
    struct err err;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_ok(trace_write(t, path, &err), err);
    assert_ok(trace_read(path, &plain, &again, &err), err);
    assert_string_equal(again.format, "trainyard");
    assert_same_jobs(t, &again);
    trace_done(&again);
    unlink(path);
}

static void reads_the_committed_traces(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        struct arena a = {0};
        struct cluster c;
        struct trace t;
        struct err err;
        struct trace_options o = {.cluster = &c, .profiles = files[i].profiles};
        assert_ok(nodes_parse(files[i].nodes, &a, &c, &err), err);
        assert_ok(trace_read(files[i].path, &o, &t, &err), err);
        assert_int_equal(t.n, files[i].n);
        for (uint32_t k = 0; k < t.n; k++)
            assert_true(t.jobs[k].id == k && t.jobs[k].work > 0);
        reads_back(&t, &o);
        trace_done(&t);
        arena_done(&a);
    }
}

/* Gavel's rates have none for 2 GPUs of type k80. */
static void offers_only_types_with_a_rate(void **state)
{
    struct arena a = {0};
    struct cluster c;
    struct trace t;
    struct err err;
    struct trace_options o = {.cluster = &c, .profiles = "data/gavel/rates.csv"};
    uint32_t without = 0;
    (void)state;
    assert_ok(nodes_parse("8x1:v100,24x1:k80", &a, &c, &err), err);
    assert_ok(trace_read("data/gavel/max_min_fairness.csv", &o, &t, &err), err);
    for (uint32_t i = 0; i < t.n; i++) {
        assert_true(job_takes_pool(&t.jobs[i], POOL_GPU));
        without += !job_takes_pool(&t.jobs[i], POOL_GPU + 1);
        if (t.jobs[i].req == UNIT)
            assert_true(job_takes_pool(&t.jobs[i], POOL_GPU + 1));
    }
    assert_int_not_equal(without, 0);
    trace_done(&t);
    arena_done(&a);
}

static void keeps_durations_exact(void **state)
{
    static const char *const rigid[] = {"data/tiresias/60_job.csv", "data/muri/trace1_seconds.csv",
                                        "data/elasticflow/elasticVpollux_e.csv",
                                        "data/philly/philly_jobs.csv"};
    struct trace_options o = {0};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rigid); i++) {
        struct trace t;
        struct err err;
        assert_ok(trace_read(rigid[i], &o, &t, &err), err);
        for (uint32_t k = 0; k < t.n; k++)
            if (time_on_req(&t.jobs[k]) % S)
                fail_msg("%s: job %u takes %lld us", rigid[i], k, time_on_req(&t.jobs[k]));
        trace_done(&t);
    }
}

static void writes_what_is_unusual(void **state)
{
    struct arena a = {0};
    struct cluster c;
    struct err err;
    struct trace_options o = {.cluster = &c};
    (void)state;
    assert_ok(nodes_parse("1x4:t4+8c,1x8:a100+8c,2x16c", &a, &c, &err), err);
    struct trace t = read_ok(
        "id,submit,work,unit,req,min,max,kind,type,deadline,weight,memory,cpus_per_gpu,whole,"
        "preempt,speeds,loss,target,restart,resize,move,checkpoint,group\n"
        "\"a,\"\"b\"\"\",0.000001,2.5us,gpu,2,1,4,moldable,a100,1h,0.1,4g,1.5,yes,pause,"
        "1/1.8/-/3,exp:0.3,-0.25,1,2s,3,10m,\"two\nlines\"\n"
        "\" b "
        "\",0.1,0.3333333333333333us,cpu,0.125,0.125,7.5,malleable,,,,1,,no,never,1/2/3/4/5/6/7/"
        "7.9,"
        "power:1:2:-3,,0,0,0,1,\n"
        "d,0.1,1us,cpu,1,,,,,,,,,,freeze,,,,,,,,\n"
        "c,0.1,1e12us,gpu,1,,,,,,,,,,,t4=1/1.9 "
        "a100=2.0000000000000004/3,inverse:0.1:0.2:0.3,,,,,,\n",
        &o);
    assert_string_equal(t.jobs[0].name, "a,\"b\"");
    assert_string_equal(t.jobs[1].name, " b ");
    assert_true(t.jobs[1].no_preempt && !t.jobs[1].can_pause);
    assert_true(t.jobs[2].can_pause && t.jobs[2].no_restart);
    assert_int_equal(t.jobs[3].nspeeds, 3);
    reads_back(&t, &o);
    assert_error(trace_write(&t, "/no/such/directory/f", &err), err, ERR_IO, "/no/such");
    trace_done(&t);
    arena_done(&a);
}

/* What stands behind `key` in the info line of a block; NULL = nothing. */
static char *info_value(const char *info, const char *key)
{
    const char *p = strstr(info, key);
    return p ? xstrndup(p + strlen(key), strcspn(p + strlen(key), " \n")) : NULL;
}

static void check_example(const char *info, const char *text, size_t n)
{
    AUTO_FREE char *profiles = info_value(info, "profiles="), *nodes = info_value(info, "nodes=");
    struct arena a = {0};
    struct cluster c;
    struct err err;
    struct trace t;
    struct profiles p;
    assert_ok(nodes_parse(nodes ? nodes : "16x4", &a, &c, &err), err);
    struct trace_options o = {.cluster = &c, .profiles = profiles};
    if (!strncmp(info, "trace", 5)) {
        assert_ok(trace_parse(info, text, n, &o, &t, &err), err);
        trace_done(&t);
    } else if (!strncmp(info, "profiles", 8)) {
        assert_ok(profiles_parse(info, text, n, &p, &err), err);
        profiles_done(&p);
    } else if (!strncmp(info, "nodes", 5)) {
        assert_ok(nodes_parse_file(info, text, n, &a, &c, &err), err);
    } else if (!strncmp(info, "generate", 8)) {
        assert_ok(nodes_parse("16x4+8c", &a, &c, &err), err);
        for (const char *line = text; line < text + n; line += strcspn(line, "\n") + 1) {
            AUTO_FREE char *spec = xstrndup(line, strcspn(line, "\n"));
            assert_ok(trace_generate(spec, 1, &o, &t, &err), err);
            trace_done(&t);
        }
    }
    arena_done(&a);
}

static void reads_the_documented_examples(void **state)
{
    static char text[1 << 17];
    int blocks = 0;
    (void)state;
    FILE *f = fopen("docs/traces.md", "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    for (char *p = text; (p = strstr(p, "\n```")) != NULL; blocks++) {
        AUTO_FREE char *info = xstrndup(p + 4, strcspn(p + 4, "\n"));
        char *body = p + 4 + strlen(info) + 1, *end = strstr(body - 1, "\n```");
        assert_non_null(end);
        check_example(info, body, (size_t)(end - body) + 1);
        p = end + 4;
    }
    assert_true(blocks >= 15);
}

static const struct CMUnitTest tests[] = {
    TEST(reads_the_smallest),
    TEST(reads_every_column),
    TEST(fills_sizes),
    TEST(keeps_times_exact),
    TEST(refuses_jobs),
    TEST(refuses_headers),
    TEST(refuses_foreign_jobs),
    TEST(counts_milliseconds),
    TEST(reads_the_committed_traces),
    TEST(keeps_durations_exact),
    TEST(writes_what_is_unusual),
    TEST(reads_the_documented_examples),
    TEST(offers_only_types_with_a_rate),
};

int main(void)
{
    return RUN(tests);
}
