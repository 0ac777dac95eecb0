/* Tests of databases that older versions of the program wrote: all that was in them is there
 * when today's program has opened them. */
#include <sqlite3.h>

#include "store/arrivals.h"
#include "store/attempts.h"
#include "store/check.h"
#include "store/deps.h"
#include "store/events.h"
#include "store/growths.h"
#include "store/job_list.h"
#include "store/jobs.h"
#include "store/journal.h"
#include "store/loads.h"
#include "store/nodes.h"
#include "store/notices.h"
#include "store/past.h"
#include "store/rungs.h"
#include "store/samples.h"
#include "store/schema.h"
#include "store/speeds.h"
#include "store/store.h"
#include "store/tokens.h"
#include "support/store_dir.h"
#include "support/test.h"

/* Every schema that was released has such a file, with something in each table. */
static void load_old(const struct store_dir *d, int version)
{
    char name[64];
    snprintf(name, sizeof name, "tests/store/schema-%d.sql", version);
    store_dir_load(d->path, name);
}

/* Up to schema 2 each member of an array had a request of its own. */
static void assert_old_requests(struct store *s, const struct job_row *a, const struct job_row *b,
                                int version)
{
    struct err err;
    AUTO_FREE char *text = NULL, *unread = store_meta_get(s, STORE_META_REQUESTS);
    assert_ok(store_request_get(s, b->request, &text, &err), err);
    assert_string_equal(text, "{\"command\":[\"python3\",\"train.py\"],\"cpus\":\"1-4\"}");
    assert_string_equal(a->command, "[\"python3\",\"train.py\"]");
    assert_string_equal(b->command, "[\"python3\",\"train.py\"]");
    assert_true(version < 3 ? a->request != b->request : a->request == b->request);
    /* What only requests tell is left to the server. */
    assert_true((version < 3) == (unread != NULL));
    assert_int_equal(a->cpus_max, version < 3 ? 0 : 4000);
    assert_int_equal(a->memory_mb, version < 3 ? 0 : 512);
    assert_true(a->time_limit == (version < 3 ? 0 : 10800000000));
}

static void assert_old_progress(const struct job_row *a, int version)
{
    assert_true(a->step == 125 && a->total == 1000 && a->metric == 0.125);
    assert_int_equal(a->resize_cost, version < 3 ? 0 : 51180);
    assert_true(version < 3 ? isnan(a->rate) : a->rate == 0.5);
    assert_true(isnan(a->epochs));
    if (version < 2) {
        assert_true(isnan(a->epoch) && isnan(a->loss) && !a->progress_at);
        return;
    }
    assert_true(a->epoch == 2 && a->loss == 0.125 && a->progress_at == 1700000500000000);
    assert_string_equal(a->metric_name, "loss");
    assert_string_equal(a->progress_source, "text");
    assert_int_equal(a->weak, version >= 14);
}

static void assert_old_jobs(struct store *s, int version)
{
    struct err err;
    struct store_dir_rows all = {0};
    struct job_filter f = {.oldest_first = true};
    assert_ok(store_job_list(s, &f, store_dir_keep, &all, &err), err);
    assert_int_equal(all.rows.n, 3);
    const struct job_row *a = &all.rows.at[0], *b = &all.rows.at[1], *c = &all.rows.at[2];
    assert_string_equal(a->name, "train-\xc3\xa9");
    assert_true(a->state == JOB_RUNNING && a->priority == -5 && a->attempt == 2);
    assert_true(a->deadline == 1700007200000000 && a->run_time == 600000000);
    assert_true(a->done == 1.25e9);
    assert_true(b->state == JOB_QUEUED && b->array == 1 && b->array_index == 1);
    assert_true(b->eligible == 1700000009000000 && isnan(b->work) && isnan(b->metric));
    assert_true(c->state == JOB_FAILED && c->code == 137 && c->ended == 1700000003000000);
    assert_string_equal(c->name, "it's over");
    assert_string_equal(c->reason, "killed: out of memory");
    assert_old_requests(s, a, b, version);
    assert_old_progress(a, version);
    store_dir_rows_done(&all);
}

