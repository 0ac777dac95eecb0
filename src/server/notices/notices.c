/* Owns the messages: from an event of the yard to rows of the outbox, one for each target.
 *
 * The members of an array are not told one by one: it starts with its first member, fails once,
 * and ends when its last member has. */
#include "server/notices/notices.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "server/events.h"
#include "server/log.h"
#include "server/yard.h"
#include "store/array_count.h"
#include "store/notices.h"
#include "wire/notice.h"

struct message {
    struct yard *y;
    unsigned events; /* bits of what it is about */
    struct str subject, text;
    json_t *job; /* NULL = none */
    char *node;  /* NULL = none */
};

/* ---- the outbox ------------------------------------------------------------ */

static char *print_message(const struct message *m)
{
    char host[256] = "";
    (void)gethostname(host, sizeof host - 1);
    json_auto_t *o =
        json_pack("{s:s, s:f, s:s, s:s, s:s, s:s?, s:O?}", "event",
                  notice_event_name(m->events & NOTICE_FAIL ? NOTICE_FAIL : m->events), "at",
                  time_seconds(clock_wall(&m->y->clock)), "server", host, "subject", m->subject.at,
                  "text", m->text.n ? m->text.at : "", "node", m->node, "job", m->job);
    if (m->y->access.url && m->job)
        json_object_set_new(
            o, "url",
            json_sprintf("%s/#/jobs/%lld", m->y->access.url,
                         (long long)json_integer_value(json_object_get(m->job, "id"))));
    return json_dumps(o, JSON_COMPACT);
}

/* Mail to the job's user, if the target says so. */
static char *resolve(const struct message *m, const char *target)
{
    const char *user = json_string_value(json_object_get(m->job, "user"));
    struct str text = {0};
    if (user && !strcmp(target, "mail:" NOTICE_USER))
        str_addf(&text, "mail:%s", user);
    else
        str_add(&text, target);
    return text.at;
}

static int put(const struct message *m, const char *target, const char *secret, struct err *err)
{
    AUTO_FREE char *text = print_message(m), *to = resolve(m, target);
    usec_t now = clock_wall(&m->y->clock);
    if (!text)
        return err_set(err, ERR_INTERNAL, "the message cannot be written as JSON");
    struct notice_row row = {
        .target = to, .secret = secret, .message = text, .created = now, .due = now};
    if (store_notice_add(m->y->store, &row, err) < 0)
        return -1;
    m->y->notices.fresh = true;
    turn_hurry(m->y);
    return 0;
}

static int put_for_target(void *ctx, const struct target_row *row, struct err *err)
{
    const struct message *m = ctx;
    return (unsigned)row->events & m->events ? put(m, row->target, row->secret, err) : 0;
}

/* To those whom the job names, and to those that its user has. */
static void send_about(const struct message *m, const char *user, const struct spec *s)
{
    unsigned wanted = NOTICE_DEFAULT;
    struct err err;
    if (s && s->notify_on)
        (void)notice_events_parse(s->notify_on, &wanted, &err); /* checked by spec_check() */
    for (uint32_t i = 0; s && wanted & m->events && i < s->notify.n; i++)
        if (put(m, s->notify.at[i], "", &err) < 0)
            log_warning("notice: %s", err.text);
    if (store_target_list(m->y->store, user, put_for_target, (void *)m, &err) < 0)
        log_warning("notice: %s", err.text);
}

static void message_done(struct message *m)
{
    str_done(&m->subject);
    str_done(&m->text);
    json_decref(m->job);
    free(m->node);
}

/* ---- events of jobs -------------------------------------------------------- */

static unsigned events_of_end(const struct live_job *j)
{
    enum job_state state = j->row.state;
    bool failed = state == JOB_FAILED || state == JOB_TIMEOUT || state == JOB_LOST;
    return NOTICE_END | (failed ? NOTICE_FAIL : 0);
}

static unsigned events_of(const char *kind, const struct live_job *j)
{
    static const struct {
        const char *kind;
        unsigned event;
    } kinds[] = {{"job.started", NOTICE_START},
                 {"job.stalled", NOTICE_STALL},
                 {"job.diverged", NOTICE_NAN},
                 {"job.at_risk", NOTICE_DEADLINE}};
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (!strcmp(kind, kinds[i].kind))
            return kinds[i].event;
    return !strcmp(kind, "job.ended") ? events_of_end(j) : 0;
}

/* What of it is news about the array; *count gets its members. */
static unsigned events_of_array(struct yard *y, const struct live_job *j, unsigned events,
                                struct array_count *count)
{
    struct err err;
    if (events & NOTICE_START)
        return j->row.id == j->row.array && j->row.attempt == 1 ? events : 0;
    if (!(events & (NOTICE_END | NOTICE_FAIL)))
        return events;
    if (store_array_count(y->store, j->row.array, count, &err) < 0) {
        log_warning("notice: %s", err.text);
        return events;
    }
    int64_t failed = count->in[JOB_FAILED] + count->in[JOB_TIMEOUT] + count->in[JOB_LOST];
    int64_t over = failed + count->in[JOB_DONE] + count->in[JOB_CANCELLED];
    return (failed == 1 ? events & NOTICE_FAIL : 0) | (over == count->jobs ? NOTICE_END : 0);
}

