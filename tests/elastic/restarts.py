#!/usr/bin/env python3
"""Jobs that start again to change their size (`resize: restart`): the same attempt, one
log, no step lost, whatever happens meanwhile."""
import re
import signal

from lib import TRAINER, expect_books, live
from live import expect, expect_equal, wait_until

# Says what it has, and saves itself when it is asked to, as slowly as it is told to.
SAVER = """
trap 'echo saving; while [ -e slow ]; do sleep 0.02; done; echo saved; exit 143' TERM
echo "runs on $TRAINYARD_CPUS with $OMP_NUM_THREADS"
while :; do sleep 0.02; done
"""


def start_saver(yard, **fields):
    job = yard.submit(SAVER, **{"cpus": "1-2", "resize": "restart", **fields})
    yard.wait_log(job, "runs on 2 with 2")
    yard.wait_for(job, "running")
    return job


def resize(yard, job, cpus):
    return yard.post(f"/jobs/{job}/resize", {"cpus": cpus}, 200)


def start_to_save(yard):
    """One that is to shrink, and saves itself until the file `slow` is gone."""
    job = start_saver(yard)
    (yard.dir / "slow").touch()
    resize(yard, job, 1)
    yard.wait_log(job, "saving")
    return job


def sizes_said(yard, job):
    return [float(n) for n in re.findall(r"^runs on (\S+) with", yard.logs(job), re.M)]


def wait_size(yard, job, cpus):
    """Until the job says so itself; then all agree."""
    wait_until(lambda: sizes_said(yard, job)[-1] == cpus,
               lambda: f"{cpus} CPUs, but {yard.logs(job)}")
    expect_books(yard, job, cpus)
    expect_equal(yard.job(job)["attempt"], 1, "attempt")


def expect_costs(yard, job, count):
    """Each restart is measured, and what the next is expected to cost follows, also from
    those of an earlier server."""
    seen = wait_until(lambda: (events := yard.events(job, "job.restarted"))[count - 1:] and events,
                      f"{count} restarts")
    expected = None
    for e in seen:
        expect(e["cost_s"] > 0, seen)
        expected = (expected + e["cost_s"]) / 2 if expected else e["cost_s"]
        expect(abs(e["expected_s"] - expected) < 1e-5, expected, seen)


def test_no_step_is_lost():
    with live.Yard(cpus=2) as yard:
        yard.start()
        job = yard.submit(TRAINER, "--steps", "600", cpus="1-2", resize="restart")
        for cpus, step in ((1, 50), (2, 150)):
            wait_until(lambda s=step: (yard.job(job)["progress"] or {"step": 0})["step"] > s,
                       f"step {step}")
            resize(yard, job, cpus)
            wait_until(lambda c=cpus: [e for e in yard.events(job, "job.restarted")
                                       if e["cpus"] == c], f"restart with {cpus}")
            expect_books(yard, job, cpus)
            # What is left is computed from the steps since, not from what restarts cost.
            left = wait_until(lambda: yard.job(job)["state"] == "done" or
                              yard.job(job)["progress"]["remaining_s"], "the time left")
            expect(left is True or left < 1800, left)
        done = yard.wait_for(job, "done")
        log = yard.logs(job)
        expect_equal((done["attempt"], done["failures"], len(done["attempts"])), (1, 0, 1))
        expect_equal(re.findall(r"starting again with (\S+) CPUs", log), ["1", "2"], "notes")
        # It goes on with the very step that it saved.
        saved = re.findall(r"^saved at step (\d+)\n\[trainyard: starting again.*\n"
                           r"resumed at step (\d+)\nstep (\d+)/600", log, re.M)
        expect_equal(len(saved), 2, log)
        for last, first, step in saved:
            expect(last == first and int(step) == int(last) + 1, saved)
        steps = [int(n) for n in re.findall(r"^step (\d+)/600", log, re.M)]
        expect(steps == sorted(set(steps)) and steps[-1] == 600, "steps in order, none twice:", log)
        expect_costs(yard, job, 2)
        expect_equal([s["cpus"] for s in done["sizes"]], [2, 1, 2, 0], "sizes")
        yard.finish()


