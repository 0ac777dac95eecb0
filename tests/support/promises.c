/* Owns the checks against what is true in the fake world. Nothing that the server says of
 * itself is taken for granted. */
#include "support/promises.h"

#include "runtime/fake_conductor.h"
#include "runtime/fake_world.h"
#include "server/jobs/launch.h"
#include "server/jobs/live.h"
#include "store/job_state.h"
#include "support/audit.h"
#include "support/promises_store.h"
#include "support/test.h"

/* ---- what is true ----------------------------------------------------------------- */

static void count_attempt(const struct fake *f, struct day_truth *t, const struct fake_attempt *a)
{
    bool ended = a->state == FAKE_ENDED, asked = *a->record.stop;
    t->running += fake_may_train(f, a);
    t->begun += a->begun;
    t->left += !a->cleaned && a->state != FAKE_VOID;
    t->succeeded += ended && a->record.code == 0 && !asked;
    t->ended += ended && a->record.code == 0;
    t->died += a->state == FAKE_DEAD;
    t->unseen += a->unseen;
    t->preempted += !strcmp(a->stop, "preempt");
    if (ended && a->record.code == 0)
        t->ended_at = a->record.at;
    if (!ended || a->record.code == 0 || a->record.untried || asked)
        return;
    t->failed++;
    t->failed_at = a->record.at > t->failed_at ? a->record.at : t->failed_at;
}

static void look_at_truth(struct day *d)
{
    for (size_t i = 0; i < d->jobs.n; i++) {
        d->jobs.at[i]->before = d->jobs.at[i]->truth;
        d->jobs.at[i]->truth = (struct day_truth){0};
    }
    for (uint32_t f = 0; f < d->w.n_fakes; f++)
        for (size_t i = 0; i < d->w.fakes[f]->attempts.n; i++) {
            const struct fake_attempt *a = &d->w.fakes[f]->attempts.at[i];
            struct known *k = day_job(d, a->id.job);
            if (k)
                count_attempt(d->w.fakes[f], &k->truth, a);
        }
}

/* ---- once -------------------------------------------------------------------------- */

static bool check_once(struct day *d, const struct known *k)
{
    const struct day_truth *t = &k->truth;
    if (t->running > 1)
        return day_broken(d, k->id, "its command runs twice at the same time");
    if (t->succeeded > 1 + k->requeues + t->unseen)
        return day_broken(d, k->id, "it ran again although it had succeeded");
    if (k->stays && t->preempted)
        return day_broken(d, k->id, "it was stopped to make room, and has no checkpoint");
    if (k->over && t->running)
        return day_broken(d, k->id, "it is over, and its command runs");
    if (k->row.held != (k->row.state == JOB_HELD) &&
        (k->row.state == JOB_HELD || k->row.state == JOB_QUEUED))
        return day_broken(d, k->id, "it is %s, and %sheld", job_state_name(k->row.state),
                          k->row.held ? "" : "not ");
    if (k->row.state == JOB_HELD && t->running)
        return day_broken(d, k->id, "it is held, and its command runs");
    if (k->row.attempt > k->attempts)
        return day_broken(d, k->id, "attempt %u began after it was cancelled or held",
                          k->row.attempt);
    return true;
}

/* ---- results ----------------------------------------------------------------------- */

static bool check_result(struct day *d, const struct known *k)
{
    const struct day_truth *t = &k->truth;
    uint32_t bad = t->failed + (k->forgives ? 0 : t->died + t->unseen);
    if (k->row.state == JOB_DONE && !t->ended)
        return day_broken(d, k->id, "it is done, and never succeeded");
    if (k->row.state == JOB_DONE && t->ended == 1 && !d->clock_set && k->row.ended != t->ended_at)
        return day_broken(d, k->id, "it ended %.3f s before the server says",
                          time_seconds(k->row.ended - t->ended_at));
    if (k->row.failures > bad)
        return day_broken(d, k->id, "%u failures are counted, and %u happened", k->row.failures,
                          bad);
    if (k->row.failures > k->retries + 1)
        return day_broken(d, k->id, "it failed %u times with %u retries", k->row.failures,
                          k->retries);
    if (k->row.state == JOB_FAILED && k->row.failures != k->retries + 1)
        return day_broken(d, k->id, "it gave up after %u failures with %u retries", k->row.failures,
                          k->retries);
    return true;
}

/* ---- when it may run --------------------------------------------------------------- */

/* A job that was queued again waits only for what may still come. */
static bool dep_met(const struct known *k, const struct known *on)
{
    if (k->requeues && on->over)
        return true;
    switch (k->dep_kind) {
    case SPEC_AFTER:
        return on->truth.begun || on->over;
    case SPEC_AFTEROK:
        return on->over && on->row.state == JOB_DONE;
    case SPEC_AFTERNOTOK:
        return on->over && on->row.state != JOB_DONE;
    case SPEC_AFTERANY:
        return on->over;
    case SPEC_SINGLETON:
        break;
    }
    return true;
}

