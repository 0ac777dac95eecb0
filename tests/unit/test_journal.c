/* Tests of the journal's rows: what is written is what is read, and what an engine
 * could not be given is refused by name. */
#include <jansson.h>

#include "journal/journal.h"
#include "journal/read.h"
#include "journal/tables.h"
#include "policy/combo.h"
#include "support/test.h"
#include "support/world.h"

static struct arena jobs, row;

static int tear_down(void **state)
{
    (void)state;
    arena_done(&jobs);
    arena_done(&row);
    return 0;
}

/* Reads an event back and writes it again: the same bytes, which are JSON. */
static void round_trip(const struct event *v, usec_t now, struct event *back)
{
    struct str once = {0}, twice = {0};
    struct err err;
    usec_t at;
    journal_write_event(v, now, &once);
    assert_ok(journal_read_event(once.at, &jobs, &row, back, &at, &err), err);
    assert_int_equal(at, now);
    journal_write_event(back, at, &twice);
    assert_string_equal(once.at, twice.at);
    str_done(&once);
    str_done(&twice);
}

static bool same_bits(double a, double b)
{
    uint64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x == y;
}

static void test_plain_events(void **state)
{
    (void)state;
    struct event back;
    static const enum event_kind kinds[] = {EVENT_END,  EVENT_STOPPED, EVENT_FAILED,
                                            EVENT_HOLD, EVENT_RELEASE, EVENT_TICK};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        round_trip(&(struct event){.kind = kinds[i], .task = 7}, 1700000000000001, &back);
        assert_int_equal(back.kind, kinds[i]);
        assert_int_equal(back.task, kinds[i] == EVENT_TICK ? 0 : 7);
    }
    round_trip(&(struct event){.kind = EVENT_READY, .task = 1, .at = 12345678901}, 5, &back);
    assert_int_equal(back.at, 12345678901);
    round_trip(&(struct event){.kind = EVENT_NODE, .node = 3, .state = NODE_DRAINING}, 5, &back);
    assert_int_equal(back.node, 3);
    assert_int_equal(back.state, NODE_DRAINING);
}

static void test_capacity(void **state)
{
    (void)state;
    struct event back;
    struct capacity has = {.name = "big",
                           .cpus = 8 * UNIT,
                           .gpus = 2 * UNIT,
                           .gpu_type = "a100",
                           .memory_mb = 64000,
                           .memory_used = 4096};
    round_trip(&(struct event){.kind = EVENT_CAPACITY, .node = 3, .has = &has}, 5, &back);
    assert_int_equal(back.node, 3);
    assert_string_equal(back.has->name, "big");
    assert_int_equal(back.has->cpus, 8 * UNIT);
    assert_int_equal(back.has->gpus, 2 * UNIT);
    assert_int_equal(back.has->memory_used, 4096);
    assert_string_equal(back.has->gpu_type, "a100");
    assert_int_equal(back.has->memory_mb, 64000);
    has = (struct capacity){.name = "small", .cpus = UNIT};
    round_trip(&(struct event){.kind = EVENT_CAPACITY, .has = &has}, 5, &back);
    assert_null(back.has->gpu_type);
}

static void test_numbers_come_back_bit_by_bit(void **state)
{
    (void)state;
    static const double numbers[] = {
        0,      -0.0,     0.1,       1.0 / 3, 1e300, -1e-300, 5e-324, 1e17, 123456789012345678.0,
        3600e6, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        struct event back;
        struct sample s = {.at = 9, .step = numbers[i], .metric = -numbers[i]};
        round_trip(&(struct event){.kind = EVENT_PROGRESS, .work = numbers[i], .done = 1}, 0,
                   &back);
        assert_true(isnan(numbers[i]) ? isnan(back.work) : same_bits(back.work, numbers[i]));
        round_trip(&(struct event){.kind = EVENT_SAMPLE, .sample = &s}, 0, &back);
        if (!isnan(numbers[i]))
            assert_true(same_bits(back.sample->metric, -numbers[i]));
    }
}

static void test_policies(void **state)
{
    (void)state;
    struct combo combo;
    struct event back;
    struct err err;
    assert_ok(combo_parse("allocate=las:thresholds=60/600:knob=2,share=flowcon", &combo, &err),
              err);
    round_trip(&(struct event){.kind = EVENT_POLICY, .combo = &combo}, 0, &back);
    assert_ptr_equal(back.combo->policy[AXIS_ALLOCATE], combo.policy[AXIS_ALLOCATE]);
    assert_memory_equal(back.combo->params, combo.params, sizeof combo.params);
}

