/* A runtime in memory, for tests: engines on several nodes and conductors that run
 * pretended jobs, on a virtual clock, with delays, failures, lost replies, partitions and
 * deaths drawn from a seed. The world outlives the servers that drive it.
 *
 * A job's command says what it pretends to be:
 *
 *   fake [work=SECONDS] [code=N] [steps=N] [serial=PART] [uses=MB] [saves] [deaf]
 *
 * It needs `work` seconds on one CPU, of which a part does not get faster with more, and
 * ends with `code`. With steps it reports its progress. From half of its work on it uses so
 * much memory, and is killed if that is more than its limit. One that saves continues in its
 * next attempt where a stop has interrupted it; one that is deaf does not end before it is
 * killed. Its conductor keeps its time limit. */
#ifndef RUNTIME_FAKE_H
#define RUNTIME_FAKE_H

#include "base/rng.h"
#include "runtime/runtime.h"

struct fake;

struct fake_options {
    uint64_t seed;
    uint32_t nodes;     /* at first */
    const char *prefix; /* of the names of its nodes; NULL = "node" */
    units_t cpus;       /* of each of them */
    int64_t memory_mb;
    usec_t report; /* between two reports of a job */
};

/* Probabilities, from 0 to 1, and bounds. All 0: a world without faults or delays. */
struct fake_faults {
    double op_fails;   /* an operation has no effect and says so */
    double reply_lost; /* it has its effect, but the caller is told of a timeout */
    usec_t delay;      /* of operations and messages, at most */
    usec_t reconnect;  /* until a conductor connects again, at most */
};

struct fake *fake_create(const struct fake_options *o);
void fake_free(struct fake *f);

/* From now on. */
void fake_set_faults(struct fake *f, const struct fake_faults *faults);
/* The next instant at which something happens; USEC_NEVER = not by itself. */
usec_t fake_due(const struct fake *f);
/* Its time. */
usec_t fake_now(const struct fake *f);
/* Makes everything happen that is due by `now`, each at its instant: first what operations
 * do and their answers, then messages, then conductors. Time never goes back. */
void fake_advance(struct fake *f, usec_t now);

/* Another node, as large as that; what a node has from now on. */
void fake_add_node(struct fake *f, units_t cpus, int64_t memory_mb);
void fake_set_node(struct fake *f, uint32_t node, units_t cpus, int64_t memory_mb);
/* The server is told that the node does not answer, or answers again; that it is gone. */
void fake_lose_node(struct fake *f, uint32_t node, bool lost);
void fake_remove_node(struct fake *f, uint32_t node);
uint32_t fake_nodes(const struct fake *f);

/* Faults of a node: it cannot be reached until then; it restarts, and what ran is gone; one
 * of its conductors, chosen at random, is killed. */
void fake_cut_node(struct fake *f, uint32_t node, usec_t until);
void fake_reboot_node(struct fake *f, uint32_t node);
void fake_kill_conductor(struct fake *f, uint32_t node);

/* The server's next n operations and messages are heard, and no more after these, as if it
 * had been killed there: they are never answered. UINT32_MAX = it is heard again. */
void fake_mute_after(struct fake *f, uint32_t n);

/* What is true of a job, whatever the server believes. */
struct fake_truth {
    uint32_t running;   /* attempts whose command runs */
    uint32_t begun;     /* times that its command began */
    uint32_t succeeded; /* attempts that ended with 0 and were not asked to stop */
    uint32_t left;      /* attempts that the engine still has something of */
};
struct fake_truth fake_truth_of(const struct fake *f, int64_t job);
/* Of all jobs. */
struct fake_truth fake_truth_of_all(const struct fake *f);
/* How often a command began that must not: its attempt had run before, or another attempt
 * of its job was running. No server may ever cause that. */
uint32_t fake_overlaps(const struct fake *f);
/* CPUs of the node that running, thawed attempts may use. */
units_t fake_cpus_in_use(const struct fake *f, uint32_t node);

/* Their options are a struct fake, which outlives them. One server at a time. The logs of
 * remote ones have to be fetched. */
extern const struct runtime_ops runtime_fake, runtime_fake_remote;

#endif
