/* Tests of the conductor's progress: what the pieces of the recogniser do at their
 * edges. test_progress_corpus.c has real outputs, test_progress_said.c what a job
 * says itself. */
#include "progress/progress.h"

#include "progress/line.h"
#include "progress/number.h"
#include "progress/vocabulary.h"
#include "progress/words.h"
#include "support/progress_json.h"
#include "support/test.h"

static struct progress_reader *reader(const char *pattern, int64_t total)
{
    struct progress_reader *r = NULL;
    struct err err;
    struct progress_config config = {.pattern = pattern, .total = total};
    assert_ok(progress_create(&config, &r, &err), err);
    return r;
}

static bool feed(struct progress_reader *r, const char *text)
{
    return progress_feed(r, text, strlen(text));
}

/* What is known after the text, as JSON without its braces. */
static void assert_reads(const char *text, const char *expected)
{
    struct progress_reader *r = reader(NULL, 0);
    struct str got = {0};
    feed(r, text);
    progress_settle(r);
    progress_add_json(progress_now(r), &got);
    if (strcmp(got.at ? got.at : "", expected) != 0)
        fail_msg("'%s' gives\n  %s\nnot\n  %s", text, got.at, expected);
    str_done(&got);
    progress_free(r);
}

/* ---- from bytes to lines -------------------------------------------------- */

static void test_line_ends(void **state)
{
    (void)state;
    const char *expected = "\"step\":2,\"total\":9,\"loss\":0.5,\"source\":\"text\"";
    assert_reads("step 1/9 loss 0.7\r\nstep 2/9 loss 0.5\r\n", expected);
    assert_reads("step 1/9 loss 0.7\rstep 2/9 loss 0.5\r", expected);
    assert_reads("step 1/9 loss 0.7\x1b[2Kstep 2/9 loss 0.5", expected);
    assert_reads("step 1/9 loss 0.7\x1b[1Astep 2/9 loss 0.5", expected);
    /* Backspaces go back, and what follows overwrites: from the beginning, or within. */
    assert_reads("step 1/9 loss 0.7\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\bstep 2/9 loss 0.5", expected);
    assert_reads("step 1/9 loss 0.5\b\b\b\b\b\b\b\b\b\b\b\b2", expected);
    assert_reads(" \xe2\x96\x88tep 2/9 loss 0.5\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\bs\r", expected);
    assert_reads("\vstep 2/9 loss 0.5\f", expected);
}

static void test_escapes(void **state)
{
    (void)state;
    const char *expected = "\"step\":2,\"total\":9,\"loss\":0.5,\"source\":\"text\"";
    assert_reads("\x1b[1;32mst\x1b[0mep 2/\x1b[4m9\x1b[m lo\x1b[?25lss 0\x1b[K.5\n", expected);
    assert_reads("\x1b]0;a title 7/8\x07step 2/9 loss 0.5\n", expected);
    assert_reads("\x1b]8;;http://x/\x1b\\step 2/9 loss 0.5\n", expected);
    assert_reads("\x1b(Bstep\x1b[1C2/9 loss\x1b=\x1b[1C0.5\n", expected);
    assert_reads("ste\bep 2/8\b9 loss 0.6\b5\n", expected); /* erased as a spinner does */
    assert_reads("st\x01\x02"
                 "ep 2/9 loss 0.5\n",
                 expected);
    /* A sequence that never ends must not eat the output. */
    assert_reads("\x1b]0;never\nstep 2/9 loss 0.5\n", expected);
    assert_reads("\x1b[\nstep 2/9 loss 0.5\n", expected);
}

static void test_zero_bytes(void **state)
{
    (void)state;
    struct progress_reader *r = reader(NULL, 0);
    assert_false(progress_feed(r, "\0\0\0", 3));
    assert_true(progress_feed(r, "ste\0p 2/9 lo\0ss 0.5\n", 21));
    assert_int_equal(progress_now(r)->step, 2);
    assert_false(progress_feed(r, "", 0));
    progress_free(r);
}

