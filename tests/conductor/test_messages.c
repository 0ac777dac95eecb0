/* spec.json and the server's commands: what is read from good ones, what is said
 * of bad ones. More bad ones are in inputs.py and links.py. */
#include <signal.h>
#include <stdint.h>

#include "conductor/jobspec.h"
#include "conductor/message.h"
#include "conductor/record.h"
#include "support/test.h"

#define REQUIRED                                                                                   \
    "\"job\":12,\"attempt\":2,\"command\":[\"a\",\"b c\"],\"workdir\":\"/w\","                     \
    "\"env\":{\"K\":\"v=1\",\"E\":\"\"},\"socket\":\"/s\",\"token\":\"t\""

static int parse(const char *text, struct jobspec *s, struct str *unknown, struct err *err)
{
    return jobspec_parse(text, strlen(text), s, unknown, err);
}

static void all_fields(void **state)
{
    (void)state;
    struct jobspec s;
    struct str unknown = {0};
    struct err e;
    assert_ok(parse("{" REQUIRED
                    ",\"name\":\"n\",\"cgroup\":[{\"path\":\"/c\",\"procs\":\"tasks\"},"
                    "{\"path\":\"/d\"}],\"cpus\":1.5,\"cpuset\":[0],\"cpuset_os\":\"0-1\","
                    "\"gpus\":[\"GPU-8a5b\"],"
                    "\"nice\":-3,\"log_max_bytes\":1000,\"log_keep\":7,\"grace_s\":1.5,"
                    "\"time_limit_s\":60,\"signal\":{\"number\":10,\"before_s\":5,\"to\":\"all\"},"
                    "\"checkpoint_signal\":12,\"progress\":{\"pattern\":\"p\",\"total\":9},"
                    "\"sample_s\":0,\"linger_s\":3,\"kill_wait_s\":4}",
                    &s, &unknown, &e),
              e);
    assert_int_equal(unknown.n, 0);
    assert_int_equal(s.job, 12);
    assert_int_equal(s.attempt, 2);
    assert_string_equal(s.command[1], "b c");
    assert_null(s.command[2]);
    assert_string_equal(s.env[0], "K=v=1");
    assert_string_equal(s.env[1], "E=");
    assert_string_equal(s.env[2], "TRAINYARD_CHECKPOINT_SIGNAL=12");
    assert_null(s.env[3]);
    assert_int_equal(s.n_cgroups, 2);
    assert_string_equal(s.cgroups[0].procs, "tasks");
    assert_string_equal(s.cgroups[1].procs, "cgroup.procs");
    assert_string_equal(s.cpuset, "0-1");
    assert_int_equal(s.nice, -3);
    assert_int_equal(s.log_max_bytes, 1000);
    assert_int_equal(s.log_keep, 7);
    assert_int_equal(s.grace, 1500000);
    assert_int_equal(s.time_limit, 60 * USEC_PER_SEC);
    assert_int_equal(s.warn_signal, 10);
    assert_int_equal(s.warn_before, 5 * USEC_PER_SEC);
    assert_int_equal(s.warn_reach, REACH_ALL);
    assert_int_equal(s.checkpoint_signal, 12);
    assert_string_equal(s.progress_pattern, "p");
    assert_int_equal(s.progress_total, 9);
    assert_int_equal(s.sample, 0);
    assert_int_equal(s.linger, 3 * USEC_PER_SEC);
    assert_int_equal(s.patience, 4 * USEC_PER_SEC);
    jobspec_done(&s);
}

static void defaults(void **state)
{
    (void)state;
    struct jobspec s;
    struct str unknown = {0};
    struct err e;
    assert_ok(parse("{" REQUIRED ",\"time_limit_s\":0,\"x\":1,\"y\":{}}", &s, &unknown, &e), e);
    assert_string_equal(unknown.at, "x y");
    assert_null(s.env[2]);
    assert_int_equal(s.time_limit, USEC_NEVER);
    assert_int_equal(s.grace, 60 * USEC_PER_SEC);
    assert_int_equal(s.sample, USEC_PER_SEC);
    assert_int_equal(s.linger, 600 * USEC_PER_SEC);
    assert_int_equal(s.checkpoint_signal, SIGTERM);
    assert_int_equal(s.warn_signal, 0);
    assert_null(s.cpuset);
    str_done(&unknown);
    jobspec_done(&s);
}

static void bad_ones_are_explained(void **state)
{
    (void)state;
    struct jobspec s;
    struct str unknown = {0};
    struct err e;
    assert_error(parse("{" REQUIRED ",}", &s, &unknown, &e), e, ERR_INVALID, "line 1, column");
    assert_error(parse("{\"job\":1}", &s, &unknown, &e), e, ERR_INVALID, "attempt is missing");
    assert_error(parse("{" REQUIRED ",\"nice\":30}", &s, &unknown, &e), e, ERR_INVALID,
                 "spec.json: nice must be a whole number between -20 and 19");
    assert_int_equal(unknown.n, 0);
}

