/* spec.json: what the server wants run, and how. */
#ifndef CONDUCTOR_JOBSPEC_H
#define CONDUCTOR_JOBSPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/time.h"

/* A larger file is not a specification; the kernel would refuse its environment. */
#define JOBSPEC_MAX_BYTES (4 << 20)

/* Whom a signal is for. */
enum reach {
    REACH_ALL,    /* every process of the job */
    REACH_GROUP,  /* the leader's process group */
    REACH_LEADER, /* the leader alone */
};

struct jobspec_group {
    const char *path;
    const char *procs; /* the file that takes the pid, "cgroup.procs" */
};

struct jobspec {
    struct arena arena; /* holds all that follows */
    int64_t job, attempt;
    const char *name, *workdir, *socket, *token;
    char **command, **env; /* NULL-terminated; env also names an unusual checkpoint signal */
    struct jobspec_group *cgroups;
    size_t n_cgroups;
    double cpus;
    const char *cpuset; /* the CPUs as the kernel writes them, "0-1,4"; NULL = all */
    int64_t nice;
    int64_t log_max_bytes, log_keep; /* log_keep: rotated files beside the current one */
    usec_t grace, time_limit;        /* time_limit: USEC_NEVER = none */
    int64_t warn_signal;             /* before the time limit; 0 = none */
    usec_t warn_before;
    enum reach warn_reach;
    int64_t checkpoint_signal;    /* what a stop sends */
    const char *progress_pattern; /* NULL = the built-in forms */
    int64_t progress_total;       /* 0 = unknown */
    usec_t sample;                /* between two usage samples; 0 = none */
    usec_t linger;                /* with a job that is over and no server */
    usec_t patience;              /* with processes that SIGKILL does not end */
    int64_t threads;              /* ordered at the start by a page; 0 = the job has none */
    const char *library;          /* to preload for that; NULL = none */
};

/* Reads the text. Fields that are not known are ignored and named in *unknown,
 * separated by blanks; it stays empty when there are none. */
int jobspec_parse(const char *text, size_t n, struct jobspec *out, struct str *unknown,
                  struct err *err);
/* The same for the file `spec.json` of a directory. */
int jobspec_read(int dir, struct jobspec *out, struct str *unknown, struct err *err);
void jobspec_done(struct jobspec *s);

/* Sets a variable of the job's environment, from n bytes "NAME=VALUE". */
void jobspec_set_variable(struct jobspec *s, const char *line, size_t n);

/* "all", "group", "leader". */
int reach_parse(const char *text, enum reach *out, struct err *err);

#endif
