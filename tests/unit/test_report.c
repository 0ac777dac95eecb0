/* Tests of the report's data: what is kept of long traces, and that nothing in
 * a trace gets out of it. What the page makes of it is tested in a browser. */
#include "sim/report/report.h"

#include <unistd.h>

#include "sim/report/page.h"
#include "sim/report/page_curves.h"
#include "sim/report/page_data.h"
#include "sim/report/page_prepare.h"
#include "support/test.h"

struct fixture {
    struct job *jobs;
    struct node node;
    struct cluster cluster;
    struct sim_result r;
};

/* Job i is submitted at i seconds and runs for i + 1 seconds, on one GPU. */
static void fixture_init(struct fixture *f, uint32_t n)
{
    *f = (struct fixture){.jobs = xcalloc(n, sizeof *f->jobs)};
    f->node = (struct node){.name = "n1", .gpus = 4 * UNIT, .gpu_pool = POOL_GPU};
    f->cluster = (struct cluster){.nodes = &f->node, .n = 1, .gpu_types = {"t4"}};
    f->r = (struct sim_result){.policy = "fifo", .jobs = n, .job = xcalloc(n, sizeof *f->r.job)};
    for (uint32_t i = 0; i < n; i++) {
        usec_t submit = i * USEC_PER_SEC, run = (i + 1) * USEC_PER_SEC;
        f->jobs[i] = (struct job){.id = i,
                                  .name = "j",
                                  .req = UNIT,
                                  .pool = POOL_GPU,
                                  .submit = submit,
                                  .deadline = USEC_NEVER};
        f->r.job[i] = (struct sim_job){
            .job = &f->jobs[i], .start = submit, .end = submit + run, .run = run, .starts = 1};
        VEC_PUSH(&f->r.segments, (struct sim_segment){i, 0, submit, submit + run, UNIT, UNIT});
    }
    result_summarise(&f->r);
}

static void fixture_done(struct fixture *f)
{
    result_done(&f->r);
    free(f->jobs);
}

static struct report report_of(struct fixture *f, uint32_t policies)
{
    return (struct report){
        .r = &f->r, .n = policies, .cluster = &f->cluster, .trace = "t.csv", .nodes = "1x4"};
}

static char *data_of(struct fixture *f)
{
    struct report p = report_of(f, 1);
    struct str s = {0};
    struct err err;
    assert_ok(report_prepare(&p, &err), err);
    report_add_data(&s, &p);
    return s.at;
}

#define assert_has(text, part)                                                                     \
    do {                                                                                           \
        if (!strstr(text, part))                                                                   \
            fail_msg("no %s in %.3000s", part, text);                                              \
    } while (0)

static void test_small(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 3);
    f.jobs[1].group = "g";
    f.jobs[1].deadline = 2 * USEC_PER_SEC;
    f.r.job[2].outcome = SIM_UNFINISHED;
    f.r.job[2].start = f.r.job[2].end = USEC_NEVER;
    f.r.job[2].run = 0;
    result_summarise(&f.r);
    AUTO_FREE char *data = data_of(&f);
    assert_has(data, "\"unit\":\"GPU\",\"per_unit\":1,\"tick_us\":1000000,\"exact\":true");
    assert_has(data, "\"cluster\":{\"nodes\":1,\"pools\":[[\"t4\",4]],\"names\":[\"n1\"]}");
    assert_has(data, "\"jobs\":{\"n\":3,\"id\":[0,1,2],\"units\":1,\"submit\":[0,1,2],"
                     "\"deadline\":[-1,1,-1],\"name\":[\"j\",\"j\",\"j\"],\"groups\":[\"g\"],"
                     "\"group\":[-1,0,-1]}");
    assert_has(data, "\"late\":1,\"lateness\":1,\"first\":[0,0,-1],\"span\":[1,2,-1],\"again\":0,"
                     "\"run\":0,\"outcome\":[0,0,2],\"starts\":1");
    assert_has(data, "\"cdf\":{\"n\":2,\"at\":1,\"rank\":1}");
    assert_has(data, "\"queue\":{\"n\":0},\"used\":{\"n\":0}");
    assert_has(data, "\"segments\":{\"n\":3,\"recorded\":3,\"cut\":false,\"job\":[0,1,1],\"gap\":0,"
                     "\"length\":[1,2,3],\"units\":1,\"node\":0}");
    fixture_done(&f);
}

