/* Tests of versions of the schema: the mechanism with versions of its own, and that
 * the real ones lead to the same tables from wherever they start, with all that
 * was in them. */
#include "store/schema.h"

#include <sqlite3.h>

#include "base/str.h"
#include "store/attempts.h"
#include "store/deps.h"
#include "store/events.h"
#include "store/job_list.h"
#include "store/jobs.h"
#include "store/journal.h"
#include "store/samples.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

static const char *const scripts[] = {
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT); CREATE TABLE t (a INTEGER)",
    "ALTER TABLE t ADD COLUMN b TEXT DEFAULT 'new'; CREATE INDEX t_b ON t (b)",
    "CREATE TABLE u (c); INSERT INTO u SELECT a * 10 FROM t; DROP TABLE t",
};
static const char *const broken[] = {
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT); CREATE TABLE t (a INTEGER)",
    "CREATE TABLE v (x); INSERT INTO nowhere VALUES (1)",
};

static sqlite3 *open_db(const struct store_dir *d)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(d->path, &db), SQLITE_OK);
    return db;
}

static int keep_text(void *ctx, int n, char **values, char **names)
{
    (void)names;
    for (int i = 0; i < n; i++)
        str_addf(ctx, "%s ", values[i] ? values[i] : "-");
    return 0;
}

/* What the statement yields, in one line. */
static void assert_yields(sqlite3 *db, const char *sql, const char *want)
{
    struct str text = {0};
    char *why = NULL;
    str_add(&text, "");
    if (sqlite3_exec(db, sql, keep_text, &text, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql, why);
    assert_string_equal(text.at, want);
    str_done(&text);
}

static void test_from_every_version(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    for (int from = 0; from <= 3; from++) {
        for (int to = from; to <= 3; to++) {
            sqlite3 *db = open_db(d);
            int version = -1;
            const struct schema first = {scripts, from}, second = {scripts, to};
            char want[16];
            assert_ok(schema_migrate(db, d->path, &first, &err), err);
            if (from == 1 || from == 2)
                sqlite3_exec(db, "INSERT INTO t (a) VALUES (4)", NULL, NULL, NULL);
            assert_ok(schema_migrate(db, d->path, &second, &err), err);
            assert_ok(schema_migrate(db, d->path, &second, &err), err);
            assert_ok(schema_version(db, d->path, &second, &version, &err), err);
            assert_int_equal(version, to);
            snprintf(want, sizeof want, "%d ", to);
            assert_yields(db, "PRAGMA user_version", want);
            if (to == 2 && from)
                assert_yields(db, "SELECT a, b FROM t", "4 new ");
            if (to == 3)
                assert_yields(db, "SELECT c FROM u", from == 1 || from == 2 ? "40 " : "");
            sqlite3_close(db);
            remove(d->path);
        }
    }
}

static void test_step_that_fails(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    sqlite3 *db = open_db(d);
    const struct schema good = {broken, 1}, bad = {broken, 2};
    assert_ok(schema_migrate(db, d->path, &good, &err), err);
    assert_int_equal(sqlite3_exec(db, "INSERT INTO t VALUES (1)", NULL, NULL, NULL), SQLITE_OK);
    assert_error(schema_migrate(db, d->path, &bad, &err), err, ERR_INTERNAL, "schema 2");
    assert_non_null(strstr(err.text, "nowhere"));
    /* All of the step is undone, the version too; what there was still works. */
    assert_yields(db, "PRAGMA user_version", "1 ");
    assert_yields(db, "SELECT name FROM sqlite_schema WHERE name IN ('t', 'v')", "t ");
    assert_yields(db, "SELECT a FROM t", "1 ");
    assert_true(sqlite3_get_autocommit(db));
    assert_ok(schema_migrate(db, d->path, &good, &err), err);
    sqlite3_close(db);
}

static void test_newer(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    int version = 7;
    sqlite3 *db = open_db(d);
    const struct schema newer = {scripts, 2}, older = {scripts, 1};
    assert_ok(schema_migrate(db, d->path, &newer, &err), err);
    assert_error(schema_version(db, d->path, &older, &version, &err), err, ERR_CONFLICT,
                 "schema 2, this program knows up to 1");
    assert_error(schema_migrate(db, d->path, &older, &err), err, ERR_CONFLICT, "schema 2");
    assert_int_equal(version, 7);
    sqlite3_close(db);
}

/* Every released version, brought up to date, has the tables of a new database. */
static void test_released_versions(void **state)
{
    struct store_dir *d = *state;
    static const char tables[] = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name";
    struct err err;
    struct str want = {0};
    store_close(store_dir_open(d));
    sqlite3 *db = open_db(d);
    assert_int_equal(sqlite3_exec(db, tables, keep_text, &want, NULL), SQLITE_OK);
    sqlite3_close(db);
    for (int from = 1; from < schema_current.n; from++) {
        remove(d->path);
        db = open_db(d);
        const struct schema old = {schema_current.scripts, from};
        assert_ok(schema_migrate(db, d->path, &old, &err), err);
        sqlite3_close(db);
        store_close(store_dir_open(d));
        db = open_db(d);
        assert_yields(db, tables, want.at);
        sqlite3_close(db);
        store_dir_check(d->path);
    }
    assert_true(schema_current.n >= 1);
    str_done(&want);
}

/* ---- databases that older versions wrote --------------------------------- */

/* Makes the database that tests/store/schema-VERSION.sql describes. */
static void load_old(const struct store_dir *d, int version)
{
    char name[64];
    struct str sql = {0};
    char buf[4096];
    snprintf(name, sizeof name, "tests/store/schema-%d.sql", version);
    FILE *f = fopen(name, "r");
    if (!f)
        fail_msg("%s: every schema that was released has one, with something in each table", name);
    for (size_t n; (n = fread(buf, 1, sizeof buf, f)) > 0;)
        str_add_n(&sql, buf, n);
    fclose(f);
    store_dir_run_sql(d->path, sql.at);
    str_done(&sql);
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
    assert_non_null(strstr(a->spec, "\"cpus\":\"1-4\""));
    assert_true(a->state == JOB_RUNNING && a->priority == -5 && a->attempt == 2);
    assert_true(a->deadline == 1700007200000000 && a->run_time == 600000000);
    assert_true(a->done == 1.25e9 && a->step == 125 && a->metric == 0.125);
    assert_true(b->state == JOB_QUEUED && b->array == 1 && b->array_index == 1);
    assert_true(b->eligible == 1700000009000000 && isnan(b->work) && isnan(b->metric));
    assert_true(c->state == JOB_FAILED && c->code == 137 && c->ended == 1700000003000000);
    assert_string_equal(c->name, "it's over");
    assert_string_equal(c->reason, "killed: out of memory");
    assert_true(version < 2 ? !*a->said : strstr(a->said, "\"epoch\":2.0") != NULL);
    store_dir_rows_done(&all);
}

static int count_dep(void *ctx, int64_t job, int kind, int64_t on, struct err *err)
{
    (void)err;
    assert_true(job == 2 && ((kind == 1 && on == 1) || (kind == 4 && on == 0)));
    ++*(unsigned *)ctx;
    return 0;
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
        assert_ok(store_commit(s, &err), err);
        store_close(s);
        store_dir_check(d->path);
        remove(d->path);
    }
}

