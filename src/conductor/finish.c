/* Owns the end of an attempt: records what happened and keeps the record until the server has it.
 *
 * The record is written before the server is told. It is synced only if no server is connected,
 * or if none acknowledges it in time. A server that acknowledges has committed the end to its
 * database. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "conductor/finish.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "conductor/cause.h"
#include "conductor/conductor.h"
#include "conductor/job.h"
#include "conductor/obey.h"

/* A pipe holds at most a megabyte. Only a process that could not be killed writes more. */
enum { LAST_READS = 64, RECORD_RETRY = 2000000, ACK_PATIENCE = 500000, NOT_STARTED = 125 };

__attribute__((format(printf, 2, 3))) static void say(struct exit_record *o, const char *fmt, ...)
{
    size_t n = strlen(o->reason);
    va_list args;
    if (n && n + 2 < sizeof o->reason) {
        memcpy(o->reason + n, "; ", 3);
        n += 2;
    }
    va_start(args, fmt);
    vsnprintf(o->reason + n, sizeof o->reason - n, fmt, args);
    va_end(args);
    notes_clean(o->reason);
}

/* The job had no limit, and the node ran out of memory. */
static void say_exceeded(struct conductor *c, int64_t oom)
{
    const struct usage *u = &c->exit.usage;
    say(&c->exit,
        "out of memory: the node had none left, and the kernel killed %lld of its processes",
        (long long)oom);
    if (u->memory_peak_bytes > 0 && c->spec.memory_share)
        say(&c->exit, "it used %lld MB, its share was %lld MB",
            (long long)(u->memory_peak_bytes >> 20), (long long)c->spec.memory_share);
}

/* Adds what the exit status alone does not say. */
static void say_why(struct conductor *c)
{
    struct exit_record *o = &c->exit;
    int64_t oom = usage_oom_kills(&c->meter);
    int64_t limit = oom > 0 ? usage_memory_limit(&c->meter) : -1;
    o->oom = oom > 0;
    o->timeout = c->life.timed_out || strcmp(o->stop, "timeout") == 0;
    if (oom > 0 && limit >= 0)
        say(o, "out of memory: the kernel killed %lld of its processes at the limit of %lld MB",
            (long long)oom, (long long)(limit >> 20));
    else if (oom > 0)
        say_exceeded(c, oom);
    if (c->life.timed_out)
        say(o, "reached its time limit");
    else if (c->lease_over)
        say(o, "stopped: the server did not renew its lease of %g s", time_seconds(c->spec.lease));
    else if (*o->stop)
        say(o, "stopped: %s", o->stop);
    if (c->life.killed)
        say(o, "killed as it did not end in time");
    else if (o->signal && !oom && !*o->stop && !c->life.timed_out)
        say(o, "ended by SIG%s, which Trainyard did not send",
            sigabbrev_np(o->signal) ? sigabbrev_np(o->signal) : "RT");
    if (c->life.stuck)
        say(o, "some of its processes cannot be killed");
}

static void set_code(struct conductor *c)
{
    struct exit_record *o = &c->exit;
    if (c->leader_ended && WIFEXITED(c->status)) {
        o->code = WEXITSTATUS(c->status);
    } else if (c->leader_ended || !c->failed) {
        o->signal = c->leader_ended ? WTERMSIG(c->status) : SIGKILL;
        o->code = 128 + o->signal;
    } else {
        o->code = NOT_STARTED;
    }
}

static void close_job(struct conductor *c)
{
    loop_close(&c->loop, &c->output);
    loop_close(&c->loop, &c->report);
    loop_set_timer(&c->loop, TIMER_SAMPLE, USEC_NEVER);
    loop_set_timer(&c->loop, TIMER_POLL, USEC_NEVER);
    runlogs_done(&c->logs);
    follow_done(&c->follow);
    usage_done(&c->meter);
    logfile_done(&c->log);
}

/* Encodes the finished record. */
static void write_line(struct conductor *c)
{
    const char *warnings[NOTES_MAX + 1] = {NULL};
    for (size_t i = 0; i < c->notes.n; i++)
        warnings[i] = c->notes.text[i];
    notes_clean(c->exit.reason);
    notes_clean(c->exit.stop);
    struct to_server m = {.kind = TO_SERVER_EXIT, .exit = c->exit};
    m.exit.job = c->spec.job;
    m.exit.attempt = c->spec.attempt;
    m.exit.warnings = warnings;
    to_server_encode(&m, &c->exit_line);
}

