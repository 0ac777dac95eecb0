/* Owns the endpoint that lists jobs. A list reads one row more than its page to know whether
 * another page follows. In a folded list, the first job of an array that is found stands for the
 * array, and the list goes on after the array's last job: the ids of an array follow each
 * other. */
#include <stdlib.h>

#include "server/api/call.h"
#include "server/api/job_view.h"
#include "server/api/parts.h"
#include "server/jobs/find.h"
#include "server/jobs/gang.h"
#include "store/array_count.h"
#include "store/job_list.h"
#include "store/job_state.h"
#include "store/jobs.h"

enum {
    LIST_SELECT,
    LIST_STATE,
    LIST_ACTIVE,
    LIST_FAILED,
    LIST_NAME,
    LIST_USER,
    LIST_ARRAY,
    LIST_LIMIT,
    LIST_AFTER,
    LIST_ORDER,
    LIST_FOLD,
    LIST_IDS
};

static const struct api_query list_query[] = {
    [LIST_SELECT] = {"select", QUERY_TEXT,
                     .help =
                         "Only the jobs that this means: a number, a range of numbers, a name or "
                         "a pattern of names. The number or name of an array means all of it, "
                         "12_3 or train[3] one of its jobs.",
                     .example = "\"train[3]\""},
    [LIST_STATE] = {"state", QUERY_SET, .help = "Only jobs in these states",
                    .words = JOB_STATE_WORDS, .example = "[\"running\",\"queued\"]"},
    [LIST_ACTIVE] = {"active", QUERY_FLAG, .help = "Only jobs that have not ended"},
    [LIST_FAILED] = {"failed", QUERY_FLAG,
                     .help = "With active: also jobs that failed a short while ago; how long is "
                             "the server's option --show-failed"},
    [LIST_NAME] = {"name", QUERY_TEXT,
                   .help = "Only jobs with this name; * matches any text, ? any character",
                   .example = "\"train*\""},
    [LIST_USER] = {"user", QUERY_TEXT, .help = "Only this user's jobs"},
    [LIST_ARRAY] = {"array", QUERY_INTEGER,
                    .help = "Only jobs of the array whose first job has this id", .min = 1,
                    .max = INT64_MAX},
    [LIST_LIMIT] = {"limit", QUERY_INTEGER, .help = "Jobs per page", .min = 1, .max = 1000,
                    .fallback = 100},
    [LIST_AFTER] = {"after", QUERY_INTEGER, .help = "`next` of the previous page", .min = 1,
                    .max = INT64_MAX},
    [LIST_ORDER] = {"order", QUERY_CHOICE, .help = "Which jobs come first",
                    .words = "newest|oldest"},
    [LIST_FOLD] = {"fold", QUERY_FLAG,
                   .help = "List an array once: one of its jobs stands for all, with `fold`"},
    [LIST_IDS] = {"ids", QUERY_IDS,
                  .help = "Only these jobs, in this order; no other filter, and at most `limit`",
                  .example = "[12,15]"},
    {0},
};

_Static_assert(COUNT_OF(list_query) <= API_QUERIES + 1, "a parameter has no place");

static const struct api_member page_members[] = {
    API_MEMBER("jobs", "Job[]", "The jobs of this page"),
    API_MEMBER("next", "integer|null", "`after` of the next page; null on the last"),
    {0},
};

static const struct api_schema page_schema = {"JobPage", .members = page_members};

struct page {
    struct yard *y;
    bool fold;
    int64_t array; /* that the last row of the page stands for; 0 = none */
    json_t *jobs;
    uint32_t states; /* 0 = any */
    bool failed;     /* also those that have failed */
    uint32_t rows, limit;
    int64_t last; /* id of the last row of the page */
    bool more;
};

static uint32_t active_states(void)
{
    uint32_t states = 0;
    for (enum job_state s = 0; s < JOB_STATE_COUNT; s++)
        states |= job_state_over(s) ? 0 : 1u << s;
    return states;
}

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
    /* The state in memory may be newer. */
    const struct live_job *j = yard_live(p->y, row->id);
    bool listed = j ? p->states >> j->row.state & 1 : p->failed || p->states >> row->state & 1;
    if (p->states && !listed)
        return 0;
    json_array_append_new(p->jobs, job_view_brief(p->y, row));
    if (!p->fold || !row->array)
        return 0;
    p->array = row->array;
    return 1;
}

/* ---- arrays ---------------------------------------------------------------- */

struct fold_view {
    int64_t jobs, first, last;
    double cpus, gpus;
    json_t *states;
};

static const struct api_member fold_members[] = {
    API_INTEGER(fold_view, jobs, "Jobs of the array"),
    API_INTEGER(fold_view, first, "Lowest index"),
    API_INTEGER(fold_view, last, "Highest index"),
    API_NUMBER(fold_view, cpus, "CPUs that they hold now"),
    API_NUMBER(fold_view, gpus, "GPUs that they hold now"),
    API_JSON(fold_view, states, "JobCounts", "How many are in each state that occurs"),
    {0},
};

static const struct api_schema fold_schema = {"ArrayFold", .members = fold_members};

static const struct api_member count_members[] = {API_MEMBER("", "integer", ""), {0}};

static const struct api_schema count_schema = {"JobCounts", API_MAP, .members = count_members};

