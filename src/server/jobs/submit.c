/* Owns submission: expands arrays into jobs, resolves dependencies to ids, and accepts a batch
 * as a whole or not at all. */
#include "server/jobs/submit.h"

#include <string.h>

#include "base/str.h"
#include "progress/pattern.h"
#include "server/jobs/arrivals.h"
#include "server/jobs/create.h"
#include "server/jobs/eligible.h"
#include "server/jobs/find.h"
#include "server/jobs/outlook.h"
#include "server/jobs/past.h"
#include "server/jobs/rules.h"
#include "server/nodes.h"
#include "server/uploads.h"
#include "server/yard.h"
#include "store/job_list.h"
#include "store/jobs.h"
#include "store/loads.h"

/* The jobs of one batch. Until they are written and have ids, dependencies refer to the i-th
 * as -(i + 1). */
struct batch {
    VEC(struct live_job *) jobs;
    VEC(uint32_t) of; /* index of each job's request */
};

/* ---- dependencies -------------------------------------------------------- */

static int add_dep(struct yard *y, struct live_job *j, enum spec_dep_kind kind, int64_t on,
                   struct err *err)
{
    struct live_dep dep = {.kind = kind, .on = on};
    enum dep_state state;
    enum job_state its;
    if (create_look_at_dep(y, &dep, &state, &its, err) < 0)
        return -1;
    if (state == DEP_NEVER) {
        struct str why = {0};
        rules_say_never(kind, on, its, &why);
        err_set(err, ERR_CONFLICT, "%s", why.at);
        str_done(&why);
        return -1;
    }
    dep.met = state == DEP_MET;
    VEC_PUSH(&j->deps, dep);
    return 0;
}

struct members {
    struct yard *y;
    struct live_job *j;
    enum spec_dep_kind kind;
};

static int add_member(void *ctx, const struct job_row *row, struct err *err)
{
    struct members *m = ctx;
    return add_dep(m->y, m->j, m->kind, row->id, err);
}

/* Adds dependencies on jobs of this name that come earlier in the same batch. */
static bool add_deps_in_batch(const struct batch *b, struct live_job *j, const struct spec_dep *d)
{
    uint32_t own = b->of.at[b->jobs.n - 1];
    bool found = false;
    for (size_t i = 0; i < b->jobs.n && b->of.at[i] < own; i++)
        if (!strcmp(b->jobs.at[i]->row.name, d->job)) {
            VEC_PUSH(&j->deps, (struct live_dep){d->kind, -(int64_t)i - 1, false});
            found = true;
        }
    return found;
}

static int see_array(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    *(int64_t *)ctx = row->array;
    return 0;
}

/* The id of an array's first job refers to all its jobs. */
static int add_deps(struct yard *y, const struct batch *b, struct live_job *j,
                    const struct spec_dep *d, struct err *err)
{
    int64_t on, array;
    if (d->kind == SPEC_SINGLETON) {
        VEC_PUSH(&j->deps, (struct live_dep){.kind = d->kind});
        return 0;
    }
    if (add_deps_in_batch(b, j, d))
        return 0;
    if (find_job(y, d->job, &on, err) < 0 ||
        store_job_get(y->store, on, see_array, &array, err) < 0)
        return -1;
    if (array != on)
        return add_dep(y, j, d->kind, on, err);
    if (arrivals_check(y, array, err) < 0)
        return -1;
    struct job_filter filter = {.array = on};
    struct members members = {y, j, d->kind};
    return store_job_list(y->store, &filter, add_member, &members, err);
}

/* ---- a batch ------------------------------------------------------------- */

static void batch_done(struct yard *y, struct batch *b)
{
    for (size_t i = 0; i < b->jobs.n; i++) {
        submission_end(&y->submissions, b->jobs.at[i]->submission);
        live_job_free(b->jobs.at[i]);
    }
    VEC_DONE(&b->jobs);
    VEC_DONE(&b->of);
}

/* Whether the path is the directory, or below it. */
static bool is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/')
        n--;
    return !strncmp(path, dir, n) && (n == 1 || path[n] == '/' || path[n] == ':');
}

