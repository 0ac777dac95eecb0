/* Large arrays, which arrive over several turns: nothing is lost or doubled, whatever happens in
 * between. */
#include "runtime/fake_world.h"
#include "server/jobs/submit.h"
#include "store/arrivals.h"
#include "store/job_state.h"
#include "store/store.h"
#include "support/disk.h"
#include "support/stage.h"
#include "support/store_dir.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

enum { CHUNK = 10, MEMBERS = 35 };

static int set_up(void **state)
{
    if (stage_set_up(state) < 0)
        return -1;
    struct stage *w = *state;
    stage_stop(w);
    w->array_chunk = CHUNK;
    stage_start(w);
    return 0;
}

#define ARRAY_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, stage_tear_down)

static const char array[] =
    "{'command': ['fake', 'work=5'], 'cpus': 1, 'array': '0-68:2%2', 'name': 'shard'}";

static int count_arrival(void *ctx, const struct arrival_row *row, struct err *err)
{
    (void)row;
    (void)err;
    ++*(unsigned *)ctx;
    return 0;
}

static unsigned stored_arrivals(const struct stage *w)
{
    struct err err;
    unsigned n = 0;
    assert_ok(store_arrival_list(w->y->store, count_arrival, &n, &err), err);
    return n;
}

/* How often the job's command was begun. */
static unsigned times_begun(const struct stage *w, int64_t job)
{
    unsigned n = 0;
    for (size_t i = 0; i < w->fake->attempts.n; i++)
        n += w->fake->attempts.at[i].id.job == job && w->fake->attempts.at[i].begun;
    return n;
}

/* All members are there, once, and run to their ends. */
static void assert_whole(struct stage *w, int64_t first, unsigned others)
{
    stage_run(w, 10 * MINUTE);
    assert_int_equal(store_dir_count_jobs(w->y->store), MEMBERS + others);
    for (int64_t i = 0; i < MEMBERS; i++) {
        const struct job_row *row = stage_job(w, first + i);
        assert_int_equal(row->array, first);
        assert_int_equal(row->array_index, 2 * i);
        assert_int_equal(row->submitted, stage_job(w, first)->submitted);
        assert_state(w, first + i, JOB_DONE);
        assert_int_equal(times_begun(w, first + i), 1);
    }
    assert_int_equal(stored_arrivals(w), 0);
}

static void members_arrive_over_several_turns(void **state)
{
    struct stage *w = *state;
    int64_t first = stage_submit(w, array);
    /* One chunk with the request, and one in the turn that stores it. */
    assert_int_equal(store_dir_count_jobs(w->y->store), 2 * CHUNK);
    assert_int_equal(stored_arrivals(w), 1);
    /* Their ids are reserved, and others are served. */
    assert_int_equal(stage_submit(w, "{'command': ['fake', 'work=5']}"), first + MEMBERS);
    assert_int_equal(store_dir_count_jobs(w->y->store), 3 * CHUNK + 1);
    assert_whole(w, first, 1);
}

static void two_arrays_arrive_one_after_the_other(void **state)
{
    struct stage *w = *state;
    int64_t first = stage_submit(w, array), second = stage_submit(w, array);
    assert_int_equal(second, first + MEMBERS);
    assert_whole(w, first, MEMBERS);
    assert_whole(w, second, MEMBERS);
}

static void a_killed_server_goes_on_where_it_was(void **state)
{
    struct stage *w = *state;
    int64_t first = stage_submit(w, array);
    stage_kill(w);
    stage_start(w);
    assert_int_equal(store_dir_count_jobs(w->y->store), 3 * CHUNK);
    stage_kill(w);
    stage_start(w);
    assert_whole(w, first, 0);
}

static void a_server_that_is_stopped_goes_on_later(void **state)
{
    struct stage *w = *state;
    int64_t first = stage_submit(w, array);
    stage_stop(w);
    stage_start(w);
    assert_whole(w, first, 0);
}

/* ---- those who wait --------------------------------------------------------------- */

struct told {
    unsigned times;
    uint32_t members;
    struct err failure;
};

static void hear(void *ctx, const struct arrival *a, const struct err *failure)
{
    struct told *t = ctx;
    t->times++;
    t->members = a->arrived;
    t->failure = failure ? *failure : (struct err){0};
}

static int64_t submit_and_wait(struct stage *w, struct told *t)
{
    struct err err;
    int64_t first;
    assert_int_equal(stage_hand_in(w, array, &first, &err), CHUNK);
    struct arrival *a = arrivals_find(w->y, first);
    a->done = hear;
    a->ctx = t;
    return first;
}

static void who_waits_is_told_when_all_are_on_disk(void **state)
{
    struct stage *w = *state;
    struct told told = {0};
    submit_and_wait(w, &told);
    for (int turn = 0; turn < 2; turn++) {
        stage_turn(w);
        assert_int_equal(told.times, 0);
    }
    stage_turn(w);
    assert_int_equal(told.times, 1);
    assert_int_equal(told.members, MEMBERS);
    assert_int_equal(told.failure.code, ERR_OK);
    stage_run(w, MINUTE);
    assert_int_equal(told.times, 1);
}

