/* Golden cases: small traces whose outcome was worked out by hand from a policy's
 * rule. tests/golden/POLICY/CASE.json says what is run, CASE.expected what must
 * come out, one line for each effect (support/effects.h) and each end:
 *
 *   {
 *     "about": "what it shows, and why this must come out",
 *     "nodes": "1x4", "policy": "fifo:order=strict",
 *     "trace": ["id,submit,work,req", "a,0,100,2"],
 *     "rules": "own", "seed": 1, "resched_min": "30s",
 *     "restart": "20s", "resize": "20s", "move": "20s", "checkpoint": "10m",
 *     "mtbf": "1h", "repair": "10m", "interference": 0.2
 *   }
 *
 * Only the first four are needed. GOLDEN_UPDATE=1 in the environment writes what
 * came out instead of comparing it; read the difference before you believe it. */
#include <glob.h>
#include <jansson.h>

#include "policy/combo.h"
#include "sim/nodes.h"
#include "sim/sim.h"
#include "support/effects.h"
#include "support/test.h"

/* What is printed while a case runs. */
struct record {
    struct str out;
    const char **names; /* by task: who is in it */
    uint32_t cap;
};

/* Prints the effects of a step; a slot that has lost its job means an end. */
static void observe(void *ctx, const struct engine *e, usec_t now)
{
    struct record *r = ctx;
    if (r->cap < e->tasks_cap) {
        r->names = xreallocarray(r->names, e->tasks_cap, sizeof *r->names);
        memset(r->names + r->cap, 0, (e->tasks_cap - r->cap) * sizeof *r->names);
        r->cap = e->tasks_cap;
    }
    for (uint32_t i = 0; i < e->tasks_n; i++) {
        if (r->names[i] && !e->tasks[i].job) {
            effects_add_time(&r->out, now);
            str_addf(&r->out, "end %s\n", r->names[i]);
        }
        r->names[i] = e->tasks[i].job ? e->tasks[i].job->name : NULL;
    }
    effects_add(&r->out, e, now);
}

static const char *text_of(const json_t *root, const char *key)
{
    const json_t *value = json_object_get(root, key);
    if (value && !json_is_string(value))
        fail_msg("%s must be a string", key);
    return json_string_value(value);
}

static const char *needed(const json_t *root, const char *key)
{
    const char *text = text_of(root, key);
    if (!text)
        fail_msg("%s is missing", key);
    return text;
}

static usec_t duration_of(const json_t *root, const char *key, usec_t otherwise)
{
    const char *text = text_of(root, key);
    struct err err;
    if (text)
        assert_ok(time_parse(text, &otherwise, &err), err);
    return otherwise;
}

/* A key that nobody reads is a mistake in the case. */
static void check_keys(const json_t *root)
{
    static const char *const known[] = {
        "about",  "nodes", "policy",     "trace",       "rules", "seed",   "restart",
        "resize", "move",  "checkpoint", "resched_min", "mtbf",  "repair", "interference"};
    for (void *i = json_object_iter((json_t *)root); i;
         i = json_object_iter_next((json_t *)root, i)) {
        size_t k = 0;
        while (k < COUNT_OF(known) && strcmp(known[k], json_object_iter_key(i)) != 0)
            k++;
        if (k == COUNT_OF(known))
            fail_msg("unknown key '%s'", json_object_iter_key(i));
    }
    needed(root, "about");
}

static enum rules rules_of(const json_t *root)
{
    const char *text = text_of(root, "rules");
    if (!text || !strcmp(text, "own"))
        return RULES_OWN;
    if (strcmp(text, "tiresias") != 0 && strcmp(text, "elasticflow") != 0)
        fail_msg("no rules '%s'", text);
    return !strcmp(text, "tiresias") ? RULES_TIRESIAS : RULES_ELASTICFLOW;
}

static void read_trace(const json_t *root, const struct cluster *cluster, struct trace *out)
{
    struct trace_options o = {.cluster = cluster,
                              .cost = {.restart = duration_of(root, "restart", 0),
                                       .resize = duration_of(root, "resize", 0),
                                       .move = duration_of(root, "move", 0),
                                       .checkpoint = duration_of(root, "checkpoint", 0)}};
    struct str text = {0};
    struct err err;
    size_t i;
    const json_t *line;
    json_array_foreach(json_object_get(root, "trace"), i, line)
        str_addf(&text, "%s\n", json_string_value(line));
    if (!text.n)
        fail_msg("trace is missing");
    assert_ok(trace_parse("trace", text.at, text.n, &o, out, &err), err);
    str_done(&text);
}

