/* Owns the TrainingJob objects of the namespace, as the watch tells of them, and what is done about
 * each.
 *
 * The store knows the job of an object by the object's uid, and is told in the transaction that
 * adds the job: an object is submitted once. It has our finaliser before that, so it cannot be
 * deleted unnoticed; the finaliser goes when the job's end is on disk. Nothing is written to the
 * API server about what is not on disk yet. */
#include "server/kubernetes/front.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "runtime/kubernetes/api.h"
#include "runtime/kubernetes/options.h"
#include "runtime/kubernetes/watch.h"
#include "server/api/job_view.h"
#include "server/jobs/submit.h"
#include "server/jobs/verbs.h"
#include "server/kubernetes/resource.h"
#include "server/log.h"
#include "store/jobs.h"
#include "store/store.h"
#include "wire/spec_check.h"
#include "wire/spec_json.h"

#define MERGE_PATCH "application/merge-patch+json"
#define CALL_LIMIT (30 * USEC_PER_SEC)
#define LOOK_EVERY USEC_PER_SEC
#define PROGRESS_EVERY (5 * USEC_PER_SEC)
/* The owner of jobs whose objects name none: Kubernetes does not tell who has created them. */
#define OWNER "kubernetes"

struct front_object {
    struct kube_front *front;
    char *uid;
    json_t *object;         /* the newest that is known */
    bool listed;            /* in the list that is being read */
    bool gone;              /* it is not there any more */
    struct kube_call *call; /* under way */
    usec_t at;              /* when to look at it; USEC_NEVER = when something happens */
    usec_t written_at;
    json_t *sending, *written; /* status; NULL = none yet */
    char problem[256];         /* with this generation; "" = none */
    bool refused, cancelled;
    int64_t tried, resized; /* generations that were submitted, and resized to */
};

struct kube_front {
    struct yard *y;
    struct arena arena;
    struct kube_config config;
    struct curl_loop *curl;
    struct kube_api *api;
    struct kube_watch *watch;
    VEC(struct front_object *) all;
    struct map by_uid; /* to indices in `all` */
    char trouble[256];
};

/* ---- objects --------------------------------------------------------------------------------- */

static void free_object(struct front_object *o)
{
    kube_cancel(o->call);
    json_decref(o->object);
    json_decref(o->sending);
    json_decref(o->written);
    free(o->uid);
    free(o);
}

static struct front_object *find_object(struct kube_front *f, const char *uid)
{
    uint32_t i = 0;
    if (map_get(&f->by_uid, uid, &i))
        return f->all.at[i];
    struct front_object *o = xcalloc(1, sizeof *o);
    o->front = f;
    o->uid = xstrdup(uid);
    o->tried = o->resized = -1;
    VEC_PUSH(&f->all, o);
    map_add(&f->by_uid, o->uid, (uint32_t)f->all.n - 1);
    return o;
}

/* Removes those that are gone and settled. */
static void forget_gone(struct kube_front *f)
{
    size_t kept = 0;
    map_done(&f->by_uid);
    f->by_uid = (struct map){0};
    for (size_t i = 0; i < f->all.n; i++) {
        struct front_object *o = f->all.at[i];
        if (o->gone && o->at == USEC_NEVER && !o->call) {
            free_object(o);
            continue;
        }
        f->all.at[kept] = o;
        map_add(&f->by_uid, o->uid, (uint32_t)kept++);
    }
    f->all.n = kept;
}

static void take_lists(void *ctx)
{
    const struct kube_front *f = ctx;
    for (size_t i = 0; i < f->all.n; i++)
        f->all.at[i]->listed = false;
}

static void take_object(void *ctx, const json_t *object, bool deleted)
{
    struct resource r;
    if (!resource_read(object, &r))
        return;
    struct front_object *o = find_object(ctx, r.uid);
    json_decref(o->object);
    o->object = json_deep_copy(object);
    o->listed = true;
    o->gone = deleted;
    o->at = 0;
}

static void take_listed(void *ctx)
{
    struct kube_front *f = ctx;
    *f->trouble = '\0';
    for (size_t i = 0; i < f->all.n; i++)
        if (!f->all.at[i]->listed) {
            f->all.at[i]->gone = true;
            f->all.at[i]->at = 0;
        }
}

