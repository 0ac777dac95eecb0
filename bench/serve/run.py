#!/usr/bin/env python3
"""Measures the real server: durable submissions, requests with many jobs in the store, time
from submission to the job's first instruction, short jobs per second, memory. Each figure
stands next to a limit or a peer that was measured in the same run; on a shared machine only
the ratios are meaningful.

  bench/serve/run.py [--short] [SECTION...]       BUILD names the build directory
  BEFORE=DIR bench/serve/run.py compare           DIR is the build directory of another version

Sections: submit, requests, latency, jobs, memory, and compare when BEFORE is set. Peers take part if they are installed:
task-spooler (tsp), Slurm (slurmctld, slurmd, munge: a private one is started).
"""
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()
os.environ.setdefault("TRAINYARD", str(BUILD / "trainyard"))
sys.path.insert(0, str(ROOT / "tests" / "support"))
import live  # noqa: E402  pylint: disable=wrong-import-position
import slurm  # noqa: E402  pylint: disable=wrong-import-position

SHORT = "--short" in sys.argv


class Client(http.client.HTTPConnection):
    """One persistent connection, as a program would use it."""

    def __init__(self, state):
        super().__init__("localhost")
        self.path = os.path.join(state, "trainyard.sock")

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def ask(self, method, path, body=None):
        self.request(method, "/api/v1" + path, None if body is None else json.dumps(body),
                     {} if body is None else {"Content-Type": "application/json"})
        answer = self.getresponse()
        value = json.loads(answer.read())
        if answer.status >= 400:
            raise SystemExit(f"{method} {path}: {value}")
        return value

    def get(self, path):
        return self.ask("GET", path)

    def post(self, path, body=None):
        return self.ask("POST", path, {} if body is None else body)


@contextlib.contextmanager
def server():
    """A new server and a connection to it."""
    with live.Yard() as yard:
        yard.start(wait=False)  # whose document is not looked at: it may be an earlier version
        while not yard.answers():
            time.sleep(0.01)
        yield yard, Client(yard.state)


def wait_all(client):
    while client.get("/jobs?active=1&limit=1")["jobs"]:
        time.sleep(0.005)


def table(title, header, rows):
    print(f"\n{title}")
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, *rows]:
        print("  " + "  ".join(str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))))


def rate(count, function):
    start = time.perf_counter()
    for i in range(count):
        function(i)
    return count / (time.perf_counter() - start)


def quantile(values, q):
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def disk_rate(directory, count):
    fd = os.open(os.path.join(directory, "probe"), os.O_WRONLY | os.O_CREAT)

    def write(_):
        os.pwrite(fd, b"x" * 4096, 0)
        os.fdatasync(fd)

    try:
        return rate(count, write)
    finally:
        os.close(fd)


def sqlite_rate(directory, count):
    db = sqlite3.connect(os.path.join(directory, "probe.db"), isolation_level=None)
    db.execute("pragma journal_mode = wal")
    db.execute("pragma synchronous = full")
    db.execute("create table t (id integer primary key, text text)")
    result = rate(count, lambda i: db.execute("insert into t (text) values (?)", ("x" * 300,)))
    db.close()
    return result


def request(i):
    return {"name": f"j{i}", "command": ["true"], "hold": True, "env": {"A": "b"}}


def submit():
    count = 300 if SHORT else 2000
    with server() as (yard, client):
        disk = disk_rate(yard.dir, count)
        sqlite = sqlite_rate(yard.dir, count)
        single = rate(count, Wire(yard.state, "POST", "/jobs", request(0)).send)
        clients = clients_rate(yard, 8, count)
        batched = 100 * rate(max(count // 100, 5), lambda i: client.post(
            "/jobs", {"jobs": [request(k) for k in range(100)]}))
    rows = [("fdatasync of one block", f"{disk:.0f}", "1.00"),
            ("SQLite, one row per commit", f"{sqlite:.0f}", f"{sqlite / disk:.2f}"),
            ("submissions, one at a time", f"{single:.0f}", f"{single / disk:.2f}"),
            ("submissions, 8 clients", f"{clients:.0f}", f"{clients / disk:.2f}"),
            ("submissions, batches of 100", f"{batched:.0f}", f"{batched / disk:.2f}")]
    table("Durable submissions", ("", "per second", "of the disk's rate"), rows)


class Wire:
    """A connection that sends the same request again and again, and does nothing with the
    replies: so the server is measured, not a library for HTTP."""

    def __init__(self, state, method, path, body):
        text = json.dumps(body).encode()
        self.request = (f"{method} /api/v1{path} HTTP/1.1\r\nHost: localhost\r\n"
                        "Content-Type: application/json\r\n"
                        f"Content-Length: {len(text)}\r\n\r\n").encode() + text
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.path.join(state, "trainyard.sock"))

    def send(self, _=None):
        self.sock.sendall(self.request)
        reply = self.sock.recv(65536)
        while not self.is_whole(reply):
            reply += self.sock.recv(65536)
        if not reply.startswith(b"HTTP/1.1 2"):
            raise SystemExit(reply.decode())

    @staticmethod
    def is_whole(reply):
        head, _, body = reply.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        return length and len(body) >= int(length.group(1))


