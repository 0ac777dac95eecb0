#!/usr/bin/env python3
"""kill -9 of the server and of conductors at random instants under a stream of submissions,
cancels and completions: no accepted job is lost, none runs twice, none is orphaned.

A job whose conductor was killed is not known to have ended. It has failed, and says why; with
`requeue` it runs again, once the processes of the attempt before are gone.

KILLS (200) and SEED may be set in the environment; a failure names the seed.
"""
# run-tests: no asan
import contextlib
import http.client
import os
import pathlib
import random
import signal
import sqlite3
import sys
import threading
import time
import typing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from cases import keep_figures

KILLS = int(os.environ.get("KILLS", "200"))
SEED = int(os.environ.get("SEED", "0")) or int.from_bytes(os.urandom(4), "little")

# Each run of a command leaves a line when it begins and one when it ends.
COMMAND = ('echo "begin $TRAINYARD_JOB_ID $TRAINYARD_ATTEMPT" >>"$RUNS"; sleep $1; '
           'echo "end $TRAINYARD_JOB_ID $TRAINYARD_ATTEMPT" >>"$RUNS"; exit $2')


class Asked(typing.NamedTuple):
    """What was asked for."""
    code: int
    requeue: bool


class Traffic(threading.Thread):
    """Submits and cancels while the server comes and goes. What was accepted is in
    `accepted`, by id; a submission whose reply never came may have been taken or not."""

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
        pause = rng.choice(["0", "0.01", "0.05", "0.2", "1"])
        requeue = rng.random() < 0.5
        try:
            job = self.place.submit("/bin/sh", "-c", COMMAND, "sh", pause, str(code), cpus=0.25,
                                    requeue=requeue, env={"RUNS": os.path.join(self.place.dir, "runs")})
        except (OSError, http.client.HTTPException):
            self.unknown += 1
            raise
        self.accepted[job] = Asked(code, requeue)
        time.sleep(rng.random() * 0.01)


class Killer:
    """Kills the server, conductors or both. `killed` has the conductors: (pid, start)."""

    def __init__(self, place, rng):
        self.place, self.rng = place, rng
        self.killed = set()
        self.servers = 0

    @property
    def kills(self):
        return self.servers + len(self.killed)

    def kill_server(self):
        self.place.server.send_signal(signal.SIGKILL)
        self.place.server.wait()
        self.servers += 1

    def kill_conductors(self, most):
        """Some of those that there are; one that has ended meanwhile does not count."""
        found = self.place.conductors()
        for pid in self.rng.sample(found, min(most, len(found))):
            with contextlib.suppress(OSError):
                start = start_of(pid)
                os.kill(pid, signal.SIGKILL)
                self.killed.add((pid, start))

    def kill(self):
        what = self.rng.random()
        if what < 0.4:
            self.kill_conductors(1)
            return
        self.kill_server()
        if what > 0.9:
            self.kill_conductors(2)
        self.place.start(wait=False)


def start_of(pid):
    """When the process began, as claims have it."""
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def batter(place, traffic, rng):
    killer = Killer(place, rng)
    while killer.kills < KILLS:
        if rng.random() < 0.8:  # otherwise it may be killed while it starts
            place.wait_until_ready()
        time.sleep(rng.random() ** 3 * 0.4)
        killer.kill()
        if traffic.failure:
            raise traffic.failure
    return killer


def read_runs(place):
    """The attempts of each job whose command has begun, and ended, in order. None may begin while
    another one of its job runs."""
    begun, ended = {}, {}
    with open(os.path.join(place.dir, "runs")) as f:
        for line in f:
            what, job, attempt = line.split()
            job, attempt = int(job), int(attempt)
            if what == "begin":
                begun.setdefault(job, []).append(attempt)
            else:
                ended.setdefault(job, []).append(attempt)
                assert begun[job][-1] == attempt, f"job {job} ran twice at the same time"
    return begun, ended


