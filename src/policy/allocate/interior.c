/* Owns the method by which time is divided among jobs: a primal-dual interior-point method with
 * Mehrotra's corrector, for linear programs
 *
 *   maximise  b y   subject to   s = c - A' y >= 0,
 *
 * where y is the shares x and, for fairness, the level t. The constraints of job i are x[i][p] >= 0
 * for each pool, sum x[i] <= 1 and t <= a[i] x[i]; then there is one for the size of each pool. Two
 * jobs meet only in the latter and in t, so a Newton step is a small system for each job, solved in
 * closed form (Sherman and Morrison), and one of pools + 1 equations for the prices of the pools
 * and the level. It takes O(jobs x pools^2) and there are 10 to 30 of them. Jobs that are alike
 * have the same shares in every step, so each kind is solved once and counts as often as it is
 * there.
 *
 * Shares stay feasible at any time, so stopping early is safe. A pool in which a job does not run
 * has a constraint that is switched off: s = 1, z = 0. */
#include "policy/allocate/interior.h"

#include <math.h>
#include <string.h>

#include "model/job.h"

enum { STEPS_MAX = 60, BORDER = POOLS_MAX + 1 };

/* It ends when the gap to the optimum, relative to the objective, is this small. */
#define PRECISION 1e-6

/* Constraints are stored kind by kind: one for each pool, then the two others; at the end the
 * pools' own. The multipliers z of the pools are their prices. */
struct solver {
    const struct interior *p;
    uint32_t m; /* kinds of jobs */
    unsigned k;
    size_t width, n; /* constraints of a kind; all */
    double active;   /* how many are not switched off */
    bool fair;
    const double *a; /* [kind x pools + pool]: gain over need, or weight in the sum */
    double *x, t;
    double *s, *z, *ds, *dz, *rc;
    double *dx, dt;
    double *rx, rt; /* right-hand side */
    /* The factors of the last matrix. */
    double *alpha, *beta;   /* by kind */
    double *pull, *inverse; /* [kind x pools + pool]; s/z, or 0 where it does not run */
    double border[BORDER][BORDER];
};

static double *own(const struct solver *v, double *of, uint32_t job)
{
    return of + job * v->width;
}

static double *pools_of(const struct solver *v, double *of)
{
    return of + v->m * v->width;
}

static bool runs_in(const struct solver *v, uint32_t i, unsigned p)
{
    return v->a[i * v->k + p] > 0;
}

/* ds = -A' dy, or with (x, t) the slacks themselves without c. */
static void apply_transposed(const struct solver *v, const double *x, double t, double *out)
{
    double *cap = pools_of(v, out);
    memset(cap, 0, v->k * sizeof *cap);
    for (uint32_t i = 0; i < v->m; i++) {
        double *o = own(v, out, i), sum = 0, gain = 0;
        for (unsigned p = 0; p < v->k; p++) {
            double share = x[i * v->k + p];
            o[p] = share;
            sum += share;
            gain += v->a[i * v->k + p] * share;
            cap[p] -= v->p->count[i] * v->p->units[i] * share;
        }
        o[v->k] = -sum;
        o[v->k + 1] = v->fair ? gain - t : 0;
    }
}

/* The right-hand side: b - A w. */
static void apply(struct solver *v, double *w)
{
    const double *cap = pools_of(v, w);
    v->rt = v->fair ? 1 : 0;
    for (uint32_t i = 0; i < v->m; i++) {
        const double *o = own(v, w, i);
        for (unsigned p = 0; p < v->k; p++) {
            double a = v->a[i * v->k + p], b = v->fair ? 0 : a;
            double sum = o[v->k] - o[p] + v->p->units[i] * cap[p] - (v->fair ? a * o[v->k + 1] : 0);
            v->rx[i * v->k + p] = a > 0 ? b - sum : 0;
        }
        v->rt -= v->fair ? v->p->count[i] * o[v->k + 1] : 0;
    }
}

/* out = P v, where P is the inverse of the job's own part of the matrix. */
static void solve_own(const struct solver *v, uint32_t i, const double *in, double *out)
{
    const double *a = v->a + i * v->k, *pull = v->pull + i * v->k, *inverse = v->inverse + i * v->k;
    double sum = 0, gain = 0;
    for (unsigned p = 0; p < v->k; p++) {
        out[p] = in[p] * inverse[p];
        sum += out[p];
    }
    for (unsigned p = 0; p < v->k; p++) {
        out[p] -= v->alpha[i] * sum * inverse[p];
        gain += a[p] * out[p];
    }
    for (unsigned p = 0; p < v->k; p++)
        out[p] -= v->beta[i] * gain * pull[p];
}

