/* Progress, checkpoints and cores for training programs in C or C++ that run under
 * Trainyard.
 *
 *     #include "trainyard.h"
 *
 *     for (long step = start; step < total; step++) {
 *         double loss = train(step);
 *         trainyard_report(step + 1, total, loss);
 *         if (trainyard_should_checkpoint()) {
 *             save(step + 1);
 *             return 0;
 *         }
 *     }
 *
 * One header, no library: C11 or C++11, Linux. It needs POSIX: include it first, or
 * compile with -std=gnu11 or -D_POSIX_C_SOURCE=200809L. Outside a job every call
 * does nothing. Problems are reported once on standard error.
 *
 * A report is one JSON object per line, appended with one write to the file named by
 * $TRAINYARD_PROGRESS; docs/progress.md describes the format. A program that reports
 * from several threads needs its own lock; forked children may report as well. */
#ifndef TRAINYARD_H
#define TRAINYARD_H

#if !defined(_POSIX_C_SOURCE) && !defined(_GNU_SOURCE) && defined(__STRICT_ANSI__)
#define _POSIX_C_SOURCE 200809L
#endif

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if !defined(O_CLOEXEC) || !defined(SA_RESTART)
#error "trainyard.h needs POSIX: include it first, or compile with -D_POSIX_C_SOURCE=200809L"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Reports that follow each other faster are merged. */
#define TRAINYARD_INTERVAL_MS 50
#define TRAINYARD_METRICS 16
#define TRAINYARD_NAME_BYTES 32

struct trainyard_metric_ {
    char name[TRAINYARD_NAME_BYTES];
    double value;
};

/* One instance per program, however many files include this. */
struct trainyard_state_ {
    int fd;   /* descriptor of the file plus 1; 0 = not opened yet, -1 = cannot be opened */
    int torn; /* the last line was written only in part */
    int warned;
    int at_exit;           /* the flush at exit is registered */
    long long written;     /* time of the last write, in ms */
    long long step, total; /* pending; -1 and 0 = nothing */
    int n;                 /* number of pending metrics */
    struct trainyard_metric_ metric[TRAINYARD_METRICS];
    int signal; /* the checkpoint signal, once its handler is installed */
    struct sigaction before;
    volatile sig_atomic_t asked;
};
__attribute__((weak)) struct trainyard_state_ trainyard_state_;

/* Whether this process belongs to a Trainyard job. */
static inline int trainyard_in_job(void)
{
    const char *path = getenv("TRAINYARD_PROGRESS"), *id = getenv("TRAINYARD_JOB_ID");
    return (path && *path) || (id && *id);
}

static inline void trainyard_warn_(const char *what, const char *why)
{
    if (!trainyard_state_.warned)
        fprintf(stderr, "trainyard: %s: %s\n", what, why);
    trainyard_state_.warned = 1;
}

static inline long long trainyard_now_ms_(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline int trainyard_open_(void)
{
    struct trainyard_state_ *s = &trainyard_state_;
    const char *path = getenv("TRAINYARD_PROGRESS");
    if (!path || !*path || s->fd < 0)
        return -1;
    if (!s->fd) {
        int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0)
            trainyard_warn_(path, strerror(errno));
        s->fd = fd < 0 ? -1 : fd + 1;
    }
    return s->fd - 1;
}

/* A number in JSON; NaN and infinity are strings in the file. */
static inline int trainyard_number_(char *text, size_t size, double value)
{
    if (value != value)
        return snprintf(text, size, "\"nan\"");
    if (value - value != 0)
        return snprintf(text, size, value > 0 ? "\"inf\"" : "\"-inf\"");
    int n = snprintf(text, size, "%.10g", value);
    char *comma = strchr(text, ','); /* the decimal point of some locales */
    if (comma)
        *comma = '.';
    return n;
}

/* Formats what is pending; returns its length. Names and numbers have a limited length,
 * so it always fits. */
static inline size_t trainyard_line_(char *text, size_t size)
{
    struct trainyard_state_ *s = &trainyard_state_;
    size_t n = 0;
    if (s->torn)
        text[n++] = '\n';
    text[n++] = '{';
    if (s->step >= 0)
        n += (size_t)snprintf(text + n, size - n, "\"step\":%lld,", s->step);
    if (s->total > 0)
        n += (size_t)snprintf(text + n, size - n, "\"total\":%lld,", s->total);
    for (int i = 0; i < s->n; i++) {
        n += (size_t)snprintf(text + n, size - n, "\"%s\":", s->metric[i].name);
        n += (size_t)trainyard_number_(text + n, size - n, s->metric[i].value);
        text[n++] = ',';
    }
    text[n - 1] = '}'; /* replaces the last comma */
    text[n++] = '\n';
    return n;
}

