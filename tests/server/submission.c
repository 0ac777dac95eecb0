/* What is submitted: batches, arrays, names, dependencies, and what is refused. */
#include "store/job_list.h"
#include "store/job_state.h"
#include "store/store.h"
#include "support/stage.h"
#include "support/store_dir.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

static void a_batch_is_taken_whole(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "[{'command': ['fake', 'work=5'], 'name': 'one'},"
                                  " {'command': ['fake', 'work=5'], 'name': 'two'}]");
    assert_int_equal(job, 1);
    assert_string_equal(stage_job(w, 1)->name, "one");
    assert_string_equal(stage_job(w, 2)->name, "two");
    assert_true(stage_run_until_over(w, 2, MINUTE));
    assert_state(w, 1, JOB_DONE);
    assert_state(w, 2, JOB_DONE);
}

static void one_bad_request_refuses_the_batch(void **state)
{
    struct stage *w = *state;
    struct err err;
    assert_error(
        stage_try_submit(w, "[{'command': ['fake']}, {'command': ['fake'], 'cpus': 3}]", &err), err,
        ERR_LIMIT, "needs 3 CPUs");
    stage_turn(w);
    assert_int_equal(store_dir_count_jobs(w->y->store), 0);
    assert_null(w->y->jobs.first);
    assert_int_equal(stage_submit(w, "{'command': ['fake']}"), 1);
}

static void a_refused_request_does_not_undo_the_one_before(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t first;
    assert_int_equal(stage_hand_in(w, "{'command': ['fake']}", &first, &err), 1);
    assert_int_equal(stage_hand_in(w, "{'command': ['fake'], 'cpus': 3}", &first, &err), -1);
    assert_true(stage_accepts(w));
    assert_int_equal(store_dir_count_jobs(w->y->store), 1);
}

static void an_array_becomes_jobs(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake'], 'array': '1-5:2,9'}");
    static const int64_t indices[] = {1, 3, 5, 9};
    int64_t request = stage_job(w, job)->request;
    for (size_t i = 0; i < COUNT_OF(indices); i++) {
        const struct job_row *row = stage_job(w, job + (int64_t)i);
        assert_int_equal(row->array_index, indices[i]);
        assert_int_equal(row->array, job);
        assert_int_equal(row->request, request);
    }
    assert_int_equal(store_dir_count_jobs(w->y->store), COUNT_OF(indices));
}

static void jobs_of_a_batch_can_wait_for_each_other(void **state)
{
    struct stage *w = *state;
    stage_submit(w, "[{'command': ['fake', 'work=10'], 'name': 'prepare'},"
                    " {'command': ['fake', 'work=10'], 'after': ['afterok:prepare']}]");
    stage_run(w, 5 * SECOND);
    assert_state(w, 1, JOB_RUNNING);
    assert_state(w, 2, JOB_QUEUED);
    stage_run(w, 10 * SECOND);
    assert_state(w, 1, JOB_DONE);
    assert_state(w, 2, JOB_RUNNING);
}

static void a_job_can_wait_for_a_whole_array(void **state)
{
    struct stage *w = *state;
    stage_submit(w, "{'command': ['fake', 'work=10'], 'array': '1-3', 'name': 'shards'}");
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=1'], 'after': ['afterok:shards']}");
    stage_run(w, 15 * SECOND); /* two of them have ended */
    assert_state(w, 1, JOB_DONE);
    assert_state(w, 2, JOB_DONE);
    assert_state(w, job, JOB_QUEUED);
    assert_true(stage_run_until_over(w, job, MINUTE));
    assert_state(w, 3, JOB_DONE);
    assert_state(w, job, JOB_DONE);
}

static void a_name_means_its_newest_job(void **state)
{
    struct stage *w = *state;
    stage_submit(w, "{'command': ['fake', 'work=1', 'code=1'], 'name': 'prepare'}");
    stage_run(w, 5 * SECOND);
    assert_state(w, 1, JOB_FAILED);
    stage_submit(w, "{'command': ['fake', 'work=1'], 'name': 'prepare'}");
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=1'], 'after': ['afterok:prep']}");
    assert_true(stage_run_until_over(w, job, MINUTE));
    assert_state(w, job, JOB_DONE);
}

