"""What cases expect, and how long they wait for it."""
import time

# Long enough for a machine that has much else to do; only failures take it.
PATIENCE = 60


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


def expect_lasts(condition, seconds, what):
    """What is true now stays so for a while."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        expect(condition(), what)
        time.sleep(0.01)
