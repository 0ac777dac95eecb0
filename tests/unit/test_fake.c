/* The fake runtime: what it does to operations, nodes and conductors. That it keeps the
 * contract counts most, as the server is tested on it. */
#include "runtime/fake.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC

static const struct runtime_ops *const ops = &runtime_fake;

/* ---- a server ------------------------------------------------------------------- */

struct fixture {
    struct fake *fake;
    struct runtime_host host;
    struct runtime *r;
    unsigned nodes, hellos, exits, lost;
    struct runtime_link *link; /* of the last message; NULL once it is lost */
    struct exit_record exit;   /* the last one */
    bool welcomes;             /* answers each hello with a welcome */
    bool unlinks;              /* ends the link of each hello */
};

/* The server's clock began later than the world's. */
static usec_t read_now(const struct runtime_host *h)
{
    const struct fixture *f = h->ctx;
    return fake_now(f->fake) - 7;
}

static void take_node(struct runtime_host *h, struct runtime *r, const struct runtime_node *n)
{
    struct fixture *f = h->ctx;
    (void)r;
    assert_int_equal(n->cpus, 4 * UNIT);
    f->nodes++;
}

static void take_hello(struct fixture *f, struct runtime_link *link)
{
    struct to_conductor welcome = {
        .kind = TO_CONDUCTOR_WELCOME, .id = -1, .welcome = {PROTOCOL_VERSION, -1}};
    f->hellos++;
    if (f->welcomes)
        ops->send(f->r, link, &welcome);
    if (f->unlinks)
        ops->unlink(f->r, link);
}

static void take_message(struct runtime_host *h, struct runtime_link *link,
                         const struct to_server *m)
{
    struct fixture *f = h->ctx;
    assert_ptr_equal(link->runtime, f->r);
    f->link = link;
    if (m->kind == TO_SERVER_HELLO)
        take_hello(f, link);
    if (m->kind == TO_SERVER_EXIT) {
        f->exits++;
        f->exit = m->exit;
    }
}

static void lose_link(struct runtime_host *h, struct runtime_link *link)
{
    struct fixture *f = h->ctx;
    f->lost++;
    if (f->link == link)
        f->link = NULL;
}

static void open_server(struct fixture *f)
{
    struct err err;
    f->host = (struct runtime_host){.ctx = f,
                                    .now = read_now,
                                    .node = take_node,
                                    .message = take_message,
                                    .unlinked = lose_link};
    runtime_host_init(&f->host);
    assert_ok(ops->open(&f->host, f->fake, &f->r, &err), err);
}

static void begin(struct fixture *f)
{
    struct fake_options o = {.seed = 1, .nodes = 2, .cpus = 4 * UNIT, .report = SECOND};
    *f = (struct fixture){.fake = fake_create(&o)};
    fake_advance(f->fake, 1000 * SECOND);
    open_server(f);
    assert_int_equal(f->nodes, 2);
}

static void end(struct fixture *f)
{
    ops->close(f->r);
    fake_free(f->fake);
}

static void pass(struct fixture *f, usec_t span)
{
    fake_advance(f->fake, fake_now(f->fake) + span);
}

/* ---- operations ----------------------------------------------------------------- */

/* On attempt 1 of the job, on node1, with ten seconds to its deadline. */
static struct runtime_op make_op(const struct fixture *f, enum runtime_op_kind kind, int64_t job)
{
    return (struct runtime_op){.kind = kind,
                               .id = {job, 1, 0},
                               .node = "node1",
                               .deadline = read_now(&f->host) + 10 * SECOND,
                               .size = {.cpus = UNIT, .cpu_limit = UNIT, .cpu_weight = 1}};
}

/* The spec is borrowed during the call only. */
static void begin_start(struct fixture *f, struct runtime_op *op, const char *option)
{
    const char *command[] = {"fake", option, NULL};
    struct launch_spec spec;
    struct arena arena = {0};
    launch_spec_init(&spec);
    spec.command = command;
    spec.token = "t";
    struct runtime_start start = {.spec = &spec, .arena = &arena};
    op->start = &start;
    ops->begin(f->r, op);
    op->start = NULL;
    arena_done(&arena);
}

/* Waits for the answer, which must come by the deadline. */
static int await(struct fixture *f, struct runtime_op *op, struct err *err)
{
    struct runtime_op *complete = runtime_collect(&f->host);
    while (!complete && read_now(&f->host) < op->deadline) {
        usec_t due = fake_due(f->fake), last = fake_now(f->fake) + 10 * SECOND;
        fake_advance(f->fake, due < last ? due : last);
        complete = runtime_collect(&f->host);
    }
    assert_ptr_equal(complete, op);
    assert_true(read_now(&f->host) <= op->deadline);
    *err = op->err;
    return err->code == ERR_OK ? 0 : -1;
}

