#!/usr/bin/env python3
"""Orders that ask for too much, or come too fast. run-tests: no asan"""
import time

import lib
from lib import expect_equal, wait_until


def test_outside_the_bounds(job):
    job.learn((1, 1, 2))
    job.control.order(0)  # as many as there may be
    wait_until(job.control.obeyed, "it grows")
    expect_equal(job.control.applied()[0], 2, "applied")
    job.control.order(50)
    wait_until(job.control.obeyed, "it stays")
    expect_equal(job.control.applied()[0], 2, "applied")
    expect_equal(len(job.agents()), 2, "agents")
    job.expect_each_step_once(job.stop())


def test_faster_than_they_can_be_obeyed(job):
    job.learn()
    for workers in (2, 1, 3, 1, 2):
        job.control.order(workers)
    wait_until(job.control.obeyed, "the last one is obeyed")
    expect_equal(job.control.applied()[0], 2, "applied")
    changed = time.monotonic()
    wait_until(lambda: job.steps()[-1][0] > changed, "it goes on")
    expect_equal(len(job.workers()), 2, "workers")
    job.expect_each_step_once(job.stop())


lib.main()
