#!/usr/bin/env python3
"""Sizes that users give to jobs, and what happens when they cannot be had: what is recorded,
the control groups and what is shown agree throughout."""
import concurrent.futures
import os
import subprocess

from lib import TRAINER, expect_books, live, quota
from live import expect, expect_equal, wait_until


def start_job(yard, command="echo ready; sleep 600", **fields):
    job = yard.submit(command, **{"cpus": "0.5-2", **fields})
    yard.wait_log(job, "ready")
    yard.wait_for(job, "running")
    return job


def resize(yard, job, cpus, status=200):
    return yard.post(f"/jobs/{job}/resize", {"cpus": cpus}, status)


def refused(yard, job, cpus, status, *words):
    """The size is refused with these words, and nothing has changed."""
    before = yard.job(job)
    problem = resize(yard, job, cpus, status)
    expect(all(word in problem["detail"] for word in words), problem["detail"])
    after = yard.job(job)
    for name in ("state", "cpus", "cpus_min", "cpus_max", "attempt", "sizes"):
        expect_equal(after[name], before[name], f"{name} after {cpus} was refused")


def settles_at(yard, job, cpus):
    wait_until(lambda: yard.job(job)["cpus"] == cpus,
               lambda: f"{cpus} CPUs, but {yard.job(job)['cpus']}")
    expect_books(yard, job, cpus)


def test_within_the_range_and_back():
    with live.Yard(cpus=2) as yard:
        yard.start()
        job = start_job(yard)
        settles_at(yard, job, 2)
        for cpus in (1, 0.5, 1.5):
            resize(yard, job, cpus)
            settles_at(yard, job, cpus)
        resize(yard, job, "0.5-1")
        settles_at(yard, job, 1)
        done = yard.run("resize", str(job), "--cpus", "2")
        settles_at(yard, job, 2)
        expect_equal(done.returncode, 0, done.stderr)
        resize(yard, job, 1)
        resize(yard, job, None)
        shown = yard.job(job)
        expect_equal((shown["cpus_min"], shown["cpus_max"]), (0.5, 2), "the range")
        settles_at(yard, job, 2)
        sizes = [s["cpus"] for s in yard.job(job)["sizes"]]
        expect_equal(sizes, [2, 1, 0.5, 1.5, 1, 2, 1, 2], "the history")
        page = yard.run("show", str(job)).stdout
        expect("SIZE SINCE" in page and "resize by hand" in page, page)
        # A new server has the size that was given last, and its history.
        resize(yard, job, 1)
        settles_at(yard, job, 1)
        yard.kill()
        yard.start()
        settles_at(yard, job, 1)
        expect_equal([s["cpus"] for s in yard.job(job)["sizes"]], sizes + [1], "the history")


def test_waiting_threads_soon_sleep():
    """A program sees its job's largest size, so OpenMP would spin although threads share a CPU."""
    with live.Yard(cpus=2) as yard:
        yard.start()
        for env, spins in (({}, "1000"), ({"GOMP_SPINCOUNT": "7"}, "7"),
                           ({"OMP_WAIT_POLICY": "active"}, "none")):
            job = yard.submit(["sh", "-c", "echo spins ${GOMP_SPINCOUNT:-none}"], cpus="1-2", env=env)
            yard.wait_for(job, "done")
            expect_equal(yard.logs(job), f"spins {spins}\n", f"with {env}")


def test_what_cannot_be():
    with live.Yard(cpus=2) as yard:
        yard.start()
        job = start_job(yard, cpus="0.5-1")
        refused(yard, job, 1.5, 400, "1.5 is outside the range that job", "0.5 to 1 CPUs")
        refused(yard, job, 0.1, 400, "0.1 is outside the range that job")
        refused(yard, job, "1-3", 400, "3 is outside the range that job")
        for nonsense in ("x", 0, -1, "2-1", "1-", [1], {"a": 1}):
            refused(yard, job, nonsense, 400, "cpus")
        done = yard.run("resize", str(job), "--cpus", "64", check=False)
        expect(done.returncode == 2 and "64 is outside the range" in done.stderr, done)
        rigid = start_job(yard, cpus=0.5)
        refused(yard, rigid, 0.4, 409, "is rigid: it requested exactly 0.5 CPUs", "submit it with a range")
        resize(yard, rigid, 0.5)
        for each in (job, rigid):
            yard.cancel(each)
            yard.wait_for(each, "cancelled")
        refused(yard, job, 1, 409, f"job {job} has ended (cancelled)")
        wide = start_job(yard, cpus="1-8")
        refused(yard, wide, 4, 413, "4 CPUs")
        settles_at(yard, wide, 2)