def bereaved_attempts(place, killed):
    """The attempts of each job whose conductor was killed, by their claims. One with a record of
    its end had ended before."""
    found = {}
    for claim in (place.state / "jobs").glob("*/*/claim"):
        if claim.with_name("exit.json").exists():
            continue
        words = claim.read_text().split()
        if words[0] != "void" and (int(words[0]), int(words[1])) in killed:
            job, attempt = claim.parts[-3:-1]
            found.setdefault(int(job), set()).add(int(attempt))
    return found


def check_job(job, asked, runs, ended, bereaved):
    """A job that is over: its runs, those that ended, and those whose conductor was killed."""
    assert job["state"] in live.OVER - {"lost"}, f"it is not over: {job}"
    assert len(set(runs)) == len(runs), f"attempts ran twice, {runs}: {job}"
    assert set(runs[:-1]) <= bereaved, f"it ran again, {runs}, though none died: {job}"
    requeue = job["spec"].get("requeue", False)
    assert requeue or len(runs) <= 1, f"it ran again, {runs}, and must not: {job}"
    died = bool(runs) and runs[-1] in bereaved
    if job["state"] == "done":
        assert runs and ended[-1:] == runs[-1:], f"done, but not run: {job}"
    elif job["state"] == "failed" and job["code"] == 137:
        assert died and not requeue and "conductor died" in job["reason"], f"why? {job}"
    elif job["state"] == "failed":
        assert job["code"] == 3 and ended[-1:] == runs[-1:], f"not by itself: {job}"
    if asked and job["state"] != "cancelled" and (requeue or not died):
        want = "failed" if asked.code else "done"
        assert job["state"] == want, f"expected {want}: {job}"


def check(place, traffic, killed):
    jobs = {job["id"]: job for job in map(place.job, (job["id"] for job in place.jobs()))}
    begun, ended = read_runs(place)
    bereaved = bereaved_attempts(place, killed)
    lost = set(traffic.accepted) - set(jobs)
    assert not lost, f"accepted and lost: {sorted(lost)}"
    assert len(jobs) <= len(traffic.accepted) + traffic.unknown, "jobs that nobody submitted"
    assert set(begun) <= set(jobs), "a job ran that is not known"
    for number, job in jobs.items():
        check_job(job, traffic.accepted.get(number), begun.get(number, []),
                  ended.get(number, []), bereaved.get(number, set()))
        if job["state"] == "cancelled":
            assert number in traffic.cancelled, f"nobody cancelled {job}"
    return sum(map(len, bereaved.values()))


def test_kill_at_random_instants():
    rng = random.Random(SEED)
    with live.Yard() as place:
        place.start()
        traffic = Traffic(place, rng.random())
        traffic.start()
        try:
            killer = batter(place, traffic, rng)
        finally:
            traffic.stop.set()
            traffic.join()
        place.wait_until_ready()
        place.wait_all()
        bereaved = check(place, traffic, killer.killed)
        place.expect_nothing_left()
        jobs = place.jobs()
        print(f"# seed {SEED}: {killer.servers} kills of servers and {len(killer.killed)} of conductors, "
              f"which took {bereaved} attempts with them; {len(jobs)} jobs, "
              f"{len(traffic.accepted)} accepted, {traffic.unknown} without an answer, "
              f"{sum(j['state'] == 'cancelled' for j in jobs)} cancelled; "
              "0 lost, 0 run twice, 0 left behind")
        keep_figures(seed=SEED, servers=killer.servers, conductors=len(killer.killed),
                     bereaved=bereaved, jobs=len(jobs), accepted=len(traffic.accepted))


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
        began = time.monotonic()
        submit_array(place, members, answers)  # as long as it takes here
        took = time.monotonic() - began
        for _ in range(kills):
            thread = threading.Thread(target=submit_array, args=(place, members, answers))
            thread.start()
            time.sleep(rng.random() * took)
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
        keep_figures(array_kills=kills, arrays=len(arrays), arrays_cut=cut)
        print(f"# seed {SEED}: {kills} kills, {len(arrays)} arrays, {len(told)} accepted, "
              f"{cut} cut in the middle")


if __name__ == "__main__":
    print(f"# seed {SEED}", flush=True)
    live.main()
