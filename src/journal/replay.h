/* Replays a journal: another engine is told the same, and must decide the same. */
#ifndef JOURNAL_REPLAY_H
#define JOURNAL_REPLAY_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct replay;
struct store;

/* What a replay found. */
struct replay_result {
    uint64_t boots, events, decisions;
    uint64_t passed_over; /* rows of a stretch whose beginning was trimmed, or whose events no
                             longer fit what was decided */
    uint64_t differing;
    int64_t first_seq;  /* of the first row that differs; 0 = none */
    struct str was, is; /* its text, recorded and reproduced */
};

/* Drives a new engine through a stretch of the journal (0 = all of them) and compares every plan
 * with the recorded one. Fails if the journal cannot be read (ERR_IO, with the row and what is
 * wrong) or the stretch does not exist (ERR_NOT_FOUND). A difference is not a failure. */
int journal_replay(struct store *s, int64_t boot, struct replay_result *out, struct err *err);
void replay_result_done(struct replay_result *r);

/* A replay row by row, of consecutive stretches. *out, which must be empty at first, has the
 * results so far. */
struct replay *replay_create(struct replay_result *out);
/* After a failure the replay can only be freed. */
int replay_row(struct replay *r, int64_t seq, int64_t boot, const char *kind, const char *data,
               struct err *err);
/* No more rows will come. */
void replay_end(struct replay *r);
void replay_free(struct replay *r);

#endif
