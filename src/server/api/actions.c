/* Owns the actions on a job: cancel, hold, release, requeue, migrate, resize, and change its
 * priority, deadline or time limit. Values are parsed by the code that reads job requests, so they
 * have the same syntax. */
#include "server/api/call.h"
#include "server/api/parts.h"
#include "server/jobs/verbs.h"
#include "wire/spec_json.h"

/* Reads the member, if it is there, as the field of a job request of that name. */
static bool read_member(const struct api_call *c, const char *name, struct spec *s)
{
    json_t *value = json_object_get(c->body, name);
    const char *field;
    struct err err;
    if (!value)
        return true;
    json_auto_t *part = json_pack("{s:O}", name, value);
    if (spec_from_json(part, s, &field, &err) == 0)
        return true;
    reply_problem(c->reply, &err, name);
    return false;
}

/* ---- cancel, hold, release, requeue ---------------------------------------- */

static const struct api_member cancel_members[] = {
    API_MEMBER("grace", "?string|number|null",
               "Time between SIGTERM and SIGKILL, as in 10s; null = the job's own"),
    {0},
};

static const struct api_schema cancel_schema = {"JobCancel", .members = cancel_members};

static void cancel_job(const struct api_call *c)
{
    const json_t *value = json_object_get(c->body, "grace");
    struct spec s;
    struct err err;
    spec_init(&s);
    bool fine = read_member(c, "grace", &s);
    usec_t grace = value && !json_is_null(value) ? s.grace : -1;
    spec_done(&s);
    if (!fine)
        return;
    if (verb_cancel(c->yard, c->job, grace, &err) < 0)
        reply_problem(c->reply, &err, NULL);
    else
        api_reply_job(c, yard_live(c->yard, c->job) ? 202 : 200);
}

static void hold_job(const struct api_call *c)
{
    struct err err;
    int rc = verb_hold(c->yard, c->job, &err);
    api_reply_changed(c, rc, &err);
}

static void release_job(const struct api_call *c)
{
    struct err err;
    int rc = verb_release(c->yard, c->job, &err);
    api_reply_changed(c, rc, &err);
}

static const struct api_member requeue_members[] = {
    API_MEMBER("hold", "?boolean", "Whether to hold the requeued job"),
    API_MEMBER("environment", "?object",
               "Environment of a job that has ended, of which its `export` takes its part"),
    {0},
};

static const struct api_schema requeue_schema = {"JobRequeue", .members = requeue_members};

static void requeue_job(const struct api_call *c)
{
    struct err err;
    struct spec s;
    bool hold = json_is_true(json_object_get(c->body, "hold"));
    spec_init(&s);
    if (!json_object_get(c->body, "environment") || read_member(c, "environment", &s)) {
        int rc = verb_requeue(c->yard, c->job, hold, &s.environment, &err);
        api_reply_changed(c, rc, &err);
    }
    spec_done(&s);
}

/* ---- migrate --------------------------------------------------------------- */

static const struct api_member migrate_members[] = {
    API_MEMBER("node", "?string|null", "Where to; null = any other node that has room"),
    {0},
};

static const struct api_schema migrate_schema = {"JobMigrate", .members = migrate_members};

static void migrate_job(const struct api_call *c)
{
    const char *node = json_string_value(json_object_get(c->body, "node"));
    struct err err;
    if (verb_migrate(c->yard, c->job, node, &err) < 0)
        reply_problem(c->reply, &err, err.code == ERR_NOT_FOUND && node ? "node" : NULL);
    else
        api_reply_job(c, 202);
}

/* ---- resize ---------------------------------------------------------------- */

static const struct api_member resize_members[] = {
    API_MEMBER("cpus", "string|number|null",
               "A number, a range as in \"1-2\", or null for the range as submitted"),
    {0},
};

static const struct api_schema resize_schema = {"JobResize", .members = resize_members};

static void resize_job(const struct api_call *c)
{
    struct spec s;
    struct err err;
    spec_init(&s);
    if (read_member(c, "cpus", &s)) {
        bool as_submitted = json_is_null(json_object_get(c->body, "cpus"));
        units_t min = as_submitted ? 0 : s.cpus.min, max = as_submitted ? 0 : s.cpus.max;
        if (verb_resize(c->yard, c->job, min, max, &err) < 0)
            reply_problem(c->reply, &err, err.code == ERR_INVALID ? "cpus" : NULL);
        else
            api_reply_job(c, 200);
    }
    spec_done(&s);
}

/* ---- other changes --------------------------------------------------------- */

static const struct api_member change_members[] = {
    API_MEMBER("priority", "?integer|string", "Jobs with a higher priority go first"),
    API_MEMBER("deadline", "?string|number|null", "Time from now, as in 2h; null = none"),
    API_MEMBER("deadline_at", "?string|number|null", "Time of day; null = none"),
    API_MEMBER("time_limit", "?string|number|null",
               "How long it may run, as in 1h; null = no limit"),
    {0},
};

static const struct api_schema change_schema = {"JobChange", .members = change_members};

