#!/bin/bash
# What the conductor costs a job: at its start, and for each byte of its output.
exec python3 "$(dirname "$0")/conductor.py"
