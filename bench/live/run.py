#!/usr/bin/env python3
"""Experiments with a real server and real training jobs; docs/experiments/ has the results.

  bench/live/run.py NAME... [--short] [--repeat N] [--scale X] [--write]

Names: coupling, flowcon, random, mixed, torchrun, programs, deadlines, halving; all. BUILD names the build directory.
--short      small jobs, few repeats: shows that it works, not how well
--repeat N   measure N times
--scale X    scale the published seconds (flowcon 0.1, random 0.04)
--write      write tables, drawings and raw data to docs/experiments/
"""
import argparse
import re
import shlex
import signal
import sys
import time

import arrivals
import coupling
import deadlines
import flowcon
import halving
import lab
import mixed
import programs
import workers

EXPERIMENTS = {"coupling": coupling.run, "flowcon": flowcon.run, "random": arrivals.run,
               "mixed": mixed.run, "torchrun": workers.run, "programs": programs.run,
               "deadlines": deadlines.run, "halving": halving.run}
PAGES = lab.ROOT / "docs" / "experiments"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"


def parse():
    p = argparse.ArgumentParser(description="experiments with a real server and real training jobs")
    p.add_argument("names", nargs="+", choices=[*EXPERIMENTS, "all"], metavar="NAME",
                   help=", ".join([*EXPERIMENTS, "all"]))
    p.add_argument("--short", action="store_true", help="small jobs, few repeats")
    p.add_argument("--repeat", type=int, metavar="N", help="measure N times")
    p.add_argument("--scale", type=float, metavar="X",
                   help="scale the published seconds (flowcon 0.1, random 0.04)")
    p.add_argument("--write", action="store_true", help="write to docs/experiments/")
    o = p.parse_args()
    if (o.repeat is not None and o.repeat < 1) or not 0.01 <= (o.scale or 1) <= 10:
        p.error("--repeat is at least 1, --scale from 0.01 to 10")
    return o


def write(name, report, how):
    """Puts the figures between the markers of the page, and the other files next to it."""
    page = PAGES / f"{name}.md"
    drawings = "".join(f"![{report.heading}]({f})\n\n" for f in report.files if f.endswith(".svg"))
    block = f"{BEGIN}\n{drawings}{how}\n\n{report.markdown()}{END}"
    text, found = re.subn(f"{BEGIN}.*?{END}", lambda _: block, page.read_text(), flags=re.S)
    if not found:
        sys.exit(f"{page}: no markers {BEGIN} and {END}")
    page.write_text(text)
    for file, content in report.files.items():
        (PAGES / file).write_text(content)


def main():
    o = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # servers and programs are ended
    lacks = lab.missing()
    if lacks:
        print(f"skipped: {lacks}")
        return
    for name in EXPERIMENTS if "all" in o.names else o.names:
        words = [a for a in sys.argv[1:] if a not in {*EXPERIMENTS, "all", "--write"}]
        machine, busy = lab.machine(), lab.busy()
        if busy > 0.1:
            machine += f", {busy:.0%} in use by other processes before the start"
        start = time.monotonic()
        try:
            report = EXPERIMENTS[name](o)
        except lab.Lacking as lacks:
            print(f"{name}: skipped: {lacks}\n")
            continue
        took = time.monotonic() - start
        print(f"{report.text()}\n\n  {machine}; {took:.0f} s\n", flush=True)
        if o.write:
            command = shlex.join(["bench/live/run.py", name, *words])
            write(name, report, f"Measured with `{command}` on {machine}, in {took:.0f} s.")


if __name__ == "__main__":
    main()
