"""QoS-oriented scheduling and autoscaling: deadlines met, and how much of the allocated CPUs is used."""
import json
import statistics
import subprocess

from common import expect

POLICIES = {'fifo:order=skip': 'as requested (fifo)', 'edf': 'edf', 'qos': 'qos'}
CASES = (('short: load 3, deadline 1.2-2 x run time', 'jobs=2000,load=3,slack=1.2-2,sizes=1/2/4:7/2/1', 5),
         ('sufficient: load 0.2, deadline 0.8-2 x', 'jobs=200,load=0.2,slack=0.8-2,sizes=1/2/4:7/2/1', 20),
         ('over-provisioned: 8 CPUs each, load 1', 'jobs=500,load=1,slack=1.5-3,sizes=8', 20))


def run(program, spec, seeds):
    """For each policy the figures of all seeds."""
    found = {p: [] for p in POLICIES}
    for seed in range(seeds):
        out = subprocess.run([program, 'sim', '-g', 'poisson:%s,unit=cpu,kind=malleable,deadlines=1,min=1,max=8' % spec,
                              '-n', '8x8c', '--json', '--seed', str(seed)] + [x for p in found for x in ('-p', p)],
                             check=True, stdout=subprocess.PIPE, text=True).stdout
        for r in map(json.loads, out.splitlines()):
            found[r['policy']].append(r)
    return found


def mean(rows, key):
    return 100 * statistics.mean(r[key] for r in rows)


def qos(program):
    print('QoS-oriented autoscaling, malleable CPU jobs with deadlines on 8 x 8 cores')
    print('  published: +26 % deadlines met when resources are short, 100 % when they suffice; allocated CPUs used 100 %')
    print('  %-42s %-20s %14s %14s %16s' % ('resources', 'policy', 'deadlines met', 'CPUs allocated', 'of them used'))
    for what, spec, seeds in CASES:
        met = {}
        for p, rows in run(program, spec, seeds).items():
            met[p] = 100 * statistics.mean(r['deadline_met'] / r['deadline_jobs'] for r in rows)
            print('  %-42s %-20s %12.1f %% %12.1f %% %14.1f %%' % (what, POLICIES[p], met[p], mean(rows, 'utilization'),
                                                                   mean(rows, 'allocated_used')))
            what = ''
        expect(met['qos'] == max(met.values()), 'qos meets most deadlines, %s' % spec)
        if 'load=3' in spec:
            expect(met['qos'] < 99, 'resources are short')
            expect(met['qos'] > 1.26 * met['fifo:order=skip'], 'at least 26 % more than as requested')
        if 'load=0.2' in spec:
            expect(met['qos'] > 99, 'qos meets nearly all deadlines when resources suffice')
