/* What attempts hold on this machine. */
#ifndef RUNTIME_LOCAL_HELD_H
#define RUNTIME_LOCAL_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "runtime/local/cgroup.h"
#include "runtime/local/cpus.h"
#include "runtime/local/gpu.h"
#include "runtime/runtime.h"

/* What one attempt holds. */
struct held {
    struct attempt_id id;
    char name[48]; /* of its groups: JOB.ATTEMPT */
    bool grouped;  /* it has groups; otherwise it is a tree of processes */
    double weight; /* as it was asked for */
    struct cgroup_limits limits;
    struct cpus_grant cpus;
    struct gpus_grant gpus;
    struct cpuset bits; /* its CPUs */
    bool is_hard;       /* they are its own */
    struct str set;     /* the same as text; limits.cpus points to it */
};

struct runtime;

/* The attempt's entry; NULL when there is none. */
struct held *held_find(const struct runtime *r, struct attempt_id id);
/* What an attempt is called that holds nothing: for looking for what is left of it. */
struct held held_nothing(struct attempt_id id);
/* A new entry, with nothing held yet. */
struct held *held_add(struct runtime *r, struct attempt_id id);
/* Gives its CPUs and GPUs back and forgets it. */
void held_drop(struct runtime *r, struct held *h);

/* Sets the attempt's limits and allots its CPUs; held_apply puts them into force. */
void held_size(struct runtime *r, struct held *h, const struct runtime_size *s);
/* The machine's CPUs have changed, and its own ones that are left are entered: allots those that
 * it lacks, and puts them into force. */
void held_move(struct runtime *r, struct held *h);
/* Takes over the CPUs that the running attempt has. */
void held_claim(struct runtime *r, struct held *h, const struct runtime_size *s);

/* Puts the limits into force, by groups or on the processes one by one. */
int held_apply(struct runtime *r, struct held *h, struct err *err);
/* Weights are relative to the heaviest neighbour: sets those that changed because
 * another one came, changed or left. */
void held_weigh(struct runtime *r);
/* For a conductor to set when there are no CPU weights. */
int held_nice(const struct held *h);

/* All living processes of the attempt but its conductor. */
void held_processes(const struct runtime *r, const struct held *h, pid_list *out);

#endif
