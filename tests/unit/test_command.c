/* Tests of cli/command: which words a command takes, in which order, and what it
 * says of the others; and its help. */
#include "cli/command.h"

#include "support/test.h"
#include "wire/spec.h"

static int run_nothing(const struct args *args)
{
    (void)args;
    return 0;
}

static const struct option options[] = {
    {"nodes", 'n', "SPEC", "the cluster", false},
    {"policy", 'p', "P", "a policy", true},
    {"json", 'J', NULL, "one object a line", false},
    {"watch", 'w', "[SECONDS]", "again and again", false},
    {"every", 0, "[=SECONDS]", "now and then", false},
    {},
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
        "--nodes 4x4 trace.csv --policy fifo --json",
        "trace.csv --json -n 4x4 -p fifo",
        "--nodes=4x4 --policy=fifo trace.csv --json",
        "-n4x4 -pfifo --json trace.csv",
        "-n 4x4 --json -p fifo -- trace.csv",
        "-Jn 4x4 trace.csv -pfifo",
        "trace.csv -pfifo -JJn4x4",
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
    refuse("--json", "missing TRACE [MORE]");
    refuse("a b c", "unexpected argument 'c'");
    refuse("a b -- c", "unexpected argument 'c'");
}

static void test_unknown(void **state)
{
    (void)state;
    refuse("x --node 4x4", "unknown option --node; did you mean --nodes?");
    refuse("x --polici=fifo", "unknown option --polici; did you mean --policy?");
    refuse("x --xyzzyx", "unknown option --xyzzyx");
    refuse("x -q", "unknown option -q");
    refuse("x -Jq", "unknown option -q");
    refuse("x -Jn", "--nodes needs a value: SPEC");
    refuse("x --=3", "unknown option --");
    refuse("x --json=1", "--json takes no value");
    refuse("x --nodes", "--nodes needs a value: SPEC");
    refuse("x -n", "--nodes needs a value: SPEC");
    refuse("x -n 1 --nodes 2", "--nodes is given more than once");
}

/* A value in brackets is taken only where it is one. */
static void test_optional_value(void **state)
{
    (void)state;
    static const struct {
        const char *line, *value;
        size_t operands;
    } cases[] = {
        {"x --watch", "", 1},    {"--watch x", "", 1},
        {"--watch 5 x", "5", 1}, {"x -w", "", 1},
        {"-w x", "", 1},         {"x -w5", "5", 1},
        {"-w 0.5 x", "0.5", 1},  {"--watch=0.5 x", "0.5", 1},
        {"--watch -- 5", "", 1}, {"--watch= x", "", 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct args a = parsed(cases[i].line);
        assert_string_equal(args_get(&a, "watch"), cases[i].value);
        assert_int_equal(a.operands.n, cases[i].operands);
        args_done(&a);
    }
}

/* And one that begins with "=" only from its own word. */
static void test_value_in_its_word(void **state)
{
    (void)state;
    struct args a = parsed("--every 12");
    assert_string_equal(args_get(&a, "every"), "");
    assert_string_equal(a.operands.at[0], "12");
    args_done(&a);
    a = parsed("--every=5 12");
    assert_string_equal(args_get(&a, "every"), "5");
    args_done(&a);
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
                              "  -J, --json                   one object a line\n"
                              "  -w, --watch [SECONDS]        again and again\n"
                              "      --every [=SECONDS]       now and then\n"
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
    assert_error(args_parse(&bare, 1, word, &a, &err), err, ERR_INVALID, "unexpected argument 'x'");
    assert_error(args_parse(&bare, 1, option, &a, &err), err, ERR_INVALID, "unknown option --json");
}

/* Options stand before the first operand; all behind it is the operands'. */
static void test_operands_last(void **state)
{
    (void)state;
    static const struct command last = {
        .name = "run", .options = options, .max_operands = OPERANDS_ANY, .operands_last = true};
    static const struct {
        char *words[6];
        int n;
        size_t operands;
        bool dashes;
    } cases[] = {
        {{"--json", "script.sh", "--json", "-x"}, 4, 3, false},
        {{"--json", "--", "python3", "--json"}, 4, 2, true},
        {{"script.sh", "--", "x"}, 3, 3, false},
        {{"--", "--", "x"}, 3, 2, true},
        {{"--json", "-", "-n"}, 3, 2, false},
        {{"--json"}, 1, 0, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct args a;
        struct err err;
        assert_ok(args_parse(&last, cases[i].n, (char **)cases[i].words, &a, &err), err);
        assert_int_equal(a.operands.n, cases[i].operands);
        assert_int_equal(a.dashes, cases[i].dashes);
        args_done(&a);
    }
}

/* Every field of a job is an option, with dashes, but for what stands behind them. */
static void test_fields(void **state)
{
    (void)state;
    static const struct command fields = {
        .name = "submit", .options = options, .fields = spec_fields, .max_operands = 1};
    char *words[] = {"--time-limit", "1h", "-c", "2", "-e", "A=1", "--env=B=2", "--hold"};
    struct args a;
    struct err err;
    assert_ok(args_parse(&fields, COUNT_OF(words), words, &a, &err), err);
    assert_string_equal(args_get(&a, "time-limit"), "1h");
    assert_string_equal(args_get(&a, "cpus"), "2");
    assert_string_equal(args_nth(&a, "env", 1), "B=2");
    assert_string_equal(args_get(&a, "hold"), "");
    args_done(&a);
    char *command_word[] = {"--command", "x"}, *underscore[] = {"--time_limit", "1h"};
    assert_error(args_parse(&fields, 2, command_word, &a, &err), err, ERR_INVALID,
                 "unknown option --command");
    assert_error(args_parse(&fields, 2, underscore, &a, &err), err, ERR_INVALID,
                 "did you mean --time-limit?");
}

/* No two options of a command are the same, and every name fits. */
static void test_names(void **state)
{
    (void)state;
    static const struct command fields = {.name = "submit", .fields = spec_fields};
    struct option a, b;
    for (size_t i = 0; command_option(&fields, i, &a); i++) {
        assert_true(strlen(a.name) < sizeof a.name - 1);
        for (size_t k = 0; k < i; k++) {
            assert_true(command_option(&fields, k, &b));
            assert_string_not_equal(a.name, b.name);
            assert_true(!a.letter || a.letter != b.letter);
        }
    }
    assert_string_equal(a.name, "help");
}

static const struct CMUnitTest tests[] = {
    TEST(test_words),   TEST(test_values),         TEST(test_operands),
    TEST(test_unknown), TEST(test_optional_value), TEST(test_value_in_its_word),
    TEST(test_help),    TEST(test_bare),           TEST(test_operands_last),
    TEST(test_fields),  TEST(test_names),
};

int main(void)
{
    return RUN(tests);
}
