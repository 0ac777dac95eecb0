"""Energy of policies on the same stream of jobs, which Libutti's thesis names as future work."""
import json
import statistics
import subprocess

from common import expect

POLICIES = {'static': 'what they started with', 'malleable': 'equal parts', 'flowcon': 'by growth',
            'qos': 'by deadline'}
STREAM = ('poisson:jobs=200,load=%g,unit=cpu,kind=malleable,deadlines=1,slack=1.2-3,sizes=1/2/4:7/2/1,min=1,max=8,'
          'loss=exp:6')
NODES, SEEDS = 4, 10


def run(program, load):
    """For each policy the figures of all seeds."""
    found = {p: [] for p in POLICIES}
    for seed in range(SEEDS):
        out = subprocess.run([program, 'sim', '-g', STREAM % load, '-n', '%dx8c' % NODES, '--json', '--seed', str(seed),
                              '--power', 'default'] + [x for p in found for x in ('-p', p)], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
        for r in map(json.loads, out.splitlines()):
            found[r['policy']].append(r)
    return found


def mean(rows, key):
    return statistics.mean(r[key] for r in rows)


def energy(program):
    print('Energy, 200 malleable CPU jobs on %d x 8 cores, %d seeds, Wh (100 W idle, 10 W per busy core)' % (NODES, SEEDS))
    print('  %-6s %-36s %10s %10s %11s %12s %10s' % ('load', 'policy', 'all', 'of jobs', 'to static', 'makespan, s',
                                                     'deadlines'))
    for load in (0.3, 1.5):
        found = run(program, load)
        base = mean(found['static'], 'energy_wh')
        for p, rows in found.items():
            print('  %-6g %-36s %10.0f %10.0f %+9.1f %% %12.0f %8.1f %%' % (
                load, '%s (%s)' % (p, POLICIES[p]), mean(rows, 'energy_wh'),
                mean(rows, 'energy_wh') - 100 * NODES * mean(rows, 'makespan_s') / 3600,
                100 * (mean(rows, 'energy_wh') / base - 1), mean(rows, 'makespan_s'),
                100 * mean(rows, 'deadline_met') / mean(rows, 'deadline_jobs')))
        expect(mean(found['malleable'], 'energy_wh') < base, 'equal parts need less energy than static')
