"""What the experiments share: their own server, streams of training jobs, and figures with
median and range."""
import csv
import io
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
os.environ.setdefault("BUILD", str(ROOT / "build"))
os.environ.setdefault("TRAINYARD_TORCHRUN", str(ROOT / "python" / "trainyard_torchrun.py"))
sys.path.insert(0, str(ROOT / "tests" / "support"))
import live  # noqa: E402  pylint: disable=wrong-import-position

PYTHON = "/usr/bin/python3"  # Debian's python3-torch belongs to this one
BLAS = "/usr/lib/x86_64-linux-gnu/openblas-openmp"
CPUS = len(os.sched_getaffinity(0))
PATIENCE = 900


class Lacking(Exception):
    """An experiment needs something that is not installed."""


def missing():
    """What the experiments need and do not find; empty if nothing is missing."""
    if not os.path.isdir(BLAS):
        return "libopenblas0-openmp is not installed"
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode:
        return "python3-torch is not installed"
    if not (live.BUILD / "trainyard").exists():
        return f"{live.BUILD}/trainyard is not built"
    return ""


def machine():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
        model = re.search(r"model name\s*:\s*(.*)", f.read())
    name = re.sub(r"\s+", " ", model.group(1)) if model else "CPU"
    return f"{CPUS} CPUs ({name}), Linux {os.uname().release}"


def busy(seconds=1):
    """The share of CPU time that other processes use right now."""
    def read():
        with open("/proc/stat", encoding="ascii") as f:
            times = [int(word) for word in f.readline().split()[1:]]
        return sum(times), times[3] + times[4]

    before = read()
    time.sleep(seconds)
    total, idle = (b - a for a, b in zip(before, read()))
    return 1 - idle / max(total, 1)


# ---- programs

FINE = "fine"
MODELS = ("mlp", "cnn", "vae", "gru")


def build_fine():
    """Builds the program with fine-grained OpenMP if needed; returns its path."""
    source, program = HERE / "fine.c", live.BUILD / "bench" / "live" / "fine"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-fopenmp", "-o", str(program),
                        str(source)], check=True)
    return str(program)


def train(model, steps, times=None):
    """The command that trains it; the time of each step goes to the file `times`."""
    if model == FINE:
        return [build_fine(), str(steps), *([times] if times else [])]
    return [PYTHON, str(HERE / "train.py"), model, "--steps", str(steps),
            *(["--times", times] if times else [])]


def environment(**more):
    return {"LD_LIBRARY_PATH": BLAS, **more}


def read_times(path):
    """[(step, monotonic seconds)] as a program has written them so far."""
    try:
        with open(path, encoding="ascii") as f:
            lines = f.read().rsplit("\n", 1)[0].split("\n")
    except FileNotFoundError:
        return []
    return [(int(step), float(at)) for step, at in (line.split() for line in lines if line)]


class Solo:
    """Each model alone on all CPUs, or on as many as it is told: the time until its first step, and
    the time per step. Measured once, so that jobs can be given a certain length on this machine."""

    def __init__(self, seconds, cpus=f"1-{CPUS}"):
        self.seconds = seconds
        self.cpus = cpus
        self.known = {}

    def measure(self, model):
        with tempfile.TemporaryDirectory(prefix="trainyard-live-") as tmp, live.Yard() as yard:
            yard.start()
            path = os.path.join(tmp, "times")
            start = time.monotonic()
            job = yard.submit(train(model, 1000000, path), cpus=self.cpus, env=environment(), name=model)
            live.wait_until(lambda: len(read_times(path)) > 3 and
                            read_times(path)[-1][1] - read_times(path)[1][1] > self.seconds)
            times = read_times(path)
            yard.cancel(job)
            yard.wait_for(job, "cancelled")
        ends = [at for _, at in times[1:]]  # the first step also sets things up
        return times[0][1] - start, statistics.median(b - a for a, b in zip(ends, ends[1:]))

    def __getitem__(self, model):
        if model not in self.known:
            self.known[model] = self.measure(model)
        return self.known[model]

    def steps(self, model, seconds):
        """The number of steps that fill these seconds, including the start of the program."""
        start, step = self[model]
        return max(10, round((seconds - start) / step))


