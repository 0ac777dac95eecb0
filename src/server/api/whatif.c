/* Owns the endpoint that tells what other policies would do with the current jobs. The reply
 * comes when the study is complete (server/studies.h). */
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "server/api/band.h"
#include "server/api/call.h"
#include "server/api/parts.h"
#include "server/explain/forecast.h"
#include "server/jobs/create.h"
#include "server/jobs/past.h"
#include "server/jobs/rules.h"
#include "server/jobs/submit.h"
#include "server/studies.h"
#include "wire/spec_check.h"
#include "wire/spec_json.h"

/* How far the length of a job may be off, when it does not report its steps: with a time limit,
 * which is the most, and without. */
static const double limited_band[] = {0.1, 1}, assumed_band[] = {0.1, 10};

enum { DRAWS = 20, JOBS_MAX = 10000, NODES_MAX = 1000, SHOWN = 3 };
#define BUDGET (9 * USEC_PER_SEC / 10)

struct asked {
    struct yard *y;
    struct reply *reply;
    struct study study;
    struct arena arena; /* of the nodes that were added */
    int64_t left_out, unknown;
    uint64_t added; /* jobs, with all members of arrays */
};

static void asked_free(struct asked *a)
{
    whatif_free(a->study.what);
    arena_done(&a->arena);
    free(a);
}

/* ---- the reply ------------------------------------------------------------------ */

struct shift_view {
    int64_t id;
    const char *name;
    double by_s;
};

static const struct api_member shift_members[] = {
    API_INTEGER_OR_NULL(shift_view, id, "Number of the job; null if it was added"),
    API_STRING(shift_view, name, "Name"),
    API_NUMBER_OR_NULL(shift_view, by_s, "Seconds by which it ends later; null = it never ends"),
    {0},
};

static const struct api_schema shift_schema = {"JobShift", .members = shift_members};

struct course_view {
    const char *policy, *error;
    double mean_s, makespan_s;
    int64_t missed, unfinished, preemptions, moves, resizes;
    json_t *mean_band_s, *makespan_band_s, *missed_band;
    double better;
    json_t *winners, *losers;
};

static const struct api_member course_members[] = {
    API_STRING(course_view, policy, "The policy"),
    API_STRING_OR_NULL(course_view, error, "Why there is no result"),
    API_NUMBER_OR_NULL(course_view, mean_s, "Mean time from submission to end, as expected"),
    API_NUMBER_OR_NULL(course_view, makespan_s, "Time until the last job has ended, as expected"),
    API_INTEGER(course_view, missed, "Jobs that miss their deadline"),
    API_INTEGER(course_view, unfinished, "Jobs that do not end in a year, or in too many steps"),
    API_INTEGER(course_view, preemptions, "How often a job is stopped or paused"),
    API_INTEGER(course_view, moves, "How often a job moves to another node"),
    API_INTEGER(course_view, resizes, "How often a running job changes its size"),
    API_JSON(course_view, mean_band_s, "Band|null", "`mean_s` over the draws"),
    API_JSON(course_view, makespan_band_s, "Band|null", "`makespan_s` over the draws"),
    API_JSON(course_view, missed_band, "Band|null", "`missed` over the draws"),
    API_NUMBER_OR_NULL(course_view, better,
                       "Part of the draws with a lower mean than the current policy"),
    API_JSON(course_view, winners, "JobShift[]", "Jobs that gain most against the current policy"),
    API_JSON(course_view, losers, "JobShift[]", "Jobs that lose most"),
    {0},
};

static const struct api_schema course_schema = {"PolicyCourse", .members = course_members};

static const struct api_member answer_members[] = {
    API_MEMBER("jobs", "integer", "Jobs that were looked at, with those that were added"),
    API_MEMBER("left_out", "integer", "Jobs that are held or wait for others"),
    API_MEMBER("unknown", "integer", "Jobs without an estimate of their length"),
    API_MEMBER("draws", "integer", "Draws from the bands of the estimates"),
    API_MEMBER("took_s", "number", "Time that it took to compute"),
    API_MEMBER("policies", "PolicyCourse[]", "The present policy first"),
    {0},
};

static const struct api_schema answer_schema = {"WhatIfAnswer", .members = answer_members};

