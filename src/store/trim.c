/* Owns the removal of old rows. Jobs, requests, dependencies and attempts stay; events, samples
 * and the journal are removed, except for the newest event and the newest row of the journal,
 * from which numbering continues.
 *
 * Each step removes a limited number of rows and finds them by an index, so a call with nothing
 * to do costs nothing. */
#include "store/trim.h"

#include "store/fault.h"
#include "store/query.h"

/* Rows of the journal may be large. */
enum { JOURNAL_STEP = 500 };

struct trim {
    struct store *s;
    usec_t before;
    uint64_t removed;
};

static int64_t room(const struct trim *t)
{
    return STORE_TRIM_STEP - (int64_t)t->removed;
}

/* Runs a query whose rows count as removed. */
static int remove_by(struct trim *t, struct query *q, struct err *err)
{
    int64_t n;
    if (query_run_counted(q, &n, err) < 0)
        return -1;
    t->removed += (uint64_t)n;
    return 0;
}

static int trim_common_events(struct trim *t, struct err *err)
{
    /* Up to the first that is not old enough: the clock may have been set back. */
    AUTO_QUERY struct query q = query_open(
        t->s, "DELETE FROM event WHERE seq IN (SELECT seq FROM event WHERE job = 0 AND seq <"
              " coalesce((SELECT seq FROM event WHERE job = 0 AND at >= ? ORDER BY seq LIMIT 1),"
              " (SELECT max(seq) FROM event)) ORDER BY seq LIMIT ?)");
    query_int(&q, t->before);
    query_int(&q, room(t));
    return remove_by(t, &q, err);
}

static int trim_events(struct trim *t, int64_t job, struct err *err)
{
    AUTO_QUERY struct query q = query_open(
        t->s, "DELETE FROM event WHERE seq IN (SELECT seq FROM event WHERE job = ? LIMIT ?)");
    query_int(&q, job);
    query_int(&q, room(t));
    return remove_by(t, &q, err);
}

/* Removes rows of one of the job's series with this statement. */
static int trim_series(struct trim *t, int64_t job, const char *sql, struct err *err)
{
    AUTO_QUERY struct query q = query_open(t->s, sql);
    query_int(&q, job);
    query_int(&q, room(t));
    return remove_by(t, &q, err);
}

static int trim_samples(struct trim *t, int64_t job, struct err *err)
{
    static const char sample[] = "DELETE FROM sample WHERE job = ?1 AND seq IN"
                                 " (SELECT seq FROM sample WHERE job = ?1 LIMIT ?2)",
                      growth[] = "DELETE FROM growth WHERE job = ?1 AND seq IN"
                                 " (SELECT seq FROM growth WHERE job = ?1 LIMIT ?2)";
    if (trim_series(t, job, sample, err) < 0)
        return -1;
    return trim_series(t, job, growth, err);
}

/* Also counts as removed, because there may be many jobs without any rows. An index entry of a
 * job that does not exist would otherwise stay forever. */
static int mark_trimmed(struct trim *t, int64_t job, struct err *err)
{
    uint64_t before = t->removed;
    AUTO_QUERY struct query q =
        query_open(t->s, "UPDATE job SET trimmed = 1 WHERE id = ? AND trimmed = 0");
    query_int(&q, job);
    if (remove_by(t, &q, err) < 0)
        return -1;
    return t->removed > before ? 0 : fault_set(NULL, t->s->path, SQLITE_CORRUPT, err);
}

static int trim_job(struct trim *t, int64_t job, struct err *err)
{
    if (trim_events(t, job, err) < 0 || trim_samples(t, job, err) < 0)
        return -1;
    return room(t) > 0 ? mark_trimmed(t, job, err) : 0;
}

/* The job that ended first and has not been trimmed; 0 = none before the limit. The one
 * that the newest event is about waits for another event. */
static int next_job(struct trim *t, int64_t *job, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(t->s, "SELECT id FROM job INDEXED BY job_to_trim WHERE over = 1 AND trimmed = 0"
                         " AND ended < ? AND id IS NOT (SELECT job FROM event ORDER BY seq DESC"
                         " LIMIT 1) ORDER BY ended LIMIT 1");
    query_int(&q, t->before);
    return query_number(&q, 0, job, err);
}

static int trim_jobs(struct trim *t, struct err *err)
{
    while (room(t) > 0) {
        int64_t job;
        if (next_job(t, &job, err) < 0)
            return -1;
        if (job == 0)
            break;
        if (trim_job(t, job, err) < 0)
            return -1;
    }
    return 0;
}

/* The journal is needed from the boot that was current at the limit, which may have no row
 * yet. */
static int trim_journal(struct trim *t, struct err *err)
{
    AUTO_QUERY struct query q =
        query_open(t->s, "DELETE FROM journal WHERE seq IN (SELECT seq FROM journal WHERE seq <"
                         " min((SELECT first FROM boot WHERE at < ? ORDER BY n DESC LIMIT 1),"
                         " (SELECT max(seq) FROM journal)) ORDER BY seq LIMIT ?)");
    query_int(&q, t->before);
    query_int(&q, room(t) < JOURNAL_STEP ? room(t) : JOURNAL_STEP);
    return remove_by(t, &q, err);
}

int store_trim(struct store *s, usec_t before, uint64_t *removed, struct err *err)
{
    struct trim t = {.s = s, .before = before};
    if (trim_common_events(&t, err) < 0 || trim_jobs(&t, err) < 0 || trim_journal(&t, err) < 0)
        return -1;
    *removed = t.removed;
    return 0;
}
