/* What the readers of the trace formats share; private to sim/trace*.c. A
 * format is a const struct with its columns and a function that turns one
 * record into a job; trace.c does the rest. */
#ifndef SIM_TRACE_READER_H
#define SIM_TRACE_READER_H

#include "base/map.h"
#include "sim/trace/pairs.h"
#include "sim/trace/profiles.h"
#include "sim/trace/scaling.h"
#include "sim/trace/spelling.h"
#include "sim/trace/table.h"
#include "sim/trace/trace.h"

struct trace_reader;

struct trace_format {
    const char *name;
    const struct column *columns;
    int id, submit;              /* columns */
    bool milliseconds;           /* that `submit` is in */
    enum profiles_kind profiles; /* kind that it takes; PROFILES_NONE = takes none */
    bool needs_profiles;         /* cannot do without */
    bool colocated;              /* takes a table of pairs of jobs on the same GPUs */
    /* Fills the job from the current record, which has its costs, no deadline,
     * no target and weight 1 already. Name, id and submit are set elsewhere. */
    int (*row)(struct trace_reader *r, struct job *j, struct err *err);
};

extern const struct trace_format trace_own, trace_tiresias, trace_muri, trace_elasticflow,
    trace_philly, trace_pollux, trace_voda, trace_gavel;

struct trace_reader {
    struct table table;
    const struct trace_format *format;
    const struct trace_options *options;
    struct arena *arena; /* of the trace */
    struct map interned; /* to texts */
    VEC(const char *) texts;

    struct profiles profiles;
    struct pairs pairs;               /* with options->colocated */
    const char *types[POOLS_MAX - 1]; /* in the profiles, by GPU pool */
    unsigned ntypes;
    struct map scaling_index; /* model and batch size to scalings */
    VEC(struct scaling *) scalings;
    struct map learning_index; /* model and batch size to how it learns */
    VEC(struct learning *) learnings;
    struct map sharing_index; /* stage times to how jobs share units */
    VEC(struct sharing *) sharings;
    struct map speeds_index; /* a list of speeds as spelt in our own format to curves */
    VEC(struct spelt_speeds) curves;
};

/* The text in the trace's arena, each text once; NULL when it is empty. */
const char *reader_intern(struct trace_reader *r, const char *text);

/* How the model in one column runs at the batch size in another (-1 = the
 * profiles have none). A model that is not in the profiles is an error. */
int reader_scaling(struct trace_reader *r, int model, int batch, const struct scaling **out,
                   struct err *err);

/* A number of GPUs, at least 1. */
int reader_gpus(const struct trace_reader *r, int column, units_t *out, struct err *err);

/* A rigid job on these GPUs for this long. */
void reader_set_rigid(struct job *j, units_t gpus, double duration);

/* A malleable job that asked for so many GPUs: between the smallest size and
 * the fastest, or the largest when all sizes were asked for. A request between
 * two sizes means the lower one. */
void reader_set_malleable(const struct trace_reader *r, const struct scaling *s, double steps,
                          units_t asked, struct job *j);

/* Refuses a size that none of the job's curves has. */
int reader_check_size(const struct trace_reader *r, int column, units_t n, const struct job *j,
                      struct err *err);

/* Refuses sizes that contradict each other; those that are in no column have their
 * defaults. */
int reader_check_sizes(const struct trace_reader *r, int req, int min, int max, const struct job *j,
                       struct err *err);

/* Sets a deadline, which must lie after the submission. */
int reader_set_deadline(const struct trace_reader *r, int column, usec_t deadline, struct job *j,
                        struct err *err);

#endif
