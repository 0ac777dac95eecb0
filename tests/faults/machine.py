#!/usr/bin/env python3
"""A machine that is smaller than it was, or refuses to start jobs: no job pays for it."""
import contextlib
import ctypes
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
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


def node(yard):
    return yard.get("/nodes")["nodes"][0]


def test_cpus_that_vanish_and_come_back():
    """While the server runs: it is confined to one CPU, and freed again."""
    with live.Yard("--policy", "fifo", cpus=2) as yard:
        yard.start()
        running_job = yard.submit(GATE, cpus=2)
        yard.wait_log(running_job, "ready")
        waiting = yard.submit("true", cpus=2)
        os.sched_setaffinity(yard.server.pid, yard.cpus[:1])
        wait_until(lambda: node(yard)["cpus"] == 1, "the node has one CPU less")
        expect_equal(yard.job(running_job)["state"], "running")
        expect("jobs hold 2 CPUs, but it has only 1" in node(yard)["notice"], node(yard))
        wait_until(lambda: yard.job(waiting)["waits_for"], "it waits outside the queue")
        os.sched_setaffinity(yard.server.pid, yard.cpus)
        wait_until(lambda: node(yard)["cpus"] == 2, "the node has both again")
        wait_until(lambda: yard.job(running_job)["cpuset"] == ",".join(map(str, yard.cpus)) or
                   yard.job(running_job)["cpuset"] == f"{yard.cpus[0]}-{yard.cpus[-1]}",
                   "the job has both again")
        (yard.dir / "go").touch()
        for job in (running_job, waiting):
            yard.wait_for(job, "done")
        expect_equal([yard.job(j)["attempt"] for j in (running_job, waiting)], [1, 1])
        yard.sweep()
        yard.finish()


def restart_machine(yard, boot):
    """The next server runs on a machine that was restarted, as far as it can tell."""
    (yard.dir / "boot").write_text(f"{boot}\n")

    def prepare():
        separate_mounts()
        libc = ctypes.CDLL(None, use_errno=True)
        bind = 4096
        if libc.mount(os.fsencode(yard.dir / "boot"), b"/proc/sys/kernel/random/boot_id", None, bind,
                      None):
            raise OSError(ctypes.get_errno(), "mount")

    yard.prepare = prepare


def test_a_success_before_the_machine_was_restarted():
    """It ended while no server was there; then the machine went down."""
    if os.geteuid():
        raise live.Skip("not root")
    with live.Yard(cpus=2) as yard:
        restart_machine(yard, "11111111-1111-4111-8111-111111111111")
        yard.start()
        ends = yard.submit(f"{GATE}; sleep 1; echo ran >>runs", requeue=True, retries=2, cpus=1)
        dies = yard.submit("echo ready; sleep 600", cpus=1)
        for job in (ends, dies):
            yard.wait_log(job, "ready")
        yard.kill()
        (yard.dir / "go").touch()
        wait_until((yard.state / f"jobs/{ends}/1/exit.json").exists, "its record")
        for pid, _ in yard.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        restart_machine(yard, "22222222-2222-4222-8222-222222222222")
        yard.start()
        done = yard.wait_for(ends, "done")
        expect_equal(done["attempt"], 1)
        expect_equal((yard.dir / "runs").read_text(), "ran\n")
        expect(done["run_s"] >= 1, f"it ran for {done['run_s']} s")
        expect_equal(done["ended"], done["attempts"][0]["ended"], "when it ended")
        expect_equal(yard.wait_for(dies, "failed")["reason"], "the machine was restarted")
        yard.finish()


