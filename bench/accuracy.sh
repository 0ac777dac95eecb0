#!/bin/sh
# How far estimates of the time left are off, and how many ends are inside the band: docs/estimator.md.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$BUILD/bench/accuracy"
exec "$BUILD/bench/accuracy" "$@"
