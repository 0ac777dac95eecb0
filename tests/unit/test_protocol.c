/* Messages, specifications and exit records: what is read from good ones, what is said of
 * bad ones, and that each of their members survives both ways. More bad ones are in
 * tests/conductor/inputs.py and links.py; what earlier versions wrote is in
 * tests/conductor/recorded. */
#include <jansson.h>
#include <signal.h>

#include "protocol/launch_spec.h"
#include "protocol/lines.h"
#include "protocol/to_conductor.h"
#include "protocol/to_server.h"
#include "support/random_record.h"
#include "support/test.h"

/* ---- spec.json ---------------------------------------------------------------- */

#define REQUIRED                                                                                   \
    "\"job\":12,\"attempt\":2,\"command\":[\"a\",\"b c\"],\"workdir\":\"/w\","                     \
    "\"env\":{\"K\":\"v=1\",\"E\":\"\"},\"socket\":\"/s\",\"token\":\"t\""

static int parse(const char *text, struct arena *a, struct launch_spec *s, struct str *unknown,
                 struct err *err)
{
    return launch_spec_parse(text, strlen(text), a, s, unknown, err);
}

static void all_of_a_specification(void **state)
{
    (void)state;
    struct arena a = {0};
    struct launch_spec s;
    struct str unknown = {0};
    struct err e;
    assert_ok(parse("{" REQUIRED
                    ",\"name\":\"n\",\"cgroup\":[{\"path\":\"/c\",\"procs\":\"tasks\"},"
                    "{\"path\":\"/d\"}],\"cpus\":1.5,\"cpuset_os\":\"0-1\",\"gpus\":[\"GPU-8a5b\"],"
                    "\"nice\":-3,\"log_max_bytes\":1000,\"log_keep\":7,\"grace_s\":1.5,"
                    "\"time_limit_s\":60,\"signal\":{\"number\":10,\"before_s\":5,\"to\":\"all\"},"
                    "\"checkpoint_signal\":12,\"progress\":{\"pattern\":\"p\",\"total\":9},"
                    "\"sample_s\":0,\"linger_s\":3,\"kill_wait_s\":4,"
                    "\"malleable\":{\"threads\":2,\"processors\":3,\"library\":\"/l\"}}",
                    &a, &s, &unknown, &e),
              e);
    assert_int_equal(unknown.n, 0);
    assert_true(s.job == 12 && s.attempt == 2 && s.nice == -3 && s.log_keep == 7);
    assert_string_equal(s.command[1], "b c");
    assert_null(s.command[2]);
    assert_string_equal(s.env[0], "K=v=1");
    assert_string_equal(s.env[1], "E=");
    assert_null(s.env[2]);
    assert_int_equal(s.cgroups.n, 2);
    assert_string_equal(s.cgroups.at[0].procs, "tasks");
    assert_string_equal(s.cgroups.at[1].procs, "cgroup.procs");
    assert_string_equal(s.cpuset, "0-1");
    assert_string_equal(s.gpus[0], "GPU-8a5b");
    assert_int_equal(s.grace, 1500000);
    assert_int_equal(s.time_limit, 60 * USEC_PER_SEC);
    assert_true(s.warning.signal == 10 && s.warning.before == 5 * USEC_PER_SEC);
    assert_int_equal(s.warning.reach, REACH_ALL);
    assert_int_equal(s.checkpoint_signal, 12);
    assert_string_equal(s.progress.pattern, "p");
    assert_int_equal(s.progress.total, 9);
    assert_true(s.sample == 0 && s.linger == 3 * USEC_PER_SEC && s.patience == 4 * USEC_PER_SEC);
    assert_true(s.malleable.threads == 2 && s.malleable.processors == 3);
    assert_string_equal(s.malleable.library, "/l");
    arena_done(&a);
}

