#!/usr/bin/env python3
"""Solves recorded rounds with cbc and glpsol, and compares with what prices found.

usage: bench/gap.py GAP [--check]

GAP is the built bench/gap. Exits with 1 if the mean gap, or its 99th percentile, is 1 % or more. With --check, fewer rounds are taken.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TRACE, PROFILES = 'data/elasticflow/cluster10.csv', 'data/elasticflow/throughputs.csv'
NODES = '2x8:a100,4x4:t4'
SECONDS = 60


def run(command):
    start = time.monotonic()
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    return out, time.monotonic() - start


def cbc(path):
    out, seconds = run(['cbc', path, 'sec', str(SECONDS), 'solve', 'quit'])
    found = re.search(r'Objective value: +(-?[0-9.e+-]+)', out)
    proven = 'Optimal solution found' in out
    return abs(float(found.group(1))) if found else None, seconds, proven


def glpsol(path):
    result = path + '.txt'
    out, seconds = run(['glpsol', '--lp', path, '--tmlim', str(SECONDS), '--cuts', '-o', result])
    with open(result) as f:
        found = re.search(r'Objective: +value = +(-?[0-9.e+-]+)', f.read())
    return float(found.group(1)) if found else None, seconds, 'OPTIMAL SOLUTION FOUND' in out.upper()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    every = '400' if '--check' in sys.argv[2:] else '100'
    gaps, worst = [], 0
    print('Rounds of sia on %s, %s: sums of values' % (TRACE, NODES))
    print('%5s %8s %9s %9s %9s %9s %8s %9s %9s %9s' % (
        'jobs', 'options', 'prices', 'bound', 'cbc', 'glpsol', 'gap', 'prices', 'cbc', 'glpsol'))
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run([os.path.abspath(sys.argv[1]), TRACE, NODES, PROFILES, folder, every], cwd=ROOT, check=True,
                             stdout=subprocess.PIPE, text=True).stdout
        for line in out.splitlines():
            path, jobs, options, value, bound, us = line.split()
            value, bound = float(value), float(bound)
            first, second = cbc(path), glpsol(path)
            best = max(x[0] for x in (first, second) if x[0] is not None)
            if best > bound * (1 + 1e-6):
                sys.exit('%s: a solver has found %g, which is above the bound %g' % (path, best, bound))
            gap = 1 - value / best
            gaps.append(gap)
            worst = max(worst, gap)
            print('%5s %8s %9.4f %9.4f %9s %9s %7.2f%% %6.2f ms %6.0f ms %6.0f ms' % (
                jobs, options, value, bound, *('%.4f%s' % (x[0], '' if x[2] else '*') if x[0] is not None else '-'
                                               for x in (first, second)), 100 * gap, float(us) / 1000,
                1000 * first[1], 1000 * second[1]), flush=True)
    mean = sum(gaps) / len(gaps)
    print('* stopped after %d s; the gap is to the better one of both' % SECONDS)
    p99 = sorted(gaps)[-(-99 * len(gaps) // 100) - 1]
    print('%d rounds: mean gap %.3f %%, p99 %.3f %%, largest %.3f %%' % (len(gaps), 100 * mean, 100 * p99, 100 * worst))
    return 1 if max(mean, p99) >= 0.01 else 0


if __name__ == '__main__':
    sys.exit(main())
