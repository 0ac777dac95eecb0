#!/usr/bin/python3
"""What PyTorch computes, to compare runs whose number of threads changes with runs in
which it does not.

    torch_job.py mlp STEPS      a loss for each step, of all digits
    torch_job.py cnn STEPS      how far the gradients of each step are from those in
                                $GRADIENTS; if there are none, the first step's go there
    torch_job.py sums STEPS     reductions, whose tables have a row for each thread
    torch_job.py loader         batches by two worker processes, and a step on each
    torch_job.py serve          reads words: "step" makes a step, "runs N" as many short
                                trainings, "set N" sets the threads; each answers with
                                what torch.get_num_threads says afterwards
"""
import os
import sys

import torch
from torch import nn


def make_mlp(seed=1):
    """Of sizes with which OpenBLAS gives the same bits on 1, 2, 3, 4 and 8 threads."""
    torch.manual_seed(seed)
    x, z = torch.randn(192, 384), torch.randn(192, 96)
    net = nn.Sequential(nn.Linear(384, 384), nn.ReLU(), nn.Linear(384, 384), nn.ReLU(),
                        nn.Linear(384, 96))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

    def step():
        loss = nn.functional.mse_loss(net(x), z)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()
    return step


def mlp(steps):
    step = make_mlp()
    for _ in range(steps):
        print(step().hex(), flush=True)


def make_cnn():
    torch.manual_seed(1)
    x, z = torch.randn(16, 3, 32, 32), torch.randint(0, 10, (16,))
    net = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
                        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(4),
                        nn.Flatten(), nn.Linear(64 * 64, 10))

    def gradients():
        net.zero_grad()
        nn.functional.cross_entropy(net(x), z).backward()
        return torch.cat([p.grad.flatten() for p in net.parameters()])
    return gradients


def cnn(steps):
    gradients = make_cnn()
    path = os.environ["GRADIENTS"]
    if not os.path.exists(path):
        torch.save(gradients(), path)
    right = torch.load(path)
    for _ in range(steps):
        print((gradients() - right).abs().max().item(), flush=True)


def sums(steps):
    x = torch.arange(1 << 20, dtype=torch.float64)
    right = float((1 << 20) * ((1 << 20) - 1) // 2)
    for _ in range(steps):
        print(x.sum().item() == right, flush=True)


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        return torch.full((1000,), float(i)).pow(2).sum()


def loader():
    net = nn.Linear(1, 1)
    total = 0.0
    for batch in torch.utils.data.DataLoader(Squares(), batch_size=8, num_workers=2):
        net(batch[:, None]).sum().backward()
        total += batch.sum().item()
    print(total)


def serve():
    step, gradients = make_mlp(), make_cnn()
    for line in sys.stdin:
        word, *numbers = line.split()
        if word == "step":
            step()
            gradients()
        elif word == "runs":
            for seed in range(int(numbers[0])):
                short = make_mlp(seed)
                short()
                short()
        elif word == "set":
            torch.set_num_threads(int(numbers[0]))
        print(torch.get_num_threads(), flush=True)


def main():
    name, *steps = sys.argv[1:]
    {"mlp": mlp, "cnn": cnn, "sums": sums, "loader": loader, "serve": serve}[name](*map(int, steps))


if __name__ == "__main__":
    main()
