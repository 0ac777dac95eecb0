/* Owns lists of jobs, and what is told of a single one: itself, its samples, why it
 * waits. A list reads its page and one row more, by the store's cursor. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "server/api/handlers.h"
#include "server/api/job_view.h"
#include "server/explain/explain.h"
#include "server/jobs/parts.h"
#include "store/job_list.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "store/samples.h"
#include "wire/value.h"

enum { PAGE_DEFAULT = 100, PAGE_MAX = 1000 };

/* ---- lists ----------------------------------------------------------------- */

static uint32_t active_states(void)
{
    uint32_t states = 0;
    for (enum job_state s = 0; s < JOB_STATE_COUNT; s++)
        states |= job_state_over(s) ? 0 : 1u << s;
    return states;
}

static const char *state_name(const void *ctx, size_t i)
{
    (void)ctx;
    return job_state_name((enum job_state)i);
}

/* "running,queued". */
static int parse_states(const char *text, uint32_t *out, struct err *err)
{
    uint32_t states = 0;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, ",");
        char shown[VALUE_SHOWN];
        AUTO_FREE char *word = xstrndup(p, n);
        int state = job_state_parse(word);
        if (state < 0) {
            const char *meant = str_nearest(word, JOB_STATE_COUNT, state_name, NULL);
            return err_set(err, ERR_INVALID, "state: '%s' is none%s%s%s", value_show(word, shown),
                           meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
        }
        states |= 1u << state;
        p += n + (p[n] == ',');
    }
    if (!states)
        return err_set(err, ERR_INVALID, "state: expected states, separated by commas");
    *out = states;
    return 0;
}

static bool read_states(const struct request *q, struct reply *r, uint32_t *states)
{
    struct err err;
    const char *text = request_query(q, "state");
    bool active = false;
    if (!api_get_flag(q, r, "active", &active))
        return false;
    *states = active ? active_states() : 0;
    if (!text)
        return true;
    if (request_query(q, "active"))
        err_set(&err, ERR_INVALID, "state: give this or active, not both");
    else if (parse_states(text, states, &err) == 0)
        return true;
    reply_problem(r, &err, "state");
    return false;
}

static bool read_order(const struct request *q, struct reply *r, bool *oldest_first)
{
    struct err err;
    unsigned order = 0;
    const char *text = request_query(q, "order");
    if (text && value_choice("newest|oldest", text, &order, &err) < 0) {
        err_prefix(&err, "order");
        reply_problem(r, &err, "order");
        return false;
    }
    *oldest_first = order == 1;
    return true;
}

struct page {
    struct yard *y;
    json_t *jobs;
    uint32_t states; /* 0 = any */
    uint32_t rows, limit;
    int64_t last; /* id of the last row of the page */
    bool more;
};

static int add_job(void *ctx, const struct job_row *row, struct err *err)
{
    struct page *p = ctx;
    (void)err;
    if (p->rows == p->limit) {
        p->more = true;
        return 1;
    }
    p->rows++;
    p->last = row->id;
    /* It may be in another state since this turn began. */
    const struct live_job *j = yard_live(p->y, row->id);
    if (!p->states || p->states >> (j ? j->row.state : row->state) & 1)
        json_array_append_new(p->jobs, job_view_brief(p->y, row));
    return 0;
}

void api_jobs_list(const struct request *q, struct reply *r, void *ctx)
{
    struct yard *y = ctx;
    struct job_filter f = {.name = request_query(q, "name"), .user = request_query(q, "user")};
    struct err err;
    int64_t limit = PAGE_DEFAULT;
    if (!api_check_query(q, r) || !read_states(q, r, &f.states) ||
        !read_order(q, r, &f.oldest_first) || !api_get_int(q, r, "limit", 1, PAGE_MAX, &limit) ||
        !api_get_int(q, r, "after", 1, INT64_MAX, &f.after) ||
        !api_get_int(q, r, "array", 1, INT64_MAX, &f.array))
        return;
    f.limit = (uint32_t)limit + 1;
    struct page p = {.y = y, .jobs = json_array(), .states = f.states, .limit = (uint32_t)limit};
    if (store_job_list(y->store, &f, add_job, &p, &err) < 0) {
        json_decref(p.jobs);
        reply_problem(r, &err, NULL);
        return;
    }
    json_t *next = p.more ? json_integer(p.last) : json_null();
    turn_reply(y, r, 200, json_pack("{s:o, s:o}", "jobs", p.jobs, "next", next));
}

/* ---- one job --------------------------------------------------------------- */

void api_job_show(const struct request *q, struct reply *r, void *ctx)
{
    struct yard *y = ctx;
    int64_t id;
    if (api_check_query(q, r) && api_find_job(y, q, r, &id))
        api_reply_job(y, r, 200, id);
}

struct samples {
    json_t *list;
    bool gpu; /* units are of GPUs, not CPUs */
};

static int add_sample(void *ctx, uint32_t attempt, const struct sample_row *row, struct err *err)
{
    struct samples *s = ctx;
    double size = row->units / UNIT;
    json_t *o = json_object();
    (void)err;
    json_object_set_new(o, "attempt", json_integer(attempt));
    json_object_set_new(o, "at", job_view_time(row->at));
    json_object_set_new(o, "step", job_view_number(row->step));
    json_object_set_new(o, "metric", job_view_number(row->metric));
    json_object_set_new(o, "cpus", s->gpu ? json_null() : job_view_number(size));
    json_object_set_new(o, "gpus", s->gpu ? job_view_number(size) : json_null());
    json_object_set_new(o, "cpu_s", job_view_number(row->cpu_time / (double)USEC_PER_SEC));
    json_object_set_new(o, "memory_mb", job_view_number(row->memory_mb));
    json_array_append_new(s->list, o);
    return 0;
}

static int read_kind(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    ((struct samples *)ctx)->gpu = row->gpus_max > 0;
    return 0;
}

void api_job_progress(const struct request *q, struct reply *r, void *ctx)
{
    struct yard *y = ctx;
    struct samples s = {0};
    struct err err;
    int64_t id;
    if (!api_check_query(q, r) || !api_find_job(y, q, r, &id))
        return;
    s.list = json_array();
    if (store_job_get(y->store, id, read_kind, &s, &err) < 0 ||
        store_sample_list(y->store, id, add_sample, &s, &err) < 0) {
        json_decref(s.list);
        reply_problem(r, &err, NULL);
        return;
    }
    turn_reply(y, r, 200, json_pack("{s:I, s:o}", "job", (json_int_t)id, "samples", s.list));
}

void api_job_explain(const struct request *q, struct reply *r, void *ctx)
{
    struct yard *y = ctx;
    struct err err;
    int64_t id;
    json_t *why = NULL;
    if (!api_check_query(q, r) || !api_find_job(y, q, r, &id))
        return;
    if (explain_job(y, id, &why, &err) < 0)
        reply_problem(r, &err, NULL);
    else
        turn_reply(y, r, 200, why);
}

/* For Horovod's host discovery: a line for each node, and how many workers it has room
 * for. */
void api_job_hosts(const struct request *q, struct reply *r, void *ctx)
{
    struct yard *y = ctx;
    char line[320] = "";
    int64_t id;
    if (!api_check_query(q, r) || !api_find_job(y, q, r, &id))
        return;
    const struct live_job *j = yard_live(y, id);
    if (j && j->attempt)
        snprintf(line, sizeof line, "%s:%lld\n", y->cluster.nodes[j->attempt->node].name,
                 (long long)parts_of(j, j->attempt));
    reply_text(r, 200, "text/plain", line);
}
