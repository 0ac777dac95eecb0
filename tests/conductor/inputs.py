#!/usr/bin/env python3
"""Bad input: the conductor says what is wrong, records it where it can, and runs
nothing that it does not understand."""
import json
import os
import subprocess

import lib
from lib import CONDUCTOR, expect, expect_equal


def refused(bench, text, words, spec=None):
    """A specification that is not accepted; the record says why."""
    a = bench.attempt("echo run >runs", start=False)
    if spec:
        a.spec.update(spec)
        a.spec = {k: v for k, v in a.spec.items() if v != "GONE"}
        text = json.dumps(a.spec)
    path = a.dir / "spec.json"
    path.unlink()
    if isinstance(text, bytes):
        path.write_bytes(text)
    elif text is not None:
        path.write_text(text)
    expect_equal(a.start().wait(20), 1, f"exit status with {text!r:.80}")
    record = a.record()
    expect_equal((record["code"], record["type"]), (125, "exit"), "record")
    expect(words in record["reason"], f"{words!r} is not in {record['reason']!r}")
    expect(words in a.stderr(), a.stderr())
    expect(not (a.dir / "runs").exists(), "it ran")
    expect((a.dir / "claim").exists(), "no claim")


def test_specification_that_is_missing(bench):
    refused(bench, None, "cannot read spec.json: No such file")


def test_specification_that_is_no_json(bench):
    refused(bench, "", "spec.json: line 1")
    refused(bench, "{", "spec.json: line 1")
    refused(bench, '{"job":1,\n"attempt":}', "line 2, column")
    refused(bench, b"\xff\xfe\x00", "spec.json: line 1")
    refused(bench, "[]", "one JSON object")
    refused(bench, '{"job":1,"job":2}', "duplicate")
    refused(bench, "[" * 100000, "spec.json: line 1")
    refused(bench, " " * (5 << 20), "exceeds")


def test_specification_with_bad_fields(bench):
    for field, value, words in (
            ("job", "GONE", "job is missing"), ("job", -1, "job must be"),
            ("job", "1", "job must be"), ("attempt", 1.5, "attempt must be"),
            ("command", "GONE", "command is missing"), ("command", [], "command must be"),
            ("command", "sh", "command must be"), ("command", [""], "command must be"),
            ("command", ["sh", 1], "command[1] must be a string"),
            ("command", None, "command must be a list"),
            ("workdir", "relative", "absolute path"), ("workdir", 5, "workdir must be"),
            ("env", [], "env must be"), ("env", {"A": 1}, "env.A must be"),
            ("env", {"A=B": "1"}, "cannot be a name"), ("env", {"": "1"}, "cannot be"),
            ("socket", "GONE", "socket is missing"), ("socket", "x.sock", "absolute path"),
            ("token", 7, "token must be"), ("cgroup", {}, "cgroup must be"),
            ("cgroup", [{}], "cgroup[0].path is missing"), ("cgroup", [7], "cgroup[0].path"),
            ("cgroup", [{"path": "x"}], "absolute path"),
            ("cgroup", [{"path": "/x", "procs": "../y"}], "name of a file"),
            ("cpus", "2", "cpus must be"), ("cpus", -1, "cpus must be"),
            ("nice", 20, "nice must be"), ("log_max_bytes", 0, "log_max_bytes must be"),
            ("log_keep", 0, "log_keep must be"), ("grace_s", -1, "grace_s must be"),
            ("grace_s", 1e300, "grace_s must be"), ("time_limit_s", "1h", "time_limit_s must be"),
            ("signal", 10, "signal must be an object"),
            ("signal", {"before_s": 3}, "signal.number is missing"),
            ("signal", {"number": 99}, "signal.number must be"),
            ("signal", {"number": 10, "to": "moon"}, "all|group|leader"),
            ("checkpoint_signal", 0, "checkpoint_signal must be"),
            ("progress", {"pattern": 3}, "progress.pattern must be"),
            ("progress", {"total": -3}, "progress.total must be"),
            ("sample_s", True, "sample_s must be")):
        refused(bench, None, words, {field: value})


def test_null_is_the_same_as_absent(bench):
    a = bench.attempt("exit 3", time_limit_s=None, signal=None, checkpoint_signal=None,
                      progress={"pattern": None, "total": None}, cpuset_os=None, name=None,
                      gpus=None)
    expect_equal(a.wait()["code"], 3, "code")
    expect_equal(a.notes(), "", "notes")


def test_all_fields_are_known(bench):
    a = bench.attempt("exit 3", cpuset_os="0", gpus=["GPU-8a5b", "GPU-77c1"], nice=1,
                      log_max_bytes=1000, log_keep=1, time_limit_s=600, checkpoint_signal=10,
                      signal={"number": 10, "before_s": 5}, progress={"pattern": None, "total": 9})
    expect_equal(a.wait()["code"], 3, "code")
    expect_equal(a.notes(), "", "notes")


def test_unknown_fields_are_named(bench):
    a = bench.attempt("exit 3", server=bench.server(), colour="red", shape=[1])
    record = a.wait()
    expect_equal(record["code"], 3, "code")
    expect("colour" in a.notes() and "shape" in a.notes(), a.notes())
    expect("colour" in record["warnings"][0], record)


def test_bad_progress_pattern(bench):
    a = bench.attempt("echo step 3/4; exit 3", server=bench.server(),
                      progress={"pattern": "(?P<step>", "total": 4})
    expect_equal(a.wait()["code"], 3, "code")
    expect("progress pattern" in a.notes(), a.notes())


def test_command_line(bench):
    run = lambda *args: subprocess.run([CONDUCTOR, *args], capture_output=True, text=True,
                                       check=False, timeout=10)
    expect_equal(run("--help").returncode, 0, "--help")
    expect("usage" in run("--help").stdout, "help")
    for args in ((), ("a", "b"), ("--what",)):
        expect_equal(run(*args).returncode, 2, args)
        expect("usage" in run(*args).stderr, args)
    for path in ("/no/such/directory", "/etc/passwd"):
        expect_equal(run(path).returncode, 1, path)
        expect(path in run(path).stderr, run(path).stderr)


def test_directory_that_cannot_be_written(bench):
    if os.geteuid() != 0:
        raise lib.Skip("mounting needs root")
    a = bench.attempt("echo run >/dev/null", start=False)
    bench.mount_tmpfs(a.dir, "64k")
    (a.dir / "spec.json").write_text(json.dumps(a.spec))
    os.system(f"mount -o remount,ro {a.dir}")
    with open(bench.tmp / "err", "wb") as err:
        status = subprocess.run([CONDUCTOR, str(a.dir)], stderr=err, check=False).returncode
    expect_equal(status, 1, "exit status")
    expect("claim" in (bench.tmp / "err").read_text(), (bench.tmp / "err").read_text())


def test_inherited_descriptors_and_signals_do_not_matter(bench):
    a = bench.attempt("ls /proc/self/fd >fds; trap >traps; kill -TERM $$; sleep 5", start=False)
    script = (f"trap '' CHLD PIPE TERM USR1; exec 7</etc/passwd 9>/dev/null; exec 1>&- 0<&-;"
              f"exec {CONDUCTOR} {a.dir} 2>{a.dir}/stderr")
    a.process = subprocess.Popen(["bash", "-c", script], start_new_session=True)
    record = a.wait()
    expect_equal(record["signal"], 15, "SIGTERM is not ignored by the job")
    fds = {int(f) for f in (a.dir / "fds").read_text().split()}
    expect(not {7, 9} & fds, fds)


lib.main()
