/* Messages from a conductor to the server. docs/conductor.md says when they are sent. */
#ifndef PROTOCOL_TO_SERVER_H
#define PROTOCOL_TO_SERVER_H

#include "protocol/exit_record.h"
#include "protocol/message.h"
#include "protocol/progress_report.h"
#include "protocol/usage.h"

/* kind, its "type" */
#define TO_SERVER_KINDS(X)                                                                         \
    X(HELLO, hello)                                                                                \
    X(STARTED, started)                                                                            \
    X(PROGRESS, progress)                                                                          \
    X(USAGE, usage)                                                                                \
    X(WARNING, warning)                                                                            \
    X(OK, ok)                                                                                      \
    X(ERROR, error)                                                                                \
    X(APPLIED, applied)                                                                            \
    X(RESTARTED, restarted)                                                                        \
    X(LEASE, lease)                                                                                \
    X(EXIT, exit)

enum to_server_kind {
#define X(upper, lower) TO_SERVER_##upper,
    TO_SERVER_KINDS(X)
#undef X
        TO_SERVER_BAD, /* unknown kind or invalid member; see `problem` */
};

struct hello_message {
    int32_t version;
    int64_t job, attempt;
    const char *token;
    int64_t pid;
    usec_t started; /* wall time; 0 = not started */
    int64_t seq;    /* of the newest progress report that was ever sent */
    double cpus;    /* the last size that the conductor was told; 0 = none */
};

struct started_message {
    int64_t pid;
    usec_t at;
};

struct progress_message {
    int64_t seq;
    usec_t at;
    struct progress_report report;
    struct field_numbers metrics;
    bool weak;     /* step and total may not be those of the training */
    bool diverged; /* the last loss is NaN or infinite */
};

struct usage_message {
    usec_t at;
    struct usage usage;
    bool saves; /* the job polls for checkpoint requests */
};

struct warning_message {
    const char *text;
};

struct ok_message {
    int64_t id;
};

struct error_message {
    int64_t id;
    const char *text;
};

struct applied_message {
    int64_t id; /* of the command; -1 = it had none */
    double cpus;
    int64_t threads; /* of its last parallel region; 0 = no order was obeyed yet */
    /* For jobs with a page; -1 and false for others. */
    usec_t in;       /* from the order until the first region that obeyed it, or until now */
    int64_t regions; /* parallel regions so far */
    bool late;       /* no region has obeyed yet */
    /* Software in the job that cannot cope with fewer CPUs; NULL = none found. */
    const char *misfit;
};

struct restarted_message {
    int64_t incarnation;
    double cpus;
    usec_t pause;
};

/* Asks for the lease to be renewed. */
struct lease_request {
    int64_t asked; /* a time of the conductor's clock, which the answer repeats */
};

struct to_server {
    enum to_server_kind kind;
    union {
        struct hello_message hello;
        struct started_message started;
        struct progress_message progress;
        struct usage_message usage;
        struct warning_message warning;
        struct ok_message ok;
        struct error_message error;
        struct applied_message applied;
        struct restarted_message restarted;
        struct lease_request lease;
        struct exit_record exit;
        char problem[sizeof((struct err *)0)->text];
    };
};

/* By kind: its "type" and its members. */
extern const struct message_kind to_server_kinds[TO_SERVER_BAD];

/* Appends one line. */
void to_server_encode(const struct to_server *m, struct str *out);
/* Parses one line; texts are in the arena. Fails if it is not a message. */
int to_server_decode(const char *line, size_t n, struct arena *a, struct to_server *out,
                     struct err *err);

#endif
