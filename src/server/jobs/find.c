/* Owns the search for a job by number, name or prefix of a name. */
#include "server/jobs/find.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "store/job_list.h"
#include "store/jobs.h"

struct match {
    int64_t id;
    uint32_t others;
    struct str names; /* of the candidates */
    char first[128];
};

static int see_exact(void *ctx, const struct job_row *row, struct err *err)
{
    struct match *m = ctx;
    (void)err;
    m->id = row->id;
    return 1;
}

static int see_prefix(void *ctx, const struct job_row *row, struct err *err)
{
    struct match *m = ctx;
    (void)err;
    if (!m->id) {
        m->id = row->id;
        snprintf(m->first, sizeof m->first, "%s", row->name);
        str_addf(&m->names, "%s (%lld)", row->name, (long long)row->id);
    } else if (strcmp(m->first, row->name) != 0 && m->others++ < 4) {
        str_addf(&m->names, ", %s (%lld)", row->name, (long long)row->id);
    }
    return 0;
}

static int find_named(struct yard *y, const char *text, int64_t *id, struct err *err)
{
    enum { LOOK_AT = 200 };
    struct str prefix = {0};
    str_addf(&prefix, "%s*", text);
    AUTO_FREE char *pattern = prefix.at;
    struct job_filter exact = {.name = text, .limit = 1};
    struct job_filter like = {.name = pattern, .limit = LOOK_AT};
    struct match m = {0};
    if (!strchr(text, '*') && store_job_list(y->store, &exact, see_exact, &m, err) < 0)
        return -1;
    if (!m.id && store_job_list(y->store, &like, see_prefix, &m, err) < 0)
        return -1;
    AUTO_FREE char *names = m.names.at;
    if (!m.id)
        return err_set(err, ERR_NOT_FOUND, "no job '%s'; `trainyard ps --all` lists them", text);
    if (m.others)
        return err_set(err, ERR_CONFLICT, "'%s' is ambiguous: it could be %s%s", text, names,
                       m.others > 4 ? ", ..." : "");
    *id = m.id;
    return 0;
}

int find_job(struct yard *y, const char *text, int64_t *id, struct err *err)
{
    struct match m = {0};
    struct err ignored;
    int64_t number;
    if (str_parse_int(text, 1, INT64_MAX, &number, &ignored) < 0)
        return *text ? find_named(y, text, id, err)
                     : err_set(err, ERR_INVALID, "the name of the job must not be empty");
    if (!yard_live(y, number) && store_job_get(y->store, number, see_exact, &m, err) < 0) {
        if (err->code == ERR_NOT_FOUND)
            err_set(err, ERR_NOT_FOUND, "no job %s; `trainyard ps --all` lists them", text);
        return -1;
    }
    *id = number;
    return 0;
}
