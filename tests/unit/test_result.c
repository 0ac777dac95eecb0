/* Tests of sim/result: figures of hand-made results, and how the table, JSON
 * and CSV spell them. */
#include "sim/result.h"

#include <unistd.h>

#include "sim/report/figure.h"
#include "sim/report/result_csv.h"
#include "sim/report/result_gantt.h"
#include "sim/report/result_json.h"
#include "sim/report/result_text.h"
#include "support/test.h"

enum { JOBS_MOST = 1200 };

/* A result over jobs that the test fills in. */
struct fixture {
    struct job jobs[JOBS_MOST];
    struct sim_result r;
};

/* Jobs submitted at 0, each done after as many seconds as `jct` says. */
static struct fixture *fixture_create(uint32_t n, const double *jct)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    f->r = (struct sim_result){
        .policy = "fifo", .jobs = n, .utilization = 0.5, .allocated_used = NAN, .energy_wh = NAN};
    f->r.job = xcalloc(n, sizeof *f->r.job);
    for (uint32_t i = 0; i < n; i++) {
        f->jobs[i] = (struct job){.id = i, .name = "a", .req = UNIT, .pool = POOL_GPU};
        f->jobs[i].deadline = USEC_NEVER;
        usec_t end = llround(jct[i] * 1e6);
        f->r.job[i] =
            (struct sim_job){.job = &f->jobs[i], .end = end, .run = end, .fair_s = 16, .starts = 1};
    }
    return f;
}

static void fixture_free(struct fixture *f)
{
    result_done(&f->r);
    free(f);
}

static void lose(struct fixture *f, uint32_t i, enum sim_outcome outcome)
{
    f->r.job[i] = (struct sim_job){
        .job = &f->jobs[i], .outcome = outcome, .start = USEC_NEVER, .end = USEC_NEVER};
}

/* What `print` writes, as a string that the caller frees. */
#define PRINTED(text, stream, print)                                                               \
    AUTO_FREE char *text = NULL;                                                                   \
    do {                                                                                           \
        size_t printed_;                                                                           \
        FILE *stream = open_memstream(&text, &printed_);                                           \
        print;                                                                                     \
        fclose(stream);                                                                            \
    } while (0)

static void test_one_job(void **state)
{
    (void)state;
    struct fixture *f = fixture_create(1, (double[]){7.25});
    f->jobs[0].submit = 2 * USEC_PER_SEC;
    f->r.job[0].wait = 1250000;
    result_summarise(&f->r);
    assert_int_equal(f->r.finished, 1);
    assert_near(f->r.makespan_s, 5.25, 0);
    assert_near(f->r.mean_jct_s, 5.25, 0);
    assert_near(f->r.median_jct_s, 5.25, 0);
    assert_near(f->r.p95_jct_s, 5.25, 0);
    assert_near(f->r.p99_jct_s, 5.25, 0);
    assert_near(f->r.mean_wait_s, 1.25, 0);
    fixture_free(f);
}

static void test_percentiles_are_ranks(void **state)
{
    (void)state;
    double jct[200];
    for (int i = 0; i < 200; i++)
        jct[i] = 200 - i;
    struct fixture *f = fixture_create(200, jct);
    result_summarise(&f->r);
    assert_near(f->r.median_jct_s, 100, 0);
    assert_near(f->r.p95_jct_s, 190, 0);
    assert_near(f->r.p99_jct_s, 198, 0);
    assert_near(f->r.mean_jct_s, 100.5, 0);
    fixture_free(f);

    f = fixture_create(3, (double[]){5, 5, 9});
    result_summarise(&f->r);
    assert_near(f->r.median_jct_s, 5, 0);
    assert_near(f->r.p95_jct_s, 9, 0);
    fixture_free(f);
}

