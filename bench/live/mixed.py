"""A mixed stream under three kinds of sharing: static (a job keeps what it requested), equal
(malleable jobs divide the cores again at each arrival and end) and flowcon."""
import lab
import plot

# model, submitted, seconds alone on all CPUs
STREAM = (("mlp", 0, 5), ("fine", 1, 2), ("cnn", 2, 4), ("vae", 3.5, 5), ("cnn", 5, 3),
          ("mlp", 6, 4))


def policies():
    """Name, policy, CPUs that a job requests. Static grants the largest requested size."""
    most = lab.CPUS
    return (("static, 1 CPU each", "equal:variant=static", "1"),
            (f"static, {most} CPUs each", "equal:variant=static", str(most)),
            ("equal", "equal", f"1-{most}"),
            ("flowcon", "flowcon:itval=2", f"0.1-{most}"))


def run(o):
    shrink, repeats = (0.5, o.repeat or 1) if o.short else (1, o.repeat or 3)
    solo = lab.Solo(1 if o.short else 3)
    works = [(f"{i + 1}-{model}", at * shrink, lab.train(model, solo.steps(model, s * shrink)))
             for i, (model, at, s) in enumerate(STREAM)]
    found = {name: [] for name, *_ in policies()}
    for _ in range(repeats):
        for name, policy, cpus in policies():
            found[name].append(lab.stream(policy, [lab.Job(*work, cpus) for work in works]))
    return report(found)


def report(found):
    r = lab.Report("A mixed stream: MLP, CNN, VAE in PyTorch and fine-grained OpenMP in C")
    figures = {name: {"makespan": lab.Figure(o.makespan for o in outcomes),
                      "mean completion": lab.Figure(o.mean for o in outcomes)}
               for name, outcomes in found.items()}
    r.table("Seconds, median (min-max); the thesis claims a gain but gives no figures",
            ["", "makespan", "mean completion", "CPU use, %", "CPU seconds"],
            [(name, figures[name]["makespan"].text(), figures[name]["mean completion"].text(),
              lab.Figure(100 * o.use for o in outcomes).text(0),
              lab.Figure(sum(row["cpu"] for row in o.rows) for o in outcomes).text())
             for name, outcomes in found.items()])
    r.files["mixed.svg"] = plot.bars(
        "A mixed stream, by policy", "s", list(found),
        [(what, [("", {name: figures[name][what] for name in found})])
         for what in ("makespan", "mean completion")])
    r.files["mixed.csv"] = lab.to_csv(
        [row for name, outcomes in found.items() for repeat, outcome in enumerate(outcomes)
         for row in lab.outcome_rows([outcome], policy=name, repeat=repeat)])
    return r
