/* A whole server in a world of its own: the real yard with its real store on a disk in
 * memory (support/disk.h), on fake runtimes and a clock that the test turns. Nothing waits:
 * a simulated day takes as long as what happens in it. */
#ifndef SUPPORT_STAGE_H
#define SUPPORT_STAGE_H

#include "runtime/fake.h"
#include "server/yard.h"
#include "store/attempts.h"

enum { STAGE_RUNTIMES = 4 };

struct stage {
    struct fake *fake; /* the first of them */
    struct fake *fakes[STAGE_RUNTIMES];
    uint32_t n_fakes;
    struct yard *y; /* NULL while no server runs */
    usec_t now;     /* since the world began */
    usec_t booted;  /* when the server's machine was last started */
    usec_t set_by;  /* how far its wall clock was set */
    struct clock_source clock;
    struct runtime_choice choices[STAGE_RUNTIMES];
    uint32_t array_chunk; /* as in the server's config; to be set before a start */
    bool remote;          /* logs have to be fetched; to be set before the first start */
    bool images;          /* the same, and jobs have images */
    const char *policy;
    usec_t min_run;         /* serve --min-run */
    struct uv_loop_s *loop; /* for what watches files; NULL = none; to be set before a start */
    char dir[64], boot_id[40];
    /* Called after each turn of the server; NULL = nobody is. */
    void (*after_turn)(void *ctx);
    void *ctx;
};

/* The world begins without a server. */
void stage_begin(struct stage *w, const struct fake_options *o, const char *policy);
/* Another runtime, before the first start. */
void stage_add_runtime(struct stage *w, const struct fake_options *o);
void stage_end(struct stage *w);

void stage_start(struct stage *w);
/* The same when it may fail: -1, and no server runs. */
int stage_try_start(struct stage *w, struct err *err);
/* Ends a turn of the server. */
void stage_turn(struct stage *w);
/* The same when a client waits for the answer to what it asked for: whether it is told that
 * it was accepted. A later commit of the same turn may have failed then. */
bool stage_accepts(struct stage *w);
/* Ends the server as SIGTERM does; as kill -9 does between two turns, so that what was
 * not committed is lost. */
void stage_stop(struct stage *w);
void stage_kill(struct stage *w);
/* The server commits one more turn, and is killed when it has done this many operations
 * and messages of what follows from it. */
void stage_kill_after(struct stage *w, uint32_t actions);
/* The server's machine is restarted: the server is killed, and what ran on the nodes of all
 * runtimes is gone. */
void stage_reboot(struct stage *w);

/* Lets time pass, server or not. */
void stage_run(struct stage *w, usec_t span);
/* The same until the job is over, at most this long; whether it is. */
bool stage_run_until_over(struct stage *w, int64_t job, usec_t span);

/* Submits a request of this JSON object, or a batch as a list of them; its first job. Quotes
 * may be single ones. Fails the test when refused. */
int64_t stage_submit(struct stage *w, const char *json);
/* The same, for one that may be refused: -1. */
int64_t stage_try_submit(struct stage *w, const char *json, struct err *err);
/* The same without the end of the turn: how many jobs, -1 = refused. */
int stage_hand_in(struct stage *w, const char *json, int64_t *first, struct err *err);

/* What the store knows of a job; its texts live until the next call. */
const struct job_row *stage_job(struct stage *w, int64_t job);
enum job_state stage_state(struct stage *w, int64_t job);

/* The n-th attempt of the job as the store knows it; its texts live until the next call.
 * Fails the test when there is none. */
const struct attempt_row *stage_attempt(struct stage *w, int64_t job, uint32_t n);

/* cmocka's set-up and tear-down of tests with a server on one node of 2 CPUs and 8 GB and the
 * policy elastic-fifo: *state becomes a struct stage. */
int stage_set_up(void **state);
int stage_tear_down(void **state);
#define STAGE_TEST(function)                                                                       \
    cmocka_unit_test_setup_teardown(function, stage_set_up, stage_tear_down)

/* Fails the test, with where things stand, unless the job is in this state. */
#define assert_state(w, job, want)                                                                 \
    do {                                                                                           \
        const struct job_row *row_ = stage_job(w, job);                                            \
        if (row_->state != (want))                                                                 \
            fail_msg("job %lld is %s (%s), not %s", (long long)(job), job_state_name(row_->state), \
                     row_->reason, job_state_name(want));                                          \
    } while (0)

/* The explanation of the job has this text somewhere. */
void stage_expect_told(struct stage *w, int64_t job, const char *text);

#endif
