/* The turn: one commit, then replies and actions; and what happens when it cannot be
 * committed. */
#include "server/turn.h"

#include <jansson.h>
#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

#include "http/reply.h"
#include "http/router.h"
#include "server/followers.h"
#include "server/jobs/verbs.h"
#include "store/events.h"
#include "store/job_state.h"
#include "store/store.h"
#include "support/disk.h"
#include "support/http_host.h"
#include "support/stage.h"
#include "support/store_dir.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

/* ---- a commit that fails --------------------------------------------------------------- */

static void what_cannot_be_written_is_refused(void **state)
{
    struct stage *w = *state;
    static const enum disk_fault faults[] = {DISK_BROKEN, DISK_FULL};
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        struct err err;
        disk_set_fault(faults[i], 0);
        assert_error(
            stage_try_submit(w, "{'command': ['fake'], 'name': 'a job', 'array': '1-500'}", &err),
            err, ERR_IO, faults[i] == DISK_FULL ? "no space left" : "trainyard.db");
        assert_true(w->y->turn.failing);
        stage_run(w, MINUTE);
        disk_set_fault(DISK_SOUND, 0);
        stage_run(w, MINUTE);
        assert_false(w->y->turn.failing);
        assert_int_equal(store_dir_count_jobs(w->y->store), 0);
        assert_int_equal(fake_truth_of_all(w->fake).begun, 0);
    }
    assert_int_equal(stage_submit(w, "{'command': ['fake']}"), 1);
}

static void a_command_that_cannot_be_written_did_not_happen(void **state)
{
    struct stage *w = *state;
    struct err err;
    struct job_change change = {.set_priority = true, .priority = 7};
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=60']}");
    int64_t held = stage_submit(w, "{'command': ['fake'], 'hold': true}");
    stage_run(w, 10 * SECOND);
    disk_set_fault(DISK_BROKEN, 0);
    assert_ok(verb_change(w->y, job, &change, &err), err);
    assert_int_equal(stage_job(w, job)->priority, 7);
    assert_false(stage_accepts(w));
    assert_int_equal(stage_job(w, job)->priority, 0);
    assert_ok(verb_cancel(w->y, job, -1, &err), err);
    assert_ok(verb_release(w->y, held, &err), err);
    assert_false(stage_accepts(w));
    stage_run(w, 10 * SECOND);
    assert_state(w, job, JOB_RUNNING);
    assert_state(w, held, JOB_HELD);
    assert_int_equal(fake_truth_of(w->fake, job).running, 1);
    disk_set_fault(DISK_SOUND, 0);
    assert_true(stage_run_until_over(w, job, MINUTE));
    assert_state(w, job, JOB_DONE);
}

static void an_end_that_cannot_be_written_is_heard_again(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=60']}");
    stage_run(w, 10 * SECOND);
    disk_set_fault(DISK_BROKEN, 0);
    stage_run(w, 2 * MINUTE);
    assert_int_equal(fake_truth_of(w->fake, job).left, 1); /* what is not recorded is kept */
    disk_set_fault(DISK_SOUND, 0);
    stage_run(w, 10 * SECOND);
    assert_state(w, job, JOB_DONE);
    assert_int_equal(fake_truth_of(w->fake, job).begun, 1);
    assert_int_equal(fake_truth_of(w->fake, job).left, 0);
}

static void nothing_is_begun_before_it_is_on_disk(void **state)
{
    struct stage *w = *state;
    struct err err;
    /* Wherever the turn fails, from its first write on. */
    for (uint64_t n = 0; n < 40; n++) {
        disk_set_fault(DISK_BROKEN, n);
        int64_t job = stage_try_submit(w, "{'command': ['fake', 'work=1']}", &err);
        stage_run(w, SECOND);
        if (job < 0)
            assert_int_equal(fake_truth_of_all(w->fake).begun, 0);
        disk_set_fault(DISK_SOUND, 0);
        if (job > 0)
            break;
        stage_run(w, 10 * SECOND);
        assert_int_equal(store_dir_count_jobs(w->y->store), 0);
    }
    assert_int_equal(store_dir_count_jobs(w->y->store), 1);
}

static void count_turn(void *ctx)
{
    ++*(unsigned *)ctx;
}

static void a_full_disk_does_not_keep_the_server_busy(void **state)
{
    struct stage *w = *state;
    unsigned turns = 0;
    stage_submit(w, "{'command': ['fake', 'work=6000', 'steps=1000']}");
    stage_run(w, 10 * SECOND);
    disk_set_fault(DISK_BROKEN, 0);
    w->after_turn = count_turn;
    w->ctx = &turns;
    stage_run(w, 10 * MINUTE);
    assert_in_range(turns, 100, 1000);
}

