#!/usr/bin/env python3
"""auto against every policy that it chooses from, on the traces in data/.

usage: bench/auto/run.py PROGRAM [--check]

Prints mean completion times over that of the best single policy, the geometric mean of these ratios, and where auto
misses its goal. Sizes are given first; then all policies see estimates, as on a live server. Every change costs 30 s.
Exits with 1 if a goal is missed, or a single policy is better on the geometric mean. With --check only the small traces
run, and a miss that EXPLAINED names does not count unless it has become larger.
"""
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
POLICIES = ('hesrpt', 'afs-l', 'srsf', 'srtf', 'srjf', 'elastic-srjf', 'elastic-las', 'las', 'fifo', 'elastic-fifo')
AUTO = 'auto:goal=mean:budget=10ms'
# What we hold ourselves to: auto over the best single policy on each trace, and on the geometric mean.
GOAL_EACH = 1.02
# What is missed today, by trace: the largest ratio with given and with estimated sizes. docs/policies/auto.md says why.
EXPLAINED = {'Tiresias 60': (1.03, 1.11), 'Pollux 1.0x, 3': (1.035, 1.035)}
POLLUX = [('Pollux %s, %d' % (load, i), 'data/pollux/%sworkload-%d.csv' % (folder, i), '16x4', 'data/pollux/profiles')
          for load, folder in (('0.5x', 'load-0.5/'), ('1.0x', ''), ('2.0x', 'load-2.0/')) for i in range(1, 7)]
SMALL = [
    ('demo', 'data/demo.csv', '4x4', None),
    ('Tiresias 60', 'data/tiresias/60_job.csv', '4x4', None),
    ('Voda poisson', 'data/voda/poisson.csv', '3x4', 'data/voda/speedups.csv'),
    ('Voda bursty', 'data/voda/bursty.csv', '3x4', 'data/voda/speedups.csv'),
    ('ElasticFlow 10', 'data/elasticflow/cluster10.csv', '16x8:a100', 'data/elasticflow/throughputs.csv'),
]
LARGE = [
    ('ElasticFlow', 'data/elasticflow/elasticVpollux_e.csv', '16x4:t4', 'data/elasticflow/throughputs.csv'),
    ('ElasticFlow Philly', 'data/elasticflow/philly_103959.csv', '16x8:a100', 'data/elasticflow/throughputs.csv'),
    ('Shockwave 120', 'data/shockwave/120_jobs.csv', '8x4', None),
    ('Shockwave 220', 'data/shockwave/220_0.2_5_100_25.csv', '16x4', None),
    ('Gavel', 'data/gavel/max_min_fairness.csv', '8x1:v100,16x1:p100,24x1:k80', 'data/gavel/rates.csv'),
    ('Muri trace3', 'data/muri/trace3_seconds.csv', '8x8', None),
] + POLLUX


def means(program, trace, nodes, profiles, sizes):
    """Mean completion time of each policy, and of auto last, with how often it changed."""
    command = [program, 'sim', trace, '-n', nodes, '--json', '--sizes', sizes]
    command += ['--profiles', profiles] if profiles else []
    for cost in ('--restart-cost', '--resize-cost', '--move-cost'):
        command += [cost, '30']
    for policy in POLICIES + (AUTO,):
        command += ['-p', 'allocate=%s,place=best-fit' % policy]
    out = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = [json.loads(line) for line in out.splitlines()]
    return [r['mean_jct_s'] for r in rows], rows[-1]['choices']


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def compare(program, traces, sizes):
    """Prints the table; returns how many goals were missed, and how many for known reasons."""
    print('\nSizes %s: mean completion time over that of the best single policy' % sizes)
    print('%-18s %s %8s %8s  %s' % ('trace', ' '.join('%12s' % p for p in POLICIES), 'auto', 'changes', 'best'))
    ratios, missed, explained = [], 0, 0
    for name, trace, nodes, profiles in traces:
        found, choices = means(program, trace, nodes, profiles, sizes)
        best = min(found[:-1])
        row = [f / best for f in found]
        ratios.append(row)
        bad = row[-1] > GOAL_EACH
        known = bad and row[-1] <= EXPLAINED.get(name, (0, 0))[sizes == 'estimated']
        explained += known
        missed += bad and not known
        print('%-18s %s %8.3f %8d  %s%s' % (name, ' '.join('%12.3f' % r for r in row[:-1]), row[-1], choices,
                                            POLICIES[found.index(best)],
                                            '  MISSED (known)' if known else '  MISSED' if bad else ''), flush=True)
    mean = [geometric_mean(column) for column in zip(*ratios)]
    bad = mean[-1] > min(mean[:-1])
    print('%-18s %s %8.3f %8s  %s' % ('geometric mean', ' '.join('%12.3f' % m for m in mean[:-1]), mean[-1], '',
                                      'MISSED' if bad else 'better than each'))
    return missed + bad, explained


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program, check = os.path.abspath(sys.argv[1]), '--check' in sys.argv[2:]
    traces = SMALL if check else SMALL + LARGE
    found = [compare(program, traces, sizes) for sizes in ('given', 'estimated')]
    missed, explained = (sum(column) for column in zip(*found))
    print('\n%d goals missed, and %d for known reasons' % (missed, explained))
    return 1 if missed or (explained and not check) else 0


if __name__ == '__main__':
    sys.exit(main())
