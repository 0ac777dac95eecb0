"""Measures what a job's output costs it: the time to print about 100 MB through the conductor, by a
pipe and by a terminal, compared with printing it to a file, and with `| cat >file`, which is the
least that reading it costs. Every run writes a new file, as a job's log is one: to write over an
old one costs a third of that. Runs are interleaved; the fastest of each counts. The goal is about
elapsed time; CPU time, of the program and its reader, depends less on what else the machine does.

    bench/output.py [ROUNDS [WORDS]]     only ways to print whose name has these words"""
import itertools
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "conductor"))
import lib  # pylint: disable=wrong-import-position

SIZE = 100_000_000
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
LINES = str((pathlib.Path(os.environ.get("BUILD", "build")) / "libtrainyard-lines.so").resolve())
WANTED = sys.argv[2] if len(sys.argv) > 2 else ""
WORDS = {
    "plain lines": "a line of output that says nothing of interest 12345 abc",
    "lines with progress": "Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.310000",
}
BARS = ("import sys\nfor i in range(1300000):\n"
        " sys.stdout.write('\\r %3d%%|####      | %d/1300000 [00:01<00:01, 95.1it/s, loss=0.31]'"
        " % (i // 13000, i))\n")


# By the C library, which the job's environment makes print line by line.
PRINTF = """#include <stdio.h>
int main(void) { for (int i = 0; i < 1700000; i++) printf("%s\\n", LINE); return 0; }
"""
PYTHON = "for i in range({n}):\n print('{line}')\n"


def by_printf(tmp, name, line):
    """A C program that prints the line with printf; None without a compiler."""
    if not shutil.which("gcc"):
        return None
    path = tmp / name.replace(" ", "-")
    path.with_suffix(".c").write_text(PRINTF)
    quoted = line.replace("\t", "\\t")
    subprocess.run(["gcc", "-O2", f'-DLINE="{quoted}"', "-o", path, path.with_suffix(".c")],
                   check=True)
    return str(path)


def commands(tmp):
    for name, line in WORDS.items():
        path = tmp / "text"
        with open(path, "wb") as out:
            out.write((line + "\n").encode() * (SIZE // (len(line) + 1)))
        # Not cat, which lets the kernel copy a file to a file: a program prints by write(2).
        yield name, f"dd if={path} bs=64k status=none"
        yield f"{name} by printf", by_printf(tmp, name, line)
        script = tmp / f"{name.split(maxsplit=1)[0]}.py"
        escaped = line.replace("\t", "\\t")
        script.write_text(PYTHON.format(n=SIZE // (len(line) + 1) // 4, line=escaped))
        yield f"{name} by Python, a quarter of it", f"{sys.executable} {script}"
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
            if not command or WANTED not in name:
                continue
            ways = {
                "file": lambda c=command: timed(f"{c} >{next(plain)}"),
                "cat": lambda c=command: timed(f"{c} | cat >{next(plain)}"),
                "conductor": lambda c=command: through_conductor(bench, c, lines=LINES),
                "terminal": lambda c=command: through_conductor(bench, c, pty="yes"),
            }
            best = {way: (1e9, 1e9) for way in ways}
            for _ in range(ROUNDS):
                for way, run in ways.items():
                    if way == "terminal" and best[way][0] < 1e9:
                        continue  # an order of magnitude slower: once is enough
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
