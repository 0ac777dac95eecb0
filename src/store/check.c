/* Owns the examination of a database: first SQLite's own check of every page and index, then
 * whether the tables agree with each other. */
#include "store/check.h"

#include "base/mem.h"
#include "base/str.h"
#include "store/connect.h"
#include "store/fault.h"
#include "store/job_state.h"
#include "store/schema.h"

#define STATE_IS_OVER "CASE state" JOB_STATES(X) " END"
#define X(name, text, over) " WHEN '" text "' THEN " #over

/* Each returns a line for every error. */
static const char *const rules[] = {
    "SELECT printf('table %s: a row without its %s', \"table\", parent)"
    " FROM pragma_foreign_key_check LIMIT 100",

    "SELECT printf('job %d: %s is not a state, or is marked wrongly', id, state) FROM job"
    " WHERE over IS NOT " STATE_IS_OVER " LIMIT 100",

    "SELECT printf('attempt %d.%d: %s is not a state, or is marked wrongly', job, n, state)"
    " FROM attempt WHERE over IS NOT " STATE_IS_OVER " LIMIT 100",

    "SELECT printf('job %d: no request', id) FROM job WHERE request IS NULL LIMIT 100",

    "SELECT printf('array %d: has %d jobs, not the %d that have arrived', first, n, arrived) FROM"
    " (SELECT first, arrived, members, (SELECT count(*) FROM job WHERE job.array = first) AS n"
    " FROM arrival) WHERE n <> arrived OR arrived >= members LIMIT 100",

    "SELECT printf('boot %d: begins before the one before it', n) FROM (SELECT n, first,"
    " lag(first) OVER (ORDER BY n) AS previous FROM boot) WHERE first < previous LIMIT 100",
};
#undef X

struct findings {
    struct str text;
    unsigned n;
};

static void add(struct findings *f, const char *line)
{
    str_addf(&f->text, "%s\n", line);
    f->n++;
}

static int add_line(void *ctx, int columns, char **values, char **names)
{
    (void)names;
    const char *line = columns && values[0] ? values[0] : "damaged";
    if (strcmp(line, "ok") != 0)
        add(ctx, line);
    return 0;
}

static void apply(sqlite3 *db, const char *rule, struct findings *f)
{
    if (sqlite3_exec(db, rule, add_line, f, NULL) != SQLITE_OK)
        add(f, sqlite3_errmsg(db));
}

/* One entry of the schema that must exist exactly like this. */
struct expected {
    sqlite3_stmt *look;
    struct findings *f;
};

static int look_for(void *ctx, int columns, char **values, char **names)
{
    (void)names;
    struct expected *e = ctx;
    for (int i = 0; i < columns; i++)
        sqlite3_bind_text(e->look, i + 1, values[i], -1, SQLITE_STATIC);
    if (sqlite3_step(e->look) != SQLITE_ROW) {
        str_addf(&e->f->text, "%s %s: missing, or different from the schema\n", values[0],
                 values[1]);
        e->f->n++;
    }
    sqlite3_reset(e->look);
    return 0;
}

/* Compares the tables with those of a new database. */
static void compare_schema(sqlite3 *db, const char *path, struct findings *f)
{
    struct err err;
    struct expected e = {.f = f};
    AUTO_CONNECT sqlite3 *new = NULL;
    int rc = sqlite3_open(":memory:", &new);
    if (rc == SQLITE_OK && schema_migrate(new, path, &schema_current, &err) < 0)
        rc = SQLITE_ERROR;
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(
            db, "SELECT 1 FROM sqlite_schema WHERE type = ? AND name = ? AND sql IS ?", -1, &e.look,
            NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(new, "SELECT type, name, sql FROM sqlite_schema", look_for, &e, NULL);
    sqlite3_finalize(e.look);
    if (rc != SQLITE_OK)
        add(f, "the tables could not be compared");
}

static int add_size(void *ctx, int columns, char **values, char **names)
{
    (void)names;
    if (columns == 2 && values[0] && values[1])
        str_addf(ctx, "%s jobs, %s MB", values[0], values[1]);
    return 0;
}

static void examine(sqlite3 *db, const char *path, int version, struct findings *f)
{
    apply(db, "PRAGMA integrity_check(100)", f);
    /* The remaining checks are for the tables of this version. */
    if (version != schema_current.n)
        return;
    compare_schema(db, path, f);
    for (size_t i = 0; f->n == 0 && i < COUNT_OF(rules); i++)
        apply(db, rules[i], f);
}

static int sum_up(sqlite3 *db, const char *path, int version, struct findings *f, struct err *err)
{
    if (f->n)
        return fault_set(NULL, path, SQLITE_CORRUPT, err);
    str_addf(&f->text, "sound: schema %d, ", version);
    sqlite3_exec(db,
                 "SELECT (SELECT count(*) FROM job), printf('%.1f', page_count * page_size"
                 " / 1e6) FROM pragma_page_count, pragma_page_size",
                 add_size, &f->text, NULL);
    str_add(&f->text, "\n");
    return 0;
}

int store_check(const char *path, char **report, struct err *err)
{
    struct findings f = {0};
    struct err why;
    int version = 0;
    AUTO_CONNECT sqlite3 *db = NULL;
    int rc = connect_open(path, false, &db, &why);
    if (rc == 0)
        rc = schema_version(db, path, &schema_current, &version, &why);
    if (rc < 0) {
        if (db && sqlite3_errcode(db) != SQLITE_OK)
            str_addf(&f.text, "%s\n", sqlite3_errmsg(db));
        str_addf(&f.text, "%s\n", why.text);
        err_set(err, why.code, "%s", why.text);
    } else {
        examine(db, path, version, &f);
        rc = sum_up(db, path, version, &f, err);
    }
    *report = f.text.at;
    return rc;
}
