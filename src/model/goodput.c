/* Owns the arithmetic of goodput. A shape that was measured has its own step times. Any other
 * is interpolated: along lines of as many replicas per node, between the measured numbers of
 * nodes around it. Pollux' simulator interpolates there within a triangulation of the points,
 * which is not unique on a grid. */
#include "model/goodput.h"

#include <math.h>

static const double tolerance = 1e-8; /* of quotients that are rounded up */

static uint32_t ceiling(double x)
{
    return (uint32_t)ceil(x - tolerance);
}

enum { DIGITS = 16, DIGIT_MAX = 15 };

static uint64_t smallest_rotation(const uint8_t *digits, uint32_t n)
{
    uint64_t best = UINT64_MAX;
    for (uint32_t from = 0; from < n; from++) {
        uint64_t key = 0;
        for (uint32_t i = 0; i < n; i++)
            key = key << 4 | digits[(from + i) % n];
        best = key < best ? key : best;
    }
    return best;
}

struct shape shape_of(const struct placement *p)
{
    uint8_t digits[DIGITS];
    struct shape s = {.nodes = p->n};
    bool fits = p->n > 0 && p->n <= DIGITS;
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t here = (uint32_t)(p->at[i].units / UNIT);
        s.replicas += here;
        fits = fits && here <= DIGIT_MAX;
        if (fits)
            digits[i] = (uint8_t)here;
    }
    s.key = fits ? smallest_rotation(digits, p->n) : 0;
    return s;
}

struct shape shape_packed(uint32_t replicas, uint32_t per_node)
{
    struct slot slots[DIGITS];
    uint32_t nodes = (replicas + per_node - 1) / per_node;
    if (nodes > DIGITS)
        return (struct shape){nodes, replicas, 0};
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t left = replicas - i * per_node;
        slots[i] = (struct slot){i, (left < per_node ? left : per_node) * UNIT};
    }
    return shape_of(&(struct placement){slots, nodes});
}

