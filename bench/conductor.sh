#!/bin/bash
# The cost of the conductor: at the start of a job, and per byte of its output.
exec python3 "$(dirname "$0")/conductor.py"
