/* What the Docker runtime knows of its nodes and attempts, for the files of this folder. */
#ifndef RUNTIME_DOCKER_DOCKER_H
#define RUNTIME_DOCKER_DOCKER_H

#include "base/mem.h"
#include "base/str.h"
#include "runtime/docker/engine.h"
#include "runtime/runtime.h"

/* An engine that serves one node. node.c keeps the connection to it. */
struct docker_node {
    struct runtime *runtime;
    struct engine *engine;
    struct arena arena;           /* of what was asked for */
    struct runtime_engine wanted; /* as its operator said */
    struct answer_info has;       /* as the engine says; cpus = 0: it has not yet */
    bool connected;               /* it answers, and its events are heard */
    bool lost;                    /* as it was reported */
    uint64_t gpus_used;           /* as bits by their index */
    usec_t heard;                 /* when it last answered */
    usec_t at;                    /* when to connect, or to ask whether it is still there */
    usec_t pause;                 /* between two tries to connect */
    struct engine_call *call;     /* what is being asked; NULL = nothing */
    struct engine_call *events;   /* the stream of events */
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
    struct engine_call *call;   /* of the operation */
    struct docker_start *start; /* while it starts */
    uint64_t gpus;              /* of its node, as bits by their index */
    bool ran;                   /* it has been started */
    bool died;                  /* the engine said that it has ended */
    char fault[200];            /* why it can never start; "" = it can */
    struct file_reading *file;  /* that is being read; NULL = none */

    struct docker_link *link; /* to its conductor; NULL = none */
    struct engine_call *link_call;
    usec_t link_at; /* when to connect; USEC_NEVER = not */
    usec_t link_pause;

    int64_t log_offset; /* that the server wants next; -1 = it has not asked */
    struct engine_call *log_call;
    struct log_reading *reading; /* of a container that has ended */
};

struct runtime {
    struct runtime_host *host;
    struct curl_loop *curl;
    char yard[17];    /* identity of the state directory */
    struct str tools; /* an archive of our programs, without its end */
    bool has_library;
    bool swept; /* what nobody wants may be removed */
    VEC(struct docker_node *) nodes;
    VEC(struct docker_attempt *) attempts;
};

/* ---- attempts ----------------------------------------------------------------------- */

struct docker_attempt *docker_find(const struct runtime *r, struct attempt_id id);
/* Forgets it; nothing of it may be in progress. */
void docker_forget(struct docker_attempt *a);
struct docker_node *docker_find_node(const struct runtime *r, const char *name);

/* ---- operations: operations.c, start.c, settle.c ---------------------------------------- */

usec_t docker_now(const struct runtime *r);
/* Asks the engine on behalf of the attempt's operation, within its deadline. */
void docker_ask(struct docker_attempt *a, struct engine_request *request);
/* Completes the operation. */
void docker_complete(struct docker_attempt *a, const struct err *err);
/* Whether the reply is a success; if not, the operation is complete with its error. */
bool docker_succeeded(struct docker_attempt *a, const struct engine_reply *r);

void docker_begin(struct docker_attempt *a);
void start_container(struct docker_attempt *a);
void start_done(struct docker_start *s);
/* What is to be put into the container; the script may be NULL. */
const struct launch_spec *start_spec(const struct docker_start *s);
const char *start_script(const struct docker_start *s);
/* Whether there is something new to say about what the start waits for; says it. */
bool start_has_news(const struct docker_attempt *a);
void start_say_waits(struct docker_attempt *a);
void settle_container(struct docker_attempt *a);

/* ---- files of a container: files.c -------------------------------------------------------- */

/* Reads a small file of the attempt; `then` gets its text, or ERR_NOT_FOUND. */
typedef void (*file_fn)(struct docker_attempt *a, const struct str *text, const struct err *err);
void file_read(struct docker_attempt *a, const char *name, file_fn then);
/* Forgets what is being read. */
void file_done(struct docker_attempt *a);
/* The archive to put into a new container. */
void files_pack(const struct runtime *r, const struct docker_start *s, struct str *out);
/* Reads our own programs. */
int files_load_tools(struct runtime *r, struct err *err);

/* ---- links and logs: link.c, log.c ---------------------------------------------------------- */

/* Wants a link to the conductor from now on. */
void link_want(struct docker_attempt *a);
/* Ends the link and tells the server: the container has ended, or does not answer. */
void link_drop(struct docker_attempt *a);
/* Ends it without a word, because the server does not want it any more. */
void link_end(struct docker_attempt *a);
/* Engine time at which to call link_turn(). */
usec_t link_due(const struct docker_attempt *a);
void link_turn(struct docker_attempt *a);
void link_send(struct runtime *r, struct runtime_link *link, const struct to_conductor *m);
void link_unlink(struct runtime *r, struct runtime_link *link);
/* Asks the conductor for its log, from the offset that the server wants; false = no link. */
bool link_ask_log(struct docker_attempt *a);

void log_fetch(struct runtime *r, struct attempt_id id, const char *node, int64_t offset);
void log_cancel(struct docker_attempt *a);

/* ---- nodes: node.c -----------------------------------------------------------------------------
 */

int node_attach(struct runtime *r, const struct runtime_engine *e, struct err *err);
void node_detach(struct runtime *r, const char *name);
void node_free(struct docker_node *n);
/* Engine time at which to call node_turn(). */
usec_t node_due(const struct docker_node *n);
void node_turn(struct docker_node *n, usec_t now);
/* What the node has: as its operator said, otherwise as the engine says. */
units_t node_cpus(const struct docker_node *n);

#endif
