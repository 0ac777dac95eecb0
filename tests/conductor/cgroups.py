#!/usr/bin/env python3
"""Jobs in cgroups of version 1 and 2: joined before exec, measured, frozen, killed
to the last process; out of memory is seen and named."""
import os
import pathlib
import signal

import lib
from lib import expect, expect_equal, expect_lasts, wait_until

EATER = """#!/usr/bin/python3
import mmap
hold = []
while True:
    block = mmap.mmap(-1, 1 << 20)
    block.write(b"x" * (1 << 20))
    hold.append(block)
"""


def both(bench):
    """Each kind of set that the machine has."""
    kinds = []
    for make in (bench.cgroup_v1, bench.cgroup_v2,
                 lambda: bench.cgroup_v1() + bench.cgroup_v2()):
        try:
            kinds.append(make())
        except lib.Skip as why:
            reason = why
    if not kinds:
        raise reason
    return kinds


def settled(value):
    """A value once it has not changed for a moment: the kernel freezes in its own time."""
    last = [value(), 0]

    def same():
        now = value()
        last[:] = [now, last[1] + 1 if now == last[0] else 0]
        return last[1] == 10
    wait_until(same, what="rest")
    return last[0]


def group_of(groups, controller):
    return pathlib.Path(next(g["path"] for g in groups if f"/{controller}/" in g["path"]))


def test_joined_before_exec(bench):
    for groups in both(bench):
        a = bench.attempt(["cat", "/proc/self/cgroup"], cgroup=groups)
        a.wait()
        mine = a.log().decode()
        for g in groups:
            expect(g["path"].rpartition("/")[2] in mine, g["path"], mine)
        expect(not a.notes(), a.notes())
        conductor = pathlib.Path("/proc/self/cgroup").read_text()
        expect("trainyard-test" not in conductor, "we are in it ourselves")


def test_everything_is_killed(bench):
    for groups in both(bench):
        a = bench.attempt("setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & "
                          "(setsid sleep 1000 &) ; echo up >up; trap '' TERM; sleep 1000",
                          server=bench.server(), cgroup=groups)
        a.file("up")
        a.send("stop", grace_s=0.1, reason="cancel")
        a.wait()
        for g in groups:
            expect_equal(pathlib.Path(g["path"], "cgroup.procs").read_text(), "", g["path"])


def test_process_that_left_its_cgroups_is_killed(bench):
    groups = bench.cgroup_v1()
    a = bench.attempt("for c in /sys/fs/cgroup/*/; do echo $$ 2>/dev/null >$c/cgroup.procs; done;"
                      "setsid sh -c 'echo up >up; sleep 1000' & sleep 1000",
                      server=bench.server(), cgroup=groups)
    a.file("up")
    expect_equal(pathlib.Path(groups[0]["path"], "cgroup.procs").read_text(), "", "procs")
    a.send("stop", grace_s=0, reason="cancel")
    a.wait()


def test_groups_below_are_reached(bench):
    groups = bench.cgroup_v1("freezer")
    below = pathlib.Path(groups[0]["path"], "own")
    a = bench.attempt(f"mkdir {below}; setsid sh -c 'echo 0 >{below}/cgroup.procs; echo up >up;"
                      " exec sleep 1000' & sleep 1000", server=bench.server(), cgroup=groups)
    bench.cgroups.append(below)
    a.file("up")
    a.send("stop", grace_s=0, reason="cancel")
    a.wait()
    expect_equal((below / "cgroup.procs").read_text(), "", "procs")


def test_fork_bomb_within_its_limit(bench):
    groups = bench.cgroup_v1("pids", "freezer")
    (group_of(groups, "pids") / "pids.max").write_text("200")
    a = bench.attempt([bench.program("bomb.py", lib.FORK_BOMB)], server=bench.server(),
                      cgroup=groups)
    current = group_of(groups, "pids") / "pids.current"
    wait_until(lambda: int(current.read_text()) == 200, what="a full group")
    a.send("stop", grace_s=0.1, reason="cancel")
    a.wait()
    expect_equal(int(current.read_text()), 0, "processes")


