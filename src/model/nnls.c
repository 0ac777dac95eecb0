/* Owns the solution of small non-negative least squares problems: the active
 * set method of Lawson and Hanson (Solving Least Squares Problems, 1974, ch. 23)
 * on the normal equations. Deviations: the columns are scaled to norm 1 first, which
 * makes the normal equations accurate enough for so few of them; and a column that
 * depends on those in use is left out, instead of dividing by a pivot near 0. */
#include "model/nnls.h"

#include <math.h>
#include <stdbool.h>

/* Squared norms below this are rounding errors. */
static const double tiny = 1e-13;

/* The problem with its columns scaled to norm 1. */
struct scaled {
    uint32_t n;
    double norm[NNLS_MAX];
    double gram[NNLS_MAX][NNLS_MAX];
    double rhs[NNLS_MAX];
};

void nnls_init(struct nnls *p, uint32_t n)
{
    *p = (struct nnls){.n = n};
}

void nnls_add(struct nnls *p, const double *row, double y, double weight)
{
    for (uint32_t i = 0; i < p->n; i++) {
        for (uint32_t j = 0; j < p->n; j++)
            p->gram[i][j] += weight * row[i] * row[j];
        p->rhs[i] += weight * row[i] * y;
    }
}

static struct scaled scale_columns(const struct nnls *p)
{
    struct scaled s = {.n = p->n};
    for (uint32_t i = 0; i < p->n; i++)
        s.norm[i] = p->gram[i][i] > 0 ? sqrt(p->gram[i][i]) : 0;
    for (uint32_t i = 0; i < p->n; i++) {
        if (s.norm[i] == 0)
            continue;
        for (uint32_t j = 0; j < p->n; j++)
            if (s.norm[j] > 0)
                s.gram[i][j] = p->gram[i][j] / s.norm[i] / s.norm[j];
        s.rhs[i] = p->rhs[i] / s.norm[i];
    }
    return s;
}

/* Solves the columns in `used` for `rhs` by Cholesky's method; the others get 0.
 * False when they are not independent. */
static bool solve_used(const struct scaled *s, unsigned used, const double *rhs, double *x)
{
    double l[NNLS_MAX][NNLS_MAX] = {{0}};
    uint32_t at[NNLS_MAX] = {0}, m = 0;
    for (uint32_t j = 0; j < s->n; j++) {
        x[j] = 0;
        if (used & 1U << j)
            at[m++] = j;
    }
    for (uint32_t i = 0; i < m; i++) {
        for (uint32_t j = 0; j <= i; j++) {
            double sum = s->gram[at[i]][at[j]];
            for (uint32_t k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k];
            if (i == j && !(sum > tiny))
                return false;
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
    }
    for (uint32_t i = 0; i < m; i++) {
        double sum = rhs[at[i]];
        for (uint32_t k = 0; k < i; k++)
            sum -= l[i][k] * x[at[k]];
        x[at[i]] = sum / l[i][i];
    }
    for (uint32_t i = m; i-- > 0;) {
        double sum = x[at[i]];
        for (uint32_t k = i + 1; k < m; k++)
            sum -= l[k][i] * x[at[k]];
        x[at[i]] = sum / l[i][i];
    }
    return true;
}

/* The column outside `used` and `barred` along which the sum falls fastest; n
 * when it falls along none. */
static uint32_t steepest(const struct scaled *s, unsigned used, unsigned barred, const double *x)
{
    double best = 0;
    uint32_t which = s->n;
    for (uint32_t j = 0; j < s->n; j++)
        best = fmax(best, tiny * fabs(s->rhs[j]));
    for (uint32_t j = 0; j < s->n; j++) {
        double slope = s->rhs[j];
        for (uint32_t k = 0; k < s->n; k++)
            slope -= s->gram[j][k] * x[k];
        if (!((used | barred) & 1U << j) && slope > best) {
            best = slope;
            which = j;
        }
    }
    return which;
}

/* Moves x towards z until the first column of `used` reaches 0, and returns
 * `used` without the columns that are there. */
static unsigned move_to_bound(uint32_t n, unsigned used, double *x, const double *z)
{
    double part = 1;
    for (uint32_t j = 0; j < n; j++)
        if (used & 1U << j && z[j] <= 0)
            part = fmin(part, x[j] / (x[j] - z[j]));
    for (uint32_t j = 0; j < n; j++) {
        x[j] += part * (z[j] - x[j]);
        if (used & 1U << j && (x[j] <= 0 || (z[j] <= 0 && x[j] <= tiny * fabs(z[j])))) {
            used &= ~(1U << j);
            x[j] = 0;
        }
    }
    return used;
}

static bool any_negative(uint32_t n, unsigned used, const double *z)
{
    for (uint32_t j = 0; j < n; j++)
        if (used & 1U << j && z[j] <= 0)
            return true;
    return false;
}

void nnls_solve(const struct nnls *p, double *x)
{
    enum { ROUNDS = 1 << (NNLS_MAX + 1) }; /* no set of columns is used twice */
    struct scaled s = scale_columns(p);
    unsigned used = 0, barred = 0;
    double y[NNLS_MAX] = {0}, z[NNLS_MAX];
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t j = steepest(&s, used, barred, y);
        if (j == s.n)
            break;
        used |= 1U << j;
        bool solved = solve_used(&s, used, s.rhs, z);
        /* A column that comes out at 0 or below was chosen because of rounding. */
        if (!solved || z[j] <= 0) {
            used &= ~(1U << j);
            barred |= 1U << j;
            continue;
        }
        while (solved && any_negative(s.n, used, z)) {
            used = move_to_bound(s.n, used, y, z);
            solved = solve_used(&s, used, s.rhs, z);
        }
        for (uint32_t k = 0; solved && k < s.n; k++)
            y[k] = z[k];
        barred = 0;
    }
    for (uint32_t j = 0; j < p->n; j++)
        x[j] = s.norm[j] > 0 ? y[j] / s.norm[j] : 0;
}

double nnls_variance(const struct nnls *p, const double *row)
{
    struct scaled s = scale_columns(p);
    double r[NNLS_MAX] = {0}, z[NNLS_MAX], variance = 0;
    for (uint32_t j = 0; j < s.n; j++) {
        if (s.norm[j] == 0)
            return INFINITY;
        r[j] = row[j] / s.norm[j];
    }
    if (!solve_used(&s, (1U << s.n) - 1, r, z))
        return INFINITY;
    for (uint32_t j = 0; j < s.n; j++)
        variance += r[j] * z[j];
    return variance;
}
