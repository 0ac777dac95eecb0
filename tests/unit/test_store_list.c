/* Tests of lists of jobs: every filter against a plain search, pages while jobs
 * change, many thousand jobs. */
#include <fnmatch.h>
#include <time.h>

#include "base/rng.h"
#include "base/str.h"
#include "store/job_list.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

enum { MANY = 50000 };

static int64_t add_job(struct store *s, const struct job_row *row)
{
    struct err err;
    int64_t id = 0;
    assert_ok(store_dir_submit(s, row, &id, &err), err);
    return id;
}

static bool wanted(const struct job_filter *f, const struct job_row *row)
{
    bool named = !f->name || fnmatch(f->name, row->name, 0) == 0;
    bool within = row->id >= f->first && (!f->last || row->id <= f->last) &&
                  (!f->index || (row->array && row->array_index == *f->index));
    bool behind = !f->after || (f->oldest_first ? row->id > f->after : row->id < f->after);
    return named && behind && within && (!f->states || f->states & 1U << row->state) &&
           (!f->group || !strcmp(f->group, row->group_name)) &&
           (!f->user || !strcmp(f->user, row->user)) && (!f->array || row->array == f->array);
}

/* The list must be what a search through all rows finds; `all` is by id. */
static void assert_list(struct store *s, const struct job_filter *f,
                        const struct store_dir_rows *all)
{
    struct err err;
    struct store_dir_rows got = {0};
    size_t found = 0;
    assert_ok(store_job_list(s, f, store_dir_keep, &got, &err), err);
    for (size_t k = 0; k < all->rows.n && (!f->limit || found < f->limit); k++) {
        const struct job_row *row = &all->rows.at[f->oldest_first ? k : all->rows.n - 1 - k];
        if (!wanted(f, row))
            continue;
        if (found >= got.rows.n || got.rows.at[found].id != row->id)
            fail_msg("states %x name %s user %s array %d after %d: job %d is not at %zu", f->states,
                     f->name, f->user, (int)f->array, (int)f->after, (int)row->id, found);
        assert_string_equal(got.rows.at[found].command, row->command);
        found++;
    }
    assert_int_equal(got.rows.n, found);
    store_dir_rows_done(&got);
}

static const char *const names[] = {
    "train", "trainer", "train-\xc3\xa9", "eval", "tr*in", "\xf4\x8f\xbf\xbf", "", "TRAIN"};
static const char *const users[] = {"ann", "bob", "", "ann "};
static const char *const groups[] = {"", "lr", "lr2"};

static void fill_at_random(struct store *s, struct rng *r, unsigned n)
{
    int64_t array = 0;
    for (unsigned i = 0; i < n; i++) {
        struct job_row row = store_dir_job(i);
        row.name = names[rng_below(r, COUNT_OF(names))];
        row.user = users[rng_below(r, COUNT_OF(users))];
        row.state = (enum job_state)rng_below(r, JOB_STATE_COUNT);
        snprintf(row.group_name, sizeof row.group_name, "%s",
                 groups[rng_below(r, COUNT_OF(groups))]);
        bool first = rng_below(r, 20) == 0;
        row.array_index = (int64_t)rng_below(r, 4);
        row.array = first ? JOB_ARRAY_FIRST : rng_below(r, 2) ? array : 0;
        int64_t id = add_job(s, &row);
        array = first ? id : array;
    }
}

static void draw_filter(struct rng *r, unsigned n, struct job_filter *f)
{
    static const char *const patterns[] = {"train", "train*", "tr*",   "t*in",  "*",      "?r*",
                                           "",      "nobody", "\xf4*", "tr*in", "tr*in*", "tr?in"};
    static const int64_t indices[] = {0, 1, 3, 7};
    *f = (struct job_filter){.oldest_first = rng_below(r, 2)};
    if (rng_below(r, 2))
        f->states = (uint32_t)rng_below(r, 1U << JOB_STATE_COUNT);
    if (rng_below(r, 3) == 0)
        f->name = patterns[rng_below(r, COUNT_OF(patterns))];
    if (rng_below(r, 3) == 0)
        f->user = users[rng_below(r, COUNT_OF(users))];
    if (rng_below(r, 4) == 0)
        f->group = groups[1 + rng_below(r, COUNT_OF(groups) - 1)];
    if (rng_below(r, 4) == 0)
        f->array = (int64_t)rng_below(r, n);
    if (rng_below(r, 2))
        f->after = (int64_t)rng_below(r, n + 2);
    if (rng_below(r, 4) == 0)
        f->index = &indices[rng_below(r, COUNT_OF(indices))];
    if (rng_below(r, 4) == 0)
        f->first = (int64_t)rng_below(r, n + 2);
    if (rng_below(r, 4) == 0)
        f->last = 1 + (int64_t)rng_below(r, n + 2);
    if (rng_below(r, 2))
        f->limit = 1 + (uint32_t)rng_below(r, 20);
}

static void test_filters(void **state)
{
    struct store *s = store_dir_open(*state);
    struct store_dir_rows all = {0};
    struct rng r;
    struct err err;
    rng_init(&r, 11);
    fill_at_random(s, &r, 400);
    assert_ok(
        store_job_list(s, &(struct job_filter){.oldest_first = true}, store_dir_keep, &all, &err),
        err);
    assert_int_equal(all.rows.n, 400);
    for (int i = 0; i < 3000; i++) {
        struct job_filter f;
        draw_filter(&r, 400, &f);
        assert_list(s, &f, &all);
    }
    store_dir_rows_done(&all);
    store_close(s);
}