/* The job's factors: its matrix is diag(z/s) + wr 1 1' + wv a a'. */
static void factor_own(struct solver *v, uint32_t i)
{
    const double *s = own(v, v->s, i), *z = own(v, v->z, i), *a = v->a + i * v->k;
    double *pull = v->pull + i * v->k, *inverse = v->inverse + i * v->k;
    double wr = z[v->k] / s[v->k], wv = z[v->k + 1] / s[v->k + 1], ones = 0, sum = 0, q = 0;
    for (unsigned p = 0; p < v->k; p++) {
        inverse[p] = a[p] > 0 ? s[p] / z[p] : 0;
        ones += inverse[p];
        sum += a[p] * inverse[p];
    }
    v->alpha[i] = wr / (1 + wr * ones);
    for (unsigned p = 0; p < v->k; p++) {
        pull[p] = (a[p] - v->alpha[i] * sum) * inverse[p];
        q += a[p] * pull[p];
    }
    v->beta[i] = v->fair ? wv / (1 + wv * q) : 0;
}

/* Gaussian elimination with pivoting; row k is the level, column k + 1 the right-hand side. */
static void solve_border(double m[BORDER][BORDER], unsigned n, double *out)
{
    for (unsigned c = 0; c < n; c++) {
        unsigned best = c;
        for (unsigned r = c + 1; r < n; r++)
            best = fabs(m[r][c]) > fabs(m[best][c]) ? r : best;
        for (unsigned i = 0; best != c && i < n; i++) {
            double swap = m[c][i];
            m[c][i] = m[best][i];
            m[best][i] = swap;
        }
        double swap = out[c];
        out[c] = out[best];
        out[best] = swap;
        for (unsigned r = c + 1; r < n; r++) {
            double f = m[r][c] / m[c][c];
            for (unsigned i = c; i < n; i++)
                m[r][i] -= f * m[c][i];
            out[r] -= f * out[c];
        }
    }
    for (unsigned c = n; c-- > 0;) {
        for (unsigned i = c + 1; i < n; i++)
            out[c] -= m[c][i] * out[i];
        out[c] /= m[c][c];
    }
}

static void factor(struct solver *v)
{
    const double *s = pools_of(v, v->s), *z = pools_of(v, v->z);
    unsigned k = v->k;
    memset(v->border, 0, sizeof v->border);
    for (unsigned p = 0; p < k; p++)
        v->border[p][p] = s[p] / z[p];
    v->border[k][k] = v->fair ? 0 : -1;
    for (uint32_t i = 0; i < v->m; i++) {
        const double *pull = v->pull + i * k, *inverse = v->inverse + i * k;
        factor_own(v, i);
        double count = v->p->count[i], units = v->p->units[i], weight = count * units * units;
        for (unsigned p = 0; p < k; p++) {
            double near = v->alpha[i] * inverse[p], far = v->beta[i] * pull[p];
            v->border[p][p] += weight * inverse[p];
            for (unsigned q = 0; q < k; q++)
                v->border[p][q] -= weight * (near * inverse[q] + far * pull[q]);
            v->border[p][k] -= count * units * far;
            v->border[k][p] -= count * units * far;
        }
        v->border[k][k] -= count * v->beta[i];
    }
}

/* Solves A (z/s) A' dy = (rx, rt). */
static void solve(struct solver *v)
{
    double copy[BORDER][BORDER], out[BORDER] = {0}, scaled[POOLS_MAX] = {0};
    unsigned k = v->k;
    memcpy(copy, v->border, sizeof copy);
    out[k] = v->fair ? -v->rt : 0;
    for (uint32_t i = 0; i < v->m; i++) {
        double *h = v->dx + i * k;
        const double *pull = v->pull + i * k, *rx = v->rx + i * k;
        solve_own(v, i, rx, h);
        for (unsigned p = 0; p < k; p++) {
            out[p] += v->p->count[i] * v->p->units[i] * h[p];
            out[k] -= v->p->count[i] * v->beta[i] * pull[p] * rx[p];
        }
    }
    solve_border(copy, k + 1, out);
    v->dt = v->fair ? out[k] : 0;
    for (uint32_t i = 0; i < v->m; i++) {
        double back[POOLS_MAX];
        for (unsigned p = 0; p < k; p++)
            scaled[p] = v->p->units[i] * out[p];
        solve_own(v, i, scaled, back);
        for (unsigned p = 0; p < k; p++)
            v->dx[i * k + p] += v->beta[i] * v->pull[i * k + p] * v->dt - back[p];
    }
}

/* How far the direction can be followed; at most 1. */
static double reach(const double *at, const double *by, size_t n)
{
    double most = 1;
    for (size_t i = 0; i < n; i++)
        if (by[i] < 0 && at[i] + most * by[i] < 0)
            most = -at[i] / by[i];
    return most;
}

/* ds and dz of the direction for the complementarity that rc asks for. */
static void direct(struct solver *v)
{
    for (size_t c = 0; c < v->n; c++)
        v->dz[c] = v->z[c] + v->rc[c] / v->s[c];
    apply(v, v->dz);
    solve(v);
    apply_transposed(v, v->dx, v->dt, v->ds);
    for (size_t c = 0; c < v->n; c++)
        v->dz[c] = v->z[c] > 0 ? (v->rc[c] - v->z[c] * v->ds[c]) / v->s[c] : 0;
}

