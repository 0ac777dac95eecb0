"""A server of the tests' own whose nodes are those of a real Kubernetes: the cluster that
KUBECONFIG names, or else one of our own (cluster.py)."""
import contextlib
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import live
from live import Skip, wait_until


def load(name, path):
    """A module of another folder, whose file may have the name of ours."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Images, and how jobs in them are submitted.
containers = load("docker_lib", ROOT / "tests/docker/lib.py")

import cluster as own

IMAGE = os.environ.get("TRAINYARD_KUBE_IMAGE", "trainyard:test")
JOB_IMAGE = os.environ.get("TRAINYARD_TEST_IMAGE", "busy:lab")


def build_image():
    path = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-image-"), "image.tar")
    subprocess.run([ROOT / "tools/image", containers.conductor_for_images().parent, path, IMAGE],
                   check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return path


CLUSTERS = []


def cluster(nodes=1):
    """The cluster that all cases of a file share: KUBECONFIG's, or one of our own."""
    if not CLUSTERS and os.environ.get("KUBECONFIG"):
        CLUSTERS.append(own.Given(os.environ["KUBECONFIG"]))
    if not CLUSTERS:
        image = build_image()
        images = {JOB_IMAGE: (containers.busybox().done(), ["ENV PATH=/bin", "ENV FROM_IMAGE=yes",
                                                             "WORKDIR /tmp"])}
        CLUSTERS.append(own.Cluster(nodes, image, images).start())
    return CLUSTERS[0]


def own_cluster(nodes=1):
    """One that may be broken."""
    if os.environ.get("KUBECONFIG"):
        raise Skip("needs a cluster of the tests' own; unset KUBECONFIG")
    return cluster(nodes)


class Yard(containers.Yard):
    """A server that runs jobs in the cluster."""

    def __init__(self, cluster, *options, config=None):
        self.cluster = cluster
        self.config = config or cluster.kubeconfig
        super().__init__("--kubernetes", "default", "--kube-image", IMAGE, *options)

    def start(self, *options, **more):
        return super().start(*options, **{"KUBECONFIG": str(self.config), **more})

    def wait_cluster(self):
        self.wait_nodes(*(node.name for node in self.cluster.nodes))
        return self

    def wait_nodes(self, *names, state="up"):
        def there(name):
            return {n["name"]: n["state"] for n in self.get("/nodes")["nodes"]}.get(name) == state

        for name in names:
            wait_until(lambda name=name: there(name),
                       lambda name=name: f"{name} is {state}: {self.get('/nodes')}", 240)

    def wait_log(self, job, text):
        return wait_until(lambda: self.job(job)["attempt"] and text in self.logs(job) and self.logs(job),
                          lambda: f"'{text}' in {self.logs(job)}: {self.job(job)}", 240)

    def pods(self):
        return self.cluster.get("pods", "-l", "trainyard.dev/yard")["items"]

    def pod(self, job):
        def find():
            return self.cluster.get("pods", "-l", f"trainyard.dev/job={job}")["items"]

        return wait_until(find, f"job {job} has a pod", 120)[0]

    def put(self, *command, **fields):
        return super().put(JOB_IMAGE, *command, **fields)

    def printed(self, *command, **fields):
        job = self.put(*command, **fields)
        self.wait_for(job, "done", seconds=240)
        return self.whole_log(job)


@contextlib.contextmanager
def yard_on(cluster, *options, **more):
    with Yard(cluster, *options, **more) as yard:
        yard.start()
        yield yard.wait_cluster()
        wait_until(lambda: not yard.pods(),
                   lambda: f"left: {json.dumps([p['metadata']['name'] for p in yard.pods()])}", 120)


def main():
    # A test that is ended from outside leaves no cluster behind either.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        live.main()
    finally:
        for one in CLUSTERS:
            one.close()
