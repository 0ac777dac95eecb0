#!/usr/bin/env python3
"""Runs a network of dense layers with ONNX Runtime, whose pool descends from Eigen's, and
prints how many steps it made per second of CPU time. ONNX Runtime of Debian 13 does not train: the
steps are forward passes.

  onnx.py THREADS SECONDS
"""
import os
import sys
import tempfile
import time

import numpy as np
import onnxruntime

BATCH, WIDTH, LAYERS = 64, 256, 4


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def field(number, value):
    """A field of a protocol buffer: a number, a text or an inner message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def matrix_info(name, shape):
    dims = b"".join(field(1, field(1, n)) for n in shape)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))


def layer(i, chance):
    weights = (chance.standard_normal((WIDTH, WIDTH)) * 0.05).astype("<f4")
    initial = field(1, WIDTH) * 2 + field(2, 1) + field(8, f"w{i}") + field(9, weights.tobytes())
    product = field(1, f"x{i}") + field(1, f"w{i}") + field(2, f"m{i}") + field(4, "MatMul")
    relu = field(1, f"m{i}") + field(2, f"x{i + 1}") + field(4, "Relu")
    return field(1, product) + field(1, relu) + field(5, initial)


def model():
    """In ONNX's format, of version 8 with operators of version 13."""
    chance = np.random.default_rng(1)
    graph = b"".join(layer(i, chance) for i in range(LAYERS)) + field(2, "layers")
    graph += field(11, matrix_info("x0", (BATCH, WIDTH)))
    graph += field(12, matrix_info(f"x{LAYERS}", (BATCH, WIDTH)))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


def main():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(sys.argv[1])
    with tempfile.NamedTemporaryFile(suffix=".onnx", delete=False) as f:
        f.write(model())
    session = onnxruntime.InferenceSession(f.name, options, providers=["CPUExecutionProvider"])
    os.unlink(f.name)
    x = np.random.default_rng(2).random((BATCH, WIDTH), dtype=np.float32)
    right = session.run(None, {"x0": x})[0]
    steps, began, used = 0, time.monotonic(), time.process_time()
    while time.monotonic() - began < float(sys.argv[2]):
        result = session.run(None, {"x0": x})[0]
        assert np.allclose(result, right, atol=1e-5), "another result"
        steps += 1
    print(f"{steps / (time.process_time() - used):.2f} steps per CPU second")


main()