static int count_dep(void *ctx, int64_t job, int kind, int64_t on, struct err *err)
{
    (void)err;
    assert_true(job == 2 && ((kind == 1 && on == 1) || (kind == 4 && on == 0)));
    ++*(unsigned *)ctx;
    return 0;
}

static int see_drained(void *ctx, const struct node_row *row, struct err *err)
{
    (void)err;
    assert_string_equal(row->name, row->drained ? "n2" : "n1");
    assert_string_equal(row->reason, row->drained ? "a fan is loud" : "");
    ++*(unsigned *)ctx;
    return 0;
}

static int see_speed(void *ctx, const struct speed_row *row, struct err *err)
{
    (void)err;
    assert_true(row->size == 2 ? row->mean == 12.5 : row->mean == 11.75 && row->weight == 12.5);
    ++*(unsigned *)ctx;
    return 0;
}

static int see_active(void *ctx, const struct attempt_row *row, struct err *err)
{
    (void)err;
    assert_true(row->job == 1 && row->n == 2 && row->pid == 4343 && row->cpus == 4000);
    assert_true(row->cpu_limit == 4500 && row->cpu_weight == 0.5 && row->paused);
    assert_true(row->grace == 30000000 && row->seq == 80 && row->ran == 400000);
    assert_true(row->since == 1700000002000000);
    assert_string_equal(row->stop, "preempted");
    assert_string_equal(row->boot, "83ecfc86-8038-4172-80a1-5ee74c6acf84");
    ++*(unsigned *)ctx;
    return 0;
}

/* What there is since schema 3. */
static void assert_old_columns(struct store *s)
{
    struct err err;
    unsigned nodes = 0, speeds = 0, active = 0;
    assert_ok(store_node_list(s, see_drained, &nodes, &err), err);
    assert_ok(store_speed_list(s, 1, see_speed, &speeds, &err), err);
    assert_ok(store_attempt_list(s, 0, see_active, &active, &err), err);
    assert_true(nodes == 2 && speeds == 2 && active == 1);
}

static int see_arrival(void *ctx, const struct arrival_row *row, struct err *err)
{
    (void)err;
    assert_true(row->request == 1 && row->first == 1 && row->arrived == 2 && row->members == 1000);
    ++*(unsigned *)ctx;
    return 0;
}

static int see_error(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    assert_string_equal(row->error, row->id == 3 ? "RuntimeError: out of memory" : "");
    assert_string_equal(row->total_from, row->id == 1 ? "--epochs 8" : "");
    ++*(unsigned *)ctx;
    return 0;
}

static void assert_old_arrivals(struct store *s, int version)
{
    struct err err;
    unsigned arrivals = 0;
    assert_ok(store_arrival_list(s, see_arrival, &arrivals, &err), err);
    assert_int_equal(arrivals, version < 4 ? 0 : 1);
}

static int see_past(void *ctx, const struct past_row *row, struct err *err)
{
    (void)err;
    assert_true(row->step == 1000 && row->work == 3.6e9);
    ++*(unsigned *)ctx;
    return 0;
}

/* What there is since schema 5. */
static void assert_old_ends(struct store *s)
{
    struct err err;
    unsigned jobs = 0, runs = 0;
    for (int64_t id = 1; id <= 3; id++)
        assert_ok(store_job_get(s, id, see_error, &jobs, &err), err);
    assert_ok(store_past_list(s, "ann python3 /home/ann/train.py", see_past, &runs, &err), err);
    assert_true(jobs == 3 && runs == 1);
}

static int see_group(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    assert_string_equal(row->group_name, "lr");
    assert_string_equal(row->sweep, "{\"lr\":\"0.1,0.01\"}");
    ++*(unsigned *)ctx;
    return 0;
}

static int see_rung(void *ctx, int64_t job, enum job_state state, double value, struct err *err)
{
    (void)err;
    assert_int_equal(state, job == 1 ? JOB_RUNNING : JOB_QUEUED);
    assert_true(job == 1 ? value == 0.5 : isnan(value));
    ++*(unsigned *)ctx;
    return 0;
}

