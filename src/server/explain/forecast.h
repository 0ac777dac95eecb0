/* When jobs end, and what would happen if. */
#ifndef SERVER_EXPLAIN_FORECAST_H
#define SERVER_EXPLAIN_FORECAST_H

#include "advisor/rollout.h"
#include "server/explain/explanation.h"

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

#endif
