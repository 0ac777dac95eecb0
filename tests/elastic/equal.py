#!/usr/bin/env python3
"""Malleable co-scheduling: a node's CPUs divided between jobs that come and go, by each
variant of `equal`; what is shown, what the control groups have, and that both agree."""
from lib import cpuset, expect_books, live, quota
from live import expect, expect_equal, wait_until


def start_jobs(yard, n, **fields):
    """Starts jobs one after the other; gives their numbers."""
    jobs = []
    for _ in range(n):
        jobs.append(yard.submit("echo ready; sleep 600", **{"cpus": "0.5-2", **fields}))
        yard.wait_log(jobs[-1], "ready")
    return jobs


def expect_sizes(yard, *sizes):
    """Of the jobs that are not over, in order of submission: as recorded and in force."""
    def now():
        return [j["cpus"] for j in yard.jobs("&active=1&order=oldest")]

    wait_until(lambda: now() == list(sizes), lambda: f"sizes of {sizes}, but they are {now()}")
    jobs = [j["id"] for j in yard.jobs("&active=1&order=oldest")]
    for job, size in zip(jobs, sizes):
        expect_books(yard, job, size)
    # Jobs that fill cores have them to themselves.
    cores = [cpuset(yard, job) for job, size in zip(jobs, sizes) if size >= 1]
    expect_equal(len(set(cores)), len(cores), f"cores {cores}")
    return jobs


def test_even_as_jobs_come_and_go():
    with live.Yard("--policy", "malleable", cpus=2) as yard:
        yard.start()
        start_jobs(yard, 1)
        first = expect_sizes(yard, 2)[0]
        start_jobs(yard, 1)
        expect_sizes(yard, 1, 1)
        start_jobs(yard, 1)
        jobs = expect_sizes(yard, 1, 0.5, 0.5)
        expect("Under equal the 2 CPUs of its node are divided in equal parts among 3 jobs: it has 1."
               in yard.job(first)["standing"], yard.job(first)["standing"])
        yard.cancel(jobs[1])
        yard.wait_for(jobs[1], "cancelled")
        expect_sizes(yard, 1, 1)
        yard.cancel(jobs[2])
        yard.wait_for(jobs[2], "cancelled")
        expect_sizes(yard, 2)
        whys = [(s["cpus"], s["why"]) for s in yard.job(first)["sizes"]]
        expect_equal(whys, [(2, "start"), (1, "resize by malleable"), (2, "resize by malleable")])
        yard.sweep()
        yard.finish()


def test_variants():
    for policy, sizes in (("equal:variant=oldest", (1.5, 0.5)), ("static", (2,))):
        with live.Yard("--policy", policy, cpus=2) as yard:
            yard.start()
            start_jobs(yard, 1, cpus="0.5-2" if policy == "static" else "0.5-1.5")
            waiting = yard.submit("sleep 600", cpus="0.5-2")
            if policy == "static":
                expect_equal(yard.job(waiting)["state"], "queued", "the second one")
                yard.cancel(waiting)
            expect_sizes(yard, *sizes)


def test_weights():
    with live.Yard("--policy", "equal:variant=weight", cpus=2) as yard:
        yard.start()
        light = start_jobs(yard, 1, cpus="0.5-1.5", weight=1)[0]
        heavy = start_jobs(yard, 1, cpus="0.5-1.5", weight=10)[0]
        expect_sizes(yard, 0.5, 1.5)
        expect("for its weight of 10 of 11" in yard.job(heavy)["standing"][0],
               yard.job(heavy)["standing"])
        yard.cancel(heavy)
        yard.wait_for(heavy, "cancelled")
        expect_sizes(yard, 1.5)
        expect_equal(quota(yard, light), 1.5, "quota")


if __name__ == "__main__":
    live.main()
