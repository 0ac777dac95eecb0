/* Owns the search for jobs by number, range, name, pattern or prefix of a name. */
#include "server/jobs/find.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "store/job_list.h"
#include "store/jobs.h"

struct match {
    int64_t id, array;
    uint32_t others;
    struct str names; /* of the candidates */
    char first[128];
};

static int see_exact(void *ctx, const struct job_row *row, struct err *err)
{
    struct match *m = ctx;
    (void)err;
    m->id = row->id;
    m->array = row->array;
    return 1;
}

static int see_prefix(void *ctx, const struct job_row *row, struct err *err)
{
    struct match *m = ctx;
    (void)err;
    if (!m->id) {
        m->id = row->id;
        m->array = row->array;
        snprintf(m->first, sizeof m->first, "%s", row->name);
        str_addf(&m->names, "%s (%lld)", row->name, (long long)row->id);
    } else if (strcmp(m->first, row->name) != 0 && m->others++ < 4) {
        str_addf(&m->names, ", %s (%lld)", row->name, (long long)row->id);
    }
    return 0;
}

static int not_found(const char *text, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "no job '%s'; `trainyard ps --all` lists them", text);
}

/* The newest job of that very name; m->id is 0 when there is none. */
static int find_exact(struct yard *y, const char *name, struct match *m, struct err *err)
{
    struct job_filter filter = {.name = name, .limit = 1};
    return strpbrk(name, "*?") ? 0 : store_job_list(y->store, &filter, see_exact, m, err);
}

static int find_prefix(struct yard *y, const char *text, struct match *m, struct err *err)
{
    enum { LOOK_AT = 200 };
    struct str pattern = {0};
    str_addf(&pattern, "%s*", text);
    struct job_filter filter = {.name = pattern.at, .limit = LOOK_AT};
    int rc = store_job_list(y->store, &filter, see_prefix, m, err);
    str_done(&pattern);
    AUTO_FREE char *names = m->names.at;
    if (rc == 0 && m->others)
        return err_set(err, ERR_CONFLICT, "'%s' is ambiguous: it could be %s%s", text, names,
                       m->others > 4 ? ", ..." : "");
    return rc;
}

static int find_number(struct yard *y, int64_t number, struct match *m, struct err *err)
{
    const struct live_job *j = yard_live(y, number);
    if (j)
        return see_exact(m, &j->row, err) < 0 ? -1 : 0;
    if (store_job_get(y->store, number, see_exact, m, err) == 0)
        return 0;
    return err->code == ERR_NOT_FOUND
               ? err_set(err, ERR_NOT_FOUND, "no job %lld; `trainyard ps --all` lists them",
                         (long long)number)
               : -1;
}

/* ---- members of arrays and ranges ------------------------------------------ */

/* Splits "HEADxINDEX" at the last x, where the index ends the text or is followed by `close`. */
static bool split_index(const char *text, char x, const char *close, char **head, int64_t *index)
{
    const char *at = strrchr(text, x);
    struct err ignored;
    if (!at || at == text || strlen(at + 1) <= strlen(close))
        return false;
    size_t n = strlen(at + 1) - strlen(close);
    AUTO_FREE char *digits = xstrndup(at + 1, n);
    if (strcmp(at + 1 + n, close) != 0 || str_parse_int(digits, 0, INT64_MAX, index, &ignored) < 0)
        return false;
    *head = xstrndup(text, (size_t)(at - text));
    return true;
}

/* Finds 12_3 and NAME[3]. Returns 1, 0 when the text has not that form, or -1. */
static int find_member(struct yard *y, const char *text, struct found *out, struct err *err)
{
    AUTO_FREE char *head = NULL;
    struct match m = {0};
    struct err ignored;
    int64_t number;
    if (split_index(text, '_', "", &head, &out->index) &&
        str_parse_int(head, 1, INT64_MAX, &number, &ignored) == 0) {
        if (find_number(y, number, &m, err) < 0)
            return -1;
    } else {
        free(head);
        head = NULL;
        if (!split_index(text, '[', "]", &head, &out->index))
            return 0;
        if (find_exact(y, head, &m, err) < 0)
            return -1;
        if (!m.id)
            return not_found(head, err);
    }
    if (!m.array)
        return err_set(err, ERR_NOT_FOUND, "job '%s' is not an array, so it has no member %lld",
                       head, (long long)out->index);
    out->array = m.array;
    out->one = true;
    return 1;
}

/* Finds one job, or a member of an array: by number, by name, by what the text looks like
 * otherwise, or by prefix of a name, in this order. */
static int find_one(struct yard *y, const char *text, struct match *m, struct found *member,
                    struct err *err)
{
    struct err ignored;
    int64_t number;
    if (!*text)
        return err_set(err, ERR_INVALID, "the name of the job must not be empty");
    if (str_parse_int(text, 1, INT64_MAX, &number, &ignored) == 0)
        return find_number(y, number, m, err);
    if (find_exact(y, text, m, err) < 0)
        return -1;
    int rc = m->id ? 1 : find_member(y, text, member, err);
    if (rc == 0)
        rc = find_prefix(y, text, m, err);
    if (rc < 0)
        return -1;
    return m->id || member->one ? 0 : not_found(text, err);
}

int find_job(struct yard *y, const char *text, int64_t *id, struct err *err)
{
    struct found member = {0};
    struct match m = {0};
    struct job_filter filter = {.limit = 1};
    if (find_one(y, text, &m, &member, err) < 0)
        return -1;
    find_narrow(&member, &filter);
    if (member.one && store_job_list(y->store, &filter, see_exact, &m, err) < 0)
        return -1;
    *id = m.id;
    return m.id ? 0 : not_found(text, err);
}

/* ---- several --------------------------------------------------------------- */

/* Whether the text is FIRST-LAST; -1 when it cannot be. */
static int read_range(const char *text, struct found *out, struct err *err)
{
    AUTO_FREE char *head = NULL;
    struct err ignored;
    if (!split_index(text, '-', "", &head, &out->last) ||
        str_parse_int(head, 1, INT64_MAX, &out->first, &ignored) < 0)
        return 0;
    if (out->first > out->last)
        return err_set(err, ERR_INVALID, "'%s': the first number is greater than the last", text);
    return 1;
}

/* Reads a range or a pattern, unless a job has that name. 1, 0 when it is neither, or -1. */
static int read_several(struct yard *y, const char *text, struct found *out, struct err *err)
{
    struct match m = {0};
    if (strpbrk(text, "*?")) {
        out->pattern = text;
        return 1;
    }
    if (find_exact(y, text, &m, err) < 0)
        return -1;
    return m.id ? 0 : read_range(text, out, err);
}

int find_jobs(struct yard *y, const char *text, struct found *out, struct err *err)
{
    struct match m = {0};
    *out = (struct found){0};
    int rc = read_several(y, text, out, err);
    if (rc)
        return rc < 0 ? -1 : 0;
    *out = (struct found){0};
    if (find_one(y, text, &m, out, err) < 0)
        return -1;
    if (out->one)
        return 0;
    bool by_number = !text[strspn(text, "0123456789")];
    out->array = by_number && m.array != m.id ? 0 : m.array;
    out->first = out->last = out->array ? 0 : m.id;
    return 0;
}

void find_narrow(const struct found *f, struct job_filter *filter)
{
    filter->array = f->array;
    filter->index = f->one ? &f->index : NULL;
    filter->first = f->first;
    filter->last = f->last;
    if (f->pattern)
        filter->name = f->pattern;
}
