#!/usr/bin/env python3
"""Jobs that put something else in the place of the files that server and conductor use: nobody
else notices, and they end."""
import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from cases import expect, expect_equal, wait_until

# The attempt's own directory is the one above that of the job's files.
HERE = 'cd "$(dirname "$TRAINYARD_PROGRESS")/.." && '
SOON = 10  # seconds; a server that is held up never answers


def answers_soon(yard):
    begin = time.monotonic()
    yard.get("/health")
    expect(time.monotonic() - begin < SOON, "the server was held up")


def other_files(name):
    """Commands that put each kind of file in the place of this one."""
    clear = f"rm -rf {name} && "
    return {"fifo": clear + f"mkfifo {name}", "link": clear + f"ln -s /etc/passwd {name}",
            "device": clear + f"ln -s /dev/zero {name}", "directory": clear + f"mkdir {name}",
            "garbage": clear + f"head -c 100000 /dev/urandom >{name}",
            "huge": clear + f"truncate -s 1T {name}"}


def sabotage(yard, name):
    """One job for each kind, which has done it when this returns, and waits for a file `go`."""
    go = yard.dir / "go"
    go.unlink(missing_ok=True)
    jobs = {}
    for kind, command in other_files(name).items():
        done = yard.dir / f"done-{kind}"
        done.unlink(missing_ok=True)
        jobs[kind] = yard.submit(f"{HERE}{command} && touch {done}; "
                                 f"while [ ! -e {go} ]; do sleep 0.05; done", cpus=0.1)
    for kind in jobs:
        wait_until((yard.dir / f"done-{kind}").exists, f"{kind} is in the place of {name}")
    return jobs, go


def test_a_log_that_is_none(yard):
    jobs, go = sabotage(yard, "log")
    for job in jobs.values():
        yard.ask("GET", f"/jobs/{job}/logs")
        answers_soon(yard)
    go.touch()
    for kind, job in jobs.items():
        expect_equal(yard.wait_for(job)["state"], "done", kind)


def test_parts_of_a_log_that_are_none(yard):
    """What would be its oldest part is another file: whoever reads it is told, and soon."""
    go = yard.dir / "go-on"
    job = yard.submit(f"{HERE}touch log.99999999999; ln -s /etc/passwd log.3; echo ready; "
                      f"while [ ! -e {go} ]; do sleep 0.05; done", cpus=0.1)
    wait_until((yard.state / f"jobs/{job}/1/log.3").is_symlink, "it is there")
    answer = yard.ask("GET", f"/jobs/{job}/logs")
    expect("log.3 is not a file" in answer.text, answer.text)
    said = yard.run("logs", str(job), check=False)
    expect_equal(said.returncode, 1, said)
    expect("log.3 is not a file" in said.stderr, said.stderr)
    answers_soon(yard)
    go.touch()
    yard.wait_for(job, "done")


def test_a_log_that_ends_too_soon(yard):
    """It is replaced while it is read: the command says so, and does not ask for ever."""
    go = yard.dir / "go-on-2"
    job = yard.submit(f"{HERE}truncate -s 1G log.1; echo ready; "
                      f"while [ ! -e {go} ]; do sleep 0.05; done", cpus=0.1)
    wait_until((yard.state / f"jobs/{job}/1/log.1").exists, "it is there")
    (yard.state / f"jobs/{job}/1/log.1").write_text("short\n")
    said = yard.run("logs", str(job), check=False)
    expect_equal(said.returncode, 1, said)
    expect("cannot be read from byte 6 on" in said.stderr, said.stderr[-300:])
    go.touch()
    yard.wait_for(job, "done")


def test_progress_that_is_none(yard):
    jobs, go = sabotage(yard, "job/progress")
    go.touch()
    for kind, job in jobs.items():
        expect_equal(yard.wait_for(job)["state"], "done", kind)


def test_an_exit_record_that_is_none(yard):
    jobs, go = sabotage(yard, "exit.json")
    go.touch()
    for kind, job in jobs.items():
        expect_equal(yard.wait_for(job)["state"], "done", kind)
        answers_soon(yard)


def test_records_that_are_found_later():
    """The next server finds them, and cannot ask the conductors: they are dead."""
    for name in ("exit.json", "claim", "spec.json"):
        with live.Yard(cpus=2) as yard:
            yard.start()
            jobs, _ = sabotage(yard, name)
            yard.kill()
            for pid in yard.conductors():
                os.kill(pid, signal.SIGKILL)
            yard.start()
            for kind, job in jobs.items():
                answers_soon(yard)
                state = yard.wait_for(job)
                expect(state["state"] in ("failed", "lost"), f"{name} is a {kind}: {state}")
            yard.expect_nothing_left()


def test_a_server_that_finds_them_while_they_run():
    for name in ("claim", "spec.json", "conductor.log"):
        with live.Yard(cpus=2) as yard:
            yard.start()
            jobs, go = sabotage(yard, name)
            yard.kill()
            yard.start()
            answers_soon(yard)
            go.touch()
            for job in jobs.values():
                yard.wait_for(job)
            yard.expect_nothing_left()


def test_an_attempt_that_waits_for_the_next_one(yard):
    """What the next attempt needs is there already, as something else."""
    job = yard.submit(f"{HERE}mkdir ../2 && mkfifo ../2/spec.json ../2/log ../2/exit.json.tmp && "
                      "exit 1", retries=1, backoff="100ms")
    wait_until(lambda: yard.job(job)["attempt"] > 1, "the next attempt")
    answers_soon(yard)
    yard.wait_for(job, "failed")
    wait_until(lambda: yard.get("/health")["status"] == "ok" or
               yard.wait_for(yard.submit("true"), "done") is None, "the node takes jobs again")


if __name__ == "__main__":
    live.main()
