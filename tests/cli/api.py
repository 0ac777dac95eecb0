#!/usr/bin/env python3
"""The API: every operation with good and bad input, each answer held against the
OpenAPI document."""
import json
import os
import pathlib
import pwd
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from live import expect, expect_equal, wait_until


def refuse(yard, method, path, body=None, status=400, field=None, words="", **more):
    """The request is refused with this status, field and words."""
    answer = yard.ask(method, path, body, **more)
    expect_equal(answer.status, status, f"{method} {path} {body}: {answer.bytes[:300]}")
    problem = answer.json
    expect_equal(problem.get("field"), field, f"field of {problem}")
    expect(words in problem["detail"], f"'{words}' is not in: {problem['detail']}")
    return problem


def example_of(path):
    """The path with a value for each of its parameters."""
    return path.replace("{id}", "1").replace("{name}", "x").replace("{report}", "x")


# ---- the document and the server itself


def test_document_and_routes_agree(yard):
    expect_equal(yard.document.base, live.API)
    paths = yard.document.document["paths"]
    for path, methods in paths.items():
        example = example_of(path)
        answer = yard.ask("OPTIONS", example, checked=False)
        allowed = set(answer.headers["Allow"].lower().split(", ")) - {"head", "options"}
        expect_equal(allowed, set(methods), f"methods of {path}")
        for method in live.METHODS:
            if method not in methods:
                answer = yard.ask(method.upper(), example, checked=False)
                expect_equal(answer.status, 405, f"{method} {example}")
    expect_equal(yard.ask("GET", "/nothing", checked=False).status, 404, "an unknown path")


def test_server(yard):
    expect_equal(yard.get("/version")["api"], "v1")
    expect_equal(yard.get("/health")["status"], "ok")
    expect_equal(yard.get("/ready"), {"ready": True})
    expect_equal(yard.get("/openapi.json")["openapi"], "3.1.0")
    at_root = live.Answer(live.send(yard.socket, "GET", "/openapi.json", base="")[1])
    expect_equal(at_root.json, yard.get("/openapi.json"), "the document at the root")
    for path in ("/version", "/health", "/ready", "/openapi.json"):
        refuse(yard, "GET", path + "?x=1", field="x", words="unknown parameter")


# ---- what the document says is what the server checks


def bad_values(schema):
    """Values that the schema of a parameter does not allow."""
    if schema["type"] == "integer":
        yield from ("x", "", "1.5", schema["minimum"] - 1)
        yield schema.get("maximum", 2 ** 63 - 1) + 1
    elif schema["type"] == "boolean":
        yield from ("2", "maybe", "")
    elif "enum" in schema:
        yield from ("none-of-them", "")
    elif schema["type"] == "array" and "enum" not in schema["items"]:
        yield from ("x", "", ",", "0", "1,x", "-1")
    elif schema["type"] == "array":
        yield from ("none-of-them", "", ",", schema["items"]["enum"][0] + ",none-of-them")


def test_every_parameter_is_checked(yard):
    for method, path, operation in yard.document.operations.values():
        target = example_of(path)
        refuse(yard, method.upper(), f"{target}?nonsense=1", field="nonsense", words="parameter")
        for parameter in operation["parameters"]:
            if parameter["in"] != "query":
                continue
            query = parameter["name"]
            for value in bad_values(parameter["schema"]):
                refuse(yard, method.upper(), f"{target}?{query}={value}", field=query, words=query)
            if "default" in parameter["schema"]:
                value = str(parameter["schema"]["default"]).lower()
                refuse(yard, method.upper(), f"{target}?{query}={value}&{query}={value}",
                       field=query, words="more than once")


def bad_members(document, schema):
    """(member, value) of a body that the schema does not allow."""
    for member, its in schema["properties"].items():
        for value in (None, True, "x", 1, 1.5, [], {}):
            try:
                document.check(value, its)
            except live.Mismatch:
                yield member, value


def test_every_body_is_checked(yard):
    for method, path, operation in yard.document.operations.values():
        body = operation.get("requestBody")
        if not body or "application/json" not in body["content"]:
            continue
        method, target = method.upper(), example_of(path)
        for wrong in (b"{", b"[]", b"1", b'{"a":1,"a":2}'):
            refuse(yard, method, target, wrong, headers={"Content-Type": "application/json"})
        schema = body["content"]["application/json"]["schema"]
        refuse(yard, method, target, {"nonsense": 1}, field="nonsense", words="nonsense")
        if "JobRequest" in json.dumps(schema):  # accepts other scalars where it expects text
            continue
        for member, value in bad_members(yard.document, yard.document.resolve(schema)):
            refuse(yard, method, target, {member: value}, field=member, words=member)


# ---- submission


def test_submit_one(yard):
    job = yard.post("/jobs", {"command": ["true"], "name": "one", "cpus": 1}, 201)["jobs"]
    expect_equal([j["name"] for j in job], ["one"])
    job = yard.wait_for(job[0]["id"])
    expect_equal((job["state"], job["code"], job["attempt"]), ("done", 0, 1))
    expect_equal([a["state"] for a in job["attempts"]], ["done"])
    expect(job["user"] and job["started"] and job["ended"] >= job["started"], job)
    expect_equal([s["why"] for s in job["sizes"]], ["start", "end"], "sizes")


def test_check(yard):
    before = yard.get("/jobs?limit=1")["jobs"]
    good = {"command": ["python3", "my train.py"], "cpus": "1-4", "time_limit": "2h"}
    expect_equal(yard.request("POST", "/check", good, 200)["command"],
                 "trainyard submit --cpus 1-4 --time-limit 7200 -- python3 'my train.py'")
    refuse(yard, "POST", "/check", {"command": ["true"], "cpus": "4-1"}, field="cpus")
    refuse(yard, "POST", "/check", {"cpus": "1"}, field="command", words="command")
    refuse(yard, "POST", "/check", {"comand": ["true"]}, field="comand", words="command")
    expect_equal(yard.get("/jobs?limit=1")["jobs"], before, "nothing was submitted")


