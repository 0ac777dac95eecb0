/* Owns the explanation of a job that has ended: how, and after how long. */
#include "server/explain/over.h"

#include <inttypes.h>

#include "base/str.h"
#include "server/explain/text.h"
#include "store/job_state.h"
#include "store/jobs.h"

static const char *describe_end(enum job_state state)
{
    switch (state) {
    case JOB_DONE:
        return "succeeded";
    case JOB_FAILED:
        return "failed";
    case JOB_CANCELLED:
        return "was cancelled";
    case JOB_TIMEOUT:
        return "reached its time limit and was stopped";
    default:
        return "was lost";
    }
}

static void summarise_end(struct explanation *x, const struct job_row *row)
{
    struct str *s = &x->summary;
    phrase_job_id(s, x->y, row->id);
    str_addf(s, " %s", describe_end(row->state));
    if (row->started && row->ended >= row->started) {
        str_add(s, " after ");
        phrase_span(s, row->ended - row->started);
    } else {
        str_add(s, " before it started");
    }
    if (row->ended) {
        str_add(s, ", ");
        phrase_span(s, x->wall - row->ended);
        str_add(s, " ago");
    }
    str_add(s, ".");
}

/* Whether the reason adds nothing to the exit code. */
static bool is_bare(const char *reason)
{
    return !reason || !*reason || !strncmp(reason, "exit code ", 10) ||
           !strncmp(reason, "killed by signal ", 17);
}

static void add_cause(struct explanation *x, const struct job_row *row)
{
    struct str s = {0};
    bool bare = is_bare(row->reason);
    if (row->state == JOB_CANCELLED && !bare && !strcmp(row->reason, "cancelled"))
        str_add(&s, "A user cancelled it.");
    else if (!bare) {
        str_add(&s, "Reason: ");
        str_add_utf8(&s, row->reason);
        str_add(&s, ".");
    } else if (row->code > 128)
        str_addf(&s, "Its command was killed by signal %d.", row->code - 128);
    else if (row->code >= 0)
        str_addf(&s, "Its command exited with code %d.", row->code);
    else
        str_add(&s, "The reason is unknown.");
    explain_reason(x, job_state_name(row->state), &s, NULL);
}

/* The line of its output that tells why. */
static void add_error(struct explanation *x, const struct job_row *row)
{
    struct str s = {0};
    if (!*row->error)
        return;
    str_add(&s, "It printed: ");
    str_add_utf8(&s, row->error);
    explain_reason(x, "error", &s, NULL);
}

static void add_history(struct explanation *x, const struct job_row *row)
{
    struct str s = {0};
    bool ran = row->started && row->ended >= row->started;
    str_add(&s, "It waited ");
    phrase_span(&s, row->wait_time);
    str_add(&s, ran ? " and ran " : " and never ran");
    if (ran)
        phrase_span(&s, row->run_time);
    if (row->attempt > 1) {
        str_addf(&s, ", in %u attempts", row->attempt);
        if (row->failures)
            str_addf(&s, ", %u of which failed", row->failures);
    }
    str_add(&s, ".");
    explain_reason(x, "history", &s, NULL);
}

void explain_over(struct explanation *x, const struct job_row *row)
{
    struct str s = {0};
    summarise_end(x, row);
    add_cause(x, row);
    add_error(x, row);
    add_history(x, row);
    if (row->state != JOB_DONE && row->attempt) {
        str_addf(&s, "`trainyard logs %" PRId64 "` shows its output.", row->id);
        explain_free(x, &s);
    }
    str_addf(&s, "`trainyard requeue %" PRId64 "` runs it again.", row->id);
    explain_free(x, &s);
}
