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

#include "base/str.h"
#include "protocol/launch_spec.h"
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
    else if (strcmp(command, "true") == 0)
        _exit(0);
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

static unsigned long long start_time(pid_t pid)
{
    char path[64];
    struct str text = {0};
    unsigned long long start = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (textfile_read(path, &text) == 0)
        sscanf(strrchr(text.at, ')'),
               ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &start);
    str_done(&text);
    return start;
}

static _Noreturn void conduct(const char *dir)
{
    char path[4096], marker[4096];
    snprintf(path, sizeof path, "%s/claim", dir);
    FILE *claim = fopen(path, "wx");
    if (!claim)
        die(path);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_NAME, "yardconductor");
    fprintf(claim, "%d %llu\n", getpid(), start_time(getpid()));
    fflush(claim);
    struct arena arena = {0};
    struct str unknown = {0};
    struct launch_spec spec;
    struct err err;
    if (launch_spec_read(open(dir, O_RDONLY | O_DIRECTORY), &arena, &spec, &unknown, &err) < 0)
        die(err.text);
    snprintf(marker, sizeof marker, "%s/progress", dir);
    setenv("TRAINYARD_PROGRESS", marker, 1);
    pid_t child = fork();
    if (child == 0) {
        setsid();
        enter(&spec);
        /* A new program, so that /proc shows the environment with the marker. */
        execl("/proc/self/exe", "job", "--run", spec.command[0], dir, NULL);
        die("exec");
    }
    int status;
    for (pid_t pid; (pid = wait(&status)) > 0;)
        if (pid == child)
            write_number(dir, "exit", status);
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
