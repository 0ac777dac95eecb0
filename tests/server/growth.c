/* The server's memory while jobs come and go, on the fake runtime: it depends on the jobs that
 * there are, not on those that there were. What counts is every byte that is allocated, the disk in
 * memory and the fake world aside, so that one byte kept for each job is found.
 *
 * run-tests: no asan, whose allocator does not tell.
 *
 *   growth          GROWTH_JOBS (4000) in batches of 100: arrays, retries, dependencies, reports,
 * commands
 */
#include <malloc.h>
#include <math.h>

#include "server/jobs/verbs.h"
#include "support/disk.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

enum { JOBS = 4000, BATCH = 100, WARM = 10 };

/* Names of metrics, texts of errors and caches of statements fill up in the first batches. Beyond
 * them a job may leave nothing; the bound is for tables that double now and then. */
enum { MOST_GROWTH = 64 << 10 };

static const struct fake_options nodes = {
    .seed = 1, .nodes = 4, .cpus = 8 * UNIT, .memory_mb = 65536, .report = 10 * SECOND};

static int64_t memory_in_use(void)
{
    struct mallinfo2 m = mallinfo2();
    return (int64_t)(m.uordblks + m.hblkhd) - (int64_t)disk_memory();
}

/* 100 jobs of all kinds; all are over when it returns. */
static int64_t run_batch(struct stage *w)
{
    struct err err;
    int64_t last = 0;
    stage_submit(w, "{'command': ['fake', 'work=20'], 'array': '1-40%8'}");
    for (int i = 0; i < 10; i++) {
        stage_submit(w, "{'command': ['fake', 'work=3', 'code=1'], 'retries': 1, 'backoff': '1s'}");
        int64_t job = stage_submit(w, "{'command': ['fake', 'work=40', 'steps=50', 'saves'],"
                                      " 'cpus': '1-4', 'checkpoint_dir': '/c', 'name': 'steps'}");
        char after[128];
        snprintf(after, sizeof after, "{'command': ['fake'], 'after': ['afterok:%lld']}",
                 (long long)job);
        stage_submit(w, after);
        stage_submit(w, "{'command': ['fake', 'work=5'], 'priority': 5, 'cpus': 8}");
        int64_t held = stage_submit(w, "{'command': ['fake'], 'hold': true}");
        last = stage_submit(w, "{'command': ['fake', 'work=100000'], 'time_limit': '1h'}");
        stage_run(w, 5 * SECOND);
        assert_ok(verb_release(w->y, held, &err), err);
        assert_ok(verb_cancel(w->y, last, 0, &err), err);
    }
    stage_run(w, 10 * MINUTE);
    assert_null(w->y->jobs.first);
    assert_true(fake_forget(w->fake));
    return last;
}

static void memory_does_not_grow_with_the_jobs_that_were(void **state)
{
    struct stage w;
    const char *text = getenv("GROWTH_JOBS");
    int64_t jobs = text ? strtoll(text, NULL, 10) : JOBS, last = 0, warm = 0, now = 0;
    (void)state;
    stage_begin(&w, &nodes, "elastic-fifo");
    stage_start(&w);
    int64_t begin = memory_in_use();
    for (int batch = 0; last < jobs; batch++) {
        last = run_batch(&w);
        now = memory_in_use();
        warm = batch < WARM && now > warm ? now : warm;
    }
    print_message(
        "# %lld jobs: %lld KB at the start, at most %lld KB after the first %d, %lld KB at "
        "the end\n",
        (long long)last, (long long)begin >> 10, (long long)warm >> 10, WARM * BATCH,
        (long long)now >> 10);
    assert_true(now - warm < MOST_GROWTH);
    stage_end(&w);
}

static const struct CMUnitTest tests[] = {TEST(memory_does_not_grow_with_the_jobs_that_were)};

int main(void)
{
    return RUN(tests);
}
