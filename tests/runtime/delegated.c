/* Which part of the v2 hierarchy the local runtime takes: a group that systemd marks as
 * delegated, one that a user was given, or the top. Needs root and v2.
 * run-tests: alone */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "runtime/local/textfile.h"
#include "support/conduct.h"
#include "support/host.h"
#include "support/test.h"

enum { NOBODY = 65534 };

/* The v2 mount that has controllers; skips the test without one. */
static void find_v2(char *point, size_t size)
{
    struct cgroup_mounts m;
    struct err err;
    point[0] = 0;
    assert_ok(cgroup_find("/proc", &m, &err), err);
    for (uint32_t i = 0; i < m.n; i++)
        if (m.at[i].v2 && m.at[i].controllers & CGROUP_MEMORY)
            snprintf(point, size, "%s", m.at[i].point);
    cgroup_mounts_done(&m);
    if (!point[0])
        SKIP("no cgroup v2 with controllers here; runtime/v2-in-qemu runs this where there is");
    if (geteuid() != 0)
        SKIP("needs root");
}

static void write_file(const char *dir, const char *file, const char *text)
{
    struct str path = {0};
    str_addf(&path, "%s/%s", dir, file);
    int code = textfile_write_at(-1, path.at, text);
    if (code)
        fail_msg("%s: %s", path.at, strerror(code));
    str_done(&path);
}

static bool contains(const char *dir, const char *file, const char *text)
{
    struct str path = {0}, found = {0};
    str_addf(&path, "%s/%s", dir, file);
    bool is = textfile_read(path.at, &found) == 0 && strstr(found.at, text);
    str_done(&path);
    str_done(&found);
    return is;
}

/* In the group: opens a runtime, sees where its base is, and that this process is out
 * of the way; returns the status to exit with. */
static int serve(const char *dir, const char *anchor, bool leaf)
{
    const unsigned all = CGROUP_CPU | CGROUP_CPUSET | CGROUP_MEMORY | CGROUP_PIDS;
    struct host h;
    if (host_open_in(&h, dir, NULL))
        return 11;
    if (h.node->notice || (h.r->cgroups.controllers & all) != all) {
        fprintf(stderr, "# notice: %s\n", h.node->notice ? h.node->notice : "none");
        return 12;
    }
    const char *base = h.r->cgroups.at[0].base;
    if (strncmp(base, anchor, strlen(anchor)) != 0 ||
        strncmp(base + strlen(anchor), "/trainyard-", 11) != 0)
        return 13;
    if (leaf && !contains("/proc/self", "cgroup", "/server\n"))
        return 14;
    struct host_attempt a = host_attempt(1, 500);
    host_start(&h, &a, "sleep");
    host_clean(&h, &a);
    runtime_local.close(h.r);
    return 0;
}

/* A server in the group, as this user; a child, as it moves itself. */
static void serve_in(const char *group, const char *anchor, uid_t user, bool leaf)
{
    char dir[] = "/tmp/trainyard-test.XXXXXX", command[64];
    int status;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(chown(dir, user, (gid_t)-1), 0);
    pid_t child = fork();
    if (child == 0) {
        write_file(group, "cgroup.procs", "0");
        if (user && (setgid(user) || setuid(user)))
            _exit(10);
        _exit(serve(dir, anchor, leaf));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : 100, 0);
}

static void remove_group(const char *group)
{
    struct str leaf = {0};
    str_addf(&leaf, "%s/server", group);
    host_until(rmdir(leaf.at) == 0 || access(leaf.at, F_OK) != 0);
    host_until(rmdir(group) == 0);
    str_done(&leaf);
}

static void test_a_service_uses_what_was_delegated_to_it(void **state)
{
    (void)state;
    char point[512], group[600];
    find_v2(point, sizeof point);
    snprintf(group, sizeof group, "%s/yardtest.service", point);
    write_file(point, "cgroup.subtree_control", "+cpu +cpuset +memory +pids");
    assert_int_equal(mkdir(group, 0755), 0);
    assert_int_equal(setxattr(group, "trusted.delegate", "1", 1, 0), 0);
    serve_in(group, group, 0, true);
    remove_group(group);
}

static void test_a_user_uses_what_he_was_given(void **state)
{
    (void)state;
    static const char *const files[] = {"", "cgroup.procs", "cgroup.subtree_control",
                                        "cgroup.threads"};
    char point[512], group[600], below[700], path[800];
    find_v2(point, sizeof point);
    snprintf(group, sizeof group, "%s/yardtest.user", point);
    snprintf(below, sizeof below, "%s/terminal.scope", group);
    write_file(point, "cgroup.subtree_control", "+cpu +cpuset +memory +pids");
    assert_int_equal(mkdir(group, 0755), 0);
    assert_int_equal(mkdir(below, 0755), 0);
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        snprintf(path, sizeof path, "%s/%s", group, files[i]);
        assert_int_equal(chown(path, NOBODY, NOBODY), 0);
        snprintf(path, sizeof path, "%s/%s", below, files[i]);
        assert_int_equal(chown(path, NOBODY, NOBODY), 0);
    }
    serve_in(below, group, NOBODY, false);
    host_until(rmdir(below) == 0);
    remove_group(group);
}

static void test_root_uses_the_top_otherwise(void **state)
{
    (void)state;
    char point[512], group[600];
    find_v2(point, sizeof point);
    snprintf(group, sizeof group, "%s/yardtest.session", point);
    assert_int_equal(mkdir(group, 0755), 0);
    serve_in(group, point, 0, false);
    remove_group(group);
}

static const struct CMUnitTest tests[] = {
    TEST(test_a_service_uses_what_was_delegated_to_it),
    TEST(test_a_user_uses_what_he_was_given),
    TEST(test_root_uses_the_top_otherwise),
};

int main(int argc, char **argv)
{
    conduct_if_asked(argc, argv);
    return RUN(tests);
}
