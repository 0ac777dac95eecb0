/* Simulated days of a server, drawn from a seed: users who submit jobs and give commands,
 * several engines with many nodes, operations that fail, are slow or are not answered, nodes
 * that are cut off or restart, conductors and servers that are killed at any instant, disks
 * that are full, clocks that are set. After every turn what docs/server.md promises is checked
 * against what is true in the fake world; then the faults end, and what was wanted must come
 * about.
 *
 *   simulation              days for SIMULATION_SECONDS (120), from seed SIMULATION_SEED (1) on
 *   simulation SEED         one day again, with what happens and the server's log
 *
 * A failure prints its seed. tests/support/day.h tells what a day is. */
#include <time.h>

#include "support/day.h"
#include "support/test.h"

#ifdef __SANITIZE_ADDRESS__
enum { SECONDS = 40 };
#else
enum { SECONDS = 120 };
#endif

static uint64_t only_seed; /* 0 = not one alone */
static uint64_t day_under_way;

static uint64_t number_of(const char *variable, uint64_t none)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : none;
}

static bool is_good_day(uint64_t seed, struct tally *tally)
{
    struct day d;
    day_under_way = seed;
    bool good = day_run(&d, seed, tally);
    if (good)
        day_under_way = 0;
    else
        print_message("# %s\n", d.why);
    day_end(&d);
    tally->days++;
    return good;
}

static void promises_hold(void **state)
{
    time_t end = time(NULL) + (time_t)number_of("SIMULATION_SECONDS", SECONDS);
    uint64_t seed = only_seed ? only_seed : number_of("SIMULATION_SEED", 1);
    struct tally t = {0};
    bool good = true;
    (void)state;
    do
        good = is_good_day(seed++, &t);
    while (good && !only_seed && time(NULL) < end);
    print_message(
        "# %u simulated days: %u jobs submitted (%u done, %u failed, %u cancelled, %u "
        "timed out), %u requests refused, %u attempts, %u commands, %u servers, %u "
        "partitions, %u deaths of conductors and nodes, %u changes of nodes, %u full disks; "
        "checked after %u turns\n",
        t.days, t.submitted, t.done, t.failed, t.cancelled, t.timeout, t.refused, t.attempts,
        t.commands, t.servers, t.cuts, t.deaths, t.nodes, t.full, t.turns);
    assert_true(good);
}

/* Also when an assertion has ended the day. */
static int tell_seed(void **state)
{
    (void)state;
    if (day_under_way)
        print_message("# seed %llu; again with its log: build/tests/server/simulation %llu\n",
                      (unsigned long long)day_under_way, (unsigned long long)day_under_way);
    return 0;
}

static const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(promises_hold, tell_seed)};

int main(int argc, char **argv)
{
    if (argc > 1) {
        only_seed = strtoull(argv[1], NULL, 10);
        setenv("STAGE_LOG", "1", 1);
    }
    return RUN(tests);
}