def test_a_job_that_keeps_its_size():
    """`resize: none`: its size can be chosen while it waits, not while it runs."""
    with live.Yard(cpus=2) as yard:
        yard.start()
        job = start_job(yard, resize="none")
        settles_at(yard, job, 2)
        refused(yard, job, 1, 409, "does not change its size while it runs", "requeue it")
        resize(yard, job, "1-2")
        yard.post(f"/jobs/{job}/requeue", {"hold": True})
        yard.wait_for(job, "held")
        resize(yard, job, 1)
        yard.post(f"/jobs/{job}/release")
        wait_until(lambda: yard.job(job)["state"] == "running", "its second attempt")
        settles_at(yard, job, 1)


GPU = r"""
#include <stdio.h>
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = (char *)0 + i + 1; return 0; }
int nvmlDeviceGetUUID(void *d, char *t, unsigned n) { snprintf(t, n, "GPU-%p", d); return 0; }
int nvmlDeviceGetName(void *d, char *t, unsigned n) { snprintf(t, n, "stand-in"); return 0; }
int nvmlDeviceGetMemoryInfo(void *d, unsigned long long *m) { m[0] = m[1] = 1 << 30; return 0; }
"""


def start_with_gpus(yard):
    """The driver's library is a stand-in; all else is real."""
    built = subprocess.run(
        [*os.environ.get("CC", "cc").split(), "-w", "-shared", "-fPIC", "-x", "c", "-", "-o",
         str(yard.dir / "libnvidia-ml.so.1")], input=GPU, text=True, check=False)
    if built.returncode:
        raise live.Skip("no C compiler")
    yard.start(LD_LIBRARY_PATH=str(yard.dir))


def test_gpus_of_an_elastic_job():
    """A process keeps its GPUs: another number of them is another attempt, and what it gives up is
    taken when it has gone."""
    with live.Yard("--policy", "elastic-fifo", cpus=2) as yard:
        start_with_gpus(yard)
        show = ("echo seen=$CUDA_VISIBLE_DEVICES n=$TRAINYARD_GPUS cpus=$TRAINYARD_CPUS; "
                "trap 'sleep 0.5; exit 0' TERM; while :; do sleep 0.05; done")
        first = yard.submit(show, cpus=1, gpus="1-2", resize="restart")
        seen = yard.wait_log(first, "cpus=").split()
        expect_equal((len(seen[0].split(",")), seen[1], seen[2]), (2, "n=2", "cpus=2"))
        second = yard.submit(show, cpus=1, gpus=1)
        other = yard.wait_log(second, "cpus=").split()[0]
        wait_until(lambda: yard.job(first)["attempt"] == 2, "it starts again")
        again = wait_until(lambda: yard.get(f"/jobs/{first}/logs?attempt=2").text, "it runs").split()
        expect_equal((again[1], again[2]), ("n=1", "cpus=1"))
        expect_equal(len(again[0].split(",")), 1, "one of them")
        expect(again[0] != other, f"each has its own: {again[0]}, {other}")
        expect_equal(yard.job(first)["attempts"][0]["stop"], "resize")
        expect_equal(yard.job(first)["failures"], 0)
        yard.cancel(second)
        wait_until(lambda: yard.job(first)["attempt"] == 3 and yard.job(first)["gpus"] == 2,
                   "it grows again")
        yard.sweep()
        yard.finish()


def test_a_job_with_gpus():
    with live.Yard(cpus=2) as yard:
        start_with_gpus(yard)
        job = start_job(yard, cpus=1, gpus=1)
        expect_equal(yard.job(job)["gpus"], 1, "GPUs")
        refused(yard, job, 2, 409, "runs on GPUs", "submit it with another number")
        none = yard.submit("echo \"[$CUDA_VISIBLE_DEVICES]\"", env={"CUDA_VISIBLE_DEVICES": "0"})
        yard.wait_for(none, "done")
        expect_equal(yard.logs(none), "[]\n", "a job without GPUs sees none")


def test_two_resizes_race():
    """Many at once, from several clients: all are answered, and the last one is in force."""
    with live.Yard(cpus=2) as yard:
        yard.start()
        job = start_job(yard)
        wishes = [0.5, 1, 1.5, 2] * 8
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda cpus: resize(yard, job, cpus), wishes))
        for answer, wish in zip(answers, wishes):
            expect_equal(answer["cpus_max"], wish, "each is told its own")
        last = [e for e in yard.events(job, "job.changed")][-1]["cpus_max"]
        settles_at(yard, job, last)
        expect_equal(yard.job(job)["cpus_max"], last, "the last one wins")
        yard.sweep()
        yard.finish()


