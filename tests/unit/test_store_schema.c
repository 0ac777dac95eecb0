/* Tests of versions of the schema: the mechanism with versions of its own, and that the real
 * ones lead to the same tables from wherever they start. */
#include "store/schema.h"

#include <sqlite3.h>

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
            store_dir_yields(db, "PRAGMA user_version", want);
            if (to == 2 && from)
                store_dir_yields(db, "SELECT a, b FROM t", "4 new ");
            if (to == 3)
                store_dir_yields(db, "SELECT c FROM u", from == 1 || from == 2 ? "40 " : "");
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
    store_dir_yields(db, "PRAGMA user_version", "1 ");
    store_dir_yields(db, "SELECT name FROM sqlite_schema WHERE name IN ('t', 'v')", "t ");
    store_dir_yields(db, "SELECT a FROM t", "1 ");
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
    struct err err;
    struct store *new = NULL;
    char attach[160];
    assert_ok(store_open(store_dir_file(d, "new.db"), &new, &err), err);
    store_close(new);
    snprintf(attach, sizeof attach, "ATTACH '%s' AS new", store_dir_file(d, "new.db"));
    for (int from = 1; from <= schema_current.n; from++) {
        const struct schema old = {schema_current.scripts, from};
        sqlite3 *db = open_db(d);
        assert_ok(schema_migrate(db, d->path, &old, &err), err);
        sqlite3_close(db);
        store_close(store_dir_open(d));
        db = open_db(d);
        store_dir_yields(db, attach, "");
        store_dir_yields(db,
                         "SELECT type, name, sql FROM main.sqlite_schema"
                         " EXCEPT SELECT type, name, sql FROM new.sqlite_schema",
                         "");
        sqlite3_close(db);
        /* And the other way: it looks for each that a new one has. */
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
    const char *next[64];
    char name[64];
    int n = schema_current.n;
    assert_true(n < (int)COUNT_OF(next));
    memcpy(next, schema_current.scripts, (size_t)n * sizeof *next);
    snprintf(name, sizeof name, "tests/store/schema-%d.sql", n);
    store_dir_load(d->path, name);
    sqlite3 *db = open_db(d);
    store_dir_yields(db, "PRAGMA foreign_keys = ON", "");
    next[n] = "ALTER TABLE job ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';"
              "UPDATE job SET colour = 'blue' WHERE id = 2; DELETE FROM job WHERE id = 3";
    const struct schema bad = {next, n + 1};
    assert_error(schema_migrate(db, d->path, &bad, &err), err, ERR_CONFLICT, "FOREIGN KEY");
    next[n] = "ALTER TABLE job ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';"
              "UPDATE job SET colour = 'blue' WHERE id = 2";
    const struct schema good = {next, n + 1};
    store_dir_yields(db, "SELECT count(*) FROM job", "3 ");
    store_dir_yields(db, "SELECT count(*) FROM pragma_table_info('job') WHERE name = 'colour'",
                     "0 ");
    assert_ok(schema_migrate(db, d->path, &good, &err), err);
    store_dir_yields(db, "SELECT colour FROM job ORDER BY id", "red blue red ");
    store_dir_yields(db, "SELECT job, n FROM attempt ORDER BY job, n", "1 1 1 2 3 1 ");
    sqlite3_close(db);
    struct store *s = NULL;
    assert_error(store_open(d->path, &s, &err), err, ERR_CONFLICT, "written by trainyard 0.1.0");
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_from_every_version), STORE_TEST(test_step_that_fails), STORE_TEST(test_newer),
    STORE_TEST(test_released_versions),  STORE_TEST(test_version_to_come),
};

int main(void)
{
    return RUN(tests);
}
