"""Several hosts on one machine: each is a network namespace with an engine of its own, which is
reached by TCP. A switch, in a namespace of its own, connects them with each other and with the
server. A cable can be pulled."""
import contextlib
import os
import secrets
import shutil
import signal
import subprocess

import lib
from lib import live
from live import Skip


def ip(*words, check=True):
    return subprocess.run(["ip", *words], check=check, capture_output=True, text=True)


class Network:
    """A switch, and this machine's own connection to it. Use it as a context."""

    def __init__(self):
        self.name = f"ty{secrets.token_hex(2)}"
        self.prefix = f"10.{secrets.randbelow(100) + 100}.{secrets.randbelow(250)}"
        self.hosts = []

    def __enter__(self):
        if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("nsenter"):
            raise Skip("network namespaces need root, ip and nsenter")
        if ip("netns", "add", f"{self.name}s", check=False).returncode:
            raise Skip("no network namespace can be made here")
        try:
            ip("-n", f"{self.name}s", "link", "add", "br0", "type", "bridge")
            ip("-n", f"{self.name}s", "link", "set", "br0", "up")
            self.connect(f"{self.name}r", None, 1)
        except subprocess.CalledProcessError as error:
            self.__exit__()
            raise Skip(f"no bridge can be made here: {error.stderr.strip()}") from error
        return self

    def __exit__(self, *error):
        for host in self.hosts:
            host.close()
        ip("link", "del", f"{self.name}r", check=False)
        ip("netns", "del", f"{self.name}s", check=False)

    def connect(self, link, namespace, number):
        """Gives the namespace, or this one, an address on the switch."""
        switch = f"{self.name}s"
        ip("-n", switch, "link", "add", link, "type", "veth", "peer", "name", f"{link}p")
        ip("-n", switch, "link", "set", link, "netns", namespace or str(os.getpid()))
        ip("-n", switch, "link", "set", f"{link}p", "master", "br0", "up")
        there = ["-n", namespace] if namespace else []
        ip(*there, "addr", "add", f"{self.prefix}.{number}/24", "dev", link)
        ip(*there, "link", "set", link, "up")

    def host(self, *images):
        """Another host, with these images."""
        host = Host(self, len(self.hosts) + 1)
        self.hosts.append(host)
        return host.start().load(*images)


class Host(lib.Engine):
    """An engine in a namespace of its own. Its containers may use the network of that."""

    def __init__(self, network, number):
        self.network, self.number = network, number
        self.ns = f"{network.name}h{number}"
        self.ip = f"{network.prefix}.{number + 1}"
        super().__init__("-H", f"tcp://{self.ip}:2375", "--tls=false")
        ip("netns", "add", self.ns)
        ip("-n", self.ns, "link", "set", "lo", "up")
        network.connect(self.ns, self.ns, number + 1)
        self.remote = f"tcp://{self.ip}:2375"
        self.within = ["nsenter", f"--net=/run/netns/{self.ns}"]

    def cut(self, cut=True):
        """Pulls the cable, or plugs it in again."""
        ip("-n", f"{self.network.name}s", "link", "set", f"{self.ns}p", "down" if cut else "up")

    def hang(self, hang=True):
        """The engine does not answer, but its containers run."""
        self.daemon.send_signal(signal.SIGSTOP if hang else signal.SIGCONT)

    def power_off(self):
        """The host is gone, with all that ran there."""
        self.cut()
        running = self.docker("ps", "-q").stdout.split()
        if running:
            self.docker("kill", *running)
        self.stop(signal.SIGKILL)

    def revive(self):
        """After whatever was done to it."""
        self.cut(False)
        if self.daemon.poll() is None:
            self.hang(False)
        else:
            self.end_children()
            self.start()

    def close(self):
        if self.daemon and self.daemon.poll() is None:
            self.hang(False)
        super().close()
        ip("netns", "del", self.ns, check=False)


class Yard(lib.Yard):
    """A server whose nodes the hosts are, h1, h2 and so on."""

    def attach(self, *hosts, **more):
        for host in hosts:
            self.post("/nodes", {"name": f"h{host.number}", "docker": host.remote, **more}, 201)
        self.wait_nodes(*(f"h{host.number}" for host in hosts))
        return self


SHARED = contextlib.ExitStack()


def shared(count, *images):
    """The first hosts of a network that all cases of a file share, with their cables plugged in."""
    if not hasattr(SHARED, "network"):
        SHARED.network = SHARED.enter_context(Network())
    network = SHARED.network
    while len(network.hosts) < count:
        network.host(*images)
    for host in network.hosts[:count]:
        host.revive()
    return network.hosts[:count]


def main():
    with SHARED:
        lib.main()
