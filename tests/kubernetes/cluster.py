"""A real Kubernetes of the tests' own: control plane and kubelets on this machine.

Each node is a network namespace with a container engine and a kubelet. A bridge in a namespace of
its own connects them with the control plane, which listens on the address of a veth pair only. The
programs are those that tools/kubernetes-lab has built. Everything is below one temporary directory,
and close() ends and removes all of it.
"""
import base64
import contextlib
import json
import os
import pathlib
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from live import Skip, wait_until

PAUSE = "#include <unistd.h>\nint main(void) { for (;;) pause(); }\n"
# No CAP_SYS_RESOURCE: containers cannot have a better score than we have.
RUNC = r"""#!/bin/sh
previous=
for word; do
    [ "$previous" = --bundle ] && bundle=$word
    previous=$word
done
[ -n "$bundle" ] && sed -i 's/"oomScoreAdj":-\{0,1\}[0-9]*/"oomScoreAdj":0/' "$bundle/config.json"
exec runc "$@"
"""


def programs():
    """The directory of the programs."""
    found = subprocess.run([ROOT / "tools/kubernetes-lab", "--check"], capture_output=True,
                           text=True, check=False)
    if found.returncode:
        raise Skip("no Kubernetes is built; run: make kubernetes-lab")
    return pathlib.Path(found.stdout.strip())


def run(*words, check=True, **more):
    return subprocess.run([str(w) for w in words], check=check, capture_output=True,
                          **{"text": True, **more})


def free_port(address):
    with socket.socket() as s:
        s.bind((address, 0))
        return s.getsockname()[1]


class Processes:
    """Programs in the background, ended in the opposite order."""

    def __init__(self, directory):
        self.dir = directory
        self.all = {}

    def start(self, name, *words, **more):
        with open(self.dir / f"{name}.log", "ab") as log:
            self.all[name] = subprocess.Popen([str(w) for w in words], stdin=subprocess.DEVNULL,
                                              stdout=log, stderr=log, start_new_session=True,
                                              **more)
        return self.all[name]

    def stop(self, name, number=signal.SIGTERM):
        process = self.all.pop(name, None)
        if not process or process.poll() is not None:
            return
        process.send_signal(number)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def last_lines(self, name, n=3):
        lines = (self.dir / f"{name}.log").read_text(errors="replace").splitlines()
        return " | ".join(lines[-n:])

    def close(self):
        for name in reversed(list(self.all)):
            self.stop(name)


