/* Why a job failed, as far as its output and its files tell. */
#ifndef CONDUCTOR_CAUSE_H
#define CONDUCTOR_CAUSE_H

#include <stdbool.h>
#include <stddef.h>

#include "conductor/tree.h"
#include "protocol/launch_spec.h"
#include "protocol/logfile.h"

/* Finds the line at the end of the log that says why the command failed: an exception, an error,
 * or else the last line. Empty if there is no output. */
void cause_of_log(const struct logfile *log, char *text, size_t size);

/* Finds the interpreter that a script names and that does not exist. False if this is not why
 * the program cannot run. */
bool cause_interpreter(const struct launch_spec *spec, char *text, size_t size);

/* Names the processes of the job that still run: "python3 worker.py (4711), sleep (4712)". Empty
 * if there are none. */
void cause_left_running(const struct tree *t, char *text, size_t size);

#endif