/* Writes pending reports, which are held back for up to TRAINYARD_INTERVAL_MS. Also
 * called at exit. */
static inline void trainyard_flush(void)
{
    struct trainyard_state_ *s = &trainyard_state_;
    char text[100 + TRAINYARD_METRICS * (TRAINYARD_NAME_BYTES + 32)];
    int waits = s->at_exit && (s->step >= 0 || s->total > 0 || s->n);
    int fd = waits ? trainyard_open_() : -1;
    if (fd >= 0) {
        size_t n = trainyard_line_(text, sizeof text);
        ssize_t done = write(fd, text, n);
        if (done < 0)
            trainyard_warn_("progress is not reported", strerror(errno));
        else
            s->torn = (size_t)done < n;
        s->written = trainyard_now_ms_();
    }
    s->step = -1;
    s->total = 0;
    s->n = 0;
}

/* Begins a report; returns 0 outside a job. */
static inline int trainyard_begin_(void)
{
    struct trainyard_state_ *s = &trainyard_state_;
    const char *path = getenv("TRAINYARD_PROGRESS");
    if (!path || !*path)
        return 0;
    if (!s->at_exit) {
        s->step = -1;
        s->at_exit = 1;
        atexit(trainyard_flush);
    }
    return 1;
}

static inline void trainyard_end_(void)
{
    if (trainyard_now_ms_() - trainyard_state_.written >= TRAINYARD_INTERVAL_MS)
        trainyard_flush();
}

static inline void trainyard_set_(const char *name, double value)
{
    struct trainyard_state_ *s = &trainyard_state_;
    int i = 0;
    while (i < s->n && strcmp(s->metric[i].name, name) != 0)
        i++;
    if (i == TRAINYARD_METRICS) {
        trainyard_warn_(name, "too many metrics; this one is not reported");
        return;
    }
    if (i == s->n)
        snprintf(s->metric[s->n++].name, TRAINYARD_NAME_BYTES, "%s", name);
    s->metric[i].value = value;
}

static inline void trainyard_set_step_(long long step, long long total)
{
    if (step >= 0)
        trainyard_state_.step = step;
    if (total > 0)
        trainyard_state_.total = total;
}

/* Reports progress: `step` of `total` steps are done; a total of 0 means unknown. */
static inline void trainyard_report_step(long long step, long long total)
{
    if (!trainyard_begin_())
        return;
    trainyard_set_step_(step, total);
    trainyard_end_();
}

/* The same with the loss, which may be NaN or infinite. */
static inline void trainyard_report(long long step, long long total, double loss)
{
    if (!trainyard_begin_())
        return;
    trainyard_set_step_(step, total);
    trainyard_set_("loss", loss);
    trainyard_end_();
}

/* Reports a number by name, such as "accuracy", "val_loss", "epoch" or "rate". A name
 * consists of up to 31 letters, digits and underscores. */
static inline void trainyard_report_metric(const char *name, double value)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (!trainyard_begin_())
        return;
    if (!n || name[n] || n >= TRAINYARD_NAME_BYTES) {
        trainyard_warn_(name, "invalid name of a metric; use up to 31 letters, digits and _");
        return;
    }
    trainyard_set_(name, value);
    trainyard_end_();
}

static inline void trainyard_on_signal_(int number, siginfo_t *info, void *context)
{
    struct trainyard_state_ *s = &trainyard_state_;
    s->asked = 1;
    if (s->before.sa_flags & SA_SIGINFO)
        s->before.sa_sigaction(number, info, context);
    else if (s->before.sa_handler != SIG_DFL && s->before.sa_handler != SIG_IGN)
        s->before.sa_handler(number);
}

static inline int trainyard_signal_(void)
{
    const char *text = getenv("TRAINYARD_CHECKPOINT_SIGNAL");
    static const struct {
        const char *name;
        int number;
    } names[] = {{"TERM", SIGTERM}, {"INT", SIGINT},   {"HUP", SIGHUP},
                 {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"CONT", SIGCONT}};
    if (!text || !*text)
        return SIGTERM;
    char *end;
    long number = strtol(text, &end, 10);
    if (!*end && number > 0 && number < 65)
        return (int)number;
    const char *name = strncmp(text, "SIG", 3) ? text : text + 3;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(name, names[i].name))
            return names[i].number;
    }
    trainyard_warn_(text, "not a signal for $TRAINYARD_CHECKPOINT_SIGNAL; using SIGTERM");
    return SIGTERM;
}

