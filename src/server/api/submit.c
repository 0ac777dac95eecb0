/* Owns the endpoints that submit jobs and check job requests. A batch of requests is accepted or
 * refused as a whole. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "policy/allocate/auto.h"
#include "server/api/call.h"
#include "server/api/job_view.h"
#include "server/api/parts.h"
#include "server/jobs/outlook.h"
#include "server/jobs/submit.h"
#include "server/nodes.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "wire/spec_check.h"
#include "wire/spec_command.h"
#include "wire/spec_json.h"

struct batch {
    struct spec *specs;
    size_t n;
    bool many; /* a list of requests: errors name the index */
};

static void batch_free(struct batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        spec_done(&b->specs[i]);
    free(b->specs);
}

/* Replies with the error of request number `at`. */
static void refuse_request(struct reply *r, const struct batch *b, size_t at, const char *field,
                           struct err *err)
{
    char path[160];
    if (!b->many)
        snprintf(path, sizeof path, "%.100s", field ? field : "");
    else
        snprintf(path, sizeof path, "jobs[%zu]%s%.100s", at, field ? "." : "", field ? field : "");
    if (b->many)
        err_prefix(err, "jobs[%zu]", at);
    reply_problem(r, err, *path ? path : NULL);
}

static int read_spec(const struct yard *y, struct spec *s, const json_t *request, const char *user,
                     const char **field, struct err *err)
{
    spec_init(s);
    if (spec_from_json(request, s, field, err) < 0)
        return -1;
    submit_choose_image(y, s);
    if (!s->user)
        s->user = arena_strdup(&s->arena, user);
    return spec_check(s, field, err);
}

/* Returns a new reference to the list of requests in the body; NULL if it was refused. */
static json_t *list_requests(const struct api_call *c, struct batch *b)
{
    json_t *jobs = json_object_get(c->body, "jobs");
    b->many = jobs != NULL;
    if (!jobs)
        return json_pack("[O]", c->body);
    if (json_object_size(c->body) > 1)
        api_refuse(c, "jobs", "a batch must not have other members");
    else if (!json_is_array(jobs) || json_array_size(jobs) == 0)
        api_refuse(c, "jobs", "expected a list of at least one job request");
    else
        return json_incref(jobs);
    return NULL;
}

static bool read_batch(const struct api_call *c, const json_t *list, struct batch *b)
{
    char user[ACCESS_USER];
    struct err err;
    access_user(c->request, user, sizeof user);
    b->specs = xcalloc(json_array_size(list), sizeof *b->specs);
    while (b->n < json_array_size(list)) {
        const char *field = NULL;
        size_t at = b->n++;
        if (read_spec(c->yard, &b->specs[at], json_array_get(list, at), user, &field, &err) < 0) {
            refuse_request(c->reply, b, at, field, &err);
            return false;
        }
        if (!api_may_change(c, b->specs[at].user, "the job"))
            return false;
    }
    return true;
}

/* ---- the reply ------------------------------------------------------------- */

struct submitted_view {
    int64_t id;
    const char *name, *state;
};

static const struct api_member submitted_job_members[] = {
    API_INTEGER(submitted_view, id, "Number of the job"),
    API_STRING(submitted_view, name, "Name"),
    API_WORD(submitted_view, state, "JobState", "State"),
    {0},
};

static const struct api_schema submitted_job_schema = {"SubmittedJob",
                                                       .members = submitted_job_members};

static const struct api_member submitted_members[] = {
    API_MEMBER("jobs", "SubmittedJob[]", "In the order of the requests; one for each array index"),
    API_MEMBER("warnings", "string[]", "What will not be as the requests say; usually empty"),
    API_MEMBER("deadlines", "DeadlineOutlook[]",
               "Whether deadlines can be met; of an array, for its first job"),
    {0},
};

struct outlook_view {
    int64_t job;
    const char *outlook, *text;
    double start, end, units;
};

static const struct api_member outlook_members[] = {
    API_INTEGER(outlook_view, job, "Number of the job"),
    API_STRING(outlook_view, outlook, "met, late or unknown, as far as can be foreseen"),
    API_NUMBER_OR_NULL(outlook_view, start, "When it is expected to start"),
    API_NUMBER_OR_NULL(outlook_view, end, "When it is expected to end; if late, at the earliest"),
    API_NUMBER_OR_NULL(outlook_view, units, "CPUs or GPUs that it starts with"),
    API_STRING(outlook_view, text, "The same in words"),
    {0},
};

static const struct api_schema outlook_schema = {"DeadlineOutlook", .members = outlook_members};

static const struct api_schema submitted_schema = {"Submitted", .members = submitted_members};