static void add_outcomes(struct str *out, const struct sim_result *r)
{
    for (uint32_t i = 0; i < r->jobs; i++)
        if (r->job[i].outcome != SIM_DONE)
            str_addf(out, "%s %s\n", result_outcome(r->job[i].outcome), r->job[i].job->name);
}

static void run_case(const json_t *root, struct str *out)
{
    struct arena arena = {0};
    struct cluster cluster;
    struct trace trace;
    struct sim_result result;
    struct err err;
    struct record record = {{0}, NULL, 0};
    const json_t *seed = json_object_get(root, "seed");
    assert_ok(nodes_parse(needed(root, "nodes"), &arena, &cluster, &err), err);
    read_trace(root, &cluster, &trace);
    struct sim_options o = {.trace = &trace,
                            .cluster = &cluster,
                            .rules = rules_of(root),
                            .seed = seed ? (uint64_t)json_integer_value(seed) : 1,
                            .resched_min = duration_of(root, "resched_min", 0),
                            .mtbf = duration_of(root, "mtbf", 0),
                            .repair = duration_of(root, "repair", 600 * USEC_PER_SEC),
                            .interference =
                                json_number_value(json_object_get(root, "interference")),
                            .observe = observe,
                            .ctx = &record};
    assert_ok(combo_parse(needed(root, "policy"), &o.combo, &err), err);
    assert_ok(sim_run(&o, &result, &err), err);
    add_outcomes(&record.out, &result);
    *out = record.out;
    free(record.names);
    result_done(&result);
    trace_done(&trace);
    arena_done(&arena);
}

/* "x/y.json" to "x/y.expected". */
static char *expected_path(const char *path)
{
    struct str s = {0};
    str_addf(&s, "%.*s.expected", (int)(strlen(path) - strlen(".json")), path);
    return s.at;
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s cannot be read", path);
    struct str s = {0};
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;)
        str_add_n(&s, block, n);
    fclose(f);
    str_add(&s, "");
    return s.at;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        fail_msg("%s cannot be written", path);
}

/* Whether the line is somewhere in the text. */
static bool has_line(const char *text, const char *line, size_t n)
{
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n')
        if (strcspn(p, "\n") == n && !strncmp(p, line, n))
            return true;
    return false;
}

/* Prints the lines of a text, marked where the other does not have them. */
static void print_side(const char *title, const char *text, const char *other, char mark)
{
    print_error("%s\n", title);
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "\n");
        print_error("  %c %.*s\n", has_line(other, p, n) ? ' ' : mark, (int)n, p);
        p += n + (p[n] == '\n');
    }
}

static void test_case(void **state)
{
    const char *path = *state;
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (!root)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    check_keys(root);
    struct str got = {0};
    AUTO_FREE char *to = expected_path(path);
    run_case(root, &got);
    if (getenv("GOLDEN_UPDATE"))
        write_file(to, got.at ? got.at : "");
    AUTO_FREE char *want = read_file(to);
    bool same = !strcmp(got.at ? got.at : "", want);
    if (!same) {
        print_error("%s: %s\n", path, text_of(root, "about"));
        print_side("expected:", want, got.at ? got.at : "", '-');
        print_side("came out:", got.at ? got.at : "", want, '+');
    }
    str_done(&got);
    json_decref(root);
    assert_true(same);
}

/* Runs all cases, or those that match a pattern. */
int main(int argc, char **argv)
{
    const char *pattern = argc > 1 ? argv[1] : "tests/golden/*/*.json";
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0) {
        fprintf(stderr, "golden/run: nothing matches %s; run it in the project's directory\n",
                pattern);
        return 1;
    }
    struct CMUnitTest *tests = xcalloc(found.gl_pathc, sizeof *tests);
    for (size_t i = 0; i < found.gl_pathc; i++)
        tests[i] = (struct CMUnitTest){found.gl_pathv[i], test_case, NULL, NULL, found.gl_pathv[i]};
    int failed = _cmocka_run_group_tests("golden", tests, found.gl_pathc, NULL, NULL);
    free(tests);
    globfree(&found);
    return failed;
}
