"""SpeCon (Zheng, thesis, 5.2 and 6.2): jobs that have nearly converged are moved between workers."""
import random
import statistics

from common import cpu_job, expect, percent, simulate

SEEDS = 20
VAE_WORK = 210  # seconds alone; not published, see docs/papers.md
MIXED = [5.2, 11.5, 19.6, 12, 16]  # k of VAE, GRU, Bi-RNN and two more curves between them


def fixed(n, step):
    """Jobs of one model, one every `step` seconds."""
    return lambda seed: [(step * i, VAE_WORK, 5.2) for i in range(n)]


def drawn(n, span, works=(90, 300), curves=MIXED):
    """Jobs that arrive at random within `span` seconds."""
    def make(seed):
        r = random.Random(seed)
        return sorted((r.uniform(0, span), r.uniform(*works), r.choice(curves)) for _ in range(n))
    return make


def compare(program, make, nodes, policies, *options, move=5):
    """Figures of each policy relative to the first, seed by seed."""
    found = {p: {'mean': [], 'span': [], 'moves': [], 'best': [], 'faster': []} for p in policies}
    for seed in range(SEEDS):
        lines = [cpu_job('job-%d' % (i + 1), *j) for i, j in enumerate(make(seed))]
        results = simulate(program, lines, '%dx1c' % nodes, policies, '--move-cost', str(move), '--seed', str(seed),
                           *options)
        for p, r in zip(policies, results):
            change = [percent(r['job'][j], results[0]['job'][j]) for j in r['job']]
            f = found[p]
            f['mean'].append(percent(r['mean_jct_s'], results[0]['mean_jct_s']))
            f['span'].append(percent(r['makespan_s'], results[0]['makespan_s']))
            f['moves'].append(r['migrations'])
            f['best'].append(min(change))
            f['faster'].append(100 * sum(c < -0.05 for c in change) / len(change))
    return found


def both(values):
    return '%+6.1f ± %4.1f' % (statistics.mean(values), statistics.stdev(values))


def cases(program):
    print('SpeCon compared with the default scheduler (placement by measured CPU use), %d seeds, change in %%\n'
          '(mean ± standard deviation)' % SEEDS)
    print('  %-32s %7s %15s %7s %15s %15s %15s %6s' % ('', 'mean', 'mean', 'span', 'span', 'best job', 'faster jobs', ''))
    print('  %-32s %7s %15s %7s %15s %15s %15s %6s' % ('case', 'publ.', 'ours', 'publ.', 'ours', 'publ./ours',
                                                       'publ./ours', 'moves'))
    for name, make, nodes, published in (
            ('20 VAE every 50 s, 4 workers', fixed(20, 50), 4, (-14.7, -5.6, -37.6, 55)),
            ('20 random in [0,300], 4 workers', drawn(20, 300), 4, (-13.6, -24.7, -31.6, 75)),
            ('30 random in [0,300], 4 workers', drawn(30, 300), 4, (-5.9, -16.4, -29.6, 66.7)),
            ('50 random in [0,1200], 8 workers', drawn(50, 1200), 8, (-7.2, -11.1, -41.5, 60))):
        f = compare(program, make, nodes, ['kubernetes', 'specon'])['specon']
        print('  %-32s %7.1f %15s %7.1f %15s %6.1f / %6.1f %6.1f / %6.1f %6.1f' % (
            name, published[0], both(f['mean']), published[1], both(f['span']), published[2],
            statistics.mean(f['best']), published[3], statistics.mean(f['faster']), statistics.mean(f['moves'])))
        expect(statistics.mean(f['mean']) < 0 and statistics.mean(f['span']) < 0, 'SpeCon shortens both in %s' % name)


