/* Owns the course of a simulated day. */
#include "support/day.h"

#include <math.h>
#include <stdarg.h>

#include "journal/replay.h"
#include "store/job_state.h"
#include "support/day_faults.h"
#include "support/day_users.h"
#include "support/promises.h"
#include "support/test.h"

const struct day_pace pace_day = {24 * HOUR, 1, 80};
const struct day_pace pace_year = {365 * 24 * HOUR, 52, 560};

struct known *day_job(const struct day *d, int64_t id)
{
    return id > 0 && (uint64_t)id <= d->jobs.n ? d->jobs.at[id - 1] : NULL;
}

bool day_broken(struct day *d, int64_t job, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!*d->why)
        snprintf(d->why, sizeof d->why, "after %.3f s, job %lld: %s", time_seconds(d->w.now),
                 (long long)job, text);
    day_note(d, "broken: %s", text);
    return false;
}

void day_note(const struct day *d, const char *fmt, ...)
{
    va_list args;
    if (!getenv("STAGE_LOG"))
        return;
    fprintf(stderr, "-- %.6f s ", time_seconds(d->w.now));
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
}

bool day_chance(struct day *d, double p)
{
    return rng_uniform(&d->rng) < p;
}

usec_t day_between(struct day *d, usec_t lo, usec_t hi)
{
    return lo + (usec_t)(rng_uniform(&d->rng) * (double)(hi - lo));
}

void day_after_turn(void *day)
{
    struct day *d = day;
    d->tally->turns++;
    if (!*d->why)
        promises_check(d);
}

static void add_runtimes(struct day *d)
{
    static const char *const prefixes[] = {"a", "b", "c"};
    size_t n = 1 + rng_below(&d->rng, COUNT_OF(prefixes));
    for (size_t i = 0; i < n; i++) {
        struct fake_options o = {.seed = rng_next(&d->rng),
                                 .nodes = 1 + (uint32_t)rng_below(&d->rng, 3),
                                 .prefix = prefixes[i],
                                 .lost_after = 30 * SECOND,
                                 .cpus = (units_t)(4 + rng_below(&d->rng, 3)) * UNIT,
                                 .memory_mb = 4096 + (int64_t)rng_below(&d->rng, 8192),
                                 .report =
                                     day_between(d, 30 * SECOND, 20 * MINUTE) * d->pace->slow};
        static const char *const policies[] = {"elastic-fifo", "fifo",        "srtf", "equal",
                                               "las",          "elastic-las", "ffdl", "edf"};
        if (i == 0)
            stage_begin(&d->w, &o, policies[rng_below(&d->rng, COUNT_OF(policies))]);
        else
            stage_add_runtime(&d->w, &o);
    }
}

static void begin(struct day *d, const struct day_pace *pace, uint64_t seed, struct tally *tally)
{
    *d = (struct day){.pace = pace, .tally = tally};
    rng_init(&d->rng, seed);
    add_runtimes(d);
    d->w.min_run = day_chance(d, 0.5) ? 0 : 5 * MINUTE;
    d->w.after_turn = day_after_turn;
    d->w.ctx = d;
    d->w.array_chunk = 1 + (uint32_t)rng_below(&d->rng, 4);
    d->w.remote = day_chance(d, 0.5);
    day_draw_faults(d);
    stage_start(&d->w);
}

/* Whether all jobs are over and nothing is left to do. */
static bool is_quiet(const struct day *d)
{
    return !d->w.y->jobs.first && !d->w.y->attempts.n;
}

/* Every decision that was recorded is made again. */
static bool check_replay(struct day *d)
{
    struct replay_result r = {0};
    struct err err;
    if (journal_replay(d->w.y->store, 0, &r, &err) < 0)
        day_broken(d, 0, "the journal cannot be replayed: %s", err.text);
    else if (r.differing)
        day_broken(d, 0, "replayed, decision %lld differs", (long long)r.first_seq);
    replay_result_done(&r);
    return !*d->why;
}

/* Until something happens: often long, and often of any order of magnitude, so that things
 * also meet each other half-way. While the disk fails it is short, because that ends soon. */
static usec_t draw_pause(struct day *d)
{
    if (d->disk_until)
        return day_between(d, 1, MINUTE);
    if (day_chance(d, 0.6))
        return day_between(d, 1, 30 * MINUTE * d->pace->slow);
    return (usec_t)exp(rng_uniform(&d->rng) * log(20.0 * MINUTE));
}

/* For a while nothing fails and nobody commands: what was wanted must come about. */
static void have_lull(struct day *d)
{
    day_note(d, "a lull");
    day_calm_down(d);
    stage_run(&d->w, 10 * MINUTE);
    if (!*d->why)
        promises_check_settled(d);
    day_trouble_again(d);
}

bool day_run(struct day *d, const struct day_pace *pace, uint64_t seed, struct tally *tally)
{
    begin(d, pace, seed, tally);
    usec_t end = d->w.now + pace->span;
    while (!*d->why && d->w.now < end) {
        stage_run(&d->w, draw_pause(d));
        double what = rng_uniform(&d->rng);
        if (what < 0.35)
            day_submit(d);
        else if (what < 0.6)
            day_command(d);
        else if (what < 0.65)
            have_lull(d);
        else
            day_befall(d);
    }
    if (*d->why)
        return false;
    day_calm_down(d);
    day_release_all(d);
    for (int hour = 0; !*d->why && !is_quiet(d) && hour < 200; hour++)
        stage_run(&d->w, HOUR * pace->slow);
    return !*d->why && promises_check_quiet(d) && check_replay(d);
}

static void count(struct tally *t, const struct known *k)
{
    t->submitted++;
    t->attempts += k->row.attempt;
    t->done += k->row.state == JOB_DONE;
    t->failed += k->row.state == JOB_FAILED;
    t->cancelled += k->row.state == JOB_CANCELLED;
    t->timeout += k->row.state == JOB_TIMEOUT;
}

void day_end(struct day *d)
{
    for (size_t i = 0; i < d->jobs.n; i++) {
        struct known *k = d->jobs.at[i];
        count(d->tally, k);
        job_row_done(&k->row);
        free(k->node);
        free(k);
    }
    VEC_DONE(&d->jobs);
    stage_end(&d->w);
}