static void an_array_that_could_not_be_stored_is_not_accepted(void **state)
{
    struct stage *w = *state;
    struct told told = {0};
    submit_and_wait(w, &told);
    disk_set_fault(DISK_BROKEN, 0);
    stage_turn(w);
    assert_int_equal(told.times, 1);
    assert_int_equal(told.failure.code, ERR_IO);
    disk_set_fault(DISK_SOUND, 0);
    stage_run(w, MINUTE);
    assert_int_equal(store_dir_count_jobs(w->y->store), 0);
    assert_int_equal(stored_arrivals(w), 0);
}

static void a_disk_that_fails_later_only_delays_it(void **state)
{
    struct stage *w = *state;
    struct told told = {0};
    int64_t first = submit_and_wait(w, &told);
    stage_turn(w);
    disk_set_fault(DISK_BROKEN, 0);
    stage_run(w, MINUTE);
    assert_int_equal(told.times, 0);
    disk_set_fault(DISK_SOUND, 0);
    assert_whole(w, first, 0);
    assert_int_equal(told.times, 1);
    assert_int_equal(told.failure.code, ERR_OK);
}

static void a_server_that_stops_tells_who_waits(void **state)
{
    struct stage *w = *state;
    struct told told = {0};
    int64_t first = submit_and_wait(w, &told);
    stage_stop(w);
    assert_int_equal(told.times, 1);
    assert_non_null(strstr(told.failure.text, "the server is stopping"));
    stage_start(w);
    assert_whole(w, first, 0);
}

/* ---- dependencies ------------------------------------------------------------------ */

static void nobody_depends_on_half_an_array(void **state)
{
    struct stage *w = *state;
    struct err err;
    stage_submit(w, array);
    assert_error(stage_try_submit(w, "{'command': ['fake'], 'after': ['afterok:1']}", &err), err,
                 ERR_CONFLICT, "array 1 is still being accepted");
    stage_run(w, SECOND);
    int64_t last = stage_submit(w, "{'command': ['fake'], 'after': ['afterok:1']}");
    assert_whole(w, 1, 1);
    assert_state(w, last, JOB_DONE);
}

static const char after_first[] =
    "{'command': ['fake', 'work=1'], 'array': '0-68:2', 'after': ['afterok:1']}";

/* The members that arrive later have the dependencies of the first, in their state of then. */
static void later_members_wait_as_well(void **state)
{
    struct stage *w = *state;
    stage_submit(w, "{'command': ['fake', 'work=30']}");
    stage_submit(w, after_first);
    stage_kill(w);
    stage_start(w);
    stage_run(w, 20 * SECOND);
    for (int64_t i = 0; i < MEMBERS; i++)
        assert_state(w, 2 + i, JOB_QUEUED);
    assert_whole(w, 2, 1);
}

static void later_members_are_cancelled_as_well(void **state)
{
    struct stage *w = *state;
    stage_submit(w, "{'command': ['fake', 'work=30', 'code=1']}");
    stage_submit(w, after_first);
    stage_kill(w);
    stage_run(w, MINUTE); /* the job fails while no server runs */
    stage_start(w);
    stage_run(w, SECOND);
    for (int64_t i = 0; i < MEMBERS; i++) {
        assert_state(w, 2 + i, JOB_CANCELLED);
        assert_string_equal(stage_job(w, 2 + i)->reason,
                            "afterok:1 can never be met: job 1 is failed");
    }
}

/* ---- limits -------------------------------------------------------------------------- */

static void a_batch_is_bounded(void **state)
{
    struct stage *w = *state;
    struct err err;
    assert_error(stage_try_submit(w,
                                  "[{'command': ['fake'], 'array': '1-9999'},"
                                  " {'command': ['fake'], 'array': '1-2'}]",
                                  &err),
                 err, ERR_LIMIT, "a batch of 10001 jobs; it may have 10000");
    assert_int_equal(store_dir_count_jobs(w->y->store), 0);
}

static void dependencies_are_bounded(void **state)
{
    struct stage *w = *state;
    struct err err;
    stage_submit(w, array);
    stage_run(w, SECOND);
    assert_error(stage_try_submit(w,
                                  "{'command': ['fake'], 'array': '1-28572',"
                                  " 'after': ['afterany:1']}",
                                  &err),
                 err, ERR_LIMIT, "28572 jobs with 35 dependencies each are too many");
}

static const struct CMUnitTest tests[] = {
    ARRAY_TEST(members_arrive_over_several_turns),
    ARRAY_TEST(two_arrays_arrive_one_after_the_other),
    ARRAY_TEST(a_killed_server_goes_on_where_it_was),
    ARRAY_TEST(a_server_that_is_stopped_goes_on_later),
    ARRAY_TEST(who_waits_is_told_when_all_are_on_disk),
    ARRAY_TEST(an_array_that_could_not_be_stored_is_not_accepted),
    ARRAY_TEST(a_disk_that_fails_later_only_delays_it),
    ARRAY_TEST(a_server_that_stops_tells_who_waits),
    ARRAY_TEST(nobody_depends_on_half_an_array),
    ARRAY_TEST(later_members_wait_as_well),
    ARRAY_TEST(later_members_are_cancelled_as_well),
    ARRAY_TEST(a_batch_is_bounded),
    ARRAY_TEST(dependencies_are_bounded),
};

int main(void)
{
    return RUN(tests);
}
