/* Owns the server's process: the loop, the sockets, the signals, and notifications to
 * systemd. */
#include "server/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"
#include "base/proc.h"
#include "base/str.h"
#include "http/listen.h"
#include "http/server.h"
#include "runtime/kubernetes/options.h"
#include "server/api/api.h"
#include "server/kubernetes/election.h"
#include "server/kubernetes/front.h"
#include "server/listen.h"
#include "server/log.h"
#include "server/nodes.h"
#include "server/places.h"
#include "server/shutdown.h"
#include "server/yard.h"

struct frame {
    uv_loop_t loop;
    uv_signal_t term, intr, power, child, hangup;
    uv_prepare_t before_wait; /* ends the turn */
    uint64_t ended, idle;     /* ns: when the last turn ended; waiting time until then */
    uv_timer_t alarm;         /* wakes the loop when a turn is due */
    struct yard *yard;
    struct api *api;
    struct places *places;
    struct http_server *http;
    struct listen_config listen;
    struct election *election;             /* NULL = there is no other server */
    const char *lost;                      /* why it must not serve any longer; NULL = it may */
    gid_t group;                           /* whose members may use the unix socket; 0 = none */
    uint64_t descriptors, job_descriptors; /* that the server may open, and jobs */
    bool stopping;
};

/* ---- descriptors ----------------------------------------------------------- */

/* Kept for everything but connections of clients: the database, conductors, logs, starts. */
enum { RESERVED = 256, FEWEST = 16, CONNECTIONS = 1000 };

/* Raises the limit to what the server may have. Jobs get the limit from before, which programs
 * that use select(2) rely on. */
static void raise_descriptors(struct frame *f)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    f->job_descriptors = limit.rlim_cur;
    f->descriptors = limit.rlim_max;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0) {
        log_warning("cannot raise the limit of descriptors: %s", strerror(errno));
        f->descriptors = f->job_descriptors;
    }
}

/* How many connections each of the two listeners may have. */
static unsigned most_connections(const struct frame *f)
{
    uint64_t most = f->descriptors > RESERVED ? (f->descriptors - RESERVED) / 2 : 0;
    return most < FEWEST ? FEWEST : most < CONNECTIONS ? (unsigned)most : CONNECTIONS;
}

/* ---- signals ------------------------------------------------------------- */

/* sd_notify(3): a datagram to the socket that systemd names. */
static void notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!path || !*path || strlen(path) >= sizeof to.sun_path)
        return;
    AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    memcpy(to.sun_path, path, strlen(path));
    if (*path == '@')
        to.sun_path[0] = '\0';
    socklen_t n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (fd < 0 || sendto(fd, state, strlen(state), 0, (struct sockaddr *)&to, n) < 0)
        log_warning("cannot notify systemd of %s: %s", state, strerror(errno));
}

/* ---- turns --------------------------------------------------------------- */

static void wake_up(uv_timer_t *alarm)
{
    (void)alarm; /* the turn ends before the next wait, so waking up is enough */
}

static void stop_serving(struct frame *f);

/* What the turn took, without the wait for its first event. */
static void observe_turn(struct frame *f)
{
    uint64_t now = uv_hrtime(), idle = uv_metrics_idle_time(&f->loop);
    if (f->ended)
        metrics_observe(&f->yard->metrics.busy, (usec_t)(now - f->ended - (idle - f->idle)) / 1000);
    f->ended = now;
    f->idle = idle;
}

static void end_turn(uv_prepare_t *prepare)
{
    struct frame *f = prepare->data;
    turn_end(f->yard);
    observe_turn(f);
    if (f->yard->closing && !f->stopping && shutdown_over(f->yard))
        stop_serving(f);
    usec_t due = turn_due(f->yard), now = clock_now(&f->yard->clock);
    if (due == USEC_NEVER) {
        uv_timer_stop(&f->alarm);
        return;
    }
    uv_update_time(&f->loop);
    uv_timer_start(&f->alarm, wake_up, due > now ? (uint64_t)(due - now + 999) / 1000 : 0, 0);
}

static void begin_turns(struct frame *f)
{
    uv_prepare_init(&f->loop, &f->before_wait);
    uv_timer_init(&f->loop, &f->alarm);
    f->before_wait.data = f;
    uv_prepare_start(&f->before_wait, end_turn);
}

