/* Control groups for jobs, v1 and v2 alike: one group per job, by name, below a base
 * that belongs to this server alone. What a missing controller would do is not done;
 * `controllers` says which ones are in force. */
#ifndef RUNTIME_LOCAL_CGROUP_H
#define RUNTIME_LOCAL_CGROUP_H

#include "base/mem.h"
#include "base/str.h"
#include "runtime/local/cgroup_find.h"

typedef VEC(int64_t) pid_list;

/* v1 has one hierarchy per controller (or some together), v2 one for all. */
struct cgroup_hierarchy {
    char *base; /* directory of the groups */
    int fd;     /* of the base */
    unsigned controllers;
    bool v2;
};

struct cgroups {
    const struct cgroup_version *version;
    struct cgroup_hierarchy at[CGROUP_MOUNTS_MAX];
    uint32_t n;
    unsigned controllers;      /* in force in any of them */
    bool can_freeze, can_kill; /* can_kill: by one write, also a fork bomb */
};

/* Limits of one group. */
struct cgroup_limits {
    units_t quota;    /* thousandths of a CPU; 0 = none */
    uint32_t weight;  /* 1 to 1000, against the other groups of the base */
    const char *cpus; /* "0-1,4" */
    int64_t memory;   /* bytes, swap included; 0 = none */
    int64_t pids;     /* 0 = none */
    bool is_new;      /* the group was just made: what it has by default is not written */
};

/* What differs between v1 and v2. */
struct cgroup_version {
    int number;
    /* Makes bases in the hierarchies that can be used; fills *c and says in *why what
     * cannot be used and why. Fails only when nothing can. */
    int (*open)(const struct cgroup_mounts *m, const char *base, struct cgroups *c,
                struct str *why);
    int (*set)(const struct cgroups *c, const char *name, const struct cgroup_limits *l,
               struct err *err);
    int (*freeze)(const struct cgroups *c, const char *name, bool frozen, struct err *err);
    /* Kills all that is in the group and below it, frozen or not. */
    void (*kill)(const struct cgroups *c, const char *name);
};
extern const struct cgroup_version cgroup_v1, cgroup_v2;

/* Chooses between v1 and v2 and makes the base. *why gets a sentence on each thing
 * that is missing. -1 = no groups can be had; c->version still says what is mounted. */
int cgroup_open(const struct cgroup_mounts *m, const char *base, struct cgroups *c,
                struct str *why);
/* Forgets the groups, but removes the base when it is empty. */
/* The same for groups that are open already: their bases may have been removed. */
int cgroup_open_again(const struct cgroup_mounts *m, const char *base, struct cgroups *c,
                      struct str *why);
void cgroup_close(struct cgroups *c);

/* Fine when it is there already. */
int cgroup_create(const struct cgroups *c, const char *name, struct err *err);
bool cgroup_exists(const struct cgroups *c, const char *name);
/* The CPUs that the group is held to, as the kernel writes them; 0 or an errno. */
int cgroup_cpus(const struct cgroups *c, const char *name, struct str *out);
/* Every process of the group and of groups that the job made below it; under v1 one
 * comes once for each hierarchy. */
void cgroup_processes(const struct cgroups *c, const char *name, pid_list *out);
/* Kills and removes: 0 = nothing is left, 1 = processes are still dying. */
int cgroup_destroy(const struct cgroups *c, const char *name, struct err *err);
/* Calls fn for each group of the base; a name may come twice. */
void cgroup_each(const struct cgroups *c, void (*fn)(void *ctx, const char *name), void *ctx);

/* For cgroup_v1.c and cgroup_v2.c. */

/* Opens the base as the next hierarchy. */
int cgroup_add(struct cgroups *c, char *base, unsigned controllers, bool v2);
/* The weight of the base against its neighbours, as a multiple of the normal one: once for
 * each CPU, so that jobs weigh on every CPU as a process without a group does. */
uint32_t cgroup_base_weight(uint32_t normal, uint32_t most);
/* The hierarchy of a controller; NULL = it is not in force. */
const struct cgroup_hierarchy *cgroup_with(const struct cgroups *c, unsigned controller);
/* Writes into BASE/NAME/FILE, or BASE/FILE when name is NULL; 0 or an errno. */
int cgroup_write(const struct cgroup_hierarchy *h, const char *name, const char *file,
                 const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Sends SIGKILL to each process. */
void cgroup_kill_each(const struct cgroups *c, const char *name);
/* Adds a sentence to *why. */
void cgroup_complain(struct str *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* An error for a failed write. */
int cgroup_refused(const struct cgroup_hierarchy *h, const char *name, const char *file, int code,
                   struct err *err);

#endif
