"""A torchrun job from one worker to two and back while it trains: are steps lost, and how long
does it pause? examples/elastic_train.py prints each step once; the times are taken here."""
import re
import threading
import time

import lab
import plot
from lab import live

PROGRAM = str(lab.ROOT / "examples" / "elastic_train.py")
LINE = re.compile(rb"step (\d+)/")


class Reader(threading.Thread):
    """Follows a job's log: [(seconds, step)] as lines arrive."""

    def __init__(self, yard, job):
        super().__init__(daemon=True)
        self.seen = []
        self.stream = yard.stream(f"/jobs/{job}/logs?follow=1")
        self.start()

    def run(self):
        for line in self.stream.response:
            match = LINE.match(line)
            if match:
                self.seen.append((time.monotonic(), int(match.group(1))))

    def wait_steps(self, more):
        """Waits for that many more lines."""
        wanted = len(self.seen) + more
        live.wait_until(lambda: len(self.seen) >= wanted, f"{more} more steps", 120)


def change(yard, job, reader, cpus, steady):
    """Resizes the job. Returns the longest time without a step after that, and the time from
    the resize to its end."""
    asked = time.monotonic()
    yard.run("resize", str(job), "--cpus", str(cpus))
    live.wait_until(lambda: yard.job(job)["cpus"] == cpus)
    gap = longest(reader, asked, 2.0)
    reader.wait_steps(steady)
    return gap[1] - gap[0], gap[1] - asked


def longest(reader, since, calm):
    """The longest pause since then, once `calm` seconds have passed after a pause."""
    def found():
        times = [at for at, _ in reader.seen]
        pauses = [(a, b) for a, b in zip(times, times[1:]) if b >= since and b - a > 0.5]
        return pauses and time.monotonic() - pauses[-1][1] > calm and max(
            pauses, key=lambda p: p[1] - p[0])
    return live.wait_until(found, "the job to pause and continue", 120)


def once(steady):
    with live.Yard() as yard:
        yard.start()
        job = yard.submit([lab.PYTHON, PROGRAM, "--steps", "1000000"], cpus="1", workers="1-2",
                          resize="torchrun", env=lab.environment(), name="elastic", hold=True)
        yard.run("resize", str(job), "--cpus", "1")
        yard.run("release", str(job))
        reader = Reader(yard, job)
        reader.wait_steps(steady)
        up = change(yard, job, reader, 2, steady)
        down = change(yard, job, reader, 1, steady)
        seen = list(reader.seen)
        yard.cancel(job)
        yard.wait_for(job, "cancelled")
    return seen, up, down


def lost(seen):
    """Steps that are missing, and steps that were done twice."""
    steps = [step for _, step in seen]
    return max(steps) - len(set(steps)), len(steps) - len(set(steps))


def run(o):
    steady = 100 if o.short else 400
    runs = [once(steady) for _ in range(o.repeat or (1 if o.short else 3))]
    r = lab.Report("torchrun: one worker to two and back while it trains")
    r.table("Median (min-max) of the runs", ["", "1 to 2 workers", "2 to 1"],
            [("seconds without a step", lab.Figure(up[0] for _, up, _ in runs).text(),
              lab.Figure(down[0] for _, _, down in runs).text()),
             ("seconds from the resize to the next step",
              lab.Figure(up[1] for _, up, _ in runs).text(),
              lab.Figure(down[1] for _, _, down in runs).text())])
    r.table("Steps, all runs together", ["done", "lost", "done twice"],
            [(sum(len(seen) for seen, *_ in runs), sum(lost(seen)[0] for seen, *_ in runs),
              sum(lost(seen)[1] for seen, *_ in runs))])
    seen = runs[0][0]
    r.files["torchrun.svg"] = plot.lines(
        "Steps done over time, first run", "steps", ["steps"],
        [("one worker, two, one", {"steps": [(at - seen[0][0], step) for at, step in thin(seen)]})])
    r.files["torchrun.csv"] = lab.to_csv(
        [{"run": i, "from": a, "to": b, "paused_s": round(gap[0], 3),
          "from_resize_s": round(gap[1], 3), "steps": len(seen), "lost": lost(seen)[0],
          "twice": lost(seen)[1]} for i, (seen, up, down) in enumerate(runs)
         for a, b, gap in ((1, 2, up), (2, 1, down))])
    return r


def thin(seen, pause=0.1):
    """Not every step, but both ends of every pause."""
    out = seen[:1]
    for before, now in zip(seen, seen[1:]):
        if now[0] - before[0] > pause and out[-1] != before:
            out.append(before)
        if now[0] - out[-1][0] > pause:
            out.append(now)
    return out