/* The gap that is left after steps of these lengths. */
static double gap_after(const struct solver *v, double primal, double dual)
{
    double all = 0;
    for (uint32_t i = 0; i <= v->m; i++) { /* the last one is the pools */
        size_t from = i * v->width, to = i < v->m ? from + v->width : v->n;
        double sum = 0;
        for (size_t c = from; c < to; c++)
            sum += (v->s[c] + primal * v->ds[c]) * (v->z[c] + dual * v->dz[c]);
        all += i < v->m ? v->p->count[i] * sum : sum;
    }
    return all;
}

static double objective_of(const struct solver *v)
{
    double sum = 0;
    for (size_t i = 0; !v->fair && i < (size_t)v->m * v->k; i++)
        sum += v->p->count[i / v->k] * v->a[i] * v->x[i];
    return v->fair ? v->t : sum;
}

/* How far the last direction leads before something becomes negative, at most 1. */
struct reaches {
    double primal, dual;
};

static struct reaches reaches_of(const struct solver *v)
{
    return (struct reaches){reach(v->s, v->ds, v->n), reach(v->z, v->dz, v->n)};
}

/* Moves along the last direction, not quite to the border. */
static void move(struct solver *v, struct reaches r)
{
    const double most = 0.995;
    double primal = most * r.primal, dual = most * r.dual;
    for (size_t i = 0; i < (size_t)v->m * v->k; i++)
        v->x[i] += primal * v->dx[i];
    v->t += primal * v->dt;
    for (size_t c = 0; c < v->n; c++) {
        v->s[c] += v->z[c] > 0 ? primal * v->ds[c] : 0;
        v->z[c] += dual * v->dz[c];
    }
}

/* One step. False if it is not needed, or rounding leaves no better direction. */
static bool advance(struct solver *v)
{
    double gap = gap_after(v, 0, 0), mean = gap / v->active;
    if (gap < PRECISION * fabs(objective_of(v)))
        return false;
    factor(v);
    for (size_t c = 0; c < v->n; c++)
        v->rc[c] = -v->s[c] * v->z[c];
    direct(v);
    struct reaches r = reaches_of(v);
    double left = fmin(gap_after(v, r.primal, r.dual) / gap, 1), centre = left * left * left * mean;
    double far = fmin(r.primal, r.dual);
    for (size_t c = 0; c < v->n; c++)
        v->rc[c] = v->z[c] > 0 ? centre - v->s[c] * v->z[c] - far * far * v->ds[c] * v->dz[c] : 0;
    direct(v);
    r = reaches_of(v);
    if (!isfinite(gap_after(v, r.primal, r.dual)))
        return false;
    move(v, r);
    return true;
}

/* Slacks and multipliers of these shares. */
static void begin_slacks(struct solver *v)
{
    double *cap = pools_of(v, v->s), mean = v->fair ? 1.0 / v->p->jobs : 0.1;
    apply_transposed(v, v->x, v->t, v->s);
    for (unsigned p = 0; p < v->k; p++)
        cap[p] += v->p->size[p];
    for (uint32_t i = 0; i < v->m; i++) {
        double *o = own(v, v->s, i);
        o[v->k] += 1;
        for (unsigned p = 0; p < v->k; p++)
            o[p] = runs_in(v, i, p) ? o[p] : 1;
        o[v->k + 1] = v->fair ? o[v->k + 1] : 1;
    }
    v->active = (double)v->p->jobs * (double)v->width + v->k;
    for (size_t c = 0; c < v->n; c++)
        v->z[c] = mean / v->s[c];
    for (uint32_t i = 0; i < v->m; i++)
        for (unsigned p = 0; p < v->width; p++)
            if (p < v->k ? !runs_in(v, i, p) : p > v->k && !v->fair) {
                own(v, v->z, i)[p] = 0;
                v->active -= v->p->count[i];
            }
}

static void solver_init(struct solver *v, const struct interior *p, struct arena *a)
{
    size_t shares = (size_t)p->kinds * p->pools;
    *v = (struct solver){.p = p,
                         .m = p->kinds,
                         .k = p->pools,
                         .width = p->pools + 2,
                         .fair = p->fair,
                         .a = p->gain,
                         .x = p->x,
                         .t = p->fair ? 1 : 0};
    v->n = v->m * v->width + v->k;
    double **constraints[] = {&v->s, &v->z, &v->ds, &v->dz, &v->rc};
    for (size_t i = 0; i < COUNT_OF(constraints); i++)
        *constraints[i] = ARENA_ARRAY(a, v->n, double);
    double **variables[] = {&v->dx, &v->rx, &v->pull, &v->inverse};
    for (size_t i = 0; i < COUNT_OF(variables); i++)
        *variables[i] = ARENA_ARRAY(a, shares, double);
    v->alpha = ARENA_ARRAY(a, v->m, double);
    v->beta = ARENA_ARRAY(a, v->m, double);
}

double interior_solve(const struct interior *p, struct arena *a)
{
    struct solver v;
    solver_init(&v, p, a);
    begin_slacks(&v);
    for (int step = 0; step < STEPS_MAX && advance(&v); step++)
        ;
    return objective_of(&v);
}
