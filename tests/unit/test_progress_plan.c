/* Tests of how long a run is meant to be: limits in command lines, configuration files,
 * scripts and announcements, and what the output makes of them. */
#include "progress/command.h"
#include "progress/progress.h"

#include "support/test.h"

#define EPOCH PROGRESS_UNIT_EPOCH
#define STEP PROGRESS_UNIT_STEP

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum progress_unit unit;
    } table[] = {
        {"epochs", EPOCH},
        {"num_train_epochs", EPOCH},
        {"max-epoch", EPOCH},
        {"trainer.max_epochs", EPOCH},
        {"maxEpochs", EPOCH},
        {"nepoch", EPOCH},
        {"max_iters", STEP},
        {"SOLVER.MAX_ITER", STEP},
        {"num_boost_round", STEP},
        {"n_estimators", STEP},
        {"training_steps", STEP},
        {"total-timesteps", PROGRESS_UNIT_TIMESTEP},
        {"n_episodes", PROGRESS_UNIT_EPISODE},
        {"ngen", PROGRESS_UNIT_GENERATION},
        {"kimg", PROGRESS_UNIT_KIMG},
        {"warmup_epochs", PROGRESS_UNIT_NONE},
        {"lr_decay_iters", PROGRESS_UNIT_NONE},
        {"eval_steps", PROGRESS_UNIT_NONE},
        {"steps_per_epoch", PROGRESS_UNIT_NONE},
        {"save_every_n_epochs", PROGRESS_UNIT_NONE},
        {"gradient_accumulation_steps", PROGRESS_UNIT_NONE},
        {"step", PROGRESS_UNIT_NONE},
        {"lr", PROGRESS_UNIT_NONE},
        {"", PROGRESS_UNIT_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        if (progress_plan_unit(table[i].name, strlen(table[i].name)) != table[i].unit)
            fail_msg("'%s' limits something else", table[i].name);
    }
}