static void test_long_lines(void **state)
{
    (void)state;
    struct progress_reader *r = reader(NULL, 0);
    static char junk[100000];
    memset(junk, 'x', sizeof junk);
    progress_feed(r, junk, sizeof junk);
    assert_true(feed(r, "\nstep 1/9 loss 0.5\n"));
    /* A number that the window would cut is not read by halves. */
    for (size_t pad = 4060; pad < 4110; pad++) {
        memset(junk, 'y', pad);
        junk[pad] = ' ';
        progress_feed(r, junk, pad + 1);
        feed(r, "| step 2/9 loss 0.1234567\n");
        assert_near(progress_now(r)->loss, 0.1234567, 1e-12);
        assert_int_equal(progress_now(r)->total, 9);
    }
    progress_free(r);
}

static void test_settle(void **state)
{
    (void)state;
    struct progress_reader *r = reader(NULL, 0);
    assert_false(progress_settle(r));
    assert_false(feed(r, "step 3/9 loss 0.5"));
    assert_true(progress_settle(r));
    assert_int_equal(progress_now(r)->step, 3);
    assert_false(progress_settle(r)); /* the same again is no news */
    assert_false(feed(r, "\n"));
    assert_true(feed(r, "step 4/9 loss 0.4\n"));
    progress_free(r);
}

/* ---- numbers and names ---------------------------------------------------- */

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
        double value;
    } cases[] = {
        {"0", 1, 0},
        {"12", 2, 12},
        {"-0.5,", 4, -0.5},
        {"+3", 2, 3},
        {"6.9802e+00", 10, 6.9802},
        {"1E-3x", 4, 1e-3},
        {"5e", 1, 5},
        {"1.", 1, 1},
        {"1.2.3", 3, 1.2},
        {"0.3724340796470642", 18, 0.3724340796470642},
        {"123456789012345678901234567890", 30, 1.2345678901234568e29},
        {"1e400", 5, INFINITY},
        {"1e-400", 6, 0},
        {"1e99999999999", 13, INFINITY},
        {"inf", 3, INFINITY},
        {"-Infinity ", 9, -INFINITY},
        {"info", 0, 0},
        {"x", 0, 0},
        {"-", 0, 0},
        {".5", 0, 0},
        {"", 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double value = 0;
        assert_int_equal(progress_number_read(cases[i].text, strlen(cases[i].text), &value),
                         cases[i].length);
        if (cases[i].length)
            assert_near(value, cases[i].value, fabs(cases[i].value) * 1e-15);
    }
    double value = 0;
    assert_int_equal(progress_number_read("NaN", 3, &value), 3);
    assert_true(isnan(value));
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *label, *text;
        enum progress_kind kind;
        bool eval;
        int rank;
    } cases[] = {
        {"loss", "loss", PROGRESS_WORD_LOSS, false, PROGRESS_LOSS_WHOLE},
        {"Train Loss", "train_loss", PROGRESS_WORD_LOSS, false, PROGRESS_LOSS_WHOLE},
        {"Avg. Loss", "avg_loss", PROGRESS_WORD_LOSS, false, PROGRESS_LOSS_ROUGH},
        {"lm loss", "lm_loss", PROGRESS_WORD_LOSS, false, PROGRESS_LOSS_NAMED},
        {"loss_box_reg", "loss_box_reg", PROGRESS_WORD_LOSS, false, PROGRESS_LOSS_PART},
        {"validation-loss", "val_loss", PROGRESS_WORD_LOSS, true, PROGRESS_LOSS_NAMED},
        {"training's binary_logloss", "train_binary_logloss", PROGRESS_WORD_LOSS, false,
         PROGRESS_LOSS_NAMED},
        {"loss scale", "loss_scale", PROGRESS_WORD_IGNORED, false, PROGRESS_LOSS_NONE},
        {"packet loss", "packet_loss", PROGRESS_WORD_IGNORED, false, PROGRESS_LOSS_NONE},
        {"Acc@1", "acc1", PROGRESS_WORD_METRIC, false, PROGRESS_LOSS_NONE},
        {"test_accuracy", "test_accuracy", PROGRESS_WORD_METRIC, true, PROGRESS_LOSS_NONE},
        {"INFO global step", "global_step", PROGRESS_WORD_STEP, false, PROGRESS_LOSS_NONE},
        {"num_updates", "num_updates", PROGRESS_WORD_STEP, false, PROGRESS_LOSS_NONE},
        {"number of skipped iterations", "number_of_skipped_iterations", PROGRESS_WORD_IGNORED,
         false, PROGRESS_LOSS_NONE},
        {"Train Epoch", "train_epoch", PROGRESS_WORD_EPOCH, false, PROGRESS_LOSS_NONE},
        {"best epoch", "best_epoch", PROGRESS_WORD_IGNORED, false, PROGRESS_LOSS_NONE},
        {"Num Epochs", "num_epochs", PROGRESS_WORD_EPOCHS, false, PROGRESS_LOSS_NONE},
        {"learning_rate", "learning_rate", PROGRESS_WORD_IGNORED, false, PROGRESS_LOSS_NONE},
        {"banana", "banana", PROGRESS_WORD_OTHER, false, PROGRESS_LOSS_NONE},
        {"--", "", PROGRESS_WORD_OTHER, false, PROGRESS_LOSS_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct progress_name name;
        progress_name_read(cases[i].label, strlen(cases[i].label), &name);
        assert_string_equal(name.text, cases[i].text);
        if (name.kind != cases[i].kind || name.eval != cases[i].eval || name.rank != cases[i].rank)
            fail_msg("%s: kind %d, eval %d, rank %d", cases[i].label, name.kind, name.eval,
                     name.rank);
    }
}

