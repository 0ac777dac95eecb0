"""Step time by CPUs and threads, of one job that is resized while it trains.

Fixed threads: the job keeps the threads that it was started with; only its quota changes, as
with `docker update --cpus`. Pinned: the server resizes it, so it also runs on fewer CPUs, but
without the malleable library. Coupled: quota, CPUs and threads all follow."""
import os
import tempfile
import time

import lab
import plot
from lab import live

PROGRAMS = {"MLP": "mlp", "CNN": "cnn", "fine OpenMP": lab.FINE}
SETTLE_S = 0.3  # not counted after a resize
QUOTAS = (lab.CPUS, lab.CPUS / 2, lab.CPUS / 4)


class Kind:
    """How a job is resized."""

    def __init__(self, name, threads=None, by_server=True):
        self.name, self.threads, self.by_server = name, threads, by_server


FIXED = [Kind(f"{n} thread{'s' if n > 1 else ''}", n, False)
         for n in (1, lab.CPUS, 2 * lab.CPUS, 4 * lab.CPUS)]
PINNED = Kind(f"{lab.CPUS} threads, pinned", lab.CPUS)
COUPLED = Kind("coupled")
KINDS = [*FIXED, PINNED, COUPLED]
# threads that fit the CPUs it had; the CPUs it has now
PAIRS = ((FIXED[1], QUOTAS[1]), (FIXED[1], QUOTAS[2]), (FIXED[0], QUOTAS[0]))


def write_quota(groups, cpus):
    for group in groups:
        if (group / "cpu.cfs_quota_us").exists():
            (group / "cpu.cfs_quota_us").write_text(str(int(cpus * 100000)))
        elif (group / "cpu.max").exists():
            (group / "cpu.max").write_text(f"{int(cpus * 100000)} 100000")


def resize(yard, job, kind, groups, cpus):
    if not kind.by_server:
        write_quota(groups, cpus)
        return
    yard.run("resize", str(job), "--cpus", f"{cpus:g}")
    live.wait_until(lambda: yard.job(job)["cpus"] == cpus)


def step_ms(path, seconds):
    """The mean step time over the next seconds, from the end of one step to the end of another;
    the window grows until it has three steps."""
    start = time.monotonic() + SETTLE_S

    def inside():
        return [at for _, at in lab.read_times(path) if at >= start]

    time.sleep(SETTLE_S + seconds)
    live.wait_until(lambda: len(inside()) > 3)
    ends = inside()
    return 1e3 * (ends[-1] - ends[0]) / (len(ends) - 1)


def measure(program, kind, seconds, repeats):
    """One job, through all quotas in turn: [(repeat, quota, ms)]."""
    more = {"OMP_NUM_THREADS": str(kind.threads)} if kind.threads else {}
    server = {"TRAINYARD_MALLEABLE": ""} if kind.threads else {}
    found = []
    with tempfile.TemporaryDirectory(prefix="trainyard-live-") as tmp, \
            live.Yard(environment=server) as yard:
        yard.start()
        path = os.path.join(tmp, "times")
        job = yard.submit(lab.train(PROGRAMS[program], 1000000, path),
                          cpus=f"{QUOTAS[-1]:g}-{QUOTAS[0]:g}", env=lab.environment(**more))
        live.wait_until(lambda: len(lab.read_times(path)) > 5)
        groups = yard.cgroups(f"{job}.1")
        for repeat in range(repeats):
            for quota in QUOTAS:
                resize(yard, job, kind, groups, quota)
                found.append((repeat, quota, step_ms(path, seconds)))
        yard.cancel(job)
        yard.wait_for(job, "cancelled")
    return found


def run(o):
    seconds, repeats = (0.6, o.repeat or 2) if o.short else (1.0, o.repeat or 3)
    rows, figures = [], {}
    for program in PROGRAMS:
        for kind in KINDS:
            found = measure(program, kind, seconds, repeats)
            rows += [{"program": program, "kind": kind.name, "cpus": quota, "repeat": repeat,
                      "step_ms": round(ms, 3)} for repeat, quota, ms in found]
            for quota in QUOTAS:
                figures[program, quota, kind] = lab.Figure(ms for _, q, ms in found if q == quota)
    return report(figures, rows)


def report(figures, rows):
    def ratio(program, quota, kind):
        return figures[program, quota, kind].median / figures[program, quota, COUPLED].median

    r = lab.Report("Coupling: one training job, resized while it runs")
    for program in PROGRAMS:
        r.table(f"{program}, ms per step: median (min-max)",
                ["CPUs", *[kind.name for kind in KINDS]],
                [[f"{q:g}", *[figures[program, q, kind].text() for kind in KINDS]]
                 for q in QUOTAS])
    r.table("Relative to coupled, medians; the thesis names the effects but gives no figures",
            ["", *[f"{kind.name}, now {q:g} CPU" for kind, q in PAIRS], "worst, quota alone",
             "worst, pinned"],
            [[program, *[f"{ratio(program, q, kind):.2f}" for kind, q in PAIRS],
              f"{max(ratio(program, q, kind) for q in QUOTAS for kind in FIXED):.2f}",
              f"{max(ratio(program, q, PINNED) for q in QUOTAS):.2f}"] for program in PROGRAMS])
    drawn = [*FIXED, COUPLED]  # pinned ones would dwarf the others
    r.files["coupling.svg"] = plot.bars(
        "Step time by CPUs: fixed threads, and coupled", "ms", [kind.name for kind in drawn],
        [(program, [(f"{q:g} CPU", {kind.name: figures[program, q, kind] for kind in drawn})
                    for q in QUOTAS]) for program in PROGRAMS])
    r.files["coupling.csv"] = lab.to_csv(rows)
    return r
