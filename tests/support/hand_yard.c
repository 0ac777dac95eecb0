/* Owns yards that are filled by hand. */
#include "support/hand_yard.h"

#include "policy/combo.h"
#include "server/explain/explain.h"
#include "sim/nodes.h"
#include "store/jobs.h"
#include "store/store.h"
#include "support/test.h"

void hand_begin(struct hand_yard *f, void **state, const char *nodes, const char *policy)
{
    struct engine_config config = {.seed = 1, .explain = true};
    struct err err;
    *f = (struct hand_yard){.dir = *state};
    assert_ok(nodes_parse(nodes, &f->arena, &f->y.cluster, &err), err);
    assert_ok(combo_parse(policy, &config.combo, &err), err);
    f->y.store = store_dir_open(f->dir);
    clock_init(&f->y.clock, &clock_system);
    for (uint32_t i = 0; i < f->y.cluster.n; i++)
        f->y.cluster.nodes[i].devices.of[DEVICE_PROCESS] = DEVICES_LIMIT;
    engine_init(&f->y.engine, &config, &f->y.cluster);
    for (uint32_t i = 0; i < f->y.cluster.n; i++)
        VEC_PUSH(&f->y.nodes, (struct yard_node){.name = f->y.cluster.nodes[i].name});
}

void hand_end(struct hand_yard *f)
{
    engine_done(&f->y.engine);
    live_done(&f->y.jobs);
    VEC_DONE(&f->y.by_task);
    VEC_DONE(&f->y.nodes);
    store_close(f->y.store);
    arena_done(&f->arena);
}

void hand_step(struct hand_yard *f, struct event v)
{
    struct err err;
    assert_ok(engine_step(&f->y.engine, &v, clock_now(&f->y.clock), &err), err);
}

struct live_job *hand_add(struct hand_yard *f, const char *name, units_t min, units_t max)
{
    struct live_job *j = xcalloc(1, sizeof *j);
    struct job_row row = store_dir_job(1);
    struct err err;
    row.name = name;
    row.user = "ann";
    row.submitted = clock_read_wall();
    row.priority = 0;
    row.cpus_min = min;
    row.cpus_max = max;
    assert_ok(store_dir_submit(f->y.store, &row, &row.id, &err), err);
    *j = (struct live_job){.row = job_row_copy(&row), .task = TASK_NONE};
    j->terms = (struct terms){.cpus_min = min,
                              .cpus_max = max,
                              .asked_min = min,
                              .asked_max = max,
                              .weight = 1,
                              .target = NAN,
                              .grace = 30 * USEC_PER_SEC};
    live_add(&f->y.jobs, j);
    return j;
}

struct live_job *hand_offer(struct hand_yard *f, struct live_job *j)
{
    struct err err;
    assert_ok(terms_to_job(&j->terms, (uint32_t)j->row.id, j->row.name, j->row.priority,
                           clock_now(&f->y.clock), USEC_NEVER, UNITS_MAX, NULL, &j->arena[0],
                           &j->job[0], &err),
              err);
    hand_step(f, (struct event){.kind = EVENT_SUBMIT, .job = &j->job[0]});
    j->task = f->y.engine.submitted;
    while (f->y.by_task.n <= j->task)
        VEC_PUSH(&f->y.by_task, 0);
    f->y.by_task.at[j->task] = j->row.id;
    return j;
}

void hand_decide(struct hand_yard *f)
{
    hand_step(f, (struct event){.kind = EVENT_TICK});
    for (struct live_job *j = f->y.jobs.first; j; j = j->next) {
        const struct task *t = j->task == TASK_NONE ? NULL : &f->y.engine.tasks[j->task];
        if (!t || t->phase != TASK_RUNNING)
            continue;
        if (!j->attempt) {
            j->attempt = xcalloc(1, sizeof *j->attempt);
            *j->attempt = (struct attempt){.job = j->row.id,
                                           .n = 1,
                                           .state = JOB_RUNNING,
                                           .pool = t->pool,
                                           .started = clock_read_wall() - 10 * USEC_PER_SEC};
        }
        j->attempt->cpus = t->n;
        j->row.state = JOB_RUNNING;
    }
}

void hand_report(struct hand_yard *f, struct live_job *j, double seconds_left)
{
    const struct task *t = &f->y.engine.tasks[j->task];
    double done = task_done(t, clock_now(&f->y.clock));
    usec_t wall = clock_wall(&f->y.clock);
    double total = 120 + 12 * seconds_left;
    j->progress = (struct progress_seen){.known = true, .step = 120, .total = total, .rate = 12};
    for (int i = 0; i <= 10; i++) /* 12 steps a second, as exactly as it can be measured */
        estimate_report(&f->y, j, wall - (10 - i) * USEC_PER_SEC, 12 * i, NAN);
    hand_step(f, (struct event){.kind = EVENT_PROGRESS,
                                .task = j->task,
                                .work = done + seconds_left * USEC_PER_SEC * t->rate,
                                .done = done});
}

/* ---- what was said -------------------------------------------------------- */

json_t *hand_explain(struct hand_yard *f, const struct live_job *j)
{
    json_t *o = NULL;
    struct err err;
    assert_ok(explain_job(&f->y, j->row.id, &o, &err), err);
    assert_int_equal(json_integer_value(json_object_get(o, "job")), j->row.id);
    return o;
}

void said_summary(const json_t *o, const char *text)
{
    assert_string_equal(json_string_value(json_object_get(o, "summary")), text);
}

static bool has_reason(const json_t *o, const char *code, const char *text)
{
    size_t i;
    json_t *r;
    json_array_foreach(json_object_get(o, "reasons"), i, r)
    {
        if (!strcmp(json_string_value(json_object_get(r, "code")), code) &&
            !strcmp(json_string_value(json_object_get(r, "text")), text))
            return true;
    }
    return false;
}

static bool has_free(const json_t *o, const char *text)
{
    size_t i;
    json_t *r;
    json_array_foreach(json_object_get(o, "frees"), i, r)
    {
        if (!strcmp(json_string_value(r), text))
            return true;
    }
    return false;
}

/* With the whole answer when it is not there. */
static void expect_true(bool truth, const json_t *o, const char *text)
{
    if (truth)
        return;
    char *all = json_dumps(o, JSON_INDENT(2));
    print_error("%s\n", all);
    free(all);
    fail_msg("it does not say '%s'", text);
}

void said_reason(const json_t *o, const char *code, const char *text)
{
    expect_true(has_reason(o, code, text), o, text);
}

void said_free(const json_t *o, const char *text)
{
    expect_true(has_free(o, text), o, text);
}

const char *said_basis(const json_t *o)
{
    return json_string_value(json_object_get(json_object_get(o, "start"), "basis"));
}

double said_start(const json_t *o)
{
    const json_t *in = json_object_get(json_object_get(o, "start"), "in_s");
    return json_is_number(in) ? json_number_value(in) : NAN;
}
