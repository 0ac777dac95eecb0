#!/usr/bin/env python3
"""How many calls to its engine a job costs, counted in the engine's own log.

run-tests: alone
"""
import collections
import re

import lib
from lib import live
from live import expect, expect_equal, wait_until


def calls(engine):
    """The calls that an engine has logged, without what is about no container."""
    text = (engine.dir / "log").read_text(errors="replace")
    paths = re.findall(r'Calling (\w+) /v[\d.]+(/[^" ?]+)', text)
    kept = [f"{method} {re.sub(r'/[^/]*[0-9a-f]{16}[^/]*', '/ID', path)}" for method, path in paths]
    return collections.Counter(call for call in kept if re.search("containers|exec|images/", call))


def test_calls_of_a_job():
    """One each: find the image, create, fill, start, connect to the conductor (two), remove."""
    with lib.Engine("--debug") as engine:
        engine.load("busy")
        with lib.yard_on(engine) as yard:
            before = calls(engine)
            expect_equal(yard.printed("busy", "sleep 1; echo done"), "done\n")
            wait_until(lambda: calls(engine)["DELETE /containers/ID"], "it is removed")
            made = calls(engine) - before
            made = {call: n for call, n in made.items() if call != "GET /containers/json"}
            print("  | " + ", ".join(f"{n} {call}" for call, n in sorted(made.items())))
            expect(sum(made.values()) <= 8, made)
            for call in ("GET /images/busy/json", "POST /containers/create",
                         "PUT /containers/ID/archive", "POST /containers/ID/start",
                         "POST /containers/ID/exec", "DELETE /containers/ID"):
                expect_equal(made.get(call), 1, call)


def test_a_resize_is_one_call():
    with lib.Engine("--debug") as engine:
        engine.load("busy")
        with lib.yard_on(engine) as yard:
            job = yard.put("busy", "echo ready; sleep 600", cpus="1-2", resize="live")
            yard.wait_log(job, "ready")
            size = lambda: yard.container(engine, job)["HostConfig"]["NanoCpus"]
            wait_until(lambda: size() == 2_000_000_000, size)
            before = calls(engine)["POST /containers/ID/update"]
            yard.post(f"/jobs/{job}/resize", {"cpus": 1})
            wait_until(lambda: size() == 1_000_000_000, size)
            expect_equal(calls(engine)["POST /containers/ID/update"] - before, 1)
            yard.cancel(job)
            yard.wait_for(job, "cancelled")


if __name__ == "__main__":
    lib.main()
