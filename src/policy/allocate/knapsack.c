/* Owns the multiple-choice knapsack.
 *
 * First the relaxed problem, in which the last step may be taken in part: the steps along
 * each job's upper hull, steepest first, until one does not fit. Its slope is the price of a
 * unit. Relative to this price every other choice has a regret, the value that it loses beyond
 * the price of its units. No better solution has more regret in total than the gap between the
 * solution found so far and the relaxed optimum. So only choices with at most that regret are
 * considered again, by a dynamic program over the deviation of units from the relaxed
 * solution. A best solution differs from it in at most 2m + 1 jobs, m being the largest size,
 * which bounds the deviation (Eisenbrand and Weismantel 2018: more changes would contain a
 * subset whose sizes cancel out, which can be undone without loss).
 *
 * With concave values and steps of one unit the last step always fits, the gap is zero, and
 * this is the greedy algorithm by marginal gain. */
#include "policy/allocate/knapsack.h"

#include <math.h>
#include <stdbool.h>

struct step {
    double slope;
    uint32_t job, to; /* option index + 1 */
};

struct solver {
    struct knapsack_job *jobs;
    uint32_t n, capacity, largest;
    struct arena *arena;
    struct step *steps; /* along the hulls */
    uint32_t nsteps;
    double price;  /* of a unit */
    uint32_t left; /* units that the whole steps of the relaxed solution leave */
};

static uint32_t size_of(const struct knapsack_job *j, uint32_t choice)
{
    return choice ? j->options[choice - 1].size : 0;
}

static double value_of(const struct knapsack_job *j, uint32_t choice)
{
    return choice ? j->options[choice - 1].value : 0;
}

static double slope_between(const struct knapsack_job *j, uint32_t from, uint32_t to)
{
    return (value_of(j, to) - value_of(j, from)) / (size_of(j, to) - size_of(j, from));
}

/* Adds the rising steps of a job's upper hull from (0, 0). */
static void add_hull(struct solver *s, uint32_t job)
{
    const struct knapsack_job *j = &s->jobs[job];
    uint32_t first = s->nsteps;
    for (uint32_t to = 1; to <= j->n; to++) {
        double slope;
        for (;;) {
            uint32_t from = s->nsteps > first ? s->steps[s->nsteps - 1].to : 0;
            slope = slope_between(j, from, to);
            if (s->nsteps == first || slope <= s->steps[s->nsteps - 1].slope)
                break;
            s->nsteps--;
        }
        if (slope > 0)
            s->steps[s->nsteps++] = (struct step){slope, job, to};
    }
}

/* For a merge sort: steepest first, equal slopes by job; the steps of a job keep their order. */
static bool comes_first(const struct step *a, const struct step *b)
{
    return a->slope != b->slope ? a->slope > b->slope : a->job <= b->job;
}

static void sort_steps(struct solver *s)
{
    uint32_t n = s->nsteps;
    struct step *from = s->steps, *to = arena_raw(s->arena, (n + 1) * sizeof *to);
    for (uint32_t width = 1; width < n; width *= 2) {
        for (uint32_t low = 0; low < n; low += 2 * width) {
            uint32_t mid = low + width < n ? low + width : n;
            uint32_t high = low + 2 * width < n ? low + 2 * width : n;
            for (uint32_t i = low, a = low, b = mid; i < high; i++)
                to[i] = a < mid && (b >= high || comes_first(&from[a], &from[b])) ? from[a++]
                                                                                  : from[b++];
        }
        struct step *swap = from;
        from = to;
        to = swap;
    }
    s->steps = from;
}

/* Takes whole steps until one does not fit; returns the first that did not. */
static uint32_t relax(struct solver *s)
{
    s->left = s->capacity;
    for (uint32_t i = 0; i < s->nsteps; i++) {
        struct knapsack_job *j = &s->jobs[s->steps[i].job];
        uint32_t more = size_of(j, s->steps[i].to) - size_of(j, j->chosen);
        if (more > s->left) {
            s->price = s->steps[i].slope;
            return i;
        }
        j->chosen = s->steps[i].to;
        s->left -= more;
    }
    s->price = 0;
    return s->nsteps;
}

/* The value that whole steps which fit into the remaining units add to the relaxed solution.
 * Does not change the jobs. */
static double greedy_value(const struct solver *s, uint32_t from)
{
    uint32_t left = s->left;
    uint32_t *chosen = arena_raw(s->arena, (s->n + 1) * sizeof *chosen);
    double sum = 0;
    for (uint32_t i = 0; i < s->n; i++)
        chosen[i] = s->jobs[i].chosen;
    for (uint32_t i = from; i < s->nsteps && left; i++) {
        const struct step *step = &s->steps[i];
        const struct knapsack_job *j = &s->jobs[step->job];
        uint32_t more = size_of(j, step->to) - size_of(j, chosen[step->job]);
        if (more > left)
            continue;
        sum += value_of(j, step->to) - value_of(j, chosen[step->job]);
        chosen[step->job] = step->to;
        left -= more;
    }
    return sum;
}