static void end_turns(struct frame *f)
{
    uv_close((uv_handle_t *)&f->before_wait, NULL);
    uv_close((uv_handle_t *)&f->alarm, NULL);
    yard_close(f->yard);
    f->yard = NULL;
}

static void http_stopped(void *ctx)
{
    struct frame *f = ctx;
    f->http = NULL;
    if (f->yard)
        end_turns(f);
}

/* It is stopping already: another SIGTERM must not end it before all is on disk. */
static void ignore_term(struct frame *f)
{
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    uv_close((uv_handle_t *)&f->term, NULL);
    signal(SIGTERM, SIG_IGN);
    sigprocmask(SIG_UNBLOCK, &term, NULL);
}

static void stop_serving(struct frame *f)
{
    if (f->stopping)
        return;
    f->stopping = true;
    notify("STOPPING=1");
    ignore_term(f);
    uv_close((uv_handle_t *)&f->intr, NULL);
    uv_close((uv_handle_t *)&f->power, NULL);
    uv_close((uv_handle_t *)&f->child, NULL);
    uv_close((uv_handle_t *)&f->hangup, NULL);
    places_unwatch(f->places);
    turn_end(f->yard);
    http_server_stop(f->http, USEC_PER_SEC, http_stopped, f);
}

/* The machine is going down, so SIGTERM follows soon; the server waits for its jobs all the
 * same. SIGINT ends it at once. */
static void shut_down(uv_signal_t *signal, int number)
{
    struct frame *f = signal->data;
    (void)number;
    if (!f->stopping)
        shutdown_begin(f->yard);
}

static void stop_server(uv_signal_t *signal, int number)
{
    struct frame *f = signal->data;
    if (number == SIGTERM && f->yard->closing && !shutdown_over(f->yard))
        return;
    log_info("stopping signal=%d; jobs keep running", number);
    stop_serving(f);
}

static void read_again(uv_signal_t *signal, int number)
{
    struct frame *f = signal->data;
    (void)number;
    listen_reload(f->http, &f->listen);
}

/* As process 1 of a container, the server inherits orphaned processes. */
static void reap_orphans(uv_signal_t *signal, int number)
{
    (void)signal;
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
}

static void watch_signals(struct frame *f)
{
    signal(SIGPIPE, SIG_IGN);
    uv_signal_init(&f->loop, &f->term);
    uv_signal_init(&f->loop, &f->intr);
    uv_signal_init(&f->loop, &f->power);
    uv_signal_init(&f->loop, &f->child);
    uv_signal_init(&f->loop, &f->hangup);
    f->term.data = f->intr.data = f->power.data = f->child.data = f->hangup.data = f;
    uv_signal_start(&f->hangup, read_again, SIGHUP);
    uv_signal_start(&f->term, stop_server, SIGTERM);
    uv_signal_start(&f->intr, stop_server, SIGINT);
    uv_signal_start(&f->power, shut_down, SIGPWR);
    if (getpid() == 1)
        uv_signal_start(&f->child, reap_orphans, SIGCHLD);
}

/* ---- serve --------------------------------------------------------------- */

static int listen_http(struct frame *f, const struct serve_config *c, struct err *err)
{
    f->api = api_create(f->yard);
    struct http_config http = {.routes = f->api->routes,
                               .ctx = f->api,
                               .identify = api_identify,
                               .served = api_served,
                               .group = f->group,
                               .limits = {.connections = most_connections(f)}};
    struct str path = {0};
    str_addf(&path, "%s/trainyard.sock", places_run(f->places));
    f->listen = (struct listen_config){.socket = path.at,
                                       .tcp = c->listen,
                                       .state_dir = places_state(f->places),
                                       .tls = c->tls,
                                       .tls_cert = c->tls_cert,
                                       .tls_key = c->tls_key};
    if (http_server_create(&f->loop, &http, &f->http, err) < 0)
        return -1;
    return listen_open(f->http, f->yard, &f->listen, err);
}

/* Sockets that somebody has removed are made again. */
static void restore_sockets(void *ctx)
{
    struct frame *f = ctx;
    struct err err;
    if (http_server_restore(f->http, &err) < 0)
        log_warning("%s", err.text);
    nodes_restore(f->yard);
}

