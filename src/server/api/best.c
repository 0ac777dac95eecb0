/* Owns the endpoint that ranks the jobs of a group or an array by their metric. */
#include <math.h>
#include <string.h>

#include "model/halving.h"
#include "server/api/call.h"
#include "server/api/job_parameters.h"
#include "server/api/parts.h"
#include "server/jobs/early.h"
#include "server/jobs/find.h"
#include "store/job_list.h"

struct best_view {
    int64_t rank, id;
    const char *name;
    json_t *parameters;
    const char *state, *reason;
    double value, step;
};

static const struct api_member best_members[] = {
    API_INTEGER_OR_NULL(best_view, rank, "From 1, the best; null if it has not told its metric"),
    API_INTEGER(best_view, id, "Number of the job"),
    API_STRING(best_view, name, "Name"),
    API_JSON(best_view, parameters, "JobParameters|null", "Its parameters in a sweep"),
    API_WORD(best_view, state, "JobState", "State"),
    API_STRING(best_view, reason, "Why it ended"),
    API_NUMBER_OR_NULL(best_view, value, "Last value of the metric"),
    API_NUMBER_OR_NULL(best_view, step, "Steps done"),
    {0},
};

static const struct api_schema best_schema = {"RankedJob", .members = best_members};

static const struct api_member goal_words[] = {API_MEMBER("", "min|max", ""), {0}};
static const struct api_schema goal_schema = {"MetricGoal", API_WORDS, .members = goal_words};

static const struct api_member ranking_members[] = {
    API_MEMBER("metric", "string|null", "Metric that the jobs report"),
    API_MEMBER("goal", "MetricGoal", "Whether less or more of it is better"),
    API_MEMBER("members", "integer", "Jobs in the group"),
    API_MEMBER("jobs", "RankedJob[]", "The best first"),
    {0},
};

static const struct api_schema ranking_schema = {"Ranking", .members = ranking_members};

/* The members, and whose they are. */
struct ranking {
    struct yard *y;
    VEC(struct halving_member) members;
    char user[256], metric[32];
    int64_t request; /* of the first member that tells its metric; 0 = none does */
    bool several;    /* users */
};

static struct job_row newest(const struct yard *y, const struct job_row *stored)
{
    const struct live_job *j = yard_live(y, stored->id);
    struct job_row row = j ? j->row : *stored;
    row.command = stored->command;
    row.sweep = stored->sweep;
    return row;
}

static int add_member(void *ctx, const struct job_row *stored, struct err *err)
{
    struct ranking *r = ctx;
    struct job_row row = newest(r->y, stored);
    (void)err;
    if (!r->members.n)
        snprintf(r->user, sizeof r->user, "%s", row.user);
    r->several |= strcmp(r->user, row.user) != 0;
    if (!isnan(row.metric) && !r->request) {
        r->request = row.request;
        snprintf(r->metric, sizeof r->metric, "%s", row.metric_name);
    }
    VEC_PUSH(&r->members, (struct halving_member){row.id, row.metric});
    return 0;
}

enum { BEST_GROUP, BEST_USER, BEST_LIMIT };

static const struct api_query best_query[] = {
    [BEST_GROUP] = {"group", QUERY_TEXT, .help = "Name of a group, or an array as in `select`",
                    .example = "\"sweep1\""},
    [BEST_USER] = {"user", QUERY_TEXT, .help = "Only this user's jobs"},
    [BEST_LIMIT] = {"limit", QUERY_INTEGER, .help = "Jobs in the list", .min = 1, .max = 1000,
                    .fallback = 100},
    {0},
};

/* The group of this name, or else the jobs that the text selects. */
static int find_members(struct ranking *r, const struct api_value *q, struct err *err)
{
    struct job_filter f = {.group = q[BEST_GROUP].text, .user = q[BEST_USER].text};
    struct found found = {0};
    struct err missing;
    if (store_job_list(r->y->store, &f, add_member, r, err) < 0)
        return -1;
    if (r->several)
        return err_set(err, ERR_CONFLICT, "several users have a group '%s'; give the user too",
                       q[BEST_GROUP].text);
    if (r->members.n)
        return 0;
    if (find_jobs(r->y, q[BEST_GROUP].text, &found, &missing) < 0)
        return err_set(err, ERR_NOT_FOUND, "no group and no job '%.100s'", q[BEST_GROUP].text);
    f = (struct job_filter){.user = q[BEST_USER].text};
    find_narrow(&found, &f);
    return store_job_list(r->y->store, &f, add_member, r, err);
}

/* Whether more is better, as the request of one that tells the metric says. */
static int find_goal(const struct ranking *r, bool *rises, struct err *err)
{
    *rises = false;
    if (!r->request)
        return 0;
    struct submission *s = submission_get(&r->y->submissions, r->y->store, r->request, err);
    if (!s)
        return -1;
    *rises = early_rises(&s->spec, r->metric);
    submission_drop(&r->y->submissions, s);
    return 0;
}

struct listing {
    struct ranking *r;
    int64_t rank;
    json_t *jobs;
};

static int add_ranked(void *ctx, const struct job_row *stored, struct err *err)
{
    struct listing *l = ctx;
    struct job_row row = newest(l->r->y, stored);
    struct best_view v = {
        .rank = isnan(row.metric) ? API_NULL : l->rank,
        .id = row.id,
        .name = row.name,
        .parameters = job_parameters(&row, NULL),
        .state = job_state_name(row.state),
        .reason = row.reason,
        .value = row.metric,
        .step = row.step,
    };
    (void)err;
    json_array_append_new(l->jobs, api_print(&best_schema, &v));
    return 0;
}

static int list_ranked(struct ranking *r, uint32_t limit, json_t *jobs, struct err *err)
{
    for (uint32_t i = 0; i < r->members.n && i < limit; i++) {
        struct listing l = {r, i + 1, jobs};
        if (store_job_get(r->y->store, r->members.at[i].job, add_ranked, &l, err) < 0)
            return -1;
    }
    return 0;
}

static void show_best(const struct api_call *c)
{
    struct ranking r = {.y = c->yard};
    struct err err;
    bool rises = false;
    json_auto_t *jobs = json_array();
    if (!c->query[BEST_GROUP].given) {
        api_refuse(c, "group", "give the name of a group");
        return;
    }
    int rc = find_members(&r, c->query, &err);
    if (rc == 0)
        rc = find_goal(&r, &rises, &err);
    if (rc == 0) {
        halving_rank(r.members.at, (uint32_t)r.members.n, rises);
        rc = list_ranked(&r, (uint32_t)c->query[BEST_LIMIT].number, jobs, &err);
    }
    if (rc < 0)
        reply_problem(c->reply, &err, NULL);
    else
        turn_reply(c->yard, c->reply, 200,
                   json_pack("{s:s?, s:s, s:I, s:O}", "metric", r.request ? r.metric : NULL, "goal",
                             rises ? "max" : "min", "members", (json_int_t)r.members.n, "jobs",
                             jobs));
    VEC_DONE(&r.members);
}

static const struct api_schema *const schemas[] = {&goal_schema, &best_schema, &ranking_schema,
                                                   NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "jobs_best",
        .method = "GET",
        .path = API_V1 "/best",
        .handle = show_best,
        .summary = "Rank the jobs of a group by their metric",
        .description = "By the last value that each has reported; jobs without one come last.",
        .query = best_query,
        .replies = {{200, "Ranking", "The jobs"}},
        .errors = {404, 409},
    },
    {0},
};

const struct api_part api_part_best = {"Jobs", endpoints, schemas};