static void test_values(void **state)
{
    (void)state;
    int64_t value = 0;
    assert_int_equal(progress_plan_value("2000", 4, &value), 4);
    assert_int_equal(value, 2000);
    assert_int_equal(progress_plan_value("1e6", 3, &value), 3);
    assert_int_equal(value, 1000000);
    assert_int_equal(progress_plan_value("1_000_000 ", 10, &value), 9);
    assert_int_equal(value, 1000000);
    static const char *const bad[] = {"", "0", "-1", "1.5", "x", "_1", "1e400", "nan"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(progress_plan_value(bad[i], strlen(bad[i]), &value), 0);
}

static struct progress_plan plan_of(int argc, const char *const *argv)
{
    struct progress_plan p = {0};
    progress_command_read(&p, argc, argv);
    return p;
}

static void test_command(void **state)
{
    (void)state;
    static const char *const options[] = {"python3",          "train.py", "--epochs", "14",
                                          "--max_iters=2000", "--lr",     "10"};
    struct progress_plan p = plan_of(7, options);
    assert_int_equal(p.limit[EPOCH].value, 14);
    assert_string_equal(p.limit[EPOCH].from, "--epochs 14");
    assert_int_equal(p.limit[STEP].value, 2000);
    assert_string_equal(p.limit[STEP].from, "--max_iters=2000");
    static const char *const settings[] = {"xgboost", "a.conf", "num_round=20"};
    assert_int_equal(plan_of(3, settings).limit[STEP].value, 20);
    static const char *const list[] = {"trainer.py",
                                       "--parameters=batch_size=4096,train_steps=2000,x=[0]"};
    assert_int_equal(plan_of(2, list).limit[STEP].value, 2000);
    assert_string_equal(plan_of(2, list).limit[STEP].from, "train_steps=2000");
    static const char *const upper[] = {"train_net.py", "SOLVER.MAX_ITER", "3000"};
    assert_int_equal(plan_of(3, upper).limit[STEP].value, 3000);
    static const char *const shell[] = {"sh", "-c", "cd x; python t.py --epochs '7' && echo"};
    p = plan_of(3, shell);
    assert_int_equal(p.limit[EPOCH].value, 7);
    assert_string_equal(p.limit[EPOCH].from, "--epochs 7");
    /* A loop around a program repeats it; one that only prints is the training itself. */
    static const char *const loop[] = {"sh", "-c", "for s in 1 2; do python t.py --epochs 7; done"};
    assert_true(plan_of(3, loop).repeats);
    static const char *const prints[] = {
        "/bin/sh", "-c", "i=0; while [ $i -lt 9 ]; do i=$((i + 1)); echo step $i/9; sleep 1; done"};
    assert_false(plan_of(3, prints).repeats);
    static const char *const code[] = {"python3", "-u", "-c", "for i in range(9): train(i)"};
    assert_false(plan_of(4, code).repeats);
    /* The last one counts, as for most programs. */
    static const char *const twice[] = {"t", "--epochs", "3", "--epochs", "5"};
    assert_int_equal(plan_of(5, twice).limit[EPOCH].value, 5);
    static const char *const none[] = {"t",      "--epochs", "--steps=x",
                                       "epochs", "3",        "--max-steps=-1"};
    p = plan_of(6, none);
    assert_int_equal(p.limit[EPOCH].value, 0);
    assert_int_equal(p.limit[STEP].value, 0);
}

static void test_files_of_a_command(void **state)
{
    (void)state;
    const char *path = NULL;
    assert_int_equal(progress_command_file("--config=conf/a.yaml", &path), PROGRESS_FILE_CONFIG);
    assert_string_equal(path, "conf/a.yaml");
    assert_int_equal(progress_command_file("config/train.py", &path), PROGRESS_FILE_SCRIPT);
    assert_string_equal(path, "config/train.py");
    assert_int_equal(progress_command_file("data.bin", &path), PROGRESS_FILE_OTHER);
    assert_int_equal(progress_command_file(".yaml", &path), PROGRESS_FILE_OTHER);
}

static struct progress_plan plan_in(enum progress_file_kind kind, const char *text)
{
    struct progress_plan p = {0};
    progress_script_read(&p, kind, "dir/file", text, strlen(text));
    return p;
}

static void test_configuration(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "model:\n  layers: 3\ntrainer:\n  max_epochs: 14 # enough\n",
        "{\"epochs\": 14, \"lr\": 0.1}",
        "{\n  \"train\": {\n    \"num_train_epochs\": 14\n  }\n}\n",
        "[train]\nepochs = 14\n# epochs = 20\n",
        "train {\n  num_epochs: 14\n}\n",
        "epochs=14\nwarmup_epochs=3\n",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (plan_in(PROGRESS_FILE_CONFIG, texts[i]).limit[EPOCH].value != 14)
            fail_msg("not found in: %s", texts[i]);
    }
    struct progress_plan p = plan_in(PROGRESS_FILE_CONFIG, "max_batches = 4000\nsteps=3200,3600\n");
    assert_string_equal(p.limit[STEP].from, "file: max_batches 4000");
    /* Two values of one kind: nobody knows which. */
    assert_int_equal(
        plan_in(PROGRESS_FILE_CONFIG, "epochs: 3\nfine: {epochs: 5}\n").limit[EPOCH].value, 0);
    assert_int_equal(plan_in(PROGRESS_FILE_CONFIG, "epochs: 2 * n\n").limit[EPOCH].value, 0);
}

static void test_script(void **state)
{
    (void)state;
    static const char *const texts[] = {
        ("parser.add_argument('--epochs', type=int, default=14, metavar='N',\n"
         "                    help='number of epochs to train (default: 14)')\n"),
        ("parser.add_argument(\n    '-e', '--num-epochs',\n    default=14)\n"
         "parser.add_argument('--log-interval', type=int, default=10)\n"),
        "flags.DEFINE_integer('num_epochs', 14, 'how many')\n",
        "EPOCHS = 14\nmodel.fit(x, y, epochs=EPOCHS)\n",
        "@dataclass\nclass Config:\n    epochs: int = 14\n",
        "for epoch in range(14):\n    train()\n",
        "for epoch in range(1, 15):\n    train()\n",
        "for epoch in range(0, 14):\n    train()\n",
        "for epoch in range(start_epoch, start_epoch+14):\n    train()\n",
        "for epoch in range(first, first + 14):\n    train()\n",
        "trainer = Trainer(max_epochs=14, devices=1)\n",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (plan_in(PROGRESS_FILE_SCRIPT, texts[i]).limit[EPOCH].value != 14)
            fail_msg("not found in: %s", texts[i]);
    }
    static const char *const none[] = {
        "for epoch in range(args.epochs):\n",
        "if epochs == 14:\n",
        "epochs = 14 * n\n",
        "for epoch in range(start, 14):\n",
        "for epoch in range(start, end+14):\n",
        "epochs = int(x)\n",
        "epochs = 14.5\n",
    };
    for (size_t i = 0; i < COUNT_OF(none); i++) {
        if (plan_in(PROGRESS_FILE_SCRIPT, none[i]).limit[EPOCH].value)
            fail_msg("found in: %s", none[i]);
    }
}

