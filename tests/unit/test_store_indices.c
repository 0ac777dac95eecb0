/* Tests that what is asked for among many jobs is found by an index: counted are the pages
 * that SQLite looks at, which for all rows of the store are many thousand. */
#include "store/attempts.h"
#include "store/deps.h"
#include "store/job_list.h"
#include "store/jobs.h"
#include "store/journal.h"
#include "store/query.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

enum { MANY = 30000, FEW = 5, PAGE = 100 };

static int pages_so_far(struct store *s)
{
    int hits = 0, misses = 0, highest = 0;
    sqlite3_db_status(s->db, SQLITE_DBSTATUS_CACHE_HIT, &hits, &highest, 0);
    sqlite3_db_status(s->db, SQLITE_DBSTATUS_CACHE_MISS, &misses, &highest, 0);
    return hits + misses;
}

static void assert_lists(struct store *s, const struct job_filter *f, unsigned rows, int pages)
{
    struct err err;
    struct job_filter page = *f;
    unsigned n = 0;
    int before = pages_so_far(s);
    page.limit = PAGE;
    assert_ok(store_job_list(s, &page, store_dir_count, &n, &err), err);
    assert_int_equal(n, rows);
    int took = pages_so_far(s) - before;
    if (took > pages)
        fail_msg("states %x user %s name %s: %d pages for %u rows", f->states, f->user, f->name,
                 took, n);
}

/* `others` are in this state; few of the jobs are ann's, some of them queued. */
static void fill(struct store *s, enum job_state others)
{
    struct err err;
    for (int i = 0; i < MANY; i++) {
        struct job_row row = store_dir_job(i);
        bool anns = i % (MANY / FEW) == 0;
        row.user = anns ? "ann" : row.user;
        row.state = anns && i ? JOB_QUEUED : others;
        assert_ok(store_dir_submit(s, &row, &row.id, &err), err);
        if (!anns)
            continue;
        struct attempt_row attempt = {.job = row.id, .n = 1, .state = row.state};
        assert_ok(store_attempt_add(s, &attempt, &err), err);
        assert_ok(store_dep_add(s, row.id, 1, 1, &err), err);
    }
    store_dir_commit(s);
}

#define BIT(state) (1U << JOB_##state)

/* A page of 100 rows: a few pages each, for the way down to a job and to its request. */
enum { PAGES = 1000 };

static void test_lists_among_jobs_that_are_over(void **state)
{
    struct store *s = store_dir_open(*state);
    fill(s, JOB_DONE);
    assert_lists(s, &(struct job_filter){0}, PAGE, PAGES);
    assert_lists(s, &(struct job_filter){.after = MANY / 2}, PAGE, PAGES);
    assert_lists(s, &(struct job_filter){.states = BIT(QUEUED)}, FEW - 1, 100);
    assert_lists(s, &(struct job_filter){.states = BIT(DONE), .after = MANY / 2}, PAGE, PAGES);
    assert_lists(s, &(struct job_filter){.states = BIT(DONE) | BIT(QUEUED)}, PAGE, PAGES);
    assert_lists(s, &(struct job_filter){.user = "ann"}, FEW, 150);
    assert_lists(s, &(struct job_filter){.user = "ann", .states = BIT(DONE)}, 1, 50);
    assert_lists(s, &(struct job_filter){.user = "user3", .oldest_first = true}, PAGE, PAGES);
    assert_lists(s, &(struct job_filter){.name = "train-00007"}, 1, 50);
    assert_lists(s, &(struct job_filter){.name = "train-1234*"}, 10, 250);
    assert_lists(s, &(struct job_filter){.name = "train-*", .after = MANY / 3}, PAGE, PAGES);
    store_close(s);
}

/* Of them there is one index only: those of other users are passed over in it. */
static void test_lists_among_jobs_that_wait(void **state)
{
    struct store *s = store_dir_open(*state);
    fill(s, JOB_HELD);
    assert_lists(s, &(struct job_filter){.states = BIT(QUEUED)}, FEW - 1, 100);
    assert_lists(s, &(struct job_filter){.states = BIT(HELD), .after = MANY / 2}, PAGE, PAGES);
    assert_lists(s, &(struct job_filter){.user = "ann"}, FEW, 500);
    assert_lists(s, &(struct job_filter){.user = "ann", .states = BIT(HELD)}, 1, 500);
    assert_lists(s, &(struct job_filter){.user = "user3"}, PAGE, PAGES);
    store_close(s);
}

static int count_dep(void *ctx, int64_t job, int kind, int64_t on, struct err *err)
{
    (void)job, (void)kind, (void)on, (void)err;
    ++*(unsigned *)ctx;
    return 0;
}

/* What a server reads when it starts. */
static void test_reads_of_a_start(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    unsigned deps = 0, attempts = 0;
    fill(s, JOB_DONE);
    int before = pages_so_far(s);
    assert_ok(store_dep_list(s, count_dep, &deps, &err), err);
    assert_ok(store_attempt_list(s, 0, store_dir_count_attempt, &attempts, &err), err);
    assert_true(deps == FEW - 1 && attempts == FEW - 1);
    assert_true(pages_so_far(s) - before < 100);
    store_close(s);
}

/* The boot of each row is looked up, among many. */
static void test_boots(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    unsigned n = 0;
    enum { BOOTS = 10000 };
    for (int64_t i = 0, boot; i < BOOTS; i++) {
        assert_ok(store_boot_begin(s, i, &boot, &err), err);
        assert_ok(store_journal_add(s, "boot", "{}", &err), err);
    }
    store_dir_commit(s);
    int before = pages_so_far(s);
    assert_ok(store_journal_list(s, 7, store_dir_count_entry, &n, &err), err);
    assert_int_equal(n, 1);
    assert_true(pages_so_far(s) - before < 50);
    assert_ok(store_journal_list(s, 0, store_dir_count_entry, &n, &err), err);
    assert_int_equal(n, 1 + BOOTS);
    assert_true(pages_so_far(s) - before < 10 * BOOTS);
    store_close(s);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST_IN_MEMORY(test_lists_among_jobs_that_are_over),
    STORE_TEST_IN_MEMORY(test_lists_among_jobs_that_wait),
    STORE_TEST_IN_MEMORY(test_reads_of_a_start),
    STORE_TEST_IN_MEMORY(test_boots),
};

int main(void)
{
    return RUN(tests);
}
