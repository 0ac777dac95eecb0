#!/usr/bin/env python3
"""One daemon, and what taking it apart would cost: start-up, memory, the latency of a request,
and what a crash leaves behind. Run it with bench/daemon.sh.

A decomposition is measured by the least that it could be: each further service is a program that
only passes bytes on (bench/hop.c), and its memory that of an idle server, which has the same event
loop, HTTP and SQLite.
"""
import http.client
import json
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()
os.environ.setdefault("TRAINYARD", str(BUILD / "trainyard"))
sys.path.insert(0, str(ROOT / "tests" / "support"))
import live  # noqa: E402  pylint: disable=wrong-import-position

ROUNDS = 7


class Client(http.client.HTTPConnection):
    """One persistent connection to a unix socket."""

    def __init__(self, path):
        super().__init__("localhost")
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def ask(self, method, path, body=None):
        self.request(method, "/api/v1" + path, None if body is None else json.dumps(body),
                     {} if body is None else {"Content-Type": "application/json"})
        answer = self.getresponse()
        return json.loads(answer.read())


def median_ms(seconds):
    return f"{1e3 * statistics.median(seconds):.2f} ms"


def first_answer(yard, path):
    """Seconds from exec to an answer to this request, and the answer."""
    begun = time.perf_counter()
    yard.start(wait=False)
    while True:
        try:
            answer = Client(yard.state / "trainyard.sock").ask("GET", path)
            return time.perf_counter() - begun, answer
        except OSError:
            time.sleep(0.0005)


def start_time(yard):
    found, _ = first_answer(yard, "/jobs?limit=1")
    yard.wait_until_ready()
    return found


def held_jobs(client, count):
    for _ in range(count // 100):
        client.ask("POST", "/jobs", {"jobs": [{"command": ["true"], "hold": True}] * 100})


def startup():
    empty, full = [], []
    with live.Yard() as yard:
        for _ in range(ROUNDS):
            empty.append(start_time(yard))
            yard.kill(signal.SIGTERM)
        yard.start()
        held_jobs(Client(yard.state / "trainyard.sock"), 10000)
        yard.kill(signal.SIGTERM)
        for _ in range(ROUNDS):
            full.append(start_time(yard))
            yard.kill(signal.SIGTERM)
    print(f"start to first answer, no jobs          {median_ms(empty)}")
    print(f"start to first answer, 10,000 jobs      {median_ms(full)}")


def pss_mb(pids):
    """Memory of processes, with what they share counted once between them."""
    total = 0
    for pid in pids:
        for line in open(f"/proc/{pid}/smaps_rollup"):
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total / 1024


def memory():
    yards = [live.Yard() for _ in range(4)]
    try:
        found = []
        for yard in yards:
            yard.__enter__()
            yard.start()
            found.append(pss_mb([y.server.pid for y in yards[:len(found) + 1]]))
    finally:
        for yard in yards:
            yard.__exit__(None, None, None)
    print(f"program                                 {os.path.getsize(BUILD / 'trainyard') / 1e6:.1f} MB with "
          "debugging information")
    print(f"memory, one idle server                 {found[0]:.1f} MB")
    print(f"memory, four idle services like it      {found[3]:.1f} MB")


def timed(client, method, path, body=None):
    begun = time.perf_counter()
    client.ask(method, path, body)
    return time.perf_counter() - begun


def latency():
    """All ways are measured in turn, so that other load on the machine concerns all of them."""
    job = {"command": ["true"], "hold": True}
    with live.Yard() as yard:
        yard.start()
        paths, hops = [yard.state / "trainyard.sock"], []
        for n in range(3):
            paths.append(yard.dir / f"hop{n}")
            hops.append(subprocess.Popen([BUILD / "bench" / "hop", paths[n + 1], paths[n]]))
            live.wait_until(paths[n + 1].exists, "the service listens")
        clients = [Client(p) for p in paths]
        clients[0].ask("POST", "/jobs", job)
        shown, kept = [[] for _ in paths], [[] for _ in paths]
        for _ in range(400):
            for i, client in enumerate(clients):
                shown[i].append(timed(client, "GET", "/jobs/1"))
                kept[i].append(timed(client, "POST", "/jobs", job))
        for client in clients:
            client.close()
        for hop in hops:
            hop.kill()
            hop.wait()
    print(f"\n{'services between client and server':<40}{'one job shown':>16}{'durable submission':>22}")
    for n in range(len(paths)):
        print(f"{n:<40}{median_ms(shown[n]):>16}{median_ms(kept[n]):>22}")


def crash():
    """A server that is killed while a job runs, and another one in its place."""
    found = []
    for _ in range(ROUNDS):
        with live.Yard() as yard:
            yard.start()
            job = yard.submit("while :; do sleep 0.05; done")
            yard.wait_for(job, "running")
            yard.kill()
            begun = time.perf_counter()
            first_answer(yard, f"/jobs/{job}")
            yard.wait_until_ready()
            yard.wait_for(job, "running")  # its conductor has found the new server
            found.append(time.perf_counter() - begun)
            if yard.job(job)["attempt"] != 1:
                sys.exit("the job did not survive")
            yard.cancel(job)
    print(f"\nkilled and started again: the running job is back after {median_ms(found)}, in its first "
          f"attempt, {len(found)} times out of {ROUNDS}")


def main():
    startup()
    memory()
    latency()
    crash()


main()