/* Seconds by which the task ends later than under the first policy; infinite if it never ends. */
static double shift_of(const struct whatif_policy *p, const struct whatif_policy *first, uint32_t i)
{
    if (p->end[i] == USEC_NEVER || first->end[i] == USEC_NEVER)
        return p->end[i] == first->end[i] ? 0 : p->end[i] == USEC_NEVER ? INFINITY : -INFINITY;
    return time_seconds(p->end[i] - first->end[i]);
}

/* The tasks that gain most (sign -1) or lose most (1), the most first. */
static json_t *list_shifts(const struct whatif *w, const struct whatif_policy *p,
                           const struct whatif_policy *first, int sign)
{
    double by[SHOWN] = {0};
    uint32_t at[SHOWN], n = 0;
    for (uint32_t i = 0; i < whatif_last(w); i++) {
        double shift = whatif_job(w, i) ? sign * shift_of(p, first, i) : 0;
        uint32_t k = n < SHOWN ? n : SHOWN - 1;
        if (shift < 1 || (n == SHOWN && shift <= by[k]))
            continue;
        n += n < SHOWN;
        for (; k > 0 && by[k - 1] < shift; k--) {
            by[k] = by[k - 1];
            at[k] = at[k - 1];
        }
        by[k] = shift;
        at[k] = i;
    }
    json_t *list = json_array();
    for (uint32_t k = 0; k < n; k++) {
        const struct job *j = whatif_job(w, at[k]);
        struct shift_view v = {j->id ? j->id : API_NULL, j->name, sign * by[k]};
        json_array_append_new(list, api_print(&shift_schema, &v));
    }
    return list;
}

static json_t *print_course(const struct whatif *w, const struct whatif_policy *p,
                            const struct whatif_policy *first)
{
    struct course_view v = {
        .policy = p->name, .error = p->error, .mean_s = NAN, .makespan_s = NAN, .better = NAN};
    bool compared = !p->failed && !first->failed;
    if (!p->failed) {
        v.mean_s = p->expected.mean_s;
        v.makespan_s = p->expected.makespan_s;
        v.missed = p->expected.missed;
        v.unfinished = (int64_t)whatif_tasks(w) - p->expected.ended;
        v.preemptions = p->expected.preemptions;
        v.moves = p->expected.moves;
        v.resizes = p->expected.resizes;
        v.mean_band_s = band_print(&p->mean_s);
        v.makespan_band_s = band_print(&p->makespan_s);
        v.missed_band = band_print(&p->missed);
        v.better = p->better;
    }
    v.winners = compared ? list_shifts(w, p, first, -1) : json_array();
    v.losers = compared ? list_shifts(w, p, first, 1) : json_array();
    return api_print(&course_schema, &v);
}

static json_t *print_answer(const struct asked *a, size_t policies)
{
    const struct whatif *w = a->study.what;
    struct whatif_policy first, p;
    json_t *list = json_array();
    whatif_result(w, 0, &first);
    for (uint32_t i = 0; i < policies; i++) {
        whatif_result(w, i, &p);
        json_array_append_new(list, print_course(w, &p, &first));
    }
    return json_pack("{s:I, s:I, s:I, s:i, s:f, s:o}", "jobs", (json_int_t)whatif_tasks(w),
                     "left_out", (json_int_t)a->left_out, "unknown", (json_int_t)a->unknown,
                     "draws", whatif_draws(w), "took_s", time_seconds(a->study.spent), "policies",
                     list);
}

static void answer(void *ctx, const struct err *failure)
{
    struct asked *a = ctx;
    if (failure)
        reply_problem(a->reply, failure, NULL);
    else
        reply_json(a->reply, 200, print_answer(a, whatif_policies(a->study.what)));
    asked_free(a);
}

static void hung_up(void *ctx)
{
    struct asked *a = ctx;
    study_forget(a->y, &a->study);
    asked_free(a);
}

/* ---- the present jobs ----------------------------------------------------------- */

static void set_band(struct asked *a, const struct live_job *j)
{
    struct range left;
    struct err err;
    switch (forecast_basis(j)) {
    case END_KNOWN:
        if (estimate_left(a->y, j, &left) && left.mid > 0)
            whatif_set_band(a->study.what, j->task, left.low / left.mid, left.high / left.mid);
        return;
    case END_LIMITED:
        (void)whatif_set_work(a->study.what, j->task, forecast_limited_work(a->y, j), &err);
        whatif_set_band(a->study.what, j->task, limited_band[0], limited_band[1]);
        break;
    case END_ASSUMED:
        whatif_set_band(a->study.what, j->task, assumed_band[0], assumed_band[1]);
        break;
    }
    a->unknown++;
}

