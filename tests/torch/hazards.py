#!/usr/bin/env python3
"""Growth that fails, and a job that was frozen for long. run-tests: no asan"""
import os
import signal
import time

import lib
from lib import expect_equal, wait_until


def test_growth_that_fails(job):
    """An interpreter that runs only while the test wants it to."""
    with open(job.path("python3"), "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\n[ -e {job.path("no")} ] && exit 6\nexec {lib.PYTHON} "$@"\n')
    os.chmod(job.path("python3"), 0o755)
    job.start(job.path("python3"), lib.EXAMPLE, "--steps", 1000000, workers=(1, 1, 2))
    wait_until(job.step, "a step")
    with open(job.path("no"), "w", encoding="utf-8"):
        job.control.order(2)
        wait_until(job.control.obeyed, "it stays")
    expect_equal(job.control.applied()[0], 1, "applied")
    job.until_said("^trainyard: staying at 1 worker: an agent exited with 6$")
    os.unlink(job.path("no"))
    job.resize(2)
    job.expect_each_step_once(job.stop())


def test_after_a_long_freeze(job):
    """PyTorch's own rendezvous takes for dead who says nothing for 15 s."""
    job.learn((1, 2, 3))
    frozen = job.processes()
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    thaw = time.monotonic() + 17
    wait_until(lambda: time.monotonic() > thaw, "17 s have passed")
    for pid in reversed(frozen):
        os.kill(pid, signal.SIGCONT)
    job.resize(3)
    job.expect_each_step_once(job.stop())


lib.main()
