#!/usr/bin/env python3
"""A program sees one and the same machine from its start to its end, as large as its job
can ever be, on however many CPUs it runs."""
import os
import subprocess

import lib
from lib import JOBS, Job, Page, expect, expect_equal, run


def put_on(pid, cpus):
    """As the server does where there are no control groups."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(thread), cpus)


def real_cpus(pid):
    """What the kernel says, which no library stands before."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(line.split()[1] for line in f if line.startswith("Cpus_allowed_list"))


def test_all_ways_to_ask_say_the_largest_size(tmp):
    cpus = sorted(os.sched_getaffinity(0))
    for processors in (1, 2, 3, 8, 70):
        page = Page(tmp / "page", 1, processors)
        for compiler in ("gcc", "clang"):
            with Job([JOBS / f"machine-{compiler}"], page) as job:
                for some in (cpus[:1], cpus, cpus[-1:]):
                    put_on(job.process.pid, some)
                    page.order(len(some))
                    expect_equal(set(job.ask("look").split()), {str(processors)}, compiler)


def test_programs_of_others(tmp):
    page = Page(tmp / "page", 1, 5)
    expect_equal(run(["nproc"], page, threads="").strip(), "5")
    expect_equal(run(["getconf", "_NPROCESSORS_ONLN"], page).strip(), "5")
    script = "import os; print(os.cpu_count(), len(os.sched_getaffinity(0)))"
    expect_equal(run(["python3", "-c", script], page), "5 5\n")


def test_the_configured_processors_stay(tmp):
    """They bound the number of the processor that a thread is on."""
    page = Page(tmp / "page", 1, 1)
    real = run(["getconf", "_NPROCESSORS_CONF"])
    expect_equal(run(["getconf", "_NPROCESSORS_CONF"], page), real)


def test_a_page_without_a_largest_size_shows_what_there_is(tmp):
    for page in (None, Page(tmp / "page", 1)):
        with Job([JOBS / "machine-gcc"], page) as job:
            put_on(job.process.pid, sorted(os.sched_getaffinity(0))[:1])
            expect_equal(job.ask("look").split()[1], "1")


def test_a_thread_is_not_bound(tmp):
    """One of the processors that it sees may not be the job's at the moment."""
    cpus = sorted(os.sched_getaffinity(0))
    page = Page(tmp / "page", 1, 8)
    with Job([JOBS / "machine-gcc"], page) as job:
        before = real_cpus(job.process.pid)
        for cpu in (cpus[0], 7):
            expect_equal(set(job.ask(f"bind {cpu}").split()), {"8"})
            expect_equal(real_cpus(job.process.pid), before)


def test_openmp_that_binds_its_threads(tmp):
    """Its places are made from processors of which half are not there."""
    cpu = sorted(os.sched_getaffinity(0))[0]
    for compiler in ("gcc", "clang"):
        page = Page(tmp / "page", 4, 4)
        with Job(["taskset", "-c", str(cpu), "env", f"LD_PRELOAD={lib.preload()}",
                  JOBS / f"job-{compiler}"], page, LD_PRELOAD="", OMP_PROC_BIND="true") as job:
            expect_equal(job.ask("region"), 4, compiler)


def test_others_are_seen_as_they_are(tmp):
    page = Page(tmp / "page", 1, 9)
    with subprocess.Popen(["sleep", "60"]) as other:
        put_on(other.pid, sorted(os.sched_getaffinity(0))[:1])
        script = f"import os; print(len(os.sched_getaffinity({other.pid})))"
        expect_equal(run(["python3", "-c", script], page), "1\n")
        other.kill()


def test_asked_before_the_library_is_ready(tmp):
    """What is preloaded last is ready first."""
    page = Page(tmp / "page", 1, 6)
    both = f"{lib.preload()} {JOBS}/early-gcc.so"
    expect_equal(run(["/bin/true"], page, LD_PRELOAD=both), "6\n")
    expect_equal(page.attached, 1)


lib.main()
