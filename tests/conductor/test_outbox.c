/* What is said to the server: the order, the numbers of progress, what a new
 * connection hears again, and that nothing grows without bound. */
#include "conductor/outbox.h"

#include <jansson.h>

#include "base/rng.h"
#include "support/test.h"

static struct launch_spec spec = {.job = 12, .attempt = 3, .token = "t\"oken"};

/* The next message as "type" or "progress SEQ BODY"; NULL = nothing to say. */
static const char *next(struct outbox *o)
{
    static char text[256];
    struct str out = {0};
    if (!outbox_next(o, &out))
        return NULL;
    assert_int_equal(out.at[out.n - 1], '\n');
    json_t *m = json_loads(out.at, 0, NULL);
    assert_non_null(m);
    const char *type = json_string_value(json_object_get(m, "type"));
    if (strcmp(type, "progress") == 0)
        snprintf(text, sizeof text, "progress %lld %lld",
                 (long long)json_integer_value(json_object_get(m, "seq")),
                 (long long)json_integer_value(json_object_get(m, "step")));
    else
        snprintf(text, sizeof text, "%s", type);
    json_decref(m);
    str_done(&out);
    return text;
}

static void add_step(struct outbox *o, int step)
{
    struct progress_message m = {.at = step, .report = PROGRESS_REPORT_UNKNOWN};
    m.report.step = step;
    outbox_progress(o, &m);
}

static void say_ok(struct outbox *o, int64_t id)
{
    outbox_answer(o, &(struct to_server){.kind = TO_SERVER_OK, .ok = {id}});
}

static void everything_in_order(void **state)
{
    (void)state;
    struct notes notes = {.n = 1, .text = {"careful"}};
    struct outbox o;
    outbox_init(&o, &spec, &notes, 99);
    assert_null(next(&o));
    outbox_started(&o, 100, 5);
    add_step(&o, 1);
    outbox_usage(&o, 7, &(struct usage){.cpu_us = 1, .net_bytes = -1}, true);
    assert_null(next(&o));
    outbox_connected(&o);
    assert_string_equal(next(&o), "hello");
    assert_null(next(&o));
    outbox_welcomed(&o, PROTOCOL_VERSION, -1);
    say_ok(&o, 4);
    outbox_answer(&o, &(struct to_server){.kind = TO_SERVER_ERROR, .error = {5, "no"}});
    outbox_exit(&o, "{\"type\":\"exit\"}\n");
    static const char *const want[] = {"started", "warning", "ok", "error", "progress 1 1", "exit"};
    for (size_t i = 0; i < COUNT_OF(want); i++)
        assert_string_equal(next(&o), want[i]);
    assert_null(next(&o));
    outbox_done(&o);
}

static void reconnection_repeats_what_matters(void **state)
{
    (void)state;
    struct notes notes = {0};
    struct outbox o;
    outbox_init(&o, &spec, &notes, 99);
    outbox_started(&o, 100, 5);
    for (int i = 1; i <= 5; i++)
        add_step(&o, i);
    outbox_connected(&o);
    outbox_welcomed(&o, PROTOCOL_VERSION, 0);
    while (next(&o))
        ;
    outbox_exit(&o, "{\"type\":\"exit\"}\n");
    say_ok(&o, 4);
    outbox_connected(&o);
    assert_string_equal(next(&o), "hello");
    outbox_welcomed(&o, PROTOCOL_VERSION, 3);
    assert_string_equal(next(&o), "started");
    assert_string_equal(next(&o), "progress 4 4");
    assert_string_equal(next(&o), "progress 5 5");
    assert_string_equal(next(&o), "exit");
    assert_null(next(&o));
    outbox_done(&o);
}

static void server_that_does_not_say_gets_the_newest_again(void **state)
{
    (void)state;
    struct notes notes = {0};
    struct outbox o;
    outbox_init(&o, &spec, &notes, 99);
    for (int i = 1; i <= 5; i++)
        add_step(&o, i);
    outbox_connected(&o);
    outbox_welcomed(&o, PROTOCOL_VERSION, -1);
    assert_string_equal(next(&o), "hello");
    assert_string_equal(next(&o), "progress 1 1");
    assert_string_equal(next(&o), "progress 2 2");
    outbox_connected(&o);
    outbox_welcomed(&o, PROTOCOL_VERSION, -1);
    assert_string_equal(next(&o), "hello");
    assert_string_equal(next(&o), "progress 2 2");
    assert_string_equal(next(&o), "progress 3 3");
    outbox_done(&o);
}

