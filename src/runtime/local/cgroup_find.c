/* Owns the reading of /proc/self/mountinfo and /proc/self/cgroup (see cgroups(7) and
 * proc(5)), and of the limits under which this process itself runs. */
#include "runtime/local/cgroup_find.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "runtime/local/textfile.h"

const char *cgroup_controller_name(unsigned index, bool v2)
{
    static const char *const names[][2] = {
#define X(name, v1, v2) {v1, v2},
        CGROUP_CONTROLLERS(X)
#undef X
    };
    return names[index][v2];
}

/* The controllers in a list that is separated by any of `separators`. */
static unsigned parse_controllers(const char *list, const char *separators, bool v2)
{
    char *copy AUTO_FREE = xstrdup(list), *save = NULL;
    unsigned found = 0;
    for (char *word = strtok_r(copy, separators, &save); word;
         word = strtok_r(NULL, separators, &save))
        for (unsigned i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
            const char *name = cgroup_controller_name(i, v2);
            if (name && strcmp(word, name) == 0)
                found |= 1U << i;
        }
    return found;
}

/* The kernel writes space, tab, newline and backslash as \ooo. */
static void unescape(char *s)
{
    char *to = s;
    while (*s) {
        unsigned code;
        if (s[0] == '\\' && sscanf(s + 1, "%3o", &code) == 1) {
            *to++ = (char)code;
            s += 4;
        } else {
            *to++ = *s++;
        }
    }
    *to = 0;
}

/* "31 23 0:28 ROOT POINT rw,relatime shared:1 - TYPE SOURCE OPTIONS" */
static bool parse_mount(char *line, struct cgroup_mount *out, char **root)
{
    char *fields[5] = {0}, *save = NULL, *behind = strstr(line, " - ");
    if (!behind)
        return false;
    *behind = 0;
    for (unsigned i = 0; i < COUNT_OF(fields); i++)
        if (!(fields[i] = strtok_r(i ? NULL : line, " ", &save)))
            return false;
    const char *type = strtok_r(behind + 3, " ", &save);
    const char *source = type ? strtok_r(NULL, " ", &save) : NULL;
    const char *options = source ? strtok_r(NULL, " \n", &save) : NULL;
    if (!options || (strcmp(type, "cgroup") != 0 && strcmp(type, "cgroup2") != 0))
        return false;
    unescape(fields[3]);
    unescape(fields[4]);
    out->v2 = type[6] == '2';
    out->point = xstrdup(fields[4]);
    out->controllers = out->v2 ? 0 : parse_controllers(options, ",", false);
    *root = xstrdup(fields[3]);
    return true;
}

/* Looks the hierarchy up in the lines "ID:CONTROLLERS:PATH"; the path, or NULL. */
static const char *own_path(const char *text, const struct cgroup_mount *m, struct str *line)
{
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        line->n = 0;
        str_add_n(line, at, strcspn(at, "\n"));
        char *list = strchr(line->at, ':');
        char *path = list ? strchr(list + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = 0;
        if (m->v2 ? list[1] == 0 : parse_controllers(list + 1, ",", false) & m->controllers)
            return path;
    }
    return NULL;
}

/* The part of `path` below the mount's root: a container may see only its own part
 * of a hierarchy while /proc tells the whole path. */
static char *own_directory(const struct cgroup_mount *m, const char *root, const char *path)
{
    size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
    bool inside = path && strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == 0) &&
                  !strstr(path, "/..");
    struct str own = {0};
    str_add(&own, m->point);
    if (inside && path[n] && strcmp(path + n, "/") != 0)
        str_add(&own, path + n);
    return own.at;
}

static unsigned available_controllers(const char *directory)
{
    struct str path = {0}, text = {0};
    str_addf(&path, "%s/cgroup.controllers", directory);
    unsigned found = textfile_read(path.at, &text) ? 0 : parse_controllers(text.at, " \n", true);
    str_done(&path);
    str_done(&text);
    return found;
}

