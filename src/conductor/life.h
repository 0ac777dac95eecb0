/* The life of a job from exec to the end of its last process: a time limit with a warning before
 * it, a stop with a grace period, the kill, and the patience with what survives it. A pure state
 * machine: the caller passes the time and carries out the returned LIFE_ flags. */
#ifndef CONDUCTOR_LIFE_H
#define CONDUCTOR_LIFE_H

#include <stdbool.h>

#include "base/time.h"

/* What the caller must do. */
#define LIFE_WARN 1u   /* send the warning signal */
#define LIFE_SIGNAL 2u /* send `signal` to all processes, and thaw them */
#define LIFE_KILL 4u   /* kill all processes */
#define LIFE_END 8u    /* the job is over */

enum life_stage {
    LIFE_RUNNING,
    LIFE_STOPPING, /* was asked to end, until stop_by */
    LIFE_KILLING,  /* is being killed, repeatedly */
    LIFE_OVER,
};

struct life_rules {
    usec_t limit;       /* of running time; USEC_NEVER = none */
    usec_t warn_before; /* time between warning and limit */
    int warn_signal;    /* 0 = no warning */
    usec_t grace;       /* after the limit */
    int stop_signal;    /* sent at the limit */
    usec_t patience;    /* with processes that survive SIGKILL */
    bool wait_children; /* the job lasts until its last process has ended */
};

struct life {
    struct life_rules rules;
    enum life_stage stage;
    bool frozen, warned, timed_out;
    bool killed;                            /* the grace period was not enough */
    bool stuck;                             /* over, although some processes did not end */
    usec_t ran;                             /* running time until `since`, without frozen time */
    usec_t since;                           /* USEC_NEVER = frozen, or not started */
    int signal;                             /* of the current stop */
    usec_t stop_by;                         /* when STOPPING */
    usec_t kill_again, kill_delay, give_up; /* when KILLING */
};

void life_init(struct life *l, const struct life_rules *rules);

/* The command was started: the limit counts from now. */
void life_start(struct life *l, usec_t now);
/* Changes the limit while the job runs; USEC_NEVER = none. */
void life_set_limit(struct life *l, usec_t limit);

/* Freezes or thaws. Only a running job can be frozen; otherwise returns false and changes
 * nothing. */
bool life_freeze(struct life *l, usec_t now);
void life_thaw(struct life *l, usec_t now);

/* Asks the job to end. A job that is already ending gets the shorter of the two grace periods,
 * and the signal if it differs. No grace: kill at once. */
unsigned life_stop(struct life *l, usec_t now, usec_t grace, int signal);

/* The leader ended with this wait status. Processes that it left are killed at once, unless the
 * job waits for its children, or the leader (a shell, for example) died of the signal that was
 * sent to all: then the others keep the rest of their grace. */
unsigned life_leader_ended(struct life *l, usec_t now, int status);

/* No process is left. */
unsigned life_all_ended(struct life *l);

/* When to call life_tick; USEC_NEVER = not before something else happens. */
usec_t life_next(const struct life *l);
unsigned life_tick(struct life *l, usec_t now);

#endif
