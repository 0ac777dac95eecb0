#!/usr/bin/env python3
"""Bodies of requests drawn at random over all endpoints and all their members, with values at and
beyond their limits and lists of many: each is accepted or refused, none makes the server take more
than a bounded amount of memory or keeps it from answering others.

SEED and REQUESTS (400) may be set in the environment; a failure names the seed and the request.
"""
# run-tests: no asan
import json
import os
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from cases import expect

SEED = int(os.environ.get("SEED", "0")) or int.from_bytes(os.urandom(4), "little")
REQUESTS = int(os.environ.get("REQUESTS", "400"))
# Above what the server has before. A list of 10,000 jobs takes 45 MB.
MOST_MB = 300
BODY_MAX = 8 << 20

NUMBERS = [0, 1, -1, 2, 0.5, 0.001, 63, 65535, 65536, 1000000, 2**31 - 1, 2**31, 1e9, 1e18, 2**63 - 1,
           -2**63, 1e308]
TEXTS = ["", " ", "a", "/", "/tmp", "true", "1-65535", "0-0", "1-2", "1-9223372036854775807", "10s",
         "100000d", "1e300s", "512m", "99999999999g", "afterok:1", "singleton", "loss < 0.1",
         "5%/10min", "1-10000", "1-10000%1", "0-9999999:1000", "(a+)+$", "10epochs", "TERM@60", "fifo",
         "las:thresholds=1/2/3", "allocate=equal,place=spread,share=flowcon", "gavel:round=1s",
         "x" * 100000, "é🚂", "unix:///nowhere", "tcp://127.0.0.1:1"]
SIZES = [0, 1, 2, 3, 50, 1000]


class Drawer:
    """Values for schemas of the document."""

    def __init__(self, document, rng):
        self.document, self.rng = document, rng

    def draw(self, schema):
        schema = self.document.resolve(schema)
        if self.rng.random() < 0.03:
            return self.draw_any()
        if "anyOf" in schema:
            return self.draw(self.rng.choice(schema["anyOf"]))
        if "enum" in schema:
            return self.rng.choice(schema["enum"])
        kinds = schema.get("type", "object")
        kind = self.rng.choice(kinds) if isinstance(kinds, list) else kinds
        return getattr(self, "draw_" + kind)(schema)

    def draw_any(self):
        return self.rng.choice([None, True, self.rng.choice(NUMBERS), self.rng.choice(TEXTS), [], {},
                                [[[]]], {"a": {"a": None}}])

    def draw_null(self, _):
        return None

    def draw_boolean(self, _):
        return self.rng.random() < 0.5

    def draw_number(self, _):
        return self.rng.choice(NUMBERS)

    def draw_integer(self, _):
        return int(self.rng.choice(NUMBERS[:-1]))

    def draw_string(self, _):
        return self.rng.choice(TEXTS)

    def draw_array(self, schema):
        """Of the same or of different ones; the same are cheap to make, not to take."""
        size = self.rng.choice(SIZES)
        if self.rng.random() < 0.5:
            return [self.draw(schema["items"])] * size
        return [self.draw(schema["items"]) for _ in range(min(size, 50))]

    def draw_object(self, schema):
        members = schema.get("properties", {})
        chance = self.rng.choice([0.1, 0.3, 0.9])
        drawn = {name: self.draw(inner) for name, inner in members.items()
                 if self.rng.random() < chance}
        if "command" in members and self.rng.random() < 0.9:
            drawn.update(command=["true"], hold=True)
            drawn.pop("script", None)
        if schema.get("additionalProperties") and not members:
            drawn = {f"K{i}": self.rng.choice(TEXTS) for i in range(self.rng.choice(SIZES))}
        return drawn


def peak_mb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def endpoints(document):
    """Those with a JSON body: (method, path, schema)."""
    for method, path, operation in document.operations.values():
        content = operation.get("requestBody", {"content": {}})["content"]
        if "application/json" in content and "logout" not in path:
            schema = content["application/json"]["schema"]
            yield method.upper(), re.sub("{[^}]*}", "1", path), schema


def send(yard, method, path, body):
    """Whatever it is asked, it answers. Gives the most memory that the server has had, in MB."""
    text = json.dumps(body).encode()
    if len(text) > BODY_MAX:
        return 0
    answer = yard.ask(method, path, text, {"Content-Type": "application/json"}, checked=False)
    told = f"{method} {path} {text[:2000]!r}"
    expect(answer.status != 500, f"{told}: {answer.text}")
    expect(b"code" in answer.bytes or answer.status < 400, f"{told}: no reason: {answer.text}")
    peak = peak_mb(yard.server.pid)
    expect(peak < MOST_MB, f"{told}: the server has taken {peak:.0f} MB")
    return peak


def remove_all(yard):
    """So that what is measured is one request, not their sum."""
    yard.kill()
    for path in yard.state.glob("trainyard.db*"):
        path.unlink()
    yard.start()
    yard.submit("true", hold=True)


def test_whatever_is_asked():
    rng = random.Random(SEED)
    with live.Yard() as yard:
        yard.start()
        drawer, all_of_them = Drawer(yard.document, rng), list(endpoints(yard.document))
        peak = 0
        for number in range(REQUESTS):
            if number % 20 == 0:
                remove_all(yard)
            method, path, schema = rng.choice(all_of_them)
            peak = max(peak, send(yard, method, path, drawer.draw(schema)))
        print(f"# {REQUESTS} requests to {len(all_of_them)} endpoints, seed {SEED}; "
              f"at most {peak:.0f} MB")


def test_a_question_with_many_jobs():
    """Members of arrays count."""
    with live.Yard() as yard:
        yard.start()
        many = {"policies": ["srtf"], "add": [{"command": ["true"], "array": "1-9999"}] * 50}
        answer = yard.ask("POST", "/whatif", many)
        expect(answer.status == 400 and "add[1]: more than 10000 jobs" in answer.text, answer.text)
        expect(peak_mb(yard.server.pid) < 100, f"{peak_mb(yard.server.pid)} MB")


if __name__ == "__main__":
    print(f"# seed {SEED}", flush=True)
    live.main()
