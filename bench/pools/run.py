#!/usr/bin/env python3
"""What limiting CPUs costs programs with thread pools of their own.

Each program runs with some threads on some CPUs. The limit is enforced in one of these ways:

  cpuset   as many CPUs as the size needs, and a quota only for a fraction of a CPU
  both     the same CPUs, and always a quota
  quota    all CPUs, and a quota
  library  like cpuset, with the malleable library and its order

The result is work per second of CPU time, as a share of that of the best number of threads at
that size, however limited: 1.00 = nothing is lost. Time is not measured by the clock, because
others use the machine, too; these programs use all the CPU time that they may. Rounds are
short and interleaved, and the median counts. Needs root and control groups."""
import argparse
import os
import pathlib
import random
import re
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

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
        """Work per CPU second as the program says, or runs per CPU second."""
        def join():
            for d in self.dirs.values():
                (d / "cgroup.procs").write_text("0")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, env={**os.environ, **env}, preexec_fn=join, check=True,
                              capture_output=True, text=True)
        said = re.search(r"([\d.]+) steps per CPU", done.stdout)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return float(said[1]) if said else 1 / used

    def close(self):
        for d in set(self.dirs.values()):
            d.rmdir()


def make_data(tmp):
    """Made-up examples for XGBoost and fastText."""
    chance = random.Random(1)
    with open(tmp / "rows", "w", encoding="ascii") as f:
        for _ in range(10000):
            x = [chance.random() for _ in range(20)]
            print(int(x[0] + x[1] * x[2] > 0.8), *(f"{i}:{v:.3f}" for i, v in enumerate(x)), file=f)
    (tmp / "conf").write_text("objective = binary:logistic\nnum_round = 10\n"
                              f"model_out = /dev/null\ndata = \"{tmp}/rows\"\n")
    words = [f"w{i}" for i in range(2000)]
    with open(tmp / "text", "w", encoding="ascii") as f:
        for _ in range(20000):
            print(f"__label__{chance.randrange(3)}", *chance.choices(words, k=20), file=f)


def programs(build, tmp, seconds):
    """name -> function of a number of threads that gives command and environment"""
    found = {
        "pthreads": lambda n: ([build / "pool", str(n), seconds], {}),
        "Eigen": lambda n: ([build / "eigen", str(n), seconds], {}),
        "Java": lambda n: (["java", "-cp", str(build), "Pool", str(n), seconds], {}),
        "Go": lambda n: ([build / "pool-go", seconds], {"GOMAXPROCS": str(n)}),
        "fastText": lambda n: (["fasttext", "supervised", "-input", tmp / "text", "-output",
                                tmp / "model", "-thread", str(n), "-epoch", "5"], {}),
        "XGBoost": lambda n: (["xgboost", tmp / "conf", f"nthread={n}"], {}),
    }
    needs = {"Java": "java", "Go": build / "pool-go", "fastText": "fasttext", "XGBoost": "xgboost"}
    missing = [k for k, what in needs.items() if not shutil.which(what)]
    if missing:
        print("not here:", ", ".join(missing), file=sys.stderr)
    return {k: v for k, v in found.items() if k not in missing}


def with_library(library, tmp, size, command, env):
    """The order is as the server gives it: whole threads, at least one."""
    page = bytearray(4096)
    struct.pack_into("<8sII", page, 0, b"trnyard1", 1, 4096)
    struct.pack_into("<II", page, 64, max(1, int(size)), 1)
    (tmp / "page").write_bytes(page)
    return command, {**env, "LD_PRELOAD": str(library), "TRAINYARD_CONTROL": str(tmp / "page")}


def measure(group, run, chosen, sizes, counts, methods, rounds):
    all_runs = {}
    for number in range(rounds):
        for name, program in chosen.items():
            for size in sizes:
                for n in counts:
                    for method in methods:
                        group.limit(size, "cpuset" if method == "library" else method)
                        speed = run(program(n), size, method)
                        all_runs.setdefault((name, size, n, method), []).append(speed)
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return {k: statistics.median(v) for k, v in all_runs.items()}


def table(speed, chosen, sizes, counts, methods):
    print(f"{'pool':10} {'CPUs':>5} {'best':>9} " +
          " ".join(f"{n:>2} {m:7}" for n in counts for m in methods))
    for name in chosen:
        for size in sizes:
            top = max(speed[name, size, n, m] for n in counts for m in methods)
            print(f"{name:10} {size:5} {top:9.1f} " +
                  " ".join(f"{speed[name, size, n, m] / top:10.2f}" for n in counts for m in methods))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", default="0.7")
    p.add_argument("--threads", default="1,2,4")
    p.add_argument("--sizes", default="0.5,1,1.5,2")
    p.add_argument("--methods", default="cpuset,quota,library")
    p.add_argument("--only", default="", help="names of pools, with commas")
    p.add_argument("--library", type=pathlib.Path, required=True)
    o = p.parse_args()
    sizes = [float(s) for s in o.sizes.split(",")]
    counts = [int(n) for n in o.threads.split(",")]
    methods = o.methods.split(",")
    with tempfile.TemporaryDirectory() as name:
        tmp = pathlib.Path(name)
        make_data(tmp)
        chosen = {k: v for k, v in programs(o.build, tmp, o.seconds).items()
                  if not o.only or k in o.only.split(",")}
        group = Group()

        def run(program, size, method):
            if method == "library":
                program = with_library(o.library.resolve(), tmp, size, *program)
            return group.run(*program)

        try:
            speed = measure(group, run, chosen, sizes, counts, methods, o.rounds)
        finally:
            group.close()
    table(speed, chosen, sizes, counts, methods)


main()
