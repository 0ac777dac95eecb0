/* Runs of one program, compared by their command lines: how long will this one be, when another
 * one was so long? */
#ifndef PROGRESS_PAST_H
#define PROGRESS_PAST_H

#include "base/str.h"

/* Adds what a command runs, without the arguments that vary: "python3 /home/ann/train.py",
 * "fasttext supervised". Both lists end with NULL. */
void progress_past_category(const char *const *command, const char *workdir, struct str *out);

/* The model that a command names, as in --model resnet50 or --arch=vgg; NULL = none. */
const char *progress_past_model(const char *const *command);

/* How many times as long a run of the command `now` is as one of `then`: 1 when they are the same
 * or differ only in what does not matter (a seed, a learning rate, the name of a run), 2 when it
 * has twice the epochs. 0 = they cannot be compared: anything else differs. */
double progress_past_scale(const char *const *now, const char *const *then);

#endif
