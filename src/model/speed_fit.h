/* How fast a job makes steps on n units, learnt from its step times: a streaming record of
 * observations, the fit step(n) = fixed + parallel/n + comm (n-1) to it, and from that the
 * speed curve and the step time with its band. */
#ifndef MODEL_SPEED_FIT_H
#define MODEL_SPEED_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "model/nnls.h"
#include "model/range.h"
#include "model/speed.h"

/* step(n) up to a common factor: the part of a step that is serial, the part that is divided
 * among the units, and what each further unit adds. */
struct speed_shape {
    double fixed, parallel, comm;
};

enum { SPEED_SIZES = 16, SPEED_BLOCK = 5 };

/* Step times on sizes that round to the same whole number of units. They come in blocks, of
 * which only the median counts. */
struct speed_size {
    uint32_t size; /* whole units; 0 = empty */
    uint8_t pending;
    uint8_t blocks;            /* full ones since the record began, up to a few */
    uint8_t astray;            /* blocks in a row that were far off on the same side */
    int8_t side;               /* above or below */
    double block[SPEED_BLOCK]; /* logarithms of microseconds, sorted */
    double block_units;        /* sum over the pending ones */
    double units;              /* mean of the blocks, like the next two */
    double mean;               /* logarithm of microseconds */
    double squares;            /* sum of squared deviations from it, weighted */
    double inside;             /* sum of what the spread inside blocks says about these */
    double weight;             /* blocks; old ones count less; 0 = none is full yet */
    usec_t last;
    /* All of its steps, in microseconds: stalls, checkpoints and validations, which do not enter
     * the medians, make their mean larger than the usual time. Old ones count less. */
    struct {
        double count, sum, squares;
    } over;
};

struct speed_seen {
    usec_t half_life; /* age at which a block counts half; 0 = none */
    struct speed_size at[SPEED_SIZES];
};

struct speed_fit {
    struct speed_shape step; /* microseconds; of step(1) = 1 when sizes is 0 */
    uint32_t sizes;          /* distinct sizes observed; 0 = nothing was */
    double scale;            /* microseconds that information is relative to */
    struct nnls information; /* inverse covariance of step / scale */
    double known;            /* the units about which most is known */
    bool category;           /* the prior is the shape of finished jobs of the same category */
};

void speed_seen_init(struct speed_seen *seen, usec_t half_life);

/* Adds one step time, in microseconds, on this many units, in constant time and space. Times
 * that are not between a nanosecond and 1e12 s, or not on a positive size, are dropped. The
 * size that was not used for longest is dropped when there are more than SPEED_SIZES. `at`
 * may repeat; one that goes back counts as the newest so far. */
void speed_seen_add(struct speed_seen *seen, usec_t at, units_t units, double step);

/* Microseconds of a step on a size that was observed itself, whatever the curve through all
 * sizes says; false when it was not, or too seldom. */
bool speed_seen_step(const struct speed_seen *seen, usec_t now, units_t n, struct range *out);

/* Microseconds that so many steps take if the usual one takes `step`: with their part of stalls,
 * checkpoints and validations, and with a band that covers how irregularly these come. */
struct range speed_seen_rest(const struct speed_seen *seen, const struct range *step, double steps);

/* Fits what was observed up to `now`. `prior` is the shape of finished jobs of the same
 * category; NULL = none, then S(k) = k / (1 + 0.05 (k-1)) is assumed. With one size, the fit
 * has the prior's shape through that point; with more, it deviates as far as the data
 * require. A prior that is not finite, is negative or takes no time on one unit counts as
 * NULL. */
void speed_fit(const struct speed_seen *seen, usec_t now, const struct speed_shape *prior,
               struct speed_fit *fit);

/* Whether it says how the job scales: by what was observed on two sizes, or by its category. */
static inline bool speed_fit_is_curve(const struct speed_fit *fit)
{
    return fit && (fit->sizes >= 2 || fit->category);
}

/* The largest size in 1..most up to which each unit makes the job faster, by more than the error of
 * a measurement. */
uint32_t speed_fit_peak(const struct speed_fit *fit, uint32_t most);

/* S(k) for k = 1..speed_fit_peak(most), and at least up to `least`, the size
 * below which the job cannot run. 1 <= least <= most. */
struct speed speed_fit_curve(const struct speed_fit *fit, struct arena *a, uint32_t least,
                             uint32_t most);

/* Microseconds of a step on n > 0 units; {0, inf, inf} if nothing was observed. */
struct range speed_fit_step(const struct speed_fit *fit, units_t n);

#endif
