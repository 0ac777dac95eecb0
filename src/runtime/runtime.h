/* The contract of a runtime: an engine that carries attempts out on the nodes it serves.
 * `local` is this machine; others speak to engines that live elsewhere. Several runtimes
 * serve at once, and their nodes come and go while the server runs. docs/runtimes.md
 * explains how to write one.
 *
 * Operations are asynchronous. The caller fills in a struct runtime_op and hands it over;
 * the runtime completes it once, by runtime_complete(), at its deadline at the latest and
 * with an error that a user can read. The server collects completed operations in its
 * turns, so no operation ends inside the call that began it. An attempt has at most one
 * operation under way. Doing a thing twice is the same as doing it once: whatever may have
 * been lost is said again.
 *
 * The server may call any function of the runtime while the runtime calls one of the
 * server's.
 *
 * Nothing that a runtime knows has to survive it. What is wanted is in the server's store;
 * what exists, the engine tells. */
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
    bool lost;          /* it has not answered for longer than a hiccup lasts */
    bool gone;          /* it was taken away, and does not come back */
    units_t cpus, gpus; /* thousandths */
    const char *gpu_type;
    int64_t memory_mb;
    const char *notice; /* what its operator should know; NULL = nothing */
};

/* ---- attempts --------------------------------------------------------------- */

struct attempt_id {
    int64_t job;
    uint32_t n;
};

/* What an attempt has on its node. */
struct runtime_size {
    units_t cpus;      /* granted: quota, and whole cores where they fit */
    units_t cpu_limit; /* hard bound; more than `cpus` under a soft sharer */
    double cpu_weight; /* against its neighbours on the node, > 0; any scale */
    units_t gpus;      /* 0 = none */
    int64_t memory_mb; /* limit; 0 = none */
    int64_t pids;      /* limit on processes and threads; 0 = the runtime's default */
};

/* What to start. */
struct runtime_start {
    struct launch_spec *spec; /* the runtime adds what only it knows: socket, cgroups, CPUs,
                               * GPUs; what it adds is in the arena */
    struct arena *arena;
    const char *script;      /* a script to be written to script_path; NULL = none */
    const char *script_path; /* which the command names */
    const char *checkpoints; /* directory to be made, which the environment names */
};

/* Files of ours that jobs use. */
enum runtime_tool {
    TOOL_MALLEABLE, /* the preload library */
    TOOL_TORCHRUN,  /* the launcher of elastic workers */
    TOOL_HOSTS,     /* Horovod's host discovery */
    TOOL_COUNT,
};

/* What became of an attempt. */
enum runtime_fate {
    FATE_PENDING,   /* its command has not run yet, and still may */
    FATE_NEVER_RAN, /* it has not, and never will: the attempt is given up for good */
    FATE_RUNNING,   /* its conductor lives */
    FATE_ENDED,     /* it has ended; `record` tells how */
    FATE_LOST,      /* it began, and nobody knows how it ended */
};

enum runtime_op_kind { OP_START, OP_SETTLE, OP_RESIZE, OP_FREEZE, OP_CLEAN };

struct runtime_op {
    enum runtime_op_kind kind;
    struct attempt_id id;
    const char *node;
    usec_t deadline;                   /* engine time */
    const struct runtime_start *start; /* OP_START; valid during begin() only */
    struct runtime_size size;          /* OP_START, OP_RESIZE */
    bool frozen;                       /* OP_FREEZE */
    bool give_up;                      /* OP_SETTLE: decide; the answer is not PENDING */
    /* Set by the runtime. */
    struct err err;            /* ERR_OK = it is done */
    int64_t pid;               /* OP_START: of the conductor; 0 = not known, or not started */
    enum runtime_fate fate;    /* OP_SETTLE */
    struct exit_record record; /* OP_SETTLE with FATE_ENDED; texts in `arena` */
    struct arena arena;
    struct runtime_op *next; /* among those that are complete */
};

/* ---- the server, as a runtime sees it --------------------------------------- */

/* A way to the conductor of an attempt, while there is one. The runtime makes and ends
 * it; `user` is the server's. */
struct runtime_link {
    struct runtime *runtime;
    void *user;
};

struct runtime_host {
    void *ctx;
    struct uv_loop_s *loop; /* for sockets; NULL in a test that has none */
    const char *state_dir, *run_dir;