def test_login_is_not_needed_on_the_socket(yard):
    me = {"user": pwd.getpwuid(os.geteuid()).pw_name, "role": "admin", "expires": None}
    expect_equal(yard.request("POST", "/login", None, 200), me)
    expect_equal(yard.get("/session"), me)
    expect_equal(yard.request("POST", "/logout", None, 200), {"user": None, "role": None, "expires": None})


def test_tokens_and_links(yard):
    """tests/cli/access.py tries what they are for."""
    made = yard.post("/tokens", {"name": "ci", "role": "user", "user": "ann", "expires": "90d"}, 201)
    expect_equal([t["name"] for t in yard.get("/tokens")["tokens"]], ["ci"])
    refuse(yard, "POST", "/tokens", {"name": "ci", "role": "user"}, status=409)
    expect_equal(yard.request("DELETE", "/tokens/ci")["expires"], made["expires"])
    refuse(yard, "DELETE", "/tokens/ci", status=404)
    expect("/#login=" in yard.post("/links", None, 201)["url"], "a link")


def test_submit_batch_with_everything(yard):
    jobs = yard.post("/jobs", {"jobs": [
        {"command": ["true"], "name": "first", "hold": True, "user": "ann"},
        {"command": "echo $A; exit 3", "name": "second", "env": {"A": "b"}, "retries": 1,
         "backoff": "0s", "priority": 5, "deadline": "2h", "time_limit": 600, "memory": "512m"},
        {"command": ["true"], "name": "third", "array": "2,4-5%2", "hold": True},
    ]}, 201)["jobs"]
    expect_equal([j["name"] for j in jobs], ["first", "second"] + 3 * ["third"])
    expect_equal(len({j["id"] for j in jobs}), 5)
    first, second, third = (yard.job(j["id"]) for j in jobs[:3])
    expect_equal((first["state"], first["user"], first["waits_for"]), ("held", "ann", ["hold"]))
    expect_equal((second["priority"], second["memory_mb"], second["time_limit_s"]), (5, 512, 600))
    expect(abs(second["deadline"] - second["submitted"] - 7200) < 1, second["deadline"])
    expect_equal(third["array"], {"job": third["id"], "index": 2})
    later = yard.submit("true", name="fourth", after=f"afterok:{first['id']}")
    fourth = yard.job(later)
    expect_equal(fourth["deps"], [{"kind": "afterok", "job": first["id"]}])
    expect_equal(fourth["waits_for"], [f"afterok:{first['id']}"])
    second = yard.wait_for(second["id"])
    expect_equal((second["state"], second["code"], second["failures"]), ("failed", 3, 2))
    expect_equal([a["code"] for a in second["attempts"]], [3, 3])
    expect_equal(yard.get(f"/jobs/{second['id']}/logs?attempt=1").text, "b\n")
    yard.post(f"/jobs/{first['id']}/release")
    expect_equal(yard.wait_for(later)["state"], "done")


def test_submit_refused(yard):
    before = [j["id"] for j in yard.get("/jobs?limit=1")["jobs"]]
    for body, field, words in (
            ({}, "command", "nothing to run"),
            ({"command": ["true"], "cpu": 1}, "cpu", "did you mean 'cpus'?"),
            ({"command": ["true"], "cpus": "2-1"}, "cpus", "minimum"),
            ({"command": ["true"], "cpus": True}, "cpus", ""),
            ({"command": ["true"], "cpus": [1]}, "cpus", ""),
            ({"command": ["true"], "name": "17"}, "name", ""),
            ({"command": ["true"], "name": "a\nb"}, "name", "control"),
            ({"command": ["true"], "memory": "lots"}, "memory", "512m"),
            ({"command": ["true"], "deadline": "1h", "deadline_at": 1e9}, "deadline_at", ""),
            ({"command": ["true"], "deadline_at": 1e9}, "deadline_at", "future"),
            ({"command": ["true"], "image": "debian:12"}, "image", "no node can run containers"),
            ({"command": ["true"], "after": "afterok:99999999"}, "after", "99999999"),
            ({"command": ["true"], "workdir": "here"}, "workdir", "absolute"),
            ({"command": ["true"], "env": {"A": ["b"]}}, "env", ""),
            ({"command": ["true"], "resize": "torchrun", "cpus": 65535, "workers": "1-65535"},
             "workers", "more than a million units"),
            ({"jobs": []}, "jobs", "at least one"),
            ({"jobs": {}}, "jobs", "list"),
            ({"jobs": [{"command": ["true"]}], "cpus": 1}, "jobs", "must not have other members"),
            ({"jobs": [{"command": ["true"]}, {"command": ["true"], "cpus": "x"}]},
             "jobs[1].cpus", "jobs[1]"),
            ({"jobs": [{"command": ["true"]}, 7]}, "jobs[1]", "object"),
            ({"jobs": [{"command": ["true"]}, {"command": ["true"], "gpu_type": "z", "gpus": 1}]},
             "jobs[1].gpu_type", "")):
        status = yard.ask("POST", "/jobs", body).status
        expect(status in (400, 404, 409, 413), f"{body}: {status}")
        refuse(yard, "POST", "/jobs", body, status, field, words)
    refuse(yard, "POST", "/jobs", {"command": ["true"], "cpus": 60000}, 413, None, "")
    after = [j["id"] for j in yard.get("/jobs?limit=1")["jobs"]]
    expect_equal(after, before, "nothing of that was taken")


