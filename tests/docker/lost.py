#!/usr/bin/env python3
"""Hosts that are lost: cut off, hung, gone for good. Their jobs start elsewhere when their leases
are over, and never run twice.

run-tests: alone
run-tests: no asan
"""
import contextlib
import os
import pathlib
import tempfile
import time

import lib_hosts as hosts
from lib import live
from live import expect, expect_equal, wait_until

# Writes where it runs, ten times a second, and takes its leave when asked to.
BEAT = ("trap 'echo $TRAINYARD_ATTEMPT end >>/beat/log; exit 0' TERM; echo ready; "
        "while :; do echo $TRAINYARD_ATTEMPT $(date +%s) >>/beat/log; sleep 0.1; done")


@contextlib.contextmanager
def yard_of(count, *options, **fields):
    """A server with hosts that share a directory, by which jobs tell where they run."""
    with tempfile.TemporaryDirectory(prefix="trainyard-beat-") as beat:
        os.chmod(beat, 0o777)
        made = hosts.shared(count, "busy")
        with hosts.Yard("--allow-mount", beat, "--suspect-after", "2s", "--lost-after", "4s",
                        *options) as yard:
            yard.start()
            yard.attach(*made, cpus=2, **fields)
            yield yard, made, pathlib.Path(beat)


def beat_job(yard, beat, **fields):
    job = yard.put("busy", BEAT, cpus=1, grace="2s", mounts=[f"{beat}:/beat"], **fields)
    yard.wait_log(job, "ready")
    return job


def attempts_in(beat):
    """The attempts in the order in which they wrote: one may not write after the next one."""
    lines = (beat / "log").read_text().splitlines()
    order = []
    for line in lines:
        attempt = int(line.split()[0])
        if not order or order[-1] != attempt:
            order.append(attempt)
    return order


def test_a_host_that_is_cut_off():
    with yard_of(2) as (yard, made, beat):
        job = beat_job(yard, beat, lease="10s", checkpoint_dir="/beat/saved")
        node = yard.job(job)["node"]
        host = made[int(node[1:]) - 1]
        host.cut()
        yard.wait_nodes(node, state="suspect")
        yard.wait_nodes(node, state="lost")
        expect_equal(yard.job(job)["attempt"], 1)
        wait_until(lambda: yard.job(job)["attempt"] == 2 and yard.job(job)["state"] == "running",
                   lambda: f"it runs elsewhere: {yard.job(job)}", 90)
        expect(yard.job(job)["node"] != node, yard.job(job))
        first = yard.job(job)["attempts"][0]
        expect_equal((first["state"], first["reason"]), ("lost", f"its node {node} was lost"))
        expect("starts from the beginning" not in (yard.dir / "output").read_text(),
               "its checkpoints are on a mount, which the lost host has not taken along")
        wait_until(lambda: attempts_in(beat)[-1] == 2, "it writes")
        expect_equal(attempts_in(beat), [1, 2])
        expect("1 end" in (beat / "log").read_text(), "the first attempt was asked to save itself")
        host.cut(False)
        yard.wait_nodes(node)
        wait_until(lambda: not host.containers(), "what was left there is removed", 60)
        expect_equal(attempts_in(beat), [1, 2])
        yard.cancel(job)
        yard.wait_for(job, "cancelled")


def test_an_engine_that_hangs():
    """Its containers run on, and their conductors stop them; what they printed is not lost."""
    with yard_of(2) as (yard, made, beat):
        job = beat_job(yard, beat, lease="10s")
        node = yard.job(job)["node"]
        host = made[int(node[1:]) - 1]
        host.hang()
        wait_until(lambda: yard.job(job)["attempt"] == 2 and yard.job(job)["state"] == "running",
                   lambda: f"it runs elsewhere: {yard.job(job)}", 90)
        wait_until(lambda: attempts_in(beat)[-1] == 2, "it writes")
        host.hang(False)
        yard.wait_nodes(node)
        wait_until(lambda: not host.containers(), "what was left there is removed", 60)
        expect_equal(attempts_in(beat), [1, 2])
        expect("ready" in yard.get(f"/jobs/{job}/logs?attempt=1").text, "the log came back")
        yard.cancel(job)
        yard.wait_for(job, "cancelled")


