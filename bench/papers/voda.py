"""Voda (Hsieh): the experiments of its repository, from its logs."""
import os

from common import ROOT, expect, percent, run_sim

VODA = {'poisson': {'voda-elastic-fifo': (6196, 3506), 'voda-elastic-las': (7269, 4506), 'voda-ffdl': (6071, 3504),
                    'voda-afs-l': (6017, 3079)},
        'bursty': {'voda-elastic-fifo': (6442, 2549), 'voda-elastic-las': (7344, 3276), 'voda-ffdl': (6364, 2586),
                   'voda-afs-l': (6893, 2711)}}


def voda(program):
    print('Voda, 24 jobs on 3 x 4 GPUs, decisions 120 s apart, 90 s per resize or restart')
    print('  %-9s %-18s %25s %30s' % ('arrivals', 'policy', 'makespan publ. / ours', 'mean completion publ. / ours'))
    for arrivals, policies in VODA.items():
        results = run_sim(program, os.path.join(ROOT, 'data/voda/%s.csv' % arrivals), '3x4', list(policies),
                          '--profiles', os.path.join(ROOT, 'data/voda/speedups.csv'), '--resched-min', '120',
                          '--resize-cost', '90', '--restart-cost', '90', '--move-cost', '90')
        for r in results:
            span, mean = policies[r['policy']]
            print('  %-9s %-18s %8d / %7.0f (%+5.1f %%) %10d / %7.0f (%+5.1f %%)' % (
                arrivals, r['policy'], span, r['makespan_s'], percent(r['makespan_s'], span), mean, r['mean_jct_s'],
                percent(r['mean_jct_s'], mean)))
            expect(r['finished'] == r['jobs'], 'all jobs of %s finish' % r['policy'])
