"""SpeCon (Zheng, thesis, 5.2 and 6.2)."""
import random
import statistics

from common import cpu_job, expect, percent, simulate


def specon_case(program, name, n, nodes, published, times, works, curves, baseline='kubernetes', options=''):
    mean, span, moves, worse = [], [], [], 0
    for seed in range(20):
        r = random.Random(seed)
        jobs = sorted((times(r, i), works(r), r.choice(curves)) for i in range(n))
        lines = [cpu_job('job-%d' % i, *j) for i, j in enumerate(jobs)]
        a, b = simulate(program, lines, '%dx1c' % nodes, [baseline, 'specon' + options], '--move-cost', '5',
                        '--seed', str(seed))
        mean.append(percent(b['mean_jct_s'], a['mean_jct_s']))
        span.append(percent(b['makespan_s'], a['makespan_s']))
        moves.append(b['migrations'])
        worse += mean[-1] > 0
    print('  %-34s %8.1f %+8.1f ± %4.1f %8.1f %+8.1f ± %4.1f %7.1f %9d' % (
        name, published[0], statistics.mean(mean), statistics.stdev(mean), published[1], statistics.mean(span),
        statistics.stdev(span), statistics.mean(moves), worse))
    expect(statistics.mean(mean) < 0 and statistics.mean(span) < 0, 'SpeCon shortens both in %s' % name)


def specon(program):
    print('SpeCon compared with the default scheduler, 20 seeds, change in % (mean ± standard deviation)')
    print('  %-34s %8s %15s %8s %15s %7s %9s' % ('', 'mean', 'mean', 'span', 'span', 'moves', 'seeds with'))
    print('  %-34s %8s %15s %8s %15s %7s %9s' % ('case', 'publ.', 'ours', 'publ.', 'ours', '', 'worse mean'))
    mixed = [5.2, 11.5, 19.6, 12, 16]
    draw = lambda r: r.uniform(90, 300)
    specon_case(program, '20 VAE every 50 s, 4 workers', 20, 4, (-14.7, -5.6), lambda r, i: 50 * i,
                lambda r: 210, [5.2])
    for n, span, nodes, published in ((20, 300, 4, (-13.6, -24.7)), (30, 300, 4, (-5.9, -16.4)),
                                      (50, 1200, 8, (-7.2, -11.1))):
        specon_case(program, '%d random in [0,%d], %d workers' % (n, span, nodes), n, nodes, published,
                    lambda r, i, span=span: r.uniform(0, span), draw, mixed)
