/* Owns the tests of profiles: the tables, the matching of GPU types, how speeds
 * and work follow from rates, and the directories of Pollux. */
#include "support/test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "sim/nodes.h"
#include "sim/trace/pollux.h"
#include "sim/trace/profiles.h"
#include "sim/trace/scaling.h"
#include "sim/trace/trace.h"

static const char table[] = "gpu_type,model,global_batch_size,num_gpus,iters_per_s\n"
                            "T4,net,32,1,2\nT4,net,32,2,3.5\nT4,net,32,4,3\nT4,net,32,8,nan\n"
                            "A100,net,32,1,8\nA100,net,32,2,16\n"
                            "T4,big,32,2,1\nT4,big,32,4,1.8\nT4,big,32,1,\nT4,big,32,8,0\n";
static const char header[] =
    "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration\n";

/* Reads an ElasticFlow trace of one job with the table above. */
static int read_one(const char *nodes, const char *line, bool all_sizes, struct job *out,
                    struct arena *a, struct trace *t, struct err *err)
{
    char path[] = "/tmp/test_profiles.XXXXXX", text[400];
    struct cluster c;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, table, sizeof table - 1), sizeof table - 1);
    close(fd);
    assert_ok(nodes_parse(nodes, a, &c, err), *err);
    struct trace_options o = {.cluster = &c, .profiles = path, .all_sizes = all_sizes};
    snprintf(text, sizeof text, "%s%s\n", header, line);
    int rc = trace_parse("t", text, strlen(text), &o, t, err);
    if (rc == 0)
        *out = t->jobs[0];
    unlink(path);
    return rc;
}

static void offers_what_runs(void **state)
{
    static const struct {
        const char *nodes, *line;
        bool all;
        units_t req, min, max;
    } cases[] = {
        {"1x4:t4", "0,0,700,net,100,32,1,9", false, 1000, 1000, 2000},
        {"1x4:t4", "0,0,700,net,100,32,3,9", false, 2000, 1000, 2000},
        {"1x4:t4", "0,0,700,net,100,32,8,9", false, 2000, 1000, 2000},
        {"1x4:t4", "0,0,700,net,100,32,8,9", true, 4000, 1000, 4000},
        {"1x4:t4", "0,0,700,big,100,32,1,9", false, 2000, 2000, 4000},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena a = {0};
        struct trace t;
        struct job j;
        struct err err;
        assert_ok(read_one(cases[i].nodes, cases[i].line, cases[i].all, &j, &a, &t, &err), err);
        assert_int_equal(j.kind, JOB_MALLEABLE);
        assert_true(j.req == cases[i].req && j.min == cases[i].min && j.max == cases[i].max);
        assert_int_equal(j.deadline, 100 * USEC_PER_SEC);
        trace_done(&t);
        arena_done(&a);
    }
}

static void counts_work_in_units(void **state)
{
    struct arena a = {0};
    struct trace t;
    struct job j;
    struct err err;
    (void)state;
    assert_ok(read_one("1x4:t4", "0,0,700,net,100,32,1,9", false, &j, &a, &t, &err), err);
    assert_true(speed_at(j.speeds, UNIT) == 1);
    assert_near(j.work / speed_at(j.speeds, 2 * UNIT), 200e6, 1e-6);
    /* Sizes past the fastest keep their speed. */
    assert_near(speed_at(j.speeds, 4 * UNIT), 1.5, 1e-12);
    trace_done(&t);
    assert_ok(read_one("1x4:t4", "0,0,700,big,100,32,1,9", false, &j, &a, &t, &err), err);
    assert_true(speed_at(j.speeds, 2 * UNIT) == 2);
    assert_near(j.work / speed_at(j.speeds, 2 * UNIT), 700e6, 1e-6);
    assert_near(j.work / speed_at(j.speeds, 4 * UNIT), 700e6 / 1.8, 1e-6);
    trace_done(&t);
    arena_done(&a);
}

static void serves_several_types(void **state)
{
    struct arena a = {0};
    struct trace t;
    struct job j;
    struct err err;
    (void)state;
    assert_ok(read_one("1x4:t4,1x8:a100", "0,0,700,net,100,32,1,9", false, &j, &a, &t, &err), err);
    assert_int_equal(j.pool, POOL_ANY_GPU);
    assert_int_equal(j.nspeeds, 3);
    assert_true(speed_at(job_speed(&j, POOL_GPU), UNIT) == 1);
    assert_true(speed_at(job_speed(&j, POOL_GPU + 1), UNIT) == 4);
    trace_done(&t);
    assert_ok(read_one("1x8:a100,1x4:t4", "0,0,700,big,100,32,2,9", false, &j, &a, &t, &err), err);
    assert_int_equal(j.pool, POOL_GPU + 1);
    assert_int_equal(j.nspeeds, 1);
    trace_done(&t);
    arena_done(&a);
}