NVML = r"""
#include <stdio.h>
#include <stdlib.h>
static int count(void)
{
    FILE *f = fopen(getenv("FAKE_GPUS"), "r");
    int n = -1;
    if (f && fscanf(f, "%d", &n) != 1)
        n = -1;
    if (f)
        fclose(f);
    return n;
}
int nvmlInit_v2(void) { return count() < 0 ? 9 : 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = count(); return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = (void *)(size_t)(i + 1); return 0; }
int nvmlDeviceGetUUID(void *d, char *t, unsigned n)
{ snprintf(t, n, "GPU-%d", (int)(size_t)d); return 0; }
int nvmlDeviceGetName(void *d, char *t, unsigned n) { (void)d; snprintf(t, n, "Test"); return 0; }
int nvmlDeviceGetMemoryInfo(void *d, unsigned long long *m)
{ (void)d; m[0] = m[1] = 1ULL << 34; m[2] = 0; return 0; }
"""


def test_gpus_that_vanish_and_come_back():
    """As while their driver is upgraded."""
    with live.Yard("--policy", "fifo", cpus=2) as yard:
        gpus = yard.dir / "gpus"
        subprocess.run([os.environ.get("CC", "cc"), "-w", "-shared", "-fPIC", "-x", "c", "-o",
                        str(yard.dir / "libnvidia-ml.so.1"), "-"], input=NVML, text=True, check=True)
        yard.environment.update(LD_LIBRARY_PATH=str(yard.dir), FAKE_GPUS=str(gpus))
        gpus.write_text("none")
        yard.start()
        wait_until(lambda: "the driver is not loaded" in node(yard)["notice"], "the node says why")
        expect_equal(node(yard)["gpus"], 0)
        gpus.write_text("2")
        wait_until(lambda: node(yard)["gpus"] == 2, "the GPUs are there")
        expect("driver" not in node(yard)["notice"], node(yard))
        job = yard.submit(f"{GATE}; echo $CUDA_VISIBLE_DEVICES", gpus=2, cpus=1)
        yard.wait_log(job, "ready")
        gpus.write_text("none")
        wait_until(lambda: node(yard)["gpus"] == 0, "the GPUs are gone")
        expect_equal(yard.job(job)["state"], "running")
        expect("jobs hold 2 GPUs, but it has only 0" in node(yard)["notice"], node(yard))
        gpus.write_text("2")
        wait_until(lambda: node(yard)["gpus"] == 2, "they are back")
        (yard.dir / "go").touch()
        yard.wait_for(job, "done")
        expect("GPU-1,GPU-2" in yard.logs(job), yard.logs(job))
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


def expect_refusals(yard, words, repair):
    """Starts fail for a reason that is not the jobs'; once it is repaired all goes on."""
    jobs = [yard.submit("true", retries=0, cpus=2) for _ in range(2)]
    wait_until(lambda: words in node(yard)["notice"], lambda: f"the node says '{words}': {node(yard)}")
    wait_until(lambda: node(yard)["state"] in ("closed", "draining"), "the node is closed")
    expect_equal(yard.get("/health")["status"], "degraded")
    wait_until(lambda: node(yard)["state"] == "draining",
               lambda: f"the node is drained: {node(yard)}")
    expect("failed starts in a row" in node(yard)["notice"], node(yard))
    expect_equal({yard.job(j)["state"] for j in jobs} - {"queued", "starting"}, set())
    expect_equal({yard.job(j)["failures"] for j in jobs}, {0})
    repair()
    for job in jobs:
        yard.wait_for(job, "done")
    wait_until(lambda: node(yard)["state"] == "up", "the node is up again")
    expect_equal(yard.get("/health"), {"status": "ok"})


def test_no_inodes():
    """The attempts' directories are on a file system that has none left."""
    with live.Yard(cpus=2) as yard:
        jobs = yard.state / "jobs"
        jobs.mkdir(parents=True)
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "nr_inodes=200,size=8m", "tmpfs",
                               str(jobs)], capture_output=True, text=True, check=False)
        if made.returncode:
            raise live.Skip(f"cannot mount a small file system: {made.stderr.strip()}")
        try:
            yard.start()
            yard.wait_for(yard.submit("true"), "done")
            left = os.statvfs(jobs).f_ffree
            for i in range(left):
                (jobs / f"filler-{i}").touch()
            expect_refusals(yard, "No space left on device",
                            lambda: [f.unlink() for f in jobs.glob("filler-*")])
            yard.sweep()
            yard.finish()
        finally:
            yard.kill()
            subprocess.run(["umount", "-l", str(jobs)], check=False)


