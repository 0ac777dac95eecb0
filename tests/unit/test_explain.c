/* Tests of what is said of jobs that wait. Sentences are looked for whole, so that names
 * and numbers are right. */
#include "support/hand_yard.h"
#include "support/test.h"

/* ---- waiting --------------------------------------------------------------- */

static void test_waits_behind_another(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "1x4c", "fifo");
    struct live_job *big = hand_offer(&f, hand_add(&f, "big", 3 * UNIT, 3 * UNIT));
    struct live_job *next = hand_offer(&f, hand_add(&f, "next", 2 * UNIT, 2 * UNIT));
    hand_decide(&f);
    hand_report(&f, big, 120);
    json_t *o = hand_explain(&f, next);
    said_summary(o, "Job 2 (next) has waited less than a second for 2 CPUs.");
    said_reason(o, "no_room", "It needs 2 CPUs, and 1 of 4 is free.");
    said_reason(o, "holders", "Job 1 (big) has 3 CPUs.");
    said_free(o, "Job 1 (big) ends in about 2 minutes and gives 3 CPUs back.");
    said_free(o, "Without job 1 (big) it would start at once: `trainyard cancel 1`.");
    assert_near(said_start(o), 120, 1);
    assert_string_equal(said_basis(o), "if job 1 (big) goes on at 12 steps/s");
    json_t *ahead = json_object_get(o, "ahead");
    assert_int_equal(json_array_size(ahead), 1);
    ahead = json_array_get(ahead, 0);
    assert_int_equal(json_integer_value(json_object_get(ahead, "id")), 1);
    assert_near(json_number_value(json_object_get(ahead, "cpus")), 3, 0);
    assert_near(json_number_value(json_object_get(ahead, "remaining_s")), 120, 1);
    json_decref(o);
    /* Nothing has happened to anybody. */
    assert_int_equal(f.y.engine.tasks[next->task].phase, TASK_QUEUED);
    assert_int_equal(f.y.engine.tasks[big->task].phase, TASK_RUNNING);
    hand_end(&f);
}

/* The one before it does not fit, and nobody overtakes. */
static void test_waits_in_a_strict_queue(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "1x4c", "fifo:order=strict");
    struct live_job *a = hand_offer(&f, hand_add(&f, "a", 3 * UNIT, 3 * UNIT));
    hand_offer(&f, hand_add(&f, "wide", 4 * UNIT, 4 * UNIT));
    struct live_job *c = hand_offer(&f, hand_add(&f, "c", UNIT, UNIT));
    hand_decide(&f);
    json_t *o = hand_explain(&f, c);
    said_summary(o, "Job 3 (c) has waited less than a second for 1 CPU, behind 1 other job.");
    said_reason(o, "behind",
                "Job 2 (wide) is before it in the queue and does not fit yet; under "
                "fifo:order=strict nobody overtakes.");
    said_free(o, "With a higher priority it would start at once, at the cost of others: "
                 "`trainyard set 3 --priority 1`.");
    assert_true(isnan(said_start(o)));
    assert_string_equal(said_basis(o), "job 1 (a) and job 2 (wide) do not say how long they take");
    assert_int_equal(json_array_size(json_object_get(o, "ahead")), 2);
    json_decref(o);
    /* A time limit is as good as a promise. */
    a->terms.time_limit = 70 * USEC_PER_SEC;
    yard_live(&f.y, 2)->terms.time_limit = 40 * USEC_PER_SEC;
    o = hand_explain(&f, c);
    assert_near(said_start(o), 100, 1);
    assert_string_equal(said_basis(o),
                        "at the latest, if job 1 (a) uses its whole time limit of 70 seconds and "
                        "job 2 (wide) uses its whole time limit of 40 seconds");
    said_free(o, "Job 1 (a) ends in at most 60 seconds and gives 3 CPUs back.");
    json_decref(o);
    hand_end(&f);
}

/* Enough is free, but not for it. */
static void test_waits_behind_a_reservation(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "1x4c", "fifo");
    struct live_job *a = hand_offer(&f, hand_add(&f, "a", 3 * UNIT, 3 * UNIT));
    hand_decide(&f);
    hand_report(&f, a, 60);
    hand_offer(&f, hand_add(&f, "wide", 4 * UNIT, 4 * UNIT));
    struct live_job *c = hand_offer(&f, hand_add(&f, "c", UNIT, UNIT));
    hand_decide(&f);
    json_t *o = hand_explain(&f, c);
    said_reason(o, "reserved",
                "1 CPU is free, but kept for job 2 (wide), which needs 4 CPUs and "
                "has waited longer.");
    json_decref(o);
    hand_end(&f);
}

