/* Requests drawn at random over all fields of a job, each with values at and beyond its limits:
 * the server accepts or refuses each one, lives on, and never takes more than a bounded amount of
 * memory. What is accepted is also decided on, started and ended.
 *
 *   requests              requests for REQUESTS_SECONDS (20), from seed REQUESTS_SEED (1) on
 *   requests SEED         the round of this seed again
 *
 * A round is one server and some requests to it. A failure prints its seed. */
#include <sys/resource.h>
#include <time.h>

#include "base/rng.h"
#include "base/str.h"
#include "support/stage.h"
#include "support/test.h"
#include "wire/spec.h"

#define SECOND USEC_PER_SEC

enum { ROUND = 40, BATCH_MOST = 3 };

/* What a round may take; the database is in memory as well. */
#define MEMORY_MOST ((rlim_t)512 << 20)

static uint64_t only_seed, seed_under_way;

/* ---- values --------------------------------------------------------------------------- */

static const char *const numbers[] = {
    "0",
    "1",
    "-1",
    "2",
    "0.5",
    "0.001",
    "63",
    "64",
    "65535",
    "65536",
    "1000000",
    "2147483647",
    "2147483648",
    "1e9",
    "1e18",
    "9223372036854775807",
    "-9223372036854775808",
    "1e308",
    "-0.0",
};

static const char *const spans[] = {
    "1-65535",    "65535",     "1-1000000", "0-0",
    "2-1",        "0.1-65535", "1-2",       "1-9223372036854775807",
    "1-",         "-",         "0.001",     "1-4",
    "1000-65535",
};

static const char *const texts[] = {
    "",
    " ",
    "a",
    "..",
    "/",
    "/tmp",
    "true",
    "0",
    "null",
    "\\n",
    "\\ud83d\\ude82",
    "%s%n",
    "(a+)+$",
    "(?P<step>[0-9]+)",
    "[",
    "*",
    "a*",
    "NVIDIA",
    "9223372036854775808",
};

static const char *const durations[] = {
    "1us", "1ms", "1s", "90s", "2h", "1000d", "100000d", "1e300s", "-1s", "1", "99999999999999999d",
};

static const char *const stops[] = {
    "loss < 0.1", "val_acc >= 90", "5%/10min", "1%/500steps", "loss", "< 1", "0%/1s", "5%", ""};
static const char *const arrays[] = {
    "0-9", "1-100000", "1-100000%1", "0-9999999:100",    "1-100001",         "0-10000000",
    "5",   "1,1",      "1-2%0",      "9999999-10000000", "0-99999:1%100000", "1-50%3",
};

static const char *const totals[] = {"10epochs", "500 steps", "0", "1e30epochs",
                                     "-1steps",  "9x",        ""};
static const char *const signals[] = {"TERM", "USR1@60", "KILL@1", "64@100000d",
                                      "0",    "65",      "RTMIN"};

static const char *const deps[] = {
    "afterok:1",    "afterany:1", "after:1,2,3", "singleton",  "afterok:99999999999",
    "afternotok:2", "after:a*",   "afterok:",    "nonsense:1", "afterany:1,1,1",
};

#define PICK(rng, list) list[rng_below(rng, COUNT_OF(list))]

static void add_long_text(struct rng *rng, struct str *out)
{
    size_t n = (size_t)1 << rng_below(rng, 18);
    str_add(out, "\"");
    for (size_t i = 0; i < n; i++)
        str_add(out, "x");
    str_add(out, "\"");
}

static void add_quoted(struct str *out, const char *text)
{
    str_addf(out, "\"%s\"", text);
}

/* A list or an object of many small members. */
static void add_many(struct rng *rng, bool object, struct str *out)
{
    size_t n = rng_below(rng, 8) ? rng_below(rng, 8) : rng_below(rng, 20000);
    str_add(out, object ? "{" : "[");
    for (size_t i = 0; i < n; i++) {
        str_add(out, i ? "," : "");
        if (object)
            str_addf(out, "\"K%zu\":", i);
        add_quoted(out, PICK(rng, texts));
    }
    str_add(out, object ? "}" : "]");
}

