#!/usr/bin/env python3
"""Programs of others, as Debian packages them, grow and shrink 100 times: none dies, and
each gives the result that it gave at first. run-tests: no asan"""
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

import lib
from lib import JOBS, SOURCES, Page, Skip, expect

PYTHON = "/usr/bin/python3"
CHANGES, PAUSE = 100, 0.02
CPUS = sorted(os.sched_getaffinity(0))[:2]


def family(pid):
    """A process and all below it."""
    yield pid
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from family(int(child))


def put_on(pid, cpus):
    """All threads, as the server does where there are no control groups. Any of them may
    end meanwhile."""
    try:
        for process in family(pid):
            for thread in os.listdir(f"/proc/{process}/task"):
                os.sched_setaffinity(int(thread), cpus)
    except (ProcessLookupError, FileNotFoundError):
        pass


def change_size(process, page, size):
    """As the server does: first the CPUs, then the order."""
    put_on(process.pid, CPUS[:size])
    page.order(size)


def survive(tmp, command, cwd=None, ready=b"ready", **env):
    """Begins on one CPU and changes when the program has begun to work."""
    if len(CPUS) < 2:
        raise Skip("needs two CPUs")
    page = Page(tmp / "page", 1, 2)
    with tempfile.TemporaryFile() as errors, subprocess.Popen(
            ["taskset", "-c", str(CPUS[0]), "env", f"LD_PRELOAD={lib.preload()}",
             *map(str, command)], env={**lib.environment(page, threads=2, **env), "LD_PRELOAD": ""},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd=cwd) as p:
        drain = subprocess.Popen(["cat"], stdin=p.stdout, stdout=subprocess.DEVNULL) \
            if not ready else None
        try:
            while ready and ready not in (line := p.stdout.readline()):
                expect(line, f"ended before it began: {read(errors)}")
            flip(p, page)
            expect(p.poll() is None, f"died with {p.returncode}: {read(errors)}")
            if ready:
                p.stdin.write(b"end\n")
                p.stdin.close()
                expect(p.wait(lib.PATIENCE) == 0, f"ended with {p.returncode}: {read(errors)}")
        finally:
            p.kill()
            if drain:
                drain.wait()


def flip(process, page):
    chance = random.Random(1)
    for i in range(CHANGES):
        change_size(process, page, 2 - i % 2)
        time.sleep(PAUSE * chance.random() * 2)
        if process.poll() is not None:
            return


def read(errors):
    errors.seek(0)
    return errors.read().decode(errors="replace")[-600:]


def python_job(tmp, name, module, package, **env):
    if subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True,
                      check=False).returncode:
        raise Skip(f"{PYTHON} has no {module} (Debian: {package})")
    survive(tmp, [PYTHON, SOURCES / "programs_job.py", name], **env)


def need(command, package):
    if not shutil.which(command):
        raise Skip(f"no {command} (Debian: {package})")


def rows(n):
    """Made-up examples with 20 numbers and a class."""
    chance = random.Random(1)
    for _ in range(n):
        x = [chance.random() for _ in range(20)]
        yield int(x[0] + x[1] * x[2] > 0.8), x


def test_xgboost_program(tmp):
    need("xgboost", "xgboost")
    text = "".join(f"{y} {' '.join(f'{i}:{v:.3f}' for i, v in enumerate(x))}\n"
                   for y, x in rows(3000))
    (tmp / "train").write_text(text)
    (tmp / "conf").write_text("booster = gbtree\nobjective = binary:logistic\nmax_depth = 6\n"
                              "num_round = 1000000\nsave_period = 0\ndata = \"train\"\n")
    survive(tmp, ["xgboost", "conf"], cwd=tmp, ready=b"")


def test_xgboost_in_python(tmp):
    python_job(tmp, "xgboost", "xgboost", "python3-xgboost")


def test_scikit_learn_boosting(tmp):
    python_job(tmp, "boosting", "sklearn", "python3-sklearn")


def test_scikit_learn_kmeans(tmp):
    python_job(tmp, "kmeans", "sklearn", "python3-sklearn")


def test_scikit_learn_forest(tmp):
    python_job(tmp, "forest", "sklearn", "python3-sklearn")


def test_joblib_with_processes(tmp):
    python_job(tmp, "loky", "joblib", "python3-joblib")


def test_threadpoolctl(tmp):
    python_job(tmp, "threadpoolctl", "threadpoolctl", "python3-threadpoolctl")


def test_numexpr(tmp):
    python_job(tmp, "numexpr", "numexpr", "python3-numexpr")


def test_opencv(tmp):
    python_job(tmp, "opencv", "cv2", "python3-opencv")


def test_r(tmp):
    need("Rscript", "r-base-core")
    script = """library(parallel); n <- detectCores(); cat("ready\\n")
      end <- file("stdin", "r", blocking = FALSE)
      while (length(readLines(end, 1)) == 0) {
        a <- matrix(runif(40000), 200)
        stopifnot(max(abs(a %*% solve(a) - diag(200))) < 1e-3, detectCores() == n,
                  identical(unlist(mclapply(1:4, sqrt, mc.cores = 2)), sqrt(1:4)))
      }"""
    survive(tmp, ["Rscript", "-e", script])


def test_java(tmp):
    need("javac", "default-jdk-headless")
    subprocess.run(["javac", "-d", tmp, SOURCES / "Programs.java"], check=True)
    survive(tmp, ["java", "-cp", tmp, "Programs"])


def test_go(tmp):
    need("go", "golang-go")
    subprocess.run(["go", "build", "-o", tmp / "programs", SOURCES / "programs.go"], check=True,
                   env={**os.environ, "GOCACHE": str(tmp / "cache"), "HOME": str(tmp)})
    survive(tmp, [tmp / "programs"])


def test_tbb(tmp):
    if not (JOBS / "tbb").exists():
        raise Skip("no oneTBB (Debian: libtbb-dev)")
    survive(tmp, [JOBS / "tbb"])


def test_fasttext(tmp):
    need("fasttext", "fasttext")
    chance = random.Random(1)
    words = [f"w{i}" for i in range(2000)]
    (tmp / "text").write_text("".join(f"__label__{chance.randrange(3)} "
                                      f"{' '.join(chance.choices(words, k=20))}\n"
                                      for _ in range(5000)))
    survive(tmp, ["fasttext", "supervised", "-input", "text", "-output", "model", "-thread", "2",
                  "-epoch", "100000"], cwd=tmp, ready=b"")


lib.main()
