/* Owns single jobs; job_list.c owns lists of them.
 *
 * What is indexed is written apart from the rest and only when it changed, since
 * SQLite writes every index of a column that it is told to set. */
#include "store/jobs.h"

#include "store/job_read.h"

static int check_row(const struct job_row *row, struct err *err)
{
    if ((unsigned)row->state >= JOB_STATE_COUNT)
        return err_set(err, ERR_INVALID, "job %lld: %d is not a state", (long long)row->id,
                       (int)row->state);
    if (row->id < 0)
        return err_set(err, ERR_INVALID, "%lld is not the id of a job", (long long)row->id);
    return 0;
}

/* The columns that change with every report, in the order of both statements. */
static void bind_books(struct query *q, const struct job_row *row)
{
    query_int(q, row->priority);
    query_int(q, row->array_index);
    query_int(q, row->started);
    query_int(q, row->deadline);
    query_int(q, row->eligible);
    query_int(q, row->attempt);
    query_int(q, row->failures);
    query_int(q, row->code);
    query_text(q, row->reason);
    query_real(q, row->work);
    query_real(q, row->done);
    query_real(q, row->attained);
    query_int(q, row->run_time);
    query_int(q, row->wait_time);
    query_int(q, row->cpus_min);
    query_int(q, row->cpus_max);
    query_real(q, row->step);
    query_real(q, row->total);
    query_real(q, row->metric);
    query_text(q, row->said ? row->said : "");
}

static void bind_indexed(struct query *q, const struct job_row *row)
{
    query_text(q, row->name);
    query_text(q, job_state_name(row->state));
    query_int(q, job_state_over(row->state));
    query_int(q, row->ended);
}

static int64_t next_id(struct store *s, struct err *err)
{
    int64_t id;
    AUTO_QUERY struct query q = query_open(s, "SELECT max(id) FROM job");
    if (query_number(&q, 0, &id, err) < 0)
        return -1;
    if (id == INT64_MAX)
        return err_set(err, ERR_LIMIT, "no id is left for another job");
    return id < 0 ? 1 : id + 1;
}

int store_job_add(struct store *s, const struct job_row *row, int64_t *id, struct err *err)
{
    if (check_row(row, err) < 0)
        return -1;
    int64_t given = row->id ? row->id : next_id(s, err);
    if (given < 0)
        return -1;
    /* Both are bound before one is run: too long a spec must not leave half a job. */
    AUTO_QUERY struct query spec = query_open(s, "INSERT INTO spec VALUES (?, ?)");
    query_int(&spec, given);
    query_text(&spec, row->spec);
    AUTO_QUERY struct query q = query_open(
        s, "INSERT INTO job (id, user, array_id, submitted, name, state, over, ended, priority,"
           " array_index, started, deadline, eligible, attempt, failures, code, reason, work, done,"
           " attained, run_time, wait_time, cpus_min, cpus_max, step, total, metric, said) VALUES "
           "(?, ?,"
           " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    query_int(&q, given);
    query_text(&q, row->user);
    query_int(&q, row->array == JOB_ARRAY_FIRST ? given : row->array);
    query_int(&q, row->submitted);
    bind_indexed(&q, row);
    bind_books(&q, row);
    if (query_check(&spec, err) < 0)
        return -1;
    if (query_run(&q, err) < 0)
        return q.rc == SQLITE_CONSTRAINT_PRIMARYKEY
                   ? err_set(err, ERR_CONFLICT, "there is a job %lld already", (long long)given)
                   : -1;
    if (query_run(&spec, err) < 0)
        return -1;
    *id = given;
    return 0;
}

static int save_books(struct store *s, const struct job_row *row, struct err *err)
{
    int64_t changes;
    AUTO_QUERY struct query q = query_open(
        s, "UPDATE job SET priority = ?, array_index = ?, started = ?, deadline = ?, eligible = ?,"
           " attempt = ?, failures = ?, code = ?, reason = ?, work = ?, done = ?, attained = ?,"
           " run_time = ?, wait_time = ?, cpus_min = ?, cpus_max = ?, step = ?, total = ?,"
           " metric = ?, said = ? WHERE id = ?");
    bind_books(&q, row);
    query_int(&q, row->id);
    if (query_run_counted(&q, &changes, err) < 0)
        return -1;
    return changes ? 0 : jobs_no_such(row->id, err);
}

int store_job_save(struct store *s, const struct job_row *row, struct err *err)
{
    if (check_row(row, err) < 0 || save_books(s, row, err) < 0)
        return -1;
    /* A job that runs again has something to trim again. */
    AUTO_QUERY struct query q =
        query_open(s, "UPDATE job SET name = ?1, state = ?2, over = ?3, ended = ?4, trimmed = 0"
                      " WHERE id = ?5 AND (name <> ?1 OR state <> ?2 OR ended <> ?4)");
    bind_indexed(&q, row);
    query_int(&q, row->id);
    return query_run(&q, err);
}

int store_job_save_spec(struct store *s, int64_t id, const char *spec, struct err *err)
{
    int64_t changes;
    AUTO_QUERY struct query q = query_open(s, "UPDATE spec SET text = ? WHERE job = ?");
    query_text(&q, spec);
    query_int(&q, id);
    if (query_run_counted(&q, &changes, err) < 0)
        return -1;
    return changes ? 0 : jobs_no_such(id, err);
}

int store_job_get(struct store *s, int64_t id, store_job_fn fn, void *ctx, struct err *err)
{
    struct job_row row;
    AUTO_QUERY struct query q = query_open(s, "SELECT " JOBS_COLUMNS " FROM job WHERE id = ?2");
    query_int(&q, JOBS_SPEC_ALL);
    query_int(&q, id);
    int rc = query_next(&q, err);
    if (rc <= 0)
        return rc < 0 ? -1 : jobs_no_such(id, err);
    if (jobs_read(&q, &row, err) < 0)
        return -1;
    return fn(ctx, &row, err) < 0 ? -1 : 0;
}
