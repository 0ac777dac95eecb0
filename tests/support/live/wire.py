"""Requests to a server on a unix socket, and their answers."""
import http.client
import json
import socket

from cases import PATIENCE

API = "/api/v1"


class Refused(Exception):
    """The server answered, and said no."""

    def __init__(self, answer):
        detail = answer.json.get("detail") if answer.type.endswith("json") else None
        super().__init__(f"{answer.status}: {detail or answer.bytes[:500]}")
        self.status, self.answer = answer.status, answer


class Connection(http.client.HTTPConnection):
    """To a unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Answer:
    """A reply that was read to its end."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.type = response.headers.get("Content-Type", "").split(";")[0]
        self.bytes = response.read()

    @property
    def json(self):
        return json.loads(self.bytes)

    @property
    def text(self):
        return self.bytes.decode(errors="replace")


class Stream:
    """A reply that goes on: lines of a log, or events."""

    def __init__(self, connection, response):
        self.connection, self.response = connection, response
        self.status, self.headers = response.status, response.headers

    def read(self):
        """All until its end."""
        return self.response.read()

    def read_some(self, n):
        """Exactly n bytes."""
        out = b""
        while len(out) < n:
            piece = self.response.read1(n - len(out))
            if not piece:
                raise EOFError(f"the stream ended after {len(out)} of {n} bytes")
            out += piece
        return out

    def events(self):
        """Yields (id, kind, object) as they come."""
        event = {}
        for line in self.response:
            line = line.decode().rstrip("\n")
            if line:
                name, _, value = line.partition(":")
                event[name] = value.removeprefix(" ")
            else:
                if "data" in event:
                    yield event.get("id"), event.get("event"), json.loads(event["data"])
                event = {}

    def close(self):
        self.connection.close()


def send(path, method, target, body=None, headers=None, base=API):
    """Sends a request to the socket at `path`; body is JSON unless it is bytes."""
    headers = dict(headers or {})
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        headers.setdefault("Content-Type", "application/json")
    connection = Connection(path)
    try:
        connection.request(method, base + target, body, headers)
        return connection, connection.getresponse()
    except BaseException:
        connection.close()
        raise
