/* The claim of an attempt: the file that decides, once and for all, who may run
 * its command. It appears complete: the conductor's claim holds its pid and is
 * locked from the first moment that anybody can see it, until the conductor is
 * gone. The server may take the claim itself, as void; then nobody runs. */
#ifndef PROTOCOL_CLAIM_H
#define PROTOCOL_CLAIM_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum claim_state {
    CLAIM_NONE, /* nobody has decided yet */
    CLAIM_VOID, /* given up: its command never ran, and never will */
    CLAIM_HELD, /* its conductor lives */
    CLAIM_DEAD, /* its conductor is gone; exit.json tells whether it finished */
};

struct claim {
    enum claim_state state;
    pid_t pid; /* of the conductor; 0 when void */
    uint64_t start;
    pid_t leader; /* of the job, also leader of its session; 0 = was not started */
    uint64_t leader_start;
};

/* Takes the attempt in this directory for the calling process. Keep *fd open for
 * as long as the claim is to be held. ERR_CONFLICT when another was first. */
int claim_take(int dir, int *fd, struct err *err);
/* Adds the job's leader to a claim, in the place of an earlier one: who finds the
 * conductor dead can look for what it left behind. */
void claim_add_leader(int fd, pid_t leader);

/* Takes it as void. ERR_CONFLICT when another was first. */
int claim_void(int dir, struct err *err);
/* Looks who has it. ERR_INVALID when it is not a claim. */
int claim_look(int dir, struct claim *out, struct err *err);

#endif
