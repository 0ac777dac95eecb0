/* One source of places followed through a job: epochs become steps of the whole,
 * and what starts over continues from where it was. */
#ifndef PROGRESS_RUN_H
#define PROGRESS_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "progress/sighting.h"

struct progress_run {
    const char *source;
    uint32_t key;
    enum sighting_trust trust;
    bool has_at, has_epoch;
    bool within;             /* `at` counts from the beginning of the epoch */
    bool guess;              /* that is not certain yet */
    bool likely_job;         /* and it is more likely of the job */
    bool job;                /* `at` is known to count from the beginning of the job */
    bool per_epoch;          /* no epoch is known, but `at` counts from the beginning of one */
    bool unlikely;           /* `of` keeps changing: it is no end */
    uint8_t changes;         /* times that it changed */
    enum progress_unit unit; /* of `at` */
    int64_t at, first_at;    /* newest place, and the first of this run */
    int64_t of;              /* 0 = not known */
    int64_t share_of;        /* the end by the last share; it counts once the next one agrees */
    int64_t size;            /* steps of the epoch before this one; 0 = not known */
    double epoch, first_epoch;
    int64_t epochs;  /* as the job says it; 0 = not known */
    int64_t planned; /* as the plan says it; 0 = not known */
    bool exact;      /* `epochs` is a number that the plan has: how many, not the last one's */
    int64_t
        epoch_at;   /* where the epoch was first seen, when places count from the job's beginning */
    int64_t stride; /* steps from one such place to the next; 0 = not known */
    int base;       /* number of its first epoch: 0 or 1 */
    bool closed;    /* the epoch is over */
    unsigned moves; /* times that it went forward */
    unsigned resets; /* times that it started over */
    int64_t done;    /* steps of the epochs before this one */
    int64_t before;  /* steps of the runs before this one */
};

/* Begins to follow the source of *s, `before` steps into the job. */
void progress_run_start(struct progress_run *r, const struct sighting *s, int64_t before,
                        unsigned resets);

/* Takes a place of this source. False if it is before the newest one and does not start over
 * (another worker's line, say), or is beyond all measure. */
bool progress_run_advance(struct progress_run *r, const struct sighting *s);

/* Steps of the job that are done. */
int64_t progress_run_step(const struct progress_run *r);

/* Steps of the whole job; 0 = not known. *planned is set to whether the plan was needed. */
int64_t progress_run_total(const struct progress_run *r, bool *planned);

/* It has come to its end. */
bool progress_run_finished(const struct progress_run *r);

#endif
