"""Schedulearn (Raya, slides and thesis): FIFO and round robin on three servers of four GPUs."""
from common import expect, percent, simulate

HEADER = 'id,submit,work,req,min,max,kind,speeds'
TIMES = {'Keras MNIST': (107, 69, 52.3, 45), 'TF MNIST': (67, 51, 42, 37), 'PyTorch MNIST': (157, 89, 66, 54),
         'MXNet MNIST': (28.6, 24.3, 22.2, 21.5), 'ResNet': (312.9, 250.4, 216.2, 194.6)}
PRESETS = ('schedulearn-fifo', 'schedulearn-rr')


def line(name, times, gpus, submit=0):
    speeds = '/'.join('%.9g' % (times[0] / t) for t in times)
    return '%s,%g,%g,%d,%d,%d,rigid,%s' % (name, submit, times[0], gpus, gpus, gpus, speeds)


def speedups(program):
    print('Schedulearn, seconds on 1 / 2 / 3 / 4 GPUs')
    for name, times in TIMES.items():
        ours = [simulate(program, [line('job', times, gpus)], '3x4', PRESETS[:1], header=HEADER)[0]['makespan_s']
                for gpus in (1, 2, 3, 4)]
        print('  %-14s published %-28s ours %s' % (name, ' / '.join('%g' % t for t in times),
                                                  ' / '.join('%.1f' % t for t in ours)))
        expect(all(abs(a - b) < 0.06 for a, b in zip(times, ours)), 'Schedulearn %s' % name)


def three_jobs(program):
    print('\nSchedulearn, three ResNet jobs of 4 GPUs at once, seconds')
    print('  %-40s %22s %24s' % ('', 'makespan publ. / ours', 'turnaround publ. / ours'))
    lines = [line('resnet-%d' % i, TIMES['ResNet'], 4) for i in range(3)]
    for policy, span, turn in ((PRESETS[0], 574.5, 326.9), (PRESETS[1], 448.0, 209.9)):
        r = simulate(program, lines, '3x4', [policy], header=HEADER)[0]
        print('  %-40s %10.1f / %8.1f %12.1f / %8.1f' % (policy, span, r['makespan_s'], turn, r['mean_jct_s']))
        expect(r['makespan_s'] <= span, 'three ResNet jobs, %s' % policy)
    r = simulate(program, lines, '1x4', PRESETS[:1], header=HEADER)[0]
    print('  %-40s %10s / %8.1f %12s / %8.1f' % ('fifo, all three on one server', '574.5', r['makespan_s'], '326.9',
                                                r['mean_jct_s']))


def frameworks(program):
    print('\nSchedulearn, six jobs of one GPU, one every 5 s, 3 servers x 4 GPUs: FIFO fills a server before it takes the '
          'next,\nround robin takes each in turn')
    print('  %-14s %-13s %-18s %11s %14s   %s' % ('framework', 'interference', 'policy', 'makespan, s', 'turnaround, s',
                                                  'GPU use of the servers'))
    for name in ('TF MNIST', 'PyTorch MNIST', 'MXNet MNIST'):
        lines = [line('job-%d' % i, TIMES[name], 1, 5 * i) for i in range(6)]
        for interference in (0, 10, 30):
            fifo, rr = simulate(program, lines, '3x4', PRESETS, '--interference', '%d%%' % interference, '--by-node',
                                header=HEADER)
            for r in (fifo, rr):
                print('  %-14s %-13s %-18s %11.1f %14.1f   %s' % (
                    name, '%d %%' % interference, r['policy'], r['makespan_s'], r['mean_jct_s'],
                    ', '.join('%4.1f %%' % (100 * n['gpu_used']) for n in r['nodes'])))
            if interference:
                expect(rr['mean_jct_s'] < fifo['mean_jct_s'], 'round robin is faster with interference, %s' % name)
                print('  %-14s %-13s %-18s %+9.1f %% %+12.1f %%' % ('', '', 'difference',
                                                                   percent(rr['makespan_s'], fifo['makespan_s']),
                                                                   percent(rr['mean_jct_s'], fifo['mean_jct_s'])))


def schedulearn(program):
    speedups(program)
    three_jobs(program)
    frameworks(program)
