/* Non-negative least squares with a few columns, by the normal equations: rows
 * are added one at a time and not kept. */
#ifndef MODEL_NNLS_H
#define MODEL_NNLS_H

#include <stdint.h>

enum { NNLS_MAX = 4 };

struct nnls {
    uint32_t n; /* columns, 1..NNLS_MAX */
    double gram[NNLS_MAX][NNLS_MAX];
    double rhs[NNLS_MAX];
};

/* An empty problem: its solution is 0. */
void nnls_init(struct nnls *p, uint32_t n);

/* Adds weight (row . x - y)^2 to what is minimised; weight >= 0, all finite. */
void nnls_add(struct nnls *p, const double *row, double y, double weight);

/* The x >= 0 that minimises the sum. Where the rows leave it open (fewer
 * independent rows than columns) it is one of the solutions: columns that
 * depend on those already in use stay 0. */
void nnls_solve(const struct nnls *p, double *x);

/* row (gram)^-1 row: the variance of row . x when the weights are the inverse
 * variances of the rows and the bounds at 0 do not bind; infinite when the rows
 * leave x open. */
double nnls_variance(const struct nnls *p, const double *row);

#endif
