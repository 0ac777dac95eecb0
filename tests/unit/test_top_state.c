/* Tests of cli/top_state: keys, the selection while jobs come and go, scrolling. */
#include "cli/top_state.h"

#include "cli/key.h"
#include "support/test.h"

/* Jobs with these ids, 0 ends them; the first is held, the others run. */
static json_t *jobs_of(const int *ids)
{
    json_t *jobs = json_array();
    for (size_t i = 0; ids[i]; i++)
        json_array_append_new(jobs, json_pack("{s:i, s:s, s:f}", "id", ids[i], "state",
                                              i ? "running" : "held", "cpus", i ? 1.5 : 0.0));
    return jobs;
}

static const int ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0};

static struct top_state state_of(const json_t *jobs)
{
    struct top_state s = {.size = {10, 80}, .jobs = jobs};
    top_state_settle(&s);
    return s;
}

static void test_moves(void **state)
{
    (void)state;
    json_auto_t *jobs = jobs_of(ten);
    struct top_state s = state_of(jobs);
    static const struct {
        int key, selected, first;
    } steps[] = {
        {KEY_UP, 1, 0},   {KEY_DOWN, 2, 0},      {'j', 3, 0},  {'k', 2, 0},
        {KEY_END, 10, 4}, {KEY_DOWN, 10, 4},     {'k', 9, 4},  {KEY_PAGE_UP, 3, 2},
        {KEY_HOME, 1, 0}, {KEY_PAGE_DOWN, 7, 1}, {' ', 10, 4}, {'g', 1, 0},
        {'G', 10, 4},     {KEY_NONE, 10, 4},     {'x', 10, 4},
    };
    assert_int_equal(top_state_job_rows(&s), 6);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        assert_int_equal(top_state_key(&s, steps[i].key), TOP_NOTHING);
        assert_int_equal(s.selected, steps[i].selected);
        assert_int_equal(s.first, steps[i].first);
    }
}

/* The selection stays on its job; when that is gone, on its neighbour. */
static void test_data_change(void **state)
{
    (void)state;
    static const int fewer[] = {4, 5, 7, 8, 0}, none[] = {0}, falling[] = {9, 7, 3, 0};
    json_auto_t *jobs = jobs_of(ten), *few = jobs_of(fewer), *no = jobs_of(none);
    json_auto_t *fall = jobs_of(falling);
    struct top_state s = state_of(jobs);
    s.selected = 5;
    s.jobs = few;
    top_state_settle(&s);
    assert_int_equal(s.selected, 5);
    s.jobs = jobs;
    s.selected = 6;
    s.jobs = few;
    top_state_settle(&s);
    assert_int_equal(s.selected, 7);
    s.selected = 10;
    top_state_settle(&s);
    assert_int_equal(s.selected, 8);
    s.jobs = fall;
    top_state_settle(&s);
    assert_int_equal(s.selected, 7);
    s.selected = 1;
    top_state_settle(&s);
    assert_int_equal(s.selected, 3);
    s.jobs = no;
    top_state_settle(&s);
    assert_int_equal(s.selected, 0);
    assert_null(top_state_selected(&s));
    static const char keys[] = "jkc+-0h\n";
    for (size_t i = 0; keys[i]; i++)
        assert_int_equal(top_state_key(&s, keys[i]), TOP_NOTHING);
    s.jobs = NULL; /* no answer yet */
    top_state_settle(&s);
    assert_int_equal(s.selected, 0);
}

static void test_cancel(void **state)
{
    (void)state;
    static const int one[] = {2, 0};
    json_auto_t *jobs = jobs_of(ten), *other = jobs_of(one);
    struct top_state s = state_of(jobs);
    assert_int_equal(top_state_key(&s, 'c'), TOP_NOTHING);
    assert_int_equal(s.mode, TOP_CONFIRM);
    assert_int_equal(top_state_key(&s, KEY_NONE), TOP_NOTHING);
    assert_int_equal(s.mode, TOP_CONFIRM);
    assert_int_equal(top_state_key(&s, 'n'), TOP_NOTHING);
    assert_int_equal(s.mode, TOP_LIST);
    top_state_key(&s, 'c');
    assert_int_equal(top_state_key(&s, 'q'), TOP_NOTHING); /* "no", not "quit" */
    top_state_key(&s, 'c');
    assert_int_equal(top_state_key(&s, 'y'), TOP_CANCEL);
    assert_int_equal(s.selected, 1);
    /* The job ends while it is asked: the answer must not hit another one. */
    top_state_key(&s, 'c');
    s.jobs = other;
    top_state_settle(&s);
    assert_int_equal(s.mode, TOP_LIST);
    assert_int_equal(top_state_key(&s, 'y'), TOP_NOTHING);
}

