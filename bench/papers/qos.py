"""QoS-oriented scheduling and autoscaling."""
import json
import statistics
import subprocess

from common import expect


def qos(program):
    print('QoS-oriented autoscaling, deadlines met of 200 malleable CPU jobs with a deadline, 8 x 8 cores, 20 seeds')
    print('  published: +26 % when resources are short, 100 % when they suffice; allocated CPUs used 100 %')
    print('  %-38s %16s %16s %16s' % ('resources, deadline / requested run time', 'requested (fifo)', 'edf', 'qos'))
    for what, load, slack in (('short: load 3, 1.2-2', 3, '1.2-2'), ('sufficient: load 0.2, 0.8-2', 0.2, '0.8-2')):
        met = {p: [] for p in ('fifo:order=skip', 'edf', 'qos')}
        for seed in range(20):
            spec = 'poisson:jobs=200,load=%g,unit=cpu,kind=malleable,deadlines=1,slack=%s,sizes=1/2/4:7/2/1,max=8' % (
                load, slack)
            out = subprocess.run([program, 'sim', '-g', spec, '-n', '8x8c', '--json', '--seed', str(seed)] +
                                 [x for p in met for x in ('-p', p)], check=True, stdout=subprocess.PIPE, text=True)
            for r in map(json.loads, out.stdout.splitlines()):
                met[r['policy']].append(100 * r['deadline_met'] / r['deadline_jobs'])
        means = [statistics.mean(v) for v in met.values()]
        print('  %-38s %14.1f %% %14.1f %% %14.1f %%' % (what, *means))
        expect(means[2] > means[0] and means[2] > means[1], 'qos meets most deadlines, %s' % what)
        if load < 1:
            expect(means[2] > 99, 'qos meets nearly all deadlines when resources suffice')
    print('  By construction, allocated CPUs are fully used here.')
