#!/usr/bin/python3
"""A small real training in PyTorch, for the experiments: images of ten shapes in noise,
generated from the seed, so that nothing has to be downloaded.

    python3 train.py MODEL [--steps N] [--batch N] [--lr X] [--seed N] [--times FILE]

Models: mlp, cnn (classifiers), vae (learns to draw the images), gru (reads them row by row).
Prints "step N/TOTAL loss L", where L is the mean since the previous line. It does not use
Trainyard and does not set its number of threads.
"""
import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F

SIDE, CLASSES = 28, 10
BATCHES = {"mlp": 256, "cnn": 64, "vae": 256, "gru": 128}
LINE_S = 0.1  # at least this long between two lines


class Pictures:
    """Ten smooth shapes; an image is one of them, shifted, in noise."""

    def __init__(self, seed):
        self.random = torch.Generator().manual_seed(seed)
        coarse = torch.rand(CLASSES, 1, 7, 7, generator=self.random)
        self.shapes = F.interpolate(coarse, size=SIDE, mode="bilinear", align_corners=False)

    def batch(self, n):
        y = torch.randint(CLASSES, (n,), generator=self.random)
        shift = torch.randint(-2, 3, (2,), generator=self.random).tolist()
        x = torch.roll(self.shapes[y], shift, (2, 3))
        return (x + 0.3 * torch.randn(x.shape, generator=self.random)).clamp(0, 1), y


class Classifier(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x, y):
        return F.cross_entropy(self.layers(x), y)


class Reader(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.gru = nn.GRU(SIDE, hidden, batch_first=True)
        self.out = nn.Linear(hidden, CLASSES)

    def forward(self, x, y):
        return F.cross_entropy(self.out(self.gru(x.squeeze(1))[0][:, -1]), y)


class Vae(nn.Module):
    def __init__(self, hidden=400, code=20):
        super().__init__()
        self.encode = nn.Linear(SIDE * SIDE, hidden)
        self.mean, self.variance = nn.Linear(hidden, code), nn.Linear(hidden, code)
        self.decode = nn.Sequential(nn.Linear(code, hidden), nn.ReLU(),
                                    nn.Linear(hidden, SIDE * SIDE))

    def forward(self, x, _):
        x = x.flatten(1)
        h = F.relu(self.encode(x))
        mean, log_variance = self.mean(h), self.variance(h)
        code = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        drawn = F.binary_cross_entropy_with_logits(self.decode(code), x, reduction="sum")
        spread = -0.5 * torch.sum(1 + log_variance - mean ** 2 - log_variance.exp())
        return (drawn + spread) / len(x)


def make(model):
    if model == "vae":
        return Vae()
    if model == "gru":
        return Reader()
    if model == "mlp":
        return Classifier(nn.Flatten(), nn.Linear(SIDE * SIDE, 1024), nn.ReLU(),
                          nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, CLASSES))
    return Classifier(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(),
                      nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 12 * 12, CLASSES))


def parse():
    p = argparse.ArgumentParser(description="train a small network")
    p.add_argument("model", choices=BATCHES)
    p.add_argument("--steps", type=int, default=200)
    p.add_argument("--batch", type=int)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--times", help="append `STEP SECONDS` of the monotonic clock, step by step")
    return p.parse_args()


def main():
    o = parse()
    torch.manual_seed(o.seed)
    pictures, net = Pictures(o.seed), make(o.model)
    optimizer = torch.optim.Adam(net.parameters(), lr=o.lr)
    times = open(o.times, "a", buffering=1) if o.times else None
    total, steps, shown = 0.0, 0, 0.0
    for step in range(1, o.steps + 1):
        loss = net(*pictures.batch(o.batch or BATCHES[o.model]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, steps, now = total + loss.item(), steps + 1, time.monotonic()
        if times:
            times.write(f"{step} {now:.6f}\n")
        if now - shown > LINE_S or step == o.steps:
            print(f"step {step}/{o.steps} loss {total / steps:.5f}", flush=True)
            total, steps, shown = 0.0, 0, now


if __name__ == "__main__":
    main()
