/* Owns reading the journal's rows: the JSON, its members, and what an engine requires of jobs,
 * tasks and nodes. */
#include "journal/read.h"

#include <jansson.h>
#include <math.h>

#include "journal/tables.h"

static void free_json(json_t **v)
{
    json_decref(*v);
}
#define AUTO_JSON __attribute__((cleanup(free_json)))

static int parse(const char *text, json_t **out, struct err *err)
{
    json_error_t why;
    json_t *v = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (!v)
        return err_set(err, ERR_INVALID, "no JSON object at byte %d: %s", why.position, why.text);
    *out = v;
    return 0;
}

/* A member that must be a list. */
static int get_list(const json_t *object, const char *name, const json_t **out, struct err *err)
{
    *out = json_object_get(object, name);
    return json_is_array(*out) ? 0 : err_set(err, ERR_INVALID, "%s must be a list", name);
}

/* ---- boots --------------------------------------------------------------- */

static int read_types(const json_t *list, struct arena *a, struct cluster *c, struct err *err)
{
    size_t n = json_array_size(list);
    if (n > COUNT_OF(c->gpu_types))
        return err_set(err, ERR_INVALID, "gpu_types has more than %zu", COUNT_OF(c->gpu_types));
    for (size_t i = 0; i < n; i++) {
        const char *type = json_string_value(json_array_get(list, i));
        if (!type)
            return err_set(err, ERR_INVALID, "gpu_types[%zu] must be a string", i);
        c->gpu_types[i] = arena_strdup(a, type);
    }
    return 0;
}

/* Absent if there are none, and in rows of earlier versions. */
static int read_devices(const json_t *v, struct devices *out, struct err *err)
{
    const json_t *list = json_object_get(v, "devices");
    int64_t n;
    *out = (struct devices){0};
    for (size_t i = 0; list && i < DEVICES_MAX; i++) {
        if (fields_get_int(json_array_get(list, i), "devices", 0, DEVICES_LIMIT, &n, err) < 0)
            return -1;
        out->of[i] = (int32_t)n;
    }
    return 0;
}

static int read_node(const json_t *v, struct arena *a, const struct cluster *c, struct node *out,
                     struct err *err)
{
    if (fields_read(journal_node, v, a, out, err) < 0 || read_devices(v, &out->devices, err) < 0)
        return -1;
    if (!out->name)
        return err_set(err, ERR_INVALID, "name is missing");
    if (out->gpus % UNIT)
        return err_set(err, ERR_INVALID, "gpus must be a whole number");
    if (out->gpus && (out->gpu_pool == POOL_CPU || out->gpu_pool >= cluster_pools(c)))
        return err_set(err, ERR_INVALID, "gpu_pool %u has no type", out->gpu_pool);
    return 0;
}

static int read_cluster(const json_t *v, struct arena *a, struct cluster *out, struct err *err)
{
    const json_t *types, *nodes;
    *out = (struct cluster){0};
    if (get_list(v, "gpu_types", &types, err) < 0 || get_list(v, "nodes", &nodes, err) < 0 ||
        read_types(types, a, out, err) < 0)
        return -1;
    out->nodes = ARENA_ARRAY(a, json_array_size(nodes), struct node);
    for (; out->n < json_array_size(nodes); out->n++)
        if (read_node(json_array_get(nodes, out->n), a, out, &out->nodes[out->n], err) < 0)
            return err_prefix(err, "nodes[%u]", out->n);
    return 0;
}

static int read_policy(const json_t *v, struct combo *out, struct err *err)
{
    const char *text = json_string_value(json_object_get(v, "policy"));
    return text ? combo_parse(text, out, err)
                : err_set(err, ERR_INVALID, "policy must be a string");
}

int journal_read_boot(const char *text, struct arena *a, struct engine_config *config,
                      struct cluster *cluster, struct err *err)
{
    AUTO_JSON json_t *v = NULL;
    struct engine_config read = {0};
    struct cluster nodes;
    if (parse(text, &v, err) < 0 || read_policy(v, &read.combo, err) < 0 ||
        fields_read(journal_config, v, a, &read, err) < 0 || read_cluster(v, a, &nodes, err) < 0)
        return -1;
    *config = read;
    *cluster = nodes;
    return 0;
}

/* ---- jobs ---------------------------------------------------------------- */

