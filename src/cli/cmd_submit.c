/* trainyard submit: submits jobs. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/job_request.h"
#include "cli/member.h"
#include "cli/screen_text.h"
#include "cli/server_link.h"
#include "cli/wire_out.h"
#include "wire/spec.h"

/* A large array takes its time. */
enum { LIST_MOST = 3, TIMEOUT_S = 600 };

static long long id_of(const json_t *jobs, size_t i)
{
    return member_integer(json_array_get(jobs, i), "id");
}

/* How many jobs from the first on have its name and follow each other, as those of an array. */
static size_t run_length(const json_t *jobs, size_t first)
{
    const char *name = member_text(json_array_get(jobs, first), "name");
    size_t n = 1;
    while (first + n < json_array_size(jobs) &&
           id_of(jobs, first + n) == id_of(jobs, first) + (long long)n &&
           !strcmp(member_text(json_array_get(jobs, first + n), "name"), name))
        n++;
    return n;
}

/* Each job has a line, but many of one name share one. */
static void add_jobs(const json_t *jobs, struct str *out)
{
    for (size_t i = 0, n; i < json_array_size(jobs); i += n) {
        n = run_length(jobs, i);
        if (n <= LIST_MOST)
            n = 1;
        str_addf(out, n > 1 ? "Submitted %zu jobs, " : "Submitted job ", n);
        str_addf(out, n > 1 ? "%lld-%lld (" : "%lld (", id_of(jobs, i), id_of(jobs, i + n - 1));
        screen_add(out, member_text(json_array_get(jobs, i), "name"));
        str_add(out, ")\n");
    }
}

static void print_accepted(const struct args *args, const json_t *accepted)
{
    struct str out = {0};
    if (args_get(args, "json"))
        wire_out_lines(accepted, &out);
    else if (args_get(args, "quiet"))
        for (size_t i = 0; i < json_array_size(accepted); i++)
            str_addf(&out, "%lld\n", id_of(accepted, i));
    else
        add_jobs(accepted, &out);
    fputs(out.at, stdout);
    str_done(&out);
}

/* A user who does not see the ids would submit the jobs again. */
static void say_accepted(const json_t *accepted)
{
    size_t n = json_array_size(accepted);
    fprintf(stderr, "trainyard submit: the server has accepted job%s", n == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "%s %lld", i ? "," : "",
                (long long)member_integer(json_array_get(accepted, i), "id"));
    fprintf(stderr, "\n");
}

static int run(const struct args *args)
{
    AUTO_LINK struct server_link link = {0};
    struct server_link_config config = {.timeout_s = TIMEOUT_S};
    json_auto_t *jobs = NULL, *accepted = NULL;
    struct err err;
    if (job_request_read(args, &jobs, &err) < 0 ||
        server_link_open(args, &config, &link, &err) < 0 ||
        job_request_send(&link, jobs, &accepted, &err) < 0)
        return command_fail(args->command, &err);
    print_accepted(args, accepted);
    if (fflush(stdout) != 0)
        say_accepted(accepted); /* main() prints the error */
    return 0;
}

static const struct option options[] = {
    OPTION_JSON("print id, name and state of each job, one object per line"),
    OPTION_QUIET("print only the ids"),
    OPTION_SERVER,
    {},
};

const struct command command_submit = {
    .name = "submit",
    .summary = "Submit a job",
    .operands = JOB_REQUEST_OPERANDS,
    .details = JOB_REQUEST_DETAILS,
    .examples = "  trainyard submit -c 1-4 --deadline 2h -- python3 train.py --lr 0.1\n"
                "  trainyard submit --array 0-9%2 -- ./train.sh\n"
                "  trainyard submit job.yaml\n"
                "  trainyard submit -c 2 script.sh --lr 0.1",
    .options = options,
    .fields = spec_fields,
    .max_operands = OPERANDS_ANY,
    .operands_last = true,
    .completes = "FILE",
    .run = run,
};
