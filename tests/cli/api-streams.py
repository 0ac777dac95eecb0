#!/usr/bin/env python3
"""The API at length: logs and events that are followed, TCP, a restart, and the
examples of the documentation."""
import gzip
import http.client
import json
import pathlib
import re
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from live import expect, expect_equal, wait_until

# Operations that need nothing but to be asked.
PLAIN = ["version", "health", "ready", "openapi", "jobs_list", "nodes_list", "policy_show",
         "policies_list", "load_show", "metrics", "events"]


# ---- logs


def test_logs_follow_through_attempts(yard):
    """From before the first attempt to the end of the last one, byte for byte."""
    job = yard.submit("for i in $(seq 300); do echo $TRAINYARD_ATTEMPT $i; [ $((i % 30)) = 0 ] &&"
                      " sleep 0.02; done; [ $TRAINYARD_ATTEMPT = 3 ]", hold=True, retries=2,
                      backoff="10ms")
    streams = [yard.stream(f"/jobs/{job}/logs?follow=1") for _ in range(3)]
    yard.post(f"/jobs/{job}/release")
    want = b"".join(b"%d %d\n" % (a, i) for a in (1, 2, 3) for i in range(1, 301))
    for s in streams:
        got = s.read()
        expect(got == want, f"{len(got)} of {len(want)} bytes")
    expect_equal(yard.wait_for(job)["state"], "done")
    late = yard.stream(f"/jobs/{job}/logs?follow=1&attempt=2&offset=4").read()
    expect(late == want[len(want) // 3 + 4:], "from the second attempt on")


def test_logs_follow_slowly(yard):
    """A client that does not read does not lose anything, nor disturb others."""
    job = yard.submit("echo go; while [ ! -e go ]; do sleep 0.01; done;"
                      " yes 0123456789abcde | head -c 8000000", workdir=str(yard.dir))
    slow, fast = (yard.stream(f"/jobs/{job}/logs?follow=1") for _ in range(2))
    expect_equal(slow.read_some(3), b"go\n")
    expect_equal(fast.read_some(3), b"go\n", "what is there comes at once")
    (yard.dir / "go").touch()
    want = b"0123456789abcde\n" * 500000
    expect(fast.read() == want, "the fast one")
    expect_equal(yard.wait_for(job)["state"], "done")
    expect(slow.read() == want, "the slow one, afterwards")
    gone = yard.stream(f"/jobs/{job}/logs?follow=1")
    gone.read_some(10)
    gone.close()


# ---- events


def check_event(yard, event):
    yard.document.check(event, {"$ref": "#/components/schemas/Event"})
    return event


def test_events_follow_without_gap(yard):
    """Readers that come, go and come back while much happens see each event once."""
    before = yard.get("/jobs?limit=1")["jobs"][0]["id"]
    start = max(e["seq"] for e in yard.get(f"/events?job={before}")["events"])
    total = 150
    stop = threading.Event()
    seen, kinds = [], []

    def read():
        after = start
        while not stop.is_set():
            stream = yard.stream(f"/events?follow=1&after={start}", {"Last-Event-ID": str(after)})
            for n, (event_id, kind, event) in enumerate(stream.events()):
                check_event(yard, event)
                expect_equal((event_id, kind), (str(event["seq"]), event["kind"]))
                seen.append(event["seq"])
                kinds.append(kind)
                after = event["seq"]
                if kinds.count("job.ended") == total:
                    stop.set()
                if n == 40 or stop.is_set():
                    break
            stream.close()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    for _ in range(total // 10):
        yard.post("/jobs", {"jobs": 10 * [{"command": ["true"], "name": "event"}]}, 201)
    reader.join(60)
    expect(stop.is_set(), f"{kinds.count('job.ended')} of {total} ends were seen")
    expect_equal(seen, list(range(start + 1, start + 1 + len(seen))), "none is missing or doubled")
    expect_equal(kinds.count("job.submitted"), total)


def test_events_follow_slowly(yard):
    """One that reads nothing for a while catches up from the store."""
    stream = yard.stream("/events", {"Accept": "text/event-stream"})
    expect_equal(stream.status, 200)
    jobs = yard.post("/jobs", {"command": ["true"], "name": "many", "array": "1-5000", "hold": True},
                     201)["jobs"]
    last = yard.submit("true", hold=True)
    want = [j["id"] for j in jobs] + [last]
    got = []
    for _, kind, event in stream.events():
        if kind == "job.submitted":
            got.append(event["job"])
        if event["job"] == last:
            break
    expect(got == want, f"{len(got)} of {len(want)} events")
    stream.close()


def test_events_of_one_job_with_progress(yard):
    job = yard.submit("sleep 0.3; for i in 1 2 3; do echo step $i/3 loss=0.$i; sleep 0.2; done",
                      name="followed")
    yard.submit("true")
    kinds = []
    for event_id, kind, event in yard.stream("/events?job=followed&follow=1&progress=1&after=0"
                                             ).events():
        check_event(yard, event)
        expect_equal(event["job"], job)
        kinds.append(kind)
        if kind == "job.progress":
            expect_equal(event_id, None, "progress has no id")
            expect(event["total"] == 3, event)
        if kind == "job.ended":
            break
    expect(kinds[0] == "job.submitted" and "job.progress" in kinds, kinds)


# ---- servers of their own


def test_tcp_needs_the_token():
    with live.Yard() as yard:
        yard.start("--listen", "127.0.0.1:0", TRAINYARD_TOKEN="secret-secret-secret")
        port = int(wait_until(lambda: re.search(r"port=(\d+)", yard.output())).group(1))

        def status(path, token=None):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            connection.request("GET", live.API + path, headers=headers)
            answer = live.Answer(connection.getresponse())
            connection.close()
            yard.check("GET", path, answer)
            return answer.status

        for _, path, operation in map(yard.document.operations.get, PLAIN):
            open_to_all = operation.get("security") == []
            expect_equal(status(path), 200 if open_to_all else 401, path)
            expect_equal(status(path, "wrong"), 200 if open_to_all else 401, path)
            expect_equal(status(path, "secret-secret-secret"), 200, path)
        yard.finish()


def test_browsers_log_in():
    with live.Yard() as yard:
        yard.start("--listen", "127.0.0.1:0", TRAINYARD_TOKEN="a secret; with\u00e9")
        port = int(wait_until(lambda: re.search(r"port=(\d+)", yard.output())).group(1))
        token = "a secret; with\u00e9".encode().decode("latin-1")

        def ask(method, path, **headers):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, live.API + path, headers=names)
            answer = live.Answer(connection.getresponse())
            connection.close()
            return answer

        expect_equal(ask("POST", "/login", Authorization="Bearer wrong").status, 401)
        answer = ask("POST", "/login", Authorization="Bearer " + token)
        expect(answer.json["expires"] > time.time() + 86400, answer.json)
        cookie, *attributes = answer.headers["Set-Cookie"].split("; ")
        expect({"HttpOnly", "SameSite=Strict", "Path=/"} <= set(attributes), attributes)
        here = f"127.0.0.1:{port}"
        for method, path, origin, want in (
                ("GET", "/jobs", None, 200), ("GET", "/jobs", "http://evil", 200),
                ("POST", "/nodes/x/drain", f"http://{here}", 404),
                ("POST", "/nodes/x/drain", None, 403),
                ("POST", "/nodes/x/drain", "null", 403),
                ("POST", "/nodes/x/drain", "http://127.0.0.1:1", 403),
                ("POST", "/nodes/x/drain", "http://evil." + here, 403)):
            more = {"Origin": origin} if origin else {}
            expect_equal(ask(method, path, Cookie=cookie, **more).status, want, origin)
        expect_equal(ask("GET", "/jobs", Cookie=cookie + "0").status, 401)
        expect_equal(ask("GET", "/jobs", Cookie="trainyard=").status, 401)
        answer = ask("POST", "/logout", Cookie=cookie, Origin=f"http://{here}")
        expect("Max-Age=0" in answer.headers["Set-Cookie"], answer.headers["Set-Cookie"])
        yard.finish()


def test_pages_are_part_of_the_program():
    with live.Yard() as yard:
        yard.start("--listen", "127.0.0.1:0", TRAINYARD_TOKEN="secret-secret-secret")
        port = int(wait_until(lambda: re.search(r"port=(\d+)", yard.output())).group(1))

        def ask(path, **headers):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", path, headers={n.replace("_", "-"): v
                                                     for n, v in headers.items()})
            answer = connection.getresponse()
            body = answer.read()
            connection.close()
            return answer, body

        plain, page = ask("/")
        expect_equal((plain.status, plain.headers["Content-Encoding"]), (200, None))
        expect("script-src 'self'" in plain.headers["Content-Security-Policy"], "policy")
        names = re.findall(rb'(?:src|href)="(assets/[^"]+)"', page)
        expect(len(names) >= 4, names)
        size = 0
        for path in ["/"] + ["/" + name.decode() for name in names]:
            plain, text = ask(path)
            packed, data = ask(path, Accept_Encoding="br, gzip;q=0.8")
            expect_equal(packed.headers["Content-Encoding"], "gzip", path)
            expect_equal(gzip.decompress(data), text, path)
            expect_equal(ask(path, Accept_Encoding="gzip;q=0")[1], text, path)
            again, nothing = ask(path, If_None_Match=packed.headers["ETag"])
            expect_equal((again.status, nothing), (304, b""), path)
            size += len(data)
        expect(size < 150_000, f"{size} bytes for the first view")
        expect_equal(ask("/assets/nothing.js")[0].status, 404)
        yard.finish()


