#!/usr/bin/env python3
"""A session of a client of Schedulearn: submit, look, change the algorithm, delete.

run-tests: alone
"""
import json

import lib
from lib import live
from live import expect_equal, wait_until

JOB = {"name": "cifar", "type": "PyTorch", "container_image": "busy",
       "command": "echo training && sleep 600", "required_gpus": 0}


def ask(yard, method, path, body=None):
    """A request outside our API; the reply has no place in its document."""
    connection, response = live.send(yard.socket, method, path, body, base="")
    try:
        text = response.read()
        return response.status, json.loads(text) if text else None
    finally:
        connection.close()


def test_a_session():
    with lib.yard_on(lib.engine(), options=("--compat", "schedulearn")) as yard:
        status, reply = ask(yard, "POST", "/jobs", JOB)
        expect_equal((status, reply["message"]), (201, "Job created successfully"))
        job = reply["id"]
        look = lambda: ask(yard, "GET", f"/jobs/{job}")[1]
        wait_until(lambda: look()["status"] == "Running", look)
        shown = look()
        expect_equal({name: shown[name] for name in JOB}, JOB)
        expect_equal((shown["id"], shown["trained_at"], shown["completed_at"]), (job, "d1", None))
        _, reply = ask(yard, "POST", "/jobs", {**JOB, "name": "short", "command": "true"})
        wait_until(lambda: ask(yard, "GET", f"/jobs/{reply['id']}")[1]["status"] == "Completed",
                   "the short one is done")
        names = [one["name"] for one in ask(yard, "GET", "/jobs")[1]]
        expect_equal(names, ["short", "cifar"])
        expect_equal(ask(yard, "DELETE", f"/jobs/{job}"),
                     (200, {"message": "Job deleted successfully"}))
        wait_until(lambda: look()["status"] == "Cancelled", look)


def test_algorithms():
    with live.Yard("--compat", "schedulearn") as yard:
        yard.start()
        for name, shown, policy in (("FIFO", "FIFO", "schedulearn-fifo"),
                                    ("roundrobin", "Round Robin", "schedulearn-rr"),
                                    ("elasticfifo", "Elastic FIFO", "elastic-fifo"),
                                    ("las", "las", "las")):
            expect_equal(ask(yard, "PUT", f"/algorithm/{name}"),
                         (200, {"message": f"Algorithm changed to {shown}"}))
            wanted = yard.run("policy", policy).stdout
            expect_equal(ask(yard, "PUT", f"/algorithm/{name}")[0], 200)
            expect_equal(yard.run("policy").stdout, wanted, name)
        status, reply = ask(yard, "PUT", "/algorithm/lottery")
        expect_equal((status, reply["detail"]), (400, "Invalid algorithm"))


def test_bad_requests():
    with lib.yard_on(lib.engine(), options=("--compat", "schedulearn")) as yard:
        for change, field in (({"name": ""}, "name"), ({"command": 7}, "command"),
                              ({"required_gpus": "many"}, "required_gpus"),
                              ({"container_image": "no such image"}, "image")):
            status, reply = ask(yard, "POST", "/jobs", {**JOB, **change})
            expect_equal((status, reply["field"]), (400, field), change)
        expect_equal(ask(yard, "GET", "/jobs/99")[0], 404)
        expect_equal(ask(yard, "DELETE", "/jobs/99")[0], 404)


def test_not_without_the_option():
    with live.Yard() as yard:
        yard.start()
        expect_equal(ask(yard, "GET", "/jobs")[0], 404)


if __name__ == "__main__":
    lib.main()
