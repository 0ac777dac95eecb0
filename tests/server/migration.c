/* A database that the program before schema 3 wrote (tests/server/old/record.sh) is opened
 * with today's: the migration carries over all that was known of jobs, attempts, nodes and
 * the journal. */
#include "store/attempts.h"
#include "store/deps.h"
#include "store/events.h"
#include "store/jobs.h"
#include "store/journal.h"
#include "store/nodes.h"
#include "store/samples.h"
#include "store/store.h"
#include "support/old_store.h"
#include "support/test.h"

/* Nothing was said of its progress. */
#define SILENT                                                                                     \
    .step = NAN, .total = NAN, .epoch = NAN, .epochs = NAN, .loss = NAN, .metric = NAN, .rate = NAN

/* As the old program had them. */
static const struct job_row jobs[] = {
    {.id = 1,
     .request = 1,
     .name = "done",
     .user = "root",
     .state = JOB_DONE,
     .submitted = 1794862629701646,
     .started = 1794862629730550,
     .ended = 1794862629744077,
     .attempt = 1,
     .reason = "",
     .error = "",
     .work = 3600000000,
     .done = 41884,
     .attained = 41884,
     .run_time = 41884,
     .wait_time = 79,
     .step = 3,
     .total = 3,
     .epoch = 3,
     .epochs = 3,
     .loss = 0.25,
     .metric = 0.25,
     .rate = NAN,
     .metric_name = "loss",
     .progress_source = "text",
     .progress_at = 1794862629731562,
     .command = "[\"sh\",\"-c\",\"echo \\\"epoch 3/3 loss=0.25\\\"\"]"},
    {.id = 2,
     .request = 2,
     .name = "failed",
     .user = "root",
     .state = JOB_FAILED,
     .submitted = 1794862629735307,
     .started = 1794862629754522,
     .ended = 1794862630793158,
     .eligible = 1794862630768471,
     .attempt = 2,
     .failures = 2,
     .code = 3,
     .reason = "exit code 3",
     .error = "",
     .work = 3600000000,
     .done = 55585,
     .attained = 55585,
     .run_time = 55585,
     .wait_time = 167,
     SILENT,
     .command = "[\"sh\",\"-c\",\"exit 3\"]"},
    {.id = 3,
     .request = 3,
     .name = "elastic",
     .user = "root",
     .state = JOB_RUNNING,
     .submitted = 1794862630815428,
     .started = 1794862630831838,
     .attempt = 1,
     .code = -1,
     .reason = "",
     .error = "",
     .cpus_min = 1000,
     .cpus_max = 1000,
     .work = 10376679766,
     .done = 4062244,
     .attained = 10357615,
     .run_time = 8326491,
     .wait_time = 46,
     .resize_cost = 51180,
     .step = 83,
     .total = 100000,
     .epoch = NAN,
     .epochs = NAN,
     .loss = 0.11899999999999999,
     .metric = 0.119,
     .rate = NAN,
     .metric_name = "loss",
     .progress_source = "text",
     .progress_at = 1794862639139882,
     .command = "[\"python3\",\"train.py\"]"},
    {.id = 4,
     .request = 4,
     .name = "second",
     .user = "root",
     .state = JOB_RUNNING,
     .priority = 2,
     .submitted = 1794862632846586,
     .started = 1794862632879172,
     .attempt = 1,
     .code = -1,
     .reason = "",
     .error = "",
     .work = 3600000000,
     .done = 6278798,
     .attained = 6278798,
     .run_time = 6278798,
     .wait_time = 49,
     SILENT,
     .command = "[\"sleep\",\"1000\"]"},
    {.id = 5,
     .request = 5,
     .name = "held",
     .user = "root",
     .state = JOB_HELD,
     .held = true,
     .submitted = 1794862639158779,
     .deadline = 1794877039158779,
     .code = -1,
     .reason = "",
     .error = "",
     .work = 3600000000,
     SILENT,
     .command = "[\"true\"]"},
    {.id = 10,
     .request = 10,
     .name = "after",
     .user = "root",
     .state = JOB_QUEUED,
     .submitted = 1794862639214266,
     .code = -1,
     .reason = "",
     .error = "",
     .work = 3600000000,
     SILENT,
     .command = "[\"true\"]"},
};

static void test_jobs(void **state)
{
    struct store *s = old_store_open(*state, "");
    struct store_dir_rows all = old_store_jobs(s);
    for (size_t i = 0; i < COUNT_OF(jobs); i++) {
        const struct job_row *row = &all.rows.at[jobs[i].id - 1];
        store_dir_same_job(row, &jobs[i]);
        assert_string_equal(row->command, jobs[i].command);
    }
    for (int64_t id = 6; id <= 9; id++) {
        const struct job_row *row = &all.rows.at[id - 1];
        assert_string_equal(row->name, "array");
        assert_string_equal(row->command, "[\"sleep\",\"500\"]");
        assert_true(row->array == 6 && row->array_index == id - 5);
        assert_true(row->state == JOB_QUEUED && row->request == id);
    }
    store_dir_rows_done(&all);
    store_close(s);
    store_dir_check(((struct store_dir *)*state)->path);
}

