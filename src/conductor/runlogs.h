/* Follows the files that a job logs its training to, as TensorBoard, Lightning, Keras, MLflow and
 * Weights & Biases do, in its working directory. progress/log.h tells which files these are.
 *
 * Links are not followed, only regular files on a local disk are opened, and a look is bounded
 * in names, files and bytes. A file counts when it was written since the job began, and when it is
 * known to be the job's: one of its processes has it open, or no other job of ours runs in the
 * directory. */
#ifndef CONDUCTOR_RUNLOGS_H
#define CONDUCTOR_RUNLOGS_H

#include "base/time.h"
#include "conductor/tree.h"
#include "progress/progress.h"

enum { RUNLOGS_FILES = 32 };

struct run_log {
    int fd;
    int64_t offset; /* read so far */
    uint64_t device, inode;
    char *path; /* from the working directory */
    struct progress_log *log;
};

struct runlogs {
    int dir;      /* the working directory; -1 = not looked at */
    usec_t since; /* wall time at which the job began */
    usec_t next;  /* the next look, by the steady clock */
    usec_t search, pause;
    size_t n;
    struct run_log at[RUNLOGS_FILES];
};

/* The first look is a second after `now`. */
void runlogs_init(struct runlogs *l, const char *workdir, usec_t now, usec_t wall);
void runlogs_done(struct runlogs *l);

/* When runlogs_look is due; USEC_NEVER = never. */
static inline usec_t runlogs_next(const struct runlogs *l)
{
    return l->dir < 0 ? USEC_NEVER : l->next;
}

/* Looks for new files, less and less often, and reads what was added to those that are known.
 * True when the reader has news. */
bool runlogs_look(struct runlogs *l, usec_t now, const struct tree *tree,
                  struct progress_reader *reader);
/* Reads only what was added. */
bool runlogs_read(struct runlogs *l, struct progress_reader *reader);

#endif
