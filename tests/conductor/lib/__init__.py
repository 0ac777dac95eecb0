"""What the tests of the conductor share: attempts run by the real program, a
server that speaks its protocol, and a runner that reports case by case.

A test file defines functions test_NAME and ends with lib.main(). Each case ends
with nothing left behind: no process, no zombie, no cgroup; the runner checks it.
The program is $CONDUCTOR, or the one in $BUILD.
"""
import os
import sys
import traceback

from .attempt import (CONDUCTOR, ROOT, Attempt, alive, instrumented, marked, resident,
                      start_time)
from .bench import Bench
from .expect import Failure, Skip, expect, expect_equal, expect_lasts, wait_until
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
    try:
        case(bench)
        left = bench.left_behind()
        expect(not left, "left behind:", ", ".join(left))
        print(f"ok - {name}", flush=True)
        return True
    except Skip as why:
        print(f"skip - {name}: {why}", flush=True)
        return True
    except Exception:  # pylint: disable=broad-except
        print(f"not ok - {name}")
        for line in traceback.format_exc().splitlines():
            print(f"  | {line}")
        for a in bench.attempts[-3:]:
            print(f"  job {a.job} {a.spec['command']}: {a.notes()}{a.stderr() if a.process else ''}")
        sys.stdout.flush()
        return False
    finally:
        bench.clean()


def main():
    """Runs all cases of the file, or those named as arguments."""
    cases = vars(sys.modules["__main__"])
    names = [n for n in cases if n.startswith("test_")]
    if len(sys.argv) > 1:
        names = [n for n in names if any(a in n for a in sys.argv[1:])]
    if not os.access(CONDUCTOR, os.X_OK):
        sys.exit(f"{CONDUCTOR}: not there; build it first, or set CONDUCTOR")
    results = [run_case(n[5:].replace("_", " "), cases[n]) for n in names]
    sys.exit(0 if results and all(results) else 1)
