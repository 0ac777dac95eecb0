/* Owns servers in worlds of their own. */
#include "support/stage.h"

#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/combo.h"
#include "server/explain/explain.h"
#include "server/jobs/submit.h"
#include "server/log.h"
#include "store/jobs.h"
#include "store/store.h"
#include "support/disk.h"
#include "support/store_dir.h"
#include "support/test.h"
#include "wire/spec_check.h"
#include "wire/spec_json.h"

#define EPOCH (1700000000 * USEC_PER_SEC)

static usec_t read_boot(void *ctx)
{
    const struct stage *w = ctx;
    return w->now - w->booted;
}

static usec_t read_wall(void *ctx)
{
    const struct stage *w = ctx;
    return EPOCH + w->now + w->set_by;
}

/* ---- the database ------------------------------------------------------------ */

/* An empty one, made once: to make its tables takes longer than a simulated day. */
static struct {
    char *bytes;
    size_t n;
} empty;

static void make_empty(const char *path)
{
    struct store *store;
    struct stat st;
    struct err err;
    assert_ok(store_open(path, &store, &err), err);
    store_close(store);
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    empty.n = (size_t)st.st_size;
    empty.bytes = xmalloc(empty.n);
    assert_int_equal(pread(fd, empty.bytes, empty.n, 0), st.st_size);
}

static void make_database(const char *dir)
{
    char path[96];
    snprintf(path, sizeof path, "%s/trainyard.db", dir);
    if (!empty.bytes) {
        make_empty(path);
        return;
    }
    AUTO_CLOSE int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, empty.bytes, empty.n), empty.n);
}

/* ---- the world ----------------------------------------------------------------- */

void stage_add_runtime(struct stage *w, const struct fake_options *o)
{
    assert_true(w->n_fakes < STAGE_RUNTIMES);
    struct fake *f = w->fakes[w->n_fakes++] = fake_create(o);
    fake_advance(f, w->now + EPOCH);
}

