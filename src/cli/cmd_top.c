/* trainyard top: a live full-screen view of nodes and jobs, with keys to act on them. One loop
 * waits for keys, signals and the next refresh. top_state.c handles keys, top_frame.c draws. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/colour.h"
#include "cli/commands.h"
#include "cli/job_list.h"
#include "cli/job_text.h"
#include "cli/key.h"
#include "cli/server_link.h"
#include "cli/terminal.h"
#include "cli/top_frame.h"
#include "cli/top_state.h"

enum { JOBS_SHOWN = 1000, OVER_SHOWN = 200, TIMEOUT_S = 5, FRAME_ROWS = 40 };

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

struct top {
    struct server_link link;
    struct top_state state;
    json_t *jobs, *nodes, *policy, *job; /* borrowed by the state */
    usec_t every;
    bool colours;
    int ended_by; /* a signal; 0 = none yet */
};

/* ---- data ------------------------------------------------------------------ */

static void keep(json_t **slot, const json_t **borrowed, json_t *fresh)
{
    json_decref(*slot);
    *slot = fresh;
    *borrowed = fresh;
}

static int get_job(struct top *t, struct err *err)
{
    char id[24];
    json_t *job = NULL;
    snprintf(id, sizeof id, "%lld", (long long)t->state.selected);
    AUTO_FREE char *path = server_link_job_path(id, NULL);
    if (server_link_get(&t->link, path, &job, err) < 0)
        return -1;
    keep(&t->job, &t->state.job, job);
    return 0;
}

static int get_data(struct top *t, struct err *err)
{
    struct job_list_query q = {.all = t->state.all,
                               .newest = t->state.all,
                               .limit = t->state.all ? OVER_SHOWN : JOBS_SHOWN};
    json_t *jobs = NULL, *nodes = NULL, *policy = NULL;
    t->state.now = clock_read_wall();
    if (t->state.mode == TOP_JOB && get_job(t, err) < 0)
        return -1;
    if (job_list_get(&t->link, &q, &jobs, NULL, err) < 0)
        return -1;
    keep(&t->jobs, &t->state.jobs, jobs);
    if (server_link_get(&t->link, "/nodes", &nodes, err) < 0)
        return -1;
    keep(&t->nodes, &t->state.nodes, json_incref(json_object_get(nodes, "nodes")));
    json_decref(nodes);
    if (server_link_get(&t->link, "/policy", &policy, err) < 0)
        return -1;
    keep(&t->policy, &t->state.policy, policy);
    top_state_settle(&t->state);
    return 0;
}

/* Fetches the data. An error is shown, and the old data stay. */
static void refresh(struct top *t)
{
    struct err err;
    if (get_data(t, &err) < 0)
        snprintf(t->state.message, sizeof t->state.message, "%s", err.text);
}

/* ---- actions --------------------------------------------------------------- */

static json_t *action_body(const struct top *t, enum top_want want)
{
    json_t *body = json_object();
    const json_t *job = top_state_selected(&t->state);
    if (want == TOP_GROW || want == TOP_SHRINK)
        json_object_set_new(body, "cpus", json_real(top_state_step(job, want == TOP_GROW)));
    if (want == TOP_RESET)
        json_object_set_new(body, "cpus", json_null());
    return body;
}

static void act(struct top *t, enum top_want want)
{
    static const char *const names[] = {
        [TOP_CANCEL] = "cancel", [TOP_HOLD] = "hold",     [TOP_RELEASE] = "release",
        [TOP_GROW] = "resize",   [TOP_SHRINK] = "resize", [TOP_RESET] = "resize",
    };
    char id[24];
    struct err err;
    struct str said = {0};
    json_auto_t *body = action_body(t, want), *job = NULL;
    snprintf(id, sizeof id, "%lld", (long long)t->state.selected);
    AUTO_FREE char *path = server_link_job_path(id, names[want]);
    if (server_link_call(&t->link, "POST", path, body, &job, &err) < 0)
        str_add(&said, err.text);
    else
        job_text_add_outcome(job, &said);
    refresh(t);
    snprintf(t->state.message, sizeof t->state.message, "%.*s", (int)strcspn(said.at, "\n"),
             said.at);
    str_done(&said);
}

/* ---- screen and keys ------------------------------------------------------- */

static void draw(struct top *t)
{
    struct str frame = {0}, out = {0};
    top_frame_draw(&t->state, t->colours, &frame);
    str_add(&out, "\033[H");
    for (const char *p = frame.at;; p++) {
        size_t n = strcspn(p, "\n");
        str_add_n(&out, p, n);
        str_add(&out, "\033[K");
        p += n;
        if (!*p)
            break;
        str_add(&out, "\n");
    }
    fwrite(out.at, 1, out.n, stdout);
    fflush(stdout);
    str_done(&frame);
    str_done(&out);
}

/* False when the user wants to quit, or the keyboard is gone. */
static bool read_keys(struct top *t)
{
    char bytes[64];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    for (size_t i = 0; i < (size_t)n;) {
        int key;
        i += key_decode(bytes + i, (size_t)n - i, &key);
        enum top_want want = top_state_key(&t->state, key);
        if (want == TOP_QUIT)
            return false;
        if (want == TOP_REFRESH)
            refresh(t);
        else if (want != TOP_NOTHING)
            act(t, want);
    }
    return true;
}

