/* Random worlds under every preset and every policy, with the journal written to a
 * store as a server would: a replay makes every decision again, byte for byte. Then
 * the server dies: another engine takes the tasks over from where they were, and its
 * stretch of the journal replays, too. A number that is changed in the journal is
 * found. PROPERTY_SEED=N in the environment draws other worlds. */
#include <sqlite3.h>

#include "journal/journal.h"
#include "journal/replay.h"
#include "policy/registry.h"
#include "store/journal.h"
#include "store/store.h"
#include "support/chaos.h"
#include "support/store_dir.h"
#include "support/test.h"

enum { JOBS = 40, WORLDS = 3, AFTERLIFE = 300 };

struct recorder {
    struct store *store;
    int64_t boot;
    uint64_t events, decisions; /* rows written */
    uint64_t decided;           /* decisions of the engine so far */
    uint64_t dies_at;           /* event after which another engine takes over */
    bool dead;
    struct str row;
};

static void add_row(struct recorder *r, const char *kind)
{
    struct err err;
    assert_ok(store_journal_add(r->store, kind, r->row.at, &err), err);
    r->row.n = 0;
}

static void begin(struct recorder *r, const struct engine *e)
{
    struct err err;
    assert_ok(store_boot_begin(r->store, 1, &r->boot, &err), err);
    journal_write_boot(e, &r->row);
    add_row(r, "boot");
    r->decided = e->decisions;
}

static void record(struct recorder *r, const struct engine *e, const struct event *v, usec_t now)
{
    journal_write_event(v, now, &r->row);
    add_row(r, "event");
    r->events++;
    if (e->decisions == r->decided)
        return;
    r->decided = e->decisions;
    r->decisions++;
    journal_write_plan(e, now, &r->row);
    add_row(r, "plan");
}

/* ---- the second life ----------------------------------------------------- */

static void step(struct recorder *r, struct engine *e, struct event v, usec_t now)
{
    struct err err;
    assert_ok(engine_step(e, &v, now, &err), err);
    record(r, e, &v, now);
}

static void restore(struct recorder *r, const struct engine *dead, struct engine *e, usec_t now)
{
    for (uint32_t i = 0; i < dead->tasks_n; i++) {
        struct task was = dead->tasks[i];
        if (!was.job)
            continue;
        task_advance(&was, now);
        step(r, e, (struct event){.kind = EVENT_RESTORE, .job = was.job, .was = &was}, now);
        for (uint32_t k = 0; was.history && k < was.history->n; k++)
            step(r, e,
                 (struct event){
                     .kind = EVENT_SAMPLE, .task = e->submitted, .sample = &was.history->at[k]},
                 now);
    }
}

/* Lets what runs end, and what stops be gone at the next instant. */
static usec_t next_event(const struct engine *e, usec_t now, struct event *v)
{
    usec_t next = engine_due(e);
    *v = (struct event){.kind = EVENT_TICK};
    for (uint32_t i = 0; i < e->tasks_n; i++) {
        const struct task *t = &e->tasks[i];
        usec_t at = !t->job || t->phase != TASK_RUNNING ? USEC_NEVER : task_end(t, now);
        if (t->job && t->phase == TASK_STOPPING)
            at = now;
        if (at < next) {
            next = at;
            *v = (struct event){.kind = t->phase == TASK_STOPPING ? EVENT_STOPPED : EVENT_END,
                                .task = i};
        }
    }
    return next > now ? next : now;
}

static void live_on(struct recorder *r, const struct engine *dead, usec_t now)
{
    struct recorder life = {.store = r->store};
    struct engine e;
    struct event v;
    struct cluster cluster = dead->cluster;
    AUTO_FREE struct node *nodes = xcalloc(cluster.n, sizeof *nodes);
    for (uint32_t i = 0; i < cluster.n; i++) {
        nodes[i] = dead->cluster.nodes[i];
        nodes[i].cpu_held = nodes[i].gpu_held = nodes[i].memory_held = 0;
        nodes[i].devices_held = (struct devices){0};
    }
    cluster.nodes = nodes;
    engine_init(&e, &dead->config, &cluster);
    begin(&life, &e);
    restore(&life, dead, &e, now);
    for (int i = 0; i < AFTERLIFE && (now = next_event(&e, now, &v)) != USEC_NEVER; i++)
        step(&life, &e, v, now);
    r->decisions += life.decisions;
    r->events += life.events;
    engine_done(&e);
    str_done(&life.row);
}

