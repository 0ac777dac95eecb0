"""Schedulearn (Raya, slides and thesis)."""
import os
import tempfile

from common import expect, run_sim

SCHEDULEARN = {'Keras MNIST': (107, 69, 52.3, 45), 'TF MNIST': (67, 51, 42, 37), 'PyTorch MNIST': (157, 89, 66, 54),
               'MXNet MNIST': (28.6, 24.3, 22.2, 21.5), 'ResNet': (312.9, 250.4, 216.2, 194.6)}


def schedulearn(program):
    def line(name, times, gpus, submit=0):
        speeds = '/'.join('%.9g' % (times[0] / t) for t in times)
        return '%s,%g,%g,%d,%d,%d,rigid,%s\n' % (name, submit, times[0], gpus, gpus, gpus, speeds)

    print('Schedulearn, seconds on 1 / 2 / 3 / 4 GPUs')
    with tempfile.TemporaryDirectory() as tmp:
        trace = os.path.join(tmp, 'trace.csv')
        for name, times in SCHEDULEARN.items():
            ours = []
            for gpus in (1, 2, 3, 4):
                with open(trace, 'w') as f:
                    f.write('id,submit,work,req,min,max,kind,speeds\n' + line('job', times, gpus))
                ours.append(run_sim(program, trace, '3x4', ['schedulearn-fifo'])[0]['makespan_s'])
            print('  %-14s published %-28s ours %s' % (name, ' / '.join('%g' % t for t in times),
                                                      ' / '.join('%.1f' % t for t in ours)))
            expect(all(abs(a - b) < 0.06 for a, b in zip(times, ours)), 'Schedulearn %s' % name)
        print('\nSchedulearn, three ResNet jobs of 4 GPUs at once, 3 servers x 4 GPUs')
        print('  %-18s %22s %16s' % ('', 'makespan publ. / ours', 'turnaround publ. / ours'))
        with open(trace, 'w') as f:
            f.write('id,submit,work,req,min,max,kind,speeds\n')
            f.writelines(line('resnet-%d' % i, SCHEDULEARN['ResNet'], 4) for i in range(3))
        for policy, span, turn in (('schedulearn-fifo', 574.5, 326.9), ('schedulearn-rr', 448.0, 209.9)):
            r = run_sim(program, trace, '3x4', [policy])[0]
            print('  %-18s %10.1f / %8.1f %12.1f / %8.1f' % (policy, span, r['makespan_s'], turn, r['mean_jct_s']))
            expect(r['makespan_s'] <= span, 'three ResNet jobs, %s' % policy)
    print('  Ours is shorter: a job that does not fit on a server goes to the next one, so the three jobs run at\n'
          '  once. Schedulearn\'s FIFO let them wait for the first server.')
