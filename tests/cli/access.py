#!/usr/bin/env python3
"""Who may do what: tokens with their roles, logins of browsers, links, the unix socket, TLS."""
import http.client
import json
import os
import pathlib
import pwd
import re
import signal
import ssl
import stat
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from cases import PATIENCE
from live import Answer, Skip, Yard, expect, expect_equal, wait_until

ENV_TOKEN = "0123456789abcdef"


class Client:
    """One who comes over TCP, with a token or a cookie."""

    def __init__(self, yard, token=None, cookie=None):
        self.yard, self.token, self.cookie = yard, token, cookie
        self.host = f"127.0.0.1:{yard.port}"

    def ask(self, method, path, body=None, **headers):
        """(status, object, headers); the answer is as the document says."""
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if self.cookie:
            headers["Cookie"] = f"trainyard={self.cookie}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, f"/api/v1{path}", json.dumps(body) if body is not None else None,
                           {name.replace("_", "-"): value for name, value in headers.items()})
        answer = Answer(connection.getresponse())
        connection.close()
        self.yard.check(method, path, answer)
        return answer.status, answer.json, answer.headers

    def status(self, method, path, body=None, **headers):
        return self.ask(method, path, body, **headers)[0]


def start(*options, **environment):
    yard = Yard("--listen", "127.0.0.1:0", *options, environment={"TRAINYARD_TOKEN": "", **environment})
    yard.start()
    yard.port = find_port(yard)
    return yard


def find_port(yard):
    return int(re.findall(r"port=(\d+)", yard.output())[-1])


def make_token(yard, name, role, **fields):
    made = yard.post("/tokens", {"name": name, "role": role, **fields}, 201)
    return Client(yard, made["token"])


def log_in(client, **headers):
    """A browser that has logged in with the client's token, and the header with its cookie."""
    status, session, answer = client.ask("POST", "/login", **headers)
    expect_equal(status, 200)
    cookie = answer["Set-Cookie"]
    return Client(client.yard, cookie=re.match(r"trainyard=(\w+);", cookie)[1]), session, cookie


# ---- roles


def test_roles(yard):
    """What each role may do to its own jobs, and to those of others."""
    ann, bob = make_token(yard, "ann-1", "user", user="ann"), make_token(yard, "bob-1", "user",
                                                                         user="bob")
    look, boss = make_token(yard, "look", "viewer", user="eve"), make_token(yard, "boss", "admin")
    job = {"command": ["sleep", "100"], "hold": True}
    status, made, _ = ann.ask("POST", "/jobs", job)
    expect_equal(status, 201)
    path = f"/jobs/{made['jobs'][0]['id']}"
    expect_equal(yard.get(path)["user"], "ann", "jobs belong to the token's user")
    for client, want in ((look, 403), (bob, 403), (ann, 200), (boss, 200)):
        expect_equal(client.status("PATCH", path, {"priority": 1}), want)
        expect_equal(client.status("GET", f"{path}?env=1"), want)
        expect_equal(client.status("GET", path), 200)
    status, problem, _ = bob.ask("POST", f"{path}/cancel")
    expect_equal((status, problem["code"]), (403, "denied"))
    expect("belongs to ann, and you are bob" in problem["detail"], problem)
    expect_equal(bob.status("POST", "/jobs", {**job, "user": "ann"}), 403)
    expect_equal(boss.status("POST", "/jobs", {**job, "user": "ann"}), 201)
    expect_equal(look.status("POST", "/jobs", job), 403)
    # What concerns everybody is for admins.
    node = yard.get("/nodes")["nodes"][0]["name"]
    for client, want in ((look, 403), (ann, 403), (boss, 200)):
        expect_equal(client.status("POST", f"/nodes/{node}/drain"), want)
        expect_equal(client.status("POST", f"/nodes/{node}/undrain"), want)
        expect_equal(client.status("PUT", "/policy", {"policy": "fifo"}), want)
        expect_equal(client.ask("GET", "/session")[1]["role"],
                     {look: "viewer", ann: "user", boss: "admin"}[client])
    # To look and to ask is for all.
    for client in (look, ann, bob, boss):
        expect_equal(client.status("POST", "/check", {"command": ["true"]}), 200)
        expect_equal(client.status("GET", "/nodes"), 200)
    expect_equal(ann.status("POST", f"{path}/cancel"), 200)