static void observe(void *ctx, const struct engine *e, const struct event *v, usec_t now)
{
    struct recorder *r = ctx;
    if (!v) {
        r->dead = false;
        begin(r, e);
        return;
    }
    if (r->dead) /* the world goes on, but nobody writes it down */
        return;
    record(r, e, v, now);
    r->dead = r->events == r->dies_at;
    if (r->dead)
        live_on(r, e, now);
}

/* ---- worlds -------------------------------------------------------------- */

static void replay_all(struct store *s, const struct recorder *r, const char *policy)
{
    struct replay_result found;
    struct err err;
    assert_ok(journal_replay(s, 0, &found, &err), err);
    if (found.differing)
        fprintf(stderr, "%s: row %lld\nrecorded   %s\nreproduced %s\n", policy,
                (long long)found.first_seq, found.was.at, found.is.at);
    assert_int_equal(found.differing, 0);
    assert_int_equal(found.events, r->events);
    assert_int_equal(found.decisions, r->decisions);
    assert_int_equal(found.passed_over, 0);
    replay_result_done(&found);
}

static void run_world(struct store *s, struct recorder *r, const char *policy, uint64_t seed)
{
    struct chaos_options o = {.seed = seed,
                              .jobs = JOBS,
                              .policy = policy,
                              .policy2 = seed % 3 == 0 ? "srtf" : NULL,
                              .slow_stops = seed % 2,
                              .explain = seed % 4 != 0,
                              .alone = true,
                              .observe = observe,
                              .ctx = r};
    struct chaos_result result;
    struct err err;
    r->store = s;
    if (!chaos_run(&o, &result))
        fail_msg("%s, seed %llu: %s", policy, (unsigned long long)seed, result.why);
    assert_ok(store_commit(s, &err), err);
    chaos_done(&result);
}

static const char *policy_at(size_t i)
{
    size_t n = 0;
    while (policies[n])
        n++;
    if (i < n)
        return policies[i]->axis == AXIS_ALLOCATE ? policies[i]->name : "";
    return presets[i - n].name;
}

static void test_replays_all_policies(void **state)
{
    const char *given = getenv("PROPERTY_SEED"), *policy;
    uint64_t seed = given ? strtoull(given, NULL, 10) * 1000000 : 0;
    struct recorder r = {0};
    struct store *s = store_dir_open(*state);
    for (size_t i = 0; (policy = policy_at(i)); i++)
        for (int world = 0; *policy && world < WORLDS; world++) {
            uint64_t before = r.events;
            r.dies_at = world ? before + 60 + 40 * (unsigned)world + i : UINT64_MAX;
            run_world(s, &r, policy, ++seed);
            assert_true(r.events > before);
        }
    replay_all(s, &r, "all");
    assert_true(r.decisions > 1000);
    store_close(s);
    str_done(&r.row);
}

/* ---- damage -------------------------------------------------------------- */

static void change(const struct store_dir *d, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(d->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_changes(db), 1);
    sqlite3_close(db);
}