static void add_any(struct rng *rng, struct str *out)
{
    switch (rng_below(rng, 6)) {
    case 0:
        str_add(out, PICK(rng, numbers));
        break;
    case 1:
        add_quoted(out, PICK(rng, texts));
        break;
    case 2:
        add_long_text(rng, out);
        break;
    case 3:
        add_many(rng, false, out);
        break;
    case 4:
        add_many(rng, true, out);
        break;
    default:
        str_add(out, rng_below(rng, 2) ? "null" : "true");
    }
}

/* One of the words of a choice, which are separated by '|' in its help. */
static void add_choice(struct rng *rng, const struct spec_field *f, struct str *out)
{
    const char *words = f->value;
    size_t n = 1;
    for (const char *p = words; *p; p++)
        n += *p == '|';
    for (n = rng_below(rng, n); n > 0; n--)
        words = strchr(words, '|') + 1;
    str_addf(out, "\"%.*s\"", (int)strcspn(words, "|"), words);
}

static void add_deps(struct rng *rng, struct str *out)
{
    size_t n = rng_below(rng, 10) ? 1 + rng_below(rng, 3) : rng_below(rng, 12000);
    str_add(out, "[");
    for (size_t i = 0; i < n; i++) {
        str_add(out, i ? "," : "");
        add_quoted(out, PICK(rng, deps));
    }
    str_add(out, "]");
}

static void add_value(struct rng *rng, const struct spec_field *f, struct str *out)
{
    if (rng_below(rng, 10) == 0) {
        add_any(rng, out);
        return;
    }
    switch (f->type) {
    case SPEC_CPUS:
    case SPEC_GPUS:
    case SPEC_COUNT:
        rng_below(rng, 2) ? add_quoted(out, PICK(rng, spans)) : str_add(out, PICK(rng, numbers));
        break;
    case SPEC_MEMORY:
    case SPEC_INT:
    case SPEC_REAL:
        str_add(out, PICK(rng, numbers));
        break;
    case SPEC_DURATION:
    case SPEC_WHEN:
    case SPEC_LEASE:
        rng_below(rng, 2) ? add_quoted(out, PICK(rng, durations))
                          : str_add(out, PICK(rng, numbers));
        break;
    case SPEC_TOTAL:
        rng_below(rng, 2) ? add_quoted(out, PICK(rng, totals)) : str_add(out, PICK(rng, numbers));
        break;
    case SPEC_FLAG:
        str_add(out, rng_below(rng, 2) ? "true" : "false");
        break;
    case SPEC_CHOICE:
        add_choice(rng, f, out);
        break;
    case SPEC_SIGNAL:
    case SPEC_WARNING:
        add_quoted(out, PICK(rng, signals));
        break;
    case SPEC_IF:
    case SPEC_FLAT:
        add_quoted(out, PICK(rng, stops));
        break;
    case SPEC_ARRAY:
        add_quoted(out, PICK(rng, arrays));
        break;
    case SPEC_DEPS:
        add_deps(rng, out);
        break;
    case SPEC_LIST:
    case SPEC_MAP:
        add_many(rng, f->type == SPEC_MAP, out);
        break;
    case SPEC_TEXT:
    case SPEC_BODY:
        rng_below(rng, 5) ? add_quoted(out, PICK(rng, texts)) : add_long_text(rng, out);
    }
}

static void add_request(struct rng *rng, struct str *out)
{
    unsigned rate = 3 + (unsigned)rng_below(rng, 30);
    bool any_command = rng_below(rng, 20) == 0;
    str_add(out, any_command ? "{\"name\":\"n\"" : "{\"command\":[\"fake\",\"work=5\"]");
    for (const struct spec_field *f = spec_fields; f->name; f++) {
        bool has = !strcmp(f->name, "command") ? any_command : rng_below(rng, rate) == 0;
        if (!has || (any_command && !strcmp(f->name, "name")))
            continue;
        str_addf(out, ",\"%s\":", f->name);
        add_value(rng, f, out);
    }
    str_add(out, "}");
}