def test_without_a_lease():
    with yard_of(2) as (yard, made, beat):
        job = beat_job(yard, beat, lease="none")
        node = yard.job(job)["node"]
        host = made[int(node[1:]) - 1]
        host.cut()
        yard.wait_nodes(node, state="lost")
        before = len((beat / "log").read_text().splitlines())
        wait_until(lambda: len((beat / "log").read_text().splitlines()) > before + 20,
                   "it runs on")
        host.cut(False)
        yard.wait_nodes(node)
        wait_until(lambda: yard.job(job)["state"] == "running", "it is as before")
        expect_equal(attempts_in(beat), [1])
        yard.cancel(job)
        yard.wait_for(job, "cancelled")


def test_a_host_that_dies():
    """With the server killed meanwhile: the next one knows, too."""
    with yard_of(2) as (yard, made, beat):
        job = beat_job(yard, beat, lease="10s")
        node = yard.job(job)["node"]
        host = made[int(node[1:]) - 1]
        host.power_off()
        time.sleep(1)
        yard.kill()
        yard.start()
        wait_until(lambda: yard.job(job)["attempt"] == 2 and yard.job(job)["state"] == "running",
                   lambda: f"it runs elsewhere: {yard.job(job)}", 200)
        wait_until(lambda: attempts_in(beat)[-1] == 2, "it writes")
        expect_equal(attempts_in(beat), [1, 2])
        yard.cancel(job)
        yard.wait_for(job, "cancelled")


def test_a_server_that_is_away():
    """Jobs on other machines stop after their lease, and continue with the next server."""
    with yard_of(1) as (yard, _, beat):
        job = beat_job(yard, beat, lease="10s")
        yard.kill()
        wait_until(lambda: "1 end" in (beat / "log").read_text(), "it stops by itself", 60)
        yard.start()
        wait_until(lambda: yard.job(job)["attempt"] == 2 and yard.job(job)["state"] == "running",
                   lambda: f"it runs again: {yard.job(job)}", 60)
        expect_equal(yard.job(job)["failures"], 0)
        yard.cancel(job)
        yard.wait_for(job, "cancelled")


def test_a_target_that_hangs():
    """A copy of checkpoints to an engine that hangs ends when its node is lost."""
    with yard_of(3) as (yard, made, _):
        line = ("cd $TRAINYARD_CHECKPOINT_DIR; trap 'exit 0' TERM; "
                "[ -f big ] || dd if=/dev/zero of=big bs=1M count=300 2>/dev/null; echo ready; "
                "while :; do sleep 0.05; done")
        job = yard.put("busy", line, cpus=1, checkpoint_signal="TERM", lease="10s")
        yard.wait_log(job, "ready")
        first = yard.job(job)["node"]
        target = next(h for h in made if f"h{h.number}" != first)
        yard.post(f"/jobs/{job}/migrate", {"node": f"h{target.number}"}, 202)
        wait_until(lambda: "copying its checkpoints" in str(yard.job(job)), lambda: yard.job(job))
        target.hang()
        yard.wait_nodes(f"h{target.number}", state="lost")
        wait_until(lambda: yard.job(job)["attempt"] == 3 and yard.job(job)["state"] == "running",
                   lambda: f"it runs elsewhere: {yard.job(job)}", 150)
        target.hang(False)
        yard.wait_nodes(f"h{target.number}")
        yard.cancel(job)
        yard.wait_for(job, "cancelled")
        wait_until(lambda: not target.containers(), "what was left there is removed", 60)


if __name__ == "__main__":
    hosts.main()
