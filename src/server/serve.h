/* The server as a program: one loop that runs until SIGTERM or SIGINT. */
#ifndef SERVER_SERVE_H
#define SERVER_SERVE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/time.h"
#include "policy/combo.h"

struct kube_options;

struct serve_config {
    const char *state_dir, *run_dir;
    const char *listen;             /* "ADDR:PORT"; NULL = the unix socket only */
    const char *token;              /* of an admin over TCP; NULL = none */
    bool tls;                       /* on TCP, with a certificate of our own unless one is given */
    const char *tls_cert, *tls_key; /* PEM files; NULL = none */
    const char *group;              /* whose members may use the unix socket; NULL = none */
    const char *const *mounts;      /* directories that containers may mount; ends with NULL */
    const char *default_image;      /* of jobs that name none; NULL = they are processes */
    const struct kube_options *kubernetes; /* NULL = no cluster */
    bool schedulearn;                      /* serves Schedulearn's clients too */
    struct combo combo;
    bool combo_given;
    usec_t resched_min, min_run;
    int64_t default_memory_mb;
    int64_t journal_rows;
    usec_t keep, show_failed;
    usec_t lease;                     /* of jobs on other machines; USEC_NEVER = none */
    usec_t suspect_after, lost_after; /* without an answer of a node */
    usec_t stall;                     /* without progress, before users are told; 0 = never */
};

/* Serves until SIGTERM or SIGINT, then returns 0. Jobs keep running. */
int serve(const struct serve_config *config, struct err *err);

#endif
