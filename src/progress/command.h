/* Limits of a run in its command line. */
#ifndef PROGRESS_COMMAND_H
#define PROGRESS_COMMAND_H

#include "progress/plan.h"
#include "progress/script.h"

/* Looks for limits among the arguments of a command: "--epochs 14", "--max_iters=2000",
 * "num_round=20", "SOLVER.MAX_ITER 3000", and those inside "sh -c '...'". */
void progress_command_read(struct progress_plan *p, int argc, const char *const *argv);

/* The file that an argument names, "--config=a.yaml" too, by its ending; *path points
 * into the argument. */
enum progress_file_kind progress_command_file(const char *argument, const char **path);

#endif