static int see_seq(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                   const char *json, struct err *err)
{
    (void)at, (void)job, (void)kind, (void)json, (void)err;
    int64_t *last = ctx;
    assert_int_equal(seq, *last + 1);
    *last = seq;
    return 0;
}

static void events_of_a_turn_that_failed_never_happened(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t last = 0;
    stage_submit(w, "{'command': ['fake', 'work=1']}");
    stage_run(w, 10 * SECOND);
    disk_set_fault(DISK_BROKEN, 0);
    int64_t committed = w->y->followers->committed;
    assert_int_equal(stage_try_submit(w, "{'command': ['fake']}", &err), -1);
    assert_int_equal(w->y->followers->committed, committed);
    disk_set_fault(DISK_SOUND, 0);
    stage_submit(w, "{'command': ['fake', 'work=1']}");
    assert_ok(store_event_list(w->y->store, 0, 0, 0, see_seq, &last, &err), err);
    assert_true(last > committed);
}

/* ---- when it is committed ----------------------------------------------------------------- */

static void what_nobody_waits_for_is_on_disk_within_seconds(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=60', 'steps=60']}");
    stage_run(w, 16 * SECOND); /* it has reported after 10 s, and that is on disk after 5 more */
    stage_kill(w);
    stage_start(w);
    assert_near(stage_job(w, job)->step, 10, 1);
}

/* ---- replies -------------------------------------------------------------------------------- */

/* A server whose one request is to submit a job; turns end when the test says so. */
static struct stage *shown;
static atomic_uint asked;

static void take_request(const struct request *r, struct reply *reply, void *ctx)
{
    struct err err;
    int64_t first;
    (void)ctx, (void)r;
    if (stage_hand_in(shown, "{'command': ['fake', 'work=60']}", &first, &err) < 0)
        reply_problem(reply, &err, NULL);
    else
        turn_reply(shown->y, reply, 201, json_object());
    asked++;
}

static void end_turn(struct http_host *h)
{
    (void)h;
    turn_end(shown->y);
}

static bool has_answer(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static int ask(const struct http_host *h)
{
    int fd = wire_connect(h);
    unsigned before = asked;
    wire_send(fd, "POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    wait_for(asked > before);
    assert_false(has_answer(fd));
    return fd;
}

static void replies_wait_for_the_commit(void **state)
{
    static const struct route routes[] = {{"POST", "/jobs", take_request, "submit", false}, {0}};
    struct http_host h;
    shown = *state;
    http_host_start(&h, (struct http_config){.routes = routes});
    int fd = ask(&h);
    http_host_do(&h, end_turn);
    struct wire_reply good = wire_read_reply(fd, false);
    assert_int_equal(good.status, 201);
    wire_reply_done(&good);
    close(fd);
    disk_set_fault(DISK_BROKEN, 0);
    for (int i = 0; i < 3; i++) { /* each is told at once, however often it has failed before */
        fd = ask(&h);
        http_host_do(&h, end_turn);
        struct wire_reply bad = wire_read_reply(fd, false);
        assert_int_equal(bad.status, 500);
        assert_non_null(strstr(bad.body.at, "trainyard.db"));
        wire_reply_done(&bad);
        close(fd);
    }
    http_host_stop(&h, SECOND);
    assert_int_equal(store_dir_count_jobs(shown->y->store), 1);
}

/* A stretch begins with all tasks: it would be full at once, again and again. */
static void more_tasks_than_a_stretch_has_rows(void **state)
{
    struct stage *w = *state;
    w->y->config.journal_rows = 20;
    stage_submit(w, "{'command': ['fake', 'work=1'], 'cpus': 2, 'array': '1-50'}");
    int64_t before = w->y->boot;
    stage_run(w, 100 * USEC_PER_SEC);
    assert_state(w, 50, JOB_DONE);
    assert_in_range(w->y->boot - before, 1, 10);
}

static const struct CMUnitTest tests[] = {
    STAGE_TEST(more_tasks_than_a_stretch_has_rows),
    STAGE_TEST(what_cannot_be_written_is_refused),
    STAGE_TEST(a_command_that_cannot_be_written_did_not_happen),
    STAGE_TEST(an_end_that_cannot_be_written_is_heard_again),
    STAGE_TEST(nothing_is_begun_before_it_is_on_disk),
    STAGE_TEST(a_full_disk_does_not_keep_the_server_busy),
    STAGE_TEST(events_of_a_turn_that_failed_never_happened),
    STAGE_TEST(what_nobody_waits_for_is_on_disk_within_seconds),
    STAGE_TEST(replies_wait_for_the_commit),
};

int main(void)
{
    return RUN(tests);
}
