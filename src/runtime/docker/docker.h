/* What the Docker runtime knows of its nodes and attempts, for the files of this folder. */
#ifndef RUNTIME_DOCKER_DOCKER_H
#define RUNTIME_DOCKER_DOCKER_H

#include "base/mem.h"
#include "base/str.h"
#include "runtime/docker/engine.h"
#include "runtime/remote/relay_link.h"
#include "runtime/runtime.h"

/* An engine that serves one node. node.c keeps the connection to it. */
struct docker_node {
    struct runtime *runtime;
    struct engine *engine;
    struct arena arena;           /* of what was asked for */
    struct runtime_engine wanted; /* as its operator said */
    struct answer_info has;       /* as the engine says; cpus = 0: it has not yet */
    bool here;                    /* it is on this machine */
    bool connected;               /* it answers, and its events are heard */
    bool suspect, lost;           /* as it was reported */
    bool no_gpus;                 /* its engine cannot pass any on */
    uint64_t gpus_used;           /* as bits by their index */
    usec_t heard;                 /* when it last answered */
    usec_t at;                    /* when to connect, or to ask whether it is still there */
    usec_t pause;                 /* between two tries to connect */
    bool preparing;               /* the way to it is being made */
    struct call *call;            /* what is being asked; NULL = nothing */
    struct call *events;          /* the stream of events */
    struct str line;              /* of it, incomplete */
    char trouble[200];            /* why it does not answer, for its operator */
};

/* An attempt that the server wants, or that an operation is about. */
struct docker_attempt {
    struct attempt_id id;
    struct docker_node *node;
    char name[80]; /* of its container */
    char container[CONTAINER_ID_SIZE];
    struct runtime_op *op;      /* in progress; NULL = none */
    bool held;                  /* the operation waits for its node to answer */
    struct call *call;          /* of the operation */
    struct docker_start *start; /* while it starts */
    uint64_t gpus;              /* of its node, as bits by their index */
    bool ran;                   /* it has been started */
    bool died;                  /* the engine said that it has ended */
    char fault[256];            /* why it can never start; "" = it can */
    struct file_reading *file;  /* that is being read; NULL = none */

    struct relay_link link; /* to its conductor */
    struct call *link_call;
    struct stream *link_stream;

    struct call *log_call;
    struct log_reading *reading; /* of a container that has ended */
};

struct runtime {
    struct runtime_host *host;
    struct curl_loop *curl;
    char yard[RUNTIME_YARD_SIZE];     /* identity of the state directory */
    struct str tools;                 /* an archive of our programs, without its end */
    bool has[TOOL_COUNT];             /* which of them are in it */
    usec_t suspect_after, lost_after; /* without an answer */
    bool swept;                       /* what nobody wants may be removed */
    VEC(struct docker_node *) nodes;
    VEC(struct docker_attempt *) attempts;
};

/* ---- attempts ----------------------------------------------------------------------- */

struct docker_attempt *docker_find(const struct runtime *r, struct attempt_id id);
/* Forgets it; nothing of it may be in progress. */
void docker_forget(struct docker_attempt *a);

usec_t docker_now(const struct runtime *r);

#endif
