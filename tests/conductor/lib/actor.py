#!/usr/bin/env python3
"""A recorded conductor, for a server to start in the place of a real one: says what the
recording of its attempt in $ACTOR_TALKS says, at the same pace, once the server has said
what comes before. What the server says must have the members that were recorded.

With $ACTOR_RECORD it says nothing: it leaves that file as its exit record and goes, as a
conductor does that has waited long enough for a server.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import socket
import sys
import time

import talks

# Differ from machine to machine, or from moment to moment.
VARYING = {"cpuset_os", "seq"}
# What a server may say at any time: each tells what is wanted, not what to change.
SAID_AGAIN = {"resize", "limit", "thaw"}
# Members of version 1 that had no meaning: no conductor has read them.
DROPPED = {("restart", "threads")}


def claim(directory):
    """As a conductor does: with its pid and start, locked for as long as it lives."""
    start = pathlib.Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    file = open(directory / "claim.new", "w", encoding="ascii")  # pylint: disable=consider-using-with
    file.write(f"{os.getpid()} {start}\n")
    file.flush()
    fcntl.flock(file, fcntl.LOCK_EX)
    os.rename(directory / "claim.new", directory / "claim")
    return file


def connect(path):
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
            return connection
        except OSError:
            connection.close()
            time.sleep(0.02)


class Actor:
    def __init__(self, directory):
        self.dir = directory
        self.spec = json.loads((directory / "spec.json").read_text())
        self.talk = talks.read_talk(pathlib.Path(os.environ["ACTOR_TALKS"]) /
                                    f"{directory.parent.name}.{directory.name}")
        times = [m["at_us"] for connection in self.talk for _, m in connection if "at_us" in m]
        self.early = []  # what was said before the recording has it
        self.later = time.time_ns() // 1000 - min(times)

    def say(self, connection, message):
        """As it was recorded, but of this attempt and this time."""
        message = dict(message)
        for name in ("job", "attempt", "token"):
            if name in message:
                message[name] = self.spec[name]
        for name in ("at_us", "started_us"):
            if message.get(name):
                message[name] += self.later
        if "pid" in message:
            message["pid"] = os.getpid()
        wait = message.get("at_us", 0) / 1e6 - time.time()
        if wait > 0:
            time.sleep(wait)
        if message["type"] == "exit":
            (self.dir / "exit.json").write_text(json.dumps(message))
        connection.sendall(json.dumps(message).encode() + b"\n")

    def hear(self, lines, message):
        if message["type"] in self.early:
            self.early.remove(message["type"])
            return
        heard = {"type": None}
        while heard["type"] != message["type"]:
            line = lines.readline()
            if not line:
                raise ConnectionError("the server has hung up")
            heard = json.loads(line)
            if heard["type"] not in SAID_AGAIN:
                break
            if heard["type"] != message["type"]:
                self.early.append(heard["type"])
        for name, value in message.items():
            if (message["type"], name) in DROPPED or value is None:
                continue
            if name in VARYING and type(heard.get(name)) is type(value):
                continue
            if heard.get(name) != value:
                raise ValueError(f"heard {heard}, recorded was {message}")

    def play(self, recorded):
        """One connection; false when the server is gone before its end."""
        connection = connect(self.spec["socket"])
        lines = connection.makefile("rb")
        try:
            for who, message in recorded:
                if who == talks.CONDUCTOR:
                    self.say(connection, message)
                else:
                    self.hear(lines, message)
            if recorded is not self.talk[-1]:
                with contextlib.suppress(ConnectionError):
                    lines.read()  # until it is gone
            return True
        except ConnectionError:
            return False
        finally:
            connection.close()

    def run(self):
        for recorded in self.talk:
            while not self.play(recorded):
                pass


def main():
    directory = pathlib.Path(sys.argv[1])
    claim_file = claim(directory)
    with open(directory / "actor", "w", encoding="utf-8") as notes:
        try:
            if "ACTOR_RECORD" in os.environ:
                shutil.copy(os.environ["ACTOR_RECORD"], directory / "exit.json")
            else:
                Actor(directory).run()
            notes.write("as recorded\n")
        except (OSError, ValueError) as why:
            notes.write(f"{why}\n")
    claim_file.close()


if __name__ == "__main__":
    main()
