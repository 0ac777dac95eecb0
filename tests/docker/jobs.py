#!/usr/bin/env python3
"""Jobs in containers: what they see, how they end, and what is done to them.

run-tests: alone
"""
import json
import os
import pathlib
import re
import tempfile
import time

import lib
from lib import live
from live import expect, expect_equal, wait_until


def test_output_and_exit_codes():
    with lib.yard_on(lib.engine()) as yard:
        expect_equal(yard.printed("busy", "echo out; echo err >&2"), "out\nerr\n")
        failed = yard.put("busy", "echo last; exit 7")
        expect_equal(yard.wait_for(failed, "failed")["code"], 7)
        expect_equal(yard.whole_log(failed), "last\n")
        expect_equal(yard.wait_for(yard.put("busy", ["nothing"]), "failed")["code"], 127)
        killed = yard.wait_for(yard.put("busy", "kill -9 $$"), "failed")
        expect_equal(killed["code"], 137)
        events = [e["kind"] for e in yard.events(failed)]
        expect("job.started" in events and "job.ended" in events, events)


def test_what_an_image_says():
    """Entry point, command, user, directory and environment are those of the image, unless the
    job says otherwise."""
    with lib.yard_on(lib.engine()) as yard:
        out = yard.printed("busy", "echo $FROM_IMAGE $OWN; pwd; id -u; echo $HOME",
                           env={"OWN": "mine"})
        expect_equal(out, "yes mine\n/\n0\n/\n")
        expect_equal(yard.printed("user"), "from the image\n")
        out = yard.printed("user", ["touch mine; id -u; id -g; pwd; echo $HOME; stat -c %u mine"])
        expect_equal(out, "1234\n1235\n/tmp\n/home/ann\n1234\n")
        expect_equal(yard.printed("busy", "pwd", workdir="/made/for/it"), "/made/for/it\n")
        empty = yard.wait_for(yard.put("busy"), "failed")
        expect_equal(empty["code"], 125)
        expect("has no command" in empty["reason"], empty["reason"])


def test_a_script():
    with lib.yard_on(lib.engine()) as yard:
        job = yard.post("/jobs", {"image": "busy", "script": "#!/bin/sh\necho $1 $0\n",
                                  "command": ["name", "one"]}, 201)["jobs"][0]["id"]
        yard.wait_for(job, "done")
        expect_equal(yard.whole_log(job), "one /.trainyard/attempt/script\n")


def test_other_c_libraries():
    """A program of musl, and one with no library at all, run, and are told once that their
    threads do not follow."""
    engine = lib.engine().load("musl")
    with lib.yard_on(engine) as yard:
        for image, command in (("musl", ["/program", "0"]), ("scratch", ["0"])):
            job = yard.put(image, command, cpus="1-2")
            yard.wait_for(job, "done")
            expect_equal(yard.whole_log(job), "/program 2 plain\n")
        text = (yard.dir / "output").read_text()
        warnings = [line for line in text.splitlines() if "its threads do not follow" in line]
        expect_equal(len(warnings), 2, text)
        expect("no C library (glibc) here" in warnings[0], warnings)


def test_unprivileged():
    with lib.yard_on(lib.engine()) as yard:
        status = yard.printed("busy", "cat /proc/self/status; ls /var/run/docker.sock || true")
        expect_equal(re.findall(r"Cap(?:Eff|Bnd):\t(\S+)", status), ["0" * 16] * 2)
        expect("NoNewPrivs:\t1" in status, status)
        expect("No such file" in status, status)


def test_its_output_is_on_the_container():
    engine = lib.engine()
    with lib.yard_on(engine) as yard:
        job = yard.put("busy", "echo one; echo two >&2; sleep 600")
        yard.wait_log(job, "two")
        name = yard.container(engine, job)["Name"][1:]
        wait_until(lambda: engine.docker("logs", name).stdout == "one\ntwo\n", "docker logs")
        yard.cancel(job)
        yard.wait_for(job, "cancelled")