def test_bodies_refused(yard):
    json_type = {"Content-Type": "application/json"}
    refuse(yard, "POST", "/jobs", words="needs a JSON body")
    refuse(yard, "POST", "/jobs", b"command=true", words="application/json")
    refuse(yard, "POST", "/jobs", b"{", headers=json_type, words="line 1")
    refuse(yard, "POST", "/jobs", b'{"name":"a","name":"b"}', headers=json_type, words="duplicate")
    refuse(yard, "POST", "/jobs", b"[]", headers=json_type, words="object")
    refuse(yard, "POST", "/jobs", b"\xff\xfe", headers=json_type, words="not valid JSON")
    refuse(yard, "POST", "/jobs?x=1", {"command": ["true"]}, field="x")
    large = json.dumps({"command": ["true"], "script": "x" * (9 << 20)}).encode()
    answer = yard.ask("POST", "/jobs", large, json_type)
    expect_equal(answer.status, 413, "a large body")


# ---- lists


def test_list_pages(yard):
    jobs = yard.post("/jobs", {"command": ["true"], "name": "paged", "array": "1-25", "hold": True,
                               "user": "pager"}, 201)["jobs"]
    ids = [j["id"] for j in jobs]
    for order, want in (("newest", ids[::-1]), ("oldest", ids)):
        seen, after, pages = [], "", 0
        while after is not None:
            page = yard.get(f"/jobs?user=pager&order={order}&limit=7" +
                            (f"&after={after}" if after else ""))
            seen += [j["id"] for j in page["jobs"]]
            after, pages = page["next"], pages + 1
        expect_equal((seen, pages), (want, 4), order)
    expect_equal(yard.get("/jobs?user=pager&limit=25")["next"], None, "of a page that is just full")
    for query, count in (("name=page*", 25), ("name=paged", 25), ("name=pag", 0),
                         (f"array={ids[0]}", 25), ("user=pager&state=held", 25),
                         ("user=pager&state=running,held", 25), ("user=pager&state=done", 0),
                         ("user=pager&active=1", 25), ("user=nobody", 0)):
        expect_equal(len(yard.get("/jobs?" + query)["jobs"]), count, query)
    some = yard.get(f"/jobs?ids={ids[3]},{ids[1]},999999&limit=1000")
    expect_equal(([j["id"] for j in some["jobs"]], some["next"]), ([ids[3], ids[1]], None))
    expect_equal(len(yard.get(f"/jobs?ids={ids[3]},{ids[1]}&limit=1")["jobs"]), 1)
    first = yard.get(f"/jobs?array={ids[0]}&order=oldest&limit=1")["jobs"][0]
    whole = yard.job(ids[0])
    for name in ("id", "name", "state", "array", "command", "cpus_min", "waits_for"):
        expect_equal(first[name], whole[name], name)


def test_list_refused(yard):
    for query, field, words in (("lmit=1", "lmit", "did you mean 'limit'?"), ("limit=0", "limit", ""),
                                ("limit=1001", "limit", ""), ("limit=x", "limit", ""),
                                ("limit=", "limit", ""), ("after=-1", "after", ""),
                                ("state=runing", "state", "did you mean 'running'?"),
                                ("state=", "state", ""), ("order=up", "order", "newest"),
                                ("active=maybe", "active", ""), ("array=x", "array", ""),
                                ("state=done&active=1", "state", "not both"),
                                ("ids=1&active=1", "ids", "other filters"),
                                ("limit=1&limit=2", "limit", "more than once")):
        refuse(yard, "GET", "/jobs?" + query, field=field, words=words)


# ---- one job


def test_names_and_prefixes(yard):
    hold = {"hold": True}
    old = yard.submit("true", name="unique-name", **hold)
    new = yard.submit("true", name="unique-name", **hold)
    other = yard.submit("true", name="unique-other", **hold)
    expect_equal(yard.job("unique-name")["id"], new, "the newest of equal names")
    expect_equal(yard.job("unique-o")["id"], other, "a unique prefix")
    expect_equal(yard.job(str(old))["id"], old)
    problem = refuse(yard, "GET", "/jobs/unique-", status=409, field="id", words="unique-name")
    expect("unique-other" in problem["detail"], problem)
    refuse(yard, "GET", "/jobs/999999999", status=404, field="id", words="999999999")
    refuse(yard, "GET", "/jobs/no-such-job", status=404, field="id", words="no-such-job")
    refuse(yard, "GET", "/jobs/99999999999999999999", status=404, field="id")
    refuse(yard, "GET", "/jobs/0", status=404, field="id")
    refuse(yard, "GET", f"/jobs/{old}?verbose=1", field="verbose")


def test_cancel(yard):
    held = yard.submit("true", hold=True)
    answer = yard.ask("POST", f"/jobs/{held}/cancel")
    expect_equal((answer.status, answer.json["state"]), (200, "cancelled"))
    refuse(yard, "POST", f"/jobs/{held}/cancel", status=409, words="has ended")
    running = yard.submit("trap '' TERM; echo up; sleep 600 & wait; wait; sleep 600")
    wait_until(lambda: yard.get(f"/jobs/{running}/logs").text == "up\n", what="it runs")
    for grace in ("soon", -1, {}, True):
        refuse(yard, "POST", f"/jobs/{running}/cancel", {"grace": grace}, field="grace")
    refuse(yard, "POST", f"/jobs/{running}/cancel", {"force": 1}, field="force", words="unknown")
    refuse(yard, "POST", "/jobs/999999999/cancel", status=404, field="id")
    answer = yard.ask("POST", f"/jobs/{running}/cancel", {"grace": "100ms"})
    expect_equal((answer.status, answer.json["state"]), (202, "stopping"))
    job = yard.wait_for(running)
    expect_equal((job["state"], job["attempts"][0]["signal"]), ("cancelled", 9))


