#!/usr/bin/env python3
"""Stands in for the conductor ($TRAINYARD_CONDUCTOR of a server) and records what it and
the server say: becomes the real one, in the same folder, whose connection goes through a
process that writes every line to the file `talk` in the attempt's directory.

    = connected
    > what the conductor says
    < what the server says
    = lost

The specification as the server wrote it stays as `spec.recorded`, the exit record becomes
`exit.recorded`, since the server removes it.
"""
import contextlib
import json
import os
import pathlib
import select
import shutil
import socket
import sys


def lines_of(buffer):
    """The whole lines of a buffer, and the rest."""
    *lines, rest = buffer.split(b"\n")
    return lines, rest


class Tap:
    def __init__(self, directory, server, listener, conductor):
        self.dir, self.server, self.listener = directory, server, listener
        self.conductor = os.pidfd_open(conductor)
        self.talk = open(directory / "talk", "ab", buffering=0)  # pylint: disable=consider-using-with

    def run(self):
        """Connection after connection, until the conductor is gone."""
        while True:
            ready, _, _ = select.select([self.listener, self.conductor], [], [])
            if self.conductor in ready:
                return
            below, _ = self.listener.accept()
            above = socket.socket(socket.AF_UNIX)
            try:
                above.connect(self.server)
                self.pass_on(below, above)
            except OSError:
                pass  # no server: the conductor tries again
            above.close()
            below.close()

    def pass_on(self, below, above):
        self.talk.write(b"= connected\n")
        ways = {below: [b"> ", above, b""], above: [b"< ", below, b""]}
        while True:
            ready, _, _ = select.select(list(ways), [], [])
            for end in ready:
                sign, other, rest = ways[end]
                with contextlib.suppress(ConnectionError):
                    got = end.recv(65536)
                    lines, ways[end][2] = lines_of(rest + got)
                    for line in lines:
                        self.take(sign, line)
                    if got:
                        other.sendall(got)
                        continue
                self.talk.write(b"= lost\n")
                return

    def take(self, sign, line):
        if json.loads(line)["type"] == "exit":
            shutil.copy(self.dir / "exit.json", self.dir / "exit.recorded")
        self.talk.write(sign + line + b"\n")


def main():
    directory = pathlib.Path(sys.argv[1])
    spec = json.loads((directory / "spec.json").read_text())
    shutil.copy(directory / "spec.json", directory / "spec.recorded")
    server, spec["socket"] = spec["socket"], str(directory / "tap.sock")
    (directory / "spec.json").write_text(json.dumps(spec))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(spec["socket"])
    listener.listen(10)
    conductor, middle = os.getpid(), os.fork()
    if middle == 0:  # no child of the conductor's: it waits for all that it has
        os.setsid()
        if os.fork() == 0:
            Tap(directory, server, listener, conductor).run()
        os._exit(0)
    os.waitpid(middle, 0)
    # Conductors get no environment, so nothing else could name it.
    program = str(pathlib.Path(__file__).resolve().parent / "trainyard-conductor")
    os.execv(program, [program, str(directory)])


if __name__ == "__main__":
    main()