static void look_at_jobs(struct asked *a)
{
    for (const struct live_job *j = a->y->jobs.first; j; j = j->next) {
        if (j->task == TASK_NONE || !whatif_job(a->study.what, j->task))
            a->left_out++;
        else
            set_band(a, j);
    }
}

/* ---- what is asked -------------------------------------------------------------- */

static const struct api_member node_members[] = {
    API_MEMBER("cpus", "?number", "CPUs"),
    API_MEMBER("gpus", "?integer", "GPUs"),
    API_MEMBER("gpu_type", "?string|null", "Their type"),
    API_MEMBER("memory_mb", "?integer|null", "Memory; null = not limited"),
    {0},
};

static const struct api_schema node_schema = {"AddedNode", .members = node_members};

static const struct api_member ask_members[] = {
    API_MEMBER("policies", "?string[]", "Policies to compare with the present one"),
    API_MEMBER("add", "?JobRequest[]", "Jobs to add, as if they were submitted now"),
    API_MEMBER("nodes", "?AddedNode[]", "Nodes to add"),
    API_MEMBER("draws", "?integer", "Draws from the bands of the estimates, at most 100"),
    {0},
};

static const struct api_schema ask_schema = {"WhatIf", .members = ask_members};

/* Those that most clusters choose from. */
static const char *const usual[] = {"elastic-fifo", "fifo", "srtf", "las", "afs-l", "deadline"};

static int add_policies(struct asked *a, const json_t *names, struct err *err)
{
    size_t n = names ? json_array_size(names) : COUNT_OF(usual);
    whatif_add_policy(a->study.what, NULL);
    if (n >= WHATIF_POLICIES)
        return err_set(err, ERR_INVALID, "policies: more than %d", WHATIF_POLICIES - 1);
    for (size_t i = 0; i < n; i++) {
        const char *name = names ? json_string_value(json_array_get(names, i)) : usual[i];
        struct combo combo;
        if (!name)
            return err_set(err, ERR_INVALID, "policies: expected a list of strings");
        if (combo_parse(name, &combo, err) < 0)
            return err_prefix(err, "policies");
        if (strcmp(combo.name, a->y->engine.config.combo.name) != 0)
            whatif_add_policy(a->study.what, &combo);
    }
    return 0;
}

static int add_node(struct asked *a, const json_t *o, size_t i, struct err *err)
{
    struct capacity has = {0};
    const char *field, *type = json_string_value(json_object_get(o, "gpu_type"));
    char name[32];
    if (!json_is_object(o) || api_check_object(&node_schema, o, &field, err) < 0)
        return json_is_object(o) ? -1 : err_set(err, ERR_INVALID, "expected a list of objects");
    double cpus = json_number_value(json_object_get(o, "cpus"));
    json_int_t gpus = json_integer_value(json_object_get(o, "gpus"));
    json_int_t memory = json_integer_value(json_object_get(o, "memory_mb"));
    if (cpus < 0 || cpus > 65536 || gpus < 0 || gpus > 1024 || memory < 0 ||
        (!gpus && cpus < 0.001))
        return err_set(err, ERR_INVALID, "a node has up to 65536 CPUs or up to 1024 GPUs");
    snprintf(name, sizeof name, "added-%zu", i + 1);
    has.name = arena_strdup(&a->arena, name);
    has.cpus = llround(cpus * UNIT);
    has.gpus = gpus * UNIT;
    has.gpu_type = gpus ? arena_strdup(&a->arena, type ? type : "gpu") : NULL;
    has.memory_mb = memory;
    has.devices.of[DEVICE_PROCESS] = has.devices.of[DEVICE_CONTAINER] = DEVICES_LIMIT;
    return whatif_add_node(a->study.what, &has, err);
}

static int add_nodes(struct asked *a, const json_t *nodes, struct err *err)
{
    if (json_array_size(nodes) > NODES_MAX)
        return err_set(err, ERR_INVALID, "nodes: more than %d", NODES_MAX);
    for (size_t i = 0; i < json_array_size(nodes); i++)
        if (add_node(a, json_array_get(nodes, i), i, err) < 0)
            return err_prefix(err, "nodes[%zu]", i);
    return 0;
}