static void refuses_what_does_not_match(void **state)
{
    static const struct {
        const char *nodes, *line, *words;
    } cases[] = {
        {"1x4", "0,0,7,net,9,32,1,9", "has several GPU types (T4, A100): say which the cluster"},
        {"1x4:v100", "0,0,7,net,9,32,1,9", "no GPU type 'v100'; it has T4, A100"},
        {"1x4:t4,1x4", "0,0,7,net,9,32,1,9", "no GPU type 'gpu'"},
        {"1x4:t4", "0,0,7,nat,9,32,1,9", "t:2:7: model_name 'nat': not in /tmp/test_profiles."},
        {"1x4:t4", "0,0,7,nat,9,32,1,9", "did you mean 'net'?"},
        {"1x4:t4", "0,0,7,net,9,64,1,9", "batch_size '64': /tmp/"},
        {"1x4:a100", "0,0,7,big,9,32,1,9", "has no rates for big of this size on the cluster's"},
        {"1x4:t4", "0,0,-7,net,9,32,1,9", "iteration '-7': expected a number from 0"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena a = {0};
        struct trace t;
        struct job j;
        struct err err;
        assert_error(read_one(cases[i].nodes, cases[i].line, false, &j, &a, &t, &err), err,
                     ERR_INVALID, cases[i].words);
        arena_done(&a);
    }
}

static void refuses_tables(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "p: the file is empty"},
        {"a,b\n1,2\n", "p:1:1: no known profile table; expected the columns gpu_type,model,"},
        {"model,gpus,speedup\n", "p: it has a header but no rows"},
        {"model,gpus,speedup\nm,0,1\n", "gpus '0': expected a whole number from 1 to 4096"},
        {"model,gpus,speedup\nm,9999,1\n", "gpus '9999'"},
        {"model,gpus,speedup\nm,1,-1\n", "speedup '-1': expected a number from 0"},
        {"model,gpus,speedup\nm,1,1\nm,1,2\n", "p:3:3: gpus '1': this row is in the table twice"},
        {"model,gpus,speedup\n,1,1\n", "model '': expected a name"},
        {"gpu_type,job_type,num_gpus,steps_per_s\n,LM,1,2\n", "gpu_type '': expected a GPU type"},
        {"model,gpus,speedup,x\nm,1,1,1\n", "unknown column 'x' for the speedup table format"},
    };
    struct profiles p;
    struct err err;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_error(profiles_parse("p", cases[i].text, strlen(cases[i].text), &p, &err), err,
                     ERR_INVALID, cases[i].words);
    assert_error(profiles_open("/no/such", &p, &err), err, ERR_INVALID, "/no/such: No such file");
}

/* ElasticFlow's T4 table was made from Pollux' profiles. */
static void agrees_with_elasticflow(void **state)
{
    static const struct {
        const char *application, *batch;
    } cases[] = {{"bert", "384"},        {"cifar10", "2048"},    {"cifar10", "4096"},
                 {"deepspeech2", "320"}, {"deepspeech2", "640"}, {"imagenet", "3200"},
                 {"imagenet", "6400"},   {"ncf", "32768"},       {"yolov3", "64"}};
    struct profiles p;
    struct err err;
    (void)state;
    assert_ok(profiles_open("data/elasticflow/throughputs.csv", &p, &err), err);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena a = {0};
        struct rates ours, theirs;
        assert_ok(pollux_rates("data/pollux/profiles", cases[i].application, "", cases[i].batch, &a,
                               &ours, &err),
                  err);
        assert_ok(profiles_rates(&p, "T4", cases[i].application, cases[i].batch, &a, &theirs, &err),
                  err);
        assert_int_equal(ours.n, 64);
        assert_int_equal(theirs.n, 64);
        for (uint32_t n = 1; n <= 64; n *= 2)
            assert_near(ours.at[n - 1], theirs.at[n - 1], 1e-14 * theirs.at[n - 1]);
        arena_done(&a);
    }
    profiles_done(&p);
}

static void counts_iterations(void **state)
{
    struct err err;
    double steps;
    (void)state;
    assert_ok(pollux_steps("data/pollux/profiles", "cifar10", "4096", &steps, &err), err);
    assert_true(steps == 2011);
    /* Halfway between 3178 at 2048 and 2011 at 4096. */
    assert_ok(pollux_steps("data/pollux/profiles", "cifar10", "3072", &steps, &err), err);
    assert_near(steps, (3178 + 2011) / 2.0, 1e-9);
    assert_error(pollux_steps("data/pollux/profiles", "cifar10", "64", &steps, &err), err,
                 ERR_INVALID, "no validation file for a batch size of at most 64");
    assert_error(pollux_steps("data/pollux/profiles", "cifar10", "9999", &steps, &err), err,
                 ERR_INVALID, "no validation file for a batch size of at least 9999");
}

