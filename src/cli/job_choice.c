/* Owns the way from operands and options to jobs. */
#include "cli/job_choice.h"

#include <stdio.h>
#include <unistd.h>

#include "base/idmap.h"
#include "cli/job_list.h"
#include "cli/job_text.h"
#include "cli/member.h"

/* More jobs than this are only changed when the user says so. */
enum { FEW = 10 };

bool job_choice_given(const struct args *args)
{
    return args->operands.n || args_get(args, "state") || args_get(args, "user") ||
           args_get(args, "name");
}

static int list(const struct args *args, struct server_link *l, const char *operand, json_t **out,
                struct err *err)
{
    struct job_list_query q = {
        .select = operand,
        .state = args_get(args, "state"),
        .name = args_get(args, "name"),
        .user = args_get(args, "user"),
        .all = operand,
    };
    if (q.state && job_list_check_states(q.state, err) < 0)
        return -1;
    if (operand && q.name)
        return err_set(err, ERR_INVALID, "give either JOB or --name, not both");
    return job_list_get(l, &q, out, NULL, err);
}

/* Drops what is over from a list of several jobs. */
static int keep_active(const char *operand, json_t **jobs, struct err *err)
{
    size_t n = json_array_size(*jobs);
    if (n == 1)
        return 0;
    json_t *active = json_array();
    for (size_t i = 0; i < n; i++)
        if (!job_text_over(json_array_get(*jobs, i)))
            json_array_append(active, json_array_get(*jobs, i));
    json_decref(*jobs);
    *jobs = active;
    if (!json_array_size(active))
        return err_set(err, ERR_CONFLICT, "all %zu jobs of '%s' are over", n, operand);
    return 0;
}

static int get_operand(const struct args *args, struct server_link *l, const char *operand,
                       enum job_choice_of of, json_t **out, struct err *err)
{
    if (list(args, l, operand, out, err) < 0)
        return -1;
    if (!json_array_size(*out))
        return err_set(err, ERR_NOT_FOUND, "no job matches '%s'", operand);
    return of == JOB_CHOICE_ACTIVE ? keep_active(operand, out, err) : 0;
}

static void add_new(struct idmap *seen, const json_t *jobs, json_t *to)
{
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        json_t *job = json_array_get(jobs, i);
        uint64_t id = (uint64_t)member_integer(job, "id");
        if (idmap_get(seen, id))
            continue;
        idmap_set(seen, id, job);
        json_array_append(to, job);
    }
}

int job_choice_make(const struct args *args, struct server_link *l, enum job_choice_of of,
                    json_t **out)
{
    struct idmap seen = {0};
    struct err err;
    int code = 0;
    *out = json_array();
    for (size_t i = 0; i < (args->operands.n ? args->operands.n : 1); i++) {
        json_auto_t *jobs = NULL;
        int rc = args->operands.n ? get_operand(args, l, args->operands.at[i], of, &jobs, &err)
                                  : list(args, l, NULL, &jobs, &err);
        if (rc == 0) {
            add_new(&seen, jobs, *out);
            continue;
        }
        int failed = command_fail(args->command, &err);
        code = code ? code : failed;
        if (err.code == ERR_UNREACHABLE)
            break;
    }
    idmap_done(&seen);
    return code;
}

bool job_choice_confirm(const struct args *args, size_t jobs)
{
    char answer[16] = "";
    if (jobs <= FEW || args_get(args, "yes") || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return true;
    fprintf(stderr, "%s %zu jobs? [y/N] ", args->command->name, jobs);
    if (!fgets(answer, sizeof answer, stdin))
        return false;
    return *answer == 'y' || *answer == 'Y';
}
