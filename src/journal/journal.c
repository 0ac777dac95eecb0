/* Owns writing the journal. An event's row has everything that engine_step() reads; a plan's row
 * is the canonical text of a decision, which a replay compares with its own. Lists over very
 * many tasks are cut after the first JOURNAL_SHOWN and end with a digest of the rest, so that a
 * row stays small however long the queue is. The effects are always complete. */
#include "journal/journal.h"

#include <inttypes.h>

#include "base/rng.h"
#include "journal/tables.h"

enum { JOURNAL_SHOWN = 64 };

/* ---- boots and events ---------------------------------------------------- */

/* Most jobs and nodes have none. */
static void write_devices(const struct devices *d, struct str *out)
{
    if (!devices_any(d))
        return;
    str_add(out, ",\"devices\":[");
    for (int i = 0; i < DEVICES_MAX; i++)
        str_addf(out, "%s%" PRId32, i ? "," : "", d->of[i]);
    str_add(out, "]");
}

void journal_write_boot(const struct engine *e, struct str *out)
{
    const struct cluster *c = &e->cluster;
    str_add(out, "{\"policy\":");
    str_add_json(out, e->config.combo.name);
    str_add(out, ",");
    fields_write(journal_config, &e->config, out);
    str_add(out, ",\"gpu_types\":[");
    for (unsigned i = 0; i < POOLS_MAX - 1 && c->gpu_types[i]; i++) {
        str_add(out, i ? "," : "");
        str_add_json(out, c->gpu_types[i]);
    }
    str_add(out, "],\"nodes\":[");
    for (uint32_t i = 0; i < c->n; i++) {
        str_add(out, i ? ",{" : "{");
        fields_write(journal_node, &c->nodes[i], out);
        write_devices(&c->nodes[i].devices, out);
        str_add(out, "}");
    }
    str_add(out, "]}");
}

/* null is linear; otherwise the speeds at 1, 2, ... units, null where the size is not
 * admissible. */
static void write_speed(const struct speed *s, struct str *out)
{
    if (!s->at) {
        str_add(out, "null");
        return;
    }
    str_addf(out, "{\"concave\":%s,\"at\":[", s->concave ? "true" : "false");
    for (uint32_t k = 1; k <= s->len; k++) {
        str_add(out, k > 1 ? "," : "");
        if (s->next[k - 1] == k)
            fields_add_real(out, s->at[k]);
        else
            str_add(out, "null");
    }
    str_add(out, "]}");
}

static void write_job(const struct job *j, struct str *out)
{
    str_add(out, ",\"job\":{");
    fields_write(journal_job, j, out);
    write_devices(&j->devices, out);
    str_add(out, ",\"speeds\":[");
    for (unsigned i = 0; i < j->nspeeds; i++) {
        str_add(out, i ? "," : "");
        write_speed(&j->speeds[i], out);
    }
    str_add(out, "]}");
}

static void write_places(const struct placement *at, struct str *out)
{
    str_add(out, "[");
    for (uint32_t i = 0; i < at->n; i++)
        str_addf(out, "%s[%" PRIu32 ",%" PRId64 "]", i ? "," : "", at->at[i].node, at->at[i].units);
    str_add(out, "]");
}

/* Few policies keep numbers by pool, so all-zero lists are left out. */
static void write_memo_pools(const struct memo *m, struct str *out)
{
    const float *pool = m->pool[0];
    size_t n = sizeof m->pool / sizeof *pool;
    while (n && pool[n - 1] == 0)
        n--;
    for (size_t i = 0; n && i < sizeof m->pool / sizeof *pool; i++) {
        str_add(out, ",");
        fields_add_real(out, (double)pool[i]);
    }
}

static void write_memo(const struct memo *m, struct str *out)
{
    str_add(out, "[");
    for (size_t i = 0; i < COUNT_OF(m->i); i++)
        str_addf(out, "%s%" PRId64, i ? "," : "", m->i[i]);
    for (size_t i = 0; i < COUNT_OF(m->d); i++) {
        str_add(out, ",");
        fields_add_real(out, m->d[i]);
    }
    write_memo_pools(m, out);
    str_add(out, "]");
}