/* The work of a job that was not submitted: by earlier runs, its time limit, or assumed. */
static double work_of(struct yard *y, struct live_job *j, const double **band)
{
    past_find(y, j);
    double past = past_work(j, 0);
    const struct job *job = &j->job[j->job_now];
    *band = !isnan(past) ? NULL : j->terms.time_limit ? limited_band : assumed_band;
    if (!isnan(past))
        return past;
    return j->terms.time_limit ? (double)j->terms.time_limit * speed_at(job_speed(job, 0), job->req)
                               : TERMS_WORK_UNKNOWN;
}

static int add_members(struct asked *a, const struct spec *s, struct live_job *j, struct err *err)
{
    const double *band;
    if (terms_from_spec(s, &j->terms, err) < 0 || rules_make_job(a->y, j, err) < 0)
        return -1;
    struct job job = j->job[j->job_now];
    job.work = work_of(a->y, j, &band);
    for (uint32_t i = 0; i < submit_members(s); i++) {
        uint32_t task;
        if (whatif_add_job(a->study.what, &job, &task, err) < 0)
            return -1;
        if (band)
            whatif_set_band(a->study.what, task, band[0], band[1]);
        a->unknown += band != NULL;
    }
    return 0;
}

static int add_request(struct asked *a, const json_t *request, struct err *err)
{
    struct submission submission = {0};
    struct spec *s = &submission.spec;
    const char *field;
    spec_init(s);
    int rc = spec_from_json(request, s, &field, err);
    if (rc == 0 && !s->user)
        s->user = "";
    if (rc == 0)
        rc = spec_check(s, &field, err);
    if (rc == 0 && (a->added += submit_members(s)) > JOBS_MAX)
        rc = err_set(err, ERR_INVALID, "more than %d jobs to add, with all members of arrays",
                     JOBS_MAX);
    if (rc == 0) {
        struct live_job *j = create_job(s, clock_wall(&a->y->clock));
        j->submission = &submission;
        rc = add_members(a, s, j, err);
        live_job_free(j);
    }
    spec_done(s);
    return rc;
}

static int add_jobs(struct asked *a, const json_t *list, struct err *err)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (add_request(a, json_array_get(list, i), err) < 0)
            return err_prefix(err, "add[%zu]", i);
    return 0;
}

static int read_draws(const json_t *value, uint32_t *out, struct err *err)
{
    json_int_t n = value ? json_integer_value(value) : DRAWS;
    if (n < 0 || n > WHATIF_DRAWS)
        return err_set(err, ERR_INVALID, "draws: %lld is not between 0 and %d", (long long)n,
                       WHATIF_DRAWS);
    *out = (uint32_t)n;
    return 0;
}

static void ask_what_if(const struct api_call *c)
{
    struct yard *y = c->yard;
    struct asked *a = xcalloc(1, sizeof *a);
    struct err err;
    *a = (struct asked){.y = y, .reply = c->reply};
    a->study = (struct study){.what = whatif_create(&y->engine, clock_now(&y->clock)),
                              .budget = BUDGET,
                              .done = answer,
                              .ctx = a};
    look_at_jobs(a);
    if (read_draws(json_object_get(c->body, "draws"), &a->study.draws, &err) < 0 ||
        add_policies(a, json_object_get(c->body, "policies"), &err) < 0 ||
        add_nodes(a, json_object_get(c->body, "nodes"), &err) < 0 ||
        add_jobs(a, json_object_get(c->body, "add"), &err) < 0 ||
        study_begin(y, &a->study, &err) < 0) {
        reply_problem(c->reply, &err, NULL);
        asked_free(a);
        return;
    }
    reply_defer(c->reply, hung_up, a);
}

static const struct api_schema *const schemas[] = {&shift_schema, &course_schema, &answer_schema,
                                                   &node_schema,  &ask_schema,    NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "whatif",
        .role = ROLE_VIEWER,
        .method = "POST",
        .path = API_V1 "/whatif",
        .handle = ask_what_if,
        .summary = "Show what other policies would do with the current jobs",
        .description = "Runs copies of the scheduler on until all jobs have ended: once with the "
                       "expected length of each job, then with lengths drawn from the bands of "
                       "the estimates, for about a second. Nothing is changed.",
        .body = "WhatIf",
        .body_optional = true,
        .body_example = "{\"policies\":[\"srtf\",\"las\"],\"nodes\":[{\"cpus\":8}]}",
        .replies = {{200, "WhatIfAnswer", "What would happen"}},
        .errors = {409},
    },
    {0},
};

const struct api_part api_part_whatif = {"Policy", endpoints, schemas};
