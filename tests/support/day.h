/* A simulated day of a server: what the simulation knows of it. Users (day_users.h) and
 * faults (day_faults.h) make it happen, and after each turn the promises (promises.h) are
 * checked against what is true in the fake world. */
#ifndef SUPPORT_DAY_H
#define SUPPORT_DAY_H

#include "base/rng.h"
#include "store/attempts.h"
#include "store/jobs.h"
#include "support/stage.h"
#include "wire/spec.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

enum { DAY_NODES_MOST = 4 };

/* How much happens, and how fast. */
struct day_pace {
    usec_t span;
    uint32_t slow; /* how many times as long jobs take, and pauses between what happens */
    size_t jobs_most;
};
/* A day, and an unbroken year of one server with jobs that take up to weeks. */
extern const struct day_pace pace_day, pace_year;

/* What is true of a job in the fake world. */
struct day_truth {
    uint32_t running, begun, left;
    uint32_t succeeded; /* ended with 0 and were not asked to stop */
    uint32_t ended;     /* with 0 */
    uint32_t failed;    /* ended otherwise, without being asked to */
    uint32_t died;      /* without a record */
    uint32_t unseen;    /* were on a node that was lost */
    uint32_t preempted; /* stopped to make room */
    usec_t failed_at;   /* the last one */
    usec_t ended_at;    /* one that ended with 0 */
};

/* What the events have told of a job. */
struct day_told {
    bool submitted, ended;
    uint32_t attempt;
    enum job_state state; /* in which it ended */
};

/* A job that was accepted. */
struct known {
    int64_t id;
    /* As submitted. */
    bool fails;    /* its command does */
    bool forgives; /* a lost attempt does not end it */
    bool stays;    /* it has no checkpoint: it must not be stopped to make room */
    uint32_t retries;
    usec_t backoff;
    int64_t array; /* its first job; 0 = none */
    uint32_t array_limit;
    uint32_t singleton; /* number of its name; 0 = it is none */
    enum spec_dep_kind dep_kind;
    int64_t dep; /* 0 = none */
    /* What users did. */
    uint32_t requeues; /* that may have been accepted */
    uint32_t attempts; /* that may begin, as it was cancelled or held */
    /* As last seen. */
    struct day_truth truth, before;
    struct day_told told;
    struct job_row row; /* its texts are owned */
    struct attempt_row attempt;
    char *node;
    uint32_t extra; /* attempt that was frozen when it had to end; 0 = none */
    bool seen;      /* there is such a job: a member of an array may be still to come */
    bool over;
};

/* What happened, over all days. */
struct tally {
    uint32_t days, turns, submitted, refused, done, failed, cancelled, timeout, attempts;
    uint32_t commands, servers, cuts, deaths, full, nodes, moves;
};

struct day {
    const struct day_pace *pace;
    struct tally *tally;
    struct stage w;
    struct rng rng;
    unsigned mood;            /* kinds of faults that happen on this day */
    VEC(struct known *) jobs; /* by id, which count from 1 */
    bool clock_set;
    usec_t disk_until;                              /* its disk fails; 0 = it does not */
    usec_t drained[STAGE_RUNTIMES][DAY_NODES_MOST]; /* when; 0 = it is not */
    bool shrunk[STAGE_RUNTIMES][DAY_NODES_MOST];    /* it had more before */
    size_t attempts_seen[STAGE_RUNTIMES];
    int64_t event; /* seq of the last one that was seen */
    char why[512]; /* what promise was broken; "" = none */
};

/* NULL = no such job was accepted. */
struct known *day_job(const struct day *d, int64_t id);
/* Says which promise was broken, unless one was before; false. */
bool day_broken(struct day *d, int64_t job, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Checks the promises. */
void day_after_turn(void *day);

/* What happens, for those who read the log of a day. */
void day_note(const struct day *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

bool day_chance(struct day *d, double p);
usec_t day_between(struct day *d, usec_t lo, usec_t hi);

/* A day, or more, from this seed. False when a promise was broken, which d->why tells. */
bool day_run(struct day *d, const struct day_pace *pace, uint64_t seed, struct tally *tally);
void day_end(struct day *d);

#endif
