/* Owns servers in worlds of their own. */
#include "support/stage.h"

#include <jansson.h>
#include <unistd.h>

#include "policy/combo.h"
#include "server/jobs/submit.h"
#include "server/log.h"
#include "store/jobs.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"
#include "wire/spec_check.h"
#include "wire/spec_json.h"

#define EPOCH (1700000000 * USEC_PER_SEC)

static usec_t read_boot(void *ctx)
{
    const struct stage *w = ctx;
    return w->now;
}

static usec_t read_wall(void *ctx)
{
    const struct stage *w = ctx;
    return EPOCH + w->now + w->set_by;
}

void stage_begin(struct stage *w, const struct fake_options *o, const char *policy)
{
    *w = (struct stage){.fake = fake_create(o), .now = 1000 * USEC_PER_SEC, .policy = policy};
    w->clock = (struct clock_source){read_wall, read_boot, w};
    snprintf(w->dir, sizeof w->dir, "%s/trainyard-stage-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(w->dir));
    log_silence(getenv("STAGE_LOG") == NULL);
    fake_advance(w->fake, w->now + EPOCH);
}

void stage_end(struct stage *w)
{
    if (w->y)
        stage_stop(w);
    fake_free(w->fake);
    store_dir_clear(w->dir);
}

void stage_start(struct stage *w)
{
    struct runtime_choice fake = {&runtime_fake, w->fake};
    struct yard_config config = {.state_dir = w->dir,
                                 .run_dir = w->dir,
                                 .clock = &w->clock,
                                 .runtimes = &fake,
                                 .n_runtimes = 1,
                                 .journal_rows = 10000,
                                 .keep = 30 * 86400 * USEC_PER_SEC};
    struct err err;
    assert_ok(combo_parse(w->policy, &config.combo, &err), err);
    assert_ok(yard_open(NULL, &config, &w->y, &err), err);
    turn_end(w->y);
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

void stage_kill_after(struct stage *w, uint32_t deeds)
{
    fake_mute_after(w->fake, deeds);
    turn_end(w->y);
    stage_kill(w);
    fake_mute_after(w->fake, UINT32_MAX);
}

static usec_t due(const struct stage *w)
{
    usec_t mine = w->y ? turn_due(w->y) : USEC_NEVER, other = fake_due(w->fake);
    if (mine != USEC_NEVER)
        mine -= w->y->clock.epoch;
    if (other != USEC_NEVER)
        other -= EPOCH;
    return mine < other ? mine : other;
}

static void step(struct stage *w, usec_t end)
{
    usec_t t = due(w);
    w->now = t > end ? end : t > w->now ? t : w->now;
    fake_advance(w->fake, w->now + EPOCH);
    if (w->y)
        turn_end(w->y);
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

int64_t stage_try_submit(struct stage *w, const char *json, struct err *err)
{
    struct spec s;
    struct ids ids = {0};
    const char *field;
    size_t at;
    json_auto_t *o = json_loads(json, 0, NULL);
    assert_non_null(o);
    spec_init(&s);
    int rc = spec_from_json(o, &s, &field, err);
    if (rc == 0 && !s.user)
        s.user = "ann";
    if (rc == 0)
        rc = spec_check(&s, &field, err);
    if (rc == 0)
        rc = submit_jobs(w->y, &s, 1, &ids, &at, &field, err);
    int64_t first = rc == 0 ? ids.at[0] : -1;
    if (rc == 0)
        turn_end(w->y);
    spec_done(&s);
    VEC_DONE(&ids);
    return first;
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
