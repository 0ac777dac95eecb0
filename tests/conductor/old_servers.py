#!/usr/bin/env python3
"""Servers of earlier versions, as they were recorded, in front of the conductor: it runs
what their specifications say, and does and answers what they say. Also one of a version to
come."""
import collections
import contextlib
import json
import pathlib
import socket
import time

import lib
from lib import expect, expect_equal, talks
from lib.attempt import MARK
from lib.talks import CONDUCTOR, RECORDED_AT

BUILD = pathlib.Path(lib.CONDUCTOR).resolve().parent
# The script of the scenario `ends`, which the server writes.
SCRIPT = "#!/bin/sh\nexit $TRAINYARD_ARRAY_INDEX\n"
# Said as often as there is something to say.
FREE = {"progress", "usage", "warning"}
# Of the end, what does not depend on the moment.
ENDS = ("job", "attempt", "code", "signal", "oom", "timeout", "reason", "stop")


class OldConnection:
    """One connection of a recorded conversation, and the server's part in it."""

    def __init__(self, connection):
        connection.settimeout(lib.PATIENCE)
        self.connection, self.lines = connection, connection.makefile("rb")
        self.heard = []
        self.wanted = collections.Counter()  # by kind
        self.news, self.said_at = set(), 0  # kinds that must come after what was said last
        self.asked, self.applied = {}, {}  # sizes: how much was heard before

    def expect(self, message):
        """The conductor has said such a message when it was recorded."""
        kind = message["type"]
        if kind == "applied":  # more than one may come for a size
            self.applied[message["cpus"]] = self.asked[message["cpus"]]
        elif kind in FREE:
            self.news.add(kind)
        else:
            self.wanted[kind] += 1

    def satisfied(self):
        got = collections.Counter(m["type"] for m in self.heard)
        after = {m["type"] for m in self.heard[self.said_at:]}
        return (all(got[kind] >= n for kind, n in self.wanted.items())
                # A job that ends need not have made a step more.
                and (self.news <= after or "exit" in after)
                and all(any(m["type"] == "applied" and m["cpus"] == cpus
                            for m in self.heard[before:])
                        for cpus, before in self.applied.items()))

    def listen(self):
        """Until the conductor has said as much as it had when it was recorded."""
        end = time.monotonic() + lib.PATIENCE
        while not self.satisfied():
            try:
                line = self.lines.readline()
            except TimeoutError:
                line = None
            expect(line and time.monotonic() < end,
                   f"{self.wanted}, {self.news} and sizes {self.applied}, not {self.heard}")
            self.heard.append(json.loads(line))

    def say(self, message):
        self.listen()
        self.news, self.said_at = set(), len(self.heard)
        if message["type"] == "resize":
            self.asked[message["cpus"]] = len(self.heard)
        self.connection.sendall(json.dumps(message).encode() + b"\n")

    def play(self, recorded):
        for who, message in recorded:
            (self.expect if who == CONDUCTOR else self.say)(message)
        self.listen()
        if recorded[-1][1]["type"] == "ack":
            expect_equal(self.lines.read(), b"", "after the acknowledgement")
        self.connection.close()


class OldServer:
    """The server of a recorded conversation."""

    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(10)
        self.listener.settimeout(lib.PATIENCE)
        self.heard = []  # connection by connection

    def play(self, recorded):
        connection = OldConnection(self.listener.accept()[0])
        self.heard.append(connection.heard)
        connection.play(recorded)

    def close(self):
        self.listener.close()


def set_stage(bench, path):
    """An attempt of the recorded specification, in directories of this test."""
    top = bench.tmp / path.parent.name / path.name
    spec = json.loads(talks.part(path, "spec").replace(RECORDED_AT, str(top)))
    attempt = bench.attempt(["true"], start=False)
    attempt.dir = top / "state" / "jobs" / str(spec["job"]) / str(spec["attempt"])
    attempt.dir.mkdir(parents=True)
    (attempt.dir.parent / "checkpoint").mkdir()
    (top / "bin").mkdir()
    for name in ("examples/trainer", "libtrainyard-malleable.so"):
        (top / "bin" / pathlib.Path(name).name).symlink_to(BUILD / name)
    if spec["command"][-1].endswith("/script"):
        pathlib.Path(spec["command"][-1]).write_text(SCRIPT)
    spec["env"][MARK] = attempt.mark
    if lib.instrumented():  # the job, which is not, cannot load the library
        spec.get("malleable", {}).pop("library", None)
    (attempt.dir / "spec.json").write_text(json.dumps(spec))
    return attempt, spec


