#!/usr/bin/python3
"""How much longer a training takes when another one runs on the next core.

usage: bench/interference.py [--rounds N] [--steps N]

Two real models in PyTorch (bench/live/train.py), one thread each, each on a core of its own: they share caches and
memory, nothing else. One trains all the time; the other is stopped and continued in turn, so that each step beside it
has steps alone right before and after. A step is counted in CPU seconds, and the ratio of the medians is taken in each
round: other load on the machine, which takes the cores away and fills the caches too, then counts as little as possible.
`stream` copies memory without a pause, the worst neighbour there is.
"""
import argparse
import os
import signal
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = ('vae', 'mlp', 'cnn', 'gru')
STREAM = 'stream'
CORES = sorted(os.sched_getaffinity(0))[:2]


def train(model, core, how):
    """Trains without end; prints the CPU seconds of each step, or if it is quiet only of the first."""
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
    said = False
    while True:
        begun = time.process_time()
        work()
        if how != 'quiet' or not said:
            print(time.process_time() - begun, flush=True)
        said = True


def start(model, core, how):
    env = dict(os.environ, OMP_NUM_THREADS='1', LD_LIBRARY_PATH='/usr/lib/x86_64-linux-gnu/openblas-openmp')
    p = subprocess.Popen([sys.executable, __file__, '--part', model, str(core), how], env=env,
                         stdout=subprocess.PIPE, text=True)
    p.stdout.readline()
    return p


def median_step(trainer, steps):
    """Of the next steps; the first ones may have begun before the neighbour was stopped or continued."""
    for _ in range(2):
        trainer.stdout.readline()
    return statistics.median(float(trainer.stdout.readline()) for _ in range(steps))


def ratio(model, neighbour, rounds, steps):
    """The median ratio of a step beside the neighbour to one alone, and the time of one alone."""
    other, trainer = start(neighbour, CORES[1], 'quiet'), start(model, CORES[0], 'each')
    alone, ratios = [], []
    try:
        for _ in range(rounds):
            other.send_signal(signal.SIGSTOP)
            before = median_step(trainer, steps)
            other.send_signal(signal.SIGCONT)
            beside = median_step(trainer, steps)
            other.send_signal(signal.SIGSTOP)
            after = median_step(trainer, steps)
            alone.append((before + after) / 2)
            ratios.append(beside / alone[-1])
    finally:
        for p in (trainer, other):
            p.kill()
            p.wait()
    return statistics.median(ratios), statistics.median(alone)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--rounds', type=int, default=15)
    p.add_argument('--steps', type=int, default=10)
    p.add_argument('--part', nargs=3, help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.part:
        return train(args.part[0], int(args.part[1]), args.part[2])
    if len(CORES) < 2:
        sys.exit('two cores are needed')
    print('CPU time of a step beside a neighbour on another core, relative to alone; median of %d rounds of %d steps' %
          (args.rounds, args.steps))
    print('  %-8s %10s ' % ('model', 'alone, ms') + ' '.join('%8s' % n for n in (*MODELS, STREAM)))
    every = []
    for model in MODELS:
        found = {n: ratio(model, n, args.rounds, args.steps) for n in (*MODELS, STREAM)}
        every += [found[n][0] for n in MODELS]
        print('  %-8s %10.1f ' % (model, 1e3 * statistics.median(t for _, t in found.values())) +
              ' '.join('%8.2f' % r for r, _ in found.values()), flush=True)
    print('All pairs of models: mean %.3f, median %.3f, least %.3f, most %.3f' % (
        statistics.mean(every), statistics.median(every), min(every), max(every)))
    print('A neighbour that keeps the rest of the node busy: trainyard sim --interference %.0f%%' % (
        100 * max(0, statistics.median(every) - 1)))
    return None


if __name__ == '__main__':
    main()
