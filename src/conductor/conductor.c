/* Owns the conductor from start to end: takes the claim, reads the specification, sets
 * everything up, starts the job, and runs the loop until the server knows how it ended. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "conductor/conductor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "conductor/finish.h"
#include "conductor/hints.h"
#include "conductor/job.h"
#include "conductor/obey.h"
#include "conductor/output.h"
#include "protocol/claim.h"

/* PATIENCE: a job that ends sooner than this is sampled only once, at its end, and the server
 * hears of its start and its end at the same time. This saves wake-ups and a round of messages. */
enum { POLL = 1000000, PATIENCE = 5000, DONE = 0, FAILED = 1, CLAIMED = 3 };

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2};

/* SIGTERM stops the job with its usual signal and grace period. Other signals are passed on to
 * the job. */
static void on_signal(void *ctx)
{
    struct conductor *c = ctx;
    struct signalfd_siginfo info;
    if (read(c->signals.fd, &info, sizeof info) != sizeof info)
        return;
    if (info.ssi_signo == SIGCHLD)
        job_reap(c);
    else if (info.ssi_signo != SIGTERM)
        tree_signal(&c->tree, REACH_GROUP, (int)info.ssi_signo);
    else if (!c->over)
        job_stop(c, &(struct stop_message){.grace = USEC_NEVER, .reach = REACH_ALL},
                 EXIT_STOP_TERMINATED);
    else
        finish_leave(c);
}

static int watch_signals(struct conductor *c, struct err *err)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    for (size_t i = 0; i < COUNT_OF(forwarded); i++)
        sigaddset(&set, forwarded[i]);
    signal(SIGPIPE, SIG_IGN);
    /* If we inherited an ignored SIGCHLD, the kernel would reap children before us. */
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return err_set(err, ERR_IO, "cannot make a signal descriptor: %s", strerror(errno));
    c->signals = (struct loop_watch){.fd = fd, .ready = on_signal, .ctx = c};
    loop_wait_for(&c->loop, &c->signals, EPOLLIN);
    return 0;
}

/* The file does not exist before the job reports something, so it may not be watched yet. */
static void look_at_file(struct conductor *c)
{
    bool known = c->follow.file >= 0;
    follow_file(&c->follow);
    if (known || c->follow.file < 0)
        return;
    if (!notify_watch_file(&c->notify, c->follow.file))
        loop_set_timer(&c->loop, TIMER_POLL, clock_read_steady() + POLL);
    follow_file(&c->follow); /* it may have grown in the meantime */
}

static void on_news(void *ctx)
{
    struct conductor *c = ctx;
    unsigned what = notify_read(&c->notify);
    if (what & NOTIFY_FILE && !c->over)
        look_at_file(c);
    if (what & NOTIFY_DIR)
        link_try(&c->link);
}

static void watch_files(struct conductor *c)
{
    notify_init(&c->notify);
    c->news = (struct loop_watch){.fd = c->notify.fd, .ready = on_news, .ctx = c};
    loop_wait_for(&c->loop, &c->news, EPOLLIN);
    if (!notify_watch_names(&c->notify, c->job_dir))
        loop_set_timer(&c->loop, TIMER_POLL, clock_read_steady() + POLL);
}

static void on_timer(void *ctx, unsigned timer)
{
    struct conductor *c = ctx;
    switch ((enum timer)timer) {
    case TIMER_LIFE:
        job_tick(c);
        break;
    case TIMER_FOLLOW:
        job_report_progress(c, false);
        break;
    case TIMER_POLL:
        follow_file(&c->follow);
        loop_set_timer(&c->loop, TIMER_POLL, clock_read_steady() + POLL);
        break;
    case TIMER_SAMPLE:
        job_sample(c);
        break;
    case TIMER_LINK:
        if (!c->over && !c->awaits)
            job_watch(c);
        obey_connect(c);
        c->leave |= finish_is_forgotten(c);
        break;
    case TIMER_RECORD:
        finish_record(c);
        break;
    case TIMER_LEAVE:
        c->leave = true;
        break;
    case TIMER_LOGS:
        if (!c->over)
            c->follow.news |=
                runlogs_look(&c->logs, clock_read_steady(), &c->tree, c->follow.reader);
        break;
    case TIMER_LEASE: /* is looked at before each wait */
        break;
    case TIMER_THREADS:
        obey_look(c);
        break;
    }
}

/* Closes what was inherited from whoever started us, and detaches from the terminal. */
static void detach(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    setsid();
    if (null < 0)
        return;
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    if (null > STDERR_FILENO)
        close(null);
}

