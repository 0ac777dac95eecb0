/* spec.json: what to run, and how. The server writes it into the directory of an attempt; the
 * conductor reads it. */
#ifndef PROTOCOL_LAUNCH_SPEC_H
#define PROTOCOL_LAUNCH_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"

/* A larger file is invalid; the kernel would reject its environment. */
#define LAUNCH_SPEC_MAX_BYTES (4 << 20)

enum { SIGNAL_NUMBER_MAX = 64, CPUS_NUMBER_MAX = 1000000 };

/* Which processes get a signal. */
enum reach {
    REACH_ALL,    /* every process of the job */
    REACH_GROUP,  /* the leader's process group */
    REACH_LEADER, /* the leader alone */
};
#define REACH_WORDS "all|group|leader"

struct launch_cgroup {
    const char *path;
    const char *procs; /* the file to write the pid to */
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
    int64_t past;        /* steps that an earlier run suggests; 0 = unknown */
    const char *unit;    /* of the total, such as "epochs"; NULL = the unit of the output */
};

/* The page that tells the job its number of threads. */
struct launch_malleable {
    int64_t threads;     /* at the start; 0 = no page */
    int64_t processors;  /* maximum of the job, which it sees at every size; 0 = unknown */
    const char *library; /* to preload; NULL = none */
    bool probe;          /* check whether it can be loaded where the job runs */
};

/* Whether stdout and stderr are a terminal. */
enum launch_pty {
    PTY_AUTO, /* if nothing else makes the program print line by line */
    PTY_NO,
    PTY_YES,
};
#define PTY_WORDS "auto|no|yes"

struct launch_spec {
    int64_t job, attempt;
    const char *name, *workdir, *socket, *token;
    const char **command, **env; /* end with NULL; env has "NAME=VALUE" */
    size_t env_room;             /* capacity of env; 0 = it is full */
    struct {
        struct launch_cgroup *at;
        size_t n;
    } cgroups;
    double cpus;
    const char *cpuset; /* in the kernel's format, "0-1,4"; NULL = all */
    const char **gpus;  /* UUIDs; ends with NULL */
    int32_t nice;
    int32_t oom_score_adj; /* of the job; higher the less memory it may use */
    int64_t memory_share;  /* MB that it may use; 0 = unknown */
    int64_t log_max_bytes;
    int64_t log_keep; /* number of rotated files, without the current one */
    usec_t grace;
    usec_t time_limit; /* USEC_NEVER or 0 = none */
    struct launch_warning warning;
    int32_t checkpoint_signal; /* sent by a stop */
    struct launch_progress progress;
    usec_t sample;   /* between two usage samples; 0 = none */
    usec_t linger;   /* how long to wait for a server after the job is over */
    usec_t patience; /* with processes that survive SIGKILL */
    usec_t lease; /* the job is stopped this long after the last word from the server; 0 = none */
    bool await_lease; /* the command starts only when the server has granted the lease */
    usec_t
        start_within; /* the command starts this soon after spec.json was written; 0 = any time */
    struct launch_malleable malleable;
    /* Subdirectory of the attempt's directory for files that the job may write; NULL = the
     * attempt's directory itself. */
    const char *job_files;
    const char *hosts; /* text of the file LAUNCH_HOSTS in that directory; NULL = none */
    enum launch_pty pty;
    const char *lines;  /* library that makes C programs print line by line; NULL = none */
    bool wait_children; /* the job lasts until its last process ends, not until the command does */
    bool echo;          /* copy the log to standard output */
    const char *exit_copy; /* file that gets a copy of the exit record; NULL = none */
    bool inherit;          /* the job also gets the conductor's variables that env does not set */
};
#define LAUNCH_JOB_FILES "job"
#define LAUNCH_HOSTS "hosts"

extern const struct record launch_spec_record;

/* Initialises an empty specification. */
void launch_spec_init(struct launch_spec *s);

/* Sets a variable of the job's environment, from "NAME=VALUE" or in parts. The text is copied to
 * the arena. */
void launch_spec_put(struct launch_spec *s, struct arena *a, const char *line);
void launch_spec_set(struct launch_spec *s, struct arena *a, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The value of a variable; NULL if it is not set. */
const char *launch_spec_get(const struct launch_spec *s, const char *name);

/* Parses the text. Unknown members are ignored, and their names are added to *unknown, separated
 * by spaces. */
int launch_spec_parse(const char *text, size_t n, struct arena *a, struct launch_spec *out,
                      struct str *unknown, struct err *err);
/* Reads the file `spec.json` of a directory. */
int launch_spec_read(int dir, struct arena *a, struct launch_spec *out, struct str *unknown,
                     struct err *err);

/* Replaces the file `spec.json` of a directory by one without the environment, which may hold
 * secrets. Returns 0, or an errno: then the file is as before. */
int launch_spec_drop_env(int dir, const struct launch_spec *spec);

#endif
