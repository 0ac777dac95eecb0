/* The conductor of one attempt and all its state. conductor.c sets it up and runs the
 * loop, job.c follows the job, restart.c starts it again at another size, finish.c
 * records how it ended, obey.c carries out what the server orders. */
#ifndef CONDUCTOR_CONDUCTOR_H
#define CONDUCTOR_CONDUCTOR_H

#include "conductor/child.h"
#include "conductor/echo.h"
#include "conductor/follow.h"
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
    TIMER_POLL,    /* to look at the progress file, without inotify */
    TIMER_SAMPLE,  /* the next usage sample */
    TIMER_LINK,    /* the next try to connect */
    TIMER_RECORD,  /* to write exit.json again */
    TIMER_LEAVE,   /* over and recorded, and no server has connected */
    TIMER_LOGS,    /* to look for files that the job logs to */
    TIMER_THREADS, /* to look whether the job obeys a resize */
};

/* A restart that was asked for. */
struct restart {
    bool wanted;
    usec_t asked;       /* by the steady clock */
    struct arena arena; /* holds what follows */
    const char *cpuset; /* NULL = as before */
    const char **env;   /* variables to set; ends with NULL; NULL = none */
};

struct conductor {
    int dir, claim, reserve; /* the attempt's directory, its claim, the room for exit.json */
    int job_dir;             /* where the job may write; -1 = not open */
    struct arena arena;      /* of the specification */
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
    usec_t born; /* wall time at which the child was made */
    struct life life;
    struct follow follow;
    struct runlogs logs;
    struct notify notify;
    struct outbox outbox;
    struct link link;
    struct link_kept *kept; /* of the attempt before */

    struct threads threads;
    struct restart restart;
    unsigned incarnation; /* how often the command was started again */
    enum reach stop_reach;
    bool failed; /* the command could not be started, exit.reason says why */
    bool leader_ended;
    int status; /* of the leader, from wait */
    struct exit_record exit;
    bool over;             /* exit is complete, and in exit_line */
    bool recorded, synced; /* exit.json is there; it survives a power failure */
    struct str exit_line;
    bool leave;
    bool stay;       /* the server may have another attempt for us */
    bool complained; /* of what the server sent */
    char bytes[256 * 1024];
};

/* Runs the attempt in the directory to its end; returns the exit status of the
 * conductor. A connection that was kept is used for it, and there is one afterwards when
 * the server may have another attempt. */
int conductor_run(int dir, struct link_kept *kept);

#endif
