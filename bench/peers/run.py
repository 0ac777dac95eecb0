#!/usr/bin/env python3
"""Figures of other simulators and ours, on the same traces and under their event rules.

usage: bench/peers/run.py PROGRAM [--check]

Prints one table per peer; exits with 1 if a figure that must be equal is not. The peers' figures are in the
CSV files in this directory; docs/peers.md says how they were made. With --check, only these comparisons
are made, without timing.
"""
import csv
import json
import os
import resource
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def rows(name):
    with open(os.path.join(HERE, name)) as f:
        yield from csv.reader(line for line in f if not line.startswith('#'))


def cpu_of(command):
    """Runs it; returns its output and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def sim(program, trace, nodes, policy, *options):
    return json.loads(cpu_of([program, 'sim', trace, '-n', nodes, '-p', policy, '--json', *options])[0])


def speed(program, measured):
    """CPU seconds of the peer, with one run per policy, and of ours, with one command for all."""
    print('\n%-22s %-8s %14s %14s %10s' % ('all of these policies', 'nodes', 'peer CPU s', 'our CPU s', 'x faster'))
    for (trace, nodes), runs in measured.items():
        command = [program, 'sim', trace, '-n', nodes, '--json', '--rules', 'tiresias']
        for policy, _ in runs:
            command += ['-p', policy]
        peer = sum(cpu for _, cpu in runs)
        ours = statistics.median(cpu_of(command)[1] for _ in range(9))
        print('%-22s %-8s %14.2f %14.4f %10.0f' % (os.path.basename(trace), nodes, peer, ours, peer / ours))


def tiresias(program, check):
    bad, measured = 0, {}
    print('Tiresias simulator, counting placement (--rules tiresias): must be equal to three decimals')
    print('%-22s %-5s %-20s %14s %14s %10s %10s' % (
        'trace', 'nodes', 'policy', 'peer mean s', 'our mean s', 'peer span', 'our span'))
    for trace, nodes, _, policy, mean, span, cpu in rows('tiresias.csv'):
        r = sim(program, trace, nodes, policy, '--rules', 'tiresias')
        if cpu:
            measured.setdefault((trace, nodes), []).append((policy, float(cpu)))
        same = '%.3f' % r['mean_jct_s'] == mean and r['makespan_s'] == float(span)
        bad += not same
        print('%-22s %-5s %-20s %14s %14.3f %10s %10d%s' % (
            os.path.basename(trace), nodes, policy, mean, r['mean_jct_s'], span, r['makespan_s'],
            '' if same else '  DIFFERS'))
    if not check:
        speed(program, measured)
    return bad


def elasticflow(program):
    bad = 0
    profiles = ('--profiles', 'data/elasticflow/throughputs.csv')
    print('\nElasticFlow simulator (--rules elasticflow): must be equal')
    print('%-22s %-10s %-8s %10s %10s %14s %14s %10s %10s' % (
        'trace', 'nodes', 'policy', 'peer met', 'our met', 'peer mean s', 'our mean s', 'peer span', 'our span'))
    for trace, nodes, _, policy, met, of, mean, span in rows('elasticflow.csv'):
        r = sim(program, trace, nodes, policy, '--rules', 'elasticflow', *profiles)
        same = (r['deadline_met'] == int(met) and r['deadline_jobs'] == int(of)
                and '%.2f' % r['mean_jct_s'] == mean and r['makespan_s'] == float(span))
        bad += not same
        print('%-22s %-10s %-8s %10s %10s %14s %14.2f %10s %10d%s' % (
            os.path.basename(trace), nodes, policy, '%s/%s' % (met, of),
            '%d/%d' % (r['deadline_met'], r['deadline_jobs']), mean, r['mean_jct_s'], span, r['makespan_s'],
            '' if same else '  DIFFERS'))
    print('\nOur deadline policy, with 20 s lost at each change of size')
    print('%-22s %-10s %16s %10s %10s' % ('trace', 'nodes', 'ElasticFlow met', 'our met', 'at least'))
    for trace, nodes, peer, least in (('elasticVpollux_e', '16x4:t4', '142/195', 171),
                                      ('cluster10', '32x8:a100', '250/260', 257),
                                      ('philly_103959', '32x8:a100', '797/876', 815)):
        r = sim(program, 'data/elasticflow/%s.csv' % trace, nodes, 'deadline', '--resize-cost', '20', *profiles)
        good = r['deadline_met'] >= least and r['finished'] == r['jobs']
        bad += not good
        print('%-22s %-10s %16s %10s %10d%s' % (trace, nodes, peer, '%d/%d' % (r['deadline_met'], r['jobs']),
                                              least, '' if good else '  FEWER'))
    return bad


def main():
    words = [w for w in sys.argv[1:] if w != '--check']
    if len(words) != 1 or words[0].startswith('-'):
        print(__doc__.strip())
        return 0 if words in (['--help'], ['-h']) else 2
    program = os.path.abspath(words[0])
    check = '--check' in sys.argv
    bad = tiresias(program, check) + elasticflow(program)
    print('\n%s' % ('all equal' if not bad else '%d figures differ' % bad))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
