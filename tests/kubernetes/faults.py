#!/usr/bin/env python3
"""Nodes, pods and API servers that fail, on a real Kubernetes.

run-tests: alone
run-tests: no asan
"""
import contextlib
import os
import pathlib
import random
import signal
import tempfile
import time

import lib
import proxy
from live import Skip, expect, expect_equal, wait_until

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


def node_of(cluster, yard, job):
    return next(n for n in cluster.nodes if n.name == yard.pod(job)["spec"]["nodeName"])


@contextlib.contextmanager
def shared_directory():
    """One that pods on all nodes can write to, because they are on one machine."""
    with tempfile.TemporaryDirectory(prefix="trainyard-once-") as directory:
        os.chmod(directory, 0o777)
        yield pathlib.Path(directory)


def test_a_node_that_is_lost_for_a_while():
    """Its jobs go on, and are found again."""
    cluster = lib.own_cluster(2)
    with lib.yard_on(cluster) as yard:
        job = yard.put(STEPS.format(150))
        yard.wait_log(job, "2\n")
        node = node_of(cluster, yard, job)
        node.stop_kubelet()
        yard.wait_nodes(node.name, state="lost")
        node.start_kubelet()
        yard.wait_nodes(node.name)
        yard.wait_for(job, "done", seconds=240)
        expect_equal(yard.whole_log(job), numbers(150))
        expect_equal(yard.job(job)["attempt"], 1)


def test_a_node_that_is_lost_for_good():
    """When the lease is over the job starts elsewhere, after it has ended here. When the node is
    back, what is left of it there goes first."""
    cluster = lib.own_cluster(2)
    with shared_directory() as once, \
            lib.yard_on(cluster, "--allow-mount", once, "--lease", "20s") as yard:
        job = yard.put("while :; do echo $TRAINYARD_ATTEMPT $(date +%s%N) >>/once/beats; "
                       "[ -e /once/end ] && exit 0; sleep 0.1; done", grace="2s",
                       mounts=[f"{once}:/once"])
        yard.wait_for(job, "running", seconds=240)
        node = node_of(cluster, yard, job)
        old = yard.pod(job)["metadata"]["name"]
        wait_until((once / "beats").exists, "the job runs", 60)
        node.cut()
        try:
            yard.wait_nodes(node.name, state="lost")
            wait_until(lambda: yard.job(job)["attempt"] == 2 and yard.job(job)["state"] == "running",
                       lambda: f"it runs elsewhere: {yard.job(job)}", 240)
            expect(yard.job(job)["node"] != node.name, yard.job(job)["node"])
            expect(yard.events(job, "job.fenced"), "it was fenced")
        finally:
            node.cut(off=False)
        wait_until(lambda: not any(p["metadata"]["name"] == old for p in yard.pods()),
                   "its old pod is gone", 240)
        yard.wait_nodes(node.name)
        (once / "end").touch()
        yard.wait_for(job, "done", seconds=240)
        beats = [line.split() for line in (once / "beats").read_text().splitlines()]
        expect_equal([n for n, _ in beats], sorted(n for n, _ in beats),
                     "the first attempt had ended before the second began")


def test_a_node_that_is_drained():
    """Its job saves itself and goes on on another node."""
    cluster = lib.cluster(2)
    if len(cluster.nodes) < 2:
        raise Skip("needs two nodes")
    with lib.yard_on(cluster) as yard:
        job = yard.put("trap 'echo saved; exit 0' TERM; echo ready; "
                       "[ $TRAINYARD_ATTEMPT = 2 ] && exit 0; while :; do sleep 0.1; done")
        yard.wait_log(job, "ready")
        node = yard.pod(job)["spec"]["nodeName"]
        try:
            cluster.kubectl("drain", node, "--force", "--ignore-daemonsets",
                            "--delete-emptydir-data", "--timeout", "120s")
            yard.wait_for(job, "done", seconds=240)
            expect_equal(yard.job(job)["attempt"], 2)
        finally:
            cluster.kubectl("uncordon", node)
        yard.wait_nodes(node)


def test_a_pod_that_is_evicted():
    """By its node, because it uses more than its volume may have."""
    cluster = lib.cluster(2)
    with lib.yard_on(cluster) as yard:
        job = yard.put("[ $TRAINYARD_ATTEMPT = 2 ] && exit 0; echo ready; "
                       "head -c 20000000 /dev/zero >/dev/shm/much; sleep 600", shm="1m")
        yard.wait_for(job, "done", seconds=300)
        expect_equal(yard.job(job)["attempt"], 2)