static void test_vocabulary_is_sorted(void **state)
{
    (void)state;
    const struct progress_word *w, *before = NULL;
    size_t n = 0;
    for (; (w = progress_vocabulary_at(n)); before = w, n++) {
        if (before && strcmp(before->text, w->text) >= 0)
            fail_msg("%s stands before %s", before->text, w->text);
        assert_ptr_equal(progress_vocabulary_find(w->text, strlen(w->text)), w);
    }
    assert_true(n > 100);
    assert_null(progress_vocabulary_find("los", 3));
    assert_null(progress_vocabulary_find("losss", 5));
    assert_null(progress_vocabulary_find("", 0));
}

static void test_very_long_names(void **state)
{
    (void)state;
    assert_reads("step 1/9 loss 0.5 val_top_k_categorical_accuracy_at_ten_percent: 0.25\n",
                 "\"step\":1,\"total\":9,\"loss\":0.5,"
                 "\"metrics\":{\"val_top_k_categorical_accuracy\":0.25},\"source\":\"text\"");
}

/* ---- places --------------------------------------------------------------- */

static void test_epochs_of_batches(void **state)
{
    (void)state;
    assert_reads("epoch 3/10 batch 5/20 loss 0.5\n",
                 "\"step\":45,\"total\":200,\"epoch\":3,\"epochs\":10,\"loss\":0.5,"
                 "\"source\":\"text\"");
    /* The size of the epochs changes on the way. */
    assert_reads("epoch 1/3 batch 10/10 loss 0.5\nepoch 2/3 batch 5/20 loss 0.4\n",
                 "\"step\":15,\"total\":50,\"epoch\":2,\"epochs\":3,\"loss\":0.4,"
                 "\"source\":\"text\"");
    assert_reads("epoch 99/10 batch 1/20 loss 0.5\n",
                 "\"step\":1961,\"total\":1980,\"epoch\":99,\"epochs\":10,\"loss\":0.5,"
                 "\"source\":\"text\"");
}

static void test_steps_of_the_job_or_the_epoch(void **state)
{
    (void)state;
    assert_reads("epoch: 1, iter: 90/200, loss: 1\nepoch: 2, iter: 110/200, loss: 0.5\n",
                 "\"step\":110,\"total\":200,\"epoch\":2,\"loss\":0.5,\"source\":\"text\"");
    assert_reads("epoch: 1, iter: 90/100, loss: 1\nepoch: 2, iter: 10/100, loss: 0.5\n",
                 "\"step\":110,\"epoch\":2,\"loss\":0.5,\"source\":\"text\"");
}

static void test_absurd_numbers(void **state)
{
    (void)state;
    assert_reads("step 99999999999999999999/3 loss 0.5\n", "\"loss\":0.5,\"source\":\"text\"");
    assert_reads("step 999999999999999999/999999999999999999 loss 0.5\n",
                 "\"loss\":0.5,\"source\":\"text\"");
    assert_reads("epoch 1e300 loss 0.5\n", "\"loss\":0.5,\"source\":\"text\"");
    assert_reads("epoch 999999999/999999999 batch 999999999999999/999999999999999 loss 0.5\n",
                 "\"step\":1000000000000000000,\"total\":1000000000000000000,"
                 "\"epoch\":999999999,\"epochs\":999999999,\"loss\":0.5,\"source\":\"text\"");
    assert_reads("step 5/0 loss 0.5\n", "\"step\":5,\"loss\":0.5,\"source\":\"text\"");
}

