#!/usr/bin/env python3
"""GPUs of containers. There is none here: the hook of NVIDIA's toolkit, which would put devices into
a container, is a stand-in that does nothing. The engine is real, takes the request as it does with
the toolkit, and tells the container which devices it has.

run-tests: alone
"""
import contextlib
import pathlib
import tempfile

import lib
from lib import live
from live import expect_equal


@contextlib.contextmanager
def gpu_engine():
    with tempfile.TemporaryDirectory(prefix="trainyard-hook-") as directory:
        hook = pathlib.Path(directory, "nvidia-container-runtime-hook")
        hook.write_text("#!/bin/sh\nexit 0\n")
        hook.chmod(0o755)
        with lib.Engine(path=directory) as engine:
            yield engine.load("busy")


def devices(yard, **fields):
    """A job that goes on, and the devices that its container was given."""
    job = yard.put("busy", "echo devices=$NVIDIA_VISIBLE_DEVICES; sleep 600", cpus=0.1, **fields)
    return job, yard.wait_log(job, "devices=").strip().split("=")[1]


def test_each_job_has_its_own():
    """A new server knows which are taken."""
    with gpu_engine() as engine, lib.yard_on(engine, gpus=3, gpu_type="t4") as yard:
        first, on = devices(yard, gpus=1)
        expect_equal(on, "0")
        yard.kill()
        yard.start()
        yard.wait_nodes("d1")
        _, on = devices(yard, gpus=2)
        expect_equal(on, "1,2")
        _, on = devices(yard)
        expect_equal(on, "void", "a job without GPUs sees none")
        yard.cancel(first)
        yard.wait_for(first, "cancelled")
        _, on = devices(yard, gpus=1)
        expect_equal(on, "0")
        yard.sweep()


def test_its_container_is_not_updated():
    """An update can cut it off from its devices."""
    with gpu_engine() as engine, lib.yard_on(engine, gpus=1, gpu_type="t4") as yard:
        job, _ = devices(yard, gpus=1)
        before = yard.container(engine, job)["HostConfig"]["NanoCpus"]
        expect_equal(yard.ask("POST", f"/jobs/{job}/resize", {"cpus": 1}).status, 409)
        yard.wait_for(yard.put("busy", "true", cpus=1), "done")
        expect_equal(yard.container(engine, job)["HostConfig"]["NanoCpus"], before)
        yard.sweep()


def test_elastic():
    """Another number of GPUs is another container; what the job gives up is free when it has gone."""
    with gpu_engine() as engine, lib.yard_on(engine, options=("--policy", "elastic-fifo"), gpus=2,
                                             gpu_type="t4") as yard:
        first, on = devices(yard, gpus="1-2", resize="restart")
        expect_equal(on, "0,1")
        second, other = devices(yard, gpus=1)
        live.wait_until(lambda: yard.job(first)["attempt"] == 2, "it starts again")
        again = live.wait_until(lambda: yard.get(f"/jobs/{first}/logs?attempt=2").text, "it runs")
        expect_equal(sorted((again.strip(), f"devices={other}")), ["devices=0", "devices=1"])
        expect_equal(yard.get("/nodes/d1")["state"], "up")
        yard.cancel(second)
        live.wait_until(lambda: yard.job(first)["attempt"] == 3, "it grows again")
        expect_equal(yard.job(first)["gpus"], 2)
        yard.sweep()


def test_without_a_driver():
    """An engine without NVIDIA's toolkit has no GPUs for jobs; its CPUs are used as ever."""
    with lib.Engine() as engine:
        engine.load("busy")
        with lib.yard_on(engine, gpus=1, gpu_type="t4") as yard:
            job = yard.put("busy", "true", cpus=0.1, gpus=1)
            live.wait_until(lambda: yard.get("/nodes/d1")["gpus"] == 0, lambda: yard.get("/nodes/d1"))
            live.expect("container toolkit" in yard.get("/nodes/d1")["notice"], "its operator is told")
            yard.wait_for(yard.put("busy", "true", cpus=0.1), "done")
            expect_equal(yard.get("/nodes/d1")["state"], "up")
            expect_equal(yard.job(job)["state"], "queued")
            yard.cancel(job)
        with lib.Yard() as yard:
            yard.start()
            answer = yard.ask("POST", "/nodes", {"name": "d1", "docker": engine.address, "gpus": 64,
                                                 "gpu_type": "t4"})
            expect_equal(answer.status, 400)
            live.expect("at most 63" in answer.text, answer.text)


if __name__ == "__main__":
    lib.main()
