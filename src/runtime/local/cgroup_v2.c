/* Control groups v2: one hierarchy, in which a server may write only below a group
 * that was delegated to it.
 *
 * The anchor, the group below which the base is made, is
 * - the nearest group from our own upwards that systemd marks as delegated
 *   (Delegate=yes of a service, or the user's manager);
 * - else for root the top, where a server started from elsewhere finds it again;
 * - else the topmost of the groups, from our own upwards, that we may write.
 *
 * A group that hands controllers down must not hold processes itself. What the anchor
 * holds (this server, and whatever started it there) is moved into a leaf, `server`. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "runtime/local/cgroup.h"
#include "runtime/local/textfile.h"

enum { PERIOD_US = 100000, QUOTA_MIN_US = 1000, WEIGHT = 100, WEIGHT_MAX = 10000 };

static bool may_write(const char *dir, const char *file)
{
    struct str path = {0};
    str_addf(&path, "%s/%s", dir, file);
    bool may = access(path.at, W_OK) == 0;
    str_done(&path);
    return may;
}

static bool is_ours(const char *dir)
{
    return may_write(dir, ".") && may_write(dir, "cgroup.procs") &&
           may_write(dir, "cgroup.subtree_control");
}

static bool is_delegated(const char *dir)
{
    char value[2] = "";
    ssize_t n = getxattr(dir, "user.delegate", value, sizeof value);
    if (n < 0)
        n = getxattr(dir, "trusted.delegate", value, sizeof value);
    return n == 1 && value[0] == '1' && is_ours(dir);
}

/* The directory, to be freed; NULL when nothing was delegated to us. */
static char *find_anchor(const struct cgroup_mount *m)
{
    char *dir AUTO_FREE = xstrdup(m->own);
    char *topmost AUTO_FREE = NULL;
    bool unbroken = true;
    size_t top = strlen(m->point);
    for (;;) {
        if (is_delegated(dir))
            return TAKE(dir);
        unbroken = unbroken && is_ours(dir);
        if (unbroken) {
            free(topmost);
            topmost = xstrdup(dir);
        }
        if (strlen(dir) <= top)
            break;
        *strrchr(dir, '/') = 0;
    }
    return geteuid() == 0 && is_ours(m->point) ? xstrdup(m->point) : TAKE(topmost);
}

/* Moves every process of the anchor into its leaf `server`; 0 or an errno. New ones
 * may come while we look, hence the rounds. The hierarchy's real root, which has no
 * type, may hold processes. It must be done first: with processes in it the kernel
 * would enable cpu and cpuset, and make the group one of threads. */
static int make_room(int anchor)
{
    struct str text = {0};
    int code = 0;
    if (faccessat(anchor, "cgroup.type", F_OK, 0))
        return 0;
    for (unsigned round = 0; round < 16 && !code; round++) {
        code = textfile_read_at(anchor, "cgroup.procs", &text);
        if (code || !text.n)
            break;
        if (mkdirat(anchor, "server", 0755) && errno != EEXIST)
            code = errno;
        char *save = NULL;
        for (char *pid = strtok_r(text.at, "\n", &save); pid && !code;
             pid = strtok_r(NULL, "\n", &save))
            code = textfile_write_at(anchor, "server/cgroup.procs", pid);
        code = code == ESRCH ? 0 : code;
    }
    str_done(&text);
    return code;
}

/* Hands one controller down from the group; 0 or an errno. */
static int enable(int dir, const char *controller)
{
    char text[32];
    snprintf(text, sizeof text, "+%s", controller);
    return textfile_write_at(dir, "cgroup.subtree_control", text);
}

/* Hands each controller down to the groups of jobs, as far as they can be had. */
static unsigned enable_all(int anchor, int base, struct str *why)
{
    unsigned enabled = 0;
    int blocked = make_room(anchor);
    for (unsigned i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
        const char *name = cgroup_controller_name(i, true);
        if (!name)
            continue;
        int code = blocked ? blocked : enable(anchor, name);
        if (!code)
            code = enable(base, name);
        if (!code)
            enabled |= 1U << i;
        else if (1U << i != CGROUP_IO)
            cgroup_complain(why, "the controller %s cannot be had: %s", name,
                            code == ENOENT || code == EINVAL ? "it is not delegated"
                                                             : strerror(code));
    }
    return enabled;
}

