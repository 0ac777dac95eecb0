/* What the server says to a conductor. docs/conductor.md tells when. */
#ifndef PROTOCOL_TO_CONDUCTOR_H
#define PROTOCOL_TO_CONDUCTOR_H

#include "protocol/launch_spec.h"
#include "protocol/message.h"

/* kind, its "type" */
#define TO_CONDUCTOR_KINDS(X)                                                                      \
    X(WELCOME, welcome)                                                                            \
    X(REFUSED, refused)                                                                            \
    X(ACK, ack)                                                                                    \
    X(SIGNAL, signal)                                                                              \
    X(STOP, stop)                                                                                  \
    X(FREEZE, freeze)                                                                              \
    X(THAW, thaw)                                                                                  \
    X(RESIZE, resize)                                                                              \
    X(RESTART, restart)                                                                            \
    X(LIMIT, limit)                                                                                \
    X(NEXT, next)

enum to_conductor_kind {
#define X(upper, lower) TO_CONDUCTOR_##upper,
    TO_CONDUCTOR_KINDS(X)
#undef X
        TO_CONDUCTOR_BAD, /* of no known kind, or with a wrong member; `problem` says what */
};

struct welcome_message {
    int32_t version;
    int64_t seq; /* of the newest progress that the server has; -1 = it does not say */
};

struct refused_message {
    const char *text; /* NULL = it does not say why */
};

/* What is acknowledged. */
enum ack_what { ACK_EXIT };

struct ack_message {
    enum ack_what what;
    bool stay; /* keep the connection: another attempt may follow on it */
};

struct signal_message {
    int32_t number;
    enum reach reach;
};

/* How a job is asked to end. */
struct stop_message {
    usec_t grace;   /* USEC_NEVER = the job's own */
    int32_t signal; /* 0 = the job's checkpoint signal */
    enum reach reach;
    const char *reason; /* NULL = it does not say */
};

struct resize_message {
    double cpus;
    int64_t threads;    /* 0 = as many as there are whole CPUs */
    const char *cpuset; /* as the kernel writes it; NULL = it does not say */
};

struct restart_message {
    double cpus;
    const char *cpuset;
    const char **env; /* variables to set, "NAME=VALUE"; ends with NULL; NULL = none */
    struct stop_message stop;
};

struct limit_message {
    usec_t time_limit; /* USEC_NEVER or 0 = none */
};

/* Another attempt to run, for a conductor that was asked to stay. */
struct next_message {
    const char *directory;
};

/* Freeze and thaw have no members. */
struct to_conductor {
    enum to_conductor_kind kind;
    int64_t id; /* to be answered with; -1 = no answer is wanted */
    union {
        struct welcome_message welcome;
        struct refused_message refused;
        struct ack_message ack;
        struct signal_message signal;
        struct stop_message stop;
        struct resize_message resize;
        struct restart_message restart;
        struct limit_message limit;
        struct next_message next;
        char problem[sizeof((struct err *)0)->text];
    };
};

/* By kind: its "type", and what it has. */
extern const struct message_kind to_conductor_kinds[TO_CONDUCTOR_BAD];

/* Adds one line. */
void to_conductor_encode(const struct to_conductor *m, struct str *out);
/* Reads one line; texts are in the arena. Fails when it is not a message at all. */
int to_conductor_decode(const char *line, size_t n, struct arena *a, struct to_conductor *out,
                        struct err *err);

#endif
