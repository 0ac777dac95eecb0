"""Ten programs of Debian's packages, one every few seconds: task-spooler, fixed sizes and the
default policy. Is elastic better for the user?

No program is told how many threads to use, except where the arrangement says so."""
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import lab
import plot

GAPS = (2, 6)  # seconds from one arrival to the next
FIT = ["/usr/bin/python3", str(lab.HERE / "fit.py")]
DEFAULT = "elastic, the default"


def missing():
    """What this experiment needs besides the others; empty if nothing is missing."""
    for program, package in (("tsp", "task-spooler"), ("xgboost", "xgboost"),
                             ("fasttext", "fasttext"), ("Rscript", "r-base-core")):
        if not shutil.which(program):
            return f"{package} is not installed"
    for command, package in (([lab.PYTHON, "-c", "import sklearn"], "python3-sklearn"),
                             ([lab.PYTHON, "-c", "import xgboost"], "python3-xgboost"),
                             (["Rscript", "-e", "library(nnet)"], "r-cran-nnet")):
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return f"{package} is not installed"
    return ""


# ---- the programs

def write_data(folder):
    r = random.Random(1)
    with open(folder / "table.txt", "w", encoding="ascii") as f:
        for _ in range(6000):
            x = [r.gauss(0, 1) for _ in range(20)]
            row = " ".join(f"{i}:{v:.3f}" for i, v in enumerate(x))
            f.write(f"{int(x[0] * x[1] + x[2] > 0)} {row}\n")
    with open(folder / "text.txt", "w", encoding="ascii") as f:
        for i in range(8000):
            words = " ".join(f"w{int(r.paretovariate(1)) % 3000}" for _ in range(20))
            f.write(f"__label__{i % 5} {words}\n")


def commands(folder, size):
    """Name and command of each program, of a few seconds at size 1."""
    def count(n):
        return str(max(2, round(n * size)))

    table = f"data={folder}/table.txt?format=libsvm"
    return (("torch-mlp", lab.train("mlp", count(120))),
            ("xgboost", ["xgboost", "/dev/null", table, "objective=binary:logistic",
                         f"num_round={count(300)}", f"model_out={folder}/model"]),
            ("fasttext", ["fasttext", "supervised", "-input", f"{folder}/text.txt", "-output",
                          f"{folder}/vectors", "-epoch", count(60)]),
            ("sklearn-mlp", [*FIT, "mlp", "--size", str(size)]),
            ("r-nnet", ["Rscript", str(lab.HERE / "nnet.R"), count(100)]),
            ("torch-cnn", lab.train("cnn", count(100))),
            ("sklearn-forest", [*FIT, "forest", "--size", str(size)]),
            ("xgboost-python", [*FIT, "xgboost", "--size", str(size)]),
            ("torch-gru", lab.train("gru", count(60))),
            ("sklearn-kmeans", [*FIT, "kmeans", "--size", str(size)]))


# ---- the arrangements

class Result:
    """One stream: times in seconds."""

    def __init__(self, makespan, completions, resizes=0):
        self.makespan, self.completions, self.resizes = makespan, completions, resizes
        self.mean = statistics.mean(completions.values())


