#!/usr/bin/python3
"""Like train.py, a network learns z = sin(3x) cos(2y) + xy/2, but on a number of workers that
may change during the training:

    trainyard submit -w 1-4 --resize torchrun -- python3 elastic_train.py

The workers of a group stop after the same step as soon as one of them is asked to (SIGTERM);
the first one saves, and the next group continues from there. So no step is lost or done
twice. Each batch is divided among the workers, so their number changes the time but not what
is learned.
"""
import argparse
import os
import signal

import torch
import torch.distributed as dist
from torch import nn

BATCH = 1200  # over all workers


def parse():
    p = argparse.ArgumentParser(description="train a network on a changing number of workers")
    for name, default in (("steps", 2000), ("hidden", 128), ("seed", 1), ("save-every", 200)):
        p.add_argument("--" + name, type=int, default=default)
    return p.parse_args()


def make_batch(seed, step):
    """Depends only on seed and step: every group sees the same data."""
    g = torch.Generator().manual_seed(seed * 1_000_003 + step)
    x = torch.rand(BATCH, 2, generator=g) * 2 - 1
    return x, torch.sin(3 * x[:, :1]) * torch.cos(2 * x[:, 1:]) + x[:, :1] * x[:, 1:] / 2


def load(path, net, optimizer):
    """The first worker reads the file, if there is one, and sends it to the others."""
    state = [torch.load(path) if dist.get_rank() == 0 and os.path.exists(path) else None]
    dist.broadcast_object_list(state)
    if state[0] is None:
        return 0
    net.load_state_dict(state[0]["net"])
    optimizer.load_state_dict(state[0]["optimizer"])
    return state[0]["step"]


def save(path, step, net, optimizer):
    """Replaces the file atomically."""
    if dist.get_rank() == 0:
        state = {"step": step, "net": net.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(state, path + ".new")
        os.replace(path + ".new", path)


def main():
    o = parse()
    asked = []  # not empty once this worker was asked to stop
    dist.init_process_group("gloo")
    # Not earlier: there is nothing to save yet, and a worker that waits for the others
    # would not see the signal.
    signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(o.seed)
    net = nn.parallel.DistributedDataParallel(nn.Sequential(
        nn.Linear(2, o.hidden), nn.Tanh(), nn.Linear(o.hidden, o.hidden), nn.Tanh(),
        nn.Linear(o.hidden, 1)))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    path = os.path.join(os.environ.get("TRAINYARD_CHECKPOINT_DIR", "."), "elastic.pt")
    step, stop = load(path, net, optimizer), False
    while step < o.steps and not stop:
        x, z = make_batch(o.seed, step)
        # Each worker takes its part; DDP averages the gradients, so they are those of the batch.
        loss = ((net(x[rank::size]) - z[rank::size]) ** 2).sum() * size / BATCH
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        both = torch.tensor([loss.item() / size, float(bool(asked))])
        dist.all_reduce(both)  # the loss of the whole batch, and whether any worker must stop
        stop = both[1].item() > 0
        if stop or step == o.steps or step % o.save_every == 0:
            save(path, step, net, optimizer)
        if rank == 0:
            print(f"step {step}/{o.steps} loss {both[0].item():.6f}", flush=True)
    return 0 if step >= o.steps else 128 + signal.SIGTERM


if __name__ == "__main__":
    raise SystemExit(main())
