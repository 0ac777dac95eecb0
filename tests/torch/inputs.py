#!/usr/bin/env python3
"""Pages that are none, numbers that make no sense, commands that cannot be run: each is
told in a line. run-tests: no asan"""
import os

import lib
from lib import expect_equal, wait_until

SAY = """
import os, sys
names = "RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "OMP_NUM_THREADS"
values = [os.environ[n] for n in names] + ["TRAINYARD_CONTROL" in os.environ, sys.argv[1:]]
sys.stdout.write(" ".join(map(str, ["there"] + values)) + "\\n")
"""


def expect_refused(job, text, *command, **env):
    code = job.run(*command, **env)
    if code == 0 or not job.said(text):
        raise AssertionError(f"exit status {code}, {text!r} was not said")


def test_by_hand(job):
    """What a worker finds; its words arrive as they are."""
    words = ["--lr", "0.1", "$x $$ ${local_rank}", ""]
    expect_equal(job.run(lib.PYTHON, job.script(SAY), *words), 0, "exit status")
    expect_equal(job.said("^there.*"), [f"there 0 1 0 127.0.0.1 1 False {words}"], "told")
    expect_equal(job.run(lib.PYTHON, job.script(SAY), TRAINYARD_WORKERS="2"), 0, "exit status")
    expect_equal(sorted(job.said("^there . .")), ["there 0 2", "there 1 2"], "told")


def test_commands(job):
    script = job.script(SAY)
    expect_equal(job.run(script), 0, "a script alone")
    expect_equal(job.run(lib.PYTHON, "-W", "error", "-c", SAY), 0, "options of Python")
    expect_equal(job.run("/bin/sh", "-c", "echo $RANK of $WORLD_SIZE; exit 5"), 5, "no Python")
    expect_equal(job.said("^0 of 1$"), ["0 of 1"], "told")


def test_pages_that_are_none(job):
    cases = {"missing": (None, "No such file"), "empty": (b"", "0 bytes"),
             "other": (b"x" * 4096, "not a control page"),
             "newer": (b"trnyard1\x02\0\0\0\0\x10\0\0".ljust(4096, b"\0"), "version 2")}
    for name, (content, text) in cases.items():
        path = job.path(name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        code = job.run(lib.PYTHON, job.script(SAY), TRAINYARD_WORKERS="1", TRAINYARD_CONTROL=path)
        expect_equal(code, 0, name)
        expect_equal(len(job.said(f"^trainyard: .*{text}.*will not change$")), 1, job.text())


def test_a_page_is_left_without_listener(job):
    expect_equal(job.run(lib.PYTHON, job.script(SAY), workers=(1, 1, 2)), 0, "exit status")
    expect_equal(job.control.listener(), 0, "listener")


def test_numbers(job):
    script = job.script(SAY)
    for name, value in (("WORKERS", "many"), ("WORKERS", "0"), ("WORKERS_MIN", "-1"),
                        ("WORKERS_MAX", "9" * 30), ("GRACE", "1s")):
        expect_refused(job, rf"\$TRAINYARD_{name} is '{value}'", script,
                       **{"TRAINYARD_" + name: value})
    expect_refused(job, "outside 2-4", script, TRAINYARD_WORKERS="1", TRAINYARD_WORKERS_MIN="2",
                   TRAINYARD_WORKERS_MAX="4")
    expect_refused(job, "is not a signal", script, TRAINYARD_CHECKPOINT_SIGNAL="SIGNONE")


def test_what_cannot_be_run(job):
    expect_refused(job, "remove torchrun from the command", "torchrun", "train.py")
    expect_refused(job, "missing the script to run", "python3")
    expect_refused(job, "nothing.py", lib.PYTHON, "nothing.py")
    expect_refused(job, "/no/python3: no such program", "/no/python3", "train.py")
    expect_refused(job, "/no/program: no such program", "/no/program")
    # An interpreter without PyTorch: isolated from all packages.
    bare = job.path("python3")
    with open(bare, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {lib.PYTHON} -I -S "$@"\n')
    os.chmod(bare, 0o755)
    expect_refused(job, "name the interpreter that has PyTorch", bare, "train.py")


def test_another_checkpoint_signal(job):
    text = """
import signal, sys, time
signal.signal(signal.SIGUSR1, lambda number, frame: sys.exit(4))
sys.stdout.write("there\\n")
while True:
    time.sleep(1)
"""
    for number in ("terminate", "group"):
        job.start(lib.PYTHON, job.script(text), workers=(1, 2, 2),
                  TRAINYARD_CHECKPOINT_SIGNAL="SIGUSR1")
        wait_until(lambda: len(job.said("^there$")) == 2, "both are there")
        if number == "terminate":
            job.process.terminate()
        else:
            os.killpg(job.process.pid, lib.signal.SIGUSR1)
        expect_equal(job.wait(), 4, "exit status")


lib.main()
