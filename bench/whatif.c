/* How long a what-if takes: 1,000 active jobs on 16 nodes of 8 CPUs, ten policies. CPU time until
 * the expected course of every policy is known, of each further draw, and of the longest bit of
 * work, for which a server would be busy.
 *
 *   whatif [POLICY...]   these instead of the ten */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "advisor/whatif.h"
#include "base/rng.h"

enum { JOBS = 1000, NODES = 16, CPUS = 8, DRAWS = 3 };

static const char *const usual[] = {"elastic-fifo", "fifo", "srjf",  "srtf",    "edf",
                                    "las",          "ffdl", "afs-l", "optimus", "deadline"};

static double cpu_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void need(int rc, const struct err *err)
{
    if (rc == 0)
        return;
    fprintf(stderr, "whatif: %s\n", err->text);
    exit(1);
}

static void make_engine(struct engine *e, struct node *nodes, struct job *jobs)
{
    struct engine_config config = {.seed = 1};
    struct cluster c = {.nodes = nodes, .n = NODES};
    struct event tick = {.kind = EVENT_TICK};
    struct err err;
    struct rng r;
    rng_init(&r, 7);
    for (uint32_t i = 0; i < NODES; i++)
        nodes[i] = (struct node){.name = "n", .cpus = CPUS * UNIT};
    need(combo_parse("elastic-fifo", &config.combo, &err), &err);
    engine_init(e, &config, &c);
    for (uint32_t i = 0; i < JOBS; i++) {
        jobs[i] = (struct job){.id = i + 1,
                               .name = "job",
                               .submit = 0,
                               .kind = JOB_MALLEABLE,
                               .whole = true,
                               .min = UNIT,
                               .max = (units_t)(1 + rng_below(&r, CPUS)) * UNIT,
                               .work = (60 + rng_exponential(&r, 3600)) * 1e6};
        jobs[i].deadline = rng_below(&r, 2) ? (usec_t)(jobs[i].work * 8) : USEC_NEVER;
        need(job_normalise(&jobs[i], &err), &err);
        struct event event = {.kind = EVENT_SUBMIT, .job = &jobs[i]};
        need(engine_step(e, &event, 0, &err), &err);
    }
    need(engine_step(e, &tick, 0, &err), &err);
}

/* Works until so many draws are complete; the longest bit is in *longest. */
static double work_until(struct whatif *w, int draws, double *longest)
{
    double began = cpu_ms(), at = began;
    while (whatif_draws(w) < draws && whatif_work(w)) {
        double now = cpu_ms();
        *longest = fmax(*longest, now - at);
        at = now;
    }
    return cpu_ms() - began;
}

static void measure(const struct engine *e, const char *const *names, int n)
{
    double began = cpu_ms(), longest = 0;
    struct whatif *w = whatif_create(e, 0);
    struct err err;
    for (uint32_t i = 0; i < JOBS; i++)
        whatif_set_band(w, i, 0.7, 1.5);
    for (int i = 0; i < n; i++) {
        struct combo combo;
        need(combo_parse(names[i], &combo, &err), &err);
        whatif_add_policy(w, &combo);
    }
    double copied = cpu_ms() - began, first = work_until(w, 0, &longest);
    double draws = work_until(w, DRAWS, &longest) / DRAWS;
    printf("%-16s %10.1f %10.1f %10.1f %10.2f\n", n == 1 ? names[0] : "all together", copied, first,
           draws, longest);
    fflush(stdout);
    whatif_free(w);
}

int main(int argc, char **argv)
{
    static struct node nodes[NODES];
    static struct job jobs[JOBS];
    const char *const *names = argc > 1 ? (const char *const *)argv + 1 : usual;
    int n = argc > 1 ? argc - 1 : (int)COUNT_OF(usual);
    struct engine e;
    make_engine(&e, nodes, jobs);
    printf("%d jobs, %d nodes of %d CPUs; CPU time in ms\n", JOBS, NODES, CPUS);
    printf("%-16s %10s %10s %10s %10s\n", "policy", "copy", "expected", "one draw", "longest bit");
    for (int i = 0; i < n; i++)
        measure(&e, names + i, 1);
    if (n > 1)
        measure(&e, names, n);
    engine_done(&e);
    return 0;
}