/* More microseconds than an int64_t can hold, added up. */
static void test_mean_of_long_times(void **state)
{
    (void)state;
    double jct[JOBS_MOST], far = (double)(USEC_LIMIT / USEC_PER_SEC);
    for (int i = 0; i < JOBS_MOST; i++)
        jct[i] = far;
    struct fixture *f = fixture_create(JOBS_MOST, jct);
    result_summarise(&f->r);
    assert_near(f->r.mean_jct_s, far, 1e-3);
    fixture_free(f);
}

static void test_makespan_from_first_submission(void **state)
{
    (void)state;
    struct fixture *f = fixture_create(3, (double[]){40, 50, 0});
    f->jobs[0].submit = 30 * USEC_PER_SEC;
    f->jobs[1].submit = 20 * USEC_PER_SEC;
    f->jobs[2].submit = 10 * USEC_PER_SEC;
    lose(f, 2, SIM_NEVER);
    result_summarise(&f->r);
    assert_near(f->r.makespan_s, 40, 0);
    assert_int_equal(f->r.never, 1);
    assert_int_equal(f->r.finished, 2);
    assert_near(f->r.mean_jct_s, 20, 0);
    fixture_free(f);
}

static void test_deadlines(void **state)
{
    (void)state;
    struct fixture *f = fixture_create(5, (double[]){10, 10, 10, 10, 10});
    f->jobs[0].deadline = 10 * USEC_PER_SEC;
    f->jobs[1].deadline = 10 * USEC_PER_SEC - 1;
    f->jobs[2].deadline = f->jobs[3].deadline = 99 * USEC_PER_SEC;
    lose(f, 2, SIM_NEVER);
    lose(f, 3, SIM_UNFINISHED);
    result_summarise(&f->r);
    assert_int_equal(f->r.deadline_jobs, 4);
    assert_int_equal(f->r.deadline_met, 1);
    assert_int_equal(f->r.unfinished, 1);
    fixture_free(f);
}

static void test_counts_add_up(void **state)
{
    (void)state;
    struct fixture *f = fixture_create(2, (double[]){1, 1});
    f->r.job[0] = (struct sim_job){.job = &f->jobs[0],
                                   .end = 1,
                                   .starts = 3,
                                   .preemptions = 2,
                                   .moves = 5,
                                   .resizes = 7,
                                   .failures = 11};
    result_summarise(&f->r);
    result_summarise(&f->r); /* again: nothing counts twice */
    assert_int_equal(f->r.starts, 4);
    assert_int_equal(f->r.preemptions, 2);
    assert_int_equal(f->r.migrations, 5);
    assert_int_equal(f->r.resizes, 7);
    assert_int_equal(f->r.failures, 11);
    assert_int_equal(f->r.finished, 2);
    fixture_free(f);
}

static void test_nothing_finished(void **state)
{
    (void)state;
    struct fixture *f = fixture_create(2, (double[]){1, 1});
    lose(f, 0, SIM_NEVER);
    lose(f, 1, SIM_NEVER);
    f->r.utilization = NAN;
    result_summarise(&f->r);
    assert_true(isnan(f->r.makespan_s) && isnan(f->r.mean_jct_s) && isnan(f->r.p99_jct_s));
    PRINTED(json, out, result_json(&f->r, true, NULL, out));
    assert_non_null(strstr(json, "\"makespan_s\":null,\"mean_jct_s\":null,\"median_jct_s\":null,"
                                 "\"p95_jct_s\":null,\"p99_jct_s\":null,\"mean_wait_s\":null"));
    assert_non_null(strstr(json, "\"utilization\":null"));
    assert_null(strstr(json, "nan"));
    PRINTED(table, out, result_table(&f->r, 1, false, out));
    assert_null(strstr(table, "nan"));
    assert_non_null(strstr(table, "2 jobs can never run on this cluster: a, a; the first "));
    fixture_free(f);
}

static void test_no_jobs(void **state)
{
    (void)state;
    struct sim_result r = {.policy = "fifo"};
    result_summarise(&r);
    assert_int_equal(r.finished, 0);
    assert_true(isnan(r.mean_jct_s));
    result_done(&r);
}