static int read_speed(const json_t *v, struct arena *a, struct speed *out, struct err *err)
{
    const json_t *at;
    if (json_is_null(v)) {
        *out = (struct speed){.concave = true};
        return 0;
    }
    const json_t *concave = json_object_get(v, "concave");
    if (get_list(v, "at", &at, err) < 0)
        return -1;
    if (!json_is_boolean(concave))
        return err_set(err, ERR_INVALID, "concave must be true or false");
    size_t n = json_array_size(at), admissible = 0;
    double *speeds = ARENA_ARRAY(a, n, double);
    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(at, i);
        double speed = json_number_value(x);
        if (!json_is_null(x) && !(json_is_number(x) && speed > 0))
            return err_set(err, ERR_INVALID, "at[%zu] must be a positive number or null", i);
        admissible += !json_is_null(x);
        speeds[i] = json_is_null(x) ? NAN : speed;
    }
    if (!admissible || n > UINT32_MAX / 2)
        return err_set(err, ERR_INVALID, "at has no size that the job could run on");
    *out = speed_table(a, speeds, (uint32_t)n);
    out->concave = json_is_true(concave);
    return 0;
}

static int read_speeds(const json_t *v, struct arena *a, struct job *j, struct err *err)
{
    const json_t *list;
    if (get_list(v, "speeds", &list, err) < 0)
        return -1;
    size_t n = json_array_size(list);
    if (n < 1 || n > POOLS_MAX)
        return err_set(err, ERR_INVALID, "speeds must have from 1 to %d", POOLS_MAX);
    struct speed *speeds = ARENA_ARRAY(a, n, struct speed);
    for (size_t i = 0; i < n; i++)
        if (read_speed(json_array_get(list, i), a, &speeds[i], err) < 0)
            return err_prefix(err, "speeds[%zu]", i);
    j->speeds = speeds;
    j->nspeeds = (uint8_t)n;
    return 0;
}

/* The smallest size and all requested sizes must be on the curves. */
static bool sizes_are_admissible(const struct job *j)
{
    for (unsigned i = 0; i < j->nspeeds; i++)
        if (!(speed_at(&j->speeds[i], j->min) > 0))
            return false;
    return true;
}

static int read_job(const json_t *v, struct arena *a, const struct job **out, struct err *err)
{
    struct job *j = ARENA_NEW(a, struct job);
    if (fields_read(journal_job, v, a, j, err) < 0 || read_speeds(v, a, j, err) < 0 ||
        read_devices(v, &j->devices, err) < 0)
        return err_prefix(err, "job");
    if (!j->name)
        return err_set(err, ERR_INVALID, "job: name is missing");
    if (!(j->weight > 0))
        return err_set(err, ERR_INVALID, "job: weight must be above 0");
    if (j->pool == POOL_CPU && j->cpus)
        return err_set(err, ERR_INVALID, "job: cpus are for jobs on GPUs");
    struct job copy = *j; /* only the check matters; it may set other defaults */
    if (job_normalise(&copy, err) < 0)
        return err_prefix(err, "job");
    if (!sizes_are_admissible(j))
        return err_set(err, ERR_INVALID, "job: it does not progress on min");
    *out = j;
    return 0;
}

/* ---- tasks --------------------------------------------------------------- */

static int read_places(const json_t *v, struct arena *a, struct task *t, struct err *err)
{
    const json_t *list;
    if (get_list(v, "at", &list, err) < 0)
        return -1;
    t->at.n = (uint32_t)json_array_size(list);
    t->at.at = ARENA_ARRAY(a, t->at.n, struct slot);
    for (uint32_t i = 0; i < t->at.n; i++) {
        const json_t *slot = json_array_get(list, i);
        int64_t node, units;
        if (fields_get_int(json_array_get(slot, 0), "node", 0, UINT32_MAX, &node, err) < 0 ||
            fields_get_int(json_array_get(slot, 1), "units", 1, 1000000000, &units, err) < 0)
            return err_prefix(err, "at[%u]", i);
        t->at.at[i] = (struct slot){(uint32_t)node, units};
    }
    return 0;
}

static int read_memo(const json_t *v, struct memo *out, struct err *err)
{
    enum {
        INTS = COUNT_OF(out->i),
        ALL = INTS + COUNT_OF(out->d),
        POOLS = sizeof out->pool / sizeof(float)
    };
    size_t n = json_array_size(v);
    if (n != ALL && n != ALL + POOLS)
        return err_set(err, ERR_INVALID, "a memo must be a list of %d or %d numbers", ALL,
                       ALL + POOLS);
    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(v, i);
        double real = 0;
        if (i < INTS ? fields_get_int(x, "memo", INT64_MIN, INT64_MAX, &out->i[i], err) < 0
                     : fields_get_real(x, "memo", &real, err) < 0)
            return -1;
        if (i >= ALL)
            out->pool[(i - ALL) / POOLS_MAX][(i - ALL) % POOLS_MAX] = (float)real;
        else if (i >= INTS)
            out->d[i - INTS] = real;
    }
    return 0;
}