static void start(struct fixture *f, int64_t job, const char *option)
{
    struct runtime_op op = make_op(f, OP_START, job);
    struct err err;
    begin_start(f, &op, option);
    assert_ok(await(f, &op, &err), err);
}

static enum runtime_fate settle(struct fixture *f, int64_t job, bool give_up)
{
    struct runtime_op op = make_op(f, OP_SETTLE, job);
    struct err err;
    op.give_up = give_up;
    ops->begin(f->r, &op);
    assert_ok(await(f, &op, &err), err);
    return op.fate;
}

static int operate(struct fixture *f, enum runtime_op_kind kind, int64_t job, struct err *err)
{
    struct runtime_op op = make_op(f, kind, job);
    ops->begin(f->r, &op);
    return await(f, &op, err);
}

static void clean(struct fixture *f, int64_t job)
{
    struct err err;
    assert_ok(operate(f, OP_CLEAN, job, &err), err);
}

/* ---- answers -------------------------------------------------------------------- */

static void test_answers_come_later_and_in_order(void **state)
{
    (void)state;
    struct fixture f;
    struct runtime_op op[20], *complete;
    usec_t delays[] = {0, 10 * SECOND};
    begin(&f);
    for (size_t round = 0; round < COUNT_OF(delays); round++) {
        fake_set_faults(f.fake, &(struct fake_faults){.delay = delays[round]});
        for (size_t i = 0; i < COUNT_OF(op); i++) {
            op[i] = make_op(&f, OP_SETTLE, 1 + (int64_t)i);
            ops->begin(f.r, &op[i]);
        }
        assert_null(runtime_collect(&f.host));
        size_t n = 0;
        usec_t began = fake_now(f.fake);
        while (fake_due(f.fake) != USEC_NEVER) {
            pass(&f, fake_due(f.fake) - fake_now(f.fake));
            for (; (complete = runtime_collect(&f.host)); n++) {
                assert_true(complete->err.code == ERR_OK && complete->fate == FATE_PENDING);
                assert_true(delays[round] || complete == &op[n]);
            }
        }
        assert_int_equal(n, COUNT_OF(op));
        assert_true(fake_now(f.fake) - began <= delays[round]);
    }
    end(&f);
}

static void test_a_lost_reply_is_told_at_the_deadline(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    fake_set_faults(f.fake, &(struct fake_faults){.reply_lost = 1});
    struct runtime_op op = make_op(&f, OP_START, 1);
    begin_start(&f, &op, "work=100");
    pass(&f, 10 * SECOND - 1);
    assert_int_equal(fake_truth_of(f.fake, 1).running, 1);
    assert_null(runtime_collect(&f.host));
    pass(&f, 1);
    assert_ptr_equal(runtime_collect(&f.host), &op);
    assert_int_equal(op.err.code, ERR_UNREACHABLE);
    fake_set_faults(f.fake, &(struct fake_faults){0});
    assert_int_equal(settle(&f, 1, true), FATE_RUNNING);
    end(&f);
}

static void test_a_refusal_has_no_effect(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;
    begin(&f);
    start(&f, 1, "work=100");
    fake_set_faults(f.fake, &(struct fake_faults){.op_fails = 1});
    assert_error(operate(&f, OP_CLEAN, 1, &err), err, ERR_IO, "refused");
    assert_int_equal(fake_truth_of(f.fake, 1).running, 1);
    end(&f);
}

/* Each is answered by its deadline, and has had its effect by then or never has it. */
static void test_a_slow_engine_is_not_waited_for(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;
    unsigned slow = 0;
    begin(&f);
    fake_set_faults(f.fake, &(struct fake_faults){.delay = 30 * SECOND});
    for (int64_t job = 1; job <= 20; job++) {
        struct runtime_op op = make_op(&f, OP_START, job);
        begin_start(&f, &op, "work=1000");
        bool refused = await(&f, &op, &err) < 0;
        assert_int_equal(refused ? ERR_UNREACHABLE : ERR_OK, err.code);
        pass(&f, 60 * SECOND);
        assert_int_equal(fake_truth_of(f.fake, job).begun, !refused);
        slow += refused;
    }
    assert_true(slow > 5 && slow < 20);
    end(&f);
}

