/* Owns the endpoints of Schedulearn, so that its clients keep working (docs/schedulearn.md). They
 * are served with --compat schedulearn only, outside /api/v1, and are not in the OpenAPI document.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "policy/combo.h"
#include "server/access.h"
#include "server/api/call.h"
#include "server/api/parts.h"
#include "server/jobs/submit.h"
#include "server/jobs/verbs.h"
#include "store/job_list.h"
#include "wire/spec_check.h"
#include "wire/spec_json.h"

/* Schedulearn gives each container as much, for the workers of PyTorch and Horovod. */
#define SHM_SIZE "1g"

/* ---- jobs as Schedulearn shows them ---------------------------------------------------------- */

static const char *status_of(enum job_state state)
{
    switch (state) {
    case JOB_RUNNING:
    case JOB_STOPPING:
        return "Running";
    case JOB_DONE:
        return "Completed";
    case JOB_CANCELLED:
        return "Cancelled";
    default:
        return job_state_over(state) ? "Failed" : "Pending";
    }
}

/* As Python prints a time of day in UTC. */
static json_t *print_time(usec_t t)
{
    time_t seconds = (time_t)(t / USEC_PER_SEC);
    struct tm parts;
    char text[40];
    if (!t || !gmtime_r(&seconds, &parts))
        return json_null();
    size_t n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + n, sizeof text - n, ".%06d", (int)(t % USEC_PER_SEC));
    return json_string(text);
}

static json_t *print_node(const struct yard *y, int64_t id)
{
    const struct live_job *j = yard_live(y, id);
    return j && j->attempt ? json_string(y->nodes.at[j->attempt->node].name) : json_null();
}

static json_t *copy_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? json_string(text) : json_null();
}

/* The command is a line for a shell, if the job came from here. */
static json_t *print_command(const json_t *request)
{
    const json_t *words = json_object_get(request, "command");
    size_t n = json_array_size(words);
    struct str line = {0};
    for (size_t i = n == 3 ? 2 : 0; i < n; i++)
        str_addf(&line, "%s%s", line.n ? " " : "", json_string_value(json_array_get(words, i)));
    json_t *v = json_string(line.n ? line.at : "");
    str_done(&line);
    return v;
}

static json_t *print_job(struct yard *y, const struct job_row *row)
{
    const struct live_job *j = yard_live(y, row->id);
    const struct job_row *now = j ? &j->row : row;
    AUTO_FREE char *text = NULL;
    struct err err;
    json_auto_t *request = NULL;
    if (store_request_get(y->store, row->request, &text, &err) == 0)
        request = json_loads(text, 0, NULL);
    return json_pack("{s:I, s:s, s:o, s:o, s:o, s:I, s:s, s:o, s:o, s:o, s:o}", "id",
                     (json_int_t)row->id, "name", row->name, "type", copy_text(request, "comment"),
                     "container_image", copy_text(request, "image"), "command",
                     print_command(request), "required_gpus", (json_int_t)(row->gpus_max / UNIT),
                     "status", status_of(now->state), "trained_at", print_node(y, row->id),
                     "created_at", print_time(row->submitted), "started_at",
                     print_time(now->started), "completed_at", print_time(now->ended));
}

struct listing {
    struct yard *y;
    json_t *jobs;
};

static int add_job(void *ctx, const struct job_row *row, struct err *err)
{
    struct listing *l = ctx;
    (void)err;
    json_array_append_new(l->jobs, print_job(l->y, row));
    return 0;
}

static void get_jobs(const struct api_call *c)
{
    struct listing l = {c->yard, json_array()};
    struct job_filter newest_first = {.limit = 1000};
    struct err err;
    if (store_job_list(c->yard->store, &newest_first, add_job, &l, &err) == 0) {
        reply_json(c->reply, 200, l.jobs);
        return;
    }
    json_decref(l.jobs);
    reply_problem(c->reply, &err, NULL);
}

static void get_job(const struct api_call *c)
{
    json_auto_t *list = json_array();
    struct listing l = {c->yard, list};
    struct err err;
    if (store_job_get(c->yard->store, c->job, add_job, &l, &err) < 0)
        reply_problem(c->reply, &err, "id");
    else
        reply_json(c->reply, 200, json_incref(json_array_get(list, 0)));
}

/* ---- changes -------------------------------------------------------------------------------- */