static int open_base(const char *anchor, const char *base, struct cgroups *c, struct str *why)
{
    int dir AUTO_CLOSE = open(anchor, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || (mkdirat(dir, base, 0755) && errno != EEXIST)) {
        cgroup_complain(why, "cannot make the group %s/%s: %s", anchor, base, strerror(errno));
        return -1;
    }
    int inside AUTO_CLOSE = openat(dir, base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    unsigned enabled = inside < 0 ? 0 : enable_all(dir, inside, why);
    struct str path = {0};
    str_addf(&path, "%s/%s", anchor, base);
    int code = cgroup_add(c, path.at, enabled, true);
    if (code) {
        cgroup_complain(why, "cannot open the group %s: %s", path.at, strerror(code));
        str_done(&path);
        return -1;
    }
    if (enabled & CGROUP_CPU)
        cgroup_write(&c->at[0], NULL, "cpu.weight", "%u", cgroup_base_weight(WEIGHT, WEIGHT_MAX));
    c->can_kill = may_write(path.at, "cgroup.kill");
    c->can_freeze = may_write(path.at, "cgroup.freeze");
    return 0;
}

static int open_v2(const struct cgroup_mounts *m, const char *base, struct cgroups *c,
                   struct str *why)
{
    uint32_t i = 0;
    while (i < m->n && !(m->at[i].v2 && m->at[i].controllers))
        i++;
    if (i == m->n)
        return -1;
    char *anchor AUTO_FREE = find_anchor(&m->at[i]);
    if (anchor)
        return open_base(anchor, base, c, why);
    cgroup_complain(why, "the control group %s is not delegated to this user", m->at[i].own);
    return -1;
}

static int set_cpu(const struct cgroup_hierarchy *h, const char *name,
                   const struct cgroup_limits *l, struct err *err)
{
    int64_t quota = l->quota * PERIOD_US / UNIT;
    int code = cgroup_write(h, name, "cpu.weight", "%u", l->weight > 0 ? l->weight : 1);
    if (code)
        return cgroup_refused(h, name, "cpu.weight", code, err);
    if (l->quota)
        code = cgroup_write(h, name, "cpu.max", "%lld %d",
                            (long long)(quota < QUOTA_MIN_US ? QUOTA_MIN_US : quota), PERIOD_US);
    else
        code = cgroup_write(h, name, "cpu.max", "max %d", PERIOD_US);
    return code ? cgroup_refused(h, name, "cpu.max", code, err) : 0;
}

/* Kernels without swap have no memory.swap.max. */
static int set_memory(const struct cgroup_hierarchy *h, const char *name, int64_t bytes,
                      struct err *err)
{
    int swap = cgroup_write(h, name, "memory.swap.max", "%s", bytes ? "0" : "max");
    if (swap && swap != ENOENT)
        return cgroup_refused(h, name, "memory.swap.max", swap, err);
    int code = bytes ? cgroup_write(h, name, "memory.max", "%lld", (long long)bytes)
                     : cgroup_write(h, name, "memory.max", "max");
    return code ? cgroup_refused(h, name, "memory.max", code, err) : 0;
}

static int set_v2(const struct cgroups *c, const char *name, const struct cgroup_limits *l,
                  struct err *err)
{
    const struct cgroup_hierarchy *h = &c->at[0];
    int code = 0;
    if (h->controllers & CGROUP_CPU && set_cpu(h, name, l, err))
        return -1;
    if (h->controllers & CGROUP_CPUSET)
        code = cgroup_write(h, name, "cpuset.cpus", "%s", l->cpus);
    if (code)
        return cgroup_refused(h, name, "cpuset.cpus", code, err);
    if (h->controllers & CGROUP_MEMORY && (l->memory || !l->is_new) &&
        set_memory(h, name, l->memory, err))
        return -1;
    if (h->controllers & CGROUP_PIDS)
        code = l->pids ? cgroup_write(h, name, "pids.max", "%lld", (long long)l->pids)
                       : cgroup_write(h, name, "pids.max", "max");
    return code ? cgroup_refused(h, name, "pids.max", code, err) : 0;
}

static int freeze_v2(const struct cgroups *c, const char *name, bool frozen, struct err *err)
{
    int code = cgroup_write(&c->at[0], name, "cgroup.freeze", "%d", frozen);
    return code ? cgroup_refused(&c->at[0], name, "cgroup.freeze", code, err) : 0;
}

/* Before Linux 5.14 there is no cgroup.kill: held still, none can escape by forking. */
static void kill_v2(const struct cgroups *c, const char *name)
{
    if (c->can_kill && cgroup_write(&c->at[0], name, "cgroup.kill", "1") == 0)
        return;
    freeze_v2(c, name, true, NULL);
    cgroup_kill_each(c, name);
    freeze_v2(c, name, false, NULL);
}

const struct cgroup_version cgroup_v2 = {
    .number = 2,
    .open = open_v2,
    .set = set_v2,
    .freeze = freeze_v2,
    .kill = kill_v2,
};