/* A container sees of its node what the operator of the server allows, and nothing else. */
static int check_mount(const struct yard *y, const char *mount, struct err *err)
{
    if (*mount != '/') /* an object of the cluster, which decides itself */
        return nodes_has_runtime(y, "kubernetes")
                   ? 0
                   : err_set(err, ERR_INVALID,
                             "mounts: '%.100s' is for Kubernetes, which this server does not use",
                             mount);
    AUTO_FREE char *source = xstrndup(mount, strcspn(mount, ":") + 1);
    bool climbs = strstr(source, "/../") || strstr(source, "/..:");
    for (size_t i = 0; !climbs && y->config.mounts && y->config.mounts[i]; i++)
        if (is_below(source, y->config.mounts[i]))
            return 0;
    return err_set(err, ERR_INVALID,
                   "mounts: '%.100s' is not below a directory that may be mounted; the server "
                   "allows them with --allow-mount",
                   mount);
}

/* The client took it for a process: what it sent of its environment does not suit an image, and its
 * directory is there only if it may be mounted. */
static void use_image(const struct yard *y, struct spec *s)
{
    struct str mount = {0};
    struct err err;
    s->image = y->config.default_image;
    if (!s->export || !strcmp(s->export, "all"))
        s->environment.n = 0;
    str_addf(&mount, "%s:%s", s->workdir ? s->workdir : "", s->workdir ? s->workdir : "");
    if (s->workdir && !strchr(s->workdir, ':') && check_mount(y, mount.at, &err) == 0) {
        const char **at = ARENA_ARRAY(&s->arena, s->mounts.n + 1, const char *);
        if (s->mounts.n)
            memcpy(at, s->mounts.at, s->mounts.n * sizeof *at);
        at[s->mounts.n] = arena_strdup(&s->arena, mount.at);
        s->mounts = (struct spec_list){at, s->mounts.n + 1};
    } else {
        s->workdir = NULL;
    }
    str_done(&mount);
}

void submit_choose_image(const struct yard *y, struct spec *s)
{
    if (s->image && !spec_has_image(s))
        s->image = NULL;
    else if (!s->image && y->config.default_image)
        use_image(y, s);
}

static int check_upload(const struct yard *y, const char *digest, struct err *err)
{
    AUTO_FREE char *path = digest_is(digest) ? uploads_use(y, digest) : NULL;
    return path ? 0
                : err_set(err, ERR_INVALID,
                          "upload: the server does not have it; send the archive with PUT "
                          "/uploads/DIGEST first, and give its digest here");
}

static int check_container(const struct yard *y, const struct spec *s, const char **field,
                           struct err *err)
{
    if (s->upload && check_upload(y, s->upload, err) < 0) {
        *field = "upload";
        return -1;
    }
    for (uint32_t i = 0; i < s->mounts.n; i++)
        if (check_mount(y, s->mounts.at[i], err) < 0) {
            *field = "mounts";
            return -1;
        }
    return 0;
}

/* The members of a group are compared at the same steps. */
static int check_group(const struct yard *y, const struct spec *s, struct err *err)
{
    for (const struct live_job *j = y->jobs.first; j; j = j->next) {
        const struct spec *its = &j->submission->spec;
        if (!its->keep_best || !its->group || strcmp(its->group, s->group) != 0 ||
            strcmp(j->row.user, s->user ? s->user : "") != 0 ||
            (its->keep_best == s->keep_best && its->every == s->every))
            continue;
        return err_set(err, ERR_CONFLICT,
                       "group: job %lld of group %s has keep_best %d and every %d; give the same, "
                       "or another group",
                       (long long)j->row.id, s->group, its->keep_best, its->every);
    }
    return 0;
}

/* What is wrong with the request, as far as the server has to know it. */
static int check_request(const struct yard *y, const struct spec *s, usec_t now, const char **field,
                         struct err *err)
{
    if (s->image && !nodes_run_images(y)) {
        *field = "image";
        return err_set(err, ERR_INVALID,
                       "image: no node can run containers; add one with `trainyard nodes add`, or "
                       "remove the image to run the job as a process");
    }
    if (check_container(y, s, field, err) < 0)
        return -1;
    if (s->deadline_at && s->deadline_at <= now) {
        *field = "deadline_at";
        return err_set(err, ERR_INVALID, "deadline_at: must be in the future");
    }
    if (s->keep_best && check_group(y, s, err) < 0) {
        *field = "group";
        return -1;
    }
    if (s->pattern && progress_pattern_check(s->pattern, err) < 0) {
        *field = "pattern";
        return -1;
    }
    return 0;
}

