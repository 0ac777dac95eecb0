#!/usr/bin/env python3
"""Conductors of earlier versions, as they were recorded, in front of the server: it
understands all they say, and says to them what they understand. They outlive an upgrade
of the server. Also those of a version to come."""
import json
import pathlib
import shlex
import shutil
import socket
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE / "lib"), str(HERE / "recorded")]
import live
import scenarios
import talks
from live import expect, expect_equal, wait_until

ACTOR = str(HERE / "lib" / "actor.py")
V1 = talks.RECORDED / "v1"


class Stage(live.Yard):
    """A server whose conductors are recorded ones."""

    def __init__(self, folder, **environment):
        self.actor = tempfile.TemporaryDirectory(prefix="trainyard-actor-")
        conductor = pathlib.Path(self.actor.name, "conductor")
        super().__init__(cpus=2, environment={"TRAINYARD_CONDUCTOR": str(conductor), **environment})
        self.direct(ACTOR_TALKS=folder)

    def direct(self, **variables):
        """A conductor gets no environment from the server: a script brings the actor's."""
        lines = [f"export {name}={shlex.quote(str(value))}" for name, value in variables.items()]
        path = pathlib.Path(self.actor.name, "conductor")
        path.write_text("\n".join(["#!/bin/sh", *lines, f'exec {ACTOR} "$@"', ""]))
        path.chmod(0o755)

    def away(self):
        """Nothing happens while no server runs: the end of the job was recorded."""

    def notes(self):
        """How each conductor found the server, by "JOB.ATTEMPT"."""
        return {f"{p.parents[1].name}.{p.parent.name}": p.read_text()
                for p in (self.state / "jobs").glob("*/*/actor")}

    def jobs_file(self, job, name):
        return self.state / "jobs" / str(job) / "1" / name


def expect_as_recorded(stage, folder):
    """All that were recorded have played, to the end, and left nothing."""
    names = {p.stem for p in folder.glob("*.talk")}
    wait_until(lambda: set(stage.notes()) == names and all(stage.notes().values()),
               lambda: f"all of {names}, but {stage.notes()}")
    for name, note in stage.notes().items():
        expect_equal(note, "as recorded\n", name)
    for path in folder.glob("*.exit.json"):
        job, attempt = path.name.split(".")[:2]
        recorded = json.loads(path.read_text())
        shown = {a["n"]: a for a in stage.job(job)["attempts"]}[int(attempt)]
        expect_equal((shown["code"], shown["reason"]),
                     (recorded["code"], recorded["reason"] or shown["reason"]), path.name)


def play(name):
    folder = V1 / name
    with Stage(folder) as stage:
        getattr(scenarios, name)(stage)
        expect_as_recorded(stage, folder)
        stage.finish()


def test_plain():
    play("plain")


def test_ends():
    play("ends")


def test_mumbled_progress():
    play("mumbled")


def test_threads():
    play("threads")


def test_late_threads():
    play("late")


def test_restarts():
    play("restart")


def test_pause():
    play("pause")


def test_limit():
    play("limit")


def test_workers():
    play("workers")


def test_reconnect():
    play("reconnect")


def test_every_scenario_is_played():
    played = {n.co_consts[1] for n in (f.__code__ for name, f in globals().items()
                                       if name.startswith("test_")) if "play" in n.co_names}
    expect_equal(played, {s.__name__ for s in scenarios.ALL}, "scenarios")


def test_refused():
    """One of which the server knows nothing."""
    with live.Yard() as yard:
        yard.start()
        (_, hello), (_, refused) = talks.read_talk(V1 / "refused" / "4711.1")[0]
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(yard.state / "conductor.sock"))
        connection.sendall(json.dumps(hello).encode() + b"\n")
        expect_equal(json.loads(connection.makefile().readline()), refused, "answer")
        connection.close()
        yard.finish()


def test_exit_records_on_disk():
    """Their conductors have left while there was no server."""
    for path in sorted(V1.glob("*/*.exit.json")):
        record = json.loads(path.read_text())
        with Stage(V1) as stage, tempfile.NamedTemporaryFile("w") as own:
            # One of another attempt would not count.
            json.dump({**record, "job": 1, "attempt": 1}, own)
            own.flush()
            stage.direct(ACTOR_TALKS=V1, ACTOR_RECORD=own.name)
            stage.start()
            job = stage.submit("true")
            wait_until(lambda s=stage: s.notes().get("1.1"), "the conductor leaves")
            stage.kill()
            stage.start()
            shown = stage.wait_for(job, "done", "failed", "timeout")
            want = "timeout" if record["timeout"] else "failed" if record["code"] else "done"
            expect_equal((shown["state"], shown["code"]), (want, record["code"]), path)
            expect(record["reason"] in shown["reason"], path, shown["reason"])
            attempt = shown["attempts"][0]
            expect_equal(attempt["cpu_s"], record["usage"]["cpu_us"] / 1e6, path)
            stage.finish()


def test_a_version_to_come():
    """What it says more is passed over."""
    with live.Yard() as folder:
        lines = (V1 / "plain" / "1.1.talk").read_text().splitlines()
        more = {"version": 99, "colour": ["red"], "shape": {"round": True}}
        said = []
        for line in lines:
            if line.startswith("> "):
                line = "> " + json.dumps({**json.loads(line[2:]), **more})
                said += ['> {"type":"dance","steps":3}'] if "hello" not in line else []
            said.append(line)
        (folder.dir / "1.1.talk").write_text("\n".join(said) + "\n")
        shutil.copy(V1 / "plain" / "1.1.exit.json", folder.dir)
        with Stage(folder.dir) as stage:
            scenarios.plain(stage)
            expect_as_recorded(stage, folder.dir)
            complaints = stage.output().count("unknown message 'dance'")
            expect_equal(complaints, 1, "complaints")
            stage.finish()


if __name__ == "__main__":
    live.main()
