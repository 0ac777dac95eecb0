#!/usr/bin/env python3
"""Trainings whose number of threads changes every millisecond give the result of one
whose number does not, and none of many hangs."""
import lib
from lib import JOBS, Page, expect, expect_equal, run


def train(tmp, compiler, name, page, **options):
    checkpoint = tmp / f"{compiler}-{name}"
    words = [w for k, v in options.items() for w in (f"--{k}", v)]
    run([JOBS / f"trainer-{compiler}", "--checkpoint", checkpoint, *words], page, threads=8)
    return checkpoint.read_bytes()


def test_500_steps_give_the_result_of_fixed_threads(tmp):
    for compiler in ("gcc", "clang"):
        size = {"steps": 500, "hidden": 32, "batch": 256}
        fixed = [train(tmp, compiler, f"fixed{n}", Page(tmp / "page", n), **size) for n in (1, 3)]
        expect_equal(fixed[0], fixed[1], f"{compiler}, two fixed numbers")
        page = Page(tmp / "page", 1)
        with lib.flipping(page, seed=1):
            flipped = train(tmp, compiler, "flipped", page, **size)
        expect_equal(flipped, fixed[0], f"{compiler}, weights after {page.generation} orders")
        expect_equal(page.regions, 1000, "regions")
        expect(page.applied_generation > 20, f"{page.applied_generation} of {page.generation}")
        print(f"# {compiler}: {page.generation} orders, {page.clamped} of {page.regions} regions "
              f"had fewer threads, {page.spent_ns / 1000:.0f} us spent")


def test_100_runs_end(tmp):
    for compiler in ("gcc", "clang"):
        results = set()
        for seed in range(50):
            page = Page(tmp / "page", 1 + seed % 4)
            with lib.flipping(page, seed, pause=0.0002):
                results.add(train(tmp, compiler, f"run{seed}", page, steps=60, hidden=8, batch=64))
        expect_equal(len(results), 1, f"{compiler}: different results")


lib.main()
