#!/bin/sh
# How fast the conductor reads progress out of a job's output.
exec "$BUILD/bench/progress" "$@"
