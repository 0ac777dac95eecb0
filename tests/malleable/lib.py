"""What the tests of the malleable library share: the page, jobs that run with it, and a
runner that reports case by case.

A test file defines functions test_NAME, each given a temporary directory, and ends with
lib.main(). The library and the jobs are those in $BUILD.
"""
import contextlib
import functools
import mmap
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cases import PATIENCE, Failure, Skip, chosen, expect, expect_equal, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("BUILD", "build")
LIBRARY = BUILD / "libtrainyard-malleable.so"
JOBS = BUILD / "tests/malleable/jobs"
SOURCES = ROOT / "tests/malleable/jobs"
MAGIC = int.from_bytes(b"trnyard1", "little")


@functools.cache
def preload():
    """The library, after the run-time of the sanitizer that it was built with, if any."""
    before = []
    if b"__asan_init" in LIBRARY.read_bytes():
        found = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True,
                               text=True, check=True)
        before = [found.stdout.strip()]
    return " ".join(before + [str(LIBRARY)])


class Page:
    """The page as a conductor writes it."""

    def __init__(self, path, threads, processors=0):
        self.path = path
        path.write_bytes(bytes(4096))
        with open(path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 4096)
        self.words = memoryview(self.map).cast("Q")
        self.words[1] = 4096 << 32 | 1
        self.words[10] = processors
        self.order(threads)
        self.words[0] = MAGIC

    def order(self, threads):
        """Asks for threads; returns the generation."""
        generation = (self.words[8] >> 32) + 1
        self.words[9] = time.monotonic_ns()
        self.words[8] = generation << 32 | threads
        return generation

    generation = property(lambda self: self.words[8] >> 32)
    ordered_ns = property(lambda self: self.words[9])
    applied_threads = property(lambda self: self.words[24] & 0xffffffff)
    applied_generation = property(lambda self: self.words[24] >> 32)
    applied_ns = property(lambda self: self.words[25])
    spent_ns = property(lambda self: self.words[26])
    attached = property(lambda self: self.words[27] & 0xffffffff)
    regions = property(lambda self: self.words[32] + self.words[33])
    clamped = property(lambda self: self.words[33])


def environment(page=None, threads=4, **more):
    """Of a job. Threads that wait leave the cores to other tests."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "KMP_", "GOMP_"))}
    env.update(OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive", LD_PRELOAD=preload(),
               ASAN_OPTIONS="detect_leaks=0")
    if page is not None:
        env["TRAINYARD_CONTROL"] = str(page.path if isinstance(page, Page) else page)
    return {**env, **{k: str(v) for k, v in more.items()}}


class Job:
    """A job that answers each line with one line."""

    def __init__(self, command, page=None, **env):
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=environment(page, **env))
        # A job that hangs is ended, and with it the wait for its answer.
        self.timer = threading.Timer(PATIENCE, self.process.kill)
        self.timer.start()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, line):
        self.tell(line)
        answer = self.process.stdout.readline()
        if not answer:
            self.close()
            raise Failure(f"no answer to '{line}'; exit status {self.process.returncode}, "
                          f"{self.errors}")
        numbers = answer.split()
        return int(numbers[0]) if len(numbers) == 1 and numbers[0].lstrip("-").isdigit() \
            else answer.strip()

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.errors = self.process.stderr.read()
        self.process.wait()
        self.timer.cancel()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        status = self.close()
        self.process.stdout.close()
        self.process.stderr.close()
        expect(kind or status == 0, f"exit status {status}: {self.errors}")


def run(command, page=None, **env):
    """Runs a job to its end; returns what it printed."""
    try:
        done = subprocess.run([str(c) for c in command], env=environment(page, **env), text=True,
                              capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                              check=False)
    except subprocess.TimeoutExpired as late:
        raise Failure(f"{command}: hangs") from late
    expect(done.returncode == 0, f"{command}: exit status {done.returncode}: {done.stderr}")
    return done.stdout


@contextlib.contextmanager
def flipping(page, seed, among=(1, 2, 3, 4, 8), pause=0.001):
    """Gives a random order each millisecond while the body runs."""
    stop = threading.Event()
    chance = random.Random(seed)

    def flip():
        while not stop.wait(pause):
            page.order(chance.choice(among))

    thread = threading.Thread(target=flip)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def run_case(name, case):
    with tempfile.TemporaryDirectory(prefix="trainyard-malleable.") as tmp:
        return report(name, lambda: case(pathlib.Path(tmp)))


def main():
    """Runs all cases of the file, or those named as arguments."""
    if not LIBRARY.exists():
        sys.exit(f"{LIBRARY}: not there; build it first, or set BUILD")
    results = [run_case(name, case) for name, case in chosen()]
    sys.exit(0 if all(results) else 1)
