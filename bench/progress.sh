#!/bin/sh
# How fast the conductor reads progress out of a job's output.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$BUILD/bench/progress"
exec "$BUILD/bench/progress" "$@"
