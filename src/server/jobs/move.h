/* Moving a job to another node: it is asked to save itself and stops, and its next attempt
 * begins there with its checkpoints.
 *
 * A job has its checkpoints on one node: the one on which it was last started. An attempt on
 * another node brings them along before it starts, whatever the reason for the change. So a
 * failure halfway leaves the job where its checkpoints are, and the next attempt finds them. A
 * lost node loses what is on it. */
#ifndef SERVER_JOBS_MOVE_H
#define SERVER_JOBS_MOVE_H

#include "server/yard.h"

struct ending;

/* Whether the engine has the task on another node than its attempt is. */
bool move_is_due(const struct live_job *j, const struct task *t);
/* Stops the attempt, for its next one on the task's node. */
void move_begin(struct yard *y, struct live_job *j, const struct task *t, const char *why);
/* The attempt has stopped: begins the next one, if the engine still has the job running. */
bool move_go_on(struct yard *y, struct live_job *j, const struct ending *end);
/* The command of an attempt has started: its node has the checkpoints now. */
void move_started(struct yard *y, struct live_job *j, const struct attempt *a);
/* It has reported progress, or has nothing to report: its pause is over. */
void move_resumed(struct yard *y, struct live_job *j);

/* Where an attempt that begins finds the checkpoints of its job. */
struct move_source {
    const char *node; /* that has them, if not its own; NULL = none does */
    uint32_t attempt; /* whose home they are in on its own node; 0 = it makes a new one */
    uint32_t from;    /* the same on `node` */
};
struct move_source move_find_source(const struct yard *y, const struct live_job *j,
                                    const struct attempt *a);
/* Whether the start of the attempt must wait: the node with the checkpoints does not answer. After
 * as long as a lease lasts, they are given up. */
bool move_must_wait(struct yard *y, struct live_job *j, struct attempt *a);

/* A user moves the job, to this node or, with UINT32_MAX, to any other that has room. */
int move_by_hand(struct yard *y, struct live_job *j, uint32_t node, struct err *err);
/* The node is drained: jobs that can continue elsewhere leave it. */
void move_off(struct yard *y, uint32_t node);

#endif
