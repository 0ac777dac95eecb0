/* Tests of cli/top_frame and cli/job_details: whole pictures, and what holds for
 * pictures of any size. */
#include "cli/top_frame.h"

#include "cli/job_details.h"
#include "cli/screen_text.h"
#include "support/test.h"

static const char jobs_text[] =
    "[{\"id\":12,\"name\":\"train\",\"user\":\"ann\",\"state\":\"running\",\"cpus\":1.5,\"cpus_"
    "min\":1,"
    "\"cpus_max\":2,\"run_s\":92,\"progress\":{\"step\":300,\"total\":1000,\"fraction\":0.3,"
    "\"loss\":0.42,\"expected_end\":1215,\"at\":1000}},"
    "{\"id\":13,\"name\":\"a\\u001b[2Jb\",\"user\":\"bob\",\"state\":\"queued\",\"cpus\":0,"
    "\"cpus_min\":2,\"cpus_max\":2,\"submitted\":940,\"attempt\":0,\"progress\":null},"
    "{\"id\":14,\"name\":\"later\",\"user\":\"bob\",\"state\":\"held\",\"cpus\":0,\"cpus_min\":1,"
    "\"cpus_max\":1,\"submitted\":100,\"attempt\":0}]";
static const char nodes_text[] =
    "[{\"name\":\"host\",\"state\":\"up\",\"cpus\":2,\"cpus_held\":1.5,\"gpus\":0,\"memory_mb\":"
    "7900,"
    "\"memory_held_mb\":512,\"jobs\":[12],\"runtime\":\"local\",\"notice\":\"\"}]";
static const char policy_text[] = "{\"policy\":\"elastic-fifo\"}";
static const char job_text[] =
    "{\"id\":12,\"name\":\"train\",\"user\":\"ann\",\"state\":\"running\",\"cpus\":1.5,\"cpus_"
    "min\":1,"
    "\"cpus_max\":2,\"node\":\"host\",\"cpuset\":\"0-1\",\"priority\":5,\"submitted\":900,"
    "\"started\":908,\"wait_s\":8,\"run_s\":92,\"command\":[\"python3\",\"train.py\"],"
    "\"spec\":{\"workdir\":\"/home/ann\"},\"time_limit_s\":3600,\"deadline\":8200,"
    "\"array\":{\"job\":10,\"index\":3},"
    "\"progress\":{\"step\":300,\"total\":1000,\"fraction\":0.3,\"loss\":0.42,\"rate\":3.26,"
    "\"expected_end\":1215,\"at\":1000},"
    "\"usage\":{\"cpu_s\":130,\"cpus\":1.49,\"memory_mb\":31.5,\"processes\":1,\"threads\":3},"
    "\"log\":\"/state/jobs/12/1/log\","
    "\"attempts\":[{\"n\":1,\"log_bytes\":100,\"state\":\"running\",\"node\":\"host\",\"started\":"
    "908,\"ended\":null,"
    "\"code\":null,\"signal\":null,\"reason\":\"\"}],"
    "\"sizes\":[{\"at\":908,\"cpus\":1,\"why\":\"start by elastic-fifo\"},"
    "{\"at\":950,\"cpus\":1.5,\"why\":\"resize by elastic-fifo\"}]}";

struct world {
    json_t *jobs, *nodes, *policy, *job;
    struct top_state state;
};

static void world_init(struct world *w, unsigned rows, unsigned columns)
{
    *w = (struct world){json_loads(jobs_text, 0, NULL),
                        json_loads(nodes_text, 0, NULL),
                        json_loads(policy_text, 0, NULL),
                        json_loads(job_text, 0, NULL),
                        {.size = {rows, columns}, .now = 1000 * USEC_PER_SEC}};
    assert_true(w->jobs && w->nodes && w->policy && w->job);
    w->state.jobs = w->jobs;
    w->state.nodes = w->nodes;
    w->state.policy = w->policy;
    w->state.job = w->job;
    top_state_settle(&w->state);
}

static void world_done(struct world *w)
{
    json_decref(w->jobs);
    json_decref(w->nodes);
    json_decref(w->policy);
    json_decref(w->job);
}

static void shows(struct top_state *s, const char *frame)
{
    struct str out = {0};
    top_frame_draw(s, false, &out);
    assert_string_equal(out.at, frame);
    str_done(&out);
}

#define HEAD "trainyard  policy elastic-fifo  CPUs 1.5 of 2  1 running, 1 queued, 1 held"
#define NODES                                                                                      \
    "NODE  STATE  CPUS                           GPUS  MEMORY            JOBS  RUNTIME  NOTICE\n"  \
    "host  up     ███████████████░░░░░ 1.5 of 2  -     512 MB of 7.7 GB     1  local    \n"
#define JOBS                                                                                                          \
    "ID  NAME       STATE    CPUS        PROGRESS           LOSS          TIME    ETA  USER\n"                        \
    "12  train      running  1.5 of 1-2  ███▌░░░░░░░░  30%  0.42         1m32s  3m35s  ann\n" \
    "13  a\\x1b[2Jb  queued   0 of 2      -                     -   waits 1m00s      -  bob\n"                        \
    "14  later      held     0 of 1      -                     -  waits 15m00s      -  bob\n"
#define KEYS "q quit  enter show  c cancel  h hold  + - resize  a all  p pause  ? keys"

