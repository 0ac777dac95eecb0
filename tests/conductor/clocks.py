#!/usr/bin/env python3
"""Jumps of the wall clock change nothing. A namespace cannot hold another wall
clock, and nobody wants a test to set the machine's: so the conductor is linked
again, with a clock that jumps by up to a year each time it is read."""
import pathlib
import shutil
import signal
import subprocess
import time

import lib
from lib import ROOT, expect, expect_equal, wait_until

JUMP = """
#include <stdlib.h>
#include <time.h>
int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = __real_clock_gettime(id, t);
    if (id == CLOCK_REALTIME)
        t->tv_sec += rand() % 63072000 - 31536000;
    return rc;
}
"""


def jumpy(bench):
    if not shutil.which("gcc"):
        raise lib.Skip("no gcc")
    source, program = bench.tmp / "jump.c", bench.tmp / "jumpy"
    source.write_text(JUMP)
    sources = [str(p) for d in ("conductor", "protocol", "progress", "base")
               for p in (ROOT / "src" / d).glob("*.c")]
    subprocess.run(["gcc", "@compile_flags.txt", "-w", "-O0", "-o", str(program), str(source),
                    *sources, "-Wl,--wrap=clock_gettime", "-ljansson", "-lpcre2-8", "-lgnutls",
                    "-lm"],
                   cwd=ROOT, check=True)
    return str(program)


def test_limit_grace_and_pace_under_a_jumping_clock(bench):
    program = jumpy(bench)
    server = bench.server()
    trainer = ("trap 'echo yes >warned' USR1; trap '' TERM; i=0;"
               "while :; do i=$((i + 1)); echo step $i/100000; sleep 0.02; done")
    a = bench.attempt(trainer, server=server, program=program, grace_s=1, sample_s=0.2,
                      signal={"number": int(signal.SIGUSR1), "before_s": 0.7})
    a.expect_message("progress")
    server.close()
    a.server = bench.server()
    a.expect_message("progress")
    for count in (5, 10):
        wait_until(lambda n=count: len(a.messages("usage")) > n, what="samples")
    limit = a.set_limit(1.5)
    expect(not (a.dir / "warned").exists(), "warned before its time")
    record = a.wait()
    took = time.monotonic() - a.begun
    expect_equal((record["timeout"], record["signal"]), (True, 9), "record")
    expect(took > limit + 1, f"{took:.2f} s with a limit of {limit:.2f} s and a grace of 1 s")
    expect_equal(a.file("warned"), "yes", "warning")
    stamps = [m["at_us"] for m in a.messages("usage")]
    expect(len(stamps) <= took / 0.2 + 1, f"{len(stamps)} samples in {took:.2f} s")
    expect(stamps != sorted(stamps), "the clock does not jump")
    reports = len(a.messages("progress"))
    expect(reports <= took * 10 + 2, f"{reports} reports in {took:.2f} s")


def test_other_steady_clock(bench):
    """A machine that was booted long ago, or just now."""
    if subprocess.run(["unshare", "--time", "true"], check=False, capture_output=True).returncode:
        raise lib.Skip("no time namespaces")
    for offset in ("100000000", "0"):
        a = bench.attempt("trap '' TERM; echo up >up; while :; do sleep 0.01; done", start=False,
                          server=bench.server(f"s{offset}.sock"), grace_s=0.3)
        a.begun = time.monotonic()
        a.process = subprocess.Popen(
            ["unshare", "--time", "--monotonic", offset, "--boottime", offset, "--fork",
             lib.CONDUCTOR, str(a.dir)], start_new_session=True,
            stderr=open(a.dir / "stderr", "wb"))  # pylint: disable=consider-using-with
        a.file("up")
        limit = a.set_limit(0.3)
        record = a.wait()
        took = time.monotonic() - a.begun
        expect_equal((record["timeout"], record["signal"]), (True, 9), "record")
        expect(took > limit + 0.3, f"{took:.2f} s with a limit of {limit:.2f} s")


def test_only_one_file_reads_clocks(bench):
    """So that wall time cannot slip into a limit."""
    del bench
    for path in (ROOT / "src").glob("**/*.[ch]"):
        text = path.read_text()
        if "clock_gettime" in text or "gettimeofday" in text:
            # The preload library is on its own, and reads no wall time.
            expect(path.relative_to(ROOT).as_posix() in ("src/base/clock.c", "src/malleable/target.c"),
                   f"{path} reads a clock")
    users = sorted(p.name for p in (ROOT / "src" / "conductor").glob("*.c")
                   if "clock_read_wall" in pathlib.Path(p).read_text())
    expect_equal(users, ["conductor.c", "finish.c", "job.c", "notes.c"], "use wall time")


lib.main()
