#!/usr/bin/python3
"""The overhead of saving and resuming a training, by stage and by model (figures 3.2 and 3.3 of SpeCon's thesis).

usage: bench/papers/overhead.py [--steps N] [--rounds N]

Real models in PyTorch (bench/live/train.py). A training is stopped when a share of its steps is done: it saves its
weights and its optimizer, the process ends, and another one loads them and goes on. The overhead is what both
processes need together beyond one that is never stopped. It is counted in CPU seconds of one thread, which other
load on the machine hardly changes; saving and loading are also given by the clock. The median of the rounds is shown.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'live'))
MODELS, STAGES = ('vae', 'mlp', 'cnn', 'gru'), (10, 30, 50, 70, 90)


def train(model, first, last, path, then):
    """Does the steps from first to last, from what was saved if first > 0; saves afterwards if there is a rest."""
    import torch
    from train import BATCHES, Pictures, make
    torch.manual_seed(1)
    net, pictures, took = make(model), Pictures(1), [0, 0]
    optimizer = torch.optim.Adam(net.parameters())
    if first:
        begun = time.monotonic()
        saved = torch.load(path)
        net.load_state_dict(saved['net'])
        optimizer.load_state_dict(saved['optimizer'])
        took[1] = time.monotonic() - begun
    for _ in range(first, last):
        optimizer.zero_grad()
        net(*pictures.batch(BATCHES[model])).backward()
        optimizer.step()
    if then == 'save':
        begun = time.monotonic()
        torch.save({'net': net.state_dict(), 'optimizer': optimizer.state_dict()}, path)
        took[0] = time.monotonic() - begun
    print(*took)


def run(model, first, last, path, then):
    """CPU seconds of a process that does so, and how long it saved and loaded."""
    env = dict(os.environ, OMP_NUM_THREADS='1',
               LD_LIBRARY_PATH='/usr/lib/x86_64-linux-gnu/openblas-openmp')
    p = subprocess.Popen([sys.executable, __file__, '--part', model, str(first), str(last), path, then], env=env,
                         stdout=subprocess.PIPE, text=True)
    out = p.stdout.read()
    _, status, usage = os.wait4(p.pid, 0)
    if status:
        sys.exit('%s: the training failed' % model)
    return [usage.ru_utime + usage.ru_stime, *map(float, out.split())]


def stopped(model, steps, stage):
    """CPU seconds of both parts, and seconds of saving and loading."""
    with tempfile.TemporaryDirectory() as tmp:
        path, at = os.path.join(tmp, 'saved.pt'), steps * stage // 100
        a, b = run(model, 0, at, path, 'save'), run(model, at, steps, path, 'end')
        return a[0] + b[0], a[1], b[2], os.path.getsize(path)


def median(values):
    return statistics.median(values)


def compare(model, steps, stages, rounds):
    whole = median([run(model, 0, steps, '-', 'end')[0] for _ in range(rounds)])
    for stage in stages:
        found = [stopped(model, steps, stage) for _ in range(rounds)]
        total, save, load = (median([f[i] for f in found]) for i in range(3))
        print('  %-6s %5d %% %10.2f %12.2f %10.2f %10.3f %10.3f %9.1f' % (
            model, stage, whole, total, total - whole, save, load, found[0][3] / 1e6), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--steps', type=int, default=200)
    p.add_argument('--rounds', type=int, default=3)
    p.add_argument('--part', nargs=5, help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.part:
        model, first, last, path, then = args.part
        return train(model, int(first), int(last), path, then)
    print('Saving and resuming: CPU seconds, %d steps, median of %d; published: below 5 s at every stage and for every '
          'model' % (args.steps, args.rounds))
    print('  %-6s %7s %10s %12s %10s %10s %10s %9s' % ('model', 'stopped', 'nonstop', 'with a stop', 'overhead',
                                                       'saving, s', 'loading, s', 'MB saved'))
    compare('vae', args.steps, STAGES, args.rounds)
    for model in MODELS[1:]:
        compare(model, args.steps, (30, 70), args.rounds)
    return None


if __name__ == '__main__':
    main()