def test_restart_keeps_what_was_said():
    with live.Yard() as yard:
        yard.start()
        done = yard.submit("echo one")
        yard.wait_for(done)
        held = yard.submit("true", hold=True)
        stream = yard.stream(f"/jobs/{held}/logs?follow=1")
        events = yard.get("/events?limit=1000")["events"]
        before = yard.job(done)
        yard.finish()
        try:
            stream.read()
            expect(False, "a log that was cut off looks complete")
        except (http.client.IncompleteRead, ConnectionError):
            pass
        yard.start()
        expect_equal(yard.job(done), before, "the job")
        expect_equal(yard.get(f"/jobs/{done}/logs").text, "one\n")
        now = yard.get("/events?limit=1000")["events"]
        expect_equal(now[:len(events)], events, "what has happened")
        expect_equal([e["seq"] for e in now], list(range(1, len(now) + 1)), "numbers")
        _, kind, _ = next(yard.stream("/events?follow=1", {"Last-Event-ID": str(events[-1]["seq"])}
                                      ).events())
        expect_equal(kind, "server.started", "the next event")
        yard.sweep()
        yard.finish()


def shown_examples():
    """The commands in docs/api.md, those that end with the job last."""
    text = (live.ROOT / "docs" / "api.md").read_text()
    blocks = "".join(re.findall(r"```sh\n(.*?)```", text, re.S)).replace("\\\n", "")
    examples = [e for e in blocks.splitlines() if e.startswith("yard ")]
    return sorted(examples, key=lambda e: ("-N" in e, "/cancel" in e, "/requeue" in e))


