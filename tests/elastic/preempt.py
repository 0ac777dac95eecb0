#!/usr/bin/env python3
"""Jobs that must make way for others: stopped and started again, frozen in place, or not
at all, by policies that preempt."""
import re

from lib import TRAINER, frozen, live, policy
from live import expect, expect_equal, expect_lasts, wait_until

COUNT = """
i=0
while :; do i=$((i + 1)); echo $i >count.tmp; mv count.tmp count; sleep 0.02; done
"""


def counted(yard):
    path = yard.dir / "count"
    return int(path.read_text()) if path.exists() else 0


def submit_gate(yard, **fields):
    """A job that runs until the file `go` is there."""
    return yard.submit("echo ready; while [ ! -e go ]; do sleep 0.02; done", **fields)


def test_pause_in_place():
    with live.Yard("--policy", "edf", cpus=2) as yard:
        yard.start()
        job = yard.submit(COUNT, cpus=2, preempt="pause")
        wait_until(lambda: counted(yard), "it runs")
        other = submit_gate(yard, cpus=2, deadline="1h")
        yard.wait_log(other, "ready")
        shown = yard.job(job)
        expect_equal((shown["paused"], shown["cpus"], shown["attempt"]), (True, 0, 1))
        wait_until(lambda: frozen(yard, job), "its group is frozen")
        before = counted(yard)
        expect_lasts(lambda: counted(yard) == before, 0.5, "no progress while it is frozen")
        expect("is paused: it keeps its memory" in yard.get(f"/jobs/{job}/explain")["summary"], "explain")
        # A new server finds it as it is.
        yard.kill()
        yard.start()
        yard.wait_for(other, "running")
        expect(yard.job(job)["paused"] and frozen(yard, job), "still frozen")
        (yard.dir / "go").touch()
        yard.wait_for(other, "done")
        wait_until(lambda: counted(yard) > before, "it goes on")
        expect(not frozen(yard, job), "thawed")
        shown = yard.job(job)
        expect_equal((shown["paused"], shown["cpus"], shown["attempt"]), (False, 2, 1))
        kinds = [e["kind"] for e in yard.events(job) if e["kind"] in ("job.paused", "job.resumed")]
        expect_equal(kinds, ["job.paused", "job.resumed"], "events")
        expect_equal([(s["cpus"], s["why"]) for s in shown["sizes"]],
                     [(2, "start"), (0, f"pause, for job {other}"), (2, "resume")], "sizes")
        said = str(yard.get(f"/jobs/{job}/explain")["reasons"])
        expect(f"It was preempted by job {other} at " in said and
               "lost nothing: it was frozen in place for " in said, said)
        yard.sweep()
        yard.finish()


def test_cancel_while_paused():
    with live.Yard("--policy", "edf", cpus=2) as yard:
        yard.start()
        job = yard.submit(COUNT, cpus=2, preempt="pause", grace="30s")
        wait_until(lambda: counted(yard), "it runs")
        other = submit_gate(yard, cpus=2, deadline="1h")
        yard.wait_log(other, "ready")
        wait_until(lambda: frozen(yard, job), "its group is frozen")
        yard.cancel(job, grace="30s")
        yard.wait_for(job, "cancelled")
        yard.sweep()
        yard.finish()


def test_never():
    """It keeps what it has, and others wait; until it runs it is like any other."""
    with live.Yard("--policy", "edf", cpus=2) as yard:
        yard.start()
        job = yard.submit(COUNT, cpus=2, preempt="never")
        wait_until(lambda: counted(yard), "it runs")
        other = submit_gate(yard, cpus=2, deadline="1h")
        expect_lasts(lambda: yard.job(other)["state"] == "queued", 1, "the other one waits")
        # Also under another policy, and another server.
        for name in ("qos", "voda-ffdl", "las:thresholds=1"):
            policy(yard, name)
            expect_lasts(lambda: yard.job(other)["state"] == "queued", 0.5, f"it waits by {name}")
        yard.kill()
        yard.start()
        expect_lasts(lambda: yard.job(other)["state"] == "queued", 1, "the other one waits")
        shown = yard.job(job)
        expect_equal((shown["state"], shown["attempt"]), ("running", 1))
        yard.cancel(job)
        yard.wait_log(other, "ready")


def resumes(log):
    """(saved, resumed) steps of a trainer's log."""
    return re.findall(r"^saved at step (\d+)$", log, re.M), re.findall(
        r"^resumed at step (\d+)$", log, re.M)


def test_las_stops_and_starts_again():
    with live.Yard("--policy", "las:thresholds=2", cpus=2) as yard:
        yard.start()
        job = yard.submit(TRAINER, "--steps", "100000", cpus=2, preempt="restart")
        wait_until(lambda: any(e["list"] == "queue 1" for e in yard.events(job, "job.listed")),
                   "the second queue: a newcomer goes first")
        expect("Under las it is in queue 1" in yard.job(job)["standing"][0], yard.job(job)["standing"])
        other = submit_gate(yard, cpus=2)
        yard.wait_log(other, "ready")
        wait_until(lambda: yard.job(job)["state"] == "queued", "it waits")
        shown = yard.job(job)
        expect(shown["reason"].startswith(f"preempted by job {other} at "), shown["reason"])
        expect_equal((shown["attempt"], shown["failures"]), (1, 0))
        expect_equal(shown["attempts"][0]["stopped_by"], other, "who got its CPUs")
        (yard.dir / "go").touch()
        yard.wait_for(other, "done")
        wait_until(lambda: yard.job(job)["attempt"] == 2, "its second attempt")
        yard.wait_log(job, "resumed at step")
        saved = resumes(yard.get(f"/jobs/{job}/logs?attempt=1").text)[0][-1]
        expect_equal(resumes(yard.logs(job))[1], [saved], "it goes on with the step that it saved")
        yard.sweep()
        yard.finish()


def test_srtf_lets_the_short_one_go_first():
    with live.Yard("--policy", "srtf", cpus=2) as yard:
        yard.start()
        long = yard.submit(TRAINER, "--steps", "1000000000", cpus=2, preempt="restart")
        wait_until(lambda: (yard.job(long)["progress"] or {"step": 0})["step"] > 100, "it trains")
        # One that says nothing is assumed to take an hour, a billion steps take longer.
        short = yard.submit("exit 0", cpus=2)
        yard.wait_for(short, "done")
        wait_until(lambda: yard.job(long)["attempt"] == 2, "the long one goes on")
        yard.wait_log(long, "resumed at step")
        expect_equal([e["kind"] for e in yard.events(long) if "preempt" in e["kind"]],
                     ["job.preempted"], "events")
        yard.sweep()
        yard.finish()


if __name__ == "__main__":
    live.main()
