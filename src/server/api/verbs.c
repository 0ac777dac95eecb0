/* Owns what is done to a job: cancel, hold, release, requeue, resize, and new terms.
 * Values are read as those of a job request, so that they are spelt the same. */
#include "server/api/handlers.h"
#include "wire/spec_json.h"

/* Answers with the job when the change was taken. */
static void answer(struct yard *y, struct reply *r, int rc, int64_t id, const struct err *err)
{
    if (rc < 0)
        reply_problem(r, err, NULL);
    else
        api_reply_job(y, r, 200, id);
}

static void refuse(struct reply *r, const char *field, const char *text)
{
    struct err err;
    err_set(&err, ERR_INVALID, "%s: %s", field, text);
    reply_problem(r, &err, field);
}

/* Reads the member, if it is there, as the field of a job request of that name. */
static bool read_member(const json_t *body, const char *name, struct spec *s, struct reply *r)
{
    json_t *value = json_object_get(body, name);
    const char *field;
    struct err err;
    if (!value)
        return true;
    json_auto_t *part = json_pack("{s:O}", name, value);
    if (spec_from_json(part, s, &field, &err) == 0)
        return true;
    reply_problem(r, &err, name);
    return false;
}

/* ---- cancel, hold, release, requeue ---------------------------------------- */

void api_job_cancel(const struct request *q, struct reply *r, void *ctx)
{
    struct yard *y = ctx;
    struct spec s;
    struct err err;
    int64_t id;
    json_auto_t *body = NULL;
    if (!api_check_query(q, r) || !api_get_body(q, r, &body) || !api_find_job(y, q, r, &id))
        return;
    spec_init(&s);
    bool given = json_object_get(body, "grace") && !json_is_null(json_object_get(body, "grace"));
    bool fine = read_member(body, "grace", &s, r);
    usec_t grace = given ? s.grace : -1;
    spec_done(&s);
    if (!fine)
        return;
    if (yard_cancel(y, id, grace, &err) < 0)
        reply_problem(r, &err, NULL);
    else
        api_reply_job(y, r, yard_live(y, id) ? 202 : 200, id);
}

static void simply(const struct request *q, struct reply *r, struct yard *y,
                   int (*change)(struct yard *y, int64_t id, struct err *err))
{
    int64_t id;
    struct err err;
    json_auto_t *body = NULL;
    if (api_check_query(q, r) && api_get_body(q, r, &body) && api_find_job(y, q, r, &id))
        answer(y, r, change(y, id, &err), id, &err);
}

void api_job_hold(const struct request *q, struct reply *r, void *ctx)
{
    simply(q, r, ctx, yard_hold);
}

void api_job_release(const struct request *q, struct reply *r, void *ctx)
{
    simply(q, r, ctx, yard_release);
}

void api_job_requeue(const struct request *q, struct reply *r, void *ctx)
{
    struct yard *y = ctx;
    int64_t id;
    struct err err;
    json_auto_t *body = NULL;
    if (!api_check_query(q, r) || !api_get_body(q, r, &body) || !api_find_job(y, q, r, &id))
        return;
    const json_t *hold = json_object_get(body, "hold");
    if (hold && !json_is_boolean(hold))
        refuse(r, "hold", "expected true or false");
    else
        answer(y, r, yard_requeue(y, id, json_is_true(hold), &err), id, &err);
}

/* ---- resize ---------------------------------------------------------------- */

void api_job_resize(const struct request *q, struct reply *r, void *ctx)
{
    struct yard *y = ctx;
    struct spec s;
    struct err err;
    int64_t id;
    json_auto_t *body = NULL;
    if (!api_check_query(q, r) || !api_get_body(q, r, &body) || !api_find_job(y, q, r, &id))
        return;
    const json_t *cpus = json_object_get(body, "cpus");
    if (!cpus) {
        refuse(r, "cpus", "give a number, a range such as \"1-2\", or null for what it asked for");
        return;
    }
    spec_init(&s);
    if (read_member(body, "cpus", &s, r)) {
        units_t min = json_is_null(cpus) ? 0 : s.cpus.min,
                max = json_is_null(cpus) ? 0 : s.cpus.max;
        if (yard_resize(y, id, min, max, &err) < 0)
            reply_problem(r, &err, err.code == ERR_INVALID ? "cpus" : NULL);
        else
            api_reply_job(y, r, 200, id);
    }
    spec_done(&s);
}

/* ---- other terms ----------------------------------------------------------- */

/* Fails when nothing would change, or two members say different things. */
static bool check_change(const json_t *body, struct reply *r)
{
    if (json_object_size(body) == 0)
        refuse(r, "body", "nothing to change; give priority, deadline, deadline_at or time_limit");
    else if (json_object_get(body, "deadline") && json_object_get(body, "deadline_at"))
        refuse(r, "deadline_at", "there is a deadline too; give one of them");
    else if (json_is_null(json_object_get(body, "priority")))
        refuse(r, "priority", "expected a whole number");
    else
        return true;
    return false;
}

static bool read_change(const struct yard *y, const json_t *body, struct reply *r,
                        struct job_change *out)
{
    struct spec s;
    spec_init(&s);
    bool fine = read_member(body, "priority", &s, r) && read_member(body, "deadline", &s, r) &&
                read_member(body, "deadline_at", &s, r) && read_member(body, "time_limit", &s, r);
    usec_t deadline = s.deadline ? clock_wall(&y->clock) + s.deadline : s.deadline_at;
    *out = (struct job_change){
        .set_priority = json_object_get(body, "priority"),
        .set_deadline = json_object_get(body, "deadline") || json_object_get(body, "deadline_at"),
        .set_time_limit = json_object_get(body, "time_limit"),
        .priority = s.priority,
        .deadline = deadline,
        .time_limit = s.time_limit,
    };
    spec_done(&s);
    return fine;
}

void api_job_change(const struct request *q, struct reply *r, void *ctx)
{
    struct yard *y = ctx;
    struct job_change change;
    struct err err;
    int64_t id;
    json_auto_t *body = NULL;
    if (api_check_query(q, r) && api_get_body(q, r, &body) && api_find_job(y, q, r, &id) &&
        check_change(body, r) && read_change(y, body, r, &change))
        answer(y, r, yard_change(y, id, &change, &err), id, &err);
}
