#!/usr/bin/env python3
"""How a job of several workers ends: by itself, asked to, or by a failure; nothing is left
behind, and what was saved is gone on with. run-tests: no asan"""
import os
import signal

import lib
from lib import expect_equal, wait_until

# Fails in the worker with the greatest rank, once all are there.
FAILING = """
import os, sys, time
import torch.distributed as dist
dist.init_process_group("gloo")
dist.barrier()
if dist.get_rank() == dist.get_world_size() - 1:
    sys.exit(3)
time.sleep(1000)
"""

# Counts the signals that it gets; needs no group.
COUNTING = """
import os, signal, sys, time
got = []
signal.signal(signal.SIGTERM, lambda number, frame: got.append(number))
sys.stdout.write("there %s %s\\n" % (os.environ["RANK"], os.environ["WORLD_SIZE"]))
while not got:
    time.sleep(0.01)
end = time.monotonic() + 1
while time.monotonic() < end:
    time.sleep(0.01)
sys.stdout.write("signals %d\\n" % len(got))
sys.exit(9)
"""

def test_asked_to_it_saves_and_can_go_on(job):
    job.learn((1, 2, 2))
    before = job.stop()
    job.expect_each_step_once(before)
    job.train(before + 5, "--hidden", 300, workers=(1, 1, 1))
    expect_equal(job.wait(), 0, "exit status")
    expect_equal([step for _, step, _ in job.steps()], list(range(before + 1, before + 6)), "steps")


def test_done_while_others_get_ready(job):
    job.train(60, workers=(1, 1, 3))
    wait_until(job.step, "a step")
    job.control.order(3)
    expect_equal(job.wait(), 0, "exit status")
    job.expect_each_step_once(60)


def test_a_signal_to_all_reaches_a_worker_once(job):
    script = job.script(COUNTING)
    job.start(lib.PYTHON, script, workers=(1, 2, 2))
    job.until_said("there 0 2")
    job.until_said("there 1 2")
    for pid in job.processes():
        os.kill(pid, signal.SIGTERM)
    expect_equal(job.wait(), 9, "exit status")
    expect_equal(job.said("signals .*"), ["signals 1"] * 2, "signals")


def test_a_worker_that_fails(job):
    code = job.run(lib.PYTHON, job.script(FAILING), workers=(1, 2, 3))
    expect_equal(code, 3, "exit status")
    expect_equal(job.said("^trainyard: worker 1 exited with 3.*"),
                 ["trainyard: worker 1 exited with 3; the job ends"], "told")


lib.main()
