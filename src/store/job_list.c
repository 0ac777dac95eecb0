/* Owns lists of jobs: pages in the order of ids, with any filter, without reading much more than
 * the page.
 *
 * Each kind of filter has an index that yields ids in order within one state, or within what it
 * selects. A list uses one cursor, or merges one for each state; what the index does not cover
 * is filtered row by row. Jobs that are not over are in a single index, which is cheap to update;
 * it includes the user, so that other users' jobs are skipped without reading their rows. Names
 * are the exception, because the ids of a prefix are not in order: when few jobs match, their
 * ids are sorted; when many match, a scan of all jobs soon finds enough of them. */
#include "store/job_list.h"

#include "base/str.h"
#include "store/job_read.h"

/* The most jobs of a name that are sorted. With more, a scan of a million jobs looks at about a
 * hundred for each one that it finds. */
enum { FEW_NAMES = 10000 };

struct cursor {
    struct query q;
    struct job_row row;
    bool has_row;
};

struct list {
    struct store *s;
    const struct job_filter *f;
    size_t name_length; /* up to the first wildcard */
    bool has_wildcard;
    struct cursor cursors[JOB_STATE_COUNT + 1];
    unsigned n;
};

/* The cursor that is next in the order of ids; `after` is ?1. */
#define FORWARD " AND id > ?1 ORDER BY id"
#define BACK " AND id < ?1 ORDER BY id DESC"
#define BOTH(where)                                                                                \
    {                                                                                              \
        JOB_SELECT where BACK, JOB_SELECT where FORWARD                                            \
    }

static const char *const by_id[] = BOTH("WHERE 1");
static const char *const by_live[] = BOTH("INDEXED BY job_live WHERE over = 0 AND state = ?2");
static const char *const by_over[] = BOTH("INDEXED BY job_over WHERE over = 1 AND state = ?2");
static const char *const by_live_user[] =
    BOTH("INDEXED BY job_live WHERE over = 0 AND state = ?2 AND user = ?3");
static const char *const by_over_user[] =
    BOTH("INDEXED BY job_over_user WHERE over = 1 AND state = ?2 AND user = ?3");
/* The index has what ended, in that order: the newest of it is little. */
static const char *const by_failure[] =
    BOTH("INDEXED BY job_to_trim WHERE over = 1 AND trimmed = 0 AND ended >= ?2"
         " AND state IN ('failed', 'timeout', 'lost')");
static const char *const by_array[] = BOTH("INDEXED BY job_array WHERE array = ?2 AND array > 0");
static const char *const by_group[] =
    BOTH("INDEXED BY job_group WHERE group_name = ?2 AND group_name <> ''");
static const char *const by_name[] =
    BOTH("WHERE id IN (SELECT id FROM job WHERE name BETWEEN ?2 AND ?3)");

/* The id that the list begins after. */
static int64_t start_of(const struct job_filter *f)
{
    if (f->oldest_first)
        return f->after >= f->first ? f->after : f->first - 1;
    int64_t end = f->last && f->last < INT64_MAX ? f->last + 1 : INT64_MAX;
    return f->after && f->after < end ? f->after : end;
}

static struct query *add_cursor(struct list *l, const char *const sql[2])
{
    struct query *q = &l->cursors[l->n++].q;
    *q = query_open(l->s, sql[l->f->oldest_first]);
    query_int(q, start_of(l->f));
    return q;
}

static void list_done(struct list *l)
{
    for (unsigned i = 0; i < l->n; i++)
        query_done(&l->cursors[i].q);
}

static bool has_state(const struct job_filter *f, const struct job_row *row)
{
    bool failed = row->state == JOB_FAILED || row->state == JOB_TIMEOUT || row->state == JOB_LOST;
    return !f->states || f->states >> row->state & 1 ||
           (f->failed_since && failed && row->ended >= f->failed_since);
}

static bool matches(const struct job_filter *f, const struct job_row *row)
{
    return has_state(f, row) && (!f->array || row->array == f->array) &&
           (!f->index || (row->array && row->array_index == *f->index)) &&
           (!f->group || !strcmp(row->group_name, f->group)) &&
           (!f->user || !strcmp(row->user, f->user)) && (!f->name || str_glob(f->name, row->name));
}