static int add_job(void *ctx, const struct job_row *row, struct err *err)
{
    struct submitted_view v = {row->id, row->name, job_state_name(row->state)};
    (void)err;
    json_array_append_new(ctx, api_print(&submitted_job_schema, &v));
    return 0;
}

/* Under most policies a deadline changes nothing; auto changes to one under which it does. */
static bool has_unseen_deadline(const struct yard *y, const struct batch *b)
{
    bool any = false;
    for (size_t i = 0; i < b->n; i++)
        any |= b->specs[i].deadline || b->specs[i].deadline_at;
    const struct combo *combo = &y->engine.config.combo;
    return any && !combo_is_auto(combo) && !combo->policy[AXIS_ALLOCATE]->sees_deadlines;
}

static bool has_memory_limit(const struct batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->specs[i].memory_mb)
            return true;
    return false;
}

static json_t *make_warnings(const struct yard *y, bool memory, bool deadline)
{
    json_t *list = json_array();
    if (memory && !nodes_limit_memory(y, NODES_ANY))
        json_array_append_new(
            list,
            json_string("the memory limit is not enforced: no node has control groups for it"));
    const char *name = y->engine.config.combo.policy[AXIS_ALLOCATE]->name;
    if (deadline)
        json_array_append_new(
            list, json_sprintf("the policy %s does not look at deadlines; `trainyard policy "
                               "deadline` sets one that does",
                               name));
    return list;
}

static double wall_seconds(const struct yard *y, usec_t at)
{
    usec_t in = at - clock_now(&y->clock);
    return at == USEC_NEVER ? NAN : time_seconds(clock_wall(&y->clock) + in);
}

static json_t *print_outlook(const struct yard *y, const struct live_job *j)
{
    struct outlook o;
    struct str text = {0};
    outlook_make(y, j, &o);
    outlook_phrase(y, j, &o, &text);
    struct outlook_view v = {
        .job = j->row.id,
        .outlook = outlook_name(o.kind),
        .text = text.at,
        .start = wall_seconds(y, o.start),
        .end = wall_seconds(y, o.end),
        .units = o.end == USEC_NEVER ? NAN : (double)o.units / UNIT,
    };
    json_t *out = api_print(&outlook_schema, &v);
    str_done(&text);
    return out;
}

/* A forecast takes some milliseconds: only the first few jobs get one. */
static json_t *list_outlooks(const struct yard *y, const struct ids *ids)
{
    enum { MOST = 8 };
    json_t *list = json_array();
    for (size_t i = 0; i < ids->n && json_array_size(list) < MOST; i++) {
        const struct live_job *j = yard_live(y, ids->at[i]);
        if (j && j->row.deadline && (!j->row.array || j->row.array == j->row.id))
            json_array_append_new(list, print_outlook(y, j));
    }
    return list;
}

/* A reply that waits until all members of an array are on disk. */
struct waiting_reply {
    struct reply *reply;
    json_t *warnings, *outlooks;
};

/* All members of an array at once, which may be many: the text is written directly. */
static char *print_members(const struct arrival *a, const struct waiting_reply *w, size_t *n)
{
    const struct spec *s = &a->submission->spec;
    struct submitted_view v = {0, s->name, job_state_name(s->hold ? JOB_HELD : JOB_QUEUED)};
    json_auto_t *first = api_print(&submitted_job_schema, &v);
    json_object_del(first, "id");
    AUTO_FREE char *rest = json_dumps(first, JSON_COMPACT);
    AUTO_FREE char *said = json_dumps(w->warnings, JSON_COMPACT);
    AUTO_FREE char *foreseen = json_dumps(w->outlooks, JSON_COMPACT);
    struct str out = {0};
    str_add(&out, "{\"jobs\":[");
    for (uint32_t i = 0; i < a->members; i++)
        str_addf(&out, "%s{\"id\":%lld,%s", i ? "," : "", (long long)a->first + i, rest + 1);
    str_addf(&out, "],\"warnings\":%s,\"deadlines\":%s}", said, foreseen);
    *n = out.n;
    return out.at;
}

/* All members are on disk, or they cannot be. */
static void reply_to_arrival(void *ctx, const struct arrival *a, const struct err *failure)
{
    struct waiting_reply *w = ctx;
    size_t n;
    if (failure) {
        reply_problem(w->reply, failure, NULL);
    } else {
        char *text = print_members(a, w, &n);
        reply_bytes(w->reply, 201, "application/json", text, n);
    }
    json_decref(w->warnings);
    json_decref(w->outlooks);
    free(w);
}