def test_limits():
    engine = lib.engine()
    options = ("--allow-mount", "/usr/share")
    with lib.yard_on(engine, options=options) as yard:
        job = yard.put("busy", "ulimit -n; df -m /dev/shm | tail -1; sleep 600", memory="64m",
                       cpus=0.5, shm_size="32m", ulimits=["nofile=99:100"],
                       mounts=["/usr/share:/outside:ro"])
        log = yard.wait_log(job, "shm")
        expect(log.startswith("99\n") and re.search(r"shm +32 ", log), log)
        config = yard.container(engine, job)["HostConfig"]
        expect_equal((config["NanoCpus"], config["Memory"], config["PidsLimit"] > 0),
                     (500000000, 64 << 20, True))
        mount = config["Mounts"][0]
        expect_equal((mount["Source"], mount["ReadOnly"]), ("/usr/share", True))
        yard.cancel(job)
        for mount in ("/etc:/x", "/usr/share/../bin:/x", "/usr/shared:/x"):
            answer = yard.ask("POST", "/jobs", {"image": "busy", "command": ["x"],
                                                "mounts": [mount]})
            expect_equal((answer.status, answer.json["field"]), (400, "mounts"), mount)
        gone = yard.wait_for(yard.put("busy", "true", mounts=["/usr/share/nothing:/x"]), "failed")
        expect_equal(gone["code"], 125)
        expect("/usr/share/nothing" in gone["reason"], gone["reason"])


def test_user_and_group():
    """What the job writes belongs to whom it says."""
    with tempfile.TemporaryDirectory(prefix="trainyard-files-") as directory:
        os.chmod(directory, 0o777)
        with lib.yard_on(lib.engine(), options=("--allow-mount", directory)) as yard:
            expect_equal(yard.printed("busy", "id -u; id -g; echo x >/out/file", run_as="4711:4712",
                                      mounts=[f"{directory}:/out"]), "4711\n4712\n")
            status = os.stat(f"{directory}/file")
            expect_equal((status.st_uid, status.st_gid), (4711, 4712))
            expect_equal(yard.printed("busy", "id -u", run_as="ann"), "1234\n")


def test_default_image():
    """Jobs without an image run in the server's, with their directory if it may be mounted; the
    image `none` still is a process."""
    with tempfile.TemporaryDirectory(prefix="trainyard-files-") as directory:
        pathlib.Path(directory, "here").write_text("content\n")
        options = ("--default-image", "busy", "--allow-mount", directory)
        with lib.yard_on(lib.engine(), options=options) as yard:
            run = lambda *words: yard.run("run", "-q", *words, cwd=directory).stdout
            expect_equal(run("--", "sh", "-c", "echo $FROM_IMAGE; cat here"), "yes\ncontent\n")
            expect_equal(run("--workdir", "/", "--", "cat", "/etc/passwd"),
                         "root:x:0:0::/:/bin/sh\nann:x:1234:1235::/home/ann:/bin/sh\n")
            expect_equal(run("--image", "none", "--", "sh", "-c", "echo $FROM_IMAGE; pwd"),
                         f"\n{directory}\n")


def test_resize_and_pause():
    """The container's limits follow the job's size, in place; a paused job stands still."""
    engine = lib.engine()
    with lib.yard_on(engine) as yard:
        job = yard.put("busy", "i=0; while :; do echo $((i+=1)); sleep 0.05; done", cpus="1-2",
                       resize="live", preempt="pause")
        yard.wait_log(job, "2\n")
        size = lambda: yard.container(engine, job)["HostConfig"]["NanoCpus"]
        wait_until(lambda: size() == 2 * 10 ** 9, "it has both CPUs")
        yard.post(f"/jobs/{job}/resize", {"cpus": 1})
        wait_until(lambda: size() == 10 ** 9, "it has shrunk")
        first = yard.put("busy", "sleep 600", cpus=2, priority=5)
        wait_until(lambda: yard.container(engine, job)["State"]["Paused"], "it is paused")
        before = yard.logs(job)
        time.sleep(0.5)
        expect_equal(yard.logs(job), before, "it stands still")
        yard.cancel(first)
        yard.wait_for(first, "cancelled")
        wait_until(lambda: len(yard.logs(job)) > len(before), "it goes on")
        expect_equal(yard.job(job)["attempt"], 1)
        yard.cancel(job)
        yard.wait_for(job, "cancelled")