/* A database with something in it and a version to come, which changes a table that
 * others refer to: it arrives whole, or stays as it was. */
static void test_version_to_come(void **state)
{
    struct store_dir *d = *state;
    struct err err;
    const char *next[16];
    int n = schema_current.n;
    assert_true(n < (int)COUNT_OF(next));
    memcpy(next, schema_current.scripts, (size_t)n * sizeof *next);
    load_old(d, n);
    sqlite3 *db = open_db(d);
    assert_yields(db, "PRAGMA foreign_keys = ON", "");
    next[n] = "ALTER TABLE job ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';"
              "UPDATE job SET colour = 'blue' WHERE id = 2; DELETE FROM job WHERE id = 3";
    const struct schema bad = {next, n + 1};
    assert_error(schema_migrate(db, d->path, &bad, &err), err, ERR_CONFLICT, "FOREIGN KEY");
    next[n] = "ALTER TABLE job ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';"
              "UPDATE job SET colour = 'blue' WHERE id = 2";
    const struct schema good = {next, n + 1};
    assert_yields(db, "SELECT count(*) FROM job", "3 ");
    assert_yields(db, "SELECT count(*) FROM pragma_table_info('job') WHERE name = 'colour'", "0 ");
    assert_ok(schema_migrate(db, d->path, &good, &err), err);
    assert_yields(db, "SELECT colour FROM job ORDER BY id", "red blue red ");
    assert_yields(db, "SELECT state, n FROM job_count ORDER BY state",
                  "failed 1 queued 1 running 1 ");
    sqlite3_close(db);
    struct store *s = NULL;
    assert_error(store_open(d->path, &s, &err), err, ERR_CONFLICT, "written by trainyard 0.1.0");
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_from_every_version),
    STORE_TEST(test_step_that_fails),
    STORE_TEST(test_newer),
    STORE_TEST(test_released_versions),
    STORE_TEST(test_old_databases),
    STORE_TEST(test_version_to_come),
};

int main(void)
{
    return RUN(tests);
}
