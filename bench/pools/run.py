#!/usr/bin/env python3
"""What limiting CPUs costs programs with thread pools of their own.

Each program runs with some threads on some CPUs. The limit is enforced in three ways:

  cpuset  as many CPUs as the size needs, and a quota only for a fraction of a CPU
  both    the same CPUs, and always a quota
  quota   all CPUs, and a quota

The result is steps per second as a share of what the best number of threads makes at that
size: 1.00 = nothing is lost. Rounds are short and interleaved; the best of each counts, as
other work on the machine only ever takes away. Needs root and control groups."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

CPUS = sorted(os.sched_getaffinity(0))
PERIOD = 100000


class Group:
    """A control group for one run, in version 1 or 2."""

    def __init__(self):
        top = pathlib.Path("/sys/fs/cgroup")
        self.v2 = (top / "cgroup.controllers").exists()
        name = f"trainyard-bench-{os.getpid()}"
        self.dirs = {c: top / ("" if self.v2 else c) / name for c in ("cpu", "cpuset")}
        for d in self.dirs.values():
            d.mkdir(exist_ok=True)
        if self.v2:
            (top / "cgroup.subtree_control").write_text("+cpu +cpuset")
            self.write("cpu", "cpu.weight", "10000")
        else:
            self.write("cpu", "cpu.shares", "262144")
            mems = (self.dirs["cpuset"].parent / "cpuset.mems").read_text()
            self.write("cpuset", "cpuset.mems", mems)

    def write(self, controller, file, text):
        (self.dirs[controller] / file).write_text(text)

    def limit(self, size, method):
        n = len(CPUS) if method == "quota" else min(len(CPUS), -(-int(size * 1000) // 1000))
        needs = method != "cpuset" or size != int(size)
        self.write("cpuset", "cpuset.cpus", ",".join(map(str, CPUS[-n:])))
        quota = int(size * PERIOD) if needs else -1
        if self.v2:
            self.write("cpu", "cpu.max", f"{quota if needs else 'max'} {PERIOD}")
        else:
            self.write("cpu", "cpu.cfs_quota_us", str(quota))

    def run(self, command, env):
        def join():
            for d in self.dirs.values():
                (d / "cgroup.procs").write_text("0")
        done = subprocess.run(command, env={**os.environ, **env}, preexec_fn=join, check=True,
                              capture_output=True, text=True)
        return float(re.search(r"([\d.]+) (steps|words)/s", done.stdout + done.stderr)[1])

    def close(self):
        for d in set(self.dirs.values()):
            d.rmdir()


def programs(build, seconds):
    """name -> function of a number of threads that gives command and environment"""
    found = {
        "pthreads": lambda n: ([build / "pool", str(n), seconds], {}),
        "Eigen": lambda n: ([build / "eigen", str(n), seconds], {}),
    }
    if shutil.which("java"):
        found["Java"] = lambda n: (["java", "-cp", str(build), "Pool", str(n), seconds], {})
    if (build / "pool-go").exists():
        found["Go"] = lambda n: ([build / "pool-go", seconds], {"GOMAXPROCS": str(n)})
    return found


def measure(group, chosen, sizes, counts, methods, rounds):
    best = {}
    for number in range(rounds):
        for name, program in chosen.items():
            for size in sizes:
                for n in counts:
                    for method in methods:
                        group.limit(size, method)
                        speed = group.run(*program(n))
                        key = name, size, n, method
                        best[key] = max(best.get(key, 0), speed)
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return best


def table(best, chosen, sizes, counts, methods):
    print(f"{'pool':10} {'CPUs':>5} {'best':>9} " +
          " ".join(f"{n:>2} {m:6}" for n in counts for m in methods))
    for name in chosen:
        for size in sizes:
            top = max(best[name, size, n, m] for n in counts for m in methods)
            print(f"{name:10} {size:5} {top:9.1f} " +
                  " ".join(f"{best[name, size, n, m] / top:9.2f}" for n in counts for m in methods))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", default="0.7")
    p.add_argument("--threads", default="1,2,4")
    p.add_argument("--sizes", default="0.5,1,1.5,2")
    p.add_argument("--methods", default="cpuset,both,quota")
    p.add_argument("--only", default="")
    o = p.parse_args()
    sizes = [float(s) for s in o.sizes.split(",")]
    counts = [int(n) for n in o.threads.split(",")]
    methods = o.methods.split(",")
    chosen = {k: v for k, v in programs(o.build, o.seconds).items()
              if not o.only or k in o.only.split(",")}
    group = Group()
    try:
        best = measure(group, chosen, sizes, counts, methods, o.rounds)
    finally:
        group.close()
    table(best, chosen, sizes, counts, methods)


main()