static void test_what_is_unknown_is_not_found(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;
    begin(&f);
    assert_error(operate(&f, OP_RESIZE, 1, &err), err, ERR_NOT_FOUND, "job 1, attempt 1");
    assert_error(operate(&f, OP_FREEZE, 1, &err), err, ERR_NOT_FOUND, "job 1, attempt 1");
    clean(&f, 1);
    struct runtime_op op = make_op(&f, OP_CLEAN, 1);
    op.node = "elsewhere";
    ops->begin(f.r, &op);
    assert_error(await(&f, &op, &err), err, ERR_NOT_FOUND, "no such node");
    end(&f);
}

/* ---- once ----------------------------------------------------------------------- */

static void test_a_name_is_free_again_after_clean(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    start(&f, 1, "work=1");
    pass(&f, 2 * SECOND);
    assert_int_equal(settle(&f, 1, true), FATE_ENDED);
    start(&f, 1, "work=1");
    pass(&f, 2 * SECOND);
    assert_int_equal(fake_truth_of(f.fake, 1).begun, 1);
    assert_int_equal(fake_truth_of(f.fake, 1).left, 1);
    clean(&f, 1);
    assert_int_equal(fake_truth_of(f.fake, 1).left, 0);
    assert_int_equal(fake_overlaps(f.fake), 0);
    start(&f, 1, "work=1");
    pass(&f, 2 * SECOND);
    assert_int_equal(fake_truth_of(f.fake, 1).begun, 2);
    assert_int_equal(fake_overlaps(f.fake), 1);
    end(&f);
}

/* Also once it is cleaned up: a start of a server that is gone can still be on its way. */
static void test_what_is_given_up_never_runs(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    assert_int_equal(settle(&f, 1, false), FATE_PENDING);
    for (unsigned twice = 0; twice < 2; twice++) {
        assert_int_equal(settle(&f, 1, true), FATE_NEVER_RAN);
        start(&f, 1, "work=1");
        pass(&f, SECOND);
        assert_int_equal(fake_truth_of(f.fake, 1).begun, 0);
        clean(&f, 1);
    }
    end(&f);
}

/* The server is gone, or cannot be heard: what it has said before still counts. */
static void test_what_is_under_way_survives_the_server(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    struct runtime_op op[2] = {make_op(&f, OP_START, 1), make_op(&f, OP_START, 2)};
    fake_mute_after(f.fake, 1);
    begin_start(&f, &op[0], "work=100");
    begin_start(&f, &op[1], "work=100");
    ops->close(f.r);
    fake_mute_after(f.fake, UINT32_MAX);
    pass(&f, 20 * SECOND);
    assert_null(runtime_collect(&f.host));
    assert_int_equal(fake_truth_of(f.fake, 1).running, 1);
    assert_int_equal(fake_truth_of(f.fake, 2).begun, 0);
    assert_int_equal(f.hellos, 0);
    open_server(&f);
    pass(&f, SECOND);
    assert_int_equal(f.hellos, 1);
    end(&f);
}

static void test_what_is_not_adopted_is_swept(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    start(&f, 1, "work=100");
    start(&f, 2, "work=100");
    ops->close(f.r);
    open_server(&f);
    ops->adopt(f.r, (struct attempt_id){1, 1, 0}, "node1", &(struct runtime_size){.cpus = UNIT});
    ops->sweep(f.r);
    pass(&f, SECOND);
    assert_int_equal(fake_truth_of(f.fake, 1).running, 1);
    assert_int_equal(fake_truth_of(f.fake, 2).left, 0);
    assert_int_equal(settle(&f, 2, false), FATE_LOST);
    assert_int_equal(f.hellos, 3);
    end(&f);
}

/* ---- nodes ---------------------------------------------------------------------- */

static void test_a_node_that_is_cut_off_cannot_be_reached(void **state)
{
    (void)state;
    struct fixture f;
    struct err err;
    begin(&f);
    start(&f, 1, "work=100");
    pass(&f, SECOND);
    fake_cut_node(f.fake, 0, fake_now(f.fake) + 30 * SECOND);
    assert_int_equal(f.lost, 1);
    usec_t began = fake_now(f.fake);
    assert_error(operate(&f, OP_CLEAN, 1, &err), err, ERR_UNREACHABLE, "cannot be reached");
    assert_int_equal(fake_now(f.fake) - began, 10 * SECOND);
    assert_int_equal(fake_truth_of(f.fake, 1).running, 1);
    struct runtime_op op = make_op(&f, OP_START, 2);
    op.node = "node2";
    begin_start(&f, &op, "work=100");
    assert_ok(await(&f, &op, &err), err);
    pass(&f, 19 * SECOND);
    assert_int_equal(f.hellos, 2);
    pass(&f, 2 * SECOND);
    assert_int_equal(f.hellos, 3);
    assert_int_equal(settle(&f, 1, true), FATE_RUNNING);
    end(&f);
}

