/* Owns the specification of an attempt: its command, its environment, its limits. */
#include "server/jobs/launch.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "server/jobs/attempts.h"
#include "server/jobs/elastic.h"
#include "server/jobs/gang.h"
#include "server/jobs/move.h"
#include "server/jobs/parts.h"
#include "server/jobs/pursue.h"
#include "server/nodes.h"
#include "server/uploads.h"
#include "wire/sweep.h"

struct launch {
    struct yard *y;
    const struct live_job *j;
    struct attempt *a;
    const struct spec *s;
    struct arena arena;
    struct launch_spec spec;
    struct runtime_start start;
    struct runtime_container container;
};

usec_t launch_time_limit(const struct live_job *j, const struct attempt *a)
{
    usec_t left = j->row.time_limit - a->before;
    return !j->row.time_limit ? 0 : left > 0 ? left : 1;
}

/* In the member of a sweep, {NAME} stands for the value of a parameter. */
static struct spec_list with_parameters(struct launch *l, struct spec_list list)
{
    if (!l->s->sweep.n)
        return list;
    return sweep_fill_list(&l->s->sweep, (uint32_t)l->j->row.array_index, &list, &l->arena);
}

/* ---- the environment ------------------------------------------------------------ */

#define SET(l, name, ...) launch_spec_set(&(l)->spec, &(l)->arena, name, __VA_ARGS__)

static void set_default(struct launch *l, const char *name, const char *value)
{
    if (value && !launch_spec_get(&l->spec, name))
        SET(l, name, "%s", value);
}

static void set_variables(struct launch *l, const struct spec_list *variables)
{
    for (uint32_t i = 0; i < variables->n; i++)
        launch_spec_put(&l->spec, &l->arena, variables->at[i]);
}

/* Programs can import trainyard. What the job has in PYTHONPATH comes first; it objects by
 * TRAINYARD_PYTHON=no. */
static void set_python(struct launch *l)
{
    const struct yard_runtime *r = nodes_runtime(l->y, l->a->node);
    const char *ours = r->ops->tool(r->runtime, TOOL_PYTHON);
    const char *path = launch_spec_get(&l->spec, "PYTHONPATH");
    const char *wish = launch_spec_get(&l->spec, "TRAINYARD_PYTHON");
    if (!ours || (wish && !strcmp(wish, "no")))
        return;
    SET(l, "PYTHONPATH", "%s%s%s", path ? path : "", path && *path ? ":" : "", ours);
}

/* Where the parts of the job are. */
static void set_nodes(struct launch *l, const char *files)
{
    const struct attempt *head = l->j->attempt;
    struct str hosts = {0};
    SET(l, "TRAINYARD_NODES", "%u", gang_size(head));
    SET(l, "TRAINYARD_NODE_RANK", "%u", gang_rank(head, l->a));
    SET(l, "TRAINYARD_NODE_ADDR", "%s", head->next_part ? gang_address(l->y, l->a) : "127.0.0.1");
    SET(l, "TRAINYARD_MASTER_ADDR", "%s", head->next_part ? gang_address(l->y, head) : "127.0.0.1");
    SET(l, "TRAINYARD_MASTER_PORT", "%u", gang_port(head));
    SET(l, "TRAINYARD_HOSTFILE", "%s/" LAUNCH_JOB_FILES "/" LAUNCH_HOSTS, files);
    gang_add_hosts(l->y, l->j, &hosts);
    l->spec.hosts = arena_strdup(&l->arena, hosts.at);
    str_done(&hosts);
}

static void set_environment(struct launch *l)
{
    const struct attempt *a = l->a;
    AUTO_FREE char *files = nodes_files(l->y, a);
    set_variables(l, &l->s->environment);
    struct spec_list env = with_parameters(l, l->s->env);
    set_variables(l, &env);
    if (!l->s->image) { /* which has its own */
        set_default(l, "PATH", getenv("PATH"));
        set_default(l, "HOME", getenv("HOME"));
    }
    /* Python would collect 8 KiB of output before it writes. */
    set_default(l, "PYTHONUNBUFFERED", "1");
    set_python(l);
    SET(l, "TRAINYARD_JOB_ID", "%lld", (long long)a->job);
    SET(l, "TRAINYARD_JOB_NAME", "%s", l->j->row.name);
    SET(l, "TRAINYARD_ATTEMPT", "%u", a->n);
    SET(l, "TRAINYARD_CPUS", "%g", (double)a->cpus / UNIT);
    SET(l, "TRAINYARD_GPUS", "%g", (double)a->gpus / UNIT);
    set_nodes(l, files);
    SET(l, "TRAINYARD_CHECKPOINT_DIR", "%s", l->start.checkpoints);
    SET(l, "TRAINYARD_PROGRESS", "%s/" LAUNCH_JOB_FILES "/progress", files);
    if (l->j->row.array) {
        SET(l, "TRAINYARD_ARRAY_JOB", "%lld", (long long)l->j->row.array);
        SET(l, "TRAINYARD_ARRAY_INDEX", "%lld", (long long)l->j->row.array_index);
        SET(l, "SLURM_ARRAY_TASK_ID", "%lld", (long long)l->j->row.array_index);
    }
    if (!launch_spec_get(&l->spec, "OMP_NUM_THREADS"))
        SET(l, "OMP_NUM_THREADS", "%lld", (long long)parts_of(l->j, a));
}

/* ---- the rest -------------------------------------------------------------------- */