static void test_figures(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "0"},
        {1, "1"},
        {0.1, "0.1"},
        {1.0 / 3, "0.333333"},
        {2.0 / 3, "0.666667"},
        {-1.5, "-1.5"},
        {1e-7, "0"},
        {1e-6, "0.000001"},
        {123456789.25, "123456789.25"},
        {1e15, "1000000000000000"},
        {NAN, "null"},
        {INFINITY, "null"},
        {-INFINITY, "null"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct str s = {0};
        figure_add(&s, cases[i].value);
        assert_string_equal(s.at, cases[i].text);
        str_done(&s);
    }
    struct str s = {0};
    figure_add_int(&s, INT64_MIN);
    str_add(&s, " ");
    figure_add_seconds(&s, -1500000);
    str_add(&s, " ");
    figure_add_grouped(&s, 1234567.891, 1);
    str_add(&s, " ");
    figure_add_grouped(&s, 999.996, 2);
    str_add(&s, " ");
    figure_add_grouped(&s, NAN, 2);
    assert_string_equal(s.at, "-9223372036854775808 -1.5 1,234,567.9 1,000.00 -");
    str_done(&s);
}

static void test_json_fields(void **state)
{
    (void)state;
    struct fixture *f = fixture_create(2, (double[]){10, 20.5});
    snprintf(f->r.policy, sizeof f->r.policy, "a\"b");
    f->r.decisions = 9;
    f->r.bound_jct_s = 7.5;
    f->r.bound_makespan_s = 20;
    f->r.decision_p50_us = 1.25;
    f->r.wall_s = 3;
    result_summarise(&f->r);
    PRINTED(text, out, result_json(&f->r, false, NULL, out));
    assert_string_equal(
        text, "{\"policy\":\"a\\\"b\",\"jobs\":2,\"finished\":2,\"makespan_s\":20.5,"
              "\"mean_jct_s\":15.25,\"median_jct_s\":10,\"p95_jct_s\":20.5,\"p99_jct_s\":20.5,"
              "\"mean_wait_s\":0,\"deadline_jobs\":0,\"deadline_met\":0,\"utilization\":0.5,"
              "\"starts\":2,\"preemptions\":0,\"migrations\":0,\"resizes\":0,\"choices\":0,"
              "\"decisions\":9,"
              "\"decision_p50_us\":null,\"decision_p99_us\":null,\"decision_max_us\":null,"
              "\"wall_s\":null,\"never_runnable\":0,\"unfinished\":0,\"failures\":0,"
              "\"allocated_used\":null,\"energy_wh\":null,"
              "\"bound_jct_s\":7.5,\"worst_fairness\":1.28125,\"unfair\":0.5,"
              "\"bound_makespan_s\":20}\n");
    PRINTED(timed, out, result_json(&f->r, true, NULL, out));
    assert_non_null(strstr(timed, "\"decision_p50_us\":1.25,"));
    assert_non_null(strstr(timed, "\"wall_s\":3,"));
    fixture_free(f);
}

/* Three policies with two jobs each; the second is best in all but its
 * preemptions. */
