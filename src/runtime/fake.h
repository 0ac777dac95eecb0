/* A runtime in memory, for tests: nodes, conductors and simulated jobs on a virtual clock, with
 * random delays, failures, lost replies, partitions and crashes from a seed. The world outlives
 * the servers that use it.
 *
 * A job's command describes how it behaves:
 *
 *   fake [work=SECONDS] [code=N] [steps=N] [serial=PART] [loss=X] [uses=MB] [saves] [deaf]
 *
 * It needs `work` seconds on one CPU, of which the part `serial` does not get faster on more,
 * and exits with `code`. With `steps` it reports progress. After half of its work it uses
 * `uses` MB, and is killed if that exceeds its limit. A job that `saves` continues in its next
 * attempt where it was stopped. A `deaf` job ignores stops until it is killed. Its conductor
 * enforces its time limit. */
#ifndef RUNTIME_FAKE_H
#define RUNTIME_FAKE_H

#include "base/rng.h"
#include "runtime/runtime.h"

struct fake;

struct fake_options {
    uint64_t seed;
    uint32_t nodes;     /* initial number */
    usec_t lost_after;  /* a node that is cut off for this long is reported as lost; 0 = never */
    const char *prefix; /* of node names; NULL = "node" */
    units_t cpus;       /* per node */
    int64_t memory_mb;  /* per node */
    usec_t report;      /* time between two reports of a job */
};

/* Probabilities, from 0 to 1, and bounds. All 0: no faults or delays. */
struct fake_faults {
    double op_fails;   /* an operation fails and has no effect */
    double reply_lost; /* an operation has its effect, but times out */
    usec_t delay;      /* maximum, of operations and messages */
    usec_t reconnect;  /* maximum time until a conductor connects again */
};

struct fake *fake_create(const struct fake_options *o);
void fake_free(struct fake *f);

/* Sets the faults from now on. */
void fake_set_faults(struct fake *f, const struct fake_faults *faults);
/* The time of the next event; USEC_NEVER = none. */
usec_t fake_due(const struct fake *f);
/* The current time of the world. */
usec_t fake_now(const struct fake *f);
/* Advances the world to `now`. At each instant, operations and their replies come first, then
 * messages, then conductors. Time never goes back. */
void fake_advance(struct fake *f, usec_t now);

/* Add a node; change the size of a node. */
void fake_add_node(struct fake *f, units_t cpus, int64_t memory_mb);
void fake_set_node(struct fake *f, uint32_t node, units_t cpus, int64_t memory_mb);
/* Report a node to the server as lost or back; as removed. */
void fake_lose_node(struct fake *f, uint32_t node, bool lost);
void fake_remove_node(struct fake *f, uint32_t node);
uint32_t fake_nodes(const struct fake *f);

/* Faults of a node: it is unreachable until then; it reboots, which ends all its attempts; a
 * random conductor on it is killed. */
void fake_cut_node(struct fake *f, uint32_t node, usec_t until);
void fake_reboot_node(struct fake *f, uint32_t node);
void fake_kill_conductor(struct fake *f, uint32_t node);

/* Ignores the server's operations and messages after the next n, as if it had been killed:
 * they have no effect and no reply. UINT32_MAX = no limit. */
void fake_mute_after(struct fake *f, uint32_t n);

/* Forgets attempts that are over. False, and nothing is forgotten, while one is not cleaned up or
 * something is under way. */
bool fake_forget(struct fake *f);

/* The real state of a job, independent of the server's. */
struct fake_truth {
    uint32_t running;   /* attempts whose command runs */
    uint32_t begun;     /* how often its command began */
    uint32_t succeeded; /* attempts that exited with 0 and were not asked to stop */
    uint32_t left;      /* attempts that are not cleaned up */
};
struct fake_truth fake_truth_of(const struct fake *f, int64_t job);
/* Of all jobs. */
struct fake_truth fake_truth_of_all(const struct fake *f);
/* How often a command began although its attempt had run before or another attempt of its job
 * was running. Parts of one attempt run together. Must always be 0. */
uint32_t fake_overlaps(const struct fake *f);
/* CPUs of the node that running attempts may use; frozen ones use none. */
units_t fake_cpus_in_use(const struct fake *f, uint32_t node);

/* Their options are a struct fake, which outlives them. One server at a time. With
 * runtime_fake_remote, logs must be fetched; runtime_fake_images runs images as well. */
extern const struct runtime_ops runtime_fake, runtime_fake_remote, runtime_fake_images;

#endif
