/* Calls of Slurm's own commands in a script. Trainyard reads #SBATCH lines but has no srun, so
 * that a script that calls it fails; users should hear of it when they submit. */
#ifndef WIRE_SLURM_CALLS_H
#define WIRE_SLURM_CALLS_H

#include <stdint.h>

/* Calls fn for the first call in each line, with the number of the line and the name of the
 * command. It looks for words where a shell expects a command and knows no more of the
 * language: a call inside quotes or a here-document may be reported, or one in a variable
 * missed. */
void slurm_find_calls(const char *script, void (*fn)(void *ctx, uint32_t line, const char *command),
                      void *ctx);

#endif
