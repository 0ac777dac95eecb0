/* Tests of cli/command: which words a command takes, in which order, and what it
 * says of the others; and its help. */
#include "cli/command.h"

#include "support/test.h"

static int run_nothing(const struct args *args)
{
    (void)args;
    return 0;
}

static const struct option options[] = {
    {"nodes", 'n', "SPEC", "the cluster", false},
    {"policy", 'p', "P", "a policy", true},
    {"json", 0, NULL, "one object a line", false},
    {0},
};

static const struct command command = {
    .name = "sim",
    .summary = "Run policies",
    .operands = "TRACE [MORE]",
    .details = "Some words\nabout it.",
    .examples = "  trainyard sim x",
    .options = options,
    .min_operands = 1,
    .max_operands = 2,
    .run = run_nothing,
};

enum { WORDS_MAX = 16 };

/* Splits a line at blanks; "''" is an empty word. */
static int split(char *line, char **words)
{
    int n = 0;
    for (char *rest, *p = strtok_r(line, " ", &rest); p; p = strtok_r(NULL, " ", &rest))
        words[n++] = strcmp(p, "''") ? p : "";
    return n;
}

static char buffer[256];

static struct args parsed(const char *line)
{
    char *words[WORDS_MAX];
    struct args a;
    struct err err;
    snprintf(buffer, sizeof buffer, "%s", line);
    int n = split(buffer, words);
    assert_ok(args_parse(&command, n, words, &a, &err), err);
    return a;
}

static void refuse(const char *line, const char *text)
{
    char *words[WORDS_MAX];
    struct args a;
    struct err err;
    snprintf(buffer, sizeof buffer, "%s", line);
    int n = split(buffer, words);
    assert_error(args_parse(&command, n, words, &a, &err), err, ERR_INVALID, text);
}

static void test_words(void **state)
{
    (void)state;
    static const char *const same[] = {
        "--nodes 4x4 trace.csv --policy fifo --json", "trace.csv --json -n 4x4 -p fifo",
        "--nodes=4x4 --policy=fifo trace.csv --json", "-n4x4 -pfifo --json trace.csv",
        "-n 4x4 --json -p fifo -- trace.csv",
    };
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        struct args a = parsed(same[i]);
        assert_string_equal(args_get(&a, "nodes"), "4x4");
        assert_string_equal(args_get(&a, "policy"), "fifo");
        assert_string_equal(args_get(&a, "json"), "");
        assert_int_equal(a.operands.n, 1);
        assert_string_equal(a.operands.at[0], "trace.csv");
        args_done(&a);
    }
}

static void test_values(void **state)
{
    (void)state;
    struct args a = parsed("x -p one --policy two --policy=a=b");
    assert_string_equal(args_nth(&a, "policy", 0), "one");
    assert_string_equal(args_nth(&a, "policy", 1), "two");
    assert_string_equal(args_nth(&a, "policy", 2), "a=b");
    assert_null(args_nth(&a, "policy", 3));
    assert_string_equal(args_get(&a, "policy"), "a=b");
    assert_null(args_get(&a, "nodes"));
    assert_null(args_get(&a, "json"));
    args_done(&a);
    a = parsed("x --nodes= y"); /* an empty value is one */
    assert_string_equal(args_get(&a, "nodes"), "");
    args_done(&a);
    a = parsed("x --nodes --json"); /* the next word, whatever it looks like */
    assert_string_equal(args_get(&a, "nodes"), "--json");
    args_done(&a);
}

static void test_operands(void **state)
{
    (void)state;
    struct args a = parsed("- --json"); /* a dash alone is an operand */
    assert_string_equal(a.operands.at[0], "-");
    args_done(&a);
    a = parsed("-- --json -x");
    assert_int_equal(a.operands.n, 2);
    assert_string_equal(a.operands.at[0], "--json");
    args_done(&a);
    refuse("--json", "TRACE [MORE] is missing");
    refuse("a b c", "'c' is one word too many");
    refuse("a b -- c", "'c' is one word too many");
}

static void test_unknown(void **state)
{
    (void)state;
    refuse("x --node 4x4", "unknown option --node; did you mean --nodes?");
    refuse("x --polici=fifo", "unknown option --polici; did you mean --policy?");
    refuse("x --xyzzyx", "unknown option --xyzzyx");
    refuse("x -q", "unknown option -q");
    refuse("x --=3", "unknown option --");
    refuse("x --json=1", "--json takes no value");
    refuse("x --nodes", "--nodes needs a value: SPEC");
    refuse("x -n", "--nodes needs a value: SPEC");
    refuse("x -n 1 --nodes 2", "--nodes is given twice");
}

static void test_help(void **state)
{
    (void)state;
    struct args a = parsed("--help"); /* nothing else is needed then */
    assert_non_null(args_get(&a, "help"));
    args_done(&a);
    a = parsed("a b c d -h");
    assert_non_null(args_get(&a, "help"));
    args_done(&a);
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    command_help(&command, out);
    fclose(out);
    assert_string_equal(text, "Usage: trainyard sim TRACE [MORE] [options]\n"
                              "\nRun policies.\n"
                              "\nSome words\nabout it.\n"
                              "\nOptions:\n"
                              "  -n, --nodes SPEC             the cluster\n"
                              "  -p, --policy P               a policy (repeatable)\n"
                              "      --json                   one object a line\n"
                              "  -h, --help                   show this help\n"
                              "\nExamples:\n  trainyard sim x\n");
    free(text);
}

/* A command with nothing: no options, no operands. */
static void test_bare(void **state)
{
    (void)state;
    static const struct command bare = {.name = "version", .summary = "Print", .run = run_nothing};
    struct args a;
    struct err err;
    assert_ok(args_parse(&bare, 0, NULL, &a, &err), err);
    args_done(&a);
    char *word[] = {"x"}, *option[] = {"--json"};
    assert_error(args_parse(&bare, 1, word, &a, &err), err, ERR_INVALID, "one word too many");
    assert_error(args_parse(&bare, 1, option, &a, &err), err, ERR_INVALID, "unknown option --json");
}

static const struct CMUnitTest tests[] = {
    TEST(test_words),   TEST(test_values), TEST(test_operands),
    TEST(test_unknown), TEST(test_help),   TEST(test_bare),
};

int main(void)
{
    return RUN(tests);
}
