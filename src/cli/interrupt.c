/* Owns the count of SIGINT. It is static because a signal handler has no other access. */
#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

static volatile sig_atomic_t count;

static void on_interrupt(int number)
{
    (void)number;
    count = count + 1;
}

void interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

int interrupt_count(void)
{
    return (int)count;
}

void interrupt_sleep(usec_t t)
{
    struct timespec pause = {t / USEC_PER_SEC, (t % USEC_PER_SEC) * 1000};
    nanosleep(&pause, NULL);
}
