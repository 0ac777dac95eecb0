#!/usr/bin/env python3
"""How jobs are stopped, paused and limited: without cgroups, by the session and
the tree of processes alone. cgroups.py has the same with them."""
import os
import pathlib
import signal
import time

import lib
from lib import expect, expect_equal, expect_lasts, wait_until

LOOP = "echo up >up; while :; do sleep 0.01; done"


def cpu_ticks(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_stop_is_heard(bench):
    a = bench.attempt(f"trap 'sleep 0.2; echo saved; exit 7' TERM; {LOOP}", server=bench.server())
    a.file("up")
    expect_equal(a.send("stop", grace_s=10, signal=15, reason="preempt")["type"], "ok", "answer")
    record = a.wait()
    expect_equal((record["code"], record["signal"], record["stop"]), (7, 0, "preempt"), "record")
    expect(b"saved" in a.log() and b"[trainyard: stopped: preempt]" in a.log(), a.log())


def test_own_checkpoint_signal(bench):
    a = bench.attempt(f"trap 'exit 8' USR2; echo $TRAINYARD_CHECKPOINT_SIGNAL >told; {LOOP}",
                      server=bench.server(), checkpoint_signal=int(signal.SIGUSR2))
    a.file("up")
    expect_equal(a.file("told"), str(int(signal.SIGUSR2)), "$TRAINYARD_CHECKPOINT_SIGNAL")
    a.send("stop", reason="preempt")
    expect_equal(a.wait()["code"], 8, "code")


def test_job_that_ignores_sigterm_is_killed(bench):
    a = bench.attempt(f"trap '' TERM; {LOOP}", server=bench.server())
    a.file("up")
    begin = time.monotonic()
    a.send("stop", grace_s=0.5, signal=15, reason="cancel")
    record = a.wait()
    took = time.monotonic() - begin
    expect(took > 0.5, f"grace of 0.5 s took {took:.2f} s")
    expect_equal((record["code"], record["signal"]), (137, 9), "record")
    expect("did not end in time" in record["reason"], record["reason"])


def test_no_grace_kills_at_once(bench):
    a = bench.attempt(f"trap 'echo late' TERM; {LOOP}", server=bench.server())
    a.file("up")
    a.send("stop", grace_s=0, reason="cancel")
    expect_equal(a.wait()["signal"], 9, "signal")
    expect(b"late" not in a.log(), a.log())


def test_second_stop_shortens_the_grace(bench):
    a = bench.attempt(f"trap 'echo term >>got' TERM; {LOOP}", server=bench.server())
    a.file("up")
    a.send("stop", grace_s=600, signal=15, reason="preempt")
    wait_until(lambda: (a.dir / "got").exists(), what="the signal")
    a.send("stop", grace_s=6000, signal=15, reason="preempt")
    a.send("stop", grace_s=0.3, signal=15, reason="cancel")
    record = a.wait()
    expect_equal((record["stop"], record["signal"]), ("cancel", 9), "record")
    expect_equal((a.dir / "got").read_text(), "term\n", "the signal was sent once")


def test_work_under_a_shell_may_finish_its_checkpoint(bench):
    # The shell dies of SIGTERM at once; what it had started saves for a while.
    child = bench.program("child.py", """#!/usr/bin/python3
import signal, time, sys
def save(*_):
    time.sleep(0.5)
    open("saved", "w").write("yes\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
open("up", "w").write("yes\\n")
while True:
    time.sleep(0.01)
""")
    a = bench.attempt(f"{child}; true", server=bench.server())
    a.file("up")
    a.send("stop", grace_s=600, signal=15, reason="preempt")
    record = a.wait()
    expect_equal(record["signal"], 15, "signal of the shell")
    expect_equal(a.file("saved"), "yes", "checkpoint")


def test_leftovers_of_an_orderly_end_do_not_hold_it_up(bench):
    a = bench.attempt("sh -c \"trap '' TERM; while :; do sleep 0.01; done\" & "
                      f"trap 'exit 0' TERM; {LOOP}", server=bench.server())
    a.file("up")
    a.send("stop", grace_s=600, signal=15, reason="preempt")
    expect_equal(a.wait()["code"], 0, "code")


def test_stop_reaches_what_was_detached(bench):
    a = bench.attempt("setsid sh -c \"trap 'echo told >told; exit' TERM; echo up >up2;"
                      " while :; do sleep 0.01; done\" & " + LOOP, server=bench.server())
    a.file("up2")
    a.send("stop", grace_s=600, signal=15, reason="cancel")
    a.wait()
    expect_equal(a.file("told"), "told", "the detached process")


def test_fork_bomb_without_a_cgroup_of_its_own(bench):
    # Bounded from outside, as a user's limit would; the conductor knows of no cgroup.
    bomb = bench.program("bomb.py", lib.FORK_BOMB)
    limit = bench.cgroup_v1("pids")[0]["path"]
    with open(limit + "/pids.max", "w", encoding="ascii") as f:
        f.write("150")
    a = bench.attempt([bomb], server=bench.server(), start=False)
    a.start(inside=limit)
    full = pathlib.Path(limit, "pids.current")
    wait_until(lambda: int(full.read_text()) >= 149, what="a full table of processes")
    a.send("stop", grace_s=0.1, reason="cancel")
    a.wait()
    expect_equal(lib.marked(a.mark), [], "processes")


def test_signal_command(bench):
    a = bench.attempt("trap 'echo got >>got' USR1;"
                      "sh -c \"trap 'echo child >>got' USR1; echo up >up2;"
                      " while :; do sleep 0.01; done\" & " + LOOP, server=bench.server(), grace_s=0)
    a.file("up")
    a.file("up2")
    got = lambda: sorted((a.dir / "got").read_text().split()) if (a.dir / "got").exists() else []
    expect_equal(a.send("signal", number=int(signal.SIGUSR1))["type"], "ok", "answer")
    wait_until(lambda: got() == ["child", "got"], what="group")
    a.send("signal", number=int(signal.SIGUSR1), to="leader")
    wait_until(lambda: got() == ["child", "got", "got"], what="leader")
    answer = a.send("signal", number=99)
    expect_equal(answer["type"], "error", "answer")
    expect("number" in answer["text"], answer)
    a.send("stop", grace_s=0)
    a.wait()


def test_freeze_and_thaw(bench):
    a = bench.attempt("sh -c 'while :; do :; done' & while :; do echo x >>beat; sleep 0.01; done",
                      server=bench.server())
    wait_until(lambda: (a.dir / "beat").exists(), what="a beat")
    expect_equal(a.send("freeze")["type"], "ok", "answer")
    pids = lib.marked(a.mark)
    seen = lambda: ([cpu_ticks(p) for p in pids], (a.dir / "beat").stat().st_size)
    before = seen()
    expect_lasts(lambda: seen() == before, 0.3, "CPU time or output while frozen")
    expect_equal(a.send("thaw")["type"], "ok", "answer")
    wait_until(lambda: (a.dir / "beat").stat().st_size > before[1], what="a beat after the thaw")
    a.send("stop", grace_s=0)
    a.wait()


def test_stop_of_a_frozen_job(bench):
    a = bench.attempt(f"trap 'exit 5' TERM; {LOOP}", server=bench.server())
    a.file("up")
    a.send("freeze")
    a.send("stop", grace_s=600, signal=15, reason="cancel")
    expect_equal(a.wait()["code"], 5, "code")


def test_freeze_of_a_job_that_ends(bench):
    a = bench.attempt(f"trap '' TERM; {LOOP}", server=bench.server())
    a.file("up")
    a.send("stop", grace_s=600, signal=15)
    expect_equal(a.send("freeze")["type"], "error", "answer")
    a.send("stop", grace_s=0)
    a.wait()


def test_time_limit_with_warning(bench):
    a = bench.attempt("trap 'date +%s.%N >warned' USR1; trap 'date +%s.%N >stopped; exit 3' TERM;"
                      + LOOP, server=bench.server(), grace_s=600,
                      signal={"number": int(signal.SIGUSR1), "before_s": 0.4})
    a.file("up")
    limit = a.set_limit(0.8)
    record = a.wait()
    begun = record["started_us"] / 1e6
    warned, stopped = (float(a.file(f)) - begun for f in ("warned", "stopped"))
    expect(limit - 0.4 < warned < stopped, f"warned after {warned} s of {limit}, stopped {stopped}")
    expect(stopped > limit, f"stopped after {stopped} s of {limit}")
    expect_equal((record["code"], record["timeout"]), (3, True), "record")
    expect("time limit" in record["reason"], record["reason"])


def test_time_limit_of_a_job_that_ignores_it(bench):
    a = bench.attempt(f"trap '' TERM; {LOOP}", server=bench.server(), grace_s=0.3)
    a.file("up")
    a.set_limit(0.1)
    record = a.wait()
    expect_equal((record["signal"], record["timeout"]), (9, True), "record")


def test_warning_that_ends_a_shell_leaves_its_work_running(bench):
    child = bench.program("child.py", """#!/usr/bin/python3
import signal, time
signal.signal(signal.SIGUSR1, lambda *_: open("warned", "w").write("yes\\n"))
open("up", "w").write("yes\\n")
while True:
    time.sleep(0.01)
""")
    a = bench.attempt(f"{child}; true", server=bench.server(),
                      signal={"number": int(signal.SIGUSR1), "before_s": 0.7})
    a.file("up")
    a.set_limit(1)
    record = a.wait()
    expect_equal(a.file("warned"), "yes", "warning")
    expect_equal(record["timeout"], True, "the rest ran until the limit")


def test_frozen_time_does_not_count(bench):
    a = bench.attempt(LOOP, server=bench.server())
    a.file("up")
    a.send("freeze")
    a.set_limit(0.3)
    expect_lasts(lambda: not a.messages("exit"), 0.8, "ended while frozen")
    a.send("thaw")
    expect_equal(a.wait()["timeout"], True, "timeout")


def test_limit_can_be_changed(bench):
    a = bench.attempt(LOOP, server=bench.server(), time_limit_s=1000)
    a.file("up")
    expect_equal(a.send("limit", time_limit_s=0.1)["type"], "ok", "answer")
    expect_equal(a.wait()["timeout"], True, "timeout")
    a = bench.attempt(LOOP, server=a.server, grace_s=0)
    a.file("up")
    limit = a.set_limit(2)
    a.send("limit", time_limit_s=None)
    expect_lasts(lambda: not a.messages("exit"), a.begun + limit + 0.3 - time.monotonic(), "limit")
    a.send("stop")
    expect_equal(a.wait()["timeout"], False, "timeout")


def test_resize_sets_the_cpus(bench):
    if os.cpu_count() < 2:
        raise lib.Skip("needs two CPUs")
    a = bench.attempt("taskset -cp $$ >first; while ! [ -e go ]; do sleep 0.01; done;"
                      "taskset -cp $$ >second; sh -c 'taskset -cp $$' >third",
                      server=bench.server(), cpuset_os="0-1", cpuset=[0, 1])
    a.file("first")
    answer = a.send("resize", cpus=1.5, cpuset_os="1")
    expect_equal((answer["type"], answer["cpus"], answer["threads"]), ("applied", 1.5, 2), "answer")
    expect_equal(a.send("resize", cpus=1, cpuset_os="9-x")["type"], "error", "bad list")
    (a.dir / "go").touch()
    a.wait()
    expect((a.dir / "first").read_text().rstrip().endswith("0,1"), "first")
    for name in ("second", "third"):
        expect((a.dir / name).read_text().rstrip().endswith(" 1"), name)


def test_nice(bench):
    a = bench.attempt("nice >nice", nice=15)
    a.wait()
    expect_equal(a.file("nice"), "15", "nice")


lib.main()
