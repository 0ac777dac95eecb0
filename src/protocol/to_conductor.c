/* Owns the members of the server's messages. */
#include "protocol/to_conductor.h"

#include <jansson.h>
#include <string.h>

enum { CPUSET_MAX = 1023, REASON_MAX = 255 };

#define MEMBER(type, name) offsetof(struct type, name)
#define BODY(name)                                                                                 \
    static const struct record record_of_##name = {name##_members, sizeof name##_defaults,         \
                                                   &name##_defaults}

/* clang-format off */
static const struct field welcome_members[] = {
    {"version", FIELD_I32 | FIELD_OPTIONAL, MEMBER(welcome_message, version), 1, INT32_MAX, NULL},
    {"seq", FIELD_I64 | FIELD_OPTIONAL, MEMBER(welcome_message, seq), 0, INT64_MAX, NULL},
    {0},
};
static const struct field refused_members[] = {
    {"text", FIELD_TEXT | FIELD_OPTIONAL, MEMBER(refused_message, text), 0, 0, NULL},
    {0},
};
static const struct field ack_members[] = {
    {"what", FIELD_WORD, MEMBER(ack_message, what), 0, 0, "exit"},
    {"stay", FIELD_FLAG | FIELD_OPTIONAL, MEMBER(ack_message, stay), 0, 0, NULL},
    {0},
};
static const struct field signal_members[] = {
    {"number", FIELD_I32, MEMBER(signal_message, number), 1, SIGNAL_NUMBER_MAX, NULL},
    {"to", FIELD_WORD | FIELD_OPTIONAL, MEMBER(signal_message, reach), 0, 0, REACH_WORDS},
    {0},
};
static const struct field stop_members[] = {
    {"grace_s", FIELD_SECONDS | FIELD_OPTIONAL, MEMBER(stop_message, grace), 0, 0, NULL},
    {"signal", FIELD_I32 | FIELD_OPTIONAL, MEMBER(stop_message, signal), 1, SIGNAL_NUMBER_MAX, NULL},
    {"to", FIELD_WORD | FIELD_OPTIONAL, MEMBER(stop_message, reach), 0, 0, REACH_WORDS},
    {"reason", FIELD_TEXT | FIELD_OPTIONAL, MEMBER(stop_message, reason), 0, REASON_MAX, NULL},
    {0},
};
#define STOP_DEFAULTS {.grace = USEC_NEVER, .reach = REACH_ALL}
static const struct stop_message stop_defaults = STOP_DEFAULTS;
BODY(stop);

static const struct field resize_members[] = {
    {"cpus", FIELD_NUMBER, MEMBER(resize_message, cpus), 0, CPUS_NUMBER_MAX, NULL},
    {"threads", FIELD_I64 | FIELD_OPTIONAL, MEMBER(resize_message, threads), 1, INT32_MAX, NULL},
    {"cpuset_os", FIELD_TEXT | FIELD_OPTIONAL, MEMBER(resize_message, cpuset), 0, CPUSET_MAX, NULL},
    {0},
};
static const struct field restart_members[] = {
    {"cpus", FIELD_NUMBER, MEMBER(restart_message, cpus), 0, CPUS_NUMBER_MAX, NULL},
    {"cpuset_os", FIELD_TEXT | FIELD_OPTIONAL, MEMBER(restart_message, cpuset), 0, CPUSET_MAX, NULL},
    {"env", FIELD_PAIRS | FIELD_OPTIONAL, MEMBER(restart_message, env), 0, 0, NULL},
    {"stop", FIELD_INLINE, MEMBER(restart_message, stop), 0, 0, &record_of_stop},
    {0},
};
static const struct field limit_members[] = {
    {"time_limit_s", FIELD_SECONDS | FIELD_OPTIONAL, MEMBER(limit_message, time_limit), 0, 0, NULL},
    {0},
};
static const struct field lease_members[] = {
    {"asked_us", FIELD_I64, MEMBER(lease_message, asked), 0, USEC_LIMIT, NULL},
    {"lease_s", FIELD_SECONDS, MEMBER(lease_message, length), 0, 0, NULL},
    {0},
};
static const struct field next_members[] = {
    {"directory", FIELD_TEXT, MEMBER(next_message, directory), 1, 0, NULL},
    {0},
};
static const struct field head_members[] = {
    {"id", FIELD_I64 | FIELD_OPTIONAL, MEMBER(to_conductor, id), 0, INT64_MAX, NULL},
    {0},
};
/* clang-format on */

/* Defaults of optional members. */
static const struct welcome_message welcome_defaults = {.version = 1, .seq = -1};
static const struct refused_message refused_defaults = {0};
static const struct ack_message ack_defaults = {0};
static const struct signal_message signal_defaults = {.reach = REACH_GROUP};
static const struct resize_message resize_defaults = {0};
static const struct restart_message restart_defaults = {.stop = STOP_DEFAULTS};
static const struct limit_message limit_defaults = {.time_limit = USEC_NEVER};
static const struct lease_message lease_defaults = {0};
static const struct next_message next_defaults = {0};
static const struct to_conductor head_defaults = {.id = -1};

BODY(welcome);
BODY(refused);
BODY(ack);
BODY(signal);
BODY(resize);
BODY(restart);
BODY(limit);
BODY(lease);
BODY(next);
BODY(head);
static const struct field no_members[] = {{0}};
static const struct record record_of_freeze = {no_members, 0, ""};
static const struct record record_of_thaw = {no_members, 0, ""};

const struct message_kind to_conductor_kinds[TO_CONDUCTOR_BAD] = {
#define X(upper, lower) [TO_CONDUCTOR_##upper] = {#lower, &record_of_##lower},
    TO_CONDUCTOR_KINDS(X)
#undef X
};

void to_conductor_encode(const struct to_conductor *m, struct str *out)
{
    message_encode(&to_conductor_kinds[m->kind], &record_of_head, m, &m->welcome, out);
}

static int check(const struct to_conductor *m, struct err *err)
{
    bool sized = m->kind == TO_CONDUCTOR_RESIZE || m->kind == TO_CONDUCTOR_RESTART;
    double cpus = m->kind == TO_CONDUCTOR_RESTART ? m->restart.cpus : m->resize.cpus;
    return !sized || cpus > 0 ? 0 : err_set(err, ERR_INVALID, "cpus must be a number above 0");
}

static int decode(const json_t *object, struct arena *a, struct to_conductor *m, struct err *err)
{
    if (record_decode(&record_of_head, object, a, m, err) < 0)
        return -1;
    int kind = message_decode(to_conductor_kinds, TO_CONDUCTOR_BAD, object, a, &m->welcome, err);
    if (kind < 0)
        return -1;
    m->kind = (enum to_conductor_kind)kind;
    return check(m, err) < 0 ? err_prefix(err, "%s", to_conductor_kinds[kind].name) : 0;
}

int to_conductor_decode(const char *line, size_t n, struct arena *a, struct to_conductor *out,
                        struct err *err)
{
    struct to_conductor m = head_defaults;
    struct err why;
    json_t *object;
    if (message_parse(line, n, &object, err) < 0)
        return -1;
    if (decode(object, a, &m, &why) < 0) {
        m.kind = TO_CONDUCTOR_BAD;
        memcpy(m.problem, why.text, sizeof m.problem);
    }
    json_decref(object);
    *out = m;
    return 0;
}