static double regret(const struct solver *s, const struct knapsack_job *j, uint32_t choice)
{
    double here = value_of(j, j->chosen) - s->price * size_of(j, j->chosen);
    return here - (value_of(j, choice) - s->price * size_of(j, choice));
}

/* The dynamic program. best[d] = least regret with d - low units more than the
 * relaxed solution; took[k][d] = what the k-th job of the core chose there. */
struct core {
    uint32_t *job;
    uint32_t n, width;
    double *best, *next;
    uint16_t *took; /* choice + 1; 0 = unreachable */
};

static void core_collect(const struct solver *s, double gap, struct core *c)
{
    c->job = arena_raw(s->arena, (s->n + 1) * sizeof *c->job);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct knapsack_job *j = &s->jobs[i];
        for (uint32_t choice = 0; choice <= j->n; choice++)
            if (choice != j->chosen && regret(s, j, choice) <= gap) {
                c->job[c->n++] = i;
                break;
            }
    }
}

static void core_add(const struct solver *s, struct core *c, uint32_t k, double gap)
{
    const struct knapsack_job *j = &s->jobs[c->job[k]];
    uint16_t *took = c->took + (size_t)k * c->width;
    for (uint32_t d = 0; d < c->width; d++) {
        c->next[d] = INFINITY;
        took[d] = 0;
    }
    for (uint32_t choice = 0; choice <= j->n; choice++) {
        double cost = choice == j->chosen ? 0 : regret(s, j, choice);
        if (cost > gap)
            continue;
        int64_t more = (int64_t)size_of(j, choice) - size_of(j, j->chosen);
        for (int64_t d = more < 0 ? -more : 0; d < c->width && d + more < c->width; d++)
            if (c->best[d] + cost < c->next[d + more]) {
                c->next[d + more] = c->best[d] + cost;
                took[d + more] = (uint16_t)(choice + 1);
            }
    }
    double *swap = c->best;
    c->best = c->next;
    c->next = swap;
}

static void core_solve(struct solver *s, double gap)
{
    struct core c = {0};
    uint64_t reach = (2 * (uint64_t)s->largest + 1) * s->largest;
    uint32_t low = reach < s->capacity ? (uint32_t)reach : s->capacity, goal = 0;
    uint32_t high = low > s->left ? low : s->left;
    core_collect(s, gap, &c);
    c.width = low + high + 1;
    c.best = arena_raw(s->arena, c.width * sizeof *c.best);
    c.next = arena_raw(s->arena, c.width * sizeof *c.next);
    c.took = arena_raw(s->arena, ((size_t)c.n * c.width + 1) * sizeof *c.took);
    for (uint32_t d = 0; d < c.width; d++)
        c.best[d] = d == low ? 0 : INFINITY;
    for (uint32_t k = 0; k < c.n; k++)
        core_add(s, &c, k, gap);
    /* One unit more is worth the price minus the regret. */
    for (uint32_t d = 0; d <= low + s->left; d++)
        if (s->price * d - c.best[d] > s->price * goal - c.best[goal])
            goal = d;
    for (uint32_t k = c.n; k-- > 0;) {
        struct knapsack_job *j = &s->jobs[c.job[k]];
        uint32_t choice = c.took[(size_t)k * c.width + goal] - 1U;
        goal = goal + size_of(j, j->chosen) - size_of(j, choice);
        j->chosen = choice;
    }
}

void knapsack_solve(struct knapsack_job *jobs, uint32_t n, uint32_t capacity, struct arena *a)
{
    struct solver s = {.jobs = jobs, .n = n, .capacity = capacity, .arena = a};
    size_t options = 0;
    for (uint32_t i = 0; i < n; i++) {
        jobs[i].chosen = 0;
        options += jobs[i].n;
        if (jobs[i].n && jobs[i].options[jobs[i].n - 1].size > s.largest)
            s.largest = jobs[i].options[jobs[i].n - 1].size;
    }
    s.steps = arena_raw(a, (options + 1) * sizeof *s.steps);
    for (uint32_t i = 0; i < n; i++)
        add_hull(&s, i);
    sort_steps(&s);
    uint32_t misfit = relax(&s);
    if (misfit == s.nsteps || s.left == 0)
        return;
    double gap = s.price * s.left - greedy_value(&s, misfit);
    core_solve(&s, gap + 1e-9 * (1 + s.price));
}
