/* The contract of a runtime, which runs attempts on its nodes through an engine. `local` is
 * this machine; others talk to engines elsewhere. Several runtimes can be active at once, and
 * nodes can join and leave while the server runs. docs/runtimes.md explains how to write one.
 *
 * Operations are asynchronous. The caller fills in a struct runtime_op and passes it to
 * begin(). The runtime completes it once, by runtime_complete(), no later than its deadline,
 * with an error for users if it failed. The server collects completed operations in its
 * turns, so no operation ends inside the call that began it. An attempt has at most one
 * operation in progress. Operations and messages are idempotent: the server repeats whatever
 * may have been lost.
 *
 * The server may call any function of the runtime while the runtime calls one of the
 * server's.
 *
 * A runtime keeps no state of its own across restarts: the desired state is in the server's
 * store, and the engine knows what exists. */
#ifndef RUNTIME_RUNTIME_H
#define RUNTIME_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/time.h"
#include "model/speed.h"
#include "protocol/exit_record.h"
#include "protocol/launch_spec.h"
#include "protocol/to_conductor.h"
#include "protocol/to_server.h"

struct runtime;
struct runtime_host;
struct uv_loop_s;

/* ---- nodes ------------------------------------------------------------------ */

struct runtime_node {
    const char *name;
    bool suspect;       /* it does not respond just now */
    bool lost;          /* it has not responded for a while */
    bool here;          /* it is on the server's machine: both go down together */
    bool gone;          /* it was removed for good */
    bool closed;        /* its operator lets nothing start there; what runs goes on */
    units_t cpus, gpus; /* thousandths */
    const char *gpu_type;
    int64_t memory_mb;
    bool memory_free;   /* it cannot enforce a job's memory limit */
    const char *host;   /* its address for the parts of a job on other nodes; NULL = unknown */
    const char *notice; /* for its operator; NULL = none */
};

/* A node that its operator has added: how to reach its engine, and what to use of it. */
struct runtime_engine {
    const char *name;    /* of the node */
    const char *address; /* as the runtime defines it */
    const char *tls;     /* directory of certificates; NULL = none */
    units_t cpus, gpus;  /* 0 = what the engine says */
    const char *gpu_type;
    int64_t memory_mb; /* 0 = what the engine says */
    const char *host;  /* its address for other nodes; NULL = that of the engine */
};

/* ---- attempts --------------------------------------------------------------- */

/* An attempt of a job that spans nodes has a part on each of them. A part is started, sized and
 * ended like an attempt of its own; what is said about attempts below holds for each part. */
struct attempt_id {
    int64_t job;
    uint32_t n;
    uint32_t part; /* from 0; a number is used once in an attempt */
};

static inline bool attempt_id_same(struct attempt_id a, struct attempt_id b)
{
    return a.job == b.job && a.n == b.n && a.part == b.part;
}

/* The resources of an attempt on its node. */
struct runtime_size {
    units_t cpus;      /* granted: quota, and whole cores where they fit */
    units_t cpu_limit; /* hard bound; more than `cpus` under a soft sharer */
    double cpu_weight; /* relative to its neighbours on the node; > 0 */
    units_t gpus;      /* 0 = none */
    int64_t memory_mb; /* limit; 0 = none */
    int64_t pids;      /* limit on processes and threads; 0 = the runtime's default */
};

/* A container to run an attempt in. Lists end with NULL; NULL = none. */
struct runtime_container {
    const char *image;
    const char *run_as;   /* "UID[:GID]"; NULL = as the image says */
    const char *upload;   /* archive to unpack in the working directory; NULL = none */
    const char **mounts;  /* "SOURCE:TARGET[:ro]", paths */
    const char **ulimits; /* "NAME=SOFT[:HARD]" */
    int64_t shm_mb;       /* size of /dev/shm; 0 = the engine's default */
    bool host_network;    /* it uses the network of its node: parts on other nodes reach it */
};

/* What to start. */
struct runtime_start {
    struct launch_spec *spec; /* the runtime adds socket, cgroups, CPUs and GPUs, allocated
                               * from the arena */
    struct arena *arena;
    const char *script;      /* text to write to script_path; NULL = none */
    const char *script_path; /* as in the command */
    const char *checkpoints; /* directory to create, as in the environment */
    /* Where the job's checkpoints are kept between its attempts: in a home that an earlier
     * attempt made on this node (`home`, its number), or in a new one, into which those of
     * another node's home are brought first. */
    uint32_t home;                             /* 0 = a new one */
    const char *bring_from;                    /* node; NULL = there are none */
    uint32_t bring_home;                       /* there */
    const struct runtime_container *container; /* NULL = a process of the node */
    units_t cpus_min, cpus_max;                /* that the attempt may have while it runs */
};

