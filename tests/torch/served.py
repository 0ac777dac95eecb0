#!/usr/bin/env python3
"""The whole way: a server, its conductor and the launcher change a real training, by
hand. run-tests: no asan"""
import os
import re
import signal
import subprocess

import lib
from lib import expect_equal, wait_until

PROGRAM = os.environ.get("TRAINYARD") or str(
    lib.ROOT / os.environ.get("BUILD", "build") / "trainyard")


class Server:
    def __init__(self, job):
        state = job.path("state")
        self.environment = job.environment(TRAINYARD_SERVER=os.path.join(state, "trainyard.sock"),
                                           TRAINYARD_TORCHRUN=str(lib.LAUNCHER))
        self.log = open(job.path("server.log"), "w", encoding="utf-8")
        self.process = subprocess.Popen([PROGRAM, "serve", "--state", state], stdout=self.log,
                                        stderr=self.log, env=self.environment)

    def ask(self, *words, check=True):
        done = subprocess.run([PROGRAM, *map(str, words)], env=self.environment, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if check and done.returncode:
            raise AssertionError(f"{words}: {done.stdout}")
        return done.stdout

    def changes(self):
        return re.findall(r"^trainyard: (.*), \d+\.\d s$", self.ask("logs", 1), re.M)

    def steps(self):
        return [int(n) for n in re.findall(r"^step (\d+)/", self.ask("logs", 1), re.M)]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.log.close()


def test_resized_by_hand(job):
    server = Server(job)
    try:
        wait_until(lambda: "ID" in server.ask("ps", check=False), "the server answers")
        server.ask("submit", "-w", "1-2", "--resize", "torchrun", "--", lib.PYTHON, lib.EXAMPLE,
                   "--steps", 1000000)
        wait_until(lambda: len(server.steps()) > 10, "it learns")
        said = ["2 workers"]
        for cpus, change in ((1, "2 -> 1 worker"), (2, "1 -> 2 workers")):
            server.ask("resize", 1, "--cpus", cpus)
            said.append(change)
            wait_until(lambda: server.changes() == said, change)
            before = len(server.steps())
            wait_until(lambda n=before: len(server.steps()) > n, "it goes on")
        server.ask("cancel", 1)
        wait_until(lambda: not server.ask("ps", "-q").strip(), "it ends")
        steps = server.steps()
        expect_equal(steps, list(range(1, len(steps) + 1)), "steps")
    finally:
        server.stop()


lib.main()