/* The command goes before the file, the file before the script. */
static void test_origins(void **state)
{
    (void)state;
    struct progress_plan p = {0};
    progress_script_read(&p, PROGRESS_FILE_SCRIPT, "t.py", "epochs = 3\n", 11);
    progress_script_read(&p, PROGRESS_FILE_CONFIG, "a.yaml", "epochs: 5\n", 10);
    assert_int_equal(p.limit[EPOCH].value, 5);
    static const char *const argv[] = {"t.py", "--epochs", "7"};
    progress_command_read(&p, 3, argv);
    progress_script_read(&p, PROGRESS_FILE_CONFIG, "a.yaml", "epochs: 9\n", 10);
    assert_int_equal(p.limit[EPOCH].value, 7);
}

static void test_total(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum progress_unit unit;
        int64_t value;
    } table[] = {
        {"500", PROGRESS_UNIT_NONE, 500},
        {"500steps", STEP, 500},
        {"10epochs", EPOCH, 10},
        {"10 epochs", EPOCH, 10},
        {"1epoch", EPOCH, 1},
        {"2e5 timesteps", PROGRESS_UNIT_TIMESTEP, 200000},
        {"1_000iters", STEP, 1000},
        {"3 Episodes", PROGRESS_UNIT_EPISODE, 3},
    };
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        enum progress_unit unit = PROGRESS_UNIT_NONE;
        int64_t value = 0;
        struct err err;
        assert_ok(progress_total_parse(table[i].text, &unit, &value, &err), err);
        assert_int_equal(unit, table[i].unit);
        assert_int_equal(value, table[i].value);
    }
    static const char *const bad[] = {"",           "x",      "0",         "-3",
                                      "10 bananas", "epochs", "1.5epochs", "10h"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        enum progress_unit unit;
        int64_t value;
        struct err err = {0};
        assert_int_equal(progress_total_parse(bad[i], &unit, &value, &err), -1);
        assert_int_equal(err.code, ERR_INVALID);
    }
}

/* ---- with output -------------------------------------------------------------------- */

static void assert_total(const char *command, const char *output, int64_t step, int64_t total,
                         const char *from)
{
    struct progress_plan plan = plan_of(1, &command);
    struct progress_reader *r = NULL;
    struct err err;
    assert_ok(progress_create(&(struct progress_config){.plan = &plan}, &r, &err), err);
    progress_feed(r, output, strlen(output));
    const struct progress *p = progress_now(r);
    int64_t got = p->has & PROGRESS_TOTAL ? p->total : 0;
    if (p->step != step || got != total)
        fail_msg("%s with '%s': step %lld of %lld", command, output, (long long)p->step,
                 (long long)got);
    assert_int_equal(!p->total_from, !from);
    if (from)
        assert_string_equal(p->total_from, from);
    progress_free(r);
}

static void test_output_with_a_plan(void **state)
{
    (void)state;
    assert_total("t --epochs 10", "epoch 3 loss 0.5\n", 3, 10, "--epochs 10");
    assert_total("t --max-steps 100", "step 30 loss 0.5\n", 30, 100, "--max-steps 100");
    /* What the output says goes before the plan. */
    assert_total("t --epochs 10", "epoch 3/12 loss 0.5\n", 3, 12, "output");
    /* Steps of an epoch, and the number of epochs. */
    assert_total("t --epochs 10", "Train Epoch: 2 [5/20] Loss: 0.5\n", 25, 200, "--epochs 10");
    /* Only batches are printed, and they begin again. */
    assert_total("t --epochs 3 ",
                 "batch 5/10 loss 0.9\nbatch 10/10 loss 0.8\nbatch 1/10 loss 0.7\n", 11, 30,
                 "--epochs 3");
    /* Of two limits the first that is reached counts. */
    assert_total("t --epochs 100 --max-steps 50",
                 "epoch 1 global step 10 loss 1\nepoch 2 global step 20 loss 0.9\n", 20, 50,
                 "--max-steps 50");
    /* A bar may be of an epoch: that is not known before it begins again. */
    assert_total("t --epochs 3 ", " 50%|##   | 5/10 [00:01<00:01, 5.0it/s]\n", 5, 0, NULL);
    /* Other units. */
    /* "[0/4]" is the first of four, or of five? */
    assert_total("t --niter 4", "[1/4][5/20] Loss_D: 0.5 Loss_G: 0.4\n", 5, 80, "output");
    assert_total("t --niter 4",
                 "[0/4][5/20] Loss_D: 0.5 Loss_G: 0.4\n[1/4][5/20] Loss_D: 0.5 Loss_G: 0.4\n", 25,
                 80, "output");
    assert_total("t --epochs 7", "Epoch 0/6\nloss 0.5\n", 0, 7, "output");
    assert_total("t --episodes 10", "step 3 loss 0.5\n", 3, 0, NULL);
    assert_total("t --warmup-epochs 10", "epoch 3 loss 0.5\n", 3, 0, NULL);
}