static void test_wants(void **state)
{
    (void)state;
    json_auto_t *jobs = jobs_of(ten);
    struct top_state s = state_of(jobs);
    snprintf(s.message, sizeof s.message, "old");
    assert_int_equal(top_state_key(&s, 'h'), TOP_RELEASE); /* the first is held */
    assert_string_equal(s.message, "");
    top_state_key(&s, 'j');
    assert_int_equal(top_state_key(&s, 'h'), TOP_HOLD);
    assert_int_equal(top_state_key(&s, '+'), TOP_GROW);
    assert_int_equal(top_state_key(&s, '-'), TOP_SHRINK);
    assert_int_equal(top_state_key(&s, '0'), TOP_RESET);
    assert_int_equal(top_state_key(&s, 'p'), TOP_NOTHING);
    assert_true(s.paused);
    assert_int_equal(top_state_key(&s, 'p'), TOP_REFRESH);
    assert_false(s.paused);
    assert_int_equal(top_state_key(&s, 'a'), TOP_REFRESH);
    assert_true(s.all);
    assert_int_equal(top_state_key(&s, '?'), TOP_NOTHING);
    assert_int_equal(s.mode, TOP_HELP);
    assert_int_equal(top_state_key(&s, 'q'), TOP_NOTHING);
    assert_int_equal(s.mode, TOP_LIST);
    assert_int_equal(top_state_key(&s, 'q'), TOP_QUIT);
}

static void test_job_page(void **state)
{
    (void)state;
    json_auto_t *jobs = jobs_of(ten);
    struct top_state s = state_of(jobs);
    top_state_key(&s, KEY_END);
    assert_int_equal(top_state_key(&s, KEY_ENTER), TOP_REFRESH);
    assert_int_equal(s.mode, TOP_JOB);
    assert_int_equal(s.first, 0);
    top_state_key(&s, KEY_DOWN);
    top_state_key(&s, 'j');
    assert_int_equal(s.first, 2);
    assert_int_equal(top_state_key(&s, 'c'), TOP_NOTHING); /* only in the list */
    assert_int_equal(s.mode, TOP_JOB);
    top_state_key(&s, KEY_HOME);
    assert_int_equal(s.first, 0);
    assert_int_equal(top_state_key(&s, KEY_ESCAPE), TOP_NOTHING);
    assert_int_equal(s.mode, TOP_LIST);
    assert_int_equal(s.selected, 10);
    assert_int_equal(s.first, 4);
}

/* However small the screen is, there is a row for a job. */
static void test_sizes(void **state)
{
    (void)state;
    json_auto_t *jobs = jobs_of(ten), *nodes = jobs_of(ten);
    struct top_state s = state_of(jobs);
    s.nodes = nodes;
    for (unsigned rows = 1; rows < 60; rows++) {
        s.size.rows = rows;
        top_state_settle(&s);
        top_state_key(&s, KEY_END);
        assert_int_equal(s.selected, 10);
        assert_true(top_state_job_rows(&s) >= 1);
        assert_true(s.first + top_state_job_rows(&s) >= 10);
    }
    assert_int_equal(top_state_node_rows(&s), 10);
}

static void test_steps(void **state)
{
    (void)state;
    static const struct {
        double cpus, least, up, down;
    } cases[] = {{2, 1, 3, 1}, {1.5, 1, 2, 1}, {1, 1, 2, 0.5}, {0.5, 0.5, 1, 0.25}, {0, 2, 3, 1}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        json_auto_t *job =
            json_pack("{s:f, s:f}", "cpus", cases[i].cpus, "cpus_min", cases[i].least);
        assert_near(top_state_step(job, true), cases[i].up, 1e-9);
        assert_near(top_state_step(job, false), cases[i].down, 1e-9);
    }
}

static const struct CMUnitTest tests[] = {
    TEST(test_moves),    TEST(test_data_change), TEST(test_cancel), TEST(test_wants),
    TEST(test_job_page), TEST(test_sizes),       TEST(test_steps),
};

int main(void)
{
    return RUN(tests);
}