/* Restores the terminal while the process is stopped. */
static int pause_process(struct err *err)
{
    terminal_leave();
    raise(SIGSTOP);
    return terminal_enter(err);
}

/* False when a signal ends the view. */
static bool take_signal(struct top *t, int signals, struct err *err)
{
    struct signalfd_siginfo info;
    if (read(signals, &info, sizeof info) != sizeof info)
        return true;
    switch (info.ssi_signo) {
    case SIGWINCH:
    case SIGCONT:
        terminal_get_size(STDOUT_FILENO, &t->state.size);
        top_state_settle(&t->state);
        return true;
    case SIGTSTP:
        return pause_process(err) == 0;
    default:
        t->ended_by = (int)info.ssi_signo;
        return false;
    }
}

static void loop(struct top *t, int signals, struct err *err)
{
    usec_t due = clock_read_steady() + t->every;
    for (bool on = true; on;) {
        struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                               {.fd = signals, .events = POLLIN}};
        draw(t);
        usec_t left = due - clock_read_steady();
        left = left < 0 ? 0 : left > t->every ? t->every : left;
        int ready = poll(fds, COUNT_OF(fds), (int)(left / 1000) + 1);
        if (ready > 0 && fds[1].revents)
            on = take_signal(t, signals, err);
        if (on && ready > 0 && fds[0].revents)
            on = !(fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) && read_keys(t);
        if (on && clock_read_steady() >= due) {
            if (!t->state.paused)
                refresh(t);
            due = clock_read_steady() + t->every;
        }
    }
}

static int run_screen(struct top *t, struct err *err)
{
    sigset_t set, before;
    sigemptyset(&set);
    for (size_t i = 0; i < COUNT_OF(watched); i++)
        sigaddset(&set, watched[i]);
    sigprocmask(SIG_BLOCK, &set, &before);
    AUTO_CLOSE int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        return err_set(err, ERR_IO, "signals: %s", strerror(errno));
    if (terminal_enter(err) < 0)
        return -1;
    err->code = ERR_OK;
    loop(t, signals, err);
    terminal_leave();
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (t->ended_by) {
        signal(t->ended_by, SIG_DFL);
        raise(t->ended_by);
    }
    return err->code == ERR_OK ? 0 : -1;
}

/* For a file or a pipe: one frame, as long as the list of jobs. */
static void print_frame(struct top *t)
{
    struct str out = {0};
    size_t jobs = json_array_size(t->jobs), nodes = json_array_size(t->nodes);
    size_t width = terminal_width(stdout);
    t->state.size =
        (struct terminal_size){(unsigned)(jobs + 4 * nodes + 8), width ? (unsigned)width : 120};
    t->state.selected = 0;
    t->state.first = 0;
    top_frame_draw(&t->state, false, &out);
    char *end = strrchr(out.at, '\n'); /* without the line of keys and blank lines */
    while (end > out.at && end[-1] == '\n')
        end--;
    fwrite(out.at, 1, (size_t)(end - out.at) + 1, stdout);
    str_done(&out);
}

static int start(const struct args *args, struct top *t, struct err *err)
{
    struct server_link_config config = {.timeout_s = TIMEOUT_S};
    const char *delay = args_get(args, "delay");
    t->every = USEC_PER_SEC;
    if (delay && time_parse(delay, &t->every, err) < 0)
        return err_prefix(err, "--delay");
    if (t->every < USEC_PER_SEC / 10 || t->every > 3600 * USEC_PER_SEC)
        return err_set(err, ERR_INVALID, "--delay %s: must be between 100ms and 1h", delay);
    t->state.all = args_get(args, "all");
    t->state.size = (struct terminal_size){24, 80};
    terminal_get_size(STDOUT_FILENO, &t->state.size);
    t->colours = colour_wanted(stdout);
    if (server_link_open(args, &config, &t->link, err) < 0)
        return -1;
    return get_data(t, err);
}

static int run(const struct args *args)
{
    struct top t = {0};
    struct err err;
    int rc = start(args, &t, &err);
    if (rc == 0 && isatty(STDIN_FILENO) && terminal_obeys(stdout)) {
        rc = run_screen(&t, &err);
    } else if (rc == 0) {
        fprintf(stderr, "trainyard top: stdout is not a terminal; printing one snapshot\n");
        print_frame(&t);
    }
    json_decref(t.jobs);
    json_decref(t.nodes);
    json_decref(t.policy);
    json_decref(t.job);
    server_link_close(&t.link);
    return rc < 0 ? command_fail(args->command, &err) : 0;
}

static const struct option options[] = {
    {"all", 'a', NULL, "also show jobs that are over, newest first", false},
    {"delay", 'd', "TIME", "time between two refreshes (default 1s)", false},
    OPTION_SERVER,
    {},
};

const struct command command_top = {
    .name = "top",
    .summary = "Show nodes and jobs in a live full-screen view",
    .details = "Keys: up, down, j, k select a job; enter shows its details; c cancels it after\n"
               "asking; h holds or releases it; + and - add or remove one CPU, 0 restores its own\n"
               "range; a shows jobs that are over; p pauses the view; q quits. If stdout is not a\n"
               "terminal, one snapshot is printed.",
    .options = options,
    .run = run,
};
