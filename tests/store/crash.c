/* Kills a writer at random instants: what it was told is committed is there when
 * the store is opened again, whole, and nothing is there in part.
 *
 * The writer makes turns of one to five jobs, each with an attempt, an event and a
 * sample and then changed, and prints the first job and the size of the turn after
 * its commit. The name of a job tells the turn's size and the job's
 * place in it, so that a turn that is there in part shows. */
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "store/attempts.h"
#include "store/events.h"
#include "store/job_list.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "store/samples.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

enum { KILLS = 120, CHECK_EVERY = 20 };

struct turn {
    int64_t first, size;
};

static int write_job(struct store *s, int64_t place, int64_t size, int64_t *id, struct err *err)
{
    char name[64];
    int64_t seq;
    struct job_row row = store_dir_job(place);
    snprintf(name, sizeof name, "%lld/%lld", (long long)place, (long long)size);
    row.name = name;
    struct sample_row sample = {.at = 1};
    if (store_dir_submit(s, &row, id, err) < 0)
        return -1;
    struct attempt_row attempt = {.job = *id, .n = 1, .state = JOB_STARTING};
    row.id = *id;
    row.state = JOB_RUNNING;
    return store_attempt_add(s, &attempt, err) < 0 ||
                   store_event_add(s, 1, *id, "started", "{}", &seq, err) < 0 ||
                   store_sample_add(s, *id, 1, &sample, err) < 0 || store_job_save(s, &row, err) < 0
               ? -1
               : 0;
}

/* Never returns. */
static void write_turns(const char *path, uint64_t seed, int out)
{
    struct err err;
    struct store *s = NULL;
    struct rng r;
    rng_init(&r, seed);
    int rc = store_open(path, &s, &err);
    while (rc == 0) {
        struct turn t = {.size = 1 + (int64_t)rng_below(&r, 5)};
        for (int64_t place = 0; place < t.size && rc == 0; place++) {
            int64_t id = 0;
            rc = write_job(s, place, t.size, &id, &err);
            t.first = place ? t.first : id;
        }
        if (rc == 0)
            rc = store_commit(s, &err);
        if (rc == 0 && write(out, &t, sizeof t) != sizeof t)
            rc = -1;
    }
    fprintf(stderr, "writer: %s\n", err.text);
    _exit(1);
}

static pid_t start(const char *path, uint64_t seed, int *in)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        /* Also when the test fails before it kills this one. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        write_turns(path, seed, fds[1]);
    }
    close(fds[1]);
    *in = fds[0];
    return pid;
}

static void kill_writer(pid_t pid)
{
    int status;
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

struct audit {
    struct store *s;
    int64_t last; /* id of the job before */
    long long place, size;
};

/* Each job is whole, and behind the one before in its turn. */
static int audit_job(void *ctx, const struct job_row *row, struct err *err)
{
    struct audit *a = ctx;
    unsigned parts = 0;
    long long place, size;
    assert_int_equal(sscanf(row->name, "%lld/%lld", &place, &size), 2);
    assert_int_equal(row->state, JOB_RUNNING);
    assert_int_equal(row->id, a->last + 1);
    assert_int_equal(place, a->place + 1 < a->size ? a->place + 1 : 0);
    assert_true(place == 0 || size == a->size);
    *a = (struct audit){a->s, row->id, place, size};
    assert_int_equal(store_attempt_list(a->s, row->id, store_dir_count_attempt, &parts, err), 0);
    assert_int_equal(store_event_list(a->s, 0, row->id, 0, store_dir_count_event, &parts, err), 0);
    assert_int_equal(store_sample_list(a->s, row->id, store_dir_count_sample, &parts, err), 0);
    assert_int_equal(parts, 3);
    return 0;
}

/* Looks at what has come since job `from`; returns the last job. */
static int64_t audit(const struct store_dir *d, int64_t from, const struct turn *told)
{
    struct err err;
    struct store *s = store_dir_open(d);
    struct audit a = {.s = s, .last = from, .size = 0};
    struct job_filter f = {.oldest_first = true, .after = from};
    struct job_filter running = {.states = 1U << JOB_RUNNING};
    unsigned n = 0;
    assert_ok(store_job_list(s, &f, audit_job, &a, &err), err);
    /* The last turn is complete, and all that was told of is there. */
    assert_true(a.size == 0 || a.place + 1 == a.size);
    assert_true(told->first + told->size - 1 <= a.last);
    /* The index by state has them too. */
    assert_ok(store_job_list(s, &running, store_dir_count, &n, &err), err);
    assert_int_equal(n, a.last);
    store_close(s);
    return a.last;
}

static void test_kill(void **state)
{
    struct store_dir *d = *state;
    struct rng r;
    int64_t last = 0, turns = 0;
    rng_init(&r, (uint64_t)getpid());
    print_message("seed %d\n", getpid());
    for (int i = 0; i < KILLS; i++) {
        struct turn t = {0};
        AUTO_CLOSE int in = -1;
        pid_t pid = start(d->path, rng_next(&r), &in);
        /* Some die while they open the store, most within their first turns. */
        if (rng_below(&r, 8)) {
            struct pollfd p = {.fd = in, .events = POLLIN};
            assert_int_equal(poll(&p, 1, 60000), 1);
        }
        usleep((useconds_t)rng_below(&r, 20000));
        kill_writer(pid);
        for (struct turn next; read(in, &next, sizeof next) == sizeof next; turns++)
            t = next;
        last = audit(d, last, &t);
        if (i % CHECK_EVERY == 0)
            store_dir_check(d->path);
    }
    store_dir_check(d->path);
    print_message("%d kills, %lld turns told of, %lld jobs\n", KILLS, (long long)turns,
                  (long long)last);
    assert_true(turns > KILLS / 2);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_kill),
};

int main(void)
{
    return RUN(tests);
}
