#!/usr/bin/env python3
"""Workers come and go while a real network learns: every step is done once, and what is
learned does not depend on their number. run-tests: no asan"""
import math
import os

import lib
from lib import expect_equal, wait_until


def test_one_two_one(job):
    job.learn()
    for workers in (2, 1):
        before = len(job.workers())
        seconds, pause = job.resize(workers)
        expect_equal(len(job.workers()), workers, "processes")
        print(f"# {before} -> {workers} workers: {seconds:.1f} s from the order to the start, "
              f"{pause:.1f} s without a step")
    job.expect_each_step_once(job.stop())
    expect_equal(len(job.said(r"^trainyard: 1 -> 2 workers, \d+\.\d s$")), 1, "1 -> 2")
    expect_equal(len(job.said(r"^trainyard: 2 -> 1 worker, \d+\.\d s$")), 1, "2 -> 1")


def test_what_is_learned_stays_the_same(job):
    job.learn()
    job.resize(3)
    steps = job.stop()
    job.expect_each_step_once(steps)
    changed = [loss for _, _, loss in job.steps()]
    os.unlink(job.path("elastic.pt"))
    job.train(steps, "--hidden", 300)
    expect_equal(job.wait(), 0, "exit status")
    fixed = [loss for _, _, loss in job.steps()]
    far = [i for i, (a, b) in enumerate(zip(changed, fixed))
           if not math.isclose(a, b, rel_tol=0.02, abs_tol=1e-5)]
    expect_equal(far, [], "steps with another loss")
    if not min(fixed) < fixed[0] / 4:
        raise AssertionError(f"nothing was learned: {fixed[0]} -> {fixed[-1]}")


def test_least_is_most(job):
    job.train(60, workers=(2, 2, 2))
    wait_until(job.step, "a step")
    job.control.order(1)
    expect_equal(job.wait(), 0, "exit status")
    job.expect_each_step_once(60)
    expect_equal(job.control.applied()[0], 2, "applied")
    expect_equal(job.said("->"), [], "changes")


lib.main()
