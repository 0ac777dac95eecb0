#!/usr/bin/env python3
"""The published tables of the systems whose policies Trainyard has, and our figures.

usage: bench/papers/run.py PROGRAM [--check] [flowcon|specon|schedulearn|voda|qos|energy]...

Everything is simulated: jobs have the work and the loss curves that the papers state or imply (see
docs/papers.md), and no parameter was fitted to a gain. With --check, the exit status is 1 if an exact figure
or the direction of a gain is not reproduced.
"""
import os
import sys

from common import failures
from energy import energy
from flowcon import flowcon
from qos import qos
from schedulearn import schedulearn
from specon import specon
from voda import voda

PARTS = (flowcon, specon, schedulearn, voda, qos, energy)


def main():
    program, *words = [w for w in sys.argv[1:] if w != '--check'] or ['']
    unknown = [w for w in words if w not in [part.__name__ for part in PARTS]]
    if not program or program.startswith('-') or unknown:
        print(__doc__.strip())
        return 0 if program in ('--help', '-h') else 2
    for part in PARTS:
        if not words or part.__name__ in words:
            part(os.path.abspath(program))
            print()
    print('%s' % ('every figure is as it must be' if not failures else
                  '%d figures missed' % len(failures)))
    return 1 if failures and '--check' in sys.argv else 0


if __name__ == '__main__':
    sys.exit(main())
