/* Control groups v1: one hierarchy for each controller, each mounted separately.
 *
 * For root the base is at the top of each hierarchy, so that a server that is started
 * from elsewhere finds it again; for others it is in this process's own group. Where the
 * unified hierarchy is mounted as well, without controllers (the hybrid layout of
 * systemd), a group is created there too: its cgroup.kill ends a fork bomb at once, its
 * cgroup.freeze is used instead of the freezer, and its cpu.stat counts the CPU time.
 * Without it, the freezer stops the processes while they are killed; a process that v1's
 * freezer has frozen dies only when it is thawed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/local/cgroup.h"
#include "runtime/local/textfile.h"

/* PERIOD_US is the kernel's default. */
enum { PERIOD_US = 100000, QUOTA_MIN_US = 1000, SHARES = 1024, SHARES_MAX = 262144 };

static int write_in(const char *dir, const char *file, const char *text)
{
    struct str path = {0};
    str_addf(&path, "%s/%s", dir, file);
    int code = textfile_write_at(-1, path.at, text);
    str_done(&path);
    return code;
}

/* A new cpuset is empty: the base takes what the group above it has, and those below the
 * base get what it has. */
static int fill_cpuset(const char *parent, const char *base)
{
    static const char *const files[] = {"cpuset.cpus", "cpuset.mems"};
    struct str from = {0}, text = {0};
    int code = write_in(base, "cgroup.clone_children", "1");
    for (size_t i = 0; i < COUNT_OF(files) && !code; i++) {
        from.n = 0;
        str_addf(&from, "%s/%s", parent, files[i]);
        code = textfile_read(from.at, &text);
        if (!code)
            code = write_in(base, files[i], text.at);
    }
    str_done(&from);
    str_done(&text);
    return code;
}

static const char *parent_of(const struct cgroup_mount *m)
{
    return geteuid() == 0 ? m->point : m->own;
}

static int open_hierarchy(const struct cgroup_mount *m, const char *base, struct cgroups *c)
{
    const char *parent = parent_of(m);
    struct str path = {0};
    str_addf(&path, "%s/%s", parent, base);
    int code = mkdir(path.at, 0755) && errno != EEXIST ? errno : 0;
    if (!code && m->controllers & CGROUP_CPUSET)
        code = fill_cpuset(parent, path.at);
    if (!code)
        code = cgroup_add(c, path.at, m->controllers, m->v2);
    if (code)
        str_done(&path);
    return code;
}

static bool has_file(const struct cgroup_hierarchy *h, const char *file, int mode)
{
    struct str path = {0};
    str_addf(&path, "%s/%s", h->base, file);
    bool found = access(path.at, mode) == 0;
    str_done(&path);
    return found;
}

static const struct cgroup_hierarchy *unified(const struct cgroups *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->at[i].v2)
            return &c->at[i];
    return NULL;
}

/* The unified hierarchy counts CPU time, and freezes where it can: then a hierarchy that
 * does nothing else is of no use, and each costs time with every job. One that an earlier
 * server has used is still needed: its jobs may be frozen there. */
static bool is_redundant(const struct cgroup_mount *m, const char *base, bool counts, bool freezes)
{
    unsigned done = (counts ? CGROUP_CPUACCT : 0) | (freezes ? CGROUP_FREEZER : 0);
    struct str path = {0};
    str_addf(&path, "%s/%s", parent_of(m), base);
    bool is_used = access(path.at, F_OK) == 0;
    str_done(&path);
    return !(m->controllers & ~done) && (!m->controllers || !is_used);
}

static void open_unified(const struct cgroup_mounts *m, const char *base, struct cgroups *c)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (m->at[i].v2)
            (void)open_hierarchy(&m->at[i], base, c);
}

static int open_v1(const struct cgroup_mounts *m, const char *base, struct cgroups *c,
                   struct str *why)
{
    struct str refused = {0};
    int last = 0;
    open_unified(m, base, c);
    const struct cgroup_hierarchy *u = unified(c);
    bool counts = u && has_file(u, "cpu.stat", R_OK),
         freezes = u && has_file(u, "cgroup.freeze", W_OK);
    for (uint32_t i = 0; i < m->n; i++) {
        const struct cgroup_mount *mount = &m->at[i];
        int code = mount->v2 || is_redundant(mount, base, counts, freezes)
                       ? 0
                       : open_hierarchy(mount, base, c);
        if (!code)
            continue;
        str_addf(&refused, "%s%s", refused.n ? ", " : "", mount->point);
        last = code;
    }
    if (refused.n)
        cgroup_complain(why, "cannot make groups in %s: %s", refused.at, strerror(last));
    str_done(&refused);
    const struct cgroup_hierarchy *cpu = cgroup_with(c, CGROUP_CPU);
    if (cpu)
        cgroup_write(cpu, NULL, "cpu.shares", "%u", cgroup_base_weight(SHARES, SHARES_MAX));
    c->can_kill = u && has_file(u, "cgroup.kill", W_OK);
    c->can_freeze = freezes || cgroup_with(c, CGROUP_FREEZER);
    return c->controllers ? 0 : -1;
}

