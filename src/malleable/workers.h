/* Recognises the threads of some pools. */
#ifndef MALLEABLE_WORKERS_H
#define MALLEABLE_WORKERS_H

enum worker {
    WORKER_NONE,
    WORKER_STEALS, /* of a pool in which every worker takes any task and waits for work */
    WORKER_ONNX,   /* of ONNX Runtime */
};

/* The role of a thread that begins with start(arg). */
enum worker workers_recognise(void *(*start)(void *), void *arg);

#endif
