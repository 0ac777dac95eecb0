#!/usr/bin/env python3
"""Jobs whose number of threads the conductor changes while they run, by the page that it
shares with them and the real preload library."""
import os
import pathlib
import signal
import struct
import subprocess

import lib
from lib import CONDUCTOR, ROOT, expect, expect_equal, expect_lasts, wait_until

BUILD = pathlib.Path(CONDUCTOR).parent
LIBRARY = str(BUILD / "libtrainyard-malleable.so")
TRAINER = str(BUILD / "examples/trainer")


def environment(**more):
    """Four threads unless ordered otherwise; those that wait leave the cores to others."""
    env = {"OMP_NUM_THREADS": "4", "OMP_WAIT_POLICY": "passive", **more}
    if lib.instrumented():
        asan = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True,
                              text=True, check=True).stdout.strip()
        env["LD_PRELOAD"] = " ".join([*env.get("LD_PRELOAD", "").split(), asan])
        env["ASAN_OPTIONS"] = "verify_asan_link_order=0:detect_leaks=0"
    return env


def trainer(bench, threads=2, **options):
    return bench.attempt([TRAINER, "--steps", "100000000", "--hidden", "16", "--batch", "64"],
                         server=bench.server(), env=environment(), grace_s=5,
                         malleable={"library": LIBRARY, "threads": threads}, **options)


def stop(a):
    expect_equal(a.send("stop", reason="test")["type"], "ok", "stop")
    a.wait()


def page(a):
    """(threads, generation) of the order, and of what was applied."""
    text = (a.dir / "control").read_bytes()
    return struct.unpack_from("<II", text, 64), struct.unpack_from("<II", text, 192)


def obeyed(answer, cpus, threads):
    expect_equal((answer["type"], answer["cpus"], answer["threads"], answer.get("late", False)),
                 ("applied", cpus, threads, False), answer)
    expect(answer["in_us"] >= 0 and answer["regions"] > 0, answer)


def test_a_resize_is_obeyed(bench):
    a = trainer(bench)
    a.expect_message("progress")
    expect_equal(page(a), ((2, 1), (2, 1)), "the first order")
    for cpus, threads in ((1, 1), (4, 4), (0.5, 1), (2.7, 2), (1.99, 1), (16, 4)):
        obeyed(a.send("resize", cpus=cpus), cpus, threads)
    obeyed(a.send("resize", cpus=3, threads=2), 3, 2)
    expect_equal(page(a)[0], page(a)[1], "ordered and applied")
    stop(a)


def test_nothing_to_change_is_answered_at_once(bench):
    a = trainer(bench)
    a.expect_message("progress")
    before = page(a)[0]
    answer = a.send("resize", cpus=2.5)
    obeyed(answer, 2.5, 2)
    expect_equal((answer["in_us"], page(a)[0]), (0, before), "no new order")
    stop(a)


def test_nobody_is_looked_after_without_an_order(bench):
    a = trainer(bench, sample_s=0)
    a.expect_message("progress")
    obeyed(a.send("resize", cpus=1), 1, 1)
    os.kill(a.leader(), signal.SIGSTOP)  # it writes nothing more

    def wakes():
        text = pathlib.Path(f"/proc/{a.pid}/status").read_text()
        return int(text.partition("voluntary_ctxt_switches:")[2].split()[0])

    last = [wakes(), 0]

    def rests():
        last[:] = [wakes(), last[1] + 1 if wakes() == last[0] else 0]
        return last[1] > 5
    wait_until(rests, what="a conductor that sleeps")
    count = wakes()
    expect_lasts(lambda: wakes() == count, 0.3, "it wakes up with nothing to do")
    os.kill(a.leader(), signal.SIGCONT)
    stop(a)


def test_a_job_that_does_not_obey_is_late(bench):
    a = bench.attempt("while :; do sleep 0.1; done", server=bench.server(),
                      malleable={"threads": 2})
    answer = a.send("resize", cpus=1)
    expect_equal((answer["type"], answer["threads"], answer["late"]), ("applied", 0, True), answer)
    expect(answer["in_us"] >= 1000000, answer)
    expect_equal(page(a), ((1, 2), (0, 0)), "the order stands")
    stop(a)


def test_a_job_that_obeys_late_is_heard_of_again(bench):
    a = trainer(bench)
    a.expect_message("progress")
    os.kill(a.leader(), signal.SIGSTOP)
    expect_equal(a.send("resize", cpus=1)["late"], True)
    os.kill(a.leader(), signal.SIGCONT)
    answer = a.expect_message("applied", lambda m: not m.get("late"))
    expect_equal((answer["threads"], answer["cpus"]), (1, 1), answer)
    expect(answer["in_us"] >= 1000000, answer)
    stop(a)


