#!/usr/bin/env python3
"""Notifications: each kind of target with each event, retries, signatures, and who gets what."""
import hashlib
import hmac
import http.server
import json
import pathlib
import signal
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from live import Yard, expect, expect_equal, wait_until


class Receiver(http.server.ThreadingHTTPServer):
    """Keeps what it gets; refuses the first requests to /shaky."""

    def __init__(self):
        self.got, self.refuse = [], 2
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def at(self, path):
        return [(headers, body) for where, headers, body in list(self.got) if where == path]

    def wait(self, path, n=1):
        return wait_until(lambda: len(self.at(path)) >= n and self.at(path),
                          lambda: f"{n} at {path}: {self.got}")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        refuse = self.path == "/shaky" and self.server.refuse > 0
        if refuse:
            self.server.refuse -= 1
        else:
            self.server.got.append((self.path, self.headers, body))
        self.send_response(503 if refuse else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


RECEIVER = Receiver()


def start():
    yard = Yard("--stall", "0.3s")
    mail = yard.dir / "sendmail"
    mail.write_text(f'#!/bin/sh\n{{ echo "args: $*"; cat; echo; }} >>{yard.dir}/mails\n')
    mail.chmod(0o755)
    yard.environment["TRAINYARD_SENDMAIL"] = str(mail)
    return yard.start()


def mails(yard):
    path = yard.dir / "mails"
    return path.read_text() if path.exists() else ""


# ---- of one job


def test_webhook_of_a_job(yard):
    hook = f"webhook:{RECEIVER.url}/job"
    job = yard.submit("echo 'ValueError: no such <file>' >&2; exit 3", name="breaks", notify=[hook],
                      notify_on="fail")
    (headers, body), = RECEIVER.wait("/job")
    message = json.loads(body)
    expect_equal(headers["Content-Type"], "application/json")
    expect_equal((message["event"], message["job"]["id"], message["job"]["state"]),
                 ("fail", job, "failed"))
    expect_equal((message["job"]["code"], message["job"]["name"]), (3, "breaks"))
    expect_equal(message["subject"], f"Job {job} (breaks) has failed")
    expect("Exit code: 3" in message["text"], message)
    yard.wait_for(yard.submit("true", notify=[hook], notify_on="fail"))
    yard.wait_for(yard.submit("true", notify=[hook], notify_on="end"))
    expect_equal(len(RECEIVER.wait("/job", 2)), 2, "only what was asked for")
    shown = yard.get(f"/jobs/{job}")["spec"]["notify"]
    expect_equal(shown, [f"webhook:http://127.0.0.1:{RECEIVER.server_port}/…"], "the path is secret")


def test_other_formats(yard):
    job = yard.submit("true", name="formats", notify=[
        f"slack:{RECEIVER.url}/slack", f"ntfy:{RECEIVER.url}/ntfy", "mail:ann@example.org",
        f"command:cat >{yard.dir}/got; echo $TRAINYARD_EVENT $TRAINYARD_JOB_ID >{yard.dir}/told"])
    subject = f"Job {job} (formats) is done"
    (_, body), = RECEIVER.wait("/slack")
    text = json.loads(body)
    expect_equal(list(text), ["text"])
    expect(text["text"].startswith(f"*{subject}*\n"), text)
    (headers, body), = RECEIVER.wait("/ntfy")
    expect_equal((headers["Title"], headers["Priority"]), (subject, "default"))
    expect(b"User: " in body, body)
    wait_until(lambda: subject in mails(yard), "a mail")
    expect("args: -i -- ann@example.org\n" in mails(yard), mails(yard))
    expect(f"Subject: {subject}\n" in mails(yard) and "To: ann@example.org\n" in mails(yard), mails(yard))
    wait_until(lambda: (yard.dir / "told").exists() and (yard.dir / "told").read_text(), "the command")
    expect_equal((yard.dir / "told").read_text(), f"end {job}\n")
    expect_equal(json.loads((yard.dir / "got").read_text())["job"]["id"], job)


def test_sbatch_mail(yard):
    script = yard.dir / "job.sh"
    script.write_text("#!/bin/sh\n#SBATCH --mail-type=END,FAIL --mail-user=bob@example.org\ntrue\n")
    said = yard.run("submit", "--name", "slurmish", str(script))
    expect("ignored" not in said.stderr, said.stderr)
    wait_until(lambda: "args: -i -- bob@example.org" in mails(yard), "a mail")
    script.write_text("#!/bin/sh\n#SBATCH --mail-type=SOMETIMES\ntrue\n")
    wrong = yard.run("submit", str(script), check=False)
    expect_equal(wrong.returncode, 2)
    expect("expected NONE, BEGIN, END, FAIL or ALL" in wrong.stderr, wrong.stderr)


def test_stall_nan_deadline(yard):
    hook = [f"webhook:{RECEIVER.url}/alarm"]
    counting = "for i in 1 2 3 4; do echo step $i/1000 loss=0.$i; sleep 0.05; done; "
    silent = yard.submit(counting + "sleep 600", name="silent", notify=hook, notify_on="stall")
    yard.submit(counting + "echo step 5/1000 loss=nan; sleep 600", name="nan", notify=hook,
                notify_on="nan", cpus=0.1)
    late = yard.submit("sleep 600", name="late", notify=hook, notify_on="deadline", deadline="0.1s", cpus=0.1)
    got = {json.loads(body)["event"]: json.loads(body) for _, body in RECEIVER.wait("/alarm", 3)}
    expect_equal({event: message["job"]["name"] for event, message in got.items()},
                 {"stall": "silent", "nan": "nan", "deadline": "late"})
    expect_equal((len(yard.events(silent, "job.stalled")), len(yard.events(late, "job.at_risk"))), (1, 1),
                 "told once")


def test_array_is_told_as_one(yard):
    hook = [f"webhook:{RECEIVER.url}/array"]
    yard.post("/jobs", {"command": ["sh", "-c", "exit $((TRAINYARD_ARRAY_INDEX > 2))"], "array": "0-4",
                        "name": "wing", "notify": hook}, 201)
    wait_until(lambda: any("is over" in json.loads(b)["subject"] for _, b in RECEIVER.at("/array")),
               lambda: RECEIVER.at("/array"))
    subjects = sorted(json.loads(body)["subject"] for _, body in RECEIVER.at("/array"))
    expect_equal(len(subjects), 2, subjects)
    expect("Array" in subjects[0] and "3 of 5 jobs done" in subjects[0], subjects)
    expect("(wing) has failed" in subjects[1], subjects)


# ---- of a user


def test_targets_of_users(yard):
    added = yard.run("notify", "add", f"webhook:{RECEIVER.url}/mine", "--secret", "key", "--on", "end",
                     "--user", "ann").stdout
    expect("added" in added, added)
    everybody = yard.post("/notify", {"target": f"webhook:{RECEIVER.url}/all", "user": "*"}, 201)
    expect_equal((everybody["user"], everybody["on"]),
                 ("*", ["end", "fail", "stall", "nan", "deadline", "node"]))
    yard.wait_for(yard.submit("true", user="bob", name="of bob"))
    yard.wait_for(yard.submit("true", user="ann", name="of ann"))
    (headers, body), = RECEIVER.wait("/mine")
    expect_equal(json.loads(body)["job"]["name"], "of ann")
    want = hmac.new(b"key", body, hashlib.sha256).hexdigest()
    expect_equal(headers["X-Trainyard-Signature"], f"sha256={want}")
    RECEIVER.wait("/all", 2)
    listed = yard.run("notify").stdout
    expect("webhook:http://127.0.0.1" in listed and "/mine" not in listed, listed)
    number = next(t["id"] for t in yard.get("/notify")["targets"] if t["user"] == "ann")
    yard.run("notify", "test", str(number))
    expect_equal(json.loads(RECEIVER.wait("/mine", 2)[1][1])["subject"], "Trainyard can reach you")
    for one in yard.get("/notify")["targets"]:
        yard.run("notify", "remove", str(one["id"]))
    expect_equal(yard.get("/notify")["targets"], [])
    for bad in ({"target": "pigeon:coop"}, {"target": "mail:-oQ/tmp"}, {"target": "webhook:ftp://x"},
                {"target": "mail:a@b,c@d"}, {"target": "mail:a@b", "on": "sometimes"}, {}):
        expect_equal(yard.ask("POST", "/notify", bad).status, 400, bad)
    expect_equal(yard.ask("DELETE", "/notify/999").status, 404)
    expect_equal(yard.ask("POST", "/notify/999/test").status, 404)


def test_messages_survive_and_are_repeated():
    """A message is tried again, also by the next server."""
    with Yard() as yard:
        yard.start()
        yard.wait_for(yard.submit("true", notify=[f"webhook:{RECEIVER.url}/shaky"]))
        wait_until(lambda: "will be tried again: the reply has status 503" in yard.output(), "a refusal")
        yard.kill(signal.SIGKILL)
        yard.start()
        RECEIVER.wait("/shaky")
        wait_until(lambda: "delivered" in yard.output(), "the log says so")
        yard.sweep()


if __name__ == "__main__":
    live.main(start)
