/* Owns reading what the machine has. */
#include "runtime/local/inventory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/local/process.h"
#include "runtime/local/textfile.h"

static int read_memory(int64_t *bytes, struct err *err)
{
    struct str text = {0};
    long long kb = 0;
    int code = textfile_read("/proc/meminfo", &text);
    const char *line = code ? NULL : strstr(text.at, "MemTotal:");
    bool found = line && sscanf(line, "MemTotal: %lld kB", &kb) == 1;
    str_done(&text);
    if (!found)
        return err_set(err, ERR_IO, "cannot read MemTotal in /proc/meminfo: %s",
                       code ? strerror(code) : "no such line");
    *bytes = kb * 1024;
    return 0;
}

int inventory_read(const struct cgroup_mounts *m, struct inventory *out, struct err *err)
{
    struct inventory in = {0};
    units_t quota;
    int64_t limit, memory;
    if (process_cpus(0, &in.usable))
        return err_set(err, ERR_IO, "cannot read the CPUs of this process: %s", strerror(errno));
    if (read_memory(&memory, err))
        return -1;
    cgroup_own_limits(m, &quota, &limit);
    in.cpus = cpuset_count(&in.usable) * UNIT;
    in.cpus = quota < in.cpus ? quota : in.cpus;
    in.memory_mb = (limit < memory ? limit : memory) >> 20;
    if (gethostname(in.name, sizeof in.name - 1) || !in.name[0])
        snprintf(in.name, sizeof in.name, "localhost");
    *out = in;
    return 0;
}
