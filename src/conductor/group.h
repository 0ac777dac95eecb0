/* The cgroups of a job: version 1 (one per controller) or version 2 (one for all). What a group
 * can do is found by the files that it has, not by its version. The server creates and removes
 * the groups. */
#ifndef CONDUCTOR_GROUP_H
#define CONDUCTOR_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "protocol/launch_spec.h"

struct group {
    const char *path; /* borrowed */
    const char *procs;
    int fd; /* its directory; a negative errno if it could not be opened */
    bool v2;
    bool joined; /* the job is in it; groups that it could not join are not used */
};

struct group_set {
    struct group *at;
    size_t n;
    size_t last; /* index of the group that had the last file; the next file is often there too */
    bool used;   /* the job ran in them before */
};

/* Selects groups of a set. */
enum group_version { GROUP_ANY, GROUP_V1, GROUP_V2 };

struct pid_list {
    pid_t *at;
    size_t n, cap;
};

/* The groups of a specification, which must outlive the set; none is joined yet. */
void group_init(struct group_set *s, const struct launch_spec *spec);
void group_done(struct group_set *s);

/* Moves the calling process, which must have one thread, into a group. Returns 0 or an errno. */
int group_join(const struct group *g);

/* Whether a joined group has this file. */
bool group_has(struct group_set *s, const char *file);
/* Opens the file for reading in a joined group of this version that has it; -1 if there is none. */
int group_open(struct group_set *s, enum group_version version, const char *file);
/* Reads the file, cut to the size of the buffer, from a joined group that has it; -1 if there is
 * none. */
int group_read(struct group_set *s, const char *file, char *text, size_t size);
/* Returns 0 or an errno; ENOENT if no joined group has the file. */
int group_write(struct group_set *s, const char *file, const char *text);

/* Adds the processes in all joined groups and their descendants; a pid may appear more than
 * once. */
void group_find_pids(const struct group_set *s, struct pid_list *out);
/* Whether the joined groups have no process. If one is of version 2, only that one is asked. */
bool group_is_empty(struct group_set *s);

#endif
