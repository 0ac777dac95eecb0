/* Owns the course of the job: its start, its output, its processes, its end. life.c has the
 * rules; this file carries them out. */
#include "conductor/job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "conductor/cause.h"
#include "conductor/conductor.h"
#include "conductor/finish.h"
#include "conductor/restart.h"
#include "protocol/claim.h"

/* READS: chunks of output per wake-up, so that a job that never stops writing does not block
 * everything else. */
enum { READS = 16 };

bool job_read_output(struct conductor *c, unsigned chunks)
{
    while (chunks--) {
        ssize_t n = read(c->output.fd, c->bytes, sizeof c->bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN; /* EIO: no process has the terminal open any more */
        if (n == 0)
            return false;
        logfile_write(&c->log, c->bytes, (size_t)n);
        follow_output(&c->follow, clock_read_steady(), c->bytes, (size_t)n, n == sizeof c->bytes);
    }
    return true;
}

static void on_output(void *ctx)
{
    struct conductor *c = ctx;
    if (!job_read_output(c, READS))
        loop_close(&c->loop, &c->output);
    echo_follow(&c->echo);
}

static void take_report(struct conductor *c, const struct child_report *r)
{
    char text[NOTES_TEXT];
    child_describe(r, &c->spec, text, sizeof text);
    notes_clean(text);
    if (child_is_fatal(r)) {
        c->failed = true;
        c->exit.no_workdir = r->step == CHILD_WORKDIR && r->why == ENOENT;
        snprintf(c->exit.reason, sizeof c->exit.reason, "%s", text);
        return;
    }
    if (r->step == CHILD_CGROUP)
        c->groups.at[r->group].joined = false;
    notes_add(&c->notes, "%s", text);
}

/* Reads the reports of the new process. At their end the command runs or has failed. */
static void on_report(void *ctx)
{
    struct conductor *c = ctx;
    struct child_report r;
    int got;
    while ((got = child_read_report(&c->child, &r)) > 0)
        take_report(c, &r);
    if (got == 0)
        return;
    loop_close(&c->loop, &c->report);
    if (c->failed)
        return;
    if (!c->exit.started)
        c->exit.started = c->born;
    if (c->incarnation)
        outbox_restarted(&c->outbox,
                         &(struct restarted_message){c->incarnation, c->spec.cpus,
                                                     clock_read_steady() - c->restart.asked});
    life_start(&c->life, clock_read_steady());
    outbox_started(&c->outbox, c->child.pid, c->exit.started);
    usage_begin(&c->meter, &c->groups, c->child.pid);
}

/* Carries out what the rules ask for. */
static void job_act(struct conductor *c, unsigned acts);

void job_start(struct conductor *c)
{
    struct err err;
    if (child_start(&c->spec, &c->groups, &c->child, &err) < 0) {
        c->failed = true;
        c->output.fd = c->report.fd = -1;
        snprintf(c->exit.reason, sizeof c->exit.reason, "%s", err.text);
        job_act(c, life_all_ended(&c->life));
        return;
    }
    c->born = clock_read_wall();
    c->tree.leader = c->child.pid;
    claim_add_leader(c->claim, c->child.pid);
    c->output = (struct loop_watch){.fd = c->child.output, .ready = on_output, .ctx = c};
    c->report = (struct loop_watch){.fd = c->child.report, .ready = on_report, .ctx = c};
    if (c->spec.sample)
        loop_set_timer(&c->loop, TIMER_SAMPLE, clock_read_steady() + c->spec.sample);
}

void job_watch(struct conductor *c)
{
    loop_wait_for(&c->loop, &c->output, EPOLLIN);
    loop_wait_for(&c->loop, &c->report, EPOLLIN);
}

static void job_act(struct conductor *c, unsigned acts)
{
    struct err err;
    if (acts & LIFE_WARN)
        tree_signal(&c->tree, c->spec.warning.reach, c->spec.warning.signal);
    if (acts & LIFE_SIGNAL) {
        tree_signal(&c->tree, c->stop_reach, c->life.signal);
        if (tree_thaw(&c->tree, &err) < 0)
            notes_add(&c->notes, "%s", err.text);
    }
    if (acts & LIFE_KILL)
        tree_kill(&c->tree);
    if (acts & LIFE_END && !restart_job(c))
        finish_job(c);
}

/* It was stopped before its server let it begin. */
static void stop_waiting(struct conductor *c)
{
    c->awaits = false;
    c->failed = true;
    snprintf(c->exit.reason, sizeof c->exit.reason, "it had not begun");
    job_act(c, life_all_ended(&c->life));
}

void job_stop(struct conductor *c, const struct stop_message *how, const char *reason)
{
    usec_t grace = how->grace == USEC_NEVER ? c->spec.grace : how->grace;
    int signal = how->signal ? how->signal : c->spec.checkpoint_signal;
    snprintf(c->exit.stop, sizeof c->exit.stop, "%s", reason);
    c->restart.wanted = false; /* restart_ask() sets it again */
    c->stop_reach = how->reach;
    if (c->awaits) {
        stop_waiting(c);
        return;
    }
    job_act(c, life_stop(&c->life, clock_read_steady(), grace, signal));
}

static void take_leader_end(struct conductor *c, int status)
{
    c->leader_ended = true;
    c->status = status;
    c->tree.leader = c->meter.leader = 0;
    if (c->report.fd >= 0)
        on_report(c);
}

/* Names the processes that were left running before they are killed. */
static void end_without_leader(struct conductor *c)
{
    char *left = c->exit.left_running;
    unsigned acts = life_leader_ended(&c->life, clock_read_steady(), c->status);
    if (acts & LIFE_KILL && !*c->exit.stop)
        cause_left_running(&c->tree, left, sizeof c->exit.left_running);
    if (*left && c->output.fd >= 0)
        job_read_output(c, READS);
    if (*left)
        logfile_note(&c->log, "ended processes that the command left running: %s", left);
    job_act(c, acts);
}

void job_reap(struct conductor *c)
{
    int status;
    pid_t pid;
    bool leader = false;
    if (c->over)
        return;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == c->tree.leader) {
            leader = true;
            take_leader_end(c, status);
        }
    }
    /* A subreaper without children has no descendants either. */
    if (pid < 0 && tree_has_left_cgroups(&c->tree))
        job_act(c, life_all_ended(&c->life));
    else if (leader)
        end_without_leader(c);
}

void job_tick(struct conductor *c)
{
    job_act(c, life_tick(&c->life, clock_read_steady()));
    job_reap(c);
}

void job_sample(struct conductor *c)
{
    outbox_usage(&c->outbox, clock_read_wall(), usage_sample(&c->meter), follow_saves(&c->follow));
    loop_set_timer(&c->loop, TIMER_SAMPLE, clock_read_steady() + c->spec.sample);
}

void job_report_progress(struct conductor *c, bool end)
{
    struct progress_message m;
    if (!follow_take(&c->follow, clock_read_steady(), end, &m))
        return;
    m.at = clock_read_wall();
    outbox_progress(&c->outbox, &m);
}
