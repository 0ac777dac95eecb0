/* Owns the users of a simulated day.
 *
 * What a user was told counts: a command is accepted when its turn is on disk. When the
 * commit fails the user is told so; whether it happened is then left open, because a turn
 * may commit more than once. */
#include "support/day_users.h"

#include "base/str.h"
#include "policy/combo.h"
#include "server/jobs/verbs.h"
#include "server/nodes.h"
#include "store/job_state.h"
#include "support/day_faults.h"
#include "support/test.h"

/* ---- submissions ---------------------------------------------------------------- */

static void add_command(struct day *d, struct known *k, struct str *json)
{
    str_addf(json, "\"command\": [\"fake\", \"work=%d\", \"code=%d\"",
             (int)day_between(d, 1, day_chance(d, 0.3) ? 60 : 7200 * d->pace->slow),
             k->fails ? 7 : 0);
    if (day_chance(d, 0.5))
        str_add(json, ", \"saves\"");
    if (day_chance(d, 0.1))
        str_add(json, ", \"deaf\"");
    if (day_chance(d, 0.4))
        str_addf(json, ", \"steps=%d\"", (int)day_between(d, 1, 500));
    str_add(json, "]");
}

static void add_size(struct day *d, struct known *k, struct str *json)
{
    static const char *const preempts[] = {"auto", "restart", "pause", "never"};
    size_t preempt = rng_below(&d->rng, COUNT_OF(preempts));
    unsigned min = 1 + (unsigned)rng_below(&d->rng, 2), max = min + (unsigned)rng_below(&d->rng, 3);
    str_addf(json, ", \"cpus\": \"%u-%u\", \"preempt\": \"%s\", \"priority\": %d", min, max,
             preempts[preempt], (int)rng_below(&d->rng, 3));
    k->stays = preempt == 0 && day_chance(d, 0.7);
    if (!k->stays)
        str_add(json, ", \"checkpoint_dir\": \"/checkpoints\"");
    if (day_chance(d, 0.3))
        str_addf(json, ", \"memory\": \"%dm\"", (int)day_between(d, 100, 4000));
    if (day_chance(d, 0.2))
        str_addf(json, ", \"time_limit\": \"%ds\"", (int)day_between(d, 60, 7200 * d->pace->slow));
    if (day_chance(d, 0.3))
        str_addf(json, ", \"lease\": \"%s\"", day_chance(d, 0.3) ? "none" : "60s");
    if (day_chance(d, 0.3))
        str_addf(json, ", \"grace\": \"%ds\"", (int)day_between(d, 0, 120));
}

static void add_failure(struct day *d, struct known *k, struct str *json)
{
    if (k->forgives)
        str_add(json, ", \"requeue\": true");
    if (!day_chance(d, 0.3))
        return;
    k->retries = 1 + (uint32_t)rng_below(&d->rng, 3);
    k->backoff = day_between(d, 1, 120) * SECOND;
    str_addf(json, ", \"retries\": %u, \"backoff\": \"%llds\"", k->retries,
             (long long)(k->backoff / SECOND));
}

static void add_ties(struct day *d, struct known *k, struct str *json)
{
    static const char *const kinds[] = {"after", "afterok", "afternotok", "afterany"};
    if (d->jobs.n && day_chance(d, 0.2)) {
        k->dep_kind = (enum spec_dep_kind)rng_below(&d->rng, COUNT_OF(kinds));
        k->dep = 1 + (int64_t)rng_below(&d->rng, d->jobs.n);
        str_addf(json, ", \"after\": [\"%s:%lld\"]", kinds[k->dep_kind], (long long)k->dep);
    } else if (day_chance(d, 0.1)) {
        k->singleton = 1 + (uint32_t)rng_below(&d->rng, 2);
        str_addf(json, ", \"after\": [\"singleton\"], \"name\": \"single%u\"", k->singleton);
    } else if (day_chance(d, 0.1)) {
        unsigned n = 2 + (unsigned)rng_below(&d->rng, 9);
        k->array = -(int64_t)n; /* its size, until its first id is known */
        k->array_limit = 1 + (uint32_t)rng_below(&d->rng, 3);
        str_addf(json, ", \"array\": \"1-%u%%%u\"", n, k->array_limit);
    }
    if (day_chance(d, 0.05))
        str_add(json, ", \"hold\": true");
}

