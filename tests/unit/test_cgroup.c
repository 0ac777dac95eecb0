/* Where control groups are found, on made-up /proc files of known layouts. What is done
 * with real groups is tested in tests/runtime. */
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/local/cgroup.h"
#include "support/test.h"

/* A directory with self/mountinfo and self/cgroup. %s in them is the directory. */
struct fixture {
    char dir[64];
    struct cgroup_mounts m;
};

static void write_text(const struct fixture *f, const char *file, const char *fmt)
{
    struct str path = {0}, text = {0};
    str_addf(&path, "%s/%s", f->dir, file);
    str_add(&text, "");
    for (const char *p = fmt; *p; p++)
        if (p[0] == '@')
            str_add(&text, f->dir);
        else
            str_add_n(&text, p, 1);
    FILE *out = fopen(path.at, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(text.at, 1, text.n, out), text.n);
    assert_int_equal(fclose(out), 0);
    str_done(&path);
    str_done(&text);
}

static void make_dir(const struct fixture *f, const char *dir)
{
    struct str path = {0};
    str_addf(&path, "%s/%s", f->dir, dir);
    assert_int_equal(mkdir(path.at, 0755), 0);
    str_done(&path);
}

/* '@' stands for the fixture's directory. */
static void begin(struct fixture *f, const char *mountinfo, const char *cgroup)
{
    snprintf(f->dir, sizeof f->dir, "/tmp/trainyard-unit.XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    make_dir(f, "self");
    make_dir(f, "v2");
    write_text(f, "self/mountinfo", mountinfo);
    write_text(f, "self/cgroup", cgroup);
}

static void look(struct fixture *f)
{
    struct err err;
    assert_ok(cgroup_find(f->dir, &f->m, &err), err);
}

static void end(struct fixture *f)
{
    char command[128];
    cgroup_mounts_done(&f->m);
    snprintf(command, sizeof command, "rm -r %s", f->dir);
    assert_int_equal(system(command), 0);
}

static void test_hierarchies_of_v1(void **state)
{
    (void)state;
    struct fixture f = {0};
    begin(&f,
          "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
          "31 23 0:28 / /c rw shared:9 - tmpfs tmpfs ro,mode=755\n"
          "32 31 0:29 / /c/cpu,cpuacct rw shared:10 - cgroup cgroup rw,cpu,cpuacct\n"
          "33 31 0:30 /docker/abc /c/my\\040memory rw - cgroup cgroup rw,memory\n"
          "34 31 0:31 / /c/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
          "35 31 0:32 / /c/unified rw - cgroup2 cgroup2 rw,nsdelegate\n"
          "42 40 0:29 / /chroot/c/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
          "45 40 0:32 / /chroot/c/unified rw - cgroup2 cgroup2 rw,nsdelegate\n"
          "nonsense\n",
          "4:memory:/docker/abc/below\n3:cpu,cpuacct:/user.slice\n1:name=systemd:/x:y\n0::/z\n");
    look(&f);
    assert_int_equal(f.m.n, 4);
    assert_int_equal(f.m.at[0].controllers, CGROUP_CPU | CGROUP_CPUACCT);
    assert_string_equal(f.m.at[0].own, "/c/cpu,cpuacct/user.slice");
    assert_string_equal(f.m.at[1].point, "/c/my memory");
    assert_string_equal(f.m.at[1].own, "/c/my memory/below");
    assert_int_equal(f.m.at[2].controllers, 0);
    assert_true(f.m.at[3].v2);
    assert_int_equal(f.m.at[3].controllers, 0);
    assert_string_equal(f.m.at[3].own, "/c/unified/z");
    end(&f);
}

static void test_the_hierarchy_of_v2(void **state)
{
    (void)state;
    struct fixture f = {0};
    begin(&f, "35 31 0:32 / @/v2 rw - cgroup2 cgroup2 rw\n",
          "0::/system.slice/trainyard.service\n");
    write_text(&f, "v2/cgroup.controllers", "cpuset cpu io memory hugetlb pids\n");
    look(&f);
    assert_int_equal(f.m.n, 1);
    assert_int_equal(f.m.at[0].controllers,
                     CGROUP_CPU | CGROUP_CPUSET | CGROUP_IO | CGROUP_MEMORY | CGROUP_PIDS);
    assert_non_null(strstr(f.m.at[0].own, "/v2/system.slice/trainyard.service"));
    end(&f);
}

/* A container may be told a path that it cannot see. */
static void test_a_path_outside_the_mount_is_its_top(void **state)
{
    (void)state;
    struct fixture f = {0};
    begin(&f, "35 31 0:32 /docker/abc @/v2 rw - cgroup2 cgroup2 rw\n", "0::/docker/abcdef\n");
    look(&f);
    assert_string_equal(f.m.at[0].own, f.m.at[0].point);
    end(&f);
    begin(&f, "35 31 0:32 /../.. @/v2 rw - cgroup2 cgroup2 rw\n", "0::/../x\n");
    look(&f);
    assert_string_equal(f.m.at[0].own, f.m.at[0].point);
    end(&f);
}

static void test_own_limits_are_the_least_of_all_above(void **state)
{
    (void)state;
    struct fixture f = {0};
    units_t cpus;
    int64_t memory;
    begin(&f, "35 31 0:32 / @/v2 rw - cgroup2 cgroup2 rw\n", "0::/a/b\n");
    make_dir(&f, "v2/a");
    make_dir(&f, "v2/a/b");
    write_text(&f, "v2/a/cpu.max", "150000 100000\n");
    write_text(&f, "v2/a/b/cpu.max", "max 100000\n");
    write_text(&f, "v2/a/memory.max", "max\n");
    write_text(&f, "v2/a/b/memory.max", "1073741824\n");
    look(&f);
    cgroup_own_limits(&f.m, &cpus, &memory);
    assert_int_equal(cpus, 1500);
    assert_int_equal(memory, 1 << 30);
    end(&f);
    begin(&f, "35 31 0:32 / @/v2 rw - cgroup cgroup rw,cpu,memory\n", "2:cpu,memory:/\n");
    write_text(&f, "v2/cpu.cfs_quota_us", "50000\n");
    write_text(&f, "v2/cpu.cfs_period_us", "100000\n");
    look(&f);
    cgroup_own_limits(&f.m, &cpus, &memory);
    assert_int_equal(cpus, 500);
    assert_true(memory == INT64_MAX);
    write_text(&f, "v2/cpu.cfs_quota_us", "-1\n");
    cgroup_own_limits(&f.m, &cpus, &memory);
    assert_true(cpus == INT64_MAX);
    end(&f);
}

static void test_no_groups_is_said(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct cgroups c;
    struct str why = {0};
    struct err err;
    begin(&f, "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n", "");
    look(&f);
    assert_int_equal(f.m.n, 0);
    assert_int_equal(cgroup_open(&f.m, "trainyard-test", &c, &why), -1);
    assert_non_null(strstr(why.at, "no control groups are mounted"));
    str_done(&why);
    end(&f);
    struct cgroup_mounts none;
    assert_error(cgroup_find("/nowhere", &none, &err), err, ERR_IO, "/nowhere/self/mountinfo");
}

static const struct CMUnitTest tests[] = {
    TEST(test_hierarchies_of_v1),
    TEST(test_the_hierarchy_of_v2),
    TEST(test_a_path_outside_the_mount_is_its_top),
    TEST(test_own_limits_are_the_least_of_all_above),
    TEST(test_no_groups_is_said),
};

int main(void)
{
    return RUN(tests);
}