/* The policy lists that the task was in; absent in rows of earlier versions. */
static int read_lists(const json_t *v, struct task *t, struct err *err)
{
    const json_t *lists = json_object_get(v, "list");
    int64_t n;
    for (size_t axis = 0; lists && axis < AXES; axis++) {
        if (fields_get_int(json_array_get(lists, axis), "list", 0, UINT8_MAX, &n, err) < 0)
            return -1;
        t->list[axis] = (uint8_t)n;
    }
    return 0;
}

static int read_was(const json_t *v, struct arena *a, const struct task **out, struct err *err)
{
    struct task *t = ARENA_NEW(a, struct task);
    const json_t *memos;
    if (fields_read(journal_task, v, a, t, err) < 0 || read_places(v, a, t, err) < 0 ||
        get_list(v, "memo", &memos, err) < 0 || read_lists(v, t, err) < 0)
        return err_prefix(err, "was");
    for (size_t axis = 0; axis < AXES; axis++)
        if (read_memo(json_array_get(memos, axis), &t->memo[axis], err) < 0)
            return err_prefix(err, "was");
    if (!(t->cpu_weight > 0) || !isfinite(t->cpu_weight))
        return err_set(err, ERR_INVALID, "was: cpu_weight must be above 0");
    *out = t;
    return 0;
}

static int read_capacity(const json_t *v, struct arena *a, const struct capacity **out,
                         struct err *err)
{
    struct capacity *c = ARENA_NEW(a, struct capacity);
    if (fields_read(journal_capacity, v, a, c, err) < 0 || read_devices(v, &c->devices, err) < 0)
        return -1;
    if (!c->name)
        return err_set(err, ERR_INVALID, "name is missing");
    if (c->gpus % UNIT)
        return err_set(err, ERR_INVALID, "gpus must be a whole number");
    if (c->gpus && !c->gpu_type)
        return err_set(err, ERR_INVALID, "gpu_type is missing");
    *out = c;
    return 0;
}

/* ---- events -------------------------------------------------------------- */

static int read_objects(const json_t *v, unsigned parts, struct arena *jobs, struct arena *row,
                        struct event *event, struct err *err)
{
    if (parts & JOURNAL_JOB && read_job(json_object_get(v, "job"), jobs, &event->job, err) < 0)
        return -1;
    if (parts & JOURNAL_WAS && read_was(json_object_get(v, "was"), row, &event->was, err) < 0)
        return -1;
    if (parts & JOURNAL_SAMPLE) {
        struct sample *s = ARENA_NEW(row, struct sample);
        if (fields_read(journal_sample, json_object_get(v, "sample"), row, s, err) < 0)
            return err_prefix(err, "sample");
        event->sample = s;
    }
    if (parts & JOURNAL_HAS && read_capacity(json_object_get(v, "has"), jobs, &event->has, err) < 0)
        return err_prefix(err, "has");
    if (parts & JOURNAL_POLICY) {
        struct combo *c = ARENA_NEW(row, struct combo);
        if (read_policy(v, c, err) < 0)
            return -1;
        event->combo = c;
    }
    return 0;
}

int journal_read_event(const char *text, struct arena *jobs, struct arena *row, struct event *event,
                       usec_t *now, struct err *err)
{
    AUTO_JSON json_t *v = NULL;
    if (parse(text, &v, err) < 0)
        return -1;
    const char *name = json_string_value(json_object_get(v, "kind"));
    int kind = name ? fields_get_word(name, JOURNAL_KINDS) : -1;
    if (kind < 0)
        return err_set(err, ERR_INVALID, "kind must be one of %s", JOURNAL_KINDS);
    struct event read = {.kind = (enum event_kind)kind};
    unsigned parts = journal_parts(read.kind);
    usec_t at;
    if (fields_get_int(json_object_get(v, "now"), "now", 0, USEC_LIMIT, &at, err) < 0)
        return -1;
    for (int i = 0; i < JOURNAL_PLAIN; i++)
        if (parts >> i & 1 && fields_read(journal_event[i], v, row, &read, err) < 0)
            return -1;
    if (read_objects(v, parts, jobs, row, &read, err) < 0)
        return -1;
    *event = read;
    *now = at;
    return 0;
}
