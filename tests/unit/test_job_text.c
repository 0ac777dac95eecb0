/* Tests of cli/job_text: the short texts about a job, also when the server says
 * little or nonsense. */
#include "cli/job_text.h"

#include <jansson.h>

#include "support/test.h"

#define NOW (1000 * USEC_PER_SEC)

static json_t *parsed(const char *text)
{
    json_error_t error;
    json_t *job = json_loads(text, 0, &error);
    if (!job)
        fail_msg("%s: %s", text, error.text);
    return job;
}

static void test_band(void **state)
{
    (void)state;
    char buf[JOB_TEXT_SIZE];
    json_auto_t *job = parsed("{\"state\":\"running\",\"progress\":{\"expected_end_low\":1050,"
                              "\"expected_end_high\":1120}}");
    assert_string_equal(job_text_band(job, NOW, buf), "50.0s to 2m00s");
    json_auto_t *overdue = parsed("{\"state\":\"running\",\"progress\":{\"expected_end_low\":900,"
                                  "\"expected_end_high\":1120}}");
    assert_string_equal(job_text_band(overdue, NOW, buf), "0ms to 2m00s");
    json_auto_t *unknown =
        parsed("{\"state\":\"running\",\"progress\":{\"expected_end_low\":null}}");
    assert_string_equal(job_text_band(unknown, NOW, buf), "-");
    json_auto_t *queued = parsed("{\"state\":\"queued\",\"progress\":{\"expected_end_low\":1050,"
                                 "\"expected_end_high\":1120}}");
    assert_string_equal(job_text_band(queued, NOW, buf), "-");
}

/* The cells of a job, in the order of the table. */
static void reads(const char *text, const char *cells)
{
    json_auto_t *job = parsed(text);
    struct str out = {0};
    char buf[JOB_TEXT_SIZE];
    str_addf(&out, "%s|", job_text_state(job, buf));
    str_addf(&out, "%s|", job_text_cpus(job, buf));
    str_addf(&out, "%s|", job_text_progress(job, 4, buf));
    str_addf(&out, "%s|", job_text_steps(job, buf));
    str_addf(&out, "%s|", job_text_loss(job, buf));
    str_addf(&out, "%s|", job_text_time(job, NOW, buf));
    str_addf(&out, "%s", job_text_eta(job, NOW, buf));
    assert_string_equal(out.at, cells);
    str_done(&out);
}

static void test_cells(void **state)
{
    (void)state;
    reads("{\"state\":\"running\",\"cpus\":1.5,\"cpus_min\":1,\"cpus_max\":2,\"run_s\":12,"
          "\"progress\":{\"step\":120,\"total\":2000,\"fraction\":0.5,\"loss\":0.0834567,"
          "\"expected_end\":1053.4,\"at\":990}}",
          "running|1.5 of 1-2|██░░  50%|step 120 of 2000|0.08346|12.0s|53.4s");
    reads(
        "{\"state\":\"running\",\"paused\":true,\"cpus\":0,\"cpus_min\":1,\"cpus_max\":1,"
        "\"run_s\":3700,\"progress\":{\"step\":7,\"epoch\":2,\"epochs\":3,\"metric\":\"accuracy\","
        "\"value\":0.97,\"expected_end\":1005}}",
        "paused|0 of 1|step 7|step 7, epoch 2 of 3|-|1h01m|-");
    reads("{\"state\":\"queued\",\"cpus\":0,\"cpus_min\":0.25,\"cpus_max\":4,\"submitted\":812,"
          "\"attempt\":0,\"progress\":null,\"run_s\":0}",
          "queued|0 of 0.25-4|-|-|-|waits 3m08s|-");
    reads(
        "{\"state\":\"failed\",\"code\":3,\"cpus\":0,\"cpus_min\":1,\"cpus_max\":1,\"run_s\":1.25}",
        "failed (3)|-|-|-|-|1.2s|-");
    reads("{\"state\":\"done\",\"code\":0,\"run_s\":60,\"progress\":{\"fraction\":0.999}}",
          "done|-|███▉  99%|-|-|1m00s|-");
    reads("{\"state\":\"done\",\"run_s\":60,\"progress\":{\"fraction\":0.29}}",
          "done|-|█▏░░  29%|-|-|1m00s|-");
    reads("{\"state\":\"done\",\"run_s\":60,\"progress\":{\"fraction\":7}}",
          "done|-|████ 100%|-|-|1m00s|-");
}

