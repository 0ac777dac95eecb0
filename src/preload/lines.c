/* The library that makes a C program print line by line. If stdout is a pipe, the C library buffers
 * 4 KiB or more, and the lines of a training would arrive late. It is preloaded into jobs, does
 * this one thing before main(), and exports nothing.
 *
 * TRAINYARD_STDOUT identifies the pipe of the job's output as "DEVICE:INODE". A process whose
 * stdout is something else, a file or another pipe, is left alone. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((constructor)) static void buffer_lines(void)
{
    const char *wanted = getenv("TRAINYARD_STDOUT");
    unsigned long long device, inode;
    struct stat st;
    if (!wanted || sscanf(wanted, "%llu:%llu", &device, &inode) != 2 ||
        fstat(STDOUT_FILENO, &st) < 0 || st.st_dev != device || st.st_ino != inode)
        return;
    setvbuf(stdout, NULL, _IOLBF, 0);
}