/* Whether no later row can have an id that the filter wants. */
static bool is_past(const struct job_filter *f, int64_t id)
{
    return f->oldest_first ? f->last && id > f->last : id < f->first;
}

/* Binds the first and the last name that match. The last ends with a byte that is larger than
 * any byte of UTF-8. */
static void bind_names(const struct list *l, struct query *q, char *last)
{
    memcpy(last, l->f->name, l->name_length);
    last[l->name_length] = '\xff';
    query_bytes(q, l->f->name, l->name_length);
    query_bytes(q, last, l->name_length + l->has_wildcard);
}

static int count_names(const struct list *l, char *last, int64_t *n, struct err *err)
{
    AUTO_QUERY struct query q = query_open(l->s, "SELECT count(*) FROM (SELECT 1 FROM job"
                                                 " WHERE name BETWEEN ? AND ? LIMIT ?)");
    bind_names(l, &q, last);
    query_int(&q, FEW_NAMES + 1);
    return query_number(&q, 0, n, err);
}

static void add_state_cursors(struct list *l)
{
    for (enum job_state state = 0; state < JOB_STATE_COUNT; state++) {
        if (l->f->states && !(l->f->states >> state & 1))
            continue;
        const char *const *sql = job_state_over(state) ? (l->f->user ? by_over_user : by_over)
                                                       : (l->f->user ? by_live_user : by_live);
        struct query *q = add_cursor(l, sql);
        query_text(q, job_state_name(state));
        if (l->f->user)
            query_text(q, l->f->user);
    }
    if (l->f->states && l->f->failed_since)
        query_int(add_cursor(l, by_failure), l->f->failed_since);
}

/* Opens the cursors that read the fewest rows. `last` has room for the name. */
static int choose_cursors(struct list *l, char *last, struct err *err)
{
    const struct job_filter *f = l->f;
    int64_t named = INT64_MAX;
    if (f->name && count_names(l, last, &named, err) < 0)
        return -1;
    if (f->array)
        query_int(add_cursor(l, by_array), f->array);
    else if (f->group)
        query_text(add_cursor(l, by_group), f->group);
    else if (named <= FEW_NAMES)
        bind_names(l, add_cursor(l, by_name), last);
    else if (f->user || f->states)
        add_state_cursors(l);
    else
        add_cursor(l, by_id);
    return 0;
}

static int advance(struct cursor *c, struct err *err)
{
    int rc = query_next(&c->q, err);
    c->has_row = rc > 0;
    return rc > 0 ? job_read(&c->q, &c->row, err) : rc;
}

/* The cursor whose row is next; NULL after the last one. */
static struct cursor *first_of(struct list *l)
{
    struct cursor *first = NULL;
    for (unsigned i = 0; i < l->n; i++) {
        struct cursor *c = &l->cursors[i];
        if (c->has_row && (!first || (c->row.id < first->row.id) == l->f->oldest_first))
            first = c;
    }
    return first;
}

static int walk(struct list *l, store_job_fn fn, void *ctx, struct err *err)
{
    for (unsigned i = 0; i < l->n; i++)
        if (advance(&l->cursors[i], err) < 0)
            return -1;
    uint32_t shown = 0;
    for (struct cursor *c; (c = first_of(l)) && !is_past(l->f, c->row.id);) {
        if (matches(l->f, &c->row)) {
            int rc = fn(ctx, &c->row, err);
            if (rc || ++shown == l->f->limit)
                return rc < 0 ? -1 : 0;
        }
        if (advance(c, err) < 0)
            return -1;
    }
    return 0;
}

int store_job_list(struct store *s, const struct job_filter *f, store_job_fn fn, void *ctx,
                   struct err *err)
{
    struct list l = {.s = s, .f = f, .name_length = f->name ? strcspn(f->name, "*?") : 0};
    l.has_wildcard = f->name && f->name[l.name_length];
    AUTO_FREE char *last = xmalloc(l.name_length + 1);
    int rc = choose_cursors(&l, last, err);
    if (rc == 0)
        rc = walk(&l, fn, ctx, err);
    list_done(&l);
    return rc;
}