static void test_contradiction(void **state)
{
    (void)state;
    assert_total("t --epochs 10", "epoch 10 loss 0.5\n", 10, 10, "--epochs 10");
    assert_total("t --epochs 10", "epoch 10 loss 0.5\nepoch 11 loss 0.4\n", 11, 0, NULL);
    assert_total("t --steps=100", "step 100 loss 0.5\n", 100, 100, "--steps=100");
    assert_total("t --steps=100", "step 101 loss 0.5\nstep 90 loss 0.4\n", 101, 0, NULL);
    assert_total("t --epochs 2 ",
                 "batch 9/9 loss 1\nbatch 1/9 loss 1\nbatch 9/9 loss 1\n"
                 "batch 1/9 loss 1\n",
                 19, 0, NULL);
}

static void test_announced(void **state)
{
    (void)state;
    assert_total("t", "max_epochs: 10\nepoch 3 loss 0.5\n", 3, 10, "output");
    assert_total("t", "Namespace(batch_size=64, epochs=10, lr=1.0)\nepoch 3 loss 0.5\n", 3, 10,
                 "output");
    assert_total("t", "Start training for 10 epochs\nepoch 3 loss 0.5\n", 3, 10, "output");
    assert_total("t", "max_iters = 500\nOverriding: max_iters = 200\nstep 3 loss 0.5\n", 3, 200,
                 "output");
    /* The command goes before it. */
    assert_total("t --epochs=7", "max_epochs: 10\nepoch 3 loss 0.5\n", 3, 7, "--epochs=7");
}

static void test_given_epochs(void **state)
{
    (void)state;
    struct progress_reader *r = NULL;
    struct err err;
    const struct progress_config config = {.total = 4, .total_unit = EPOCH};
    static const char output[] = "Train Epoch: 2 [5/20] Loss: 0.5\n";
    assert_ok(progress_create(&config, &r, &err), err);
    progress_feed(r, output, sizeof output - 1);
    assert_int_equal(progress_now(r)->total, 80);
    assert_string_equal(progress_now(r)->total_from, "--total");
    progress_free(r);
}

/* What an earlier run suggests counts where nothing else is known, and until it is exceeded. */
static void test_past(void **state)
{
    (void)state;
    struct progress_reader *r;
    const struct progress_config config = {.past = 30};
    struct err err;
    assert_ok(progress_create(&config, &r, &err), err);
    progress_feed(r, "Iteration 3, loss = 0.5\n", 24);
    assert_int_equal(progress_now(r)->total, 30);
    assert_string_equal(progress_now(r)->total_from, "earlier runs");
    progress_feed(r, "Iteration 31, loss = 0.25\n", 26);
    assert_false(progress_now(r)->has & PROGRESS_TOTAL);
    progress_free(r);
    assert_ok(progress_create(&config, &r, &err), err);
    progress_feed(r, "step 3/20, loss = 0.5\n", 22);
    assert_int_equal(progress_now(r)->total, 20);
    progress_free(r);
}

static const struct CMUnitTest tests[] = {
    TEST(test_names),
    TEST(test_values),
    TEST(test_command),
    TEST(test_files_of_a_command),
    TEST(test_configuration),
    TEST(test_script),
    TEST(test_origins),
    TEST(test_total),
    TEST(test_output_with_a_plan),
    TEST(test_contradiction),
    TEST(test_announced),
    TEST(test_given_epochs),
    TEST(test_past),
};

int main(void)
{
    return RUN(tests);
}
