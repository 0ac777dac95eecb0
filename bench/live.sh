#!/bin/bash
# A short form of the experiments in docs/experiments/. They need python3-torch and
# libopenblas0-openmp, and say so if these are missing.
exec "$(dirname "$0")/live/run.py" all --short "$@"
