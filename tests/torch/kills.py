#!/usr/bin/env python3
"""Workers, agents and the launcher are killed, or do not want to end: the job ends, and
nothing is left behind. run-tests: no asan"""
import os
import signal

import lib
from lib import expect_equal, wait_until

# Ends only when it is killed.
DEAF = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.stdout.write("there %s %s\\n" % (os.environ["RANK"], os.environ["WORLD_SIZE"]))
while True:
    time.sleep(1)
"""


def test_killed_workers_and_agents(job):
    for kind in (job.workers, job.agents):
        job.learn((1, 2, 2))
        os.kill(kind()[-1], signal.SIGKILL)
        expect_equal(job.wait(), 137, "exit status")
        job.expect_nothing_left()


def test_the_launcher_is_killed(job):
    job.learn((1, 2, 2))
    job.process.kill()
    job.wait()
    job.expect_nothing_left()


def test_a_worker_that_does_not_go(job):
    job.start(lib.PYTHON, job.script(DEAF), workers=(1, 2, 2), TRAINYARD_GRACE="1")
    job.until_said("there 1 2")
    job.control.order(1)
    job.until_said("there 0 1")
    wait_until(job.control.obeyed, "the order is obeyed")
    expect_equal(len(job.said("has not exited within 1 s; killing it")), 2, "told")
    os.kill(job.workers("script.py")[0], signal.SIGKILL)
    expect_equal(job.wait(), 137, "exit status")


lib.main()
