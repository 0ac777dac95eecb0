#!/usr/bin/env python3
"""Large arrays: how long a server takes to accept one, how long anybody else waits for an
answer meanwhile, and what one event costs while its members wait.

  bench/arrays.py [MEMBERS...]       default: 1000 10000 100000; BUILD names the build directory

The bound for acceptance is the disk's and SQLite's: the same rows, inserted by one statement in
one transaction into a copy of the same tables. While an array is accepted, and while its first
members run, another client asks for the server's health all the time; the longest answer counts.
The cost of an event is the server's CPU time for each member that has run.
"""
import os
import pathlib
import signal
import socket
import sqlite3
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()
os.environ.setdefault("TRAINYARD", str(BUILD / "trainyard"))
sys.path.insert(0, str(ROOT / "tests" / "support"))
import live  # noqa: E402  pylint: disable=wrong-import-position

LIMIT = 2  # members that run at once
RUNS = 200  # members whose run is measured


class Prober:
    """Asks for the server's health until it is told to stop, in a process of its own: what else
    this one does must not count."""

    REQUEST = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"

    def __init__(self, yard):
        self.results, out = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            self.probe(str(yard.socket), out)
        os.close(out)

    def probe(self, path, out):
        stopping, waits = [], []
        signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        while not stopping:
            begin = time.monotonic()
            connection.sendall(self.REQUEST)
            connection.recv(4096)
            waits.append(time.monotonic() - begin)
            time.sleep(0.001)
        os.write(out, f"{max(waits)}".encode())
        os._exit(0)

    def longest(self):
        os.kill(self.pid, signal.SIGTERM)
        longest = float(os.read(self.results, 100))
        os.close(self.results)
        os.waitpid(self.pid, 0)
        return longest


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def insert_again(yard, members):
    """Seconds to insert the array's rows once more, in one transaction."""
    db = sqlite3.connect(yard.dir / "copy.db", isolation_level=None)
    with sqlite3.connect(f"file:{yard.state}/trainyard.db?mode=ro", uri=True) as source:
        source.backup(db)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    names = [row[1] for row in db.execute("PRAGMA table_info(job)") if row[1] != "id"]
    columns = ", ".join(names)
    begin = time.monotonic()
    db.execute(f"INSERT INTO job (id, {columns}) SELECT id + 1000000, {columns} FROM job")
    elapsed = time.monotonic() - begin
    count = db.execute("SELECT count(*) FROM job").fetchone()[0]
    live.expect(count == 2 * members, f"{count} rows")
    db.close()
    return elapsed


def measure(members):
    with live.Yard("--policy", "fifo") as yard:
        yard.start()
        idle = memory_mb(yard.server.pid)
        yard.post("/jobs", {"command": ["true"], "hold": True, "name": "warm"})
        prober = Prober(yard)
        begin, used = time.monotonic(), cpu_seconds(yard.server.pid)
        jobs = yard.request("POST", "/jobs", {
            "command": ["true"], "cpus": 1, "array": f"1-{members}%{LIMIT}", "workdir": "/tmp"},
            checked=False)["jobs"]
        accepted, worked = time.monotonic() - begin, cpu_seconds(yard.server.pid) - used
        accepting = prober.longest()
        live.expect(len(jobs) == members, f"{len(jobs)} members")
        memory = memory_mb(yard.server.pid) - idle
        first, used = ended(yard), cpu_seconds(yard.server.pid)
        wait_for_runs(yard, first, members)
        each = (cpu_seconds(yard.server.pid) - used) / (ended(yard) - first)
        prober, first = Prober(yard), ended(yard)
        wait_for_runs(yard, first, members)
        running = prober.longest()
        yard.kill()
        bound = insert_again(yard, members + 1)
    print(f"{members:8d} {accepted:10.2f} {worked:8.2f} {bound:10.2f} {accepting * 1e3:12.1f} "
          f"{running * 1e3:13.1f} {each * 1e6:12.0f} {memory * 1024 / members:10.2f}", flush=True)


def wait_for_runs(yard, first, members):
    end = first + min(RUNS, members // 4)
    while ended(yard) < end:
        time.sleep(0.05)


def ended(yard):
    """How many jobs are done."""
    with sqlite3.connect(f"file:{yard.state}/trainyard.db?mode=ro", uri=True) as db:
        return db.execute("SELECT count(*) FROM job WHERE over = 1 AND state = 'done'").fetchone()[0]


def main():
    print(f"An array with a limit of {LIMIT}. Seconds to accept it, of the server's CPU, and to insert its "
          "rows by SQL alone;\nlongest answer of /health while it is accepted and while its first members run; "
          "server's CPU\ntime for each member that has run; memory.\n")
    print(f"{'members':>8} {'accepted s':>10} {'of CPU':>8} {'by SQL s':>10} {'health ms':>12} "
          f"{'running ms':>13} {'member us':>12} {'KB each':>10}")
    if not all(word.isdigit() for word in sys.argv[1:]):
        sys.exit(__doc__)
    for members in [int(word) for word in sys.argv[1:]] or [1000, 10000, 100000]:
        measure(members)


if __name__ == "__main__":
    main()
