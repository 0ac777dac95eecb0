#!/usr/bin/env python3
"""A job whose loss follows a script: learner.py FILE.

It burns CPU and says its loss, which falls by the number in FILE for each CPU second
(it rises when that is negative), until FILE says `end`.
"""
import pathlib
import sys
import time

BURN = 0.02  # CPU seconds of a step


def main():
    script = pathlib.Path(sys.argv[1])
    loss, step = 100.0, 0
    while (word := script.read_text().strip()) != "end":
        end = time.process_time() + BURN
        while time.process_time() < end:
            pass
        loss -= float(word or 0) * BURN
        step += 1
        print(f"step {step} loss {loss:.6f}", flush=True)


main()