def run_tsp(works, gap, **environment):
    """task-spooler with a slot for each CPU, in a directory of its own."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-tsp-"))
    env = {**os.environ, **lab.environment(**environment), "TS_SOCKET": str(folder / "socket"),
           "TMPDIR": str(folder)}
    stamp = 'end=$1; shift; "$@"; code=$?; date +%s.%N >"$end"; exit $code'
    try:
        subprocess.run(["tsp", "-S", str(lab.CPUS)], env=env, check=True)
        start, submitted = time.time(), {}
        for i, (name, command) in enumerate(works):
            time.sleep(max(0, start + i * gap - time.time()))
            submitted[name] = time.time()
            subprocess.run(["tsp", "sh", "-c", stamp, "sh", str(folder / name), *command], env=env,
                           check=True, stdout=subprocess.DEVNULL)
        ends = {name: wait_for_end(folder / name) for name, _ in works}
        if "E-Level" not in listed(env) or any(code != "0" for code in codes(env)):
            raise SystemExit(f"a program failed under task-spooler:\n{listed(env)}")
    finally:
        subprocess.run(["tsp", "-K"], env=env, check=False)
        shutil.rmtree(folder, ignore_errors=True)
    return Result(max(ends.values()) - start, {n: ends[n] - submitted[n] for n in ends})


def listed(env):
    return subprocess.run(["tsp"], env=env, check=True, capture_output=True, text=True).stdout


def codes(env):
    """The exit codes of what tsp has run, which is listed as finished."""
    rows = [line.split() for line in listed(env).splitlines()[1:]]
    return [row[3] for row in rows if row[1] == "finished"]


def wait_for_end(path):
    deadline = time.monotonic() + lab.PATIENCE
    while time.monotonic() < deadline:
        text = path.read_text() if path.exists() else ""
        if text.endswith("\n"):
            return float(text)
        time.sleep(0.02)
    raise SystemExit(f"{path.name} does not end")


def run_yard(works, gap, policy, cpus):
    jobs = [lab.Job(name, i * gap, command, cpus) for i, (name, command) in enumerate(works)]
    outcome = lab.stream(policy, jobs)
    return Result(outcome.makespan, {row["job"]: row["completion"] for row in outcome.rows},
                  outcome.resizes)


def arrangements():
    most = lab.CPUS
    return {
        f"tsp -S {most}": run_tsp,
        f"tsp -S {most}, one thread each": lambda w, g: run_tsp(w, g, OMP_NUM_THREADS="1"),
        "static, 1 CPU each": lambda w, g: run_yard(w, g, "fifo", "1"),
        f"static, {most} CPUs each": lambda w, g: run_yard(w, g, "fifo", str(most)),
        DEFAULT: lambda w, g: run_yard(w, g, None, f"1-{most}"),
    }


# ---- the report

def note(what, result):
    """The experiment takes long: says what has been measured."""
    print(f"{what}: makespan {result.makespan:.1f} s, mean {result.mean:.1f} s, "
          f"{result.resizes} resizes", file=sys.stderr, flush=True)


def compare(found):
    """Whether the default is as good as each other arrangement within the spread: its best run is
    no worse than the worst run of the other, and its median is at most 5 % above."""
    ours, lines = found[DEFAULT], []
    for name, theirs in found.items():
        if name == DEFAULT:
            continue
        cells = []
        for what in ("makespan", "mean"):
            a = lab.Figure(getattr(r, what) for r in ours)
            b = lab.Figure(getattr(r, what) for r in theirs)
            word = "as good" if a.low <= b.high and a.median <= 1.05 * b.median else "WORSE"
            cells.append(f"{a.median / b.median:.2f}, {word}")
        lines.append((f"against {name}", *cells))
    return lines


def run(o):
    lacks = missing()
    if lacks:
        raise lab.Lacking(lacks)
    size, repeats = (0.3, o.repeat or 1) if o.short else (1, o.repeat or 3)
    size *= o.scale or 1
    found = {gap: {name: [] for name in arrangements()} for gap in GAPS}
    with tempfile.TemporaryDirectory(prefix="trainyard-programs-") as tmp:
        folder = pathlib.Path(tmp)
        write_data(folder)
        works = commands(folder, size)
        for _ in range(repeats):
            for gap in GAPS:
                for name, stream in arrangements().items():
                    found[gap][name].append(stream(works, gap * size))
                    note(f"one every {gap * size:g} s, {name}", found[gap][name][-1])
    return report(found, size)


def report(found, size):
    r = lab.Report("Ten programs of Debian's packages")
    for gap, results in found.items():
        title = f"One every {gap * size:g} s; seconds, median (min-max)"
        r.table(title, ["", "makespan", "mean completion", "resizes"],
                [(name, lab.Figure(x.makespan for x in runs).text(),
                  lab.Figure(x.mean for x in runs).text(),
                  lab.Figure(x.resizes for x in runs).text(0)) for name, runs in results.items()])
        r.table(f"One every {gap * size:g} s; the default's share of the time of each",
                ["", "makespan", "mean completion"], compare(results))
    names = list(arrangements())
    r.files["programs.svg"] = plot.bars(
        "Ten programs, by arrangement", "s", names,
        [(f"{what}, one every {gap * size:g} s",
          [("", {name: lab.Figure(getattr(x, key) for x in found[gap][name]) for name in names})])
         for gap in found for what, key in (("makespan", "makespan"), ("mean", "mean"))])
    r.files["programs.csv"] = lab.to_csv(
        [{"gap": gap * size, "arrangement": name, "repeat": i, "job": job,
          "completion": round(seconds, 3)}
         for gap, results in found.items() for name, runs in results.items()
         for i, x in enumerate(runs) for job, seconds in x.completions.items()])
    return r