static json_t *print_job(const struct live_job *j)
{
    const struct job_row *r = &j->row;
    return json_pack("{s:I, s:s, s:s, s:s, s:i, s:s, s:s, s:I, s:o}", "id", (json_int_t)r->id,
                     "name", r->name, "user", r->user, "state", job_state_name(r->state), "code",
                     r->code, "reason", r->reason, "error", r->error, "attempt",
                     (json_int_t)r->attempt, "array",
                     r->array ? json_integer((json_int_t)r->array) : json_null());
}

static void say_what(struct message *m, const struct live_job *j, const struct array_count *array)
{
    const struct job_row *r = &j->row;
    struct str *s = &m->subject;
    if (array->jobs && m->events & NOTICE_END) {
        str_addf(s, "Array %lld (%s) is over: %lld of %lld jobs done", (long long)r->array, r->name,
                 (long long)array->in[JOB_DONE], (long long)array->jobs);
        return;
    }
    str_addf(s, "Job %lld (%s) ", (long long)r->id, r->name);
    if (m->events & NOTICE_START)
        str_addf(s, "has started, attempt %u", r->attempt);
    else if (m->events & NOTICE_STALL)
        str_add(s, "makes no progress any more");
    else if (m->events & NOTICE_NAN)
        str_addf(s, "diverges: its loss is %s", r->diverged);
    else if (m->events & NOTICE_DEADLINE)
        str_add(s, "will most likely miss its deadline");
    else if (m->events & NOTICE_NODE)
        str_addf(s, "is on a node that does not respond: %s", m->node);
    else if (r->state == JOB_DONE)
        str_add(s, "is done");
    else
        str_addf(s, "%s%s",
                 r->state == JOB_FAILED ? "has " : "is over: ", job_state_name(r->state));
}

static void say_more(struct message *m, const struct live_job *j)
{
    const struct job_row *r = &j->row;
    struct str *t = &m->text;
    str_addf(t, "User: %s\n", r->user);
    if (m->events & NOTICE_END && r->code >= 0)
        str_addf(t, "Exit code: %d\n", r->code);
    if (r->reason[0])
        str_addf(t, "Reason: %s\n", r->reason);
    if (r->error[0])
        str_addf(t, "Error: %s\n", r->error);
    if (r->step >= 0)
        str_addf(t, "Step: %.0f\n", r->step);
    if (r->total > 0)
        str_addf(t, "Of: %.0f\n", r->total);
    if (m->y->access.url)
        str_addf(t, "%s/#/jobs/%lld\n", m->y->access.url, (long long)r->id);
}

static void tell_about_job(struct yard *y, const struct live_job *j, unsigned events,
                           const char *node)
{
    struct array_count array = {0};
    struct message m = {.y = y, .events = events, .node = node ? xstrdup(node) : NULL};
    if (j->row.array)
        m.events = events_of_array(y, j, events, &array);
    if (m.events) {
        m.job = print_job(j);
        say_what(&m, j, &array);
        say_more(&m, j);
        send_about(&m, j->row.user, &j->submission->spec);
    }
    message_done(&m);
}

/* ---- events of nodes ------------------------------------------------------- */

/* Those who have jobs there, and those who want to know of all. */
static void tell_about_node(struct yard *y, const char *json)
{
    json_auto_t *event = json_loads(json, 0, NULL);
    const char *name = json_string_value(json_object_get(event, "node"));
    bool told = false;
    for (const struct live_job *j = y->jobs.first; name && j; j = j->next)
        if (j->attempt && !strcmp(y->nodes.at[j->attempt->node].name, name)) {
            tell_about_job(y, j, NOTICE_NODE, name);
            told = true;
        }
    if (!name || told)
        return;
    struct message m = {.y = y, .events = NOTICE_NODE, .node = xstrdup(name)};
    str_addf(&m.subject, "Node %s does not respond", name);
    str_add(&m.text, "No job runs there.\n");
    send_about(&m, "*", NULL);
    message_done(&m);
}

void notices_event(struct yard *y, const char *kind, int64_t job, const char *json)
{
    if (!strcmp(kind, "node.lost")) {
        tell_about_node(y, json);
        return;
    }
    const struct live_job *j = job ? yard_live(y, job) : NULL;
    unsigned events = j ? events_of(kind, j) : 0;
    if (events)
        tell_about_job(y, j, events, NULL);
}

int notices_test(struct yard *y, const struct target_row *target, struct err *err)
{
    struct message m = {.y = y, .events = NOTICE_END};
    str_add(&m.subject, "Trainyard can reach you");
    str_add(&m.text, "This is a test of a notification.\n");
    int rc = put(&m, target->target, target->secret, err);
    message_done(&m);
    return rc;
}
