/* Simulated days of a server, drawn from a seed: submissions, commands of users, failures
 * of operations and lost replies, slow engines, nodes that are cut off or restart,
 * conductors and servers that are killed at any instant, clocks that are set. After every
 * step what docs/server.md promises is checked against what is true in the fake world;
 * then the faults end, and what was wanted must come about.
 *
 *   simulation              days from fresh seeds for SIMULATION_SECONDS (20)
 *   simulation SEED         one day again, with the server's log
 *
 * A failure prints its seed. */
#include <time.h>

#include "base/str.h"
#include "server/jobs/attempts.h"
#include "server/jobs/verbs.h"
#include "server/log.h"
#include "store/job_list.h"
#include "store/job_state.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

enum { JOBS_MOST = 60 };

/* What the test knows of a job that it submitted. */
struct known {
    int64_t id;
    bool cancelled; /* by a user */
    bool requeued;  /* by a user, so that it may run again after a success */
    bool fails;     /* its command does */
    bool forgives;  /* a lost attempt does not end it */
};

/* What happened, over all days. */
struct tally {
    uint32_t days, submitted, done, failed, cancelled, attempts, servers, cuts, deaths;
};

struct day {
    struct tally *tally;
    struct stage w;
    struct rng rng;
    VEC(struct known) jobs;
    char why[256]; /* what promise was broken */
};

static bool chance(struct day *d, double p)
{
    return rng_uniform(&d->rng) < p;
}

static usec_t between(struct day *d, usec_t lo, usec_t hi)
{
    return lo + (usec_t)(rng_uniform(&d->rng) * (double)(hi - lo));
}

/* ---- what happens ------------------------------------------------------------- */

static void submit(struct day *d)
{
    static const char *const preempts[] = {"restart", "pause", "never"};
    struct known k = {.fails = chance(d, 0.1), .forgives = chance(d, 0.7)};
    unsigned min = 1 + (unsigned)rng_below(&d->rng, 2), max = min + (unsigned)rng_below(&d->rng, 3);
    struct str json = {0};
    struct err err;
    if (!d->w.y || d->jobs.n == JOBS_MOST)
        return;
    str_addf(&json, "{\"command\": [\"fake\", \"work=%d\", \"code=%d\"%s%s%s], \"cpus\": \"%u-%u\"",
             (int)between(d, 1, 7200), k.fails ? 7 : 0, chance(d, 0.5) ? ", \"saves\"" : "",
             chance(d, 0.1) ? ", \"deaf\"" : "", chance(d, 0.5) ? ", \"steps=100\"" : "", min, max);
    str_addf(&json, ", \"preempt\": \"%s\", \"priority\": %d", preempts[rng_below(&d->rng, 3)],
             (int)rng_below(&d->rng, 3));
    if (k.forgives)
        str_add(&json, ", \"requeue\": true");
    if (chance(d, 0.3))
        str_add(&json, ", \"retries\": 2, \"backoff\": \"1m\"");
    if (chance(d, 0.2))
        str_addf(&json, ", \"memory\": \"%dm\"", (int)between(d, 100, 4000));
    if (d->jobs.n && chance(d, 0.2))
        str_addf(&json, ", \"after\": [\"afterany:%lld\"]",
                 (long long)d->jobs.at[rng_below(&d->rng, d->jobs.n)].id);
    str_add(&json, "}");
    k.id = stage_try_submit(&d->w, json.at, &err);
    if (k.id > 0)
        VEC_PUSH(&d->jobs, k);
    str_done(&json);
}

static void command(struct day *d)
{
    struct err err;
    if (!d->w.y || !d->jobs.n)
        return;
    struct known *k = &d->jobs.at[rng_below(&d->rng, d->jobs.n)];
    switch (rng_below(&d->rng, 5)) {
    case 0:
        if (chance(d, 0.3) && verb_cancel(d->w.y, k->id, chance(d, 0.5) ? -1 : 0, &err) == 0)
            k->cancelled = true;
        break;
    case 1:
        (void)verb_hold(d->w.y, k->id, &err);
        break;
    case 2:
        (void)verb_release(d->w.y, k->id, &err);
        break;
    case 3:
        if (verb_requeue(d->w.y, k->id, false, &err) == 0) {
            k->requeued = true;
            k->cancelled = false;
        }
        break;
    default:
        (void)verb_change(
            d->w.y, k->id,
            &(struct job_change){.set_priority = true, .priority = (int)rng_below(&d->rng, 3)},
            &err);
        break;
    }
    turn_end(d->w.y);
}