/* Where the attempt's directory goes with the container, as on Kubernetes, another file gets the
 * record. There is little room: the warnings, which the server was told, are left out. */
static void copy_record(struct conductor *c)
{
    struct to_server m = {.kind = TO_SERVER_EXIT, .exit = c->exit};
    struct str line = {0};
    if (!c->spec.exit_copy)
        return;
    m.exit.warnings = NULL;
    to_server_encode(&m, &line);
    AUTO_CLOSE int fd = open(c->spec.exit_copy, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || write(fd, line.at, line.n) < 0)
        notes_add(&c->notes, "cannot copy the exit record to %s: %s", c->spec.exit_copy,
                  strerror(errno));
    str_done(&line);
}

int finish_untried(struct conductor *c, const struct err *why, struct err *err)
{
    c->exit.at = clock_read_wall();
    c->exit.code = NOT_STARTED;
    c->exit.untried = true;
    c->exit.usage = (struct usage)USAGE_UNKNOWN;
    snprintf(c->exit.reason, sizeof c->exit.reason, "%s", why->text);
    write_line(c);
    copy_record(c);
    if (exit_record_write(c->dir, c->reserve, c->exit_line.at, c->exit_line.n, err) < 0)
        return -1;
    return exit_record_sync(c->dir, err);
}

void finish_job(struct conductor *c)
{
    struct exit_record *o = &c->exit;
    if (c->output.fd >= 0)
        job_read_output(c, LAST_READS);
    follow_file(&c->follow);
    c->follow.news |= runlogs_read(&c->logs, c->follow.reader);
    job_report_progress(c, true);
    o->at = clock_read_wall();
    o->usage = *usage_finish(&c->meter);
    set_code(c);
    say_why(c);
    if (o->code && o->started && !*o->stop)
        cause_of_log(&c->log, o->error, sizeof o->error);
    if (*o->reason)
        logfile_note(&c->log, "%s", o->reason);
    logfile_end(&c->log);
    echo_follow(&c->echo);
    o->log_bytes = logfile_bytes(&c->log);
    o->log_dropped = c->log.dropped;
    write_line(c);
    c->over = true;
    close_job(c);
    outbox_exit(&c->outbox, c->exit_line.at);
    obey_connect(c); /* the job may have ended before it was time to connect */
    finish_record(c);
}

bool finish_is_forgotten(const struct conductor *c)
{
    struct stat st;
    return c->over && fstat(c->dir, &st) == 0 && st.st_nlink == 0 &&
           (!link_is_up(&c->link) || c->refused);
}

/* Retries until the record is on disk. */
static void try_again(struct conductor *c, const struct err *why)
{
    if (finish_is_forgotten(c)) {
        c->leave = true;
        return;
    }
    notes_add(&c->notes, "%s; trying again", why->text);
    loop_set_timer(&c->loop, TIMER_RECORD, clock_read_steady() + RECORD_RETRY);
}

static void sync_record(struct conductor *c)
{
    struct err err;
    if (c->synced)
        return;
    if (exit_record_sync(c->dir, &err) < 0)
        try_again(c, &err);
    else
        c->synced = true;
}

void finish_record(struct conductor *c)
{
    bool first = !c->recorded;
    struct err err;
    if (first && exit_record_write(c->dir, c->reserve, c->exit_line.at, c->exit_line.n, &err) < 0) {
        try_again(c, &err);
        return;
    }
    c->recorded = true;
    if (first)
        copy_record(c);
    if (!link_is_up(&c->link))
        finish_unheard(c);
    else if (first)
        loop_set_timer(&c->loop, TIMER_RECORD, clock_read_steady() + ACK_PATIENCE);
    else
        sync_record(c);
}

void finish_unheard(struct conductor *c)
{
    if (!c->recorded)
        return;
    sync_record(c);
    malloc_trim(0); /* the conductor may stay for a long time */
    loop_set_timer(&c->loop, TIMER_LEAVE, clock_read_steady() + c->spec.linger);
}

void finish_leave(struct conductor *c)
{
    finish_record(c);
    finish_unheard(c);
    c->leave = true; /* the machine is shutting down and would kill us soon */
}