static int64_t ask(const struct store_dir *d, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    assert_int_equal(sqlite3_open(d->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    sqlite3_close(db);
    return n;
}

/* The journal of one world, closed. */
static void write_world(const struct store_dir *d)
{
    struct recorder r = {0};
    struct store *s = store_dir_open(d);
    run_world(s, &r, "elastic-fifo", 7);
    store_close(s);
    str_done(&r.row);
}

static void expect_difference(const struct store_dir *d, int64_t row, const char *was)
{
    struct replay_result found;
    struct err err;
    struct store *s = store_dir_open(d);
    assert_ok(journal_replay(s, 0, &found, &err), err);
    assert_true(found.differing > 0);
    assert_int_equal(found.first_seq, row);
    assert_non_null(strstr(found.was.at, was));
    assert_string_not_equal(found.was.at, found.is.at);
    replay_result_done(&found);
    store_close(s);
}

/* A plan that says another number of units than the engine gives. */
static void test_finds_a_changed_plan(void **state)
{
    write_world(*state);
    int64_t row = ask(*state, "SELECT max(seq) FROM (SELECT seq FROM journal WHERE kind = 'plan'"
                              " AND data LIKE '%\"units\":1000,%' ORDER BY seq LIMIT 5)");
    change(*state, "UPDATE journal SET data = replace(data, '\"units\":1000,', '\"units\":1001,')"
                   " WHERE seq = (SELECT max(seq) FROM (SELECT seq FROM journal WHERE"
                   " kind = 'plan' AND data LIKE '%\"units\":1000,%' ORDER BY seq LIMIT 5))");
    expect_difference(*state, row, "\"units\":1001,");
}

/* A job that could grow further than the one that came: some plan gives it more. */
static void test_finds_a_changed_event(void **state)
{
    struct replay_result found;
    struct err err;
    write_world(*state);
    change(*state, "UPDATE journal SET data = replace(data, '\"max\":', '\"max\":1') WHERE seq ="
                   " (SELECT min(seq) FROM journal WHERE data LIKE '%\"malleable\"%')");
    struct store *s = store_dir_open(*state);
    assert_ok(journal_replay(s, 1, &found, &err), err);
    assert_true(found.differing > 0);
    assert_true(found.first_seq > 0);
    assert_string_not_equal(found.was.at, found.is.at);
    replay_result_done(&found);
    store_close(s);
}

static void test_finds_what_is_missing(void **state)
{
    struct replay_result found;
    struct err err;
    write_world(*state);
    change(*state, "DELETE FROM journal WHERE seq = (SELECT max(seq) FROM journal WHERE"
                   " kind = 'plan')");
    struct store *s = store_dir_open(*state);
    assert_ok(journal_replay(s, 1, &found, &err), err);
    assert_int_equal(found.differing, 1);
    assert_string_equal(found.was.at, "");
    replay_result_done(&found);
    assert_error(journal_replay(s, 2, &found, &err), err, ERR_NOT_FOUND, "start 2");
    store_close(s);
}

static void expect_refusal(const struct store_dir *d, const char *sql, const char *words)
{
    struct replay_result found;
    struct err err;
    change(d, sql);
    struct store *s = store_dir_open(d);
    assert_error(journal_replay(s, 0, &found, &err), err, ERR_IO, words);
    assert_non_null(strstr(err.text, "row "));
    store_close(s);
}

static void test_refuses_damage(void **state)
{
    write_world(*state);
    expect_refusal(*state, "UPDATE journal SET data = '{' || data WHERE seq = 9", "row 9: no JSON");
    expect_refusal(*state, "UPDATE journal SET kind = 'note' WHERE seq = 8", "row 8: unknown kind");
    expect_refusal(*state, "UPDATE journal SET kind = 'boot' WHERE seq = 7",
                   "row 7: a second beginning");
    expect_refusal(*state,
                   "UPDATE journal SET data = replace(data, '\"cpus\":', '\"cups\":') WHERE seq ="
                   " (SELECT min(seq) FROM journal WHERE data LIKE '%\"kind\":\"submit\"%')",
                   "job: cpus is missing");
    expect_refusal(*state, "UPDATE journal SET data = '{\"policy\":\"fofo\"}' WHERE seq = 1",
                   "row 1: unknown policy 'fofo'; did you mean 'fifo'?");
}

/* Rows whose beginning has been trimmed are passed over; the rest is replayed. */
static void test_passes_over_trimmed_rows(void **state)
{
    struct replay_result found;
    struct err err;
    write_world(*state);
    write_world(*state);
    change(*state, "DELETE FROM journal WHERE seq = 1");
    struct store *s = store_dir_open(*state);
    assert_ok(journal_replay(s, 0, &found, &err), err);
    assert_int_equal(found.boots, 1);
    assert_int_equal(found.differing, 0);
    assert_true(found.passed_over > 0);
    assert_true(found.decisions > 0);
    replay_result_done(&found);
    store_close(s);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST_IN_MEMORY(test_replays_all_policies),
    STORE_TEST_IN_MEMORY(test_finds_a_changed_plan),
    STORE_TEST_IN_MEMORY(test_finds_a_changed_event),
    STORE_TEST_IN_MEMORY(test_finds_what_is_missing),
    STORE_TEST_IN_MEMORY(test_refuses_damage),
    STORE_TEST_IN_MEMORY(test_passes_over_trimmed_rows),
};

int main(void)
{
    return RUN(tests);
}
