/* Tests of recorded workloads: what happened, and what another policy would have done, by hand. */
#include "journal/recorded.h"

#include <math.h>

#include "journal/journal.h"
#include "store/journal.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"
#include "support/world.h"

#define SECOND (double)USEC_PER_SEC

/* An engine whose events go into a journal. */
struct recorder {
    struct world w;
    struct store *s;
};

static void begin(struct recorder *r, const char *nodes, const char *policy)
{
    struct str row = {0};
    struct err err;
    int64_t boot;
    world_init(&r->w, nodes, policy, NULL);
    journal_write_boot(&r->w.e, &row);
    assert_ok(store_boot_begin(r->s, 0, &boot, &err), err);
    assert_ok(store_journal_add(r->s, "boot", row.at, &err), err);
    str_done(&row);
}

static void take(struct recorder *r, double at, struct event event)
{
    struct str row = {0};
    struct err err;
    journal_write_event(&event, (usec_t)(at * SECOND), &row);
    assert_ok(store_journal_add(r->s, "event", row.at, &err), err);
    str_done(&row);
    world_take(&r->w, at, event);
}

static uint32_t submit(struct recorder *r, double at, struct job like)
{
    like.submit = (usec_t)(at * SECOND);
    take(r, at, (struct event){.kind = EVENT_SUBMIT, .job = world_job(&r->w, like)});
    uint32_t task = r->w.e.submitted;
    take(r, at, (struct event){.kind = EVENT_TICK});
    return task;
}

static void end(struct recorder *r, double at, uint32_t task)
{
    take(r, at, (struct event){.kind = EVENT_END, .task = task});
    take(r, at, (struct event){.kind = EVENT_TICK});
}

static struct recorded_figures try(const struct recorded *rec, const char *policy)
{
    struct combo combo;
    struct recorded_figures f;
    struct err err;
    assert_ok(combo_parse(policy, &combo, &err), err);
    assert_ok(recorded_try(rec, &combo, &f, &err), err);
    return f;
}

/* One CPU. The long job was expected to take 1000 s and took 100; one was cancelled while it
 * waited, and one has not ended. */
static void test_trial(void **state)
{
    struct recorder r = {.s = store_dir_open(*state)};
    struct recorded *rec;
    struct err err;
    begin(&r, "1x1c", "fifo");
    uint32_t a = submit(&r, 10, (struct job){.req = UNIT, .work = 1000 * SECOND});
    uint32_t b = submit(
        &r, 20, (struct job){.req = UNIT, .work = 20 * SECOND, .deadline = (usec_t)(60 * SECOND)});
    uint32_t c = submit(&r, 30, (struct job){.req = UNIT, .work = 5 * SECOND});
    end(&r, 40, c);
    end(&r, 110, a);
    end(&r, 130, b);
    submit(&r, 135, (struct job){.req = UNIT, .work = 50 * SECOND});
    assert_ok(recorded_read(r.s, 0, &rec, &err), err);
    struct recorded_figures was = recorded_figures(rec), fifo = try(rec, "fifo"),
                            srtf = try(rec, "srtf");
    assert_string_equal(recorded_policy(rec)->name, "fifo");
    assert_true(was.jobs == 2 && was.missed == 1 && was.preemptions == 0);
    assert_float_equal(was.mean_s, (100 + 110) / 2.0, 1e-6);
    assert_float_equal(was.makespan_s, 120, 1e-6);
    assert_true(fifo.mean_s == was.mean_s && fifo.makespan_s == was.makespan_s);
    assert_true(srtf.jobs == 2 && srtf.unfinished == 0 && srtf.missed == 0);
    assert_int_equal(srtf.preemptions, 1);
    assert_float_equal(srtf.mean_s, (120 + 20) / 2.0, 1e-6);
    recorded_free(rec);
    world_done(&r.w);
    store_close(r.s);
}

/* A second node comes; the server starts again, with the job that runs, and another node less. */
static void test_nodes_and_starts(void **state)
{
    struct recorder r = {.s = store_dir_open(*state)};
    const struct capacity second = {.name = "second", .cpus = UNIT};
    struct recorded *rec;
    struct err err;
    begin(&r, "1x1c", "fifo");
    uint32_t a = submit(&r, 0, (struct job){.req = UNIT, .work = 100 * SECOND});
    uint32_t b = submit(&r, 0, (struct job){.req = UNIT, .work = 100 * SECOND});
    take(&r, 50, (struct event){.kind = EVENT_CAPACITY, .node = 1, .has = &second});
    take(&r, 50, (struct event){.kind = EVENT_TICK});
    end(&r, 100, a);
    struct task was = r.w.e.tasks[b];
    struct job kept = *was.job;
    struct slot slot = {0, UNIT};
    kept.name = "b"; /* the other one goes away */
    was.job = &kept;
    was.done = 60 * SECOND;
    was.at = (struct placement){&slot, 1};
    world_done(&r.w);
    begin(&r, "1x1c", "fifo");
    take(&r, 110, (struct event){.kind = EVENT_RESTORE, .job = &kept, .was = &was});
    end(&r, 150, 0);
    assert_ok(recorded_read(r.s, 0, &rec, &err), err);
    struct recorded_figures happened = recorded_figures(rec), again = try(rec, "fifo");
    assert_int_equal(happened.jobs, 2);
    assert_float_equal(happened.mean_s, (100 + 150) / 2.0, 1e-6);
    assert_float_equal(again.mean_s, happened.mean_s, 1e-6);
    recorded_free(rec);
    /* Only the second start: the job came with 60 of its 100 s done. */
    assert_ok(recorded_read(r.s, 2, &rec, &err), err);
    assert_int_equal(recorded_figures(rec).jobs, 1);
    assert_float_equal(recorded_figures(rec).makespan_s, 40, 1e-6);
    recorded_free(rec);
    assert_error(recorded_read(r.s, 3, &rec, &err), err, ERR_NOT_FOUND, "no row to start from");
    assert_ok(store_journal_add(r.s, "event", "{\"kind\":", &err), err);
    assert_error(recorded_read(r.s, 0, &rec, &err), err, ERR_IO, "journal, row ");
    world_done(&r.w);
    store_close(r.s);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_trial),
    STORE_TEST(test_nodes_and_starts),
};

int main(void)
{
    return RUN(tests);
}
