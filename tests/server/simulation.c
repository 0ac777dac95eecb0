/* Simulated days of a server, drawn from a seed: users who submit jobs and give commands,
 * several engines with many nodes, operations that fail, are slow or are not answered, nodes
 * that are cut off or restart, conductors and servers that are killed at any instant, disks
 * that are full, clocks that are set. After every turn what docs/server.md promises is checked
 * against what is true in the fake world; then the faults end, and what was wanted must come
 * about.
 *
 *   simulation              days for SIMULATION_SECONDS (120), or SIMULATION_DAYS of them, from
 *                           seed SIMULATION_SEED (1) on
 *   simulation year         an unbroken year of one server; takes a minute
 *   simulation [year] SEED  one of them again, with what happens and the server's log
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
static uint64_t under_way;
static const struct day_pace *pace;

static uint64_t number_of(const char *variable, uint64_t none)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : none;
}

static bool is_good(uint64_t seed, struct tally *tally)
{
    struct day d;
    under_way = seed;
    bool good = day_run(&d, pace, seed, tally);
    if (good)
        under_way = 0;
    else
        print_message("# %s\n", d.why);
    day_end(&d);
    tally->days += (uint32_t)(pace->span / (24 * HOUR));
    return good;
}

static void tell(const struct tally *t)
{
    print_message(
        "# %u simulated days: %u jobs submitted (%u done, %u failed, %u cancelled, %u "
        "timed out), %u requests refused, %u attempts, %u commands, %u moves, %u servers, %u "
        "partitions, %u deaths of conductors and nodes, %u changes of nodes, %u full disks; "
        "checked after %u turns\n",
        t->days, t->submitted, t->done, t->failed, t->cancelled, t->timeout, t->refused,
        t->attempts, t->commands, t->moves, t->servers, t->cuts, t->deaths, t->nodes, t->full,
        t->turns);
}

static void promises_hold_on_every_day(void **state)
{
    uint64_t days = number_of("SIMULATION_DAYS", 0);
    time_t end = time(NULL) + (time_t)number_of("SIMULATION_SECONDS", SECONDS);
    uint64_t seed = only_seed ? only_seed : number_of("SIMULATION_SEED", 1);
    struct tally t = {0};
    bool good = true;
    (void)state;
    pace = &pace_day;
    do
        good = is_good(seed++, &t);
    while (good && !only_seed && (days ? t.days < days : time(NULL) < end));
    tell(&t);
    assert_true(good);
}

static void promises_hold_for_a_year(void **state)
{
    struct tally t = {0};
    (void)state;
    pace = &pace_year;
    bool good = is_good(only_seed ? only_seed : number_of("SIMULATION_SEED", 1), &t);
    tell(&t);
    assert_true(good);
}

/* Also when an assertion has ended it. */
static int tell_seed(void **state)
{
    (void)state;
    if (under_way)
        print_message("# seed %llu; again with its log: build/tests/server/simulation %s%llu\n",
                      (unsigned long long)under_way, pace == &pace_year ? "year " : "",
                      (unsigned long long)under_way);
    return 0;
}

static const struct CMUnitTest days[] = {
    cmocka_unit_test_teardown(promises_hold_on_every_day, tell_seed)};
static const struct CMUnitTest year[] = {
    cmocka_unit_test_teardown(promises_hold_for_a_year, tell_seed)};
int main(int argc, char **argv)
{
    bool is_year = argc > 1 && !strcmp(argv[1], "year");
    if (argc > 1 + is_year) {
        only_seed = strtoull(argv[1 + is_year], NULL, 10);
        setenv("STAGE_LOG", "1", 1);
    }
    return is_year ? RUN(year) : RUN(days);
}
