/* Owns the query for a list of jobs and the loop over its pages. */
#include "cli/job_list.h"

#include <string.h>

#include "base/mem.h"
#include "cli/member.h"
#include "http/url.h"
#include "store/job_state.h"

enum { PAGE = 500 };

static void add_filter(struct str *path, const char *name, const char *value)
{
    if (!value)
        return;
    str_addf(path, "&%s=", name);
    url_add_escaped(path, value);
}

static void add_query(const struct job_list_query *q, size_t page, struct str *path)
{
    str_addf(path, "/jobs?limit=%zu&order=%s", page, q->newest ? "newest" : "oldest");
    if (!q->all && !q->state)
        str_addf(path, "&active=1&failed=%d", q->failed);
    if (q->fold)
        str_add(path, "&fold=1");
    add_filter(path, "select", q->select);
    add_filter(path, "state", q->state);
    add_filter(path, "name", q->name);
    add_filter(path, "user", q->user);
}

/* The cursor is text or a number that only the server understands. */
static void add_cursor(const json_t *cursor, struct str *path)
{
    if (json_is_string(cursor))
        add_filter(path, "after", json_string_value(cursor));
    else if (json_is_integer(cursor))
        str_addf(path, "&after=%lld", (long long)json_integer_value(cursor));
}

/* Adds one page to the list; *cursor becomes that of the next page, NULL at the end. */
static int get_page(struct server_link *l, const struct job_list_query *q, json_t *list,
                    json_t **cursor, struct err *err)
{
    size_t left = q->limit ? q->limit - json_array_size(list) : PAGE;
    json_auto_t *page = NULL;
    struct str path = {0};
    add_query(q, left < PAGE ? left : PAGE, &path);
    add_cursor(*cursor, &path);
    int rc = server_link_get(l, path.at, &page, err);
    str_done(&path);
    if (rc < 0)
        return -1;
    json_t *jobs = json_object_get(page, "jobs");
    if (!json_is_array(jobs))
        return err_set(err, ERR_INTERNAL, "the server did not reply with a list of jobs");
    json_array_extend(list, jobs);
    json_decref(*cursor);
    *cursor = member_has(page, "next") && json_array_size(jobs)
                  ? json_incref(json_object_get(page, "next"))
                  : NULL;
    return 0;
}

int job_list_get(struct server_link *l, const struct job_list_query *q, json_t **out, bool *more,
                 struct err *err)
{
    json_t *list = json_array(), *cursor = NULL;
    int rc;
    do
        rc = get_page(l, q, list, &cursor, err);
    while (rc == 0 && cursor && (!q->limit || json_array_size(list) < q->limit));
    if (rc < 0) {
        json_decref(list);
    } else {
        *out = list;
        if (more)
            *more = cursor != NULL;
    }
    json_decref(cursor);
    return rc;
}

/* "held, queued, ..." */
#define X(name, text, over) ", " text
static const char all_states[] = JOB_STATES(X);
#undef X

/* The server would also refuse them, but cannot name the option. */
int job_list_check_states(const char *states, struct err *err)
{
    const char *known = all_states + strlen(", ");
    if (!states[strspn(states, ",")])
        return err_set(err, ERR_INVALID, "--state: must not be empty; expected some of %s", known);
    for (const char *p = states; *p;) {
        size_t n = strcspn(p, ",");
        AUTO_FREE char *word = xstrndup(p, n);
        if (job_state_parse(word) < 0)
            return err_set(err, ERR_INVALID, "--state: unknown state '%.40s'; expected some of %s",
                           word, known);
        p += n + (p[n] == ',');
    }
    return 0;
}