def test_stop_with_grace():
    """A job may save itself; one that does not end is killed."""
    with lib.yard_on(lib.engine()) as yard:
        saves = yard.put("busy", "trap 'echo saved; exit 0' TERM; echo ready; "
                                 "while :; do sleep 0.1; done")
        stays = yard.put("busy", "trap '' TERM; echo ready; while :; do sleep 0.1; done")
        for job in (saves, stays):
            yard.wait_log(job, "ready")
        yard.cancel(saves, 60)
        yard.cancel(stays, 1)
        yard.wait_for(saves, "cancelled")
        expect("saved\n" in yard.whole_log(saves), yard.logs(saves))
        expect_equal(yard.wait_for(stays, "cancelled")["code"], 137)


def test_checkpoints_stay_for_the_next_attempt():
    with lib.yard_on(lib.engine()) as yard:
        job = yard.put("busy", "cd $TRAINYARD_CHECKPOINT_DIR; cat step 2>/dev/null && exit 0; "
                               "echo 17 >step; sync; echo ready; sleep 600")
        yard.wait_log(job, "ready")
        yard.post(f"/jobs/{job}/requeue")
        yard.wait_for(job, "done")
        expect_equal((yard.job(job)["attempt"], yard.whole_log(job)), (2, "17\n"))


def test_an_image_that_is_not_there():
    """It is the job's failure, with advice, and closes no node."""
    with lib.yard_on(lib.engine()) as yard:
        job = yard.wait_for(yard.put("localhost:1/none:9", "true"), "failed")
        expect_equal(job["code"], 125)
        expect("localhost:1/none:9" in job["reason"] and "docker load" in job["reason"],
               job["reason"])
        expect_equal(yard.get("/nodes/d1")["state"], "up")


def test_both_kinds_of_nodes():
    """Jobs without an image are processes of this machine, others are containers, and neither
    takes the other's place."""
    with lib.yard_on(lib.engine()) as yard:
        inside = [yard.put("busy", "sleep 600", cpus=1) for _ in range(3)]
        outside = [yard.submit("sleep 600", cpus=1) for _ in range(3)]
        for job in (*inside[:2], *outside[:2]):
            yard.wait_for(job, "running")
        states = {job: yard.job(job) for job in inside + outside}
        expect_equal([states[j]["state"] for j in (inside[2], outside[2])], ["queued"] * 2)
        expect_equal({states[j]["node"] for j in inside[:2]}, {"d1"})
        expect("d1" not in {states[j]["node"] for j in outside[:2]}, states)
        for job in inside + outside:
            yard.cancel(job)
        yard.wait_all()


def test_many_lines():
    """No byte of the log is lost or doubled."""
    with lib.yard_on(lib.engine()) as yard:
        log = yard.printed("busy", "seq 1 200000")
        expect_equal(log, "".join(f"{n}\n" for n in range(1, 200001)))


def test_launchers():
    """What elastic jobs need is in the container."""
    with lib.yard_on(lib.engine()) as yard:
        said = yard.printed("busy", "ls -l $TRAINYARD_HOST_DISCOVERY /.trainyard/python/*.py",
                            resize="horovod", cpus=1)
        for name in ("hosts", "torchrun", "agent", "member", "page"):
            expect(f"/.trainyard/python/trainyard_{name}.py" in said, said)
        job = yard.put("busy", "true", resize="torchrun", cpus=1)
        yard.wait_for(job, "failed")
        expect_equal(yard.job(job)["code"], 127, "the image has no Python; that is the job's fault")
        expect_equal(yard.get("/nodes/d1")["state"], "up")


def test_checkpoints_of_any_user():
    """A volume is root's, and the job another user's."""
    with lib.yard_on(lib.engine()) as yard:
        said = yard.printed("user", ["id -u; echo 1 >/deep/kept/step && cat /deep/kept/step"],
                            checkpoint_dir="/deep/kept", cpus=1)
        expect_equal(said, "1234\n1\n")


if __name__ == "__main__":
    lib.main()
