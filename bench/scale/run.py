#!/usr/bin/env python3
"""CPU time and memory on long traces.

usage: bench/scale/run.py PROGRAM [--short]

Our limits: 5 CPU seconds and 500 MB for the Philly trace under each policy. The CPU time per job of a
generated trace must not grow with the number of finished jobs. A queue that only grows (three times the work
that the cluster can do) shows the cost of a decision per active job. --short leaves out the million jobs and
the longest queue.
"""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(program, *words):
    """The figures of one simulation, its CPU seconds and its peak memory in MB."""
    child = subprocess.Popen([program, 'sim', '--json', *words], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit('%s failed' % ' '.join(words))
    return json.loads(out), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    words = [w for w in sys.argv[1:] if w != '--short']
    if len(words) != 1 or words[0].startswith('-'):
        print(__doc__.strip())
        return 0 if words in (['--help'], ['-h']) else 2
    program = os.path.abspath(words[0])
    print('Philly, 71,138 jobs on 300 x 8 GPUs; limit 5 CPU s and 500 MB')
    print('  %-14s %8s %8s %8s %12s %10s' % ('policy', 'CPU s', 'of 5 s', 'MB', 'jobs/CPU s', 'p99 us'))
    over = 0
    for policy in ('fifo', 'srtf', 'las', 'elastic-fifo', 'afs-l'):
        r, cpu, mb = run(program, 'data/philly/philly_jobs.csv', '-n', '300x8', '-p', policy)
        over += cpu > 5 or mb > 500
        print('  %-14s %8.2f %7.0f%% %8.0f %12.0f %10.0f' % (policy, cpu, cpu / 5 * 100, mb, r['jobs'] / cpu,
                                                          r['decision_p99_us']))
    print('\nGenerated jobs at load 0.9 on 32 x 8 GPUs: CPU microseconds per job')
    print('  %9s %12s %12s %12s %10s' % ('jobs', 'fifo', 'las', 'afs-l', 'MB (fifo)'))
    for n in (1000, 10000, 100000) + (() if '--short' in sys.argv else (1000000,)):
        cells = []
        for policy in ('fifo', 'las', 'afs-l'):
            _, cpu, mb = run(program, '-g', 'poisson:jobs=%d,load=0.9' % n, '-n', '32x8', '-p', policy)
            cells.append((1e6 * cpu / n, mb))
        print('  %9d %12.1f %12.1f %12.1f %10.0f' % (n, *(c for c, _ in cells), cells[0][1]))
    print('\nGenerated jobs at load 3 on 32 x 8 GPUs: CPU microseconds per decision, mean active jobs per')
    print('decision, and nanoseconds per active job')
    policies = ('fifo', 'las', 'afs-l')
    print('  %9s' % 'jobs' + ''.join('   %8s %9s %7s' % ('active', p, 'ns/job') for p in policies))
    for n in (4000, 8000, 16000) + (() if '--short' in sys.argv else (32000,)):
        line = '  %9d' % n
        for policy in policies:
            r, cpu, _ = run(program, '-g', 'poisson:jobs=%d,load=3' % n, '-n', '32x8', '-p', policy)
            active = r['mean_jct_s'] * n / r['makespan_s']
            each = 1e6 * cpu / r['decisions']
            line += '   %8.0f %9.1f %7.1f' % (active, each, 1000 * each / active)
        print(line, flush=True)
    print('\n%s' % ('within the limits' if not over else '%d over the limits' % over))
    return 1 if over else 0


if __name__ == '__main__':
    sys.exit(main())
