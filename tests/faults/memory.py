#!/usr/bin/env python3
"""The machine runs out of memory: the job that exceeds its share dies, and is named."""
import contextlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from cases import Skip, expect, expect_equal, wait_until

HOLD = """import sys, time
keep = [bytearray(b"x" * (1 << 20)) for _ in range(int(sys.argv[1]))]
print("ready", flush=True)
while len(sys.argv) > 2:
    keep.append(bytearray(b"x" * (1 << 20)))
time.sleep(600)
"""


def hold(yard, *words):
    """The command of a job that holds so many MB, and more and more with a second word."""
    script = yard.dir / "hold.py"
    script.write_text(HOLD)
    return [sys.executable, str(script), *words]


def limit_all(yard, mb):
    """All jobs together get as much memory as a small machine has."""
    for base in yard.group_bases():
        for name in ("memory.limit_in_bytes", "memory.max"):
            if (base / name).exists():
                with contextlib.suppress(OSError):  # where there is no swap there is no such file
                    (base / "memory.swap.max").write_text("0")
                (base / name).write_text(str(mb << 20))
                return
    raise Skip("no memory controller")


def score(pid):
    return int(pathlib.Path(f"/proc/{pid}/oom_score_adj").read_text())


def test_the_job_that_exceeds_its_share_dies():
    with live.Yard(cpus=2) as yard:
        yard.start()
        modest = yard.submit(hold(yard, "150"), memory="300m")
        yard.wait_log(modest, "ready")
        limit_all(yard, 400)
        greedy = yard.submit(hold(yard, "10", "more"))
        ended = yard.wait_for(greedy, "failed")
        expect("out of memory: the node had none left" in ended["reason"], ended["reason"])
        expect("MB, its share was" in ended["reason"], ended["reason"])
        expect_equal(yard.job(modest)["state"], "running", "the one within its share")
        yard.sweep()
        yard.finish()


def test_who_is_killed_last():
    with live.Yard(cpus=2) as yard:
        yard.start()
        small = yard.submit(hold(yard, "1"), memory="64m")
        free = yard.submit(hold(yard, "1"), cpus=0.5)
        for job in (small, free):
            yard.wait_log(job, "ready")
        found = {job: next(pid for pid, command in yard.processes("hold.py")
                           if f"/jobs/{job}/".encode()
                           in pathlib.Path(f"/proc/{pid}/environ").read_bytes())
                 for job in (small, free)}
        own = score("self")
        for pid in (yard.server.pid, *yard.conductors()):
            expect(score(pid) <= own, f"process {pid} has {score(pid)}")
            expect(all(score(job) > score(pid) for job in found.values()), "a job is safer than it")
        expect(score(found[free]) > score(found[small]), "who has a limit cannot exceed it")
        yard.sweep()
        yard.finish()


def test_a_default_limit():
    with live.Yard("--default-memory", "64m", cpus=2) as yard:
        yard.start()
        ended = yard.wait_for(yard.submit(hold(yard, "10", "more")), "failed")
        expect("at the limit of 64 MB" in ended["reason"], ended["reason"])
        own = yard.submit(hold(yard, "100"), memory="200m")
        yard.wait_log(own, "ready")
        expect_equal(yard.job(own)["memory_mb"], 200, "its own limit")
        yard.sweep()
        yard.finish()


def test_what_jobs_without_a_limit_use_is_counted():
    with live.Yard("--policy", "fifo", cpus=2) as yard:
        yard.start()
        node = yard.get("/nodes")["nodes"][0]
        expect_equal(node["memory_used_mb"], 0, "at first")
        large = max(64, node["memory_mb"] // 64) + 100
        yard.wait_log(yard.submit(hold(yard, str(large))), "ready")
        wait_until(lambda: yard.get("/nodes")["nodes"][0]["memory_used_mb"] >= large, "it counts")
        waits = yard.submit("exit 0", memory=f"{node['memory_mb'] - 50}m")
        wait_until(lambda: "of memory, and no node has more" in str(yard.get(f"/jobs/{waits}/explain")),
                   "it waits for memory")
        yard.cancel(1)
        yard.wait_for(waits, "done")
        yard.finish()


if __name__ == "__main__":
    live.main()