static struct known draw_request(struct day *d, struct str *json)
{
    struct known k = {.fails = day_chance(d, 0.15), .forgives = day_chance(d, 0.7)};
    str_add(json, "{");
    add_command(d, &k, json);
    add_size(d, &k, json);
    add_failure(d, &k, json);
    add_ties(d, &k, json);
    str_add(json, "}");
    return k;
}

/* The jobs of a request, which have the next ids. */
static void take_jobs(struct day *d, const struct known *as)
{
    int64_t n = as->array ? -as->array : 1;
    for (int64_t i = 0; i < n; i++) {
        struct known *k = xcalloc(1, sizeof *k);
        *k = *as;
        k->attempts = UINT32_MAX;
        k->id = (int64_t)d->jobs.n + 1;
        if (as->array)
            k->array = k->id - i;
        VEC_PUSH(&d->jobs, k);
    }
}

enum { BATCH_MOST = 3 };

/* A batch of n requests; an impossible one at its end takes the others with it. */
static void draw_batch(struct day *d, size_t n, bool impossible, struct known *requests,
                       struct str *json)
{
    str_add(json, "[");
    for (size_t i = 0; i < n; i++) {
        str_add(json, i ? ", " : "");
        requests[i] = draw_request(d, json);
    }
    if (impossible)
        str_add(json, ", {\"command\": [\"fake\"], \"cpus\": \"1000\"}");
    str_add(json, "]");
}

void day_submit(struct day *d)
{
    struct known requests[BATCH_MOST];
    size_t n = day_chance(d, 0.2) ? 2 + rng_below(&d->rng, BATCH_MOST - 1) : 1;
    bool impossible = day_chance(d, 0.05);
    struct str json = {0};
    struct err err;
    int64_t first;
    if (!d->w.y || d->jobs.n >= d->pace->jobs_most)
        return;
    draw_batch(d, n, impossible, requests, &json);
    bool taken = stage_hand_in(&d->w, json.at, &first, &err) > 0;
    day_note(d, "%s %s", taken ? "submitted" : "refused", json.at);
    str_done(&json);
    d->tally->refused += !taken;
    if (!taken)
        return;
    if (impossible)
        day_broken(d, first, "a job that no node can hold was accepted");
    d->w.after_turn = NULL; /* before these jobs are known */
    bool accepted = stage_accepts(&d->w);
    d->w.after_turn = day_after_turn;
    /* Ids are given in order; those of an undone turn are given again. */
    bool exists = yard_live(d->w.y, (int64_t)d->jobs.n + 1);
    if (accepted && !exists)
        day_broken(d, first, "it was accepted, and there is no such job");
    for (size_t i = 0; exists && i < n; i++)
        take_jobs(d, &requests[i]);
    day_after_turn(d);
}

/* ---- commands --------------------------------------------------------------------- */

static int resize(struct day *d, const struct known *k, struct err *err)
{
    units_t min = (1 + (units_t)rng_below(&d->rng, 2)) * UNIT;
    units_t max = min + (units_t)rng_below(&d->rng, 3) * UNIT;
    if (day_chance(d, 0.2))
        min = max = 0;
    return verb_resize(d->w.y, k->id, min, max, err);
}

static int change(struct day *d, const struct known *k, struct err *err)
{
    usec_t wall = clock_wall(&d->w.y->clock);
    struct job_change c = {
        .set_priority = day_chance(d, 0.5),
        .priority = (int)rng_below(&d->rng, 3),
        .set_deadline = day_chance(d, 0.3),
        .deadline = day_chance(d, 0.3) ? 0 : wall + day_between(d, 1, 10 * HOUR * d->pace->slow),
        .set_time_limit = day_chance(d, 0.3),
        .time_limit = day_chance(d, 0.3) ? 0 : day_between(d, MINUTE, 3 * HOUR * d->pace->slow)};
    return verb_change(d->w.y, k->id, &c, err);
}

/* From now on no attempt begins, if that is accepted. */
static void end_attempts(struct day *d, struct known *k)
{
    const struct live_job *j = yard_live(d->w.y, k->id);
    uint32_t attempts = j ? j->row.attempt : k->row.attempt;
    if (stage_accepts(&d->w))
        k->attempts = attempts;
}

static void cancel(struct day *d, struct known *k)
{
    struct err err;
    if (verb_cancel(d->w.y, k->id, day_chance(d, 0.5) ? -1 : 0, &err) == 0)
        end_attempts(d, k);
}