def sweeps(program):
    print('\nSpeCon, 20 VAE jobs at random in [0,300], 4 workers: change of the mean completion time in %, by its '
          'parameters\n(figures 6.17 and 6.18)')
    print('  %6s %9s %9s %15s %6s' % ('alpha', 'interval', 'published', 'ours', 'moves'))
    settings = {(0.05, 20): '-1.1', (0.05, 25): '-5.2', (0.05, 30): '-8.0, -3.2', (0.01, 30): '-7.2', (0.1, 30): '-9.5'}
    policies = ['kubernetes'] + ['specon:alpha=%g:interval=%d' % s for s in settings]
    found = compare(program, drawn(20, 300, (VAE_WORK, VAE_WORK), [5.2]), 4, policies)
    for (alpha, interval), p in zip(settings, policies[1:]):
        print('  %6g %8ds %9s %15s %6.1f' % (alpha, interval, settings[alpha, interval], both(found[p]['mean']),
                                            statistics.mean(found[p]['moves'])))


def together(program):
    print('\nFlowCon and SpeCon together: 30 random jobs in [0,300] on 4 workers, change in % from the default '
          'scheduler')
    print('  %-44s %15s %15s %15s %6s' % ('', 'mean', 'makespan', 'faster jobs %', 'moves'))
    policies = {'kubernetes': 'default scheduler', 'allocate=fifo,place=spread:by=usage,share=flowcon': 'FlowCon',
                'specon': 'SpeCon', 'allocate=fifo,place=specon,share=flowcon': 'both',
                'docker': 'spread by request, no limits', 'flowcon': 'spread by request, FlowCon'}
    found = compare(program, drawn(30, 300), 4, list(policies))
    for p, name in policies.items():
        f = found[p]
        print('  %-44s %15s %15s %15.1f %6.1f' % (name, both(f['mean']), both(f['span']), statistics.mean(f['faster']),
                                                  statistics.mean(f['moves'])))
    expect(statistics.mean(found['allocate=fifo,place=specon,share=flowcon']['span']) < 0, 'both shorten the makespan')


def migrations(program):
    print('\nMigrations: what they cost and bring, 30 random jobs in [0,300] on 4 workers, change in % from the default '
          'scheduler,\nwhich never moves a job')
    print('  %-34s %10s %15s %15s' % ('', 'moves', 'makespan', 'mean turnaround'))
    for move in (0, 5, 30, 120):
        policies = ['kubernetes', 'specon:alpha=0.001', 'specon', 'specon:alpha=0.1:interval=10:cooldown=10']
        found = compare(program, drawn(30, 300), 4, policies, move=move)
        for p in policies[1:]:
            f = found[p]
            print('  %-34s %10.1f %15s %15s' % ('%s, a move costs %d s' % (p.partition(':')[2] or 'defaults', move),
                                                statistics.mean(f['moves']), both(f['span']), both(f['mean'])))


def workers(program):
    lines = [cpu_job('job-%d' % (i + 1), *j) for i, j in enumerate(drawn(30, 300)(0))]
    print('\nWorkers over time, one run of 30 random jobs on 4 workers (figures 6.21 to 6.24; trainyard sim --report '
          'draws them)')
    print('  %-20s %-8s %22s %20s %22s' % ('', 'worker', 'containers mean / most', 'CPU use', 'moved in / out'))
    for r in simulate(program, lines, '4x1c', ['kubernetes', 'specon'], '--move-cost', '5', '--seed', '0', '--by-node'):
        for n in r['nodes']:
            print('  %-20s %-8s %15.2f / %4d %18.1f %% %15d / %4d' % (
                r['policy'], n['name'], n['mean_jobs'], n['most_jobs'], 100 * n['cpu_used'], n['moves_in'],
                n['moves_out']))
        spread = [n['cpu_used'] for n in r['nodes']]
        print('  %-20s most used worker %.1f %%, least used %.1f %%' % ('', 100 * max(spread), 100 * min(spread)))


def specon(program):
    cases(program)
    sweeps(program)
    together(program)
    migrations(program)
    workers(program)
