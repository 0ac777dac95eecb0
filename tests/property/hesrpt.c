/* hesrpt against the optimum. If all jobs are there and all curves are k^p, the smallest sum of
 * completion times on N units that can be divided at will is
 *
 *   N^-p x sum over i of x_i (i^c - (i-1)^c)^(1-p),  c = 1/(1-p),
 *
 * with the works x_i in decreasing order (Berg et al., heSRPT, theorem 2). Units are whole here,
 * so the optimum cannot be reached, but nearly. */
#include <math.h>

#include "base/rng.h"
#include "base/str.h"
#include "policy/combo.h"
#include "sim/nodes.h"
#include "sim/sim.h"
#include "support/test.h"

enum { UNITS = 64, SEEDS = 5 };

static int decreasing(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The mean in seconds. */
static double optimum(double *work, uint32_t n, double p)
{
    double c = 1 / (1 - p), sum = 0;
    qsort(work, n, sizeof *work, decreasing);
    for (uint32_t i = 0; i < n; i++)
        sum += work[i] * pow(pow(i + 1, c) - pow(i, c), 1 - p);
    return sum / pow(UNITS, p) / n;
}

static void write_trace(struct str *s, const double *work, uint32_t n, double p)
{
    str_add(s, "id,submit,work,min,max,speeds\n");
    for (uint32_t i = 0; i < n; i++) {
        str_addf(s, "%u,0,%.6f,1,%d,", i, work[i], UNITS);
        for (int k = 1; k <= UNITS; k++)
            str_addf(s, "%s%.12g", k > 1 ? "/" : "", pow(k, p));
        str_add(s, "\n");
    }
}

static double simulate(const struct str *text)
{
    struct arena a = {0};
    struct cluster c;
    struct trace t;
    struct sim_result result;
    struct err err;
    struct trace_options options = {.cluster = &c};
    assert_ok(nodes_parse("1x64", &a, &c, &err), err);
    assert_ok(trace_parse("trace", text->at, text->n, &options, &t, &err), err);
    struct sim_options o = {.trace = &t, .cluster = &c};
    assert_ok(combo_parse("hesrpt", &o.combo, &err), err);
    assert_ok(sim_run(&o, &result, &err), err);
    double mean = result.mean_jct_s;
    result_done(&result);
    trace_done(&t);
    arena_done(&a);
    return mean;
}

static double ratio(uint32_t jobs, double p, uint64_t seed)
{
    double work[UNITS];
    struct rng rng;
    struct str text = {0};
    rng_init(&rng, seed);
    for (uint32_t i = 0; i < jobs; i++)
        work[i] = 10 + rng_exponential(&rng, 1000);
    write_trace(&text, work, jobs, p);
    double mean = simulate(&text);
    str_done(&text);
    return mean / optimum(work, jobs, p);
}

static void is_nearly_optimal(void **state)
{
    double worst = 0;
    (void)state;
    for (uint32_t jobs = 8; jobs <= UNITS; jobs *= 2)
        for (double p = 0.3; p < 0.95; p += 0.2)
            for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                double r = ratio(jobs, p, seed);
                if (r > 1.03 || r < 1 - 1e-6)
                    fail_msg("%u jobs, p = %g, seed %llu: %g times the optimum", jobs, p,
                             (unsigned long long)seed, r);
                worst = r > worst ? r : worst;
            }
    printf("at most %.4f times the optimum\n", worst);
}

static const struct CMUnitTest tests[] = {TEST(is_nearly_optimal)};

int main(void)
{
    return RUN(tests);
}