/* How long a node counts as able to come back with all that it had. */
#define REMEMBERED (7 * 24 * 3600 * USEC_PER_SEC)

struct memory_of_nodes {
    const struct yard *y;
    const struct job *job;
    bool held; /* a node could hold it */
};

static int compare_with_past(void *ctx, const struct load_row *had, struct err *err)
{
    struct memory_of_nodes *m = ctx;
    const struct job *j = m->job;
    uint32_t node;
    struct err unknown;
    (void)err;
    if (nodes_find(m->y, had->node, &node, &unknown) < 0 || m->y->nodes.at[node].gone)
        return 0;
    m->held =
        job_cpus(j, j->pool, j->min) <= had->cpus && (j->pool == POOL_CPU || j->min <= had->gpus);
    return m->held;
}

/* Whether a node that is smaller now could hold the job a while ago: a machine whose GPUs have
 * vanished, or a server that was started on some of its CPUs. */
static bool was_large_enough(const struct yard *y, const struct live_job *j)
{
    struct memory_of_nodes m = {y, &j->job[j->job_now], false};
    usec_t since = clock_wall(&y->clock) - REMEMBERED;
    struct err err;
    return store_load_most(y->store, since, compare_with_past, &m, &err) == 0 && m.held;
}

/* Sets the terms of the first job of a request, which the others share. */
static int set_terms(struct yard *y, const struct spec *s, struct live_job *first,
                     const char **field, struct err *err)
{
    if (terms_from_spec(s, &first->terms, err) < 0 || rules_make_job(y, first, err) < 0)
        return -1;
    if (rules_can_hold(y, first, err) == 0 || err->code == ERR_UNREACHABLE ||
        was_large_enough(y, first))
        return 0;
    bool unknown = s->gpu_type && cluster_gpu_pool(&y->cluster, s->gpu_type) == POOLS_MAX;
    *field = unknown ? "gpu_type" : NULL;
    return -1;
}

/* Refuses a job whose deadline cannot be met, if the user wants that. */
static int check_deadline(struct yard *y, const struct spec *s, struct live_job *first,
                          const char **field, struct err *err)
{
    struct submission submission = {.spec = *s};
    struct outlook outlook;
    struct str text = {0};
    if (!s->strict_deadline)
        return 0;
    first->submission = &submission;
    past_find(y, first);
    outlook_make(y, first, &outlook);
    outlook_phrase(y, first, &outlook, &text);
    first->submission = NULL;
    *field = "strict_deadline";
    int rc = outlook.kind != OUTLOOK_LATE
                 ? 0
                 : err_set(err, ERR_CONFLICT, "strict_deadline: %s", text.at);
    str_done(&text);
    if (rc == 0)
        *field = NULL;
    return rc;
}

/* The number of jobs that the request asks for. */
uint32_t submit_members(const struct spec *s)
{
    return s->array.n ? indices_count(&s->array) : 1;
}

static int set_deps(struct yard *y, const struct spec *s, const struct batch *b,
                    struct live_job *first, const char **field, struct err *err)
{
    uint64_t jobs = submit_members(s);
    *field = "after";
    for (uint32_t i = 0; i < s->after.n; i++)
        if (add_deps(y, b, first, &s->after.at[i], err) < 0)
            return -1;
    if (jobs * first->deps.n > SUBMIT_DEPS_MAX)
        return err_set(err, ERR_LIMIT,
                       "after: %llu jobs with %zu dependencies each are too many; let one job wait "
                       "for all of them, and these jobs for that one",
                       (unsigned long long)jobs, first->deps.n);
    *field = NULL;
    return 0;
}

/* Makes the jobs of one request, without writing them; if it comes alone, as many as arrive in
 * one turn. */