/* What an absent member means is part of the protocol: it must not change. */
static void specification_that_says_little(void **state)
{
    (void)state;
    struct arena a = {0};
    struct launch_spec s;
    struct str unknown = {0};
    struct err e;
    assert_ok(
        parse("{" REQUIRED ",\"signal\":{\"number\":10},\"x\":1,\"y\":{}}", &a, &s, &unknown, &e),
        e);
    assert_string_equal(unknown.at, "x y");
    assert_int_equal(s.time_limit, USEC_NEVER);
    assert_int_equal(s.grace, 60 * USEC_PER_SEC);
    assert_int_equal(s.sample, USEC_PER_SEC);
    assert_int_equal(s.linger, 600 * USEC_PER_SEC);
    assert_int_equal(s.patience, 60 * USEC_PER_SEC);
    assert_int_equal(s.log_max_bytes, 100 << 20);
    assert_int_equal(s.log_keep, 3);
    assert_int_equal(s.checkpoint_signal, SIGTERM);
    assert_int_equal(s.warning.reach, REACH_GROUP);
    assert_true(!s.cpuset && !s.gpus && !s.name && !s.cgroups.n && !s.nice);
    assert_true(!s.malleable.threads && !s.progress.pattern);
    str_done(&unknown);
    arena_done(&a);
}

static void bad_specifications_are_explained(void **state)
{
    (void)state;
    struct arena a = {0};
    struct launch_spec s;
    struct str unknown = {0};
    struct err e;
    assert_error(parse("{" REQUIRED ",}", &a, &s, &unknown, &e), e, ERR_INVALID, "line 1, column");
    assert_error(parse("{\"job\":1}", &a, &s, &unknown, &e), e, ERR_INVALID, "attempt is missing");
    assert_error(parse("{" REQUIRED ",\"nice\":30}", &a, &s, &unknown, &e), e, ERR_INVALID,
                 "spec.json: nice must be a whole number from -20 to 19");
    assert_int_equal(unknown.n, 0);
    arena_done(&a);
}

static void variables(void **state)
{
    (void)state;
    struct arena a = {0};
    struct launch_spec s;
    char name[16], value[16];
    launch_spec_init(&s);
    assert_null(launch_spec_get(&s, "N1"));
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 100; i++) {
            snprintf(name, sizeof name, "N%d", i);
            launch_spec_set(&s, &a, name, "%d", i + round);
        }
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "N%d", i);
        snprintf(value, sizeof value, "%d", i + 1);
        assert_string_equal(launch_spec_get(&s, name), value);
    }
    assert_null(s.env[100]);
    launch_spec_put(&s, &a, "N1=x=y");
    assert_string_equal(s.env[1], "N1=x=y");
    assert_null(launch_spec_get(&s, "N"));
    arena_done(&a);
}

/* ---- to the conductor --------------------------------------------------------- */

static struct arena texts;

static int drop_texts(void **state)
{
    (void)state;
    arena_done(&texts);
    return 0;
}

static struct to_conductor command(const char *line)
{
    struct to_conductor m;
    struct err e;
    assert_ok(to_conductor_decode(line, strlen(line), &texts, &m, &e), e);
    return m;
}

static void commands(void **state)
{
    (void)state;
    struct to_conductor m = command("{\"type\":\"welcome\"}");
    assert_int_equal(m.kind, TO_CONDUCTOR_WELCOME);
    assert_true(m.welcome.seq == -1 && m.welcome.version == 1 && m.id == -1);
    m = command("{\"type\":\"welcome\",\"version\":2,\"seq\":7}");
    assert_true(m.welcome.seq == 7 && m.welcome.version == 2);
    m = command("{\"type\":\"stop\",\"id\":3}");
    assert_int_equal(m.kind, TO_CONDUCTOR_STOP);
    assert_true(m.id == 3 && !m.stop.signal && m.stop.grace == USEC_NEVER && !m.stop.reason);
    assert_int_equal(m.stop.reach, REACH_ALL);
    m = command("{\"type\":\"stop\",\"grace_s\":0,\"signal\":9,\"reason\":\"cancel\","
                "\"to\":\"leader\"}");
    assert_true(m.stop.grace == 0 && m.stop.signal == 9);
    assert_int_equal(m.stop.reach, REACH_LEADER);
    assert_string_equal(m.stop.reason, "cancel");
    m = command("{\"type\":\"signal\",\"number\":10}");
    assert_int_equal(m.kind, TO_CONDUCTOR_SIGNAL);
    assert_int_equal(m.signal.reach, REACH_GROUP);
    m = command("{\"type\":\"resize\",\"cpus\":2.5,\"cpuset_os\":\"0-2\"}");
    assert_near(m.resize.cpus, 2.5, 0);
    assert_string_equal(m.resize.cpuset, "0-2");
    m = command(
        "{\"type\":\"restart\",\"cpus\":1,\"threads\":4,\"env\":{\"A\":\"b\"},\"signal\":12}");
    assert_int_equal(m.kind, TO_CONDUCTOR_RESTART);
    assert_string_equal(m.restart.env[0], "A=b");
    assert_int_equal(m.restart.stop.signal, 12);
    assert_int_equal(command("{\"type\":\"limit\"}").limit.time_limit, USEC_NEVER);
    m = command("{\"type\":\"limit\",\"time_limit_s\":5}");
    assert_int_equal(m.limit.time_limit, 5 * USEC_PER_SEC);
    assert_int_equal(command("{\"type\":\"ack\",\"what\":\"exit\"}").kind, TO_CONDUCTOR_ACK);
    assert_int_equal(command("{\"type\":\"thaw\",\"x\":1}").kind, TO_CONDUCTOR_THAW);
    assert_string_equal(command("{\"type\":\"refused\",\"text\":\"no\"}").refused.text, "no");
}

