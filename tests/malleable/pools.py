#!/usr/bin/env python3
"""Eigen's thread pool, unmodified: as many of its workers are awake as are ordered, and no
wake-up is lost. run-tests: no asan, as the sanitizer hides from the library who begins a
thread."""
import pathlib
import time

import lib
from lib import JOBS, Job, Page, Skip, expect, expect_equal

ROUND = sum(range(16))


def job(page, threads=4):
    if not pathlib.Path("/usr/include/eigen3").is_dir():
        raise Skip("no Eigen (Debian: libeigen3-dev)")
    return Job([JOBS / "pool", threads], page)


def workers(j, rounds, microseconds=20):
    """The median number that took part; every task was done once."""
    done, median = j.ask(f"rounds {rounds} {microseconds}").split()
    expect_equal(int(done), ROUND * rounds, "tasks")
    return int(median)


def follows(j, page, n):
    """Within a few tries: a busy machine delays threads for longer than they are parked."""
    page.order(n)
    for _ in range(40):
        if workers(j, 200) <= n:
            break
    else:
        return False
    return page.applied_generation == page.generation and page.applied_threads == n


def test_workers_follow(tmp):
    page = Page(tmp / "page", 4, 4)
    with job(page) as j:
        for n in (1, 2, 1, 3, 1):
            expect(follows(j, page, n), f"{n} ordered, {page.applied_threads} applied")


def test_workers_come_back(tmp):
    page = Page(tmp / "page", 1, 4)
    with job(page) as j:
        expect(follows(j, page, 1), "one worker")
        page.order(4)
        expect(any(workers(j, 30, 300) > 1 for _ in range(40)), "it stays at one")


def test_without_a_page(_):
    with job(None) as j:
        workers(j, 500)
        expect_equal(j.ask("nested 100"), 1200)


def test_random_orders(tmp):
    page = Page(tmp / "page", 1, 8)
    for threads in (2, 8):
        with job(page, threads) as j, lib.flipping(page, threads, pause=0.0005):
            workers(j, 10000)
            if threads > 3:  # a round has three tasks that wait
                expect_equal(j.ask("nested 2000"), 24000)
    expect(page.applied_generation > 100, f"{page.applied_generation} of {page.generation}")


def test_pools_come_and_go(tmp):
    page = Page(tmp / "page", 1, 8)
    with job(page, 8) as j, lib.flipping(page, 3):
        expect_equal(j.ask("pools 100"), 100)


def test_a_pool_that_rested(tmp):
    page = Page(tmp / "page", 1, 4)
    with job(page) as j:
        for n in (1, 4, 2, 1):
            page.order(n)
            workers(j, 50)
            expect_equal(j.ask("idle"), "rested")


def test_workers_that_wait_inside_tasks_are_not_parked(tmp):
    """Such a wait ends when the last of its tasks does; 10 ms more for each would show."""
    page = Page(tmp / "page", 1, 4)
    with job(page) as j:
        began = time.monotonic()
        expect_equal(j.ask("nested 3000"), 36000)
        each = (time.monotonic() - began) / 3000
        print(f"# {each * 1e6:.0f} us each")
        expect(each < 0.01, f"{each * 1e3:.1f} ms for each")


lib.main()
