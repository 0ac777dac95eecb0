/* trainyard wait JOB...: waits until jobs are over, one after the other, on the stream of each
 * job's events from the first one on. An end that comes before the stream is open is among
 * them, so none can be missed. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/job_choice.h"
#include "cli/job_text.h"
#include "cli/member.h"
#include "cli/server_link.h"
#include "cli/wire_out.h"

enum { TIME_IS_UP = 124 /* as for timeout(1) */ };

struct waiting {
    const struct args *args;
    struct server_link link;
    usec_t deadline;
    char seen[24]; /* the last event of the job */
    bool reached;
};

static bool time_is_up(void *ctx)
{
    const struct waiting *w = ctx;
    return clock_read_steady() >= w->deadline;
}

static int get_job(struct waiting *w, const char *name, json_t **out, struct err *err)
{
    AUTO_FREE char *path = server_link_job_path(name, NULL);
    int rc = server_link_get(&w->link, path, out, err);
    w->reached |= rc == 0;
    return rc;
}

/* Ends the stream when the job is over. */
static int on_event(void *ctx, const struct sse_event *event)
{
    struct waiting *w = ctx;
    if (*event->id)
        snprintf(w->seen, sizeof w->seen, "%.20s", event->id);
    return !strcmp(event->event, "job.ended");
}

static int await_end(struct waiting *w, int64_t id, struct err *err)
{
    struct str path = {0};
    str_addf(&path, "/events?follow=1&job=%lld&after=%s", (long long)id, *w->seen ? w->seen : "0");
    int rc = server_link_events(&w->link, path.at, NULL, on_event, w, err);
    str_done(&path);
    return rc;
}

/* Waits until the job is over; *out is the job then. Also waits for a server that went away,
 * because the job goes on without it. */
static int wait_for(struct waiting *w, int64_t number, json_t **out, struct err *err)
{
    char id[24];
    snprintf(id, sizeof id, "%lld", (long long)number);
    w->seen[0] = '\0';
    for (;;) {
        json_auto_t *job = NULL;
        int rc = get_job(w, id, &job, err);
        if (rc == 0 && job_text_over(job)) {
            *out = json_incref(job);
            return 0;
        }
        if (rc == 0)
            rc = await_end(w, number, err);
        if (rc < 0 && w->reached && err->code == ERR_UNREACHABLE)
            rc = server_link_wait_back(&w->link, err);
        if (rc < 0)
            return -1;
    }
}

static void print_end(const struct args *args, const json_t *job)
{
    struct str out = {0};
    if (args_get(args, "json"))
        wire_out_line(job, &out);
    else if (!args_get(args, "quiet"))
        job_text_add_outcome(job, &out);
    fputs(out.at ? out.at : "", stdout);
    fflush(stdout);
    str_done(&out);
}

static int wait_for_all(struct waiting *w, const json_t *jobs, int *worst, struct err *err)
{
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        const json_t *chosen = json_array_get(jobs, i);
        int64_t id = member_integer(chosen, "id");
        json_auto_t *job = NULL;
        if (wait_for(w, id, &job, err) < 0) {
            if (time_is_up(w))
                err_set(err, ERR_IO, "timeout: job %lld (%.100s) is not over", (long long)id,
                        member_text(chosen, "name"));
            return -1;
        }
        print_end(w->args, job);
        int code = job_text_exit(job);
        *worst = code > *worst ? code : *worst;
    }
    return 0;
}

static int run(const struct args *args)
{
    struct waiting w = {.args = args, .deadline = USEC_NEVER};
    struct server_link_config config = {.stop = time_is_up, .ctx = &w};
    const char *timeout = args_get(args, "timeout");
    struct err err;
    usec_t time;
    json_auto_t *jobs = NULL;
    int worst = 0, rc = 0;
    if (!job_choice_given(args))
        rc = err_set(&err, ERR_INVALID, "missing JOB..., or --state, --user or --name");
    else if (timeout && (rc = time_parse(timeout, &time, &err)) < 0)
        rc = err_prefix(&err, "--timeout");
    else if (timeout)
        w.deadline = clock_read_steady() + time;
    if (rc == 0)
        rc = server_link_open(args, &config, &w.link, &err);
    if (rc == 0)
        worst = job_choice_make(args, &w.link, JOB_CHOICE_ANY, &jobs);
    if (rc == 0)
        rc = wait_for_all(&w, jobs, &worst, &err);
    server_link_close(&w.link);
    if (rc < 0) {
        int code = command_fail(args->command, &err);
        return timeout && err.code == ERR_IO && time_is_up(&w) ? TIME_IS_UP : code;
    }
    return worst;
}

static const struct option options[] = {
    JOB_CHOICE_OPTIONS,
    {"timeout", 't', "TIME", "give up after this time with exit code 124", false},
    OPTION_JSON("print each job when it ends, one object per line"),
    OPTION_QUIET("print nothing"),
    OPTION_SERVER,
    {},
};

const struct command command_wait = {
    .name = "wait",
    .summary = "Wait until jobs are over, and exit with the highest exit code",
    .operands = "JOB...",
    .details =
        "The exit code is 0 when all jobs are done, otherwise the highest exit code of a job.\n"
        "Jobs that options select are those that are not over now.\n\n" JOB_CHOICE_DETAILS,
    .examples = "  trainyard wait $(trainyard submit -q job.yaml) && echo done",
    .options = options,
    .max_operands = OPERANDS_ANY,
    .completes = "JOB",
    .run = run,
};