static void bad_commands_keep_their_id(void **state)
{
    (void)state;
    struct to_conductor m = command("{\"type\":\"dance\",\"id\":5}");
    assert_int_equal(m.kind, TO_CONDUCTOR_BAD);
    assert_int_equal(m.id, 5);
    assert_string_equal(m.problem, "unknown message 'dance'");
    m = command("{\"type\":\"signal\",\"id\":6,\"number\":0}");
    assert_int_equal(m.kind, TO_CONDUCTOR_BAD);
    assert_int_equal(m.id, 6);
    assert_string_equal(m.problem, "signal: number must be a whole number from 1 to 64");
    m = command("{\"type\":\"resize\",\"cpus\":0,\"id\":7}");
    assert_true(m.kind == TO_CONDUCTOR_BAD && m.id == 7);
    assert_string_equal(m.problem, "resize: cpus must be a number above 0");
    assert_int_equal(command("{\"type\":\"restart\",\"cpus\":0}").kind, TO_CONDUCTOR_BAD);
    assert_int_equal(command("{\"type\":\"stop\",\"id\":\"x\"}").kind, TO_CONDUCTOR_BAD);
}

static void garbage_is_an_error(void **state)
{
    (void)state;
    static const char *const lines[] = {"",
                                        "x",
                                        "{}",
                                        "[]",
                                        "{\"type\":1}",
                                        "{\"type\":\"stop\"",
                                        "\"type\"",
                                        "{\"type\":\"stop\"} x",
                                        "{\"type\":\"stop\",\"type\":\"stop\"}"};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct to_conductor c;
        struct to_server s;
        struct err e;
        assert_error(to_conductor_decode(lines[i], strlen(lines[i]), &texts, &c, &e), e,
                     ERR_INVALID, "not a message");
        assert_error(to_server_decode(lines[i], strlen(lines[i]), &texts, &s, &e), e, ERR_INVALID,
                     "not a message");
    }
}

/* ---- to the server ------------------------------------------------------------ */

static struct to_server news(const char *line)
{
    struct to_server m;
    struct err e;
    assert_ok(to_server_decode(line, strlen(line), &texts, &m, &e), e);
    return m;
}

static void reports(void **state)
{
    (void)state;
    struct to_server m = news("{\"type\":\"hello\",\"job\":1,\"attempt\":2,\"token\":\"t\","
                              "\"pid\":3,\"started_us\":0,\"seq\":4,\"cpus\":1.5}");
    assert_int_equal(m.kind, TO_SERVER_HELLO);
    assert_true(m.hello.version == 1 && m.hello.attempt == 2 && m.hello.seq == 4);
    m = news("{\"type\":\"usage\",\"at_us\":5,\"cpu_us\":7,\"pids\":0,\"later\":1}");
    assert_true(m.usage.at == 5 && m.usage.usage.cpu_us == 7 && m.usage.usage.pids == 0);
    assert_int_equal(m.usage.usage.net_bytes, -1);
    m = news("{\"type\":\"progress\",\"seq\":3,\"at_us\":5,\"step\":2,\"loss\":\"nan\","
             "\"metrics\":{\"f1\":0.5},\"diverged\":true,\"metric\":\"loss\",\"value\":\"inf\"}");
    assert_true(m.progress.report.step == 2 && m.progress.report.total == -1);
    assert_true(isnan(m.progress.report.loss) && isinf(m.progress.report.value));
    assert_true(m.progress.diverged && !m.progress.weak && m.progress.metrics.n == 1);
    m = news("{\"type\":\"applied\",\"cpus\":2,\"threads\":2}");
    assert_true(m.applied.id == -1 && m.applied.in == -1 && m.applied.regions == -1);
    assert_int_equal(news("{\"type\":\"dance\"}").kind, TO_SERVER_BAD);
    m = news("{\"type\":\"hello\",\"job\":1,\"attempt\":2}");
    assert_int_equal(m.kind, TO_SERVER_BAD);
    assert_string_equal(m.problem, "hello: token is missing");
}