/* What there is since schema 8. */
static void assert_old_groups(struct store *s, int version)
{
    struct err err;
    unsigned members = 0, compared = 0;
    assert_ok(store_rung_list(s, "ann", "lr", 100, see_rung, &compared, &err), err);
    assert_int_equal(compared, version < 8 ? 0 : 2);
    const struct job_filter filter = {.group = "lr"};
    assert_ok(store_job_list(s, &filter, see_group, &members, &err), err);
    assert_int_equal(members, version < 8 ? 0 : 2);
}

static int see_token(void *ctx, const struct token_row *row, struct err *err)
{
    (void)err;
    assert_string_equal(row->user, "ann");
    assert_true(row->session == (row->parent == 1));
    ++*(unsigned *)ctx;
    return 0;
}

/* What there is since schema 9. */
static void assert_old_tokens(struct store *s, int version)
{
    static const char hash[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    struct err err;
    unsigned n = 0;
    assert_ok(store_token_list(s, see_token, &n, &err), err);
    assert_ok(store_token_find(s, hash, see_token, &n, &err), err);
    assert_int_equal(n, version < 9 ? 0 : 2);
}

static int count_target(void *ctx, const struct target_row *row, struct err *err)
{
    (void)err;
    assert_string_equal(row->target, "mail:ann@example.org");
    ++*(unsigned *)ctx;
    return 0;
}

static int count_notice(void *ctx, const struct notice_row *row, struct err *err)
{
    (void)err;
    assert_true(row->tries == 1 && row->due == 1700000010000000);
    ++*(unsigned *)ctx;
    return 0;
}

/* What there is since schema 12. */
static void assert_old_notices(struct store *s, int version)
{
    struct err err;
    unsigned n = 0;
    assert_ok(store_target_list(s, "ann", count_target, &n, &err), err);
    assert_ok(store_notice_list(s, count_notice, &n, &err), err);
    assert_int_equal(n, version < 12 ? 0 : 2);
}

static int see_growth(void *ctx, uint32_t attempt, const struct growth_row *row, struct err *err)
{
    (void)err;
    assert_true(attempt == 2 && row->span == 20000000 && isnan(row->network));
    assert_true(row->at == 1700000003000000 ? row->cpu == 0.125 : row->block == 0.5);
    ++*(unsigned *)ctx;
    return 0;
}

static int see_use(void *ctx, const struct load_row *row, struct err *err)
{
    (void)err;
    if (!isnan(row->cpus_used)) {
        assert_true(row->cpus_used == 1.5 && row->memory_mb == 8192 && row->moves == 1);
        ++*(unsigned *)ctx;
    }
    return 0;
}

/* What there is since schema 15. */
static void assert_old_series(struct store *s, int version)
{
    struct err err;
    unsigned points = 0, samples = 0;
    int64_t moves = -1;
    assert_ok(store_growth_list(s, 1, see_growth, &points, &err), err);
    assert_int_equal(points, version < 15 ? 0 : 2);
    assert_ok(store_load_list(s, 0, 1, see_use, &samples, &err), err);
    assert_int_equal(samples, version < 15 ? 0 : 2);
    assert_ok(store_load_moves(s, "n1", &moves, &err), err);
    assert_int_equal(moves, version < 15 ? 0 : 1);
}

static int see_metrics(void *ctx, uint32_t attempt, const struct sample_row *row, struct err *err)
{
    (void)attempt;
    (void)err;
    snprintf(ctx, 64, "%s", row->metrics);
    return 1;
}

/* Before schema 16 a sample had one metric. */
static void assert_old_metrics(struct store *s, int version)
{
    char first[64] = "none";
    struct err err;
    assert_ok(store_sample_list(s, 1, see_metrics, first, &err), err);
    assert_string_equal(first, version < 16 ? "" : "{\"loss\":1.0,\"acc\":0.5}");
}

static void assert_old_rest(struct store *s)
{
    struct err err;
    unsigned deps = 0, active = 0, events = 0, samples = 0, entries = 0;
    int64_t seq = 0, boot = 0;
    assert_ok(store_dep_list(s, count_dep, &deps, &err), err);
    assert_ok(store_attempt_list(s, 0, store_dir_count_attempt, &active, &err), err);
    assert_ok(store_event_list(s, 0, 0, 0, store_dir_count_event, &events, &err), err);
    assert_ok(store_sample_list(s, 1, store_dir_count_sample, &samples, &err), err);
    assert_ok(store_journal_list(s, 1, store_dir_count_entry, &entries, &err), err);
    assert_true(deps == 2 && active == 1 && events == 3 && samples == 3 && entries == 2);
    AUTO_FREE char *program = store_meta_get(s, STORE_META_PROGRAM);
    assert_non_null(program);
    /* Numbers go on where they were. */
    assert_ok(store_event_add(s, 1, 0, "note", "{}", &seq, &err), err);
    assert_ok(store_boot_begin(s, 1, &boot, &err), err);
    assert_true(seq == 4 && boot == 2);
}

static void test_old_databases(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    for (int version = 1; version <= schema_current.n; version++) {
        load_old(d, version);
        struct store *s = store_dir_open(d);
        assert_old_jobs(s, version);
        assert_old_rest(s);
        if (version >= 3)
            assert_old_columns(s);
        assert_old_arrivals(s, version);
        assert_old_tokens(s, version);
        assert_old_notices(s, version);
        assert_old_metrics(s, version);
        if (version >= 5)
            assert_old_ends(s);
        assert_old_groups(s, version);
        assert_old_series(s, version);
        assert_ok(store_commit(s, &err), err);
        store_close(s);
        store_dir_check(d->path);
        remove(d->path);
    }
}

/* Opens the database of this schema after these changes to it. */
static sqlite3 *migrate_changed_from(const struct store_dir *d, int version, const char *changes)
{
    remove(d->path);
    load_old(d, version);
    store_dir_run_sql(d->path, changes);
    store_close(store_dir_open(d));
    sqlite3 *db;
    assert_int_equal(sqlite3_open(d->path, &db), SQLITE_OK);
    return db;
}

static sqlite3 *migrate_changed(const struct store_dir *d, const char *changes)
{
    return migrate_changed_from(d, 2, changes);
}

/* Before schema 3 even the newest event was deleted, but its number was not given again. */
static void test_numbers_of_old_events(void **state)
{
    struct store_dir *d = *state;
    static const char newest[] = "SELECT seq, at, job, kind, json FROM event WHERE seq > 2";
    sqlite3 *db = migrate_changed(d, "DELETE FROM event");
    store_dir_yields(db, "SELECT count(*) FROM event", "1 ");
    store_dir_yields(db, newest, "3 1700000000000000 0 server.started {} ");
    sqlite3_close(db);
    db = migrate_changed(d, "DELETE FROM event WHERE seq > 1; DELETE FROM boot");
    store_dir_yields(db, newest, "3 0 0 server.started {} ");
    sqlite3_close(db);
    db = migrate_changed(d, "DELETE FROM event; DELETE FROM sqlite_sequence");
    store_dir_yields(db, "SELECT count(*) FROM event", "0 ");
    sqlite3_close(db);
    store_dir_check(d->path);
}

/* Boots of which rows, or all of them, were trimmed; the first has none since ever. */
static void test_old_boots(void **state)
{
    struct store_dir *d = *state;
    sqlite3 *db =
        migrate_changed(d, "DELETE FROM boot; DELETE FROM journal;"
                           "INSERT INTO boot VALUES (1, 10), (2, 20), (3, 30), (4, 40), (5, 50);"
                           "INSERT INTO journal VALUES (11, 2, 'event', ''), (12, 2, 'event', ''),"
                           " (13, 4, 'boot', ''), (14, 4, 'event', '')");
    store_dir_yields(db, "SELECT first FROM boot ORDER BY n", "11 11 13 13 15 ");
    sqlite3_close(db);
    db = migrate_changed(d, "DELETE FROM journal");
    store_dir_yields(db, "SELECT first FROM boot", "1 ");
    sqlite3_close(db);
    store_dir_check(d->path);
}

/* Up to schema 12 these were known only from events. */
static void test_state_in_old_events(void **state)
{
    struct store_dir *d = *state;
    sqlite3 *db = migrate_changed_from(
        d, 12,
        "UPDATE attempt SET stop = '';"
        "INSERT INTO event VALUES (4, 1700000001000000, 1, 'job.paused', '{\"by\":2}'),"
        " (5, 1700000002500000, 1, 'job.paused', '{\"by\":3}'),"
        " (6, 1700000002600000, 1, 'job.at_risk', '{\"deadline\":1700007200.000001}'),"
        " (7, 1700000002700000, 1, 'job.at_risk', 'no JSON'),"
        " (8, 1700000002700000, 3, 'job.at_risk', '{\"deadline\":5}')");
    store_dir_yields(db, "SELECT id, risk FROM job ORDER BY id", "1 1700007200000001 2 0 3 0 ");
    store_dir_yields(db, "SELECT frozen_at, stopped_by FROM attempt WHERE over = 0",
                     "1700000002500000 3 ");
    store_dir_yields(db, "SELECT count(*) FROM attempt WHERE over = 1 AND frozen_at > 0", "0 ");
    sqlite3_close(db);
    store_dir_check(d->path);
}

/* Texts that are no JSON, or not what was expected of them, lose nothing but themselves. */
static void test_odd_old_texts(void **state)
{
    struct store_dir *d = *state;
    sqlite3 *db = migrate_changed(
        d, "UPDATE job SET said = '{' WHERE id = 1; UPDATE job SET said = '[]' WHERE id = 2;"
           "UPDATE spec SET text = 'no JSON' WHERE job = 1;"
           "UPDATE spec SET text = '{}' WHERE job = 2;"
           "UPDATE attempt SET places = '' WHERE job = 1;"
           "INSERT INTO event VALUES (4, 1, 1, 'job.restarted', '{\"expected_s\":0.05118}'),"
           " (5, 1, 1, 'job.restarted', '{\"expected_s\":0.001001}'),"
           " (6, 1, 1, 'job.restarted', 'no JSON'), (7, 1, 2, 'job.restarted', '{}')");
    store_dir_yields(db, "SELECT epoch, metric_name, resize_cost FROM job", "-  1001 -  0 -  0 ");
    store_dir_yields(db, "SELECT command, text FROM request",
                     "[] no JSON [] {} [\"true\"] {\"command\":[\"true\"]} ");
    store_dir_yields(db, "SELECT cpus, cpu_weight, stop FROM attempt WHERE n = 2", "0 1.0  ");
    sqlite3_close(db);
    store_dir_check(d->path);
}

/* A job that has lost its request is found by the check, and refused by nothing else. */
static void test_old_job_without_request(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    struct store_dir_rows rows = {0};
    AUTO_FREE char *report = NULL;
    sqlite3_close(migrate_changed(d, "DELETE FROM spec WHERE job = 3"));
    assert_error(store_check(d->path, &report, &err), err, ERR_IO, "damaged");
    assert_string_equal(report, "job 3: no request\n");
    struct store *s = store_dir_open(d);
    assert_ok(store_job_get(s, 3, store_dir_keep, &rows, &err), err);
    assert_true(rows.rows.at[0].request == 0 && !*rows.rows.at[0].command);
    rows.rows.at[0].code = 1;
    assert_ok(store_job_save(s, &rows.rows.at[0], &err), err);
    store_dir_rows_done(&rows);
    store_close(s);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_old_databases), STORE_TEST(test_numbers_of_old_events),
    STORE_TEST(test_old_boots),     STORE_TEST(test_state_in_old_events),
    STORE_TEST(test_odd_old_texts), STORE_TEST(test_old_job_without_request),
};

int main(void)
{
    return RUN(tests);
}