/* Trainyard's files that jobs use. */
enum runtime_tool {
    TOOL_MALLEABLE, /* the preload library */
    TOOL_LINES,     /* the library that makes C programs print line by line */
    TOOL_TORCHRUN,  /* the launcher of elastic workers */
    TOOL_HOSTS,     /* Horovod's host discovery */
    TOOL_PYTHON,    /* the directory of the Python package */
    TOOL_COUNT,
};

/* The state of an attempt, as settled. */
enum runtime_fate {
    FATE_PENDING,   /* its command has not run, but may run later */
    FATE_NEVER_RAN, /* its command has not run and never will: the attempt is given up */
    FATE_RUNNING,   /* its conductor is alive */
    FATE_ENDED,     /* it has ended; see `record` */
    FATE_LOST,      /* it began, and it is unknown how it ended */
};

enum runtime_op_kind { OP_START, OP_SETTLE, OP_RESIZE, OP_FREEZE, OP_KILL, OP_CLEAN };

/* The command of an attempt begins no later than this after its OP_START is complete, even if
 * the operation has failed: a conductor that comes later does not run it. */
#define RUNTIME_START_LAG (60 * USEC_PER_SEC)

struct runtime_op {
    enum runtime_op_kind kind;
    struct attempt_id id;
    const char *node;
    usec_t deadline;                   /* engine time */
    const struct runtime_start *start; /* OP_START; valid during begin() only */
    struct runtime_size size;          /* OP_START, OP_RESIZE */
    bool frozen;                       /* OP_FREEZE */
    bool give_up;                      /* OP_SETTLE: give it up if it has not begun */
    /* Set by the runtime. */
    struct err err;            /* ERR_OK = success */
    int64_t pid;               /* OP_START: of the conductor; 0 = unknown, or not started */
    enum runtime_fate fate;    /* OP_SETTLE */
    struct exit_record record; /* OP_SETTLE with FATE_ENDED; texts in `arena` */
    struct arena arena;
    struct runtime_op *next; /* in the queue of completed operations */
};

/* ---- the server, as a runtime sees it --------------------------------------- */

/* A connection to the conductor of an attempt. The runtime creates and frees it; `user`
 * belongs to the server. */
struct runtime_link {
    struct runtime *runtime;
    void *user;
};

struct runtime_host {
    void *ctx;
    struct uv_loop_s *loop; /* for sockets; NULL in tests without them */
    const char *state_dir, *run_dir;
    uint64_t job_descriptors; /* that a process of a job may open by default; 0 = as the server */

    /* Engine time, which never jumps; and wall time, for what users and other machines see. */
    usec_t (*now)(const struct runtime_host *h);
    usec_t (*wall)(const struct runtime_host *h);
    /* A node has joined or changed. Must not be called inside begin(). */
    void (*node)(struct runtime_host *h, struct runtime *r, const struct runtime_node *node);
    /* A message from a conductor. The first one on a link is its hello. */
    void (*message)(struct runtime_host *h, struct runtime_link *link, const struct to_server *m);
    /* The link was lost. */
    void (*unlinked)(struct runtime_host *h, struct runtime_link *link);
    /* What the start of an attempt waits for, such as the download of its image, for users. May
     * be called again with another text. Meanwhile the start has no deadline. */
    void (*waits)(struct runtime_host *h, struct attempt_id id, const char *why);
    /* Bytes of an attempt's log, from runtimes that keep it elsewhere. n = 0: the attempt has
     * ended, and its log is complete. */
    void (*log)(struct runtime_host *h, struct attempt_id id, int64_t offset, const char *bytes,
                size_t n);

    struct runtime_op *completed, **completed_end; /* in order */
};

/* Whether a path in a container is on one of n mounts ("SOURCE:TARGET[:ro]"). */
bool runtime_is_mounted(const char *const *mounts, size_t n, const char *path);

/* Initialises the queue of completed operations; the caller sets the rest. */
void runtime_host_init(struct runtime_host *h);
/* Adds an operation, whose results are set, to the queue. */
void runtime_complete(struct runtime_host *h, struct runtime_op *op);
/* Removes the next operation from the queue; NULL = none. */
struct runtime_op *runtime_collect(struct runtime_host *h);

/* ---- what runtimes share ---------------------------------------------------- */

/* The identity of a server, by the path of its state directory, for names and labels of what a
 * runtime creates outside of it. */
enum { RUNTIME_YARD_SIZE = 17 };
int runtime_yard_id(const struct runtime_host *h, char id[RUNTIME_YARD_SIZE], struct err *err);
/* A copy whose texts are in the arena. */
struct runtime_container runtime_container_copy(const struct runtime_container *from,
                                                struct arena *a);