static void test_table_marks_best(void **state)
{
    (void)state;
    struct fixture *f[] = {
        fixture_create(2, (double[]){100, 200}),
        fixture_create(2, (double[]){50, 60}),
        fixture_create(2, (double[]){100, 200}),
    };
    struct sim_result r[3];
    for (int i = 0; i < 3; i++) {
        f[i]->r.job[0].preemptions = (uint32_t)(i == 1);
        f[i]->jobs[0].deadline = 60 * USEC_PER_SEC;
        f[i]->r.utilization = i == 1 ? 0.9 : 0.4;
        result_summarise(&f[i]->r);
        r[i] = f[i]->r;
    }
    snprintf(r[1].policy, sizeof r[1].policy, "las");
    PRINTED(table, out, result_table(r, 3, false, out));
    assert_string_equal(
        table,
        "policy mean JCT  median    p95    p99  wait  makespan  met  worst  unfair   used  preempt "
        " "
        "resize  move\n"
        "fifo      150.0   100.0  200.0  200.0  0.00     200.0  0/1  12.50  100.0%  40.0%        "
        "0* "
        "     0     0\n"
        "las        55.0*   50.0*  60.0*  60.0* 0.00      60.0* 1/1*  3.75* 100.0%  90.0%*       1 "
        " "
        "     0     0\n"
        "fifo      150.0   100.0  200.0  200.0  0.00     200.0  0/1  12.50  100.0%  40.0%        "
        "0* "
        "     0     0\n"
        "Times are in seconds. JCT: from submission to end, of finished jobs. "
        "* best of its column.\n"
        "worst: largest JCT over that with an equal share of the cluster. unfair: jobs for which "
        "this is above 1.1.\n");
    PRINTED(coloured, out, result_table(r, 3, true, out));
    assert_non_null(strstr(coloured, "\033[1;32m55.0*\033[0m"));
    for (int i = 0; i < 3; i++)
        fixture_free(f[i]);
}

/* Values that are printed the same are all best. */
static void test_table_ties(void **state)
{
    (void)state;
    struct fixture *a = fixture_create(1, (double[]){2000.01});
    struct fixture *b = fixture_create(1, (double[]){2000.02});
    struct fixture *c = fixture_create(1, (double[]){3000});
    struct fixture *all[] = {a, b, c};
    struct sim_result r[3];
    for (int i = 0; i < 3; i++) {
        result_summarise(&all[i]->r);
        r[i] = all[i]->r;
    }
    PRINTED(table, out, result_table(r, 3, false, out));
    size_t marks = 0;
    for (const char *p = table; (p = strstr(p, "2,000.0*")); p++)
        marks++;
    assert_int_equal(marks, 2 * 5); /* four completion times and the makespan */
    assert_null(strstr(table, "3,000.0*"));
    PRINTED(alone, out, result_table(r, 1, false, out));
    assert_null(strchr(alone, '*'));
    for (int i = 0; i < 3; i++)
        fixture_free(all[i]);
}

/* Columns that a terminal shows: a character may be several bytes. */
static size_t columns_of(const char *line, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)line[i] & 0xc0) != 0x80;
    return n;
}

static void test_table_fits(void **state)
{
    (void)state;
    struct fixture *f = fixture_create(2, (double[]){98765432, 9876543});
    f->jobs[0].deadline = 0;
    for (int i = 0; i < 2; i++)
        f->r.job[i].preemptions = f->r.job[i].moves = f->r.job[i].resizes = 4000000000u;
    result_summarise(&f->r);
    struct sim_result r[2] = {f->r, f->r};
    memset(r[0].policy, 'x', sizeof r[0].policy - 1);
    snprintf(r[1].policy, sizeof r[1].policy, "allocate=afs-l,place=best-fit,share=hard");
    r[1].preemptions = 123456;
    r[1].resizes = 1234567;
    PRINTED(table, out, result_table(r, 2, false, out));
    for (const char *line = table, *end; (end = strchr(line, '\n')); line = end + 1)
        assert_in_range(columns_of(line, (size_t)(end - line)), 1, 120);
    assert_non_null(strstr(table, "…"));
    assert_non_null(strstr(table, " 123k"));
    assert_non_null(strstr(table, " 1.2M"));
    assert_non_null(strstr(table, " 8,000M"));
    fixture_free(f);
}

static void test_table_names_lost_jobs(void **state)
{
    (void)state;
    struct fixture *f = fixture_create(9, (double[9]){0});
    static const char *const names[] = {"one", "two\033[2J", "three", "four", "five", "six"};
    for (uint32_t i = 0; i < 9; i++) {
        f->jobs[i].name = i < 6 ? names[i] : "last";
        lose(f, i, i < 6 ? SIM_NEVER : SIM_UNFINISHED);
    }
    result_summarise(&f->r);
    PRINTED(table, out, result_table(&f->r, 1, false, out));
    assert_non_null(strstr(table, "6 jobs can never run on this cluster: "
                                  "one, two?[2J, three, four, five, ...; the first "));
    assert_non_null(strstr(table, "fifo: 3 jobs unfinished: last, last, last; the policy "));
    fixture_free(f);
}

