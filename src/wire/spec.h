/* A job request: the fields of a job, whether they were given as options, in a YAML file, in
 * a script's lines or through the API. One table declares their names, types, places in the
 * struct and help texts, so they mean the same everywhere and errors read the same. */
#ifndef WIRE_SPEC_H
#define WIRE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/time.h"
#include "model/plateau.h"
#include "progress/condition.h"
#include "progress/plan.h"
#include "wire/indices.h"

enum spec_resize {
    SPEC_RESIZE_AUTO,    /* live where that is possible, else none */
    SPEC_RESIZE_NONE,    /* keeps the size that it started with */
    SPEC_RESIZE_LIVE,    /* threads in place */
    SPEC_RESIZE_RESTART, /* saves a checkpoint and starts again */
    SPEC_RESIZE_TORCHRUN,
    SPEC_RESIZE_HOROVOD,
};

/* Whether a launcher of ours starts the job's workers and changes their number. */
static inline bool spec_has_launcher(enum spec_resize how)
{
    return how == SPEC_RESIZE_TORCHRUN || how == SPEC_RESIZE_HOROVOD;
}

/* The name of an image that asks for a process, also where the server has a default image. */
#define SPEC_NO_IMAGE "none"

enum spec_preempt {
    SPEC_PREEMPT_AUTO,    /* restart if it can resume; otherwise freeze, or leave it alone */
    SPEC_PREEMPT_RESTART, /* save a checkpoint, stop, queue again */
    SPEC_PREEMPT_PAUSE,   /* freeze in place; restart if its memory is needed */
    SPEC_PREEMPT_NEVER,
};

/* As enum launch_pty. */
enum spec_pty { SPEC_PTY_AUTO, SPEC_PTY_NO, SPEC_PTY_YES };

enum spec_dep_kind {
    SPEC_AFTER,      /* has started or is over */
    SPEC_AFTEROK,    /* is done */
    SPEC_AFTERNOTOK, /* has failed, timed out or was cancelled */
    SPEC_AFTERANY,   /* is over */
    SPEC_SINGLETON,  /* no other job of this name and user is active */
};

/* Which values of the metric are better. */
enum spec_goal { SPEC_GOAL_AUTO, SPEC_GOAL_MIN, SPEC_GOAL_MAX };

/* Maximum length of a group's name, with its NUL. */
enum { SPEC_GROUP_SIZE = 64 };

struct spec_dep {
    enum spec_dep_kind kind;
    const char *job; /* id or unique prefix of a name; NULL for singleton */
};

struct spec_deps {
    struct spec_dep *at;
    uint32_t n;
};

struct spec_list {
    const char **at;
    uint32_t n;
};

struct spec_span {
    int64_t min, max;
};

struct spec_total {
    int64_t value; /* 0 = not said */
    enum progress_unit unit;
};

struct spec_warning {
    int number; /* of the signal; 0 = none */
    usec_t before;
};

struct spec {
    struct arena arena; /* holds what the fields point to */
    const char *name, *user, *comment, *image, *run_as, *upload, *workdir, *checkpoint_dir,
        *pattern, *gpu_type, *category;
    /* The text of a script to run instead of a program: then the first word of `command` is
     * only its name, and the others are its arguments. */
    const char *script;
    struct spec_list command, env, mounts, ulimits; /* env: "KEY=VALUE" */
    struct spec_span cpus, gpus;                    /* of one worker, in units_t; 0 = not given */
    struct spec_list notify;                        /* targets, see wire/notice.h */
    const char *notify_on;                          /* events; NULL = all but starts */
    struct spec_span workers;
    struct spec_span nodes; /* each has its CPUs, GPUs and memory, and runs the command */
    int64_t memory_mb;      /* 0 = no limit */
    int64_t shm_mb;         /* of /dev/shm in a container; 0 = the engine's default */
    enum spec_resize resize;
    enum spec_preempt preempt;
    enum spec_pty pty;
    const char *export;           /* of the submitter's environment; NULL = all */
    struct spec_list environment; /* what came along of it; `env` overrides it */
    usec_t deadline;              /* after submission; 0 = none */
    usec_t deadline_at;           /* or at this wall-clock time; 0 = none */
    bool strict_deadline;         /* refuse it if the deadline cannot be met */
    usec_t time_limit;            /* 0 = none */
    struct spec_warning signal;
    int checkpoint_signal; /* 0 = not given: SIGTERM */
    usec_t grace;
    usec_t lease; /* on a node that is lost; 0 = the server's, USEC_NEVER = none */
    int32_t priority;
    double weight;
    double target;           /* metric; NAN = none */
    const char *metric;      /* by which it is judged; NULL = its loss, or its first metric */
    enum spec_goal goal;     /* of the metric */
    struct spec_total total; /* how long it trains */
    int32_t retries;
    usec_t backoff;
    bool requeue; /* restart when its node or conductor is lost */
    bool hold;
    bool no_probe;    /* never run it on another size to learn how it scales */
    bool stop_on_nan; /* when its loss is NaN or infinite */
    struct condition stop_when;
    struct flatness stop_when_flat;
    const char *group;      /* of jobs that are compared with each other; NULL = none */
    int32_t keep_best;      /* members of the group that always go on; 0 = no job is stopped */
    int32_t every;          /* steps before the first comparison; 0 = not given */
    struct spec_list sweep; /* "NAME=VALUES"; the array has its combinations */
    bool wait_children;     /* it is over when its last process is */
    struct spec_deps after;
    struct indices array;
    struct spec_places *places; /* of fields in a file; NULL = it came from no file */
};

