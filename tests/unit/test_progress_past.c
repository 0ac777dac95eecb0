/* Tests of comparing runs by their command lines. */
#include "progress/past.h"

#include "support/test.h"

enum { WORDS = 16 };

/* Splits at blanks; the list ends with NULL. */
static void split(char *text, const char *words[WORDS])
{
    size_t n = 0;
    for (char *save, *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        words[n++] = word;
    words[n] = NULL;
}

static void assert_category(const char *command, const char *want)
{
    AUTO_FREE char *text = xstrdup(command);
    const char *words[WORDS];
    struct str got = {0};
    split(text, words);
    progress_past_category(words, "/w", &got);
    assert_string_equal(got.at, want);
    str_done(&got);
}

static void assert_model(const char *command, const char *want)
{
    AUTO_FREE char *text = xstrdup(command);
    const char *words[WORDS];
    split(text, words);
    const char *got = progress_past_model(words);
    if (want)
        assert_string_equal(got, want);
    else
        assert_null(got);
}

static void test_models(void **state)
{
    (void)state;
    assert_model("python3 t.py --model resnet50 --lr 1", "resnet50");
    assert_model("python3 t.py --arch=vgg16", "vgg16");
    assert_model("python3 t.py model=bert", "bert");
    assert_model("python3 t.py --model", NULL);
    assert_model("python3 t.py --model --lr 1", NULL);
    assert_model("python3 t.py --model-dir /m --models 3", NULL);
}

static void test_categories(void **state)
{
    (void)state;
    assert_category("python3 train.py --epochs 3", "python3 /w/train.py");
    assert_category("/usr/bin/python3 -u ./train.py", "python3 /w/train.py");
    assert_category("python3 -m torch.distributed.run --nproc 2 /s/train.py",
                    "python3 /s/train.py");
    assert_category("./train.sh 5", "/w/train.sh");
    assert_category("fasttext supervised -input x", "fasttext supervised");
    assert_category("darknet detector train cfg/a.data", "darknet detector train");
    assert_category("./build/train --steps 5", "/w/build/train");
    assert_category("xgboost train.conf num_round=20", "xgboost");
    assert_category("sh -c exit", "sh -c exit");
}

static double scale(const char *now, const char *then)
{
    AUTO_FREE char *a = xstrdup(now), *b = xstrdup(then);
    const char *x[WORDS], *y[WORDS];
    split(a, x);
    split(b, y);
    return progress_past_scale(x, y);
}

static void test_scales(void **state)
{
    (void)state;
    assert_near(scale("p t.py --epochs 3", "p t.py --epochs 3"), 1, 0);
    assert_near(scale("p t.py --epochs 6", "p t.py --epochs 3"), 2, 0);
    assert_near(scale("p t.py --max_iters=50", "p t.py --max_iters=100"), 0.5, 0);
    assert_near(scale("x a.conf num_round=30", "x a.conf num_round=10"), 3, 0);
    assert_near(scale("p t.py --seed 2 --lr=0.1", "p t.py --seed 1 --lr=0.2"), 1, 0);
    assert_near(scale("p t.py --run-name b", "p t.py --run-name a"), 1, 0);
    /* Whatever else differs may change everything. */
    assert_near(scale("p t.py --batch-size 8", "p t.py --batch-size 4"), 0, 0);
    assert_near(scale("p t.py --data b", "p t.py --data a"), 0, 0);
    assert_near(scale("p t.py a", "p t.py b"), 0, 0);
    assert_near(scale("p t.py --fast", "p t.py --slow"), 0, 0);
    assert_near(scale("p t.py", "p t.py --fast"), 0, 0);
    assert_near(scale("p t.py --epochs x", "p t.py --epochs 3"), 0, 0);
    assert_near(scale("p t.py --epochs 0", "p t.py --epochs 3"), 0, 0);
    assert_near(scale("p t.py --epochs 6 --steps 8", "p t.py --epochs 3 --steps 4"), 0, 0);
}

static const struct CMUnitTest tests[] = {
    TEST(test_categories),
    TEST(test_models),
    TEST(test_scales),
};

int main(void)
{
    return RUN(tests);
}
