#!/usr/bin/env python3
"""FlowCon with real jobs whose learning is scripted: what it is told of them, the lists that
they are in, what users are told of it, and what their control groups are given."""
import contextlib
import json
import re
import signal
import sqlite3

from lib import TRAINER, Learner, live, policy, quota, wait_until
from live import expect, expect_equal

FLOWCON = "flowcon:itval=1s:alpha=2%:beta=2"


def spans(yard):
    """Seconds from each decision to the next that was wanted, newest first."""
    plans = [d["plan"] for d in yard.get("/decisions?limit=20")["decisions"]]
    return [(p["wake_at"] - p["now"]) / 1e6 for p in plans if p["wake_at"]]


def test_flowcon_lists_and_limits():
    with live.Yard("--policy", FLOWCON) as yard:
        yard.start()
        fast, slow = Learner(yard, "fast", 10), Learner(yard, "slow", 10)
        fast.wait_list("new")
        slow.wait_list("new")
        wait_until(lambda: "per second on" in slow.standing(), "it was measured")
        expect("list of new jobs" in slow.standing(), slow.standing())
        slow.learn(0.01)
        slow.wait_list("new", "watching", "completing")
        wait_until(lambda: slow.weight() < fast.weight() / 2,
                   lambda: f"weights {slow.weight()} and {fast.weight()}")
        text = slow.standing()
        expect(re.search(r"list of completing jobs(, for \S+)?: its growth is \S+ % per second on all "
                         r"CPUs of its node, below the alpha of 2 %. It is limited to \S+ of the", text), text)
        expect("list of new jobs" in fast.standing(), fast.standing())
        for why in (e["why"] for e in yard.events(slow.id, "job.listed")):
            expect("Under flowcon it is in the list of" in why, why)
        reasons = yard.get(f"/jobs/{slow.id}/explain")["reasons"]
        expect(any("completing jobs" in r["text"] for r in reasons), reasons)
        shown = yard.run("show", str(slow.id)).stdout
        expect("standing" in shown and "completing jobs" in shown, shown)
        expect("growth" in shown and "per second on all of it" in shown, shown)
        series = yard.get(f"/jobs/{slow.id}/progress")["growth"]
        expect(len(series) >= 2 and all(p["span_s"] > 0 for p in series), series)
        expect(series[0]["cpu"] > 5 * series[-1]["cpu"], f"growth falls in {series}")
        expect(all(p["memory"] > 0 for p in series), series)
        node = yard.get("/load")["samples"][-1]["nodes"][0]
        expect(node["memory_used_mb"] > 0 and node["moves"] == 0, node)
        # What it may use at most is what it asked for at most; the limit is a weight.
        expect_equal(quota(yard, slow.id), yard.job(slow.id)["cpus_max"], "quota")
        # A third one comes: the listener looks at once, and it is not limited.
        third = Learner(yard, "third", 10)
        third.wait_list("new")
        # It learns again: back to the first list.
        slow.learn(10)
        slow.wait_list("new", "watching", "completing", "new")
        for job in (fast, slow, third):
            job.end()
        yard.finish()


def test_flowcon_backs_off_when_all_are_completing():
    with live.Yard("--policy", FLOWCON) as yard:
        yard.start()
        jobs = [Learner(yard, name, 10) for name in ("a", "b")]
        for job in jobs:
            wait_until(lambda j=job: "per second on" in j.standing(), "it was measured")
        for job in jobs:
            job.learn(0)
        for job in jobs:
            job.wait_list("new", "watching", "completing")
        wait_until(lambda: jobs[0].weight() == jobs[1].weight(), "they compete freely")
        expect("It is not limited" in jobs[0].standing(), jobs[0].standing())
        # The looks that find nothing to do come later and later.
        wait_until(lambda: {2, 4, 8} <= set(spans(yard)), lambda: f"2, 4 and 8 s in {spans(yard)}")
        # One joins: it looks again at once.
        third = Learner(yard, "c", 10)
        third.wait_list("new")
        expect(1 in spans(yard)[:2], f"the first interval again in {spans(yard)}")


