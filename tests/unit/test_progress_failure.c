/* Tests of the line that tells why a program failed. */
#include "progress/failure.h"

#include "support/test.h"

static void assert_finds(const char *text, const char *expected)
{
    char out[PROGRESS_FAILURE_BYTES];
    if (!progress_failure_find(text, strlen(text), out))
        fail_msg("nothing found in '%s'", text);
    assert_string_equal(out, expected);
}

static void test_python(void **state)
{
    (void)state;
    assert_finds(
        "epoch 1\nTraceback (most recent call last):\n  File \"t.py\", line 3, in <module>\n"
        "    f()\nRuntimeError: mat1 and mat2 shapes cannot be multiplied (4x3 and 2x5)\n",
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x3 and 2x5)");
    /* The last exception of a chain is the one that ended the program. */
    assert_finds("Traceback (most recent call last):\n  File \"a\"\nKeyError: 'x'\n\n"
                 "During handling of the above exception, another exception occurred:\n\n"
                 "Traceback (most recent call last):\n  File \"b\"\nValueError: bad x\n",
                 "ValueError: bad x");
    /* Lines that follow, as of atexit handlers, do not replace it. */
    assert_finds("Traceback (most recent call last):\n  File \"a\"\n"
                 "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
                 "wandb: Waiting for W&B process to finish... (failed 1).\n",
                 "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB");
    assert_finds(
        "  File \"t.py\", line 1\n    print(\n         ^\nSyntaxError: '(' was never closed\n",
        "SyntaxError: '(' was never closed");
    /* What the workers say goes before what their launcher says. */
    assert_finds(
        "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"t.py\"\n"
        "[rank0]: AssertionError: x\nTraceback (most recent call last):\n  File \"run.py\"\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n",
        "AssertionError: x");
}

static void test_others(void **state)
{
    (void)state;
    assert_finds("terminate called after throwing an instance of 'std::bad_alloc'\n"
                 "  what():  std::bad_alloc\nAborted (core dumped)\n",
                 "what():  std::bad_alloc");
    /* An exception that was survived long ago is not the cause. */
    assert_finds("ValueError: skipped\n1\n2\n3\n4\n5\nSegmentation fault (core dumped)\n",
                 "Segmentation fault (core dumped)");
    assert_finds("loading\npanic: runtime error: index out of range [3] with length 3\n\n"
                 "goroutine 1 [running]:\nmain.main()\n",
                 "panic: runtime error: index out of range [3] with length 3");
    assert_finds("thread 'main' panicked at src/main.rs:2:5:\nexplicit panic\n",
                 "thread 'main' panicked at src/main.rs:2:5:");
    assert_finds("Error in nnet.default(x, y, size = 2) : too many (1026) weights\n"
                 "Execution halted\n",
                 "Error in nnet.default(x, y, size = 2) : too many (1026) weights");
    assert_finds("sh: 1: ./train: not found\n", "sh: 1: ./train: not found");
}

static void test_last_line(void **state)
{
    (void)state;
    /* As a terminal shows it: bars redrawn, colours left out, blank lines skipped. */
    assert_finds("warming up\n\r 10%|#  | 1/10\r 20%|## | 2/10\n\x1b[31mgiving up\x1b[0m\n\n",
                 "giving up");
    assert_finds("no newline", "no newline");
    char out[PROGRESS_FAILURE_BYTES];
    assert_false(progress_failure_find("", 0, out));
    assert_false(progress_failure_find("\n \r\n--\n", 7, out));
}

static void test_long_line(void **state)
{
    (void)state;
    char text[2000], out[PROGRESS_FAILURE_BYTES];
    memset(text, 'x', sizeof text);
    /* A letter of two bytes where it is cut. */
    text[PROGRESS_FAILURE_BYTES - 2] = '\xc3';
    text[PROGRESS_FAILURE_BYTES - 1] = '\xa4';
    assert_true(progress_failure_find(text, sizeof text, out));
    assert_int_equal(strlen(out), PROGRESS_FAILURE_BYTES - 2);
}

static const struct CMUnitTest tests[] = {
    TEST(test_python),
    TEST(test_others),
    TEST(test_last_line),
    TEST(test_long_line),
};

int main(void)
{
    return RUN(tests);
}
