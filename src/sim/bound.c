/* Owns the lower bound. Both of its parts relax the problem: the first forgets that jobs share
 * the cluster, the second that more units make a job less than proportionally faster. */
#include "sim/bound.h"

#include <math.h>

#include "base/heap.h"

/* What a job takes at least, in seconds. */
struct need {
    double time;  /* alone */
    double units; /* unit-seconds */
};

/* Of the part of the job's work between two sizes of a table: `from` has the time left at
 * its beginning on one unit, `to` at its end, both divided by the speeds of these curves. */
static void add_part(const struct job *j, const struct speed *from, double left_from,
                     const struct speed *to, double left_to, units_t most, struct need *out)
{
    double time = INFINITY, units = INFINITY;
    for (units_t n = j->min; n && n <= most; n = speed_next(from, n, most)) {
        double speed = speed_at(from, n), later = to ? speed_at(to, n) : 1;
        if (!(speed > 0))
            continue;
        double t = left_from / speed - (later > 0 ? left_to / later : 0);
        time = fmin(time, t);
        units = fmin(units, t * (double)n / UNIT);
    }
    out->time += time;
    out->units += units;
}

/* A job whose goodput changes may have another size in each epoch. */
static struct need need_by_epoch(const struct job *j, unsigned pool, units_t most)
{
    const struct learning *l = j->learning;
    struct job now = *j, later = *j; /* with the curves of an epoch, and of the one after it */
    struct need need = {0};
    for (uint32_t e = 0; e < l->goodput->epochs; e++) {
        bool last = e + 1 == l->goodput->epochs;
        now.speeds = learning_speeds(l, e);
        later.speeds = learning_speeds(l, last ? e : e + 1);
        add_part(j, job_speed(&now, pool), l->left[e], last ? NULL : job_speed(&later, pool),
                 l->left[e + 1], most, &need);
    }
    return need;
}

/* The least over all pools that the job can be served from. */
static struct need need_of(const struct job *j, const struct cluster *c)
{
    struct need best = {INFINITY, INFINITY};
    for (unsigned pool = 0; pool < cluster_pools(c); pool++) {
        units_t room = cluster_most(c, j, pool, false), most = room < j->max ? room : j->max;
        struct need need = {0};
        if (most < j->min || !job_takes_pool(j, pool))
            continue;
        if (j->learning)
            need = need_by_epoch(j, pool, most);
        else
            add_part(j, job_speed(j, pool), j->work / USEC_PER_SEC, NULL, 0, most, &need);
        best.time = fmin(best.time, need.time);
        best.units = fmin(best.units, need.units);
    }
    return best;
}

/* Shortest remaining time first on one machine: the sum of completion times. Lengths are in
 * microseconds, as keys of the heap are whole; rounding down keeps it a lower bound. */
static double serve_shortest_first(const struct trace *t, const usec_t *length)
{
    struct heap left = {0};
    usec_t now = 0;
    double sum = 0;
    for (uint32_t next = 0; next < t->n || left.n;) {
        usec_t arrival = next < t->n ? t->jobs[next].submit : USEC_NEVER;
        struct heap_entry top = left.n ? heap_top(&left) : (struct heap_entry){0};
        if (left.n && now + top.key <= arrival) {
            now += top.key;
            heap_pop(&left);
            sum += (double)(now - t->jobs[top.id].submit);
            continue;
        }
        if (left.n)
            heap_set(&left, top.id, top.key - (arrival - now));
        now = arrival;
        heap_set(&left, next, length[next]);
        next++;
    }
    heap_done(&left);
    return sum / USEC_PER_SEC;
}

/* The most jobs that can run on the same units. */
static double most_on_units(const struct trace *t)
{
    unsigned most = 1;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct sharing *s = t->jobs[i].sharing;
        unsigned n = !s ? 1 : s->step > 0 ? SHARING_MOST : 2;
        most = n > most ? n : most;
    }
    return most;
}

/* Units of all pools that the trace's jobs can use, as often as jobs can share them. */
static double usable_units(const struct trace *t, const struct cluster *c)
{
    bool wanted[POOLS_MAX] = {0};
    double size = 0;
    for (uint32_t i = 0; i < t->n; i++)
        for (unsigned p = 0; p < POOLS_MAX; p++)
            wanted[p] |= job_takes_pool(&t->jobs[i], p);
    for (unsigned p = 0; p < cluster_pools(c); p++)
        size += wanted[p] ? (double)cluster_size(c, p, false) / UNIT : 0;
    return size * most_on_units(t);
}

double bound_mean_jct(const struct trace *t, const struct cluster *c)
{
    AUTO_FREE usec_t *length = xcalloc(t->n, sizeof *length);
    double alone = 0, size = usable_units(t, c);
    for (uint32_t i = 0; i < t->n; i++) {
        struct need need = need_of(&t->jobs[i], c);
        if (!isfinite(need.time) || !isfinite(need.units))
            return NAN;
        alone += need.time;
        length[i] = (usec_t)(need.units / size * USEC_PER_SEC);
    }
    return fmax(alone, serve_shortest_first(t, length)) / t->n;
}

double bound_makespan(const struct trace *t, const struct cluster *c)
{
    double last = 0, units = 0, size = usable_units(t, c);
    for (uint32_t i = t->n; i-- > 0;) { /* the latest first: units are of all from this one on */
        struct need need = need_of(&t->jobs[i], c);
        double since = time_seconds(t->jobs[i].submit - t->jobs[0].submit);
        if (!isfinite(need.time) || !isfinite(need.units))
            return NAN;
        units += need.units;
        last = fmax(last, since + fmax(need.time, units / size));
    }
    return last;
}