def clients_rate(yard, clients, count):
    """Several clients at once, so that commits are shared."""
    def work():
        wire = Wire(yard.state, "POST", "/jobs", request(0))
        for _ in range(count // clients):
            wire.send()

    threads = [threading.Thread(target=work) for _ in range(clients)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return count // clients * clients / (time.perf_counter() - start)


def fill(client, count):
    for i in range(0, count, 1000):
        client.post("/jobs", {"jobs": [request(i + k) for k in range(1000)]})


def requests():
    stored = 10000 if SHORT else 100000
    count = 500 if SHORT else 3000
    with server() as (_, client):
        fill(client, stored)
        rows = []
        for name, path in (("list, newest 100", "/jobs?limit=100"),
                           ("list, 100 from the middle", f"/jobs?limit=100&after={stored // 2}"),
                           ("list by name", "/jobs?name=j77*&limit=100"),
                           ("show", f"/jobs/{stored // 3}"),
                           ("health", "/health")):
            times = []

            def ask(_, path=path, times=times):
                start = time.perf_counter()
                client.get(path)
                times.append((time.perf_counter() - start) * 1e3)

            per_second = rate(count, ask)
            rows.append((name, f"{per_second:.0f}", f"{statistics.median(times):.2f}",
                         f"{quantile(times, 0.99):.2f}"))
    table(f"Requests with {stored:,} jobs in the store, one client",
          ("", "per second", "median ms", "p99 ms"), rows)


def latency():
    count = 30 if SHORT else 200
    stamp = str(BUILD / "bench" / "stamp")
    with server() as (yard, client):
        out = os.path.join(yard.dir, "stamps")
        ours, bare = [], []
        for _ in range(count):
            start = time.monotonic_ns()
            client.post("/jobs", {"command": [stamp, out], "cpus": 0.5})
            wait_all(client)
            ours.append((newest(out) - start) / 1e6)
            start = time.monotonic_ns()
            subprocess.run([stamp, out], check=True)
            bare.append((newest(out) - start) / 1e6)
    rows = [("fork and exec", f"{statistics.median(bare):.2f}", f"{quantile(bare, 0.99):.2f}"),
            ("trainyard", f"{statistics.median(ours):.2f}", f"{quantile(ours, 0.99):.2f}")]
    table("From submission to the job's first instruction", ("", "median ms", "p99 ms"), rows)


def newest(path):
    with open(path) as f:
        return int(f.read().split()[-1])


def our_jobs(count):
    with server() as (_, client):
        start = time.perf_counter()
        for i in range(0, count, 500):
            client.post("/jobs", {"jobs": [{"command": ["true"], "name": f"t{i + k}"}
                                           for k in range(min(count - i, 500))]})
        wait_all(client)
        return count / (time.perf_counter() - start)


def our_submissions(count):
    with server() as (yard, _):
        return rate(count, Wire(yard.state, "POST", "/jobs", request(0)).send)


def sqlite_alone(count):
    with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as directory:
        return sqlite_rate(directory, count)


def with_program(build, function, count):
    """As the server of another build."""
    mine = live.yard.PROGRAM
    live.yard.PROGRAM = str(pathlib.Path(build).resolve() / "trainyard")
    try:
        return function(count)
    finally:
        live.yard.PROGRAM = mine


def compare():
    """Two versions and their peers in turns, so that all have the same share of the machine."""
    before, rounds = os.environ["BEFORE"], 3 if SHORT else 7
    count, cores = (200, os.cpu_count()) if SHORT else (500, os.cpu_count())
    figures = {}
    for _ in range(rounds):
        for name, measure in (
                ("jobs, before", lambda: with_program(before, our_jobs, count)),
                ("jobs, now", lambda: our_jobs(count)),
                ("jobs, task-spooler", lambda: task_spooler(count, cores) or float("nan")),
                ("submissions, before", lambda: with_program(before, our_submissions, count)),
                ("submissions, now", lambda: our_submissions(count)),
                ("submissions, SQLite alone", lambda: sqlite_alone(count))):
            figures.setdefault(name, []).append(measure())
    rows = []
    for name, values in figures.items():
        peer = figures["jobs, task-spooler" if name.startswith("jobs") else
                       "submissions, SQLite alone"]
        ratios = [value / of for value, of in zip(values, peer)]
        rows.append((name, f"{statistics.median(values):.0f}", f"{statistics.median(ratios):.2f}",
                     f"{min(ratios):.2f} to {max(ratios):.2f}"))
    table(f"Before and now, {rounds} rounds of {count} `true` and {count} submissions",
          ("", "per second", "of the peer's rate", "range"), rows)


def jobs():
    count = 500 if SHORT else 5000
    cores = os.cpu_count()
    bare = float(subprocess.run([BUILD / "bench" / "spawn", str(count), str(cores), "true"],
                                check=True, capture_output=True, text=True).stdout)
    ours = our_jobs(count)
    rows = [("posix_spawn and wait", f"{bare:.0f}", "1.000"),
            ("trainyard", f"{ours:.1f}", f"{ours / bare:.3f}")]
    # Slurm examines its queue once a second, whatever has become free. So it is also measured
    # with so many declared cores that this is not the limit.
    peers = (("task-spooler", task_spooler, count // 10 if SHORT else count // 5, cores),
             ("Slurm", slurm.jobs_per_second, 10 if SHORT else 40, cores),
             ("Slurm, 64 cores declared", slurm.jobs_per_second, 100 if SHORT else 500, 64))
    for name, peer, jobs_of_it, cores_of_it in peers:
        figure = peer(jobs_of_it, cores_of_it)
        rows.append((name, f"{figure:.1f}" if figure else "not installed",
                     f"{figure / bare:.3f}" if figure else ""))
    table(f"{count:,} jobs `true` on {cores} cores", ("", "jobs per second", "of the limit"), rows)


def task_spooler(count, cores):
    tsp = shutil.which("tsp")
    if not tsp:
        return None
    directory = tempfile.mkdtemp(prefix="trainyard-bench-")
    env = dict(os.environ, TS_SOCKET=os.path.join(directory, "socket"), TMPDIR=directory)
    subprocess.run([tsp, "-S", str(cores)], env=env, check=True, stdout=subprocess.DEVNULL)
    start = time.perf_counter()
    for _ in range(count):
        subprocess.run([tsp, "true"], env=env, check=True, stdout=subprocess.DEVNULL)
    while re.search(r"\b(queued|running)\b", subprocess.run(
            [tsp], env=env, check=True, capture_output=True, text=True).stdout):
        time.sleep(0.02)
    figure = count / (time.perf_counter() - start)
    subprocess.run([tsp, "-K"], env=env, check=False)
    shutil.rmtree(directory, ignore_errors=True)
    return figure


def resident(yard):
    with open(f"/proc/{yard.server.pid}/status") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)) / 1024


def memory():
    queued, finished = (1000, 10000) if SHORT else (10000, 100000)
    with server() as (yard, client):
        rows = [("idle", f"{resident(yard):.1f}")]
        fill(client, queued)
        rows.append((f"{queued:,} queued", f"{resident(yard):.1f}"))
        yard.kill()
        finish_all(yard, finished // queued)
        yard.start()
        Client(yard.state).get("/jobs?limit=100")
        rows.append((f"{finished:,} finished", f"{resident(yard):.1f}"))
        size = sum(f.stat().st_size for f in pathlib.Path(yard.state).glob("trainyard.db*"))
        rows.append(("their database on disk", f"{size / 1048576:.1f}"))
    table("Resident memory of the server", ("", "MB"), rows)


def copy_rows(db, table, shifted, count, by):
    """Adds a copy of the table's first rows, with these columns larger by so much."""
    columns = [row[1] for row in db.execute(f"pragma table_info({table})")]
    values = ", ".join(f"{c} + {by}" if c in shifted else c for c in columns)
    db.execute(f"insert into {table} ({', '.join(columns)}) select {values} from {table} "
               f"where id <= {count}")


def finish_all(yard, copies):
    """Turns the jobs in the store into finished ones, and copies them this many times."""
    db = sqlite3.connect(os.path.join(yard.state, "trainyard.db"))
    count = db.execute("select count(*) from job").fetchone()[0]
    with db:
        db.execute("update job set state = 'done', over = 1, code = 0, ended = submitted")
        for copy in range(1, copies):
            copy_rows(db, "request", {"id"}, count, copy * count)
            copy_rows(db, "job", {"id", "request"}, count, copy * count)
    db.close()


SECTIONS = {"submit": submit, "requests": requests, "latency": latency, "jobs": jobs,
            "memory": memory}
if os.environ.get("BEFORE"):
    SECTIONS["compare"] = compare


def main():
    words = [a for a in sys.argv[1:] if a != "--short"]
    if set(words) - set(SECTIONS):
        print(__doc__.strip())
        raise SystemExit(0 if words[0] in ("--help", "-h") else 2)
    missing = [p for p in ("trainyard", "bench/stamp", "bench/spawn") if not (BUILD / p).exists()]
    if missing:
        print(f"bench/serve/run.py: not built: {', '.join(missing)}; "
              "`make bench B=serve` builds and runs it", file=sys.stderr)
        raise SystemExit(2)
    for name in words or SECTIONS:
        SECTIONS[name]()


if __name__ == "__main__":
    main()
