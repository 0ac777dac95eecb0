/* Owns the shutdown of the machine. From the first moment on nothing is decided any more, so that
 * what one job frees does not start another one. */
#include "server/shutdown.h"

#include "server/jobs/attempts.h"
#include "server/log.h"

void shutdown_begin(struct yard *y)
{
    uint32_t stopped = 0;
    if (y->closing)
        return;
    y->closing = true;
    for (struct live_job *j = y->jobs.first; j; j = j->next)
        if (j->attempt) {
            attempt_stop(y, j, STOP_SHUTDOWN, -1);
            stopped++;
        }
    log_info("the machine is going down; jobs=%u are asked to save themselves", stopped);
    turn_hurry(y);
}

bool shutdown_over(const struct yard *y)
{
    for (const struct live_job *j = y->jobs.first; j; j = j->next)
        if (j->attempt)
            return false;
    return y->attempts.n == 0;
}