static json_t *message(const char *text)
{
    return json_pack("{s:s}", "message", text);
}

/* The same request in our words; NULL after a refusal. */
static json_t *translate(const struct api_call *c, const char *user)
{
    static const char *const texts[] = {"name", "type", "container_image", "command"};
    const char *value[COUNT_OF(texts)];
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        value[i] = json_string_value(json_object_get(c->body, texts[i]));
        if (!value[i] || !*value[i]) {
            api_refuse(c, texts[i], "must be a string");
            return NULL;
        }
    }
    const json_t *gpus = json_object_get(c->body, "required_gpus");
    if (!json_is_integer(gpus) || json_integer_value(gpus) < 0) {
        api_refuse(c, "required_gpus", "must be a whole number");
        return NULL;
    }
    return json_pack("{s:s, s:s, s:s, s:[s, s, s], s:I, s:s, s:s}", "name", value[0], "comment",
                     value[1], "image", value[2], "command", "/bin/sh", "-c", value[3], "gpus",
                     json_integer_value(gpus), "shm_size", SHM_SIZE, "user", user);
}

static void post_job(const struct api_call *c)
{
    char user[ACCESS_USER];
    struct spec s;
    struct ids ids = {0};
    const char *field = NULL;
    size_t at;
    struct err err;
    access_user(c->request, user, sizeof user);
    json_auto_t *request = translate(c, user);
    if (!request)
        return;
    spec_init(&s);
    if (spec_from_json(request, &s, &field, &err) < 0 || spec_check(&s, &field, &err) < 0 ||
        submit_jobs(c->yard, &s, 1, &ids, &at, &field, &err) < 0)
        reply_problem(c->reply, &err, field);
    else
        turn_reply(c->yard, c->reply, 201,
                   json_pack("{s:s, s:I}", "message", "Job created successfully", "id",
                             (json_int_t)ids.at[0]));
    VEC_DONE(&ids);
    spec_done(&s);
}

/* Also of a job that has ended, as there. */
static void delete_job(const struct api_call *c)
{
    struct err err;
    if (verb_cancel(c->yard, c->job, -1, &err) < 0 && err.code != ERR_CONFLICT)
        reply_problem(c->reply, &err, NULL);
    else
        turn_reply(c->yard, c->reply, 200, message("Job deleted successfully"));
}

static void put_algorithm(const struct api_call *c)
{
    static const struct {
        const char *name, *shown, *policy;
    } known[] = {
        {"fifo", "Algorithm changed to FIFO", "schedulearn-fifo"},
        {"elasticfifo", "Algorithm changed to Elastic FIFO", "elastic-fifo"},
        {"roundrobin", "Algorithm changed to Round Robin", "schedulearn-rr"},
    };
    const char *name = request_param(c->request, "algorithm");
    struct combo combo;
    struct err err;
    size_t i = 0;
    while (i < COUNT_OF(known) && strcasecmp(name, known[i].name) != 0)
        i++;
    const char *policy = i < COUNT_OF(known) ? known[i].policy : name;
    if (combo_parse(policy, &combo, &err) < 0 || yard_set_policy(c->yard, &combo, &err) < 0) {
        err_set(&err, ERR_INVALID, "Invalid algorithm");
        reply_problem(c->reply, &err, "algorithm");
        return;
    }
    struct str shown = {0};
    str_addf(&shown, "Algorithm changed to %s", policy);
    turn_reply(c->yard, c->reply, 200, message(i < COUNT_OF(known) ? known[i].shown : shown.at));
    str_done(&shown);
}

static const struct endpoint endpoints[] = {
    {.name = "schedulearn_jobs", .method = "GET", .path = "/jobs", .handle = get_jobs},
    {.name = "schedulearn_submit",
     .method = "POST",
     .path = "/jobs",
     .handle = post_job,
     .body = "SchedulearnJob"},
    {.name = "schedulearn_job", .method = "GET", .path = "/jobs/{id}", .handle = get_job},
    {.name = "schedulearn_delete", .method = "DELETE", .path = "/jobs/{id}", .handle = delete_job},
    {.name = "schedulearn_algorithm",
     .method = "PUT",
     .path = "/algorithm/{algorithm}",
     .handle = put_algorithm,
     .role = ROLE_ADMIN},
    {0},
};

const struct api_part api_part_schedulearn = {"Schedulearn", endpoints, NULL};
