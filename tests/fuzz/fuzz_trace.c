/* Owns the fuzzing of everything that reads a trace: the formats, the profile
 * tables, and the generator's specification. Whatever the input, a reader says
 * yes or no, and what it says yes to is valid and can be read again after it was
 * written. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/nodes.h"
#include "sim/trace/generate.h"
#include "sim/trace/profiles.h"
#include "sim/trace/trace.h"
#include "sim/trace/workload.h"
#include "sim/trace/write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
    if (!truth)
        abort();
}

static void check_jobs(const struct trace *t)
{
    demand(t->n > 0);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct job *j = &t->jobs[i];
        demand(j->id == i && *j->name && j->nspeeds > 0);
        demand(j->min > 0 && j->min <= j->req && j->req <= j->max);
        demand(j->submit >= (i ? j[-1].submit : 0) && j->deadline > j->submit);
        demand(isfinite(j->work) && j->work >= 0);
    }
}

/* Writing and reading gives the same work and times. */
static void check_again(const struct trace *t, const struct trace_options *o)
{
    char path[] = "/tmp/fuzz_trace.XXXXXX";
    struct trace again;
    struct err err;
    int fd = mkstemp(path);
    demand(fd >= 0);
    close(fd);
    demand(trace_write(t, path, &err) == 0 && trace_read(path, o, &again, &err) == 0);
    demand(again.n == t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        demand(!strcmp(again.jobs[i].name, t->jobs[i].name));
        demand(again.jobs[i].submit == t->jobs[i].submit);
        demand(again.jobs[i].work == t->jobs[i].work);
        demand(again.jobs[i].deadline == t->jobs[i].deadline);
        demand(again.jobs[i].max == t->jobs[i].max);
    }
    trace_done(&again);
    unlink(path);
}

static void try_trace(const char *text, size_t n, const struct trace_options *o)
{
    struct trace t;
    struct err err = {0};
    if (trace_parse("fuzz", text, n, o, &t, &err) < 0) {
        demand(err.code != ERR_OK && err.text[0]);
        return;
    }
    check_jobs(&t);
    check_again(&t, &(struct trace_options){.cluster = o->cluster});
    trace_done(&t);
}

static void try_generate(const char *text, size_t n, const struct trace_options *o)
{
    struct trace t;
    struct err err = {0};
    struct workload w;
    char *spec = xstrndup(text, n);
    /* A million jobs are legal, but slow. */
    if (workload_parse(spec, &w, &err) == 0 && w.jobs <= 1000 &&
        trace_generate(spec, 1, o, &t, &err) == 0) {
        check_jobs(&t);
        trace_done(&t);
    }
    free(spec);
}

static const struct {
    const char *nodes, *profiles;
} runs[] = {
    {"2x4:t4+8c,2x8:a100,1x4:v100", NULL},
    {"2x4:t4,2x8:a100", "data/elasticflow/throughputs.csv"},
    {"3x4", "data/voda/speedups.csv"},
    {"1x4:v100,2x4:p100", "data/gavel/rates.csv"},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct err err = {0};
    struct profiles p;
    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        struct arena a = {0};
        struct cluster c;
        demand(nodes_parse(runs[i].nodes, &a, &c, &err) == 0);
        struct trace_options o = {.cluster = &c, .profiles = runs[i].profiles};
        try_trace(text, size, &o);
        if (i == 0)
            try_generate(text, size, &o);
        arena_done(&a);
    }
    if (profiles_parse("fuzz", text, size, &p, &err) == 0)
        profiles_done(&p);
    return 0;
}
