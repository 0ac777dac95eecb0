/* Internals of the fake runtime: the objects of its world. */
#ifndef RUNTIME_FAKE_WORLD_H
#define RUNTIME_FAKE_WORLD_H

#include "base/str.h"
#include "runtime/fake.h"

enum fake_state {
    FAKE_CREATED, /* its conductor was started and has not claimed it yet */
    FAKE_VOID,    /* given up before it was claimed */
    FAKE_RUNNING,
    FAKE_ENDED, /* with a record */
    FAKE_DEAD,  /* without one */
};

struct fake_attempt {
    struct attempt_id id;
    uint32_t node;
    enum fake_state state;
    bool cleaned; /* the engine does not have it any more */
    bool adopted; /* by the current server */
    bool unseen;  /* its node was reported as lost while it was there */
    bool alone;   /* its conductor is dead */
    char token[64];
    usec_t claim_at, report_at, connect_at; /* USEC_NEVER = not scheduled */
    /* From its command. */
    double work;   /* microseconds on one CPU */
    double loss;   /* that it reports; NAN = nothing */
    double serial; /* part of the work that more CPUs do not speed up */
    int32_t code;
    int64_t steps, uses_mb;
    bool saves, deaf;
    usec_t limit; /* of its running time; 0 or USEC_NEVER = none */
    usec_t grace;
    /* Its lease: when it ends, and when to ask for the next; 0 = it has none. */
    usec_t lease, lease_ends, lease_at, lease_asked;
    bool waits;      /* thawed, until its lease is renewed */
    usec_t start_by; /* its command does not begin later */
    /* Its resources. */
    struct runtime_size size;
    bool frozen;
    /* Its progress. */
    double done; /* work at `as_of` */
    usec_t ran;  /* running time at `as_of`, without the time that it was frozen */
    usec_t as_of, started;
    uint32_t begun; /* how often its command began; must be at most 1 */
    usec_t end_at;  /* when it ends because of a stop; USEC_NEVER = no stop */
    bool killed;    /* it ends by SIGKILL */
    bool timed_out; /* stopped by its time limit */
    char stop[32];  /* reason of the stop */
    struct exit_record record;
    bool acked;
    int64_t log_next; /* next byte of its log to pass on */
    usec_t log_at;    /* when to pass it on; USEC_NEVER = not requested */
    int64_t seq;
    struct fake_link *link;
};

struct fake_link {
    struct runtime_link base;
    uint32_t attempt; /* index */
    uint64_t number;  /* unique */
    bool welcomed;
};

struct fake_node {
    char name[16];
    units_t cpus;
    int64_t memory_mb;
    bool lost, gone; /* as reported to the server */
    usec_t cut_since, cut_until;
    bool silent; /* reported as lost because it is cut off */
};

/* An operation in progress. */
struct fake_op {
    struct runtime_op *op; /* NULL = its server is gone */
    struct runtime_op copy;
    struct fake_attempt launch; /* of a start */
    usec_t prepared;            /* a start: its files are there; the rest needs no server */
    usec_t arrives;             /* USEC_NEVER = it has arrived, or never will */
    usec_t answered;            /* USEC_NEVER = when it has arrived */
    usec_t deadline;
    bool fails, lost;
};

/* A message in transit to a conductor. It is lost with its link. */
struct fake_letter {
    uint32_t attempt; /* index */
    uint64_t link;    /* its number */
    usec_t at;
    struct str line;
};

struct fake {
    struct fake_options options;
    struct fake_faults faults;
    struct rng rng;
    usec_t now;
    VEC(struct fake_node) nodes;
    VEC(struct fake_attempt) attempts;
    VEC(struct fake_op) ops;
    VEC(struct fake_letter) letters;
    VEC(struct fake_saved {
        int64_t job;
        double done;
    })
    saved;
    struct runtime *server; /* NULL = none */
    uint64_t links;         /* number of links ever created */
    uint32_t overlaps;      /* commands that began while their job was running */
    uint32_t heard;         /* how many more operations and messages have an effect */
};

struct runtime {
    struct fake *world;
    struct runtime_host *host;
};

/* A random time, at most `most` from now. */
usec_t fake_soon(struct fake *f, usec_t most);
bool fake_chance(struct fake *f, double probability);

bool fake_is_cut(const struct fake *f, uint32_t node);
/* The index of the node; f->nodes.n if it does not exist. */
uint32_t fake_find_node(const struct fake *f, const char *name);
/* NULL if the engine does not have it. Valid until another attempt is created. */
struct fake_attempt *fake_find_attempt(struct fake *f, struct attempt_id id);

#endif