def test_hold_and_release(yard):
    job = yard.submit("true", hold=True)
    expect_equal(yard.post(f"/jobs/{job}/hold")["state"], "held", "again")
    expect_equal(yard.post(f"/jobs/{job}/release")["state"], "queued")
    expect_equal(yard.wait_for(job)["state"], "done")
    refuse(yard, "POST", f"/jobs/{job}/hold", status=409)
    refuse(yard, "POST", f"/jobs/{job}/release", status=409)
    running = yard.submit("sleep 600")
    yard.wait_for(running, "running")
    refuse(yard, "POST", f"/jobs/{running}/hold", status=409, words="requeue --hold")
    refuse(yard, "POST", f"/jobs/{running}/release", status=409)
    refuse(yard, "POST", f"/jobs/{running}/hold", {"why": "x"}, field="why")
    refuse(yard, "POST", f"/jobs/{running}/hold?why=x", field="why")


def test_requeue(yard):
    job = yard.submit("echo $TRAINYARD_ATTEMPT; [ $TRAINYARD_ATTEMPT = 3 ] || sleep 600")
    yard.wait_for(job, "running")
    yard.post(f"/jobs/{job}/requeue")
    wait_until(lambda: yard.job(job)["attempt"] == 2, what="the second attempt")
    yard.wait_for(job, "running")
    refuse(yard, "POST", f"/jobs/{job}/requeue", {"hold": "yes"}, field="hold")
    yard.post(f"/jobs/{job}/requeue", {"hold": True})
    expect_equal(yard.wait_for(job, "held")["attempt"], 2)
    refuse(yard, "POST", f"/jobs/{job}/requeue", status=409)
    yard.post(f"/jobs/{job}/release")
    expect_equal(yard.wait_for(job)["state"], "done")
    again = yard.post(f"/jobs/{job}/requeue")
    expect_equal((again["state"], again["code"], again["ended"]), ("queued", None, None))
    wait_until(lambda: yard.job(job)["attempt"] == 4, what="the fourth attempt")
    yard.ask("POST", f"/jobs/{job}/cancel", {"grace": 0})
    expect_equal(len(yard.wait_for(job)["attempts"]), 4)
    refuse(yard, "POST", "/jobs/999999999/requeue", status=404, field="id")


def test_change(yard):
    job = yard.submit("true", hold=True, deadline="1h", time_limit="10m")
    changed = yard.request("PATCH", f"/jobs/{job}", {
        "priority": -3, "deadline": "2h", "time_limit": "1h"}, 200)
    expect_equal((changed["priority"], changed["time_limit_s"]), (-3, 3600))
    expect(7190 < changed["deadline"] - changed["submitted"] < 7300, changed["deadline"])
    changed = yard.ask("PATCH", f"/jobs/{job}", {"deadline": None, "time_limit": None}).json
    expect_equal((changed["deadline"], changed["time_limit_s"], changed["priority"]),
                 (None, None, -3))
    changed = yard.ask("PATCH", f"/jobs/{job}", {"deadline_at": 4000000000}).json
    expect_equal(changed["deadline"], 4000000000)
    for body, field in (({}, "body"), ({"priority": "high"}, "priority"), ({"priority": None}, "priority"),
                        ({"priority": 1e9}, "priority"), ({"deadline": "soon"}, "deadline"),
                        ({"deadline": "1h", "deadline_at": 1}, "deadline_at"),
                        ({"deadline_at": "never"}, "deadline_at"), ({"time_limit": -1}, "time_limit"),
                        ({"timelimit": "1h"}, "timelimit")):
        refuse(yard, "PATCH", f"/jobs/{job}", body, field=field)
    refuse(yard, "PATCH", "/jobs/999999999", {"priority": 1}, status=404, field="id")
    yard.post(f"/jobs/{job}/cancel")
    refuse(yard, "PATCH", f"/jobs/{job}", {"priority": 1}, status=409)


def test_resize(yard):
    job = yard.submit("sleep 600", cpus="1-2", resize="live")
    yard.wait_for(job, "running")
    for cpus, want in ((1, (1, 1)), ("1-2", (1, 2)), ("1.5", (1.5, 1.5)), (None, (1, 2))):
        changed = yard.post(f"/jobs/{job}/resize", {"cpus": cpus})
        expect_equal((changed["cpus_min"], changed["cpus_max"]), want, cpus)
    yard.post(f"/jobs/{job}/resize", {"cpus": 1})
    wait_until(lambda: yard.job(job)["cpus"] == 1, what="one CPU")
    expect(any(s["why"].startswith("resize") for s in yard.job(job)["sizes"]), "sizes")
    for body in ({}, {"cpus": "2-1"}, {"cpus": "many"}, {"cpus": 0}, {"cpus": [1]}, {"cpus": 3}):
        refuse(yard, "POST", f"/jobs/{job}/resize", body, field="cpus")
    refuse(yard, "POST", f"/jobs/{job}/resize", {"cpu": 1}, field="cpu", words="'cpus'")
    refuse(yard, "POST", f"/jobs/{job}/resize", words="body")
    refuse(yard, "POST", "/jobs/999999999/resize", {"cpus": 1}, status=404, field="id")
    yard.post(f"/jobs/{job}/cancel", {"grace": 0}, 202)
    yard.wait_for(job)
    refuse(yard, "POST", f"/jobs/{job}/resize", {"cpus": 1}, status=409)


# ---- logs


