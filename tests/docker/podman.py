#!/usr/bin/env python3
"""Jobs in containers of Podman, through its service's socket.

run-tests: alone
"""
import pathlib
import tempfile

import lib
from lib import live
from live import expect_equal, wait_until

PODMAN = []


def podman():
    """The one that all cases share."""
    if not PODMAN:
        PODMAN.append(lib.Podman().start())
        lib.ENGINES.append(PODMAN[0])
        PODMAN[0].load("busy", "user", "scratch")
    return PODMAN[0]


def test_output_exit_codes_and_images():
    with lib.yard_on(podman()) as yard:
        expect_equal(yard.printed("busy", "echo out; echo $FROM_IMAGE"), "out\nyes\n")
        expect_equal(yard.printed("user", ["id -u; pwd"]), "1234\n/tmp\n")
        expect_equal(yard.printed("scratch", ["0"]), "/program 2 plain\n")
        failed = yard.put("busy", "echo last; exit 7")
        expect_equal(yard.wait_for(failed, "failed")["code"], 7)
        expect_equal(yard.whole_log(failed), "last\n")


def test_unprivileged():
    with lib.yard_on(podman()) as yard:
        status = yard.printed("busy", "grep -E 'CapBnd|NoNewPrivs' /proc/self/status")
        expect_equal(status, "CapBnd:\t0000000000000000\nNoNewPrivs:\t1\n")


def quota(yard, job):
    """The limit of the container in the kernel, in CPUs; podman itself says only the first one."""
    pid = yard.container(podman(), job)["State"]["Pid"]
    with open(f"/proc/{pid}/cgroup") as file:
        paths = dict(line.strip().split(":", 2)[1:] for line in file)
    cpu = next((path for name, path in paths.items() if "cpu" in name.split(",")), None)
    if cpu is None:
        with open(f"/sys/fs/cgroup{paths['']}/cpu.max") as file:
            return int(file.read().split()[0]) / 100000
    with open(f"/sys/fs/cgroup/cpu{cpu}/cpu.cfs_quota_us") as file:
        return int(file.read()) / 100000


def test_resize_and_pause():
    """Through Podman's own API, because its copy of Docker's has no update."""
    with lib.yard_on(podman()) as yard:
        job = yard.put("busy", "i=0; while :; do echo $((i+=1)); sleep 0.05; done", cpus="1-2",
                       resize="live", preempt="pause")
        yard.wait_log(job, "2\n")
        wait_until(lambda: quota(yard, job) == 2, lambda: quota(yard, job))
        yard.post(f"/jobs/{job}/resize", {"cpus": 1})
        wait_until(lambda: quota(yard, job) == 1, lambda: quota(yard, job))
        yard.cancel(job)
        yard.wait_for(job, "cancelled")


def test_a_pause():
    """A job of a higher priority takes its place, and it goes on where it was."""
    with lib.yard_on(podman()) as yard:
        job = yard.put("busy", "i=0; while [ $i -lt 60 ]; do echo $((i+=1)); sleep 0.05; done",
                       cpus=1, preempt="pause")
        yard.wait_log(job, "2\n")
        other = yard.put("busy", "sleep 2", cpus=2, priority=9)
        wait_until(lambda: yard.job(job)["paused"], lambda: yard.job(job))
        wait_until(lambda: yard.container(podman(), job)["State"]["Status"] == "paused",
                   lambda: yard.container(podman(), job)["State"])
        yard.wait_for(other, "done")
        yard.wait_for(job, "done")
        expect_equal(yard.job(job)["attempt"], 1)
        expect_equal(yard.whole_log(job), "".join(f"{i}\n" for i in range(1, 61)))


def test_an_upload():
    with tempfile.TemporaryDirectory(prefix="trainyard-code-") as directory, \
            lib.yard_on(podman()) as yard:
        pathlib.Path(directory, "train").write_text("echo trained; echo 1 >out; cat out\n")
        for image, words in (("busy", ("sh", "train")), ("user", ("sh train",))):
            result = yard.run("run", "-q", "--upload", directory, "--image", image, "--", *words,
                              cwd="/")
            expect_equal(result.stdout, "trained\n1\n")


def test_a_server_that_is_killed():
    with lib.yard_on(podman()) as yard:
        job = yard.put("busy", "for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.5; done; exit 4")
        yard.wait_log(job, "2\n")
        yard.kill()
        yard.start()
        expect_equal(yard.wait_for(job, "failed")["code"], 4)
        expect_equal(yard.whole_log(job), "".join(f"{i}\n" for i in range(1, 10)))
        expect_equal(yard.job(job)["attempt"], 1)


def test_a_container_that_is_killed():
    with lib.yard_on(podman()) as yard:
        job = yard.put("busy", "echo ready; sleep 600")
        yard.wait_log(job, "ready")
        podman().docker("kill", yard.container(podman(), job)["Id"])
        over = yard.wait_for(job, "failed")
        expect_equal((over["code"], over["attempts"][0]["state"]), (137, "lost"))


if __name__ == "__main__":
    lib.main()
