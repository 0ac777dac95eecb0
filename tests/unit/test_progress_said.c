/* Tests of what a job says of its progress itself: the file $TRAINYARD_PROGRESS and
 * the job's own pattern. */
#include "progress/pattern.h"
#include "progress/progress.h"

#include <time.h>

#include "support/progress_json.h"
#include "support/test.h"

static struct progress_reader *reader(const char *pattern)
{
    struct progress_reader *r = NULL;
    struct err err;
    struct progress_config config = {.pattern = pattern};
    assert_ok(progress_create(&config, &r, &err), err);
    return r;
}

static bool feed(struct progress_reader *r, const char *text)
{
    return progress_feed(r, text, strlen(text));
}

static bool feed_file(struct progress_reader *r, const char *text)
{
    return progress_feed_file(r, text, strlen(text));
}

static void test_file(void **state)
{
    (void)state;
    struct progress_reader *r = reader(NULL);
    assert_true(feed_file(r, "{\"step\":10,\"total\":100,\"epoch\":1,\"epochs\":3,\"loss\":0.5,"
                             "\"rate\":12.3,\"Val Acc\":0.9}\n"));
    struct str got = {0};
    progress_add_json(progress_now(r), &got);
    assert_string_equal(got.at, "\"step\":10,\"total\":100,\"epoch\":1,\"epochs\":3,\"loss\":0.5,"
                                "\"rate\":12.3,\"metrics\":{\"val_acc\":0.9},\"source\":\"file\"");
    str_done(&got);
    /* A part of a line waits for the rest. */
    assert_false(feed_file(r, "{\"step\":"));
    assert_int_equal(progress_now(r)->step, 10);
    assert_true(feed_file(r, "11}\n{\"loss\":\"nan\"}\n"));
    assert_int_equal(progress_now(r)->step, 11);
    assert_true(progress_now(r)->diverged);
    assert_true(feed_file(r, "{\"loss\":-Infinity}\n"));
    assert_true(progress_now(r)->loss < 0 && isinf(progress_now(r)->loss));
    assert_null(progress_problem(r));
    progress_free(r);
}

static void test_file_garbage(void **state)
{
    (void)state;
    struct progress_reader *r = reader(NULL);
    static const char *const lines[] = {
        "hello\n",           "{\n",
        "[1,2]\n",           "{\"step\":-1}\n",
        "{\"step\":1.5}\n",  "{\"step\":\"x\"}\n",
        "{\"step\":1e30}\n", "{\"step\":{}}\n",
        "{\"total\":0}\n",   "{\"epoch\":-2}\n",
        "\xff\xfe\n",        "{}\n",
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        if (feed_file(r, lines[i]))
            fail_msg("%s is news", lines[i]);
    }
    /* A huge line is skipped whole, wherever it is cut. */
    assert_false(feed_file(r, "{\"x\":\""));
    for (int i = 0; i < 3000; i++)
        feed_file(r, "{\"step\":7} ");
    assert_false(feed_file(r, "\"}\n"));
    assert_true(feed_file(r, "{\"step\":8}\n"));
    assert_int_equal(progress_now(r)->step, 8);
    assert_non_null(strstr(progress_problem(r), "JSON"));
    assert_null(progress_problem(r)); /* once */
    /* Truncated: the partial line is forgotten, the beginning is read again. */
    feed_file(r, "{\"step\":99");
    progress_restart_file(r);
    assert_true(feed_file(r, "{\"step\":9}\n"));
    assert_int_equal(progress_now(r)->step, 9);
    progress_free(r);
}

static void test_file_beats_output(void **state)
{
    (void)state;
    struct progress_reader *r = reader(NULL);
    feed(r, "step 50/60 loss 0.7\n");
    feed_file(r, "{\"step\":3}\n");
    assert_int_equal(progress_now(r)->step, 3);
    assert_false(progress_now(r)->has & PROGRESS_TOTAL);
    assert_near(progress_now(r)->loss, 0.7, 0);
    feed(r, "step 51/60 loss 0.6\n");
    assert_int_equal(progress_now(r)->step, 3);
    assert_near(progress_now(r)->loss, 0.6, 0); /* the file has not said it */
    feed_file(r, "{\"step\":2,\"loss\":0.1,\"total\":1}\n");
    feed(r, "step 52/60 loss 0.5\n");
    assert_int_equal(progress_now(r)->step, 3);
    assert_int_equal(progress_now(r)->total, 3);
    assert_near(progress_now(r)->loss, 0.1, 0);
    progress_free(r);
}