/* Another value in every member of a job. */
static struct job odd_job(struct arena *a)
{
    static const double speeds[] = {1, NAN, 2.5, 2.6};
    struct speed *s = ARENA_ARRAY(a, 2, struct speed);
    s[0] = (struct speed){.concave = true};
    s[1] = speed_table(a, speeds, COUNT_OF(speeds));
    return (struct job){.id = 4000000000,
                        .priority = -3,
                        .name = "a \"name\"\n\xc3\xa9",
                        .group = "resnet",
                        .submit = 17,
                        .kind = JOB_MALLEABLE,
                        .pool = POOL_GPU,
                        .whole = true,
                        .can_pause = true,
                        .req = 3000,
                        .min = 1000,
                        .max = 4000,
                        .cpus = 1500,
                        .memory_mb = 700,
                        .weight = 0.1,
                        .deadline = 99,
                        .work = 1e9 / 3,
                        .cost = {1, 2, 3, 4, 0},
                        .loss = {LOSS_POWER, 0.1, 0.2, 0.3},
                        .target = 0.7,
                        .speeds = s,
                        .nspeeds = 2};
}

static void test_jobs(void **state)
{
    (void)state;
    struct event back;
    struct job j = odd_job(&row);
    round_trip(&(struct event){.kind = EVENT_SUBMIT, .job = &j}, 1, &back);
    assert_string_equal(back.job->name, j.name);
    assert_string_equal(back.job->group, "resnet");
    for (units_t n = 0; n <= 5000; n += 250)
        assert_true(speed_at(&back.job->speeds[1], n) == speed_at(&j.speeds[1], n));
    assert_int_equal(back.job->speeds[1].next[1], 3);
    assert_int_equal(back.job->speeds[1].concave, j.speeds[1].concave);
#define SAME(member) assert_memory_equal(&back.job->member, &j.member, sizeof j.member)
    SAME(id), SAME(priority), SAME(submit), SAME(kind), SAME(pool), SAME(whole), SAME(can_pause);
    SAME(req), SAME(min), SAME(max), SAME(cpus), SAME(memory_mb), SAME(weight), SAME(deadline);
    SAME(work), SAME(cost), SAME(loss.kind), SAME(loss.a), SAME(loss.b), SAME(loss.c);
    SAME(target), SAME(nspeeds);
#undef SAME
    j.can_pause = false;
    j.no_preempt = true;
    round_trip(&(struct event){.kind = EVENT_JOB, .task = 5, .job = &j}, 1, &back);
    assert_int_equal(back.task, 5);
    assert_true(back.job->no_preempt && !back.job->can_pause);
}

/* Takes a part out of the text. */
static void cut_out(struct str *text, const char *part)
{
    char *at = strstr(text->at, part);
    assert_non_null(at);
    memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
}

/* Journals of earlier versions lack members that came later. */
static void test_older_rows(void **state)
{
    (void)state;
    struct event back;
    struct str text = {0};
    struct err err;
    usec_t now;
    struct job j = odd_job(&row);
    journal_write_event(&(struct event){.kind = EVENT_SUBMIT, .job = &j}, 1, &text);
    cut_out(&text, "\"no_preempt\":false,");
    assert_ok(journal_read_event(text.at, &jobs, &row, &back, &now, &err), err);
    assert_false(back.job->no_preempt);
    struct task was = {.cpu_weight = 1};
    text.n = 0;
    journal_write_event(&(struct event){.kind = EVENT_RESTORE, .job = &j, .was = &was}, 1, &text);
    cut_out(&text, ",\"list\":[0,0,0]");
    assert_ok(journal_read_event(text.at, &jobs, &row, &back, &now, &err), err);
    assert_int_equal(back.was->list[AXIS_SHARE], 0);
    cut_out(&text, "\"can_pause\":true,");
    assert_error(journal_read_event(text.at, &jobs, &row, &back, &now, &err), err, ERR_INVALID,
                 "can_pause is missing");
    str_done(&text);
}

