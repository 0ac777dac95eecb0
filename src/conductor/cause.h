/* Why a job failed, as far as its output and its files tell. */
#ifndef CONDUCTOR_CAUSE_H
#define CONDUCTOR_CAUSE_H

#include <stdbool.h>
#include <stddef.h>

#include "conductor/tree.h"
#include "protocol/launch_spec.h"
#include "protocol/logfile.h"

/* The line of the log's end that tells why the command failed: an exception, an error, or
 * else its last line. Empty when there is no output. */
void cause_of_log(const struct logfile *log, char *text, size_t size);

/* The interpreter that the program, a script, asks for and that does not exist. False when
 * that is not why the program cannot be run. */
bool cause_interpreter(const struct launch_spec *spec, char *text, size_t size);

/* Names the processes of the job that run: "python3 worker.py (4711), sleep (4712)". Empty when
 * there are none. */
void cause_left_running(const struct tree *t, char *text, size_t size);

#endif