def test_a_newer_resize_replaces_one_that_is_waited_for(bench):
    a = trainer(bench)
    a.expect_message("progress")
    os.kill(a.leader(), signal.SIGSTOP)  # so that it obeys neither yet
    first, second = a.server.next_id(), a.server.next_id()
    a.server.send(a.job, {"type": "resize", "id": first, "cpus": 1})
    a.server.send(a.job, {"type": "resize", "id": second, "cpus": 3})
    answer = a.expect_message("applied", lambda m: m["id"] == first)
    expect_equal((answer["threads"], answer["late"]), (2, True), answer)
    os.kill(a.leader(), signal.SIGCONT)
    answer = a.expect_message("applied", lambda m: m["id"] == second)
    expect(answer.get("late") or answer["threads"] == 3, answer)
    wait_until(lambda: page(a)[1] == (3, 3), what="the newer order")
    stop(a)


def test_the_environment(bench):
    script = 'echo "$TRAINYARD_CONTROL" >path; echo "$LD_PRELOAD" >preload; stat -c %a control'
    own = environment(LD_PRELOAD="")["LD_PRELOAD"]
    a = bench.attempt(f"{script} >mode", env=environment(LD_PRELOAD=LIBRARY),
                      malleable={"library": LIBRARY, "threads": 1})
    a.wait()
    expect_equal(a.file("path"), str(a.dir / "control"))
    expect_equal(a.file("preload"), f"{LIBRARY} {LIBRARY} {own}".strip())
    expect_equal(a.file("mode"), "600")
    a = bench.attempt('echo "$TRAINYARD_CONTROL$LD_PRELOAD" >none')
    a.wait()
    expect_equal(a.file("none"), "", "without malleable")
    expect(not (a.dir / "control").exists(), "a page that nobody asked for")


def test_a_missing_library(bench):
    a = bench.attempt('echo "$TRAINYARD_CONTROL$LD_PRELOAD" >none; while :; do sleep 0.1; done',
                      server=bench.server(), malleable={"library": "/no/such.so", "threads": 1})
    expect_equal(a.file("none"), "")
    expect("its threads do not follow its CPUs: cannot read the library /no/such.so: No such file"
           in a.expect_message("warning")["text"], a.messages("warning"))
    answer = a.send("resize", cpus=1)
    expect_equal((answer["type"], "in_us" in answer), ("applied", False), answer)
    stop(a)


LISTENER = f"""#!/usr/bin/env python3
import os, signal, sys
sys.path.insert(0, {str(ROOT / "python")!r})
from trainyard_page import Page
page = Page(os.environ["TRAINYARD_CONTROL"])
signal.signal(signal.SIGUSR2, lambda *_: page.apply(*page.order()))
page.listen(int(sys.argv[1]) or os.getpid(), signal.SIGUSR2)
open("ready", "w").write("yes\\n")
while True:
    signal.pause()
"""


def test_a_program_that_wants_to_be_told(bench):
    """A pool of its own: no library, a signal after each order."""
    a = bench.attempt([bench.program("listener", LISTENER), "0"], server=bench.server(),
                      malleable={"threads": 2})
    a.file("ready")
    for cpus in (3, 1, 8):
        answer = a.send("resize", cpus=cpus)
        expect_equal((answer["threads"], answer.get("late", False)), (cpus, False), answer)
    stop(a)


def test_only_processes_of_the_job_are_told(bench):
    told = []
    before = signal.signal(signal.SIGUSR2, lambda *_: told.append(True))
    try:
        a = bench.attempt([bench.program("listener", LISTENER), str(os.getpid())],
                          server=bench.server(), malleable={"threads": 2})
        a.file("ready")
        expect_equal(a.send("resize", cpus=1)["late"], True)
        stop(a)
    finally:
        signal.signal(signal.SIGUSR2, before)
    expect_equal(told, [], "signals to a stranger")


def test_a_page_that_the_job_spoils(bench):
    a = bench.attempt(": >control; echo cut >done; while :; do sleep 0.1; done",
                      server=bench.server(), malleable={"threads": 2})
    a.file("done")
    expect_equal(a.send("resize", cpus=1)["late"], True)
    expect_equal(a.send("resize", cpus=2)["late"], True)
    stop(a)


def test_what_cannot_be_ordered(bench):
    a = trainer(bench)
    for bad in ({"cpus": 0}, {"cpus": 1, "threads": 0}, {"cpus": 1, "threads": 1.5},
                {"cpus": 1, "threads": 1 << 40}, {"cpus": 1, "threads": "2"}):
        expect_equal(a.send("resize", **bad)["type"], "error", bad)
    stop(a)


def test_specifications_that_make_no_sense(bench):
    for bad, why in (({"threads": 0}, "malleable.threads must be a whole number from 1"),
                     ({"library": LIBRARY}, "malleable.threads is missing"),
                     ({"threads": 1, "library": "x.so"}, "malleable.library must be an absolute"),
                     ({"threads": 1, "processors": -1}, "malleable.processors must be a whole"),
                     ({"threads": "2"}, "malleable.threads must be a whole number")):
        a = bench.attempt("true", malleable=bad)
        expect_equal(a.process.wait(60), 1, f"exit status with {bad}")
        expect(why in a.record()["reason"], bad, a.record()["reason"])


lib.main()