static void take_failure(void *ctx, const struct err *why)
{
    struct kube_front *f = ctx;
    if (!strcmp(f->trouble, why->text))
        return;
    snprintf(f->trouble, sizeof f->trouble, "%s", why->text);
    log_warning("TrainingJobs of namespace=%s cannot be listed: %s", f->config.namespace,
                why->code == ERR_NOT_FOUND
                    ? "the cluster does not know them; apply packaging/kubernetes/base/crd.yaml"
                    : why->text);
}

/* ---- its job ------------------------------------------------------------------------------------
 */

static void make_key(const struct front_object *o, char out[96])
{
    snprintf(out, 96, "trainingjob:%.80s", o->uid);
}

/* 0 = it has none. */
static int64_t job_of(const struct front_object *o)
{
    char key[96];
    make_key(o, key);
    AUTO_FREE char *text = store_meta_get(o->front->y->store, key);
    return text ? strtoll(text, NULL, 10) : 0;
}

static int set_job(const struct front_object *o, int64_t job, struct err *err)
{
    char key[96], text[24];
    make_key(o, key);
    snprintf(text, sizeof text, "%lld", (long long)job);
    turn_hurry(o->front->y);
    return store_meta_set(o->front->y->store, key, job ? text : NULL, err);
}

static int read_request(struct yard *y, const struct resource *r, struct spec *s, struct err *err)
{
    const char *field = NULL;
    json_auto_t *request = resource_request(r);
    if (spec_from_json(request, s, &field, err) < 0)
        return field ? err_prefix(err, "spec.%.60s", field) : -1;
    submit_choose_image(y, s);
    if (!spec_has_image(s))
        return err_set(err, ERR_INVALID, "spec.image: a TrainingJob needs an image to run in");
    if (submit_members(s) > 1 || s->array.n || s->sweep.n)
        return err_set(err, ERR_INVALID, "spec: array and sweep: a TrainingJob is one job");
    if (!s->user)
        s->user = arena_strdup(&s->arena, OWNER);
    if (spec_check(s, &field, err) < 0)
        return field ? err_prefix(err, "spec.%.60s", field) : -1;
    return 0;
}

static int submit_spec(const struct front_object *o, struct spec *s, struct err *err)
{
    struct ids ids = {0};
    const char *field = NULL;
    size_t at = 0;
    int rc = submit_jobs(o->front->y, s, 1, &ids, &at, &field, err);
    if (rc < 0 && field)
        err_prefix(err, "spec.%.60s", field);
    if (rc == 0)
        rc = set_job(o, ids.at[0], err);
    VEC_DONE(&ids);
    return rc;
}

static void submit_object(struct front_object *o, const struct resource *r)
{
    struct spec s;
    struct err err;
    spec_init(&s);
    *o->problem = '\0';
    o->tried = r->generation;
    o->refused = read_request(o->front->y, r, &s, &err) < 0 || submit_spec(o, &s, &err) < 0;
    if (o->refused)
        snprintf(o->problem, sizeof o->problem, "%.255s", err.text);
    log_info("trainingjob=%s %s%s", r->name, o->refused ? "refused: " : "submitted", o->problem);
    spec_done(&s);
}

/* What `kubectl scale` asks for, once for each change of the object. */
static void resize_job(struct front_object *o, const struct resource *r, int64_t job)
{
    struct yard *y = o->front->y;
    const struct live_job *j = yard_live(y, job);
    struct err err;
    int64_t known = json_integer_value(json_object_get(r->status, "observedGeneration"));
    if (!j || o->resized == r->generation)
        return;
    bool seen = o->resized < 0 && known == r->generation; /* by a server before this one */
    bool asks = r->replicas || j->terms.cpus_min != j->terms.asked_min ||
                j->terms.cpus_max != j->terms.asked_max;
    o->resized = r->generation;
    *o->problem = '\0';
    if (seen || !asks)
        return;
    units_t size = (units_t)r->replicas * UNIT;
    if (verb_resize(y, job, size, size, &err) < 0)
        snprintf(o->problem, sizeof o->problem, "%.255s", err.text);
    turn_hurry(y);
}

static int view_row(void *ctx, const struct job_row *row, struct err *err)
{
    struct {
        struct yard *y;
        json_t *job;
    } *v = ctx;
    (void)err;
    v->job = job_view_brief(v->y, row);
    return 0;
}

