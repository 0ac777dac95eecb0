#!/usr/bin/env python3
"""Where secrets are: the environment of a submitter is in files that only its owner can read, for
as long as the job may start, and nowhere else. The server's token is in no environment."""
import http.client
import json
import os
import pathlib
import re
import stat
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live  # noqa: E402
from cases import expect, expect_equal, wait_until  # noqa: E402

SECRET = "hunter2-hunter2-hunter2-hunter2"
TOKEN = "token-token-token-token-token"
NAME = "AWS_SECRET_ACCESS_KEY"
WAITS = 'printf "%s" "$AWS_SECRET_ACCESS_KEY" > got; while ! [ -e go ]; do sleep 0.05; done'


def holders(yard, secret=SECRET):
    """The files of the state directory that have it, by their path in it."""
    found = set()
    for path in yard.state.rglob("*"):
        try:
            if path.is_file() and secret.encode() in path.read_bytes():
                found.add(str(path.relative_to(yard.state)))
        except FileNotFoundError:
            pass
    return found


def submit(yard, *options, line=WAITS):
    answer = yard.run("submit", "-q", "--workdir", str(yard.dir), *options, "--", "/bin/sh", "-c",
                      line)
    return int(answer.stdout)


def make_yard(*options):
    return live.Yard(*options, environment={NAME: SECRET}, cpus=1)


def test_an_environment_is_in_one_file_and_then_nowhere():
    with make_yard() as yard:
        yard.start()
        job = submit(yard)
        wait_until(lambda: (yard.dir / "got").exists() and (yard.dir / "got").read_text(), "it runs")
        expect_equal((yard.dir / "got").read_text(), SECRET, "the job has it")
        expect_equal(holders(yard), {f"env/{job}"}, "who else has it")
        for name in holders(yard):
            mode = os.stat(yard.state / name).st_mode
            expect_equal(stat.S_IMODE(mode), 0o600, name)
        yard.run("db", "backup", str(yard.dir / "backup"))
        expect(SECRET.encode() not in (yard.dir / "backup").read_bytes(), "it is in a backup")
        shown = yard.run("show", "--json", "--env", str(job)).stdout
        expect(SECRET not in shown and NAME in shown, shown)
        # Also after a restart of the server the next attempt has it.
        yard.kill()
        yard.start()
        (yard.dir / "got").unlink()
        yard.run("requeue", str(job))
        wait_until(lambda: (yard.dir / "got").exists() and (yard.dir / "got").read_text() == SECRET,
                   "the second attempt has it")
        (yard.dir / "go").touch()
        yard.wait_for(job, "done")
        wait_until(lambda: not holders(yard), lambda: f"{holders(yard)} have it after the end")
        yard.finish()


def test_a_job_that_is_over_needs_another_environment():
    with make_yard() as yard:
        yard.start()
        job = submit(yard, line='printf "%s" "$AWS_SECRET_ACCESS_KEY" > got')
        yard.wait_for(job, "done")
        answer = yard.ask("POST", f"/jobs/{job}/requeue", {})
        expect_equal(answer.status, 409, "without one")
        expect("requeue` sends yours along" in answer.text, answer.text)
        (yard.dir / "got").unlink()
        yard.run("requeue", str(job))
        yard.wait_for(job, "done")
        wait_until(lambda: (yard.dir / "got").exists(), "it ran again")
        expect_equal((yard.dir / "got").read_text(), SECRET, "with the environment of the user")
        wait_until(lambda: not holders(yard), "it is gone")
        yard.finish()


def test_export_names_what_goes_along():
    with make_yard() as yard:
        yard.start()
        for export, expected in (("none", ""), ("OTHER,AWS_*", SECRET), (NAME, SECRET), ("OTHER", "")):
            job = submit(yard, "--export", export, line='printf "%s" "$AWS_SECRET_ACCESS_KEY"')
            yard.wait_for(job, "done")
            expect_equal(yard.logs(job), expected, export)
        yard.finish()


def test_values_of_env_are_shown_on_request():
    with make_yard() as yard:
        yard.start()
        job = submit(yard, "--export", "none", "--env", "LEVEL=7x7", line="exit 0")
        yard.wait_for(job, "done")
        expect_equal(yard.job(job)["spec"]["env"], ["LEVEL"], "by name")
        expect("7x7" not in yard.run("show", "--json", str(job)).stdout, "by name")
        expect_equal(yard.get(f"/jobs/{job}?env=true")["spec"]["env"], {"LEVEL": "7x7"}, "asked for")
        shown = json.loads(yard.run("show", "--json", "--env", str(job)).stdout)
        expect_equal(shown["spec"]["env"], {"LEVEL": "7x7"}, "asked for")
        yard.finish()


def test_the_token_is_in_no_environment():
    with make_yard("--listen", "127.0.0.1:0") as yard:
        yard.start(TRAINYARD_TOKEN=TOKEN)
        yard.environment["TRAINYARD_TOKEN"] = TOKEN
        job = submit(yard)
        wait_until(lambda: (yard.dir / "got").exists(), "it runs")
        expect(yard.conductors(), "no conductor was found")
        pids = [yard.server.pid, *(pid for pid, _ in yard.processes())]
        expect(len(pids) >= 3, f"server, conductor and job: {pids}")
        for pid in pids:
            environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            expect(TOKEN.encode() not in environment, f"process {pid} has it")
        expect_equal(holders(yard, TOKEN), set(), "files with the token")
        (yard.dir / "go").touch()
        yard.wait_for(job, "done")
        yard.finish()


def test_tokens_and_addresses_that_are_not_safe():
    with make_yard() as yard:
        yard.start("--listen", "127.0.0.1:0")  # users may have tokens; whoever has none may nothing
        port = int(re.search(r"port=(\d+)", yard.output()).group(1))
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/api/v1/jobs")
        expect_equal(connection.getresponse().status, 401, "without a token")
        connection.close()
        yard.finish()
        yard.environment["TRAINYARD_TOKEN"] = "fifteen-letters"
        refused = yard.run("serve", "--state", str(yard.state), "--listen", "127.0.0.1:0", check=False)
        expect_equal(refused.returncode, 2, refused.stderr)
        expect("has 15 characters and could be guessed" in refused.stderr, refused.stderr)
        yard.start("--listen", "127.0.0.1:0", TRAINYARD_TOKEN=TOKEN)
        expect("without TLS" not in yard.output(), yard.output())
        yard.finish()
        yard.start("--listen", "0.0.0.0:0", TRAINYARD_TOKEN=TOKEN)
        expect("without TLS" in yard.output(), yard.output())
        yard.finish()


if __name__ == "__main__":
    live.main()
