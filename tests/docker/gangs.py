#!/usr/bin/env python3
"""Jobs on several hosts at once, on real engines: their parts reach each other, start together and
are stopped together, also when a host dies.

run-tests: alone
run-tests: no asan
"""
import os
import pathlib
import subprocess
import tempfile

import lib_hosts as hosts
from lib import Skip
from live import expect, expect_equal, wait_until

# The first part listens, the second one calls it.
TALK = """
case $TRAINYARD_NODE_RANK in
0)  nc -l -p $TRAINYARD_MASTER_PORT
    echo "I am $TRAINYARD_NODE_RANK of $TRAINYARD_NODES with $TRAINYARD_CPUS"; cat $TRAINYARD_HOSTFILE;;
*)  until echo "hello from $TRAINYARD_NODE_RANK of $TRAINYARD_NODES" |
          nc $TRAINYARD_MASTER_ADDR $TRAINYARD_MASTER_PORT; do sleep 0.1; done;;
esac
"""

BEAT = ("trap 'exit 0' TERM; echo ready; while :; do "
        "echo $TRAINYARD_ATTEMPT >>/beat/$TRAINYARD_NODE_RANK; sleep 0.1; done")

# All hosts add their numbers with gloo, over the network between them.
TORCH = """
import datetime, fcntl, os, socket, struct, torch, torch.distributed as d
def address(name):
    with socket.socket() as s:
        try:
            return socket.inet_ntoa(fcntl.ioctl(s, 0x8915, struct.pack("256s", name.encode()))[20:24])
        except OSError:
            return None
os.environ["GLOO_SOCKET_IFNAME"] = next(
    name for _, name in socket.if_nameindex() if address(name) == os.environ["TRAINYARD_NODE_ADDR"])
d.init_process_group("gloo", init_method="tcp://%s:%s" % (
    os.environ["TRAINYARD_MASTER_ADDR"], os.environ["TRAINYARD_MASTER_PORT"]),
    rank=int(os.environ["TRAINYARD_NODE_RANK"]), world_size=int(os.environ["TRAINYARD_NODES"]),
    timeout=datetime.timedelta(seconds=60))
x = torch.ones(1) * (d.get_rank() + 1)
d.all_reduce(x)
print("the sum is", int(x))
"""


def parts_of(made, job):
    """How many containers of the job run."""
    return sum(len(host.docker("ps", "-q", "--filter", f"label=trainyard.job={job}").stdout.split())
               for host in made)


def test_parts_reach_each_other():
    made = hosts.shared(2, "busy", "hostroot")
    with hosts.Yard() as yard:
        yard.start()
        yard.attach(*made, cpus=2)
        text = yard.printed("busy", TALK, cpus=2, nodes=2)
        expect("hello from 1 of 2" in text and "I am 0 of 2 with 2" in text, text)
        lines = [line for line in text.splitlines() if " slots=" in line]
        expect_equal(len(lines), 2)
        expect_equal(len({line.split()[0] for line in lines}), 2)
        wait_until(lambda: not any(host.containers() for host in made), "nothing is left", 30)


def test_parts_are_stopped_together():
    made = hosts.shared(2, "busy", "hostroot")
    with hosts.Yard() as yard:
        yard.start()
        yard.attach(*made, cpus=2)
        job = yard.put("busy", "echo ready; [ $TRAINYARD_NODE_RANK = 0 ] || exit 3; sleep 1000",
                       cpus=1, nodes=2, grace="1s")
        yard.wait_for(job, "failed")
        expect_equal(yard.job(job)["code"], 3)
        wait_until(lambda: parts_of(made, job) == 0, "the other part is stopped", 30)
        job = yard.put("busy", "echo ready; sleep 1000", cpus=1, nodes=2, grace="1s")
        yard.wait_log(job, "ready")
        wait_until(lambda: parts_of(made, job) == 2, "both parts run", 30)
        expect_equal(sorted(p["node"] for p in yard.job(job)["parts"]), ["h1", "h2"])
        yard.post(f"/jobs/{job}/cancel")
        yard.wait_for(job, "cancelled")
        wait_until(lambda: parts_of(made, job) == 0, "both parts are stopped", 30)


def test_a_host_that_dies():
    with tempfile.TemporaryDirectory(prefix="trainyard-beat-") as beat:
        os.chmod(beat, 0o777)
        made = hosts.shared(3, "busy", "hostroot")
        with hosts.Yard("--allow-mount", beat, "--suspect-after", "2s", "--lost-after",
                        "4s") as yard:
            yard.start()
            yard.attach(*made, cpus=2)
            job = yard.put("busy", BEAT, cpus=2, nodes=2, grace="2s", lease="10s",
                           mounts=[f"{beat}:/beat"])
            yard.wait_log(job, "ready")
            wait_until(lambda: parts_of(made, job) == 2, "both parts run", 30)
            second = yard.job(job)["parts"][1]["node"]
            made[int(second[1:]) - 1].power_off()
            wait_until(lambda: yard.job(job)["attempt"] == 2 and
                       yard.job(job)["state"] == "running", "it runs on other hosts", 90)
            wait_until(lambda: all(
                pathlib.Path(beat, rank).read_text().split()[-1] == "2" for rank in "01"),
                "both parts of the second attempt run", 30)
            expect(second not in {p["node"] for p in yard.job(job)["parts"]}, "the lost host")
            yard.post(f"/jobs/{job}/cancel")
            yard.wait_for(job, "cancelled")


def test_pytorch():
    if subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True,
                      check=False).returncode:
        raise Skip("python3-torch is not installed")
    made = hosts.shared(2, "busy", "hostroot")
    with hosts.Yard("--allow-mount", "/usr", "--allow-mount", "/etc") as yard:
        yard.start()
        yard.attach(*made, cpus=2)
        text = yard.printed(
            "hostroot", ["/usr/bin/python3", "-c", TORCH], cpus=1, nodes=2,
            mounts=["/usr:/usr:ro", "/etc/alternatives:/etc/alternatives:ro",
                    "/etc/ld.so.cache:/etc/ld.so.cache:ro"])
        expect("the sum is 3" in text, text)


if __name__ == "__main__":
    hosts.main()
