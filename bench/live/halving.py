"""Successive halving on a real sweep of learning rates, against running all of it to the end."""
import statistics
import time
import urllib.parse

import lab

RATES = "0.00001,1,0.0001,0.3,0.0003,0.1,0.001,0.03,0.003,0.01"
MEMBERS = 10


def sweep(model, steps, **fields):
    """Runs the sweep; returns (seconds until all have ended, seconds until the winner has, its rate, its loss,
    the steps of all)."""
    command = [*lab.train(model, steps), "--lr", "{lr}"]
    with lab.live.Yard("--policy", "fifo") as yard:
        yard.start()
        start = time.time()
        yard.submit(command, cpus="1", sweep={"lr": RATES}, group="rates", name="rates", env=lab.environment(),
                    **fields)
        yard.wait_all(lab.PATIENCE)
        ranked = yard.get("/best?" + urllib.parse.urlencode({"group": "rates"}))["jobs"]
        views = [yard.job(j["id"]) for j in ranked]
    bad = [v for v in views if v["state"] != "done"]
    if bad or len(ranked) != MEMBERS:
        raise SystemExit(f"{len(ranked)} members; {[(v['id'], v['state'], v['reason']) for v in bad]}")
    # A member that was stopped has not shown its last value.
    winner = next(j for j in ranked if j["step"] == steps)
    ended = next(v["ended"] for v in views if v["id"] == winner["id"])
    return {"all_s": max(v["ended"] for v in views) - start, "winner_s": ended - start,
            "rate": winner["parameters"]["lr"], "loss": winner["value"],
            "steps": sum(j["step"] for j in ranked)}


def run(o):
    seconds, repeats = (4, o.repeat or 1) if o.short else (16, o.repeat or 3)
    solo, model = lab.Solo(1 if o.short else 3, cpus="1"), "mlp"
    steps = solo.steps(model, seconds) // 16 * 16
    found = {"all to the end": [], "keep the best, halve every 1/16": []}
    for _ in range(repeats):
        found["all to the end"].append(sweep(model, steps))
        found["keep the best, halve every 1/16"].append(sweep(model, steps, keep_best=1, every=steps // 16))
    return report(found, steps)


def report(found, steps):
    r = lab.Report("Successive halving on a sweep of ten learning rates")
    rates = {name: sorted({x["rate"] for x in runs}, key=float) for name, runs in found.items()}
    r.table("Median (min-max)", ["", "all ended, s", "the best has ended, s", "steps, % of all", "best rate",
                                 "its loss"],
            [(name, lab.Figure(x["all_s"] for x in runs).text(), lab.Figure(x["winner_s"] for x in runs).text(),
              lab.Figure(100 * x["steps"] / (MEMBERS * steps) for x in runs).text(0), ", ".join(rates[name]),
              f"{statistics.median(x['loss'] for x in runs):.4f}") for name, runs in found.items()])
    r.files["halving.csv"] = lab.to_csv([{"sweep": name, "repeat": i, **{k: v if isinstance(v, str) else round(v, 4)
                                                                         for k, v in x.items()}}
                                         for name, runs in found.items() for i, x in enumerate(runs)])
    return r
