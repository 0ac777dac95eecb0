/* Tests of explanations of waiting jobs. They compare whole sentences, so that names and
 * numbers are right. */
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
    said_free(o, "Job 1 (big) ends in about 2 minutes and frees 3 CPUs.");
    said_free(o, "Without job 1 (big) it would start at once: `trainyard cancel 1`.");
    assert_near(said_start(o), 120, 1);
    assert_string_equal(said_basis(o), "if job 1 (big) continues at 12 steps/s");
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

/* The job ahead of it does not fit, and no job overtakes another. */
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
                "Job 2 (wide) is ahead of it in the queue and does not fit yet; under "
                "fifo:order=strict no job overtakes another.");
    said_free(o, "With a higher priority it would start at once, at the expense of others: "
                 "`trainyard set 3 --priority 1`.");
    assert_true(isnan(said_start(o)));
    assert_string_equal(said_basis(o),
                        "job 1 (a) and job 2 (wide) do not report how long they take");
    assert_int_equal(json_array_size(json_object_get(o, "ahead")), 2);
    json_decref(o);
    /* A time limit is as good as a promise. */
    a->terms.time_limit = 70 * USEC_PER_SEC;
    yard_live(&f.y, 2)->terms.time_limit = 40 * USEC_PER_SEC;
    o = hand_explain(&f, c);
    assert_near(said_start(o), 100, 1);
    assert_string_equal(said_basis(o),
                        "at the latest, if job 1 (a) runs for its whole time limit of 70 seconds "
                        "and job 2 (wide) runs for its whole time limit of 40 seconds");
    said_free(o, "Job 1 (a) ends in at most 60 seconds and frees 3 CPUs.");
    json_decref(o);
    hand_end(&f);
}

/* Enough is free, but another job has reserved it. */
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
                "1 CPU is free but reserved for job 2 (wide), which needs 4 CPUs and "
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
                "It needs 2 CPUs, and 0 of 2 are free; under elastic-fifo other jobs are ahead of "
                "it, the last of them job 2 (b).");
    said_reason(o, "holders", "Job 1 (a) has 1 CPU, job 2 (b) has 1 CPU.");
    said_free(o, "Job 1 (a) ends in about 30 seconds and frees 1 CPU.");
    said_free(o, "Job 2 (b) does not report when it ends; its end frees 1 CPU.");
    assert_string_equal(said_basis(o), "job 2 (b) does not report how long it takes");
    json_decref(o);
    hand_end(&f);
}

/* Another job could shrink to make room. */
static void test_waits_for_one_that_could_shrink(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "1x4c", "fifo");
    hand_offer(&f, hand_add(&f, "wide", UNIT, 4 * UNIT));
    struct live_job *b = hand_offer(&f, hand_add(&f, "b", UNIT, UNIT));
    hand_decide(&f);
    json_t *o = hand_explain(&f, b);
    said_free(o, "With job 1 (wide) on 3 CPUs it could start at once: `trainyard resize 1 --cpus "
                 "3`.");
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

static void test_waits_for_memory(void **state)
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
    hand_end(&f);
}

/* The engine's state of a node, as the server sets it. */
static void close_node(struct hand_yard *f, uint32_t node, enum node_state state)
{
    hand_step(f, (struct event){.kind = EVENT_NODE, .node = node, .state = state});
}

static void test_waits_for_closed_nodes(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "3x4c,1x1c", "fifo");
    struct live_job *a = hand_offer(&f, hand_add(&f, "a", 2 * UNIT, 2 * UNIT));
    struct yard_node *nodes = f.y.nodes.at;
    nodes[0].drained = true;
    nodes[1].lost = true;
    nodes[2].refusals = 2;
    nodes[2].refusal = "no space left on device";
    nodes[2].closed_until = clock_now(&f.y.clock) + 20 * USEC_PER_SEC;
    close_node(&f, 0, NODE_DRAINING);
    close_node(&f, 1, NODE_CLOSED);
    close_node(&f, 2, NODE_CLOSED);
    hand_decide(&f);
    json_t *o = hand_explain(&f, a);
    said_reason(o, "closed",
                "No node that could run it accepts new jobs: n1 is drained; n2 does not respond; "
                "n3 failed to start 2 jobs in a row and is closed for 20 seconds (no space left on "
                "device).");
    said_free(o, "`trainyard drain --undo n1` lets jobs start there again.");
    said_free(o, "Jobs can start on n2 when it responds again.");
    said_free(o, "Node n3 accepts jobs again in 20 seconds.");
    assert_string_equal(said_basis(o), "no node that could run it accepts new jobs");
    json_decref(o);
    /* A small node that is closed as well is not to blame. */
    close_node(&f, 3, NODE_DRAINING);
    nodes[3].drained = true;
    o = hand_explain(&f, a);
    assert_int_equal(json_array_size(json_object_get(o, "frees")), 3);
    json_decref(o);
    hand_end(&f);
}

static void test_just_queued(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "1x4c", "fifo");
    hand_decide(&f);
    struct live_job *a = hand_offer(&f, hand_add(&f, "a", UNIT, UNIT));
    json_t *o = hand_explain(&f, a);
    said_summary(o, "Job 1 (a) has just entered the queue.");
    said_reason(o, "undecided", "It has just entered the queue; the next decision is due now.");
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
    assert_non_null(strstr(text, "37 jobs are ahead of it in the queue. The order follows fifo: "));
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
    said_summary(o, "Job 2 (b) is on hold until a user releases it.");
    said_reason(o, "hold", "A user put it on hold.");
    said_free(o, "`trainyard release 2` releases it.");
    assert_string_equal(said_basis(o), "it is on hold");
    json_decref(o);
    b->blocks = BLOCK_DEPS;
    VEC_PUSH(&b->deps, (struct live_dep){.kind = SPEC_AFTEROK, .on = a->row.id});
    o = hand_explain(&f, b);
    said_reason(o, "dependency",
                "It may start once job 1 (prep) has succeeded; that job is "
                "running and should end in about 5 minutes.");
    said_free(o, "Job 1 (prep) must succeed first.");
    assert_string_equal(said_basis(o),
                        "not before the jobs that it waits for end, in about 5 minutes");
    json_decref(o);
    b->blocks = BLOCK_BACKOFF;
    b->row.failures = 2;
    b->terms.retries = 3;
    b->row.eligible = clock_read_wall() + 20 * USEC_PER_SEC;
    free((char *)b->row.reason);
    b->row.reason = xstrdup("exit code 7");
    o = hand_explain(&f, b);
    said_summary(o, "Job 2 (b) failed and will be retried.");
    said_reason(o, "backoff",
                "It has failed 2 times (exit code 7); it is retried in 20 "
                "seconds (try 3 of 4).");
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
                "Jobs of the same name and user run one at a time; job 1 "
                "(train) was submitted earlier.");
    said_free(o, "Job 1 (train) must end first.");
    json_decref(o);
    b->blocks = BLOCK_ARRAY;
    a->row.array = b->row.array = 1;
    b->terms.array_limit = 1;
    o = hand_explain(&f, b);
    said_reason(o, "array", "Its array may have at most 1 active job, and this limit is reached.");
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
    STORE_TEST(test_waits_for_memory),
    STORE_TEST(test_waits_for_closed_nodes),
    STORE_TEST(test_just_queued),
    STORE_TEST(test_waits_for_gpus),
    STORE_TEST(test_long_queues),
    STORE_TEST(test_blocked),
    STORE_TEST(test_blocked_by_its_like),
};

int main(void)
{
    return RUN(tests);
}