/* Reads page by page while jobs come, end and move between the states. */
static void test_pages_while_jobs_change(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    struct rng r;
    rng_init(&r, 3);
    enum { JOBS = 500 };
    for (int i = 0; i < JOBS; i++) {
        struct job_row row = store_dir_job(i);
        add_job(s, &row);
    }
    store_dir_commit(s);
    bool seen[JOBS + 1] = {false};
    struct job_filter f = {.states = 1U << JOB_QUEUED | 1U << JOB_RUNNING, .limit = 7};
    for (;;) {
        struct store_dir_rows page = {0};
        assert_ok(store_job_list(s, &f, store_dir_keep, &page, &err), err);
        size_t n = page.rows.n;
        for (size_t i = 0; i < n; i++) {
            assert_true(page.rows.at[i].id <= JOBS && !seen[page.rows.at[i].id]);
            seen[page.rows.at[i].id] = true;
        }
        f.after = n ? page.rows.at[n - 1].id : f.after;
        store_dir_rows_done(&page);
        if (n < f.limit)
            break;
        struct job_row row = store_dir_job(1000);
        add_job(s, &row);
        /* From queued to running and back: still asked for, so never missed. */
        for (int i = 0; i < 20; i++) {
            row = store_dir_job((int64_t)rng_below(&r, JOBS));
            row.id = 1 + row.submitted % JOBS;
            row.state = rng_below(&r, 2) ? JOB_RUNNING : JOB_QUEUED;
            assert_ok(store_job_save(s, &row, &err), err);
        }
        store_dir_commit(s);
    }
    for (int id = 1; id <= JOBS; id++)
        assert_true(seen[id]);
    store_close(s);
}

/* A callback reads other things, even another list, and writes. */
static int nest(void *ctx, const struct job_row *row, struct err *err)
{
    struct store *s = ctx;
    unsigned n = 0;
    struct job_row copy = *row;
    struct job_filter f = {.states = 1U << JOB_QUEUED | 1U << JOB_DONE};
    assert_int_equal(store_job_list(s, &f, store_dir_count, &n, err), 0);
    assert_int_equal(n, 20);
    copy.state = JOB_DONE;
    return store_job_save(s, &copy, err);
}

static void test_calls_from_a_callback(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    unsigned n = 0;
    for (int i = 0; i < 20; i++) {
        struct job_row row = store_dir_job(i);
        add_job(s, &row);
    }
    struct job_filter f = {.states = 1U << JOB_QUEUED | 1U << JOB_DONE};
    assert_ok(store_job_list(s, &f, nest, s, &err), err);
    f.states = 1U << JOB_DONE;
    assert_ok(store_job_list(s, &f, store_dir_count, &n, &err), err);
    assert_int_equal(n, 20);
    store_close(s);
}

static void fill_many(struct store *s)
{
    for (int i = 0; i < MANY; i++) {
        struct job_row row = store_dir_job(i);
        row.state = i < 5 ? JOB_QUEUED : i % 10 == 0 ? JOB_FAILED : JOB_DONE;
        add_job(s, &row);
        if (i % 10000 == 9999)
            store_dir_commit(s);
    }
}

static double seconds_of(struct store *s, const struct job_filter *f, unsigned times)
{
    struct err err;
    struct timespec a, b;
    unsigned n = 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    for (unsigned i = 0; i < times; i++)
        assert_ok(store_job_list(s, f, store_dir_count, &n, &err), err);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    assert_true(n > 0);
    return ((double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9) / times;
}

/* Pages of few and of many; none may read its way through all jobs, which takes
 * a hundred milliseconds. The bound is far above what a page takes (bench/store
 * measures that), and is of CPU time, so that a busy machine does not matter. */
static void test_many(void **state)
{
    struct store *s = store_dir_open(*state);
    static const struct job_filter filters[] = {
        {0},
        {.states = 1U << JOB_QUEUED},
        {.states = 1U << JOB_QUEUED | 1U << JOB_DONE, .after = 500},
        {.states = 1U << JOB_FAILED | 1U << JOB_DONE, .after = MANY / 2},
        {.user = "user3", .states = 1U << JOB_QUEUED},
        {.user = "user3", .oldest_first = true, .after = MANY / 2},
        {.name = "train-00001"},
        {.name = "train-*", .after = MANY / 3},
        {.name = "train-4999*", .states = 1U << JOB_DONE},
    };
    fill_many(s);
    store_close(s);
    s = store_dir_open(*state);
    for (size_t i = 0; i < COUNT_OF(filters); i++) {
        struct job_filter f = filters[i];
        f.limit = 100;
        double took = seconds_of(s, &f, 20);
        if (took > 0.02)
            fail_msg("filter %zu took %.1f ms", i, took * 1e3);
    }
    store_close(s);
    store_dir_check(((struct store_dir *)*state)->path);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_filters),
    STORE_TEST(test_pages_while_jobs_change),
    STORE_TEST(test_calls_from_a_callback),
    STORE_TEST(test_many),
};

int main(void)
{
    return RUN(tests);
}
