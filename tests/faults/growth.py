#!/usr/bin/env python3
"""The memory of the server while jobs come and go: it depends on the jobs that there are, not on
those that there were.

GROWTH_JOBS (1000) may be set in the environment: each of them runs, one step of 20 after the other.
"""
# run-tests: no asan
import os
import pathlib
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from cases import expect, expect_equal, keep_figures, wait_until

JOBS = int(os.environ.get("GROWTH_JOBS", "1000"))
STEPS = 20
# Above what was there after the first steps: the cache of the database, 2 MB, fills up slowly. A
# leak of 100 bytes for each job is more after 100,000. tests/server/growth.c finds smaller ones.
MOST_GROWTH_MB = 6


def resident_mb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def ended(yard):
    """How many jobs are done; the server is not asked, so that it serves jobs alone."""
    with sqlite3.connect(f"file:{yard.state}/trainyard.db?mode=ro", uri=True) as db:
        return db.execute("SELECT count(*) FROM job WHERE over = 1 AND state = 'done'").fetchone()[0]


def run_step(yard, number):
    """A step: some arrive as an array, the others one by one."""
    each = JOBS // STEPS
    single = each // 10
    yard.post("/jobs", {"command": ["true"], "cpus": 0.25, "workdir": "/",
                        "array": f"1-{each - single}"}, checked=False)
    yard.post("/jobs", {"jobs": [{"command": ["true"], "cpus": 0.25, "workdir": "/",
                                  "name": f"n{number}-{i}"} for i in range(single)]}, checked=False)
    wait_until(lambda: ended(yard) == (number + 1) * each, "the jobs of this step are done", 3600)
    wait_until(lambda: not yard.get("/jobs?active=1&limit=1")["jobs"], "none is left")


def test_memory_stays_as_it_is():
    with live.Yard() as yard:
        yard.start()
        seen = [resident_mb(yard.server.pid)]
        for number in range(STEPS):
            run_step(yard, number)
            seen.append(resident_mb(yard.server.pid))
        first, last = max(seen[:STEPS // 4]), max(seen[-3:])
        print(f"# {ended(yard)} jobs: {seen[0]:.1f} MB at the start, {first:.1f} after the first "
              f"quarter at most, {last:.1f} at the end")
        expect(last - first < MOST_GROWTH_MB, f"it grows: {[round(mb, 1) for mb in seen]}")
        expect_equal(yard.get("/jobs?limit=1&state=failed")["jobs"], [], "jobs that failed")
        keep_figures(jobs=ended(yard), start_mb=round(seen[0], 1), mb=[round(mb, 1) for mb in seen[1:]],
                     database_mb=round((yard.state / "trainyard.db").stat().st_size / 2**20, 1))
        yard.finish()


if __name__ == "__main__":
    live.main()
