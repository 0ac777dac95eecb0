"""One attempt of a job under the real conductor."""
import contextlib
import json
import os
import pathlib
import subprocess
import time

from cases import PATIENCE, Failure, expect_equal, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[3]
CONDUCTOR = os.environ.get("CONDUCTOR") or str(
    ROOT / os.environ.get("BUILD", "build") / "trainyard-conductor")
MARK = "TRAINYARD_TEST"


def start_time(pid):
    """The start of a process, None when there is no such (zombies count as gone)."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def alive(pid):
    return start_time(pid) is not None


def marked(mark):
    """Processes whose environment holds the mark."""
    found = []
    wanted = f"{MARK}={mark}".encode()
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if entry.isdigit() and wanted in pathlib.Path(f"/proc/{entry}/environ").read_bytes():
                if alive(int(entry)):
                    found.append(int(entry))
    return found


def resident(pid):
    """Kilobytes of memory."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def instrumented():
    """Whether the program was built with sanitizers, which take memory and time."""
    return b"__asan_init" in pathlib.Path(CONDUCTOR).read_bytes()


class Attempt:
    """One attempt, in a directory of its own, and its conductor."""

    numbers = iter(range(1, 1 << 30))

    def __init__(self, bench, command, server=None, start=True, env=None, program=CONDUCTOR,
                 **spec):
        self.program = program
        self.job = next(self.numbers)
        self.mark = f"{os.getpid()}.{self.job}"
        self.dir = bench.tmp / f"job{self.job}"
        self.dir.mkdir(exist_ok=True)
        self.process = None
        self.begun = None  # when the conductor was started, for set_limit
        self.server = server
        if isinstance(command, str):
            command = ["/bin/sh", "-c", command]
        self.spec = {
            "job": self.job, "attempt": 1, "name": "test", "command": command,
            "workdir": str(self.dir), "socket": str(server.path if server else bench.nowhere),
            "env": {"PATH": os.environ["PATH"], MARK: self.mark,
                    "TRAINYARD_PROGRESS": str(self.dir / "progress"), **(env or {})},
            "token": "0123abcd", "cgroup": [], "cpus": 1.0, "grace_s": 5, "sample_s": 0,
            "linger_s": 0 if server is None else 600, **spec}
        (self.dir / "spec.json").write_text(json.dumps(self.spec))
        bench.attempts.append(self)
        if start:
            self.start()

    def start(self, inside=None):
        """Starts the conductor; itself in a cgroup if one is given."""
        enter = inside and (lambda: pathlib.Path(inside, "cgroup.procs").write_text("0"))
        self.begun = time.monotonic()
        with open(self.dir / "stderr", "wb") as err:
            self.process = subprocess.Popen(
                [self.program, str(self.dir)], stdin=subprocess.DEVNULL, start_new_session=True,
                stdout=subprocess.DEVNULL, stderr=err, preexec_fn=enter)
        return self.process

    @property
    def pid(self):
        return self.process.pid

    def wait(self, seconds=PATIENCE):
        """Until the conductor leaves; returns the exit record."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"job {self.job}: the conductor has not left within {seconds} s") from None
        expect_equal(status, 0, f"exit status of the conductor ({self.stderr()})")
        return self.record()

    def record(self):
        return json.loads((self.dir / "exit.json").read_text())

    def stderr(self):
        return (self.dir / "stderr").read_text()

    def notes(self):
        path = self.dir / "conductor.log"
        return path.read_text() if path.exists() else ""

    def log_files(self):
        parts = [p for p in self.dir.glob("log.*") if p.suffix[1:].isdigit()]
        parts.sort(key=lambda p: int(p.suffix[1:]))
        return parts + ([self.dir / "log"] if (self.dir / "log").exists() else [])

    def log(self):
        return b"".join(p.read_bytes() for p in self.log_files())

    def leader(self):
        """The pid of the command, from the claim."""
        def find():
            for line in (self.dir / "claim").read_text().splitlines():
                if line.startswith("leader "):
                    return int(line.split()[1])
            return None
        return wait_until(lambda: (self.dir / "claim").exists() and find(), what="a leader")

    def file(self, name, seconds=PATIENCE):
        """The text of a file that the job writes, once it ends with a newline."""
        path = self.dir / name
        return wait_until(lambda: path.exists() and path.read_text().endswith("\n")
                          and path.read_text(), f"the file {name}", seconds).strip()

    def messages(self, kind=None):
        return self.server.messages(self.job, kind)

    def expect_message(self, kind, test=lambda m: True, seconds=PATIENCE):
        return wait_until(lambda: next((m for m in self.messages(kind) if test(m)), None),
                          f"a message {kind}", seconds)

    def send(self, kind, **fields):
        """A command; waits for its answer and returns it."""
        ident = self.server.next_id()
        self.server.send(self.job, {"type": kind, "id": ident, **fields})
        return wait_until(lambda: next((m for m in self.messages() if m.get("id") == ident), None),
                          what=f"an answer to {kind}")

    def set_limit(self, seconds):
        """A time limit so many seconds from now; returns how long it will then have run
        in all, from the start of the conductor on. To be used once the job is ready for
        the signals: a job may take long to get so far."""
        limit = time.monotonic() - self.begun + seconds
        expect_equal(self.send("limit", time_limit_s=limit)["type"], "ok", "answer to limit")
        return limit
