/* trainyard run: submits a job, prints its output while it runs, and exits with its exit code.
 * The first Ctrl-C cancels the job and still prints how it ends; the second leaves it alone. */
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/job_request.h"
#include "cli/job_text.h"
#include "cli/log_reader.h"
#include "cli/member.h"
#include "cli/screen_text.h"
#include "cli/server_link.h"
#include "wire/spec.h"

enum { INTERRUPTED = 130 };

/* The number of interrupts that were handled; the link stops at the next one. */
static bool interrupted(void *ctx)
{
    const int *seen = ctx;
    return interrupt_count() > *seen;
}

struct running {
    const struct args *args;
    struct server_link link;
    int seen; /* interrupts */
    char id[24];
    bool quiet;
};

static void say(const struct running *r, const char *text)
{
    if (!r->quiet)
        fprintf(stderr, "trainyard: job %s %s\n", r->id, text);
}

static int submit(struct running *r, json_t *jobs, struct err *err)
{
    json_auto_t *accepted = NULL;
    struct str name = {0};
    if (json_array_size(jobs) != 1 || json_object_get(json_array_get(jobs, 0), "array"))
        return err_set(err, ERR_INVALID, "run takes one job; use `trainyard submit` for several");
    if (job_request_send(&r->link, jobs, &accepted, err) < 0)
        return -1;
    const json_t *job = json_array_get(accepted, 0);
    snprintf(r->id, sizeof r->id, "%lld", (long long)member_integer(job, "id"));
    screen_add(&name, member_text(job, "name"));
    if (!r->quiet)
        fprintf(stderr, "trainyard: submitted job %s (%s); press Ctrl-C to cancel it\n", r->id,
                name.at);
    str_done(&name);
    return 0;
}

static int cancel(struct running *r, struct err *err)
{
    AUTO_FREE char *path = server_link_job_path(r->id, "cancel");
    json_auto_t *body = json_object();
    say(r, "is being cancelled; press Ctrl-C again to leave it alone");
    if (server_link_call(&r->link, "POST", path, body, NULL, err) == 0 || err->code == ERR_CONFLICT)
        return 0; /* a conflict: it has just ended */
    return -1;
}

/* Handles a Ctrl-C, if there was one. Returns 0 to go on, 1 when the user has left. */
static int on_interrupt(struct running *r, struct err *err)
{
    int count = interrupt_count();
    if (count == r->seen)
        return -1;
    bool first = count == 1;
    r->seen = count;
    if (first && cancel(r, err) == 0)
        return 0;
    if (first && interrupt_count() == r->seen)
        return -1;
    say(r, "is still being cancelled; not waiting for it");
    return 1;
}

/* Prints the log to its end. Returns 1 when the user has left. */
static int follow(struct running *r, struct err *err)
{
    struct log_reader reader = {.link = &r->link,
                                .job = r->id,
                                .attempt = 1,
                                .tail = -1,
                                .follow = true,
                                .terminal = isatty(STDOUT_FILENO)};
    int rc = 0;
    while (rc == 0 && log_reader_run(&reader, err) < 0)
        rc = on_interrupt(r, err);
    return rc;
}

/* Returns the exit code, and prints a line about a job that did not end well. */
static int get_code(struct running *r, int *code, struct err *err)
{
    AUTO_FREE char *path = server_link_job_path(r->id, NULL);
    char state[JOB_TEXT_SIZE];
    json_auto_t *job = NULL;
    struct str text = {0};
    if (server_link_get(&r->link, path, &job, err) < 0)
        return -1;
    *code = job_text_exit(job);
    screen_add(&text, job_text_state(job, state));
    if (*member_text(job, "reason")) {
        str_add(&text, ": ");
        screen_add(&text, member_text(job, "reason"));
    }
    if (*code != 0)
        say(r, text.at);
    str_done(&text);
    return 0;
}

/* Whether somebody wrote to this command's standard input. */
static bool has_input(void)
{
    struct stat st;
    int waiting = 0;
    if (fstat(STDIN_FILENO, &st) < 0 || isatty(STDIN_FILENO))
        return false;
    if (S_ISREG(st.st_mode))
        return st.st_size > lseek(STDIN_FILENO, 0, SEEK_CUR);
    return ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting > 0;
}

static int run_job(struct running *r, struct err *err)
{
    struct server_link_config config = {.stop = interrupted, .ctx = &r->seen};
    json_auto_t *jobs = NULL;
    int code = 0;
    if (job_request_read(r->args, &jobs, err) < 0 ||
        server_link_open(r->args, &config, &r->link, err) < 0 || submit(r, jobs, err) < 0)
        return -1;
    if (has_input())
        fprintf(stderr, "trainyard run: the job does not get the standard input of this command; "
                        "let it read a file\n");
    interrupt_catch();
    int left = follow(r, err);
    if (left)
        return left < 0 ? -1 : INTERRUPTED;
    return get_code(r, &code, err) < 0 ? -1 : code;
}

static int run(const struct args *args)
{
    struct running r = {.args = args, .quiet = args_get(args, "quiet")};
    struct err err;
    int code = run_job(&r, &err);
    server_link_close(&r.link);
    return code < 0 ? command_fail(args->command, &err) : code;
}

static const struct option options[] = {
    OPTION_QUIET("print only the job's own output"),
    OPTION_SERVER,
    {},
};

const struct command command_run = {
    .name = "run",
    .summary = "Submit a job, print its output, and exit with its exit code",
    .operands = JOB_REQUEST_OPERANDS,
    .details = JOB_REQUEST_DETAILS
    "\n\n"
    "The exit code is the job's own, or 128+N when signal N ended it. The first Ctrl-C cancels\n"
    "the job and waits for its end; the second returns at once. The job's standard input is\n"
    "empty.",
    .examples = "  trainyard run -c 2 -- python3 train.py",
    .options = options,
    .fields = spec_fields,
    .max_operands = OPERANDS_ANY,
    .operands_last = true,
    .completes = "FILE",
    .run = run,
};
