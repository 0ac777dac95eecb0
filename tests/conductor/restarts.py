#!/usr/bin/env python3
"""The conductor alone: a job that is started again with another size, as the same attempt."""
import json

import lib
from lib import expect, expect_equal, expect_lasts, wait_until

# Says what it has, and saves itself when it is asked to; slowly, while it is told to.
SAVER = """
trap 'echo saving; while [ -e slow ]; do sleep 0.01; done; echo saved; exit 143' TERM
echo "run $CPUS $EXTRA"
while :; do sleep 0.01; done
"""
STUBBORN = "trap '' TERM; echo \"run $CPUS $EXTRA\"; while :; do sleep 0.01; done"


def start(bench, command=SAVER, **options):
    a = bench.attempt(command, **{"server": bench.server(), "env": {"CPUS": "2", "EXTRA": "x"},
                                  "cpus": 2.0, **options})
    wait_until(lambda: b"run 2 x\n" in a.log(), what="its first run")
    return a


def restart(a, cpus, **more):
    answer = a.send("restart", cpus=cpus, **{"env": {"CPUS": f"{cpus}"}, **more})
    expect_equal(answer["type"], "ok", f"answer {answer}")


def wait_run(a, *want):
    def runs():
        return [line.split()[1] for line in a.log().decode().splitlines() if line.startswith("run ")]
    wait_until(lambda: runs() == list(want), what=f"runs {want}")


def end(a):
    a.send("stop", grace_s=0)
    record = a.wait()
    expect_equal(record["stop"], "stop", "stop")
    return record


def test_it_runs_again_with_the_new_variables(bench):
    a = start(bench)
    first = a.leader()
    restart(a, 1)
    wait_run(a, "2", "1")
    said = a.expect_message("restarted")
    expect_equal((said["incarnation"], said["cpus"]), (1, 1.0), said)
    expect(said["pause_us"] > 0, said)
    log = a.log().decode().replace("Terminated\n", "")  # the shell's word about its `sleep`
    expect_equal(log, "run 2 x\nsaving\nsaved\n[trainyard: starting again with 1 CPUs]\n"
                 "run 1 x\n", "one log, all of it")
    expect(a.leader() != first and lib.alive(a.leader()), "the claim names another process")
    restart(a, 3, env={"CPUS": "3", "EXTRA": "y"})
    wait_until(lambda: b"run 3 y\n" in a.log(), what="its third run")
    wait_until(lambda: [m["incarnation"] for m in a.messages("restarted")] == [1, 2],
               what="numbers")
    end(a)


def test_the_first_start_counts(bench):
    """It is one attempt, which began when its command first ran."""
    a = start(bench)
    began = a.expect_message("started")["at_us"]
    restart(a, 1)
    wait_run(a, "2", "1")
    expect_equal({m["at_us"] for m in a.messages("started")}, {began}, "start")
    expect_equal(end(a)["started_us"], began, "start in the record")


def test_only_the_last_size_counts(bench):
    a = start(bench)
    (a.dir / "slow").touch()
    restart(a, 1)
    wait_until(lambda: b"saving" in a.log(), what="it saves itself")
    for cpus in (4, 3):
        restart(a, cpus)
    (a.dir / "slow").unlink()
    wait_run(a, "2", "3")
    end(a)


def test_it_ignores_the_signal(bench):
    """It is killed when its grace is over, in groups of every kind, and runs again."""
    def groups():
        yield []
        try:
            for some in (bench.cgroup_v1(), bench.cgroup_v2(),
                         bench.cgroup_v1() + bench.cgroup_v2()):
                yield some
        except lib.Skip:
            pass

    for group in groups():
        a = start(bench, STUBBORN, cgroup=group)
        restart(a, 1, grace_s=0.2)
        wait_run(a, "2", "1")
        expect_lasts(lambda b=a: not b.messages("exit"), 0.3, "it runs on")
        end(a)