def check_progress(recorded, heard):
    """Numbers go on from the one that the server has said it knows."""
    for connection, messages in zip(recorded, heard):
        known = next((m.get("seq") for _, m in connection if m["type"] == "welcome"), None)
        numbers = [m["seq"] for m in messages if m["type"] == "progress"]
        if known is not None and numbers:
            expect_equal(numbers, list(range(known + 1, known + 1 + len(numbers))), "numbers")


def check_answers(recorded, heard):
    """Each command that wants an answer has one of the same kind."""
    def answers(messages):
        return {m["id"]: m["type"] for m in messages if "id" in m and m["type"] != "hello"}

    said = [m for connection in recorded for who, m in connection if who == CONDUCTOR]
    expect_equal(answers(m for messages in heard for m in messages), answers(said), "answers")


def check_end(path, attempt):
    want, got = json.loads(talks.part(path, "exit")), attempt.record()
    for name in ENDS:
        expect_equal(got.get(name), want.get(name), f"{name} in the exit record")
    missing = set(want) - set(got) - {"warnings"}
    expect(not missing, f"members that are missing: {missing}")


def play(bench, scenario):
    """All conversations of a scenario."""
    found = [p for name, p in talks.talks("v1").items() if name.startswith(scenario + "/")]
    expect(found, f"nothing was recorded of {scenario}")
    for path in found:
        recorded = talks.read_talk(path)
        attempt, spec = set_stage(bench, path)
        server = OldServer(spec["socket"])
        attempt.start()
        try:
            for connection in recorded:
                server.play(connection)
        finally:
            server.close()
        expect_equal(attempt.process.wait(lib.PATIENCE), 0, f"{path}: {attempt.stderr()}")
        for hello in (messages[0] for messages in server.heard):
            expect_equal((hello["type"], hello["version"]), ("hello", 2), "greeting")
        check_progress(recorded, server.heard)
        check_answers(recorded, server.heard)
        if talks.part(path, "exit"):
            check_end(path, attempt)


def test_plain(bench):
    play(bench, "plain")


def test_mumbled_progress(bench):
    play(bench, "mumbled")


def test_threads(bench):
    play(bench, "threads")


def test_late_threads(bench):
    play(bench, "late")


def test_restarts(bench):
    play(bench, "restart")


def test_pause(bench):
    play(bench, "pause")


def test_limit(bench):
    play(bench, "limit")


def test_workers(bench):
    play(bench, "workers")


def test_reconnect(bench):
    play(bench, "reconnect")


def test_answers(bench):
    play(bench, "answers")


def test_ends(bench):
    play(bench, "ends")


def test_refused(bench):
    """The job ends all the same, and its record stays."""
    path = talks.talks("v1")["refused/4711.1"]
    attempt, spec = set_stage(bench, path)
    server = OldServer(spec["socket"])
    server.listener.settimeout(0.05)
    attempt.start()
    while attempt.process.poll() is None:
        with contextlib.suppress(TimeoutError):
            server.play(talks.read_talk(path)[0])
    server.close()
    expect(len(server.heard) > 1, "it tries again")
    expect_equal((attempt.process.poll(), attempt.record()["code"]), (0, 0), "the end")


def test_a_version_to_come(bench):
    """What it says more is passed over; what cannot be done is answered so."""
    server = bench.server(welcome=lambda hello, newest: {
        "type": "welcome", "seq": newest, "version": 99, "colour": ["red"]})
    a = bench.attempt("exec sleep 600", server=server, colour="blue")
    a.expect_message("started")
    server.send(a.job, {"type": "dance", "steps": 3})
    answer = a.send("dance", steps=3)
    expect_equal((answer["type"], answer["text"]), ("error", "unknown message 'dance'"), "answer")
    expect_equal(a.send("limit", time_limit_s=600, colour="red")["type"], "ok", "answer")
    a.send("stop", grace_s=0, reason="cancel", colour="red")
    expect_equal(a.wait()["stop"], "cancel", "the end")
    expect_equal(len(a.messages("hello")), 1, "connections")


lib.main()
