#!/usr/bin/env python3
"""How jobs start and end, with the real conductor."""
import json
import os
import signal
import time

import lib
from lib import expect, expect_equal, wait_until


def test_exit_status_zero(bench):
    server = bench.server()
    a = bench.attempt("echo hello", server=server)
    record = a.wait()
    expect_equal((record["code"], record["signal"], record["reason"]), (0, 0, ""), "record")
    expect_equal((record["oom"], record["timeout"]), (False, False), "flags")
    expect_equal(a.log(), b"hello\n", "log")
    expect_equal(record["log_bytes"], 6, "log_bytes")
    expect_equal(a.messages("exit"), [record], "the message is the record")
    kinds = [m["type"] for m in a.messages()]
    # One that ends at once says so with its hello.
    expect([k for k in kinds if k != "started"] == ["hello", "exit"], f"messages {kinds}")
    expect(record["started_us"] > 0 and record["started_us"] <= record["at_us"], "it was started")
    hello = a.messages("hello")[0]
    expect_equal((hello["job"], hello["attempt"], hello["token"], hello["pid"]),
                 (a.job, 1, "0123abcd", a.pid), "hello")


def test_exit_status_is_the_jobs_own(bench):
    for code in (1, 3, 77, 255):
        a = bench.attempt(f"exit {code}")
        expect_equal(a.wait()["code"], code, "code")


def test_death_by_a_signal(bench):
    for name in ("SEGV", "KILL", "ABRT", "TERM", "USR1"):
        number = int(signal.Signals["SIG" + name])
        a = bench.attempt(f"kill -{name} $$")
        record = a.wait()
        expect_equal((record["code"], record["signal"]), (128 + number, number), name)
        expect(f"SIG{name}" in record["reason"], record["reason"])


def test_what_the_command_finds(bench):
    script = ("import os,sys,json,signal;json.dump(dict("
              "env=dict(os.environ),cwd=os.getcwd(),stdin=sys.stdin.read(),"
              "tty=[os.isatty(i) for i in (0,1,2)],sid=os.getsid(0),pid=os.getpid(),"
              "pgid=os.getpgid(0),fds=sorted(int(x) for x in os.listdir('/proc/self/fd')),"
              "blocked=[int(s) for s in signal.pthread_sigmask(signal.SIG_BLOCK,[])],"
              "pipe=signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL,"
              "args=sys.argv[1:]),open('seen','w'))")
    server = bench.server()
    a = bench.attempt(["/usr/bin/python3", "-c", script, "one", "", "two words"], server=server,
                      env={"A": "1", "EMPTY": "", "UTF": "äß€"})
    a.wait()
    seen = json.loads((a.dir / "seen").read_text())
    expect_equal({k: v for k, v in seen["env"].items() if k != "LC_CTYPE"}, a.spec["env"], "env")
    expect_equal(seen["args"], ["one", "", "two words"], "arguments")
    expect_equal(seen["cwd"], str(a.dir), "working directory")
    expect_equal(seen["stdin"], "", "stdin")
    expect_equal(seen["tty"], [False] * 3, "tty")
    expect_equal((seen["sid"], seen["pgid"]), (seen["pid"],) * 2, "session and group")
    expect_equal(seen["blocked"], [], "blocked signals")
    expect_equal([f for f in seen["fds"] if f > 3], [], "descriptors")
    expect_equal(a.messages("started")[0]["pid"], seen["pid"], "started.pid")


def test_command_not_found(bench):
    a = bench.attempt(["no-such-program", "x"])
    record = a.wait()
    expect_equal(record["code"], 127, "code")
    expect_equal(record["reason"], "no-such-program: command not found", "reason")
    expect(b"no-such-program: command not found" in a.log(), a.log())
    expect_equal(record["started_us"], 0, "started")
    a = bench.attempt(["/no/such/program"])
    expect_equal(a.wait()["code"], 127, "code of a path")
    expect("/no/such/program" in a.record()["reason"], a.record())


def test_command_not_executable(bench):
    path = bench.tmp / "plain"
    path.write_text("#!/bin/sh\n")
    for command in ([str(path)], [str(bench.tmp)]):
        record = bench.attempt(command).wait()
        expect_equal(record["code"], 126, command)
        expect(command[0] in record["reason"], record["reason"])