def test_tokens(yard):
    """They are listed and revoked, expire, and only their hash is kept."""
    ann = make_token(yard, "ann-2", "user", user="ann", expires="90d")
    me = pwd.getpwuid(os.geteuid()).pw_name
    mine = yard.post("/tokens", {"name": "mine", "role": "viewer"}, 201)
    expect_equal((mine["user"], mine["expires"]), (me, None))
    names = [token["name"] for token in ann.ask("GET", "/tokens")[1]["tokens"]]
    expect("ann-2" in names and "mine" not in names, "users see their own")
    expect("mine" in [token["name"] for token in yard.get("/tokens")["tokens"]], "admins see all")
    expect_equal(ann.status("POST", "/tokens", {"name": "more", "role": "admin"}), 403)
    expect_equal(ann.status("POST", "/tokens", {"name": "more", "role": "user", "user": me}), 403)
    expect_equal(ann.status("POST", "/tokens", {"name": "mine", "role": "user"}), 409)
    expect_equal(ann.status("DELETE", "/tokens/mine"), 403)
    expect_equal(yard.ask("DELETE", "/tokens/nothing").status, 404)
    for bad in ({"name": "", "role": "user"}, {"name": "a b", "role": "user"}, {"role": "user"},
                {"name": "x", "role": "boss"}, {"name": "x", "role": "user", "expires": "soon"}):
        expect_equal(yard.ask("POST", "/tokens", bad).status, 400, bad)
    browser, _, _ = log_in(ann)
    expect_equal(browser.status("GET", "/jobs"), 200)
    expect_equal(ann.status("DELETE", "/tokens/ann-2"), 200)
    expect_equal(ann.status("GET", "/jobs"), 401, "revoked")
    expect_equal(browser.status("GET", "/jobs"), 401, "with its logins")
    short = make_token(yard, "short", "viewer", expires="0.2s")
    wait_until(lambda: short.status("GET", "/jobs") == 401, "it expires")
    database = (yard.state / "trainyard.db").read_bytes() + (yard.state / "trainyard.db-wal").read_bytes()
    for secret in (ann.token, mine["token"], browser.cookie):
        expect(secret.encode() not in database, "a secret is in the database")


def test_command_line(yard):
    made = yard.run("token", "create", "--role", "user", "--name", "ci", "--user", "ann",
                    "--expires", "90d")
    expect(re.fullmatch(r"[0-9a-f]{64}\n", made.stdout), made.stdout)
    listed = yard.run("token").stdout
    expect(re.search(r"^ci +ann +user +\S.* in 89d23h +never$", listed, re.M), listed)
    yard.environment.update(TRAINYARD_SERVER=f"http://127.0.0.1:{yard.port}",
                            TRAINYARD_TOKEN=made.stdout.strip())
    try:
        submitted = yard.run("submit", "--hold", "--", "true").stdout
        expect("Submitted job" in submitted, submitted)
        expect_equal(yard.get("/jobs?limit=1")["jobs"][0]["user"], "ann")
        refused = yard.run("policy", "fifo", check=False)
        expect_equal(refused.returncode, 1)
        expect("needs the role admin, and yours is user" in refused.stderr, refused.stderr)
    finally:
        del yard.environment["TRAINYARD_SERVER"], yard.environment["TRAINYARD_TOKEN"]
    expect_equal(yard.run("token", "revoke", "ci").stdout, "Token ci revoked\n")
    expect_equal(yard.run("token", "forge", check=False).returncode, 2)


# ---- browsers


def test_login(yard):
    """A cookie that scripts and other sites cannot use, and that a logout ends."""
    client = make_token(yard, "browser", "user", user="ann")
    origin = f"http://127.0.0.1:{yard.port}"
    browser, session, cookie = log_in(client)
    expect_equal((session["user"], session["role"]), ("ann", "user"))
    for part in ("HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=2592000"):
        expect(part in cookie, cookie)
    expect("Secure" not in cookie, "without TLS")
    expect_equal(browser.status("GET", "/jobs"), 200)
    job = {"command": ["true"], "hold": True}
    for other in ({}, {"Origin": "http://evil.example"}, {"Origin": "http://127.0.0.1:1"},
                  {"Origin": "null"}):
        expect_equal(browser.status("POST", "/jobs", job, **other), 403, other)
    expect_equal(browser.status("POST", "/jobs", job, Origin=origin), 201)
    # A stolen cookie is no token, nor is a token a cookie.
    expect_equal(Client(yard, token=browser.cookie).status("GET", "/jobs"), 401)
    expect_equal(Client(yard, cookie=client.token).status("GET", "/jobs"), 401)
    expect_equal(browser.status("POST", "/logout", Origin=origin), 200)
    expect_equal(browser.status("GET", "/jobs"), 401)
    expect_equal(client.status("GET", "/jobs"), 200, "the token stays")
    expect_equal(Client(yard, "wrong").status("POST", "/login"), 401)
    expect_equal(Client(yard).status("POST", "/login"), 401)


