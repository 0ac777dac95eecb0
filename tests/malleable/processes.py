#!/usr/bin/env python3
"""The library in all sorts of processes: it follows what it can, and what it cannot
follow runs as it would alone."""
import os
import re
import shutil
import subprocess

import lib
from lib import JOBS, LIBRARY, Job, Page, expect, expect_equal, run


def test_a_child_follows(tmp):
    for compiler in ("gcc", "clang"):
        page = Page(tmp / compiler, 2)
        with Job([JOBS / f"job-{compiler}"], page) as job:
            expect_equal(job.ask("fork"), 2, compiler)
            page.order(3)
            expect_equal(job.ask("fork"), 3, compiler)
            expect_equal((page.regions, page.attached), (2, 1), compiler)


def test_a_program_that_replaces_itself_follows(tmp):
    for compiler in ("gcc", "clang"):
        page = Page(tmp / compiler, 2)
        with Job([JOBS / f"job-{compiler}"], page) as job:
            expect_equal(job.ask("region"), 2, compiler)
            job.tell("exec")
            page.order(3)
            expect_equal(job.ask("region"), 3, compiler)
            expect_equal(page.attached, 2, compiler)


def test_all_processes_of_a_job_have_one_page(tmp):
    page = Page(tmp / "page", 2)
    with Job([JOBS / "job-gcc"], page) as one, Job([JOBS / "job-clang"], page) as other:
        expect_equal((one.ask("region"), other.ask("region")), (2, 2))
        page.order(1)
        expect_equal((one.ask("region"), other.ask("region")), (1, 1))
        expect_equal((page.regions, page.attached), (4, 2))


def test_programs_without_openmp(tmp):
    page = Page(tmp / "page", 2)
    expect_equal(run(["/bin/echo", "as", "ever"], page), "as ever\n")
    expect_equal(run([JOBS / "weak"], page), "1\n", "one that would use it")
    expect_equal((page.regions, page.applied_generation, page.attached), (0, 0, 2))


def test_openmp_that_is_loaded_late(tmp):
    """By dlopen with RTLD_LOCAL, as Python loads what PyTorch needs; both runtimes."""
    page = Page(tmp / "page", 2)
    with Job([JOBS / "late"], page) as job:
        for compiler in ("gcc", "clang", "gcc"):
            expect_equal(job.ask(f"load {JOBS}/late_region-{compiler}.so"), "loaded")
            for threads in (2, 1, 3):
                page.order(threads)
                expect_equal(job.ask("region"), threads, compiler)


def test_openmp_that_is_unloaded(tmp):
    """On one thread: no runtime bears to be unloaded while it has others."""
    page = Page(tmp / "page", 1)
    with Job([JOBS / "late"], page) as job:
        for _ in range(200):  # more than there are records of modules
            expect_equal(job.ask(f"load {JOBS}/late_region-gcc.so"), "loaded")
            expect_equal(job.ask("region"), 1)
            expect_equal(job.ask("unload"), 0)
        expect_equal(job.ask(f"load {JOBS}/late_region-clang.so"), "loaded")
        page.order(3)
        expect_equal(job.ask("region"), 3)


def test_programs_of_old_compilers(tmp):
    for threads in (1, 3):
        page = Page(tmp / f"page{threads}", threads)
        expect_equal(run([JOBS / "old"], page), " ".join([str(threads)] * 4) + "\n")


def test_a_static_program_is_not_reached(tmp):
    page = Page(tmp / "page", 2)
    with Job([JOBS / "job-static"], page) as job:
        expect_equal(job.ask("region"), 4)
    expect_equal((page.regions, page.attached), (0, 0))


def bad_pages(tmp):
    """Paths that are no page, and what is wrong with them."""
    whole = Page(tmp / "whole", 2).path.read_bytes()
    texts = {"empty": b"", "cut short": whole[:100], "cut by a byte": whole[:-1],
             "too long": whole + b"x", "of another kind": b"x" * 8 + whole[8:],
             "of another version": whole[:8] + b"\x02" + whole[9:],
             "of another size": whole[:12] + b"\0\0\0\0" + whole[16:],
             "not written yet": bytes(4096)}
    for name, text in texts.items():
        path = tmp / name.replace(" ", "-")
        path.write_bytes(text)
        yield name, path, text
    os.mkfifo(tmp / "fifo")
    for path in (tmp / "missing", tmp, tmp / "fifo", "", "/dev/null", "x" * 5000):
        yield str(path)[:50], path, None


def test_without_a_page_nothing_happens(tmp):
    for compiler in ("gcc", "clang"):
        for name, path, text in [("no variable", None, None), *bad_pages(tmp)]:
            with Job([JOBS / f"job-{compiler}"], path) as job:
                answers = [job.ask(w) for w in ("max", "region", "count 3", "nested", "many")]
                job.ask("set 2")
                answers.append(job.ask("region"))
            expect_equal(answers, [4, 4, 3, "4 4", 4, 2], f"{compiler}, {name}")
            if text is not None:
                expect_equal(path.read_bytes(), text, f"{name}, afterwards")
        if (tmp / "fifo").exists():
            os.unlink(tmp / "fifo")


def test_a_page_that_may_not_be_written(tmp):
    page = Page(tmp / "page", 2)
    page.path.chmod(0o444)
    tmp.chmod(0o755)
    for file in (JOBS / "job-gcc", LIBRARY):  # where another user reaches them
        shutil.copy(file, tmp)
    env = lib.environment(page)
    env["LD_PRELOAD"] = env["LD_PRELOAD"].replace(str(LIBRARY), str(tmp / LIBRARY.name))
    other = {"user": 65534} if os.geteuid() == 0 else {}
    done = subprocess.run([tmp / "job-gcc"], input="region\n", env=env, text=True,
                          capture_output=True, check=True, timeout=lib.PATIENCE, **other)
    expect_equal((done.stdout, page.attached), ("4\n", 0))


def test_it_shows_what_it_stands_before_and_nothing_else(_):
    names = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True,
                           check=True).stdout.split()[2::3]
    ours = re.compile(r"GOMP_parallel\w*|omp_(get_max|set_num)_threads(_8)?_?|dlclose|"
                      r"__kmpc_(fork_call(_if)?|push_num_threads|serialized_parallel)|"
                      r"(cblas_)?[sd]gemm_?|omp_get_num_procs_?|get_nprocs|sysconf|"
                      r"(sched|pthread|pthread_attr)_[gs]etaffinity(_np)?|"
                      r"pthread_(create|cond_wait)")
    expect(len(names) > 20, names)
    expect_equal([n for n in names if not ours.fullmatch(n)], [])
    runtime = subprocess.run(["gcc", "-print-file-name=libgomp.so"], capture_output=True,
                             text=True, check=True).stdout.strip()
    all_of_it = subprocess.run(["nm", "-D", "--defined-only", runtime], capture_output=True,
                               text=True, check=True).stdout
    begins = {n for n in re.findall(r"\b(GOMP_parallel\w*)", all_of_it) if not n.endswith("_end")}
    expect_equal(begins - set(names), set(), "begins a region unseen")


def test_it_needs_the_c_library_alone(_):
    dynamic = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True,
                             check=True).stdout
    needed = set(re.findall(r"NEEDED.*\[(.*?)\.so", dynamic))
    sanitizers = {"libasan", "libubsan"} if "asan" in lib.preload() else set()
    expect(needed - sanitizers <= {"libc", "ld-linux-x86-64", "ld-linux-aarch64"}, needed)


lib.main()
