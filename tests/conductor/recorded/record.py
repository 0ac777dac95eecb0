#!/usr/bin/env python3
"""Records what servers and conductors of one version say to each other.

record.py BUILD OUT [SCENARIO...]

BUILD is where that version was built, OUT a folder such as v1. Everything happens below
/tmp/trainyard-recording, so that no other path gets into the recordings.
"""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
from functools import partial

HERE = pathlib.Path(__file__).resolve().parent
TOP = pathlib.Path("/tmp/trainyard-recording")
BIN = TOP / "bin"
TAP = str(BIN / "tap.py")

os.environ.update(PATH="/usr/local/bin:/usr/bin:/bin", HOME=str(TOP), TRAINYARD=str(BIN / "trainyard"),
                  TRAINYARD_CONDUCTOR=TAP)
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]
import live  # pylint: disable=wrong-import-position
import scenarios  # pylint: disable=wrong-import-position
from live import wait_until  # pylint: disable=wrong-import-position

# The server of the other scenarios asks for no answer. To each of these there is one.
ASKED = (
    {"type": "signal", "number": 23, "to": "leader"},  # SIGURG: nobody minds
    {"type": "freeze"},
    {"type": "thaw"},
    {"type": "limit", "time_limit_s": 3600},
    {"type": "limit", "time_limit_s": None},
    {"type": "resize", "cpus": 2.0, "cpuset_os": "0-1"},
    {"type": "resize", "cpus": 0},
    {"type": "signal", "number": 0},
    {"type": "dance"},
    {"type": "stop", "grace_s": 0, "reason": "cancel"},
)


class Recorded(live.Yard):
    """A server whose conductors are recorded."""

    def away(self):
        """While no server runs, until the job is over."""
        wait_until(lambda: (self.state / "jobs/1/1/exit.json").exists(), "the end of the job")


def install(build):
    """The programs that are recorded, in places that do not tell where they are from."""
    shutil.rmtree(TOP, ignore_errors=True)
    BIN.mkdir(parents=True)
    for name in ("trainyard", "trainyard-conductor", "libtrainyard-malleable.so",
                 "examples/trainer"):
        shutil.copy(build / name, BIN)
    shutil.copy(HERE / "tap.py", TAP)
    shutil.copytree(build.parent / "python", TOP / "python")


def keep(attempt, out):
    """Copies what was recorded of an attempt to OUT.talk, OUT.spec.json, OUT.exit.json."""
    out.parent.mkdir(parents=True, exist_ok=True)
    for recorded, suffix in (("talk", ".talk"), ("spec.recorded", ".spec.json"),
                             ("exit.recorded", ".exit.json")):
        if (attempt / recorded).exists():
            shutil.copy(attempt / recorded, f"{out}{suffix}")


def record(scenario, out):
    with Recorded(directory=TOP, cpus=2) as yard:
        scenario(yard)
        yard.finish()
    for attempt in sorted((TOP / "state/jobs").glob("*/[0-9]*")):
        keep(attempt, out / scenario.__name__ / f"{attempt.parent.name}.{attempt.name}")
    shutil.rmtree(TOP / "state")


def write_attempt(name, path, script):
    """An attempt that no server has asked for."""
    attempt = TOP / name
    attempt.mkdir()
    (attempt / "spec.json").write_text(json.dumps({
        "job": 4711, "attempt": 1, "command": ["/bin/sh", "-c", script], "workdir": str(TOP),
        "env": {"PATH": os.environ["PATH"]}, "socket": str(path), "token": "0123abcd",
        "linger_s": 0, "grace_s": 5}, indent=1))
    return attempt


def record_answers(out):
    """Every command with an id, from a server that is played here."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(TOP / "played.sock"))
    listener.listen(1)
    attempt = write_attempt("answers", TOP / "played.sock", "exec sleep 600")
    with subprocess.Popen([TAP, str(attempt)]) as conductor:
        connection = listener.accept()[0]
        heard = connection.makefile("r", encoding="utf-8")

        def until(test):
            while not test(message := json.loads(heard.readline())):
                pass
            return message

        def say(message):
            connection.sendall(json.dumps(message).encode() + b"\n")

        until(lambda m: m["type"] == "hello")
        say({"type": "welcome"})
        until(lambda m: m["type"] == "started")
        for number, command in enumerate(ASKED):
            say({**command, "id": number})
            until(lambda m, n=number: m.get("id") == n)
        until(lambda m: m["type"] == "exit")
        say({"type": "ack", "what": "exit"})
        conductor.wait()
    keep(attempt, out / "answers" / "4711.1")


def record_refusal(out):
    """A server does not know the attempt; its job ends all the same."""
    with Recorded(directory=TOP, cpus=2) as yard:
        yard.start()
        attempt = write_attempt("refused", yard.state / "conductor.sock", "sleep 1")
        subprocess.run([TAP, str(attempt)], check=True)
        yard.finish()
    keep(attempt, out / "refused" / "4711.1")
    shutil.rmtree(TOP / "state")


def main():
    build, out, *names = sys.argv[1:]
    build, out = pathlib.Path(build).resolve(), pathlib.Path(out).resolve()
    for name, run in {**{s.__name__: partial(record, s) for s in scenarios.ALL},
                      "answers": record_answers, "refused": record_refusal}.items():
        if not names or name in names:
            install(build)
            run(out)
    shutil.rmtree(TOP)


if __name__ == "__main__":
    main()