static void test_many_metrics(void **state)
{
    (void)state;
    struct progress_reader *r = reader(NULL);
    for (int i = 0; i < 100; i++) {
        char line[64];
        snprintf(line, sizeof line, "{\"metric%d\":%d}\n", i, i);
        feed_file(r, line);
    }
    assert_int_equal(progress_now(r)->n_metrics, PROGRESS_METRICS);
    assert_string_equal(progress_now(r)->metric[3].name, "metric3");
    progress_free(r);
}

/* ---- patterns ------------------------------------------------------------- */

static void test_pattern(void **state)
{
    (void)state;
    struct progress_reader *r =
        reader("at (?<step>\\d+) of (?<total>\\d+), energy (?<loss>\\S+), T=(?<heat>\\S+)");
    assert_true(feed(r, "at 5 of 50, energy -1.5e2, T=300.5\n"));
    const struct progress *p = progress_now(r);
    assert_int_equal(p->step, 5);
    assert_int_equal(p->total, 50);
    assert_near(p->loss, -150, 0);
    assert_string_equal(p->metric[0].name, "heat");
    assert_string_equal(p->source, "pattern");
    assert_false(feed(r, "step 7/9 loss 0.5\n")); /* only the pattern counts */
    assert_false(feed(r, "at \xff\xfe 5 of\n"));
    assert_false(feed(r, "at 4 of 50, energy x, T=300.5\n"));
    assert_true(feed(r, "at 6 of 50, energy nan, T=1\n"));
    assert_true(p->diverged);
    assert_null(progress_problem(r));
    progress_free(r);

    r = reader("generation (?<epoch>\\d+)/(?<epochs>\\d+)");
    feed(r, "generation 3/12\n");
    assert_int_equal(progress_now(r)->step, 3);
    assert_int_equal(progress_now(r)->total, 12);
    progress_free(r);
}

static void test_bad_patterns(void **state)
{
    (void)state;
    struct err err;
    struct progress_reader *r = NULL;
    assert_error(progress_pattern_check("step (?<step>\\d+", &err), err, ERR_INVALID,
                 "at offset 16");
    assert_error(progress_pattern_check("", &err), err, ERR_INVALID, "empty");
    assert_error(progress_pattern_check("step (\\d+)", &err), err, ERR_INVALID, "no group named");
    assert_error(progress_pattern_check("(?<heat>\\d+)", &err), err, ERR_INVALID, "no group named");
    assert_error(progress_pattern_check("(?<step>\\C)", &err), err, ERR_INVALID, "offset");
    assert_error(progress_pattern_check("(?<step>\xff)", &err), err, ERR_INVALID, "offset");
    char lengthy[2000];
    memset(lengthy, 'a', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    assert_error(progress_pattern_check(lengthy, &err), err, ERR_INVALID, "at most 1024");
    char deep[300] = "(?<step>1)";
    memset(deep + 10, '(', 100);
    memset(deep + 110, ')', 100);
    assert_error(progress_pattern_check(deep, &err), err, ERR_INVALID, "nested");
    struct str many = {0};
    for (int i = 0; i < 30; i++)
        str_addf(&many, "(?<m%d>a)", i);
    assert_error(progress_pattern_check(many.at, &err), err, ERR_INVALID, "named groups");
    str_done(&many);
    struct progress_config config = {.pattern = "("};
    assert_error(progress_create(&config, &r, &err), err, ERR_INVALID, "offset 1");
    assert_null(r);
    assert_ok(progress_pattern_check("(?<loss>\\S+)", &err), err);
}

/* A pattern that would take for ever is stopped, and given up at last. */
static void test_costly_pattern(void **state)
{
    (void)state;
    struct progress_reader *r = reader("(?<step>(a+)+)+$");
    static char line[4000];
    memset(line, 'a', sizeof line);
    line[sizeof line - 2] = 'b';
    line[sizeof line - 1] = '\n';
    clock_t start = clock();
    for (int i = 0; i < 2000; i++)
        progress_feed(r, line, sizeof line);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 5);
    assert_non_null(strstr(progress_problem(r), "too long"));
    assert_null(progress_problem(r));
    progress_free(r);
}

static const struct CMUnitTest tests[] = {
    TEST(test_file),           TEST(test_file_garbage), TEST(test_file_beats_output),
    TEST(test_many_metrics),   TEST(test_pattern),      TEST(test_bad_patterns),
    TEST(test_costly_pattern),
};

int main(void)
{
    return RUN(tests);
}