static json_t *print_fold(const struct yard *y, int64_t array, const struct array_count *c)
{
    struct fold_view v = {
        .jobs = c->jobs, .first = c->first, .last = c->last, .states = json_object()};
    for (enum job_state s = 0; s < JOB_STATE_COUNT; s++)
        if (c->in[s])
            json_object_set_new(v.states, job_state_name(s), json_integer(c->in[s]));
    for (int64_t id = array; id <= c->last_id; id++) {
        const struct live_job *j = yard_live(y, id);
        v.cpus += j && j->attempt ? api_units(gang_cpus(j->attempt)) : 0;
        v.gpus += j && j->attempt ? api_units(gang_gpus(j->attempt)) : 0;
    }
    return api_print(&fold_schema, &v);
}

/* The last row of the page stands for its array; the list goes on after that. */
static int fold_array(struct page *p, struct job_filter *f, struct err *err)
{
    struct array_count c;
    int64_t array = p->array;
    p->array = 0;
    if (store_array_count(p->y->store, array, &c, err) < 0)
        return -1;
    json_t *last = json_array_get(p->jobs, json_array_size(p->jobs) - 1);
    if (c.jobs > 1)
        json_object_set_new(last, "fold", print_fold(p->y, array, &c));
    p->last = f->after = f->oldest_first ? c.last_id : array;
    return 0;
}

static int fill_page(struct page *p, struct job_filter *f, struct err *err)
{
    do {
        if (p->array && fold_array(p, f, err) < 0)
            return -1;
        f->limit = p->limit - p->rows + 1;
        if (store_job_list(p->y->store, f, add_job, p, err) < 0)
            return -1;
    } while (p->array);
    return 0;
}

/* ---- lists ----------------------------------------------------------------- */

/* Jobs that do not exist are left out. */
static int add_by_id(struct page *p, const char *ids, struct err *err)
{
    for (char *end; *ids && p->rows < p->limit; ids = end + (*end == ',')) {
        int64_t id = strtoll(ids, &end, 10);
        if (store_job_get(p->y->store, id, add_job, p, err) < 0 && err->code != ERR_NOT_FOUND)
            return -1;
    }
    return 0;
}

static void list_by_id(const struct api_call *c)
{
    const struct api_value *q = c->query;
    struct page p = {.y = c->yard, .jobs = json_array(), .limit = (uint32_t)q[LIST_LIMIT].number};
    struct err err;
    if (add_by_id(&p, q[LIST_IDS].text, &err) < 0) {
        json_decref(p.jobs);
        reply_problem(c->reply, &err, NULL);
        return;
    }
    turn_reply(c->yard, c->reply, 200, json_pack("{s:o, s:n}", "jobs", p.jobs, "next"));
}

static bool filters(const struct api_value *q)
{
    for (int i = 0; i < LIST_IDS; i++)
        if (q[i].given && i != LIST_LIMIT)
            return true;
    return false;
}

static void list_jobs(const struct api_call *c)
{
    const struct api_value *q = c->query;
    struct found found = {0};
    struct err err;
    if (q[LIST_IDS].given && filters(q)) {
        api_refuse(c, "ids", "not allowed together with other filters");
        return;
    }
    if (q[LIST_IDS].given) {
        list_by_id(c);
        return;
    }
    if (q[LIST_STATE].given && q[LIST_ACTIVE].given) {
        api_refuse(c, "state", "give either state or active, not both");
        return;
    }
    if (q[LIST_SELECT].given && (q[LIST_NAME].given || q[LIST_ARRAY].given)) {
        api_refuse(c, "select", "select takes the place of name and array; leave those out");
        return;
    }
    if (q[LIST_SELECT].given && find_jobs(c->yard, q[LIST_SELECT].text, &found, &err) < 0) {
        reply_problem(c->reply, &err, "select");
        return;
    }
    bool failed = q[LIST_ACTIVE].number && q[LIST_FAILED].number && c->yard->config.show_failed;
    struct job_filter f = {
        .states = q[LIST_ACTIVE].number ? active_states() : (uint32_t)q[LIST_STATE].number,
        .failed_since = failed ? clock_wall(&c->yard->clock) - c->yard->config.show_failed : 0,
        .name = q[LIST_NAME].text,
        .user = q[LIST_USER].text,
        .array = q[LIST_ARRAY].number,
        .after = q[LIST_AFTER].number,
        .oldest_first = q[LIST_ORDER].number == 1,
    };
    if (q[LIST_SELECT].given)
        find_narrow(&found, &f);
    struct page p = {.y = c->yard,
                     .fold = q[LIST_FOLD].number,
                     .jobs = json_array(),
                     .states = f.states,
                     .failed = failed,
                     .limit = (uint32_t)q[LIST_LIMIT].number};
    if (fill_page(&p, &f, &err) < 0) {
        json_decref(p.jobs);
        reply_problem(c->reply, &err, NULL);
        return;
    }
    json_t *next = p.more ? json_integer(p.last) : json_null();
    turn_reply(c->yard, c->reply, 200, json_pack("{s:o, s:o}", "jobs", p.jobs, "next", next));
}

/* ---- endpoints ------------------------------------------------------------- */

static const struct api_schema *const schemas[] = {&page_schema, &fold_schema, &count_schema, NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "jobs_list",
        .method = "GET",
        .path = API_V1 "/jobs",
        .handle = list_jobs,
        .summary = "List jobs, page by page",
        .description = "A job that changes while pages are read is on at most one of them.",
        .query = list_query,
        .replies = {{200, "JobPage", "A page of jobs"}},
    },
    {0},
};

const struct api_part api_part_job_list = {"Jobs", endpoints, schemas};
