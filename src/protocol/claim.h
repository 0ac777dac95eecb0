/* The claim of an attempt: the file that decides, once and for all, who may run its command. It
 * appears complete: the conductor's claim holds its pid and is locked from the moment it is
 * visible until the conductor is gone. The server can take the claim itself, as void; then
 * nobody runs the command. */
#ifndef PROTOCOL_CLAIM_H
#define PROTOCOL_CLAIM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum claim_state {
    CLAIM_NONE, /* not decided yet */
    CLAIM_VOID, /* given up: its command never ran, and never will */
    CLAIM_HELD, /* its conductor is alive */
    CLAIM_DEAD, /* its conductor is gone; exit.json says whether it finished */
};

struct claim {
    enum claim_state state;
    pid_t pid; /* of the conductor; 0 if void */
    uint64_t start;
    pid_t leader; /* of the job and of its session; 0 = not started */
    uint64_t leader_start;
};

/* Takes the attempt in this directory for the calling process. The claim is held as long as *fd
 * is open. ERR_CONFLICT if somebody else was first. */
int claim_take(int dir, int *fd, struct err *err);
/* Records the job's leader, replacing an earlier one, so that the processes of a dead conductor
 * can be found. */
void claim_add_leader(int fd, pid_t leader);

/* Takes it as void. ERR_CONFLICT if somebody else was first. */
int claim_void(int dir, struct err *err);
/* Reads the text of a claim; `locked` tells whether its file is. ERR_INVALID if it is not one. */
int claim_parse(const char *text, bool locked, struct claim *out, struct err *err);
/* Reads who has it. ERR_INVALID if the file is not a claim. */
int claim_look(int dir, struct claim *out, struct err *err);

#endif
