/* Sets of CPUs as the kernel writes them: "0-1,4". */
#ifndef CONDUCTOR_CPUS_H
#define CONDUCTOR_CPUS_H

#include <limits.h>
#include <sys/types.h>

#include "base/err.h"

enum { CPUS_MAX = 8192 };

struct cpus {
    unsigned long bits[CPUS_MAX / (sizeof(unsigned long) * CHAR_BIT)];
};

int cpus_parse(const char *text, struct cpus *out, struct err *err);
/* Restricts a thread (0 = the calling one) to these CPUs. Returns 0 or an errno. */
int cpus_apply(const struct cpus *c, pid_t thread);

#endif