/* Texts may hold anything; the record stays within its room. */
static void largest_record(void **state)
{
    (void)state;
    enum { WARNINGS = 6 };
    static char text[EXIT_TEXT_SIZE];
    const char *warnings[WARNINGS + 1] = {NULL};
    struct to_server m = {.kind = TO_SERVER_EXIT, .exit = {.usage = USAGE_UNKNOWN}};
    memset(text, '"', sizeof text - 1);
    for (size_t i = 0; i < WARNINGS; i++)
        warnings[i] = text;
    struct exit_record *r = &m.exit;
    *r = (struct exit_record){.job = INT64_MAX, .attempt = INT64_MAX, .warnings = warnings};
    r->at = r->started = USEC_LIMIT;
    r->code = r->signal = INT32_MIN;
    r->log_bytes = r->log_dropped = INT64_MAX;
#define X(name) r->usage.name = INT64_MAX;
    USAGE_MEMBERS(X)
#undef X
    memcpy(r->reason, text, sizeof text);
    memset(r->stop, '\x01', sizeof r->stop - 1);
    struct str out = {0};
    to_server_encode(&m, &out);
    assert_true(out.n < EXIT_RECORD_MAX_BYTES);
    str_done(&out);
}

/* ---- both ways ---------------------------------------------------------------- */

enum { ROUNDS = 300 };

static json_t *encoded(const struct record *r, const void *from)
{
    struct str out = {0};
    record_encode(r, from, &out);
    json_t *object = json_loads(out.at, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(object);
    str_done(&out);
    return object;
}

/* Random structs come back as they were. */
static void survives(const struct record *r, struct rng *rng)
{
    char *from = xcalloc(2, r->size + 1), *to = from + r->size;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct arena a = {0};
        struct err e;
        random_record(r, rng, round % 5, &a, from);
        json_t *object = encoded(r, from);
        assert_ok(record_decode(r, object, &a, to, &e), e);
        assert_true(record_equal(r, from, to));
        json_decref(object);
        arena_done(&a);
    }
    free(from);
}

/* No two members of an object have the same name, and none is in the place of another:
 * a struct in which only one member is not the default comes back with that one. */
static void each_member_is_its_own(const struct record *r, struct rng *rng)
{
    char *all = xcalloc(2, r->size + 1), *one = all + r->size;
    for (const struct field *f = r->members; f->name; f++) {
        struct arena a = {0};
        struct field only[2] = {*f, {0}};
        const struct record part = {only, r->size, r->defaults};
        struct err e;
        random_record(r, rng, 0, &a, all);
        json_t *object = encoded(r, all);
        assert_ok(record_decode(&part, object, &a, one, &e), e);
        assert_true(record_equal(&part, all, one));
        if (FIELD_KIND(f->type) != FIELD_INLINE) {
            json_t *alone = encoded(&part, one);
            assert_true(json_object_size(alone) <= 1);
            json_decref(alone);
        }
        json_decref(object);
        arena_done(&a);
    }
    free(all);
}

static void every_member_survives(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 7);
    const struct record *records[] = {&launch_spec_record, &record_of_exit, &usage_record,
                                      &progress_report_record};
    for (size_t i = 0; i < COUNT_OF(records); i++) {
        survives(records[i], &rng);
        each_member_is_its_own(records[i], &rng);
    }
    for (size_t i = 0; i < TO_SERVER_BAD; i++) {
        survives(to_server_kinds[i].body, &rng);
        each_member_is_its_own(to_server_kinds[i].body, &rng);
    }
    for (size_t i = 0; i < TO_CONDUCTOR_BAD; i++) {
        survives(to_conductor_kinds[i].body, &rng);
        each_member_is_its_own(to_conductor_kinds[i].body, &rng);
    }
}

