/* Owns the choice of `auto`. Each candidate is rolled forward from the same state. The budget is
 * counted in what decisions look at, not in time, so the same state gives the same choice on
 * every machine. When it does not suffice to follow all tasks to their end, all candidates are
 * followed up to the same time, and what is left then counts as on one machine that is as fast
 * as all units together, where the shortest task goes first.
 *
 * Completion times count from now on: what has passed is the same under all candidates. */
#include "advisor/chooser.h"

#include <math.h>
#include <stdlib.h>

/* Looks that take a microsecond, roughly: bench/whatif.sh measures it. */
enum { LOOKS_PER_US = 4 };

void chooser_done(struct chooser *c)
{
    whatif_free(c->w);
    c->w = NULL;
}

usec_t chooser_due(const struct chooser *c, const struct engine *e)
{
    const struct snapshot *s = &e->snapshot;
    usec_t changed = s->last_arrival > s->last_departure ? s->last_arrival : s->last_departure;
    if (!combo_is_auto(&e->config.combo) || s->active < 2 || (c->begun && changed <= c->begun))
        return USEC_NEVER;
    return c->begun ? c->begun + param_usec(&e->config.combo.automation, AUTO_EVERY) : 0;
}

/* ---- candidates ------------------------------------------------------------ */

static bool any_deadline(const struct engine *e)
{
    for (uint32_t i = e->snapshot.first; i != TASK_NONE; i = e->links[i].next)
        if (e->tasks[i].job->deadline != USEC_NEVER)
            return true;
    return false;
}

/* Policies that serve another goal are not worth the time. */
static bool is_useful(const struct policy *p, enum auto_goal goal, bool deadlines)
{
    if (p->sees_deadlines)
        return deadlines && goal == GOAL_DEADLINES;
    return strcmp(p->name, "makespan") != 0 || goal == GOAL_MAKESPAN;
}

static void add_candidate(struct chooser *c, unsigned number)
{
    struct combo combo;
    auto_choose(&c->combo, number, &combo);
    whatif_add_policy(c->w, &combo);
    c->policy[c->n++] = (uint8_t)number;
}

static enum auto_goal goal_of(const struct chooser *c)
{
    return (enum auto_goal)c->combo.automation.v[AUTO_GOAL].number;
}

/* The candidate that is usually best for the goal. */
static unsigned home_of(enum auto_goal goal, bool deadlines)
{
    const char *name = goal == GOAL_MAKESPAN                 ? "makespan"
                       : goal == GOAL_DEADLINES && deadlines ? "deadline"
                                                             : "hesrpt";
    unsigned i = 0;
    while (strcmp(auto_candidates[i]->name, name) != 0)
        i++;
    return i;
}

void chooser_begin(struct chooser *c, const struct engine *e, usec_t now)
{
    bool deadlines = any_deadline(e);
    chooser_done(c);
    c->begun = now;
    c->combo = e->config.combo;
    c->w = whatif_create(e, now);
    c->n = 0;
    c->home = home_of(goal_of(c), deadlines);
    add_candidate(c, auto_now(&c->combo));
    for (unsigned i = 0; auto_candidates[i]; i++)
        if (i != c->policy[0] && is_useful(auto_candidates[i], goal_of(c), deadlines))
            add_candidate(c, i);
    uint64_t budget = (uint64_t)param_usec(&c->combo.automation, AUTO_BUDGET) * LOOKS_PER_US;
    whatif_shorten(c->w, budget / c->n + 1);
}

bool chooser_work(struct chooser *c)
{
    return whatif_draws(c->w) < 0 && whatif_work(c->w);
}

/* ---- figures --------------------------------------------------------------- */

struct figures {
    uint32_t missed;
    double figure; /* of the goal: smaller is better */
    double mean;   /* decides where the figures are equal */
};

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static unsigned pool_of(const struct job *j)
{
    return j->pool == POOL_ANY_GPU ? POOL_GPU : j->pool;
}

/* How long the job would take with an equal share of its pool, in microseconds. */
static double fair_time(const struct whatif *w, const struct job *j)
{
    unsigned pool = pool_of(j);
    double share = (double)cluster_size(whatif_cluster(w), pool, true) / whatif_tasks(w);
    units_t n = share < (double)j->max ? (units_t)share : j->max;
    n = n > j->min ? n : j->min;
    double speed = speed_at(job_speed(j, pool), n) * fmin(share / (double)n, 1);
    return speed > 0 ? j->work / speed : INFINITY;
}

/* What is left of a task, and when it ends: as on one large machine, the shortest first. */
struct rest {
    double service; /* unit-microseconds at its smallest size */
    uint32_t task;
};

