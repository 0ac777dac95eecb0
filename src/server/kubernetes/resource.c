/* Owns the members of TrainingJob objects. */
#include "server/kubernetes/resource.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* ---- reading ------------------------------------------------------------------------------ */

static bool has_finalizer(const json_t *metadata)
{
    const json_t *v;
    size_t i;
    json_array_foreach(json_object_get(metadata, "finalizers"), i, v)
    {
        const char *name = json_string_value(v);
        if (name && !strcmp(name, RESOURCE_FINALIZER))
            return true;
    }
    return false;
}

bool resource_read(const json_t *object, struct resource *out)
{
    const json_t *m = json_object_get(object, "metadata");
    *out = (struct resource){
        .uid = text_of(m, "uid"),
        .name = text_of(m, "name"),
        .version = text_of(m, "resourceVersion"),
        .generation = json_integer_value(json_object_get(m, "generation")),
        .deleting = json_is_string(json_object_get(m, "deletionTimestamp")),
        .kept = has_finalizer(m),
        .spec = json_object_get(object, "spec"),
        .status = json_object_get(object, "status"),
    };
    out->replicas = json_integer_value(json_object_get(out->spec, "replicas"));
    return *out->uid && *out->name;
}

json_t *resource_request(const struct resource *r)
{
    json_t *request = json_is_object(r->spec) ? json_deep_copy(r->spec) : json_object();
    json_object_del(request, "replicas");
    if (!json_object_get(request, "name"))
        json_object_set_new(request, "name", json_string(r->name));
    return request;
}

json_t *resource_finalizer_patch(const json_t *object, bool add)
{
    const json_t *m = json_object_get(object, "metadata"), *v;
    json_t *list = json_array();
    size_t i;
    json_array_foreach(json_object_get(m, "finalizers"), i, v)
    {
        const char *name = json_string_value(v);
        if (name && strcmp(name, RESOURCE_FINALIZER) != 0)
            json_array_append_new(list, json_string(name));
    }
    if (add)
        json_array_append_new(list, json_string(RESOURCE_FINALIZER));
    return json_pack("{s:{s:o, s:s}}", "metadata", "finalizers", list, "resourceVersion",
                     text_of(m, "resourceVersion"));
}

/* ---- the status ------------------------------------------------------------------------------ */

static json_t *print_time(usec_t wall)
{
    char text[32];
    struct tm tm;
    time_t t = wall / USEC_PER_SEC;
    if (wall <= 0 || !gmtime_r(&t, &tm) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm))
        return json_null();
    return json_string(text);
}

/* Seconds since 1970, or null, as the API has them. */
static json_t *print_seconds(const json_t *seconds)
{
    double at = json_number_value(seconds);
    return json_is_number(seconds) && at > 0 && at < 1e11 ? print_time((usec_t)(at * USEC_PER_SEC))
                                                          : json_null();
}

static json_t *print_percent(const json_t *fraction)
{
    double part = json_number_value(fraction);
    if (!json_is_number(fraction) || !isfinite(part))
        return json_null();
    return json_sprintf("%d%%", (int)(part * 100));
}

static const json_t *find_condition(const json_t *status, const char *type)
{
    const json_t *c;
    size_t i;
    json_array_foreach(json_object_get(status, "conditions"), i, c)
    {
        if (!strcmp(text_of(c, "type"), type))
            return c;
    }
    return NULL;
}

static void add_condition(json_t *list, const json_t *old, const char *type, bool holds,
                          const char *reason, const char *message, usec_t now)
{
    const json_t *before = find_condition(old, type);
    const char *value = holds ? "True" : "False", *since = text_of(before, "lastTransitionTime");
    bool same = *since && !strcmp(text_of(before, "status"), value);
    json_t *c = json_pack("{s:s, s:s, s:s, s:o}", "type", type, "status", value, "reason", reason,
                          "lastTransitionTime", same ? json_string(since) : print_time(now));
    if (*message) /* the API server of 1.20 makes null of an empty text in a list */
        json_object_set_new(c, "message", json_string(message));
    json_array_append_new(list, c);
}

/* Reasons are words in CamelCase. */
static const char *state_reason(const char *state, char buf[32])
{
    snprintf(buf, 32, "%.31s", *state ? state : "unknown");
    if (*buf >= 'a' && *buf <= 'z')
        *buf = (char)(*buf - 'a' + 'A');
    return buf;
}

static json_t *make_conditions(const struct resource_news *n, const char *state, const json_t *old)
{
    json_t *list = json_array();
    char reason[32];
    const char *why = text_of(n->job, "reason");
    bool done = !strcmp(state, "done"), active = !strcmp(state, "running");
    bool failed = !strcmp(state, "failed") || !strcmp(state, "timeout") || !strcmp(state, "lost");
    add_condition(list, old, "Accepted", !n->refused, n->refused ? "Invalid" : "Submitted",
                  n->refused ? n->problem : "", n->now);
    if (n->refused)
        return list;
    state_reason(state, reason);
    add_condition(list, old, "Running", active, reason, "", n->now);
    add_condition(list, old, "Complete", done, reason, done ? why : "", n->now);
    add_condition(list, old, "Failed", failed, reason, failed ? why : "", n->now);
    add_condition(list, old, "Resized", !*n->problem, *n->problem ? "Refused" : "AsAsked",
                  n->problem, n->now);
    return list;
}

