/* What an engine answers, as JSON. Pure: each function reads one text and keeps what is needed.
 * Members that are missing or of another type count as empty, unless nothing can be done without
 * them. */
#ifndef RUNTIME_DOCKER_ANSWERS_H
#define RUNTIME_DOCKER_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

/* An API version, MAJOR * 1000 + MINOR. */
typedef uint32_t api_version_t;

struct answer_version {
    api_version_t newest, oldest; /* oldest: 0 = it does not say */
    bool podman;                  /* it is Podman, which follows the API of Docker in part */
};
int answer_read_version(const char *text, size_t n, struct answer_version *out, struct err *err);

struct answer_info {
    double cpus;
    int64_t memory_mb;
    char architecture[32]; /* as uname -m says */
};
int answer_read_info(const char *text, size_t n, struct answer_info *out, struct err *err);

/* What an image says about how it is to be run; lists end with NULL. */
struct answer_image {
    const char **entrypoint, **command, **env;
    const char *workdir; /* "" = none */
};
int answer_read_image(const char *text, size_t n, struct arena *a, struct answer_image *out,
                      struct err *err);

enum { CONTAINER_ID_SIZE = 65 };

enum container_state {
    CONTAINER_CREATED, /* and never started */
    CONTAINER_RUNNING, /* also paused or restarting */
    CONTAINER_ENDED,
    CONTAINER_LEAVING, /* it is being removed */
};

struct answer_container {
    char id[CONTAINER_ID_SIZE];
    enum container_state state;
    bool paused;
    int64_t pid, exit_code;
    int64_t log_part; /* bytes of a part of its log; 0 = unknown */
    char error[160];  /* why it could not be started; "" = none */
};
int answer_read_container(const char *text, size_t n, struct answer_container *out,
                          struct err *err);

/* The member "Id" of what was created. */
int answer_read_id(const char *text, size_t n, char out[CONTAINER_ID_SIZE], struct err *err);

/* A container of ours, in a list or an event. */
struct answer_ours {
    int64_t job;
    uint32_t attempt, part;
    enum container_state state; /* in a list */
    bool died;                  /* in an event: it has ended */
    uint64_t gpus;              /* that it has, as bits by their index */
    char id[CONTAINER_ID_SIZE];
};

/* The labels by which they are known. */
#define LABEL_YARD "trainyard.yard"
#define LABEL_JOB "trainyard.job"
#define LABEL_ATTEMPT "trainyard.attempt"
#define LABEL_PART "trainyard.part" /* from 1; not on part 0 */
#define LABEL_LOG_PART "trainyard.log_part"
#define LABEL_GPUS "trainyard.gpus"

/* Calls fn for each container that carries the labels of an attempt. */
int answer_read_list(const char *text, size_t n, void (*fn)(void *ctx, const struct answer_ours *c),
                     void *ctx, struct err *err);
/* One line of the event stream: 1 if it is about a container of ours, 0 if not, -1 if it is not
 * an event. */
int answer_read_event(const char *text, size_t n, struct answer_ours *out);

/* One line of the progress of a pull. Fails with what the engine says if that went wrong. */
struct answer_pull {
    char layer[32];         /* "" = it is about the whole */
    char status[64];        /* in words */
    int64_t current, total; /* bytes of the layer; 0 = not known */
};
int answer_read_pull(const char *text, size_t n, struct answer_pull *out, struct err *err);

/* The text of an error, or, if it has none, the beginning of the body. */
void answer_read_error(const char *text, size_t n, char *out, size_t size);

#endif
