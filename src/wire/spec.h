/* What a user asks for: the fields of a job, however they were given (options,
 * a YAML file, a script's #TRAINYARD lines, the API). One table declares them
 * all; every front end sets them by name, so that they mean the same everywhere
 * and errors read the same. */
#ifndef WIRE_SPEC_H
#define WIRE_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/time.h"
#include "model/speed.h"

enum spec_resize {
    SPEC_RESIZE_AUTO,    /* live where that is possible, else none */
    SPEC_RESIZE_NONE,    /* the size it started with */
    SPEC_RESIZE_LIVE,    /* threads in place */
    SPEC_RESIZE_RESTART, /* checkpoint and start again */
    SPEC_RESIZE_TORCHRUN,
    SPEC_RESIZE_HOROVOD,
};

enum spec_preempt {
    SPEC_PREEMPT_RESTART, /* checkpoint, stop, back into the queue */
    SPEC_PREEMPT_PAUSE,   /* freeze in place */
    SPEC_PREEMPT_NEVER,
};

enum spec_dep_kind {
    SPEC_AFTER,       /* has started, or is over */
    SPEC_AFTEROK,     /* is done */
    SPEC_AFTERNOTOK,  /* has failed, timed out or was cancelled */
    SPEC_AFTERANY,    /* is over */
    SPEC_SINGLETON,   /* no other job of this name and user is active */
};

struct spec_dep {
    enum spec_dep_kind kind;
    const char *job; /* id or unique prefix of a name; NULL for singleton */
};

/* Indices of an array job: first, first + step, ... last, of which `limit` may
 * run at once (0 = all). */
struct spec_range {
    uint32_t first, last, step;
};

struct spec_list {
    const char **at;
    uint32_t n;
};

struct spec {
    struct arena arena; /* what the fields point to */
    const char *name, *user, *image, *workdir, *checkpoint_dir, *pattern, *gpu_type;
    struct spec_list command, env, mounts;
    units_t cpus_min, cpus_max; /* of one worker */
    units_t gpus_min, gpus_max;
    int64_t memory_mb;
    uint32_t workers_min, workers_max;
    enum spec_resize resize;
    enum spec_preempt preempt;
    usec_t deadline;    /* after submission; 0 = none */
    usec_t deadline_at; /* or at this wall-clock time; 0 = none */
    usec_t time_limit;  /* 0 = none */
    int signal;         /* sent `signal_before` ahead of the time limit; 0 = none */
    usec_t signal_before;
    int checkpoint_signal;
    usec_t grace;
    int32_t priority;
    double weight;
    double target; /* metric; NAN = none */
    double total;  /* steps; 0 = not said */
    uint32_t retries;
    usec_t backoff;
    bool requeue; /* start again when its node or conductor is lost */
    bool hold;
    struct {
        struct spec_dep *at;
        uint32_t n;
    } deps;
    struct {
        struct spec_range *at;
        uint32_t n, limit;
    } array;
};

enum spec_type {
    SPEC_TEXT,
    SPEC_UNITS,    /* "2", "0.5-4" */
    SPEC_COUNT,    /* "2", "1-4" */
    SPEC_MEMORY,   /* "512m", "4g", MB */
    SPEC_DURATION, /* "90s", "2h" */
    SPEC_NUMBER,
    SPEC_FLAG,
    SPEC_CHOICE,
    SPEC_SIGNAL, /* "USR1@60", "TERM" */
    SPEC_LIST,   /* repeated; a list in YAML and JSON */
    SPEC_MAP,    /* KEY=VALUE, repeated; a mapping in YAML and JSON */
    SPEC_DEPS,   /* "afterok:12,13" */
    SPEC_ARRAY,  /* "0-9%2" */
};

struct spec_field {
    const char *name; /* in files and the API; with '-' for '_' as an option */
    char letter;      /* short option, 0 = none */
    enum spec_type type;
    const char *value; /* what the value is called in help */
    const char *help;
};

/* Ends with a NULL name. */
extern const struct spec_field spec_fields[];

/* Defaults; nothing asked for yet. */
void spec_init(struct spec *s);
void spec_done(struct spec *s);

/* The field of this name; NULL and an error with the nearest name otherwise. */
const struct spec_field *spec_find(const char *name, struct err *err);

/* Sets one field from text; adds to a list or map. */
int spec_set(struct spec *s, const struct spec_field *f, const char *text, struct err *err);

/* Fills what follows from other fields and finds contradictions. */
int spec_check(struct spec *s, struct err *err);

/* "TERM", "SIGUSR1", "10"; 0 with an error when it is none. */
int spec_signal_number(const char *text, struct err *err);
const char *spec_signal_name(int number);

#endif