/* Tells Trainyard that the job can be stopped to make room for others, and continues from its
 * checkpoint later. */
static inline void trainyard_say_saves_(void)
{
    static const char line[] = "\n{\"checkpoint\":true}\n";
    struct trainyard_state_ *s = &trainyard_state_;
    int fd = trainyard_open_(), skip = !s->torn;
    size_t n = sizeof line - 1 - (size_t)skip;
    ssize_t done = fd < 0 ? 0 : write(fd, line + skip, n);
    if (done < 0)
        trainyard_warn_("checkpoints are not announced", strerror(errno));
    else if (fd >= 0)
        s->torn = (size_t)done < n;
}

/* True once Trainyard has asked for a checkpoint (with SIGTERM, or the signal named by
 * $TRAINYARD_CHECKPOINT_SIGNAL). Save and exit: the job is killed when its grace period
 * is over. The first call installs the signal handler: call it once before the loop. An
 * existing handler is called as well. */
static inline int trainyard_should_checkpoint(void)
{
    struct trainyard_state_ *s = &trainyard_state_;
    if (!s->signal && trainyard_in_job()) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_sigaction = trainyard_on_signal_;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        sigemptyset(&action.sa_mask);
        s->signal = trainyard_signal_();
        if (sigaction(s->signal, &action, &s->before) < 0)
            trainyard_warn_("cannot handle the checkpoint signal", strerror(errno));
        else
            trainyard_say_saves_();
    }
    return s->asked != 0;
}

/* Reads up to two numbers from a file; returns how many. "max" is not a number. */
static inline int trainyard_read_(const char *path, double *a, double *b)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    int n = fscanf(file, "%lf %lf", a, b);
    fclose(file);
    return n < 0 ? 0 : n;
}

static inline double trainyard_smaller_(double quota, double a, double b)
{
    double value = a > 0 && b > 0 ? a / b : 0;
    return value > 0 && (quota <= 0 || value < quota) ? value : quota;
}

/* The smallest CPU quota from this process's cgroup upwards; 0 = none. */
static inline double trainyard_quota_(void)
{
    char line[600], path[700];
    double quota = 0;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        char *names = strchr(line, ':'), *at = names ? strchr(names + 1, ':') : NULL;
        if (!at)
            continue;
        *at++ = '\0';
        at[strcspn(at, "\n")] = '\0';
        int v2 = !names[1];
        if (!v2 && strncmp(names + 1, "cpu", 3) != 0 && !strstr(names, ",cpu"))
            continue;
        for (;;) {
            double a = 0, b = 0, none;
            if (!strcmp(at, "/"))
                *at = '\0';
            snprintf(path, sizeof path,
                     v2 ? "/sys/fs/cgroup%s/cpu.max" : "/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", at);
            int n = trainyard_read_(path, &a, &b);
            if (!v2 && n == 1) {
                snprintf(path, sizeof path, "/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", at);
                n += trainyard_read_(path, &b, &none);
            }
            if (n == 2)
                quota = trainyard_smaller_(quota, a, b);
            if (!*at)
                break;
            *strrchr(at, '/') = '\0';
        }
    }
    if (file)
        fclose(file);
    return quota;
}

/* The number of CPUs that the job may use now, at least 1: those it is bound to, or its
 * quota, rounded down. Outside a job, those it is bound to. It changes while the job
 * runs: ask again before you create threads. */
static inline int trainyard_cpus(void)
{
    char line[1200];
    long count = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "Cpus_allowed_list:", 18) != 0)
            continue;
        for (char *p = line + 18; *p && *p != '\n';) {
            long first = strtol(p, &p, 10), last = first;
            if (*p == '-')
                last = strtol(p + 1, &p, 10);
            count += last - first + 1;
            p += *p == ',';
        }
        break;
    }
    if (file)
        fclose(file);
    if (count < 1)
        count = 1;
    if (!trainyard_in_job())
        return (int)count;
    const char *given = getenv("TRAINYARD_CPUS");
    double quota = trainyard_quota_();
    if (quota <= 0 && given)
        quota = strtod(given, NULL);
    if (quota > 0 && quota < (double)count)
        count = quota < 1 ? 1 : (long)quota;
    return (int)count;
}

#ifdef __cplusplus
}
#endif

#endif
