/* What a job has used so far. */
#ifndef PROTOCOL_USAGE_H
#define PROTOCOL_USAGE_H

#include <stdint.h>

#include "base/record.h"

/* The members, in C and in JSON:
 *   cpu_us             CPU time of all processes, also ended ones
 *   memory_bytes       now, without file cache that can be dropped
 *   memory_peak_bytes
 *   block_bytes        read from and written to block devices
 *   net_bytes          both directions; only if the job has a network of its own
 *   pids               processes and threads
 *   processes
 *   throttled_us       time that a CPU quota made it wait */
#define USAGE_MEMBERS(X)                                                                           \
    X(cpu_us)                                                                                      \
    X(memory_bytes)                                                                                \
    X(memory_peak_bytes)                                                                           \
    X(block_bytes)                                                                                 \
    X(net_bytes)                                                                                   \
    X(pids)                                                                                        \
    X(processes)                                                                                   \
    X(throttled_us)

/* -1 = not known. */
struct usage {
#define X(name) int64_t name;
    USAGE_MEMBERS(X)
#undef X
};

#define USAGE_UNKNOWN_MEMBER(name) .name = -1,
#define USAGE_UNKNOWN                                                                              \
    {                                                                                              \
        USAGE_MEMBERS(USAGE_UNKNOWN_MEMBER)                                                        \
    }

extern const struct record usage_record;

#endif