/* The type of a field decides how it is written and which C type it has. */
enum spec_type {
    SPEC_TEXT,     /* const char *, one line */
    SPEC_BODY,     /* const char *, lines */
    SPEC_CPUS,     /* struct spec_span: "2", "0.5-4" */
    SPEC_GPUS,     /* struct spec_span: "1", "1-4" */
    SPEC_COUNT,    /* struct spec_span: "2", "1-4" */
    SPEC_MEMORY,   /* int64_t: "512m", "4g", MB */
    SPEC_LEASE,    /* usec_t: "5m", "none" = USEC_NEVER */
    SPEC_DURATION, /* usec_t: "90s", "2h" */
    SPEC_WHEN,     /* usec_t: seconds since 1970, or a date and time */
    SPEC_INT,      /* int32_t */
    SPEC_REAL,     /* double */
    SPEC_TOTAL,    /* struct spec_total: "500", "10epochs" */
    SPEC_FLAG,     /* bool: "true", "false" */
    SPEC_CHOICE,   /* an enum: one of the words in `value` */
    SPEC_SIGNAL,   /* int: "TERM" */
    SPEC_WARNING,  /* struct spec_warning: "USR1@60" */
    SPEC_IF,       /* struct condition: "loss < 0.1" */
    SPEC_FLAT,     /* struct flatness: "5%/10min", "1%/500steps" */
    SPEC_ARRAY,    /* struct indices: "0-9%2" */
    SPEC_LIST,     /* struct spec_list; a list in YAML and JSON */
    SPEC_MAP,      /* struct spec_list of KEY=VALUE; a mapping in YAML and JSON */
    SPEC_DEPS,     /* struct spec_deps: "afterok:12,13", or a list of these */
};

struct spec_field {
    const char *name; /* in files and the API; with '-' for '_' as an option */
    char letter;      /* short option, 0 = none */
    enum spec_type type;
    const char *value; /* name of the value in help; NULL = a flag */
    const char *help;
    size_t at;          /* offset in struct spec */
    double lo, hi;      /* bounds of numbers and, in seconds, of durations */
    bool not_option;    /* not an option on the command line */
    const char *option; /* its name as an option; NULL = from `name` */
};

/* Whether it names an image to run in. */
bool spec_has_image(const struct spec *s);

/* Ends with a NULL name. */
extern const struct spec_field spec_fields[];

/* Whether it may be given several times, each time adding to the value. */
static inline bool spec_field_repeats(const struct spec_field *f)
{
    return f->type >= SPEC_LIST;
}

/* Sets all fields to their defaults. */
void spec_init(struct spec *s);
void spec_done(struct spec *s);

/* The field of this name; otherwise NULL and an error that suggests the nearest name. */
const struct spec_field *spec_find(const char *name, struct err *err);

/* The field's name as an option: "time-limit" for time_limit. */
enum { SPEC_OPTION_SIZE = 24 };
const char *spec_option_name(const struct spec_field *f, char buf[SPEC_OPTION_SIZE]);
/* The field that this option sets; NULL when there is none. */
const struct spec_field *spec_find_option(const char *option);

/* Resets the field to its default. */
void spec_clear(struct spec *s, const struct spec_field *f);
/* Whether its value is not the default. */
bool spec_differs(const struct spec *s, const struct spec_field *f);

/* What to execute: the command; or for a script, which was written to `path`, its interpreter
 * (from its first line, else /bin/sh), the path and the arguments. Lives as long as both the
 * spec and the arena. */
struct spec_list spec_words(const struct spec *s, const char *path, struct arena *a);

#endif