/* A task of an engine, put back into another: its books and its place are the same. */
static void test_tasks(void **state)
{
    (void)state;
    struct world w;
    struct event back;
    world_init(&w, "2x4c", "las", NULL);
    uint32_t task = world_submit(&w, 1, (struct job){.req = 2500, .work = 7e6, .deadline = 9e6});
    world_decide(&w, 1, "t=1 start a 2.5 on n1:2.5\nt=1 list a allocate 0->1\n");
    world_take(&w, 2, (struct event){.kind = EVENT_PROGRESS, .task = task, .work = 8e6, .done = 1});
    struct task was = *world_task(&w, task);
    was.memo[AXIS_PLACE] =
        (struct memo){.i = {1, -2, INT64_MIN, INT64_MAX}, .d = {0.5, NAN, -0.0, 1e-9}};
    was.memo[AXIS_ALLOCATE].pool[1][2] = 0.1F;
    was.list[AXIS_SHARE] = 3;
    round_trip(&(struct event){.kind = EVENT_RESTORE, .job = was.job, .was = &was}, 3, &back);
    const struct task *t = back.was;
    assert_true(t->list[AXIS_ALLOCATE] == 1 && t->list[AXIS_SHARE] == 3);
    assert_int_equal(t->phase, TASK_RUNNING);
    assert_int_equal(t->at.n, 1);
    assert_int_equal(t->at.at[0].units, 2500);
    assert_true(same_bits(t->done, was.done) && same_bits(t->attained, was.attained));
    assert_int_equal(t->started_at, was.started_at);
    assert_memory_equal(t->memo[AXIS_PLACE].i, was.memo[AXIS_PLACE].i, sizeof was.memo->i);
    assert_true(same_bits(t->memo[AXIS_PLACE].d[2], -0.0));
    assert_memory_equal(t->memo[AXIS_ALLOCATE].pool, was.memo->pool, sizeof was.memo->pool);
    world_done(&w);
}

static void test_boots(void **state)
{
    (void)state;
    struct world w;
    struct engine_config config;
    struct cluster cluster;
    struct engine e;
    struct err err;
    struct str once = {0}, twice = {0};
    world_init(&w, "2x4:t4,1x8:a100,3x2c@16g", "fifo:order=strict",
               &(struct world_options){.slow_stops = true, .explain = true, .resched_min = 250000});
    w.e.config.seed = UINT64_MAX;
    w.e.cluster.nodes[2].state = NODE_DOWN;
    journal_write_boot(&w.e, &once);
    assert_ok(journal_read_boot(once.at, &row, &config, &cluster, &err), err);
    engine_init(&e, &config, &cluster);
    journal_write_boot(&e, &twice);
    assert_string_equal(once.at, twice.at);
    assert_int_equal(e.cluster.nodes[2].state, NODE_DOWN);
    assert_true(e.config.seed == UINT64_MAX && !e.config.instant && e.config.explain);
    engine_done(&e);
    world_done(&w);
    str_done(&once);
    str_done(&twice);
}

static void test_plans(void **state)
{
    (void)state;
    struct world w;
    struct str text = {0};
    world_init(&w, "1x2c", "fifo", &(struct world_options){.explain = true});
    world_submit(&w, 1, (struct job){.req = 2000, .work = 7e6});
    world_submit(&w, 1, (struct job){.req = 1000, .work = 7e6});
    world_decide(&w, 1, "t=1 start a 2 on n1:2\n");
    journal_write_plan(&w.e, 1000000, &text);
    assert_string_equal(
        text.at,
        "{\"n\":1,\"now\":1000000,\"policy\":\"fifo\",\"wake_at\":null,"
        "\"effects\":[{\"task\":0,\"job\":0,\"kind\":\"start\",\"from\":0,\"to\":2000,\"cost\":0}],"
        "\"grants\":[{\"task\":0,\"job\":0,\"pool\":0,\"units\":2000,\"at\":[[0,2000]]}],"
        "\"why\":[{\"task\":1,\"job\":1,\"why\":\"no_room\"}],"
        "\"order\":[0,1],\"shares\":[{\"task\":0,\"job\":0,\"limit\":2000,\"weight\":1}],"
        "\"memos\":[]}");
    str_done(&text);
    world_done(&w);
}

/* With a long queue the row stays short, and the tail of the list still counts. */
static void test_long_plans_are_cut(void **state)
{
    (void)state;
    struct str text[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        struct world w;
        world_init(&w, "1x2c", "fifo", &(struct world_options){.explain = true});
        for (int k = 0; k < 300; k++)
            world_submit(&w, 1,
                         (struct job){.req = 2000, .work = 7e6, .priority = i && k > 297 ? k : 0});
        world_take(&w, 1, (struct event){.kind = EVENT_TICK});
        w.e.effects.n = 0; /* which differ, and are not what this is about */
        journal_write_plan(&w.e, 1000000, &text[i]);
        world_done(&w);
        assert_true(text[i].n < 8000);
        const char *cut = strstr(text[i].at, "\"order\":[");
        assert_non_null(cut);
        assert_non_null(strstr(cut, "{\"more\":236,\"digest\":\""));
    }
    assert_string_not_equal(strstr(text[0].at, "\"digest\":"), strstr(text[1].at, "\"digest\":"));
    str_done(&text[0]);
    str_done(&text[1]);
}

