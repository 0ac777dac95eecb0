#!/usr/bin/env python3
"""Code that goes to the container without a shared file system.

run-tests: alone
"""
import os
import pathlib
import tempfile

import lib
from lib import live
from live import expect, expect_equal, wait_until


def write(directory, files):
    for name, text in files.items():
        path = pathlib.Path(directory, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def stored(yard):
    return sorted(path.name for path in (yard.dir / "state/uploads").glob("*"))


def run(yard, directory, *words):
    return yard.run("run", "-q", "--upload", directory, *words, cwd="/", check=False)


def test_a_folder_is_its_working_directory():
    """Also for an image whose user is not root; the same content is sent once."""
    with tempfile.TemporaryDirectory(prefix="trainyard-code-") as directory, \
            lib.yard_on(lib.engine()) as yard:
        long = "deep/" * 30 + "file"
        write(directory, {"train": "echo trained; cat data/in; echo x >out\n",
                          "data/in": "input\n", long: "far\n"})
        os.chmod(f"{directory}/train", 0o755)
        for image in ("busy", "user"):
            words = ("sh", "./train") if image == "busy" else ("./train; cat out",)
            result = run(yard, directory, "--image", image, "--", *words)
            expect(result.stdout.startswith("trained\ninput\n"), result)
        expect_equal(run(yard, directory, "--image", "busy", "--", "cat", long).stdout, "far\n")
        expect_equal(len(stored(yard)), 1)
        write(directory, {"train": "echo changed\n"})
        expect_equal(run(yard, directory, "--image", "busy", "--", "sh", "train").stdout,
                     "changed\n")
        expect_equal(len(stored(yard)), 2)
        result = run(yard, directory, "--image", "busy", "--workdir", "/app", "--", "pwd")
        expect_equal(result.stdout, "/app\n")


def listing(yard, directory):
    words = ("sh", "-c", "for f in * */* .[a-z]*; do test -f $f && echo $f; done; true")
    return run(yard, directory, "--image", "busy", "--", *words).stdout.split()


def test_what_is_left_out():
    with tempfile.TemporaryDirectory(prefix="trainyard-code-") as directory, \
            lib.yard_on(lib.engine()) as yard:
        write(directory, {"a.py": "", "b.pyc": "", "data/big": "", "src/c.py": "", "src/gen": "",
                          "__pycache__/c": "", ".git/config": "", "logs/keep": "", "logs/drop": "",
                          ".gitignore": "*.pyc\n# no\n/data/\nlogs/*\n!logs/keep\n",
                          "src/.gitignore": "gen\n"})
        expect_equal(sorted(listing(yard, directory)),
                     [".gitignore", "a.py", "logs/keep", "src/c.py"])
        write(directory, {".dockerignore": "data\n**/*.pyc\nlogs\n!logs/keep\n.*\n"})
        expect_equal(sorted(listing(yard, directory)),
                     ["a.py", "logs/keep", "src/c.py", "src/gen"])


def test_what_cannot_be_uploaded():
    with tempfile.TemporaryDirectory(prefix="trainyard-code-") as directory, \
            lib.yard_on(lib.engine()) as yard:
        for words, text in ((("--image", "busy"), "has no files"), ((), "requires an image")):
            result = run(yard, directory, *words, "--", "true")
            expect(result.returncode and text in result.stderr, result)
        result = run(yard, f"{directory}/none", "--image", "busy", "--", "true")
        expect("No such file" in result.stderr, result)
        with open(f"{directory}/huge", "wb") as file:
            file.truncate(3 << 30)
        result = run(yard, directory, "--image", "busy", "--", "true")
        expect("more than 1024 MB" in result.stderr and ".dockerignore" in result.stderr, result)
        digest = "0" * 64
        answer = yard.ask("POST", "/jobs", {"image": "busy", "command": ["x"], "upload": digest})
        expect_equal((answer.status, answer.json["field"]), (400, "upload"))
        answer = yard.ask("PUT", f"/uploads/{digest}?last=1", b"bytes")
        expect_equal(answer.status, 400)
        expect("277089d91c0bdf4f2e6862ba7e4a07605119431f5d13f726dd352b06f1b206a9" in
               answer.json["detail"], answer.json)
        expect_equal(stored(yard), [])
        answer = yard.ask("PUT", f"/uploads/{digest}?offset=7", b"bytes")
        expect_equal(answer.status, 409)


def test_a_large_one_in_parts():
    """Larger than a request may be; a job that is requeued finds it again."""
    with tempfile.TemporaryDirectory(prefix="trainyard-code-") as directory, \
            lib.yard_on(lib.engine()) as yard:
        with open(f"{directory}/large", "wb") as file:
            for _ in range(20):
                file.write(os.urandom(1 << 20))
        words = ("--image", "busy", "--", "wc", "-c", "large")
        expect_equal(run(yard, directory, *words).stdout.split()[0], str(20 << 20))
        yard.kill()
        yard.start()
        yard.wait_nodes("d1")
        yard.post("/jobs/1/requeue", {})
        wait_until(lambda: yard.job(1)["attempt"] == 2 and yard.job(1)["state"] == "done",
                   lambda: yard.job(1))


if __name__ == "__main__":
    lib.main()