def test_script_without_interpreter_line(bench):
    path = bench.program("script", "exit 5\n")
    expect_equal(bench.attempt([path]).wait()["code"], 5, "code")


def test_path_of_the_job_is_searched(bench):
    folder = bench.tmp / "bin"
    folder.mkdir()
    (folder / "only-here").write_text("#!/bin/sh\nexit 9\n")
    (folder / "only-here").chmod(0o755)
    a = bench.attempt(["only-here"], env={"PATH": f"{folder}:/bin"})
    expect_equal(a.wait()["code"], 9, "code")


def test_workdir_missing(bench):
    record = bench.attempt("true", workdir="/no/such/place").wait()
    expect_equal(record["code"], 126, "code")
    expect("/no/such/place" in record["reason"] and "No such file" in record["reason"], record)


def test_detached_processes_end_with_the_job(bench):
    a = bench.attempt("setsid sleep 1000 & (sleep 1000 &) ; nohup setsid sh -c 'sleep 1000' &"
                      "sleep 0.2; echo $$ >leader; exit 4")
    record = a.wait()
    expect_equal(record["code"], 4, "code")
    expect_equal(lib.marked(a.mark), [], "processes")


def test_orphans_are_reaped_while_the_job_runs(bench):
    a = bench.attempt("for i in 1 2 3 4 5 6 7 8; do (true &); done; echo ready >ready; sleep 1000",
                      grace_s=0)
    a.file("ready")

    def zombies():
        return [p for p in os.listdir("/proc") if p.isdigit() and parent_of(p) == a.pid
                and not lib.alive(int(p))]
    wait_until(lambda: not zombies(), what="no zombies")
    os.kill(a.pid, signal.SIGTERM)
    a.wait()


def parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return int(f.read().rpartition(")")[2].split()[1])
    except OSError:
        return None


def test_sigterm_to_the_conductor_stops_the_job(bench):
    a = bench.attempt("trap 'echo saved; exit 6' TERM; echo up >up; while :; do sleep 0.01; done")
    a.file("up")
    os.kill(a.pid, signal.SIGTERM)
    record = a.wait()
    expect_equal(record["code"], 6, "code")
    expect(b"saved" in a.log(), a.log())
    expect_equal(record["stop"], "terminated", "stop")


def test_signals_are_forwarded(bench):
    a = bench.attempt("for s in HUP INT QUIT USR1 USR2; do trap \"echo $s >>got\" $s; done;"
                      "echo up >up; while :; do sleep 0.01; done", grace_s=0)
    a.file("up")
    for name in ("HUP", "INT", "QUIT", "USR1", "USR2"):
        os.kill(a.pid, signal.Signals["SIG" + name])
        wait_until(lambda n=name: (a.dir / "got").exists()
                   and n in (a.dir / "got").read_text().split(), what=name)
    os.kill(a.pid, signal.SIGTERM)
    a.wait()


def test_record_waits_for_the_server(bench):
    server = bench.server(ack=False)
    a = bench.attempt("exit 3", server=server)
    a.expect_message("exit")
    for _ in range(3):
        expect_equal(a.send("limit", time_limit_s=None)["type"], "ok", "it is still there")
    expect_equal(a.record()["code"], 3, "code on disk")
    server.send(a.job, {"type": "ack", "what": "exit"})
    a.wait()


def test_leaves_after_a_while_without_a_server(bench):
    a = bench.attempt("exit 3", linger_s=0.5)
    a.wait()
    expect(time.time() - a.record()["at_us"] / 1e6 > 0.5, "left too early")


def test_the_claim_tells_who_runs(bench):
    a = bench.attempt("sleep 1000", grace_s=0)
    leader = a.leader()
    lines = (a.dir / "claim").read_text().splitlines()
    expect_equal(lines[0], f"{a.pid} {lib.start_time(a.pid)}", "claim")
    expect_equal(lines[1], f"leader {leader} {lib.start_time(leader)}", "leader")
    os.kill(a.pid, signal.SIGTERM)
    a.wait()


def test_exit_record_of_a_long_reason(bench):
    record = bench.attempt(["x" * 200 + "\x01\n\"" + "y" * 20]).wait()
    expect_equal(record["code"], 127, "code")
    expect("\n" not in record["reason"], record["reason"])


lib.main()
