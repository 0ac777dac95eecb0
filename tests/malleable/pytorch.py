#!/usr/bin/env python3
"""Unmodified PyTorch, when it is there. run-tests: no asan"""
import functools
import glob
import subprocess

import lib
from lib import SOURCES, Job, Page, Skip, expect, expect_equal, run

PYTHON = "/usr/bin/python3"
COUNTS = (1, 2, 3, 4, 8)


@functools.cache
def blas(kind):
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode:
        raise Skip(f"{PYTHON} has no PyTorch (Debian: python3-torch)")
    found = glob.glob(f"/usr/lib/*/openblas-{kind}")
    if not found:
        raise Skip(f"no OpenBLAS for it (Debian: libopenblas0-{kind})")
    return found[0]


def command(*words):
    return [PYTHON, SOURCES / "torch_job.py", *words]


def torch(page, *words, kind="openmp", **env):
    return run(command(*words), page, threads=8, LD_LIBRARY_PATH=blas(kind), **env)


def serve(page, kind="openmp"):
    return Job(command("serve"), page, threads=8, LD_LIBRARY_PATH=blas(kind),
               OPENBLAS_NUM_THREADS=8)


def test_losses_of_500_steps_equal_those_of_fixed_threads(tmp):
    fixed = {torch(Page(tmp / "page", n), "mlp", 40) for n in COUNTS}
    if len(fixed) != 1:
        raise Skip("on this processor the bits depend on the number of threads anyway")
    whole = torch(Page(tmp / "page", 2), "mlp", 500)
    page = Page(tmp / "page", 2)
    with lib.flipping(page, seed=1, among=COUNTS):
        flipped = torch(page, "mlp", 500)
    expect_equal(flipped, whole, f"losses with {page.generation} orders")
    expect(page.applied_generation > 100, f"{page.applied_generation} of {page.generation}")
    print(f"# {page.generation} orders, {page.clamped} of {page.regions} regions had fewer "
          f"threads, {page.spent_ns / 1e6:.1f} ms spent")


def test_gradients_stay_within_the_error_of_fixed_threads(tmp):
    def errors(page, steps):
        return [float(e) for e in torch(page, "cnn", steps, GRADIENTS=tmp / "right").split()]

    error = max(max(errors(Page(tmp / "page", n), 3)) for n in COUNTS)
    page = Page(tmp / "page", 2)
    with lib.flipping(page, seed=2, among=COUNTS):
        flipped = max(errors(page, 150))
    print(f"# at most {flipped:.3g} off with {page.generation} orders, {error:.3g} without")
    expect(0 < error < 1e-3, f"error {error}")
    expect(flipped <= 2 * error, f"{flipped} off, {error} without changes")


def test_reductions_with_a_row_for_each_thread(tmp):
    page = Page(tmp / "page", 1)
    with lib.flipping(page, seed=3, among=COUNTS, pause=0.0002):
        answers = torch(page, "sums", 2000).split()
    expect_equal((len(answers), set(answers)), (2000, {"True"}))


def test_a_step_follows(tmp):
    """The number changes between two operations of the first step after the order."""
    page = Page(tmp / "page", 2)
    with serve(page) as job:
        for n in (2, 1, 4, 8, 3, 1, 2):
            page.order(n)
            expect_equal(job.ask("step"), n, "threads")
            expect_equal(page.applied_generation, page.generation)
            expect_equal(page.applied_threads, n)


def test_what_the_job_sets_wins_below_the_target(tmp):
    page = Page(tmp / "page", 4)
    with serve(page) as job:
        expect_equal(job.ask("set 2"), 2)
        expect_equal(job.ask("step"), 2)
        expect_equal(job.ask("set 8"), 4)
        page.order(6)
        expect_equal(job.ask("step"), 6)
        page.order(0)
        expect_equal(job.ask("step"), 8)


def test_data_loaders_in_child_processes(tmp):
    right = torch(None, "loader")
    page = Page(tmp / "page", 2)
    with lib.flipping(page, seed=4, among=COUNTS):
        expect_equal(torch(page, "loader"), right)


def test_100_short_trainings_end(tmp):
    page = Page(tmp / "page", 2)
    with serve(page) as job:
        with lib.flipping(page, seed=5, among=COUNTS, pause=0.0002):
            job.ask("runs 100")


def test_openblas_with_threads_of_its_own(tmp):
    right = torch(Page(tmp / "page", 2), "mlp", 60, kind="pthread")
    page = Page(tmp / "page", 2)
    with lib.flipping(page, seed=6, among=COUNTS):
        flipped = torch(page, "mlp", 60, kind="pthread")
    losses = [[float.fromhex(x) for x in text.split()] for text in (right, flipped)]
    expect_equal(len(losses[0]), len(losses[1]))
    expect(all(abs(a - b) < 1e-5 for a, b in zip(*losses)), "losses differ")


lib.main()