static int expand_request(struct yard *y, const struct spec *s, uint32_t at, bool alone, usec_t now,
                          struct batch *b, const char **field, struct err *err)
{
    struct live_job *first = create_job(s, now);
    *field = NULL;
    VEC_PUSH(&b->jobs, first);
    VEC_PUSH(&b->of, at);
    if (check_request(y, s, now, field, err) < 0 || set_terms(y, s, first, field, err) < 0 ||
        check_deadline(y, s, first, field, err) < 0 || set_deps(y, s, b, first, field, err) < 0)
        return -1;
    uint32_t members = submit_members(s), chunk = arrivals_chunk(y, first->deps.n);
    members = alone && chunk < members ? chunk : members;
    for (uint32_t i = 1; i < members; i++) {
        struct live_job *j = create_job(s, now);
        j->terms = first->terms;
        for (size_t k = 0; k < first->deps.n; k++)
            VEC_PUSH(&j->deps, first->deps.at[k]);
        VEC_PUSH(&b->jobs, j);
        VEC_PUSH(&b->of, at);
    }
    struct live_job **jobs = b->jobs.at + (b->jobs.n - members);
    for (uint32_t i = 0; s->array.n && i < members; i++)
        jobs[i]->row.array_index = indices_nth(&s->array, i);
    return 0;
}

/* Jobs that come earlier in the batch have their ids by now. */
static void resolve_deps(const struct batch *b, struct live_job *j)
{
    for (size_t i = 0; i < j->deps.n; i++)
        if (j->deps.at[i].on < 0)
            j->deps.at[i].on = b->jobs.at[-j->deps.at[i].on - 1]->row.id;
}

/* Writes request number `at`, which is empty afterwards, and its jobs, from *next on. */
static int write_request(struct yard *y, struct spec *s, uint32_t at, struct batch *b, size_t *next,
                         struct err *err)
{
    int64_t array = s->array.n ? JOB_ARRAY_FIRST : 0;
    struct submission *submission = submission_add(&y->submissions, y->store, s, err);
    int rc = submission ? 0 : -1;
    for (; rc == 0 && *next < b->jobs.n && b->of.at[*next] == at; ++*next) {
        struct live_job *j = b->jobs.at[*next];
        j->submission = submission_share(submission);
        resolve_deps(b, j);
        rc = create_write(y, j, array, err);
        if (array == JOB_ARRAY_FIRST)
            array = j->row.id;
    }
    submission_drop(&y->submissions, submission);
    return rc;
}

/* Registers the jobs and offers them to the engine. */
static void register_jobs(struct yard *y, struct batch *b, struct ids *ids)
{
    for (size_t i = 0; i < b->jobs.n; i++) {
        create_register(y, b->jobs.at[i]);
        VEC_PUSH(ids, b->jobs.at[i]->row.id);
    }
    for (size_t i = 0; i < b->jobs.n; i++)
        eligible_offer(y, b->jobs.at[i]);
    b->jobs.n = 0;
    turn_hurry(y);
}

static int check_count(const struct spec *specs, size_t n, struct err *err)
{
    uint64_t jobs = 0;
    for (size_t i = 0; i < n; i++)
        jobs += submit_members(&specs[i]);
    if (n == 1 || jobs <= SUBMIT_BATCH_MAX)
        return 0;
    return err_set(err, ERR_LIMIT,
                   "a batch of %llu jobs; it may have %d, so submit a larger array by itself",
                   (unsigned long long)jobs, SUBMIT_BATCH_MAX);
}

int submit_jobs(struct yard *y, struct spec *specs, size_t n, struct ids *ids, size_t *at,
                const char **field, struct err *err)
{
    struct batch b = {0};
    usec_t now = clock_wall(&y->clock);
    uint32_t members = submit_members(&specs[0]);
    size_t next = 0;
    *field = NULL;
    for (size_t i = 0; i < n; i++)
        if (!specs[i].memory_mb)
            specs[i].memory_mb = y->config.default_memory_mb;
    *at = 0;
    int rc = check_count(specs, n, err);
    for (; rc == 0 && *at < n; ++*at)
        rc = expand_request(y, &specs[*at], (uint32_t)*at, n == 1, now, &b, field, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = write_request(y, &specs[i], (uint32_t)i, &b, &next, err);
    if (rc == 0 && n == 1 && b.jobs.n < members)
        rc = arrivals_add(y, b.jobs.at[0], (uint32_t)b.jobs.n, members, err);
    if (rc == 0)
        register_jobs(y, &b, ids);
    else if (*at)
        --*at;
    batch_done(y, &b);
    return rc;
}
