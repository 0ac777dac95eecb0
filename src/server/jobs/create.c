/* Owns the making of a job: its first row, its dependencies, its place among the live jobs. */
#include "server/jobs/create.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "server/events.h"
#include "server/jobs/category.h"
#include "server/jobs/past.h"
#include "server/log.h"
#include "store/deps.h"
#include "store/job_state.h"
#include "store/jobs.h"

struct live_job *create_job(const struct spec *s, usec_t submitted)
{
    struct live_job *j = xcalloc(1, sizeof *j);
    usec_t deadline = s->deadline_at ? s->deadline_at : s->deadline ? submitted + s->deadline : 0;
    j->task = TASK_NONE;
    j->first_step = NAN;
    j->row = (struct job_row){
        .name = xstrdup(s->name),
        .user = xstrdup(s->user),
        .reason = xstrdup(""),
        .error = xstrdup(""),
        .state = s->hold ? JOB_HELD : JOB_QUEUED,
        .held = s->hold,
        .priority = s->priority,
        .submitted = submitted,
        .deadline = deadline,
        .code = -1,
        .work = TERMS_WORK_UNKNOWN,
        .step = NAN,
        .total =
            s->total.value && s->total.unit == PROGRESS_UNIT_NONE ? (double)s->total.value : NAN,
        .epoch = NAN,
        .epochs = NAN,
        .loss = NAN,
        .metric = NAN,
        .rate = NAN,
    };
    snprintf(j->row.group_name, sizeof j->row.group_name, "%s", s->group ? s->group : "");
    return j;
}

struct look {
    enum job_state state;
    bool started;
};

static int see_state(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    *(struct look *)ctx = (struct look){row->state, row->started > 0};
    return 0;
}

int create_look_at_dep(struct yard *y, const struct live_dep *dep, enum dep_state *out,
                       enum job_state *on, struct err *err)
{
    const struct live_job *live = yard_live(y, dep->on);
    struct look look;
    if (live)
        look = (struct look){live->row.state, live->row.started > 0};
    else if (store_job_get(y->store, dep->on, see_state, &look, err) < 0)
        return -1;
    *out = rules_dep(dep->kind, look.state, look.started);
    *on = look.state;
    return 0;
}

int create_write(struct yard *y, struct live_job *j, int64_t array, struct err *err)
{
    j->row.request = j->submission->id;
    j->row.array = array;
    terms_to_row(&j->terms, &j->row);
    if (store_job_add(y->store, &j->row, &j->row.id, err) < 0)
        return -1;
    j->row.array = array == JOB_ARRAY_FIRST ? j->row.id : array;
    for (size_t i = 0; i < j->deps.n; i++)
        if (store_dep_add(y->store, j->row.id, j->deps.at[i].kind, j->deps.at[i].on, err) < 0)
            return -1;
    return 0;
}

void create_register(struct yard *y, struct live_job *j)
{
    struct err err;
    live_add(&y->jobs, j);
    live_depend(&y->jobs, j);
    past_find(y, j);
    category_find(y, j);
    if (rules_make_job(y, j, &err) < 0) /* its terms were checked when it was submitted */
        log_warning("job=%lld terms: %s", (long long)j->row.id, err.text);
    events_add(y, "job.submitted", j->row.id, json_pack("{s:s}", "name", j->row.name));
}