static void test_fractions(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 2);
    f.jobs[0].req = 250;
    f.r.segments.at[1].used = 333.4;
    f.r.job[1].end += 1500;
    AUTO_FREE char *data = data_of(&f);
    assert_has(data, "\"per_unit\":1000,\"tick_us\":1000,\"exact\":false");
    assert_has(data, "\"units\":[250,1000]");
    assert_has(data, "\"span\":[1000,2002]");
    assert_has(data, "\"length\":[1000,2000],\"units\":[1000,333]");
    fixture_done(&f);
}

static void test_all_never_runnable(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 2);
    VEC_DONE(&f.r.segments);
    for (int i = 0; i < 2; i++)
        f.r.job[i] = (struct sim_job){
            .job = &f.jobs[i], .outcome = SIM_NEVER, .start = USEC_NEVER, .end = USEC_NEVER};
    f.r.utilization = NAN;
    result_summarise(&f.r);
    AUTO_FREE char *data = data_of(&f);
    assert_has(data, "\"cdf\":{\"n\":0,\"at\":[],\"rank\":[]}");
    assert_has(data, "\"mean_jct_s\":null");
    assert_has(data, "\"segments\":{\"n\":0,");
    fixture_done(&f);
}

static void test_long_trace_is_sampled(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;
    fixture_init(&f, 250000);
    struct report p = report_of(&f, 1);
    assert_ok(report_prepare(&p, &err), err);
    assert_int_equal(p.stride, 3);
    assert_int_equal(p.gantt_stride, 3);
    struct sim_result four[] = {f.r, f.r, f.r, f.r};
    p = report_of(&f, 4);
    p.r = four;
    assert_ok(report_prepare(&p, &err), err);
    assert_int_equal(p.stride, 3);
    assert_int_equal(p.gantt_stride, 12);
    AUTO_FREE char *data = data_of(&f);
    assert_has(data, "\"stride\":3,\"gantt_stride\":3");
    assert_has(data, "\"jobs\":{\"n\":83334,");
    assert_has(data, "\"segments\":{\"n\":83334,\"recorded\":250000,\"cut\":false,\"job\":[0,1,1,");
    fixture_done(&f);
}

static void test_one_restless_job(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 1);
    for (uint32_t i = 1; i <= REPORT_SEGMENTS_MOST; i++)
        VEC_PUSH(&f.r.segments,
                 (struct sim_segment){0, 0, i * USEC_PER_SEC, (i + 1) * USEC_PER_SEC, UNIT, UNIT});
    AUTO_FREE char *data = data_of(&f);
    assert_has(data, "\"segments\":{\"n\":120000,\"recorded\":120001,\"cut\":true,");
    fixture_done(&f);
}

/* A spike of one second among thousands of samples is still there. */
static void test_curves_keep_extremes(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 1);
    for (uint32_t i = 0; i < 10000; i++)
        VEC_PUSH(&f.r.samples, (struct sim_sample){.at = i * USEC_PER_SEC,
                                                   .waiting = i == 7777 ? 900 : 10 + i % 2,
                                                   .used = i == 5000 ? 0 : 1});
    AUTO_FREE char *data = data_of(&f);
    assert_has(data, "\"queue\":{\"n\":10000,\"slices\":500,\"lo\":10,\"hi\":[11,11,");
    assert_has(data, ",900,");
    assert_has(data, "\"mean10\":[105,105,");
    assert_has(data, "\"used\":{\"n\":10000,\"slices\":500,\"lo\":[10000,10000,");
    assert_has(data, "10000,0,10000");
    fixture_done(&f);
}

/* Each node has its curve: jobs in tenths, the use of its GPUs in hundredths of a percent. */
static void test_nodes(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 2);
    f.r.nodes = 1;
    f.r.node = xcalloc(1, sizeof *f.r.node);
    f.r.node[0].gpu_used = 0.375;
    VEC_PUSH(&f.r.node_samples, (struct sim_node_sample){.at = 0, .jobs = 1, .gpu = 0.25});
    VEC_PUSH(&f.r.node_samples,
             (struct sim_node_sample){.at = USEC_PER_SEC, .jobs = 2, .gpu = 0.5, .cpu = 1});
    VEC_PUSH(&f.r.moves, (struct sim_move){2 * USEC_PER_SEC, 1, 0, 0, "balanced"});
    AUTO_FREE char *data = data_of(&f);
    assert_has(data, ",\"by_node\":[{\"gpu\":true,\"mean\":0.375,\"n\":2,\"at\":[0,1],"
                     "\"jobs\":[10,20],\"used\":[2500,5000]}]");
    assert_has(data, ",\"moves\":{\"n\":1,\"recorded\":1,\"at\":2,\"job\":1,\"from\":0,\"to\":0,"
                     "\"list\":[\"balanced\"]}");
    fixture_done(&f);
}

