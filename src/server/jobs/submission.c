/* Owns the requests of live jobs. */
#include "server/jobs/submission.h"

#include <jansson.h>
#include <string.h>

#include "server/jobs/environment.h"
#include "server/log.h"
#include "wire/spec_export.h"
#include "wire/spec_json.h"

/* A list of the request that lists of jobs show; the store has it in a column of its own. */
static char *list_text(const json_t *request, const char *member, const char *otherwise)
{
    const json_t *list = json_object_get(request, member);
    return list ? json_dumps(list, JSON_COMPACT) : xstrdup(otherwise);
}

static struct submission *add_known(struct submissions *all, int64_t id, struct spec *spec)
{
    struct submission *r = xcalloc(1, sizeof *r);
    *r = (struct submission){.id = id, .users = 1, .spec = *spec};
    *spec = (struct spec){0};
    idmap_set(&all->by_id, (uint64_t)id, r);
    return r;
}

json_t *submission_to_json(const struct spec *spec)
{
    json_t *o = spec_to_json(spec), *names = json_array();
    for (uint32_t i = 0; i < spec->environment.n; i++) {
        const char *pair = spec->environment.at[i];
        json_array_append_new(names, json_stringn(pair, strcspn(pair, "=")));
    }
    if (spec->environment.n)
        json_object_set(o, "environment", names);
    json_decref(names);
    return o;
}

struct submission *submission_add(struct submissions *all, struct store *store, struct spec *spec,
                                  struct err *err)
{
    json_auto_t *o = submission_to_json(spec);
    AUTO_FREE char *text = json_dumps(o, JSON_COMPACT);
    AUTO_FREE char *command = list_text(o, "command", "[]"), *sweep = list_text(o, "sweep", "");
    int64_t id;
    if (store_request_add(store, text, command, sweep, &id, err) < 0 ||
        (spec->environment.n && environment_keep(all->state_dir, id, &spec->environment, err) < 0))
        return NULL;
    return add_known(all, id, spec);
}

/* *dressed: it came with an environment, of which the text has only the names. */
static int read_request(const char *text, struct spec *out, bool *dressed, struct err *err)
{
    json_error_t bad;
    const char *field;
    json_auto_t *o = json_loads(text, 0, &bad);
    if (!o)
        return err_set(err, ERR_INVALID, "its stored request is not valid JSON: %s", bad.text);
    *dressed = json_array_size(json_object_get(o, "environment")) > 0;
    json_object_del(o, "environment");
    return spec_from_json(o, out, &field, err);
}

/* Reads the environment from its file. Without one, running jobs can continue. */
static void read_environment(struct submissions *all, struct submission *r)
{
    struct err err;
    r->bare = environment_read(all->state_dir, r->id, &r->spec, &err) < 0;
    if (r->bare && err.code != ERR_NOT_FOUND)
        log_warning("request=%lld %s", (long long)r->id, err.text);
}

struct submission *submission_get(struct submissions *all, struct store *store, int64_t id,
                                  struct err *err)
{
    struct submission *known = idmap_get(&all->by_id, (uint64_t)id);
    AUTO_FREE char *text = NULL;
    struct spec spec;
    bool dressed;
    if (known)
        return submission_share(known);
    if (store_request_get(store, id, &text, err) < 0)
        return NULL;
    spec_init(&spec);
    if (read_request(text, &spec, &dressed, err) < 0) {
        spec_done(&spec);
        return NULL;
    }
    struct submission *r = add_known(all, id, &spec);
    if (dressed)
        read_environment(all, r);
    return r;
}

struct submission *submission_share(struct submission *r)
{
    r->users++;
    return r;
}

void submission_drop(struct submissions *all, struct submission *r)
{
    if (!r || --r->users > 0)
        return;
    idmap_remove(&all->by_id, (uint64_t)r->id);
    spec_done(&r->spec);
    free(r);
}

void submission_end(struct submissions *all, struct submission *r)
{
    if (r && r->users == 1 && (r->spec.environment.n || r->bare))
        VEC_PUSH(&all->over, r->id);
    submission_drop(all, r);
}

static bool is_live(void *ctx, int64_t request)
{
    const struct submissions *all = ctx;
    return idmap_get(&all->by_id, (uint64_t)request) != NULL;
}

void submissions_committed(struct submissions *all)
{
    for (size_t i = 0; i < all->over.n; i++)
        if (!is_live(all, all->over.at[i])) /* it may have been requeued in the same turn */
            environment_forget(all->state_dir, all->over.at[i]);
    all->over.n = 0;
}

void submissions_sweep(struct submissions *all)
{
    environment_sweep(all->state_dir, is_live, all);
}

int submission_dress(struct submissions *all, struct submission *r, struct spec_list *environment,
                     struct err *err)
{
    char **pairs = ARENA_ARRAY(&r->spec.arena, environment->n + 1, char *);
    for (uint32_t i = 0; i < environment->n; i++)
        pairs[i] = (char *)environment->at[i];
    (void)spec_export(&r->spec, pairs);
    if (environment_keep(all->state_dir, r->id, &r->spec.environment, err) < 0)
        return -1;
    r->bare = false;
    return 0;
}

void submissions_done(struct submissions *all)
{
    idmap_done(&all->by_id);
    VEC_DONE(&all->over);
}
