#!/usr/bin/python3
"""Like trainer.c, but with PyTorch: a network learns z = sin(3x) cos(2y) + xy/2.

    python3 train.py [--steps N] [--hidden N] [--batch N] [--seed N] [--save-every N]

It saves to $TRAINYARD_CHECKPOINT_DIR (or the current directory) and resumes from there. On
SIGTERM it saves and exits with 143. Its progress is read from its output.
"""
import argparse
import os
import signal
import time

import torch
from torch import nn

asked = set()  # signals received


def parse():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name, default in (("steps", 2000), ("hidden", 256), ("batch", 4096), ("seed", 1),
                          ("save-every", 500)):
        p.add_argument("--" + name, type=int, default=default)
    return p.parse_args()


def make_batch(o, step):
    """Depends only on seed and step, so that a resumed training sees the same data."""
    g = torch.Generator().manual_seed(o.seed * 1_000_003 + step)
    x = torch.rand(o.batch, 2, generator=g) * 2 - 1
    z = torch.sin(3 * x[:, :1]) * torch.cos(2 * x[:, 1:]) + x[:, :1] * x[:, 1:] / 2
    return x, z


def save(path, step, net, optimizer):
    """Replaces the file atomically."""
    state = {"step": step, "net": net.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, path + ".new")
    os.replace(path + ".new", path)
    print(f"saved at step {step}", flush=True)


def main():
    o = parse()
    for number in (signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, lambda got, _: asked.add(got))
    torch.manual_seed(o.seed)
    net = nn.Sequential(nn.Linear(2, o.hidden), nn.Tanh(), nn.Linear(o.hidden, o.hidden),
                        nn.Tanh(), nn.Linear(o.hidden, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    path = os.path.join(os.environ.get("TRAINYARD_CHECKPOINT_DIR", "."), "train.pt")
    step, loss, shown = 0, torch.tensor(float("nan")), 0.0
    if os.path.exists(path):
        state = torch.load(path)
        step = state["step"]
        net.load_state_dict(state["net"])
        optimizer.load_state_dict(state["optimizer"])
        print(f"resumed at step {step}", flush=True)
    while step < o.steps and signal.SIGTERM not in asked:
        x, z = make_batch(o, step)
        loss = nn.functional.mse_loss(net(x), z)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if signal.SIGUSR1 in asked or (o.save_every and step % o.save_every == 0):
            asked.discard(signal.SIGUSR1)
            save(path, step, net, optimizer)
        if time.monotonic() - shown > 0.25 or step == o.steps:
            shown = time.monotonic()
            print(f"step {step}/{o.steps} loss {loss.item():.4f}", flush=True)
    save(path, step, net, optimizer)
    return 0 if step >= o.steps else 128 + signal.SIGTERM


if __name__ == "__main__":
    raise SystemExit(main())
