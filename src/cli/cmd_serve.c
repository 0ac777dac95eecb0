/* trainyard serve: the server, in the foreground. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/version.h"
#include "cli/commands.h"
#include "policy/combo.h"
#include "runtime/kubernetes/options.h"
#include "server/serve.h"
#include "wire/dirs.h"
#include "wire/value.h"

/* Jobs shrink to their smallest size before another has to wait, and grow while there is
 * room. */
static const char default_policy[] = "elastic-fifo";

/* Takes the token out of the environment, where other processes of this user could read it as
 * long as the server runs. The caller frees it; NULL = there is none. */
static char *take_token(void)
{
    char *text = getenv("TRAINYARD_TOKEN");
    if (!text || !*text)
        return NULL;
    char *token = xstrdup(text);
    explicit_bzero(text, strlen(text));
    unsetenv("TRAINYARD_TOKEN");
    return token;
}

/* A short one can be guessed. */
static int check_token(const char *token, struct err *err)
{
    enum { LEAST = 16 };
    size_t n = token ? strlen(token) : LEAST;
    if (n >= LEAST)
        return 0;
    return err_set(err, ERR_INVALID,
                   "TRAINYARD_TOKEN has %zu characters and could be guessed; use at least %d, as "
                   "from `openssl rand -hex 16`",
                   n, LEAST);
}

static int read_listen(const struct args *a, struct serve_config *c, struct err *err)
{
    c->listen = args_get(a, "listen");
    c->tls = args_get(a, "tls");
    c->tls_cert = args_get(a, "tls-cert");
    c->tls_key = args_get(a, "tls-key");
    if (!c->tls_cert != !c->tls_key)
        return err_set(err, ERR_INVALID, "--tls-cert and --tls-key must be given together");
    if ((c->tls || c->tls_cert) && !c->listen)
        return err_set(err, ERR_INVALID, "%s needs --listen ADDR:PORT",
                       c->tls ? "--tls" : "--tls-cert");
    return c->listen ? check_token(c->token, err) : 0;
}

/* How long nodes may be silent, and what becomes of their jobs then. */
static int get_node_times(const struct args *a, struct serve_config *c, struct err *err)
{
    const char *lease = args_get(a, "lease"), *suspect = args_get(a, "suspect-after"),
               *lost = args_get(a, "lost-after");
    if (value_lease(lease ? lease : "5m", 10, 86400, &c->lease, err) < 0)
        return err_prefix(err, "--lease");
    if (value_duration(suspect ? suspect : "10s", 1, 86400, &c->suspect_after, err) < 0)
        return err_prefix(err, "--suspect-after");
    if (value_duration(lost ? lost : "30s", 1, 86400, &c->lost_after, err) < 0)
        return err_prefix(err, "--lost-after");
    if (c->lost_after < c->suspect_after)
        return err_set(err, ERR_INVALID, "--lost-after must not be less than --suspect-after");
    return 0;
}

static int get_config(const struct args *a, struct serve_config *c, char **state, char **run,
                      char **token, struct err *err)
{
    const char *policy = args_get(a, "policy"), *distance = args_get(a, "resched-min");
    const char *rest = args_get(a, "min-run"), *memory = args_get(a, "default-memory");
    const char *failed = args_get(a, "show-failed"), *stall = args_get(a, "stall");
    const char *compat = args_get(a, "compat");
    const char *keep = args_get(a, "keep"), *rows = args_get(a, "journal-rows");
    if (dirs_state(args_get(a, "state"), state, err) < 0 ||
        dirs_run(args_get(a, "run"), args_get(a, "state"), run, err) < 0 ||
        combo_parse(policy ? policy : default_policy, &c->combo, err) < 0)
        return -1;
    if (distance && time_parse(distance, &c->resched_min, err) < 0)
        return err_prefix(err, "--resched-min");
    if (time_parse(rest ? rest : "5m", &c->min_run, err) < 0)
        return err_prefix(err, "--min-run");
    if (memory && value_memory(memory, &c->default_memory_mb, err) < 0)
        return err_prefix(err, "--default-memory");
    if (time_parse(keep ? keep : "30d", &c->keep, err) < 0)
        return err_prefix(err, "--keep");
    if (time_parse(stall ? stall : "10m", &c->stall, err) < 0)
        return err_prefix(err, "--stall");
    if (time_parse(failed ? failed : "1h", &c->show_failed, err) < 0)
        return err_prefix(err, "--show-failed");
    if (get_node_times(a, c, err) < 0)
        return -1;
    if (compat && strcmp(compat, "schedulearn") != 0)
        return err_set(err, ERR_INVALID, "--compat: '%s' is not known; schedulearn is", compat);
    if (str_parse_int(rows ? rows : "200000", 100, INT32_MAX, &c->journal_rows, err) < 0)
        return err_prefix(err, "--journal-rows");
    c->state_dir = *state;
    c->run_dir = *run;
    c->combo_given = policy;
    c->default_image = args_get(a, "default-image");
    c->schedulearn = compat;
    c->group = args_get(a, "group");
    c->token = *token = take_token();
    return read_listen(a, c, err);
}

