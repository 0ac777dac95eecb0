/* Owns the members of the conductors' messages. */
#include "protocol/to_server.h"

#include <jansson.h>
#include <string.h>

#include "protocol/launch_spec.h"

#define MEMBER(type, name) offsetof(struct type, name)
/* Microseconds, bounded so that the sum of two cannot overflow. */
#define TIME FIELD_I64
#define ANY_TIME 0, USEC_LIMIT

/* clang-format off */
static const struct field hello_members[] = {
    {"version", FIELD_I32 | FIELD_OPTIONAL, MEMBER(hello_message, version), 1, INT32_MAX, NULL},
    {"job", FIELD_I64, MEMBER(hello_message, job), 0, INT64_MAX, NULL},
    {"attempt", FIELD_I64, MEMBER(hello_message, attempt), 0, UINT32_MAX, NULL},
    {"token", FIELD_TEXT, MEMBER(hello_message, token), 1, 0, NULL},
    {"pid", FIELD_I64, MEMBER(hello_message, pid), 0, INT64_MAX, NULL},
    {"started_us", TIME, MEMBER(hello_message, started), ANY_TIME, NULL},
    {"seq", FIELD_I64, MEMBER(hello_message, seq), 0, INT64_MAX, NULL},
    {"cpus", FIELD_NUMBER, MEMBER(hello_message, cpus), 0, CPUS_NUMBER_MAX, NULL},
    {0},
};
static const struct field started_members[] = {
    {"pid", FIELD_I64, MEMBER(started_message, pid), 0, INT64_MAX, NULL},
    {"at_us", TIME, MEMBER(started_message, at), ANY_TIME, NULL},
    {0},
};
static const struct field progress_members[] = {
    {"seq", FIELD_I64, MEMBER(progress_message, seq), 1, INT64_MAX, NULL},
    {"at_us", TIME, MEMBER(progress_message, at), ANY_TIME, NULL},
    {"report", FIELD_INLINE, MEMBER(progress_message, report), 0, 0, &progress_report_record},
    {"metrics", FIELD_NUMBERS | FIELD_OPTIONAL, MEMBER(progress_message, metrics), 0, 0, NULL},
    {"weak", FIELD_FLAG | FIELD_OPTIONAL, MEMBER(progress_message, weak), 0, 0, NULL},
    {"diverged", FIELD_FLAG | FIELD_OPTIONAL, MEMBER(progress_message, diverged), 0, 0, NULL},
    {0},
};
static const struct field usage_members[] = {
    {"at_us", TIME, MEMBER(usage_message, at), ANY_TIME, NULL},
    {"usage", FIELD_INLINE, MEMBER(usage_message, usage), 0, 0, &usage_record},
    {"saves", FIELD_FLAG | FIELD_OPTIONAL, MEMBER(usage_message, saves), 0, 0, NULL},
    {0},
};
static const struct field warning_members[] = {
    {"text", FIELD_TEXT, MEMBER(warning_message, text), 1, 0, NULL},
    {0},
};
static const struct field ok_members[] = {
    {"id", FIELD_I64, MEMBER(ok_message, id), 0, INT64_MAX, NULL},
    {0},
};
static const struct field error_members[] = {
    {"id", FIELD_I64, MEMBER(error_message, id), 0, INT64_MAX, NULL},
    {"text", FIELD_TEXT, MEMBER(error_message, text), 1, 0, NULL},
    {0},
};
static const struct field applied_members[] = {
    {"id", FIELD_I64 | FIELD_OPTIONAL, MEMBER(applied_message, id), 0, INT64_MAX, NULL},
    {"cpus", FIELD_NUMBER, MEMBER(applied_message, cpus), 0, CPUS_NUMBER_MAX, NULL},
    {"threads", FIELD_I64, MEMBER(applied_message, threads), 0, UINT32_MAX, NULL},
    {"in_us", TIME | FIELD_OPTIONAL, MEMBER(applied_message, in), ANY_TIME, NULL},
    {"regions", FIELD_I64 | FIELD_OPTIONAL, MEMBER(applied_message, regions), 0, INT64_MAX, NULL},
    {"late", FIELD_FLAG | FIELD_OPTIONAL, MEMBER(applied_message, late), 0, 0, NULL},
    {"misfit", FIELD_TEXT | FIELD_OPTIONAL, MEMBER(applied_message, misfit), 0, 0, NULL},
    {0},
};
static const struct field restarted_members[] = {
    {"incarnation", FIELD_I64, MEMBER(restarted_message, incarnation), 0, INT64_MAX, NULL},
    {"cpus", FIELD_NUMBER, MEMBER(restarted_message, cpus), 0, CPUS_NUMBER_MAX, NULL},
    {"pause_us", TIME, MEMBER(restarted_message, pause), ANY_TIME, NULL},
    {0},
};
static const struct field lease_members[] = {
    {"asked_us", TIME, MEMBER(lease_request, asked), ANY_TIME, NULL},
    {0},
};
/* clang-format on */

/* Defaults of optional members. */
static const struct hello_message hello_defaults = {.version = 1};
static const struct started_message started_defaults = {0};
static const struct progress_message progress_defaults = {.report = PROGRESS_REPORT_UNKNOWN};
static const struct usage_message usage_defaults = {.usage = USAGE_UNKNOWN};
static const struct warning_message warning_defaults = {0};
static const struct ok_message ok_defaults = {0};
static const struct error_message error_defaults = {0};
static const struct applied_message applied_defaults = {.id = -1, .in = -1, .regions = -1};
static const struct restarted_message restarted_defaults = {0};
static const struct lease_request lease_defaults = {0};

#define BODY(name)                                                                                 \
    static const struct record record_of_##name = {name##_members, sizeof name##_defaults,         \
                                                   &name##_defaults}
BODY(hello);
BODY(started);
BODY(progress);
BODY(usage);
BODY(warning);
BODY(ok);
BODY(error);
BODY(applied);
BODY(restarted);
BODY(lease);

const struct message_kind to_server_kinds[TO_SERVER_BAD] = {
#define X(upper, lower) [TO_SERVER_##upper] = {#lower, &record_of_##lower},
    TO_SERVER_KINDS(X)
#undef X
};

void to_server_encode(const struct to_server *m, struct str *out)
{
    message_encode(&to_server_kinds[m->kind], NULL, NULL, &m->hello, out);
}

int to_server_decode(const char *line, size_t n, struct arena *a, struct to_server *out,
                     struct err *err)
{
    struct err why;
    json_t *object;
    if (message_parse(line, n, &object, err) < 0)
        return -1;
    int kind = message_decode(to_server_kinds, TO_SERVER_BAD, object, a, &out->hello, &why);
    out->kind = kind < 0 ? TO_SERVER_BAD : (enum to_server_kind)kind;
    if (kind < 0)
        memcpy(out->problem, why.text, sizeof out->problem);
    json_decref(object);
    return 0;
}