static bool read_change(const struct api_call *c, struct job_change *out)
{
    struct spec s;
    spec_init(&s);
    bool fine = read_member(c, "priority", &s) && read_member(c, "deadline", &s) &&
                read_member(c, "deadline_at", &s) && read_member(c, "time_limit", &s);
    usec_t deadline = s.deadline ? clock_wall(&c->yard->clock) + s.deadline : s.deadline_at;
    *out = (struct job_change){
        .set_priority = json_object_get(c->body, "priority"),
        .set_deadline =
            json_object_get(c->body, "deadline") || json_object_get(c->body, "deadline_at"),
        .set_time_limit = json_object_get(c->body, "time_limit"),
        .priority = s.priority,
        .deadline = deadline,
        .time_limit = s.time_limit,
    };
    spec_done(&s);
    return fine;
}

static void change_job(const struct api_call *c)
{
    struct job_change change;
    struct err err;
    if (json_object_size(c->body) == 0)
        api_refuse(c, "body",
                   "nothing to change; set priority, deadline, deadline_at or time_limit");
    else if (json_object_get(c->body, "deadline") && json_object_get(c->body, "deadline_at"))
        api_refuse(c, "deadline_at", "give either deadline or deadline_at, not both");
    else if (!read_change(c, &change))
        return;
    else if (change.deadline && change.deadline <= clock_wall(&c->yard->clock))
        api_refuse(c, "deadline_at", "must be in the future");
    else {
        int rc = verb_change(c->yard, c->job, &change, &err);
        api_reply_changed(c, rc, &err);
    }
}

/* ---- endpoints ------------------------------------------------------------- */

static const struct api_schema *const schemas[] = {&cancel_schema, &requeue_schema, &migrate_schema,
                                                   &resize_schema, &change_schema,  NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "job_change",
        .method = "PATCH",
        .path = API_V1 "/jobs/{id}",
        .handle = change_job,
        .summary = "Change a job's priority, deadline or time limit",
        .description =
            "Members that are not set stay as they are. A job that has ended cannot be changed.",
        .body = "JobChange",
        .body_example = "{\"priority\":5,\"deadline\":\"2h\"}",
        .replies = {{200, "JobDetail", "The changed job"}},
    },
    {
        .name = "job_cancel",
        .method = "POST",
        .path = API_V1 "/jobs/{id}/cancel",
        .handle = cancel_job,
        .summary = "Cancel a job",
        .description = "A running job gets SIGTERM, and SIGKILL after its grace period.",
        .body = "JobCancel",
        .body_optional = true,
        .body_example = "{\"grace\":\"10s\"}",
        .replies = {{200, "JobDetail", "The job is cancelled"},
                    {202, "JobDetail", "The job is being stopped"}},
    },
    {
        .name = "job_hold",
        .method = "POST",
        .path = API_V1 "/jobs/{id}/hold",
        .handle = hold_job,
        .summary = "Keep a waiting job from starting",
        .description = "To hold a running job, requeue it with hold.",
        .body = "Nothing",
        .body_optional = true,
        .replies = {{200, "JobDetail", "The held job"}},
    },
    {
        .name = "job_release",
        .method = "POST",
        .path = API_V1 "/jobs/{id}/release",
        .handle = release_job,
        .summary = "Let a held job start",
        .description = "It joins the queue, unless it also waits for something else.",
        .body = "Nothing",
        .body_optional = true,
        .replies = {{200, "JobDetail", "The released job"}},
    },
    {
        .name = "job_requeue",
        .method = "POST",
        .path = API_V1 "/jobs/{id}/requeue",
        .handle = requeue_job,
        .summary = "Stop a job, if it runs, and requeue it",
        .description = "A job that has ended can be requeued, too. It starts as a new attempt.",
        .body = "JobRequeue",
        .body_optional = true,
        .body_example = "{\"hold\":true}",
        .replies = {{200, "JobDetail", "The job"}},
    },
    {
        .name = "job_migrate",
        .method = "POST",
        .path = API_V1 "/jobs/{id}/migrate",
        .handle = migrate_job,
        .summary = "Move a running job to another node",
        .description = "It saves a checkpoint and stops, and continues there as its next attempt. "
                       "A job without a checkpoint is refused.",
        .body = "JobMigrate",
        .body_optional = true,
        .body_example = "{\"node\":\"gpu2\"}",
        .replies = {{202, "JobDetail", "The job, which is being moved"}},
    },
    {
        .name = "job_resize",
        .method = "POST",
        .path = API_V1 "/jobs/{id}/resize",
        .handle = resize_job,
        .summary = "Set the CPUs that a job may hold",
        .description = "A number fixes the size; within a range, the policy chooses. Both must be "
                       "within the submitted range.",
        .body = "JobResize",
        .body_example = "{\"cpus\":\"1-2\"}",
        .replies = {{200, "JobDetail", "The job"}},
    },
    {0},
};

const struct api_part api_part_actions = {"Jobs", endpoints, schemas};
