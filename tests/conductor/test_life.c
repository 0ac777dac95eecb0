/* The course of a job: limit, warning, stop, kill, patience, and what a freeze does
 * to them. Time is what the test says it is. */
#include <signal.h>

#include "conductor/life.h"
#include "support/test.h"

#define S USEC_PER_SEC

static const struct life_rules rules = {
    .limit = 100 * S,
    .warn_before = 30 * S,
    .warn_signal = SIGUSR1,
    .grace = 10 * S,
    .stop_signal = SIGTERM,
    .patience = 60 * S,
};

static struct life begin(void)
{
    struct life l;
    life_init(&l, &rules);
    life_start(&l, 1000 * S);
    return l;
}

/* Wait statuses as the kernel makes them. */
static int exited(int code)
{
    return code << 8;
}

static int killed_by(int signal)
{
    return signal;
}

static void limit_warns_stops_and_kills(void **state)
{
    (void)state;
    struct life l = begin();
    assert_int_equal(life_next(&l), 1070 * S);
    assert_int_equal(life_tick(&l, 1070 * S - 1), 0);
    assert_int_equal(life_tick(&l, 1070 * S), LIFE_WARN);
    assert_int_equal(life_tick(&l, 1071 * S), 0);
    assert_int_equal(life_next(&l), 1100 * S);
    assert_int_equal(life_tick(&l, 1100 * S), LIFE_SIGNAL);
    assert_true(l.timed_out);
    assert_int_equal(l.signal, SIGTERM);
    assert_int_equal(life_next(&l), 1110 * S);
    assert_int_equal(life_tick(&l, 1110 * S), LIFE_KILL);
    assert_true(l.killed);
    assert_int_equal(life_all_ended(&l), LIFE_END);
    assert_int_equal(life_next(&l), USEC_NEVER);
    assert_int_equal(life_all_ended(&l), 0);
}

static void no_limit_never_wakes(void **state)
{
    (void)state;
    struct life_rules free_rules = rules;
    free_rules.limit = USEC_NEVER;
    struct life l;
    life_init(&l, &free_rules);
    life_start(&l, 5 * S);
    assert_int_equal(life_next(&l), USEC_NEVER);
    assert_int_equal(life_tick(&l, 1000000 * S), 0);
}

static void limit_counts_from_exec(void **state)
{
    (void)state;
    struct life l;
    life_init(&l, &rules);
    assert_int_equal(life_next(&l), USEC_NEVER);
    assert_int_equal(life_tick(&l, 5000 * S), 0);
    life_start(&l, 5000 * S);
    assert_int_equal(life_next(&l), 5070 * S);
}

static void warning_before_a_short_limit_is_immediate(void **state)
{
    (void)state;
    struct life_rules r = rules;
    r.limit = 20 * S;
    struct life l;
    life_init(&l, &r);
    life_start(&l, 1000 * S);
    assert_int_equal(life_tick(&l, 1000 * S), LIFE_WARN);
    assert_int_equal(life_next(&l), 1020 * S);
}

static void frozen_time_does_not_count(void **state)
{
    (void)state;
    struct life l = begin();
    assert_true(life_freeze(&l, 1040 * S));
    assert_true(life_freeze(&l, 1050 * S));
    assert_int_equal(life_next(&l), USEC_NEVER);
    assert_int_equal(life_tick(&l, 9000 * S), 0);
    life_thaw(&l, 2000 * S);
    life_thaw(&l, 2001 * S);
    assert_int_equal(life_next(&l), 2030 * S);
    assert_int_equal(life_tick(&l, 2030 * S), LIFE_WARN);
    assert_int_equal(life_tick(&l, 2060 * S), LIFE_SIGNAL);
    assert_false(life_freeze(&l, 2061 * S));
}

static void frozen_before_exec_counts_from_the_thaw(void **state)
{
    (void)state;
    struct life l;
    life_init(&l, &rules);
    assert_true(life_freeze(&l, 10 * S));
    life_start(&l, 20 * S);
    assert_int_equal(life_next(&l), USEC_NEVER);
    life_thaw(&l, 30 * S);
    assert_int_equal(life_next(&l), 100 * S);
}

static void new_limit_warns_again(void **state)
{
    (void)state;
    struct life l = begin();
    assert_int_equal(life_tick(&l, 1070 * S), LIFE_WARN);
    life_set_limit(&l, 200 * S);
    assert_int_equal(life_next(&l), 1170 * S);
    life_set_limit(&l, USEC_NEVER);
    assert_int_equal(life_next(&l), USEC_NEVER);
    life_set_limit(&l, 10 * S);
    assert_int_equal(life_tick(&l, 1080 * S), LIFE_SIGNAL);
}