static void put_file(const char *directory, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/app/%s", directory, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void remove_all(const char *directory)
{
    char command[200];
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    assert_int_equal(system(command), 0);
}

static const char placements[] = "placement,local_bsz,step_time,sync_time\n"
                                 "1,4,1,0.5\n1,8,2,0.5\n2,4,1,0.5\n2,8,2,0.5\n"
                                 "12,4,3,0\n12,8,4,0\n22,4,3,1\n22,8,4,1\n11,4,99,0\n";
static const char scalability[] = "num_nodes,num_replicas,local_bsz,step_time,sync_time\n"
                                  "4,8,4,5,1\n4,4,4,77,1\n2,4,4,88,1\n";

static void models_batches(void **state)
{
    /* Batch 16 on 1: two passes of 8; on 2, 3 and 4 one of 8, 6 and 4; on 5 one
     * of 4, a quarter of the way from 4 to 8; on more too few to run. */
    static const double seconds[] = {2 + 1.5, 2, 3.5, 3, 3.5, 0, 0, 0};
    char directory[] = "/tmp/test_pollux.XXXXXX", path[100];
    struct arena a = {0};
    struct rates r;
    struct err err;
    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/app", directory);
    assert_int_equal(mkdir(path, 0700), 0);
    put_file(directory, "placements.csv", placements);
    put_file(directory, "scalability.csv", scalability);
    assert_ok(pollux_rates(directory, "app", "t4", "16", &a, &r, &err), err);
    assert_int_equal(r.n, 8);
    for (uint32_t n = 1; n <= 8; n++)
        assert_near(r.at[n - 1], seconds[n - 1] > 0 ? 1 / seconds[n - 1] : 0, 1e-12);
    /* Batch 32 is 6 samples each on 6, which 8 replicas were not measured with,
     * and 4 each on 8. */
    assert_ok(pollux_rates(directory, "app", "", "32", &a, &r, &err), err);
    assert_near(r.at[7], 1 / 5.0, 1e-12);
    assert_near(r.at[5], 0, 0);

    put_file(directory, "placements-t4.csv", placements);
    put_file(directory, "scalability-t4.csv", scalability);
    assert_ok(pollux_rates(directory, "app", "T4", "16", &a, &r, &err), err);
    assert_error(pollux_rates(directory, "app", "", "16", &a, &r, &err), err, ERR_INVALID,
                 "say which the cluster has");
    assert_error(pollux_rates(directory, "app", "a100", "16", &a, &r, &err), err, ERR_INVALID,
                 "no profile placements-a100.csv");
    assert_error(pollux_rates(directory, "ap", "t4", "16", &a, &r, &err), err, ERR_INVALID,
                 "no application 'ap'; did you mean 'app'?");
    assert_error(pollux_rates(directory, "../etc", "t4", "16", &a, &r, &err), err, ERR_INVALID,
                 "no application '../etc'");
    put_file(directory, "placements-t4.csv", "placement,local_bsz,step_time,sync_time\n1,4,0,0\n");
    assert_error(pollux_rates(directory, "app", "t4", "16", &a, &r, &err), err, ERR_INVALID,
                 "placements-t4.csv:2:5: step_time '0'");
    put_file(directory, "placements-t4.csv", "placement,local_bsz,step_time,sync_time\n11,4,1,0\n");
    assert_error(pollux_rates(directory, "app", "t4", "16", &a, &r, &err), err, ERR_INVALID,
                 "no placement on a single node");
    remove_all(directory);
    arena_done(&a);
}

static void scales_from_rates(void **state)
{
    static const double one[] = {0, 2, 0, 6}, two[] = {1, 1.5, 0, 1.2};
    const struct rates none = {NULL, 0}, a4 = {one, 4}, b4 = {two, 4};
    struct arena a = {0};
    struct scaling s;
    (void)state;
    assert_int_equal(scaling_init(&s, &a, (struct rates[]){none}, 1), -1);
    assert_int_equal(scaling_init(&s, &a, (struct rates[]){a4, none, b4}, 3), 0);
    assert_int_equal(s.pool, POOL_ANY_GPU);
    assert_true(speed_runs(&s.speeds[POOL_GPU]) && speed_runs(&s.speeds[POOL_GPU + 2]));
    assert_false(speed_runs(&s.speeds[POOL_GPU + 1]));
    assert_int_equal(scaling_init(&s, &a, (struct rates[]){none, b4, none}, 3), 0);
    assert_int_equal(s.pool, POOL_GPU + 1);
    assert_int_equal(s.nspeeds, 1);
    assert_true(s.min == 1 && s.best == 2 && s.last == 4 && scaling_floor(&s, 3) == 2);
    assert_int_equal(scaling_init(&s, &a, (struct rates[]){a4, b4}, 2), 0);
    assert_int_equal(s.pool, POOL_ANY_GPU);
    assert_true(s.min == 2 && s.best == 4 && s.last == 4 && scaling_floor(&s, 1) == 0);
    assert_true(s.unit_rate == 1);
    arena_done(&a);
}

static const struct CMUnitTest tests[] = {
    TEST(offers_what_runs),     TEST(counts_work_in_units),
    TEST(serves_several_types), TEST(refuses_what_does_not_match),
    TEST(refuses_tables),       TEST(agrees_with_elasticflow),
    TEST(counts_iterations),    TEST(models_batches),
    TEST(scales_from_rates),
};

int main(void)
{
    return RUN(tests);
}
