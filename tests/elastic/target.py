#!/usr/bin/env python3
"""TRADL with real jobs whose learning is scripted: one that has reached its target falls
to the floor, and rises when its metric worsens."""
from lib import Learner, live, policy
from live import expect, wait_until

TRADL = "tradl:itval=500ms"


def test_target_falls_to_the_floor_and_rises():
    with live.Yard("--policy", TRADL) as yard:
        yard.start()
        job = Learner(yard, "job", 40, target=50)
        other = Learner(yard, "other", 10)
        job.wait_list("learning")
        expect("its target 50" in job.standing() or "its target is 50" in job.standing(),
               job.standing())
        job.wait_list("learning", "reached")
        job.learn(0)
        wait_until(lambda: job.weight() < other.weight(), "the floor")
        expect("It has reached its target" in job.standing(), job.standing())
        reasons = yard.get(f"/jobs/{job.id}/explain")["reasons"]
        expect(any("reached its target" in r["text"] for r in reasons), reasons)
        # A new server still knows from where the metric came.
        yard.kill()
        yard.start()
        wait_until(lambda: "It has reached its target" in job.standing(), job.standing)
        job.learn(-200)
        wait_until(lambda: job.lists()[-1] == "learning", lambda: f"learning, not {job.lists()}")
        for each in (job, other):
            each.end()
        yard.finish()


def test_target_that_is_chosen_while_jobs_run():
    """The direction in which a metric goes is known although nobody looked at first."""
    with live.Yard("--policy", "docker") as yard:
        yard.start()
        job, other = Learner(yard, "job", 100, target=50), Learner(yard, "other", 10)
        wait_until(lambda: (yard.job(job.id)["progress"] or {"loss": 99})["loss"] < 40, "a low loss")
        job.learn(0)
        policy(yard, TRADL)
        wait_until(lambda: "It has reached its target" in job.standing(), job.standing)
        other.end()
        job.end()


if __name__ == "__main__":
    live.main()
