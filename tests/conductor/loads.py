#!/usr/bin/env python3
"""Many conductors at once, and what one costs. run-tests: alone"""
import fcntl
import os
import pathlib
import signal

import lib
from lib import expect, expect_equal, wait_until


def test_many_at_once(bench):
    jobs = 40 if lib.instrumented() else 200
    server = bench.server()
    attempts = [bench.attempt("echo step 1/2; read x <&-; exec sleep 1000", server=server,
                              grace_s=0, sample_s=1) for _ in range(jobs)]
    wait_until(lambda: all(a.messages("progress") for a in attempts), what="all heard of")
    memory = sum(lib.resident(a.pid) for a in attempts)
    print(f"# {memory / jobs:.0f} KiB resident each")
    expect(memory / jobs < 4096 or lib.instrumented(), f"{memory / jobs:.0f} KiB each")
    for a in attempts:
        server.send(a.job, {"type": "stop", "grace_s": 0, "reason": "cancel"})
    for a in attempts:
        record = a.wait()
        expect_equal((record["signal"], record["stop"]), (9, "cancel"), "record")
        expect_equal(a.messages("progress")[-1]["step"], 1, "progress")


def test_server_restart_under_many(bench):
    server = bench.server()
    attempts = [bench.attempt("exec sleep 1000", server=server, grace_s=0) for _ in range(50)]
    wait_until(lambda: all(a.messages("started") for a in attempts), what="all started")
    server.close()
    again = bench.server()
    for a in attempts:
        a.server = again
    wait_until(lambda: all(a.messages("started") for a in attempts), what="all back")
    for a in attempts:
        again.send(a.job, {"type": "stop", "grace_s": 0, "reason": "cancel"})
    for a in attempts:
        a.wait()


def test_cost_of_an_idle_job(bench):
    server = bench.server()
    groups = []
    try:
        groups = bench.cgroup_v1("cpu", "cpuacct", "memory", "freezer", "pids")
    except lib.Skip:
        pass
    a = bench.attempt("exec sleep 1000", server=server, grace_s=0, sample_s=0.1, cgroup=groups)
    a.expect_message("usage")
    ticks = lambda: sum(int(x) for x in pathlib.Path(f"/proc/{a.pid}/schedstat").read_text()
                        .split()[:1])
    before, count = ticks(), len(a.messages("usage"))
    wait_until(lambda: len(a.messages("usage")) >= count + 20, what="samples")
    each = (ticks() - before) / 1000 / (len(a.messages("usage")) - count)
    print(f"# a usage sample costs {each:.0f} us of CPU time")
    expect(each < 5000 or lib.instrumented(), f"{each} us")
    a.send("stop", grace_s=0)
    a.wait()


def test_killed_conductors_leave_what_can_be_found(bench):
    """Without cgroups too: the claim names the leader, and the lock is gone."""
    attempts = [bench.attempt("setsid sleep 1000 & exec sleep 1000") for _ in range(20)]
    for a in attempts:
        a.leader()
        wait_until(lambda a=a: len(lib.marked(a.mark)) == 2, what="two processes")
        with open(a.dir / "claim", encoding="ascii") as claim:
            try:
                fcntl.flock(claim, fcntl.LOCK_SH | fcntl.LOCK_NB)
                raise lib.Failure("the claim is not locked")
            except BlockingIOError:
                pass
    for a in attempts:
        a.process.send_signal(signal.SIGKILL)
        a.process.wait()
        with open(a.dir / "claim", encoding="ascii") as claim:
            fcntl.flock(claim, fcntl.LOCK_SH | fcntl.LOCK_NB)
        expect(lib.alive(a.leader()), "the leader is gone")
        for pid in lib.marked(a.mark):
            os.kill(pid, signal.SIGKILL)


lib.main()
