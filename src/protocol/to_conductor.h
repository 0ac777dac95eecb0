/* Messages from the server to a conductor. docs/conductor.md says when they are sent. */
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
    X(LEASE, lease)                                                                                \
    X(NEXT, next)

enum to_conductor_kind {
#define X(upper, lower) TO_CONDUCTOR_##upper,
    TO_CONDUCTOR_KINDS(X)
#undef X
        TO_CONDUCTOR_BAD, /* unknown kind or invalid member; see `problem` */
};

struct welcome_message {
    int32_t version;
    int64_t seq; /* of the newest progress report that the server has; -1 = unknown */
};

struct refused_message {
    const char *text; /* NULL = no reason given */
};

/* What is acknowledged. */
enum ack_what { ACK_EXIT };

struct ack_message {
    enum ack_what what;
    bool stay; /* keep the connection: another attempt may follow */
};

struct signal_message {
    int32_t number;
    enum reach reach;
};

/* How a job is asked to end. */
struct stop_message {
    usec_t grace;   /* USEC_NEVER = the job's default */
    int32_t signal; /* 0 = the job's checkpoint signal */
    enum reach reach;
    const char *reason; /* NULL = none given */
};

struct resize_message {
    double cpus;
    int64_t threads;    /* 0 = the number of whole CPUs */
    const char *cpuset; /* in the kernel's format; NULL = not given */
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

/* The lease lasts this long, counted from the time at which it was asked for. */
struct lease_message {
    int64_t asked;
    usec_t length;
};

/* Another attempt, for a conductor that was asked to stay. */
struct next_message {
    const char *directory;
};

/* Freeze and thaw have no members. */
struct to_conductor {
    enum to_conductor_kind kind;
    int64_t id; /* of the answer; -1 = no answer wanted */
    union {
        struct welcome_message welcome;
        struct refused_message refused;
        struct ack_message ack;
        struct signal_message signal;
        struct stop_message stop;
        struct resize_message resize;
        struct restart_message restart;
        struct limit_message limit;
        struct lease_message lease;
        struct next_message next;
        char problem[sizeof((struct err *)0)->text];
    };
};

/* By kind: its "type" and its members. */
extern const struct message_kind to_conductor_kinds[TO_CONDUCTOR_BAD];

/* Appends one line. */
void to_conductor_encode(const struct to_conductor *m, struct str *out);
/* Parses one line; texts are in the arena. Fails if it is not a message. */
int to_conductor_decode(const char *line, size_t n, struct arena *a, struct to_conductor *out,
                        struct err *err);

#endif
