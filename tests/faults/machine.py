#!/usr/bin/env python3
"""A machine that is smaller than it was, or refuses to start jobs: no job pays for it."""
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from cases import expect, expect_equal, wait_until

GATE = "echo ready; while [ ! -e go ]; do sleep 0.1; done"


def test_a_machine_that_looks_smaller():
    with live.Yard("--policy", "fifo", cpus=2) as yard:
        yard.start()
        running = yard.submit(GATE, cpus=2)
        yard.wait_log(running, "ready")
        waiting = yard.submit("true", cpus=2)
        yard.kill()
        both, yard.cpus = yard.cpus, yard.cpus[:1]
        yard.start()
        small = yard.submit("true", cpus=1)
        expect_equal(yard.job(running)["state"], "running")
        wait_until(lambda: yard.job(waiting)["waits_for"], "it waits outside the queue")
        expect("a node that can run it: needs 2 CPUs" in yard.job(waiting)["waits_for"][0],
               yard.job(waiting)["waits_for"])
        reasons = yard.get(f"/jobs/{waiting}/explain")["reasons"]
        expect_equal(reasons[0]["code"], "nodes")
        node = yard.get("/nodes")["nodes"][0]
        expect_equal((node["cpus"], node["cpus_held"]), (1, 2))
        expect("jobs hold 2 CPUs, but it has only 1" in node["notice"], node)
        (yard.dir / "go").touch()
        yard.wait_for(running, "done")
        yard.wait_for(small, "done")
        expect_equal(yard.job(waiting)["state"], "queued")
        yard.kill()
        yard.cpus = both
        yard.start()
        yard.wait_for(waiting, "done")
        expect_equal([yard.job(j)["attempt"] for j in (running, waiting, small)], [1, 1, 1])
        yard.sweep()
        yard.finish()


def running(program):
    """Processes of a program, which may have been renamed since."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (process / "exe").readlink() == program:
                found.append(process.name)
        except OSError:
            continue
    return found


def test_a_conductor_that_is_missing():
    """As after `make clean` while the server runs."""
    with live.Yard(cpus=2) as yard:
        program = yard.dir / "trainyard"
        conductor = yard.dir / "trainyard-conductor"
        shutil.copy(live.PROGRAM, program)
        shutil.copy(live.BUILD / "trainyard-conductor", conductor)
        original, live.yard.PROGRAM = live.yard.PROGRAM, str(program)
        try:
            yard.start()
        finally:
            live.yard.PROGRAM = original
        yard.wait_for(yard.submit("true"), "done")
        conductor.rename(yard.dir / "away")
        wait_until(lambda: not running(yard.dir / "away"), "those that wait for a next job are gone")
        jobs = [yard.submit("true", retries=0) for _ in range(5)]
        wait_until(lambda: yard.get("/nodes")["nodes"][0]["state"] == "closed", "the node is closed")
        node = yard.get("/nodes")["nodes"][0]
        expect("trainyard-conductor" in node["notice"], node)
        expect_equal(yard.get("/health")["status"], "degraded")
        expect_equal({yard.job(j)["state"] for j in jobs} - {"queued", "starting"}, set())
        expect_equal({yard.job(j)["failures"] for j in jobs}, {0})
        (yard.dir / "away").rename(conductor)
        for job in jobs:
            yard.wait_for(job, "done")
        wait_until(lambda: yard.get("/nodes")["nodes"][0]["state"] == "up", "the node is open again")
        expect_equal(yard.get("/health"), {"status": "ok"})
        expect_equal({yard.job(j)["failures"] for j in jobs}, {0})
        yard.sweep()
        yard.finish()


if __name__ == "__main__":
    live.main()