static void draw_faults(struct day *d)
{
    struct fake_faults f = {
        .op_fails = chance(d, 0.5) ? 0 : 0.2 * rng_uniform(&d->rng),
        .reply_lost = chance(d, 0.5) ? 0 : 0.2 * rng_uniform(&d->rng),
        .delay = chance(d, 0.5) ? 0 : between(d, 1000, 20 * SECOND),
        .reconnect = between(d, 1, 30 * SECOND),
    };
    fake_set_faults(d->w.fake, &f);
}

static void befall(struct day *d)
{
    uint32_t node = (uint32_t)rng_below(&d->rng, 3);
    switch (rng_below(&d->rng, 8)) {
    case 0:
        draw_faults(d);
        break;
    case 1:
        d->tally->cuts++;
        fake_cut_node(d->w.fake, node, fake_now(d->w.fake) + between(d, SECOND, 10 * MINUTE));
        break;
    case 2:
        if (!chance(d, 0.2))
            break;
        d->tally->deaths++;
        fake_reboot_node(d->w.fake, node);
        break;
    case 3:
        d->tally->deaths++;
        fake_kill_conductor(d->w.fake, node);
        break;
    case 4:
        if (chance(d, 0.1))
            d->w.set_by += between(d, -HOUR, HOUR);
        break;
    default:
        d->tally->servers += !d->w.y;
        if (!d->w.y)
            stage_start(&d->w);
        else if (chance(d, 0.3))
            stage_kill_after(&d->w, (uint32_t)rng_below(&d->rng, 6));
        else if (chance(d, 0.2))
            stage_stop(&d->w);
        else if (chance(d, 0.5))
            stage_kill(&d->w);
        break;
    }
}

/* ---- what is promised ---------------------------------------------------------- */

static bool broken(struct day *d, int64_t job, const char *what)
{
    if (!*d->why)
        snprintf(d->why, sizeof d->why, "job %lld: %s", (long long)job, what);
    return false;
}

/* At any instant. */
static bool check_job(struct day *d, const struct known *k)
{
    struct fake_truth t = fake_truth_of(d->w.fake, k->id);
    if (t.running > 1)
        return broken(d, k->id, "its command runs twice at the same time");
    if (t.succeeded > 1 && !k->requeued)
        return broken(d, k->id, "it ran again although it had succeeded");
    if (!d->w.y)
        return true;
    const struct job_row *row = stage_job(&d->w, k->id);
    if (row->state == JOB_DONE && t.succeeded == 0)
        return broken(d, k->id, "it is done, and never succeeded");
    if (job_state_over(row->state) && t.running && !k->requeued)
        return broken(d, k->id, "it is over, and its command runs");
    return true;
}

static bool check_all(struct day *d)
{
    if (fake_overlaps(d->w.fake))
        return broken(d, 0, "a command was begun while it ran");
    for (size_t i = 0; i < d->jobs.n; i++)
        if (!check_job(d, &d->jobs.at[i]))
            return false;
    return true;
}

/* Once the world has been quiet for long enough: all that can end has ended, and nothing
 * is left of it. */
static bool check_quiet(struct day *d)
{
    for (size_t i = 0; i < d->jobs.n; i++) {
        const struct known *k = &d->jobs.at[i];
        const struct job_row *row = stage_job(&d->w, k->id);
        if (row->state == JOB_HELD)
            continue;
        if (!job_state_over(row->state)) {
            struct str text = {0};
            const struct live_job *j = yard_live(d->w.y, k->id);
            str_addf(&text, "it is still %s (%s); %u of its commands run",
                     job_state_name(row->state), row->reason,
                     fake_truth_of(d->w.fake, k->id).running);
            if (j && j->attempt)
                str_addf(&text, "; its attempt %u is %s%s%s%s%s, of %lld CPUs, %lld in force",
                         j->attempt->n, j->attempt->begun ? "begun" : "not begun",
                         j->attempt->busy ? ", busy" : "",
                         j->attempt->link ? ", linked" : ", not linked",
                         j->attempt->paused ? ", paused" : "",
                         j->attempt->set.frozen ? ", frozen" : "", (long long)j->attempt->cpus,
                         (long long)j->attempt->set.cpus);
            broken(d, k->id, text.at);
            str_done(&text);
            return false;
        }
        if (fake_truth_of(d->w.fake, k->id).left)
            return broken(d, k->id, "it is over, and something is left of it");
        if (row->state == JOB_FAILED && !k->fails && k->forgives && row->code != 137)
            return broken(d, k->id, "it failed although nothing of its own did");
    }
    return true;
}