# ---- streams of jobs

class Job:
    def __init__(self, name, at, command, cpus):
        self.name, self.at, self.command, self.cpus = name, at, command, cpus


class Outcome:
    """The result of a stream: times in seconds since its start."""

    def __init__(self, yard, start, ids, jobs):
        views = [yard.job(i) for i in ids]
        bad = [v for v in views if v["state"] != "done"]
        if bad:
            raise SystemExit(f"job {bad[0]['name']} is {bad[0]['state']}: {bad[0]['reason']}\n"
                             f"{yard.logs(bad[0]['id'])[-2000:]}")
        self.rows = [{"job": job.name, "submit": view["submitted"] - start,
                      "start": view["started"] - start, "end": view["ended"] - start,
                      "completion": view["ended"] - view["submitted"],
                      "cpu": sum(a["cpu_s"] for a in view["attempts"])}
                     for job, view in zip(jobs, views)]
        self.makespan = max(row["end"] for row in self.rows)
        self.mean = statistics.mean(row["completion"] for row in self.rows)
        self.use = sum(row["cpu"] for row in self.rows) / (self.makespan * CPUS)
        self.resizes = sum(size["why"] not in ("start", "end") for view in views
                           for size in view["sizes"])
        self.usage = {job.name: usage(yard.get(f"/jobs/{i}/progress")["samples"], start)
                      for job, i in zip(jobs, ids)}

    def completion(self, name):
        return next(row["completion"] for row in self.rows if row["job"] == name)


def usage(samples, start):
    """CPUs used over time: [(seconds, CPUs)], from the samples of CPU time."""
    points = [(s["at"] - start, s["cpu_s"]) for s in samples if s["cpu_s"] is not None]
    out = []
    for (a, before), (b, after) in zip(points, points[1:]):
        if after > before and b - a > 0.2:
            out.append((b, (after - before) / (b - a)))
    return out


def stream(policy, jobs):
    """Runs the jobs, each submitted at its time, under the policy (None: the default) on its own
    server."""
    with live.Yard(*(["--policy", policy] if policy else [])) as yard:
        yard.start()
        start, began, ids = time.time(), time.monotonic(), []
        for job in jobs:
            time.sleep(max(0, began + job.at - time.monotonic()))
            ids.append(yard.submit(job.command, cpus=job.cpus, env=environment(), name=job.name))
        yard.wait_all(PATIENCE)
        return Outcome(yard, start, ids, jobs)


def outcome_rows(outcomes, **columns):
    """Lines of raw data, one per job."""
    return [{**columns, **{k: v if isinstance(v, str) else round(v, 3) for k, v in row.items()}}
            for outcome in outcomes for row in outcome.rows]


# ---- figures

class Figure:
    """A measurement that was repeated."""

    def __init__(self, values):
        self.values = list(values)
        self.median = statistics.median(self.values)
        self.low, self.high = min(self.values), max(self.values)

    def text(self, digits=1):
        if len(self.values) == 1:
            return f"{self.median:.{digits}f}"
        to = "-" if self.low >= 0 else " to "
        return f"{self.median:.{digits}f} ({self.low:.{digits}f}{to}{self.high:.{digits}f})"


def percent(new, old):
    return 100 * (new / old - 1)


def to_csv(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


class Report:
    """The results of an experiment: tables to print, drawings and raw data to keep."""

    def __init__(self, heading):
        self.heading = heading
        self.parts = []
        self.files = {}  # name: text

    def table(self, title, header, rows):
        self.parts.append((title, [header, *[[str(cell) for cell in row] for row in rows]]))

    def text(self):
        out = [self.heading]
        for title, rows in self.parts:
            widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
            out += ["", title]
            out += ["  " + "  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in
                                     enumerate(zip(row, widths))) for row in rows]
        return "\n".join(out)

    def markdown(self):
        out = []
        for title, (header, *rows) in self.parts:
            out += [f"{title}:", "", "| " + " | ".join(header) + " |",
                    "|---" + "|---:" * (len(header) - 1) + "|"]
            out += ["| " + " | ".join(row) + " |" for row in rows] + [""]
        return "\n".join(out)