def test_logs(yard):
    job = yard.submit("seq 1 100000; printf 'no \\377 end'")
    yard.wait_for(job)
    want = b"".join(b"%d\n" % i for i in range(1, 100001)) + b"no \xff end"
    path = f"/jobs/{job}/logs"
    whole = yard.get(path)
    expect(whole.bytes == want, "the whole log")
    expect_equal(whole.headers["X-Log-Offset"], "0")
    for query, start in (("offset=0", 0), ("offset=1000", 1000), (f"offset={len(want)}", len(want)),
                         ("tail=0", len(want)), ("tail=1", len(want) - 8),
                         ("tail=2", len(want) - 8 - 7), ("tail=1000000", 0),
                         ("attempt=1&tail=1", len(want) - 8)):
        part = yard.get(f"{path}?{query}")
        expect(part.bytes == want[start:], f"{query}: {len(part.bytes)} bytes")
        expect_equal(part.headers["X-Log-Offset"], str(start), query)
    for header, first, last in (("bytes=10-19", 10, 20), ("bytes=-5", len(want) - 5, len(want)),
                                ("bytes=588000-", 588000, len(want))):
        part = yard.get(path, 206, headers={"Range": header})
        expect(part.bytes == want[first:last], header)
        expect_equal(part.headers["X-Log-Offset"], str(first), header)
    expect_equal(yard.ask("GET", path, headers={"Range": "bytes=99999999-"}).status, 416)
    head = yard.ask("HEAD", path, checked=False)
    expect_equal((head.status, head.headers["Content-Length"]), (200, str(len(want))))
    followed = yard.stream(path + "?follow=1&tail=1").read()
    expect_equal(followed, want[-8:], "the log of a job that is over")


def test_logs_refused(yard):
    job = yard.submit("echo x")
    yard.wait_for(job)
    for query, field in (("attempt=0", "attempt"), ("attempt=x", "attempt"), ("offset=-1", "offset"),
                         ("offset=3", "offset"), ("tail=-1", "tail"), ("tail=2000000", "tail"),
                         ("tail=1&offset=0", "tail"), ("follow=2", "follow"), ("line=1", "line")):
        refuse(yard, "GET", f"/jobs/{job}/logs?{query}", field=field)
    refuse(yard, "GET", f"/jobs/{job}/logs?attempt=2", status=404, field="attempt", words="its last one is 1")
    refuse(yard, "GET", "/jobs/999999999/logs", status=404, field="id")
    held = yard.submit("true", hold=True)
    expect_equal(yard.get(f"/jobs/{held}/logs").bytes, b"", "no log yet")
    expect_equal(yard.get(f"/jobs/{held}/logs?attempt=1").bytes, b"", "its first attempt will come")
    refuse(yard, "GET", f"/jobs/{held}/logs?attempt=2", status=404, field="attempt")
    stream = yard.stream(f"/jobs/{held}/logs?follow=1")
    yard.post(f"/jobs/{held}/cancel")
    expect_equal(stream.read(), b"", "the log of a job that never ran")


def test_log_search(yard):
    """Offsets of lines, whatever the case, over all of a log that is longer than a reply."""
    job = yard.submit("echo First needle; seq 1 30000; echo a NEEDLE and a needle; yes needle | head -n 1500; printf need")
    yard.wait_for(job)
    log = yard.get(f"/jobs/{job}/logs").bytes
    want = [i for i in range(len(log)) if (i == 0 or log[i - 1] == 10) and b"needle" in log[i:log.find(b"\n", i)].lower()]
    path, got, start = f"/jobs/{job}/logs/search?text=neEdle", [], 0
    while start is not None:
        found = yard.get(f"{path}&from={start}")
        expect(len(found["lines"]) <= 1000, "bounded")
        got, start = got + found["lines"], found["next"]
    expect_equal((len(got), got == want), (1502, True))
    expect_equal(yard.get(f"/jobs/{job}/logs/search?text=nowhere"), {"lines": [], "next": None})
    held = yard.submit("true", hold=True)
    expect_equal(yard.get(f"/jobs/{held}/logs/search?text=x"), {"lines": [], "next": None}, "no log yet")
    yard.post(f"/jobs/{held}/cancel")
    for query in ("", "?text=", "?text=" + "x" * 201):
        refuse(yard, "GET", f"/jobs/{job}/logs/search{query}", field="text", words="1 to 200 bytes")
    refuse(yard, "GET", f"/jobs/{job}/logs/search?text=x&attempt=2", status=404, field="attempt")


# ---- progress, explanation


def test_progress(yard):
    job = yard.submit("for i in 1 2 3 4 5 6; do echo step $i/10 loss=0.$i; sleep 0.3; done")
    shown = wait_until(lambda: yard.job(job)["progress"], what="progress")
    expect_equal((shown["total"], shown["source"] is not None), (10, True))
    done = yard.wait_for(job)["progress"]
    expect_equal((done["step"], done["total"], done["fraction"], done["value"]), (6, 10, 0.6, 0.6))
    series = yard.get(f"/jobs/{job}/progress")
    expect_equal(series["job"], job)
    samples = series["samples"]
    expect(samples and samples[0]["cpus"] == 1 and samples[0]["attempt"] == 1, samples)
    expect_equal(sorted(s["at"] for s in samples), [s["at"] for s in samples], "their order")
    expect_equal(samples[-1]["metrics"], None, "only a loss")
    several = yard.submit("for i in 1 2 3; do echo step $i/3 loss=0.$i acc=0.9 val_loss=nan; sleep 0.4; done")
    yard.wait_for(several)
    last = yard.get(f"/jobs/{several}/progress")["samples"][-1]["metrics"]
    expect_equal(last.get("acc"), 0.9, last)
    expect("val_loss" not in last, "what is not a number is left out")
    refuse(yard, "GET", f"/jobs/{job}/progress?x=1", field="x")
    refuse(yard, "GET", "/jobs/999999999/progress", status=404, field="id")


