/* Owns the examination of a database: SQLite's own, of every page and every index,
 * then what the tables must agree on. */
#include "base/str.h"
#include "store/connect.h"
#include "store/fault.h"
#include "store/query.h"
#include "store/schema.h"

#define STATE_IS_OVER "CASE state" JOB_STATES(X) " END"
#define X(name, text, over) " WHEN '" text "' THEN " #over

/* Each yields a line for everything that is wrong. */
static const char *const rules[] = {
    "SELECT printf('table %s: a row without its %s', \"table\", parent)"
    " FROM pragma_foreign_key_check LIMIT 100",

    "SELECT printf('job %d: %s is no state, or not marked as such', id, state) FROM job"
    " WHERE over IS NOT " STATE_IS_OVER " LIMIT 100",

    "SELECT printf('attempt %d.%d: %s is no state, or not marked as such', job, n, state)"
    " FROM attempt WHERE over IS NOT " STATE_IS_OVER " LIMIT 100",

    "SELECT printf('job %d: no spec', id) FROM job"
    " WHERE NOT EXISTS (SELECT 1 FROM spec WHERE spec.job = job.id) LIMIT 100",

    "SELECT printf('jobs %s: %d are there, %d are counted', state, sum(here), sum(counted)) FROM"
    " (SELECT state, count(*) AS here, 0 AS counted FROM job GROUP BY state"
    "  UNION ALL SELECT state, 0, n FROM job_count)"
    " GROUP BY state HAVING sum(here) <> sum(counted)",
};
#undef X

struct findings {
    struct str text;
    unsigned n;
};

static int add_line(void *ctx, int columns, char **values, char **names)
{
    (void)names;
    struct findings *f = ctx;
    const char *line = columns && values[0] ? values[0] : "damaged";
    if (!strcmp(line, "ok"))
        return 0;
    str_addf(&f->text, "%s\n", line);
    f->n++;
    return 0;
}

static void apply(sqlite3 *db, const char *rule, struct findings *f)
{
    if (sqlite3_exec(db, rule, add_line, f, NULL) == SQLITE_OK)
        return;
    str_addf(&f->text, "%s\n", sqlite3_errmsg(db));
    f->n++;
}

static int add_size(void *ctx, int columns, char **values, char **names)
{
    (void)names;
    if (columns == 2 && values[0] && values[1])
        str_addf(ctx, "%s jobs, %s MB", values[0], values[1]);
    return 0;
}

static void examine(sqlite3 *db, int version, struct findings *f)
{
    apply(db, "PRAGMA integrity_check(100)", f);
    /* The rules are about the tables of this version. */
    for (size_t i = 0; f->n == 0 && version == schema_current.n && i < COUNT_OF(rules); i++)
        apply(db, rules[i], f);
}

static int sum_up(sqlite3 *db, const char *path, int version, struct findings *f, struct err *err)
{
    if (f->n)
        return fault_set(NULL, path, SQLITE_CORRUPT, err);
    str_addf(&f->text, "sound: schema %d, ", version);
    sqlite3_exec(db, "SELECT (SELECT count(*) FROM job), printf('%.1f', page_count * page_size"
                     " / 1e6) FROM pragma_page_count, pragma_page_size",
                 add_size, &f->text, NULL);
    str_add(&f->text, "\n");
    return 0;
}

int store_check(const char *path, char **report, struct err *err)
{
    struct findings f = {0};
    struct err why;
    int version;
    AUTO_CONNECT sqlite3 *db = NULL;
    int rc = connect_open(path, false, &db, &why);
    if (rc == 0)
        rc = schema_version(db, path, &schema_current, &version, &why);
    if (rc < 0) {
        str_addf(&f.text, "%s\n", why.text);
        err_set(err, why.code, "%s", why.text);
    } else {
        examine(db, version, &f);
        rc = sum_up(db, path, version, &f, err);
    }
    *report = f.text.at;
    return rc;
}
