#!/usr/bin/python3
"""How much longer a training takes when another one runs on the next core.

usage: bench/interference.py [--rounds N] [--steps N]

Two real models in PyTorch (bench/live/train.py), one thread each, each on a core of its own: they share caches and
memory, nothing else. The time of a step is counted in CPU seconds, so that other load on the machine, which takes the
core away for a while, counts as little as possible. Each round measures a model alone and beside each other model, in
turn; the median of the ratios is printed. `stream` copies memory without a pause, the worst neighbour there is.
"""
import argparse
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = ('vae', 'mlp', 'cnn', 'gru')
STREAM = 'stream'


def train(model, core, steps):
    """Prints the CPU seconds of each step; stops when its input ends, if it has no number of steps."""
    import time

    import torch
    sys.path.insert(0, os.path.join(HERE, 'live'))
    from train import BATCHES, Pictures, make
    os.sched_setaffinity(0, {core})
    torch.manual_seed(1)
    if model == STREAM:
        a, b = torch.zeros(1 << 24), torch.zeros(1 << 24)
        work = lambda: a.copy_(b)
    else:
        net, pictures = make(model), Pictures(1)
        optimizer = torch.optim.Adam(net.parameters())
        batch = pictures.batch(BATCHES[model])

        def work():
            optimizer.zero_grad()
            net(*batch).backward()
            optimizer.step()
    for _ in range(3):
        work()
    print('ready', flush=True)
    done = 0
    while done < steps or steps == 0:
        begun = time.process_time()
        work()
        done += 1
        if steps:
            print(time.process_time() - begun, flush=True)


def start(model, core, steps):
    env = dict(os.environ, OMP_NUM_THREADS='1', LD_LIBRARY_PATH='/usr/lib/x86_64-linux-gnu/openblas-openmp')
    p = subprocess.Popen([sys.executable, __file__, '--part', model, str(core), str(steps)], env=env,
                         stdout=subprocess.PIPE, text=True)
    p.stdout.readline()
    return p


def step_time(model, neighbour, steps, cores):
    """Median CPU seconds of a step of the model, beside the neighbour or alone."""
    other = start(neighbour, cores[1], 0) if neighbour else None
    p = start(model, cores[0], steps)
    times = [float(line) for line in p.stdout]
    p.wait()
    if other:
        other.kill()
        other.wait()
    return statistics.median(times)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--rounds', type=int, default=5)
    p.add_argument('--steps', type=int, default=30)
    p.add_argument('--part', nargs=3, help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.part:
        return train(args.part[0], int(args.part[1]), int(args.part[2]))
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        sys.exit('two cores are needed')
    print('CPU time of a step beside a neighbour on another core, relative to alone; median of %d rounds of %d steps' %
          (args.rounds, args.steps))
    print('  %-8s %10s ' % ('model', 'alone, ms') + ' '.join('%8s' % n for n in (*MODELS, STREAM)))
    every = []
    for model in MODELS:
        alone, ratios = [], {n: [] for n in (*MODELS, STREAM)}
        for _ in range(args.rounds):
            before = step_time(model, None, args.steps, cores)
            beside = {n: step_time(model, n, args.steps, cores) for n in ratios}
            after = step_time(model, None, args.steps, cores)
            alone.append((before + after) / 2)
            for n, t in beside.items():
                ratios[n].append(2 * t / (before + after))
        found = {n: statistics.median(r) for n, r in ratios.items()}
        every += [found[n] for n in MODELS]
        print('  %-8s %10.1f ' % (model, 1e3 * statistics.median(alone)) +
              ' '.join('%8.2f' % r for r in found.values()), flush=True)
    print('All pairs of models: mean %.3f, median %.3f, least %.3f, most %.3f' % (
        statistics.mean(every), statistics.median(every), min(every), max(every)))
    print('A neighbour that keeps the rest of the node busy: trainyard sim --interference %.0f%%' % (
        100 * max(0, statistics.median(every) - 1)))
    return None


if __name__ == '__main__':
    main()