static const struct jobspec usual = {.checkpoint_signal = SIGUSR2, .grace = 7 * USEC_PER_SEC};

static struct command command(const char *line)
{
    struct command c;
    struct err e;
    assert_ok(command_parse(line, strlen(line), &usual, &c, &e), e);
    return c;
}

static void commands(void **state)
{
    (void)state;
    struct command c = command("{\"type\":\"welcome\"}");
    assert_int_equal(c.type, COMMAND_WELCOME);
    assert_int_equal(c.seq, -1);
    assert_int_equal(command("{\"type\":\"welcome\",\"seq\":7}").seq, 7);
    c = command("{\"type\":\"stop\",\"id\":3}");
    assert_int_equal(c.type, COMMAND_STOP);
    assert_int_equal(c.id, 3);
    assert_int_equal(c.signal, SIGUSR2);
    assert_int_equal(c.grace, 7 * USEC_PER_SEC);
    assert_int_equal(c.reach, REACH_ALL);
    assert_string_equal(c.text, "stop");
    c = command("{\"type\":\"stop\",\"grace_s\":0,\"signal\":9,\"reason\":\"cancel\","
                "\"to\":\"leader\"}");
    assert_int_equal(c.id, -1);
    assert_int_equal(c.grace, 0);
    assert_int_equal(c.signal, 9);
    assert_int_equal(c.reach, REACH_LEADER);
    assert_string_equal(c.text, "cancel");
    c = command("{\"type\":\"signal\",\"number\":10}");
    assert_int_equal(c.type, COMMAND_SIGNAL);
    assert_int_equal(c.reach, REACH_GROUP);
    c = command("{\"type\":\"resize\",\"cpus\":2.5,\"cpuset_os\":\"0-2\"}");
    assert_near(c.cpus, 2.5, 0);
    assert_string_equal(c.cpuset, "0-2");
    assert_int_equal(command("{\"type\":\"limit\"}").limit, USEC_NEVER);
    assert_int_equal(command("{\"type\":\"limit\",\"time_limit_s\":5}").limit, 5 * USEC_PER_SEC);
    assert_string_equal(command("{\"type\":\"ack\",\"what\":\"exit\"}").text, "exit");
    assert_string_equal(command("{\"type\":\"refused\",\"text\":\"no\"}").text, "no");
}

static void bad_commands_keep_their_id(void **state)
{
    (void)state;
    struct command c = command("{\"type\":\"dance\",\"id\":5}");
    assert_int_equal(c.type, COMMAND_BAD);
    assert_int_equal(c.id, 5);
    assert_non_null(strstr(c.text, "dance"));
    c = command("{\"type\":\"signal\",\"id\":6,\"number\":0}");
    assert_int_equal(c.type, COMMAND_BAD);
    assert_int_equal(c.id, 6);
    assert_non_null(strstr(c.text, "number"));
    assert_int_equal(command("{\"type\":\"stop\",\"id\":\"x\"}").type, COMMAND_BAD);
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
                                        "{\"type\":\"stop\"} x"};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct command c;
        struct err e;
        assert_error(command_parse(lines[i], strlen(lines[i]), &usual, &c, &e), e, ERR_INVALID,
                     "not a message");
    }
}

/* Texts may hold anything; the record stays within its room. */
static void largest_record(void **state)
{
    (void)state;
    struct notes notes = {.n = NOTES_MAX};
    struct outcome o = {.at = INT64_MAX, .started = INT64_MAX, .log_bytes = INT64_MAX};
    o.usage =
        (struct usage){INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    for (size_t i = 0; i < NOTES_MAX; i++)
        memset(notes.text[i], i % 2 ? '"' : '\xff', NOTES_TEXT - 1);
    memset(o.reason, '\xff', sizeof o.reason - 1);
    memset(o.stop, '\\', sizeof o.stop - 1);
    struct str out = {0};
    message_exit(&out, &(struct jobspec){.job = INT64_MAX, .attempt = INT64_MAX}, &o, &notes);
    assert_true(out.n < RECORD_MAX_BYTES);
    str_done(&out);
}

static const struct CMUnitTest tests[] = {
    TEST(all_fields),
    TEST(defaults),
    TEST(bad_ones_are_explained),
    TEST(commands),
    TEST(bad_commands_keep_their_id),
    TEST(garbage_is_an_error),
    TEST(largest_record),
};

int main(void)
{
    return RUN(tests);
}