/* Takes the warnings and the outlooks. */
static void wait_for_arrival(struct arrival *a, struct reply *reply, json_t *warnings,
                             json_t *outlooks)
{
    struct waiting_reply *w = xmalloc(sizeof *w);
    *w = (struct waiting_reply){reply, warnings, outlooks};
    reply_defer(reply, NULL, NULL);
    a->done = reply_to_arrival;
    a->ctx = w;
}

static void submit_batch(const struct api_call *c, struct batch *b)
{
    struct yard *y = c->yard;
    struct ids ids = {0};
    size_t at = 0;
    const char *field = NULL;
    bool unseen = has_unseen_deadline(y, b), memory = has_memory_limit(b);
    struct err err;
    if (submit_jobs(y, b->specs, b->n, &ids, &at, &field, &err) < 0) {
        refuse_request(c->reply, b, at, field, &err);
        VEC_DONE(&ids);
        return;
    }
    struct arrival *arrival = arrivals_find(y, ids.at[0]);
    json_t *outlooks = list_outlooks(y, &ids);
    if (arrival) {
        VEC_DONE(&ids);
        wait_for_arrival(arrival, c->reply, make_warnings(y, memory, unseen), outlooks);
        return;
    }
    json_t *jobs = json_array();
    for (size_t i = 0; i < ids.n; i++) {
        const struct live_job *j = yard_live(y, ids.at[i]);
        if (j)
            (void)add_job(jobs, &j->row, NULL);
        else /* it has ended already */
            (void)store_job_get(y->store, ids.at[i], add_job, jobs, NULL);
    }
    VEC_DONE(&ids);
    turn_reply(y, c->reply, 201,
               json_pack("{s:o, s:o, s:o}", "jobs", jobs, "warnings",
                         make_warnings(y, memory, unseen), "deadlines", outlooks));
}

static void post_jobs(const struct api_call *c)
{
    struct batch b = {0};
    json_auto_t *list = list_requests(c, &b);
    if (list && read_batch(c, list, &b))
        submit_batch(c, &b);
    batch_free(&b);
}

/* ---- checks ---------------------------------------------------------------- */

struct checked_view {
    const char *command;
};

static const struct api_member checked_members[] = {
    API_STRING(checked_view, command, "The command that would submit the job, for a shell"),
    {0},
};

static const struct api_schema checked_schema = {"CheckedJob", .members = checked_members};

/* The command has what the user said, not what spec_check() adds. */
static void check_job(const struct api_call *c)
{
    struct spec s;
    struct str command = {0};
    const char *field = NULL;
    struct err err;
    spec_init(&s);
    bool fine = spec_from_json(c->body, &s, &field, &err) == 0;
    if (fine) {
        spec_command(&s, &command);
        fine = spec_check(&s, &field, &err) == 0;
    }
    struct checked_view v = {command.at};
    if (fine)
        reply_json(c->reply, 200, api_print(&checked_schema, &v));
    else
        reply_problem(c->reply, &err, field);
    str_done(&command);
    spec_done(&s);
}

/* ---- the endpoints --------------------------------------------------------- */

static const struct api_schema request_schema = {"JobRequest", .kind = API_JOB_REQUEST};

static const struct api_member batch_members[] = {
    API_MEMBER("jobs", "JobRequest[]", "At least one"),
    {0},
};

static const struct api_schema batch_schema = {"JobBatch", .members = batch_members};

static const struct api_schema *const schemas[] = {
    &request_schema, &batch_schema, &submitted_job_schema, &submitted_schema, &outlook_schema,
    &checked_schema, NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "jobs_submit",
        .method = "POST",
        .path = API_V1 "/jobs",
        .handle = post_jobs,
        .summary = "Submit one job or several",
        .description = "A batch is accepted or refused as a whole. By default, `user` is the "
                       "connected user, over TCP that of the token; only admins may name another.",
        .body = "JobRequest|JobBatch",
        .body_example = "{\"command\":[\"python3\",\"train.py\"],\"cpus\":\"1-4\","
                        "\"workdir\":\"/home/ann\",\"time_limit\":\"2h\"}",
        .replies = {{201, "Submitted", "The jobs were accepted and are on disk"}},
        .errors = {404, 409},
    },
    {
        .name = "job_check",
        .role = ROLE_VIEWER,
        .method = "POST",
        .path = API_V1 "/check",
        .handle = check_job,
        .summary = "Check a job request without submitting it",
        .description = "The same checks as for a submission, except for what depends on the "
                       "cluster and on other jobs.",
        .body = "JobRequest",
        .body_example = "{\"command\":[\"python3\",\"train.py\"],\"cpus\":\"1-4\"}",
        .replies = {{200, "CheckedJob", "The request is valid"}},
    },
    {0},
};

const struct api_part api_part_submit = {"Jobs", endpoints, schemas};