static void test_waits_by_order(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "1x2c", "elastic-fifo");
    struct live_job *a = hand_offer(&f, hand_add(&f, "a", UNIT, UNIT));
    hand_offer(&f, hand_add(&f, "b", UNIT, UNIT));
    struct live_job *c = hand_offer(&f, hand_add(&f, "c", 2 * UNIT, 2 * UNIT));
    hand_decide(&f);
    hand_report(&f, a, 30);
    json_t *o = hand_explain(&f, c);
    said_reason(o, "order",
                "It needs 2 CPUs, and 0 of 2 are free; by elastic-fifo other jobs come first, "
                "the last of them job 2 (b).");
    said_reason(o, "holders", "Job 1 (a) has 1 CPU, job 2 (b) has 1 CPU.");
    said_free(o, "Job 1 (a) ends in about 30 seconds and gives 1 CPU back.");
    said_free(o, "Job 2 (b) does not say when it ends; then it gives 1 CPU back.");
    assert_string_equal(said_basis(o), "job 2 (b) does not say how long it takes");
    json_decref(o);
    hand_end(&f);
}

/* One that could do with less could make room. */
static void test_waits_for_one_that_could_shrink(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "1x4c", "fifo");
    hand_offer(&f, hand_add(&f, "wide", UNIT, 4 * UNIT));
    struct live_job *b = hand_offer(&f, hand_add(&f, "b", UNIT, UNIT));
    hand_decide(&f);
    json_t *o = hand_explain(&f, b);
    said_free(o, "With 3 CPUs for job 1 (wide) there would be room at once: `trainyard resize 1 "
                 "--cpus 3`.");
    json_decref(o);
    hand_end(&f);
}

/* It asked for a range; the policy waits for the most of it. */
static void test_waits_for_more_than_it_needs(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "1x4c", "fifo");
    hand_offer(&f, hand_add(&f, "a", 3 * UNIT, 3 * UNIT));
    struct live_job *b = hand_offer(&f, hand_add(&f, "b", UNIT, 2 * UNIT));
    hand_decide(&f);
    json_t *o = hand_explain(&f, b);
    said_reason(o, "no_room", "It needs 2 CPUs, and 1 of 4 is free.");
    said_free(o, "With 1 CPU it could start at once: `trainyard resize 2 --cpus 1`.");
    json_decref(o);
    hand_end(&f);
}

static void test_waits_for_memory_and_nodes(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "1x4c@4g", "fifo");
    struct live_job *a = hand_add(&f, "a", UNIT, UNIT), *b = hand_add(&f, "b", UNIT, UNIT);
    a->terms.memory_mb = 3000;
    b->terms.memory_mb = 2000;
    hand_offer(&f, a);
    hand_offer(&f, b);
    hand_decide(&f);
    json_t *o = hand_explain(&f, b);
    said_reason(o, "memory", "It needs 2000 MB of memory, and no node has more than 1096 MB free.");
    json_decref(o);
    hand_step(&f, (struct event){.kind = EVENT_NODE, .node = 0, .state = NODE_DRAINING});
    hand_decide(&f);
    o = hand_explain(&f, b);
    said_reason(o, "drained",
                "Every node that could hold it is being drained or is down: "
                "nothing new starts there.");
    said_free(o, "`trainyard drain --undo n1` lets jobs start there again.");
    assert_string_equal(said_basis(o), "as things are, nothing would ever make room for it");
    json_decref(o);
    hand_end(&f);
}

static void test_has_just_come(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "1x4c", "fifo");
    hand_decide(&f);
    struct live_job *a = hand_offer(&f, hand_add(&f, "a", UNIT, UNIT));
    json_t *o = hand_explain(&f, a);
    said_summary(o, "Job 1 (a) has just come into the queue.");
    said_reason(o, "undecided", "It has just come into the queue; the next decision is due now.");
    assert_near(said_start(o), 0, 0.01);
    assert_string_equal(said_basis(o), "at the next decision");
    json_decref(o);
    hand_end(&f);
}

static void test_waits_for_gpus(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "2x2:t4", "fifo");
    for (int i = 0; i < 3; i++) {
        struct live_job *j = hand_add(&f, "train", 0, 0);
        j->terms.pool = POOL_ANY_GPU;
        j->terms.gpus_min = j->terms.gpus_max = 2 * UNIT;
        hand_offer(&f, j);
    }
    hand_decide(&f);
    json_t *o = hand_explain(&f, yard_live(&f.y, 3));
    said_reason(o, "no_room", "It needs 2 GPUs on one node, and 0 of 2 are free.");
    said_reason(o, "holders", "Job 1 (train) has 2 GPUs, job 2 (train) has 2 GPUs.");
    json_decref(o);
    hand_end(&f);
}

