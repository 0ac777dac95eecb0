"""A proxy before an API server that has its moods: slow, throttling, out of order, cutting streams.

It terminates TLS with a certificate of its own. Each connection carries one request, or what a
WebSocket makes of it, so that a mood meets single requests.
"""
import random
import socket
import ssl
import subprocess
import threading
import time

HEAD = b"\r\n\r\n"


def reply(status, reason, *headers):
    body = b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"in a mood"}'
    lines = [f"HTTP/1.1 {status} {reason}", "Content-Type: application/json",
             f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + HEAD + body


class Proxy:
    """`mood` is called with the request line; it returns bytes to reply with instead, or None, and
    may sleep. `streams` are the watches under way."""

    def __init__(self, directory, address, port):
        self.upstream = (address, port)
        self.mood = lambda line: None
        self.seen = []
        self.streams = []
        self.cert, key = directory / "proxy.crt", directory / "proxy.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=proxy", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                        str(key), "-out", str(self.cert)], check=True, capture_output=True)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(self.cert, key)
        self.out = ssl._create_unverified_context()  # pylint: disable=protected-access
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.server = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, raw):
        try:
            with self.tls.wrap_socket(raw, server_side=True) as client:
                self.relay(client)
        except (OSError, ssl.SSLError):
            raw.close()

    def relay(self, client):
        head = b""
        while HEAD not in head:
            part = client.recv(65536)
            if not part:
                return
            head += part
        line = head.split(b"\r\n", 1)[0].decode()
        self.seen.append(line)
        instead = self.mood(line)
        if instead is not None:
            client.sendall(instead)
            return
        if b"upgrade: websocket" not in head.lower():
            head = head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
        with self.out.wrap_socket(socket.create_connection(self.upstream)) as server:
            server.sendall(head)
            if "watch=1" in line:
                self.streams.append((client, server))
            back = threading.Thread(target=self.copy, args=(server, client), daemon=True)
            back.start()
            self.copy(client, server)
            back.join()

    @staticmethod
    def copy(source, target):
        try:
            while part := source.recv(65536):
                target.sendall(part)
        except (OSError, ssl.SSLError, ValueError):
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut_streams(self):
        """Ends all watches in the middle."""
        streams, self.streams = self.streams, []
        for pair in streams:
            for one in pair:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        return len(streams)

    def close(self):
        self.listener.close()
        self.cut_streams()


def slow(seconds):
    """Every request takes longer."""
    def mood(_line):
        time.sleep(random.uniform(0, 2 * seconds))

    return mood


def throttling(share):
    """A share of requests is refused for now, in the ways that API servers have."""
    refusals = [reply(429, "Too Many Requests", "Retry-After: 1"),
                reply(503, "Service Unavailable"), reply(500, "Internal Server Error"),
                reply(504, "Gateway Timeout")]

    def mood(_line):
        return random.choice(refusals) if random.random() < share else None

    return mood
