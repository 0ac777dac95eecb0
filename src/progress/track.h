/* What is known of a job, put together from sightings. */
#ifndef PROGRESS_TRACK_H
#define PROGRESS_TRACK_H

#include "progress/header.h"
#include "progress/run.h"

/* A step from a line of its own; it counts once a loss follows. */
struct progress_step_header {
    bool open;
    int64_t at;
    enum progress_unit unit;
};

struct progress_track {
    struct progress now;
    struct progress_run run;
    struct progress_header header;
    struct progress_step_header step_header;
    /* The loop around the training whose header was read last, before the training began. */
    struct {
        bool open;
        int64_t at, of;
    } round;
    bool rewards;              /* the job tells rewards or returns */
    unsigned others;           /* places of other sources since the last of this one */
    int64_t given_total;       /* by the user; 0 = none */
    int64_t past;              /* of an earlier run; 0 = none */
    struct progress_plan plan; /* what is left of it, and what the job announced */
    int64_t ticks;             /* of SIGHTING_TICK */
    uint32_t bar_key;          /* the bare bar that was drawn last */
    int64_t bar_at, bar_of;
    uint32_t chief; /* the bare bar that is the training's; 0 = not known */
    uint8_t loss_rank;
    bool outer;                 /* the training is a part of the job: a fold, a chain */
    bool loose;                 /* bare fractions are places of the epoch */
    bool behind;                /* the place just taken is before the newest one */
    bool said_place, said_loss; /* the job has said it itself */
};

/* The plan may be NULL. */
void progress_track_init(struct progress_track *t, int64_t given_total,
                         const struct progress_plan *plan);

/* Takes a sighting into account; t->now.seq changes when anything else did. */
void progress_track_take(struct progress_track *t, const struct sighting *s);

#endif
