"""A server, its jobs, and what it may not leave behind.

Everything that a test starts carries a mark in its environment, so that whatever is
left is found, wherever it hides.
"""
import concurrent.futures
import contextlib
import http.client
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import uuid

from cases import PATIENCE, Failure, Skip, expect, expect_equal, wait_until
from .schema import Document, Mismatch
from .wire import Answer, Refused, Stream, send

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = (ROOT / os.environ.get("BUILD", "build")).resolve()
PROGRAM = os.environ.get("TRAINYARD") or str(BUILD / "trainyard")
MARK = "TRAINYARD_TEST_MARK"
OVER = {"done", "failed", "cancelled", "timeout", "lost"}


class Yard:
    """A server in a directory of its own, or in the one that is given, on some of the
    machine's CPUs (all)."""

    def __init__(self, *options, directory=None, environment=None, cpus=None):
        self.own = directory is None
        self.dir = pathlib.Path(directory or tempfile.mkdtemp(prefix="trainyard-test-"))
        self.state = self.dir / "state"
        self.socket = self.state / "trainyard.sock"
        self.mark = "trainyard-test-" + uuid.uuid4().hex
        self.options = options
        self.environment = {**os.environ, MARK: self.mark, **(environment or {})}
        usable = sorted(os.sched_getaffinity(0))
        if cpus and len(usable) < cpus:
            raise Skip(f"needs {cpus} CPUs")
        self.cpus = usable[:cpus]
        self.prepare = lambda: None  # what else to do in the server's process before it begins
        self.limits = {}  # of the server's process: resource.RLIMIT_... to (soft, hard)
        self.server = None
        self.document = None
        self.served = set()  # operations that have succeeded
        self.refused = set()  # and failed, by the requester's fault

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    # ---- the server

    def start(self, *options, wait=True, **environment):
        with open(self.dir / "output", "ab") as output:
            self.server = subprocess.Popen(
                [PROGRAM, "serve", "--state", str(self.state), *self.options, *options],
                env={**self.environment, **environment}, stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, preexec_fn=self.limit_server)
        if wait:
            self.wait_until_ready()
        return self

    def limit_server(self):
        """In the server's process, before it begins."""
        os.sched_setaffinity(0, self.cpus)
        for what, limits in self.limits.items():
            resource.setrlimit(what, limits)
        self.prepare()

    def wait_until_ready(self):
        wait_until(self.answers, "the server answers")
        if not self.document:
            self.document = Document(self.get("/openapi.json"))

    def answers(self):
        if self.server.poll() is not None:
            raise Failure(f"the server has ended: {self.output()[-2000:]}")
        try:
            return self.get("/ready")["ready"]
        except (OSError, http.client.HTTPException):
            return False

    def kill(self, number=signal.SIGKILL):
        """Ends the server; jobs go on. Gives its exit code."""
        if self.server.poll() is None:
            self.server.send_signal(number)
        return self.server.wait(PATIENCE)

    def output(self):
        return (self.dir / "output").read_text(errors="replace")

    def run(self, *words, check=True, cwd=None):
        """The command line, as a user has it."""
        return subprocess.run([PROGRAM, *words], env={**self.environment, "TRAINYARD_STATE":
                                                      str(self.state), "NO_COLOR": "1"},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=check,
                              cwd=cwd)

    # ---- requests

    def ask(self, method, path, body=None, headers=None, checked=True):
        """An answer, whatever its status; it must be as the document says."""
        connection, response = send(self.socket, method, path, body, headers)
        try:
            answer = Answer(response)
        finally:
            connection.close()
        if checked and self.document:
            self.check(method, path, answer)
        return answer

    def check(self, method, path, answer):
        """The answer is as the document says."""
        found = self.document.find(method, path.split("?")[0])
        if not found:
            raise Mismatch(f"{method} {path} is not in the document")
        name, operation = found
        (self.served if answer.status < 400 else self.refused).add(name)
        content = self.document.response(operation, answer.status)["content"]
        if answer.type not in content:
            raise Mismatch(f"{method} {path}: {answer.status} {answer.type}: {answer.bytes[:500]!r}")
        if answer.type.endswith("json"):
            self.document.check(answer.json, content[answer.type]["schema"], f"{method} {path}")

    def request(self, method, path, body=None, status=None, **more):
        """The object, or the answer when it is none. Refused, unless it has this status
        (any that is fine)."""
        answer = self.ask(method, path, body, **more)
        if answer.status >= 400 if status is None else answer.status != status:
            raise Refused(answer)
        return answer.json if answer.type.endswith("json") else answer

    def get(self, path, status=None, **more):
        return self.request("GET", path, None, status, **more)

    def post(self, path, body=None, status=None, **more):
        return self.request("POST", path, body, status, **more)

    def stream(self, path, headers=None):
        return Stream(*send(self.socket, "GET", path, headers=headers))

    # ---- jobs

    def submit(self, *command, **fields):
        """Submits a line for the shell, or a program with its arguments; gives the id of its
        (first) job."""
        line = len(command) == 1 and isinstance(command[0], str)
        words = ["/bin/sh", "-c", command[0]] if line else list(
            command[0] if len(command) == 1 else command)
        env = {MARK: self.mark, "PATH": os.environ["PATH"], **fields.pop("env", {})}
        fields = {"command": words, "env": env, "workdir": str(self.dir), **fields}
        return self.post("/jobs", fields, 201)["jobs"][0]["id"]

    def cancel(self, job, grace=0):
        return self.ask("POST", f"/jobs/{job}/cancel", {"grace": grace})

    def job(self, job):
        return self.get(f"/jobs/{job}")

    def jobs(self, query=""):
        jobs, after = [], ""
        while True:
            page = self.get(f"/jobs?limit=1000{query}{after}")
            jobs += page["jobs"]
            if page["next"] is None:
                return jobs
            after = f"&after={page['next']}"

    def logs(self, job):
        return self.get(f"/jobs/{job}/logs").text

    def events(self, job=None, kind=None):
        """What has happened, oldest first."""
        found = self.get(f"/events?limit=1000&after=0{f'&job={job}' if job else ''}")["events"]
        return [e for e in found if kind in (None, e["kind"])]

    def wait_for(self, job, *states, seconds=PATIENCE):
        """Polls until the job is in one of the states, or over; gives the job."""
        states = set(states) or OVER
        seen = None

        def there():
            nonlocal seen
            seen = self.job(job)
            if seen["state"] in OVER - states:
                raise Failure(f"job {job} is {seen['state']}, not one of {states}: {seen}")
            return seen["state"] in states

        wait_until(there, lambda: f"job {job} is one of {states}, but {seen}", seconds)
        return seen

    def wait_log(self, job, text):
        """Until the job has written the text."""
        return wait_until(lambda: text in self.logs(job) and self.logs(job),
                          lambda: f"'{text}' in {self.logs(job)}")

    def wait_all(self, seconds=120):
        wait_until(lambda: not self.get("/jobs?active=1&limit=1")["jobs"], "all jobs are over",
                   seconds)

    # ---- what there is on the machine

    def processes(self, word=""):
        """Those that carry the mark and have the word in their command, the server aside:
        [(pid, command)]. Conductors have no environment, but the directory of their attempt."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(
                    errors="replace")
                ours = "trainyard-conductor" in command and f"{self.state.resolve()}/" in command
                if not ours and self.mark.encode() not in (entry / "environ").read_bytes():
                    continue
            except OSError:
                continue
            pid = int(entry.name)
            if word in command and command and not (self.server and pid == self.server.pid):
                found.append((pid, command))
        return found

    def conductors(self):
        return [pid for pid, _ in self.processes("trainyard-conductor")]

    def group_bases(self):
        """Where its jobs' groups are, in each hierarchy: named by a hash of the state directory."""
        number = 0xcbf29ce484222325
        for byte in os.fsencode(os.path.realpath(self.state)):
            number = (number ^ byte) * 0x100000001b3 & (1 << 64) - 1
        name = f"trainyard-{number:016x}"
        # Not by glob: others come and go meanwhile.
        return [pathlib.Path(top, name) for top, dirs, _ in os.walk("/sys/fs/cgroup") if name in dirs]

    def cgroups(self, name="*"):
        """Groups of its jobs, which are named JOB.ATTEMPT."""
        return [group for base in self.group_bases() for group in base.glob(f"{name}/")]

    def expect_nothing_left(self):
        wait_until(lambda: not self.processes(), lambda: f"nothing runs: {self.processes()}")
        wait_until(lambda: not self.cgroups(), lambda: f"no group is left: {self.cgroups()}")

    # ---- the end

    def sweep(self):
        """Cancels what is not over, and waits for it."""
        while jobs := self.get("/jobs?active=1&limit=1000&order=oldest")["jobs"]:
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                list(pool.map(self.cancel, (job["id"] for job in jobs)))
            if all(job["state"] == "stopping" for job in jobs):
                self.wait_for(jobs[0]["id"])

    def finish(self):
        """Stops the server, which has nothing to do; nothing may be left of it."""
        self.expect_nothing_left()
        expect_equal(self.kill(signal.SIGTERM), 0, f"the server's end: {self.output()[-2000:]}")
        expect(not (self.socket).exists(), "the socket is still there")

    def close(self):
        if self.server and self.server.poll() is None:
            self.kill(signal.SIGTERM)
        for pid, _ in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_until(self.remove_groups, "the end of its groups")
        if self.own:
            shutil.rmtree(self.dir, ignore_errors=True)

    def remove_groups(self):
        """What a server that was ended in the middle could not; false while they are in use."""
        for group in (*self.cgroups(), *self.group_bases()):
            with contextlib.suppress(OSError):  # what is frozen cannot even die
                (group / "freezer.state").write_text("THAWED")
            with contextlib.suppress(OSError):
                group.rmdir()
        return not self.group_bases()
