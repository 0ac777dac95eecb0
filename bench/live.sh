#!/bin/bash
# The experiments of docs/experiments/, made small. They need python3-torch and
# libopenblas0-openmp, and say so where these are missing.
exec "$(dirname "$0")/live/run.py" all --short "$@"