def test_limits_are_undone_with_the_policy():
    with live.Yard("--policy", FLOWCON) as yard:
        yard.start()
        jobs = [Learner(yard, name, slope) for name, slope in (("a", 10), ("b", 10))]
        wait_until(lambda: "per second on" in jobs[1].standing(), "it was measured")
        jobs[1].learn(0)
        wait_until(lambda: jobs[1].weight() < jobs[0].weight(), "a lower weight")
        policy(yard, "elastic-fifo")
        wait_until(lambda: jobs[1].weight() == jobs[0].weight(), "equal weights")
        for job in jobs:
            wait_until(lambda j=job: quota(yard, j.id) == yard.job(j.id)["cpus"], "its own CPUs")
            expect("flowcon" not in job.standing(), job.standing())
        expect(sum(yard.job(j.id)["cpus"] for j in jobs) > 1, "they have grown")
        # And back: the first gives up what it does not need to reserve, all run on.
        policy(yard, FLOWCON)
        third = Learner(yard, "c", 10)
        yard.wait_for(third.id, "running")
        expect(all("flowcon" in j.standing() for j in (*jobs, third)), "standing")
        for job in (*jobs, third):
            job.end()
        yard.finish()


def test_a_job_that_says_nothing_holds_its_part():
    with live.Yard("--policy", FLOWCON) as yard:
        yard.start()
        silent = yard.submit("while :; do :; done", cpus="0.1-1")
        learner = Learner(yard, "learner", 10)
        wait_until(lambda: "per second on" in learner.standing(), "it was measured")
        wait_until(lambda: [e["list"] for e in yard.events(silent, "job.listed")] ==
                   ["new", "unmeasured"], "it is in no list after three intervals")
        wait_until(lambda: any("in no list" in s and "it has reported no metric yet" in s and
                               "It is limited to" in s for s in yard.job(silent)["standing"]),
                   lambda: yard.job(silent)["standing"])
        # It does not keep the others from competing freely.
        learner.learn(0)
        learner.wait_list("new", "watching", "completing")
        wait_until(lambda: "It is not limited" in learner.standing(), learner.standing)
        yard.cancel(silent)
        learner.end()


def threads(yard, job):
    """That the job was last seen to run on."""
    return re.findall(rf"job={job} attempt=1 cpus=\S+ threads=(\d+)", yard.output())[-1:]


def test_threads_follow_the_share():
    """Where jobs share CPUs by weight, each has threads for what it gets of them."""
    with live.Yard("--policy", "docker", cpus=2) as yard:
        yard.start()
        jobs = [yard.submit(TRAINER, "--steps", "1000000", cpus="0.5-2")]
        wait_until(lambda: threads(yard, jobs[0]) == ["2"], "two threads for one that is alone")
        expect_equal(yard.job(jobs[0])["cpus"], 0.5, "it holds the least that it asked for")
        jobs.append(yard.submit(TRAINER, "--steps", "1000000", cpus="0.5-2"))
        for job in jobs:
            wait_until(lambda j=job: threads(yard, j) == ["1"], f"one thread of {job} next to another")
        yard.cancel(jobs[0])
        wait_until(lambda: threads(yard, jobs[1]) == ["2"], "two threads when that is gone")


def samples(yard):
    """What the engine was told of jobs' metrics and usage."""
    with contextlib.closing(sqlite3.connect(f"file:{yard.state}/trainyard.db?mode=ro",
                                            uri=True)) as db:
        rows = [json.loads(row[0]) for row in db.execute(
            "SELECT data FROM journal WHERE kind = 'event' ORDER BY seq")]
    return [row["sample"] for row in rows if row["kind"] == "sample"]


def test_what_the_monitor_sees():
    """Metric, CPU time, memory and I/O of a job, when the policy looks at them."""
    with live.Yard("--policy", "elastic-fifo") as yard:
        yard.start()
        job = Learner(yard, "job", 10)
        wait_until(lambda: len(yard.get(f"/jobs/{job.id}/progress")["samples"]) > 2, "samples")
        expect_equal(samples(yard), [], "nobody needs them")
        policy(yard, FLOWCON)
        wait_until(lambda: len(samples(yard)) > 4, "samples for the engine")
        yard.kill(signal.SIGTERM)
        first, *rest = samples(yard)
        expect(first["metric"] > 95, f"the first that it ever said: {first}")
        for before, after in zip(rest, rest[1:]):
            # The first one tells what was reported before the policy came.
            same = after["metric_at"] == before["metric_at"]
            expect(after["at"] > before["at"] and after["cpu_time"] > before["cpu_time"] and
                   (same or after["metric"] < before["metric"]), f"{before}, then {after}")
            expect(after["memory_mb"] > 1 and after["block_bytes"] >= 0, after)
        said = yard.run("replay").stdout
        expect("all reproduced" in said, said)


if __name__ == "__main__":
    live.main()
