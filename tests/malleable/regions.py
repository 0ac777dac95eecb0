#!/usr/bin/env python3
"""Regions of programs by GCC and Clang get as many threads as the page says, from one
region to the next."""
import lib
from lib import JOBS, Job, Page, expect, expect_equal

COMPILERS = ("gcc", "clang")
LOOPS = ("region", "static", "dynamic", "guided", "runtime", "sections", "many")


def each(tmp, threads):
    """A job by each compiler, with a page of its own."""
    for compiler in COMPILERS:
        page = Page(tmp / compiler, threads)
        with Job([JOBS / f"job-{compiler}"], page) as job:
            yield compiler, page, job


def test_each_kind_of_region_follows_at_once(tmp):
    for compiler, page, job in each(tmp, 4):
        for word in LOOPS:
            for n in (1, 4, 2, 3, 1, 4):
                page.order(n)
                expect_equal(job.ask(word), n, f"{compiler}, {word}")


def test_no_limit_and_a_high_one_leave_what_was_asked(tmp):
    for compiler, page, job in each(tmp, 0):
        expect_equal(job.ask("region"), 4, compiler)
        page.order(1000000)
        expect_equal(job.ask("region"), 4, compiler)
        page.order(2)
        expect_equal(job.ask("region"), 2, compiler)
        page.order(0)
        expect_equal(job.ask("region"), 4, compiler)


def test_a_count_of_the_program_stays(tmp):
    for compiler, page, job in each(tmp, 1):
        expect_equal(job.ask("count 3"), 3, compiler)
        expect_equal(job.ask("region"), 1, compiler)
        expect_equal(job.ask("serial 3"), 1, compiler)
        page.order(2)
        expect_equal(job.ask("region"), 2, f"{compiler}, after a region that was not parallel")


def test_what_the_program_sets_wins_below_the_target(tmp):
    for compiler, page, job in each(tmp, 3):
        job.ask("set 2")
        expect_equal(job.ask("region"), 2, compiler)
        job.ask("set 8")
        expect_equal(job.ask("region"), 3, compiler)
        page.order(6)
        expect_equal(job.ask("region"), 6, compiler)
        page.order(16)
        expect_equal(job.ask("region"), 8, compiler)


def test_the_most_that_may_come_is_told(tmp):
    """So that a table with a row for each thread is long enough for ever."""
    for compiler, page, job in each(tmp, 1):
        expect_equal(job.ask("max"), 4, compiler)
        expect_equal(job.ask("table"), 1, compiler)
        for n in (4, 2, 3):
            page.order(n)
            expect_equal(job.ask("table"), n, compiler)
        job.ask("set 3")
        expect_equal(job.ask("max"), 3, compiler)


def test_regions_inside_regions_share_the_target(tmp):
    for compiler, page, job in each(tmp, 4):
        for target, want in ((4, "4 1"), (2, "2 1"), (1, "1 1"), (8, "4 2"), (0, "4 4")):
            page.order(target)
            expect_equal(job.ask("nested"), want, f"{compiler}, target {target}")
        page.order(4)
        expect_equal(job.ask("region"), 4, compiler)


def test_many_threads_begin_regions(tmp):
    for compiler, page, job in each(tmp, 2):
        expect_equal(job.ask("callers 8"), 2, compiler)
        with lib.flipping(page, 1, among=(1, 2)):
            expect(job.ask("callers 8") <= 2, compiler)


def test_the_page_says_what_was_done(tmp):
    for compiler, page, job in each(tmp, 4):
        expect_equal(job.ask("max"), 4)
        expect_equal((page.regions, page.clamped, page.applied_generation, page.attached),
                     (0, 0, 0, 1), f"{compiler}, before the first region")
        job.ask("region")
        expect_equal((page.regions, page.clamped), (1, 0), compiler)
        expect_equal((page.applied_threads, page.applied_generation), (4, page.generation))
        generation = page.order(2)
        expect(page.applied_generation < generation, "applied before a region")
        job.ask("region")
        expect_equal((page.applied_threads, page.applied_generation), (2, generation), compiler)
        expect(page.applied_ns >= page.ordered_ns, "applied before it was ordered")
        applied = page.applied_ns
        job.ask("fill 100")
        expect_equal((page.regions, page.clamped), (102, 101), compiler)
        expect_equal(page.applied_ns, applied, "the first time counts")
        expect(0 < page.spent_ns < 10**9, "spent", page.spent_ns)
        page.order(9)
        job.ask("region")
        expect_equal((page.applied_threads, page.applied_generation), (4, page.generation))


def test_a_generation_wraps_around(tmp):
    for compiler, page, job in each(tmp, 4):
        job.ask("region")
        page.words[8] = 0xffffffff << 32 | 2
        page.words[24] = 0xfffffffe << 32 | 4
        expect_equal(job.ask("region"), 2, compiler)
        expect_equal(page.applied_generation, 0xffffffff)
        page.words[8] = 1 << 32 | 3
        expect_equal(job.ask("region"), 3, compiler)
        expect_equal(page.applied_generation, 1)


lib.main()