static int set_cpu(const struct cgroup_hierarchy *h, const char *name,
                   const struct cgroup_limits *l, struct err *err)
{
    long long quota = l->quota ? l->quota * PERIOD_US / UNIT : -1;
    int code = cgroup_write(h, name, "cpu.shares", "%u", l->weight > 0 ? l->weight * 10 : 10);
    if (code)
        return cgroup_refused(h, name, "cpu.shares", code, err);
    code = cgroup_write(h, name, "cpu.cfs_quota_us", "%lld",
                        quota >= 0 && quota < QUOTA_MIN_US ? QUOTA_MIN_US : quota);
    return code ? cgroup_refused(h, name, "cpu.cfs_quota_us", code, err) : 0;
}

/* Memory and swap together may never be less than memory: which of both goes first
 * depends on the direction. Kernels without swap accounting have no memsw. */
static int set_memory(const struct cgroup_hierarchy *h, const char *name, int64_t bytes,
                      struct err *err)
{
    static const char limit[] = "memory.limit_in_bytes", both[] = "memory.memsw.limit_in_bytes";
    long long value = bytes ? bytes : -1;
    int swap = cgroup_write(h, name, both, "%lld", value);
    int code = cgroup_write(h, name, limit, "%lld", value);
    if (swap == EINVAL)
        swap = cgroup_write(h, name, both, "%lld", value);
    if (!code && swap && swap != ENOENT && swap != EACCES)
        return cgroup_refused(h, name, both, swap, err);
    return code ? cgroup_refused(h, name, limit, code, err) : 0;
}

static int set_v1(const struct cgroups *c, const char *name, const struct cgroup_limits *l,
                  struct err *err)
{
    const struct cgroup_hierarchy *h;
    int code;
    if ((h = cgroup_with(c, CGROUP_CPU)) && set_cpu(h, name, l, err))
        return -1;
    if ((h = cgroup_with(c, CGROUP_CPUSET)) &&
        (code = cgroup_write(h, name, "cpuset.cpus", "%s", l->cpus)))
        return cgroup_refused(h, name, "cpuset.cpus", code, err);
    if ((h = cgroup_with(c, CGROUP_MEMORY)) && (l->memory || !l->is_new) &&
        set_memory(h, name, l->memory, err))
        return -1;
    if ((h = cgroup_with(c, CGROUP_PIDS)) &&
        (code = l->pids ? cgroup_write(h, name, "pids.max", "%lld", (long long)l->pids)
                        : cgroup_write(h, name, "pids.max", "max")))
        return cgroup_refused(h, name, "pids.max", code, err);
    return 0;
}

static int freeze_v1(const struct cgroups *c, const char *name, bool frozen, struct err *err)
{
    const struct cgroup_hierarchy *h = cgroup_with(c, CGROUP_FREEZER);
    const char *file = h ? "freezer.state" : "cgroup.freeze";
    int code = ENOENT;
    if (h)
        code = cgroup_write(h, name, file, "%s", frozen ? "FROZEN" : "THAWED");
    else if ((h = unified(c)))
        code = cgroup_write(h, name, file, "%d", frozen);
    if (!h)
        return err_set(err, ERR_IO, "no freezer among the control groups");
    return code ? cgroup_refused(h, name, file, code, err) : 0;
}

/* Each one by itself too, even where all can be killed at once: a job of root's may have left one
 * of the hierarchies. */
static void kill_v1(const struct cgroups *c, const char *name)
{
    if (c->can_kill)
        cgroup_write(unified(c), name, "cgroup.kill", "1");
    else
        freeze_v1(c, name, true, NULL);
    cgroup_kill_each(c, name);
    freeze_v1(c, name, false, NULL);
}

const struct cgroup_version cgroup_v1 = {
    .number = 1,
    .open = open_v1,
    .set = set_v1,
    .freeze = freeze_v1,
    .kill = kill_v1,
};