static void write_was(const struct task *t, struct str *out)
{
    str_add(out, ",\"was\":{");
    fields_write(journal_task, t, out);
    str_add(out, ",\"at\":");
    write_places(&t->at, out);
    str_add(out, ",\"memo\":[");
    for (int axis = 0; axis < AXES; axis++) {
        str_add(out, axis ? "," : "");
        write_memo(&t->memo[axis], out);
    }
    str_add(out, "],\"list\":[");
    for (int axis = 0; axis < AXES; axis++)
        str_addf(out, "%s%u", axis ? "," : "", t->list[axis]);
    str_add(out, "]}");
}

void journal_write_event(const struct event *event, usec_t now, struct str *out)
{
    unsigned parts = journal_parts(event->kind);
    str_add(out, "{\"kind\":");
    fields_add_word(out, JOURNAL_KINDS, event->kind);
    str_addf(out, ",\"now\":%" PRId64, now);
    for (int i = 0; i < JOURNAL_PLAIN; i++)
        if (parts >> i & 1) {
            str_add(out, ",");
            fields_write(journal_event[i], event, out);
        }
    if (parts & JOURNAL_JOB)
        write_job(event->job, out);
    if (parts & JOURNAL_WAS)
        write_was(event->was, out);
    if (parts & JOURNAL_SAMPLE) {
        str_add(out, ",\"sample\":{");
        fields_write(journal_sample, event->sample, out);
        str_add(out, "}");
    }
    if (parts & JOURNAL_HAS) {
        str_add(out, ",\"has\":{");
        fields_write(journal_capacity, event->has, out);
        write_devices(&event->has->devices, out);
        str_add(out, "}");
    }
    if (parts & JOURNAL_POLICY) {
        str_add(out, ",\"policy\":");
        str_add_json(out, event->combo->name);
    }
    str_add(out, "}");
}

/* ---- plans --------------------------------------------------------------- */

/* A list that may be cut. Items are shown or go into the digest, number by number. */
struct list {
    struct str *out;
    uint32_t n;
    uint64_t digest;
};

static struct list list_begin(struct str *out, const char *name)
{
    str_addf(out, ",\"%s\":[", name);
    return (struct list){.out = out};
}

/* Whether the next item is shown. */
static bool list_shows(struct list *l)
{
    if (l->n++ >= JOURNAL_SHOWN)
        return false;
    str_add(l->out, l->n > 1 ? "," : "");
    return true;
}

static void list_mix(struct list *l, int64_t number)
{
    l->digest = rng_mix(l->digest ^ (uint64_t)number);
}

static void list_end(const struct list *l)
{
    if (l->n > JOURNAL_SHOWN)
        str_addf(l->out, ",{\"more\":%u,\"digest\":\"%016" PRIx64 "\"}", l->n - JOURNAL_SHOWN,
                 l->digest);
    str_add(l->out, "]");
}

static void write_task(const struct engine *e, uint32_t task, struct str *out)
{
    const struct job *job = task < e->tasks_n ? e->tasks[task].job : NULL;
    str_addf(out, "{\"task\":%" PRIu32, task);
    if (job)
        str_addf(out, ",\"job\":%" PRIu32, job->id);
}

static void write_grants(const struct engine *e, struct str *out)
{
    struct list l = list_begin(out, "grants");
    for (uint32_t task = 0; task < e->tasks_n; task++) {
        const struct grant *g = plan_grant(&e->plan, task);
        if (!g || !g->n)
            continue;
        struct placement at = plan_place(&e->snapshot, g);
        if (list_shows(&l)) {
            write_task(e, task, out);
            str_addf(out, ",\"pool\":%u,\"units\":%" PRId64 ",\"at\":", g->pool, g->n);
            write_places(&at, out);
            str_add(out, "}");
            continue;
        }
        list_mix(&l, task);
        list_mix(&l, g->pool);
        for (uint32_t i = 0; i < at.n; i++) {
            list_mix(&l, at.at[i].node);
            list_mix(&l, at.at[i].units);
        }
    }
    list_end(&l);
}

/* The order of tasks that may hold units, as the decision left it. */
static void write_order(const struct engine *e, struct str *out)
{
    struct list l = list_begin(out, "order");
    for (uint32_t i = e->snapshot.first; i != TASK_NONE; i = e->links[i].next) {
        if (list_shows(&l))
            str_addf(out, "%" PRIu32, i);
        else
            list_mix(&l, i);
    }
    list_end(&l);
}

