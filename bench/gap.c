/* How good is the division of GPU types by prices? Runs sia on a trace and, every so many
 * decisions, writes the problem of the round as a linear program with 0/1 variables (CPLEX format),
 * which bench/gap.sh gives to cbc and glpsol. Prints for each round: the file, jobs, options, the
 * sum of values that prices found, the bound that they prove, and the microseconds.
 *
 * usage: gap TRACE NODES PROFILES DIRECTORY EVERY */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "policy/allocate/powers.h"
#include "policy/combo.h"
#include "sim/nodes.h"
#include "sim/sim.h"

struct recording {
    const char *directory;
    unsigned every;
    uint64_t decisions; /* of the engine when it was last looked at */
    unsigned seen, kept;
};

static const struct powers rule = {
    .exponent = -0.5, .none = 1.1, .scale = 1, .node_sizes = true, .settles = true};

static void write_row(FILE *f, const struct prices *p, unsigned pool, units_t size)
{
    bool any = false;
    for (uint32_t i = 0; i < p->noptions; i++) {
        if (p->options[i].pool != pool)
            continue;
        if (!any)
            fprintf(f, " pool%u:", pool);
        fprintf(f, " + %lld x%u\n", (long long)(p->options[i].n / UNIT), i);
        any = true;
    }
    if (any)
        fprintf(f, " <= %lld\n", (long long)(size / UNIT));
}

static void write_problem(FILE *f, const struct prices *p, const units_t *size)
{
    fprintf(f, "Maximize\n value:");
    for (uint32_t i = 0; i < p->noptions; i++)
        fprintf(f, " + %.9g x%u\n", p->options[i].value, i);
    fprintf(f, "Subject To\n");
    for (uint32_t b = 0; b < p->nbidders; b++) {
        const struct price_lot *first = &p->lots[p->bidders[b].first];
        if (!p->bidders[b].count)
            continue;
        fprintf(f, " job%u:", b);
        for (const struct price_lot *lot = first; lot < first + p->bidders[b].count; lot++)
            for (uint32_t i = lot->first; i < lot->first + lot->count; i++)
                fprintf(f, " + x%u\n", i);
        fprintf(f, " <= 1\n");
    }
    for (unsigned pool = 0; pool < p->pools; pool++)
        if (size[pool] > 0)
            write_row(f, p, pool, size[pool]);
    fprintf(f, "Binary\n");
    for (uint32_t i = 0; i < p->noptions; i++)
        fprintf(f, " x%u\n", i);
    fprintf(f, "End\n");
}

static void record(const struct recording *r, const struct snapshot *s)
{
    struct arena a = {0};
    struct prices p;
    char path[4096];
    double before = clock_read_precise();
    powers_problem(&rule, s, &a, &p);
    double us = clock_read_precise() - before;
    snprintf(path, sizeof path, "%s/round-%u.lp", r->directory, r->kept);
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(1);
    }
    write_problem(f, &p, s->size);
    fclose(f);
    printf("%s %u %u %.9g %.9g %.1f\n", path, p.nbidders, p.noptions, prices_value(&p),
           prices_bound(&p), us);
    arena_done(&a);
}

static void observe(void *ctx, const struct engine *e, usec_t now)
{
    struct recording *r = ctx;
    const struct snapshot *s = &e->snapshot;
    (void)now;
    if (e->decisions == r->decisions || s->active < 2 || !s->pools)
        return;
    r->decisions = e->decisions;
    if (r->seen++ % r->every)
        return;
    record(r, s);
    r->kept++;
}

static int fail(const struct err *err)
{
    fprintf(stderr, "gap: %s\n", err->text);
    return 1;
}

int main(int argc, char **argv)
{
    struct arena arena = {0};
    struct cluster cluster = {0};
    struct trace trace;
    struct sim_result result;
    struct err err;
    if (argc != 6) {
        fprintf(stderr, "usage: gap TRACE NODES PROFILES DIRECTORY EVERY\n");
        return 2;
    }
    struct recording r = {.directory = argv[4], .every = (unsigned)atoi(argv[5])};
    struct trace_options t = {.cluster = &cluster,
                              .profiles = argv[3],
                              .cost = {.restart = 30 * USEC_PER_SEC,
                                       .resize = 30 * USEC_PER_SEC,
                                       .move = 30 * USEC_PER_SEC}};
    struct sim_options o = {
        .trace = &trace, .cluster = &cluster, .seed = 1, .observe = observe, .ctx = &r};
    if (r.every < 1 || nodes_parse(argv[2], &arena, &cluster, &err) < 0 ||
        trace_read(argv[1], &t, &trace, &err) < 0 ||
        combo_parse("allocate=sia,place=best-fit,share=hard", &o.combo, &err) < 0 ||
        sim_run(&o, &result, &err) < 0)
        return fail(&err);
    result_done(&result);
    trace_done(&trace);
    arena_done(&arena);
    return 0;
}