class Node:
    """A kubelet with a container engine, in a network namespace."""

    def __init__(self, cluster, number):
        self.cluster = cluster
        self.name = f"n{number}"
        self.number = number
        self.address = f"{cluster.network}.{10 + number}"
        self.space = f"{cluster.id}-{self.name}"
        self.dir = cluster.dir / self.name
        self.socket = self.dir / "docker.sock"
        self.cgroup = f"/{cluster.id}/{self.name}"

    def start(self):
        self.dir.mkdir()
        self.cluster.connect(self.space, self.address)
        run("ip", "-n", self.space, "route", "add", "unreachable", "169.254.0.0/16", check=False)
        for hierarchy in pathlib.Path("/sys/fs/cgroup").iterdir():
            if hierarchy.is_dir() and not hierarchy.is_symlink():
                pathlib.Path(f"{hierarchy}{self.cgroup}").mkdir(parents=True, exist_ok=True)
        self.start_engine()
        return self

    def inside(self, *words):
        return ("nsenter", f"--net=/run/netns/{self.space}", *words)

    def start_engine(self):
        namespace = f"{self.cluster.id}-{self.name}"
        self.cluster.processes.start(
            f"{self.name}-engine", *self.inside(
                "dockerd", "--data-root", self.dir / "data", "--exec-root", self.dir / "exec", "-H",
                f"unix://{self.socket}", "-p", self.dir / "pid", "--iptables=false",
                "--ip-masq=false", "--bip", f"172.29.{self.number}.1/24",
                "--containerd-namespace", namespace,
                "--containerd-plugins-namespace", f"{namespace}-p", "--add-runtime",
                f"lab={self.cluster.runc}", "--default-runtime", "lab"))

    def docker(self, *words, **more):
        return run("docker", "-H", f"unix://{self.socket}", *words, **more)

    def load(self):
        """The images that pods need."""
        wait_until(lambda: self.docker("version", check=False).returncode == 0,
                   lambda: f"engine of {self.name}: "
                   + self.cluster.processes.last_lines(f"{self.name}-engine"), 120)
        self.docker("import", "-c", 'ENTRYPOINT ["/pause"]', "-", "pause:lab",
                    input=self.cluster.pause, text=False)
        self.docker("load", "-i", self.cluster.image)
        for name, (content, changes) in self.cluster.images.items():
            words = [word for change in changes for word in ("-c", change)]
            self.docker("import", *words, "-", name, input=content, text=False)

    def start_kubelet(self):
        config = self.dir / "kubelet.yaml"
        config.write_text(textwrap.dedent(f"""\
            kind: KubeletConfiguration
            apiVersion: kubelet.config.k8s.io/v1beta1
            address: {self.address}
            healthzBindAddress: {self.address}
            authentication: {{anonymous: {{enabled: true}}, webhook: {{enabled: false}}}}
            authorization: {{mode: AlwaysAllow}}
            cgroupDriver: cgroupfs
            cgroupRoot: {self.cgroup}
            failSwapOn: false
            evictionHard: {{memory.available: "50Mi"}}
            imageGCHighThresholdPercent: 100
            nodeStatusUpdateFrequency: 4s
            syncFrequency: 5s
            serializeImagePulls: false
            """))
        self.cluster.processes.start(
            f"{self.name}-kubelet", *self.inside(
                self.cluster.bin / "kubelet", "--config", config, "--kubeconfig",
                self.cluster.kubeconfig_for(f"system:node:{self.name}"), "--hostname-override",
                self.name, "--node-ip", self.address, "--root-dir", self.dir / "kubelet",
                "--cert-dir", self.dir / "pki", "--docker-endpoint", f"unix://{self.socket}",
                "--pod-infra-container-image", "pause:lab", "--network-plugin", "",
                "--experimental-dockershim-root-directory", self.dir / "dockershim", "--v", "2"))

    def cut(self, off=True):
        """Pulls its network cable, or puts it back."""
        outer = f"{self.cluster.id}o{self.address.rsplit('.', 1)[1]}"
        run("ip", "-n", self.cluster.id, "link", "set", outer, "down" if off else "up")

    def stop_kubelet(self, number=signal.SIGKILL):
        self.cluster.processes.stop(f"{self.name}-kubelet", number)

    def close(self):
        self.stop_kubelet()
        with contextlib.suppress(Exception):
            left = self.docker("ps", "-aq").stdout.split()
            if left:
                self.docker("rm", "-f", *left)
        self.cluster.processes.stop(f"{self.name}-engine")
        with contextlib.suppress(OSError, ValueError):
            os.kill(int((self.dir / "exec/containerd/containerd.pid").read_text()), signal.SIGKILL)
        run("ip", "netns", "del", self.space, check=False)


class Kubectl:
    """What is asked of a cluster, with its kubeconfig."""

    def kubectl(self, *words, **more):
        return run("kubectl", "--kubeconfig", self.kubeconfig, *words, **more)

    def get(self, *words):
        return json.loads(self.kubectl("get", *words, "-o", "json").stdout)

    def apply(self, thing):
        self.kubectl("apply", "-f", "-", input=json.dumps(thing))


class GivenNode:
    def __init__(self, name):
        self.name = name


class Given(Kubectl):
    """A cluster that somebody else runs. Its nodes must have, or be able to pull, the images that
    TRAINYARD_KUBE_IMAGE and TRAINYARD_TEST_IMAGE name (trainyard:test, and busybox as busy:lab)."""

    def __init__(self, kubeconfig):
        self.kubeconfig = kubeconfig
        self.nodes = [GivenNode(node["metadata"]["name"]) for node in self.get("nodes")["items"]]

    def close(self):
        pass


