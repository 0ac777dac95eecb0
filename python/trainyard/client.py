"""A client for the server of Trainyard. Standard library only.

    import trainyard

    client = trainyard.Client()
    job = client.submit(["python3", "train.py"], cpus="1-4", deadline="2h")
    for line in job.logs(follow=True):
        print(line, end="")
    print(job.wait(), job.metrics()[-1])

Without arguments, the client reaches the server as the command line does: $TRAINYARD_SERVER (a
socket or a URL), or the socket of this user's server; with $TRAINYARD_TOKEN, and the server's key
pinned by $TRAINYARD_FINGERPRINT. A refusal of the server is a Problem. The members of a job and the
fields of a request are those of the API (docs/api.md, docs/jobs.md).
"""
import base64
import hashlib
import http.client
import json
import os
import socket
import ssl
import time
import urllib.parse
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Union

__all__ = ["Client", "Job", "Metric", "Problem"]

_API = "/api/v1"
_OVER = ("done", "failed", "cancelled", "timeout", "lost")


class Problem(Exception):
    """The server has refused a request, or does not answer (status 0)."""

    def __init__(self, status: int, text: str, code: str = "", field: Optional[str] = None):
        super().__init__(text)
        self.status = status
        self.code = code
        self.field = field


class Metric(NamedTuple):
    """A point of a job's curves. What the job did not report is None."""

    at: float  # seconds since 1970
    attempt: int
    step: Optional[float]
    value: Optional[float]  # of the metric, or the loss
    cpus: Optional[float]
    memory_mb: Optional[float]


# ---- connections -----------------------------------------------------------------


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _der_parts(data: bytes) -> List[bytes]:
    """The elements of a sequence, each with its head."""
    parts = []
    while data:
        size, head = data[1], 2
        if size & 0x80:
            head = 2 + (size & 0x7F)
            size = int.from_bytes(data[2:head], "big")
        parts.append(data[:head + size])
        data = data[head + size:]
    return parts


def _der_inside(element: bytes) -> bytes:
    return element[2 + (element[1] & 0x7F):] if element[1] & 0x80 else element[2:]


def _pin_of(certificate: bytes) -> str:
    """"sha256//..." of the public key, as curl and the server write it."""
    fields = _der_parts(_der_inside(_der_parts(_der_inside(certificate))[0]))
    explicit_version = fields[0][0] == 0xA0
    key = fields[6 if explicit_version else 5]
    return "sha256//" + base64.b64encode(hashlib.sha256(key).digest()).decode()


class _PinnedConnection(http.client.HTTPSConnection):
    """Trusts the server with this key, and no other, whoever has signed its certificate."""

    def __init__(self, host: str, port: int, timeout: float, pin: str):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        super().__init__(host, port, timeout=timeout, context=context)
        self._pin = pin

    def connect(self) -> None:
        super().connect()
        found = _pin_of(self.sock.getpeercert(True))
        if found != self._pin:
            self.close()
            raise ssl.SSLError("the server is not the one whose fingerprint you have, but has "
                               + found)


def _default_socket() -> str:
    state = os.environ.get("TRAINYARD_STATE")
    if state:
        return os.path.join(state, "trainyard.sock")
    if os.geteuid() == 0:
        return "/run/trainyard/trainyard.sock"
    run = os.environ.get("XDG_RUNTIME_DIR")
    if run:
        return os.path.join(run, "trainyard", "trainyard.sock")
    home = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(home, "trainyard", "run", "trainyard.sock")


# ---- jobs ------------------------------------------------------------------------


