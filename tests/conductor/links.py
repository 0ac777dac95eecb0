#!/usr/bin/env python3
"""The connection to the server: lost, refused, full of garbage, never read; and
who may run an attempt."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import lib
from lib import expect, expect_equal, wait_until

PEER = pathlib.Path(__file__).parent / "lib" / "peer.py"

# Says "step I/N loss=X" every some milliseconds.
TRAINER = """#!/usr/bin/python3
import sys, time
n, pause = int(sys.argv[1]), float(sys.argv[2])
for i in range(1, n + 1):
    print(f"step {i}/{n} loss={1 / i:.6f}", flush=True)
    time.sleep(pause)
"""


def trainer(bench, steps, pause, **options):
    program = bench.program("trainer.py", TRAINER)
    return bench.attempt([program, str(steps), str(pause)], **options)


def test_progress_is_paced_and_the_last_is_sent(bench):
    a = trainer(bench, 400, 0.002, server=bench.server())
    a.wait()
    got = a.messages("progress")
    expect_equal([m["seq"] for m in got], list(range(1, len(got) + 1)), "numbers")
    expect_equal((got[-1]["step"], got[-1]["total"]), (400, 400), "the last")
    expect_equal((got[-1]["metric"], got[-1]["value"]), ("loss", got[-1]["loss"]), "metric")
    steps = [m["step"] for m in got]
    expect_equal(steps, sorted(set(steps)), "order")
    span = (got[-1]["at_us"] - got[0]["at_us"]) / 1e6
    expect(5 <= len(got) <= span * 10 + 3, f"{len(got)} in {span:.2f} s")


def test_progress_file(bench):
    a = bench.attempt("for i in 1 2 3; do echo \"{\\\"step\\\": $i, \\\"total\\\": 3}\""
                      " >>$TRAINYARD_PROGRESS; while ! [ -e go$i ]; do sleep 0.01; done; done",
                      server=bench.server())
    for i in (1, 2, 3):
        got = a.expect_message("progress", lambda m, i=i: m["step"] == i)
        expect_equal((got["total"], got["source"]), (3, "file"), "progress")
        (a.dir / f"go{i}").touch()
    a.wait()


def awaiting(bench, server):
    """An attempt that has asked for its lease, and the question."""
    a = bench.attempt("echo ran; sleep 600", server=server, lease_s=60, await_lease=True)
    return a, a.expect_message("lease")


def test_a_command_that_waits_for_its_lease(bench):
    a, question = awaiting(bench, bench.server())
    expect_equal(a.messages("started"), [], "nothing runs before the lease is granted")
    a.send("lease", asked_us=question["asked_us"], lease_s=60)
    a.expect_message("started")
    wait_until(lambda: b"ran" in a.log(), what="its output")
    a.send("stop", reason="cancel", grace_s=5)
    a.wait()
    expect_equal(a.record()["stop"], "cancel", "record")


def test_a_command_that_is_stopped_before_its_lease(bench):
    a, _ = awaiting(bench, bench.server())
    a.send("stop", reason="cancel", grace_s=5)
    a.wait()
    expect_equal((a.record()["code"], a.record()["stop"]), (125, "cancel"), "record")
    expect_equal(a.messages("started"), [], "it never ran")
    b, _ = awaiting(bench, bench.server("other.sock"))
    b.process.send_signal(signal.SIGTERM)
    b.wait()
    expect_equal(b.messages("started"), [], "it never ran")


def test_server_killed_at_random_moments(bench):
    """Nothing is lost or comes twice, whenever the server dies."""
    path, store = bench.tmp / "peer.sock", bench.tmp / "heard"
    peer = None

    def start():
        path.unlink(missing_ok=True)
        started = subprocess.Popen([sys.executable, str(PEER), str(path), str(store)])
        wait_until(path.exists, what="a server")
        return started

    a = trainer(bench, 1500, 0.004, socket=str(path), linger_s=60)
    rng, deaths = bench.random, 0
    try:
        while a.process.poll() is None:
            peer = start()
            life = time.monotonic() + rng.random() * 0.35
            while time.monotonic() < life and a.process.poll() is None:
                time.sleep(0.002)
            if a.process.poll() is None:
                peer.send_signal(signal.SIGKILL)
                peer.wait()
                deaths += 1
    finally:
        peer.kill()
        peer.wait()
    a.wait()
    heard = []
    for line in store.read_bytes().split(b"\n"):
        try:
            heard.append(json.loads(line))
        except ValueError:
            pass  # cut by the kill; the server never said that it had it
    progress = [m for m in heard if m["type"] == "progress"]
    numbers = [m["seq"] for m in progress]
    expect(deaths > 5, f"{deaths} deaths")
    expect_equal(numbers, list(range(1, len(numbers) + 1)), f"numbers over {deaths} deaths")
    steps = [m["step"] for m in progress]
    expect(steps == sorted(set(steps)), "order")
    expect_equal(steps[-1], 1500, "the last")
    expect_equal(heard[-1]["type"], "exit", "the last message")
    expect_equal(len({json.dumps(m, sort_keys=True) for m in heard if m["type"] == "exit"}), 1,
                 "different records")
    expect_equal(a.log().count(b"\n"), 1500, "log")


def test_one_attempt_after_another(bench):
    """A conductor that is asked to stay runs the next attempt, from its own directory."""
    server = bench.server("stay.sock", ack=False)
    first = bench.attempt("echo one", server=server)
    second = bench.attempt("echo two; exit 3", server=server, start=False)
    wait_until(lambda: server.messages(first.job, "exit"), what="the first end")
    server.send(first.job, {"type": "ack", "what": "exit", "stay": True})
    server.send(first.job, {"type": "next", "directory": str(second.dir)})
    wait_until(lambda: server.messages(second.job, "exit"), what="the second end")
    expect_equal(server.messages(second.job, "hello")[0]["pid"], first.pid, "the same conductor")
    expect_equal(server.messages(second.job, "exit")[0]["code"], 3, "its own command")
    expect_equal(((first.dir / "log").read_text(), (second.dir / "log").read_text()),
                 ("one\n", "two\n"), "logs")
    command = pathlib.Path(f"/proc/{first.pid}/cmdline").read_bytes()
    expect(str(second.dir).encode() in command, f"ps shows {command}")
    server.send(second.job, {"type": "ack", "what": "exit"})
    expect_equal(first.process.wait(20), 0, "it leaves when it is not asked to stay")


def test_idle_conductors_end_with_the_server(bench):
    server = bench.server("gone.sock", ack=False)
    a = bench.attempt("true", server=server)
    wait_until(lambda: server.messages(a.job, "exit"), what="the end")
    server.send(a.job, {"type": "ack", "what": "exit", "stay": True})
    server.close()
    expect_equal(a.process.wait(20), 0, "it leaves")


def test_server_that_never_reads(bench):
    """The job goes on; when the server reads again it hears the newest."""
    path = bench.tmp / "deaf.sock"
    listener = socket.socket(socket.AF_UNIX)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    listener.bind(str(path))
    listener.listen(1)
    # Enough usage messages to fill the socket, and progress that waits behind them.
    a = trainer(bench, 300, 0.005, socket=str(path), sample_s=0.0002, linger_s=60)
    connection, _ = listener.accept()
    connection.sendall(b'{"type":"welcome","seq":0}\n')
    wait_until(lambda: (a.dir / "exit.json").exists(), what="the end of the job")
    size = int(pathlib.Path(f"/proc/{a.pid}/statm").read_text().split()[1]) * 4096
    expect(size < 4 << 20 or lib.instrumented(), f"{size} bytes resident")
    heard = b""
    while b'"type":"exit"' not in heard:
        heard += connection.recv(65536)
    connection.sendall(b'{"type":"ack","what":"exit"}\n')
    a.wait()
    messages = [json.loads(m) for m in heard.splitlines()]
    progress = [m for m in messages if m["type"] == "progress"]
    expect_equal(progress[-1]["step"], 300, "the newest")
    expect_equal([m["seq"] for m in progress], list(range(1, len(progress) + 1)), "numbers")
    connection.close()
    listener.close()


def test_long_absence_leaves_a_coarser_curve(bench):
    a = trainer(bench, 200, 0.1, socket=str(bench.tmp / "late.sock"), linger_s=60)
    wait_until(lambda: a.log().count(b"\n") > 180, what="most of the job")
    a.server = bench.server("late.sock")
    a.wait()
    steps = [m["step"] for m in a.messages("progress")]
    numbers = [m["seq"] for m in a.messages("progress")]
    expect_equal(numbers, list(range(1, len(numbers) + 1)), "numbers")
    gaps = [b - x for x, b in zip([0] + steps, steps)]
    expect(len(steps) >= 40 and max(gaps) <= 25, f"{len(steps)} steps, gaps {gaps}")
    expect_equal(steps[-1], 200, "the last")


def test_socket_that_appears_is_seen_at_once(bench):
    # A server that hangs up without a welcome is tried every two seconds in the end:
    # twenty of them would take most of a minute if their appearance were not seen.
    path = bench.tmp / "late.sock"
    a = bench.attempt("sleep 1000", socket=str(path), grace_s=0, linger_s=60)
    a.leader()
    end = time.monotonic() + 20
    for _ in range(20):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(bench.tmp / "new.sock"))
            listener.listen(1)
            listener.settimeout(max(0.1, end - time.monotonic()))
            (bench.tmp / "new.sock").rename(path)
            try:
                listener.accept()[0].close()
            except TimeoutError:
                raise lib.Failure("the socket is found by the timer only") from None
            path.unlink()
    a.server = bench.server("late.sock")
    a.send("stop", grace_s=0)
    a.wait()


def test_path_too_long_for_an_address(bench):
    folder = bench.tmp / ("d" * 120)
    folder.mkdir()
    short = bench.tmp / "s.sock"
    server = bench.server("s.sock")
    short.rename(folder / "conductor.sock")
    a = bench.attempt("exit 2", server=server, socket=str(folder / "conductor.sock"))
    expect_equal(a.wait()["code"], 2, "code")
    expect(a.messages("hello"), "no hello")


def test_refused_keeps_the_job_and_tries_again(bench):
    answers = iter([{"type": "refused", "text": "not mine"}] * 2)
    server = bench.server(welcome=lambda hello, newest: next(
        answers, {"type": "welcome", "seq": newest}))
    a = bench.attempt("sleep 1; exit 2", server=server)
    expect_equal(a.wait()["code"], 2, "code")
    expect_equal(len(a.messages("hello")), 3, "hellos")
    expect("not mine" in a.notes(), a.notes())


def garbage(bench, what):
    answers = iter([what] * 2)
    server = bench.server(welcome=lambda hello, newest: next(
        answers, {"type": "welcome", "seq": newest}))
    a = bench.attempt("sleep 0.6; exit 2", server=server)
    expect_equal(a.wait()["code"], 2, "code")
    expect_equal(len(a.messages("hello")), 3, f"hellos after {what[:30]!r}")


def test_garbage_from_the_server(bench):
    garbage(bench, b"not json\n")
    garbage(bench, b"[1,2,3]\n")
    garbage(bench, b'{"no":"type"}\n')
    garbage(bench, b"\x00\xff\xfe\n")
    garbage(bench, b'{"type":"stop","id":1}\n')  # before the welcome
    garbage(bench, b"[" * 5000 + b"\n")


def test_oversized_line_from_the_server(bench):
    garbage(bench, b'{"type":"welcome","x":"' + b"y" * 70000 + b'"}\n')
    garbage(bench, b"z" * 70000)


def test_line_in_pieces(bench):
    server = bench.server()
    a = bench.attempt("sleep 1000", server=server, grace_s=0)
    a.expect_message("started")
    for byte in b'{"type":"signal","id":77,"number":18}\n':
        server.send(a.job, bytes([byte]))
    a.expect_message("ok", lambda m: m["id"] == 77)
    a.send("stop", grace_s=0)
    a.wait()


def test_many_commands_at_once(bench):
    """More than it can hold answers for: none is lost, all are in order."""
    server = bench.server()
    a = bench.attempt("sleep 1000", server=server, grace_s=0)
    a.expect_message("started")
    line = "".join(json.dumps({"type": "signal", "id": i, "number": 18}) + "\n"
                   for i in range(1000, 3000))
    server.send(a.job, line.encode())
    wait_until(lambda: len(a.messages("ok")) == 2000, what="all answers")
    expect_equal([m["id"] for m in a.messages("ok")], list(range(1000, 3000)), "order")
    a.send("stop", grace_s=0)
    a.wait()


def test_commands_that_make_no_sense(bench):
    server = bench.server()
    a = bench.attempt("sleep 1000", server=server, grace_s=0)
    a.expect_message("started")
    for kind, fields in (("dance", {}), ("signal", {}), ("signal", {"number": "9"}),
                         ("stop", {"grace_s": -1}), ("stop", {"grace_s": "soon"}),
                         ("stop", {"signal": 0}), ("stop", {"to": "nobody"}),
                         ("stop", {"reason": "x" * 1000}), ("resize", {}),
                         ("resize", {"cpus": -1}), ("limit", {"time_limit_s": "1"})):
        answer = a.send(kind, **fields)
        expect(answer["type"] == "error" and answer["text"], f"{kind} {fields}: {answer}")
    expect(lib.alive(a.leader()), "the job is gone")
    a.send("stop", grace_s=0)
    a.wait()


def race(bench, others):
    """Two conductors, and others, for one attempt."""
    a = bench.attempt("echo run >>runs; sleep 0.05", start=False)
    racers = [a.start() for _ in range(2)]
    others(a)
    statuses = sorted(r.wait(20) for r in racers)
    runs = (a.dir / "runs").read_text() if (a.dir / "runs").exists() else ""
    return statuses, runs, a


def test_two_conductors_one_claim(bench):
    for _ in range(40):
        statuses, runs, a = race(bench, lambda a: None)
        expect_equal((statuses, runs), ([0, 3], "run\n"), "race")
        expect_equal([p.name for p in a.dir.glob("claim*")], ["claim"], "claims")


def void(a):
    """As a server gives an attempt up."""
    try:
        os.close(os.open(a.dir / "claim", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        (a.dir / "claim").write_text("void\n")
        return True
    except FileExistsError:
        return False


def test_void_claim(bench):
    a = bench.attempt("echo run >>runs", start=False)
    expect(void(a), "claim")
    expect_equal(a.start().wait(20), 3, "exit status")
    expect(not (a.dir / "runs").exists(), "it ran")
    expect(not (a.dir / "exit.json").exists(), "it recorded")
    expect_equal((a.dir / "claim").read_text(), "void\n", "claim")
    expect("claimed by another" in a.stderr(), a.stderr())


def test_race_with_a_server_that_gives_up(bench):
    outcomes = set()
    for i in range(60):
        won = []

        def give_up(a):
            end = time.monotonic() + i * 0.0001
            while time.monotonic() < end:
                pass
            won.append(void(a))

        statuses, runs, _ = race(bench, give_up)
        outcomes.add(won[0])
        expect_equal((statuses, runs), ([3, 3], "") if won[0] else ([0, 3], "run\n"), "race")
    print(f"# the server won: {sorted(outcomes)}")


def test_idle_job_causes_no_wake_ups(bench):
    server = bench.server()
    a = bench.attempt(["sleep", "1000"], server=server, grace_s=0, sample_s=0)
    a.expect_message("started")

    def switches():
        text = pathlib.Path(f"/proc/{a.pid}/status").read_text()
        return sum(int(line.split()[1]) for line in text.splitlines() if "ctxt_switches" in line)

    last = [switches(), time.monotonic()]

    def idle():
        if switches() != last[0]:
            last[:] = [switches(), time.monotonic()]
        return time.monotonic() - last[1] > 2.5
    wait_until(idle, what="two seconds and a half without a wake-up")
    a.send("stop", grace_s=0)
    a.wait()


lib.main()