def test_others_wait_for_its_cpus():
    """It shrinks because another comes, and grows when that is gone."""
    with live.Yard(cpus=2) as yard:
        yard.start()
        job = start_saver(yard)
        (yard.dir / "slow").touch()
        other = yard.submit("echo ready; while [ ! -e go ]; do sleep 0.02; done", cpus=1)
        yard.wait_log(job, "saving")
        expect_equal(yard.job(other)["started"], None, "the other one has not started")
        (yard.dir / "slow").unlink()
        yard.wait_log(other, "ready")
        wait_size(yard, job, 1)
        (yard.dir / "go").touch()
        yard.wait_for(other, "done")
        wait_size(yard, job, 2)
        yard.sweep()
        yard.finish()


def test_a_newer_size_while_it_saves_itself():
    with live.Yard(cpus=2) as yard:
        yard.start()
        job = start_to_save(yard)
        for cpus in (2, 1, 1.5):
            resize(yard, job, cpus)
        (yard.dir / "slow").unlink()
        wait_size(yard, job, 1.5)
        expect_equal(sizes_said(yard, job), [2, 1.5], "one restart for all of them")


def test_cancel_while_it_saves_itself():
    with live.Yard(cpus=2) as yard:
        yard.start()
        job = start_to_save(yard)
        yard.cancel(job, grace="30s")
        (yard.dir / "slow").unlink()
        yard.wait_for(job, "cancelled")
        expect_equal(sizes_said(yard, job), [2], "it was not started again")
        yard.finish()


def test_a_server_that_dies_while_it_saves_itself():
    with live.Yard(cpus=2) as yard:
        yard.start()
        job = start_to_save(yard)
        yard.kill()
        (yard.dir / "slow").unlink()
        yard.start()
        wait_size(yard, job, 1)
        expect_equal(sizes_said(yard, job), [2, 1], "it was started again once")
        yard.sweep()
        yard.finish()


def test_a_server_that_dies_before_it_could_say_so():
    """What was accepted is done by the next server, if this one did not."""
    with live.Yard(cpus=2) as yard:
        yard.start()
        job = start_saver(yard)
        for cpus in (1, 2, 1, 2, 1):
            resize(yard, job, cpus)
            yard.kill(signal.SIGKILL)
            yard.start()
            wait_size(yard, job, cpus)
        # Those may have been measured for a server that died before it wrote that down.
        resize(yard, job, 2)
        wait_size(yard, job, 2)
        expect_costs(yard, job, 1)


def test_a_job_that_does_not_save_itself():
    """It begins again, with the size that was wanted; one that does not listen is killed."""
    with live.Yard(cpus=2) as yard:
        yard.start()
        for trap in ("", "trap '' TERM; "):
            job = yard.submit(trap + 'echo "runs on $TRAINYARD_CPUS with 1"; '
                              "while :; do sleep 0.1; done", cpus="1-2", resize="restart",
                              grace="0.5s")
            yard.wait_log(job, "runs on 2")
            resize(yard, job, 1)
            wait_size(yard, job, 1)
            yard.cancel(job)
            yard.wait_for(job, "cancelled")
        yard.finish()


def test_a_job_that_is_done_just_then():
    with live.Yard(cpus=2) as yard:
        yard.start()
        job = yard.submit("trap 'exit 0' TERM; echo 'step 10/10 loss 0.1'; "
                          "while :; do sleep 0.02; done", cpus="1-2", resize="restart")
        wait_until(lambda: (yard.job(job)["progress"] or {"step": 0})["step"] == 10, "its last step")
        resize(yard, job, 1)
        done = yard.wait_for(job, "done")
        expect_equal((done["attempt"], done["code"]), (1, 0))
        expect("starting again" not in yard.logs(job), yard.logs(job))
        yard.finish()


def test_a_job_that_cannot_start_again():
    with live.Yard(cpus=2) as yard:
        yard.start()
        script = yard.dir / "once.sh"
        script.write_text("#!/bin/sh\necho ready\nrm -f once.sh\nwhile :; do sleep 0.02; done\n")
        script.chmod(0o755)
        job = yard.submit([str(script)], cpus="1-2", resize="restart")
        yard.wait_log(job, "ready")
        wait_until(lambda: not script.exists(), "it has gone")
        resize(yard, job, 1)
        failed = yard.wait_for(job, "failed")
        expect(failed["code"] == 127 and "once.sh" in failed["reason"], failed)
        yard.finish()


if __name__ == "__main__":
    live.main()
