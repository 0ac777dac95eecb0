/* A disk in memory for databases: fast, and it fails when it is told to. What is written
 * stays until disk_forget(), whatever is opened and closed meanwhile. */
#ifndef SUPPORT_DISK_H
#define SUPPORT_DISK_H

#include <stddef.h>
#include <stdint.h>

enum disk_fault {
    DISK_SOUND,
    DISK_FULL,   /* no file grows */
    DISK_BROKEN, /* nothing can be written */
};

/* Databases that are opened from now on are on it, as they are found on the real disk. */
void disk_begin(void);
void disk_end(void);

/* From the n-th write on. */
void disk_set_fault(enum disk_fault fault, uint64_t n);

/* Memory that all files take. */
size_t disk_memory(void);

/* Forgets the files of this directory. */
void disk_forget(const char *dir);

#endif
