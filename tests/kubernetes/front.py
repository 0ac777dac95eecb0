#!/usr/bin/env python3
"""TrainingJob objects and the Lease of the active server, on a real Kubernetes.

run-tests: alone
run-tests: no asan
"""
import json
import random
import signal
import time

import lib
from live import expect, expect_equal, wait_until

CRD = lib.ROOT / "packaging/kubernetes/base/crd.yaml"
STEPS = "i=0; while [ $i -lt {} ]; do i=$((i+1)); echo step $i/{} loss=0.5; sleep 0.2; done"


def ready():
    """A cluster that knows the resource."""
    cluster = lib.cluster()
    cluster.kubectl("apply", "-f", CRD)
    cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s",
                    "crd/trainingjobs.trainyard.dev")
    return cluster


def training_job(name, *command, **fields):
    return {"apiVersion": "trainyard.dev/v1", "kind": "TrainingJob", "metadata": {"name": name},
            "spec": {"image": lib.JOB_IMAGE, "command": ["sh", "-c", *command], **fields}}


def status(cluster, name):
    return cluster.get("trainingjob", name).get("status", {})


def condition(cluster, name, kind):
    return next((c for c in status(cluster, name).get("conditions", []) if c["type"] == kind), {})


def wait_state(cluster, name, *states, seconds=240):
    wait_until(lambda: status(cluster, name).get("state") in states,
               lambda: f"{name} is one of {states}: {status(cluster, name)}", seconds)
    return status(cluster, name)


def test_from_apply_to_the_end():
    cluster = ready()
    with lib.yard_on(cluster, "--kube-jobs") as yard:
        cluster.apply(training_job("first", STEPS.format(100, 100)))
        wait_until(lambda: status(cluster, "first").get("progress"), "it has progress", 240)
        now = status(cluster, "first")
        expect_equal((now["state"], now["replicas"], now["loss"]), ("running", 1, 0.5))
        shown = cluster.kubectl("get", "tj", "first").stdout
        expect("running" in shown and "PROGRESS" in shown, shown)
        done = wait_state(cluster, "first", "done")
        expect_equal((done["exitCode"], done["attempt"]), (0, 1))
        expect_equal(condition(cluster, "first", "Complete")["status"], "True")
        reasons = {e["reason"] for e in cluster.get("events")["items"]
                   if e["involvedObject"]["name"] == "first"}
        expect({"Running", "Done"} <= reasons, f"events: {reasons}")
        cluster.kubectl("delete", "trainingjob", "first", "--timeout=60s")
        expect_equal(yard.job(done["job"])["state"], "done")


def test_delete_cancels_and_scale_resizes():
    cluster = ready()
    with lib.yard_on(cluster, "--kube-jobs") as yard:
        cluster.apply(training_job("second", "echo ready; sleep 600", cpus="1-2", resize="live",
                                   grace=1))
        now = wait_state(cluster, "second", "running")
        cluster.kubectl("scale", "trainingjob/second", "--replicas=1")
        wait_until(lambda: yard.job(now["job"])["cpus_max"] == 1,
                   lambda: f"it is resized: {yard.job(now['job'])}", 60)
        cluster.kubectl("scale", "trainingjob/second", "--replicas=9")
        wait_until(lambda: "outside the range" in condition(cluster, "second", "Resized")
                   .get("message", ""), lambda: f"refused: {status(cluster, 'second')}", 60)
        cluster.kubectl("delete", "trainingjob", "second", "--timeout=120s")
        expect_equal(yard.wait_for(now["job"], "cancelled", seconds=60)["state"], "cancelled")


def test_specs_that_are_wrong():
    cluster = ready()
    with lib.yard_on(cluster, "--kube-jobs") as yard:
        refused = cluster.kubectl("apply", "-f", "-", check=False, input=json.dumps(
            training_job("third", "true", priority="high")))
        expect(refused.returncode != 0 and "priority" in refused.stderr, refused.stderr)
        cluster.apply(training_job("third", "true", cpus="many"))
        wait_state(cluster, "third", "refused")
        expect("cpus" in condition(cluster, "third", "Accepted")["message"],
               str(status(cluster, "third")))
        cluster.apply(training_job("third", "true", cpus="1"))
        wait_state(cluster, "third", "done")
        expect_equal(len(yard.jobs()), 1)
        cluster.kubectl("delete", "trainingjob", "third", "--timeout=60s")