static void write_why(const struct engine *e, struct str *out)
{
    if (!e->why)
        return;
    struct list l = list_begin(out, "why");
    for (uint32_t task = 0; task < e->tasks_n; task++) {
        const struct verdict *v = &e->why[task];
        if (!e->tasks[task].job || v->why == WHY_NONE)
            continue;
        if (list_shows(&l)) {
            write_task(e, task, out);
            str_addf(out, ",\"why\":\"%s\"", why_name(v->why));
            if (v->who != TASK_NONE)
                str_addf(out, ",\"who\":%" PRIu32, v->who);
            str_add(out, "}");
        } else {
            list_mix(&l, task);
            list_mix(&l, v->why);
            list_mix(&l, v->who);
        }
    }
    list_end(&l);
}

static void write_shares(const struct engine *e, struct str *out)
{
    struct list l = list_begin(out, "shares");
    for (uint32_t i = 0; i < e->plan.nshares; i++) {
        const struct cpu_share *s = &e->plan.shares[i];
        int64_t weight;
        memcpy(&weight, &s->weight, sizeof weight);
        if (list_shows(&l)) {
            write_task(e, s->task, out);
            str_addf(out, ",\"limit\":%" PRId64 ",\"weight\":", s->limit);
            fields_add_real(out, s->weight);
            str_add(out, "}");
        } else {
            list_mix(&l, s->task);
            list_mix(&l, s->limit);
            list_mix(&l, weight);
        }
    }
    list_end(&l);
}

static void mix_pools(struct list *l, const struct memo *m)
{
    const float *pool = m->pool[0];
    for (size_t i = 0; i < sizeof m->pool / sizeof *pool; i++)
        if (pool[i] != 0) {
            int32_t bits;
            memcpy(&bits, &pool[i], sizeof bits);
            list_mix(l, (int64_t)i << 32 | (uint32_t)bits);
        }
}

static void write_memos(const struct engine *e, struct str *out)
{
    struct list l = list_begin(out, "memos");
    for (uint32_t i = 0; i < e->plan.nmemos; i++) {
        const struct memo_write *w = &e->plan.memos[i];
        int64_t numbers[COUNT_OF(w->memo.i) + COUNT_OF(w->memo.d)];
        if (list_shows(&l)) {
            str_add(out, "{\"scope\":");
            fields_add_word(out, "task|node|all", w->scope);
            str_add(out, ",\"axis\":");
            fields_add_word(out, JOURNAL_AXES, w->axis);
            str_addf(out, ",\"index\":%" PRIu32 ",\"memo\":", w->index);
            write_memo(&w->memo, out);
            str_add(out, "}");
            continue;
        }
        memcpy(numbers, w->memo.i, sizeof w->memo.i);
        memcpy(numbers + COUNT_OF(w->memo.i), w->memo.d, sizeof w->memo.d);
        list_mix(&l, (int64_t)w->scope << 40 | (int64_t)w->axis << 32 | w->index);
        for (size_t k = 0; k < COUNT_OF(numbers); k++)
            list_mix(&l, numbers[k]);
        mix_pools(&l, &w->memo);
    }
    list_end(&l);
}

static void write_effects(const struct engine *e, struct str *out)
{
    str_add(out, ",\"effects\":[");
    for (size_t i = 0; i < e->effects.n; i++) {
        const struct effect *f = &e->effects.at[i];
        str_add(out, i ? "," : "");
        write_task(e, f->task, out);
        str_add(out, ",\"kind\":");
        fields_add_word(out, "start|resize|move|preempt|pause|resume|share|list", f->kind);
        if (f->kind == EFFECT_LIST) {
            str_add(out, ",\"axis\":");
            fields_add_word(out, JOURNAL_AXES, f->axis);
        }
        str_addf(out, ",\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"cost\":%" PRId64 "}", f->from,
                 f->to, f->cost);
    }
    str_add(out, "]");
}

void journal_write_plan(const struct engine *e, usec_t now, struct str *out)
{
    str_addf(out, "{\"n\":%" PRIu64 ",\"now\":%" PRId64 ",\"policy\":", e->decisions, now);
    str_add_json(out, e->config.combo.name);
    str_add(out, ",\"wake_at\":");
    fields_add_time(out, e->wake_at);
    write_effects(e, out);
    write_grants(e, out);
    write_why(e, out);
    write_order(e, out);
    write_shares(e, out);
    write_memos(e, out);
    str_add(out, "}");
}