static int run_server(struct frame *f, const struct serve_config *c, struct err *err)
{
    const struct docker_options docker = {c->suspect_after, c->lost_after};
    const struct runtime_choice runtimes[] = {
        {&runtime_local, NULL}, {&runtime_docker, &docker}, {&runtime_kubernetes, c->kubernetes}};
    struct yard_config config = {.state_dir = places_state(f->places),
                                 .run_dir = places_run(f->places),
                                 .clock = &clock_system,
                                 .runtimes = runtimes,
                                 .n_runtimes = COUNT_OF(runtimes) - !c->kubernetes,
                                 .mounts = c->mounts,
                                 .default_image = c->default_image,
                                 .schedulearn = c->schedulearn,
                                 .combo = c->combo,
                                 .combo_given = c->combo_given,
                                 .resched_min = c->resched_min,
                                 .min_run = c->min_run,
                                 .default_memory_mb = c->default_memory_mb,
                                 .journal_rows = (uint64_t)c->journal_rows,
                                 .keep = c->keep,
                                 .stall = c->stall,
                                 .job_descriptors = f->job_descriptors,
                                 .lease = c->lease,
                                 .show_failed = c->show_failed};
    if (yard_open(&f->loop, &config, &f->yard, err) < 0)
        return -1;
    begin_turns(f);
    bool jobs = c->kubernetes && c->kubernetes->jobs;
    for (size_t i = 0; i < f->yard->nodes.n; i++)
        if (f->yard->nodes.at[i].notice)
            log_info("%s", f->yard->nodes.at[i].notice);
    if ((jobs && kube_front_open(f->yard, c->kubernetes, &f->yard->front, err) < 0) ||
        access_open(f->yard, c->token, err) < 0 || listen_http(f, c, err) < 0 ||
        places_watch(f->places, &f->loop, restore_sockets, f, err) < 0) {
        places_unwatch(f->places);
        if (f->http)
            http_server_stop(f->http, 0, http_stopped, f);
        else
            http_stopped(f);
        uv_run(&f->loop, UV_RUN_DEFAULT);
        return -1;
    }
    watch_signals(f);
    notify("READY=1");
    uv_run(&f->loop, UV_RUN_DEFAULT);
    return 0;
}

static int find_group(const char *name, gid_t *out, struct err *err)
{
    /* cppcheck-suppress getgrnamCalled ; there is one thread */
    const struct group *found = getgrnam(name);
    if (!found)
        return err_set(err, ERR_INVALID, "--group: there is no group '%.60s'", name);
    *out = found->gr_gid;
    return 0;
}

static void lose_election(void *ctx, const char *why)
{
    struct frame *f = ctx;
    f->lost = why;
    log_warning("stopping: %s; jobs keep running", why);
    if (f->yard)
        stop_serving(f);
}

/* Serves in its directories, which are locked meanwhile. */
static int serve_here(struct frame *f, const struct serve_config *config, struct err *err)
{
    if (places_open(config->state_dir, config->run_dir, &f->places, err) < 0)
        return -1;
    int rc = f->group ? places_share(f->places, f->group, err) : 0;
    if (rc == 0)
        rc = run_server(f, config, err);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    api_free(f->api);
    free((void *)f->listen.socket);
    places_close(f->places);
    return rc;
}

/* With a Lease, waits for it, and serves while it is ours. */
static int serve_elected(struct frame *f, const struct serve_config *config, struct err *err)
{
    if (election_win(&f->loop, config->kubernetes, &f->election, err) < 0)
        return -1;
    if (!f->election)
        return 0; /* ended by a signal while it waited */
    election_keep(f->election, lose_election, f);
    int rc = serve_here(f, config, err);
    election_end(f->election);
    if (rc == 0 && f->lost)
        rc = err_set(err, ERR_CONFLICT, "--kube-lease %s: %s", config->kubernetes->lease, f->lost);
    return rc;
}

int serve(const struct serve_config *config, struct err *err)
{
    struct frame f = {0};
    bool elects = config->kubernetes && config->kubernetes->lease;
    if (config->group && find_group(config->group, &f.group, err) < 0)
        return -1;
    raise_descriptors(&f);
    proc_guard_from_oom();
    uv_loop_init(&f.loop);
    uv_loop_configure(&f.loop, UV_METRICS_IDLE_TIME);
    int rc = elects ? serve_elected(&f, config, err) : serve_here(&f, config, err);
    uv_run(&f.loop, UV_RUN_DEFAULT);
    uv_loop_close(&f.loop);
    return rc;
}
