#!/usr/bin/python3
"""Products of matrices by NumPy, as told, one word a line:

    product     answers with the threads that the process has afterwards
    openblas    the threads that OpenBLAS says it uses
    callers N   N threads make products at the same time: whether all were right
    runs N      N times a product of another size: whether all were right
"""
import ctypes
import os
import sys
import threading

import numpy

SIZE = 384
a = (numpy.arange(SIZE * SIZE) % 7).astype(numpy.float64).reshape(SIZE, SIZE)
b = (numpy.arange(SIZE * SIZE) % 5).astype(numpy.float64).reshape(SIZE, SIZE)
right = None  # by an int product: exact, and by no BLAS


def openblas_threads():
    with open("/proc/self/maps", encoding="utf-8") as f:
        path = next(line.split()[-1] for line in f if "libopenblas" in line)
    return ctypes.CDLL(path).openblas_get_num_threads()


def is_right(n):
    return numpy.array_equal(a[:n, :] @ b, right[:n])


def callers(count):
    good = []

    def call():
        good.append(all(is_right(SIZE) for _ in range(40)))

    threads = [threading.Thread(target=call) for _ in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return len(good) == count and all(good)


def main():
    global right
    right = (a.astype(numpy.int64) @ b.astype(numpy.int64)).astype(numpy.float64)
    for line in sys.stdin:
        word, *numbers = line.split()
        if word == "product":
            answer = len(os.listdir("/proc/self/task")) if is_right(SIZE) else "wrong"
        elif word == "openblas":
            answer = openblas_threads()
        elif word == "callers":
            answer = callers(int(numbers[0]))
        else:
            answer = all(is_right(32 + i % (SIZE - 32)) for i in range(int(numbers[0])))
        print(answer, flush=True)


main()