static json_t *size_of(const json_t *job)
{
    double gpus = json_number_value(json_object_get(job, "gpus"));
    double cpus = json_number_value(json_object_get(job, "cpus"));
    return json_integer((json_int_t)ceil(gpus > 0 ? gpus : cpus));
}

static json_t *copy(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    return v ? json_deep_copy(v) : json_null();
}

json_t *resource_status(const struct resource_news *n, const json_t *old)
{
    const json_t *job = n->job, *progress = json_object_get(job, "progress");
    const char *state = n->refused ? "refused" : job ? text_of(job, "state") : "pending";
    const char *reason = n->refused ? n->problem : text_of(job, "reason");
    json_t *s = json_object();
    json_object_set_new(s, "observedGeneration", json_integer(n->generation));
    json_object_set_new(s, "state", json_string(state));
    json_object_set_new(s, "message", json_string(*n->problem ? n->problem : reason));
    json_object_set_new(s, "job", copy(job, "id"));
    json_object_set_new(s, "attempt", copy(job, "attempt"));
    json_object_set_new(s, "node", copy(job, "node"));
    json_object_set_new(s, "replicas", size_of(job));
    json_object_set_new(s, "cpus", copy(job, "cpus"));
    json_object_set_new(s, "gpus", copy(job, "gpus"));
    json_object_set_new(
        s, "selector",
        job ? json_sprintf("trainyard.dev/job=%lld",
                           (long long)json_integer_value(json_object_get(job, "id")))
            : json_null());
    json_object_set_new(s, "progress", print_percent(json_object_get(progress, "fraction")));
    json_object_set_new(s, "step", copy(progress, "step"));
    json_object_set_new(s, "total", copy(progress, "total"));
    json_object_set_new(s, "loss", copy(progress, "loss"));
    json_object_set_new(s, "expectedEnd", print_seconds(json_object_get(progress, "expected_end")));
    json_object_set_new(s, "startTime", print_seconds(json_object_get(job, "started")));
    json_object_set_new(s, "completionTime", print_seconds(json_object_get(job, "ended")));
    json_object_set_new(s, "exitCode", copy(job, "code"));
    json_object_set_new(s, "conditions", make_conditions(n, state, old));
    return s;
}

bool resource_status_urgent(const json_t *before, const json_t *after)
{
    static const char *const keys[] = {
        "observedGeneration", "state", "message", "attempt", "node", "replicas", "conditions"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *a = json_object_get(before, keys[i]), *b = json_object_get(after, keys[i]);
        if (!(json_is_null(b) && !a) && !json_equal(a, b))
            return true;
    }
    return false;
}

/* ---- events -------------------------------------------------------------------------------------
 */

static uint64_t hash_more(uint64_t hash, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        hash = (hash ^ *p) * 0x100000001b3;
    return hash;
}

json_t *resource_event(const struct resource *r, const char *namespace, const json_t *status,
                       usec_t now)
{
    const char *state = text_of(status, "state"), *message = text_of(status, "message");
    int64_t attempt = json_integer_value(json_object_get(status, "attempt"));
    char reason[32], more[96];
    snprintf(more, sizeof more, "%s/%lld/%lld", state, (long long)attempt,
             !strcmp(state, "refused") ? (long long)r->generation : 0);
    uint64_t hash = hash_more(hash_more(0xcbf29ce484222325, r->uid), more);
    bool bad = !strcmp(state, "failed") || !strcmp(state, "refused") || !strcmp(state, "timeout") ||
               !strcmp(state, "lost");
    const char *node = text_of(status, "node");
    json_t *text = *message ? json_string(message)
                   : *node  ? json_sprintf("the job is %s on %s", state, node)
                            : json_sprintf("the job is %s", state);
    return json_pack(
        "{s:s, s:s, s:{s:o, s:s}, s:{s:s, s:s, s:s, s:s, s:s}, s:s, s:o, s:s, s:{s:s}, s:o, s:o, "
        "s:i}",
        "apiVersion", "v1", "kind", "Event", "metadata", "name",
        json_sprintf("%.200s.%016llx", r->name, (unsigned long long)hash), "namespace", namespace,
        "involvedObject", "apiVersion", RESOURCE_GROUP "/" RESOURCE_VERSION, "kind", RESOURCE_KIND,
        "name", r->name, "namespace", namespace, "uid", r->uid, "reason",
        state_reason(state, reason), "message", text, "type", bad ? "Warning" : "Normal", "source",
        "component", "trainyard", "firstTimestamp", print_time(now), "lastTimestamp",
        print_time(now), "count", 1);
}