    /* Engine time. */
    usec_t (*now)(const struct runtime_host *h);
    /* A node has come, or has changed. Not to be called inside begin(). */
    void (*node)(struct runtime_host *h, struct runtime *r, const struct runtime_node *node);
    /* A conductor has said something. The first message on a link is its hello. */
    void (*message)(struct runtime_host *h, struct runtime_link *link, const struct to_server *m);
    /* The link is gone. */
    void (*unlinked)(struct runtime_host *h, struct runtime_link *link);
    /* Bytes of an attempt's log, for runtimes that keep it elsewhere. Without bytes: the
     * attempt is over, and this was all of its log that can be had. */
    void (*log)(struct runtime_host *h, struct attempt_id id, int64_t offset, const char *bytes,
                size_t n);

    struct runtime_op *completed, **completed_end; /* in order */
};

/* An empty queue of completed operations; the rest is set by the caller. */
void runtime_host_init(struct runtime_host *h);
/* Hands a finished operation back; its results are set. */
void runtime_complete(struct runtime_host *h, struct runtime_op *op);
/* The next one that is finished; NULL = none. */
struct runtime_op *runtime_collect(struct runtime_host *h);

/* ---- operations ------------------------------------------------------------- */

struct runtime_ops {
    const char *name;
    bool images;   /* it runs jobs in containers, from images */
    bool in_place; /* logs are written straight into the attempt's directory */

    /* Connects to the engine. `options` are the runtime's own. All nodes that attempts may
     * be on are told by host->node() during the call, as lost if they do not answer yet;
     * others may come later. */
    int (*open)(struct runtime_host *h, const void *options, struct runtime **out, struct err *err);
    /* Forgets everything: what runs goes on, and operations are never completed. */
    void (*close)(struct runtime *r);

    /* Begins an operation:
     *
     * OP_START  prepares what the attempt needs and starts its conductor. When it fails,
     *           nobody knows whether the attempt has begun: settle it. Starting an attempt
     *           that was started before, or given up, starts nothing.
     * OP_SETTLE finds out what became of the attempt. With give_up, one that has not begun
     *           is given up: whoever comes late for it runs nothing, however late. This is
     *           the one place that decides. The answer is final unless it is PENDING or
     *           RUNNING.
     * OP_RESIZE changes CPUs, limits or weight. Its GPUs stay. ERR_NOT_FOUND when the
     *           engine has nothing of it.
     * OP_FREEZE freezes or thaws it. ERR_NOT_FOUND as before.
     * OP_CLEAN  ends whatever is left of the attempt and frees all that it has. It is known
     *           how it ended, and that is recorded: nothing of it but its log is asked for
     *           again. */
    void (*begin)(struct runtime *r, struct runtime_op *op);

    /* Takes over an attempt that an earlier server started and that may still run, whatever
     * its size is: what it holds is in use. Called before anything is begun; settle and
     * resize follow. */
    void (*adopt)(struct runtime *r, struct attempt_id id, const char *node,
                  const struct runtime_size *size);
    /* All have been adopted that were to be: ends what else of ours the engine has. */
    void (*sweep)(struct runtime *r);

    /* Says something to a conductor. What is lost with the link is said again on the next. */
    void (*send)(struct runtime *r, struct runtime_link *link, const struct to_conductor *m);
    /* Ends the link. host->unlinked() is not called for it. */
    void (*unlink)(struct runtime *r, struct runtime_link *link);

    /* Passes the log on to host->log() from this offset, and as it grows, until there is no
     * more or the link to the conductor is lost; asked again, it begins again. Bytes that
     * were removed are left out. NULL when in_place. */
    void (*fetch_log)(struct runtime *r, struct attempt_id id, const char *node, int64_t offset);

    /* Where jobs find a file of ours; NULL = they cannot. Valid until close(). */
    const char *(*tool)(const struct runtime *r, enum runtime_tool tool);
    /* Where the files of an attempt are, as its job sees them; the caller frees it. */
    char *(*files)(const struct runtime *r, struct attempt_id id);
    /* The CPUs that an attempt has, as the kernel writes them ("0-1,4"), until the next
     * operation on it; NULL when that is not known. */
    const char *(*cpuset)(const struct runtime *r, struct attempt_id id);

    /* Engine time at which turn() wants to be called, USEC_NEVER = not; turn() does what is
     * due. Both NULL when the runtime has its own timers. */
    usec_t (*due)(const struct runtime *r);
    void (*turn)(struct runtime *r, usec_t now);
};

extern const struct runtime_ops runtime_local;

#endif
