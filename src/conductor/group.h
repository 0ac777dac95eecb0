/* The cgroups of a job, of version 1 (one for each controller) or 2 (one for all). What
 * a group can do follows from the files that it has, not from its version. The server
 * creates and removes the groups. */
#ifndef CONDUCTOR_GROUP_H
#define CONDUCTOR_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "protocol/launch_spec.h"

struct group {
    const char *path; /* borrowed */
    const char *procs;
    int fd; /* its directory; a negative errno when that could not be opened */
    bool v2;
    bool joined; /* the job is in it; a group that it could not join is not used */
};

struct group_set {
    struct group *at;
    size_t n;
    size_t last; /* had the file that was asked for last: the next one is often there too */
    bool used;   /* the job ran in them before */
};

/* Which groups of a set are meant. */
enum group_version { GROUP_ANY, GROUP_V1, GROUP_V2 };

struct pid_list {
    pid_t *at;
    size_t n, cap;
};

/* The groups of a specification, which must outlive the set; none is joined. */
void group_init(struct group_set *s, const struct launch_spec *spec);
void group_done(struct group_set *s);

/* Puts the calling process, which has one thread, into a group; 0 or an errno. */
int group_join(const struct group *g);

/* Whether a joined group has this file. */
bool group_has(struct group_set *s, const char *file);
/* Opens the file for reading in a joined group of this version that has it; -1 when there
 * is none. */
int group_open(struct group_set *s, enum group_version version, const char *file);
/* The file's text, cut to what fits, from a joined group that has it; -1 when there is
 * none. */
int group_read(struct group_set *s, const char *file, char *text, size_t size);
/* 0, or an errno; ENOENT when no joined group has the file. */
int group_write(struct group_set *s, const char *file, const char *text);

/* Adds the processes in all joined groups and the groups below them; a pid may
 * come more than once. */
void group_find_pids(const struct group_set *s, struct pid_list *out);
/* Whether no process is in the joined groups. A group of version 2 tells for all. */
bool group_is_empty(struct group_set *s);

#endif
