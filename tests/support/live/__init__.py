"""What the tests with a real server share: a server in a directory of its own, whose
every answer is held against the OpenAPI document that it serves, and a runner that
reports case by case.

A test file defines functions test_NAME and ends with live.main(). A case that takes an
argument gets the server that all such cases of the file share; what it leaves running is
cancelled. One that takes none makes its own. The program is $TRAINYARD, or the one in
$BUILD.
"""
import inspect
import os
import sys

from cases import (Failure, Skip, chosen, expect, expect_equal, expect_lasts, report,
                   wait_until)
from .schema import METHODS, Document, Mismatch
from .wire import API, Answer, Refused, send
from .yard import BUILD, OVER, PROGRAM, ROOT, Yard


def run_case(name, case, *yards):
    def run():
        try:
            case(*yards)
        finally:
            for yard in yards:
                yard.sweep()

    return report(name, run)


def run_sharing(cases, start):
    """Runs cases that share a server."""
    with start() as yard:
        results = [run_case(name, case, yard) for name, case in cases]
        results.append(run_case("the server ends well and leaves nothing", yard.finish))
        if not all(results):
            print(yard.output())
    return results


def main(start=lambda: Yard().start()):
    """Runs all cases of the file, or those named as arguments; start() gives the server that
    cases share."""
    cases = chosen()
    if not os.access(PROGRAM, os.X_OK):
        sys.exit(f"{PROGRAM}: not there; build it first, or set TRAINYARD")
    sharing = [(name, case) for name, case in cases if inspect.signature(case).parameters]
    results = run_sharing(sharing, start) if sharing else []
    results += [run_case(name, case) for name, case in cases if (name, case) not in sharing]
    sys.exit(0 if all(results) else 1)
