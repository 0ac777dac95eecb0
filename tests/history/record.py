#!/usr/bin/env python3
"""Records the history of a live server for tests/property/history.c:

    tests/history/record.py [FILE]      (tests/history/live.journal)

A server with two CPUs runs real jobs: they share CPUs by FlowCon, change their lists,
are resized by hand and by policies, preempted and paused; one must not be preempted; the
policy changes three times, the node is drained, and the server is killed. Each line of
the file is a row of the journal: number, start of the server, kind and data.

Record it again when what the engine decides or how the journal spells it has changed on
purpose.
"""
import pathlib
import sqlite3
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
sys.path.insert(0, str(HERE.parent / "elastic"))
from lib import Learner, live, policy
from live import wait_until

GATE = "while [ ! -e {0} ]; do sleep 0.02; done"


def gate(yard, name, **fields):
    """A job that runs until it is told to end."""
    return yard.submit(GATE.format(name), name=name, **fields)


def record(yard):
    yard.start()
    fast, slow = (Learner(yard, name, slope, cpus="0.25-2") for name, slope in
                  (("fast", 5), ("slow", 5)))
    stays = gate(yard, "stays", cpus="0.5-1", preempt="never")
    for name in (fast.id, slow.id, stays):
        yard.wait_for(name, "running")
    wait_until(lambda: "per second on" in slow.standing(), "it was measured")
    slow.learn(0.001)
    slow.wait_list("new", "watching", "completing")
    yard.post(f"/jobs/{fast.id}/resize", {"cpus": "0.5-1"}, 200)

    # Each on CPUs of its own: sizes follow who comes and goes.
    policy(yard, "elastic-fifo")
    passes = gate(yard, "passes", cpus="0.5-1")
    yard.wait_for(passes, "running")
    (yard.dir / "passes").touch()
    yard.wait_for(passes, "done")

    # Those that have had their share make room, one of them by pausing.
    policy(yard, "las:thresholds=1")
    pauses = gate(yard, "pauses", cpus=1, preempt="pause")
    yard.wait_for(pauses, "running")
    wait_until(lambda: yard.events(pauses, "job.listed"), "its queue")
    newcomer = gate(yard, "newcomer", cpus=1)
    yard.wait_for(newcomer, "running")
    yard.kill()
    yard.start()
    yard.wait_for(stays, "running")
    (yard.dir / "newcomer").touch()
    yard.wait_for(newcomer, "done")

    # What runs on a drained node may end; what is paused there goes back to the queue.
    policy(yard, "tradl")
    node = yard.get("/nodes")["nodes"][0]["name"]
    yard.post(f"/nodes/{node}/drain")
    (yard.dir / "stays").touch()
    yard.wait_for(stays, "done")
    yard.post(f"/nodes/{node}/undrain")
    (yard.dir / "pauses").touch()
    yard.wait_for(pauses, "done")
    fast.end()
    slow.end()


def write_rows(yard, path):
    """The server must be down, so that all of its journal is in the database."""
    with sqlite3.connect(yard.state / "trainyard.db") as db:
        rows = db.execute("SELECT seq, (SELECT max(n) FROM boot WHERE first <= seq), kind, data"
                          " FROM journal ORDER BY seq").fetchall()
    path.write_text("".join(f"{seq} {boot} {kind} {data}\n" for seq, boot, kind, data in rows))
    print(f"{len(rows)} rows, {path.stat().st_size // 1024} KiB in {path}")


def main():
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "live.journal"
    with live.Yard("--policy", "flowcon:itval=1s:alpha=2%", cpus=2) as yard:
        record(yard)
        yard.finish()
        write_rows(yard, path)


main()