def test_what_it_left_running_is_gone(bench):
    a = start(bench, """sh -c 'trap "" TERM; echo $$ >>left; while :; do sleep 0.01; done' &"""
              + SAVER)
    left = int(a.file("left"))
    restart(a, 1, grace_s=0.3)
    wait_run(a, "2", "1")
    expect(not lib.alive(left), "it still runs")
    end(a)


def test_a_stop_overrides_it(bench):
    a = start(bench)
    (a.dir / "slow").touch()
    restart(a, 1)
    wait_until(lambda: b"saving" in a.log(), what="it saves itself")
    a.send("stop", reason="cancel", grace_s=30)
    (a.dir / "slow").unlink()
    record = a.wait()
    expect_equal((record["stop"], record["code"]), ("cancel", 143), record)
    expect(b"run 1" not in a.log(), a.log())


def test_one_that_is_done_ends(bench):
    a = bench.attempt("trap 'exit 0' TERM; echo 'step 5/5 loss 0.1'; while :; do sleep 0.01; done",
                      server=bench.server())
    a.expect_message("progress", lambda m: m.get("step") == 5)
    restart(a, 1)
    record = a.wait()
    expect_equal(record["code"], 0, record)
    expect(b"starting again" not in a.log(), a.log())


def test_one_that_ends_by_itself_meanwhile_runs_again(bench):
    """Who cannot tell that it was done is asked to go on; it finds its checkpoint."""
    a = start(bench, "trap 'exit 0' TERM; echo \"run $CPUS $EXTRA\"; while :; do sleep 0.01; done")
    restart(a, 1)
    wait_run(a, "2", "1")
    end(a)


def test_no_second_start_if_it_cannot_be(bench):
    program = bench.program("once", "#!/bin/sh\necho \"run $CPUS $EXTRA\"\n"
                            "while :; do sleep 0.01; done\n")
    a = start(bench, [program])
    (bench.tmp / "once").unlink()
    restart(a, 1)
    record = a.wait()
    expect(record["code"] == 127 and "once" in record["reason"], record)


def test_the_time_limit_counts_all_runs(bench):
    a = start(bench, grace_s=0)
    restart(a, 1, grace_s=5)
    wait_run(a, "2", "1")
    a.set_limit(0.3)
    expect_equal(a.wait()["timeout"], True, "timeout")


def test_frozen_first(bench):
    a = start(bench)
    expect_equal(a.send("freeze")["type"], "ok", "freeze")
    restart(a, 1)
    wait_run(a, "2", "1")
    end(a)


def test_without_a_server(bench):
    """A server that goes does not stop it; the next one hears of the new size."""
    a = start(bench)
    (a.dir / "slow").touch()
    restart(a, 1)
    wait_until(lambda: b"saving" in a.log(), what="it saves itself")
    a.server.close()
    (a.dir / "slow").unlink()
    wait_run(a, "2", "1")
    a.server = bench.server()
    hello = a.expect_message("hello")
    expect_equal(hello["cpus"], 1.0, hello)
    end(a)


def test_bad_commands(bench):
    a = start(bench)
    bad = ({}, {"cpus": 0}, {"cpus": -1}, {"cpus": "two"}, {"cpus": 1, "env": []},
           {"cpus": 1, "env": {"A": 1}}, {"cpus": 1, "env": {"A=B": "c"}},
           {"cpus": 1, "env": {"": "c"}},
           {"cpus": 1, "signal": 99}, {"cpus": 1, "grace_s": -1}, {"cpus": 1, "cpuset_os": 5},
           {"cpus": 1, "to": "nobody"}, {"cpus": 1, "cpuset_os": "0" * 2000})
    for fields in bad:
        answer = a.send("restart", **fields)
        expect_equal(answer["type"], "error", f"{json.dumps(fields)[:80]}: {answer}")
        expect("restart: " in answer["text"], answer)
    expect_lasts(lambda: a.log() == b"run 2 x\n", 0.2, "it was left alone")
    (a.dir / "slow").touch()
    a.send("stop", grace_s=30)
    expect_equal(a.send("restart", cpus=1)["text"], "the job is ending", "too late")
    (a.dir / "slow").unlink()
    a.wait()


lib.main()
