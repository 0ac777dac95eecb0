/* Owns the fuzzing of what the conductor reads of the kernel: CPU lists, processes and
 * counters. What the server says is in fuzz_protocol.c. */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/proc.h"
#include "conductor/cpus.h"
#include "conductor/usage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xstrndup((const char *)data, size);
    struct cpus cpus;
    struct proc proc;
    struct err err = {0};
    if (cpus_parse(text, &cpus, &err) < 0 && err.code != ERR_INVALID)
        abort();
    proc_parse(text, &proc);
    usage_find(text, NULL);
    usage_find(text, "oom_kill");
    usage_find(text, "rbytes=");
    free(text);
    return 0;
}
