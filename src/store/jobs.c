/* Owns single jobs and requests; job_list.c owns lists of jobs.
 *
 * Columns that are in an index are written by a statement of their own, and only when one
 * of them changed: SQLite writes every index of a column that it is told to set. */
#include "store/jobs.h"

#include "store/job_read.h"

static const char add_sql[] = "INSERT INTO job (" JOB_COLUMNS_ONCE(COLUMN_NAME)
    JOB_COLUMNS_PLAIN(COLUMN_NAME) "ended, state, over, id) VALUES (" JOB_COLUMNS_ONCE(COLUMN_MARK)
        JOB_COLUMNS_PLAIN(COLUMN_MARK) "?, ?, ?, ?)";
/* The last assignment changes nothing: it ends the list, which has a comma after each. */
static const char save_plain_sql[] =
    "UPDATE job SET " JOB_COLUMNS_PLAIN(COLUMN_SET) "submitted = submitted WHERE id = ?";
/* A job that runs again will have something to trim. */
static const char save_state_sql[] = "UPDATE job SET ended = ?1, state = ?2, over = ?3, trimmed = 0"
                                     " WHERE id = ?4 AND (state <> ?2 OR ended <> ?1)";

static void bind_once(struct query *q, const struct job_row *row)
{
    JOB_COLUMNS_ONCE(COLUMN_BIND)
}

static void bind_plain(struct query *q, const struct job_row *row)
{
    JOB_COLUMNS_PLAIN(COLUMN_BIND)
}

static void bind_state(struct query *q, const struct job_row *row)
{
    query_int(q, row->ended);
    query_text(q, job_state_name(row->state));
    query_int(q, job_state_over(row->state));
    query_int(q, row->id);
}

static int check_row(const struct job_row *row, struct err *err)
{
    if ((unsigned)row->state >= JOB_STATE_COUNT)
        return err_set(err, ERR_INVALID, "job %lld: %d is not a state", (long long)row->id,
                       (int)row->state);
    if (row->id < 0)
        return err_set(err, ERR_INVALID, "%lld is not the id of a job", (long long)row->id);
    return 0;
}

static int no_such_request(int64_t id, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "no request %lld", (long long)id);
}

static int next_id(struct store *s, int64_t *id, struct err *err)
{
    /* Arrays that are being accepted have ids that no job has yet. */
    AUTO_QUERY struct query q =
        query_open(s, "SELECT max(coalesce((SELECT max(id) FROM job), 0),"
                      " coalesce((SELECT max(first + members - 1) FROM arrival), 0))");
    if (query_number(&q, 0, id, err) < 0)
        return -1;
    if (*id == INT64_MAX)
        return err_set(err, ERR_LIMIT, "no job ids are left");
    *id = *id < 0 ? 1 : *id + 1;
    return 0;
}

int store_job_add(struct store *s, const struct job_row *row, int64_t *id, struct err *err)
{
    struct job_row added = *row;
    if (check_row(row, err) < 0 || (!row->id && next_id(s, &added.id, err) < 0))
        return -1;
    if (row->array == JOB_ARRAY_FIRST)
        added.array = added.id;
    AUTO_QUERY struct query q = query_open(s, add_sql);
    bind_once(&q, &added);
    bind_plain(&q, &added);
    bind_state(&q, &added);
    if (query_run(&q, err) < 0) {
        if (q.rc == SQLITE_CONSTRAINT_PRIMARYKEY)
            return err_set(err, ERR_CONFLICT, "job %lld already exists", (long long)added.id);
        return q.rc == SQLITE_CONSTRAINT_FOREIGNKEY ? no_such_request(row->request, err) : -1;
    }
    *id = added.id;
    return 0;
}

static int save_plain(struct store *s, const struct job_row *row, struct err *err)
{
    int64_t changes;
    AUTO_QUERY struct query q = query_open(s, save_plain_sql);
    bind_plain(&q, row);
    query_int(&q, row->id);
    if (query_run_counted(&q, &changes, err) < 0)
        return -1;
    return changes ? 0 : job_no_such(row->id, err);
}

int store_job_save(struct store *s, const struct job_row *row, struct err *err)
{
    if (check_row(row, err) < 0 || save_plain(s, row, err) < 0)
        return -1;
    AUTO_QUERY struct query q = query_open(s, save_state_sql);
    bind_state(&q, row);
    return query_run(&q, err);
}

int store_job_get(struct store *s, int64_t id, store_job_fn fn, void *ctx, struct err *err)
{
    struct job_row row;
    AUTO_QUERY struct query q = query_open(s, JOB_SELECT "WHERE id = ?");
    query_int(&q, id);
    int rc = query_next(&q, err);
    if (rc <= 0)
        return rc < 0 ? -1 : job_no_such(id, err);
    if (job_read(&q, &row, err) < 0)
        return -1;
    return fn(ctx, &row, err) < 0 ? -1 : 0;
}

struct job_row job_row_copy(const struct job_row *row)
{
    struct job_row copy = *row;
    copy.name = xstrdup(row->name);
    copy.user = xstrdup(row->user);
    copy.reason = xstrdup(row->reason);
    copy.error = xstrdup(row->error);
    copy.command = row->command ? xstrdup(row->command) : NULL;
    copy.sweep = row->sweep ? xstrdup(row->sweep) : NULL;
    return copy;
}

void job_row_done(struct job_row *row)
{
    free((char *)row->name);
    free((char *)row->user);
    free((char *)row->reason);
    free((char *)row->error);
    free((char *)row->command);
    free((char *)row->sweep);
}

int store_request_add(struct store *s, const char *text, const char *command, const char *sweep,
                      int64_t *id, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(s, "INSERT INTO request (text, command, sweep) VALUES (?, ?, ?)");
    query_text(&q, text);
    query_text(&q, command);
    query_text(&q, sweep);
    if (query_run(&q, err) < 0)
        return -1;
    *id = sqlite3_last_insert_rowid(s->db);
    return 0;
}

int store_request_set(struct store *s, int64_t id, const char *text, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, "UPDATE request SET text = ? WHERE id = ?");
    query_text(&q, text);
    query_int(&q, id);
    return query_run(&q, err);
}

int store_request_get(struct store *s, int64_t id, char **text, struct err *err)
{
    AUTO_QUERY struct query q = query_open(s, "SELECT text FROM request WHERE id = ?");
    query_int(&q, id);
    int rc = query_next(&q, err);
    if (rc <= 0)
        return rc < 0 ? -1 : no_such_request(id, err);
    *text = xstrdup(query_get_text(&q));
    return 0;
}
