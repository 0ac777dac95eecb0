"""What the parts of bench/papers share: running simulations, and saying what was missed."""
import csv
import json
import os
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADER = 'id,submit,work,unit,req,min,max,kind,loss'
failures = []


def expect(ok, what):
    if not ok:
        failures.append(what)
        print('    MISSED: %s' % what)


def run_sim(program, trace, nodes, policies, *options):
    """Runs the policies on the trace file; returns for each its figures and its jobs by name."""
    with tempfile.TemporaryDirectory() as tmp:
        rows = os.path.join(tmp, 'jobs.csv')
        command = [program, 'sim', trace, '-n', nodes, '--json', '--jobs-csv', rows, *options]
        for p in policies:
            command += ['-p', p]
        out = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        with open(rows, newline='') as f:
            jobs = list(csv.DictReader(f))
    results = [json.loads(line) for line in out.splitlines()]
    for r in results:
        r['job'] = {j['name']: float(j['jct_s']) for j in jobs if j['policy'] == r['policy']}
        r['end'] = {j['name']: float(j['end_s']) for j in jobs if j['policy'] == r['policy']}
    return results


def simulate(program, lines, nodes, policies, *options, header=HEADER):
    """run_sim() on these lines of a trace."""
    with tempfile.TemporaryDirectory() as tmp:
        trace = os.path.join(tmp, 'trace.csv')
        with open(trace, 'w') as f:
            f.writelines(line + '\n' for line in [header, *lines])
        return run_sim(program, trace, nodes, policies, *options)


def cpu_job(name, submit, work, k, most=1.0):
    """A job that can use up to `most` of a one-CPU node; its loss falls as exp(-k x)."""
    return '%s,%.6f,%.6f,cpu,0.02,0.02,%g,malleable,exp:%g' % (name, submit, work, most, k)


def percent(new, old):
    return 100 * (new / old - 1)
