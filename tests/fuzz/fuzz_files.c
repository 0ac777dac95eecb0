/* Fuzzes what the server reads of files that a job can reach: claims, exit records, the
 * environment of a request. The file is a real one, read as the server reads it. Whatever is in
 * it, it is refused with a reason, or what was read is within its bounds. */
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/claim.h"
#include "protocol/exit_record.h"
#include "server/jobs/environment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char state_dir[64];
static int dir = -1, env_dir = -1;

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void remove_dir(void)
{
    unlinkat(dir, "claim", 0);
    unlinkat(dir, "exit.json", 0);
    unlinkat(env_dir, "1", 0);
    unlinkat(dir, "env", AT_REMOVEDIR);
    rmdir(state_dir);
}

static void make_dir(void)
{
    snprintf(state_dir, sizeof state_dir, "%s/trainyard-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    require(mkdtemp(state_dir) != NULL);
    dir = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(dir >= 0 && mkdirat(dir, "env", 0700) == 0);
    env_dir = openat(dir, "env", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(env_dir >= 0);
    atexit(remove_dir);
}

static void write_file(int in, const char *name, const uint8_t *data, size_t size)
{
    int fd = openat(in, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

static void try_claim(const uint8_t *data, size_t size)
{
    struct claim c;
    struct err err = {0};
    write_file(dir, "claim", data, size);
    if (claim_look(dir, &c, &err) < 0) {
        require(err.code == ERR_INVALID && err.text[0]);
        return;
    }
    require(c.state == CLAIM_VOID || c.state == CLAIM_DEAD); /* nobody has locked it */
    require(c.state == CLAIM_VOID ? !c.pid && !c.leader : c.pid > 0 && c.leader >= 0);
}

static void try_exit_record(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct exit_record r;
    struct err err = {0};
    write_file(dir, "exit.json", data, size);
    if (exit_record_read(dir, &a, &r, &err) < 0)
        require(err.code == ERR_INVALID && err.text[0]);
    else
        require(memchr(r.stop, 0, sizeof r.stop) && memchr(r.reason, 0, sizeof r.reason) &&
                memchr(r.error, 0, sizeof r.error) &&
                memchr(r.left_running, 0, sizeof r.left_running));
    arena_done(&a);
}

static void try_environment(const uint8_t *data, size_t size)
{
    struct spec s;
    struct err err = {0};
    spec_init(&s);
    write_file(env_dir, "1", data, size);
    if (environment_read(state_dir, 1, &s, &err) < 0)
        require(err.code != ERR_OK && err.text[0]);
    for (uint32_t i = 0; i < s.environment.n; i++) {
        const char *equals = strchr(s.environment.at[i], '=');
        require(equals && equals > s.environment.at[i]);
    }
    spec_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (dir < 0)
        make_dir();
    if (size < 1)
        return 0;
    switch (data[0] % 3) {
    case 0:
        try_claim(data + 1, size - 1);
        break;
    case 1:
        try_exit_record(data + 1, size - 1);
        break;
    default:
        try_environment(data + 1, size - 1);
    }
    return 0;
}
