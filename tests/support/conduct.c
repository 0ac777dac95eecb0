/* The stand-in conductor and its commands:
 *   busy      one thread that computes for ever
 *   busy2     two
 *   sleep     for ever
 *   eat       touches memory without end
 *   forks     forks sleepers until it is refused; writes the number into `forks`
 *   bomb      forks for ever, and so do its children
 *   detach    leaves a sleeper behind in a session of its own, twice forked
 *   hide      the same with no environment
 *   true      ends at once
 *   false     ends at once with status 3
 * Every process of a job has a name of its state directory's own. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "support/conduct.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "protocol/claim.h"
#include "protocol/launch_spec.h"
#include "protocol/to_server.h"
#include "runtime/local/local.h"
#include "runtime/local/textfile.h"
#include "support/test.h"

const char *conduct_name(const char *path)
{
    static char name[16];
    const char *end = strstr(path, "/jobs/");
    size_t n = end ? (size_t)(end - path) : strlen(path);
    snprintf(name, sizeof name, "yard%.6s", path + (n > 6 ? n - 6 : 0));
    return name;
}

static _Noreturn void die(const char *what)
{
    perror(what);
    _exit(99);
}

static void write_number(const char *dir, const char *file, long long n)
{
    char temp[4096], path[4096];
    snprintf(temp, sizeof temp, "%s/.%s", dir, file);
    snprintf(path, sizeof path, "%s/%s", dir, file);
    FILE *f = fopen(temp, "w");
    if (!f || fprintf(f, "%lld\n", n) < 0 || fclose(f) || rename(temp, path))
        die(path);
}

/* ---- commands ---------------------------------------------------------------- */

static void *compute(void *arg)
{
    for (volatile unsigned long i = 0;; i++)
        ;
    return arg;
}

static _Noreturn void sleep_for_ever(void)
{
    for (;;)
        pause();
}

static void eat(void)
{
    for (;;) {
        char *p = malloc(1 << 20);
        memset(p, 1, 1 << 20);
    }
}

static void fork_sleepers(const char *dir)
{
    long long n = 0;
    for (;; n++) {
        pid_t pid = fork();
        if (pid == 0)
            sleep_for_ever();
        if (pid < 0)
            break;
    }
    write_number(dir, "forks", n);
    sleep_for_ever();
}

static void detach(const char *dir, bool hide)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            if (hide)
                execle("/proc/self/exe", "job", "--sleep", dir, NULL, (char *[]){NULL});
            sleep_for_ever();
        }
        _exit(0);
    }
    sleep_for_ever();
}

static _Noreturn void run_command(const char *command, const char *dir)
{
    pthread_t thread;
    prctl(PR_SET_NAME, conduct_name(dir));
    if (strcmp(command, "busy2") == 0)
        pthread_create(&thread, NULL, compute, NULL);
    write_number(dir, "pid", getpid());
    if (strncmp(command, "busy", 4) == 0)
        compute(NULL);
    else if (strcmp(command, "eat") == 0)
        eat();
    else if (strcmp(command, "forks") == 0)
        fork_sleepers(dir);
    else if (strcmp(command, "bomb") == 0)
        for (;;)
            fork();
    else if (strcmp(command, "detach") == 0)
        detach(dir, false);
    else if (strcmp(command, "hide") == 0)
        detach(dir, true);
    else if (strcmp(command, "true") == 0 || strcmp(command, "false") == 0)
        _exit(command[0] == 't' ? 0 : 3);
    sleep_for_ever();
}

/* ---- conductor --------------------------------------------------------------- */

static void enter(const struct launch_spec *spec)
{
    struct cpuset set;
    char path[4096];
    bool held = false;
    for (size_t i = 0; i < spec->cgroups.n; i++) {
        const struct launch_cgroup *g = &spec->cgroups.at[i];
        snprintf(path, sizeof path, "%s/%s", g->path, g->procs);
        if ((errno = textfile_write_at(-1, path, "0")))
            die(path);
        snprintf(path, sizeof path, "%s/cpuset.cpus", g->path);
        held = held || access(path, F_OK) == 0;
    }
    if (!held && (cpuset_parse(spec->cpuset, &set, NULL) ||
                  sched_setaffinity(0, sizeof set, (cpu_set_t *)&set)))
        die("affinity");
    if (spec->nice && setpriority(PRIO_PROCESS, 0, spec->nice))
        die("nice");
}

/* A file next to the jobs' directory holds it back, another one lets it go on: a conductor has
 * nothing of the environment of whoever started it. */
static void wait_until_allowed(int dir)
{
    for (unsigned tries = 0; faccessat(dir, "../../../" CONDUCT_HOLD, F_OK, 0) == 0 &&
                             faccessat(dir, "../../../" CONDUCT_GO, F_OK, 0) != 0;
         tries++) {
        if (tries > 6000)
            die(CONDUCT_GO);
        usleep(5000);
    }
}

static pid_t start(const struct launch_spec *spec, const char *path)
{
    pid_t child = fork();
    if (child)
        return child;
    setsid();
    enter(spec);
    for (size_t i = 0; spec->env && spec->env[i]; i++)
        putenv((char *)spec->env[i]);
    /* A new program, so that /proc shows the environment. */
    execl("/proc/self/exe", "job", "--run", spec->command[0], path, NULL);
    die("exec");
}

static void record(const struct launch_spec *spec, int dir, int status)
{
    struct str line = {0};
    struct err err;
    struct to_server m = {
        .kind = TO_SERVER_EXIT,
        .exit = {.job = spec->job,
                 .attempt = spec->attempt,
                 .at = clock_read_wall(),
                 .code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                 .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                 .usage = USAGE_UNKNOWN}};
    to_server_encode(&m, &line);
    if (exit_record_write(dir, -1, line.at, line.n, &err) < 0)
        die(err.text);
    str_done(&line);
}

static _Noreturn void conduct(const char *path)
{
    struct arena arena = {0};
    struct str unknown = {0};
    struct launch_spec spec;
    struct err err;
    int claim, status, dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    prctl(PR_SET_NAME, "yardconductor");
    wait_until_allowed(dir);
    if (dir < 0 || claim_take(dir, &claim, &err) < 0)
        _exit(3);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (launch_spec_read(dir, &arena, &spec, &unknown, &err) < 0)
        die(err.text);
    pid_t child = start(&spec, path);
    claim_add_leader(claim, child);
    for (pid_t pid; (pid = wait(&status)) > 0;)
        if (pid == child)
            record(&spec, dir, status);
    _exit(0);
}

void conduct_if_asked(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--run") == 0)
        run_command(argv[2], argv[3]);
    if (argc == 3 && strcmp(argv[1], "--sleep") == 0) {
        prctl(PR_SET_NAME, conduct_name(argv[2]));
        sleep_for_ever();
    }
    if (argc == 2 && argv[1][0] == '/')
        conduct(argv[1]);
    setenv("TRAINYARD_CONDUCTOR", "/proc/self/exe", 1);
}
