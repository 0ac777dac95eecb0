#!/usr/bin/env python3
"""Directories and sockets that are shared, removed or gone: no server breaks another one, none
stays out of reach, and no conductor waits for a server that cannot come."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from cases import expect, expect_equal, wait_until

GATE = "echo ready; while [ ! -e go ]; do sleep 0.05; done"


def start_apart(yard):
    """A server whose sockets are not in its state directory."""
    run = yard.dir / "run"
    yard.options = (*yard.options, "--run", str(run))
    yard.socket = run / "trainyard.sock"
    return yard.start(), run


def test_a_run_directory_that_another_server_uses():
    with live.Yard() as yard:
        _, run = start_apart(yard)
        other = subprocess.run(
            [live.PROGRAM, "serve", "--state", str(yard.dir / "other"), "--run", str(run)],
            capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
        expect(other.returncode != 0, "a second server was started")
        expect(f"another server, pid {yard.server.pid}, uses {run}" in other.stderr, other.stderr)
        yard.wait_for(yard.submit("true"), "done")
        yard.finish()


def test_sockets_that_were_removed():
    with live.Yard() as yard:
        _, run = start_apart(yard)
        job = yard.submit(GATE)
        yard.wait_log(job, "ready")
        for name in ("trainyard.sock", "conductor.sock"):
            (run / name).unlink()
        wait_until((run / "conductor.sock").exists, "the conductors' socket is there again")
        wait_until(yard.answers, "the server answers again")
        yard.wait_for(yard.submit("true"), "done")
        (yard.dir / "go").touch()
        yard.wait_for(job, "done")
        yard.finish()


def test_a_run_directory_that_was_removed():
    with live.Yard() as yard:
        _, run = start_apart(yard)
        shutil.rmtree(run)
        wait_until(yard.answers, "the server answers again")
        expect((run / "server.lock").exists(), "it is locked again")
        other = subprocess.run(
            [live.PROGRAM, "serve", "--state", str(yard.dir / "other"), "--run", str(run)],
            capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
        expect("another server" in other.stderr, other.stderr)
        yard.wait_for(yard.submit("true"), "done")
        yard.finish()


def lingering(yard):
    """A job that has ended without a server; its conductor."""
    yard.start()
    job = yard.submit(GATE)
    yard.wait_log(job, "ready")
    yard.kill()
    (yard.dir / "go").touch()
    attempt = yard.state / "jobs" / str(job) / "1"
    wait_until((attempt / "exit.json").exists, "its record")
    (conductor,) = yard.conductors()
    return attempt, conductor


def gone(pid):
    return not pathlib.Path(f"/proc/{pid}").exists()


def test_a_state_directory_that_was_removed():
    with live.Yard() as yard:
        _, conductor = lingering(yard)
        shutil.rmtree(yard.state)
        wait_until(lambda: gone(conductor), "the conductor stops waiting", 20)


def test_a_state_directory_that_was_removed_while_the_job_ran():
    with live.Yard() as yard:
        yard.start()
        job = yard.submit(GATE)
        yard.wait_log(job, "ready")
        yard.kill()
        (conductor,) = yard.conductors()
        shutil.rmtree(yard.state)
        expect(not gone(conductor), "the job is not affected")
        (yard.dir / "go").touch()
        wait_until(lambda: gone(conductor), "the conductor ends with its job", 20)


def test_a_state_directory_that_was_made_again():
    """Another server is in its place, which does not know the job."""
    with live.Yard() as yard:
        yard.start()
        job = yard.submit(GATE)
        yard.wait_log(job, "ready")
        yard.kill()
        (conductor,) = yard.conductors()
        shutil.rmtree(yard.state)
        yard.start()
        expect(not gone(conductor), "the job is not affected")
        (yard.dir / "go").touch()
        wait_until(lambda: gone(conductor), "the conductor ends with its job", 20)
        yard.finish()


def test_a_shutdown_while_a_conductor_waits():
    with live.Yard() as yard:
        attempt, conductor = lingering(yard)
        begin = time.monotonic()
        os.kill(conductor, signal.SIGTERM)
        wait_until(lambda: gone(conductor), "the conductor leaves")
        expect(time.monotonic() - begin < 10, "it took long")
        yard.start()
        expect_equal(yard.wait_for(int(attempt.parent.name))["state"], "done")
        yard.finish()


if __name__ == "__main__":
    live.main()
