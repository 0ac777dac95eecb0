/* The inside of the fake runtime: what there is in its world. */
#ifndef RUNTIME_FAKE_WORLD_H
#define RUNTIME_FAKE_WORLD_H

#include "base/str.h"
#include "runtime/fake.h"

enum fake_state {
    FAKE_CREATED, /* its conductor has been started, and has not claimed it yet */
    FAKE_VOID,    /* given up before that */
    FAKE_RUNNING,
    FAKE_ENDED, /* with a record */
    FAKE_DEAD,  /* without one */
};

struct fake_attempt {
    struct attempt_id id;
    uint32_t node;
    enum fake_state state;
    bool cleaned; /* the engine has nothing of it any more */
    bool adopted; /* by the server that is there now */
    bool alone;   /* its conductor is gone */
    char token[64];
    usec_t claim_at, report_at, connect_at; /* USEC_NEVER = not */
    /* What it pretends to be. */
    double work;   /* microseconds on one CPU */
    double serial; /* part of it that more CPUs do not make faster */
    int32_t code;
    int64_t steps, uses_mb;
    bool saves, deaf;
    usec_t limit; /* on the time that it runs; 0 or USEC_NEVER = none */
    usec_t grace;
    /* What it has. */
    struct runtime_size size;
    bool frozen;
    /* How far it is. */
    double done; /* as of then */
    usec_t ran;  /* the same, of the time that it was not frozen */
    usec_t as_of, started;
    uint32_t begun; /* times that its command was started: at most once */
    usec_t end_at;  /* it was asked to end: then; USEC_NEVER = it was not */
    bool killed;    /* and will be killed for it */
    bool timed_out; /* by its time limit */
    char stop[32];  /* why */
    struct exit_record record;
    bool acked;
    int64_t log_next; /* byte of its log that is passed on next */
    usec_t log_at;    /* then; USEC_NEVER = nobody has asked for it */
    int64_t seq;
    struct fake_link *link;
};

struct fake_link {
    struct runtime_link base;
    uint32_t attempt; /* index */
    uint64_t number;  /* no other link has it */
    bool welcomed;
};

struct fake_node {
    char name[16];
    units_t cpus;
    int64_t memory_mb;
    bool lost, gone; /* as the server is told */
    usec_t cut_until;
};

/* An operation under way. */
struct fake_op {
    struct runtime_op *op; /* NULL = nobody waits for its answer any more */
    struct runtime_op copy;
    struct fake_attempt launch; /* of a start */
    usec_t arrives;             /* USEC_NEVER = it has, or never will */
    usec_t answered;            /* USEC_NEVER = once it has arrived */
    usec_t deadline;
    bool fails, lost;
};

/* A message on its way to a conductor. It is lost with its link. */
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
    struct runtime *server; /* NULL while there is none */
    uint64_t links;         /* ever made */
    uint32_t overlaps;      /* commands that began while their job ran already */
    uint32_t heard;         /* operations and messages of the server that are still heard */
};

struct runtime {
    struct fake *world;
    struct runtime_host *host;
};

/* A time from now on, at most `most` away. */
usec_t fake_soon(struct fake *f, usec_t most);
bool fake_chance(struct fake *f, double probability);

bool fake_is_cut(const struct fake *f, uint32_t node);
/* The node of this name; f->nodes.n when there is none. */
uint32_t fake_find_node(const struct fake *f, const char *name);
/* NULL when the engine knows of none. Valid until another one is created. */
struct fake_attempt *fake_find_attempt(struct fake *f, struct attempt_id id);

#endif