/* Of a job whose command has just begun. */
static bool check_begin(struct day *d, const struct known *k)
{
    const struct known *on = day_job(d, k->dep);
    usec_t pause = fake_now(d->w.fake) - k->truth.failed_at;
    if (on && !on->requeues && !dep_met(k, on))
        return day_broken(d, k->id, "it runs before job %lld lets it", (long long)k->dep);
    /* While the server's clock is that of the nodes, and unless it has failed again already. */
    if (!d->clock_set && !k->requeues && !k->truth.unseen && k->row.failures &&
        k->truth.failed == k->before.failed && pause < k->backoff << (k->row.failures - 1))
        return day_broken(d, k->id, "it runs %.3f s after failure %u", time_seconds(pause),
                          k->row.failures);
    return true;
}

/* A requeued job may run beside those that came after it. */
static bool check_ties(struct day *d, const struct known *k)
{
    uint32_t running = 0, requeues = 0;
    if (!k->truth.running || !(k->array || k->singleton))
        return true;
    for (size_t i = 0; i < d->jobs.n; i++) {
        const struct known *o = d->jobs.at[i];
        if ((k->array && o->array == k->array) || (k->singleton && o->singleton == k->singleton)) {
            running += o->truth.running;
            requeues += o->requeues;
        }
    }
    if (!requeues && running > (k->array ? k->array_limit : 1))
        return day_broken(d, k->id, "%u of its %s run", running, k->array ? "array" : "name");
    return true;
}

/* ---- capacity ---------------------------------------------------------------------- */

/* One that was frozen and has to end runs beside those that have its CPUs: it could not save
 * itself otherwise. */
static bool is_extra(const struct day *d, int64_t job, uint32_t n)
{
    const struct known *k = day_job(d, job);
    return k && k->extra == n;
}

static void note_extra(const struct day *d)
{
    for (size_t i = 0; i < d->w.y->attempts.n; i++) {
        const struct attempt *a = d->w.y->attempts.at[i];
        const struct live_job *j = yard_live(d->w.y, a->job);
        const struct task *t = j ? yard_task(d->w.y, j) : NULL;
        struct known *k = day_job(d, a->job);
        if (k && a->stop != STOP_NONE && !(t && t->n))
            k->extra = a->n;
    }
}

/* Whether the server is sure of what is in force on the node. After a restart, and after an
 * operation that failed, it says sizes again in any order. */
static bool is_sure(const struct yard *y, const char *node)
{
    for (size_t i = 0; i < y->attempts.n; i++) {
        const struct attempt *a = y->attempts.at[i];
        if (a->unsure & (1U << OP_RESIZE | 1U << OP_FREEZE) &&
            !strcmp(y->nodes.at[a->node].name, node))
            return false;
    }
    return true;
}

/* What runs there may use no more than it has, whatever operations are under way. */
static bool check_node(struct day *d, const struct fake *f, uint32_t node)
{
    const struct fake_node *n = &f->nodes.at[node];
    units_t cpus = 0;
    int64_t memory = 0;
    for (size_t i = 0; i < f->attempts.n; i++) {
        const struct fake_attempt *a = &f->attempts.at[i];
        if (a->node != node || a->state != FAKE_RUNNING)
            continue;
        memory += a->size.memory_mb;
        if (!a->frozen && !is_extra(d, a->id.job, a->id.n))
            cpus += a->size.cpus;
    }
    if (memory > n->memory_mb)
        return day_broken(d, 0, "%s has %lld MB, and what runs there may use %lld", n->name,
                          (long long)n->memory_mb, (long long)memory);
    if (cpus > n->cpus && is_sure(d->w.y, n->name))
        return day_broken(d, 0, "%s has %lld CPUs, and what runs there may use %lld", n->name,
                          (long long)(n->cpus / UNIT), (long long)(cpus / UNIT));
    return true;
}

static bool check_nodes(struct day *d)
{
    for (uint32_t i = 0; i < d->w.n_fakes; i++) {
        if (fake_overlaps(d->w.fakes[i]))
            return day_broken(d, 0, "a command was begun while it ran");
        for (uint32_t node = 0; node < fake_nodes(d->w.fakes[i]); node++)
            if (!d->shrunk[i][node] && !check_node(d, d->w.fakes[i], node))
                return false;
    }
    return true;
}

/* Names of nodes are a letter for the runtime, and a number. */
static bool has_shrunk(const struct day *d, const char *node)
{
    return d->shrunk[*node - 'a'][strtoul(node + 1, NULL, 10) - 1];
}

/* What the server wants of a node at the same time. */
static bool check_wanted(struct day *d)
{
    const struct yard *y = d->w.y;
    for (uint32_t node = 0; node < y->cluster.n; node++) {
        units_t cpus = 0;
        if (has_shrunk(d, y->nodes.at[node].name))
            continue;
        for (size_t i = 0; i < y->attempts.n; i++) {
            const struct attempt *a = y->attempts.at[i];
            if (a->node == node && !a->leaves && !a->paused && a->stop != STOP_MOVE &&
                !is_extra(d, a->job, a->n))
                cpus += a->cpus;
        }
        if (cpus > y->cluster.nodes[node].cpus)
            return day_broken(
                d, 0, "%s has %lld CPUs, and %lld are wanted of it", y->nodes.at[node].name,
                (long long)(y->cluster.nodes[node].cpus / UNIT), (long long)(cpus / UNIT));
    }
    return true;
}