static void hold(struct day *d, struct known *k)
{
    struct err err;
    if (verb_hold(d->w.y, k->id, &err) == 0)
        end_attempts(d, k);
}

static void release(struct day *d, struct known *k)
{
    struct err err;
    if (verb_release(d->w.y, k->id, &err) == 0)
        k->attempts = UINT32_MAX;
}

static void requeue(struct day *d, struct known *k)
{
    bool holds = day_chance(d, 0.2);
    struct err err;
    if (verb_requeue(d->w.y, k->id, holds, NULL, &err) < 0)
        return;
    k->requeues++;
    k->attempts = UINT32_MAX;
    if (holds)
        end_attempts(d, k);
}

static void drain(struct day *d)
{
    uint32_t i = (uint32_t)rng_below(&d->rng, d->w.n_fakes);
    uint32_t n = (uint32_t)rng_below(&d->rng, fake_nodes(d->w.fakes[i])), node;
    bool drains = day_chance(d, 0.4);
    char name[16];
    struct err err;
    snprintf(name, sizeof name, "%c%u", (char)('a' + i), n + 1);
    if (nodes_find(d->w.y, name, &node, &err) < 0 || nodes_drain(d->w.y, node, drains, &err) < 0)
        return;
    d->drained[i][n] = 0;
    if (stage_accepts(&d->w) && drains)
        d->drained[i][n] = clock_wall(&d->w.y->clock);
}

static void set_policy(struct day *d)
{
    static const char *const policies[] = {"elastic-fifo", "fifo", "las", "equal", "srsf"};
    struct combo combo;
    struct err err;
    assert_ok(combo_parse(policies[rng_below(&d->rng, COUNT_OF(policies))], &combo, &err), err);
    (void)yard_set_policy(d->w.y, &combo, &err);
}

enum command { CANCEL, HOLD, RELEASE, REQUEUE, RESIZE, MIGRATE, CHANGE, DRAIN, POLICY };

/* Some more often than others. */
static const enum command commands[] = {CANCEL,  CANCEL,  HOLD,    HOLD,   RELEASE, RELEASE,
                                        RELEASE, REQUEUE, REQUEUE, RESIZE, RESIZE,  MIGRATE,
                                        MIGRATE, CHANGE,  CHANGE,  CHANGE, DRAIN,   POLICY};
static const char *const names[] = {"cancel",  "hold",   "release", "requeue",    "resize",
                                    "migrate", "change", "drain",   "policy, not"};

void day_command(struct day *d)
{
    struct err err;
    if (!d->w.y || !d->jobs.n)
        return;
    /* More often one of the last ones, which are not over yet. */
    size_t back = rng_below(&d->rng, day_chance(d, 0.7) && d->jobs.n > 8 ? 8 : d->jobs.n);
    struct known *k = d->jobs.at[d->jobs.n - 1 - back];
    enum command command = commands[rng_below(&d->rng, COUNT_OF(commands))];
    d->tally->commands++;
    day_note(d, "%s %lld", names[command], (long long)k->id);
    switch (command) {
    case CANCEL:
        cancel(d, k);
        break;
    case HOLD:
        hold(d, k);
        break;
    case RELEASE:
        release(d, k);
        break;
    case REQUEUE:
        requeue(d, k);
        break;
    case RESIZE:
        (void)resize(d, k, &err);
        break;
    case MIGRATE:
        d->tally->moves += verb_migrate(d->w.y, k->id, NULL, &err) == 0;
        break;
    case CHANGE:
        (void)change(d, k, &err);
        break;
    case DRAIN:
        drain(d);
        break;
    case POLICY:
        set_policy(d);
        break;
    }
    (void)stage_accepts(&d->w);
    if (day_chance(d, 0.1)) { /* what follows from it may get lost */
        stage_run(&d->w, day_between(d, 0, 10 * SECOND));
        day_blip(d);
    }
}

void day_release_all(struct day *d)
{
    struct err err;
    for (uint32_t node = 0; node < d->w.y->cluster.n; node++)
        (void)nodes_drain(d->w.y, node, false, &err);
    memset(d->drained, 0, sizeof d->drained);
    for (size_t i = 0; i < d->jobs.n; i++)
        release(d, d->jobs.at[i]);
    stage_turn(&d->w);
}