EPOCHS = """
import argparse
options = argparse.ArgumentParser()
options.add_argument("--epochs", type=int, default=8)
options.parse_args()
for epoch in (1, 2):
    for batch in range(0, 100, 10):
        print(f"Train Epoch: {epoch} [{batch * 64}/6400 ({batch}%)]\\tLoss: {1 / (epoch + batch):.4f}")
"""


def test_totals_that_only_the_command_tells(yard):
    """Neither the options nor the defaults of the script are in the output."""
    (yard.dir / "train.py").write_text(EPOCHS)
    for options, epochs in (([], 8), (["--epochs", "4"], 4), (["--epochs=5"], 5)):
        command = ["/usr/bin/python3", "train.py", *options]
        job = yard.post("/jobs", {"command": command, "workdir": str(yard.dir)}, 201)["jobs"][0]["id"]
        progress = yard.wait_for(job, "done")["progress"]
        expect(abs(progress["fraction"] - 1.9 / epochs) < 0.02, f"{options}: {progress}")


def test_progress_of_a_job_that_is_over(yard):
    job = yard.submit("echo 'epoch 2/4 step 10/100 loss: 0.5'")
    done = yard.wait_for(job, "done")["progress"]
    expect_equal([done[k] for k in ("loss", "metric", "value", "epoch", "source")],
                 [0.5, "loss", 0.5, 2, "text"], done)
    expect(done["at"] > 0, done)


def test_whatif(yard):
    waiting = [yard.submit("sleep 600", cpus=2, time_limit="1h") for _ in range(3)]
    answer = yard.post("/whatif", {"policies": ["srtf", "las"], "draws": 3,
                                   "add": [{"command": ["true"], "name": "more", "cpus": 1}],
                                   "nodes": [{"cpus": 8}, {"gpus": 2, "gpu_type": "new"}]}, 200)
    expect_equal([p["policy"] for p in answer["policies"]][1:], ["srtf", "las"])
    expect(answer["jobs"] >= len(waiting) + 1 and answer["unknown"] >= 1, answer)
    expect_equal(answer["draws"], 3)
    for course in answer["policies"]:
        expect(course["error"] is None and course["mean_s"] > 0 and course["unfinished"] == 0, course)
        expect(course["mean_band_s"]["low"] <= course["mean_band_s"]["high"], course)
    yard.post("/whatif", None, 200)
    for body, words in (({"policies": ["nothing"]}, "policies: "), ({"policies": [1]}, "policies: "),
                        ({"nodes": [{"cpus": -1}]}, "nodes[0]: "), ({"nodes": [{"x": 1}]}, "nodes[0]"),
                        ({"nodes": [3]}, "nodes[0]"), ({"add": [{"cpus": 1}]}, "add[0]: "),
                        ({"draws": 101}, "draws: ")):
        refuse(yard, "POST", "/whatif", body, words=words)
    refuse(yard, "POST", "/whatif", {"x": 1}, field="x")
    for job in waiting:
        yard.post(f"/jobs/{job}/cancel", {"grace": 0})


def test_estimate(yard):
    job = yard.submit("for i in $(seq 600); do echo step $i/600 loss 1; sleep 0.05; done", cpus="1-2")
    yard.wait_for(job, "running")
    deadline = time.monotonic() + 60
    while (found := yard.get(f"/jobs/{job}/estimate"))["remaining_s"] is None:
        expect(time.monotonic() < deadline, found)
        time.sleep(0.1)
    expect_equal(found["basis"], "declared")
    expect_equal(found["end_step"]["mid"], 600)
    expect("of 600 steps" in found["text"], found)
    expect_equal([s["units"] for s in found["sizes"]], [1, 2])
    expect_equal(len([s for s in found["sizes"] if s["held"] and s["step_s"]["mid"] > 0]), 1)
    silent = yard.submit("true", hold=True)
    expect_equal(yard.get(f"/jobs/{silent}/estimate")["basis"], "unknown")
    yard.post(f"/jobs/{job}/cancel", {"grace": 0})
    yard.wait_for(job, "cancelled")
    refuse(yard, "GET", f"/jobs/{job}/estimate", status=409, words="has ended")


def test_best(yard):
    """Ranked by the last value; those without one come last, and names may be of several users."""
    body = {"command": ["/bin/sh", "-c", "echo step 1/2 loss {loss}"], "group": "ranked",
            "sweep": {"loss": "0.5,0.25,0.75"}, "cpus": 0.1}
    jobs = [j["id"] for j in yard.post("/jobs", body, 201)["jobs"]]
    silent = yard.submit("true", group="ranked", cpus=0.1)
    for job in jobs + [silent]:
        yard.wait_for(job, "done")
    ranking = yard.get("/best?group=ranked")
    expect_equal([j["id"] for j in ranking["jobs"]], [jobs[1], jobs[0], jobs[2], silent])
    expect_equal([j["rank"] for j in ranking["jobs"]], [1, 2, 3, None])
    expect_equal((ranking["metric"], ranking["goal"], ranking["members"]), ("loss", "min", 4))
    expect_equal(ranking["jobs"][0]["parameters"], {"loss": "0.25"})
    expect_equal(yard.get(f"/jobs/{jobs[2]}")["command"][2], "echo step 1/2 loss 0.75")
    expect_equal(len(yard.get(f"/best?group={jobs[0]}&limit=2")["jobs"]), 2)
    yard.submit("true", group="ranked", user="somebody", cpus=0.1)
    refuse(yard, "GET", "/best?group=ranked", status=409, words="several users")
    expect_equal(yard.get("/best?group=ranked&user=somebody")["members"], 1)
    refuse(yard, "GET", "/best", field="group")
    refuse(yard, "GET", "/best?group=nobody", status=404)


