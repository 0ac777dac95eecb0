/* A training with very short parallel regions, for the experiments: a linear model fitted
 * by gradient descent, with tens of microseconds of work between barriers. A step is 50
 * iterations.
 *
 *     fine STEPS [TIMES]       TIMES: append `STEP SECONDS` of the monotonic clock */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 1024, COLUMNS = 32, ITERATIONS = 50 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Rows of noise, and the output of a model with the weights 1, 2, ... for them. */
static void make_rows(double x[ROWS][COLUMNS], double y[ROWS])
{
    unsigned state = 1;
    for (int i = 0; i < ROWS; i++) {
        y[i] = 0;
        for (int j = 0; j < COLUMNS; j++) {
            state = state * 1664525u + 1013904223u;
            x[i][j] = (double)(state >> 8) / (1 << 24) - 0.5;
            y[i] += x[i][j] * (j + 1);
        }
    }
}

/* One iteration: the errors of all rows, then the gradient of all weights. */
static double descend(double x[ROWS][COLUMNS], const double y[ROWS], double w[COLUMNS])
{
    static double wrong[ROWS];
    double loss = 0;
#pragma omp parallel for reduction(+ : loss)
    for (int i = 0; i < ROWS; i++) {
        double sum = -y[i];
        for (int j = 0; j < COLUMNS; j++)
            sum += x[i][j] * w[j];
        wrong[i] = sum;
        loss += sum * sum / ROWS;
    }
#pragma omp parallel for
    for (int j = 0; j < COLUMNS; j++) {
        double slope = 0;
        for (int i = 0; i < ROWS; i++)
            slope += wrong[i] * x[i][j] / ROWS;
        w[j] -= 0.001 * slope;
    }
    return loss;
}

int main(int argc, char **argv)
{
    static double x[ROWS][COLUMNS], y[ROWS], w[COLUMNS];
    int steps = argc > 1 ? atoi(argv[1]) : 100;
    FILE *times = argc > 2 ? fopen(argv[2], "a") : NULL;
    double shown = 0, loss = 0;
    if (steps < 1 || (argc > 2 && !times)) {
        fprintf(stderr, "usage: fine STEPS [TIMES]\n");
        return 2;
    }
    make_rows(x, y);
    for (int step = 1; step <= steps; step++) {
        for (int i = 0; i < ITERATIONS; i++)
            loss = descend(x, y, w);
        double now = seconds();
        if (times) {
            fprintf(times, "%d %.6f\n", step, now);
            fflush(times);
        }
        if (now - shown > 0.1 || step == steps) {
            printf("step %d/%d loss %.6f\n", step, steps, loss);
            fflush(stdout);
            shown = now;
        }
    }
    return times ? fclose(times) != 0 : 0;
}
