/* The conductor of one attempt, with all its state. conductor.c sets it up and runs the loop,
 * job.c follows the job, restart.c restarts it at another size, finish.c records how it ended,
 * and obey.c carries out the server's orders. */
#ifndef CONDUCTOR_CONDUCTOR_H
#define CONDUCTOR_CONDUCTOR_H

#include "conductor/child.h"
#include "conductor/echo.h"
#include "conductor/follow.h"
#include "conductor/lease.h"
#include "conductor/life.h"
#include "conductor/link.h"
#include "conductor/loop.h"
#include "conductor/notes.h"
#include "conductor/notify.h"
#include "conductor/outbox.h"
#include "conductor/runlogs.h"
#include "conductor/threads.h"
#include "conductor/tree.h"
#include "conductor/usage.h"
#include "protocol/exit_record.h"
#include "protocol/launch_spec.h"
#include "protocol/logfile.h"

enum timer {
    TIMER_LIFE,    /* time limit, grace, kill */
    TIMER_FOLLOW,  /* the next progress report */
    TIMER_POLL,    /* look at the progress file, if there is no inotify */
    TIMER_SAMPLE,  /* the next usage sample */
    TIMER_LINK,    /* the next attempt to connect */
    TIMER_RECORD,  /* write exit.json again */
    TIMER_LEAVE,   /* the end is recorded and no server has connected: exit */
    TIMER_LOGS,    /* look for files that the job logs to */
    TIMER_LEASE,   /* renew the lease, or stop the job when it is over */
    TIMER_THREADS, /* check whether the job has followed a resize */
};

/* A pending restart. */
struct restart {
    bool wanted;
    usec_t asked;       /* steady clock */
    struct arena arena; /* of the members below */
    const char *cpuset; /* NULL = as before */
    const char **env;   /* variables to set; ends with NULL; NULL = none */
};

struct conductor {
    int dir;            /* of the attempt */
    int claim;          /* held as long as the conductor lives */
    int reserve;        /* the file that becomes exit.json */
    int job_dir;        /* that the job may write to; -1 = not open */
    struct arena arena; /* of the specification */
    struct launch_spec spec;
    struct notes notes;
    struct loop loop;
    struct loop_watch signals, output, report, news;
    struct logfile log;
    struct echo echo;
    struct group_set groups;
    struct tree tree;
    struct usage_meter meter;
    struct child child;
    usec_t born; /* wall time at which the child was created */
    struct life life;
    struct follow follow;
    struct runlogs logs;
    struct notify notify;
    struct outbox outbox;
    struct link link;
    struct lease lease;
    bool awaits;            /* the command starts once the lease is granted */
    bool lease_over;        /* the job was stopped for it */
    bool thaws;             /* once the lease is renewed */
    struct link_kept *kept; /* connection of the previous attempt */

    struct threads threads;
    struct restart restart;
    unsigned incarnation; /* number of restarts of the command */
    enum reach stop_reach;
    bool failed; /* the command could not be started; exit.reason says why */
    bool leader_ended;
    int status; /* of the leader, from wait */
    struct exit_record exit;
    bool over;             /* `exit` is complete and encoded in exit_line */
    bool recorded, synced; /* exit.json is written; it is synced */
    struct str exit_line;
    bool leave;
    bool stay;       /* the server may have another attempt for us */
    bool refused;    /* the server that answers does not know this attempt */
    bool complained; /* logged a warning about a bad message */
    char bytes[256 * 1024];
};

/* Runs the attempt in the directory and returns the conductor's exit status. Uses a kept
 * connection if there is one; on return, `kept` has a connection if the server may have another
 * attempt. */
int conductor_run(int dir, struct link_kept *kept);

#endif