/* False = there is no cluster. */
static int get_cluster(const struct args *a, struct kube_options *out, struct err *err)
{
    const char *context = args_get(a, "kubernetes"), *placement = args_get(a, "kube-placement");
    *out = (struct kube_options){.context =
                                     context && strcmp(context, "default") != 0 ? context : NULL,
                                 .namespace = args_get(a, "kube-namespace"),
                                 .image = args_get(a, "kube-image"),
                                 .template = args_get(a, "kube-pod"),
                                 .checkpoints = args_get(a, "kube-checkpoints"),
                                 .lease = args_get(a, "kube-lease"),
                                 .jobs = args_get(a, "kube-jobs") != NULL,
                                 .delegate = placement && !strcmp(placement, "delegate")};
    bool more = out->lease || out->jobs || out->namespace || out->image || out->template ||
                out->checkpoints || placement;
    if (!context && more)
        return err_set(err, ERR_INVALID, "--kube-... options need --kubernetes");
    if (placement && !out->delegate && strcmp(placement, "own") != 0)
        return err_set(err, ERR_INVALID, "--kube-placement: must be 'own' or 'delegate'");
    if (!out->image)
        out->image = "trainyard:" TRAINYARD_VERSION;
    return 0;
}

static int run(const struct args *args)
{
    AUTO_FREE char *state = NULL, *dir = NULL, *token = NULL;
    struct serve_config config = {0};
    struct kube_options cluster;
    struct err err;
    VEC(const char *) mounts = {0};
    for (size_t i = 0; args_nth(args, "allow-mount", i); i++)
        VEC_PUSH(&mounts, args_nth(args, "allow-mount", i));
    VEC_PUSH(&mounts, NULL);
    config.mounts = mounts.at;
    int rc = get_config(args, &config, &state, &dir, &token, &err);
    if (rc == 0)
        rc = get_cluster(args, &cluster, &err);
    config.kubernetes = args_get(args, "kubernetes") ? &cluster : NULL;
    if (rc == 0)
        rc = serve(&config, &err);
    VEC_DONE(&mounts);
    return rc < 0 ? command_fail(args->command, &err) : 0;
}

static const struct option options[] = {
    {"state", 's', "DIR",
     "directory for the state (default: /var/lib/trainyard as root, else "
     "~/.local/state/trainyard)",
     false},
    {"run", 0, "DIR",
     "directory for the sockets (default: that of --state; without it /run/trainyard as "
     "root, else $XDG_RUNTIME_DIR/trainyard)",
     false},
    {"listen", 'l', "ADDR:PORT", "also listen on TCP, for browsers and for clients with a token",
     false},
    {"tls", 0, NULL,
     "use TLS on TCP, with a certificate that is made at the first start; clients pin its "
     "fingerprint",
     false},
    {"tls-cert", 0, "FILE", "use TLS with this certificate and its chain (PEM); SIGHUP rereads it",
     false},
    {"tls-key", 0, "FILE", "private key of --tls-cert (PEM)", false},
    {"group", 0, "GROUP", "members of this group may use the unix socket, with the role user",
     false},
    {"policy", 'p', "P", "scheduling policy (default: that of the last run, or elastic-fifo)",
     false},
    {"resched-min", 0, "T", "minimum time between two decisions (default 0)", false},
    {"min-run", 0, "T",
     "a preempted job runs this long before it can be preempted again (default 5m)", false},
    {"default-memory", 0, "SIZE",
     "memory limit of jobs that are submitted without one, as in 4g (default none)", false},
    {"keep", 0, "T", "how long to keep events and samples of finished jobs (default 30d)", false},
    {"show-failed", 0, "T", "how long ps lists jobs that have failed (default 1h; 0 = not at all)",
     false},
    {"compat", 0, "NAME", "also serve the clients of another scheduler: schedulearn", false},
    {"default-image", 0, "IMAGE",
     "run jobs that name no image in this one, instead of as processes of this machine", false},
    {"lease", 0, "T|none",
     "when a node is lost, its jobs stop there after this time and start elsewhere (default 5m); "
     "none = they wait for the node",
     false},
    {"suspect-after", 0, "T", "nothing starts on a node that has not answered for T (default 10s)",
     false},
    {"lost-after", 0, "T", "a node that has not answered for T is lost (default 30s)", false},
    {"stall", 0, "T",
     "tell users when a job makes no progress for this long (default 10m; 0 = never)", false},
    {"allow-mount", 0, "DIR", "directory of nodes that containers may mount (default: none)", true},
    {"kubernetes", 0, "CONTEXT",
     "also run jobs in a cluster: a context of the kubeconfig, in-cluster for the service account, "
     "or default",
     false},
    {"kube-namespace", 0, "NAME", "namespace of the pods (default: that of the context)", false},
    {"kube-image", 0, "IMAGE",
     "image of Trainyard itself (default: trainyard:" TRAINYARD_VERSION ")", false},
    {"kube-pod", 0, "FILE", "template of pods, YAML: tolerations, pull secrets, priority class",
     false},
    {"kube-checkpoints", 0, "CLAIM", "volume claim that checkpoints are kept in", false},
    {"kube-jobs", 0, NULL, "also run the TrainingJob objects of the namespace", false},
    {"kube-lease", 0, "NAME",
     "serve only while holding this Lease of the namespace; another server waits and takes over",
     false},
    {"kube-placement", 0, "WHO",
     "own: Trainyard places pods (default); delegate: kube-scheduler does", false},
    {"journal-rows", 0, "N", "begin a new section of the journal after N rows (default 200000)",
     false},
    {},
};

const struct command command_serve = {
    .name = "serve",
    .summary = "Run the server of this machine in the foreground",
    .details = "Accepts jobs, runs them on this machine and resizes them while they run. The state "
               "is kept "
               "in one directory. The server may be stopped or killed at any time: the jobs go on, "
               "and the "
               "next server takes them over.",
    .examples = "  trainyard serve &\n"
                "  trainyard serve --state /tmp/yard --policy equal\n"
                "  trainyard serve --listen 127.0.0.1:8080 &\n"
                "  trainyard open",
    .options = options,
    .run = run,
};
