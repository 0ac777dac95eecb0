/* Restoring tasks that an earlier engine had. */
#ifndef ENGINE_RESTORE_H
#define ENGINE_RESTORE_H

#include "engine/engine.h"

/* Puts a task back as it was. ERR_INVALID if it was on nodes that do not exist or its
 * numbers contradict each other; ERR_CONFLICT if a node no longer has room for it. */
int restore_task(struct engine *e, const struct job *job, const struct task *was, usec_t now,
                 struct err *err);

#endif
