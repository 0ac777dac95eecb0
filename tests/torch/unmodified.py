#!/usr/bin/env python3
"""A script that knows nothing of Trainyard, as PyTorch's tutorials have it: it saves after
each epoch and dies of SIGTERM. It goes on from its last epoch. run-tests: no asan"""
import re

import lib
from lib import expect_equal, wait_until

SNAPSHOT = """
import os
import torch
import torch.distributed as dist
from torch import nn

EPOCHS, BATCHES = 1000, 20
dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.parallel.DistributedDataParallel(nn.Linear(20, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
first = 0
if os.path.exists("snapshot.pt"):
    snapshot = torch.load("snapshot.pt")
    model.load_state_dict(snapshot["model"])
    first = snapshot["epochs"]
for epoch in range(first, EPOCHS):
    for _ in range(BATCHES):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(torch.randn(5000, 20)), torch.zeros(5000, 1)).backward()
        optimizer.step()
    if dist.get_rank() == 0:
        torch.save({"model": model.state_dict(), "epochs": epoch + 1}, "new.pt")
        os.replace("new.pt", "snapshot.pt")
        print(f"epoch {epoch + 1} of {EPOCHS} with {dist.get_world_size()}", flush=True)
"""


def epochs(job):
    return [(int(e), int(w)) for e, w in re.findall(r"epoch (\d+) of \d+ with (\d+)", job.text())]


def test_it_goes_on_from_its_last_epoch(job):
    job.start(lib.PYTHON, job.script(SNAPSHOT), workers=(1, 1, 2))
    for workers in (1, 2, 1):
        job.control.order(workers)
        wait_until(lambda w=workers: epochs(job) and epochs(job)[-1][1] == w, "an epoch")
    job.process.terminate()
    expect_equal(job.wait(), 143, "exit status")
    done = [e for e, _ in epochs(job)]
    # An epoch may have been saved, and its worker ended before it said so.
    gaps = sorted({b - a for a, b in zip(done, done[1:])})
    if not set(gaps) <= {1, 2}:
        raise AssertionError(f"epochs were lost or done twice: {done}")
    expect_equal(sorted({w for _, w in epochs(job)}), [1, 2], "workers")


lib.main()
