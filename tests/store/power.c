/* Cuts the power at random writes: every commit that was told of is there when the
 * store is opened again, the one that was under way is there in full or not at all,
 * and nothing is damaged. Unlike a killed program, a power cut shows a sync that is
 * missing. The seed is random and printed; as an argument it repeats a run. */
#include "support/power.h"

#include <unistd.h>

#include "store/events.h"
#include "store/job_list.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

enum { CUTS = 120, TURN = 3, OPERATIONS = 5000, CUTS_OF_ONE = 10 };

static uint64_t seed;

/* One turn: three jobs with their events. */
static int write_turn(struct store *s, int64_t turn, struct err *err)
{
    for (int i = 0; i < TURN; i++) {
        int64_t id, seq;
        struct job_row row = store_dir_job(turn);
        if (store_dir_submit(s, &row, &id, err) < 0 ||
            store_event_add(s, turn, id, "submitted", "{}", &seq, err) < 0)
            return -1;
    }
    return store_commit(s, err);
}

/* Returns how many jobs there are. */
static unsigned open_and_audit(const struct store_dir *d, unsigned told)
{
    struct err err;
    struct store *s = store_dir_open(d);
    struct job_filter queued = {.states = 1U << JOB_QUEUED};
    unsigned listed = 0, n = store_dir_count_jobs(s);
    if (n < told || n > told + TURN || n % TURN)
        fail_msg("%u jobs were told of, %u are there", told, n);
    /* The index by state has them too. */
    assert_ok(store_job_list(s, &queued, store_dir_count, &listed, &err), err);
    assert_int_equal(listed, n);
    store_close(s);
    return n;
}

/* Writes turns until the power fails; returns how many jobs were told of. */
static unsigned write_until_cut(const struct store_dir *d, struct rng *r)
{
    struct err err;
    struct store *s = NULL;
    unsigned told = 0;
    power_begin();
    /* Some cuts hit the opening or the first commits, some a checkpoint. */
    power_fail_after(1 + rng_below(r, rng_below(r, 3) ? OPERATIONS : 40));
    if (store_open(d->path, &s, &err) == 0)
        for (int64_t turn = 0; write_turn(s, turn, &err) == 0; turn++)
            told += TURN;
    assert_int_equal(err.code, ERR_IO);
    store_close(s);
    power_return(r);
    power_end();
    unlink(store_dir_file(d, "trainyard.db-shm"));
    return told;
}

static void test_power_cuts(void **state)
{
    struct store_dir *d = *state;
    struct rng r;
    unsigned all = 0;
    rng_init(&r, seed);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < CUTS; i += CUTS_OF_ONE) {
        unsigned there = 0;
        store_close(store_dir_open(d));
        for (int k = 0; k < CUTS_OF_ONE; k++)
            there = open_and_audit(d, there + write_until_cut(d, &r));
        store_dir_check(d->path);
        unlink(d->path);
        all += there;
    }
    print_message("%d cuts, %u jobs\n", CUTS, all);
    assert_true(all > 10 * CUTS);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST_IN_MEMORY(test_power_cuts),
};

int main(int argc, char **argv)
{
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)getpid();
    return RUN(tests);
}