/* ---- what is refused ----------------------------------------------------- */

/* The row of a submission with one of its members changed. */
static void refuse_job(const char *member, json_t *value, const char *words)
{
    struct str text = {0};
    struct job j = odd_job(&row);
    struct event back;
    struct err err;
    usec_t now;
    journal_write_event(&(struct event){.kind = EVENT_SUBMIT, .job = &j}, 1, &text);
    json_t *v = json_loads(text.at, 0, NULL);
    if (value)
        json_object_set_new(json_object_get(v, "job"), member, value);
    else
        json_object_del(json_object_get(v, "job"), member);
    char *changed = json_dumps(v, 0);
    assert_error(journal_read_event(changed, &jobs, &row, &back, &now, &err), err, ERR_INVALID,
                 words);
    free(changed);
    json_decref(v);
    str_done(&text);
}

static void test_refuses_bad_jobs(void **state)
{
    (void)state;
    refuse_job("max", NULL, "job: max is missing");
    refuse_job("max", json_string("4"), "job: max must be a whole number");
    refuse_job("max", json_integer(500), "job: min 1 is above max 0.5");
    refuse_job("min", json_integer(0), "job: min must be a whole number from 1");
    refuse_job("kind", json_string("soft"), "job: kind must be one of rigid|moldable|malleable");
    refuse_job("name", json_null(), "job: name is missing");
    refuse_job("whole", json_integer(1), "job: whole must be true or false");
    refuse_job("weight", json_string("nan"), "job: weight must be above 0");
    refuse_job("weight", json_true(), "job: weight must be a number, \"inf\"");
    refuse_job("work", json_string("inf"), "job: work must be");
    refuse_job("deadline", json_integer(INT64_MAX), "job: deadline must be a whole number");
    refuse_job("speeds", json_array(), "job: speeds must have from 1");
    refuse_job("speeds", json_pack("[{s:b,s:[n,n]}]", "concave", 1, "at"), "speeds[0]: at has no");
    refuse_job("speeds", json_pack("[{s:b,s:[i]}]", "concave", 1, "at", -1), "speeds[0]: at[0]");
}

static void refuse_event(const char *text, const char *words)
{
    struct event back;
    struct err err;
    usec_t now;
    assert_error(journal_read_event(text, &jobs, &row, &back, &now, &err), err, ERR_INVALID, words);
}

static void test_refuses_bad_events(void **state)
{
    (void)state;
    refuse_event("", "no JSON object at byte 0");
    refuse_event("[]", "kind must be one of submit|restore");
    refuse_event("{\"kind\":\"tock\"}", "kind must be one of");
    refuse_event("{\"kind\":\"tick\"}", "now must be a whole number");
    refuse_event("{\"kind\":\"tick\",\"now\":-1}", "now must be a whole number");
    refuse_event("{\"kind\":\"tick\",\"now\":1,\"now\":2}", "duplicate");
    refuse_event("{\"kind\":\"end\",\"now\":1}", "task is missing");
    refuse_event("{\"kind\":\"end\",\"now\":1,\"task\":4294967296}", "task must be");
    refuse_event("{\"kind\":\"node\",\"now\":1,\"node\":0,\"state\":\"on\"}",
                 "state must be one of up|draining|down");
    refuse_event("{\"kind\":\"policy\",\"now\":1,\"policy\":\"fofo\"}", "did you mean 'fifo'");
    refuse_event("{\"kind\":\"sample\",\"now\":1,\"task\":0,\"sample\":7}",
                 "sample: at is missing");
}

#define CLEANED(function) cmocka_unit_test_teardown(function, tear_down)

static const struct CMUnitTest tests[] = {
    CLEANED(test_plain_events),
    CLEANED(test_capacity),
    CLEANED(test_numbers_come_back_bit_by_bit),
    CLEANED(test_policies),
    CLEANED(test_jobs),
    CLEANED(test_older_rows),
    CLEANED(test_tasks),
    CLEANED(test_boots),
    CLEANED(test_plans),
    CLEANED(test_long_plans_are_cut),
    CLEANED(test_refuses_bad_jobs),
    CLEANED(test_refuses_bad_events),
};

int main(void)
{
    return RUN(tests);
}