/* A curve with many steps becomes the means of slices of time. */
static void test_nodes_that_change_often(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 1);
    f.r.nodes = 1;
    f.r.node = xcalloc(1, sizeof *f.r.node);
    f.r.job[0].end = 10000 * USEC_PER_SEC;
    for (uint32_t i = 0; i < 10000; i++)
        VEC_PUSH(&f.r.node_samples,
                 (struct sim_node_sample){.at = i * USEC_PER_SEC, .jobs = i % 2, .gpu = 0.5});
    AUTO_FREE char *data = data_of(&f);
    assert_has(data, "\"n\":300,\"at\":[0,33,67,100,");
    assert_has(data, "\"jobs\":5,\"used\":5000}");
    fixture_done(&f);
}

static void test_cdf_keeps_the_slowest(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, 50000);
    struct report p = report_of(&f, 1);
    struct str s = {0};
    struct err err;
    assert_ok(report_prepare(&p, &err), err);
    report_add_cdf(&s, &p, &f.r);
    long at = 0, n = 0;
    for (char *q = strstr(s.at, "\"at\":[") + 5; *q != ']'; n++)
        at += strtol(q + 1, &q, 10);
    assert_int_equal(at, 50000); /* the differences add up to the slowest job */
    assert_in_range(n, 1000, REPORT_POINTS_MOST);
    str_done(&s);
    fixture_done(&f);
}

static void test_names_cannot_get_out(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;
    char long_name[300], path[] = "/tmp/trainyard-report-XXXXXX";
    fixture_init(&f, 3);
    f.jobs[0].name = "</script><!--<script>";
    f.jobs[1].name = f.jobs[1].group = "\xff\xc3\x01\"\\";
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    memcpy(long_name + 95, "\xe2\x82\xac", 3); /* a character across the cut */
    f.jobs[2].name = long_name;
    close(mkstemp(path));
    assert_ok(report_write(&f.r, 1, &f.cluster, "dir/<b>&\"", "<i>", path, &err), err);
    FILE *in = fopen(path, "r");
    size_t size = strlen(report_page) + 100000;
    AUTO_FREE char *page = xcalloc(1, size);
    assert_true(fread(page, 1, size - 1, in) > strlen(report_page));
    fclose(in);
    unlink(path);
    assert_null(strstr(page, "</script><!--"));
    assert_null(strstr(page, "<title><b>"));
    assert_has(page, "<title>&lt;b&gt;&amp;&quot; ");
    assert_has(page, "\"\\u003c/script>\\u003c!--\\u003cscript>\"");
    assert_has(page, "\"\\ufffd\\ufffd\\u0001\\\"\\\\\"");
    assert_has(page, "\"nodes\":\"\\u003ci>\"");
    assert_has(page, "xx…\"");
    assert_null(strstr(page, "\xff"));
    fixture_done(&f);
}

static void test_errors(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;
    fixture_init(&f, 2);
    assert_error(report_write(&f.r, 0, &f.cluster, "t", "1x4", "/tmp/x", &err), err, ERR_INVALID,
                 "at least one policy");
    assert_error(report_write(&f.r, 1, &f.cluster, "t", "1x4", "/tmp/none/none.html", &err), err,
                 ERR_IO, "cannot write /tmp/none/none.html");
    struct sim_result two[] = {f.r, f.r};
    two[1].jobs = 1;
    struct report p = report_of(&f, 2);
    p.r = two;
    assert_error(report_prepare(&p, &err), err, ERR_INTERNAL, "different traces");
    f.r.segments.at[1].job = 2;
    p = report_of(&f, 1);
    assert_error(report_prepare(&p, &err), err, ERR_INTERNAL, "is of job 2 of 2");
    fixture_done(&f);
}

static const struct CMUnitTest tests[] = {
    TEST(test_small),
    TEST(test_fractions),
    TEST(test_all_never_runnable),
    TEST(test_long_trace_is_sampled),
    TEST(test_one_restless_job),
    TEST(test_curves_keep_extremes),
    TEST(test_nodes),
    TEST(test_nodes_that_change_often),
    TEST(test_cdf_keeps_the_slowest),
    TEST(test_names_cannot_get_out),
    TEST(test_errors),
};

int main(void)
{
    return RUN(tests);
}