/* ---- a day ----------------------------------------------------------------------- */

static void begin_day(struct day *d, uint64_t seed, struct tally *tally)
{
    static const char *const policies[] = {"elastic-fifo", "fifo", "srtf", "equal", "las"};
    *d = (struct day){.tally = tally};
    rng_init(&d->rng, seed);
    struct fake_options o = {.seed = rng_next(&d->rng),
                             .nodes = 3,
                             .cpus = 4 * UNIT,
                             .memory_mb = 8192,
                             .report = 30 * SECOND};
    stage_begin(&d->w, &o, policies[rng_below(&d->rng, COUNT_OF(policies))]);
    draw_faults(d);
    stage_start(&d->w);
}

/* The faults end; users release what they hold. */
static void calm_down(struct day *d)
{
    struct err err;
    fake_set_faults(d->w.fake, &(struct fake_faults){.reconnect = SECOND});
    for (uint32_t node = 0; node < 3; node++)
        fake_cut_node(d->w.fake, node, 0);
    if (!d->w.y)
        stage_start(&d->w);
    for (size_t i = 0; i < d->jobs.n; i++)
        (void)verb_release(d->w.y, d->jobs.at[i].id, &err);
    turn_end(d->w.y);
}

static bool run_day(struct day *d, uint64_t seed, struct tally *tally)
{
    begin_day(d, seed, tally);
    usec_t end = d->w.now + 24 * HOUR;
    bool good = true;
    while (good && d->w.now < end) {
        stage_run(&d->w, between(d, 1, 20 * MINUTE));
        double what = rng_uniform(&d->rng);
        if (what < 0.4)
            submit(d);
        else if (what < 0.55)
            command(d);
        else
            befall(d);
        good = check_all(d);
    }
    if (good) {
        calm_down(d);
        for (int hour = 0; good && hour < 72; hour++) {
            stage_run(&d->w, HOUR);
            good = check_all(d);
        }
        good = good && check_quiet(d);
    }
    return good;
}

static void end_day(struct day *d)
{
    for (size_t i = 0; d->w.y && i < d->jobs.n; i++) {
        const struct job_row *row = stage_job(&d->w, d->jobs.at[i].id);
        d->tally->submitted++;
        d->tally->attempts += row->attempt;
        d->tally->done += row->state == JOB_DONE;
        d->tally->failed += row->state == JOB_FAILED;
        d->tally->cancelled += row->state == JOB_CANCELLED;
    }
    stage_end(&d->w);
    VEC_DONE(&d->jobs);
}

/* ---- all of them ------------------------------------------------------------------ */

static uint64_t first_seed;

static void promises_hold(void **state)
{
    const char *given = getenv("SIMULATION_SECONDS");
    time_t end = time(NULL) + (given ? atoi(given) : 20);
    uint64_t seed = first_seed ? first_seed : 1;
    struct tally tally = {0};
    (void)state;
    do {
        struct day d;
        bool good = run_day(&d, seed, &tally);
        if (!good)
            print_message("# seed %llu: %s\n# again with its log: build/tests/server/simulation "
                          "%llu\n",
                          (unsigned long long)seed, d.why, (unsigned long long)seed);
        end_day(&d);
        assert_true(good);
        tally.days++;
        seed++;
    } while (!first_seed && time(NULL) < end);
    print_message("# %u simulated days: %u jobs submitted, %u done, %u failed, %u cancelled; %u "
                  "attempts, %u servers, %u partitions, %u deaths of conductors and nodes\n",
                  tally.days, tally.submitted, tally.done, tally.failed, tally.cancelled,
                  tally.attempts, tally.servers, tally.cuts, tally.deaths);
}

static const struct CMUnitTest tests[] = {TEST(promises_hold)};

int main(int argc, char **argv)
{
    if (argc > 1) {
        first_seed = strtoull(argv[1], NULL, 10);
        setenv("STAGE_LOG", "1", 1);
    }
    return RUN(tests);
}