/* ---- operations ------------------------------------------------------------- */

struct runtime_ops {
    const char *name;
    bool images;    /* it can run jobs in containers, from images */
    bool leases;    /* its nodes can be lost while their jobs run on: conductors hold leases */
    bool in_place;  /* logs are written directly into the attempt's directory */
    bool discovers; /* its nodes are reported later than open(), whatever attempts are there */

    /* Connects to the engine. `options` are defined by the runtime. During the call it must
     * report all nodes that attempts may be on by host->node(), as lost if they do not respond
     * yet, unless it discovers them; others may join later. */
    int (*open)(struct runtime_host *h, const void *options, struct runtime **out, struct err *err);
    /* Frees everything. Attempts keep running; operations in progress are never completed. */
    void (*close)(struct runtime *r);

    /* Adds a node; during the call it is reported, as lost until its engine responds. Fails if
     * the address cannot be right. NULL = nodes cannot be added. */
    int (*attach)(struct runtime *r, const struct runtime_engine *e, struct err *err);
    /* Removes a node on which no attempt is, and reports it as gone. */
    void (*detach)(struct runtime *r, const char *node);

    /* Begins an operation:
     *
     * OP_START  prepares the attempt and starts its conductor. If it fails, it is unknown
     *           whether the attempt has begun: settle it. Starting an attempt that was started
     *           before, or given up, does nothing.
     * OP_SETTLE finds the state of the attempt. With give_up, an attempt that has not begun is
     *           given up: its command never runs, even if a conductor arrives later. Only this
     *           operation decides that. The result is final unless it is PENDING or RUNNING.
     * OP_RESIZE changes CPUs, limits or weight, but not GPUs. ERR_NOT_FOUND if the engine does
     *           not have the attempt.
     * OP_FREEZE freezes or thaws the attempt. ERR_NOT_FOUND as above.
     * OP_KILL   kills what still runs of an attempt that was given up while its node was lost.
     *           Its log and its record stay. Nothing left to kill is a success.
     * OP_CLEAN  kills what is left of the attempt and frees its resources. Its end is recorded
     *           already; only its log may be requested after this. */
    void (*begin)(struct runtime *r, struct runtime_op *op);

    /* Takes over an attempt that an earlier server started and that may still run. Whatever it
     * holds is in use. Called before any operation; settle and resize follow. */
    void (*adopt)(struct runtime *r, struct attempt_id id, const char *node,
                  const struct runtime_size *size);
    /* Called after the last adopt(): kills all other attempts that the engine has. */
    void (*sweep)(struct runtime *r);

    /* Sends a message to a conductor. If the link is lost, the server repeats it on the next. */
    void (*send)(struct runtime *r, struct runtime_link *link, const struct to_conductor *m);
    /* Ends the link. host->unlinked() is not called for it. */
    void (*unlink)(struct runtime *r, struct runtime_link *link);

    /* Passes the log to host->log(), from this offset and as it grows, until it is complete or
     * the link to the conductor is lost. Another call starts again. Skips bytes that were
     * removed. NULL if in_place. */
    void (*fetch_log)(struct runtime *r, struct attempt_id id, const char *node, int64_t offset);

    /* The path of a tool as jobs see it; NULL = not available. Valid until close(). */
    const char *(*tool)(const struct runtime *r, enum runtime_tool tool);
    /* The directory of an attempt's files as its job sees it; the caller frees it. */
    char *(*files)(const struct runtime *r, struct attempt_id id);
    /* The directory of checkpoints that jobs have unless they name another, as they see it;
     * NULL = one in the server's state. */
    const char *checkpoints;
    /* The CPUs of an attempt, as the kernel writes them ("0-1,4"); NULL = unknown. Valid until
     * the next operation on it. */
    const char *(*cpuset)(const struct runtime *r, struct attempt_id id);

    /* Names in the run directory have changed: makes again what the runtime has there and is
     * gone. NULL if it has nothing there. */
    int (*restore)(struct runtime *r, struct err *err);

    /* due() is the engine time at which to call turn(); USEC_NEVER = not. Both are NULL if the
     * runtime has its own timers. */
    usec_t (*due)(const struct runtime *r);
    void (*turn)(struct runtime *r, usec_t now);
};

extern const struct runtime_ops runtime_local;
extern const struct runtime_ops runtime_docker;
extern const struct runtime_ops runtime_kubernetes;

/* Options of runtime_docker: after which time without an answer an engine is suspect, and lost. */
struct docker_options {
    usec_t suspect_after, lost_after;
};

#endif