static void server_that_claims_too_much(void **state)
{
    (void)state;
    struct notes notes = {0};
    struct outbox o;
    outbox_init(&o, &spec, &notes, 99);
    add_step(&o, 1);
    outbox_connected(&o);
    outbox_welcomed(&o, PROTOCOL_VERSION, 1000000);
    assert_string_equal(next(&o), "hello");
    assert_string_equal(next(&o), "progress 1 1");
    outbox_done(&o);
}

/* Whatever the server does, what it ends up with has no gap in the numbers, is in
 * order, has the newest, and the series stays within its bound. */
struct hearer {
    long long seq, step; /* the newest that it has */
    bool up;
};

/* Reads up to so many messages, and may die with the rest unread. */
static void hear_some(struct hearer *h, struct outbox *o, struct rng *rng, uint64_t n)
{
    for (; n > 0 && h->up; n--) {
        const char *m = next(o);
        long long seq, step;
        h->up = rng_below(rng, 50) != 0;
        if (!m || !h->up || sscanf(m, "progress %lld %lld", &seq, &step) != 2)
            continue;
        assert_true(seq == h->seq + 1 && step > h->step);
        h->seq = seq;
        h->step = step;
    }
}

static void hear_the_rest(struct hearer *h, struct outbox *o)
{
    outbox_connected(o);
    outbox_welcomed(o, PROTOCOL_VERSION, h->seq);
    for (const char *m; (m = next(o));) {
        long long seq;
        if (sscanf(m, "progress %lld %lld", &seq, &h->step) == 2)
            assert_int_equal(seq, ++h->seq);
    }
}

static void random_deaths(void **state)
{
    (void)state;
    struct notes notes = {0};
    struct rng rng;
    rng_init(&rng, 1);
    for (unsigned round = 0; round < 200; round++) {
        struct outbox o;
        struct hearer h = {0};
        outbox_init(&o, &spec, &notes, 99);
        for (int i = 1; i <= 2000; i++) {
            add_step(&o, i);
            assert_true(o.progress.n <= SERIES_MAX);
            if (rng_below(&rng, 40) == 0) {
                h.up = rng_below(&rng, 3) != 0;
                outbox_connected(&o);
                if (h.up)
                    outbox_welcomed(&o, PROTOCOL_VERSION, h.seq);
            }
            hear_some(&h, &o, &rng, h.up ? rng_below(&rng, 4) : 0);
        }
        hear_the_rest(&h, &o);
        assert_int_equal(h.step, 2000);
        outbox_done(&o);
    }
}

static void answers_are_bounded_by_who_asks(void **state)
{
    (void)state;
    struct notes notes = {0};
    struct outbox o;
    outbox_init(&o, &spec, &notes, 99);
    outbox_connected(&o);
    outbox_welcomed(&o, PROTOCOL_VERSION, 0);
    assert_string_equal(next(&o), "hello");
    for (int i = 0; i < OUTBOX_ANSWERS; i++) {
        assert_true(outbox_has_room(&o));
        say_ok(&o, i);
    }
    assert_false(outbox_has_room(&o));
    assert_string_equal(next(&o), "ok");
    assert_true(outbox_has_room(&o));
    outbox_done(&o);
}

static void thinning_keeps_the_shape(void **state)
{
    (void)state;
    struct series s = {0};
    for (int i = 1; i <= 10000; i++)
        series_add(&s, &(struct progress_message){.at = i});
    usec_t before = 0, widest = 0;
    size_t n = 0;
    for (const struct progress_message *p; (p = series_take(&s)); n++) {
        assert_int_equal(p->seq, n + 1);
        widest = p->at - before > widest ? p->at - before : widest;
        before = p->at;
    }
    assert_int_equal(before, 10000);
    assert_true(n >= SERIES_MAX / 2);
    assert_true(widest <= 2 * 10000 / (SERIES_MAX / 2));
    series_done(&s);
}

static const struct CMUnitTest tests[] = {
    TEST(everything_in_order),
    TEST(reconnection_repeats_what_matters),
    TEST(server_that_does_not_say_gets_the_newest_again),
    TEST(server_that_claims_too_much),
    TEST(random_deaths),
    TEST(answers_are_bounded_by_who_asks),
    TEST(thinning_keeps_the_shape),
};

int main(void)
{
    return RUN(tests);
}