def test_links(yard):
    """A link logs in once, as whoever asked for it."""
    ann = make_token(yard, "ann-3", "viewer", user="ann")
    link = ann.ask("POST", "/links")[1]
    expect(link["url"].startswith(f"http://127.0.0.1:{yard.port}/#login="), link)
    code = link["path"].split("=")[1]
    stranger = Client(yard)
    expect_equal(stranger.status("POST", "/login", {"code": "0" * 64}), 401)
    status, session, answer = stranger.ask("POST", "/login", {"code": code})
    expect_equal((status, session["user"], session["role"]), (200, "ann", "viewer"))
    expect("HttpOnly" in answer["Set-Cookie"], answer["Set-Cookie"])
    expect_equal(stranger.status("POST", "/login", {"code": code}), 401, "only once")
    printed = yard.run("open", "--print").stdout
    expect(re.fullmatch(rf"http://127\.0\.0\.1:{yard.port}/#login=[0-9a-f]{{64}}\n", printed), printed)
    opened = yard.dir / "opened"
    browser = yard.dir / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >{opened}\n')
    browser.chmod(0o755)
    yard.environment["BROWSER"] = str(browser)
    yard.run("open")
    expect("/#login=" in opened.read_text(), "the browser is started")


def test_restart():
    """Tokens and logins survive a restart; those of the environment's token end with it."""
    with start() as yard:
        kept = make_token(yard, "kept", "user")
        browser, _, _ = log_in(kept)
        yard.kill(signal.SIGTERM)
        yard.start(TRAINYARD_TOKEN=ENV_TOKEN)
        for one in (kept, browser):
            one.host = f"127.0.0.1:{find_port(yard)}"
            expect_equal(one.status("GET", "/jobs"), 200)
        yard.port = find_port(yard)
        env = Client(yard, ENV_TOKEN)
        expect_equal(env.ask("GET", "/session")[1], {"user": "api", "role": "admin", "expires": None})
        expect_equal(yard.ask("DELETE", "/tokens/TRAINYARD_TOKEN").status, 409)
        session, _, _ = log_in(env)
        yard.kill(signal.SIGTERM)
        yard.start(TRAINYARD_TOKEN=ENV_TOKEN[::-1])
        for one, want in ((env, 401), (session, 401), (Client(yard, ENV_TOKEN[::-1]), 200), (kept, 200)):
            one.host = f"127.0.0.1:{find_port(yard)}"
            expect_equal(one.status("GET", "/jobs"), want)


# ---- the unix socket


def test_group():
    """Members of a group may use the socket, as themselves; others may not."""
    if os.geteuid() != 0:
        raise Skip("needs root, to become another user")
    nobody = pwd.getpwnam("nobody")
    with Yard(environment={"TRAINYARD_TOKEN": ""}) as yard:
        run = yard.dir / "run"
        refused = subprocess.run([live.PROGRAM, "serve", "--state", str(yard.state), "--group", "nogroup"],
                                 capture_output=True, text=True, check=False, env=yard.environment)
        expect_equal(refused.returncode, 2)
        expect("set --run" in refused.stderr, refused.stderr)
        yard.socket = run / "trainyard.sock"
        yard.dir.chmod(0o711)
        yard.start("--run", str(run), "--group", "nogroup")
        expect_equal(stat.S_IMODE(run.stat().st_mode), 0o710)
        expect_equal(stat.S_IMODE(yard.socket.stat().st_mode), 0o660)
        own = yard.submit("sleep 100", hold=True)

        def as_nobody(*words, groups=(nobody.pw_gid,)):
            return subprocess.run([live.PROGRAM, words[0], "--server", str(yard.socket), *words[1:]], cwd="/",
                                  env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"}, user="nobody", group=nobody.pw_gid
                                  if groups else 1, extra_groups=groups, capture_output=True,
                                  text=True, check=False)

        submitted = as_nobody("submit", "--hold", "--", "true")
        if "Permission denied" in submitted.stderr and str(live.PROGRAM) in submitted.stderr:
            raise Skip("nobody may not run the program where it is")
        expect_equal(submitted.returncode, 0, submitted.stderr)
        job = yard.get("/jobs?limit=1")["jobs"][0]
        expect_equal(job["user"], "nobody")
        denied = as_nobody("cancel", str(own))
        expect("and you are nobody" in denied.stderr, denied.stderr)
        expect_equal(as_nobody("cancel", str(job["id"])).returncode, 0)
        stranger = as_nobody("ps", groups=())
        expect_equal(stranger.returncode, 1)
        expect("no permission to connect" in stranger.stderr, stranger.stderr)


