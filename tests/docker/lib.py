"""Container engines of the tests' own, with images that need no registry.

An engine runs in a directory of its own, without a network. The images: `busy` has busybox and
nothing else, `user` the same with an entry point, a user and a directory of its own, `musl` a
program for another C library, `scratch` a static program and nothing else.
"""
import contextlib
import io
import json
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from live import Skip, wait_until

BUSYBOX = shutil.which("busybox") or "/bin/busybox"
APPLETS = ("sh nc echo sleep cat ls env id pwd mkdir seq true false kill touch grep head tail wc dd "
           "stat df date rm test ulimit ps tr printf sync").split()
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    printf("%s %d %s\\n", argv[0], argc, getenv("LD_PRELOAD") ? "preloaded" : "plain");
    return argc > 1 ? atoi(argv[1]) : 0;
}
"""


def conductor_for_images():
    """The usual one, beside the usual library (tools/run-tests): that of the sanitizers' build
    needs libraries that images do not have."""
    library = os.environ.get("TRAINYARD_MALLEABLE")
    return (pathlib.Path(library).parent if library else live.BUILD) / "trainyard-conductor"


class Image:
    """A file system, to be imported."""

    def __init__(self):
        self.bytes = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.bytes, mode="w")
        for name in ("tmp", "dev", "proc", "sys", "etc"):
            self.directory(name, 0o1777 if name == "tmp" else 0o755)

    def directory(self, name, mode=0o755):
        entry = tarfile.TarInfo(name)
        entry.type, entry.mode = tarfile.DIRTYPE, mode
        self.tar.addfile(entry)
        return self

    def file(self, name, content, mode=0o755):
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = len(content), mode
        self.tar.addfile(entry, io.BytesIO(content))
        return self

    def link(self, name, target):
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = tarfile.SYMTYPE, target
        self.tar.addfile(entry)
        return self

    def done(self):
        self.tar.close()
        return self.bytes.getvalue()


def busybox():
    image = Image().directory("bin").file("bin/busybox", pathlib.Path(BUSYBOX).read_bytes())
    for name in APPLETS:
        image.link(f"bin/{name}", "busybox")
    return image.file("etc/passwd", b"root:x:0:0::/:/bin/sh\nann:x:1234:1235::/home/ann:/bin/sh\n",
                      0o644)


def compiled(*command):
    """What the compiler makes of PROGRAM."""
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "program.c")
        source.write_text(PROGRAM)
        subprocess.run([*command, "-o", f"{directory}/program", str(source)], check=True)
        return pathlib.Path(directory, "program").read_bytes()


def musl():
    if not shutil.which("musl-gcc"):
        raise Skip("musl-gcc is not installed")
    loader = next(pathlib.Path("/lib").glob("ld-musl-*.so.1"))
    return (Image().directory("lib").file(f"lib/{loader.name}", loader.read_bytes())
            .file("program", compiled("musl-gcc")))


def scratch():
    return Image().file("program", compiled("gcc", "-static"))


def hostroot():
    """An empty root; the programs of this machine are mounted into it."""
    image = Image().directory("usr").directory("etc/alternatives").file("etc/ld.so.cache", b"", 0o644)
    for name in ("lib", "lib64", "bin", "sbin"):
        image.link(name, f"usr/{name}")
    return image


IMAGES = {
    "hostroot": (hostroot, ["ENV PATH=/usr/bin:/bin"]),
    "busy": (busybox, ["ENV PATH=/bin", "ENV FROM_IMAGE=yes"]),
    "user": (busybox, ["ENV PATH=/bin", "USER ann", "WORKDIR /tmp",
                       'ENTRYPOINT ["/bin/sh", "-c"]', 'CMD ["echo from the image"]']),
    "musl": (musl, ["ENV PATH=/"]),
    "scratch": (scratch, ['ENTRYPOINT ["/program"]']),
}


class Engine:
    """A Docker engine."""

    def __init__(self, *options, path=None):
        """`path`: directory of programs that the engine finds first."""
        self.path = path
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-engine-"))
        self.socket = self.dir / "docker.sock"
        self.address = f"unix://{self.socket}"
        self.namespace = f"trainyard-{secrets.token_hex(8)}"
        self.options = options
        self.within = []  # words before its command
        self.daemon = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *error):
        self.close()

    def start(self, wait=True):
        if not shutil.which("dockerd"):
            raise Skip("dockerd is not installed")
        with open(self.dir / "log", "ab") as log:
            self.daemon = subprocess.Popen(
                [*self.within, "dockerd", "--data-root", f"{self.dir}/data", "--exec-root", f"{self.dir}/exec",
                 "-H", self.address, "-p", f"{self.dir}/pid", "--bridge", "none",
                 "--iptables=false", "--containerd-namespace", self.namespace,
                 "--containerd-plugins-namespace", self.namespace + "-plugins", *self.options],
                env={**os.environ, **({"PATH": f"{self.path}:{os.environ['PATH']}"}
                                      if self.path else {})},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        if wait:
            wait_until(self.answers, "the engine answers", 60)
        return self

    def answers(self):
        if self.daemon.poll() is not None:
            lines = (self.dir / "log").read_text(errors="replace").strip().splitlines()
            raise Skip(f"no engine can run here: {lines[-1] if lines else 'dockerd has ended'}")
        return self.docker("version", check=False).returncode == 0

    def stop(self, number=signal.SIGTERM):
        self.daemon.send_signal(number)
        self.daemon.wait()

    def close(self):
        with contextlib.suppress(Exception):
            left = self.docker("ps", "-aq").stdout.split()
            if left:
                self.docker("rm", "-f", *left)
        if self.daemon and self.daemon.poll() is None:
            self.stop()
        self.end_children()
        shutil.rmtree(self.dir, ignore_errors=True)

    def end_children(self):
        """What the daemon leaves behind when it was killed: its own containerd."""
        with contextlib.suppress(OSError, ValueError):
            pid = int((self.dir / "exec/containerd/containerd.pid").read_text())
            os.kill(pid, signal.SIGKILL)

    # ---- what it has

    def docker(self, *words, check=True, **more):
        return subprocess.run(["docker", "-H", self.address, *words], check=check,
                              capture_output=True, **{"text": True, **more})

    def load(self, *names):
        """Imports images of ours."""
        for name in names:
            make, changes = IMAGES[name]
            words = [word for change in changes for word in ("-c", change)]
            self.docker("import", *words, "-", f"{name}:latest", input=make().done(), text=False)
        return self

    def containers(self):
        return self.docker("ps", "-aq", "--no-trunc").stdout.split()

    def inspect(self, container):
        return json.loads(self.docker("inspect", container).stdout)[0]


class Podman(Engine):
    """Podman's service, which speaks most of the same API. It stands in for itself where systemd
    and the right to raise limits are missing, as in most test machines."""

    def start(self, wait=True):
        if not shutil.which("podman") or not shutil.which("runc"):
            raise Skip("podman or runc is not installed")
        config = self.dir / "containers.conf"
        config.write_text('[containers]\ndefault_ulimits = ["nofile=1024:1024", '
                          '"nproc=4096:4096"]\nnetns = "none"\n')
        with open(self.dir / "log", "ab") as log:
            self.daemon = subprocess.Popen(
                ["podman", "--root", f"{self.dir}/data", "--runroot", f"{self.dir}/run",
                 "--tmpdir", f"{self.dir}/tmp", "--cgroup-manager", "cgroupfs", "--runtime", "runc",
                 "--events-backend", "file", "system", "service", "--time", "0", self.address],
                env={**os.environ, "CONTAINERS_CONF": str(config)}, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True)
        if wait:
            wait_until(self.answers, "podman answers", 60)
        return self

    def end_children(self):
        subprocess.run(["umount", "-q", f"{self.dir}/data/overlay"], capture_output=True)


class Yard(live.Yard):
    """A server with nodes of the engines, d1, d2 and so on."""

    def start(self, *options, **more):
        return super().start(*options, **{"TRAINYARD_CONDUCTOR": str(conductor_for_images()),
                                          **more})

    def attach(self, *engines, **more):
        for n, engine in enumerate(engines, 1):
            self.post("/nodes", {"name": f"d{n}", "docker": engine.address, **more}, 201)
        self.wait_nodes(*(f"d{n}" for n in range(1, len(engines) + 1)))
        return self

    def wait_nodes(self, *names, state="up"):
        for name in names:
            wait_until(lambda name=name: self.get(f"/nodes/{name}")["state"] == state,
                       lambda name=name: f"{name} is {state}: {self.get(f'/nodes/{name}')}")

    def container(self, engine, job):
        """What the engine says of the job's container."""
        def find():
            words = ("ps", "-aq", "--no-trunc", "--filter", f"label=trainyard.job={job}")
            return engine.docker(*words).stdout.split()

        return engine.inspect(wait_until(find, f"job {job} has a container")[0])

    def put(self, image, *command, **fields):
        """Submits a job in a container: a line for its shell, or a program with its arguments."""
        words = ["sh", "-c", command[0]] if len(command) == 1 and isinstance(command[0], str) else (
            list(command[0]) if command else [])
        return self.post("/jobs", {"image": image, **({"command": words} if words else {}),
                                   **fields}, 201)["jobs"][0]["id"]

    def printed(self, image, *command, **fields):
        """What such a job prints; it must succeed."""
        job = self.put(image, *command, **fields)
        self.wait_for(job, "done")
        return self.whole_log(job)

    def whole_log(self, job):
        """The log to its end."""
        return self.get(f"/jobs/{job}/logs?follow=1").text


@contextlib.contextmanager
def yard_on(*engines, options=(), **fields):
    """A server whose nodes these engines are."""
    with Yard(*options) as yard:
        yard.start()
        yield yard.attach(*engines, **fields)
        for engine in engines:
            wait_until(lambda engine=engine: not engine.containers(),
                       lambda engine=engine: f"left: {engine.docker('ps', '-a').stdout}")


ENGINES = []


def engine():
    """The engine that all cases of a file share."""
    if not ENGINES:
        ENGINES.append(Engine().start())
        ENGINES[0].load("busy", "user", "scratch")
    return ENGINES[0]


def main():
    try:
        live.main()
    finally:
        for one in ENGINES:
            one.close()