def test_explain(yard):
    running = yard.submit("sleep 600", cpus=2)
    yard.wait_for(running, "running")
    waiting = yard.submit("true", cpus=2)
    held = yard.submit("true", hold=True)
    for job in (running, waiting, held):
        why = yard.get(f"/jobs/{job}/explain")
        expect_equal(why["job"], job)
        expect(why["summary"] and why["reasons"], why)
    ahead = yard.get(f"/jobs/{waiting}/explain")["ahead"]
    expect(running in [a["id"] for a in ahead], ahead)
    refuse(yard, "GET", f"/jobs/{held}/explain?x=1", field="x")
    refuse(yard, "GET", "/jobs/999999999/explain", status=404, field="id")


def test_hosts(yard):
    job = yard.submit("sleep 600", cpus=1, workers="1-2", resize="horovod")
    yard.wait_for(job, "running")
    name, workers = yard.get(f"/jobs/{job}/hosts").text.strip().split(":")
    expect_equal(name, yard.get("/nodes")["nodes"][0]["name"])
    expect(workers in ("1", "2"), workers)
    refuse(yard, "GET", f"/jobs/{job}/hosts?x=1", field="x")
    refuse(yard, "GET", "/jobs/999999999/hosts", status=404, field="id")


# ---- nodes, policy


def test_nodes(yard):
    nodes = yard.get("/nodes")["nodes"]
    name = nodes[0]["name"]
    expect_equal((len(nodes), nodes[0]["state"], nodes[0]["runtime"]), (1, "up", "local"))
    expect_equal(yard.get(f"/nodes/{name}")["cpus"], nodes[0]["cpus"])
    expect_equal(yard.post(f"/nodes/{name}/drain")["state"], "draining")
    expect_equal(yard.post(f"/nodes/{name}/drain")["state"], "draining", "again")
    job = yard.submit("sleep 600")
    expect_equal(yard.job(job)["state"], "queued", "nothing starts there")
    expect_equal(yard.post(f"/nodes/{name}/undrain", {})["state"], "up")
    yard.wait_for(job, "running")
    node = yard.get(f"/nodes/{name}")
    expect(job in node["jobs"] and node["cpus_held"] >= 1, node)
    for verb in ("drain", "undrain"):
        refuse(yard, "POST", f"/nodes/{name}/{verb}", {"x": 1}, field="x")
        refuse(yard, "POST", f"/nodes/nowhere/{verb}", status=404, field="name", words="nowhere")
    refuse(yard, "GET", "/nodes/nowhere", status=404, field="name", words="nowhere")
    refuse(yard, "GET", "/nodes?x=1", field="x")


def test_nodes_that_are_added(yard):
    """Without an engine: one that is not there is lost, and stays so until it is removed."""
    engine = {"name": "away", "docker": "unix:///nowhere/docker.sock", "cpus": 2.5, "gpus": 4,
              "gpu_type": "a100", "memory_mb": 1000}
    node = yard.post("/nodes", engine, 201)
    expect_equal((node["state"], node["runtime"], node["cpus"], node["gpu_type"]),
                 ("lost", "docker", 2.5, "a100"))
    wait_until(lambda: "cannot be reached" in yard.get("/nodes/away")["notice"],
               "a reason for its operator")
    refuse(yard, "POST", "/nodes", engine, status=409, field="name", words="already")
    for change, field in (({"name": "a/b"}, "name"), ({"name": ""}, "name"), ({"tls": "x"}, "tls"),
                          ({"docker": "ftp://x"}, "docker"), ({"docker": "context:none"}, "docker"),
                          ({"cpus": -1}, "cpus"), ({"memory_mb": -1}, "memory_mb"),
                          ({"gpus": -1}, "gpus"), ({"gpu_type": None}, "gpus"),
                          ({"docker": "unix:///x", "tls": "/x"}, "docker"), ({"x": 1}, "x")):
        refuse(yard, "POST", "/nodes", {**engine, "name": "other", **change}, field=field)
    refuse(yard, "POST", "/jobs", {"command": ["x"], "image": "x", "cpus": 99}, status=413,
           words="99 CPUs")
    job = yard.submit("true", image="x")
    expect_equal(yard.job(job)["state"], "queued", "it waits for the node")
    yard.post(f"/jobs/{job}/cancel", {})
    yard.post("/nodes", {"name": "away2", "docker": "ssh://nowhere.invalid"}, 201)
    yard.request("DELETE", "/nodes/away", None, 200)
    job = yard.submit("true", image="x", cpus=99)
    expect("does not respond yet" in str(yard.get(f"/jobs/{job}/explain")), "nor is its size known")
    yard.post(f"/jobs/{job}/cancel", {})
    name = yard.get("/nodes")["nodes"][0]["name"]
    refuse(yard, "DELETE", f"/nodes/{name}", status=409, words="was not added")
    yard.request("DELETE", "/nodes/away2", None, 200)
    expect_equal([n["name"] for n in yard.get("/nodes")["nodes"] if n["name"] != name], [])
    refuse(yard, "POST", "/jobs", {"command": ["x"], "image": "x"}, field="image",
           words="no node can run containers")


def test_policy(yard):
    before = yard.get("/policy")["policy"]
    put = {"policy": "las:thresholds=10/3250"}
    policy = yard.request("PUT", "/policy", put, 200)
    expect_equal((policy["policy"], policy["allocate"]), (put["policy"], "las"))
    expect_equal(policy["parameters"]["allocate"]["thresholds"], [10, 3250])
    expect_equal(yard.get("/policy"), policy)
    for body in ({"policy": "lass"}, {"policy": "las:threshold=1"}, {"policy": 1}, {}):
        refuse(yard, "PUT", "/policy", body, field="policy")
    refuse(yard, "PUT", "/policy", {"policy": "lass"}, field="policy", words="las")
    refuse(yard, "PUT", "/policy", {"name": "las"}, field="name", words="unknown member")
    refuse(yard, "PUT", "/policy", words="body")
    refuse(yard, "GET", "/policy?x=1", field="x")
    yard.request("PUT", "/policy", {"policy": before}, 200)


