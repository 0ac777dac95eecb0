/* Owns finding the program of a job and reading its first bytes. */
#include "conductor/program.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

enum { SEGMENTS_MAX = 64 };

static int open_regular(int dir, const char *path)
{
    struct stat st;
    AUTO_CLOSE int fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? fd_take(&fd) : -1;
}

int program_open(const struct launch_spec *spec)
{
    const char *program = spec->command[0], *path = launch_spec_get(spec, "PATH");
    AUTO_CLOSE int dir = open(spec->workdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (strchr(program, '/'))
        return open_regular(dir, program);
    while (path && *path) {
        struct str file = {0};
        size_t n = strcspn(path, ":");
        str_addf(&file, "%.*s/%s", n ? (int)n : 1, n ? path : ".", program);
        int fd = open_regular(dir, file.at);
        str_done(&file);
        if (fd >= 0)
            return fd;
        path += n + (path[n] == ':');
    }
    return -1;
}

/* A dynamically linked program names its linker in a segment. */
bool program_is_static(const struct launch_spec *spec)
{
    AUTO_CLOSE int fd = program_open(spec);
    Elf64_Ehdr head;
    Elf64_Phdr segment[SEGMENTS_MAX];
    if (fd < 0 || pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_phentsize != sizeof *segment || head.e_phnum > SEGMENTS_MAX)
        return false;
    ssize_t n = (ssize_t)(head.e_phnum * sizeof *segment);
    if (pread(fd, segment, (size_t)n, (off_t)head.e_phoff) != n)
        return false;
    for (unsigned i = 0; i < head.e_phnum; i++)
        if (segment[i].p_type == PT_INTERP)
            return false;
    return true;
}
