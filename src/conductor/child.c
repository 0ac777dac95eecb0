/* Owns the steps from fork to exec. The new process reports failures through a pipe that exec
 * closes. The conductor never waits for it: the process may be in a frozen cgroup, or exec a
 * file on a network file system that does not respond. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "conductor/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/proc.h"
#include "conductor/cause.h"
#include "conductor/cpus.h"
#include "conductor/output.h"

/* The exit codes that a shell would use. */
enum { NOT_FOUND = 127, NOT_EXECUTABLE = 126 };

struct ends {
    int report, output; /* to write to */
    size_t born_in;     /* cgroup that it was created in; n = none */
};

static void report(const struct ends *e, enum child_step step, int why, size_t group)
{
    struct child_report r = {step, why, group};
    /* Shorter than PIPE_BUF, so it is written completely or not at all. */
    if (write(e->report, &r, sizeof r) < 0)
        _exit(NOT_EXECUTABLE);
}

static _Noreturn void fail(const struct ends *e, enum child_step step, int why)
{
    report(e, step, why, 0);
    _exit(step == CHILD_EXEC && why == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

static void reset_signals(void)
{
    sigset_t none;
    for (int s = 1; s <= SIGRTMAX; s++)
        signal(s, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A job that asks for a terminal may ask that for its size, by its standard input: `stty size`. */
static void set_streams(const struct ends *e, const struct launch_spec *spec)
{
    bool terminal = spec->pty == PTY_YES && isatty(e->output);
    int in = terminal ? e->output : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(e->output, STDOUT_FILENO) < 0 ||
        dup2(e->output, STDERR_FILENO) < 0)
        fail(e, CHILD_SETUP, errno);
}

static void join_cgroups(const struct ends *e, const struct group_set *groups)
{
    for (size_t i = 0; i < groups->n; i++) {
        int why = i == e->born_in ? 0 : group_join(&groups->at[i]);
        if (why)
            report(e, CHILD_CGROUP, why, i);
    }
}

static void set_cpus(const struct ends *e, const struct launch_spec *spec, struct group_set *groups)
{
    struct cpus cpus;
    if (!spec->cpuset || !*spec->cpuset || group_has(groups, "cpuset.cpus"))
        return;
    int why = cpus_parse(spec->cpuset, &cpus, NULL) < 0 ? EINVAL : cpus_apply(&cpus, 0);
    if (why)
        report(e, CHILD_CPUS, why, 0);
}

static _Noreturn void run(const struct launch_spec *spec, struct group_set *groups,
                          const struct ends *e)
{
    if (setsid() < 0)
        fail(e, CHILD_SETUP, errno);
    join_cgroups(e, groups);
    set_cpus(e, spec, groups);
    if (spec->nice && setpriority(PRIO_PROCESS, 0, spec->nice) < 0)
        report(e, CHILD_NICE, errno, 0);
    /* The conductor's own score protects it; the job must not inherit that. */
    (void)proc_set_oom_score(spec->oom_score_adj);
    set_streams(e, spec);
    reset_signals();
    if (chdir(spec->workdir) < 0)
        fail(e, CHILD_WORKDIR, errno);
    environ = (char **)spec->env;
    output_name_pipe(spec);
    execvp(spec->command[0], (char *const *)spec->command);
    fail(e, CHILD_EXEC, errno);
}

/* Like fork, but creates the process inside its cgroup if that is version 2: moving it later
 * takes about 10 ms. Not used after cgroup.kill: some kernels then also kill processes that are
 * created in the group. */
static pid_t fork_into(const struct group_set *groups, size_t *born_in)
{
    for (size_t i = 0; i < groups->n && !groups->used; i++) {
        if (!groups->at[i].v2)
            continue;
        struct clone_args args = {.flags = CLONE_INTO_CGROUP,
                                  .exit_signal = SIGCHLD,
                                  .cgroup = (uint64_t)groups->at[i].fd};
        *born_in = i;
        pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
        if (pid >= 0)
            return pid;
    }
    *born_in = groups->n;
    return fork();
}

static int cannot_start(struct err *err, const char *what)
{
    return err_set(err, ERR_IO, "cannot make %s: %s", what, strerror(errno));
}

int child_start(const struct launch_spec *spec, struct group_set *cgroups, struct child *out,
                struct err *err)
{
    int reports[2];
    struct output output;
    if (pipe2(reports, O_CLOEXEC) < 0)
        return cannot_start(err, "a pipe");
    AUTO_CLOSE int report_in = reports[0];
    AUTO_CLOSE int report_out = reports[1];
    if (output_open(spec, &output, err) < 0)
        return -1;
    AUTO_CLOSE int output_in = output.in;
    AUTO_CLOSE int output_out = output.out;
    fcntl(report_in, F_SETFL, O_NONBLOCK);
    for (size_t i = 0; i < cgroups->n; i++)
        cgroups->at[i].joined = cgroups->at[i].fd >= 0;
    struct ends ends = {.report = report_out, .output = output_out};
    pid_t pid = fork_into(cgroups, &ends.born_in);
    if (pid < 0)
        return cannot_start(err, "a process");
    if (pid == 0)
        run(spec, cgroups, &ends);
    *out = (struct child){.pid = pid, .output = fd_take(&output_in), .report = fd_take(&report_in)};
    return 0;
}

int child_read_report(const struct child *c, struct child_report *out)
{
    ssize_t n = read(c->report, out, sizeof *out);
    if (n == (ssize_t)sizeof *out)
        return 1;
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

bool child_is_fatal(const struct child_report *r)
{
    return r->step > CHILD_NICE;
}

void child_describe(const struct child_report *r, const struct launch_spec *spec, char *text,
                    size_t size)
{
    const char *why = strerror(r->why), *program = spec->command[0];
    switch (r->step) {
    case CHILD_CGROUP:
        snprintf(text, size, "cannot join the cgroup %s: %s; the job runs without it",
                 spec->cgroups.at[r->group].path, why);
        break;
    case CHILD_CPUS:
        snprintf(text, size, "cannot keep the job to CPUs %s: %s", spec->cpuset, why);
        break;
    case CHILD_NICE:
        snprintf(text, size, "cannot set the job's nice value to %d: %s", spec->nice, why);
        break;
    case CHILD_SETUP:
        snprintf(text, size, "cannot set up the process: %s", why);
        break;
    case CHILD_WORKDIR:
        snprintf(text, size, "cannot enter the working directory %s: %s", spec->workdir, why);
        break;
    case CHILD_EXEC:
        if (r->why == ENOENT && cause_interpreter(spec, text, size))
            break;
        if (r->why == ENOENT && !strchr(program, '/'))
            snprintf(text, size, "%s: command not found", program);
        else
            snprintf(text, size, "cannot run %s: %s", program, why);
        break;
    }
}
