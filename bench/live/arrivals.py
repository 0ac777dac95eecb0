"""Five and ten jobs at random arrivals, W. Zheng's thesis, 6.1.4 and 6.1.5: free competition
and flowcon. Arrivals, work and models are drawn from the seed."""
import random

import lab
import plot

LEAST_ITVAL = 2  # seconds; usage is sampled once a second
FREE = "docker"
# jobs, parameters of flowcon (itval in published seconds), published results
CASES = ((5, 3, 30, ("4 of 5", "-42.1 %", "-1 to -5 %")),
         (10, 10, 20, ("9 of 10", "-41.2 %", "-2.5 %")))


def make_jobs(count, seed, solo, scale):
    r = random.Random(seed)
    drawn = sorted((r.uniform(0, 200), r.uniform(28, 260), r.choice(lab.MODELS))
                   for _ in range(count))
    return [lab.Job(f"{i + 1}-{model}", at * scale,
                    lab.train(model, solo.steps(model, work * scale)), f"0.1-{lab.CPUS}")
            for i, (at, work, model) in enumerate(drawn)]


class Case:
    """One number of jobs, both policies, all seeds."""

    def __init__(self, case, seeds, solo, scale):
        self.count, alpha, itval, self.published = case
        self.flow = f"flowcon:alpha={alpha / scale:g}:itval={max(LEAST_ITVAL, itval * scale):g}"
        self.runs = []
        for seed in seeds:
            jobs = make_jobs(self.count, seed, solo, scale)
            self.runs.append((lab.stream(FREE, jobs), lab.stream(self.flow, jobs)))

    def changes(self, run):
        free, ours = run
        return [lab.percent(b["completion"], a["completion"])
                for a, b in zip(free.rows, ours.rows)]

    def lines(self):
        every = [self.changes(run) for run in self.runs]
        faster = lab.Figure(sum(c < 0 for c in changes) for changes in every)
        best = lab.Figure(min(changes) for changes in every)
        span = lab.Figure(lab.percent(b.makespan, a.makespan) for a, b in self.runs)
        mean = lab.Figure(lab.percent(b.mean, a.mean) for a, b in self.runs)
        return [("jobs that end sooner", self.published[0], faster.text(0)),
                ("best job", self.published[1], best.text() + " %"),
                ("makespan", self.published[2], span.text() + " %"),
                ("mean completion", "not given", mean.text() + " %")]

    def raw(self):
        return [row for seed, pair in enumerate(self.runs)
                for policy, outcome in zip((FREE, self.flow), pair)
                for row in lab.outcome_rows([outcome], jobs=self.count, seed=seed, policy=policy)]


def run(o):
    scale = o.scale or (0.03 if o.short else 0.04)
    repeats = o.repeat or (1 if o.short else 3)
    solo = lab.Solo(1 if o.short else 3)
    cases = [Case(case, range(repeats), solo, scale) for case in CASES]
    r = lab.Report(f"Jobs that arrive at random in 0-200 s, times x {scale:g}")
    for case in cases:
        r.table(f"{case.count} jobs, {case.flow} and free competition, {repeats} seeds: "
                "median (min-max)", ["", "published", "ours"], case.lines())
    r.files["random.svg"] = plot.bars(
        "Completion time by job, in order of arrival, first seed", "s",
        ["free competition", "flowcon"],
        [(f"{case.count} jobs",
          [(str(i + 1), {"free competition": lab.Figure([a["completion"]]),
                         "flowcon": lab.Figure([b["completion"]])})
           for i, (a, b) in enumerate(zip(case.runs[0][0].rows, case.runs[0][1].rows))])
         for case in cases])
    r.files["random.csv"] = lab.to_csv([row for case in cases for row in case.raw()])
    return r
