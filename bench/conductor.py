"""Measures the conductor: the time from its start to the first instruction of the command,
compared with a command that is started directly; and bytes per second through the log,
compared with a pipe into a file. Uses the fixtures of its tests."""
import os
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "conductor"))
import lib  # pylint: disable=wrong-import-position

CLOCK = """
#include <stdio.h>
#include <time.h>
int main(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    printf("%ld.%09ld\\n", (long)t.tv_sec, t.tv_nsec);
    return 0;
}
"""
ROUNDS = 50
BYTES = 500_000_000


def measure_start(bench):
    clock, source = str(bench.tmp / "clock"), bench.tmp / "clock.c"
    source.write_text(CLOCK)
    subprocess.run(["gcc", "-O2", "-static", "-o", clock, str(source)], check=True)
    try:
        groups = bench.cgroup_v1("cpu", "cpuacct", "memory", "freezer", "pids")
    except lib.Skip:
        groups = []
    rows = {"directly": [], "with a conductor": [], f"in {len(groups)} cgroups": []}
    direct, plain, grouped = rows.values()
    for _ in range(ROUNDS):
        begin = time.monotonic()
        out = subprocess.run([clock], capture_output=True, text=True, check=True).stdout
        direct.append(float(out) - begin)
        for times, cgroup in ((plain, []), (grouped, groups)):
            a = bench.attempt([clock], start=False, cgroup=cgroup)
            a.start()
            a.wait()
            times.append(float(a.log()) - a.begun)
    for name, times in rows.items():
        times.sort()
        print(f"start to first instruction, {name:16} median {statistics.median(times) * 1e3:6.2f}"
              f" ms, 95 % within {times[ROUNDS * 95 // 100] * 1e3:6.2f} ms")


def measure_log(bench):
    command = f"head -c {BYTES} /dev/zero"
    begin = time.monotonic()
    subprocess.run(f"{command} | cat >{bench.tmp}/plain", shell=True, check=True)
    plain = time.monotonic() - begin
    os.unlink(bench.tmp / "plain")
    a = bench.attempt(command, log_max_bytes=BYTES // 5)
    a.wait()
    took = time.monotonic() - a.begun
    print(f"output, MB/s: {BYTES / plain / 1e6:.0f} through cat into a file, "
          f"{BYTES / took / 1e6:.0f} through the conductor, which reads every line")


def main():
    bench = lib.Bench()
    try:
        measure_start(bench)
        measure_log(bench)
    finally:
        bench.clean()


main()