/* A new reference; NULL = there is none. */
static json_t *view_job(struct yard *y, int64_t job)
{
    struct {
        struct yard *y;
        json_t *job;
    } v = {y, NULL};
    struct err err;
    if (job)
        (void)store_job_get(y->store, job, view_row, &v, &err);
    return v.job;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static void take_reply(struct front_object *o, const struct call_reply *r)
{
    struct err err;
    o->call = NULL;
    o->at = 0;
    if (kube_check(r, &err) == 0) {
        json_t *object = json_loadb(r->body, r->n, 0, NULL);
        if (json_is_object(json_object_get(object, "metadata"))) {
            json_decref(o->object);
            o->object = object;
        } else {
            json_decref(object);
        }
        return;
    }
    o->gone |= err.code == ERR_NOT_FOUND;
    /* A conflict: the watch tells what has changed. */
    o->at = clock_now(&o->front->y->clock) + LOOK_EVERY;
    if (err.code != ERR_CONFLICT && err.code != ERR_NOT_FOUND)
        log_warning("trainingjob=%s %s", o->uid, err.text);
}

static void kept(void *ctx, const struct call_reply *r)
{
    take_reply(ctx, r);
}

static void status_written(void *ctx, const struct call_reply *r)
{
    struct front_object *o = ctx;
    struct err err;
    take_reply(o, r);
    if (kube_check(r, &err) == 0) {
        json_decref(o->written);
        o->written = json_incref(o->sending);
    }
    json_decref(o->sending);
    o->sending = NULL;
}

static void ignore(void *ctx, const struct call_reply *r)
{
    (void)ctx;
    (void)r;
}

static void patch(struct front_object *o, const struct resource *r, const char *rest, json_t *body,
                  void (*done)(void *ctx, const struct call_reply *r))
{
    struct str path = {0};
    AUTO_FREE char *text = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    str_addf(&path,
             "/apis/" RESOURCE_GROUP "/" RESOURCE_VERSION "/namespaces/%s/" RESOURCE_PLURAL "/%s%s",
             o->front->config.namespace, r->name, rest);
    struct kube_request q = {.method = "PATCH",
                             .path = path.at,
                             .type = MERGE_PATCH,
                             .body = text,
                             .limit = CALL_LIMIT,
                             .done = done,
                             .ctx = o};
    o->call = kube_ask(o->front->api, &q);
    str_done(&path);
}

static void tell_event(struct kube_front *f, const struct resource *r, const json_t *status)
{
    struct str path = {0};
    json_auto_t *event = resource_event(r, f->config.namespace, status, clock_wall(&f->y->clock));
    AUTO_FREE char *text = json_dumps(event, JSON_COMPACT);
    str_addf(&path, "/api/v1/namespaces/%s/events", f->config.namespace);
    struct kube_request q = {.method = "POST",
                             .path = path.at,
                             .body = text,
                             .limit = CALL_LIMIT,
                             .done = ignore,
                             .ctx = f};
    kube_ask(f->api, &q);
    str_done(&path);
}

/* Returns when to look again. */
static usec_t follow_status(struct front_object *o, const struct resource *r, int64_t job,
                            usec_t now)
{
    struct yard *y = o->front->y;
    json_auto_t *view = view_job(y, job);
    const json_t *before = o->written ? o->written : r->status;
    struct resource_news news = {.job = view,
                                 .problem = o->problem,
                                 .refused = o->refused,
                                 .generation = r->generation,
                                 .now = clock_wall(&y->clock)};
    usec_t next = yard_live(y, job) ? now + LOOK_EVERY : USEC_NEVER;
    json_t *status = resource_status(&news, before);
    bool urgent = resource_status_urgent(before, status);
    bool later = !urgent && (json_equal(before, status) || now - o->written_at < PROGRESS_EVERY);
    if (later) {
        json_decref(status);
        return next;
    }
    const char *state = json_string_value(json_object_get(status, "state"));
    const char *was = json_string_value(json_object_get(before, "state"));
    if (!was || strcmp(state, was) != 0)
        tell_event(o->front, r, status);
    o->sending = status;
    o->written_at = now;
    patch(o, r, "/status", json_pack("{s:O}", "status", status), status_written);
    return next;
}

/* ---- one object ---------------------------------------------------------------------------------
 */

/* Its job ends before it may go. False = it has not yet. */
static bool has_ended(struct front_object *o, int64_t job)
{
    struct err err;
    if (!yard_live(o->front->y, job))
        return true;
    if (!o->cancelled)
        o->cancelled = verb_cancel(o->front->y, job, -1, &err) == 0;
    return false;
}

static void bury(struct front_object *o, int64_t job)
{
    struct err err;
    if (!has_ended(o, job)) {
        o->at = clock_now(&o->front->y->clock) + LOOK_EVERY;
        return;
    }
    if (job && set_job(o, 0, &err) < 0)
        log_warning("trainingjob=%s %s", o->uid, err.text);
    o->at = USEC_NEVER;
}

static void look_at_object(struct front_object *o, usec_t now)
{
    struct resource r;
    int64_t job = job_of(o);
    resource_read(o->object, &r);
    if (o->gone) {
        bury(o, job);
        return;
    }
    if (r.deleting && has_ended(o, job)) {
        o->at = USEC_NEVER;
        if (r.kept)
            patch(o, &r, "", resource_finalizer_patch(o->object, false), kept);
        return;
    }
    if (!r.kept && !r.deleting) {
        patch(o, &r, "", resource_finalizer_patch(o->object, true), kept);
        return;
    }
    if (!job && o->tried != r.generation) {
        submit_object(o, &r);
        return; /* its job is on disk before anything is written about it */
    }
    resize_job(o, &r, job);
    if (!o->front->y->turn.urgent)
        o->at = follow_status(o, &r, job, now);
}

/* ---- time ---------------------------------------------------------------------------------------
 */

static usec_t earlier(usec_t a, usec_t b)
{
    return a < b ? a : b;
}

usec_t kube_front_due(const struct kube_front *f)
{
    if (!f)
        return USEC_NEVER;
    usec_t first = earlier(kube_api_due(f->api), kube_watch_due(f->watch));
    for (size_t i = 0; i < f->all.n; i++)
        if (!f->all.at[i]->call)
            first = earlier(first, f->all.at[i]->at);
    return first;
}

void kube_front_turn(struct kube_front *f, usec_t now)
{
    kube_api_turn(f->api, now);
    if (kube_watch_due(f->watch) <= now)
        kube_watch_turn(f->watch, now);
    bool any_gone = false;
    for (size_t i = 0; i < f->all.n; i++) {
        struct front_object *o = f->all.at[i];
        if (!o->call && o->at <= now && !f->y->turn.urgent)
            look_at_object(o, now);
        any_gone |= o->gone;
    }
    if (any_gone)
        forget_gone(f);
}

/* ---- life ---------------------------------------------------------------------------------------
 */

int kube_front_open(struct yard *y, const struct kube_options *options, struct kube_front **out,
                    struct err *err)
{
    static const struct kube_watch_user user = {take_lists, take_object, take_listed, take_failure};
    struct kube_places places;
    struct str path = {0};
    struct kube_front *f = xcalloc(1, sizeof *f);
    f->y = y;
    kube_places_find(&f->arena, &places);
    if (kube_config_read(&places, options->context, &f->arena, &f->config, err) < 0 ||
        curl_loop_open(y->loop, &f->curl, err) < 0) {
        arena_done(&f->arena);
        free(f);
        return err_prefix(err, "kubernetes");
    }
    if (options->namespace)
        f->config.namespace = arena_strdup(&f->arena, options->namespace);
    f->api = kube_api_create(f->curl, &y->host, &f->config);
    str_addf(&path, "/apis/" RESOURCE_GROUP "/" RESOURCE_VERSION "/namespaces/%s/" RESOURCE_PLURAL,
             f->config.namespace);
    f->watch = kube_watch_create(f->api, &y->host, path.at, "", &user, f);
    str_done(&path);
    *out = f;
    return 0;
}

void kube_front_close(struct kube_front *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->all.n; i++)
        free_object(f->all.at[i]);
    VEC_DONE(&f->all);
    map_done(&f->by_uid);
    kube_watch_free(f->watch);
    kube_api_free(f->api);
    curl_loop_close(f->curl);
    arena_done(&f->arena);
    free(f);
}
