#!/usr/bin/env python3
# run-tests: no asan
"""The Python package: imported in jobs without installation, installed with pip, and its client."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from live import Skip, Yard, expect, expect_equal, wait_until

PACKAGE = live.ROOT / "python"
sys.path.insert(0, str(PACKAGE))
sys.dont_write_bytecode = True
import trainyard

LOOP = "import trainyard, time\nfor i in trainyard.track(range(150)):\n" \
       "    trainyard.report(loss=1 / (i + 1)); time.sleep(0.02)\nprint('trained')"


def client_of(yard):
    return trainyard.Client(str(yard.socket))


def test_import_in_a_job(yard):
    """Without installation; what the job has in PYTHONPATH comes first, and it may object."""
    job = yard.submit([sys.executable, "-c", LOOP])
    done = yard.wait_for(job)
    expect_equal(done["state"], "done", yard.logs(job))
    expect_equal((done["progress"]["step"], done["progress"]["source"]), (150, "file"), done["progress"])
    where = [sys.executable, "-c", "import os; print(os.environ.get('PYTHONPATH'))"]
    own = yard.submit(where, env={"PYTHONPATH": "/mine"})
    yard.wait_for(own)
    expect_equal(yard.logs(own).strip(), f"/mine:{PACKAGE}")
    without = yard.submit(where, env={"TRAINYARD_PYTHON": "no"})
    yard.wait_for(without)
    expect_equal(yard.logs(without).strip(), "None")


def test_client(yard):
    client = client_of(yard)
    job = client.submit([sys.executable, "-c", LOOP], name="by python", cpus=1)
    expect_equal(list(job.logs(follow=True)), ["trained\n"])
    expect_equal(job.wait(timeout=60), "done")
    points = job.metrics()
    expect(len(points) > 1 and points[-1].step > points[0].attempt, points)
    expect(0 < points[-1].value < points[0].value, points)
    expect_equal((job.name, job.progress["total"]), ("by python", 150))
    expect_equal(client.job("by python").id, job.id)
    held = client.submit("echo from a shell", hold=True, array="0-2")
    expect_equal(held.state, "held")
    expect("on hold" in held.explain()["summary"], held.explain())
    expect_equal(held.change(priority=3).info["priority"], 3)
    expect_equal(held.release().wait(), "done")
    expect_equal("".join(held.logs(tail=1)), "from a shell\n")
    expect_equal([j.id for j in client.jobs(name="by python")], [job.id])
    expect(len(list(client.jobs(limit=1))) >= 4, "pages follow each other")
    expect_equal(client.nodes()[0]["state"], "up")
    long = client.submit(["sleep", "600"])
    wait_until(lambda: long.state == "running", "it runs")
    try:
        long.wait(timeout=0.1)
        expect(False, "it is not over")
    except TimeoutError:
        pass
    expect_equal(long.cancel(grace="0s").wait(), "cancelled")


def refused(action):
    try:
        action()
    except trainyard.Problem as problem:
        return problem
    raise live.Failure("not refused")


def test_problems(yard):
    client = client_of(yard)
    problem = refused(lambda: client.submit(["true"], cpus="4-1"))
    expect_equal((problem.status, problem.code, problem.field), (400, "invalid", "cpus"))
    expect_equal(refused(lambda: client.job(10**9)).status, 404)
    expect_equal(refused(lambda: trainyard.Client("/nowhere.sock").nodes()).status, 0)


def test_tls():
    with Yard("--listen", "127.0.0.1:0", "--tls", environment={"TRAINYARD_TOKEN": 16 * "t"}) as yard:
        yard.start()
        port = re.findall(r"port=(\d+)", yard.output())[-1]
        pin = re.findall(r"fingerprint=(\S+)", yard.output())[-1]
        url = f"https://127.0.0.1:{port}"
        expect_equal(trainyard.Client(url, 16 * "t", pin).nodes()[0]["state"], "up")
        expect_equal(refused(trainyard.Client(url, 16 * "w", pin).nodes).status, 401)
        wrong = refused(trainyard.Client(url, 16 * "t", "sha256//AAAA").nodes)
        expect("not the one whose fingerprint you have" in str(wrong), wrong)
        expect("certificate" in str(refused(trainyard.Client(url, 16 * "t", "").nodes)), "not signed")


def test_notebook(yard):
    """The cells of the example, one after the other."""
    notebook = json.loads((live.ROOT / "examples" / "notebook.ipynb").read_text())
    cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    expect(len(cells) >= 4 and not any(c.get("outputs") for c in notebook["cells"]), "cells")
    names = {}
    os.environ["TRAINYARD_SERVER"] = str(yard.socket)
    here = os.getcwd()
    os.chdir(live.ROOT / "examples")
    try:
        for cell in cells:
            exec(compile(cell, "notebook", "exec"), names)  # pylint: disable=exec-used
    finally:
        del os.environ["TRAINYARD_SERVER"]
        os.chdir(here)
    expect_equal(names["job"].state, "done")


def test_pip():
    """pip install ./python, without a network; types are declared."""
    with Yard() as yard:
        source, target = yard.dir / "python", yard.dir / "target"
        shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__"))
        done = subprocess.run(["/usr/bin/python3", "-m", "pip", "install", "-q", "--no-deps",
                               "--no-build-isolation", "--no-index", "--target", str(target),
                               str(source)], capture_output=True, text=True, check=False)
        if "No module named" in done.stderr:
            raise Skip(f"no pip or setuptools for /usr/bin/python3: {done.stderr.strip()[-120:]}")
        expect_equal(done.returncode, 0, done.stderr[-2000:])
        expect((target / "trainyard" / "py.typed").exists(), "py.typed")
        code = "import trainyard; print(trainyard.Client.__module__, trainyard.in_job())"
        said = subprocess.run(["/usr/bin/python3", "-c", code], check=True, capture_output=True, text=True,
                              cwd=yard.dir, env={"PYTHONPATH": str(target), "PATH": os.environ["PATH"]})
        expect_equal(said.stdout, "trainyard.client False\n")


if __name__ == "__main__":
    live.main()
