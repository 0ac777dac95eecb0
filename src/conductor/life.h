/* The course of a job from exec to the end of its last process: a time limit with a
 * warning before it, a stop with a grace period, kill, patience. A pure state machine:
 * it is told the time, and returns what to do as a set of LIFE_ flags. */
#ifndef CONDUCTOR_LIFE_H
#define CONDUCTOR_LIFE_H

#include <stdbool.h>

#include "base/time.h"

/* What the caller has to do. */
#define LIFE_WARN 1u   /* send the warning signal */
#define LIFE_SIGNAL 2u /* send `signal` to all, and let them run if they are frozen */
#define LIFE_KILL 4u   /* kill all */
#define LIFE_END 8u    /* the job is over */

enum life_stage {
    LIFE_RUNNING,
    LIFE_STOPPING, /* was asked to end, has until stop_by */
    LIFE_KILLING,  /* is being killed, again and again */
    LIFE_OVER,
};

struct life_rules {
    usec_t limit;       /* on the time that it runs; USEC_NEVER = none */
    usec_t warn_before; /* the limit */
    int warn_signal;    /* 0 = no warning */
    usec_t grace;       /* at the limit */
    int stop_signal;    /* at the limit */
    usec_t patience;    /* with processes that SIGKILL does not end */
    bool wait_children; /* what the leader leaves running is part of the job */
};

struct life {
    struct life_rules rules;
    enum life_stage stage;
    bool frozen, warned, timed_out;
    bool killed;                            /* the grace was over before the job was */
    bool stuck;                             /* over, but with processes that did not end */
    usec_t ran;                             /* time run until `since`; frozen time does not count */
    usec_t since;                           /* USEC_NEVER = frozen, or not started */
    int signal;                             /* of the stop that is going on */
    usec_t stop_by;                         /* when STOPPING */
    usec_t kill_again, kill_delay, give_up; /* when KILLING */
};

void life_init(struct life *l, const struct life_rules *rules);

/* The command was exec'ed: the limit counts from here. */
void life_start(struct life *l, usec_t now);
/* Another limit while it runs; USEC_NEVER = none. */
void life_set_limit(struct life *l, usec_t limit);

/* Only a running job can be frozen: false, with nothing changed, otherwise. */
bool life_freeze(struct life *l, usec_t now);
void life_thaw(struct life *l, usec_t now);

/* Asks the job to end. A job that is ending already gets the shorter of both
 * graces, and the signal if it is another one. No grace = kill at once. */
unsigned life_stop(struct life *l, usec_t now, usec_t grace, int signal);

/* The leader ended with this wait status. What it left behind is killed at once,
 * unless it is to be waited for, or the leader (a shell, say) just died of the signal
 * that was sent to all: then the others have the rest of their time. */
unsigned life_leader_ended(struct life *l, usec_t now, int status);

/* No process is left. */
unsigned life_all_ended(struct life *l);

/* When life_tick is due; USEC_NEVER = not before something else happens. */
usec_t life_next(const struct life *l);
unsigned life_tick(struct life *l, usec_t now);

#endif
