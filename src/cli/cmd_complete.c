/* trainyard complete KIND: the words that a shell offers for an operand. It waits for the
 * server for at most a second and prints no errors, which would disturb the prompt. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/job_list.h"
#include "cli/member.h"
#include "cli/server_link.h"

enum { JOBS_OFFERED = 200, TIMEOUT_S = 1 };

/* Shells expand what they are offered, so only names of letters, digits and a few other
 * characters are offered. */
static void print_word(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (*word && *word != '-' && strspn(word, plain) == strlen(word))
        printf("%s\n", word);
}

static void print_jobs(struct server_link *l)
{
    struct job_list_query q = {.all = true, .newest = true, .limit = JOBS_OFFERED};
    json_auto_t *jobs = NULL;
    struct err err;
    if (job_list_get(l, &q, &jobs, NULL, &err) < 0)
        return;
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        const json_t *job = json_array_get(jobs, i);
        printf("%lld\n", (long long)member_integer(job, "id"));
        print_word(member_text(job, "name"));
    }
}

static void print_nodes(struct server_link *l)
{
    json_auto_t *answer = NULL;
    struct err err;
    if (server_link_get(l, "/nodes", &answer, &err) < 0)
        return;
    const json_t *nodes = json_object_get(answer, "nodes");
    for (size_t i = 0; i < json_array_size(nodes); i++)
        print_word(member_text(json_array_get(nodes, i), "name"));
}

static int run(const struct args *args)
{
    struct server_link_config config = {.timeout_s = TIMEOUT_S};
    AUTO_LINK struct server_link link = {0};
    struct err err;
    if (server_link_open(args, &config, &link, &err) < 0)
        return 0;
    if (!strcmp(args->operands.at[0], "JOB"))
        print_jobs(&link);
    else if (!strcmp(args->operands.at[0], "NODE"))
        print_nodes(&link);
    return 0;
}

const struct command command_complete = {
    .name = "complete",
    .summary = "Print the words that a shell can offer",
    .operands = "KIND",
    .min_operands = 1,
    .max_operands = 1,
    .completes = "JOB|NODE",
    .hidden = true,
    .run = run,
};
