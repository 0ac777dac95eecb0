#!/usr/bin/env python3
"""Jobs that move between hosts with their checkpoints.

run-tests: alone
"""
import contextlib
import os
import pathlib
import random
import tempfile
import time

import lib_hosts as hosts
from live import expect, expect_equal, wait_until

# Counts, saves when it is asked to, and continues where it was. It tells each step to a directory
# that all hosts share.
COUNT = ("cd $TRAINYARD_CHECKPOINT_DIR; i=$(cat step 2>/dev/null || echo 0); "
         "trap 'echo $i >step; exit 0' TERM; echo from $i; "
         "while [ $i -lt {} ]; do i=$((i+1)); echo $TRAINYARD_ATTEMPT $i >>/steps/$TRAINYARD_JOB_ID; "
         "sleep 0.05; done")


@contextlib.contextmanager
def yard_of(count, *options, **fields):
    with tempfile.TemporaryDirectory(prefix="trainyard-steps-") as steps:
        os.chmod(steps, 0o777)
        made = hosts.shared(count, "busy")
        with hosts.Yard("--allow-mount", steps, *options) as yard:
            yard.start()
            yard.attach(*made, cpus=2, **fields)
            yield yard, made, pathlib.Path(steps)
            for host in made:
                wait_until(lambda host=host: not host.containers(),
                           lambda host=host: f"left: {host.docker('ps', '-a').stdout}")


def count_job(yard, steps, until, **fields):
    job = yard.put("busy", COUNT.format(until), cpus=1, checkpoint_signal="TERM",
                   mounts=[f"{steps}:/steps"], **fields)
    yard.wait_log(job, "from 0")
    return job


def expect_unbroken(steps, job, until):
    """Every step was made once, in order."""
    made = [int(line.split()[1]) for line in (steps / str(job)).read_text().splitlines()]
    expect_equal(made, list(range(1, until + 1)))


def test_by_hand():
    with yard_of(3) as (yard, made, steps):
        job = count_job(yard, steps, 200)
        first = yard.job(job)["node"]
        other = "h2" if first != "h2" else "h3"
        expect_equal(yard.ask("POST", f"/jobs/{job}/migrate", {"node": first}).status, 409)
        expect_equal(yard.ask("POST", f"/jobs/{job}/migrate", {"node": "h9"}).status, 404)
        yard.post(f"/jobs/{job}/migrate", {"node": other}, 202)
        wait_until(lambda: yard.job(job)["node"] == other and yard.job(job)["state"] == "running",
                   lambda: yard.job(job))
        yard.post(f"/jobs/{job}/migrate", {}, 202)
        wait_until(lambda: yard.job(job)["attempt"] == 3 and yard.job(job)["state"] == "running",
                   lambda: yard.job(job))
        expect(yard.job(job)["node"] != other, yard.job(job))
        yard.wait_for(job, "done")
        expect_unbroken(steps, job, 200)
        expect_equal(yard.job(job)["failures"], 0)
        left = [h.docker("volume", "ls", "-q").stdout.split() for h in made]
        expect_equal(sum(len(volumes) for volumes in left), 1, "homes of its checkpoints")


def test_no_checkpoint():
    with yard_of(2) as (yard, _, __):
        job = yard.put("busy", "sleep 600", cpus=1)
        yard.wait_for(job, "running")
        answer = yard.ask("POST", f"/jobs/{job}/migrate", {})
        expect_equal(answer.status, 409)
        yard.cancel(job)
        yard.wait_for(job, "cancelled")


def test_requeued_elsewhere():
    """Whatever the reason for another node is, the checkpoints follow."""
    with yard_of(2) as (yard, _, steps):
        job = count_job(yard, steps, 60)
        node = yard.job(job)["node"]
        yard.post(f"/nodes/{node}/drain", {})
        wait_until(lambda: yard.job(job)["node"] != node and yard.job(job)["state"] == "running",
                   lambda: f"it leaves the drained node: {yard.job(job)}")
        yard.wait_for(job, "done")
        expect_unbroken(steps, job, 60)
        yard.post(f"/nodes/{node}/undrain", {})


def test_servers_that_die_while_it_moves():
    """It is on one side, never on both and never on none: no step is lost or made twice."""
    with yard_of(2, "--lease", "none") as (yard, _, steps):
        job = count_job(yard, steps, 150)
        for _ in range(5):
            if yard.job(job)["state"] == "running":
                yard.ask("POST", f"/jobs/{job}/migrate", {})
            time.sleep(random.uniform(0, 1.5))
            yard.kill()
            yard.start()
            yard.wait_nodes("h1", "h2")
            wait_until(lambda: yard.job(job)["state"] in ("running", "done"),
                       lambda: f"it goes on: {yard.job(job)}")
        yard.wait_for(job, "done")
        expect_unbroken(steps, job, 150)


def test_a_large_checkpoint():
    """More than what the server keeps in between, and none of it is changed."""
    with yard_of(2) as (yard, _, steps):
        line = ("cd $TRAINYARD_CHECKPOINT_DIR; trap 'exit 0' TERM; "
                "[ -f big ] || dd if=/dev/urandom of=big bs=1M count=50 2>/dev/null; "
                "wc -c big; tail -c 100000 big | tr -cd 'a-z' | head -c 60; echo; "
                "while :; do sleep 0.05; done")
        job = yard.put("busy", line, cpus=1, checkpoint_signal="TERM")
        seen = yard.wait_log(job, "big\n") and wait_until(
            lambda: yard.get(f"/jobs/{job}/logs").text.count("\n") >= 2 and
            yard.get(f"/jobs/{job}/logs").text, "it has printed")
        yard.post(f"/jobs/{job}/migrate", {}, 202)
        wait_until(lambda: yard.job(job)["attempt"] == 2 and
                   yard.get(f"/jobs/{job}/logs?attempt=2").text == seen,
                   lambda: f"{seen} / {yard.get(f'/jobs/{job}/logs?attempt=2').text}")
        yard.cancel(job)
        yard.wait_for(job, "cancelled")


def test_by_specon():
    """Both jobs converge on the only host; when another one is there, it takes one of them, with
    its checkpoint, and events and `explain` say why."""
    line = ("cd $TRAINYARD_CHECKPOINT_DIR; i=$(cat step 2>/dev/null || echo 0); "
            "trap 'echo $i >step; exit 0' TERM; echo from $i; "
            "while :; do i=$((i+1)); echo step $i loss $((100000 + 900000 / i)); sleep 0.1; done")
    with yard_of(1, "--policy", "allocate=fifo,place=specon:interval=2s:cooldown=2s,share=hard") as (
            yard, _, __):
        jobs = [yard.put("busy", line, cpus=1, checkpoint_signal="TERM") for _ in range(2)]
        for job in jobs:
            yard.wait_log(job, "step 20")
        yard.attach(hosts.shared(2, "busy")[1], cpus=2)
        moved = wait_until(lambda: [j for j in jobs if yard.job(j)["node"] == "h2" and
                                    yard.job(j)["state"] == "running"],
                           lambda: [yard.job(j) for j in jobs])[0]
        expect("from 0" not in yard.get(f"/jobs/{moved}/logs?attempt=2").text, "it started from the beginning")
        expect("specon" in str(yard.get(f"/jobs/{moved}/explain")), "explain")
        for job in jobs:
            yard.cancel(job)
            yard.wait_for(job, "cancelled")
        wait_until(lambda: not hosts.shared(2)[1].containers(), "nothing is left")


if __name__ == "__main__":
    hosts.main()
