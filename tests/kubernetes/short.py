#!/usr/bin/env python3
"""A job on a real Kubernetes from its submission to its end, and a server that is killed meanwhile.

run-tests: alone
run-tests: no asan
"""
import time

import lib
from live import expect_equal, wait_until


def test_output_exit_codes_and_what_is_left():
    with lib.yard_on(lib.cluster()) as yard:
        out = yard.printed("echo out; echo err >&2; echo $FROM_IMAGE; pwd; id -u")
        expect_equal(out, "out\nerr\nyes\n/tmp\n1000\n")
        failed = yard.put("echo last; exit 7")
        expect_equal(yard.wait_for(failed, "failed", seconds=240)["code"], 7)
        expect_equal(yard.whole_log(failed), "last\n")


def test_kubectl_logs_and_cancel():
    cluster = lib.cluster()
    with lib.yard_on(cluster) as yard:
        job = yard.put("echo ready; sleep 600")
        yard.wait_log(job, "ready")
        pod = yard.pod(job)["metadata"]["name"]
        wait_until(lambda: "ready" in cluster.kubectl("logs", pod, "-c", "job", check=False).stdout,
                   "kubectl logs has the output", 60)
        yard.post(f"/jobs/{job}/cancel", {})
        yard.wait_for(job, "cancelled", seconds=240)


def test_a_server_that_is_killed():
    with lib.yard_on(lib.cluster()) as yard:
        job = yard.put("i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo $i; sleep 0.2; done")
        yard.wait_log(job, "3\n")
        for _ in range(2):
            yard.kill()
            time.sleep(0.5)
            yard.start()
        yard.wait_for(job, "done", seconds=240)
        expect_equal(yard.whole_log(job), "".join(f"{i}\n" for i in range(1, 61)))
        expect_equal(yard.job(job)["attempt"], 1)


if __name__ == "__main__":
    lib.main()
