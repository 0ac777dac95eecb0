/* The server as a program: one loop that runs until SIGTERM or SIGINT. */
#ifndef SERVER_SERVE_H
#define SERVER_SERVE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/time.h"
#include "policy/combo.h"

struct serve_config {
    const char *state_dir, *run_dir;
    const char *listen;        /* "ADDR:PORT"; NULL = the unix socket only */
    const char *token;         /* that TCP clients must send */
    const char *const *mounts; /* directories that containers may mount; ends with NULL */
    struct combo combo;
    bool combo_given;
    usec_t resched_min, min_run;
    int64_t default_memory_mb;
    int64_t journal_rows;
    usec_t keep, show_failed;
};

/* Serves until SIGTERM or SIGINT, then returns 0. Jobs keep running. */
int serve(const struct serve_config *config, struct err *err);

#endif
