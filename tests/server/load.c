/* The samples of how busy the cluster is: taken when something changes, and kept. */
#include "server/load.h"

#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

struct seen {
    unsigned n;
    struct load_row last;
    int64_t most_running, most_waiting, most_held;
};

static int see_load(void *ctx, const struct load_row *row, struct err *err)
{
    struct seen *seen = ctx;
    (void)err;
    if (*row->node)
        return 0;
    seen->n++;
    seen->last = *row;
    if (row->running > seen->most_running)
        seen->most_running = row->running;
    if (row->waiting > seen->most_waiting)
        seen->most_waiting = row->waiting;
    if (row->cpus_held > seen->most_held)
        seen->most_held = row->cpus_held;
    return 0;
}

static struct seen see_all(struct stage *w)
{
    struct err err;
    struct seen seen = {0};
    assert_ok(store_load_list(w->y->store, 0, 1, see_load, &seen, &err), err);
    return seen;
}

static void changes_are_sampled(void **state)
{
    struct stage *w = *state;
    stage_submit(w, "[{'command': ['fake', 'work=120'], 'cpus': 2},"
                    " {'command': ['fake', 'work=120'], 'cpus': 2}]");
    stage_run(w, 5 * MINUTE);
    struct seen seen = see_all(w);
    assert_true(seen.most_running == 1 && seen.most_waiting == 1);
    assert_int_equal(seen.most_held, 2 * UNIT);
    assert_true(seen.last.running == 0 && seen.last.waiting == 0 && seen.last.cpus_held == 0);
    assert_int_equal(seen.last.cpus, 2 * UNIT);
}

/* Nothing is written, and nothing wakes the server, while nothing happens. */
static void quiet_costs_nothing(void **state)
{
    struct stage *w = *state;
    stage_run(w, MINUTE);
    struct seen before = see_all(w);
    stage_run(w, 60 * MINUTE);
    assert_int_equal(see_all(w).n, before.n);
    assert_true(w->y->load_at == USEC_NEVER);
}

static void many_changes_are_few_samples(void **state)
{
    struct stage *w = *state;
    for (int i = 0; i < 60; i++) {
        stage_submit(w, "{'command': ['fake', 'work=1'], 'cpus': 1}");
        stage_run(w, SECOND);
    }
    assert_in_range(see_all(w).n, 4, 6);
}

static void samples_outlive_the_server(void **state)
{
    struct stage *w = *state;
    stage_submit(w, "{'command': ['fake', 'work=10'], 'cpus': 1}");
    stage_run(w, MINUTE);
    struct seen before = see_all(w);
    stage_stop(w);
    stage_start(w);
    stage_run(w, MINUTE);
    assert_true(see_all(w).n > before.n);
}

static const struct CMUnitTest tests[] = {
    STAGE_TEST(changes_are_sampled),
    STAGE_TEST(quiet_costs_nothing),
    STAGE_TEST(many_changes_are_few_samples),
    STAGE_TEST(samples_outlive_the_server),
};

int main(void)
{
    return RUN(tests);
}
