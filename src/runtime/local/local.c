/* The local runtime: jobs as processes of this machine, in control groups where it may
 * create them. This file owns what is known of the machine, and the table of functions.
 * Operations are in operations.c, start.c, fate.c and clean.c; adopt.c takes over from
 * an earlier server; machine.c has what the machine has; held.c has what an attempt holds, cpus.c
 * which CPUs it gets, cgroup*.c its groups, process.c jobs without groups, files.c its files,
 * links.c the conductors' socket.
 *
 * Groups are named JOB.ATTEMPT below a base that is named after the state directory, so
 * servers with different state never touch each other's groups. Everything kept here can
 * be found again: the kernel's groups and processes are the record, and a new server
 * takes them over from there. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runtime/local/adopt.h"
#include "runtime/local/clean.h"
#include "runtime/local/files.h"
#include "runtime/local/links.h"
#include "runtime/local/local.h"
#include "runtime/local/machine.h"
#include "runtime/local/operations.h"
#include "runtime/local/spawn.h"
#include "runtime/tools.h"

/* ---- open and close --------------------------------------------------------- */

static void add_notice(struct runtime *r, const char *text)
{
    str_addf(&r->notice, "%s%s", r->notice.n ? "\n" : "", text);
}

static void say_without_groups(struct runtime *r, const char *why)
{
    struct str text = {0};
    str_addf(&text,
             "jobs run without control groups: %s. CPUs are held by affinity and shares by nice "
             "values, memory and the number of processes are not limited, and a process that hides "
             "from its job can stay behind. Run the server as root%s",
             why,
             r->cgroups.version == &cgroup_v2
                 ? ", as a service with Delegate=yes, or with: systemd-run "
                   "--user --scope -p Delegate=yes trainyard serve"
                 : "");
    add_notice(r, text.at);
    str_done(&text);
}

static void say_what_is_missing(struct runtime *r, const char *why)
{
    static const struct {
        unsigned controller;
        const char *instead;
    } lacks[] = {
        {CGROUP_CPU, "CPU shares are nice values only"},
        {CGROUP_CPUSET, "CPUs are held by affinity"},
        {CGROUP_MEMORY, "memory is not limited"},
        {CGROUP_PIDS, "the number of processes is not limited"},
    };
    struct str text = {0};
    for (size_t i = 0; i < COUNT_OF(lacks); i++)
        if (!(r->cgroups.controllers & lacks[i].controller))
            str_addf(&text, "%s%s", text.n ? ", " : "", lacks[i].instead);
    if (text.n) {
        str_addf(&text, ": %s", why && *why ? why : "the kernel does not offer the controllers");
        add_notice(r, text.at);
    }
    str_done(&text);
}

int local_open_groups_again(struct runtime *r, struct err *err)
{
    struct cgroup_mounts mounts;
    struct str why = {0};
    if (cgroup_find("/proc", &mounts, err))
        return -1;
    int rc = cgroup_open_again(&mounts, r->base, &r->cgroups, &why);
    if (rc < 0)
        err_set(err, ERR_IO, "cannot make control groups: %s", why.n ? why.at : "they are gone");
    str_done(&why);
    cgroup_mounts_done(&mounts);
    return rc;
}

static void open_groups(struct runtime *r, const struct cgroup_mounts *m, const char *yard)
{
    struct str why = {0};
    snprintf(r->base, sizeof r->base, "trainyard-%s", yard);
    if (cgroup_open(m, r->base, &r->cgroups, &why))
        say_without_groups(r, why.n ? why.at : "none can be made");
    else
        say_what_is_missing(r, why.at);
    str_done(&why);
}

static int open_machine(struct runtime *r, struct err *err)
{
    struct cgroup_mounts mounts;
    char yard[RUNTIME_YARD_SIZE];
    if (runtime_yard_id(r->host, yard, err) < 0 || cgroup_find("/proc", &mounts, err))
        return -1;
    int result = machine_open(r, &mounts, err);
    if (!result)
        open_groups(r, &mounts, yard);
    cgroup_mounts_done(&mounts);
    return result;
}

static void local_close(struct runtime *r)
{
    if (!r)
        return;
    links_close(r->links);
    while (r->held.n)
        held_drop(r, r->held.at[r->held.n - 1]);
    VEC_DONE(&r->held);
    VEC_DONE(&r->dying);
    cgroup_close(&r->cgroups);
    machine_close(r);
    str_done(&r->notice);
    for (size_t i = 0; i < COUNT_OF(r->tools); i++)
        free(r->tools[i]);
    free(r->jobs_dir);
    free(r->socket);
    free(r->conductor);
    free(r);
}

static int local_open(struct runtime_host *h, const void *options, struct runtime **out,
                      struct err *err)
{
    char *full AUTO_FREE = realpath(h->state_dir, NULL);
    (void)options;
    if (!full)
        return err_set(err, ERR_IO, "state directory %s: %s", h->state_dir, strerror(errno));
    struct runtime *r = xcalloc(1, sizeof *r);
    struct str jobs = {0}, socket = {0};
    str_addf(&jobs, "%s/jobs", full);
    str_addf(&socket, "%s/conductor.sock", h->run_dir);
    r->host = h;
    r->jobs_dir = jobs.at;
    r->socket = socket.at;
    tools_find(r->tools);
    if (tools_find_conductor(&r->conductor, err) || open_machine(r, err) ||
        links_open(r, &r->links, err)) {
        local_close(r);
        return -1;
    }
    machine_describe(r);
    h->node(h, r, &r->node);
    *out = r;
    return 0;
}

static usec_t local_due(const struct runtime *r)
{
    usec_t clean = clean_due(r), look = machine_due(r);
    return clean < look ? clean : look;
}

static void local_turn(struct runtime *r, usec_t now)
{
    if (clean_due(r) <= now)
        clean_turn(r, now);
    machine_turn(r, now);
}

static const char *local_tool(const struct runtime *r, enum runtime_tool tool)
{
    return r->tools[tool];
}

static const char *local_cpuset(const struct runtime *r, struct attempt_id id)
{
    const struct held *h = held_find(r, id);
    return h ? h->set.at : NULL;
}

const struct runtime_ops runtime_local = {
    .name = "local",
    .in_place = true,
    .open = local_open,
    .close = local_close,
    .begin = operation_begin,
    .adopt = adopt_attempt,
    .sweep = adopt_sweep,
    .send = links_send,
    .unlink = links_unlink,
    .tool = local_tool,
    .files = files_dir,
    .cpuset = local_cpuset,
    .restore = links_restore,
    .due = local_due,
    .turn = local_turn,
};
