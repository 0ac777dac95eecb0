/* Fuzzes what the server does with messages of conductors: each line of the input is one on the
 * link of a running attempt, to a whole server on the fake runtime. A line "+" lets a second pass,
 * "-" cuts the link. Whatever is said, the server goes on, the job has a state that it may have,
 * no other job is affected, and every recorded decision can be made again.
 *
 * A server serves many inputs, one job for each; what an input does to its job does not depend on
 * those before. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "journal/replay.h"
#include "runtime/fake_world.h"
#include "server/jobs/links.h"
#include "server/jobs/live.h"
#include "server/jobs/verbs.h"
#include "store/job_state.h"
#include "support/audit.h"
#include "support/stage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUTS_MOST = 200, LINES_MOST = 64 };

static struct stage w;
static int64_t bystander;
static unsigned inputs;

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void end_server(void)
{
    struct replay_result r = {0};
    struct err err;
    require(journal_replay(w.y->store, 0, &r, &err) == 0 && !r.differing);
    replay_result_done(&r);
    stage_end(&w);
}

static void begin_server(void)
{
    static const struct fake_options one_node = {
        .seed = 1, .nodes = 1, .cpus = 4 * UNIT, .memory_mb = 8192, .report = 10 * USEC_PER_SEC};
    if (inputs++ % INPUTS_MOST)
        return;
    if (w.y)
        end_server();
    else
        atexit(end_server);
    stage_begin(&w, &one_node, "elastic-fifo");
    stage_start(&w);
    bystander = stage_submit(&w, "{'command': ['fake', 'work=100000000'], 'cpus': 1}");
    stage_run(&w, USEC_PER_SEC);
    require(stage_state(&w, bystander) == JOB_RUNNING);
}

/* The link of the job's attempt; NULL while there is none. */
static struct runtime_link *link_of(int64_t job)
{
    const struct live_job *j = yard_live(w.y, job);
    return j && j->attempt ? j->attempt->link : NULL;
}

static void send_line(int64_t job, const char *line, size_t n)
{
    struct runtime_link *link = link_of(job);
    struct arena a = {0};
    struct to_server m;
    struct err err = {0};
    if (link && to_server_decode(line, n, &a, &m, &err) == 0)
        links_message(&w.y->host, link, &m);
    arena_done(&a);
}

static void cut_link(int64_t job)
{
    struct runtime_link *link = link_of(job);
    if (link)
        fake_cut_node(w.fake, 0, fake_now(w.fake) + USEC_PER_SEC);
}

static void take_line(int64_t job, const char *line, size_t n)
{
    if (n == 1 && *line == '+')
        stage_run(&w, USEC_PER_SEC);
    else if (n == 1 && *line == '-')
        cut_link(job);
    else
        send_line(job, line, n);
    stage_turn(&w);
}

static void check(int64_t job)
{
    struct audit audit = {0};
    require(audit_state(&audit, &w.y->engine));
    audit_done(&audit);
    const struct job_row *row = stage_job(&w, job);
    require(row->id == job && row->attempt >= 1 && row->attempt < 100);
    row = stage_job(&w, bystander);
    require(row->state == JOB_RUNNING && row->attempt == 1 && row->failures == 0);
}

static void end_job(int64_t job)
{
    struct err err;
    if (yard_live(w.y, job))
        require(verb_cancel(w.y, job, 0, &err) == 0);
    require(stage_run_until_over(&w, job, 3600 * USEC_PER_SEC));
    require(fake_truth_of(w.fake, job).running == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    begin_server();
    int64_t job = stage_submit(&w, "{'command': ['fake', 'work=100000'], 'cpus': '1-2', "
                                   "'retries': 1, 'stop_when': 'loss < 0.1', 'stop_on_nan': true}");
    stage_run(&w, USEC_PER_SEC);
    for (int lines = 0; at < end && lines < LINES_MOST; lines++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((newline ? newline : end) - at);
        take_line(job, at, n);
        at += n + 1;
    }
    stage_run(&w, 10 * USEC_PER_SEC);
    check(job);
    end_job(job);
    return 0;
}
