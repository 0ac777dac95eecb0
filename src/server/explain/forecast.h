/* When jobs end, and what would happen if something changed. */
#ifndef SERVER_EXPLAIN_FORECAST_H
#define SERVER_EXPLAIN_FORECAST_H

#include "advisor/rollout.h"
#include "server/explain/explanation.h"

/* What an expected end rests on. */
enum end_basis {
    END_KNOWN,   /* the job reports its steps */
    END_LIMITED, /* it does not, but it has a time limit */
    END_ASSUMED, /* unknown */
};

struct forecast {
    bool made; /* false if the rollout failed */
    struct rollout_result r;
};

enum end_basis forecast_basis(const struct live_job *j);
/* What a job with a time limit, which the engine knows, can do in the time that is left. */
double forecast_limited_work(const struct yard *y, const struct live_job *j);
/* Forecasts what happens to the job's task. */
void forecast_make(const struct explanation *x, enum rollout_until until, struct forecast *out);
void forecast_done(struct forecast *f);

/* The worst basis of the ends that the forecast rests on. */
enum end_basis forecast_rests_on(const struct explanation *x, const struct forecast *f);
/* "if job 3 (big) continues at 12 steps/s", without a full stop; when the forecast rests on
 * an unknown end, "job 3 (big) does not report how long it takes". */
void forecast_phrase(struct str *out, const struct explanation *x, const struct forecast *f);
/* When the job is expected to end; USEC_NEVER if unknown. */
usec_t forecast_end(const struct explanation *x, const struct live_job *j);

/* What the explained job would get at once if this task were cancelled, or had these terms
 * (when `terms` is not NULL); 0 if that would change nothing. */
units_t forecast_units(const struct explanation *x, uint32_t task, const struct job *terms);

#endif
