"""The server's side of the conductor's socket."""
import contextlib
import json
import pathlib
import selectors
import socket
import threading

from cases import wait_until


class Server:
    """The server's side of the socket, in a thread."""

    def __init__(self, path, ack=True, welcome=None):
        self.path = pathlib.Path(path)
        self.ack = ack
        self.welcome = welcome or (lambda hello, newest: {
            "type": "welcome", "version": 2, "seq": newest})
        self.heard = []  # (job, message)
        self.connections = {}  # job: socket
        self.lock = threading.Lock()
        self.ids = iter(range(1, 1 << 30))
        self.stopping = False
        self.selector = selectors.DefaultSelector()
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen(1000)
        self.selector.register(self.listener, selectors.EVENT_READ, None)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def next_id(self):
        return next(self.ids)

    def run(self):
        while not self.stopping:
            for key, _ in self.selector.select(0.05):
                if key.data is None:
                    connection, _ = self.listener.accept()
                    self.selector.register(connection, selectors.EVENT_READ,
                                           {"text": b"", "job": None})
                else:
                    self.read(key.fileobj, key.data)

    def read(self, connection, state):
        try:
            got = connection.recv(65536)
        except ConnectionError:
            got = b""
        if not got:
            self.selector.unregister(connection)
            connection.close()
            return
        *lines, state["text"] = (state["text"] + got).split(b"\n")
        for line in lines:
            self.take(connection, state, json.loads(line))

    def take(self, connection, state, message):
        reply = None
        with self.lock:
            if message["type"] == "hello":
                state["job"] = message["job"]
                newest = max([m["seq"] for j, m in self.heard
                              if j == message["job"] and m["type"] == "progress"], default=0)
                self.connections[message["job"]] = connection
                reply = self.welcome(message, newest)
            elif message["type"] == "exit" and self.ack:
                reply = {"type": "ack", "what": "exit"}
            self.heard.append((state["job"], message))
        if reply:
            with contextlib.suppress(OSError):
                connection.sendall(reply if isinstance(reply, bytes)
                                   else json.dumps(reply).encode() + b"\n")

    def messages(self, job, kind=None):
        with self.lock:
            return [m for j, m in self.heard if j == job and kind in (None, m["type"])]

    def send(self, job, message):
        connection = wait_until(lambda: self.connections.get(job), what=f"job {job} connected")
        connection.sendall(message if isinstance(message, bytes)
                           else json.dumps(message).encode() + b"\n")

    def close(self):
        """Goes away as if killed: nothing is said to anybody."""
        self.stopping = True
        self.thread.join()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
