#!/usr/bin/env python3
"""Other simulators' figures beside ours, on the same traces under their event rules.

usage: bench/peers/run.py PROGRAM [--check]

Prints one table per peer; exits 1 when a figure that must be equal is not. The peers' figures are in the
CSV files beside this program: see docs/peers.md for how they were made. With --check only these
comparisons are made, without repeated timing.
"""
import csv
import json
import os
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def rows(name):
    with open(os.path.join(HERE, name)) as f:
        yield from csv.reader(line for line in f if not line.startswith('#'))


def cpu_of(command):
    """Runs it; its output and the CPU seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def sim(program, trace, nodes, policy, *options, repeat=1):
    command = [program, 'sim', trace, '-n', nodes, '-p', policy, '--json', *options]
    runs = [cpu_of(command) for _ in range(repeat)]
    return json.loads(runs[0][0]), min(cpu for _, cpu in runs)


def tiresias(program, check):
    bad = 0
    print('Tiresias simulator, counting placement (--rules tiresias): must be equal to three decimals')
    print('%-22s %-5s %-20s %14s %14s %10s %10s %8s' % (
        'trace', 'nodes', 'policy', 'peer mean s', 'our mean s', 'peer span', 'our span', 'x faster'))
    for trace, nodes, _, policy, mean, span, cpu in rows('tiresias.csv'):
        r, ours = sim(program, trace, nodes, policy, '--rules', 'tiresias', repeat=1 if check or not cpu else 9)
        same = '%.3f' % r['mean_jct_s'] == mean and r['makespan_s'] == float(span)
        bad += not same
        print('%-22s %-5s %-20s %14s %14.3f %10s %10d %8s%s' % (
            os.path.basename(trace), nodes, policy, mean, r['mean_jct_s'], span, r['makespan_s'],
            '%.0f' % (float(cpu) / ours) if cpu and not check else '-', '' if same else '  DIFFERS'))
    return bad


def elasticflow(program):
    bad = 0
    profiles = ('--profiles', 'data/elasticflow/throughputs.csv')
    print('\nElasticFlow simulator (--rules elasticflow): must be equal')
    print('%-22s %-10s %-8s %10s %10s %14s %14s %10s %10s' % (
        'trace', 'nodes', 'policy', 'peer met', 'our met', 'peer mean s', 'our mean s', 'peer span', 'our span'))
    for trace, nodes, _, policy, met, of, mean, span in rows('elasticflow.csv'):
        r, _ = sim(program, trace, nodes, policy, '--rules', 'elasticflow', *profiles)
        same = (r['deadline_met'] == int(met) and r['deadline_jobs'] == int(of)
                and '%.2f' % r['mean_jct_s'] == mean and r['makespan_s'] == float(span))
        bad += not same
        print('%-22s %-10s %-8s %10s %10s %14s %14.2f %10s %10d%s' % (
            os.path.basename(trace), nodes, policy, '%s/%s' % (met, of),
            '%d/%d' % (r['deadline_met'], r['deadline_jobs']), mean, r['mean_jct_s'], span, r['makespan_s'],
            '' if same else '  DIFFERS'))
    print('\nOur deadline policy, each change of size stopping a job for 20 s')
    print('%-22s %-10s %16s %10s %10s' % ('trace', 'nodes', 'ElasticFlow met', 'our met', 'at least'))
    for trace, nodes, peer, least in (('elasticVpollux_e', '16x4:t4', '142/195', 171),
                                      ('cluster10', '32x8:a100', '250/260', 257),
                                      ('philly_103959', '32x8:a100', '797/876', 815)):
        r, _ = sim(program, 'data/elasticflow/%s.csv' % trace, nodes, 'deadline', '--resize-cost', '20', *profiles)
        good = r['deadline_met'] >= least and r['finished'] == r['jobs']
        bad += not good
        print('%-22s %-10s %16s %10s %10d%s' % (trace, nodes, peer, '%d/%d' % (r['deadline_met'], r['jobs']),
                                              least, '' if good else '  FEWER'))
    return bad


def main():
    program = os.path.abspath(sys.argv[1])
    check = '--check' in sys.argv
    bad = tiresias(program, check) + elasticflow(program)
    print('\n%s' % ('all equal' if not bad else '%d figures differ' % bad))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
