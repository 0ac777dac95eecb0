"""What the tests of jobs that share a node and change their size have in common: jobs
whose learning is scripted, and a look into their control groups."""
import contextlib
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from live import expect, wait_until

LEARNER = str(pathlib.Path(__file__).resolve().parent / "jobs" / "learner.py")
TRAINER = str(live.BUILD / "examples" / "trainer")


class Learner:
    """A job that learns as fast as it is told."""

    def __init__(self, yard, name, slope, **fields):
        self.yard, self.name = yard, name
        self.script = yard.dir / f"{name}.slope"
        self.learn(slope)
        self.id = yard.submit(LEARNER, str(self.script), name=name,
                              **{"cpus": f"0.1-{os.cpu_count()}", **fields})

    def learn(self, slope):
        """From now on the loss falls so much for each CPU second."""
        new = self.script.with_suffix(".new")
        new.write_text(f"{slope}\n")
        new.rename(self.script)

    def end(self):
        self.learn("end")
        return self.yard.wait_for(self.id, "done")

    def lists(self):
        """Those that it was in, as the events say, oldest first."""
        return [e["list"] for e in self.yard.events(self.id, "job.listed")]

    def wait_list(self, *lists):
        """Until it has been in these, and no other, one after the other."""
        wait_until(lambda: self.lists() == list(lists),
                   lambda: f"{self.name} in {lists}, but it was in {self.lists()}")

    def standing(self):
        return " ".join(self.yard.job(self.id)["standing"])

    def weight(self):
        return weight(self.yard, self.id)


def group_value(yard, job, *names, attempt=1):
    """The first of these files that the job's control groups have. Skips without them."""
    if not os.access("/sys/fs/cgroup", os.W_OK):
        raise live.Skip("no control groups")
    for group in yard.cgroups(f"{job}.{attempt}"):
        for name in names:
            with contextlib.suppress(OSError):
                return (group / name).read_text().strip()
    raise live.Failure(f"job {job} has none of {names}")


def weight(yard, job):
    """Of its CPU time, against its neighbours'."""
    return int(group_value(yard, job, "cpu.weight", "cpu.shares"))


def quota(yard, job, attempt=1):
    """CPUs that it may use; None = as many as it likes."""
    text = group_value(yard, job, "cpu.max", "cpu.cfs_quota_us", attempt=attempt).split()
    if text[0] in ("max", "-1"):
        return None
    period = text[1] if len(text) > 1 else group_value(yard, job, "cpu.cfs_period_us",
                                                       attempt=attempt)
    return int(text[0]) / int(period)


def cpuset(yard, job, attempt=1):
    return group_value(yard, job, "cpuset.cpus", attempt=attempt)


def frozen(yard, job, attempt=1):
    return group_value(yard, job, "freezer.state", "cgroup.freeze", attempt=attempt) in (
        "FROZEN", "1")


def policy(yard, name):
    return yard.request("PUT", "/policy", {"policy": name}, 200)


def expect_books(yard, job, cpus):
    """Show, the node's books and the control group agree on the job's size."""
    shown = yard.job(job)
    expect(shown["cpus"] == cpus, f"job {job} has {shown['cpus']} CPUs, not {cpus}")
    wait_until(lambda: quota(yard, job, shown["attempt"]) == cpus,
               lambda: f"a quota of {cpus}, but it is {quota(yard, job, shown['attempt'])}")
    held = sum(j["cpus"] for j in yard.jobs("&active=1"))
    node = yard.get("/nodes")["nodes"][0]
    expect(abs(node["cpus_held"] - held) < 1e-6, f"the node holds {node['cpus_held']}, not {held}")
