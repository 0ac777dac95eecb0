"""The cases of a test file: what they expect, how long they wait for it, and how they are
run and reported, one a line. A file defines functions test_NAME and ends with the main()
of what it builds on."""
import json
import os
import pathlib
import sys
import time
import traceback

# Seconds; long enough for a machine that has much else to do. Only failures take them.
PATIENCE = 120


class Skip(Exception):
    """What the case needs is not there."""


class Failure(Exception):
    """What was expected did not happen."""


def expect(truth, *what):
    if not truth:
        raise Failure(" ".join(str(w) for w in what) or "not as expected")


def expect_equal(got, want, what=""):
    expect(got == want, f"{what}: got {got!r}, want {want!r}")


def wait_until(condition, what="the condition", seconds=PATIENCE):
    """Polls; returns what the condition gave once that is true. What it waits for may be
    said by a function, when it is too late."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failure(f"{what() if callable(what) else what}: not within {seconds} s")
        time.sleep(0.01)


def keep_figures(**figures):
    """For those who sum up long runs: added to the file that FIGURES names, if it does."""
    if "FIGURES" in os.environ:
        path = pathlib.Path(os.environ["FIGURES"])
        before = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**before, **figures}))


def expect_lasts(condition, seconds, what):
    """What is true now stays so for a while."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        expect(condition(), what)
        time.sleep(0.01)


def chosen():
    """Names for people and functions: all cases of the file, or those named as arguments."""
    words = [word.replace("_", " ") for word in sys.argv[1:]]
    found = [(name[5:].replace("_", " "), case)
             for name, case in vars(sys.modules["__main__"]).items() if name.startswith("test_")]
    found = [(name, case) for name, case in found if not words or any(w in name for w in words)]
    return found or sys.exit("no such case")


def report(name, case, tell=lambda: None):
    """Runs one case and says how it went; tell() prints more of a failure."""
    try:
        case()
        print(f"ok - {name}", flush=True)
        return True
    except Skip as why:
        print(f"skip - {name}: {why}", flush=True)
        return True
    except Exception:  # pylint: disable=broad-except
        print(f"not ok - {name}")
        for line in traceback.format_exc().splitlines():
            print(f"  | {line}")
        tell()
        sys.stdout.flush()
        return False