def test_a_size_that_others_must_make_room_for():
    """They are stopped one after the other; the job that grows waits, and is not."""
    with live.Yard(cpus=2) as yard:
        yard.start()
        command = "trap 'sleep {}; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
        jobs = [start_job(yard)] + [start_job(yard, command.format(n), preempt="restart")
                                    for n in (0.2, 1)]
        settles_at(yard, jobs[0], 1)
        resize(yard, jobs[0], 2)
        settles_at(yard, jobs[0], 2)
        expect_equal(yard.job(jobs[0])["attempt"], 1, "it went on")
        for job in jobs[1:]:
            expect_equal(yard.job(job)["state"], "queued", "the others wait")


def test_a_job_that_never_applies_its_size():
    """Without OpenMP nothing follows: the bound passes, and others get their CPUs."""
    with live.Yard(cpus=2) as yard:
        yard.start()
        script = yard.dir / "spin.py"
        script.write_text("import time\nprint('ready', flush=True)\n"
                          "end = time.time() + 600\nwhile time.time() < end:\n    pass\n")
        stubborn = start_job(yard, f"exec /usr/bin/env python3 {script}")
        settles_at(yard, stubborn, 2)
        other = start_job(yard)
        settles_at(yard, stubborn, 1)
        settles_at(yard, other, 1)
        wait_until(lambda: any("It keeps its threads" in s for s in yard.job(stubborn)["standing"]),
                   "it is said")
        expect_equal(yard.job(other)["standing"], [], "nobody wants another size of that one")
        yard.sweep()
        yard.finish()


# A pool of ONNX Runtime as far as the library sees it: threads that begin in its library.
ONNX = r"""
#include <pthread.h>
#include <unistd.h>
static void *work(void *unused) { return sleep(600), unused; }
int begin(void) { pthread_t t; return pthread_create(&t, NULL, work, NULL); }
"""


def start_misfit(yard, **fields):
    library = yard.dir / "libonnxruntime.so.1"
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-o", library, "-"], input=ONNX, text=True,
                   check=True)
    script = yard.dir / "misfit.py"
    script.write_text(f"import ctypes, time\nctypes.CDLL('{library}').begin()\n"
                      "print('ready', flush=True)\ntime.sleep(600)\n")
    return start_job(yard, f"exec /usr/bin/env python3 {script}", **fields)


def test_a_job_that_does_not_cope():
    """It keeps its size by default, and `show` says why."""
    with live.Yard(cpus=2) as yard:
        yard.start()
        job = start_misfit(yard)
        settles_at(yard, job, 2)
        wait_until(lambda: "keeps its size" in yard.run("show", str(job)).stdout, "it is said")
        expect("ONNX Runtime" in yard.run("show", str(job)).stdout, "with the reason")
        refused(yard, job, 1, 409, "does not change its size while it runs")
        yard.cancel(job)
        yard.wait_for(job, "cancelled")
        wanted = start_misfit(yard, resize="live")
        resize(yard, wanted, 1)
        settles_at(yard, wanted, 1)


def test_a_missing_library():
    with live.Yard(cpus=2) as yard:
        yard.start(TRAINYARD_MALLEABLE="/nonexistent/library.so")
        job = yard.submit(TRAINER, "--steps", "100000")
        wait_until(lambda: yard.job(job)["progress"], "it trains")
        rigid = yard.job(job)
        elastic = yard.submit(TRAINER, "--steps", "200", cpus="1-2")
        shown = yard.wait_for(elastic, "running", "done")
        expect_equal(rigid["standing"], [], "a job that does not need it")
        if shown["state"] == "running":
            expect(any("/nonexistent/library.so does not exist" in s for s in shown["standing"]),
                   shown["standing"])
        yard.wait_for(elastic, "done")
        expect("preload" not in yard.logs(elastic), yard.logs(elastic)[:500])
        expect("/nonexistent/library.so does not exist" in yard.output(), yard.output())


def test_what_is_in_force_before_the_first_report():
    """A size that changes while the job is being started."""
    with live.Yard(cpus=2) as yard:
        yard.start()
        for _ in range(5):
            job = yard.submit("sleep 600", cpus="0.5-2")
            resize(yard, job, 0.5)
            settles_at(yard, job, 0.5)
            expect_equal(quota(yard, job), 0.5, "quota")
            yard.cancel(job)
            yard.wait_for(job, "cancelled")


if __name__ == "__main__":
    live.main()
