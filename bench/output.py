"""Measures what a job's output costs it: the time to print about 100 MB through the conductor, by a
pipe and by a terminal, compared with printing it to a file, and with `| cat >file`, which is the
least that reading it costs. Every run writes a new file, as a job's log is one: to write over an
old one costs a third of that. Runs are interleaved; the fastest of each counts. CPU time, of the
program and its reader, depends less on what else the machine does."""
import itertools
import os
import pathlib
import resource
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "conductor"))
import lib  # pylint: disable=wrong-import-position

SIZE = 100_000_000
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
WORDS = {
    "plain lines": "a line of output that says nothing of interest 12345 abc",
    "lines with progress": "Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.310000",
}
BARS = ("import sys\nfor i in range(1300000):\n"
        " sys.stdout.write('\\r %3d%%|####      | %d/1300000 [00:01<00:01, 95.1it/s, loss=0.31]'"
        " % (i // 13000, i))\n")


def commands(tmp):
    for name, line in WORDS.items():
        path = tmp / "text"
        with open(path, "wb") as out:
            out.write((line + "\n").encode() * (SIZE // (len(line) + 1)))
        # Not cat, which lets the kernel copy a file to a file: a program prints by write(2).
        yield name, f"dd if={path} bs=64k status=none"
    yield "bars of a Python program", f"{sys.executable} {tmp}/bars.py"


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(command):
    """Seconds, and seconds of CPU time."""
    begin, before = time.monotonic(), cpu()
    subprocess.run(command, shell=True, check=True)
    return time.monotonic() - begin, cpu() - before


def through_conductor(bench, command, **spec):
    before = cpu()
    a = bench.attempt(command, log_max_bytes=2 * SIZE, **spec)
    a.wait(600)
    took = time.monotonic() - a.begun
    return took, cpu() - before


def main():
    bench = lib.Bench()
    (bench.tmp / "bars.py").write_text(BARS)
    plain = (bench.tmp / f"plain{i}" for i in itertools.count())
    try:
        for name, command in commands(bench.tmp):
            ways = {
                "file": lambda c=command: timed(f"{c} >{next(plain)}"),
                "cat": lambda c=command: timed(f"{c} | cat >{next(plain)}"),
                "conductor": lambda c=command: through_conductor(bench, c),
                "terminal": lambda c=command: through_conductor(bench, c, pty="yes"),
            }
            best = {way: (1e9, 1e9) for way in ways}
            for _ in range(ROUNDS):
                for way, run in ways.items():
                    best[way] = tuple(map(min, best[way], run()))
            files = list(bench.tmp.glob("plain*"))
            print(f"{name}, {os.path.getsize(files[0]) / 1e6:.0f} MB")
            for path in files:
                path.unlink()
            for way, (took, used) in best.items():
                print(f"    {way:10} {took:6.2f} s, {took / best['file'][0]:5.2f} times a file; "
                      f"CPU {used:6.2f} s, {used / best['file'][1]:5.2f} times", flush=True)
    finally:
        bench.clean()


main()