/* Many are ahead: ten are listed, all are counted. */
static void test_long_queues(void **state)
{
    struct hand_yard f;
    struct live_job *last = NULL;
    hand_begin(&f, state, "1x2c", "fifo");
    for (int i = 0; i < 40; i++)
        last = hand_offer(&f, hand_add(&f, "j", UNIT, UNIT));
    hand_decide(&f);
    json_t *o = hand_explain(&f, last);
    said_summary(o, "Job 40 (j) has waited less than a second for 1 CPU, behind 37 other jobs.");
    said_reason(o, "reserved",
                "It needs 1 CPU, and 0 of 2 are free; job 3 (j) has waited longer "
                "and comes first.");
    const json_t *order = json_array_get(json_object_get(o, "reasons"), 2);
    const char *text = json_string_value(json_object_get(order, "text"));
    assert_non_null(strstr(text, "37 jobs stand before it in the queue. The order is by fifo: "));
    assert_int_equal(json_array_size(json_object_get(o, "ahead")), 10);
    json_decref(o);
    hand_end(&f);
}

/* ---- blocked --------------------------------------------------------------- */

static void test_blocked(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "1x4c", "fifo");
    struct live_job *a = hand_offer(&f, hand_add(&f, "prep", UNIT, UNIT));
    struct live_job *b = hand_add(&f, "b", UNIT, UNIT);
    hand_decide(&f);
    hand_report(&f, a, 300);
    b->blocks = BLOCK_HOLD;
    json_t *o = hand_explain(&f, b);
    said_summary(o, "Job 2 (b) is held: it waits for a user to release it.");
    said_reason(o, "hold", "A user holds it.");
    said_free(o, "`trainyard release 2` lets it go.");
    assert_string_equal(said_basis(o), "it is held");
    json_decref(o);
    b->blocks = BLOCK_DEPS;
    VEC_PUSH(&b->deps, (struct live_dep){.kind = SPEC_AFTEROK, .on = a->row.id});
    o = hand_explain(&f, b);
    said_reason(o, "dependency",
                "It is to run when job 1 (prep) has ended well, which is "
                "running, and should end in about 5 minutes.");
    said_free(o, "Job 1 (prep) must end well first.");
    assert_string_equal(said_basis(o),
                        "not before the end of what it waits for, in about 5 minutes");
    json_decref(o);
    b->blocks = BLOCK_BACKOFF;
    b->row.failures = 2;
    b->terms.retries = 3;
    b->row.eligible = clock_read_wall() + 20 * USEC_PER_SEC;
    free((char *)b->row.reason);
    b->row.reason = xstrdup("exit code 7");
    o = hand_explain(&f, b);
    said_summary(o, "Job 2 (b) has failed and will be tried again.");
    said_reason(o, "backoff",
                "It has failed 2 times (exit code 7); the next try is in 20 "
                "seconds, which is number 3 of 4.");
    assert_near(said_start(o), 20, 1);
    json_decref(o);
    hand_end(&f);
}

static void test_blocked_by_its_like(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "1x4c", "fifo");
    struct live_job *a = hand_offer(&f, hand_add(&f, "train", UNIT, UNIT));
    struct live_job *b = hand_add(&f, "train", UNIT, UNIT);
    hand_decide(&f);
    b->blocks = BLOCK_SINGLETON;
    json_t *o = hand_explain(&f, b);
    said_reason(o, "singleton",
                "Only one job of its name and user may be active, and job 1 "
                "(train) is.");
    said_free(o, "Job 1 (train) must be over first.");
    json_decref(o);
    b->blocks = BLOCK_ARRAY;
    a->row.array = b->row.array = 1;
    b->terms.array_limit = 1;
    o = hand_explain(&f, b);
    said_reason(o, "array", "1 job of its array may be active at once, and so many are.");
    json_decref(o);
    hand_end(&f);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_waits_behind_another),
    STORE_TEST(test_waits_in_a_strict_queue),
    STORE_TEST(test_waits_behind_a_reservation),
    STORE_TEST(test_waits_by_order),
    STORE_TEST(test_waits_for_one_that_could_shrink),
    STORE_TEST(test_waits_for_more_than_it_needs),
    STORE_TEST(test_waits_for_memory_and_nodes),
    STORE_TEST(test_has_just_come),
    STORE_TEST(test_waits_for_gpus),
    STORE_TEST(test_long_queues),
    STORE_TEST(test_blocked),
    STORE_TEST(test_blocked_by_its_like),
};

int main(void)
{
    return RUN(tests);
}