def operation_of(yard, example):
    method = re.search(r"-X (\w+)", example)
    method = method.group(1) if method else "POST" if " -d " in example else "GET"
    path = re.search(r"http://localhost([^?' ]*)", example).group(1)
    return yard.document.find(method, path.removeprefix(live.API))[0]


def fits(document, value, schema):
    try:
        document.check(value, schema)
        return True
    except live.Mismatch:
        return False


def test_objects_of_the_documentation(yard):
    """What docs/api.md shows as JSON is as the OpenAPI document says."""
    text = (live.ROOT / "docs" / "api.md").read_text()
    schemas = yard.document.document["components"]["schemas"]
    for block in re.findall(r"```json\n(.*?)```", text, re.S):
        value = json.loads(block)
        expect(any(fits(yard.document, value, s) for s in schemas.values()), block)
    version = json.dumps(yard.get("/version"), separators=(",", ":"))
    expect(f"`{version}`" in text, f"{version} is not in docs/api.md")
    kinds = {e["kind"] for e in yard.events()}
    expect(all(f"`{kind}`" in text for kind in kinds), kinds)
    # The dashboard must name the kinds that it follows.
    listed = set(re.findall(r"`((?:job|node|policy|server)\.[a-z_]+)`", text[text.index("\nKinds: "):]))
    script = (live.ROOT / "src" / "web" / "dashboard" / "yard.js").read_text()
    expect_equal({kind for kind in listed if f"'{kind}'" not in script}, set(), "not in yard.js")


def test_examples_of_the_documentation():
    """docs/api.md shows each operation; the commands work where there are such jobs."""
    with live.Yard("--listen", "127.0.0.1:0", environment={"TRAINYARD_TOKEN": ""}) as yard:
        yard.start()
        host = yard.get("/nodes")["nodes"][0]["name"]
        yard.post("/jobs", {"command": ["true"], "name": "held", "array": "1-11", "hold": True}, 201)
        yard.submit("seq 1000; sleep 600", name="resnet", cpus="1-2")
        yard.submit("true", name="next", cpus=2)
        wait_until(lambda: len(yard.get("/jobs/12/logs").bytes) > 1000, what="the log")
        shell = 'yard() { curl -s --max-time 2 -f --unix-socket "$S/trainyard.sock" "$@"; }\n'
        shown = set()
        for example in shown_examples():
            shown.add(operation_of(yard, example))
            example = example.replace("/nodes/host", "/nodes/" + host)
            done = subprocess.run(["bash", "-c", shell + example], env={"S": str(yard.state)},
                                  stdin=subprocess.DEVNULL, capture_output=True, check=False)
            # Events go on for ever; 28 is curl's word for enough.
            goes_on = "-N" in example
            expect(done.returncode in (0, 28 if goes_on else 0), f"{example}: {done}")
            expect(done.stdout or goes_on, f"{example}: says nothing")
        # What needs hosts with Docker is in docs/docker.md.
        elsewhere = {"job_migrate", "get_upload", "put_upload"}
        expect_equal(set(yard.document.operations) - shown - elsewhere, set(), "not shown")
        yard.sweep()
        yard.finish()


if __name__ == "__main__":
    live.main()