static void test_stragglers(void **state)
{
    (void)state;
    /* Another worker's late line takes neither the step nor the loss back. */
    assert_reads("step 10 loss 1\nstep 20 loss 0.5\nstep 10 loss 0.9\n",
                 "\"step\":20,\"loss\":0.5,\"source\":\"text\"");
}

static void test_given_total(void **state)
{
    (void)state;
    struct progress_reader *r = reader(NULL, 500);
    assert_int_equal(progress_now(r)->total, 500);
    feed(r, "step 10 loss 0.5\n");
    assert_int_equal(progress_now(r)->total, 500);
    feed(r, "step 500 loss 0.5\n");
    assert_int_equal(progress_now(r)->total, 500);
    /* Going beyond it proves it wrong. */
    feed(r, "step 600 loss 0.5\n");
    assert_false(progress_now(r)->has & PROGRESS_TOTAL);
    assert_null(progress_now(r)->total_from);
    progress_free(r);
}

static void test_weak_yields(void **state)
{
    (void)state;
    struct progress_reader *r = reader(NULL, 0);
    feed(r, " 90%|######### | 90/100 [00:01<00:01, 90.0it/s]\n");
    assert_true(progress_now(r)->weak);
    assert_int_equal(progress_now(r)->step, 90);
    feed(r, "step 1/1000 loss 0.5\n");
    assert_false(progress_now(r)->weak);
    assert_int_equal(progress_now(r)->step, 1);
    feed(r, " 95%|######### | 95/100 [00:01<00:01, 90.0it/s]\n");
    assert_int_equal(progress_now(r)->step, 1);
    progress_free(r);
}

/* However it is written, a loss that is not a number is told as one. */
static void test_diverged(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "epoch 1 loss nan\n",
        "loss: inf\n",
        "loss=Infinity\n",
        "Loss is nan, stopping training\n",
        "step 3/10 train_loss=-inf\n",
        "epoch 3 | loss NaN | ppl 3.2\n",
        "step 4: loss = -nan(ind)\n",
        "{'loss': nan, 'learning_rate': 5e-05, 'epoch': 0.5}\n",
        "{\"step\": 3, \"loss\": NaN}\n",
        "Epoch 3/10\n 45/469 [==>....] - ETA: 12s - loss: nan\n",
        "Cost after iteration 100: nan\n",
        "12:\tlearn: nan\ttotal: 1s\tremaining: 2s\n",
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct progress_reader *r = reader(NULL, 0);
        progress_feed(r, lines[i], strlen(lines[i]));
        if (!progress_now(r)->diverged)
            fail_msg("not seen in: %s", lines[i]);
        /* It is over when the loss is a number again. */
        progress_feed(r, "loss: 0.5\n", 10);
        assert_false(progress_now(r)->diverged);
        progress_free(r);
    }
    struct progress_reader *r = reader(NULL, 0);
    progress_feed(r, "step 3 loss 0.5 val_loss nan grad_norm inf\n", 44);
    assert_false(progress_now(r)->diverged);
    progress_free(r);
}

static void test_nothing(void **state)
{
    (void)state;
    struct progress_reader *r = reader(NULL, 0);
    struct str got = {0};
    progress_add_json(progress_now(r), &got);
    assert_true(!got.at || !*got.at);
    assert_int_equal(progress_now(r)->seq, 0);
    str_done(&got);
    progress_free(r);
    progress_free(NULL);
}

static const struct CMUnitTest tests[] = {
    TEST(test_line_ends),
    TEST(test_escapes),
    TEST(test_zero_bytes),
    TEST(test_long_lines),
    TEST(test_settle),
    TEST(test_numbers),
    TEST(test_names),
    TEST(test_vocabulary_is_sorted),
    TEST(test_very_long_names),
    TEST(test_epochs_of_batches),
    TEST(test_steps_of_the_job_or_the_epoch),
    TEST(test_absurd_numbers),
    TEST(test_stragglers),
    TEST(test_given_total),
    TEST(test_weak_yields),
    TEST(test_diverged),
    TEST(test_nothing),
};

int main(void)
{
    return RUN(tests);
}