static void test_gantt_names(void **state)
{
    (void)state;
    struct fixture *f = fixture_create(4, (double[]){10, 10, 10, 10});
    f->jobs[0].name = "a\033[2J\x7f\tb";
    f->jobs[1].name = "c\xc2\x9b"
                      "1m\xff"; /* a control character beyond ASCII, and no UTF-8 */
    f->jobs[2].name = "größe-über-alles-und-mehr";
    f->jobs[3].name = "sixteen letters.";
    result_summarise(&f->r);
    PRINTED(chart, out, result_gantt(&f->r, out));
    const char *row = strchr(chart, '\n');
    static const char *const rows[] = {"\na?[2J??b         ", "\nc?1m\xef\xbf\xbd            ",
                                       "\ngröße-über-alles ", "\nsixteen letters. "};
    for (size_t i = 0; i < COUNT_OF(rows); i++, row = strchr(row + 1, '\n'))
        assert_memory_equal(row, rows[i], strlen(rows[i]));
    fixture_free(f);
}

static char *read_all(const char *path)
{
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    char *text = xcalloc(1, 100000);
    size_t n = fread(text, 1, 99999, in);
    text[n] = '\0';
    fclose(in);
    return text;
}

static void test_jobs_csv(void **state)
{
    (void)state;
    struct fixture *f = fixture_create(4, (double[]){12.5, 30, 0, 0});
    f->jobs[0] = (struct job){.name = "a,\"b\"\nc",
                              .group = "g",
                              .submit = 2500000,
                              .req = 500,
                              .deadline = 20 * USEC_PER_SEC};
    f->r.job[0].start = 3 * USEC_PER_SEC;
    f->r.job[0].wait = 500000;
    f->r.job[0].preemptions = 3;
    f->jobs[1].deadline = 10 * USEC_PER_SEC;
    lose(f, 2, SIM_NEVER);
    lose(f, 3, SIM_UNFINISHED);
    result_summarise(&f->r);
    char path[] = "/tmp/trainyard-csv-XXXXXX";
    close(mkstemp(path));
    struct err err;
    assert_ok(result_jobs_csv(&f->r, 1, path, &err), err);
    AUTO_FREE char *text = read_all(path);
    unlink(path);
    assert_string_equal(
        text, "policy,id,name,group,units,submit_s,start_s,end_s,wait_s,run_s,jct_s,deadline_s,met,"
              "starts,preemptions,migrations,resizes,failures,outcome,energy_wh,"
              "fairness\n"
              "fifo,0,\"a,\"\"b\"\"\nc\",g,0.5,2.5,3,12.5,0.5,12.5,10,20,1,1,3,0,0,0,done,,0.625\n"
              "fifo,1,a,,1,0,0,30,0,30,30,10,0,1,0,0,0,0,done,,1.875\n"
              "fifo,2,a,,1,0,,,,,,,,0,0,0,0,0,never_runnable,,\n"
              "fifo,3,a,,1,0,,,0,0,,,,0,0,0,0,0,unfinished,,\n");
    fixture_free(f);
}

static const struct CMUnitTest tests[] = {
    TEST(test_one_job),
    TEST(test_percentiles_are_ranks),
    TEST(test_mean_of_long_times),
    TEST(test_makespan_from_first_submission),
    TEST(test_deadlines),
    TEST(test_counts_add_up),
    TEST(test_nothing_finished),
    TEST(test_no_jobs),
    TEST(test_figures),
    TEST(test_json_fields),
    TEST(test_table_marks_best),
    TEST(test_table_ties),
    TEST(test_table_fits),
    TEST(test_table_names_lost_jobs),
    TEST(test_gantt_names),
    TEST(test_jobs_csv),
};

int main(void)
{
    return RUN(tests);
}
