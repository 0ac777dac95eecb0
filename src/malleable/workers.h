/* Recognises the threads of some pools. */
#ifndef MALLEABLE_WORKERS_H
#define MALLEABLE_WORKERS_H

enum worker {
    WORKER_NONE,
    WORKER_STEALS, /* of a pool in which every worker takes any task, and waits for some */
    WORKER_ONNX,   /* of ONNX Runtime */
};

/* What a thread that begins with start(arg) will be. */
enum worker workers_recognise(void *(*start)(void *), void *arg);

#endif
