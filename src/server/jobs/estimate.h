/* The estimator of a job: how fast it steps on each observed size, and when it ends. It uses
 * only the job's reports; model/estimate.h does the arithmetic. */
#ifndef SERVER_JOBS_ESTIMATE_H
#define SERVER_JOBS_ESTIMATE_H

#include "model/estimate.h"
#include "server/jobs/curve.h"

struct attempt;
struct live_job;
struct store;
struct yard;

struct job_estimate {
    struct speed_seen *seen; /* step times by size; NULL = no step yet */
    struct speed_fit fit;    /* fitted to `seen`; fit.sizes 0 = unknown */
    struct {
        bool shaped; /* the speed curve of finished jobs of its category is known */
        struct speed_shape shape;
        struct estimate_score score; /* how good estimates of their ends were */
    } prior;
    struct estimate_record
        quarter;      /* what was expected at a quarter of its steps; at 0 = not yet */
    uint32_t told;    /* number of sizes in the engine's curve; 0 = it has none */
    double told_best; /* speed-up of that curve at the job's largest size */
    /* The report that the next one is compared with. */
    usec_t at; /* wall clock; 0 = none since the last estimate_break() */
    double step;
    usec_t every; /* between the last two reports of a step */
    struct metric_curve curve;
    /* Where the job is: as last reported, or as computed when its size changed. */
    struct {
        bool known;
        usec_t at; /* wall clock */
        double step;
    } place;
};

/* The job reports this step, and perhaps its metric (NAN = not). */
void estimate_report(struct yard *y, struct live_job *j, usec_t at, double step, double metric);
/* The next report must not be compared with earlier ones: the job starts, pauses or changes
 * its size. `ran` is the attempt as it ran until now; NULL = it did not run. */
void estimate_break(const struct yard *y, struct live_job *j, const struct attempt *ran);

/* Fits its speed again, after its prior was set. */
void estimate_fit(struct live_job *j, usec_t at);

/* The step at which it ends, and what that is known by; STEPS_UNKNOWN leaves *end unchanged. */
enum steps_basis estimate_end(const struct live_job *j, struct range *end);
/* Seconds left from now on, on the current size. Returns false if unknown. */
bool estimate_left(const struct yard *y, const struct live_job *j, struct range *out);
/* The same on another size, from its last step on. */
bool estimate_left_on(const struct yard *y, const struct live_job *j, units_t units,
                      struct range *out);
/* Steps per second, as reported, else from the time left; NAN if unknown. */
double estimate_rate(const struct yard *y, const struct live_job *j);
/* Whether its work is derived from its steps; otherwise it is assumed. */
bool estimate_knows_work(const struct live_job *j);
/* Its total work in the engine's unit, given what it has done. */
double estimate_work(const struct yard *y, const struct live_job *j, double done);

/* Write the observed step times to the store, and read them. */
int estimate_save(struct store *s, const struct live_job *j, struct err *err);
int estimate_load(struct store *s, struct live_job *j, struct err *err);
void estimate_done(struct job_estimate *e);

#endif