def test_fork_bomb_without_a_freezer(bench):
    groups = bench.cgroup_v1("pids")
    (group_of(groups, "pids") / "pids.max").write_text("200")
    a = bench.attempt([bench.program("bomb.py", lib.FORK_BOMB)], server=bench.server(),
                      cgroup=groups)
    current = group_of(groups, "pids") / "pids.current"
    wait_until(lambda: int(current.read_text()) == 200, what="a full group")
    a.send("stop", grace_s=0.1, reason="cancel")
    a.wait()
    expect_equal(int(current.read_text()), 0, "processes")


def test_fork_bomb_version_2(bench):
    # Bounded by a pids group of version 1 that the conductor does not know.
    limit = bench.cgroup_v1("pids")[0]["path"]
    pathlib.Path(limit, "pids.max").write_text("200")
    a = bench.attempt([bench.program("bomb.py", lib.FORK_BOMB)], server=bench.server(),
                      cgroup=bench.cgroup_v2(), start=False)
    a.start(inside=limit)
    current = pathlib.Path(limit, "pids.current")
    wait_until(lambda: int(current.read_text()) >= 199, what="a full group")
    a.send("stop", grace_s=0.1, reason="cancel")
    a.wait()


def test_out_of_memory_is_named(bench):
    groups = bench.cgroup_v1("memory")
    (group_of(groups, "memory") / "memory.limit_in_bytes").write_text(str(64 << 20))
    a = bench.attempt([bench.program("eater.py", EATER)], server=bench.server(), cgroup=groups)
    record = a.wait(60)
    expect_equal((record["oom"], record["signal"], record["code"]), (True, 9, 137), "record")
    expect("out of memory" in record["reason"] and "limit of 64 MB" in record["reason"],
           record["reason"])
    expect(b"out of memory" in a.log(), a.log())
    expect(record["usage"]["memory_peak_bytes"] > 50 << 20, record["usage"])


def test_out_of_memory_of_a_child(bench):
    groups = bench.cgroup_v1("memory")
    (group_of(groups, "memory") / "memory.limit_in_bytes").write_text(str(64 << 20))
    eater = bench.program("eater.py", EATER)
    record = bench.attempt(f"{eater}; exit 5", cgroup=groups).wait(60)
    expect_equal((record["oom"], record["code"]), (True, 5), "record")


def test_plain_kill_is_not_called_out_of_memory(bench):
    groups = bench.cgroup_v1("memory")
    record = bench.attempt("kill -9 $$", cgroup=groups).wait()
    expect_equal((record["oom"], record["signal"]), (False, 9), "record")


def test_freeze_and_thaw(bench):
    for groups in both(bench):
        server = bench.server(f"s{len(bench.cgroups)}.sock")
        a = bench.attempt("setsid sh -c 'while :; do echo y >>beat2; sleep 0.01; done' &"
                          "while :; do echo x >>beat; sleep 0.01; done", server=server,
                          cgroup=groups)
        size = lambda: sum((a.dir / f).stat().st_size for f in ("beat", "beat2")
                           if (a.dir / f).exists())
        wait_until(lambda: size() > 20, what="beats")
        expect_equal(a.send("freeze")["type"], "ok", "answer")
        before = settled(size)
        expect_lasts(lambda b=before: size() == b, 0.3, "beats while frozen")
        expect_equal(a.send("thaw")["type"], "ok", "answer")
        wait_until(lambda: size() > before + 20, what="beats after the thaw")
        a.send("freeze")
        a.send("stop", grace_s=0, reason="cancel")
        a.wait()


def test_stop_with_grace_of_a_frozen_job(bench):
    for groups in both(bench):
        server = bench.server(f"s{len(bench.cgroups)}.sock")
        a = bench.attempt("trap 'exit 5' TERM; echo up >up; while :; do sleep 0.01; done",
                          server=server, cgroup=groups)
        a.file("up")
        a.send("freeze")
        a.send("stop", grace_s=600, signal=15, reason="cancel")
        expect_equal(a.wait()["code"], 5, "code")


def test_frozen_by_the_server_itself(bench):
    groups = bench.cgroup_v1("freezer")
    a = bench.attempt("echo up >up; sleep 1000", server=bench.server(), cgroup=groups)
    a.file("up")
    (group_of(groups, "freezer") / "freezer.state").write_text("FROZEN")
    a.send("stop", grace_s=0.1, signal=15, reason="cancel")
    a.wait()


