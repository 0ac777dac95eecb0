"""What the tests of the conductor share: attempts run by the real program, a
server that speaks its protocol, and a runner that reports case by case.

A test file defines functions test_NAME and ends with lib.main(). Each case ends
with nothing left behind: no process, no zombie, no cgroup; the runner checks it.
The program is $CONDUCTOR, or the one in $BUILD.
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from cases import (PATIENCE, Failure, Skip, chosen, expect, expect_equal, expect_lasts, report,
                   wait_until)

from . import talks
from .attempt import (CONDUCTOR, ROOT, Attempt, alive, instrumented, marked, resident,
                      start_time)
from .bench import Bench
from .server import Server

# Forks as long as it may, ignores SIGTERM, leaves its session. Only to be run under
# a limit on the number of processes.
FORK_BOMB = """#!/usr/bin/python3
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        pass
"""


def run_case(name, case):
    bench = Bench()

    def run():
        case(bench)
        left = bench.left_behind()
        expect(not left, "left behind:", ", ".join(left))

    def tell():
        for a in bench.attempts[-3:]:
            print(f"  job {a.job} {a.spec['command']}: {a.notes()}{a.stderr() if a.process else ''}")

    try:
        return report(name, run, tell)
    finally:
        bench.clean()


def main():
    """Runs all cases of the file, or those named as arguments."""
    if not os.access(CONDUCTOR, os.X_OK):
        sys.exit(f"{CONDUCTOR}: not there; build it first, or set CONDUCTOR")
    results = [run_case(name, case) for name, case in chosen()]
    sys.exit(0 if all(results) else 1)