static void dependencies_that_make_no_sense_are_refused(void **state)
{
    struct stage *w = *state;
    struct err err;
    stage_submit(w, "{'command': ['fake', 'work=1', 'code=1'], 'name': 'train-a'}");
    stage_submit(w, "{'command': ['fake', 'work=1'], 'name': 'train-b'}");
    stage_run(w, 5 * SECOND);
    assert_error(stage_try_submit(w, "{'command': ['fake'], 'after': ['afterok:1']}", &err), err,
                 ERR_CONFLICT, "can never be met: job 1 is failed");
    assert_error(stage_try_submit(w, "{'command': ['fake'], 'after': ['afternotok:2']}", &err), err,
                 ERR_CONFLICT, "can never be met: job 2 is done");
    assert_error(stage_try_submit(w, "{'command': ['fake'], 'after': ['afterok:77']}", &err), err,
                 ERR_NOT_FOUND, "no job 77");
    assert_error(stage_try_submit(w, "{'command': ['fake'], 'after': ['afterok:evaluate']}", &err),
                 err, ERR_NOT_FOUND, "no job 'evaluate'");
    assert_error(stage_try_submit(w, "{'command': ['fake'], 'after': ['afterok:train']}", &err),
                 err, ERR_CONFLICT, "ambiguous");
    assert_int_equal(store_dir_count_jobs(w->y->store), 2);
}

static void bad_requests_are_refused_with_what_is_wrong(void **state)
{
    struct stage *w = *state;
    static const struct {
        const char *json, *words;
    } cases[] = {
        {"{'command': []}", "command"},
        {"{'command': ['fake'], 'cpus': '2-1'}", "cpus"},
        {"{'command': ['fake'], 'colour': 'red'}", "colour"},
        {"{'command': ['fake'], 'cpus': 3}", "3"},
        {"{'command': ['fake'], 'memory': '100g'}", "memory"},
        {"{'command': ['fake'], 'gpus': 1}", "GPU"},
        {"{'command': ['fake'], 'image': 'debian'}", "image"},
        {"{'command': ['fake'], 'pattern': '('}", "pattern"},
        {"{'command': ['fake'], 'array': '5-1'}", "array"},
        {"{'command': ['fake'], 'after': ['beforeok:1']}", "after"},
        {"{'command': ['fake'], 'time_limit': 'soon'}", "time_limit"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct err err = {0};
        assert_int_equal(stage_try_submit(w, cases[i].json, &err), -1);
        if (!strstr(err.text, cases[i].words))
            fail_msg("%s: %s", cases[i].json, err.text);
    }
    stage_turn(w);
    assert_int_equal(store_dir_count_jobs(w->y->store), 0);
}

static void what_was_accepted_survives_a_kill(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=5'], 'array': '1-3'}");
    stage_kill(w);
    stage_start(w);
    for (int64_t i = 0; i < 3; i++)
        assert_true(stage_run_until_over(w, job + i, MINUTE));
    assert_int_equal(fake_truth_of_all(w->fake).begun, 3);
}

static void what_was_not_accepted_is_not_there(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t first;
    assert_int_equal(stage_hand_in(w, "{'command': ['fake']}", &first, &err), 1);
    stage_kill(w);
    stage_start(w);
    stage_run(w, MINUTE);
    assert_int_equal(store_dir_count_jobs(w->y->store), 0);
    assert_int_equal(fake_truth_of_all(w->fake).begun, 0);
}

static const struct CMUnitTest tests[] = {
    STAGE_TEST(a_batch_is_taken_whole),
    STAGE_TEST(one_bad_request_refuses_the_batch),
    STAGE_TEST(a_refused_request_does_not_undo_the_one_before),
    STAGE_TEST(an_array_becomes_jobs),
    STAGE_TEST(jobs_of_a_batch_can_wait_for_each_other),
    STAGE_TEST(a_job_can_wait_for_a_whole_array),
    STAGE_TEST(a_name_means_its_newest_job),
    STAGE_TEST(dependencies_that_make_no_sense_are_refused),
    STAGE_TEST(bad_requests_are_refused_with_what_is_wrong),
    STAGE_TEST(what_was_accepted_survives_a_kill),
    STAGE_TEST(what_was_not_accepted_is_not_there),
};

int main(void)
{
    return RUN(tests);
}