def test_born_into_a_frozen_cgroup(bench):
    """The conductor is not held up by a job that is."""
    groups = bench.cgroup_v1("freezer")
    state = group_of(groups, "freezer") / "freezer.state"
    state.write_text("FROZEN")
    a = bench.attempt("exit 3", server=bench.server(), cgroup=groups)
    a.expect_message("hello")
    expect(not a.messages("started"), "it started")
    state.write_text("THAWED")
    expect_equal(a.wait()["code"], 3, "code")


def test_processes_that_cannot_be_killed(bench):
    """A group above is frozen: nothing in it dies. The record says so."""
    top = pathlib.Path(bench.cgroup_v1("freezer")[0]["path"])
    inner = top / "inner"
    inner.mkdir()
    bench.cgroups.append(inner)
    a = bench.attempt("echo up >up; sleep 1000", server=bench.server(), kill_wait_s=0.5,
                      cgroup=[{"path": str(inner), "procs": "cgroup.procs"}])
    a.file("up")
    (top / "freezer.state").write_text("FROZEN")
    a.send("stop", grace_s=0, reason="cancel")
    record = a.wait()
    expect("cannot be killed" in record["reason"], record["reason"])
    (top / "freezer.state").write_text("THAWED")
    wait_until(lambda: not lib.marked(a.mark), what="the end of the processes")


def burn(seconds):
    return f"python3 -c 'import time\nwhile time.process_time() < {seconds}: pass'"


# Holds 40 MiB until there is a file go.
HOLD = """#!/usr/bin/python3
import os, time
x = bytearray(40 << 20)
open("held", "w").write("yes\\n")
while not os.path.exists("go"):
    time.sleep(0.01)
"""


def run_measured(bench, **options):
    """A job that holds 40 MiB and burns half a second, seen through some samples."""
    hold = bench.program("hold.py", HOLD)
    a = bench.attempt(f"{hold} & {burn(0.5)}; echo burnt >burnt; wait", server=bench.server(),
                      sample_s=0.1, **options)
    a.file("held")
    a.file("burnt")
    seen = len(a.messages("usage"))
    wait_until(lambda: len(a.messages("usage")) >= seen + 5, what="samples")
    (a.dir / "go").touch()
    return a, a.wait()


def test_usage_of_version_1(bench):
    a, record = run_measured(bench, cgroup=bench.cgroup_v1())
    usage = a.messages("usage")
    keys = {"cpu_us", "memory_bytes", "memory_peak_bytes", "block_bytes", "pids",
            "processes", "throttled_us"}
    expect(keys <= set(usage[-1]), usage[-1])
    expect("net_bytes" not in usage[-1], usage[-1])
    expect(max(u["memory_bytes"] for u in usage) > 40 << 20, "memory")
    expect(max(u["pids"] for u in usage) >= 2, "pids")
    expect(450_000 < record["usage"]["cpu_us"] < 1_500_000, record["usage"])
    for name in ("cpu_us", "block_bytes", "memory_peak_bytes"):
        series = [u[name] for u in usage]
        expect(series == sorted(series), f"{name} falls: {series}")


def test_usage_of_version_2(bench):
    a = bench.attempt(burn(0.3), server=bench.server(), cgroup=bench.cgroup_v2(), sample_s=0.1)
    record = a.wait()
    expect(250_000 < record["usage"]["cpu_us"] < 1_000_000, record["usage"])
    expect(record["usage"]["memory_peak_bytes"] > 1 << 20, record["usage"])


def test_usage_without_cgroups(bench):
    a, record = run_measured(bench)
    usage = a.messages("usage")
    expect(max(u["processes"] for u in usage) >= 2, "processes")
    expect(record["usage"]["memory_peak_bytes"] > 40 << 20, record["usage"])
    expect(450_000 < record["usage"]["cpu_us"] < 1_500_000, record["usage"])


# Writes 8 MiB to the disk by itself, as much by a child that it waits for, and then
# tells what the kernel has counted for it and its child until now.
WRITER = """#!/usr/bin/python3
import os, time
def write(name):
    with open(name, "wb") as f:
        f.write(bytes(8 << 20))
        os.fsync(f.fileno())
write("own")
if os.fork() == 0:
    write("child's")
    os._exit(0)
os.wait()
io = dict(line.split(": ") for line in open("/proc/self/io"))
open("counted", "w").write(str(int(io["read_bytes"]) + int(io["write_bytes"])) + "\\n")
while not os.path.exists("go"):
    time.sleep(0.01)
"""