class Cluster(Kubectl):
    """A control plane and its nodes."""

    def __init__(self, nodes, image, images=None):
        if os.geteuid() != 0:
            raise Skip("a cluster of the tests' own needs root")
        for word in ("etcd", "dockerd", "ip", "nsenter", "openssl", "kubectl"):
            if not shutil.which(word):
                raise Skip(f"{word} is not installed")
        self.bin = programs()
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-kube-"))
        self.id = f"ty{secrets.token_hex(3)}"
        self.network = f"10.{random.randint(100, 250)}.{random.randint(1, 250)}"
        self.address = f"{self.network}.1"
        self.token = secrets.token_hex(16)
        self.image = image
        self.images = images or {}
        self.processes = Processes(self.dir)
        self.nodes = [Node(self, n) for n in range(1, nodes + 1)]
        self.tokens = {}

    def __enter__(self):
        return self.start()

    def __exit__(self, *error):
        self.close()

    # ---- the network

    def connect(self, space, address):
        """Connects a new namespace with the bridge."""
        tail = address.rsplit(".", 1)[1]
        inner, outer = f"{self.id}i{tail}", f"{self.id}o{tail}"
        if space:
            run("ip", "netns", "add", space)
            run("ip", "-n", space, "link", "set", "lo", "up")
        run("ip", "link", "add", inner, "type", "veth", "peer", "name", outer)
        run("ip", "link", "set", outer, "netns", self.id)
        run("ip", "-n", self.id, "link", "set", outer, "master", "br0", "up")
        where = ("-n", space) if space else ()
        if space:
            run("ip", "link", "set", inner, "netns", space)
        run("ip", *where, "address", "add", f"{address}/24", "dev", inner)
        run("ip", *where, "link", "set", inner, "up")

    def make_network(self):
        run("ip", "netns", "add", self.id)
        run("ip", "-n", self.id, "link", "add", "br0", "type", "bridge")
        run("ip", "-n", self.id, "link", "set", "br0", "up")
        self.connect(None, self.address)

    # ---- files

    def make_files(self):
        self.runc = self.dir / "runc"
        self.runc.write_text(RUNC)
        self.runc.chmod(0o755)
        source = self.dir / "pause.c"
        source.write_text(PAUSE)
        (self.dir / "pause-root").mkdir()
        run("gcc", "-static", "-Os", "-o", self.dir / "pause-root/pause", source)
        self.pause = run("tar", "-C", self.dir / "pause-root", "-c", ".", text=False).stdout
        run("openssl", "genrsa", "-out", self.dir / "accounts.key", "2048")
        self.tokens = {"admin": (self.token, '"system:masters"'),
                       "system:kube-scheduler": (secrets.token_hex(16), "")}
        for node in self.nodes:
            self.tokens[f"system:node:{node.name}"] = (secrets.token_hex(16), '"system:nodes"')
        (self.dir / "tokens.csv").write_text("".join(
            f"{token},{user},{user},{groups}\n" for user, (token, groups) in self.tokens.items()))

    def kubeconfig_for(self, user, token=None, proxy=None, **context):
        path = self.dir / f"kubeconfig-{user.replace(':', '-')}{'-proxy' if proxy else ''}"
        cert = proxy.cert if proxy else self.dir / "pki/apiserver.crt"
        ca = base64.b64encode(cert.read_bytes()).decode()
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "lab",
            "clusters": [{"name": "lab", "cluster": {"server": (proxy or self).server,
                                                     "certificate-authority-data": ca}}],
            "users": [{"name": user, "user": {"token": token or self.tokens[user][0]}}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": user, **context}}],
        }))
        return path

    # ---- the control plane

    def start_etcd(self):
        self.etcd = f"http://127.0.0.1:{free_port('127.0.0.1')}"
        peer = f"http://127.0.0.1:{free_port('127.0.0.1')}"
        self.processes.start("etcd", "etcd", "--data-dir", self.dir / "etcd", "--unsafe-no-fsync",
                             "--listen-client-urls", self.etcd, "--advertise-client-urls",
                             self.etcd, "--listen-peer-urls", peer,
                             "--initial-advertise-peer-urls", peer, "--initial-cluster",
                             f"default={peer}", "--log-level", "error")

    def start_apiserver(self, *options):
        self.processes.start(
            "apiserver", self.bin / "kube-apiserver", "--etcd-servers", self.etcd,
            "--bind-address", self.address, "--advertise-address", self.address, "--secure-port",
            self.port, "--cert-dir", self.dir / "pki", "--token-auth-file",
            self.dir / "tokens.csv", "--authorization-mode", "Node,RBAC",
            "--service-cluster-ip-range", "10.99.0.0/24", "--endpoint-reconciler-type", "none",
            "--service-account-issuer", "https://kubernetes.default.svc",
            "--service-account-key-file", self.dir / "accounts.key",
            "--service-account-signing-key-file", self.dir / "accounts.key",
            "--allow-privileged", "--kubelet-preferred-address-types", "InternalIP", *options)

    def compact(self):
        """Makes etcd forget all versions but the newest, and the API server what it has cached."""
        def ask(path, body):
            request = urllib.request.Request(f"{self.etcd}/v3/{path}", json.dumps(body).encode())
            return json.load(urllib.request.urlopen(request, timeout=30))

        newest = ask("kv/range", {"key": base64.b64encode(b"/").decode()})["header"]["revision"]
        ask("kv/compaction", {"revision": newest, "physical": True})
        self.processes.stop("apiserver", signal.SIGKILL)
        self.start_apiserver()
        self.wait_apiserver()

    def wait_apiserver(self):
        def ready():
            if self.processes.all["apiserver"].poll() is not None:
                raise AssertionError(f"apiserver: {self.processes.last_lines('apiserver')}")
            if not (self.dir / "pki/apiserver.crt").exists():
                return False
            self.kubeconfig = self.kubeconfig_for("admin")
            return self.kubectl("get", "--raw", "/readyz", check=False).stdout == "ok"

        wait_until(ready, lambda: self.processes.last_lines("apiserver"), 240)

    def start_controllers(self):
        self.processes.start(
            "controllers", self.bin / "kube-controller-manager", "--kubeconfig", self.kubeconfig,
            "--service-account-private-key-file", self.dir / "accounts.key", "--root-ca-file",
            self.dir / "pki/apiserver.crt", "--bind-address", "127.0.0.1", "--secure-port", "0",
            "--port", "0", "--cert-dir", self.dir / "cm-pki", "--leader-elect=false",
            "--node-monitor-grace-period", "16s", "--node-monitor-period", "2s",
            "--controllers", "*,-bootstrapsigner,-tokencleaner,-csrsigning,-csrapproving")

    def start_scheduler(self):
        self.processes.start(
            "scheduler", self.bin / "kube-scheduler", "--kubeconfig", self.kubeconfig,
            "--bind-address", "127.0.0.1", "--secure-port", "0", "--port", "0",
            "--leader-elect=false")

    def start(self):
        try:
            self.port = free_port("127.0.0.1")
            self.server = f"https://{self.address}:{self.port}"
            self.make_network()
            self.make_files()
            self.start_etcd()
            self.start_apiserver()
            for node in self.nodes:
                node.start()
            self.wait_apiserver()
            self.start_controllers()
            for node in self.nodes:
                node.load()
                node.start_kubelet()
            for node in self.nodes:
                self.wait_node(node)
            wait_until(lambda: self.kubectl("get", "serviceaccount", "default",
                                            check=False).returncode == 0,
                       "the default service account is there", 120)
        except BaseException:
            self.close()
            raise
        return self

    def wait_node(self, node, ready="True"):
        def state():
            found = self.kubectl("get", "node", node.name, "-o", "jsonpath={.status.conditions"
                                 "[?(@.type==\"Ready\")].status}", check=False)
            return found.stdout == ready

        wait_until(state, lambda: f"{node.name} ready={ready}: "
                   + self.processes.last_lines(f"{node.name}-kubelet"), 240)

    def close(self):
        if os.environ.get("KEEP_LOGS"):
            shutil.copytree(self.dir, os.environ["KEEP_LOGS"], dirs_exist_ok=True,
                            ignore=lambda d, names: [n for n in names if not n.endswith(".log")
                                                     and pathlib.Path(d) == self.dir])
        for node in self.nodes:
            node.close()
        self.processes.close()
        run("ip", "link", "del", f"{self.id}i1", check=False)
        run("ip", "netns", "del", self.id, check=False)
        self.remove_mounts()
        self.remove_cgroups()
        shutil.rmtree(self.dir, ignore_errors=True)

    def remove_mounts(self):
        for line in reversed(pathlib.Path("/proc/self/mounts").read_text().splitlines()):
            target = line.split()[1]
            if target.startswith(str(self.dir)):
                run("umount", "-l", target, check=False)

    def remove_cgroups(self):
        for _ in range(20):
            found = [pathlib.Path(d) for h in pathlib.Path("/sys/fs/cgroup").iterdir()
                     for d, _, _ in os.walk(h / self.id, topdown=False)]
            for directory in found:
                with contextlib.suppress(OSError):
                    directory.rmdir()
            if not found:
                return
            time.sleep(0.1)

