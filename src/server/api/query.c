/* Owns the parsing of query parameters: each must be known, given once, and of its type. */
#include "server/api/query.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "server/jobs/find.h"
#include "wire/value.h"

static const char *query_name(const void *ctx, size_t i)
{
    return ((const struct api_query *)ctx)[i].name;
}

/* Returns NULL and an error if the parameter is unknown. */
static const struct api_query *find_parameter(const struct endpoint *e, const char *name,
                                              struct err *err)
{
    size_t n = 0;
    for (; e->query && e->query[n].name; n++)
        if (!strcmp(e->query[n].name, name))
            return &e->query[n];
    (void)api_refuse_unknown("parameter", name, n, query_name, e->query, err);
    return NULL;
}

static const char *word_at(const void *ctx, size_t i)
{
    return ((const char *const *)ctx)[i];
}

/* Refuses a word that is not in "first|second|third", and suggests the nearest. */
static int refuse_word(const char *words, const char *word, struct err *err)
{
    char shown[VALUE_SHOWN], text[256], *at[32];
    size_t n = 0;
    snprintf(text, sizeof text, "%s", words);
    for (char *rest = text, *p; n < COUNT_OF(at) && (p = strsep(&rest, "|"));)
        at[n++] = p;
    const char *near = str_nearest(word, n, word_at, at);
    value_show(word, shown);
    if (near)
        return err_set(err, ERR_INVALID, "unknown value '%s'; did you mean '%s'?", shown, near);
    return err_set(err, ERR_INVALID, "unknown value '%s'; expected one of %s", shown, words);
}

static int read_word(const char *words, const char *word, int64_t *out, struct err *err)
{
    unsigned index;
    if (value_choice(words, word, &index, NULL) < 0)
        return refuse_word(words, word, err);
    *out = index;
    return 0;
}

static int read_set(const char *words, const char *text, int64_t *out, struct err *err)
{
    int64_t bits = 0, index = 0;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, ",");
        AUTO_FREE char *word = xstrndup(p, n);
        if (read_word(words, word, &index, err) < 0)
            return -1;
        bits |= INT64_C(1) << index;
        p += n + (p[n] == ',');
    }
    if (!bits)
        return err_set(err, ERR_INVALID, "must not be empty; expected some of %s", words);
    *out = bits;
    return 0;
}

static int check_ids(const char *text, struct err *err)
{
    for (const char *p = text; *p || p == text;) {
        size_t n = strcspn(p, ",");
        AUTO_FREE char *word = xstrndup(p, n);
        int64_t id;
        if (str_parse_int(word, 1, INT64_MAX, &id, err) < 0)
            return -1;
        p += n + (p[n] == ',');
    }
    return 0;
}

static int read_flag(const char *text, int64_t *out, struct err *err)
{
    bool flag;
    if (value_flag(text, &flag, err) < 0)
        return -1;
    *out = flag;
    return 0;
}

static int read_value(struct yard *y, const struct api_query *q, struct api_value *v,
                      struct err *err)
{
    switch (q->type) {
    case QUERY_INTEGER:
        return str_parse_int(v->text, q->min, q->max, &v->number, err);
    case QUERY_FLAG:
        return read_flag(v->text, &v->number, err);
    case QUERY_CHOICE:
        return read_word(q->words, v->text, &v->number, err);
    case QUERY_SET:
        return read_set(q->words, v->text, &v->number, err);
    case QUERY_JOB:
        return find_job(y, v->text, &v->number, err);
    case QUERY_IDS:
        return check_ids(v->text, err);
    case QUERY_TEXT:
        break;
    }
    return 0;
}

/* Parses one parameter of the query into its place. */
static int read_parameter(const struct endpoint *e, struct yard *y, const struct url_pair *pair,
                          struct api_value *out, struct err *err)
{
    const struct api_query *q = find_parameter(e, pair->name, err);
    if (!q)
        return -1;
    struct api_value *v = &out[q - e->query];
    if (v->given)
        return err_set(err, ERR_INVALID, "%s: given more than once", q->name);
    v->given = true;
    v->text = pair->value;
    if (read_value(y, q, v, err) == 0)
        return 0;
    /* find_job() names the job. */
    return q->type == QUERY_JOB ? -1 : err_prefix(err, "%s", q->name);
}

int api_query_read(const struct endpoint *e, struct yard *y, const struct url_query *query,
                   struct api_value out[API_QUERIES], const char **field, struct err *err)
{
    for (size_t i = 0; e->query && e->query[i].name; i++)
        out[i] = (struct api_value){.number = e->query[i].fallback};
    for (size_t i = 0; i < query->n; i++) {
        *field = query->at[i].name;
        if (read_parameter(e, y, &query->at[i], out, err) < 0)
            return -1;
    }
    return 0;
}
