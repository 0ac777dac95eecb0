"""What the tests of the elastic launcher share: a job run by the real launcher with the
real PyTorch, and a page on which the test gives orders as a conductor does.

A test file defines functions test_NAME(job) and ends with lib.main(). Everything that a
case starts carries a mark in its environment; a case that leaves a process or a file
behind has failed. Where there is no PyTorch all cases are skipped.
"""
import mmap
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cases import PATIENCE, chosen, expect_equal, report, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAUNCHER = ROOT / "python" / "trainyard_torchrun.py"
EXAMPLE = ROOT / "examples" / "elastic_train.py"
MAGIC = b"trnyard1"


def find_python():
    """An interpreter that has PyTorch; None = there is none."""
    for python in ("/usr/bin/python3", "python3"):
        probe = "import importlib.util as u, sys; sys.exit(not u.find_spec('torch.distributed'))"
        done = subprocess.run([python, "-c", probe], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False)
        if done.returncode == 0:
            return python
    return None


PYTHON = find_python()


class Control:
    """The page, from the conductor's side."""

    def __init__(self, path, workers):
        with open(path, "wb") as file:
            file.write(struct.pack("<8sII", MAGIC, 1, 4096).ljust(4096, b"\0"))
        with open(path, "r+b") as file:
            self.bytes = mmap.mmap(file.fileno(), 4096)
        self.generation = 0
        self.write(workers)

    def write(self, workers):
        self.generation += 1
        struct.pack_into("<II", self.bytes, 64, workers, self.generation)

    def order(self, workers):
        self.write(workers)
        pid, number = struct.unpack_from("<II", self.bytes, 128)
        if pid:
            os.kill(pid, number)

    def applied(self):
        """(workers, generation)"""
        return struct.unpack_from("<II", self.bytes, 192)

    def listener(self):
        return struct.unpack_from("<I", self.bytes, 128)[0]

    def obeyed(self):
        return self.applied()[1] == self.generation


class Job:
    """A job in a directory of its own; its lines with the time at which they came."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="trainyard-test-")
        self.temporary = os.path.join(self.directory, "tmp")
        os.mkdir(self.temporary)
        self.mark = "trainyard-test-" + uuid.uuid4().hex
        self.process = None
        self.lines = []
        self.reader = None
        self.control = None

    def path(self, name):
        return os.path.join(self.directory, name)

    def script(self, text):
        """A training script of the test's own."""
        with open(self.path("script.py"), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path("script.py")

    def environment(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith("TRAINYARD_")}
        env.update(TRAINYARD_JOB_ID="7", TRAINYARD_CHECKPOINT_DIR=self.directory,
                   TRAINYARD_CPUS_PER_WORKER="1", TMPDIR=self.temporary,
                   TRAINYARD_TEST_MARK=self.mark, PYTHONDONTWRITEBYTECODE="1", **more)
        return env

    def start(self, *command, workers=None, python=None, **env):
        """Runs a command under the launcher; workers = (least, at the start, most)."""
        if workers:
            names = ("TRAINYARD_WORKERS_MIN", "TRAINYARD_WORKERS", "TRAINYARD_WORKERS_MAX")
            env.update(zip(names, map(str, workers)))
            self.control = Control(self.path("control"), workers[1])
            env.setdefault("TRAINYARD_CONTROL", self.path("control"))
        self.lines = []
        self.process = subprocess.Popen(
            [python or PYTHON, str(LAUNCHER), "--", *map(str, command)], cwd=self.directory,
            env=self.environment(**env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.reader = threading.Thread(target=self.read, args=[self.process.stdout])
        self.reader.start()

    def train(self, steps, *options, **more):
        self.start(PYTHON, EXAMPLE, "--steps", steps, *options, **more)

    def read(self, output):
        with output:
            for line in output:
                self.lines.append((time.monotonic(), line.rstrip("\n")))

    def wait(self, seconds=PATIENCE):
        code = self.process.wait(seconds)
        self.reader.join(seconds)
        return code

    def run(self, *command, **more):
        self.start(*command, **more)
        return self.wait()

    # ---- what it said

    def text(self):
        return "\n".join(line for _, line in self.lines)

    def steps(self):
        """(time, step, loss) of each step that was reported."""
        found = [(at, re.match(r"step (\d+)/\d+ loss (\S+)$", line)) for at, line in self.lines]
        return [(at, int(m[1]), float(m[2])) for at, m in found if m]

    def step(self):
        steps = self.steps()
        return steps[-1][1] if steps else 0

    def said(self, pattern):
        return re.findall(pattern, self.text(), re.M)

    def until_said(self, pattern):
        def probe():
            found = self.said(pattern)
            if not found and self.process.poll() is not None and not self.reader.is_alive():
                raise AssertionError(f"it ended without {pattern!r}")
            return found
        return wait_until(probe, f"output has {pattern!r}")

    def resize(self, workers):
        """Orders another size and waits for a step of the new group; the seconds from the
        order to the group's start, and those from one step to the next meanwhile."""
        began = time.monotonic()
        self.control.order(workers)
        wait_until(self.control.obeyed, "the order is obeyed")
        expect_equal(self.control.applied()[0], workers, "applied")
        changed = time.monotonic()
        wait_until(lambda: self.steps()[-1][0] > changed, "a step of the new group")
        times = [at for at, _, _ in self.steps()]
        pauses = [b - a for a, b in zip(times, times[1:]) if b > began]
        return changed - began, max(pauses)

    def learn(self, workers=(1, 1, 4)):
        """Trains for longer than a test takes, and waits until it does."""
        self.train(1000000, "--hidden", 300, workers=workers)
        wait_until(lambda: self.step() >= 10, "ten steps")

    def stop(self):
        """Has it end where it is; the number of its steps."""
        self.process.send_signal(signal.SIGTERM)
        expect_equal(self.wait(), 143, "exit status")
        return self.step()

    def expect_each_step_once(self, total):
        expect_equal([step for _, step, _ in self.steps()], list(range(1, total + 1)), "steps")

    # ---- its processes

    def processes(self, word=""):
        """Those that carry the mark and have the word in their command, oldest first."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                environ = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
                command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode()
            except OSError:
                continue
            if self.mark.encode() in environ and command and word in command:
                found.append(int(pid))
        return sorted(found)

    def agents(self):
        return self.processes("trainyard_agent.py")

    def workers(self, script="elastic_train.py"):
        ours = set(self.agents()) | {self.process.pid}
        return [pid for pid in self.processes(script) if pid not in ours]

    def expect_nothing_left(self):
        wait_until(lambda: not self.processes(), "no process is left", 30)
        expect_equal(os.listdir(self.temporary), [], "files left")

    def close(self):
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if self.process:
            self.process.wait()
            self.reader.join()
        shutil.rmtree(self.directory)


def run_case(name, case):
    if PYTHON is None:
        print(f"skip - {name}: no python3-torch", flush=True)
        return True
    job = Job()

    def run():
        case(job)
        job.expect_nothing_left()

    def tell():
        print("  output: " + job.text()[-3000:].replace("\n", "\n  output: "))

    try:
        return report(name, run, tell)
    finally:
        job.close()


def main():
    """Runs all cases of the file, or those named as arguments."""
    results = [run_case(name, case) for name, case in chosen()]
    sys.exit(0 if all(results) else 1)