static const struct attempt_row attempts[] = {
    {1, 1, JOB_DONE, "26f7b91509f7a422d7bd84d9df7eeeee", 1794862629702127, 1794862629730550,
     1794862629731562, .pid = 19804, .seq = 1, .cpu_seconds = 0.001513, .memory_max_mb = 0.25},
    {2, 1, JOB_FAILED, "a1debad791fb2ebb9838801af9894ec0", 1794862629735451, 1794862629754522,
     1794862629755831, .pid = 19809, .cpu_seconds = 0.000971, .memory_max_mb = 0.25, .code = 3},
    {2, 2, JOB_FAILED, "dcd5a849d8a3f719d7b6fc7b6c79f6c9", 1794862630770607, 1794862630782585,
     1794862630783763, .pid = 19902, .ran = 33023, .cpu_seconds = 0.001405, .memory_max_mb = 0.25,
     .code = 3},
    {3, 1, JOB_RUNNING, "de5361f444eebff6afe2d6807655320b", 1794862630815687, 1794862630831838,
     .pid = 19911, .seq = 80, .code = -1},
    {4, 1, JOB_RUNNING, "e0eb2ca535cfa85e89187c38d19cf4e6", 1794862632846852, 1794862632879172,
     .pid = 20067, .code = -1},
};

static int see_attempt(void *ctx, const struct attempt_row *row, struct err *err)
{
    const struct attempt_row **next = ctx, *want = (*next)++;
    (void)err;
    assert_true(row->job == want->job && row->n == want->n && row->state == want->state);
    assert_string_equal(row->token, want->token);
    assert_true(row->created == want->created && row->started == want->started);
    assert_true(row->ended == want->ended && row->pid == want->pid && row->seq == want->seq);
    assert_true(row->ran == want->ran && row->code == want->code);
    assert_true(row->cpu_seconds == want->cpu_seconds);
    assert_true(row->memory_max_mb == want->memory_max_mb);
    /* The same for all of them. */
    assert_string_equal(row->node, "node1");
    assert_string_equal(row->boot, "83ecfc86-8038-4172-80a1-5ee74c6acf84");
    assert_string_equal(row->stop, "");
    assert_string_equal(row->reason, "");
    assert_true(row->cpus == 1000 && row->cpu_limit == 1000 && row->cpu_weight == 1);
    assert_false(*row->gpu_type || row->gpus || row->paused || row->grace || row->since ||
                 row->signal);
    return 0;
}

static void test_attempts(void **state)
{
    struct store *s = old_store_open(*state, "");
    struct err err;
    const struct attempt_row *next = attempts, *active = &attempts[3];
    for (int64_t job = 1; job <= 10; job++)
        assert_ok(store_attempt_list(s, job, see_attempt, &next, &err), err);
    assert_ptr_equal(next, attempts + COUNT_OF(attempts));
    assert_ok(store_attempt_list(s, 0, see_attempt, &active, &err), err);
    assert_ptr_equal(active, attempts + COUNT_OF(attempts));
    store_close(s);
}

static int see_node(void *ctx, const struct node_row *row, struct err *err)
{
    (void)err;
    assert_string_equal(row->name, "node1");
    assert_true(row->drained && !*row->reason);
    ++*(unsigned *)ctx;
    return 0;
}

static int see_dep(void *ctx, int64_t job, int kind, int64_t on, struct err *err)
{
    (void)err;
    assert_true(job == 10 && kind == 1 && on == 3);
    ++*(unsigned *)ctx;
    return 0;
}

static int see_entry(void *ctx, int64_t seq, int64_t boot, const char *kind, const char *data,
                     struct err *err)
{
    int64_t *last = ctx;
    (void)err;
    assert_true(seq == ++*last && boot == 1 && *data == '{');
    assert_true((seq == 1) == !strcmp(kind, "boot"));
    return 0;
}

static void test_rest(void **state)
{
    struct store *s = old_store_open(*state, "");
    struct err err;
    unsigned nodes = 0, deps = 0, events = 0, samples = 0;
    int64_t entries = 0, seq = 0, boot = 0;
    assert_ok(store_node_list(s, see_node, &nodes, &err), err);
    assert_ok(store_dep_list(s, see_dep, &deps, &err), err);
    assert_ok(store_event_list(s, 0, 0, 0, store_dir_count_event, &events, &err), err);
    for (int64_t job = 1; job <= 10; job++)
        assert_ok(store_sample_list(s, job, store_dir_count_sample, &samples, &err), err);
    assert_ok(store_journal_list(s, 1, see_entry, &entries, &err), err);
    assert_true(nodes == 1 && deps == 1 && events == 24 && samples == 17 && entries == 45);
    AUTO_FREE char *policy = store_meta_get(s, "policy");
    assert_string_equal(policy, "elastic-fifo");
    assert_null(store_meta_get(s, "drain:node1"));
    /* Numbers go on, and what comes belongs to the next boot. */
    assert_ok(store_event_add(s, 1, 0, "note", "{}", &seq, &err), err);
    assert_ok(store_boot_begin(s, 1, &boot, &err), err);
    assert_true(seq == 25 && boot == 2);
    assert_ok(store_journal_add(s, "boot", "{}", &err), err);
    entries = 0;
    assert_ok(store_journal_list(s, 1, see_entry, &entries, &err), err);
    assert_int_equal(entries, 45);
    store_close(s);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_jobs),
    STORE_TEST(test_attempts),
    STORE_TEST(test_rest),
};

int main(void)
{
    return RUN(tests);
}
