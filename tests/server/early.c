/* Groups of which the worse half is stopped: who is stopped, and when that is certain. */
#include "server/jobs/early.h"

#include <stdio.h>

#include "server/jobs/verbs.h"
#include "store/job_state.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

static const struct fake_options four_cpus = {
    .seed = 1, .nodes = 1, .cpus = 4 * UNIT, .memory_mb = 8192, .report = USEC_PER_SEC};

/* It takes 100 s and as many steps. */
static int64_t submit(struct stage *w, double loss, int keep)
{
    char json[256];
    snprintf(json, sizeof json,
             "{\"command\": [\"fake\", \"work=100\", \"steps=100\", \"loss=%g\"], \"cpus\": 2,"
             " \"group\": \"g\", \"keep_best\": %d, \"every\": 20}",
             loss, keep);
    return stage_submit(w, json);
}

static double steps_of(struct stage *w, int64_t job)
{
    return stage_job(w, job)->step;
}

/* Two run at once. The second is worse than the first, and nothing is known of the others: it is
 * not in the worse half of four before two better ones have been there. */
static void nobody_is_stopped_for_being_early(void **state)
{
    struct stage w;
    (void)state;
    stage_begin(&w, &four_cpus, "fifo");
    stage_start(&w);
    int64_t best = submit(&w, 0.1, 1), second = submit(&w, 0.2, 1), third = submit(&w, 0.3, 1),
            worst = submit(&w, 0.4, 1);
    stage_run(&w, 30 * SECOND);
    assert_state(&w, best, JOB_RUNNING);
    assert_state(&w, second, JOB_RUNNING);
    assert_true(stage_run_until_over(&w, worst, 10 * MINUTE));
    assert_true(stage_run_until_over(&w, third, 10 * MINUTE));
    assert_true(steps_of(&w, best) >= 95 && steps_of(&w, second) >= 95);
    assert_true(steps_of(&w, third) <= 25 && steps_of(&w, worst) <= 25);
    assert_string_equal(stage_job(&w, third)->reason,
                        "stopped: 2 of group g were better at step 20; the best 2 continue");
    stage_end(&w);
}

/* When a member leaves, others are known to be in the worse half. */
static void one_that_leaves_decides(void **state)
{
    struct stage w;
    struct err err;
    (void)state;
    stage_begin(&w, &four_cpus, "fifo");
    stage_start(&w);
    int64_t best = submit(&w, 0.1, 1), second = submit(&w, 0.2, 1), third = submit(&w, 0.3, 1);
    stage_run(&w, 30 * SECOND);
    assert_state(&w, second, JOB_RUNNING); /* the better half of three is two */
    assert_ok(verb_cancel(w.y, third, -1, &err), err);
    assert_true(stage_run_until_over(&w, second, 20 * SECOND));
    assert_string_equal(stage_job(&w, second)->reason,
                        "stopped: 1 of group g was better at step 20; only the best continues");
    assert_true(stage_run_until_over(&w, best, 10 * MINUTE));
    assert_true(steps_of(&w, best) >= 95);
    stage_end(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(nobody_is_stopped_for_being_early),
    TEST(one_that_leaves_decides),
};

int main(void)
{
    return RUN(tests);
}