def check_blocks(bench, groups):
    """What a job wrote is seen while it runs, and is in its record."""
    a = bench.attempt([bench.program("writer.py", WRITER)], server=bench.server(), sample_s=0.1,
                      cgroup=groups)
    counted = int(a.file("counted"))
    if counted < 16 << 20:
        raise lib.Skip(f"no block device below {a.dir}")
    a.expect_message("usage", lambda m: m["block_bytes"] >= 16 << 20)
    (a.dir / "go").touch()
    record = a.wait()["usage"]
    series = [u["block_bytes"] for u in a.messages("usage")] + [record["block_bytes"]]
    expect(series == sorted(series), f"it falls: {series}")
    expect(series[-1] < 2 * counted, f"counted twice: {counted}, {series}")
    expect("net_bytes" not in record, record)


def test_blocks_of_a_group(bench):
    """Whether or not this kernel counts them for the group."""
    check_blocks(bench, bench.cgroup_v1("blkio"))


def test_blocks_without_a_group(bench):
    check_blocks(bench, [])


def test_usage_of_a_network_of_its_own(bench):
    if os.geteuid() != 0:
        raise lib.Skip("a network namespace needs root")
    a = bench.attempt(["unshare", "-n", "sleep", "1000"], server=bench.server(), sample_s=0.1)
    a.expect_message("usage", lambda m: m.get("net_bytes") == 0)
    a.send("stop", grace_s=0)
    a.wait()


def test_throttling_is_seen(bench):
    groups = bench.cgroup_v1("cpu", "cpuacct")
    cpu = group_of(groups, "cpu")
    (cpu / "cpu.cfs_period_us").write_text("100000")
    (cpu / "cpu.cfs_quota_us").write_text("2000")
    record = bench.attempt(burn(0.05), cgroup=groups).wait()
    stat = dict(line.split() for line in (cpu / "cpu.stat").read_text().splitlines())
    expect(int(stat["throttled_time"]) > 0, stat)
    expect_equal(record["usage"]["throttled_us"], int(stat["throttled_time"]) // 1000, "throttled")


def test_missing_cgroup_is_said_once(bench):
    groups = bench.cgroup_v1("freezer")
    gone = {"path": "/sys/fs/cgroup/cpu/no-such-group", "procs": "cgroup.procs"}
    a = bench.attempt("exit 3", server=bench.server(), cgroup=[gone] + groups)
    record = a.wait()
    expect_equal(record["code"], 3, "code")
    expect_equal(len(record["warnings"]), 1, record)
    expect("no-such-group" in record["warnings"][0] and "No such file" in record["warnings"][0],
           record)
    expect_equal([m["text"] for m in a.messages("warning")], record["warnings"], "messages")
    expect_equal(a.notes().count("no-such-group"), 1, "conductor.log")


def test_cpuset_of_a_cgroup_is_left_alone(bench):
    groups = bench.cgroup_v1("cpuset")
    group = group_of(groups, "cpuset")
    (group / "cpuset.cpus").write_text("0")
    a = bench.attempt("taskset -cp $$ >cpus; sleep 1000", server=bench.server(), cgroup=groups,
                      cpuset_os="0", grace_s=0)
    expect(a.file("cpus").endswith(" 0"), a.file("cpus"))
    expect_equal(a.send("resize", cpus=1, cpuset_os="0")["type"], "applied", "answer")
    a.send("stop", grace_s=0)
    a.wait()


def test_what_remains_of_a_killed_conductor(bench):
    """The job's processes live on in its cgroup; the lock on the claim is gone. A
    server finds both, and cleans up."""
    groups = bench.cgroup_v1("freezer")
    a = bench.attempt("setsid sleep 1000 & sleep 1000", cgroup=groups)
    a.leader()
    group = group_of(groups, "freezer")
    wait_until(lambda: len((group / "cgroup.procs").read_text().split()) == 3, what="three")
    a.process.send_signal(signal.SIGKILL)
    a.process.wait()
    expect(lib.alive(a.leader()), "the job is gone")
    expect(not (a.dir / "exit.json").exists(), "a record")
    for pid in (group / "cgroup.procs").read_text().split():
        os.kill(int(pid), signal.SIGKILL)
    wait_until(lambda: not (group / "cgroup.procs").read_text(), what="an empty group")


lib.main()
