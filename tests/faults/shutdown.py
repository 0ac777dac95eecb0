#!/usr/bin/env python3
"""The machine goes down: jobs are asked to save themselves, and those that can continue do."""
import os
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from cases import expect, expect_equal, wait_until

SAVES = ("trap 'echo saved > saved; exit 0' TERM; echo ready; "
         "while [ ! -e go ]; do sleep 0.05; done")
PLAIN = "echo ready; while [ ! -e go ]; do sleep 0.05; done"


def begin(yard):
    """Three jobs on the machine's CPUs, half a CPU each."""
    def submit(*command, **fields):
        return yard.submit(*command, **{"cpus": 0.5, **fields})
    saves = submit(SAVES, checkpoint_dir=str(yard.dir / "checkpoint"))
    plain = submit(PLAIN)
    handles = submit(SAVES)
    for job in (saves, plain, handles):
        yard.wait_log(job, "ready")
    waits = submit(PLAIN, cpus=2, priority=-1)
    return saves, plain, handles, waits


def expect_continued(yard, saves, plain, handles, waits):
    """All but the one without a checkpoint, which did not end by itself."""
    yard.wait_for(saves, "running")
    (yard.dir / "go").touch()
    for job, attempts in ((saves, 2), (handles, 2), (waits, 1)):
        yard.wait_for(job, "done")
        expect_equal(yard.job(job)["attempt"], attempts, f"attempts of job {job}")
        expect_equal(yard.job(job)["failures"], 0, f"failures of job {job}")
    ended = yard.wait_for(plain, "failed")
    expect_equal((ended["code"], ended["reason"]), (143, "the machine was shut down"))
    yard.finish()


def test_the_server_is_told_of_it():
    with live.Yard(cpus=2) as yard:
        yard.start()
        jobs = begin(yard)
        yard.server.send_signal(signal.SIGPWR)
        wait_until(lambda: "going down" in yard.output(), "it has heard of it")
        yard.server.send_signal(signal.SIGTERM)
        expect_equal(yard.server.wait(30), 0, "its exit code")
        expect((yard.dir / "saved").exists(), "it was not asked to save itself")
        expect_equal(yard.conductors(), [], "conductors that would delay the shutdown")
        yard.start()
        expect_continued(yard, *jobs)


def test_the_conductors_are_told_of_it():
    """The end of a shutdown without the server: SIGTERM for every process."""
    with live.Yard(cpus=2) as yard:
        yard.start()
        jobs = begin(yard)
        yard.kill()
        for pid in yard.conductors():
            os.kill(pid, signal.SIGTERM)
        wait_until(lambda: all((yard.state / "jobs" / str(job) / "1" / "exit.json").exists()
                               for job in jobs[:3]), "their records")
        yard.start()
        expect_continued(yard, *jobs)


if __name__ == "__main__":
    live.main()