void stage_begin(struct stage *w, const struct fake_options *o, const char *policy)
{
    *w = (struct stage){.now = 1000 * USEC_PER_SEC, .policy = policy, .boot_id = "boot 1"};
    w->clock = (struct clock_source){read_wall, read_boot, w};
    stage_add_runtime(w, o);
    w->fake = w->fakes[0];
    snprintf(w->dir, sizeof w->dir, "%s/trainyard-stage-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(w->dir));
    log_silence(getenv("STAGE_LOG") == NULL);
    make_database(w->dir);
    disk_begin();
}

void stage_end(struct stage *w)
{
    if (w->y)
        stage_stop(w);
    for (uint32_t i = 0; i < w->n_fakes; i++)
        fake_free(w->fakes[i]);
    disk_end();
    store_dir_clear(w->dir);
}

/* ---- the server ------------------------------------------------------------------ */

void stage_turn(struct stage *w)
{
    turn_end(w->y);
    if (w->after_turn)
        w->after_turn(w->ctx);
}

bool stage_accepts(struct stage *w)
{
    w->y->turn.retry_at = 0;
    stage_turn(w);
    return !w->y->turn.failing;
}

int stage_try_start(struct stage *w, struct err *err)
{
    for (uint32_t i = 0; i < w->n_fakes; i++)
        w->choices[i] = (struct runtime_choice){w->images   ? &runtime_fake_images
                                                : w->remote ? &runtime_fake_remote
                                                            : &runtime_fake,
                                                w->fakes[i]};
    struct yard_config config = {.state_dir = w->dir,
                                 .run_dir = w->dir,
                                 .clock = &w->clock,
                                 .boot_id = w->boot_id,
                                 .runtimes = w->choices,
                                 .n_runtimes = w->n_fakes,
                                 .min_run = w->min_run,
                                 .lease = 300 * USEC_PER_SEC,
                                 .journal_rows = 10000,
                                 .array_chunk = w->array_chunk,
                                 .keep = 30 * 86400 * USEC_PER_SEC};
    if (combo_parse(w->policy, &config.combo, err) < 0 ||
        yard_open(w->loop, &config, &w->y, err) < 0)
        return -1;
    stage_turn(w);
    return 0;
}

void stage_start(struct stage *w)
{
    struct err err;
    assert_ok(stage_try_start(w, &err), err);
}

void stage_stop(struct stage *w)
{
    turn_end(w->y);
    yard_close(w->y);
    w->y = NULL;
}

void stage_kill(struct stage *w)
{
    w->y->turn.changed.n = w->y->turn.attempts.n = 0;
    store_rollback(w->y->store);
    yard_close(w->y);
    w->y = NULL;
}

void stage_kill_after(struct stage *w, uint32_t actions)
{
    for (uint32_t i = 0; i < w->n_fakes; i++)
        fake_mute_after(w->fakes[i], actions);
    turn_end(w->y);
    stage_kill(w);
    for (uint32_t i = 0; i < w->n_fakes; i++)
        fake_mute_after(w->fakes[i], UINT32_MAX);
}

void stage_reboot(struct stage *w)
{
    static unsigned boots = 1;
    if (w->y)
        stage_kill(w);
    for (uint32_t i = 0; i < w->n_fakes; i++)
        for (uint32_t node = 0; node < fake_nodes(w->fakes[i]); node++)
            fake_reboot_node(w->fakes[i], node);
    w->booted = w->now;
    snprintf(w->boot_id, sizeof w->boot_id, "boot %u", ++boots);
}

/* ---- time -------------------------------------------------------------------------- */

static usec_t due(const struct stage *w)
{
    usec_t due = w->y ? turn_due(w->y) : USEC_NEVER;
    if (due != USEC_NEVER)
        due += w->booted - w->y->clock.epoch;
    for (uint32_t i = 0; i < w->n_fakes; i++) {
        usec_t other = fake_due(w->fakes[i]);
        if (other != USEC_NEVER && other - EPOCH < due)
            due = other - EPOCH;
    }
    return due;
}

static void step(struct stage *w, usec_t end)
{
    usec_t t = due(w);
    w->now = t > end ? end : t > w->now ? t : w->now;
    for (uint32_t i = 0; i < w->n_fakes; i++)
        fake_advance(w->fakes[i], w->now + EPOCH);
    if (w->y)
        stage_turn(w);
}

void stage_run(struct stage *w, usec_t span)
{
    usec_t end = w->now + span;
    uint32_t idle = 0;
    while (w->now < end || due(w) <= end) {
        usec_t before = w->now;
        step(w, end);
        idle = w->now == before ? idle + 1 : 0;
        if (idle > 10000)
            fail_msg("time stands still at %lld", (long long)w->now);
        if (w->now == end && due(w) > end)
            break;
    }
}

enum job_state stage_state(struct stage *w, int64_t job)
{
    return stage_job(w, job)->state;
}

bool stage_run_until_over(struct stage *w, int64_t job, usec_t span)
{
    usec_t end = w->now + span;
    while (!job_state_over(stage_state(w, job)) && w->now < end)
        step(w, end);
    return job_state_over(stage_state(w, job));
}

/* ---- jobs -------------------------------------------------------------------------- */

static int read_spec(const json_t *o, struct spec *s, struct err *err)
{
    const char *field;
    if (spec_from_json(o, s, &field, err) < 0)
        return -1;
    if (!s->user)
        s->user = "ann";
    return spec_check(s, &field, err);
}

static json_t *parse(const char *json)
{
    AUTO_FREE char *text = xstrdup(json);
    for (char *quote = text; (quote = strchr(quote, '\'')) != NULL;)
        *quote = '"';
    json_t *o = json_loads(text, 0, NULL);
    if (!o)
        fail_msg("not JSON: %s", json);
    return o;
}

int stage_hand_in(struct stage *w, const char *json, int64_t *first, struct err *err)
{
    enum { BATCH_MOST = 16 };
    struct spec specs[BATCH_MOST];
    struct ids ids = {0};
    const char *field;
    size_t n = 0, at;
    int rc = 0;
    json_auto_t *o = parse(json);
    size_t all = json_is_array(o) ? json_array_size(o) : 1;
    assert_true(all <= BATCH_MOST);
    for (; rc == 0 && n < all; n++) {
        spec_init(&specs[n]);
        rc = read_spec(json_is_array(o) ? json_array_get(o, n) : o, &specs[n], err);
    }
    if (rc == 0)
        rc = submit_jobs(w->y, specs, n, &ids, &at, &field, err);
    if (rc == 0) {
        *first = ids.at[0];
        rc = (int)ids.n;
    }
    while (n > 0)
        spec_done(&specs[--n]);
    VEC_DONE(&ids);
    return rc;
}

int64_t stage_try_submit(struct stage *w, const char *json, struct err *err)
{
    int64_t first;
    if (stage_hand_in(w, json, &first, err) < 0)
        return -1;
    return stage_accepts(w) ? first : err_set(err, ERR_IO, "%s", w->y->turn.failure);
}

int64_t stage_submit(struct stage *w, const char *json)
{
    struct err err;
    int64_t id = stage_try_submit(w, json, &err);
    if (id < 0)
        fail_msg("%s: %s", json, err.text);
    return id;
}

static int keep(void *ctx, const struct job_row *row, struct err *err)
{
    struct job_row *kept = ctx;
    (void)err;
    job_row_done(kept);
    *kept = job_row_copy(row);
    return 0;
}

const struct job_row *stage_job(struct stage *w, int64_t job)
{
    static struct job_row kept;
    struct err err;
    const struct live_job *j = yard_live(w->y, job);
    if (j)
        return &j->row;
    assert_ok(store_job_get(w->y->store, job, keep, &kept, &err), err);
    return &kept;
}

static int keep_attempt(void *ctx, const struct attempt_row *row, struct err *err)
{
    struct attempt_row *kept = ctx;
    (void)err;
    if (row->n != kept->n)
        return 0;
    char *node = xstrdup(row->node), *reason = xstrdup(row->reason);
    free((char *)kept->node);
    free((char *)kept->reason);
    *kept = *row;
    kept->node = node;
    kept->reason = reason;
    return 1;
}

const struct attempt_row *stage_attempt(struct stage *w, int64_t job, uint32_t n)
{
    static struct attempt_row kept;
    struct err err;
    kept.job = 0;
    kept.n = n;
    assert_ok(store_attempt_list(w->y->store, job, keep_attempt, &kept, &err), err);
    assert_int_equal(kept.job, job);
    return &kept;
}

/* ---- tests ------------------------------------------------------------------------- */

int stage_set_up(void **state)
{
    static const struct fake_options node = {
        .seed = 1, .nodes = 1, .cpus = 2 * UNIT, .memory_mb = 8192, .report = 10 * USEC_PER_SEC};
    struct stage *w = *state = xmalloc(sizeof *w);
    stage_begin(w, &node, "elastic-fifo");
    stage_start(w);
    return 0;
}

int stage_tear_down(void **state)
{
    stage_end(*state);
    free(*state);
    return 0;
}

void stage_expect_told(struct stage *w, int64_t job, const char *text)
{
    json_t *x;
    struct err err;
    assert_ok(explain_job(w->y, job, &x, &err), err);
    AUTO_FREE char *all = json_dumps(x, 0);
    if (!strstr(all, text))
        fail_msg("\"%s\" is not in %s", text, all);
    json_decref(x);
}
