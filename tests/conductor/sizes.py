#!/usr/bin/env python3
"""How small the conductor is, as a file and in memory. run-tests: no asan"""
import os
import subprocess

import lib
from lib import CONDUCTOR, expect, resident, wait_until


def test_size_of_the_program(_):
    size = os.path.getsize(CONDUCTOR)
    print(f"# {size} bytes")
    expect(size < 3 << 20, f"{size} bytes")
    kind = subprocess.run(["readelf", "-l", CONDUCTOR], capture_output=True, text=True, check=True)
    expect("INTERP" not in kind.stdout, "not static")


def test_resident_size(bench):
    server = bench.server(ack=False)
    noise = "import random, sys; sys.stdout.buffer.write(random.Random(1).randbytes(10**7))"
    a = bench.attempt(f"echo step 1/3; python3 -c '{noise}'; echo; echo step 2/3 loss=2;"
                      "sleep 1000", server=server, grace_s=0, sample_s=0.1)
    wait_until(lambda: any(m.get("step") == 2 for m in a.messages("progress")), what="progress")
    running = resident(a.pid)
    a.send("stop", grace_s=0)
    a.expect_message("exit")
    over = resident(a.pid)
    print(f"# resident: {running} KiB with a job, {over} KiB waiting for the server")
    expect(running < 4096 and over < 4096, f"{running} KiB, {over} KiB")
    server.send(a.job, {"type": "ack", "what": "exit"})
    a.wait()


lib.main()
