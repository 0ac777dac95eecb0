"""FlowCon's three jobs, W. Zheng's thesis, 6.1.2: free competition and flowcon. The work
follows from the published times under free competition (docs/papers.md)."""
import lab
import plot

# name, model of ours, submitted, work alone, published completion: free, flowcon 5 %, 20 s
JOBS = (("VAE", "vae", 0, 259.6, 394.0, 386.1),
        ("MNIST-PyTorch", "cnn", 40, 106.1, 240.5, 213.2),
        ("MNIST-TF", "mlp", 80, 28.2, 84.7, 59.4))
ALPHA, ITVAL = 5, 20
FREE = "docker"


def make_jobs(solo, scale):
    return [lab.Job(name, at * scale, lab.train(model, solo.steps(model, work * scale)),
                    f"0.1-{lab.CPUS}") for name, model, at, work, *_ in JOBS]


def run(o):
    scale = o.scale or (0.05 if o.short else 0.1)
    repeats = o.repeat or (1 if o.short else 3)
    # Growth is per second, and here the seconds are shorter.
    flow = f"flowcon:alpha={ALPHA / scale:g}:itval={ITVAL * scale:g}"
    jobs = make_jobs(lab.Solo(1 if o.short else 3), scale)
    runs = [(lab.stream(FREE, jobs), lab.stream(flow, jobs)) for _ in range(repeats)]
    return report(runs, scale, flow)


def report(runs, scale, flow):
    r = lab.Report(f"FlowCon's three jobs at 0, 40 and 80 s, times x {scale:g}: {flow}")
    free, ours = zip(*runs)
    lines = [(name, published_free, published_flow,
              [o.completion(name) for o in free], [o.completion(name) for o in ours])
             for name, *_, published_free, published_flow in JOBS]
    lines.append(("makespan", JOBS[0][-2], JOBS[0][-1], [o.makespan for o in free],
                  [o.makespan for o in ours]))
    r.table("Completion time, s: median (min-max); published values scaled",
            ["", "published, free", "ours, free", "published, flowcon", "ours, flowcon",
             "published change", "ours, change"],
            [(name, f"{a * scale:.1f}", lab.Figure(before).text(), f"{b * scale:.1f}",
              lab.Figure(after).text(), f"{lab.percent(b, a):+.1f} %",
              lab.Figure(lab.percent(y, x) for x, y in zip(before, after)).text() + " %")
             for name, a, b, before, after in lines])
    r.table("CPU use, %", ["", "free", "flowcon"],
            [("all jobs", lab.Figure(100 * o.use for o in free).text(),
              lab.Figure(100 * o.use for o in ours).text())])
    r.files["flowcon.svg"] = plot.lines(
        "CPUs used by the three jobs, first run", "CPUs", [name for name, *_ in JOBS],
        [("free competition", free[0].usage), (flow, ours[0].usage)])
    r.files["flowcon.csv"] = lab.to_csv(
        [row for repeat, pair in enumerate(runs) for policy, outcome in zip((FREE, flow), pair)
         for row in lab.outcome_rows([outcome], repeat=repeat, policy=policy)])
    return r
