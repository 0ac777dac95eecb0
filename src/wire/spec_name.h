/* A name for a job that has none, from its command. Pure. */
#ifndef WIRE_SPEC_NAME_H
#define WIRE_SPEC_NAME_H

#include "wire/spec.h"

enum { SPEC_NAME_SIZE = 64 };

/* The word by which people would call the command: "train" for `python3 -u train.py`, for
 * `torchrun --nproc-per-node 2 train.py` and for `sh -c 'cd run && nice python3 train.py'`. */
void spec_name_derive(const struct spec_list *command, char out[SPEC_NAME_SIZE]);

#endif