def test_load(yard):
    job = yard.submit("sleep 60", cpus=1)
    wait_until(lambda: yard.job(job)["state"] == "running")
    now = yard.get("/load")["samples"][-1]
    expect(now["running"] >= 1 and 0 < now["cpus_held"] <= now["cpus"], now)
    expect_equal(sum(n["cpus_held"] for n in now["nodes"]), now["cpus_held"])
    # The first sample follows the start of the server.
    kept = wait_until(lambda: yard.get("/load?since=0")["samples"][1:])
    expect(kept[0]["at"] <= kept[-1]["at"], kept)
    expect_equal(len(yard.get(f"/load?since={2 ** 40}")["samples"][-1]["nodes"]), 1)
    yard.post(f"/jobs/{job}/cancel", {"grace": "0s"}, 202)
    yard.wait_for(job)
    refuse(yard, "GET", "/load?since=x", field="since")


def test_metrics(yard):
    text = yard.get("/metrics").text
    expect("trainyard_build_info{version=" in text, text[:200])
    at_root = live.Answer(live.send(yard.socket, "GET", "/metrics", base="")[1])
    expect("trainyard_build_info{version=" in at_root.text, "at the root")
    refuse(yard, "GET", "/metrics?x=1", field="x")


def test_policies(yard):
    known = {p["name"]: p for p in yard.get("/policies")["policies"]}
    expect_equal(known["las"]["axis"], "allocate")
    expect("thresholds" in [p["name"] for p in known["las"]["parameters"]], known["las"])
    expect(all(p["summary"] and (p["rule"] or p["same_as"]) for p in known.values()), "texts")
    expect_equal(known["elastic-fifo"]["axis"], "allocate")


def test_decisions(yard):
    yard.wait_for(yard.submit("true"))
    decisions = yard.get("/decisions")["decisions"]
    times = [d["at"] for d in decisions]
    expect(decisions and times == sorted(times, reverse=True), "newest first")
    expect("grants" in decisions[0]["plan"], decisions[0])
    expect_equal(len(yard.get("/decisions?limit=2")["decisions"]), 2)
    refuse(yard, "GET", "/decisions?limit=0", field="limit")
    refuse(yard, "GET", "/decisions?n=1", field="n")


# ---- events


def test_events_list(yard):
    job = yard.submit("true")
    yard.wait_for(job)
    kinds = [e["kind"] for e in yard.get(f"/events?job={job}")["events"]]
    expect_equal(kinds, ["job.submitted", "job.started", "job.ended"])
    every = yard.get("/events?limit=1000")["events"]
    seqs = [e["seq"] for e in every]
    expect_equal(seqs, sorted(seqs))
    expect_equal(every[0]["kind"], "server.started")
    expect_equal([e["seq"] for e in yard.get(f"/events?after={seqs[2]}&limit=2")["events"]],
                 seqs[3:5])
    for query, field in (("after=-1", "after"), ("after=x", "after"), ("limit=0", "limit"),
                         ("follow=x", "follow"), ("progress=1", "progress"), ("jobs=1", "jobs"),
                         ("follow=1&limit=2", "limit")):
        refuse(yard, "GET", "/events?" + query, field=field)
    refuse(yard, "GET", "/events?job=999999999", status=404, field="job")
    refuse(yard, "GET", "/events?follow=1", headers={"Last-Event-ID": "x"}, field="Last-Event-ID")


def test_targets_of_notifications(yard):
    """tests/cli/notices.py tries what they are for."""
    made = yard.post("/notify", {"target": "command:true", "on": "all"}, 201)
    expect_equal(yard.get("/notify")["targets"], [made])
    yard.post(f"/notify/{made['id']}/test", None, 200)
    yard.request("DELETE", f"/notify/{made['id']}")
    refuse(yard, "DELETE", "/notify/x")


def test_sim_reports(yard):
    """tests/browser/dashboard.js uploads one and opens it."""
    expect_equal(yard.get("/reports"), {"reports": []})
    refuse(yard, "GET", "/reports?x=1", field="x")
    (yard.dir / "state/reports").mkdir()
    (yard.dir / "state/reports/mine.html").write_text("<!doctype html><p>x")
    (yard.dir / "state/reports/.hidden.html").write_text("no")
    (yard.dir / "state/reports/link.html").symlink_to("/etc/passwd")
    expect_equal([r["name"] for r in yard.get("/reports")["reports"]], ["mine"])
    page = yard.get("/reports/mine")
    expect_equal(page.bytes, b"<!doctype html><p>x")
    policy = page.headers["Content-Security-Policy"]
    expect(policy.startswith("sandbox ") and "allow-same-origin" not in policy and "default-src 'none'" in policy, policy)
    for name in ("none", "..", "%2e%2e%2fx", "link", "a%20b"):
        expect(yard.ask("GET", f"/reports/{name}", checked=False).status in (400, 404, 500, 503), name)
    refuse(yard, "DELETE", "/reports/none", status=404, field="report")
    expect_equal(yard.request("DELETE", "/reports/mine")["reports"], [])


# ---- all of it


# These need hosts with Docker: tests/docker/moves.py and uploads.py try them.
ELSEWHERE = {"job_migrate", "get_upload", "put_upload", "report_put", "report_show"}


def test_every_operation_was_tried(yard):
    every = set(yard.document.operations) - ELSEWHERE
    expect_equal(every - yard.served, set(), "never succeeded")
    expect_equal(every - yard.refused, set(), "never refused")


if __name__ == "__main__":
    live.main(lambda: live.Yard("--listen", "127.0.0.1:0", environment={"TRAINYARD_TOKEN": ""}).start())