static const char *format_path(struct launch *l, const char *dir, const char *file)
{
    struct str path = {0};
    str_addf(&path, "%s/%s", dir, file);
    const char *copy = arena_strdup(&l->arena, path.at);
    str_done(&path);
    return copy;
}

static void set_places(struct launch *l)
{
    const char *home = getenv("HOME"), *there = nodes_runtime(l->y, l->a->node)->ops->checkpoints;
    struct str own = {0};
    str_addf(&own, "%s/jobs/%lld/checkpoint", l->y->config.state_dir, (long long)l->a->job);
    l->start.checkpoints = l->s->checkpoint_dir ? l->s->checkpoint_dir
                           : there              ? there
                                                : arena_strdup(&l->arena, own.at);
    l->spec.workdir = l->s->workdir          ? l->s->workdir
                      : l->s->image          ? NULL
                      : home && *home == '/' ? home
                                             : "/";
    str_done(&own);
}

static void set_source(struct launch *l)
{
    struct move_source source = move_find_source(l->y, l->j, l->a);
    l->start.home = source.attempt;
    l->start.bring_from = source.node;
    l->start.bring_home = source.from;
}

static const char **end_list(struct launch *l, const struct spec_list *list)
{
    const char **copy = ARENA_ARRAY(&l->arena, list->n + 1, const char *);
    if (list->n)
        memcpy(copy, list->at, list->n * sizeof *copy);
    return copy;
}

static const char *find_upload(struct launch *l)
{
    AUTO_FREE char *path = l->s->upload ? uploads_use(l->y, l->s->upload) : NULL;
    return path ? arena_strdup(&l->arena, path) : l->s->upload;
}

static void set_container(struct launch *l)
{
    if (!l->s->image)
        return;
    l->container = (struct runtime_container){.image = l->s->image,
                                              .run_as = l->s->run_as,
                                              .upload = find_upload(l),
                                              .mounts = end_list(l, &l->s->mounts),
                                              .ulimits = end_list(l, &l->s->ulimits),
                                              .shm_mb = l->s->shm_mb,
                                              .host_network = l->j->attempt->next_part != NULL};
    l->start.container = &l->container;
    l->start.cpus_min = l->j->terms.cpus_min;
    l->start.cpus_max = l->j->terms.cpus_max;
}

static void set_command(struct launch *l)
{
    AUTO_FREE char *files = nodes_files(l->y, l->a);
    l->start.script = l->s->script;
    l->start.script_path = format_path(l, files, "script");
    struct spec_list words = spec_words(l->s, l->start.script_path, &l->arena);
    words = with_parameters(l, words);
    l->spec.command = end_list(l, &words);
}

static void set_limits(struct launch *l)
{
    const struct terms *t = &l->j->terms;
    struct launch_spec *spec = &l->spec;
    spec->grace = t->grace;
    spec->lease = l->a->lease;
    spec->start_within = l->a->lease ? RUNTIME_START_LAG : 0;
    spec->checkpoint_signal = t->checkpoint_signal;
    spec->time_limit = launch_time_limit(l->j, l->a);
    if (t->signal) {
        spec->warning.signal = t->signal;
        spec->warning.before = t->signal_before;
    }
    spec->progress.pattern = l->s->pattern;
    spec->progress.total = l->s->total.value;
    if (l->s->total.unit != PROGRESS_UNIT_NONE)
        spec->progress.unit = progress_unit_name(l->s->total.unit);
    if (l->j->past.known && l->j->past.step >= 1)
        spec->progress.past = llround(l->j->past.step);
    spec->log_max_bytes = ATTEMPT_LOG_MAX;
    spec->log_keep = ATTEMPT_LOG_KEEP;
    spec->sample = USEC_PER_SEC;
    spec->wait_children = l->s->wait_children;
    static const enum launch_pty pty[] = {PTY_AUTO, PTY_NO, PTY_YES};
    spec->pty = pty[l->s->pty];
    const struct yard_runtime *r = nodes_runtime(l->y, l->a->node);
    spec->lines = r->ops->tool(r->runtime, TOOL_LINES);
}

void launch_begin(struct yard *y, struct attempt *a)
{
    const struct live_job *j = yard_live(y, a->job);
    struct launch l = {.y = y, .j = j, .a = a, .s = &j->submission->spec};
    launch_spec_init(&l.spec);
    l.spec.job = a->job;
    l.spec.attempt = a->n;
    l.spec.name = j->row.name;
    l.spec.token = a->token;
    l.spec.cpus = (double)a->cpus / UNIT;
    l.spec.job_files = LAUNCH_JOB_FILES;
    l.start.spec = &l.spec;
    l.start.arena = &l.arena;
    set_places(&l);
    set_source(&l);
    set_command(&l);
    set_environment(&l);
    set_limits(&l);
    set_container(&l);
    a->op.size = attempt_size(y, a);
    a->told.threads = parts_of(j, a);
    a->told.limit = l.spec.time_limit;
    struct err err;
    if (elastic_set_up(y, j, a, &l.start, &err) == 0) {
        a->op.start = &l.start;
        attempt_begin_op(y, a, OP_START);
        a->op.start = NULL;
    } else {
        a->impossible = true;
        a->op.kind = OP_START;
        a->op.err = err;
        a->busy = true;
        runtime_complete(&y->host, &a->op);
    }
    arena_done(&l.arena);
}

void launch_done(struct attempt *a)
{
    a->set.cpus = a->told.cpus = a->op.size.cpus;
    a->set.cpu_limit = a->op.size.cpu_limit;
    a->set.cpu_weight = a->op.size.cpu_weight;
}