def test_a_job_that_is_out_of_memory():
    cluster = lib.cluster(2)
    with lib.yard_on(cluster) as yard:
        job = yard.put("echo ready; tail /dev/zero", memory="64m")
        failed = yard.wait_for(job, "failed", seconds=240)
        expect("out of memory" in failed["reason"] or "memory" in failed["reason"],
               failed["reason"])


def test_a_volume_that_does_not_come():
    cluster = lib.cluster(2)
    with lib.yard_on(cluster) as yard:
        job = yard.put("true", mounts=["pvc/nothing:/data"])
        wait_until(lambda: "nothing" in str(yard.get(f"/jobs/{job}/explain")),
                   lambda: f"explain: {yard.get(f'/jobs/{job}/explain')}", 240)
        yard.post(f"/jobs/{job}/cancel", {})
        yard.wait_for(job, "cancelled", seconds=240)


@contextlib.contextmanager
def yard_through_proxy(cluster, *options):
    between = proxy.Proxy(cluster.dir, cluster.address, cluster.port)
    try:
        config = cluster.kubeconfig_for("admin", proxy=between)
        with lib.yard_on(cluster, *options, config=config) as yard:
            yield yard, between
    finally:
        between.close()


def test_an_api_server_that_is_slow_and_throttles():
    cluster = lib.own_cluster(2)
    with yard_through_proxy(cluster) as (yard, between):
        between.mood = proxy.slow(1.0)
        expect_equal(yard.printed("echo slow"), "slow\n")
        between.mood = proxy.throttling(0.4)
        jobs = [yard.put(f"echo {i}", cpus=0.5) for i in range(4)]
        for i, job in enumerate(jobs):
            yard.wait_for(job, "done", seconds=300)
            expect_equal(yard.whole_log(job), f"{i}\n")
            expect_equal(yard.job(job)["attempt"], 1)
        between.mood = lambda line: None


def test_watches_that_are_cut():
    """They go on where they were: nothing is listed again."""
    cluster = lib.own_cluster(2)
    with yard_through_proxy(cluster) as (yard, between):
        lists = sum("limit=500" in line for line in between.seen)
        job = yard.put(STEPS.format(40))
        yard.wait_log(job, "2\n")
        expect(between.cut_streams() >= 3, "there were watches")
        yard.wait_for(job, "done", seconds=240)
        expect_equal(yard.whole_log(job), numbers(40))
        expect_equal(sum("limit=500" in line for line in between.seen), lists, "lists")


def test_versions_that_were_compacted():
    """The API server knows nothing of the version that the watch has (410): it is listed again."""
    cluster = lib.own_cluster(2)
    with yard_through_proxy(cluster) as (yard, between):
        job = yard.put("echo ready; sleep 5; exit 3")
        yard.wait_log(job, "ready")
        yard.server.send_signal(signal.SIGSTOP)
        try:
            for i in range(5):
                cluster.kubectl("label", "node", cluster.nodes[0].name, f"turn={i}", "--overwrite")
            lists = sum("limit=500" in line for line in between.seen)
            cluster.compact()
        finally:
            yard.server.send_signal(signal.SIGCONT)
        expect_equal(yard.wait_for(job, "failed", seconds=240)["code"], 3)
        wait_until(lambda: sum("limit=500" in line for line in between.seen) > lists,
                   "it was listed again", 120)
        expect_equal(yard.printed("echo after"), "after\n")


def test_kills_while_jobs_start():
    """Each job runs once, whenever the server dies: what one did is on the node's disk."""
    cluster = lib.cluster(2)
    with shared_directory() as once, lib.yard_on(cluster, "--allow-mount", once) as yard:
        jobs = []
        for _ in range(8):
            jobs.append(yard.put("echo x >>/once/$TRAINYARD_JOB_ID", cpus=0.5,
                                 mounts=[f"{once}:/once"]))
            time.sleep(random.uniform(0, 3))
            yard.kill()
            yard.start()
        for job in jobs:
            yard.wait_for(job, "done", seconds=300)
            expect_equal((once / str(job)).read_text(), "x\n", f"job {job}")


if __name__ == "__main__":
    lib.main()
