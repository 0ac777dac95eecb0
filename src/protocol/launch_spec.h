/* spec.json: what the server wants run, and how. The server writes it into the directory
 * of an attempt, its conductor reads it. */
#ifndef PROTOCOL_LAUNCH_SPEC_H
#define PROTOCOL_LAUNCH_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"

/* A larger file is not a specification; the kernel would refuse its environment. */
#define LAUNCH_SPEC_MAX_BYTES (4 << 20)

enum { SIGNAL_NUMBER_MAX = 64, CPUS_NUMBER_MAX = 1000000 };

/* Whom a signal is for. */
enum reach {
    REACH_ALL,    /* every process of the job */
    REACH_GROUP,  /* the leader's process group */
    REACH_LEADER, /* the leader alone */
};
#define REACH_WORDS "all|group|leader"

struct launch_cgroup {
    const char *path;
    const char *procs; /* the file that takes the pid */
};
#define LAUNCH_CGROUP_PROCS "cgroup.procs"

/* A signal before the time limit. */
struct launch_warning {
    int32_t signal; /* 0 = none */
    usec_t before;
    enum reach reach;
};

struct launch_progress {
    const char *pattern; /* NULL = the built-in forms */
    int64_t total;       /* 0 = unknown */
    int64_t past;        /* steps that an earlier run suggests; 0 = none does */
    const char *unit;    /* of the total, "epochs"; NULL = as the output counts */
};

/* The page by which the job is told its threads. */
struct launch_malleable {
    int64_t threads;     /* at the start; 0 = the job has no page */
    int64_t processors;  /* the most that the job can have, which it sees throughout; 0 = unknown */
    const char *library; /* to preload; NULL = none */
    bool probe;          /* it may not be loadable where the job runs: check */
};

/* Whether stdout and stderr are a terminal. */
enum launch_pty {
    PTY_AUTO, /* where nothing else makes the program print line by line */
    PTY_NO,
    PTY_YES,
};
#define PTY_WORDS "auto|no|yes"

struct launch_spec {
    int64_t job, attempt;
    const char *name, *workdir, *socket, *token;
    const char **command, **env; /* end with NULL; env has "NAME=VALUE" */
    size_t env_room;             /* pointers that env has room for; 0 = it is full */
    struct {
        struct launch_cgroup *at;
        size_t n;
    } cgroups;
    double cpus;
    const char *cpuset; /* the CPUs as the kernel writes them, "0-1,4"; NULL = all */
    const char **gpus;  /* UUIDs, end with NULL */
    int32_t nice;
    int32_t oom_score_adj;           /* of the job: the less memory it may use, the more */
    int64_t memory_share;            /* MB that it may use; 0 = unknown */
    int64_t log_max_bytes, log_keep; /* log_keep: rotated files besides the current one */
    usec_t grace;
    usec_t time_limit; /* USEC_NEVER or 0 = none */
    struct launch_warning warning;
    int32_t checkpoint_signal; /* what a stop sends */
    struct launch_progress progress;
    usec_t sample;   /* between two usage samples; 0 = none */
    usec_t linger;   /* with a job that is over and no server */
    usec_t patience; /* with processes that SIGKILL does not end */
    struct launch_malleable malleable;
    /* Name of the directory, in the attempt's, of the files that the job may write; NULL = they
     * are in the attempt's own directory. */
    const char *job_files;
    enum launch_pty pty;
    const char *lines;  /* library that makes C programs print line by line; NULL = none */
    bool wait_children; /* it is over when the last process is, not when the command is */
    bool echo;          /* copy the log to standard output */
    bool inherit;       /* variables of the conductor that env does not set are the job's too */
};
#define LAUNCH_JOB_FILES "job"

extern const struct record launch_spec_record;

/* A specification that says nothing yet. */
void launch_spec_init(struct launch_spec *s);

/* Sets a variable of the job's environment, from "NAME=VALUE" or in parts; the text is in
 * the arena. */
void launch_spec_put(struct launch_spec *s, struct arena *a, const char *line);
void launch_spec_set(struct launch_spec *s, struct arena *a, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Its value; NULL when it is not set. */
const char *launch_spec_get(const struct launch_spec *s, const char *name);

/* Reads the text. Members that are not known are ignored and named in *unknown, separated
 * by blanks; it stays empty when there are none. */
int launch_spec_parse(const char *text, size_t n, struct arena *a, struct launch_spec *out,
                      struct str *unknown, struct err *err);
/* The same for the file `spec.json` of a directory. */
int launch_spec_read(int dir, struct arena *a, struct launch_spec *out, struct str *unknown,
                     struct err *err);

#endif