static void stop_again_shortens_only(void **state)
{
    (void)state;
    struct life l = begin();
    assert_int_equal(life_stop(&l, 1001 * S, 60 * S, SIGTERM), LIFE_SIGNAL);
    assert_int_equal(life_stop(&l, 1002 * S, 600 * S, SIGTERM), 0);
    assert_int_equal(life_next(&l), 1061 * S);
    assert_int_equal(life_stop(&l, 1003 * S, 5 * S, SIGTERM), 0);
    assert_int_equal(life_next(&l), 1008 * S);
    assert_int_equal(life_stop(&l, 1004 * S, 60 * S, SIGINT), LIFE_SIGNAL);
    assert_int_equal(life_next(&l), 1008 * S);
    assert_int_equal(life_stop(&l, 1005 * S, 0, SIGTERM), LIFE_KILL);
    assert_int_equal(life_stop(&l, 1006 * S, 60 * S, SIGTERM), 0);
    assert_true(l.killed);
}

static void leader_that_ends_by_itself_takes_the_rest_along(void **state)
{
    (void)state;
    struct life l = begin();
    assert_int_equal(life_leader_ended(&l, 1010 * S, exited(0)), LIFE_KILL);
    assert_false(l.killed);
    l = begin();
    assert_int_equal(life_leader_ended(&l, 1010 * S, killed_by(SIGUSR1)), LIFE_KILL);
}

static void leader_that_died_of_the_stop_leaves_the_rest_its_grace(void **state)
{
    (void)state;
    static const struct {
        int status;
        unsigned acts;
    } cases[] = {
        {SIGTERM, 0},        {(128 + SIGTERM) << 8, 0}, {0, LIFE_KILL},
        {1 << 8, LIFE_KILL}, {SIGSEGV, LIFE_KILL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct life l = begin();
        life_stop(&l, 1001 * S, 60 * S, SIGTERM);
        assert_int_equal(life_leader_ended(&l, 1002 * S, cases[i].status), cases[i].acts);
    }
    struct life l = begin();
    life_stop(&l, 1001 * S, 60 * S, SIGTERM);
    life_leader_ended(&l, 1002 * S, killed_by(SIGTERM));
    assert_int_equal(life_tick(&l, 1061 * S), LIFE_KILL);
}

static void leader_that_died_of_the_warning_leaves_the_rest_until_the_limit(void **state)
{
    (void)state;
    struct life l = begin();
    assert_int_equal(life_tick(&l, 1070 * S), LIFE_WARN);
    assert_int_equal(life_leader_ended(&l, 1071 * S, killed_by(SIGUSR1)), 0);
    assert_int_equal(life_next(&l), 1100 * S);
    assert_int_equal(life_tick(&l, 1100 * S), LIFE_SIGNAL);
}

static void killing_is_repeated_and_given_up(void **state)
{
    (void)state;
    struct life l = begin();
    usec_t now = 1001 * S, end = now + rules.patience;
    unsigned kills = 1;
    assert_int_equal(life_stop(&l, now, 0, SIGTERM), LIFE_KILL);
    while (l.stage == LIFE_KILLING) {
        assert_true(life_next(&l) > now && life_next(&l) <= now + S);
        now = life_next(&l);
        kills += life_tick(&l, now) == LIFE_KILL;
    }
    assert_int_equal(now, end);
    assert_true(l.stuck);
    assert_in_range(kills, 60, 75);
}

static const struct CMUnitTest tests[] = {
    TEST(limit_warns_stops_and_kills),
    TEST(no_limit_never_wakes),
    TEST(limit_counts_from_exec),
    TEST(warning_before_a_short_limit_is_immediate),
    TEST(frozen_time_does_not_count),
    TEST(frozen_before_exec_counts_from_the_thaw),
    TEST(new_limit_warns_again),
    TEST(stop_again_shortens_only),
    TEST(leader_that_ends_by_itself_takes_the_rest_along),
    TEST(leader_that_died_of_the_stop_leaves_the_rest_its_grace),
    TEST(leader_that_died_of_the_warning_leaves_the_rest_until_the_limit),
    TEST(killing_is_repeated_and_given_up),
};

int main(void)
{
    return RUN(tests);
}