static const struct goodput_curve *find_shape(const struct goodput *g, uint64_t key)
{
    uint32_t lo = 0, hi = g->nshapes;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (g->shapes[mid].shape.key < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < g->nshapes && g->shapes[lo].shape.key == key ? &g->shapes[lo] : NULL;
}

/* The largest local batch of a shape: its own, or that of measured shapes that are as large. */
static uint32_t most_local(const struct goodput *g, const struct shape *s)
{
    const struct goodput_curve *own = g->limited_by_shape && s->key ? find_shape(g, s->key) : NULL;
    double most = own ? own->points[own->n - 1].local : 0;
    for (uint32_t i = 0; g->limited_by_shape && !own && i < g->nmeans; i++) {
        const struct goodput_curve *c = &g->means[i];
        if (c->shape.nodes >= s->nodes && c->shape.replicas >= s->replicas)
            most = fmax(most, c->points[c->n - 1].local);
    }
    return most > 0 && most < g->max_local ? (uint32_t)most : g->max_local;
}

struct goodput_batch goodput_divide(const struct goodput *g, const struct shape *shape,
                                    double global)
{
    uint32_t replicas = shape->replicas, local = ceiling(global / replicas);
    uint32_t passes = ceiling((double)local / most_local(g, shape));
    if (replicas == 1 && global > goodput_initial(g) && passes < 2)
        passes = 2;
    uint32_t each = ceiling((double)local / passes);
    uint32_t most = (uint32_t)(goodput_largest(g) / ((double)replicas * passes));
    return (struct goodput_batch){each < most ? each : most, passes};
}

/* The step and sync time at this local batch size. Between measured sizes, and at the ends
 * along the last line if `beyond`; otherwise NAN there. */
static struct goodput_point curve_at(const struct goodput_curve *c, double local, bool beyond)
{
    const struct goodput_point *p = c->points, *last = p + c->n - 1;
    if (!beyond && (local < p->local || local > last->local))
        return (struct goodput_point){local, NAN, NAN};
    if (c->n == 1)
        return (struct goodput_point){local, p->step, p->sync};
    while (p + 1 < last && p[1].local < local)
        p++;
    double run = p[1].local - p->local, at = local - p->local;
    return (struct goodput_point){local, (p[1].step - p->step) / run * at + p->step,
                                  (p[1].sync - p->sync) / run * at + p->sync};
}

static struct goodput_point mix(struct goodput_point a, struct goodput_point b, double share)
{
    return (struct goodput_point){a.local, a.step + share * (b.step - a.step),
                                  a.sync + share * (b.sync - a.sync)};
}

/* Between the means from[0..n) of one number of nodes, at a number of replicas. */
static struct goodput_point row_at(const struct goodput_curve *from, uint32_t n, double replicas,
                                   double local)
{
    uint32_t hi = 0;
    while (hi + 1 < n && from[hi].shape.replicas < replicas)
        hi++;
    uint32_t lo = hi && from[hi].shape.replicas > replicas ? hi - 1 : hi;
    double run = (double)from[hi].shape.replicas - from[lo].shape.replicas;
    double share = run > 0 ? (replicas - from[lo].shape.replicas) / run : 0;
    return mix(curve_at(&from[lo], local, true), curve_at(&from[hi], local, true), share);
}

/* Where the means of the nearest measured number of nodes are: at most so many, or at least. */
static const struct goodput_curve *find_row(const struct goodput *g, uint32_t nodes, bool above,
                                            uint32_t *n)
{
    const struct goodput_curve *found = NULL;
    *n = 0;
    for (uint32_t i = 0; i < g->nmeans; i++) {
        uint32_t here = g->means[i].shape.nodes;
        bool fits = above ? here >= nodes : here <= nodes;
        if (!fits || (above && found && here > found->shape.nodes))
            continue;
        if (!found || here != found->shape.nodes) {
            found = &g->means[i];
            *n = 0;
        }
        ++*n;
    }
    return found;
}

static struct goodput_point between_rows(const struct goodput *g, const struct shape *s,
                                         double local)
{
    uint32_t nlow, nhigh;
    const struct goodput_curve *low = find_row(g, s->nodes, false, &nlow);
    const struct goodput_curve *high = find_row(g, s->nodes, true, &nhigh);
    if (!low || !high) {
        low = low ? low : high;
        return row_at(low, high ? nhigh : nlow, s->replicas, local);
    }
    uint32_t from = low->shape.nodes, to = high->shape.nodes;
    double dense = (double)s->replicas / s->nodes;
    struct goodput_point a = row_at(low, nlow, dense * from, local);
    struct goodput_point b = row_at(high, nhigh, dense * to, local);
    return mix(a, b, to > from ? (double)(s->nodes - from) / (to - from) : 0);
}

double goodput_step_time(const struct goodput *g, const struct shape *shape, struct goodput_batch b)
{
    if (b.local < g->min_local || b.local > g->max_local)
        return NAN;
    const struct goodput_curve *own = shape->key ? find_shape(g, shape->key) : NULL;
    struct goodput_point p = own ? curve_at(own, b.local, false) : between_rows(g, shape, b.local);
    return p.step + (p.step - p.sync) * (b.passes - 1);
}

double goodput_gain(const struct goodput *g, uint32_t epoch, double global)
{
    uint32_t hi = 0;
    while (hi + 1 < g->nbatches && g->batches[hi] < global)
        hi++;
    uint32_t lo = hi && g->batches[hi] > global ? hi - 1 : hi;
    size_t at = (size_t)lo * g->epochs + epoch, up = (size_t)hi * g->epochs + epoch;
    double sqr = g->sqr[at], var = g->var[at], run = g->batches[hi] - g->batches[lo];
    if (run > 0) {
        double over = global - g->batches[lo], under = g->batches[hi] - global;
        sqr = (over * g->sqr[up] + under * sqr) / run;
        var = (over * g->var[up] + under * var) / run;
    }
    double denominator = var / (global / goodput_initial(g)) + sqr;
    return denominator > 0 ? (var + sqr) / denominator : 1;
}

double goodput_rate(const struct goodput *g, const struct shape *shape, uint32_t epoch,
                    struct goodput_batch b)
{
    double global = (double)shape->replicas * b.local * b.passes;
    double time = b.passes ? goodput_step_time(g, shape, b) : NAN;
    return time > 0 ? goodput_gain(g, epoch, global) / time * g->pace : 0;
}

uint32_t goodput_candidates(const struct goodput *g, const struct shape *shape,
                            struct goodput_candidate out[GOODPUT_CANDIDATES])
{
    double least = (double)g->min_local * shape->replicas, most = goodput_largest(g);
    uint32_t n = 0;
    least = least > goodput_initial(g) ? least : goodput_initial(g);
    for (int i = 0; i < GOODPUT_CANDIDATES && least <= most; i++) {
        double aim = least * pow(most / least, (double)i / (GOODPUT_CANDIDATES - 1));
        struct goodput_batch b = goodput_divide(g, shape, aim);
        double time = goodput_step_time(g, shape, b);
        if (time > 0)
            out[n++] =
                (struct goodput_candidate){b, (double)shape->replicas * b.local * b.passes, time};
    }
    return n;
}

uint32_t goodput_choose(const struct goodput *g, uint32_t epoch, const struct goodput_candidate *c,
                        uint32_t n, double *rate)
{
    uint32_t best = 0;
    *rate = 0;
    for (uint32_t i = 0; i < n; i++) {
        double r = goodput_gain(g, epoch, c[i].global) / c[i].time * g->pace;
        if (r > *rate) {
            *rate = r;
            best = i;
        }
    }
    return best;
}

struct goodput_batch goodput_best(const struct goodput *g, const struct shape *shape,
                                  uint32_t epoch)
{
    struct goodput_candidate c[GOODPUT_CANDIDATES];
    double rate;
    uint32_t n = goodput_candidates(g, shape, c), best = goodput_choose(g, epoch, c, n, &rate);
    return rate > 0 ? c[best].batch : (struct goodput_batch){0};
}
