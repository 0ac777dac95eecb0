/* The conductor of one attempt: everything that it holds. Its parts:
 * conductor.c sets it up and turns the loop, job.c follows the job, restart.c starts it
 * again with another size, finish.c tells how it ended, obey.c does what the server
 * says. */
#ifndef CONDUCTOR_CONDUCTOR_H
#define CONDUCTOR_CONDUCTOR_H

#include "conductor/child.h"
#include "conductor/follow.h"
#include "conductor/jobspec.h"
#include "conductor/life.h"
#include "conductor/link.h"
#include "conductor/logfile.h"
#include "conductor/loop.h"
#include "conductor/message.h"
#include "conductor/notes.h"
#include "conductor/notify.h"
#include "conductor/outbox.h"
#include "conductor/threads.h"
#include "conductor/tree.h"
#include "conductor/usage.h"

enum timer {
    TIMER_LIFE,    /* time limit, grace, kill */
    TIMER_FOLLOW,  /* the next progress report */
    TIMER_POLL,    /* to look at the progress file, without inotify */
    TIMER_SAMPLE,  /* the next usage sample */
    TIMER_LINK,    /* the next try to connect */
    TIMER_RECORD,  /* to write exit.json again */
    TIMER_LEAVE,   /* over, recorded, and no server to be seen */
    TIMER_THREADS, /* to look whether the job obeys a resize */
};

/* A restart that was asked for. */
struct restart {
    bool wanted;
    usec_t asked; /* by the steady clock */
    char cpuset[1024], env[1024];
};

struct conductor {
    int dir, claim, reserve; /* the attempt's directory, its claim, the room for exit.json */
    struct jobspec spec;
    struct notes notes;
    struct loop loop;
    struct loop_watch signals, output, report, news;
    struct logfile log;
    struct group_set groups;
    struct tree tree;
    struct usage_meter meter;
    struct child child;
    struct life life;
    struct follow follow;
    struct notify notify;
    struct outbox outbox;
    struct link link;

    struct threads threads;
    struct restart restart;
    unsigned incarnation; /* how often the command was started again */
    enum reach stop_reach;
    bool failed; /* the command could not be started, outcome.reason says why */
    bool leader_ended;
    int status; /* of the leader, from wait */
    struct outcome outcome;
    bool over;            /* outcome is complete, and in exit_line */
    bool recorded, acked; /* exit.json is on disk; the server has it */
    struct str exit_line;
    bool leave;
    bool complained; /* of what the server sent */
    char bytes[64 * 1024];
};

/* Runs the attempt in the directory to its end; returns the exit status of the
 * conductor. */
int conductor_run(int dir);

/* job.c */
/* Starts the command; it may be over at once. */
void job_start(struct conductor *c);
/* Does what the life of the job asks for. */
void job_act(struct conductor *c, unsigned acts);
/* Asks the job to end, for the reason given. */
void job_stop(struct conductor *c, usec_t grace, int signal, enum reach reach, const char *reason);
/* Reaps; the job may be over then. */
void job_reap(struct conductor *c);
void job_tick(struct conductor *c);
void job_sample(struct conductor *c);
/* Sends the progress report that is due. */
void job_report_progress(struct conductor *c, bool end);
/* Reads up to so many chunks of output; false at its end. */
bool job_read_output(struct conductor *c, unsigned chunks);

/* restart.c */
/* Stops the job, to start it again with another size. ERR_CONFLICT when it is ending. */
int restart_ask(struct conductor *c, const struct command *m, struct err *err);
/* All its processes are gone: starts it again if that was wanted and is still; false when
 * the job is over. */
bool restart_job(struct conductor *c);

/* finish.c */
/* The job is over: takes the last of what it said and used, and how it ended, on
 * disk and to the server. */
void finish_job(struct conductor *c);
/* Writes exit.json, or tries again later. */
void finish_record(struct conductor *c);
/* Nobody is there to hear it: leaves after a while if it is on disk. */
void finish_unheard(struct conductor *c);

/* obey.c */
extern const struct link_user obey_link;
/* Answers the resize that the job has obeyed, or is late with. */
void obey_look(struct conductor *c);

#endif
