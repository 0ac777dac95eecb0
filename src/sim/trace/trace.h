/* Traces: jobs read from a file in one of the known formats, or generated. */
#ifndef SIM_TRACE_TRACE_H
#define SIM_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "model/cluster.h"

struct trace {
    struct arena arena; /* everything below lives here */
    struct job *jobs;   /* in order of submission, normalised; ids are 0..n-1 */
    uint32_t n;
    const char *format;                    /* "trainyard", "tiresias", ... */
    const char *gpu_types[POOLS_MAX - 1];  /* of the cluster that it was read for */
    const char *device_names[DEVICES_MAX]; /* the same */
};

/* How jobs with goodput profiles train. */
enum trace_batch {
    BATCH_STEPS,    /* at their batch size, each step worth the same: only speed counts */
    BATCH_FIXED,    /* at their batch size, progress by goodput */
    BATCH_ADAPTIVE, /* at the batch size with the largest goodput at any time */
};

struct trace_options {
    const char *profiles;          /* --profiles FILE or directory; NULL = none */
    const char *colocated;         /* --colocated FILE; NULL = none */
    const struct cluster *cluster; /* for the names of GPU types; NULL = one unnamed type */
    struct job_cost cost;          /* for jobs that say nothing of it */
    enum trace_batch batch;
    bool sia;        /* restarts and speeds of applications as Sia's simulator has them */
    bool iterations; /* jobs of Muri take as long as their iterations, as its simulator has it */
    bool all_sizes;  /* offer profiled sizes past the fastest too, as
                      * ElasticFlow's own simulator does */
};

/* Reads a file whose format is found by its header. A malformed line is an
 * error that gives file, line, column and what was expected. */
int trace_read(const char *path, const struct trace_options *options, struct trace *out,
               struct err *err);

/* The same for a text in memory; `name` is for messages. */
int trace_parse(const char *name, const char *text, size_t n, const struct trace_options *options,
                struct trace *out, struct err *err);

void trace_done(struct trace *t);

#endif