# ---- TLS


def fingerprint(yard):
    return re.findall(r"fingerprint=(\S+)", yard.output())[-1]


def presented(port):
    return ssl.get_server_certificate(("127.0.0.1", port))


def make_certificate(directory, name):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-keyout", str(directory / "key.pem"), "-out", str(directory / "cert.pem"),
                    "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"],
                   check=True, capture_output=True)


def test_own_certificate():
    """The server makes one at its first start, and the client pins its key."""
    with Yard("--listen", "127.0.0.1:0", "--tls", environment={"TRAINYARD_TOKEN": ENV_TOKEN}) as yard:
        yard.start()
        key = yard.state / "tls" / "key.pem"
        expect_equal(stat.S_IMODE(key.stat().st_mode), 0o600)
        first = fingerprint(yard)
        yard.environment["TRAINYARD_SERVER"] = f"https://127.0.0.1:{find_port(yard)}"
        refused = yard.run("ps", check=False)
        expect_equal(refused.returncode, 1)
        expect("TRAINYARD_FINGERPRINT" in refused.stderr, refused.stderr)
        yard.environment["TRAINYARD_FINGERPRINT"] = "sha256//" + 43 * "A" + "="
        refused = yard.run("ps", check=False)
        expect("not the one whose fingerprint you have" in refused.stderr, refused.stderr)
        yard.environment["TRAINYARD_FINGERPRINT"] = first
        expect("NAME" in yard.run("ps", "--all").stdout, "with the pin")
        url = yard.run("open", "--print").stdout
        expect(url.startswith("https://127.0.0.1:"), url)
        yard.kill(signal.SIGTERM)
        del yard.environment["TRAINYARD_SERVER"]
        yard.start()
        expect_equal(fingerprint(yard), first, "it is kept")
        browser = http.client.HTTPSConnection("127.0.0.1", find_port(yard),
                                              context=ssl._create_unverified_context())
        browser.request("POST", "/api/v1/login", headers={"Authorization": f"Bearer {ENV_TOKEN}"})
        expect("; Secure" in browser.getresponse().headers["Set-Cookie"], "cookies need TLS then")


def test_given_certificate():
    """SIGHUP reads it again; one that cannot be used changes nothing."""
    with Yard(environment={"TRAINYARD_TOKEN": ""}) as yard:
        make_certificate(yard.dir, "one")
        yard.start("--listen", "127.0.0.1:0", "--tls-cert", str(yard.dir / "cert.pem"), "--tls-key",
                   str(yard.dir / "key.pem"))
        port = find_port(yard)
        one = presented(port)
        expect_equal(one.strip(), (yard.dir / "cert.pem").read_text().strip())
        make_certificate(yard.dir, "two")
        yard.server.send_signal(signal.SIGHUP)
        wait_until(lambda: presented(port) != one, "the new certificate is used")
        two = presented(port)
        (yard.dir / "cert.pem").write_text(one)
        yard.server.send_signal(signal.SIGHUP)
        wait_until(lambda: "the old certificate stays in use" in yard.output(), "a warning")
        expect_equal(presented(port), two)
        for options, text in ((("--tls",), "--tls needs --listen"),
                              (("--tls-cert", "x"), "must be given together"),
                              (("--listen", "127.0.0.1:0", "--tls-cert", "/none", "--tls-key", "/none"),
                               "cannot read /none")):
            refused = subprocess.run([live.PROGRAM, "serve", "--state", str(yard.dir / "other"), *options],
                                     capture_output=True, text=True, check=False, env=yard.environment)
            expect_equal(refused.returncode, 2, refused.stderr)
            expect(text in refused.stderr, refused.stderr)


if __name__ == "__main__":
    live.main(start)
