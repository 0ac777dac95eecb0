/* How long the estimator takes: to add one step time, to fit the speed once, and to fit
 * the metric once with a full history. Mean CPU times. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/rng.h"
#include "model/loss_fit.h"
#include "model/speed_fit.h"

enum { STEPS = 1000000, SPEED_FITS = 100000, LOSS_FITS = 200 };

static double cpu_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void report(const char *what, double us)
{
    if (us < 1)
        printf("  %-50s %8.0f ns\n", what, us * 1e3);
    else
        printf("  %-50s %8.1f us\n", what, us);
}

static void measure_speed(struct rng *r)
{
    struct speed_seen seen;
    struct speed_fit fit;
    speed_seen_init(&seen, 0);
    double begin = cpu_us();
    for (int i = 0; i < STEPS; i++) {
        int n = 1 << (i >> 8 & 3);
        speed_seen_add(&seen, i, n * UNIT, (1e5 + 9e5 / n) * (0.9 + 0.2 * rng_uniform(r)));
    }
    report("a step time is taken in", (cpu_us() - begin) / STEPS);
    begin = cpu_us();
    for (int i = 0; i < SPEED_FITS; i++)
        speed_fit(&seen, STEPS + i, NULL, &fit);
    report("a fit of the speed, four sizes seen", (cpu_us() - begin) / SPEED_FITS);
}

static void measure_loss(struct rng *r)
{
    struct history h;
    struct loss_fit fit;
    history_init(&h);
    for (int i = 0; i < HISTORY_CAP; i++) {
        struct sample s = {.at = i, .step = i, .metric = exp(-0.01 * i) + 0.01 * rng_normal(r)};
        history_add(&h, &s);
    }
    double begin = cpu_us();
    for (int i = 0; i < LOSS_FITS; i++)
        loss_fit(&h, METRIC_FALLS, 0.01, &fit);
    report("a fit of the metric, 256 samples", (cpu_us() - begin) / LOSS_FITS);
}

int main(void)
{
    struct rng r;
    rng_init(&r, 1);
    puts("The estimator, CPU time");
    measure_speed(&r);
    measure_loss(&r);
    return 0;
}
