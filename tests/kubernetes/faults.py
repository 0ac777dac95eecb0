#!/usr/bin/env python3
"""Nodes, pods and API servers that fail, on a real Kubernetes.

run-tests: alone
run-tests: no asan
"""
import os
import pathlib
import random
import signal
import tempfile
import time

import lib
from live import expect, expect_equal, wait_until

STEPS = "i=0; while [ $i -lt {} ]; do i=$((i+1)); echo $i; sleep 0.2; done"


def numbers(n):
    return "".join(f"{i}\n" for i in range(1, n + 1))


def test_an_api_server_that_is_away():
    """Jobs run on; what happened meanwhile is found out, and no line of the log is missing."""
    cluster = lib.own_cluster(2)
    with lib.yard_on(cluster) as yard:
        runs = yard.put(STEPS.format(150))
        ends = yard.put("echo ready; sleep 5; exit 3")
        yard.wait_log(runs, "2\n")
        yard.wait_log(ends, "ready")
        cluster.processes.stop("apiserver", signal.SIGKILL)
        time.sleep(10)
        cluster.start_apiserver()
        cluster.wait_apiserver()
        expect_equal(yard.wait_for(ends, "failed", seconds=240)["code"], 3)
        yard.wait_for(runs, "done", seconds=240)
        expect_equal(yard.whole_log(runs), numbers(150))
        expect_equal(yard.job(runs)["attempt"], 1)


def test_pods_that_are_deleted_by_hand():
    """The job gets SIGTERM and its grace, and is queued again."""
    cluster = lib.cluster(2)
    with lib.yard_on(cluster) as yard:
        job = yard.put("trap 'echo saved; exit 0' TERM; echo ready; "
                       "[ $TRAINYARD_ATTEMPT = 2 ] && exit 0; while :; do sleep 0.1; done")
        yard.wait_log(job, "ready")
        cluster.kubectl("delete", "pod", yard.pod(job)["metadata"]["name"], "--wait=false")
        yard.wait_for(job, "done", seconds=240)
        expect_equal(yard.job(job)["attempt"], 2)


def test_an_image_that_cannot_be_pulled():
    cluster = lib.cluster(2)
    with lib.yard_on(cluster) as yard:
        job = yard.post("/jobs", {"image": "localhost:1/nothing:1", "command": ["true"]},
                        201)["jobs"][0]["id"]
        wait_until(lambda: "ErrImagePull" in str(yard.get(f"/jobs/{job}/explain"))
                   or "ImagePullBackOff" in str(yard.get(f"/jobs/{job}/explain")),
                   lambda: f"explain: {yard.get(f'/jobs/{job}/explain')}", 240)
        failed = yard.wait_for(job, "failed", seconds=300)
        expect_equal(failed["code"], 125)
        expect("cannot start" in failed["reason"], failed["reason"])


def test_cordons_taints_and_pods_of_others():
    cluster = lib.cluster(2)
    first, last = cluster.nodes[0].name, cluster.nodes[-1].name
    with lib.yard_on(cluster) as yard:
        cluster.kubectl("cordon", first)
        yard.wait_nodes(first, state="draining")
        cluster.kubectl("uncordon", first)
        yard.wait_nodes(first)
        cluster.kubectl("taint", "node", last, "own=yes:NoSchedule")
        yard.wait_nodes(last, state="draining")
        notice = yard.get(f"/nodes/{last}")["notice"]
        expect("own=yes:NoSchedule" in notice, notice)
        cluster.kubectl("taint", "node", last, "own-")
        yard.wait_nodes(last)
        before = yard.get(f"/nodes/{first}")["cpus"]
        cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other"}, "spec": {
            "nodeName": first, "terminationGracePeriodSeconds": 0, "containers": [{
                "name": "c", "image": lib.JOB_IMAGE, "command": ["sleep", "600"],
                "resources": {"requests": {"cpu": "500m"}}}]}})
        wait_until(lambda: abs(yard.get(f"/nodes/{first}")["cpus"] - (before - 0.5)) < 0.001,
                   lambda: f"less is free: {yard.get(f'/nodes/{first}')}", 120)
        cluster.kubectl("delete", "pod", "other", "--grace-period=0", "--force")
        wait_until(lambda: yard.get(f"/nodes/{first}")["cpus"] == before, "it is free again", 120)


def test_a_node_that_is_lost():
    """Its jobs wait for it, and are found again."""
    cluster = lib.own_cluster(2)
    with lib.yard_on(cluster) as yard:
        job = yard.put(STEPS.format(100))
        yard.wait_log(job, "2\n")
        node = next(n for n in cluster.nodes if n.name == yard.pod(job)["spec"]["nodeName"])
        node.stop_kubelet()
        yard.wait_nodes(node.name, state="lost")
        node.start_kubelet()
        yard.wait_nodes(node.name)
        yard.wait_for(job, "done", seconds=240)
        expect_equal(yard.whole_log(job), numbers(100))
        expect_equal(yard.job(job)["attempt"], 1)


def test_kills_while_jobs_start():
    """Each job runs once, whenever the server dies: what one did is on the node's disk."""
    cluster = lib.cluster(2)
    with tempfile.TemporaryDirectory(prefix="trainyard-once-") as directory:
        os.chmod(directory, 0o777)
        with lib.yard_on(cluster, "--allow-mount", directory) as yard:
            jobs = []
            for _ in range(4):
                jobs.append(yard.put("echo x >>/once/$TRAINYARD_JOB_ID", cpus=1,
                                     mounts=[f"{directory}:/once"]))
                time.sleep(random.uniform(0, 3))
                yard.kill()
                yard.start()
            for job in jobs:
                yard.wait_for(job, "done", seconds=300)
                expect_equal(pathlib.Path(directory, str(job)).read_text(), "x\n", f"job {job}")


if __name__ == "__main__":
    lib.main()