/* ---- the engine --------------------------------------------------------------------- */

/* Its own invariants, and that the server carries out what it has decided. */
static bool check_engine_state(struct day *d)
{
    const struct yard *y = d->w.y;
    struct audit audit = {0};
    bool good = audit_state(&audit, &y->engine);
    if (!good)
        day_broken(d, 0, "the engine: %s", audit.why);
    audit_done(&audit);
    for (size_t i = 0; good && i < y->engine.running.n; i++) {
        const struct live_job *j = yard_job_of_task(y, y->engine.running.at[i]);
        const struct task *t = &y->engine.tasks[y->engine.running.at[i]];
        if (j && j->attempt && j->attempt->stop == STOP_MOVE)
            continue; /* its next attempt will be there */
        if (!j || !j->attempt || j->attempt->cpus != t->n || j->attempt->node != t->at.at[0].node)
            good = day_broken(d, j ? j->row.id : 0, "the engine runs it, and the server does not");
    }
    return good;
}

/* ---- all --------------------------------------------------------------------------- */

bool promises_check(struct day *d)
{
    look_at_truth(d);
    note_extra(d);
    if (!promises_check_rows(d) || !promises_check_events(d) || !promises_check_engines(d) ||
        !check_nodes(d) || !check_wanted(d) || !check_engine_state(d))
        return false;
    for (size_t i = 0; i < d->jobs.n; i++) {
        const struct known *k = d->jobs.at[i];
        if (!k->seen)
            continue;
        if (!check_once(d, k) || !check_result(d, k) || !check_ties(d, k) ||
            (k->truth.begun > k->before.begun && !check_begin(d, k)))
            return false;
    }
    return true;
}

/* ---- when it is quiet ------------------------------------------------------------------ */

static const struct fake_attempt *real_attempt(const struct day *d, const struct attempt *a)
{
    for (uint32_t f = 0; f < d->w.n_fakes; f++)
        for (size_t i = 0; i < d->w.fakes[f]->attempts.n; i++) {
            const struct fake_attempt *is = &d->w.fakes[f]->attempts.at[i];
            if (is->id.job == a->job && is->id.n == a->n)
                return is;
        }
    return NULL;
}

/* What is not as it is wanted; NULL = nothing. */
static const char *what_differs(const struct day *d, const struct attempt *a)
{
    const struct live_job *j = yard_live(d->w.y, a->job);
    const struct fake_attempt *is = real_attempt(d, a);
    if (a->leaves)
        return "it has ended, and something is left of it";
    if (a->stop == STOP_CANCEL || a->stop == STOP_REQUEUE)
        return "it has not stopped";
    if (a->paused && !a->begun)
        return NULL;
    if (!is || is->state != FAKE_RUNNING || !a->link)
        return "it does not run";
    if (is->frozen != a->paused)
        return "it is frozen or not, unlike what is wanted";
    if (is->size.cpus != a->cpus)
        return "it has another size than it should";
    usec_t limit = launch_time_limit(j, a);
    return (is->limit == USEC_NEVER ? 0 : is->limit) == limit ? NULL : "it has another time limit";
}

bool promises_check_settled(struct day *d)
{
    for (size_t i = 0; i < d->w.y->attempts.n; i++) {
        const struct attempt *a = d->w.y->attempts.at[i];
        const char *what = what_differs(d, a);
        if (what)
            return day_broken(d, a->job, "attempt %u: %s", a->n, what);
    }
    return true;
}

static bool say_stuck(struct day *d, const struct known *k)
{
    const struct live_job *j = yard_live(d->w.y, k->id);
    const struct attempt *a = j ? j->attempt : NULL;
    char text[200] = "";
    if (a)
        snprintf(text, sizeof text,
                 "; attempt %u is %s%s%s%s%s, of %lld CPUs, %lld in force, on %s", a->n,
                 a->begun ? "begun" : "not begun", a->busy ? ", busy" : "",
                 a->link ? ", linked" : ", not linked", a->paused ? ", paused" : "",
                 a->set.frozen ? ", frozen" : "", (long long)a->cpus, (long long)a->set.cpus,
                 d->w.y->nodes.at[a->node].name);
    return day_broken(d, k->id, "it is still %s (%s), blocks %x, %u of its commands run%s",
                      job_state_name(k->row.state), k->row.reason, j ? j->blocks : 0,
                      k->truth.running, text);
}

bool promises_check_quiet(struct day *d)
{
    look_at_truth(d);
    for (size_t i = 0; i < d->jobs.n; i++) {
        const struct known *k = d->jobs.at[i];
        if (!k->over)
            return say_stuck(d, k);
        if (k->truth.left)
            return day_broken(d, k->id, "it is over, and something is left of it");
    }
    return true;
}
