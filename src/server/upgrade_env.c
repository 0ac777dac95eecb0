/* Owns moving environments out of requests. Two passes, because several jobs can have one
 * request: the first keeps what live jobs need, the second removes the values from all. */
#include "server/upgrade_env.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "server/jobs/environment.h"
#include "server/log.h"
#include "store/care.h"
#include "store/job_list.h"
#include "store/job_state.h"
#include "store/store.h"
#include "wire/spec_json.h"

struct upgrade {
    struct store *store;
    const char *state_dir;
    uint64_t moved; /* requests with an environment */
};

/* The request of the job, which the caller frees; NULL if it has none that can be read. */
static json_t *read_request(struct upgrade *u, const struct job_row *row)
{
    AUTO_FREE char *text = NULL;
    struct err err;
    return store_request_get(u->store, row->request, &text, &err) < 0 ? NULL
                                                                      : json_loads(text, 0, NULL);
}

static int keep_if_live(void *ctx, const struct job_row *row, struct err *err)
{
    struct upgrade *u = ctx;
    struct spec s;
    struct err bad;
    const char *field;
    int rc = 0;
    if (job_state_over(row->state))
        return 0;
    json_auto_t *request = read_request(u, row);
    spec_init(&s);
    json_auto_t *env = json_pack("{s:O?}", "env", json_object_get(request, "env"));
    if (spec_from_json(env, &s, &field, &bad) == 0 && s.env.n)
        rc = environment_keep(u->state_dir, row->request, &s.env, err);
    spec_done(&s);
    return rc;
}

/* Leaves the names, as a list. */
static int remove_values(struct upgrade *u, int64_t id, json_t *request, struct err *err)
{
    json_auto_t *names = json_array();
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(request, "env"), name, value)
        json_array_append_new(names, json_string(name));
    if (!json_array_size(names))
        return 0;
    json_object_del(request, "env");
    json_object_set(request, "environment", names);
    AUTO_FREE char *text = json_dumps(request, JSON_COMPACT);
    u->moved++;
    return store_request_set(u->store, id, text, err);
}

/* They have the environment of attempts. Those of a running one are removed when it ends. */
static void remove_specs(const struct upgrade *u, const struct job_row *row)
{
    for (uint32_t n = 1; n <= row->attempt; n++) {
        struct str path = {0};
        str_addf(&path, "%s/jobs/%lld/%u/spec.json", u->state_dir, (long long)row->id, n);
        unlink(path.at);
        str_done(&path);
    }
}

static int forget_values(void *ctx, const struct job_row *row, struct err *err)
{
    struct upgrade *u = ctx;
    json_auto_t *request = read_request(u, row);
    if (job_state_over(row->state))
        remove_specs(u, row);
    return request ? remove_values(u, row->request, request, err) : 0;
}

int upgrade_environments(struct store *store, const char *path, const char *state_dir,
                         struct err *err)
{
    AUTO_FREE char *inside = store_meta_get(store, STORE_META_ENVIRONMENTS);
    struct upgrade u = {store, state_dir, 0};
    struct job_filter all = {.oldest_first = true};
    if (!inside)
        return 0;
    if (store_job_list(store, &all, keep_if_live, &u, err) < 0 ||
        store_job_list(store, &all, forget_values, &u, err) < 0 || store_commit(store, err) < 0 ||
        (u.moved && store_compact(path, err) < 0) ||
        store_meta_set(store, STORE_META_ENVIRONMENTS, NULL, err) < 0)
        return -1;
    if (u.moved)
        log_info("moved the environments of %llu requests out of the database",
                 (unsigned long long)u.moved);
    return store_commit(store, err);
}