/* A server that answers otherwise than expected breaks nothing. */
static void test_nonsense(void **state)
{
    (void)state;
    reads("{}", "|-|-|-|-|-|-");
    reads("{\"state\":7,\"cpus\":\"many\",\"progress\":[1],\"run_s\":1e300,\"submitted\":{}}",
          "|-|-|-|-|-|-");
    reads("{\"state\":\"queued\",\"submitted\":2000}", "queued|-|-|-|-|waits 0ms|-");
    reads("{\"state\":\"a-state-of-the-future-with-a-name-that-is-far-too-long-for-it\"}",
          "a-state-of-the-future-with-a-name-that-i|-|-|-|-|-|-");
    reads("{\"state\":\"running\",\"cpus\":1e300,\"cpus_min\":1,\"cpus_max\":1e300,"
          "\"progress\":{\"step\":1e300,\"fraction\":-1,\"loss\":1e300}}",
          "running|1e+300 of 1-1e+300|░░░░   0%|step 1e+300|1e+300|-|-");
}

static int exit_of(const char *text)
{
    json_auto_t *job = parsed(text);
    return job_text_exit(job);
}

static void test_exit(void **state)
{
    (void)state;
    assert_int_equal(exit_of("{\"state\":\"done\",\"code\":0}"), 0);
    assert_int_equal(exit_of("{\"state\":\"failed\",\"code\":7}"), 7);
    assert_int_equal(exit_of("{\"state\":\"failed\",\"code\":null,"
                             "\"attempts\":[{\"signal\":9},{\"signal\":11}]}"),
                     139);
    assert_int_equal(exit_of("{\"state\":\"cancelled\",\"code\":0}"), 1);
    assert_int_equal(exit_of("{\"state\":\"cancelled\",\"code\":null}"), 1);
    assert_int_equal(exit_of("{\"state\":\"timeout\",\"code\":143}"), 143);
    assert_int_equal(exit_of("{\"state\":\"lost\",\"code\":99999}"), 1);
}

static void test_over(void **state)
{
    (void)state;
    static const char *const active[] = {"held", "queued", "starting", "running", "stopping"};
    static const char *const over[] = {"done", "failed", "cancelled", "timeout", "lost"};
    for (size_t i = 0; i < 5; i++) {
        json_auto_t *a = json_pack("{s:s}", "state", active[i]);
        json_auto_t *b = json_pack("{s:s}", "state", over[i]);
        assert_false(job_text_over(a));
        assert_true(job_text_over(b));
    }
}

static void test_when(void **state)
{
    (void)state;
    char buf[JOB_TEXT_SIZE];
    assert_string_equal(job_text_when(820, NOW, buf), "3m00s ago");
    assert_string_equal(job_text_when(8500, NOW, buf), "in 2h05m");
    assert_string_equal(job_text_when(1000.3, NOW, buf), "now");
    assert_string_equal(job_text_when(NAN, NOW, buf), "-");
    assert_string_equal(job_text_when(1e300, NOW, buf), "in -");
    assert_string_equal(job_text_units(2, buf), "2");
    assert_string_equal(job_text_units(1.25, buf), "1.25");
    assert_string_equal(job_text_units(10, buf), "10");
    assert_string_equal(job_text_units(0, buf), "0");
    assert_string_equal(job_text_units(-0.5, buf), "-0.5");
    assert_string_equal(job_text_units(1e14, buf), "100000000000000");
    assert_string_equal(job_text_megabytes(512, buf), "512 MB");
    assert_string_equal(job_text_rate(0.01234, buf), "0.0123");
    assert_string_equal(job_text_rate(999.4, buf), "999");
    assert_string_equal(job_text_rate(4451, buf), "4,450");
    assert_string_equal(job_text_rate(1234567, buf), "1,230,000");
    assert_string_equal(job_text_megabytes(4000, buf), "3.9 GB");
}

static void test_bar(void **state)
{
    (void)state;
    static const struct {
        double share;
        const char *bar;
    } cases[] = {{0, "░░░░"},    {0.125, "▌░░░"}, {0.25, "█░░░"}, {0.5, "██░░"},
                 {0.97, "███▉"}, {1, "████"},     {2, "████"},    {-1, "░░░░"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct str out = {0};
        job_text_bar(cases[i].share, 4, &out);
        assert_string_equal(out.at, cases[i].bar);
        str_done(&out);
    }
}

static const struct CMUnitTest tests[] = {
    TEST(test_cells), TEST(test_band), TEST(test_nonsense), TEST(test_exit),
    TEST(test_over),  TEST(test_when), TEST(test_bar),
};

int main(void)
{
    return RUN(tests);
}
