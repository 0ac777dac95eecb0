/* Between the files of the explanation. */
#ifndef SERVER_EXPLAIN_PARTS_H
#define SERVER_EXPLAIN_PARTS_H

#include <jansson.h>

#include "advisor/rollout.h"
#include "server/yard.h"
#include "store/jobs.h"

/* An explanation in the making. */
struct explanation {
    struct yard *y;
    const struct live_job *j; /* NULL when it is over */
    const struct task *t;     /* the engine's view of it; NULL when it has none */
    usec_t now;               /* engine time */
    usec_t wall;              /* the same by the wall clock */
    struct str summary;
    json_t *reasons, *ahead, *frees;
    json_t *start; /* NULL = it has started */
};

/* ---- phrases: explain_text.c --------------------------------------------- */

/* "job 3 (big)" */
void phrase_job(struct str *out, const struct live_job *j);
/* The same for one that may be over; "job 3" when nothing is known of it. */
void phrase_job_id(struct str *out, struct yard *y, int64_t id);
/* "2 CPUs", "1 GPU", "0.5 CPUs" */
void phrase_units(struct str *out, unsigned pool, units_t n);
/* "12 seconds", "2 minutes", "1.5 hours" */
void phrase_span(struct str *out, usec_t span);
/* "1 job", "3 jobs": of what is counted with an s. */
void phrase_count(struct str *out, uint64_t n, const char *what);

/* Adds a reason; the sentence is emptied. `jobs` (may be NULL) is a list of the ids it
 * names, and is taken. */
void explain_reason(struct explanation *x, const char *code, struct str *sentence, json_t *jobs);
/* Adds what the policies think of it. */
void explain_standing(struct explanation *x);
void explain_free(struct explanation *x, struct str *sentence);
/* Makes the first letter a capital: a sentence may begin with "job". */
void explain_capitalise(struct str *s);
/* The list of one id. */
json_t *explain_one(int64_t id);

/* ---- forecasts: explain_forecast.c --------------------------------------- */

/* How an end can be told. */
enum end_basis {
    END_KNOWN,   /* it says how many steps it has, and makes them */
    END_LIMITED, /* it does not, but has a time limit */
    END_ASSUMED, /* nobody knows */
};

struct forecast {
    bool made; /* there is one */
    struct rollout_result r;
};

/* How the end of the job can be told. */
enum end_basis forecast_basis(const struct live_job *j);
/* What becomes of the job's task. */
void forecast_make(const struct explanation *x, enum rollout_until until, struct forecast *out);
void forecast_done(struct forecast *f);

/* The worst basis of the ends that the forecast rests on. */
enum end_basis forecast_rests_on(const struct explanation *x, const struct forecast *f);
/* "if job 3 (big) goes on at 12 steps/s", without a full stop; when it rests on what
 * nobody knows, "job 3 (big) does not say how long it takes". */
void forecast_phrase(struct str *out, const struct explanation *x, const struct forecast *f);
/* When the job is expected to end; USEC_NEVER when nobody can tell. */
usec_t forecast_end(const struct explanation *x, const struct live_job *j);

/* What the job would be given at once if this one were cancelled, or had these terms
 * (when `terms` is not NULL); 0 when that would change nothing for it. */
units_t forecast_units(const struct explanation *x, uint32_t task, const struct job *terms);

/* ---- cases ---------------------------------------------------------------- */

/* explain_blocked.c: it is not in the queue: held, waiting for others or for a retry. */
void explain_blocked(struct explanation *x);
/* explain_queued.c: it waits for units; also when it is paused. */
void explain_queued(struct explanation *x);
/* What the nodes have for the job. */
struct space {
    unsigned pool;
    units_t size, free; /* of the node with most room, or of all when it may be split */
    int64_t memory;     /* free on the node that has most; -1 = not limited */
    bool drained;       /* no node that is up could ever hold it */
};

/* What the job needs to start: the least that it can run on, or, where that is free
 * and yet it does not run, what it asked for. */
units_t explain_needed(const struct explanation *x, const struct space *s);
/* explain_frees.c: what would let it start. */
void explain_frees(struct explanation *x, const struct space *space, const struct forecast *f);
/* explain_running.c: it has units; it is being stopped. */
void explain_running(struct explanation *x);
void explain_stopping(struct explanation *x);
/* explain_over.c: how it ended. */
void explain_over(struct explanation *x, const struct job_row *row);

/* explain_ahead.c: who is ahead. */

/* Whether the task holds units that the job could use. */
bool explain_holds(const struct explanation *x, uint32_t task);

struct holder {
    const struct live_job *j;
    usec_t end; /* USEC_NEVER = nobody can tell */
};
struct holders {
    struct holder *at;
    size_t n, cap;
};
/* All of them, those first that end soonest. VEC_DONE() frees the list. */
struct holders explain_holders(const struct explanation *x);
/* "job 3 (big) has 2 CPUs, job 4 (x) has 1 CPU", those on the node (TASK_NONE = any);
 * nothing when there are none. Returns the list of their ids. */
json_t *phrase_holders(struct str *out, const struct explanation *x, uint32_t node);
/* Lists them, then those before the job in the queue, 10 at most. Returns how many are
 * before it in the queue. */
uint32_t explain_ahead(struct explanation *x);

#endif