static int compare_rests(const void *a, const void *b)
{
    const struct rest *x = a, *y = b;
    if (x->service != y->service)
        return x->service < y->service ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

/* Sets end[] of the tasks that had not ended when the course was cut. */
static void end_rest(const struct chooser *c, const struct whatif_policy *p, usec_t *end)
{
    const struct cluster *cluster = whatif_cluster(c->w);
    uint32_t n = whatif_last(c->w), left = 0;
    struct rest *rest = xcalloc(n + 1, sizeof *rest);
    double sum[POOLS_MAX] = {0};
    for (uint32_t i = 0; i < n; i++) {
        const struct job *j = whatif_job(c->w, i);
        end[i] = p->end[i];
        if (!j || end[i] != USEC_NEVER || p->until == USEC_NEVER)
            continue;
        double speed = speed_at(job_speed(j, pool_of(j)), j->min);
        rest[left++] = (struct rest){speed > 0 ? p->left[i] * (double)j->min / speed : 0, i};
    }
    qsort(rest, left, sizeof *rest, compare_rests);
    for (uint32_t k = 0; k < left; k++) {
        unsigned pool = pool_of(whatif_job(c->w, rest[k].task));
        double units = (double)cluster_size(cluster, pool, true);
        sum[pool] += rest[k].service;
        end[rest[k].task] = p->until + (usec_t)(units > 0 ? sum[pool] / units : 0);
    }
    free(rest);
}

static double percentile_99(double *took, uint32_t n)
{
    qsort(took, n, sizeof *took, compare_doubles);
    return n ? took[(n * 99 + 99) / 100 - 1] : 0;
}

/* The figures of a course. */
static struct figures figures_of(const struct chooser *c, const struct whatif_policy *p)
{
    enum auto_goal goal = goal_of(c);
    struct figures f = {0};
    uint32_t tasks = whatif_last(c->w), n = 0;
    usec_t *end = xreallocarray(NULL, tasks + 1, sizeof *end);
    double *took = xreallocarray(NULL, tasks + 1, sizeof *took);
    end_rest(c, p, end);
    for (uint32_t i = 0; i < tasks; i++) {
        const struct job *j = whatif_job(c->w, i);
        if (!j || end[i] == USEC_NEVER)
            continue;
        f.missed += goal == GOAL_DEADLINES && end[i] > j->deadline;
        f.mean += time_seconds(end[i] - c->begun);
        took[n++] = time_seconds(end[i] - j->submit);
        if (goal == GOAL_MAKESPAN)
            f.figure = fmax(f.figure, time_seconds(end[i] - c->begun));
        else if (goal == GOAL_FAIRNESS)
            f.figure = fmax(f.figure, (double)(end[i] - j->submit) / fair_time(c->w, j));
    }
    if (goal == GOAL_P99)
        f.figure = percentile_99(took, n);
    if (goal == GOAL_MEAN || goal == GOAL_DEADLINES)
        f.figure = f.mean;
    free(took);
    free(end);
    return f;
}

/* Whether a is better than b; by enough to change, if `gain` says how much that is. */
static bool is_better(const struct figures *a, const struct figures *b, double gain)
{
    if (a->missed != b->missed)
        return a->missed < b->missed;
    if (a->figure != b->figure || gain > 0)
        return a->figure < b->figure * (1 - gain);
    return a->mean < b->mean;
}

/* What the allocator in force is, the best one, and the usual one of the goal. */
struct standings {
    struct figures now, best, home;
    uint32_t to; /* number of the best */
    uint32_t at_home;
    bool has_home;
};

static bool compare(const struct chooser *c, struct standings *s)
{
    *s = (struct standings){0};
    for (uint32_t i = 0; i < c->n; i++) {
        struct whatif_policy p;
        whatif_result(c->w, i, &p);
        if (p.failed && i == 0)
            return false;
        if (p.failed || p.cut) /* it decides too often to be followed */
            continue;
        struct figures f = figures_of(c, &p);
        if (i == 0)
            s->now = s->best = f;
        if (is_better(&f, &s->best, 0)) {
            s->best = f;
            s->to = i;
        }
        if (c->policy[i] == c->home) {
            s->home = f;
            s->at_home = i;
            s->has_home = true;
        }
    }
    return true;
}

/* Another candidate must be better by `gain`; but the usual one returns as soon as it is no worse.
 * A forecast knows nothing of jobs to come, and the usual one is the best guess for them. */
static bool choose(const struct chooser *c, struct choice *out)
{
    struct standings s;
    double gain = c->combo.automation.v[AUTO_GAIN].number;
    if (!compare(c, &s))
        return false;
    bool clear = s.to && is_better(&s.best, &s.now, gain);
    if (!clear && s.has_home && s.at_home && !is_better(&s.now, &s.home, 0)) {
        s.to = s.at_home;
        s.best = s.home;
    } else if (!clear) {
        return false;
    }
    *out = (struct choice){.from = auto_candidates[c->policy[0]]->name,
                           .to = auto_candidates[c->policy[s.to]]->name,
                           .missed_from = s.now.missed,
                           .missed_to = s.best.missed,
                           .gain = s.now.figure > 0 ? 1 - s.best.figure / s.now.figure : 0,
                           .goal = auto_goal_name(&c->combo)};
    auto_choose(&c->combo, c->policy[s.to], &out->combo);
    return true;
}

bool chooser_end(struct chooser *c, struct choice *out)
{
    bool better = whatif_draws(c->w) >= 0 && choose(c, out);
    chooser_done(c);
    return better;
}