static void test_list(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, 12, 100);
    w.state.selected = 0;
    shows(&w.state, HEAD "\n" NODES "\n" JOBS "\n\n\n" KEYS);
    world_done(&w);
}

static void test_feet(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, 9, 100);
    w.state.selected = 0;
    snprintf(w.state.message, sizeof w.state.message, "job 12: %s", "cancel\033[2J");
    w.state.paused = true;
    shows(&w.state, HEAD "  PAUSED\n" NODES "\n" JOBS "job 12: cancel\\x1b[2J");
    world_done(&w);
}

static void test_question(void **state)
{
    (void)state;
    struct world w;
    struct str out = {0};
    world_init(&w, 12, 100);
    w.state.selected = 13;
    w.state.mode = TOP_CONFIRM;
    top_frame_draw(&w.state, false, &out);
    assert_non_null(strstr(out.at, "\nCancel job 13 (a\\x1b[2Jb)? y: yes, any other key: no"));
    str_done(&out);
    world_done(&w);
}

static void test_empty(void **state)
{
    (void)state;
    struct top_state s = {.size = {5, 60}};
    shows(&s,
          "trainyard  CPUs 0 of 0  0 running, 0 queued, 0 held\n\nno jobs are queued or running\n\n"
          "q quit  enter show  c cancel  h hold  + - resize  a all  p …");
}

#define DETAILS                                                                                    \
    "Job 12 (train[3]) of ann: running\n"                                                          \
    "  command      python3 train.py\n"                                                            \
    "  directory    /home/ann\n"                                                                   \
    "  array        index 3 of job 10\n"                                                           \
    "  priority     5\n"                                                                           \
    "  deadline     in 2h00m\n"                                                                    \
    "  time limit   1h00m\n"                                                                       \
    "  CPUs         1.5 of 1-2, on host, cores 0-1\n"                                              \
    "  submitted    1m40s ago\n"                                                                   \
    "  started      1m32s ago, after waiting 8.0s\n"                                               \
    "  running for  1m32s\n"                                                                       \
    "  progress      30%, step 300 of 1000\n"                                                      \
    "  speed        3.26 steps per second\n"                                                       \
    "  time left    3m35s\n"                                                                       \
    "  expected end 00:20:15\n"                                                                    \
    "  loss         0.42\n"                                                                        \
    "  used         2m10s of CPU time, now 1.49 CPUs, 32 MB, 1 process with 3 threads\n"           \
    "  log          /state/jobs/12/1/log\n"                                                        \
    "\n"                                                                                           \
    "  ATTEMPT  STATE    NODE    STARTED  ENDED  CODE  REASON\n"                                   \
    "        1  running  host  1m32s ago      -     -  \n"                                         \
    "\n"                                                                                           \
    "  SIZE SINCE  CPUS  WHY\n"                                                                    \
    "   1m32s ago     1  start by elastic-fifo\n"                                                  \
    "   50.0s ago   1.5  resize by elastic-fifo\n"

static void test_details(void **state)
{
    (void)state;
    struct world w;
    struct str out = {0};
    world_init(&w, 24, 80);
    job_details_add(w.job, &(struct job_details_look){w.state.now, 80, false}, &out);
    assert_string_equal(out.at, DETAILS);
    str_done(&out);
    world_done(&w);
}

/* The page about a job scrolls, and not beyond its end. */
static void test_job_page(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, 5, 30);
    w.state.mode = TOP_JOB;
    shows(&w.state, "Job 12 (train[3]) of ann: run…\n  command      python3 train.…\n"
                    "  directory    /home/ann\n  array        index 3 of job…\n"
                    "q back  up down scroll");
    w.state.first = 1000;
    shows(&w.state, "\n  SIZE SINCE  CPUS  WHY\n   1m32s ago     1  start by …\n"
                    "   50.0s ago   1.5  resize by…\nq back  up down scroll");
    assert_int_equal(w.state.first, 21);
    w.state.job = NULL;
    shows(&w.state, "…\n\n\n\nq back  up down scroll");
    world_done(&w);
}

/* Columns of a line, without the mark of the selected row. */
static size_t width_of(const char *line)
{
    size_t n = strlen(line);
    if (strncmp(line, "\033[7m", 4) != 0)
        return screen_width(line);
    AUTO_FREE char *plain = xstrndup(line + 4, n - 8);
    assert_string_equal(line + n - 4, "\033[0m");
    return screen_width(plain);
}

/* Whatever its size and mode, a picture fits the screen. */
static void test_any_size(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, 1, 1);
    for (unsigned rows = 1; rows < 30; rows++)
        for (unsigned columns = 1; columns < 180; columns += 7)
            for (int mode = TOP_LIST; mode <= TOP_HELP; mode++) {
                struct str out = {0};
                w.state.size = (struct terminal_size){rows, columns};
                w.state.mode = (enum top_mode)mode;
                top_state_settle(&w.state);
                top_frame_draw(&w.state, false, &out);
                unsigned lines = 1;
                for (char *rest = out.at, *line; (line = strsep(&rest, "\n"));) {
                    assert_true(width_of(line) <= columns);
                    lines += rest != NULL;
                }
                assert_int_equal(lines, rows);
                str_done(&out);
            }
    world_done(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(test_list),    TEST(test_feet),     TEST(test_question), TEST(test_empty),
    TEST(test_details), TEST(test_job_page), TEST(test_any_size),
};

int main(void)
{
    setenv("TZ", "UTC", 1);
    return RUN(tests);
}
