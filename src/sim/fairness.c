/* Owns the time that a job takes with an equal share. */
#include "sim/fairness.h"

#include <math.h>

/* What a job does with its share of one pool. */
struct part {
    double speed; /* while it runs there */
    double time;  /* the part of the time for which the share allows that */
};

static struct part part_of(const struct job *j, unsigned pool, double share)
{
    const struct speed *speed = job_speed(j, pool);
    units_t most = share < (double)j->max ? (units_t)share : j->max;
    units_t n = speed_floor(speed, most);
    n = n > j->min ? n : j->min;
    return (struct part){speed_at(speed, n), fmin(share / (double)n, 1)};
}

double fairness_equal_share(const struct job *j, const struct cluster *c, double jobs)
{
    struct part parts[POOLS_MAX];
    unsigned n = 0;
    for (unsigned p = 0; p < cluster_pools(c); p++)
        if (job_takes_pool(j, p) && cluster_most(c, j, p, false) >= j->min)
            parts[n++] = part_of(j, p, (double)cluster_size(c, p, false) / jobs);
    double left = 1, speed = 0;
    while (n && left > 0) { /* the fastest first */
        unsigned best = 0;
        for (unsigned i = 1; i < n; i++)
            best = parts[i].speed > parts[best].speed ? i : best;
        double time = fmin(parts[best].time, left);
        speed += parts[best].speed * time;
        left -= time;
        parts[best] = parts[--n];
    }
    return speed > 0 ? j->work / speed / (double)USEC_PER_SEC : NAN;
}