/* Without its page the job still runs. */
static void make_page(struct conductor *c)
{
    struct err err;
    if (threads_open(&c->threads, c->job_dir, &c->spec, &c->arena, clock_read_steady(), &err) < 0)
        notes_add(&c->notes, "its threads do not follow its CPUs: %s", err.text);
}

/* Opens the directory that the job may write to, separate from the conductor's own files. */
static int open_job_dir(struct conductor *c, struct err *err)
{
    const char *name = c->spec.job_files ? c->spec.job_files : ".";
    if (c->spec.job_files && mkdirat(c->dir, name, 0700) < 0 && errno != EEXIST)
        return err_set(err, ERR_IO, "cannot create the directory %s: %s", name, strerror(errno));
    c->job_dir = openat(c->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (c->job_dir < 0)
        return err_set(err, ERR_IO, "cannot open the directory %s: %s", name, strerror(errno));
    return 0;
}

/* Where the parts of the job are. Without the file the job still runs. */
static void write_hosts(struct conductor *c)
{
    const char *text = c->spec.hosts;
    if (!text)
        return;
    AUTO_CLOSE int fd =
        fd_open_regular(c->job_dir, LAUNCH_HOSTS, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        notes_add(&c->notes, "cannot write %s: %s", LAUNCH_HOSTS, strerror(errno));
}

static int set_up(struct conductor *c, struct err *err)
{
    const struct launch_spec *s = &c->spec;
    if (loop_init(&c->loop, on_timer, c, err) < 0 || watch_signals(c, err) < 0 ||
        open_job_dir(c, err) < 0 ||
        logfile_open(&c->log, c->dir, s->log_max_bytes, s->log_keep, err) < 0)
        return -1;
    if (s->echo)
        echo_open(&c->echo, &c->loop, c->dir, s->log_max_bytes);
    else
        echo_none(&c->echo);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        notes_add(&c->notes, "cannot become the subreaper: %s; processes that detach may survive",
                  strerror(errno));
    group_init(&c->groups, s);
    c->tree = (struct tree){.cgroups = &c->groups, .root = getpid()};
    usage_init(&c->meter, getpid());
    const struct life_rules rules = {
        .limit = s->time_limit ? s->time_limit : USEC_NEVER,
        .warn_before = s->warning.before,
        .warn_signal = s->warning.signal,
        .grace = s->grace,
        .stop_signal = s->checkpoint_signal,
        .patience = s->patience,
        .wait_children = s->wait_children,
    };
    life_init(&c->life, &rules);
    struct progress_plan plan;
    hints_read(s, &plan);
    const char *unit = s->progress.unit ? s->progress.unit : "";
    const struct progress_config progress = {
        .pattern = s->progress.pattern,
        .total = s->progress.total,
        .total_unit = progress_unit_of_word(unit, strlen(unit)),
        .past = s->progress.past,
        .plan = &plan,
    };
    follow_init(&c->follow, c->job_dir, &progress, &c->notes);
    runlogs_init(&c->logs, s->workdir, clock_read_steady(), clock_read_wall());
    watch_files(c);
    make_page(c);
    write_hosts(c);
    output_preload(&c->spec, &c->arena);
    lease_init(&c->lease, s->lease, clock_read_boot());
    outbox_init(&c->outbox, s, &c->notes, getpid());
    link_init(&c->link, &c->loop, TIMER_LINK, s->socket, &obey_link, c);
    return 0;
}

/* Records that the attempt could not be started at all. */
static int give_up(struct conductor *c, const struct err *why)
{
    struct err err;
    fprintf(stderr, "trainyard-conductor: %s\n", why->text);
    if (finish_untried(c, why, &err) < 0)
        fprintf(stderr, "trainyard-conductor: %s\n", err.text);
    return FAILED;
}

/* Tells the job its checkpoint signal, unless it is the default. */
static void name_signal(struct conductor *c)
{
    static const char name[] = "TRAINYARD_CHECKPOINT_SIGNAL";
    if (c->spec.checkpoint_signal != SIGTERM && !launch_spec_get(&c->spec, name))
        launch_spec_set(&c->spec, &c->arena, name, "%d", c->spec.checkpoint_signal);
}

/* In a container the job also gets the environment that the image and the engine have set. */
static void add_own_environment(struct conductor *c)
{
    for (char **line = environ; c->spec.inherit && *line; line++) {
        AUTO_FREE char *name = xstrndup(*line, strcspn(*line, "="));
        if (!launch_spec_get(&c->spec, name))
            launch_spec_put(&c->spec, &c->arena, *line);
    }
}

/* A server that has given the attempt up grants no lease, so a conductor that waits for one runs
 * nothing, however late it comes. */
static void begin_job(struct conductor *c)
{
    c->awaits = c->spec.await_lease && c->spec.lease;
    if (c->awaits)
        lease_await(&c->lease, clock_read_boot());
    else
        job_start(c);
}

static void run_loop(struct conductor *c)
{
    begin_job(c);
    if (!c->over)
        loop_set_timer(&c->loop, TIMER_LINK, clock_read_steady() + PATIENCE);
    while (!c->leave) {
        obey_lease(c);
        link_flush(&c->link);
        loop_set_timer(&c->loop, TIMER_LIFE, life_next(&c->life));
        loop_set_timer(&c->loop, TIMER_FOLLOW, follow_next(&c->follow));
        loop_set_timer(&c->loop, TIMER_THREADS, threads_next(&c->threads));
        loop_set_timer(&c->loop, TIMER_LOGS, runlogs_next(&c->logs));
        if (!c->leave)
            loop_turn(&c->loop);
    }
}

/* The log, the counters and the output were closed when the job ended. */
static void tear_down(struct conductor *c)
{
    echo_done(&c->echo);
    threads_done(&c->threads);
    link_done(&c->link);
    outbox_done(&c->outbox);
    group_done(&c->groups);
    loop_close(&c->loop, &c->signals);
    loop_close(&c->loop, &c->news);
    loop_done(&c->loop);
}

/* A start that was under way for too long: the server may have given the attempt up, and the job
 * may run elsewhere. Both times are of this machine's clock. */
static int check_in_time(const struct conductor *c, struct err *err)
{
    struct stat st;
    if (!c->spec.start_within || fstatat(c->dir, "spec.json", &st, 0) < 0)
        return 0;
    usec_t written = st.st_ctim.tv_sec * USEC_PER_SEC + st.st_ctim.tv_nsec / 1000;
    usec_t late = clock_read_wall() - written;
    if (late <= c->spec.start_within)
        return 0;
    return err_set(err, ERR_CONFLICT,
                   "it was started %.0f s after it was prepared, which is too late",
                   time_seconds(late));
}

/* From here on only this process and the job have the environment. In a container that runs as
 * another user the file cannot be replaced; it is the job's own there. */
static void forget_environment(struct conductor *c)
{
    int why = launch_spec_drop_env(c->dir, &c->spec);
    if (why && why != EACCES && why != EPERM && why != EROFS)
        notes_add(&c->notes, "the environment stays in spec.json: %s", strerror(why));
}

/* Runs the claimed attempt. */
static int run_claimed(struct conductor *c)
{
    struct str unknown = {0};
    struct err err;
    c->reserve = exit_record_reserve(c->dir);
    if (launch_spec_read(c->dir, &c->arena, &c->spec, &unknown, &err) < 0)
        return give_up(c, &err);
    add_own_environment(c);
    name_signal(c);
    c->notes.job = c->spec.job;
    c->notes.attempt = c->spec.attempt;
    if (unknown.n)
        notes_add(&c->notes, "spec.json: unknown fields are ignored: %s", unknown.at);
    str_done(&unknown);
    if (check_in_time(c, &err) < 0)
        return give_up(c, &err);
    forget_environment(c);
    if (set_up(c, &err) < 0)
        return give_up(c, &err);
    detach();
    run_loop(c);
    if (c->stay)
        *c->kept = link_release(&c->link);
    tear_down(c);
    return DONE;
}

int conductor_run(int dir, struct link_kept *kept)
{
    struct conductor *c = xcalloc(1, sizeof *c);
    struct err err;
    int status;
    c->dir = dir;
    c->job_dir = -1;
    c->output.fd = c->report.fd = -1;
    c->kept = kept;
    notes_init(&c->notes, dir);
    if (claim_take(dir, &c->claim, &err) < 0) {
        fprintf(stderr, "trainyard-conductor: %s\n", err.text);
        status = err.code == ERR_CONFLICT ? CLAIMED : FAILED;
    } else {
        status = run_claimed(c);
        str_done(&c->exit_line);
        notes_done(&c->notes);
        arena_done(&c->restart.arena);
        arena_done(&c->arena);
        if (c->job_dir >= 0)
            close(c->job_dir);
        close(c->claim);
    }
    free(c);
    return status;
}
