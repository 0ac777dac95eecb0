"""What one case works with."""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile

from .attempt import Attempt, marked
from cases import Skip, wait_until
from .server import Server

V1 = ("cpu", "cpuacct", "memory", "freezer", "pids", "cpuset", "blkio")


class Bench:
    """What one case works with; knows what it has to leave behind: nothing."""

    def __init__(self):
        self.tmp = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-conductor."))
        self.nowhere = self.tmp / "nobody.sock"
        self.attempts = []
        self.servers = []
        self.cgroups = []
        self.mounts = []
        self.random = random.Random(1)

    def server(self, name="conductor.sock", **options):
        self.servers.append(Server(self.tmp / name, **options))
        return self.servers[-1]

    def attempt(self, command, **options):
        return Attempt(self, command, **options)

    def program(self, name, text):
        path = self.tmp / name
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def cgroup_v1(self, *controllers):
        """A group for each controller, as a specification lists them."""
        if os.geteuid() != 0:
            raise Skip("cgroups need root")
        groups = []
        for controller in controllers or V1:
            top = pathlib.Path("/sys/fs/cgroup") / controller
            if not (top / "tasks").exists():
                raise Skip(f"no cgroup of version 1 for {controller}")
            path = top / f"trainyard-test.{os.getpid()}.{len(self.cgroups)}"
            path.mkdir()
            self.cgroups.append(path)
            if controller == "cpuset":
                for file in ("cpuset.cpus", "cpuset.mems"):
                    (path / file).write_text((top / file).read_text())
            groups.append({"path": str(path), "procs": "cgroup.procs"})
        return groups

    def cgroup_v2(self):
        if os.geteuid() != 0:
            raise Skip("cgroups need root")
        for top in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
            if (pathlib.Path(top) / "cgroup.controllers").exists():
                path = pathlib.Path(top) / f"trainyard-test.{os.getpid()}.{len(self.cgroups)}"
                path.mkdir()
                self.cgroups.append(path)
                return [{"path": str(path), "procs": "cgroup.procs"}]
        raise Skip("no cgroup of version 2")

    def mount_tmpfs(self, path, size):
        if os.geteuid() != 0:
            raise Skip("mounting needs root")
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)],
                          check=False).returncode:
            raise Skip("cannot mount a tmpfs")
        self.mounts.append(path)

    def left_behind(self):
        left = []
        for a in self.attempts:
            left += [f"process {p} of job {a.job}" for p in marked(a.mark)]
            if a.process and a.process.poll() is None:
                left.append(f"conductor {a.pid} of job {a.job}")
        for group in self.cgroups:
            procs = (group / "cgroup.procs").read_text().split()
            left += [f"process {p} in {group}" for p in procs]
        return left

    def clean(self):
        for server in self.servers:
            if not server.stopping:
                server.close()
        for a in self.attempts:
            if a.process and a.process.poll() is None:
                a.process.kill()
                a.process.wait()
            for pid in marked(a.mark):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        for group in reversed(self.cgroups):
            wait_until(lambda g=group: self.remove_cgroup(g), what=f"the end of {group}")
        for path in self.mounts:
            subprocess.run(["umount", str(path)], check=True)
        shutil.rmtree(self.tmp)

    @staticmethod
    def remove_cgroup(group):
        with contextlib.suppress(OSError):
            (group / "freezer.state").write_text("THAWED")
        for below in sorted(group.rglob("*"), reverse=True):
            if below.is_dir():
                Bench.remove_cgroup(below)
        for pid in (group / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)
        try:
            group.rmdir()
        except OSError:
            return False
        return True
