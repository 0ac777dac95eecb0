/* Follows the log files that a job writes in its working directory, as TensorBoard, Lightning,
 * Keras, MLflow and Weights & Biases do. progress/log.h recognises these files.
 *
 * Links are not followed, only regular files on a local disk are opened, and each look is
 * bounded in names, files and bytes. A file counts if it was written since the job began and is
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
    int64_t offset; /* bytes read so far */
    uint64_t device, inode;
    char *path; /* relative to the working directory */
    struct progress_log *log;
};

struct runlogs {
    int dir;      /* the working directory; -1 = do not look */
    usec_t since; /* wall time at which the job began */
    usec_t next;  /* time of the next look, steady clock */
    usec_t search, pause;
    size_t n;
    struct run_log at[RUNLOGS_FILES];
};

/* The first look is a second after `now`. */
void runlogs_init(struct runlogs *l, const char *workdir, usec_t now, usec_t wall);
void runlogs_done(struct runlogs *l);

/* When to call runlogs_look; USEC_NEVER = never. */
static inline usec_t runlogs_next(const struct runlogs *l)
{
    return l->dir < 0 ? USEC_NEVER : l->next;
}

/* Looks for new files, at growing intervals, and reads what was added to known ones. True if the
 * reader has news. */
bool runlogs_look(struct runlogs *l, usec_t now, const struct tree *tree,
                  struct progress_reader *reader);
/* Reads only what was added. */
bool runlogs_read(struct runlogs *l, struct progress_reader *reader);

#endif