def test_each_is_submitted_once():
    """Whenever the server is killed, and also those that are deleted while it is away."""
    cluster = ready()
    with lib.yard_on(cluster, "--kube-jobs") as yard:
        names = [f"once-{i}" for i in range(6)]
        for name in names:
            cluster.apply(training_job(name, "exit 0", cpus="0.5"))
            time.sleep(random.uniform(0, 1.5))
            yard.kill()
            yard.start()
        for name in names:
            wait_state(cluster, name, "done")
        expect_equal(len(yard.jobs()), len(names), "jobs")
        cluster.apply(training_job("away", "sleep 600", grace=1))
        job = wait_state(cluster, "away", "running")["job"]
        yard.kill()
        cluster.kubectl("delete", "trainingjob", "away", "--wait=false")
        yard.start()
        yard.wait_for(job, "cancelled", seconds=120)
        cluster.kubectl("delete", "trainingjob", "--all", "--timeout=120s")


def may(cluster, *words):
    return cluster.kubectl("auth", "can-i", *words, "-n", "trainyard", "--as",
                           "system:serviceaccount:trainyard:trainyard", check=False).stdout.strip()


def test_the_manifests():
    """The API server takes them, and the account may do what the server does, and no more."""
    cluster = ready()
    cluster.kubectl("apply", "-k", lib.ROOT / "packaging/kubernetes/cluster-wide")
    try:
        server = cluster.get("statefulset", "trainyard", "-n", "trainyard")
        expect_equal(server["spec"]["replicas"], 1)
        for verb, what in (("create", "pods"), ("create", "pods/binding"), ("create", "pods/exec"),
                           ("patch", "trainingjobs.trainyard.dev/status"), ("create", "events"),
                           ("update", "leases.coordination.k8s.io"), ("create", "secrets")):
            kind, _, sub = what.partition("/")
            words = (verb, kind, f"--subresource={sub}") if sub else (verb, kind)
            expect_equal(may(cluster, *words), "yes", f"{verb} {what}")
        for verb, what in (("get", "secrets"), ("list", "configmaps"), ("delete", "nodes"),
                           ("delete", "trainingjobs.trainyard.dev"), ("create", "deployments.apps")):
            expect_equal(may(cluster, verb, what), "no", f"{verb} {what}")
    finally:
        for kind in ("statefulset", "service", "networkpolicy", "rolebinding", "role"):
            cluster.kubectl("delete", kind, "trainyard", "-n", "trainyard", "--wait=false")
        cluster.kubectl("delete", "namespace", "trainyard", "--wait=false")


def test_a_second_server_takes_over():
    """The jobs of the first one go on; the first one stops by itself when it has lost the Lease."""
    cluster = lib.cluster()
    with lib.yard_on(cluster, "--kube-lease", "yard") as yard:
        job = yard.put("echo ready; while ! [ -e /tmp/end ]; do sleep 0.1; done")
        yard.wait_log(job, "ready")
        first = yard.server
        yard.start(wait=False)
        wait_until(lambda: "is held by" in yard.output(), "the second one waits", 60)
        first.kill()
        first.wait()
        yard.wait_until_ready()
        yard.wait_for(job, "running", seconds=120)
        expect_equal(yard.job(job)["attempt"], 1)
        yard.wait_cluster()
        # Somebody takes it away.
        wait_until(lambda: cluster.kubectl(
            "patch", "lease", "yard", "--type=merge", "-p",
            json.dumps({"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 5}}),
            check=False).returncode == 0, "it is taken", 30)
        expect(yard.server.wait(60) != 0, "it ends with an error")
        expect("another server has taken" in yard.output(), yard.output()[-500:])
        # The thief does not renew it. What was released can be had at once.
        yard.start()
        began = time.monotonic()
        expect_equal(yard.kill(signal.SIGTERM), 0)
        yard.start()
        expect(time.monotonic() - began < 12, "it was released")
        yard.wait_cluster()
        yard.post(f"/jobs/{job}/cancel", {"grace": 0})
        yard.wait_for(job, "cancelled", seconds=240)
        cluster.kubectl("delete", "lease", "yard")


if __name__ == "__main__":
    lib.main()