static void test_a_cut_can_end_early(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    start(&f, 1, "work=100");
    fake_cut_node(f.fake, 0, fake_now(f.fake) + 30 * SECOND);
    pass(&f, SECOND);
    assert_int_equal(f.lost, f.hellos);
    fake_cut_node(f.fake, 0, 0);
    pass(&f, SECOND);
    assert_int_equal(f.hellos, f.lost + 1);
    end(&f);
}

static void test_a_reboot_ends_what_runs(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    start(&f, 1, "work=100");
    start(&f, 2, "work=1");
    pass(&f, 2 * SECOND);
    fake_reboot_node(f.fake, 0);
    assert_int_equal(settle(&f, 1, false), FATE_LOST);
    assert_int_equal(settle(&f, 2, false), FATE_ENDED);
    unsigned before = f.hellos;
    ops->close(f.r);
    open_server(&f);
    pass(&f, SECOND);
    assert_int_equal(f.hellos, before);
    end(&f);
}

/* ---- conductors ----------------------------------------------------------------- */

/* Several things happen in one step, each at its time. */
static void test_a_job_runs_and_its_end_is_told(void **state)
{
    (void)state;
    struct fixture f;
    struct to_conductor ack = {.kind = TO_CONDUCTOR_ACK, .id = -1, .ack = {.what = ACK_EXIT}};
    begin(&f);
    f.welcomes = true;
    struct runtime_op op = make_op(&f, OP_START, 1);
    op.size.cpus = 2 * UNIT;
    begin_start(&f, &op, "work=8");
    usec_t began = fake_now(f.fake);
    pass(&f, 20 * SECOND);
    assert_ptr_equal(runtime_collect(&f.host), &op);
    assert_int_equal(f.hellos, 1);
    assert_int_equal(f.exits, 1);
    assert_int_equal(f.exit.code, 0);
    assert_int_equal(f.exit.at - began, 4 * SECOND);
    assert_int_equal(f.lost, 0);
    ops->send(f.r, f.link, &ack);
    pass(&f, SECOND);
    assert_int_equal(f.lost, 1);
    assert_int_equal(fake_due(f.fake), USEC_NEVER);
    end(&f);
}

static void test_a_message_is_lost_with_its_link(void **state)
{
    (void)state;
    struct fixture f;
    struct to_conductor stop = {.kind = TO_CONDUCTOR_STOP, .id = -1, .stop = {.reason = "cancel"}};
    begin(&f);
    start(&f, 1, "work=100");
    pass(&f, SECOND);
    ops->send(f.r, f.link, &stop);
    fake_cut_node(f.fake, 0, fake_now(f.fake) + 1);
    pass(&f, 2 * SECOND);
    assert_int_equal(f.hellos, 2);
    assert_int_equal(fake_truth_of(f.fake, 1).running, 1);
    ops->send(f.r, f.link, &stop);
    pass(&f, 2 * SECOND);
    assert_int_equal(fake_truth_of(f.fake, 1).running, 0);
    end(&f);
}

static void test_an_unlinked_conductor_comes_again(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    fake_set_faults(f.fake, &(struct fake_faults){.reconnect = SECOND});
    start(&f, 1, "work=1000");
    f.unlinks = true;
    fake_cut_node(f.fake, 0, fake_now(f.fake) + 1);
    pass(&f, 60 * SECOND);
    assert_true(f.hellos > 20);
    assert_true(f.lost <= 1);
    end(&f);
}

static const struct CMUnitTest tests[] = {
    TEST(test_answers_come_later_and_in_order),
    TEST(test_a_lost_reply_is_told_at_the_deadline),
    TEST(test_a_refusal_has_no_effect),
    TEST(test_a_slow_engine_is_not_waited_for),
    TEST(test_what_is_unknown_is_not_found),
    TEST(test_a_name_is_free_again_after_clean),
    TEST(test_what_is_given_up_never_runs),
    TEST(test_what_is_under_way_survives_the_server),
    TEST(test_what_is_not_adopted_is_swept),
    TEST(test_a_node_that_is_cut_off_cannot_be_reached),
    TEST(test_a_cut_can_end_early),
    TEST(test_a_reboot_ends_what_runs),
    TEST(test_a_job_runs_and_its_end_is_told),
    TEST(test_a_message_is_lost_with_its_link),
    TEST(test_an_unlinked_conductor_comes_again),
};

int main(void)
{
    return RUN(tests);
}
