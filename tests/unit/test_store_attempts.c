/* Tests of dependencies and attempts in the store: every column comes back. */
#include <limits.h>

#include "store/attempts.h"
#include "store/deps.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

/* NAN is equal to NAN here. */
static void assert_real(double a, double b)
{
    if (a != b && !(isnan(a) && isnan(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

static int64_t add_job(struct store *s, const struct job_row *row)
{
    struct err err;
    int64_t id = 0;
    assert_ok(store_dir_submit(s, row, &id, &err), err);
    return id;
}

/* ---- dependencies -------------------------------------------------------- */

struct seen_deps {
    int64_t job[32], on[32];
    int kind[32];
    unsigned n;
};

static int see_dep(void *ctx, int64_t job, int kind, int64_t on, struct err *err)
{
    (void)err;
    struct seen_deps *d = ctx;
    assert_true(d->n < COUNT_OF(d->job));
    d->job[d->n] = job;
    d->kind[d->n] = kind;
    d->on[d->n++] = on;
    return 0;
}

static void test_deps(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    struct seen_deps seen = {0};
    int64_t ids[JOB_STATE_COUNT];
    for (enum job_state i = 0; i < JOB_STATE_COUNT; i++) {
        struct job_row row = store_dir_job(i);
        row.state = i;
        ids[i] = add_job(s, &row);
        assert_ok(store_dep_add(s, ids[i], 1, ids[0], &err), err);
    }
    assert_ok(store_dep_add(s, ids[JOB_QUEUED], 4, 0, &err), err);
    assert_ok(store_dep_add(s, ids[JOB_QUEUED], 4, 0, &err), err);
    assert_error(store_dep_add(s, 99, 1, 1, &err), err, ERR_NOT_FOUND, "no job 99");
    assert_ok(store_dep_list(s, see_dep, &seen, &err), err);
    /* One of each state in which a job is not over, and the second of the queued. */
    assert_int_equal(seen.n, 6);
    unsigned singletons = 0;
    for (unsigned i = 0; i < seen.n; i++) {
        singletons += seen.kind[i] == 4 && seen.on[i] == 0 && seen.job[i] == ids[JOB_QUEUED];
        assert_true(seen.job[i] <= ids[JOB_STOPPING]);
    }
    assert_int_equal(singletons, 1);
    store_close(s);
}

/* ---- attempts ------------------------------------------------------------ */

static const struct attempt_row odd_attempts[] = {
    {.n = 0,
     .runtime = "",
     .node = "",
     .gpu_type = "",
     .reason = "",
     .error = "",
     .left_running = ""},
    {.n = 1,
     .state = JOB_TIMEOUT,
     .runtime = "docker",
     .node = "n\xc3\xb6"
             "de",
     .token = "0123456789abcdef0123456789abcdef",
     .created = 1,
     .started = INT64_MIN,
     .ended = INT64_MAX,
     .code = INT_MIN,
     .signal = INT_MAX,
     .reason = "time limit",
     .error = "ValueError: no",
     .left_running = "sleep (7)",
     .gpu_type = "A100-SXM4-40GB",
     .cpus = INT64_MAX,
     .gpus = INT64_MIN,
     .cpu_limit = -1,
     .cpu_weight = NAN,
     .boot = "83ecfc86-8038-4172-80a1-5ee74c6acf84",
     .pid = INT64_MAX,
     .paused = true,
     .stop = "'; DROP TABLE;",
     .grace = INT64_MAX,
     .stopped_by = INT64_MAX,
     .frozen_at = INT64_MIN,
     .seq = INT64_MIN,
     .ran = INT64_MAX,
     .since = INT64_MIN,
     .cpu_seconds = NAN,
     .memory_max_mb = INFINITY},
    {.n = UINT32_MAX,
     .state = JOB_RUNNING,
     .runtime = "docker",
     .node = "b",
     .gpu_type = "",
     .token = "t",
     .reason = "r",
     .error = "",
     .left_running = "",
     .cpus = 1500,
     .cpu_weight = 0.1,
     .stop = "preempted",
     .grace = 1,
     .cpu_seconds = 1e300,
     .memory_max_mb = -0.5},
};

struct seen_attempts {
    struct attempt_row at[8];
    struct arena arena;
    unsigned n;
};

static int see_attempt(void *ctx, const struct attempt_row *row, struct err *err)
{
    (void)err;
    struct seen_attempts *a = ctx;
    assert_true(a->n < COUNT_OF(a->at));
    struct attempt_row *copy = &a->at[a->n++];
    *copy = *row;
    copy->runtime = arena_strdup(&a->arena, row->runtime);
    copy->node = arena_strdup(&a->arena, row->node);
    copy->gpu_type = arena_strdup(&a->arena, row->gpu_type);
    copy->reason = arena_strdup(&a->arena, row->reason);
    copy->error = arena_strdup(&a->arena, row->error);
    copy->left_running = arena_strdup(&a->arena, row->left_running);
    return 0;
}

static void assert_same_attempt(const struct attempt_row *a, const struct attempt_row *b)
{
    assert_true(a->job == b->job && a->n == b->n && a->state == b->state);
    assert_string_equal(a->runtime, b->runtime);
    assert_string_equal(a->node, b->node);
    assert_string_equal(a->token, b->token);
    assert_true(!strcmp(a->gpu_type, b->gpu_type) && a->cpus == b->cpus && a->gpus == b->gpus);
    assert_true(a->cpu_limit == b->cpu_limit);
    assert_real(a->cpu_weight, b->cpu_weight);
    assert_string_equal(a->boot, b->boot);
    assert_true(a->paused == b->paused && a->grace == b->grace);
    assert_string_equal(a->stop, b->stop);
    assert_true(a->seq == b->seq && a->ran == b->ran && a->since == b->since);
    assert_true(a->stopped_by == b->stopped_by && a->frozen_at == b->frozen_at);
    assert_true(a->created == b->created && a->started == b->started && a->ended == b->ended);
    assert_true(a->code == b->code && a->signal == b->signal && a->pid == b->pid);
    assert_string_equal(a->reason, b->reason);
    assert_string_equal(a->error, b->error);
    assert_string_equal(a->left_running, b->left_running);
    assert_real(a->cpu_seconds, b->cpu_seconds);
    assert_real(a->memory_max_mb, b->memory_max_mb);
}

static void test_attempts(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    struct seen_attempts seen = {0};
    struct job_row job = store_dir_job(1);
    int64_t id = add_job(s, &job);
    for (size_t i = COUNT_OF(odd_attempts); i-- > 0;) {
        struct attempt_row row = odd_attempts[i];
        row.job = id;
        assert_ok(store_attempt_add(s, &row, &err), err);
        assert_error(store_attempt_add(s, &row, &err), err, ERR_CONFLICT, "already");
    }
    assert_ok(store_attempt_list(s, id, see_attempt, &seen, &err), err);
    assert_int_equal(seen.n, COUNT_OF(odd_attempts));
    for (size_t i = 0; i < seen.n; i++) {
        struct attempt_row want = odd_attempts[i];
        want.job = id;
        assert_same_attempt(&seen.at[i], &want);
    }
    /* Those that are not over: held (by its zero) and running. */
    seen.n = 0;
    assert_ok(store_attempt_list(s, 0, see_attempt, &seen, &err), err);
    assert_int_equal(seen.n, 2);
    struct attempt_row row = odd_attempts[1];
    row.job = id;
    row.n = UINT32_MAX;
    assert_ok(store_attempt_save(s, &row, &err), err);
    /* What is not written by it stays. */
    row.created = 0;
    snprintf(row.token, sizeof row.token, "t");
    seen.n = 0;
    assert_ok(store_attempt_list(s, id, see_attempt, &seen, &err), err);
    assert_same_attempt(&seen.at[2], &row);
    seen.n = 0;
    assert_ok(store_attempt_list(s, 0, see_attempt, &seen, &err), err);
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.at[0].n, 0);
    arena_done(&seen.arena);
    store_close(s);
}

static void test_bad_attempts(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    struct seen_attempts seen = {0};
    struct attempt_row row = {.job = 7, .n = 1};
    assert_error(store_attempt_add(s, &row, &err), err, ERR_NOT_FOUND, "no job 7");
    assert_error(store_attempt_save(s, &row, &err), err, ERR_NOT_FOUND, "job 7 has no attempt 1");
    row.state = JOB_STATE_COUNT;
    assert_error(store_attempt_add(s, &row, &err), err, ERR_INVALID, "not a state");
    assert_error(store_attempt_save(s, &row, &err), err, ERR_INVALID, "not a state");
    assert_ok(store_attempt_list(s, 7, see_attempt, &seen, &err), err);
    assert_int_equal(seen.n, 0);
    store_close(s);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_deps),
    STORE_TEST(test_attempts),
    STORE_TEST(test_bad_attempts),
};

int main(void)
{
    return RUN(tests);
}