static void every_message_survives(void **state)
{
    (void)state;
    struct rng rng;
    struct err e;
    rng_init(&rng, 8);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct to_server s = {.kind = (enum to_server_kind)(round % TO_SERVER_BAD)}, s2;
        struct to_conductor c = {.kind = (enum to_conductor_kind)(round % TO_CONDUCTOR_BAD),
                                 .id = (int64_t)(round % 3) - 1},
                            c2;
        const struct record *sr = to_server_kinds[s.kind].body,
                            *cr = to_conductor_kinds[c.kind].body;
        struct str out = {0};
        random_record(sr, &rng, round % 4, &texts, &s.hello);
        to_server_encode(&s, &out);
        assert_int_equal(out.at[out.n - 1], '\n');
        assert_null(memchr(out.at, '\n', out.n - 1));
        assert_ok(to_server_decode(out.at, out.n - 1, &texts, &s2, &e), e);
        assert_int_equal(s.kind, s2.kind);
        assert_true(record_equal(sr, &s.hello, &s2.hello));
        out.n = 0;
        random_record(cr, &rng, round % 4, &texts, &c.welcome);
        to_conductor_encode(&c, &out);
        assert_ok(to_conductor_decode(out.at, out.n - 1, &texts, &c2, &e), e);
        assert_true(c.kind == c2.kind && c.id == c2.id);
        assert_true(record_equal(cr, &c.welcome, &c2.welcome));
        str_done(&out);
        arena_reset(&texts);
    }
}

/* ---- lines -------------------------------------------------------------------- */

static void lines_in_pieces(void **state)
{
    (void)state;
    static const char text[] = "one\n\nthree\nfou";
    static const char *const want[] = {"one", "", "three"};
    for (size_t piece = 1; piece < sizeof text; piece++) {
        struct lines l = {0};
        const char *line;
        size_t n, seen = 0;
        for (size_t i = 0; i < sizeof text - 1; i += piece) {
            size_t left = sizeof text - 1 - i;
            lines_add(&l, text + i, left < piece ? left : piece);
            bool waits = lines_wait(&l);
            int got;
            while ((got = lines_take(&l, &line, &n)) > 0) {
                assert_true(waits);
                assert_int_equal(n, strlen(want[seen]));
                assert_memory_equal(line, want[seen++], n);
                waits = lines_wait(&l);
            }
            assert_int_equal(got, 0);
        }
        assert_int_equal(seen, COUNT_OF(want));
        lines_done(&l);
    }
}

static void lines_are_bounded(void **state)
{
    (void)state;
    AUTO_FREE char *text = xmalloc(MESSAGE_MAX_BYTES);
    const char *line;
    size_t n;
    struct lines l = {0};
    memset(text, 'x', MESSAGE_MAX_BYTES);
    lines_add(&l, text, MESSAGE_MAX_BYTES - 1);
    assert_int_equal(lines_take(&l, &line, &n), 0);
    lines_add(&l, "\n", 1);
    assert_int_equal(lines_take(&l, &line, &n), 1);
    assert_int_equal(n, MESSAGE_MAX_BYTES - 1);
    lines_add(&l, text, MESSAGE_MAX_BYTES);
    assert_int_equal(lines_take(&l, &line, &n), -1);
    lines_add(&l, "\n", 1);
    assert_int_equal(lines_take(&l, &line, &n), -1);
    lines_done(&l);
}

static const struct CMUnitTest tests[] = {
    TEST(all_of_a_specification),
    TEST(specification_that_says_little),
    TEST(bad_specifications_are_explained),
    TEST(variables),
    TEST(commands),
    TEST(bad_commands_keep_their_id),
    TEST(garbage_is_an_error),
    TEST(reports),
    TEST(largest_record),
    TEST(every_member_survives),
    TEST(every_message_survives),
    TEST(lines_in_pieces),
    TEST(lines_are_bounded),
};

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, drop_texts);
}
