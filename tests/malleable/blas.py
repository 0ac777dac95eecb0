#!/usr/bin/env python3
"""OpenBLAS under NumPy, in both of its builds. run-tests: no asan"""
import glob
import subprocess

import lib
from lib import SOURCES, Job, Page, Skip, expect, expect_equal

PYTHON = "/usr/bin/python3"


def job(page, kind, threads=4):
    found = glob.glob(f"/usr/lib/*/openblas-{kind}")
    if not found:
        raise Skip(f"no OpenBLAS of this kind (Debian: libopenblas0-{kind})")
    if subprocess.run([PYTHON, "-c", "import numpy"], capture_output=True, check=False).returncode:
        raise Skip(f"{PYTHON} has no NumPy (Debian: python3-numpy)")
    return Job([PYTHON, SOURCES / "numpy_job.py"], page, threads=threads,
               LD_LIBRARY_PATH=found[0], OPENBLAS_NUM_THREADS=threads)


def test_openmp_build_follows_at_once(tmp):
    page = Page(tmp / "page", 2)
    with job(page, "openmp") as j:
        for n in (2, 1, 4, 3, 1, 2, 4):
            page.order(n)
            threads = j.ask("product")
            # On one thread it begins no region, and those of the last one stay.
            expect(threads == n or n == 1, f"{threads} threads, want {n}")
            expect_equal((page.applied_threads, page.applied_generation), (n, page.generation))
        page.order(16)
        expect_equal(j.ask("product"), 4)


def test_pthreads_build_follows_at_once(tmp):
    page = Page(tmp / "page", 1)
    with job(page, "pthread", threads=2) as j:
        most = max(j.ask("openblas"), 1)
        for n in (1, 2, 1, 2):
            page.order(n)
            j.ask("product")
            expect_equal(j.ask("openblas"), min(n, most))
            expect_equal((page.applied_threads, page.applied_generation),
                         (min(n, most), page.generation))


def flip(tmp, kind, word):
    page = Page(tmp / "page", 1)
    with job(page, kind) as j:
        with lib.flipping(page, 1):
            expect_equal(j.ask(word), "True")
    expect(page.applied_generation > 5, f"{page.applied_generation} of {page.generation} orders")


def test_openmp_build_with_random_orders(tmp):
    flip(tmp, "openmp", "runs 1000")


def test_pthreads_build_with_random_orders(tmp):
    flip(tmp, "pthread", "runs 1000")


def test_openmp_build_on_many_threads(tmp):
    flip(tmp, "openmp", "callers 6")


def test_pthreads_build_on_many_threads(tmp):
    flip(tmp, "pthread", "callers 6")


def test_without_a_page(_):
    for kind in ("openmp", "pthread"):
        with job(None, kind) as j:
            expect_equal(j.ask("runs 50"), "True", kind)


lib.main()