class Job:
    """A job of a server. `info` is what was last read about it."""

    def __init__(self, client: "Client", number: int, info: Optional[Dict[str, Any]] = None):
        self.client = client
        self.id = number
        self.info: Dict[str, Any] = info or {}

    def __repr__(self) -> str:
        return "<Job %d %s %s>" % (self.id, self.info.get("name", ""), self.info.get("state", ""))

    def refresh(self) -> "Job":
        """Reads `info` again."""
        self.info = self.client.get("/jobs/%d" % self.id)
        return self

    @property
    def name(self) -> str:
        return str((self.info or self.refresh().info)["name"])

    @property
    def state(self) -> str:
        """The present state."""
        return str(self.refresh().info["state"])

    @property
    def progress(self) -> Optional[Dict[str, Any]]:
        """The present progress: step, total, loss, rate, expected_end and so on; or None."""
        return self.refresh().info["progress"]

    def wait(self, timeout: Optional[float] = None, poll: float = 0.5) -> str:
        """Waits until the job is over; returns its state. TimeoutError if it takes longer."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            state = self.state
            if state in _OVER:
                return state
            if end is not None and time.monotonic() >= end:
                raise TimeoutError("job %d is %s after %g s" % (self.id, state, timeout))
            time.sleep(poll)

    def metrics(self) -> List[Metric]:
        """Its curves: a point for each sample that the server keeps, oldest first."""
        samples = self.client.get("/jobs/%d/progress" % self.id)["samples"]
        return [Metric(s["at"], s["attempt"], s["step"], s["metric"], s["cpus"], s["memory_mb"])
                for s in samples]

    def logs(self, follow: bool = False, tail: Optional[int] = None) -> Iterator[str]:
        """The lines of its output, with their line ends. With follow, until it is over."""
        query = {"follow": "1" if follow else None, "tail": tail}
        return self.client.lines("/jobs/%d/logs" % self.id, query)

    def explain(self) -> Dict[str, Any]:
        """Why it waits, or has its size."""
        return self.client.get("/jobs/%d/explain" % self.id)

    def cancel(self, grace: Optional[str] = None) -> "Job":
        return self._act("cancel", {"grace": grace} if grace else {})

    def hold(self) -> "Job":
        return self._act("hold")

    def release(self) -> "Job":
        return self._act("release")

    def requeue(self, hold: bool = False) -> "Job":
        return self._act("requeue", {"hold": hold})

    def resize(self, cpus: Union[float, str, None]) -> "Job":
        """A number fixes its CPUs, a range such as "1-2" leaves the choice to the policy, None
        restores what was submitted."""
        return self._act("resize", {"cpus": cpus})

    def change(self, **fields: Any) -> "Job":
        """Changes priority, deadline, deadline_at or time_limit."""
        self.info = self.client.request("PATCH", "/jobs/%d" % self.id, fields)
        return self

    def _act(self, what: str, body: Optional[Dict[str, Any]] = None) -> "Job":
        self.info = self.client.request("POST", "/jobs/%d/%s" % (self.id, what), body or {})
        return self


# ---- the client ------------------------------------------------------------------


class Client:
    """Talks to one server. A connection is made for each request, so threads can share it."""

    def __init__(self, server: Optional[str] = None, token: Optional[str] = None,
                 fingerprint: Optional[str] = None, timeout: float = 30.0):
        self.server = server or os.environ.get("TRAINYARD_SERVER") or _default_socket()
        self.token = token or os.environ.get("TRAINYARD_TOKEN")
        self.fingerprint = fingerprint or os.environ.get("TRAINYARD_FINGERPRINT")
        self.timeout = timeout

    def submit(self, command: Union[str, Sequence[str]], **fields: Any) -> Job:
        """Submits a job; a string is a line for the shell. Without `workdir` it runs in the current
        directory. An array gives its first job."""
        request = {"command": command if isinstance(command, str) else list(command), **fields}
        if "image" not in request:
            request.setdefault("workdir", os.getcwd())
        first = self.request("POST", "/jobs", request)["jobs"][0]
        return Job(self, first["id"], first)

    def job(self, job: Union[int, str]) -> Job:
        """The job with this number or name."""
        info = self.get("/jobs/" + urllib.parse.quote(str(job), safe=""))
        return Job(self, info["id"], info)

    def jobs(self, **filters: Any) -> Iterator[Job]:
        """Jobs, newest first; filters are those of GET /jobs, such as state="running"."""
        after = None
        while True:
            page = self.get("/jobs", {**filters, "after": after})
            for info in page["jobs"]:
                yield Job(self, info["id"], info)
            after = page["next"]
            if after is None:
                return

    def nodes(self) -> List[Dict[str, Any]]:
        return list(self.get("/nodes")["nodes"])

    def events(self, job: Optional[int] = None) -> Iterator[Dict[str, Any]]:
        """What happens from now on, as it happens."""
        for line in self.lines("/events", {"follow": "1", "job": job}):
            if line.startswith("data:"):
                yield json.loads(line[5:])

    def get(self, path: str, query: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        return self.request("GET", path, None, query)

    def request(self, method: str, path: str, body: Any = None,
                query: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """Any request of the API; `path` is what follows /api/v1."""
        connection, response = self._send(method, path, body, query, self.timeout)
        try:
            return json.loads(response.read())
        finally:
            connection.close()

    def lines(self, path: str, query: Optional[Dict[str, Any]] = None) -> Iterator[str]:
        """The lines of a reply that may go on for a long time."""
        connection, response = self._send("GET", path, None, query, None)
        try:
            for line in iter(response.readline, b""):
                yield line.decode("utf-8", "replace")
        finally:
            connection.close()

    def _connect(self, timeout: Optional[float]) -> http.client.HTTPConnection:
        if "://" not in self.server:
            return _UnixConnection(self.server, timeout)
        url = urllib.parse.urlsplit(self.server)
        if url.scheme == "https" and self.fingerprint:
            return _PinnedConnection(url.hostname, url.port or 443, timeout, self.fingerprint)
        if url.scheme == "https":
            return http.client.HTTPSConnection(url.hostname, url.port, timeout=timeout)
        return http.client.HTTPConnection(url.hostname, url.port, timeout=timeout)

    def _send(self, method: str, path: str, body: Any, query: Optional[Dict[str, Any]],
              timeout: Optional[float]):
        given = {k: v for k, v in (query or {}).items() if v is not None}
        target = _API + path + ("?" + urllib.parse.urlencode(given) if given else "")
        headers = {"Authorization": "Bearer " + self.token} if self.token else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection = self._connect(timeout)
        try:
            connection.request(method, target, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
        except OSError as error:
            connection.close()
            raise Problem(0, "no server answers at %s: %s" % (self.server, error)) from error
        if response.status < 400:
            return connection, response
        text = response.read()
        connection.close()
        raise _problem(response.status, text)


def _problem(status: int, text: bytes) -> Problem:
    try:
        said = json.loads(text)
        return Problem(status, said["detail"], said.get("code", ""), said.get("field"))
    except (ValueError, KeyError, TypeError):
        return Problem(status, "the server answered with status %d" % status)