/* ---- rounds ----------------------------------------------------------------------------- */

static unsigned asked, accepted;

static void submit_one(struct stage *w, struct rng *rng)
{
    struct str json = {0};
    size_t n = rng_below(rng, 5) ? 1 : 1 + rng_below(rng, BATCH_MOST);
    struct err err;
    str_add(&json, "[");
    for (size_t i = 0; i < n; i++) {
        str_add(&json, i ? "," : "");
        add_request(rng, &json);
    }
    str_add(&json, "]");
    asked++;
    accepted += stage_try_submit(w, json.at, &err) > 0;
    str_done(&json);
    /* Time passes for servers without a large array: the others take all of its members first. */
    if (w->y->arrivals.at.n)
        stage_turn(w);
    else
        stage_run(w, (usec_t)rng_below(rng, 3) * SECOND);
}

static void run_round(uint64_t seed)
{
    static const char *const policies[] = {"elastic-fifo", "fifo", "srtf", "equal", "las", "ffdl"};
    struct stage w;
    struct rng rng;
    seed_under_way = seed;
    rng_init(&rng, seed);
    struct fake_options o = {.seed = seed,
                             .nodes = 1 + (uint32_t)rng_below(&rng, 3),
                             .prefix = "n",
                             .cpus = (units_t)(1 + rng_below(&rng, 64)) * UNIT,
                             .memory_mb = 65536};
    stage_begin(&w, &o, PICK(&rng, policies));
    w.array_chunk = 20;
    stage_start(&w);
    for (int i = 0; i < ROUND; i++)
        submit_one(&w, &rng);
    stage_kill(&w); /* not all members of its arrays need to arrive */
    stage_end(&w);
    seed_under_way = 0;
}

static void bound_memory(void)
{
#ifndef __SANITIZE_ADDRESS__
    struct rlimit limit = {MEMORY_MOST, MEMORY_MOST};
    assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
#endif
}

static uint64_t number_of(const char *variable, uint64_t none)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : none;
}

static void whatever_is_asked_takes_a_bounded_amount(void **state)
{
    time_t end = time(NULL) + (time_t)number_of("REQUESTS_SECONDS", 20);
    uint64_t seed = only_seed ? only_seed : number_of("REQUESTS_SEED", 1);
    (void)state;
    bound_memory();
    do
        run_round(seed++);
    while (!only_seed && time(NULL) < end);
    print_message("# %u requests, %u accepted\n", asked, accepted);
    assert_true(accepted > 0 && accepted < asked);
}

/* It made an earlier server give up. */
static void many_workers_of_many_cpus_are_refused(void **state)
{
    struct stage *w = *state;
    struct err err;
    assert_error(stage_try_submit(w,
                                  "{'command': ['true'], 'resize': 'torchrun', 'cpus': 65535,"
                                  " 'workers': '1-65535'}",
                                  &err),
                 err, ERR_INVALID, "more than a million");
}

static int tell_seed(void **state)
{
    (void)state;
    if (seed_under_way)
        print_message("# seed %llu; again: build/tests/server/requests %llu\n",
                      (unsigned long long)seed_under_way, (unsigned long long)seed_under_way);
    return 0;
}

static const struct CMUnitTest tests[] = {
    STAGE_TEST(many_workers_of_many_cpus_are_refused),
    cmocka_unit_test_teardown(whatever_is_asked_takes_a_bounded_amount, tell_seed),
};

int main(int argc, char **argv)
{
    if (argc > 1)
        only_seed = strtoull(argv[1], NULL, 10);
    return RUN(tests);
}
