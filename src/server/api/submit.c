/* Owns submissions: one job request, or a batch of which all are taken or none. */
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "server/api/handlers.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "wire/spec_check.h"
#include "wire/spec_json.h"

struct batch {
    struct spec *specs;
    size_t n;
    bool many; /* requests in a list: errors say which one */
};

static void batch_free(struct batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        spec_done(&b->specs[i]);
    free(b->specs);
}

static void refuse(struct reply *r, const struct batch *b, size_t at, const char *field,
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

/* Whose jobs they are when they do not say. */
static void name_peer(const struct peer *peer, char *out, size_t size)
{
    char buf[4096];
    struct passwd entry, *found = NULL;
    if (!peer->local)
        snprintf(out, size, "api");
    else if (getpwuid_r(peer->uid, &entry, buf, sizeof buf, &found) == 0 && found)
        snprintf(out, size, "%s", found->pw_name);
    else
        snprintf(out, size, "%lu", (unsigned long)peer->uid);
}

static int read_spec(struct spec *s, const json_t *request, const char *user, const char **field,
                     struct err *err)
{
    spec_init(s);
    if (spec_from_json(request, s, field, err) < 0)
        return -1;
    if (!s->user)
        s->user = arena_strdup(&s->arena, user);
    return spec_check(s, field, err);
}

/* The requests of the body; `list` has one reference for the caller. */
static bool read_list(const struct request *q, struct reply *r, json_t *body, struct batch *b,
                      json_t **list)
{
    json_t *jobs = json_object_get(body, "jobs");
    struct err err;
    (void)q;
    b->many = jobs != NULL;
    if (!jobs) {
        *list = json_pack("[O]", body);
        return true;
    }
    if (json_object_size(body) > 1)
        err_set(&err, ERR_INVALID, "jobs: beside it, nothing else may be in the body");
    else if (!json_is_array(jobs) || json_array_size(jobs) == 0)
        err_set(&err, ERR_INVALID, "jobs: expected a list of at least one job request");
    else {
        *list = json_incref(jobs);
        return true;
    }
    reply_problem(r, &err, "jobs");
    return false;
}

static bool read_batch(const struct request *q, struct reply *r, const json_t *list,
                       struct batch *b)
{
    char user[256];
    struct err err;
    name_peer(q->peer, user, sizeof user);
    b->specs = xcalloc(json_array_size(list), sizeof *b->specs);
    while (b->n < json_array_size(list)) {
        const char *field = NULL;
        size_t at = b->n++;
        if (read_spec(&b->specs[at], json_array_get(list, at), user, &field, &err) < 0) {
            refuse(r, b, at, field, &err);
            return false;
        }
    }
    return true;
}

static int add_job(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    json_array_append_new(ctx, json_pack("{s:I, s:s, s:s}", "id", (json_int_t)row->id, "name",
                                         row->name, "state", job_state_name(row->state)));
    return 0;
}

static void submit(struct yard *y, struct reply *r, struct batch *b)
{
    struct ids ids = {0};
    size_t at = 0;
    const char *field = NULL;
    struct err err;
    if (yard_submit(y, b->specs, b->n, &ids, &at, &field, &err) < 0) {
        refuse(r, b, at, field, &err);
        VEC_DONE(&ids);
        return;
    }
    json_t *jobs = json_array();
    for (size_t i = 0; i < ids.n; i++) {
        const struct live_job *j = yard_live(y, ids.at[i]);
        if (j)
            (void)add_job(jobs, &j->row, NULL);
        else /* over already */
            (void)store_job_get(y->store, ids.at[i], add_job, jobs, NULL);
    }
    VEC_DONE(&ids);
    turn_reply(y, r, 201, json_pack("{s:o}", "jobs", jobs));
}

void api_jobs_submit(const struct request *q, struct reply *r, void *ctx)
{
    struct batch b = {0};
    json_auto_t *body = NULL, *list = NULL;
    if (!api_check_query(q, r) || !api_get_body(q, r, &body) || !read_list(q, r, body, &b, &list))
        return;
    if (read_batch(q, r, list, &b))
        submit(ctx, r, &b);
    batch_free(&b);
}
