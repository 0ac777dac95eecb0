/* Trains a linear model on a plain pool of POSIX threads: a queue with a mutex and a
 * condition variable. Each step puts one task per part of the batch into the queue and
 * waits until all are done. Prints how many steps it made per second of CPU
 * time.
 *
 *   pool THREADS SECONDS */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PARTS = 16, ROWS = 64, COLUMNS = 512 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    int next, left; /* parts: to be taken, to be finished */
} queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, PARTS, 0};

static float x[PARTS][ROWS][COLUMNS], y[PARTS][ROWS], w[COLUMNS], gradient[PARTS][COLUMNS];
static double loss[PARTS];

static void learn(int part)
{
    memset(gradient[part], 0, sizeof gradient[part]);
    loss[part] = 0;
    for (int i = 0; i < ROWS; i++) {
        float error = -y[part][i];
        for (int k = 0; k < COLUMNS; k++)
            error += x[part][i][k] * w[k];
        for (int k = 0; k < COLUMNS; k++)
            gradient[part][k] += error * x[part][i][k];
        loss[part] += error * error;
    }
}

static void *work(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&queue.lock);
    for (;;) {
        while (queue.next == PARTS)
            pthread_cond_wait(&queue.work, &queue.lock);
        int part = queue.next++;
        pthread_mutex_unlock(&queue.lock);
        learn(part);
        pthread_mutex_lock(&queue.lock);
        if (--queue.left == 0)
            pthread_cond_signal(&queue.done);
    }
    return NULL;
}

static double step(void)
{
    double sum = 0;
    pthread_mutex_lock(&queue.lock);
    queue.next = 0;
    queue.left = PARTS;
    pthread_cond_broadcast(&queue.work);
    while (queue.left > 0)
        pthread_cond_wait(&queue.done, &queue.lock);
    pthread_mutex_unlock(&queue.lock);
    for (int part = 0; part < PARTS; part++) {
        for (int k = 0; k < COLUMNS; k++)
            w[k] -= 1e-5f * gradient[part][k];
        sum += loss[part];
    }
    return sum / (PARTS * ROWS);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    unsigned seed = 1;
    for (int i = 0; i < PARTS * ROWS * COLUMNS; i++)
        (&x[0][0][0])[i] = (float)(rand_r(&seed) % 2001 - 1000) / 1000;
    for (int i = 0; i < PARTS * ROWS; i++)
        (&y[0][0])[i] = (&x[0][0][0])[i * COLUMNS];
    for (int i = 0; i < atoi(argv[1]); i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL))
            return 1;
    }
    double seconds = atof(argv[2]), began = now(), ended = began, last = step(), first = last;
    long steps = 0;
    clock_t used = clock();
    for (; ended - began < seconds; ended = now(), steps++)
        last = step();
    printf("%.2f steps per CPU second, loss %.4f\n",
           (double)steps * CLOCKS_PER_SEC / (double)(clock() - used), last);
    return last <= first ? 0 : 1;
}