def remount(yard, mode):
    """Makes the groups' file systems read-only, or not, for the server alone."""
    for base in yard.group_bases():
        done = subprocess.run(["nsenter", "-t", str(yard.server.pid), "-m", "mount", "-o",
                               f"remount,bind,{mode}", str(base.parent)],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise live.Skip(f"cannot remount control groups: {done.stderr.strip()}")


def test_groups_that_are_refused():
    with live.Yard(cpus=2) as yard:
        yard.prepare = separate_mounts
        yard.start()
        yard.wait_for(yard.submit("true"), "done")
        if not yard.group_bases():
            raise live.Skip("no control groups")
        remount(yard, "ro")
        try:
            expect_refusals(yard, "cannot make the control group", lambda: remount(yard, "rw"))
        finally:
            remount(yard, "rw")
        yard.sweep()
        yard.finish()


def separate_mounts():
    """In the server's process: what is mounted from here on concerns nobody else."""
    libc = ctypes.CDLL(None, use_errno=True)
    namespace, private, recursive = 0x20000, 1 << 18, 16384
    if libc.unshare(namespace) or libc.mount(b"none", b"/", None, private | recursive, None):
        raise OSError(ctypes.get_errno(), "unshare")


def test_groups_that_were_removed():
    """By somebody who found them empty: they are made again."""
    with live.Yard(cpus=2) as yard:
        yard.start()
        yard.wait_for(yard.submit("true"), "done")
        bases = yard.group_bases()
        if not bases:
            raise live.Skip("no control groups")
        wait_until(lambda: not yard.cgroups(), "no group is left")
        for base in bases:
            base.rmdir()
        yard.wait_for(yard.submit("true"), "done")
        expect_equal(yard.get("/health"), {"status": "ok"})
        expect_equal(sorted(yard.group_bases()), sorted(bases))
        yard.finish()


def test_a_thousand_idle_connections():
    """They leave enough descriptors to start jobs with, and others are served."""
    token = "a-token-for-this-test-only"
    with live.Yard("--listen", "127.0.0.1:0", environment={"TRAINYARD_TOKEN": token},
                   cpus=2) as yard:
        yard.limits = {resource.RLIMIT_NOFILE: (1024, 1024)}
        yard.start()
        port = int(re.search(r"port=(\d+)", yard.output()).group(1))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(1000)]
        try:
            jobs = [yard.submit("ulimit -n", cpus=0.25) for _ in range(20)]
            for job in jobs:
                yard.wait_for(job, "done")
                expect_equal(yard.logs(job), "1024\n")
            expect_equal(yard.get("/health"), {"status": "ok"})
            with socket.create_connection(("127.0.0.1", port)) as known:
                known.sendall(f"GET /api/v1/version HTTP/1.1\r\nHost: x\r\n"
                              f"Authorization: Bearer {token}\r\n\r\n".encode())
                known.settimeout(60)
                answer = known.recv(100)
            # From the same address there are many already: it is told so, or served.
            expect(answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 503")), answer)
            opened = len(os.listdir(f"/proc/{yard.server.pid}/fd"))
            expect(opened < 700, f"the server has {opened} descriptors")
        finally:
            for connection in idle:
                connection.close()
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        yard.sweep()
        yard.finish()


def test_jobs_keep_their_limit_of_descriptors():
    """Though the server has raised its own."""
    with live.Yard(cpus=2) as yard:
        yard.limits = {resource.RLIMIT_NOFILE: (512, 2048)}
        yard.start()
        limits = pathlib.Path(f"/proc/{yard.server.pid}/limits").read_text()
        expect_equal(re.search(r"Max open files +(\d+) +(\d+)", limits).groups(), ("2048", "2048"))
        job = yard.submit("ulimit -Sn; ulimit -Hn")
        yard.wait_for(job, "done")
        expect_equal(yard.logs(job), "512\n2048\n")
        yard.finish()


if __name__ == "__main__":
    live.main()