/* Whether the hierarchy is mounted elsewhere too, as for a chroot: the first mount does. */
static bool is_known(const struct cgroup_mounts *seen, const struct cgroup_mount *m)
{
    for (uint32_t i = 0; i < seen->n; i++)
        if (seen->at[i].v2 == m->v2 && (m->v2 || seen->at[i].controllers & m->controllers))
            return true;
    return false;
}

static void add_mount(char *line, const char *self, struct cgroup_mounts *out)
{
    struct cgroup_mount m = {0};
    char *root AUTO_FREE = NULL;
    struct str scratch = {0};
    if (out->n == CGROUP_MOUNTS_MAX || !parse_mount(line, &m, &root))
        return;
    if (is_known(out, &m)) {
        free(m.point);
        return;
    }
    m.own = own_directory(&m, root, own_path(self, &m, &scratch));
    if (m.v2)
        m.controllers = available_controllers(m.point);
    out->at[out->n++] = m;
    str_done(&scratch);
}

int cgroup_find(const char *proc, struct cgroup_mounts *out, struct err *err)
{
    struct str path = {0}, mounts = {0}, self = {0};
    struct cgroup_mounts found = {0};
    int result = 0;
    str_addf(&path, "%s/self/mountinfo", proc);
    int code = textfile_read(path.at, &mounts);
    if (!code) {
        path.n = 0;
        str_addf(&path, "%s/self/cgroup", proc);
        code = textfile_read(path.at, &self);
    }
    if (code) {
        result = err_set(err, ERR_IO, "cannot read %s: %s", path.at, strerror(code));
    } else {
        char *save = NULL;
        for (char *line = strtok_r(mounts.at, "\n", &save); line;
             line = strtok_r(NULL, "\n", &save))
            add_mount(line, self.at, &found);
        *out = found;
    }
    str_done(&path);
    str_done(&mounts);
    str_done(&self);
    return result;
}

void cgroup_mounts_done(struct cgroup_mounts *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        free(m->at[i].point);
        free(m->at[i].own);
    }
    *m = (struct cgroup_mounts){0};
}

/* The first number in a file, INT64_MAX for "max", for -1 and for no such file. */
static int64_t read_limit(const char *directory, const char *file, int64_t *second)
{
    struct str path = {0}, text = {0};
    long long a = -1, b = 0;
    str_addf(&path, "%s/%s", directory, file);
    if (textfile_read(path.at, &text) == 0 && sscanf(text.at, "%lld %lld", &a, &b) < 1 &&
        sscanf(text.at, "max %lld", &b) < 1)
        a = -1;
    str_done(&path);
    str_done(&text);
    if (second)
        *second = b;
    return a < 0 ? INT64_MAX : a;
}

static void lower(int64_t *least, int64_t value)
{
    if (value < *least)
        *least = value;
}

static void group_limits(const struct cgroup_mount *m, const char *dir, units_t *cpus,
                         int64_t *memory)
{
    int64_t period = 0, quota;
    quota = m->v2 ? read_limit(dir, "cpu.max", &period) : read_limit(dir, "cpu.cfs_quota_us", NULL);
    if (!m->v2)
        period = read_limit(dir, "cpu.cfs_period_us", NULL);
    if (quota < INT64_MAX / UNIT && period > 0)
        lower(cpus, quota * UNIT / period);
    lower(memory, read_limit(dir, m->v2 ? "memory.max" : "memory.limit_in_bytes", NULL));
}

void cgroup_own_limits(const struct cgroup_mounts *m, units_t *cpus, int64_t *memory)
{
    *cpus = *memory = INT64_MAX;
    for (uint32_t i = 0; i < m->n; i++) {
        if (!m->at[i].v2 && !(m->at[i].controllers & (CGROUP_CPU | CGROUP_MEMORY)))
            continue;
        char *dir AUTO_FREE = xstrdup(m->at[i].own);
        size_t top = strlen(m->at[i].point);
        while (dir[0]) {
            group_limits(&m->at[i], dir, cpus, memory);
            if (strlen(dir) <= top)
                break;
            *strrchr(dir, '/') = 0;
        }
    }
}
