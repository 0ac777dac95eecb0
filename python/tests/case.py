"""Shared by the tests of trainyard.py: each runs a small program in its own process, so that
signals, forks and exits are real."""
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

MODULE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.directory.name, "progress")
        self.addCleanup(self.directory.cleanup)

    def run_program(self, program, job=True, code=0, **env):
        """Runs the program; returns its standard output and standard error."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TRAINYARD_")}
        environment["PYTHONPATH"] = MODULE
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        if job:
            environment.update(TRAINYARD_PROGRESS=self.path, TRAINYARD_JOB_ID="7")
        environment.update(env)
        done = subprocess.run([sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
                              env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=60)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done.stdout.decode(), done.stderr.decode()

    def lines(self):
        with open(self.path) as file:
            return [json.loads(line) for line in file]

    def merged(self):
        """The values after reading the whole file."""
        known = {}
        for line in self.lines():
            if line != {"checkpoint": True}:  # said by should_checkpoint()
                known.update(line)
        return known
