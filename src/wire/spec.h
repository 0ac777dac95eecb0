/* What a user asks for: the fields of a job, however they were given (options,
 * a YAML file, a script's lines, the API). One table declares them all: their
 * names, their spelling, where they live and how they are written as JSON, so
 * that they mean the same everywhere and errors read the same. */
#ifndef WIRE_SPEC_H
#define WIRE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/time.h"
#include "wire/indices.h"

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

enum spec_export {
    SPEC_EXPORT_ALL,  /* the submitter's environment, below `env` */
    SPEC_EXPORT_NONE, /* of it, only what a login has */
};

enum spec_dep_kind {
    SPEC_AFTER,      /* has started, or is over */
    SPEC_AFTEROK,    /* is done */
    SPEC_AFTERNOTOK, /* has failed, timed out or was cancelled */
    SPEC_AFTERANY,   /* is over */
    SPEC_SINGLETON,  /* no other job of this name and user is active */
};

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

struct spec_warning {
    int number; /* of the signal; 0 = none */
    usec_t before;
};

struct spec {
    struct arena arena; /* what the fields point to */
    const char *name, *user, *comment, *image, *workdir, *checkpoint_dir, *pattern, *gpu_type;
    /* The text of a script that runs as the command: then the first word of
     * `command` is only its name, and the others are its arguments. */
    const char *script;
    struct spec_list command, env, mounts; /* env: "KEY=VALUE" */
    struct spec_span cpus, gpus;           /* of one worker, in units_t */
    struct spec_span workers;
    int64_t memory_mb; /* 0 = no limit */
    enum spec_resize resize;
    enum spec_preempt preempt;
    enum spec_export export;
    usec_t deadline;    /* after submission; 0 = none */
    usec_t deadline_at; /* or at this wall-clock time; 0 = none */
    usec_t time_limit;  /* 0 = none */
    struct spec_warning signal;
    int checkpoint_signal;
    usec_t grace;
    int32_t priority;
    double weight;
    double target; /* metric; NAN = none */
    double total;  /* steps; 0 = not said */
    int32_t retries;
    usec_t backoff;
    bool requeue; /* start again when its node or conductor is lost */
    bool hold;
    struct spec_deps after;
    struct indices array;
    struct spec_places *places; /* where fields stand in a file; NULL = in none */
};

/* The type of a field says how it is spelled and which type of C it has. */
enum spec_type {
    SPEC_TEXT,     /* const char *, one line */
    SPEC_BODY,     /* const char *, lines */
    SPEC_CPUS,     /* struct spec_span: "2", "0.5-4" */
    SPEC_GPUS,     /* struct spec_span: "1", "1-4" */
    SPEC_COUNT,    /* struct spec_span: "2", "1-4" */
    SPEC_MEMORY,   /* int64_t: "512m", "4g", MB */
    SPEC_DURATION, /* usec_t: "90s", "2h" */
    SPEC_WHEN,     /* usec_t: seconds since 1970, or a date and time */
    SPEC_INT,      /* int32_t */
    SPEC_REAL,     /* double */
    SPEC_FLAG,     /* bool: "true", "false" */
    SPEC_CHOICE,   /* an enum: one of the words in `value` */
    SPEC_SIGNAL,   /* int: "TERM" */
    SPEC_WARNING,  /* struct spec_warning: "USR1@60" */
    SPEC_ARRAY,    /* struct indices: "0-9%2" */
    SPEC_LIST,     /* struct spec_list; a list in YAML and JSON */
    SPEC_MAP,      /* struct spec_list of KEY=VALUE; a mapping in YAML and JSON */
    SPEC_DEPS,     /* struct spec_deps: "afterok:12,13", or a list of these */
};

struct spec_field {
    const char *name; /* in files and the API; with '-' for '_' as an option */
    char letter;      /* short option, 0 = none */
    enum spec_type type;
    const char *value; /* what the value is called in help; NULL = a flag */
    const char *help;
    size_t at;       /* offset in struct spec */
    double lo, hi;   /* bounds of numbers and, in seconds, of durations */
    bool not_option; /* given in another way on the command line */
};

/* Ends with a NULL name. */
extern const struct spec_field spec_fields[];

/* Whether it may be given more than once, each time adding to what is there. */
static inline bool spec_field_repeats(const struct spec_field *f)
{
    return f->type >= SPEC_LIST;
}

/* Defaults; nothing asked for yet. */
void spec_init(struct spec *s);
void spec_done(struct spec *s);

/* The field of this name; NULL and an error with the nearest name otherwise. */
const struct spec_field *spec_find(const char *name, struct err *err);

/* The field's name as an option: "time-limit" for time_limit. */
enum { SPEC_OPTION_SIZE = 24 };
const char *spec_option_name(const struct spec_field *f, char buf[SPEC_OPTION_SIZE]);
/* The field that this option sets; NULL when there is none. */
const struct spec_field *spec_find_option(const char *option);

/* The field has its default again. */
void spec_clear(struct spec *s, const struct spec_field *f);
/* Whether it has another value than its default. */
bool spec_differs(const struct spec *s, const struct spec_field *f);

/* Adds the submitter's environment to `env` as `export` says; what `env` has goes
 * first. Returns how many variables were left out because they are no text. */
uint32_t spec_export(struct spec *s, char *const *environment);

/* What to execute: the command; or, for a script that was written to `path`, its
 * interpreter (as its first line says, else /bin/sh), the path and the arguments.
 * Lives as long as both the spec and the arena. */
struct spec_list spec_words(const struct spec *s, const char *path, struct arena *a);

#endif
