#!/usr/bin/env python3
"""kill -9 of the server at random instants under a stream of submissions, cancels and
completions: no accepted job is lost, none runs twice, none is orphaned.

KILLS (200) and SEED may be set in the environment; a failure names the seed.
"""
# run-tests: no asan
import http.client
import os
import pathlib
import random
import signal
import sqlite3
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live

KILLS = int(os.environ.get("KILLS", "200"))
SEED = int(os.environ.get("SEED", "0")) or int.from_bytes(os.urandom(4), "little")

# Each run of a command leaves a line when it begins and one when it ends.
COMMAND = ('echo "begin $TRAINYARD_JOB_ID $TRAINYARD_ATTEMPT" >>"$RUNS"; sleep $1; '
           'echo "end $TRAINYARD_JOB_ID $TRAINYARD_ATTEMPT" >>"$RUNS"; exit $2')


class Traffic(threading.Thread):
    """Submits and cancels while the server comes and goes. What was accepted is in
    `accepted`: id to what was asked; a submission whose reply never came may have been
    taken or not."""

    def __init__(self, place, seed):
        super().__init__()
        self.place = place
        self.rng = random.Random(seed)
        self.accepted = {}
        self.cancelled = set()  # or asked to be
        self.unknown = 0
        self.failure = None
        self.stop = threading.Event()

    def run(self):
        try:
            while not self.stop.is_set():
                try:
                    self.step()
                except (OSError, http.client.HTTPException):
                    time.sleep(0.002)
        except Exception as error:  # pylint: disable=broad-except
            self.failure = error

    def step(self):
        rng = self.rng
        if self.accepted and rng.random() < 0.3:
            job = rng.choice(list(self.accepted)[-8:])
            self.cancelled.add(job)
            try:
                self.place.post(f"/jobs/{job}/cancel", {"grace": "2s"})
            except live.Refused as refused:
                assert refused.status == 409, refused
            return
        code = 0 if rng.random() < 0.8 else 3
        pause = rng.choice(["0", "0.01", "0.05", "0.2"])
        try:
            job = self.place.submit("/bin/sh", "-c", COMMAND, "sh", pause, str(code), cpus=0.25,
                                    env={"RUNS": os.path.join(self.place.dir, "runs")})
        except (OSError, http.client.HTTPException):
            self.unknown += 1
            raise
        self.accepted[job] = code
        time.sleep(rng.random() * 0.01)


def batter(place, traffic, rng):
    for n in range(KILLS):
        time.sleep(rng.random() ** 3 * 0.4)
        place.server.send_signal(signal.SIGKILL)
        place.server.wait()
        place.start(wait=False)
        if traffic.failure:
            raise traffic.failure
        if n % 20 == 19:  # now and then it may come to rest
            place.wait_until_ready()


def read_runs(place):
    begun, ended = {}, {}
    with open(os.path.join(place.dir, "runs")) as f:
        for line in f:
            what, job, attempt = line.split()
            runs = begun if what == "begin" else ended
            runs.setdefault(int(job), []).append(int(attempt))
    return begun, ended


def check(place, traffic):
    jobs = {job["id"]: job for job in place.jobs()}
    begun, ended = read_runs(place)
    lost = set(traffic.accepted) - set(jobs)
    assert not lost, f"accepted and lost: {sorted(lost)}"
    assert len(jobs) <= len(traffic.accepted) + traffic.unknown, "jobs that nobody submitted"
    assert set(begun) <= set(jobs), "a job ran that is not known"
    for number, job in jobs.items():
        runs = begun.get(number, [])
        assert job["state"] in live.OVER, f"job {number} is {job['state']}"
        assert len(runs) <= 1, f"job {number} ran {len(runs)} times, as attempts {runs}: {job}"
        assert job["state"] != "lost", job
        if job["state"] == "done":
            assert ended.get(number) == runs and len(runs) == 1, f"done, but not run: {job}"
        if job["state"] == "failed":
            assert job["code"] == 3 and len(runs) == 1, f"failed for no reason of its own: {job}"
        if job["state"] == "cancelled":
            assert number in traffic.cancelled, f"nobody cancelled {job}"
        elif number in traffic.accepted:
            expected = "done" if traffic.accepted[number] == 0 else "failed"
            assert job["state"] == expected, f"expected {expected}: {job}"


def test_kill_at_random_instants():
    rng = random.Random(SEED)
    with live.Yard() as place:
        place.start()
        traffic = Traffic(place, rng.random())
        traffic.start()
        try:
            batter(place, traffic, rng)
        finally:
            traffic.stop.set()
            traffic.join()
        place.wait_until_ready()
        place.wait_all()
        check(place, traffic)
        place.expect_nothing_left()
        jobs = place.jobs()
        print(f"# seed {SEED}: {KILLS} kills, {len(jobs)} jobs, "
              f"{len(traffic.accepted)} accepted, {traffic.unknown} without an answer, "
              f"{sum(j['state'] == 'cancelled' for j in jobs)} cancelled")


def submit_array(place, members, answers):
    """The ids, or nothing when there was no answer."""
    try:
        reply = place.post("/jobs", {"command": ["true"], "array": f"1-{members}%2", "hold": True,
                                     "workdir": "/"}, checked=False)
        answers.append([job["id"] for job in reply["jobs"]])
    except (OSError, http.client.HTTPException):
        answers.append(None)


def members_of(place):
    """The indices of each array in the store."""
    found = {}
    with sqlite3.connect(f"file:{place.state}/trainyard.db?mode=ro", uri=True) as db:
        for array, index in db.execute("SELECT array, array_index FROM job"):
            found.setdefault(array, []).append(index)
        left = db.execute("SELECT count(*) FROM arrival").fetchone()[0]
    return found, left


def test_kill_while_an_array_is_accepted():
    """Each array is there as a whole, once, or not at all if nobody was told of it."""
    rng, members, kills = random.Random(SEED), 5000, max(KILLS // 20, 5)
    with live.Yard() as place:
        place.start()
        answers, cut = [], 0
        for _ in range(kills):
            thread = threading.Thread(target=submit_array, args=(place, members, answers))
            thread.start()
            time.sleep(rng.random() * 0.3)
            place.server.send_signal(signal.SIGKILL)
            place.server.wait()
            cut += members_of(place)[1]
            thread.join()
            place.start()
        live.wait_until(lambda: members_of(place)[1] == 0, "all arrays are complete")
        arrays, _ = members_of(place)
        for array, indices in arrays.items():
            live.expect_equal(sorted(indices), list(range(1, members + 1)), f"array {array}")
        told = [ids for ids in answers if ids]
        for ids in told:
            live.expect_equal(ids, list(range(ids[0], ids[0] + members)))
            live.expect(ids[0] in arrays, f"array {ids[0]} was accepted, and is lost")
        print(f"# seed {SEED}: {kills} kills, {len(arrays)} arrays, {len(told)} accepted, "
              f"{cut} cut in the middle")


if __name__ == "__main__":
    print(f"# seed {SEED}", flush=True)
    live.main()
